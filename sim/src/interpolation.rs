//! Timed states, drawn between two of them (S-35).

use std::collections::VecDeque;

use glam::{Vec2, Vec3};

use crate::angle::wrap_angle;

/// A state that can be drawn between two others.
pub trait Interpolate: Copy {
    /// The state at `share` of the way from `self` to `later`: 0 is `self`, 1 is `later`, more lies beyond it.
    #[must_use]
    fn interpolate(self, later: Self, share: f32) -> Self;
}

impl Interpolate for f32 {
    fn interpolate(self, later: Self, share: f32) -> Self {
        self + (later - self) * share
    }
}

impl Interpolate for f64 {
    fn interpolate(self, later: Self, share: f32) -> Self {
        self + (later - self) * f64::from(share)
    }
}

impl Interpolate for Vec2 {
    fn interpolate(self, later: Self, share: f32) -> Self {
        self + (later - self) * share
    }
}

impl Interpolate for Vec3 {
    fn interpolate(self, later: Self, share: f32) -> Self {
        self + (later - self) * share
    }
}

/// An angle in radians, drawn along the shorter way around.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Angle(pub f32);

impl Interpolate for Angle {
    fn interpolate(self, later: Self, share: f32) -> Self {
        Self(wrap_angle(self.0 + wrap_angle(later.0 - self.0) * share))
    }
}

/// How an [`InterpolationBuffer`] keeps and continues states.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InterpolationBufferConfig {
    /// States kept, at least 2, default 32. A full buffer forgets its oldest.
    pub capacity: usize,
    /// How far beyond the newest state drawing may go on, as a share of the last gap, default 0: not at all.
    pub max_extrapolation: f64,
}

impl Default for InterpolationBufferConfig {
    fn default() -> Self {
        Self { capacity: 32, max_extrapolation: 0.0 }
    }
}

/// Received states by time, drawn a little in the past: for what is not predicted. Time is in any steady unit, ticks or
/// seconds, used throughout. Nothing allocates after construction.
#[derive(Clone, Debug)]
pub struct InterpolationBuffer<T> {
    /// Ascending in time.
    states: VecDeque<(f64, T)>,
    capacity: usize,
    max_extrapolation: f64,
}

impl<T: Copy> InterpolationBuffer<T> {
    /// An empty buffer. A capacity below 2 counts as 2, an extrapolation that is negative or no number as 0.
    #[must_use]
    pub fn new(config: InterpolationBufferConfig) -> Self {
        let capacity = config.capacity.max(2);
        let max_extrapolation = config.max_extrapolation.max(0.0);
        Self { states: VecDeque::with_capacity(capacity + 1), capacity, max_extrapolation }
    }

    /// Puts a state in its place; one of the same time is replaced. Returns whether it was kept: not when its time is
    /// nonfinite, or it is older than all of a full buffer.
    pub fn push(&mut self, time: f64, state: T) -> bool {
        if !time.is_finite() {
            return false;
        }
        let place = self.states.partition_point(|(other, _)| *other < time);
        if let Some(same) = self.states.get_mut(place).filter(|(other, _)| *other == time) {
            same.1 = state;
            return true;
        }
        if self.states.len() == self.capacity {
            if place == 0 {
                return false;
            }
            self.states.pop_front();
            self.states.insert(place - 1, (time, state));
        } else {
            self.states.insert(place, (time, state));
        }
        true
    }

    /// The state at `time`; `between` gives the state at a share of the way from one to the next. Before the oldest it is
    /// the oldest; after the newest the newest, or what the last two lead to. `None` without any state.
    pub fn sample_with(&self, time: f64, between: impl FnOnce(T, T, f64) -> T) -> Option<T> {
        let after = self.states.partition_point(|(other, _)| *other <= time);
        let Some(before) = after.checked_sub(1) else { return self.states.front().map(|(_, state)| *state) };
        let (start, earlier) = self.states[before];
        if let Some((end, later)) = self.states.get(after) {
            return Some(between(earlier, *later, (time - start) / (end - start)));
        }
        let continued = self.max_extrapolation > 0.0 && time > start;
        match before.checked_sub(1).filter(|_| continued) {
            Some(last_but_one) => {
                let (from, state) = self.states[last_but_one];
                let beyond = ((time - start) / (start - from)).min(self.max_extrapolation);
                Some(between(state, earlier, 1.0 + beyond))
            }
            None => Some(earlier),
        }
    }

