use std::f32::consts::{PI, TAU};

/// The angle equal to `radians` in (-π, π]; nonfinite gives 0.
#[must_use]
pub fn wrap_angle(radians: f32) -> f32 {
    if !radians.is_finite() {
        return 0.0;
    }
    if radians > -PI && radians <= PI {
        return radians;
    }
    let wrapped = radians - TAU * (radians / TAU).round();
    if wrapped <= -PI { PI } else { wrapped.min(PI) }
}

#[cfg(test)]
mod tests {
    use super::*;

    // B43
    #[test]
    fn angles_wrap_into_the_half_open_circle() {
        assert_eq!(wrap_angle(PI), PI);
        assert_eq!(wrap_angle(-PI), PI);
        assert_eq!(wrap_angle(0.25), 0.25);
        assert!((wrap_angle(TAU + 0.25) - 0.25).abs() < 1e-6);
        assert!((wrap_angle(-64.0) - (-64.0 + 10.0 * TAU)).abs() < 1e-4);
        assert_eq!(wrap_angle(f32::NAN), 0.0);
        for step in -2000..2000 {
            let wrapped = wrap_angle(step as f32 * 0.032);
            assert!(wrapped > -PI && wrapped <= PI);
        }
    }
}
