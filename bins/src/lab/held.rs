use std::sync::{Mutex, PoisonError};

use glam::Vec3;
use serde::Deserialize;
use tidelock::ControlInput;
use tidelock::sim::motor::ControllerBytes;
use tidelock::sim::stock::StockModule;

/// What the page says is held.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq)]
pub(crate) struct Keys {
    /// To the right, -1 to 1.
    x: f32,
    /// Forwards, up the screen, -1 to 1.
    y: f32,
    jump: bool,
    sprint: bool,
    dash: bool,
}

/// The visitor's keys, between the websocket and the client's thread. A tap shorter than a frame is not lost.
#[derive(Debug, Default)]
pub(crate) struct Held(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    now: Keys,
    tapped: Keys,
}

impl Held {
    /// Takes in a change.
    pub(crate) fn set(&self, keys: Keys) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.tapped.jump |= keys.jump;
        state.tapped.dash |= keys.dash;
        state.now = keys;
    }

    /// The input of the next frame.
    pub(crate) fn take(&self) -> ControlInput {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let State { now, tapped } = std::mem::take(&mut *state);
        state.now = now;
        let bits =
            (StockModule::SPRINT * u8::from(now.sprint)) | (StockModule::DASH * u8::from(now.dash || tapped.dash));
        let wish = Vec3::new(now.x, 0.0, -now.y);
        ControlInput {
            direction: if wish.is_finite() { wish.clamp_length_max(1.0) } else { Vec3::ZERO },
            camera_relative: true,
            jump: now.jump || tapped.jump,
            controller: ControllerBytes::new(&[bits]).unwrap_or_default(),
            ..ControlInput::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // B16
    #[test]
    fn a_tap_between_two_frames_shows_in_one_frame() {
        let held = Held::default();
        let keys = |jump, y| Keys { y, jump, ..Keys::default() };
        held.set(keys(true, 1.0));
        held.set(keys(false, 1.0));
        let input = held.take();
        assert!(input.jump);
        assert_eq!(input.direction, Vec3::new(0.0, 0.0, -1.0));
        assert!(!held.take().jump);
        held.set(keys(true, f32::NAN));
        assert!(held.take().jump && held.take().jump);
        assert_eq!(held.take().direction, Vec3::ZERO);
    }
}
