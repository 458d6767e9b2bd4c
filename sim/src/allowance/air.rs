use super::{AllowanceLimits, Bearing, MovementGrants, Support};
use crate::motor::MotorSettings;

/// What bounds a character's height: where it last stood, and how long ago.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Air {
    /// Height from which it may have left the ground, along up, studs.
    base: f32,
    /// Fastest it may have left it, studs/s.
    launch: f32,
    /// Time in the air at least, by arrivals, seconds.
    least: f32,
    /// Time in the air at most, by arrivals, seconds.
    most: f32,
    /// Whether it stood at the last report.
    stood: bool,
    /// Whether it can have left the ground as late as at the very end of this step, so that the step is no time in the air.
    fresh: bool,
}

/// What rules a character's height in one report.
pub(super) struct AirRules {
    gravity: f32,
    terminal: f32,
    jump: f32,
    /// Jumps in all, the one from the ground included.
    jumps: f32,
    /// Speed of walking, flying or a burst, studs/s.
    speed: f32,
    /// Whether neither gravity nor jumps bound the height.
    free: bool,
    late_cap: f32,
    slack: f32,
    step: f32,
}

/// Judgement of a vertical displacement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Vertical {
    Fine,
    /// Rose by so much too far.
    Rise(f32),
    /// Is so much too high.
    Hover(f32),
    /// Fell by so much too far.
    Fall(f32),
}

impl AirRules {
    pub(super) fn new(
        settings: &MotorSettings,
        grants: &MovementGrants,
        limits: &AllowanceLimits,
        (speed, burst): (f32, bool),
    ) -> Self {
        Self {
            gravity: settings.gravity.max(0.0),
            terminal: settings.terminal_speed,
            jump: settings.jump_speed.max(0.0),
            jumps: 1.0 + f32::from(settings.air_jumps.max(grants.air_jumps)),
            speed: speed.max(grants.flight_speed) * limits.speed_factor,
            free: burst || grants.floats() || settings.gravity <= 0.0,
            late_cap: limits.late_credit,
            slack: limits.vertical_slack,
            step: settings.step_height,
        }
    }

    /// Fastest rise, on ground that itself rises by `ground` studs/s.
    pub(super) fn rise_speed(&self, ground: f32) -> f32 {
        self.jump.max(self.speed) + ground.max(0.0)
    }

    /// How high above the point it left a character may be after `time` seconds of having left it at `launch` studs/s: with
    /// n jumps at the best moments it moves as with one jump under an nth of gravity.
    fn height(&self, launch: f32, time: f32) -> f32 {
        let gravity = self.gravity / self.jumps;
        let (peak, floor) = (launch / gravity, (launch + self.terminal) / gravity);
        if time <= peak {
            return launch * peak * 0.5;
        }
        let falling = time.min(floor);
        launch * falling - gravity * falling * falling * 0.5 - self.terminal * (time - falling)
    }

    /// How far below a character ground may be on which it jumped unseen between two reports, studs.
    pub(super) fn bounce_reach(&self, limits: &AllowanceLimits) -> f32 {
        let peak = if self.gravity > 0.0 { self.jump * self.jump / (2.0 * self.gravity) * self.jumps } else { 0.0 };
        limits.support_distance + peak
    }
}

impl Air {
    /// A character put at `height` by the server.
    pub(super) fn put_at(height: f32) -> Self {
        Self { base: height, ..Self::default() }
    }

    /// The first report without ground below: where it left is at most as far up as it can have walked meanwhile.
    pub(super) fn leave(&mut self, rules: &AirRules, time: f32) {
        if self.stood {
            self.base += rules.speed * time;
            self.stood = false;
            self.fresh = true;
            self.least = 0.0;
        }
    }

    /// It can have touched ground at `height` since the last report.
    pub(super) fn touch(&mut self, rules: &AirRules, height: f32, ground: f32) {
        let launch = rules.jump + ground.max(0.0);
        *self = Self { base: height, launch, least: 0.0, most: 0.0, stood: self.stood, fresh: true };
    }

    /// Judges a move by `rise` to `height` in which `time` seconds count, `elapsed` of them since the last report. Ground
    /// moves up by `ground` studs/s.
    pub(super) fn judge(&self, rules: &AirRules, step: AirStep, supported: bool) -> Vertical {
        let slack = rules.slack + if self.stood || supported { rules.step } else { 0.0 };
        let rise = rules.rise_speed(step.ground) * step.time + slack;
        if step.rise > rise {
            return Vertical::Rise(step.rise - rise);
        }
        let falling = (rules.gravity * (self.most + step.elapsed + rules.late_cap)).min(rules.terminal);
        let fall = (falling.max(rules.speed) + (-step.ground).max(0.0)) * step.time + slack;
        if -step.rise > fall {
            return Vertical::Fall(-step.rise - fall);
        }
        if rules.free || supported {
            return Vertical::Fine;
        }
        let launch = self.launch.max(rules.jump);
        let airborne = self.least + if self.fresh { 0.0 } else { step.elapsed };
        let ceiling = self.base + rules.height(launch, (airborne - rules.late_cap).max(0.0)) + rules.slack;
        if step.height > ceiling { Vertical::Hover(step.height - ceiling) } else { Vertical::Fine }
    }

    /// Takes in where the character was accepted, and what is below it there.
    pub(super) fn accept(&mut self, rules: &AirRules, step: AirStep, support: &Support) {
        if support.bearing == Bearing::Walkable {
            self.touch(rules, step.height, step.ground);
            (self.stood, self.fresh) = (true, false);
            return;
        }
        let least = if self.fresh { 0.0 } else { step.elapsed };
        (self.stood, self.fresh) = (false, false);
        self.most += step.elapsed;
        if rules.free {
            (self.base, self.launch, self.least) = (step.height, rules.rise_speed(step.ground), 0.0);
        } else if support.bearing == Bearing::Nothing {
            self.least += least;
        }
    }
}

/// One report's vertical part.
#[derive(Clone, Copy, Debug)]
pub(super) struct AirStep {
    /// Reported height along up, studs.
    pub(super) height: f32,
    /// By how much it rose, studs.
    pub(super) rise: f32,
    /// Velocity of the ground along up, studs/s.
    pub(super) ground: f32,
    /// Arrival time since the last report, seconds.
    pub(super) elapsed: f32,
    /// Time that counts, credit included, seconds.
    pub(super) time: f32,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(air_jumps: u8) -> AirRules {
        let settings = MotorSettings { air_jumps, ..MotorSettings::default() };
        AirRules::new(&settings, &MovementGrants::default(), &AllowanceLimits::default(), (16.0, false))
    }

    // S-25: the ceiling holds for every way to use the jumps.
    #[test]
    fn the_ceiling_is_above_every_trajectory() {
        for air_jumps in 0..=3_u8 {
            let rules = rules(air_jumps);
            let mut seed = 7_u32;
            for _ in 0..300 {
                let mut random = || {
                    seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    (seed >> 8) as f32 / (1 << 24) as f32
                };
                let (mut height, mut speed, mut left, mut time) = (0.0_f32, 50.0_f32, air_jumps, 0.0_f32);
                let chance = random() * 0.05;
                while time < 3.0 {
                    if left > 0 && random() < chance {
                        (speed, left) = (50.0, left - 1);
                    }
                    speed = (speed - 196.2 / 240.0).max(-400.0);
                    height += speed / 240.0;
                    time += 1.0 / 240.0;
                    let ceiling = rules.height(50.0, time);
                    assert!(height <= ceiling + 0.01, "{air_jumps} jumps: {height} above {ceiling} at {time}");
                }
            }
        }
    }
}
