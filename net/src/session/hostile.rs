//! What an authenticated peer can do with its frames: nothing but spend its own budget.

use std::time::Duration;

use proptest::prelude::*;

use crate::arena::Span;
use crate::counters::Fault;
use crate::entropy::SeedEntropy;
use crate::event::Ingress;
use crate::id::{ConnectionId, LaneId};
use crate::lane::{LaneConfig, LaneKind, LaneSet, Overflow};
use crate::session::config::SessionConfig;
use crate::session::desk::Desk;
use crate::session::frame::{LaneHead, WireId, write_head, write_ping};
use crate::session::inbound::MAX_STALL;
use crate::session::reassembly::Reassembly;
use crate::session::received::LAZY_DELAY;
use crate::session::sent::{MAX_OPEN_PACKETS, MAX_PACKETS};
use crate::session::state::Session;
use crate::session::varint::write_varint;

const NOW: Duration = Duration::from_secs(1);

fn lanes() -> LaneSet {
    let lane = |kind, max_message_bytes| LaneConfig {
        name: "lane",
        kind,
        repeat: None,
        priority: 0,
        weight: 1,
        limit_bytes: 64 << 10,
        overflow: Overflow::WouldBlock,
        max_message_bytes,
    };
    let kinds = [LaneKind::ReliableOrdered, LaneKind::ReliableUnordered, LaneKind::Sequenced, LaneKind::Unreliable];
    let lanes = kinds.map(|kind| lane(kind, if kind.is_reliable() { 16 << 10 } else { 1_000 }));
    LaneSet::new(lanes.to_vec()).unwrap()
}

struct Bench {
    session: Session,
    desk: Desk,
    events: Vec<Ingress>,
    number: u64,
}

impl Bench {
    fn new() -> Self {
        Self::starting_at(0)
    }

    /// Numbers of packets and messages begin with `first`.
    fn starting_at(first: u64) -> Self {
        let config = SessionConfig { first_packet: first, ..SessionConfig::default() };
        let session = Session::new(ConnectionId::new(0, 0, 1), lanes(), config, NOW);
        Self {
            session,
            desk: Desk::new(Reassembly::of_one(1 << 20), SeedEntropy::from_number(1)),
            events: vec![],
            number: first,
        }
    }

    /// Lets the peer send one packet of frames.
    fn receive(&mut self, frames: &[u8]) -> Result<(), Fault> {
        let mut payload = vec![];
        write_head(self.number, self.number, &mut payload);
        payload.extend_from_slice(frames);
        self.number += 1;
        let outcome = self.session.receive(NOW, &payload, &mut self.desk, &mut self.events).map(drop);
        self.desk.inbox.seal(&mut self.events);
        outcome
    }

    fn fragment(&mut self, lane: u8, id: u32, start: u32, (bytes, total): (usize, u32)) -> Result<(), Fault> {
        let mut frames = vec![];
        let head = LaneHead { lane, id: WireId::Low(id), part: Some((start, total)) };
        head.write(&vec![id as u8; bytes], &mut frames);
        self.receive(&frames)
    }
}

