use glam::Vec3;
use tidelock_sim::physics::PushingBody;

/// Ticks over which a character's way is spread: the time between two of its reports.
const SPREAD: u8 = 3;
/// A longer way than this is a jump, studs.
const JUMP: f32 = 10.0;

/// The capsule with which a character pushes loose parts.
///
/// A character moves when its reports arrive, three ticks' way at once; pushed so, a part would fly off at three times the
/// character's speed. The capsule takes as long for the way as the character did.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pusher {
    pub(crate) body: PushingBody,
    position: Vec3,
    target: Vec3,
    /// Ticks until it is there.
    left: u8,
}

impl Pusher {
    pub(crate) fn new(body: PushingBody, position: Vec3) -> Self {
        Self { body, position, target: position, left: 0 }
    }

    /// Where it is to go in this tick, its character being at `position`.
    pub(crate) fn follow(&mut self, position: Vec3) -> Vec3 {
        if position != self.target {
            (self.target, self.left) = (position, SPREAD);
        }
        if self.left <= 1 || self.position.distance(self.target) > JUMP {
            (self.position, self.left) = (self.target, 0);
        } else {
            self.position += (self.target - self.position) / f32::from(self.left);
            self.left -= 1;
        }
        self.position
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidelock_sim::physics::{LooseParts, LoosePartsConfig};

    #[test]
    fn a_way_takes_its_time_and_ends_exactly() {
        let mut parts = LooseParts::new(LoosePartsConfig::default());
        let body = parts.insert_character(Vec3::ZERO, 1.0, 2.5).expect("a sound capsule");
        let mut pusher = Pusher::new(body, Vec3::ZERO);
        let mut last = Vec3::ZERO;
        for tick in 0..60_u32 {
            let at = Vec3::X * (0.8 * (tick / 3) as f32);
            let next = pusher.follow(at);
            let even = if tick < 3 { 0.0 } else { 0.8 / 3.0 };
            assert!((next.x - last.x - even).abs() < 1e-5, "{next} after {last}");
            last = next;
        }
        let rest = Vec3::X * 0.8 * 19.0;
        assert_eq!(pusher.follow(rest), rest);
        assert_eq!(pusher.follow(rest + Vec3::Z * 40.0), rest + Vec3::Z * 40.0);
    }
}
