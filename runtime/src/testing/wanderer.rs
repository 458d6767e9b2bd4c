use std::time::Duration;

use glam::Vec3;
use tidelock_sim::motor::ControllerBytes;

use crate::control::ControlInput;

/// A player who wanders: walks a while, turns, stops, jumps, sprints and dashes, all from a seed.
#[derive(Clone, Debug)]
pub struct Wanderer {
    state: u64,
    until: Duration,
    input: ControlInput,
}

impl Wanderer {
    /// A wanderer of its own mind; equal seeds walk alike.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self {
            state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5bf0_3635,
            until: Duration::ZERO,
            input: ControlInput::default(),
        }
    }

    /// What it holds at `now`, which must not go back.
    pub fn input(&mut self, now: Duration) -> ControlInput {
        if now >= self.until {
            self.decide(now);
        }
        self.input
    }

    fn decide(&mut self, now: Duration) {
        let angle = self.share() * std::f32::consts::TAU;
        let pace = if self.share() < 0.15 { 0.0 } else { 1.0 };
        let sprint = self.share() < 0.3;
        let dash = self.share() < 0.1;
        self.input = ControlInput {
            direction: Vec3::new(libm::cosf(angle), 0.0, libm::sinf(angle)) * pace,
            jump: self.share() < 0.2,
            auto_jump: true,
            controller: ControllerBytes::new(&[u8::from(sprint) | u8::from(dash) << 1]).unwrap_or_default(),
            ..ControlInput::default()
        };
        self.until = now + Duration::from_secs_f32(0.3 + 1.7 * self.share());
    }

    /// Evenly from 0 to 1 (xorshift).
    fn share(&mut self) -> f32 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 40) as f32 / (1u64 << 24) as f32
    }
}