proptest! {
    // N-13: any payload is taken whole or not at all.
    #[test]
    fn any_payload_is_taken_whole_or_not_at_all(
        payloads in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 1..30), lanes_only: bool,
    ) {
        let mut bench = Bench::new();
        for mut payload in payloads {
            if let (true, Some(first)) = (lanes_only, payload.first_mut()) {
                *first = 0x80 | *first & 0x73;
            }
            let before = (bench.session.held_bytes(), bench.events.len());
            if bench.receive(&payload).is_err() {
                prop_assert_eq!((bench.session.held_bytes(), bench.events.len()), before);
            }
            prop_assert_eq!(bench.desk.reassembly.used, bench.session.held_bytes());
            prop_assert!(bench.session.held_bytes() <= 2 * ((64 + 16 + 1) << 10));
        }
    }

    // N-13: the same where the frames are well formed and contradict each other, within payloads and between them.
    #[test]
    fn any_contradiction_is_taken_whole_or_not_at_all(
        payloads in prop::collection::vec(
            prop::collection::vec((0u8..4, 0u32..4, 0u32..4, any::<bool>(), any::<bool>()), 1..6), 1..12,
        ),
    ) {
        let mut bench = Bench::new();
        for frames in payloads {
            let mut payload = vec![];
            for (lane, id, place, is_part, is_long) in frames {
                let id = if lane == 3 { WireId::None } else { WireId::Low(id) };
                let total = if is_long { 448 } else { 224 };
                let start = place * 112 % total;
                let part = is_part.then_some((start, total));
                LaneHead { lane, id, part }.write(&[7; 112], &mut payload);
            }
            let before = (bench.session.held_bytes(), bench.events.len());
            if bench.receive(&payload).is_err() {
                prop_assert_eq!((bench.session.held_bytes(), bench.events.len()), before);
            }
            prop_assert_eq!(bench.desk.reassembly.used, bench.session.held_bytes());
            // Messages of four ids on two lanes, as long as the longest of them at most.
            prop_assert!(bench.session.held_bytes() <= 2 * 4 * (448 + 32), "{}", bench.session.held_bytes());
        }
    }

    // B90: parts that come three times in any order make one message.
    #[test]
    fn parts_in_any_order_and_number_make_one_message(
        mut order in Just((0..30u32).flat_map(|part| [part; 3]).collect::<Vec<_>>()).prop_shuffle(), lane in 0u8..2,
    ) {
        let mut bench = Bench::new();
        // The last part is shorter than the others.
        let total = 29 * 112 + 50;
        order.push(0);
        for part in order {
            let bytes = if part == 29 { 50 } else { 112 };
            bench.fragment(lane, 0, part * 112, (bytes, total)).unwrap();
        }
        prop_assert_eq!(bench.events.len(), 1);
        prop_assert_eq!(bench.session.held_bytes(), 0);
    }
}

// N-13: what one frame of a payload says of a message holds for the payload's other frames too.
#[test]
fn parts_that_contradict_each_other_in_one_payload_are_refused() {
    for lane in [0, 1] {
        for id in [0, 3] {
            let head = |start, total| LaneHead { lane, id: WireId::Low(id), part: Some((start, total)) };
            for (first, second) in [((0, 400), (1_600, 8_000)), ((0, 8_000), (160, 400)), ((1_600, 8_000), (0, 112))] {
                let mut bench = Bench::new();
                let mut frames = vec![];
                head(first.0, first.1).write(&[1; 112], &mut frames);
                head(second.0, second.1).write(&[2; 112], &mut frames);
                assert_eq!(bench.receive(&frames), Err(Fault::MessageBytes), "{first:?}, then {second:?}");
                assert_eq!((bench.session.held_bytes(), bench.events.len()), (0, 0));
            }
            let mut bench = Bench::new();
            let mut frames = vec![];
            head(0, 400).write(&[1; 112], &mut frames);
            LaneHead { lane, id: WireId::Low(id), part: None }.write(&[2; 100], &mut frames);
            assert_eq!(bench.receive(&frames), Err(Fault::MessageBytes), "part of a long one, then a short one");
        }
    }
}

// B88: first parts of messages never finished are bounded, and refused beyond.
#[test]
fn unfinished_messages_are_bounded() {
    // Also over the edge of the ids' short form.
    for (lane, first) in [(0, 0), (1, 0), (0, (1 << 24) - 2), (1, (1 << 24) - 2)] {
        let mut bench = Bench::starting_at(first);
        let mut refused = 0;
        for count in 0..100_000u32 {
            let id = (first as u32 + count % 16_000) & 0xFF_FFFF;
            match bench.fragment(lane, id, 0, (128, 16_000)) {
                Ok(()) => {}
                Err(fault) => {
                    assert!(matches!(fault, Fault::WindowBytes), "{fault:?}");
                    refused += 1;
                }
            }
        }
        assert!(bench.session.held_bytes() <= ((64 + 16) << 10) + 32);
        assert!(refused > 99_000);
        assert!(bench.events.is_empty());
        // What a lane holds is its own: others go on.
        bench.fragment(1 - lane, first as u32 & 0xFF_FFFF, 0, (128, 128)).unwrap();
        assert_eq!(bench.events.len(), 1);
        assert!(bench.session.count_fault(NOW) || refused > 16);
    }
}

