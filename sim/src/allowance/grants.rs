use crate::time::SimTime;

/// What the game lets a character do beyond its motor settings (S-25). Default: nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MovementGrants {
    /// Speed of a granted burst (a dash, knockback, a launch pad), studs/s; it counts when above the walking speed.
    pub burst_speed: f32,
    /// Until when the burst lasts; [`SimTime`] 0 means it is over.
    pub burst_until: SimTime,
    /// Speed at which the character may fly in any direction, studs/s; 0 forbids flight.
    pub flight_speed: f32,
    /// Whether it is in water, where neither gravity nor jumps bound it.
    pub swimming: bool,
    /// Jumps in the air, where the settings allow fewer.
    pub air_jumps: u8,
}

impl MovementGrants {
    /// Grants a burst of `speed` studs/s until `until`.
    pub fn grant_burst(&mut self, speed: f32, until: SimTime) {
        (self.burst_speed, self.burst_until) = (speed, until);
    }

    /// Speed of the burst at `now`, 0 without one.
    #[must_use]
    pub fn burst(&self, now: SimTime) -> f32 {
        if now < self.burst_until && self.burst_speed.is_finite() { self.burst_speed.max(0.0) } else { 0.0 }
    }

    /// Whether gravity does not hold it.
    #[must_use]
    pub fn floats(&self) -> bool {
        self.swimming || self.flight_speed > 0.0
    }
}
