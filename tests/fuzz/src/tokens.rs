use tidelock_net::netcode::token::TOKEN_BYTES;
use tidelock_net::{ClientConfig, ClientShard, ConnectToken, ConnectionId, Ingress, Shard};

use super::choices::Choices;
use super::sealed::{PRIVATE_BYTES, seal_private, version};
use super::shards::{Honest, MS, PROTOCOL, START, UNIX, peer_address, server, token};

/// Connect tokens: their public form, and private parts that open and say anything.
pub fn run(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    match choices.byte() % 2 {
        0 => public(&mut choices),
        _ => private(&mut choices),
    }
}

/// A sound token, some of whose bytes are others; a client is made from what is read of it.
fn public(choices: &mut Choices<'_>) {
    let mut token = token(1).to_bytes().to_vec();
    let at = usize::from(choices.short()) % TOKEN_BYTES;
    let changed = choices.chunk();
    let end = TOKEN_BYTES.min(at + changed.len());
    token[at..end].copy_from_slice(&changed[..end - at]);
    token.truncate(TOKEN_BYTES - usize::from(choices.byte() / 128));
    let Ok(read) = ConnectToken::from_bytes(&token) else { return };
    assert!((1..=32).contains(&read.server_addresses().len()));
    assert_eq!(ConnectToken::from_bytes(&*read.to_bytes()).as_ref(), Ok(&read));
    let (mut now, mut events) = (START, Vec::new());
    let mut client = ClientShard::new(ClientConfig::default(), read, now, UNIX + now);
    for _ in 0..40 {
        client.advance(now, &mut events);
        client.transmit(now, &mut |_, datagram| assert_eq!(datagram.len(), 1_078));
        let next = client.next_timeout();
        now += MS * u32::from(choices.short());
        assert!(next.is_some() || events.iter().any(|event| matches!(event, Ingress::Disconnected { .. })));
    }
    assert!(events.len() <= 1, "it ends once");
    assert_eq!(client.connection(), ConnectionId::new(0, 0, 1));
}

/// Requests whose private part was sealed by the issuer and says anything.
fn private(choices: &mut Choices<'_>) {
    let (mut server, mut now) = (server(), START);
    let mut events = Vec::new();
    while !choices.is_over() {
        let mut plain = [0; PRIVATE_BYTES];
        let sound = choices.byte().is_multiple_of(2);
        if sound {
            // One address, this server's.
            plain[8..12].copy_from_slice(&10i32.to_le_bytes());
            plain[12..23].copy_from_slice(&[1, 0, 0, 0, 1, 10, 0, 0, 1, 0x40, 0x9c]);
        }
        let at = usize::from(choices.short()) % PRIVATE_BYTES;
        let changed = choices.chunk();
        let end = PRIVATE_BYTES.min(at + changed.len());
        plain[at..end].copy_from_slice(&changed[..end - at]);
        let expire_s = if sound { UNIX.as_secs() + 40 } else { choices.long() };
        let nonce = [choices.byte(); 24];
        let mut request = vec![0];
        request.extend_from_slice(&version());
        request.extend_from_slice(&PROTOCOL.to_le_bytes());
        request.extend_from_slice(&expire_s.to_le_bytes());
        request.extend_from_slice(&nonce);
        request.extend_from_slice(&seal_private(&plain, expire_s, nonce));
        let from = peer_address(choices.byte());
        server.handle(now, from, &mut request, &mut events);
        now += MS * u32::from(choices.byte());
        server.advance(now, &mut events);
        let mut answered = 0;
        server.transmit(now, &mut |to, datagram| {
            assert_eq!(to, from);
            answered += datagram.len();
        });
        // N-7
        assert!(answered <= 1_078 && events.is_empty());
    }
    Honest::new(now).plays(now, &mut server);
}
