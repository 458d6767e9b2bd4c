use crate::time::SimSpan;

/// The numbers by which the server judges reports. One set for all characters of a place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReplayLimits {
    /// Farthest reported position from the origin, studs, default 1e6.
    pub max_position: f32,
    /// Fastest reported velocity, studs/s, default 1e4.
    pub max_velocity: f32,
    /// Largest reported yaw by magnitude, radians, default 64.
    pub max_yaw: f32,
    /// Distance between replayed and reported position that still agrees, studs, default 0.75.
    pub agree_position: f32,
    /// Difference in velocity that still agrees, studs/s, default 1.
    pub agree_velocity: f32,
    /// Wrapped difference in yaw that still agrees, radians, default 0.1.
    pub agree_yaw: f32,
    /// Reports a second, default 30; above it they are refused.
    pub reports_per_second: u32,
    /// Reports that may come at once, default 8.
    pub report_burst: u32,
    /// Movement time a character can save up, seconds, default 0.25.
    pub replay_budget: f64,
    /// Adopted differences a character can save up, studs, default 0.75.
    pub adoption_budget: f32,
    /// Adopted differences a character regains, studs/s, default 0.05.
    pub adoption_refill: f32,
    /// How far in the past a report may start, default 0.3 s.
    pub start_behind: SimSpan,
    /// How far in the future a report may start, default 0.1 s.
    pub start_ahead: SimSpan,
    /// How far before the end of the last report the next may start, default 1/60 s.
    pub start_overlap: SimSpan,
    /// How often a report may start earlier than that (a client whose clock had run ahead), default 5 s.
    pub rewind_interval: SimSpan,
    /// Oldest age at which a pose is broadcast, default 0.15 s (S-41).
    pub max_sample_age: SimSpan,
}

impl Default for ReplayLimits {
    fn default() -> Self {
        Self {
            max_position: 1e6,
            max_velocity: 1e4,
            max_yaw: 64.0,
            agree_position: 0.75,
            agree_velocity: 1.0,
            agree_yaw: 0.1,
            reports_per_second: 30,
            report_burst: 8,
            replay_budget: 0.25,
            adoption_budget: 0.75,
            adoption_refill: 0.05,
            start_behind: SimSpan(18_432),
            start_ahead: SimSpan(6_144),
            start_overlap: SimSpan::TICK,
            rewind_interval: SimSpan(307_200),
            max_sample_age: SimSpan(9_216),
        }
    }
}