// N-4: bounded in bytes per process: what does not fit is dropped and not the peer's fault.
#[test]
fn a_full_shard_drops_without_blame() {
    let mut bench = Bench::new();
    bench.desk.reassembly.max = 10_000;
    bench.fragment(0, 0, 0, (128, 8_000)).unwrap();
    assert_eq!(bench.fragment(1, 0, 0, (128, 8_000)), Err(Fault::ReassemblyFull));
    assert!(!Fault::ReassemblyFull.is_peers());
    (0..62).for_each(|part| bench.fragment(0, 0, 128 * part, (128, 8_000)).unwrap());
    bench.fragment(0, 0, 128 * 62, (64, 8_000)).unwrap();
    assert_eq!((bench.events.len(), bench.desk.reassembly.used), (1, 0));
    bench.fragment(1, 0, 0, (128, 8_000)).unwrap();
}

#[test]
fn forbidden_frames_are_named() {
    let mut bench = Bench::new();
    let mut ack = vec![1];
    [500, 0].into_iter().for_each(|number| write_varint(number, &mut ack));
    ack.extend_from_slice(&[1, 0]);
    assert_eq!(bench.receive(&ack), Err(Fault::AckUnsent));
    assert_eq!(bench.receive(&[0x7F]), Err(Fault::Frame));
    bench.ping(NOW + LAZY_DELAY);
    // Each would be looked up among all packets sent.
    let ack = [1, 0, 0, 1, 0];
    assert_eq!(bench.receive(&[ack, ack].concat()), Err(Fault::Frame));
    bench.receive(&ack).unwrap();
    let whole = |lane: u8, id: WireId, bytes: usize| {
        let mut out = vec![];
        LaneHead { lane, id, part: None }.write(&vec![0; bytes], &mut out);
        out
    };
    assert_eq!(bench.receive(&whole(9, WireId::None, 5)), Err(Fault::Lane));
    assert_eq!(bench.receive(&whole(0, WireId::Follows, 5)), Err(Fault::Frame));
    assert_eq!(bench.receive(&whole(2, WireId::Low(1), 1_020)), Err(Fault::MessageBytes));
    assert_eq!(bench.receive(&whole(0, WireId::Low(1 << 15), 5)), Err(Fault::WindowIds));
    assert_eq!(bench.fragment(0, 0, 0, (128, 20_000)), Err(Fault::MessageBytes));
    bench.fragment(0, 0, 0, (128, 9_000)).unwrap();
    assert_eq!(bench.fragment(0, 0, 0, (128, 9_001)), Err(Fault::MessageBytes));
    assert_eq!(bench.fragment(2, 0, 0, (128, 900)), Err(Fault::Lane));
    assert_eq!(bench.receive(&whole(0, WireId::Low(0), 5)), Err(Fault::MessageBytes));
    let mut ping = vec![];
    write_ping(&mut ping);
    bench.receive(&ping).unwrap();
    bench.number -= 1;
    assert_eq!(bench.receive(&ping), Err(Fault::Replayed));
    assert!(bench.events.is_empty());
}

// N-4: reassembly is bounded in time, and the session asks to be looked at when that is over.
#[test]
fn a_message_left_unfinished_ends_the_session() {
    let mut bench = Bench::new();
    assert_eq!(bench.session.next_timeout(NOW).filter(|due| *due > NOW + MAX_STALL), None);
    bench.fragment(0, 0, 0, (128, 9_000)).unwrap();
    bench.session.transmit(NOW + LAZY_DELAY, &mut bench.desk);
    let late = NOW + MAX_STALL;
    assert_eq!(bench.session.next_timeout(NOW + LAZY_DELAY), Some(late));
    let mut advance = |now| bench.session.advance(now, &mut bench.desk, &mut bench.events);
    assert_eq!(advance(late - Duration::from_nanos(1)), Ok(()));
    assert_eq!(advance(late), Err(Fault::WindowBytes));
}

