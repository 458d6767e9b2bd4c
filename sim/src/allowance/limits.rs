/// The numbers by which reports without a module are judged. One set for all characters of a place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AllowanceLimits {
    /// How much faster than its speed a character may seem to move, default 1.35.
    pub speed_factor: f32,
    /// Distance a report may add to that, studs, default 0.3.
    pub slack: f32,
    /// Distance in one report above which a character is put back, studs, default 60.
    pub teleport_distance: f32,
    /// The same as a multiple of speed and time, default 2; the larger of the two holds.
    pub teleport_factor: f32,
    /// Multiple of the allowance above which a report is clamped at once, default 3.
    pub clamp_factor: f32,
    /// Reports in a row above the allowance of which the last is clamped, default 5.
    pub streak_limit: u32,
    /// Least and greatest time between two reports that counts, seconds, default 1/240 and 0.5.
    pub step: (f64, f64),
    /// Distance a one-second window may hold beyond speed times factor, studs, default 0.6 (S-25a).
    pub window_slack: f32,
    /// Time since the last arrival that a report did not need for its way and a later one may use, at most this much in
    /// seconds, default 0.25. Jitter lets honest reports arrive closer together than they were made: after one that
    /// was held up, the next comes at its heels and would seem too fast. A quarter of a second covers ±80 ms, with reports
    /// lost in between. It is safe as long as the distance guard bounds
    /// every second as a whole; 0 turns it off.
    pub late_credit: f32,
    /// Distance a report may rise or fall beyond what jumps, flight and gravity allow, studs, default 0.5.
    pub vertical_slack: f32,
    /// How far below its feet a character that says it stands must have ground, studs, default 0.6.
    pub support_distance: f32,
    /// Change of velocity allowed in multiples of speed, default 2.
    pub acceleration_speeds: f32,
    /// Change of velocity allowed in multiples of gravity, default 4.
    pub acceleration_gravities: f32,
    /// Difference between reported and accepted position above which a correction is sent, studs, default 0.5.
    pub correction_distance: f32,
    /// How long a speed counts after it was lowered, seconds, default 0.5: reports of faster movement are under way.
    pub speed_hold: f32,
    /// Which checks beyond the horizontal allowance run, default all.
    pub guards: AllowanceGuards,
}

impl Default for AllowanceLimits {
    fn default() -> Self {
        Self {
            speed_factor: 1.35,
            slack: 0.3,
            teleport_distance: 60.0,
            teleport_factor: 2.0,
            clamp_factor: 3.0,
            streak_limit: 5,
            step: (1.0 / 240.0, 0.5),
            window_slack: 0.6,
            late_credit: 0.25,
            vertical_slack: 0.5,
            support_distance: 0.6,
            acceleration_speeds: 2.0,
            acceleration_gravities: 4.0,
            correction_distance: 0.5,
            speed_hold: 0.5,
            guards: AllowanceGuards::default(),
        }
    }
}

impl AllowanceLimits {
    /// The horizontal allowance alone: no guards, no credit. It is what the reference vectors state.
    #[must_use]
    pub fn bare() -> Self {
        Self { guards: AllowanceGuards::NONE, late_credit: 0.0, speed_hold: 0.0, ..Self::default() }
    }

    /// The most a character of this speed may move horizontally within any second, studs: the written envelope (S-25a).
    #[must_use]
    pub fn envelope(&self, speed: f32) -> f32 {
        speed * self.speed_factor + self.window_slack
    }
}

/// Which checks run around the horizontal allowance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllowanceGuards {
    /// Rate of reports (S-21).
    pub rate: bool,
    /// Horizontal distance within a second (S-25a).
    pub distance: bool,
    /// Rise, fall and hovering.
    pub vertical: bool,
    /// Reported velocity and how it changes.
    pub velocity: bool,
    /// Whether what says it stands has ground below, and what flies may fly.
    pub grounded: bool,
}

impl AllowanceGuards {
    /// None of them.
    pub const NONE: Self = Self { rate: false, distance: false, vertical: false, velocity: false, grounded: false };
    /// All of them.
    pub const ALL: Self = Self { rate: true, distance: true, vertical: true, velocity: true, grounded: true };
}

impl Default for AllowanceGuards {
    fn default() -> Self {
        Self::ALL
    }
}
