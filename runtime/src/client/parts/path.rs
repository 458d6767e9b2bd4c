use std::collections::VecDeque;

use glam::Vec3;
use tidelock_sim::SimTime;

/// Points kept: at one a tick, more than the half second a part can be behind.
const POINTS: usize = 40;

/// Where the own character was lately, so that a part which is gained late is pushed as it would have been.
#[derive(Debug, Default)]
pub(super) struct OwnPath {
    points: VecDeque<(SimTime, Vec3)>,
}

impl OwnPath {
    /// Notes where it is at `time`. A time not later than the last begins anew: the clock jumped.
    pub(super) fn record(&mut self, time: SimTime, position: Vec3) {
        if self.points.back().is_some_and(|(last, _)| time < *last) {
            self.clear();
        }
        let count = self.points.len();
        let crowded = count > 1 && self.points[count - 1].0.0 - self.points[count - 2].0.0 < SimTime::UNITS_PER_TICK;
        if crowded {
            self.points.pop_back();
        } else if count == POINTS {
            self.points.pop_front();
        }
        self.points.push_back((time, position));
    }

    /// It is nowhere where it could push: it sits.
    pub(super) fn clear(&mut self) {
        self.points.clear();
    }

    /// Where it was at `time`, between the first and the last point. `None` while nothing is known.
    pub(super) fn at(&self, time: SimTime) -> Option<Vec3> {
        let after = self.points.partition_point(|(point, _)| *point < time);
        let (to, end) = *self.points.get(after).or(self.points.back())?;
        let Some((from, start)) = after.checked_sub(1).and_then(|before| self.points.get(before)).copied() else {
            return Some(end);
        };
        let share = if to > from { (time.0.min(to.0) - from.0) as f32 / (to.0 - from.0) as f32 } else { 1.0 };
        Some(start.lerp(end, share))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-52
    #[test]
    fn a_path_reaches_back_half_a_second_at_any_frame_rate() {
        for hz in [20_u64, 60, 144, 240, 1_000] {
            let mut path = OwnPath::default();
            assert_eq!(path.at(SimTime(5)), None);
            let at = |time: SimTime| Vec3::X * (time.seconds() as f32 * 16.0);
            for frame in 0..=3 * hz {
                let time = SimTime(frame * SimTime::UNITS_PER_TICK * 60 / hz);
                path.record(time, at(time));
                let latest = path.at(SimTime(time.0 + 500)).expect("a point");
                assert_eq!(latest, at(time));
                for back in 0..30_u64 {
                    let then = SimTime(time.0.saturating_sub(back * SimTime::UNITS_PER_TICK));
                    let off = path.at(then).expect("a point").distance(at(then));
                    assert!(off < 1e-3, "{off} studs off, {back} ticks back at {hz} Hz");
                }
            }
            assert!(path.points.len() <= POINTS);
            path.record(SimTime(7), Vec3::Y);
            assert_eq!(path.at(SimTime(900_000)), Some(Vec3::Y));
        }
    }
}
