use std::time::Duration;

use super::Client;

/// Moves playback on: the moment at which others are drawn (S-40).
pub(super) fn run(client: &mut Client) {
    let Client { timeline, stats, now, dt, .. } = client;
    if timeline.advance(*now, *dt).is_some() {
        stats.playback_delay = Duration::from_secs_f64(timeline.delay().max(0.0));
    }
}
