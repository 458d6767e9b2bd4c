use glam::Vec3;
use tidelock_sim::Sequence;
use tidelock_sim::input::{InputBuffer, InputBufferConfig, PressActions, SendQueue, StepInput};
use tidelock_sim::reconcile::{
    Correction, PosePredictor, PosePredictorConfig, PoseSnapshot, PredictedMove, ReconcileConfig, SnapReason,
};

use crate::link::Link;

const STEP: u64 = 1_000_000 / 60;
const DT: f32 = 1.0 / 60.0;
const SPEED: f32 = 6.0;

type Input = StepInput<f32>;

fn planar() -> PosePredictorConfig {
    PosePredictorConfig {
        reconcile: ReconcileConfig { planar: true, ..ReconcileConfig::default() },
        ..PosePredictorConfig::default()
    }
}

/// A client that runs along +X over a link with 100 ms round trip, and a server that guesses.
struct Run {
    predictor: PosePredictor,
    queue: SendQueue<Input>,
    server: InputBuffer<f32>,
    server_x: f32,
    up: Link<(Sequence, Vec<Input>)>,
    down: Link<PoseSnapshot>,
    /// The largest drift anything was owed.
    most_owed: f32,
    /// How far the origin has moved.
    origin: Vec3,
}

impl Run {
    fn new(max_speculation: u32) -> Self {
        let config = InputBufferConfig { max_speculation, max_target: 5, ..InputBufferConfig::default() };
        Self {
            predictor: PosePredictor::new(planar(), Vec3::ZERO),
            queue: SendQueue::new(100),
            server: InputBuffer::new(config, PressActions::default(), Input::default()).unwrap(),
            server_x: 0.0,
            up: Link::new(1, 50_000),
            down: Link::new(2, 50_000),
            most_owed: 0.0,
            origin: Vec3::ZERO,
        }
    }

    /// One step of both; `stalled` holds what the client sends back.
    fn step(&mut self, step: u64, stalled: bool, shove: Vec3) -> Correction<()> {
        let now = step * STEP;
        for snapshot in self.down.arrived(now) {
            let position = snapshot.position + self.origin;
            self.predictor.receive(PoseSnapshot { position, ..snapshot });
            self.queue.acknowledge(snapshot.acknowledged);
        }
        let now_s = now as f64 / 1e6;
        let correction = self.predictor.reconcile(now_s, |_| None::<()>);
        self.most_owed = self.most_owed.max(self.predictor.owed().length());
        let direction = self.predictor.speed_scale();
        let walked = direction * SPEED * DT;
        let sequence = self.queue.push(Input { buttons: 0, held: direction });
        let position = self.predictor.position() + Vec3::X * walked + shove;
        self.predictor.record(PredictedMove { sequence, position, self_directed: walked, at_s: now_s });
        self.predictor.fade(DT);
        if !stalled {
            let packet = self.queue.packet().unwrap();
            self.up.send(now, (packet.last, packet.inputs.to_vec()));
        }
        for (last, inputs) in self.up.arrived(now) {
            self.server.offer_range(last, &inputs);
        }
        let consumed = self.server.consume();
        self.server_x += consumed.input.held * SPEED * DT;
        let position = Vec3::X * self.server_x;
        let (acknowledged, guessed_ticks) = (consumed.acknowledged, consumed.guessed);
        self.down.send(now, PoseSnapshot { acknowledged, guessed_ticks, position });
        correction
    }
}

// S-32: a stall of 1.5 s with a guessing server ends with no correction and under 1 m of drift.
#[test]
fn a_stall_ends_without_correction() {
    for max_speculation in [30, 8] {
        let mut run = Run::new(max_speculation);
        let mut stood = false;
        for step in 0..600 {
            run.step(step, (120..210).contains(&step), Vec3::ZERO);
            stood |= run.predictor.speed_scale() == 0.0;
        }
        let counters = run.predictor.counters();
        assert!(stood && counters.waits > 0);
        assert_eq!((counters.shifts, counters.snaps), (0, 0), "{counters:?}");
        assert!(run.most_owed < 1.0, "{}", run.most_owed);
        assert!(run.predictor.owed().length() < 0.01, "blended away: {}", run.predictor.owed());
        assert_eq!(run.predictor.speed_scale(), 1.0);
    }
}

// S-31: walking on what the server has not heard of is no error.
#[test]
fn a_round_trip_of_walking_is_no_drift() {
    let mut run = Run::new(8);
    for step in 0..6_000 {
        run.step(step, false, Vec3::ZERO);
    }
    assert!(run.most_owed < 0.01, "{}", run.most_owed);
    let counters = run.predictor.counters();
    assert_eq!((counters.shifts, counters.snaps, counters.waits), (0, 0, 0));
}

// S-32: what is not self-directed repays nothing and is corrected by its size.
#[test]
fn drifts_are_blended_shifted_and_snapped_by_size() {
    for (shove, shifts, snaps) in [(0.8, 0, 0), (4.0, 1, 0), (40.0, 0, 1)] {
        let mut run = Run::new(8);
        let mut drawn = Vec::new();
        for step in 0..400 {
            run.step(step, false, if step == 100 { Vec3::Z * shove } else { Vec3::ZERO });
            drawn.push(run.predictor.drawn());
        }
        let counters = run.predictor.counters();
        assert_eq!((counters.shifts, counters.snaps), (shifts, snaps), "{shove}");
        assert!(run.predictor.position().z.abs() < 0.01, "{shove}: {}", run.predictor.position());
        assert!(run.predictor.drawn().abs_diff_eq(run.predictor.position(), 1e-3));
        let fastest = drawn.windows(2).skip(102).map(|pair| (pair[1] - pair[0]).length()).fold(0.0, f32::max);
        assert_eq!(fastest > 2.0, snaps > 0, "a shift glides: {fastest}");
    }
}

