use super::{ReplayLimits, Report, ReportRefusal};
use crate::motor::InputFrame;

/// Shortest and longest frame in seconds, and by how much they may be missed.
const DURATION: (f64, f64) = (1.0 / 240.0, 1.0 / 30.0);
const DURATION_TOLERANCE: f64 = 1e-6;

/// Whether a frame may last this long, in seconds: 1/240 to 1/30 (S-21).
#[must_use]
pub fn duration_is_valid(seconds: f64) -> bool {
    seconds >= DURATION.0 - DURATION_TOLERANCE && seconds <= DURATION.1 + DURATION_TOLERANCE
}

/// Checks a report's frames: their number and each duration.
///
/// # Errors
///
/// [`ReportRefusal::TooManyFrames`] or [`ReportRefusal::Duration`].
pub fn check_frames(frames: &[InputFrame]) -> Result<(), ReportRefusal> {
    if frames.len() > Report::MAX_FRAMES {
        return Err(ReportRefusal::TooManyFrames);
    }
    if frames.iter().all(|frame| duration_is_valid(frame.duration.seconds())) {
        Ok(())
    } else {
        Err(ReportRefusal::Duration)
    }
}

/// Checks the numbers a report claims: finite and inside the envelope.
///
/// # Errors
///
/// [`ReportRefusal::Nonfinite`] or [`ReportRefusal::Envelope`].
pub fn check_claim(report: &Report, limits: &ReplayLimits) -> Result<(), ReportRefusal> {
    if !report.position.is_finite() || !report.velocity.is_finite() || !report.yaw.is_finite() {
        return Err(ReportRefusal::Nonfinite);
    }
    // Lengths, not components; squared they stay within f32 as the components were compared first.
    let within = |vector: glam::Vec3, limit: f32| vector.abs().max_element() <= limit && vector.length() <= limit;
    if within(report.position, limits.max_position)
        && within(report.velocity, limits.max_velocity)
        && report.yaw.abs() <= limits.max_yaw
    {
        Ok(())
    } else {
        Err(ReportRefusal::Envelope)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::SimSpan;
    use glam::Vec3;

    // S-21
    #[test]
    fn durations_are_bounded_inclusively() {
        for (units, fine) in [(255, false), (256, true), (2_048, true), (2_049, false), (0, false), (u32::MAX, false)] {
            let frame = InputFrame { duration: SimSpan(units), ..InputFrame::default() };
            assert_eq!(check_frames(&[frame]).is_ok(), fine, "{units}");
        }
        assert!(!duration_is_valid(f64::NAN) && !duration_is_valid(f64::INFINITY));
        assert_eq!(check_frames(&[InputFrame::default(); 96]), Ok(()));
        assert_eq!(check_frames(&[InputFrame::default(); 97]), Err(ReportRefusal::TooManyFrames));
    }

    // S-21, B21
    #[test]
    fn every_number_of_a_claim_is_checked() {
        let limits = ReplayLimits::default();
        let good = Report::default();
        assert_eq!(check_claim(&good, &limits), Ok(()));
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
                let vector = Vec3::select(axis.cmpgt(Vec3::ZERO), Vec3::splat(bad), Vec3::ZERO);
                let position = Report { position: vector, ..good.clone() };
                let velocity = Report { velocity: vector, ..good.clone() };
                assert_eq!(check_claim(&position, &limits), Err(ReportRefusal::Nonfinite));
                assert_eq!(check_claim(&velocity, &limits), Err(ReportRefusal::Nonfinite));
            }
            assert_eq!(check_claim(&Report { yaw: bad, ..good.clone() }, &limits), Err(ReportRefusal::Nonfinite));
        }
        for report in [
            Report { position: Vec3::splat(f32::MAX), ..good.clone() },
            Report { position: Vec3::splat(0.9e6), ..good.clone() },
            Report { velocity: Vec3::X * 10_001.0, ..good.clone() },
            Report { yaw: -64.1, ..good.clone() },
        ] {
            assert_eq!(check_claim(&report, &limits), Err(ReportRefusal::Envelope));
        }
        let edge = Report { position: Vec3::X * 1e6, velocity: Vec3::Y * 1e4, yaw: 64.0, ..good };
        assert_eq!(check_claim(&edge, &limits), Ok(()));
    }
}
