use std::time::Duration;

use super::choices::Choices;
use super::hostile_peer::HostilePeer;
use super::shards::{Honest, MS};

/// Payloads of a peer that keeps no rule of frames, acknowledgements and fragments, inside a standing connection.
pub fn run(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let mut peer = HostilePeer::connected();
    let mut number = 0u16;
    while !choices.is_over() {
        match choices.byte() % 8 {
            // A payload of the next number, and of any.
            0..=3 => {
                let frames = choices.chunk();
                peer.send_standard(0x85, &[&[1], &number.to_le_bytes()[..], frames].concat());
                number = number.wrapping_add(1);
            }
            4 => peer.send_standard(0x85, choices.chunk()),
            5 => number = number.wrapping_add(choices.short()),
            6 => peer.told(choices.byte() % 8, usize::from(choices.short()) % 20_000),
            _ if peer.now.as_secs() < 20 => peer.advance(MS * u32::from(choices.short() % 4_000)),
            _ => {}
        }
        peer.advance(Duration::ZERO);
        if let Some(stats) = peer.name.and_then(|name| peer.server.stats(name)) {
            assert!(stats.window_bytes > 0 && stats.rate_bytes_s > 0);
            assert!((0.0..=1.0).contains(&stats.loss_in) && (0.0..=1.0).contains(&stats.loss_out));
        }
    }
    let now = peer.now;
    Honest::new(now).plays(now, &mut peer.server);
}
