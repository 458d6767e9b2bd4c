use glam::{Quat, Vec3};
use tidelock::replication::instance::{Audience, PartProperties, Pose};

use super::*;

/// Ticks for which a part rests, and those before the edge at which it still does: more than half of what 16 bits count.
const REST: u64 = 40_000;
const BEFORE: u64 = 300;

// B01: a part that rested for more than half the range of a short counter, changed once the count of ticks went over an edge, is
// seen to change at once; nothing was taken for old.
#[test]
fn what_changes_after_an_edge_of_the_tick_is_seen() {
    for edge in [1u64 << 16, 1 << 24, 1 << 32] {
        let uptime = Duration::from_secs_f64((edge - BEFORE - REST) as f64 / 60.0);
        let options = SimulationOptions { link: link(60, 5, 0.05), uptime, ..SimulationOptions::default() };
        let mut game = Simulation::new(options, protocol(), demo());
        let key = game.add_client(ClientOptions::default());
        let at = |x: f32| Pose { position: Vec3::new(x, 20.0, 0.0), rotation: Quat::IDENTITY };
        let part = game.server_mut().commands().create_part(PartProperties::default(), at(0.0), Audience::Shared);
        let mut bot = Wanderer::new(edge);
        for _ in 0..REST {
            game.tick(|_, now| bot.input(now));
        }
        for _ in 0..2 * BEFORE {
            game.tick(|_, now| bot.input(now));
        }
        let ticks = game.server().tick().0;
        assert!((edge..edge + 2 * BEFORE).contains(&ticks), "{ticks} is beyond {edge}");
        let stale = game.client(key).stats().stale_items;
        game.server_mut().commands().move_part(part, at(5.0).position, at(5.0).rotation);
        let shown = (0..60).position(|_| {
            game.tick(|_, now| bot.input(now));
            game.client(key).part(part).is_some_and(|(_, pose)| pose == at(5.0))
        });
        // Two round trips if it was lost once, and two ticks.
        assert!(shown.is_some_and(|ticks| ticks <= 16 + 2), "after {edge}: {shown:?} ticks");
        let stats = game.client(key).stats();
        assert_eq!((stats.stale_items - stale, stats.faults, stats.mispredictions()), (0, 0, 0), "after {edge}");
    }
}
