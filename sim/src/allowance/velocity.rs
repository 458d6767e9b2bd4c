use glam::Vec3;

use super::split::Split;

/// What bounds a reported velocity.
pub(super) struct VelocityBounds {
    pub(super) up: Vec3,
    /// Fastest across, studs/s.
    pub(super) horizontal: f32,
    /// Fastest upwards, studs/s.
    pub(super) rise: f32,
    /// Fastest downwards, studs/s.
    pub(super) fall: f32,
    /// Greatest change, studs/s; infinite when a burst is granted.
    pub(super) change: f32,
}

/// A velocity that was bounded, and by how much it was beyond.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct BoundedVelocity {
    pub(super) velocity: Vec3,
    /// By how much it was too great, studs/s; 0 when it was not.
    pub(super) excess: f32,
    /// By how much it changed too much, studs/s; 0 when it did not.
    pub(super) leap: f32,
}

/// Roundings below this are no one's fault, studs/s.
const UNSEEN: f32 = 1e-2;

impl VelocityBounds {
    /// Bounds `reported` after `before`. Losing speed is always possible: landings and walls take all of it at once. Too much
    /// across is `borne` until it is the several times of `patience`: slopes turn jumps aside.
    pub(super) fn bound(&self, reported: Vec3, before: Vec3, (borne, patience): (bool, f32)) -> BoundedVelocity {
        let mut split = Split::new(reported, self.up);
        if !borne || split.horizontal() > self.horizontal * patience {
            split.limit_horizontal(self.horizontal);
        }
        split.along = split.along.clamp(-self.fall, self.rise);
        let mut velocity = split.joined();
        let excess = velocity.distance(reported);
        let change = velocity - before;
        let (amount, gained) = (change.length(), velocity.length() > before.length());
        let mut leap = 0.0;
        if gained && amount > self.change {
            leap = amount - self.change;
            velocity = before + change * (self.change / amount);
        }
        if excess < UNSEEN && leap < UNSEEN {
            return BoundedVelocity { velocity: reported, excess: 0.0, leap: 0.0 };
        }
        BoundedVelocity { velocity, excess, leap }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-25
    #[test]
    fn gains_are_bounded_and_losses_are_not() {
        let bounds = VelocityBounds { up: Vec3::Y, horizontal: 21.6, rise: 50.0, fall: 400.0, change: 71.0 };
        let landing = bounds.bound(Vec3::new(16.0, 0.0, 0.0), Vec3::new(16.0, -390.0, 0.0), (false, 3.0));
        assert_eq!(landing, BoundedVelocity { velocity: Vec3::X * 16.0, excess: 0.0, leap: 0.0 });
        let fast = bounds.bound(Vec3::new(30.0, 60.0, 40.0), Vec3::new(0.0, 49.0, 0.0), (false, 3.0));
        assert!((fast.velocity.y - 50.0).abs() < 1e-3 && fast.excess > 28.0);
        assert!(((fast.velocity - Vec3::Y * fast.velocity.y).length() - 21.6).abs() < 1e-3);
        let leap = bounds.bound(Vec3::Y * -300.0, Vec3::ZERO, (false, 3.0));
        let aside = Vec3::X * 24.0;
        assert_eq!(bounds.bound(aside, aside, (true, 3.0)).velocity, aside);
        assert!((bounds.bound(aside * 3.0, aside * 3.0, (true, 3.0)).velocity.x - 21.6).abs() < 1e-3);
        assert!((leap.velocity.y + 71.0).abs() < 1e-3 && (leap.leap - 229.0).abs() < 1e-3);
    }
}