    /// Time of the newest state.
    #[must_use]
    pub fn newest_time(&self) -> Option<f64> {
        self.states.back().map(|(time, _)| *time)
    }

    /// Time of the oldest state.
    #[must_use]
    pub fn oldest_time(&self) -> Option<f64> {
        self.states.front().map(|(time, _)| *time)
    }

    /// States kept.
    #[must_use]
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// Whether no state is kept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// Forgets everything: the object was teleported.
    pub fn clear(&mut self) {
        self.states.clear();
    }
}

impl<T: Interpolate> InterpolationBuffer<T> {
    /// As [`InterpolationBuffer::sample_with`], by the state's own interpolation.
    #[must_use]
    pub fn sample(&self, time: f64) -> Option<T> {
        self.sample_with(time, |earlier, later, share| earlier.interpolate(later, share as f32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;
    use std::f32::consts::PI;

    proptest! {
        // S-35, B30
        #[test]
        fn the_buffer_is_a_sorted_map_of_the_newest(
            capacity in 0_usize..20,
            pushes in prop::collection::vec((-50_i32..50, -9.0_f64..9.0), 0..120),
            asked in prop::collection::vec(-60.0_f64..60.0, 10),
        ) {
            let mut buffer = InterpolationBuffer::new(InterpolationBufferConfig { capacity, ..Default::default() });
            let mut model = BTreeMap::new();
            for (time, value) in pushes {
                let kept = buffer.push(f64::from(time), value);
                model.insert(time, value);
                let full = model.len() > capacity.max(2);
                let forgotten = if full { model.pop_first() } else { None };
                prop_assert_eq!(kept, forgotten.is_none_or(|(oldest, _)| oldest != time));
            }
            prop_assert_eq!(buffer.len(), model.len());
            for asked in asked {
                let before = model.iter().rev().find(|(time, _)| f64::from(**time) <= asked);
                let after = model.iter().find(|(time, _)| f64::from(**time) > asked);
                let wanted = match (before, after) {
                    (Some((t0, a)), Some((t1, b))) => {
                        Some(a + (b - a) * (asked - f64::from(*t0)) / f64::from(t1 - t0))
                    }
                    (edge, other) => edge.or(other).map(|(_, value)| *value),
                };
                match (buffer.sample_with(asked, |a, b, share| a + (b - a) * share), wanted) {
                    (Some(got), Some(wanted)) => prop_assert!((got - wanted).abs() < 1e-9, "{got} {wanted}"),
                    (got, wanted) => prop_assert_eq!(got, wanted),
                }
            }
        }
    }

    // S-35, B43
    #[test]
    fn drawing_goes_on_so_far_and_angles_take_the_short_way() {
        let config = InterpolationBufferConfig { max_extrapolation: 0.5, ..Default::default() };
        let mut buffer = InterpolationBuffer::new(config);
        assert_eq!(buffer.sample(1.0), None::<Angle>);
        buffer.push(0.0, Angle(PI - 0.1));
        buffer.push(1.0, Angle(-PI + 0.1));
        assert!(!buffer.push(f64::NAN, Angle(0.0)));
        let at = |time| buffer.sample(time).unwrap().0;
        assert!((at(0.5).abs() - PI).abs() < 1e-6);
        assert!((at(9.0) - (-PI + 0.2)).abs() < 1e-6);
        assert_eq!(at(-3.0), PI - 0.1);
    }
}