impl Bench {
    /// Lets the peer send a ping, time pass and a packet leave, if one may; returns it.
    fn ping(&mut self, now: Duration) -> &[u8] {
        let mut ping = vec![];
        write_ping(&mut ping);
        self.receive(&ping).unwrap();
        self.session.advance(now, &mut self.desk, &mut self.events).unwrap();
        self.desk.datagram.clear();
        self.session.transmit(now, &mut self.desk);
        &self.desk.datagram
    }
}

// N-4, N-13: a peer that has us answer and acknowledges nothing costs bounded memory, and does not keep us busy.
#[test]
fn a_peer_that_acknowledges_nothing_is_bounded() {
    let mut bench = Bench::new();
    bench.session.send(LaneId(0), Span::from(vec![7; 100]), None, &mut bench.desk).unwrap();
    bench.session.flush();
    let silence = 20 * MAX_PACKETS as u32;
    let mut copies = 0;
    for ms in 0..silence {
        let now = NOW + Duration::from_millis(u64::from(ms));
        copies += u32::from(bench.ping(now).ends_with(&[7; 100]));
        // Beyond, only probes leave.
        assert!(bench.session.recovery.remembered() <= MAX_PACKETS + copies as usize);
        let idle = bench.session.next_timeout(now).is_some_and(|due| due > now);
        assert!(idle || !bench.session.recovery.is_overfull(), "waits for something it does not do");
    }
    assert!(bench.session.recovery.remembered() >= MAX_OPEN_PACKETS, "there was more to remember");
    assert!((silence / 500..silence / 300).contains(&copies), "the message still leaves: {copies}");
}

// N-5: who only acknowledged for long has room to send.
#[test]
fn acknowledgements_take_no_room_from_what_is_sent() {
    let mut bench = Bench::new();
    for _ in 0..5 * MAX_PACKETS {
        bench.ping(NOW);
    }
    bench.session.send(LaneId(0), Span::from(vec![7; 100]), None, &mut bench.desk).unwrap();
    bench.session.flush();
    assert!(bench.ping(NOW).ends_with(&[7; 100]));
}

// N-10: the datagram's buffer comes back when its messages are gone.
#[test]
fn received_buffers_are_reused() {
    let mut bench = Bench::new();
    for _ in 0..1_000 {
        let mut frames = vec![];
        LaneHead { lane: 3, id: WireId::None, part: None }.write(&[7; 100], &mut frames);
        bench.receive(&frames).unwrap();
        assert!(matches!(&bench.events[..], [Ingress::Message { bytes, .. }] if **bytes == [7; 100]));
        bench.events.clear();
    }
    assert_eq!(bench.desk.inbox.chunks(), 1);
}

// N-3: room is shared by weight within a priority.
#[test]
fn weights_share_the_room() {
    let mut lanes = lanes().lanes().to_vec();
    (lanes[0].weight, lanes[1].weight) = (3, 1);
    let lanes = LaneSet::new(lanes).unwrap();
    let mut bench = Bench::new();
    bench.session = Session::new(ConnectionId::new(0, 0, 1), lanes, SessionConfig::default(), NOW);
    for _ in 0..150 {
        for lane in 0..2 {
            bench.session.send(LaneId(lane), Span::from(vec![0; 200]), None, &mut bench.desk).unwrap();
        }
    }
    bench.session.flush();
    (1..=8).for_each(|second| {
        bench.desk.datagram.clear();
        assert!(bench.session.transmit(NOW + Duration::from_secs(second), &mut bench.desk));
    });
    let mut stats = crate::stats::ConnectionStats::default();
    bench.session.describe(&mut stats);
    let shares = (stats.lanes[0].bytes_out / 200, stats.lanes[1].bytes_out / 200);
    assert_eq!(shares.0 + shares.1, 8 * 5);
    assert!((29..=31).contains(&shares.0), "{shares:?}");
}
