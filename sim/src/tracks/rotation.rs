use glam::{Quat, Vec3};

/// Rotations closer than this, by the cosine of half their angle, are taken as one.
const SAME: f32 = 0.999_999_5;

/// The rotation `share` of the way from `from` to `to` by the shorter way, trigonometry portable.
pub(crate) fn slerp(from: Quat, to: Quat, share: f32) -> Quat {
    let dot = from.dot(to);
    if dot.abs() > SAME {
        return to;
    }
    let (to, dot) = if dot < 0.0 { (-to, -dot) } else { (to, dot) };
    let angle = libm::acosf(dot.min(1.0));
    let sine = libm::sinf(angle);
    let a = libm::sinf((1.0 - share) * angle) / sine;
    let b = libm::sinf(share * angle) / sine;
    (from * a + to * b).normalize()
}

/// `rotation` turned by `angular` radians a second about the world's axes for `seconds`.
pub(crate) fn turn(rotation: Quat, angular: Vec3, seconds: f32) -> Quat {
    let speed = angular.length();
    let half = speed * seconds * 0.5;
    if half < 1e-9 {
        return rotation;
    }
    let axis = angular / speed * libm::sinf(half);
    let turned = Quat::from_xyzw(axis.x, axis.y, axis.z, libm::cosf(half)) * rotation;
    turned.normalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn yaw(degrees: f32) -> Quat {
        let half = degrees.to_radians() * 0.5;
        Quat::from_xyzw(0.0, libm::sinf(half), 0.0, libm::cosf(half))
    }

    // B43
    #[test]
    fn rotation_never_takes_the_long_way() {
        for later in [yaw(-179.0), -yaw(-179.0)] {
            let mut travelled = 0.0;
            let mut before = yaw(179.0);
            for step in 1..=10 {
                let now = slerp(yaw(179.0), later, step as f32 / 10.0);
                travelled += 2.0 * libm::acosf(before.dot(now).abs().min(1.0));
                before = now;
            }
            assert!(travelled.to_degrees() <= 2.1, "{}", travelled.to_degrees());
        }
    }

    #[test]
    fn turning_goes_about_the_worlds_axes() {
        let turned = turn(yaw(90.0), Vec3::new(0.0, 1.0, 0.0), std::f32::consts::FRAC_PI_2);
        assert!(turned.dot(yaw(180.0)).abs() > 0.99999);
        assert_eq!(turn(yaw(90.0), Vec3::ZERO, 1.0), yaw(90.0));
    }
}
