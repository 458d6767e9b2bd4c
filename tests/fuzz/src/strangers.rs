use std::time::Duration;

use tidelock_net::{ClientConfig, ClientShard, ClientState, Egress, Ingress, LaneSet, Shard, Span};

use super::choices::Choices;
use super::shards::{Honest, MS, START, UNIX, peer_address, server, server_address, token};

/// First bytes that mean something: packets of the standard and of the extension, requests.
const PREFIXES: [u8; 8] = [0x00, 0x83, 0x84, 0x85, 0x86, 0x47, 0x57, 0x87];

/// Datagrams of strangers who have no key, from every address, at both ends of a connection: nothing changes, and nobody is
/// answered with more than was asked.
pub fn run(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let (mut server, mut now) = (server(), START);
    let config = ClientConfig { seed: Some([3; 32]), ..ClientConfig::default() };
    let mut client = ClientShard::new(config, token(1), now, UNIX + now);
    let (mut up, mut down) = (Vec::new(), Vec::new());
    let mut seen: Vec<Vec<u8>> = Vec::new();
    let mut messages = 0;
    for round in 0..40u8 {
        now += if round < 8 { MS } else { MS * u32::from(choices.byte()) };
        if round == 10 {
            let (connection, lane) = (client.connection(), LaneSet::STATE);
            let egress = Egress::Send { connection, lane, bytes: Span::from(&[1; 40][..]), receipt: None };
            client.apply(now, egress, &mut down);
            client.apply(now, Egress::FlushAll, &mut down);
        }
        let mut datagrams = Vec::new();
        client.advance(now, &mut down);
        client.transmit(now, &mut |_, datagram| datagrams.push(datagram.to_vec()));
        seen.extend(datagrams.iter().cloned());
        for mut datagram in datagrams.drain(..) {
            server.handle(now, peer_address(0), &mut datagram, &mut up);
        }
        server.advance(now, &mut up);
        server.transmit(now, &mut |_, datagram| datagrams.push(datagram.to_vec()));
        seen.extend(datagrams.iter().cloned());
        for mut datagram in datagrams {
            client.handle(now, server_address(), &mut datagram, &mut down);
        }
        if round >= 6 && !choices.is_over() {
            intrude(&mut choices, now, (&mut server, &mut client), &seen);
        }
        messages += up.iter().filter(|event| matches!(event, Ingress::Message { .. })).count();
        up.clear();
    }
    assert_eq!(messages, 1, "the client's own word and nobody else's");
    assert!(matches!(client.state(), ClientState::Connected(_)));
    assert!(down.iter().all(|event| !matches!(event, Ingress::Disconnected { .. } | Ingress::Message { .. })));
    Honest::new(now).plays(now, &mut server);
}

/// Somebody without a key sends something: bytes, or what was seen on the wire with a byte changed.
fn intrude(
    choices: &mut Choices<'_>,
    now: Duration,
    (server, client): (&mut impl Shard, &mut ClientShard),
    seen: &[Vec<u8>],
) {
    let (kind, address) = (choices.byte(), peer_address(choices.byte()));
    let mut datagram = match kind % 3 {
        0 => choices.chunk().to_vec(),
        1 => [&[choices.pick(&PREFIXES)], choices.chunk()].concat(),
        _ => {
            let mut copy = seen[usize::from(choices.short()) % seen.len()].clone();
            let at = usize::from(choices.short()) % copy.len();
            // Genuine copies are the connection's own; a changed one is not.
            copy[at] ^= choices.byte().max(1);
            copy.truncate(copy.len() - usize::from(choices.byte()) % copy.len().min(8));
            copy
        }
    };
    let mut events = Vec::new();
    if kind & 0x80 == 0 {
        let asked = datagram.len();
        server.handle(now, address, &mut datagram, &mut events);
        let mut answered = 0;
        server.transmit(now, &mut |to, datagram| {
            if to == address && to != peer_address(0) {
                answered += datagram.len();
            }
        });
        assert!(answered <= asked, "N-7");
    } else {
        let from = if kind & 0x40 == 0 { server_address() } else { address };
        client.handle(now, from, &mut datagram, &mut events);
    }
    assert!(events.is_empty());
}
