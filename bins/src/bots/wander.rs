use std::f32::consts::TAU;
use std::time::Duration;

use glam::Vec3;
use tidelock::ControlInput;
use tidelock::sim::motor::ControllerBytes;
use tidelock::sim::stock::StockModule;

use crate::chance::Chance;

/// Distance from the middle at which a bot begins to turn back, studs.
const ROAM_STUDS: f32 = 90.0;
/// Speed below which a bot that wants to walk is taken to be stuck, studs/s.
const STUCK_STUDS_S: f32 = 2.0;
/// How long it must be stuck before it tries another way.
const STUCK_FOR: Duration = Duration::from_millis(350);
const TAP: Duration = Duration::from_millis(120);

/// What a bot does with its keys: it walks a way for a while, rests, sprints, jumps, dashes, and turns where it is stuck.
#[derive(Clone, Debug)]
pub(crate) struct Wander {
    chance: Chance,
    heading: f32,
    walks: bool,
    sprints: bool,
    leg_ends: Duration,
    jump_until: Duration,
    dash_until: Duration,
    next_tap: Duration,
    moving_at: Duration,
}

impl Wander {
    pub(crate) fn new(seed: u64) -> Self {
        let mut chance = Chance::new(seed);
        let heading = chance.between(0.0, TAU);
        Self {
            chance,
            heading,
            walks: true,
            sprints: false,
            leg_ends: Duration::ZERO,
            jump_until: Duration::ZERO,
            dash_until: Duration::ZERO,
            next_tap: Duration::ZERO,
            moving_at: Duration::ZERO,
        }
    }

    /// What is held at `now`, for a character at `position` with `velocity`, or one that is not there yet.
    pub(crate) fn input(&mut self, now: Duration, place: Option<(Vec3, Vec3)>) -> ControlInput {
        let Some((position, velocity)) = place else { return ControlInput::default() };
        if Vec3::new(velocity.x, 0.0, velocity.z).length() > STUCK_STUDS_S || !self.walks {
            self.moving_at = now;
        }
        let stuck = now.saturating_sub(self.moving_at) > STUCK_FOR;
        if now >= self.leg_ends || stuck {
            self.choose_leg(now, position, stuck);
        }
        if now >= self.next_tap {
            self.choose_tap(now);
        }
        let bits =
            (StockModule::SPRINT * u8::from(self.sprints)) | (StockModule::DASH * u8::from(now < self.dash_until));
        let direction = Vec3::new(-self.heading.sin(), 0.0, -self.heading.cos());
        ControlInput {
            direction: if self.walks { direction } else { Vec3::ZERO },
            jump: now < self.jump_until,
            controller: ControllerBytes::new(&[bits]).unwrap_or_default(),
            ..ControlInput::default()
        }
    }

    fn choose_leg(&mut self, now: Duration, position: Vec3, stuck: bool) {
        let chance = &mut self.chance;
        let away = Vec3::new(position.x, 0.0, position.z).length() / ROAM_STUDS;
        self.heading = if stuck {
            self.heading + chance.between(0.3, 0.7) * TAU
        } else if chance.strikes(away * away * 0.6) {
            // Towards the middle: yaw 0 looks along -z.
            position.x.atan2(position.z) + chance.between(-0.6, 0.6)
        } else {
            self.heading + chance.between(-1.4, 1.4)
        };
        self.walks = stuck || !chance.strikes(0.18);
        self.sprints = self.walks && chance.strikes(0.25);
        let seconds = if self.walks { chance.between(0.7, 3.2) } else { chance.between(0.5, 2.0) };
        self.leg_ends = now + Duration::from_secs_f32(seconds);
        self.moving_at = now;
    }

    fn choose_tap(&mut self, now: Duration) {
        if self.walks && self.chance.strikes(0.55) {
            self.jump_until = now + TAP;
        } else if self.walks && self.chance.strikes(0.25) {
            self.dash_until = now + TAP;
        }
        self.next_tap = now + Duration::from_secs_f32(self.chance.between(1.0, 5.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(seed: u64) -> Vec<ControlInput> {
        let mut wander = Wander::new(seed);
        let (mut position, mut velocity) = (Vec3::ZERO, Vec3::ZERO);
        let mut held = Vec::new();
        for frame in 0..60 * 120 {
            let input = wander.input(Duration::from_secs_f64(f64::from(frame) / 60.0), Some((position, velocity)));
            velocity = input.direction * 16.0;
            position += velocity / 60.0;
            held.push(input);
        }
        assert!(position.length() < 4.0 * ROAM_STUDS, "{position}");
        held
    }

    #[test]
    fn a_bot_does_all_it_can_and_the_same_for_the_same_seed() {
        let held = walk(3);
        assert_eq!(held, walk(3));
        assert_ne!(held, walk(4));
        let bits = |input: &ControlInput| input.controller.as_slice().first().copied().unwrap_or_default();
        for (what, found) in [
            ("walks", held.iter().any(|input| input.direction.length() > 0.9)),
            ("rests", held.iter().any(|input| input.direction == Vec3::ZERO)),
            ("jumps", held.iter().any(|input| input.jump)),
            ("sprints", held.iter().any(|input| bits(input) & StockModule::SPRINT != 0)),
            ("dashes", held.iter().any(|input| bits(input) & StockModule::DASH != 0)),
        ] {
            assert!(found, "never {what}");
        }
    }

    #[test]
    fn a_bot_that_is_stuck_turns_away() {
        let mut wander = Wander::new(1);
        let first = wander.input(Duration::ZERO, Some((Vec3::ZERO, Vec3::ZERO)));
        let later =
            (1..60).map(|frame| wander.input(Duration::from_millis(frame * 16), Some((Vec3::ZERO, Vec3::ZERO))));
        let turned = later.filter(|input| input.direction.dot(first.direction) < 0.8).count();
        assert!(turned > 0);
    }
}
