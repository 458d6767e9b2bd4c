use std::time::Duration;

use tidelock_net::{ClientConfig, ClientShard, ClientState, Egress, Ingress, LaneId, LaneSet, ReceiptKey, Shard, Span};

use super::choices::Choices;
use super::sealed::{Extended, Keys, Standard};
use super::shards::{MS, START, UNIX, peer_address, server_address, token};

/// A server that has the keys and keeps no rule, and the client that tries it.
struct Bench {
    client: ClientShard,
    now: Duration,
    events: Vec<Ingress>,
    keys: Keys,
    down: Standard,
    up: Standard,
    extended: Option<Extended>,
    next: [u64; 2],
    sent: u64,
    payload_bytes: usize,
}

/// Packets of a server that has the keys and keeps no rule, to a client, at any stage of the connection. Whatever they say, the
/// client ends when nothing more comes, and answers each receipt once.
pub fn run(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let mut bench = Bench::new(choices.byte());
    while !choices.is_over() {
        bench.operate(&mut choices);
        bench.check();
    }
    let silent = bench.now;
    while bench.client.state() != ClientState::Disconnected {
        bench.advance(MS * 250);
        assert!(bench.now < silent + Duration::from_secs(60), "it never ends");
    }
    let ended = |event: &&Ingress| matches!(event, Ingress::Disconnected { .. });
    assert_eq!(bench.events.iter().filter(ended).count(), 1);
    bench.advance(Duration::from_secs(2));
    let answered: usize = bench.events.iter().map(answers).sum();
    assert_eq!(answered as u64, bench.sent, "N-3b");
}

/// Receipts an event answers.
fn answers(event: &Ingress) -> usize {
    match event {
        Ingress::Receipts { delivered, lost, .. } => delivered.len() + lost.len(),
        Ingress::Blocked { receipt, .. } => usize::from(receipt.is_some()),
        _ => 0,
    }
}

impl Bench {
    fn new(stage: u8) -> Self {
        let keys = Keys::of(&*token(1).to_bytes());
        let config = ClientConfig { seed: (stage & 4 == 0).then_some([3; 32]), ..ClientConfig::default() };
        let mut bench = Self {
            client: ClientShard::new(config, token(1), START, UNIX + START),
            now: START,
            events: Vec::new(),
            up: Standard::new(&keys.to_server),
            down: Standard::new(&keys.to_client),
            keys,
            extended: None,
            next: [(UNIX + START).as_millis() as u64, 0],
            sent: 0,
            payload_bytes: 0,
        };
        bench.advance(MS);
        if !stage.is_multiple_of(4) {
            bench.standard(0x82, &[0; 308]);
            bench.advance(MS);
        }
        if stage % 4 > 1 {
            bench.standard(0x84, &[0; 8]);
            bench.advance(MS);
        }
        if stage % 4 > 2 {
            bench.answer();
            bench.advance(MS);
        }
        bench
    }

    fn deliver(&mut self, mut datagram: Vec<u8>) {
        self.client.handle(self.now, server_address(), &mut datagram, &mut self.events);
    }

    fn standard(&mut self, prefix: u8, body: &[u8]) {
        let packet = self.down.seal(prefix, self.next[0], body);
        self.next[0] = self.next[0].wrapping_add(1);
        self.payload_bytes += body.len();
        self.deliver(packet);
    }

    fn extended(&mut self, prefix: u8, body: &[u8]) {
        let Some(extended) = &self.extended else { return };
        let packet = extended.seal(&[prefix], self.next[1], body);
        self.next[1] = self.next[1].wrapping_add(1);
        self.payload_bytes += body.len();
        self.deliver(packet);
    }

    /// Answers the client's announcement.
    fn answer(&mut self) {
        self.standard(0x85, &[&[0x81], &[8; 32][..], &[0, 0, 0, 0, 16, 0]].concat());
    }

    /// Lets time pass and reads what the client sends.
    fn advance(&mut self, time: Duration) {
        self.now += time;
        self.client.advance(self.now, &mut self.events);
        let (up, keys, extended) = (&self.up, &self.keys, &mut self.extended);
        self.client.transmit(self.now, &mut |to, datagram| {
            assert_eq!(to, server_address());
            if let Some((5, payload)) = up.open(datagram)
                && payload.first() == Some(&0x80)
            {
                *extended = Some(Extended::derive(keys, &payload[1..33], &[8; 32]).1);
            }
        });
    }

    fn operate(&mut self, choices: &mut Choices<'_>) {
        match choices.byte() % 10 {
            0 => self.advance(MS * u32::from(choices.short() % 4_000)),
            1 => self.advance(MS),
            2 => self.deliver(choices.chunk().to_vec()),
            3 => self.answer(),
            4 => {
                let (prefix, body) = (choices.byte(), choices.chunk());
                self.standard(prefix, body);
            }
            5 => {
                let (prefix, body) = (choices.byte(), choices.chunk());
                self.extended(prefix, body);
            }
            6 => self.standard(0x85, choices.chunk()),
            7 => {
                let which = usize::from(choices.byte() % 2);
                self.next[which] = match choices.byte() % 3 {
                    0 => choices.long(),
                    1 => self.next[which].wrapping_add(u64::from(choices.word())),
                    _ => self.next[which].wrapping_sub(u64::from(choices.short())),
                };
            }
            8 => self.say(choices),
            _ => {
                let mut datagram = choices.chunk().to_vec();
                self.client.handle(self.now, peer_address(choices.byte()), &mut datagram, &mut self.events);
            }
        }
    }

    /// The client sends something itself, or leaves.
    fn say(&mut self, choices: &mut Choices<'_>) {
        let connection = self.client.connection();
        if choices.byte() == 255 {
            let code = tidelock_net::DisconnectCode::Closed;
            let egress = Egress::Disconnect { connection, code, text: String::new() };
            return self.client.apply(self.now, egress, &mut self.events);
        }
        let (lane, bytes) = (LaneId(choices.byte() % 7), vec![1; usize::from(choices.short()) % 20_000]);
        let receipt = Some(ReceiptKey(self.sent));
        self.sent += 1;
        let egress = Egress::Send { connection, lane, bytes: Span::from(bytes), receipt };
        self.client.apply(self.now, egress, &mut self.events);
        self.client.apply(self.now, Egress::FlushAll, &mut self.events);
    }

    fn check(&mut self) {
        let lanes = LaneSet::standard();
        let mut bytes_in = 0;
        self.events.retain(|event| {
            let Ingress::Message { lane, bytes, .. } = event else { return true };
            assert!(bytes.len() <= lanes.get(*lane).map_or(0, |lane| lane.max_message_bytes), "N-4");
            bytes_in += bytes.len();
            false
        });
        self.payload_bytes = self.payload_bytes.checked_sub(bytes_in).expect("what is handed over came over the wire");
    }
}