fn moved(sequence: u32, position: Vec3, self_directed: f32) -> PredictedMove {
    PredictedMove { sequence: Sequence(sequence), position, self_directed, at_s: 0.0 }
}

fn seen(acknowledged: u32, position: Vec3) -> PoseSnapshot {
    PoseSnapshot { acknowledged: Sequence(acknowledged), guessed_ticks: 0, position }
}

// S-32
#[test]
fn a_blend_repays_a_quarter_of_the_way_and_moves_the_history() {
    let mut predictor = PosePredictor::new(PosePredictorConfig::default(), Vec3::ZERO);
    predictor.record(moved(1, Vec3::ZERO, 0.0));
    predictor.receive(seen(1, Vec3::Y));
    assert_eq!(predictor.reconcile(0.0, |_| None::<()>), Correction::Blend { drift: Vec3::Y });
    assert_eq!(predictor.record(moved(2, Vec3::X, 0.0)), Vec3::X, "carried, so nothing is repaid");
    assert_eq!(predictor.record(moved(3, Vec3::X * 2.0, 1.0)), Vec3::new(2.0, 0.25, 0.0));
    // A blend is read once; the next snapshot sees history moved along.
    assert_eq!(predictor.reconcile(0.0, |_| None::<()>), Correction::None);
    predictor.receive(seen(2, Vec3::new(1.0, 1.0, 0.0)));
    let drift = Vec3::Y * 0.75;
    assert_eq!(predictor.reconcile(0.0, |_| None::<()>), Correction::Blend { drift });
    for sequence in 4..10 {
        predictor.record(moved(sequence, predictor.position(), 1.0));
    }
    assert_eq!((predictor.position(), predictor.owed()), (Vec3::new(2.0, 1.0, 0.0), Vec3::ZERO));
}

// S-32
#[test]
fn a_shift_leaves_an_offset_of_a_twentieth_of_a_second() {
    let mut predictor = PosePredictor::new(PosePredictorConfig::default(), Vec3::ZERO);
    predictor.record(moved(1, Vec3::ZERO, 0.0));
    predictor.receive(seen(1, Vec3::X * 4.0));
    predictor.reconcile(0.0, |_| None::<()>);
    assert_eq!((predictor.position(), predictor.drawn()), (Vec3::X * 4.0, Vec3::ZERO));
    predictor.fade(0.05);
    assert!(predictor.drawn().abs_diff_eq(Vec3::X * 2.0, 1e-5));
    predictor.fade(f32::NAN);
    predictor.rebase(Vec3::Z);
    assert!(predictor.drawn().abs_diff_eq(Vec3::new(2.0, 0.0, 1.0), 1e-5));
}

// S-31, S-32
#[test]
fn lost_sequences_old_snapshots_and_rules() {
    let mut predictor = PosePredictor::new(PosePredictorConfig { history: 4, ..planar() }, Vec3::ZERO);
    assert_eq!(predictor.reconcile(0.0, |_| Some(())), Correction::None, "nothing was received");
    for sequence in 1..=9 {
        predictor.record(moved(sequence, Vec3::X * sequence as f32, 0.0));
    }
    assert!(predictor.receive(seen(2, Vec3::Y)));
    assert!(!predictor.receive(seen(1, Vec3::ZERO)));
    let lost = Correction::Snap { to: Vec3::Y, reason: SnapReason::Lost };
    assert_eq!(predictor.reconcile(0.0, |_| None::<()>), lost);
    assert_eq!(predictor.reconcile(0.0, |_| None::<()>), Correction::None, "a snapshot is consumed once");
    predictor.receive(seen(8, Vec3::Z));
    let rooted = Correction::Snap { to: Vec3::Z, reason: SnapReason::Game("rooted") };
    assert_eq!(predictor.reconcile(0.0, |input| (input.drawn == Vec3::Y).then_some("rooted")), rooted);
    predictor.record(moved(9, Vec3::ZERO, 0.0));
    assert_eq!((predictor.counters().stale_snapshots, predictor.counters().unrecorded_moves), (1, 1));
}

// S-32: moving the origin changes no decision, and nothing allocates after construction.
#[test]
fn rebasing_changes_nothing_but_the_origin() {
    let (mut still, mut rebased) = (Run::new(8), Run::new(8));
    for step in 0..500 {
        if step % 50 == 25 {
            // Exact in binary, so both runs compute alike.
            rebased.predictor.rebase(Vec3::new(0.0, 64.0, -256.0));
            rebased.origin += Vec3::new(0.0, 64.0, -256.0);
        }
        let shove = if step % 90 == 10 { Vec3::X * 0.5 } else { Vec3::ZERO };
        let (a, b) = (still.step(step, false, shove), rebased.step(step, false, shove));
        assert_eq!(std::mem::discriminant(&a), std::mem::discriminant(&b), "{step}: {a:?} {b:?}");
        let there = rebased.predictor.position() - rebased.origin;
        assert!(there.abs_diff_eq(still.predictor.position(), 1e-2), "{step}");
    }
    let counted = allocation_counter::measure(|| {
        for sequence in 1_000..3_000 {
            let position = rebased.predictor.position() + Vec3::X;
            rebased.predictor.receive(seen(sequence - 6, position * 1.01));
            rebased.predictor.reconcile(0.0, |_| None::<()>);
            rebased.predictor.record(moved(sequence, position, 0.1));
            rebased.predictor.fade(DT);
            rebased.predictor.rebase(Vec3::Y);
        }
    });
    assert_eq!(counted.count_total, 0);
}
