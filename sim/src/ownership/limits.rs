use crate::time::SimSpan;

/// The numbers by which owners' reports are judged and leases run. One set for all parts of a place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OwnershipLimits {
    /// Most parts in one report, default 64; a larger one is refused whole.
    pub max_snapshots: usize,
    /// Fastest a part may move, studs/s, default 500.
    pub max_speed: f32,
    /// Fastest a part may spin, radians/s, default 100.
    pub max_spin: f32,
    /// Least and greatest time between two states that counts, seconds, default 1/240 and 0.5.
    pub step: (f64, f64),
    /// Distance a step may hold beyond speed times time, studs, default 2.
    pub slack_position: f32,
    /// Angle a step may hold beyond spin times time, radians, default 0.5.
    pub slack_rotation: f32,
    /// Longest step, studs, default 60.
    pub max_step: f32,
    /// Distance a second may hold beyond speed times a second, studs, default 4; infinite turns the bucket off.
    pub window_slack: f32,
    /// Reports a second, default 60.
    pub reports_per_second: u32,
    /// Reports that may come at once, default 30: a burst that a stalled link let go.
    pub report_burst: u32,
    /// Time after a change of owner in which no other player gets the part, default 0.5 s.
    pub cooldown: SimSpan,
    /// How long before its arrival a state can be shown to have been, default 0.15 s (S-41).
    pub max_sample_age: SimSpan,
    /// Silence after which an owner loses a part to the server, default 1 s; a part at rest is silent.
    pub silence: SimSpan,
}

impl Default for OwnershipLimits {
    fn default() -> Self {
        Self {
            max_snapshots: 64,
            max_speed: 500.0,
            max_spin: 100.0,
            step: (1.0 / 240.0, 0.5),
            slack_position: 2.0,
            slack_rotation: 0.5,
            max_step: 60.0,
            window_slack: 4.0,
            reports_per_second: 60,
            report_burst: 30,
            cooldown: SimSpan(30_720),
            max_sample_age: SimSpan(9_216),
            silence: SimSpan(61_440),
        }
    }
}
