use tidelock_sim::input::{
    DeviceChange, DeviceEvent, InputBuffer, InputBufferConfig, InputGate, InputGateConfig, InputPacer, InputPacket,
    InputPresence, InputRefusal, PressActions, SendQueue, Sequencer, StepInput,
};
use tidelock_sim::{Sequence, SimTime};

use crate::link::{Chance, Link};

type Input = StepInput<i32>;
type Packet = (Sequence, Vec<Input>);

const SECOND: u64 = 1_000_000;

fn actions() -> PressActions {
    PressActions::new(&[(0b1, 0), (0b10, 1), (0b100, 1)]).unwrap()
}

fn runtime_config() -> InputBufferConfig {
    InputBufferConfig { max_target: InputPacer::MAX_DEPTH, ..InputBufferConfig::default() }
}

/// A server's end: gate and buffer of one client.
struct Server {
    gate: InputGate,
    buffer: InputBuffer<i32>,
}

impl Server {
    fn new(config: InputBufferConfig) -> Self {
        let buffer = InputBuffer::new(config, actions(), Input::default()).unwrap();
        Self { gate: InputGate::new(InputGateConfig::default()), buffer }
    }

    fn receive(&mut self, (last, inputs): &Packet, now: u64) {
        let packet = InputPacket { last: *last, inputs };
        if self.gate.admit(&packet, true, SimTime::from_seconds(now as f64 / 1e6)).is_ok() {
            self.buffer.offer_range(*last, inputs);
        }
    }
}

fn packet(queue: &SendQueue<Input>) -> Packet {
    let packet = queue.packet().unwrap();
    (packet.last, packet.inputs.to_vec())
}

// B15, S-6: what came, what was guessed and what is absent can be told apart.
#[test]
fn silence_is_guessed_then_absent() {
    let mut server = Server::new(InputBufferConfig::default());
    let mut queue = SendQueue::new(1);
    let mut counts = [0; 3];
    for tick in 0..300 {
        queue.push(Input { buttons: 0, held: 1 });
        if !(100..=130).contains(&tick) {
            server.receive(&packet(&queue), tick * SECOND / 60);
        }
        let consumed = server.buffer.consume();
        let (index, held) = match consumed.presence {
            InputPresence::Present => (0, 1),
            InputPresence::Guessed => (1, 1),
            InputPresence::Absent => (2, 0),
        };
        counts[index] += 1;
        assert_eq!(consumed.input.held, held);
    }
    assert_eq!(counts, [269, 30, 1], "31 packets were lost");
    let stats = server.buffer.stats();
    assert_eq!((stats.applied, stats.starved, stats.speculated, stats.neutral), (269, 31, 8, 1));
}

// S-6: a button held all along does not act again when the player is heard again.
#[test]
fn being_let_go_of_is_no_press() {
    let mut server = Server::new(InputBufferConfig::default());
    let held = Input { buttons: 1, held: 0 };
    server.buffer.offer(Sequence(1), held);
    assert_eq!(server.buffer.consume().pressed, 1);
    let absent = (0..60).map(|_| server.buffer.consume()).last().unwrap();
    assert_eq!((absent.input, absent.presence, absent.guessed), (Input::default(), InputPresence::Absent, 8));
    server.buffer.offer(Sequence(61), held);
    let again = server.buffer.consume();
    assert_eq!((again.input, again.pressed, again.guessed), (held, 0, 0));
    assert_eq!(server.buffer.stats().presses.extra, 0);
}

