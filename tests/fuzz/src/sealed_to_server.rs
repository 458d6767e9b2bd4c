use std::time::Duration;

use super::choices::Choices;
use super::hostile_peer::HostilePeer;
use super::shards::{Honest, MS};

/// Packets of a client that has a genuine token and keeps no rule, to a server, at any stage of the connection: they cost
/// nobody else anything, and no address is sent more than came from it before it was validated.
pub fn run(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let mut peer = match choices.byte() % 4 {
        0 => HostilePeer::default(),
        1 => HostilePeer::connected(),
        _ => HostilePeer::extended(),
    };
    while !choices.is_over() {
        operate(&mut choices, &mut peer);
        peer.advance(Duration::ZERO);
    }
    let now = peer.now;
    Honest::new(now).plays(now, &mut peer.server);
}

fn operate(choices: &mut Choices<'_>, peer: &mut HostilePeer) {
    match choices.byte() % 12 {
        0 => peer.request(),
        1 => peer.respond(),
        2 => peer.announce(),
        3 => peer.move_to(choices.byte()),
        // The token's life bounds a run, so that the honest have theirs.
        4 if peer.now.as_secs() < 20 => peer.advance(MS * u32::from(choices.short() % 4_000)),
        5 => peer.send(choices.chunk().to_vec()),
        6 => {
            let (prefix, body) = (choices.byte(), choices.chunk());
            peer.send_standard(prefix, body);
        }
        7 => {
            let (prefix, body) = (choices.byte(), choices.chunk());
            peer.send_extended(prefix, true, body);
        }
        8 => peer.send_extended(0x57, !choices.byte().is_multiple_of(4), choices.chunk()),
        9 => {
            let which = usize::from(choices.byte() % 2);
            peer.next[which] = match choices.byte() % 4 {
                0 => choices.long(),
                1 => peer.next[which].wrapping_add(u64::from(choices.word())),
                2 => peer.next[which].wrapping_sub(u64::from(choices.short())),
                _ => (peer.next[which] | 0x7f_ffff).wrapping_add(1),
            };
        }
        10 => peer.told(choices.byte() % 8, usize::from(choices.short()) % 20_000),
        _ => peer.send_extended(choices.pick(&[0x87, 0x97, 0xa7, 0xb7]), true, &choices.array::<8>()),
    }
}
