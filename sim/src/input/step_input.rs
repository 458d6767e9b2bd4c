use std::fmt;

use glam::{Vec2, Vec3};

/// What an input holds besides buttons: sticks, view angles, a game's own levels (S-3).
///
/// Values should be as coarse as their wire form, so that both ends step with the same numbers.
pub trait HeldState: Copy + PartialEq + Default + fmt::Debug {
    /// Whether every number that must be finite is. A movement direction and a camera yaw need not be: those are made
    /// sound by [`HeldState::sanitised`]. The default says yes.
    fn is_finite(&self) -> bool {
        true
    }

    /// The state a server works with: directions limited to unit length, nonfinite directions and yaws zero (S-23).
    /// The default changes nothing.
    #[must_use]
    fn sanitised(self) -> Self {
        self
    }
}

macro_rules! integers_are_held_states {
    ($($type:ty),*) => {$(impl HeldState for $type {})*};
}
integers_are_held_states!((), bool, i8, i16, i32, i64, u8, u16, u32, u64);

impl HeldState for f32 {
    fn is_finite(&self) -> bool {
        f32::is_finite(*self)
    }
}

impl HeldState for Vec2 {
    fn is_finite(&self) -> bool {
        Vec2::is_finite(*self)
    }
}

impl HeldState for Vec3 {
    fn is_finite(&self) -> bool {
        Vec3::is_finite(*self)
    }
}

/// Everything a player holds during one step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepInput<H> {
    /// Held buttons, one bit each. Which of them act on the press is said by
    /// [`PressActions`](super::PressActions).
    pub buttons: u32,
    /// Everything else that is held.
    pub held: H,
}

impl<H: HeldState> StepInput<H> {
    /// The input with its held state made sound.
    #[must_use]
    pub fn sanitised(self) -> Self {
        Self { held: self.held.sanitised(), ..self }
    }
}