// B16: 1,000 taps of one frame at 240 frames a second, 30 steps a second, a fifth of the packets lost.
#[test]
fn every_tap_arrives_once_and_in_order() {
    let mut server = Server::new(InputBufferConfig::default());
    let mut link = Link::new(7, 50_000);
    (link.loss, link.jitter) = (0.2, 20_000);
    let (mut sequencer, mut queue) = (Sequencer::new(actions()), SendQueue::new(12));
    let mut chance = Chance(3);
    let (mut pressed, mut applied, mut due) = (Vec::new(), Vec::new(), 40_u64);
    let mut held = None;
    for frame in 0..80_000_u64 {
        let now = frame * SECOND / 240;
        let mut push = |change| sequencer.push(DeviceEvent { at_ms: now as f64 / 1e3, device: 0, change });
        if let Some(button) = held.take() {
            push(DeviceChange::Release(button));
        } else if frame >= due && pressed.len() < 1_000 {
            let button = chance.below(3) as u8;
            push(DeviceChange::Press(button));
            pressed.push(button);
            (held, due) = (Some(button), frame + 20 + u64::from(chance.below(60)));
        }
        if frame % 8 == 7 {
            queue.push(sequencer.next(now as f64 / 1e3, None));
            link.send(now, packet(&queue));
            for packet in link.arrived(now) {
                server.receive(&packet, now);
            }
            let consumed = server.buffer.consume();
            applied.extend((0..3_u8).filter(|button| consumed.pressed >> button & 1 == 1));
            queue.acknowledge(server.gate.newest());
        }
    }
    assert_eq!(pressed.len(), 1_000);
    assert_eq!(applied, pressed);
    let presses = server.buffer.stats().presses;
    assert_eq!((presses.applied, presses.lost, presses.reordered, presses.extra), (1_000, 0, 0, 0));
}

/// Steps that moved, of a client that says at which microsecond to make each input and when to send it.
fn moved(mut inputs: impl FnMut(u64, &mut SendQueue<Input>, &mut Server)) -> (Vec<bool>, Server) {
    let (mut server, mut queue) = (Server::new(runtime_config()), SendQueue::new(60));
    let mut moved = Vec::new();
    for step in 0..3_600_u64 {
        inputs(step, &mut queue, &mut server);
        moved.push(server.buffer.consume().input.held != 0);
    }
    (moved, server)
}

// B20: surplus and hoarded inputs move nobody faster.
#[test]
fn no_window_holds_more_steps_than_the_server_took() {
    let forward = Input { buttons: 0, held: 1 };
    let now = |step: u64| step * SECOND / 60;
    for (rate, hoard) in [(1.0, 1), (1.05, 1), (1.5, 1), (1.0, 60), (4.0, 30)] {
        let mut made = 0.0;
        let (moved, server) = moved(|step, queue, server| {
            made += rate;
            while made >= 1.0 {
                made -= 1.0;
                queue.push(forward);
            }
            if step % hoard == hoard - 1 {
                server.receive(&packet(queue), now(step));
                queue.acknowledge(server.gate.newest());
            }
        });
        let most = moved.windows(60).map(|window| window.iter().filter(|moved| **moved).count()).max().unwrap();
        assert!(most <= 60, "{rate} {hoard}: {most}");
        let stats = server.buffer.stats();
        let surplus = stats.merged + stats.dropped + server.gate.counters().refused(InputRefusal::Rate);
        assert_eq!(surplus > 0, rate > 1.0 || hoard > 30, "{rate} {hoard}: {stats:?}");
    }
}

