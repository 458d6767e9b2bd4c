use crate::motor::InputFrame;
use crate::time::{SimSpan, SimTime};

/// Shortest and longest frame in units.
const SHORTEST: u32 = 256;
const LONGEST: u32 = 2_048;
/// Wall time above which the rest of a frame is dropped, units (0.25 s).
const MOST: u32 = 15_360;

/// Turns drawn frames of any length into input frames of 1/240 s to 1/30 s (S-10): short ones merge, long ones split.
///
/// No press is lost in merging: a frame that saw jump change at all shows the change, and what came after it waits for
/// the next frame. Likewise the controller bytes that first differed are the ones shown.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FrameSlicer {
    units: u32,
    fraction: f64,
    held: Option<InputFrame>,
    emitted: InputFrame,
}

/// The frames due after an advance; at most eight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slices {
    first: InputFrame,
    rest: InputFrame,
    units: u32,
    count: u32,
    index: u32,
}

impl FrameSlicer {
    /// Takes in `seconds` during which `input` was held, and returns the frames now due, and the seconds dropped. What
    /// is too short for a frame stays for the next time.
    pub(super) fn advance(&mut self, seconds: f64, input: &InputFrame) -> (Slices, f64) {
        let seconds = if seconds.is_finite() { seconds.max(0.0) } else { 0.0 };
        let wanted = seconds * SimTime::UNITS_PER_SECOND as f64;
        let exact = wanted.min(f64::from(MOST)) + self.fraction;
        let whole = exact as u32;
        self.fraction = exact - f64::from(whole);
        self.units += whole;
        let dropped = (wanted - f64::from(MOST)).max(0.0) / SimTime::UNITS_PER_SECOND as f64;
        let current = input.snapped();
        let shown = self.merged(current);
        if self.units < SHORTEST {
            self.held = Some(shown);
            return (Slices { first: shown, rest: shown, units: 0, count: 0, index: 0 }, dropped);
        }
        let count = self.units.div_ceil(LONGEST);
        let slices = Slices { first: shown, rest: current, units: self.units, count, index: 0 };
        self.units = 0;
        self.held = None;
        self.emitted = if count == 1 { shown } else { current };
        (slices, dropped)
    }

    /// The newest input, with the jump and controller bytes that changed since the last frame and were not shown yet.
    fn merged(&self, current: InputFrame) -> InputFrame {
        let Some(held) = self.held else { return current };
        let jump = if held.jump == self.emitted.jump { current.jump } else { held.jump };
        let controller = if held.controller == self.emitted.controller { current.controller } else { held.controller };
        InputFrame { jump, controller, ..current }
    }

    /// Time taken in that no frame covers yet, in units; less than one motor tick.
    pub(super) fn pending(&self) -> f64 {
        f64::from(self.units) + self.fraction
    }

    /// Forgets what no frame covers yet.
    pub(super) fn clear(&mut self) {
        *self = Self { emitted: self.emitted, ..Self::default() };
    }
}

impl Slices {
    /// Length of all frames together.
    pub(super) fn duration(&self) -> SimSpan {
        SimSpan(self.units)
    }
}

impl Iterator for Slices {
    type Item = InputFrame;

    fn next(&mut self) -> Option<InputFrame> {
        if self.index == self.count {
            return None;
        }
        let share = |index: u32| self.units * index / self.count;
        let duration = SimSpan(share(self.index + 1) - share(self.index));
        let frame = if self.index == 0 { self.first } else { self.rest };
        self.index += 1;
        Some(InputFrame { duration, ..frame })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        // S-10
        #[test]
        fn frames_last_as_long_as_the_wall_and_stay_in_bounds(frames in prop::collection::vec(0.0_f64..0.3, 1..60)) {
            let mut slicer = FrameSlicer::default();
            let (mut wall, mut simulated) = (0.0, 0.0);
            for seconds in frames {
                let (slices, dropped) = slicer.advance(seconds, &InputFrame::default());
                wall += seconds - dropped;
                prop_assert!((dropped - (seconds - 0.25).max(0.0)).abs() < 1e-9);
                for frame in slices {
                    prop_assert!((SHORTEST..=LONGEST).contains(&frame.duration.0));
                    simulated += frame.duration.seconds();
                }
                prop_assert!((wall - simulated - slicer.pending() / 61_440.0).abs() < 1e-9);
                prop_assert!(slicer.pending() < 256.0);
            }
        }

        // B16: at most one change of jump is pending at a time, so each is one press and one release.
        #[test]
        fn taps_shorter_than_a_frame_are_seen(gaps in prop::collection::vec(6_u32..40, 1..60)) {
            let mut slicer = FrameSlicer::default();
            let (mut before, mut presses, mut taps) = (false, 0, 0);
            let mut run = |jump: bool, count: u32| {
                for _ in 0..count {
                    for frame in slicer.advance(0.001, &InputFrame { jump, ..InputFrame::default() }).0 {
                        presses += u32::from(frame.jump && !before);
                        before = frame.jump;
                    }
                }
            };
            for gap in gaps {
                run(true, 1);
                run(false, gap + 5);
                taps += 1;
            }
            run(false, 10);
            prop_assert_eq!(presses, taps);
        }
    }

    #[test]
    fn a_release_and_press_within_a_frame_is_a_new_press() {
        let mut slicer = FrameSlicer::default();
        let held = InputFrame { jump: true, ..InputFrame::default() };
        assert!(slicer.advance(0.005, &held).0.next().unwrap().jump);
        assert!(slicer.advance(0.002, &InputFrame::default()).0.next().is_none());
        assert!(!slicer.advance(0.003, &held).0.next().unwrap().jump);
        assert!(slicer.advance(0.005, &held).0.next().unwrap().jump);
    }
}