// B20, S-7: an honest client on a bad link is never penalised in ten minutes.
#[test]
fn honest_clients_on_bad_links_lose_nothing() {
    let (mut server, mut queue) = (Server::new(runtime_config()), SendQueue::new(40));
    let (mut up, mut down) = (Link::new(1, 120_000), Link::new(2, 120_000));
    (up.jitter, up.loss, down.jitter, down.loss) = (160_000, 0.05, 160_000, 0.05);
    let (mut sequencer, mut pacer, mut chance) = (Sequencer::new(actions()), InputPacer::new(), Chance(9));
    let (mut client_next, mut server_next, mut newest) = (0.0, 0, Sequence(0));
    for millisecond in 0..600_000_u64 {
        let now = millisecond * 1_000;
        if chance.below(100) == 0 {
            let button = chance.below(3) as u8;
            let change = if chance.below(2) == 0 { DeviceChange::Press(button) } else { DeviceChange::Release(button) };
            sequencer.push(DeviceEvent { at_ms: now as f64 / 1e3, device: 0, change });
        }
        for (acknowledged, depth, target) in down.arrived(now) {
            if Sequence::is_newer_than(acknowledged, newest) {
                newest = acknowledged;
                pacer.report(depth, Some(target));
                queue.acknowledge(acknowledged);
            }
        }
        if now as f64 >= client_next {
            client_next += SECOND as f64 / 60.0 / pacer.pace();
            queue.push(sequencer.next(now as f64 / 1e3, None));
            up.send(now, packet(&queue));
        }
        if now >= server_next {
            server_next += SECOND / 60;
            for packet in up.arrived(now) {
                server.receive(&packet, now);
            }
            let consumed = server.buffer.consume();
            down.send(now, (consumed.acknowledged, consumed.depth, consumed.target));
        }
    }
    let counters = server.gate.counters();
    assert_eq!(counters.all_refused(), counters.refused(InputRefusal::Stale), "{counters:?}");
    let stats = server.buffer.stats();
    assert_eq!((stats.dropped, stats.neutral > 20), (0, false), "{stats:?}");
    assert_eq!((stats.presses.lost, stats.presses.reordered, stats.presses.extra), (0, 0, 0));
    assert!(stats.presses.offered > 1_000 && stats.starved < 36_000 / 50, "{stats:?}");
}

// B18: nothing far away gets in, and nothing grows.
#[test]
fn far_labels_store_nothing() {
    let mut server = Server::new(InputBufferConfig::default());
    server.receive(&(Sequence(1), vec![Input { buttons: 0, held: 1 }]), 0);
    let grown = allocation_counter::measure(|| {
        for ahead in [30_000, (1 << 31) - 1, 1 << 31, u32::MAX - 1] {
            for _ in 0..1_000 {
                let inputs = [Input::default()];
                let packet = InputPacket { last: Sequence(1_u32.wrapping_add(ahead)), inputs: &inputs };
                assert!(server.gate.admit(&packet, true, SimTime(0)).is_err());
            }
        }
    });
    assert_eq!((grown.count_total, server.gate.counters().all_refused(), server.buffer.depth()), (0, 4_000, 1));
}

// S-3 to S-7: nothing allocates after construction.
#[test]
fn the_whole_way_allocates_nothing() {
    let (mut server, mut queue) = (Server::new(InputBufferConfig::default()), SendQueue::new(15));
    let (mut sequencer, mut pacer, mut chance) = (Sequencer::new(actions()), InputPacer::new(), Chance(5));
    let counted = allocation_counter::measure(|| {
        for step in 0..20_000_u64 {
            let now_ms = step as f64 * 16.0;
            for _ in 0..chance.below(6) {
                let button = chance.below(8) as u8;
                let change = match chance.below(3) {
                    0 => DeviceChange::Press(button),
                    1 => DeviceChange::Release(button),
                    _ => DeviceChange::Held(chance.below(9) as i32),
                };
                sequencer.push(DeviceEvent { at_ms: now_ms - chance.share() * 30.0, device: button, change });
            }
            queue.push(sequencer.next(now_ms, Some(now_ms - 4.0)));
            let packet = queue.packet().unwrap();
            let now = SimTime::from_seconds(now_ms / 1e3);
            if chance.below(10) > 2 && server.gate.admit(&packet, true, now).is_ok() {
                server.buffer.offer_range(packet.last, packet.inputs);
            }
            let consumed = server.buffer.consume();
            pacer.report(consumed.depth, Some(consumed.target));
            queue.acknowledge(consumed.acknowledged);
        }
    });
    assert_eq!(counted.count_total, 0);
    assert!(server.buffer.stats().applied > 10_000 && sequencer.counters().stale == 0);
}
