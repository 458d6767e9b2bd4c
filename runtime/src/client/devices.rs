use tidelock_sim::input::{DeviceChange, DeviceEvent, HeldControls, PressActions, Sequencer, StepInput};

use crate::control::ControlInput;

/// What a player does, in the order in which it happened, until it becomes inputs of ticks (S-4).
#[derive(Debug)]
pub(crate) struct Devices {
    sequencer: Sequencer<HeldControls>,
    /// What was held in the last frame.
    held: StepInput<HeldControls>,
}

/// The device of what is held frame by frame; the others are for changes with a time of their own.
const FRAMES: u8 = 0;

impl Devices {
    pub(crate) fn new(actions: &PressActions) -> Self {
        Self { sequencer: Sequencer::new(*actions), held: StepInput::default() }
    }

    /// Takes in what is held during a frame that began at `at_ms`: what differs from the last frame has changed then.
    pub(crate) fn hold(&mut self, input: &ControlInput, at_ms: f64) {
        let step = input.step();
        if step.held != self.held.held {
            self.sequencer.push(DeviceEvent { at_ms, device: FRAMES, change: DeviceChange::Held(step.held) });
        }
        let changed = step.buttons ^ self.held.buttons;
        for button in (0..32_u8).filter(|button| changed & 1 << button != 0) {
            let pressed = step.buttons & 1 << button != 0;
            let change = if pressed { DeviceChange::Press(button) } else { DeviceChange::Release(button) };
            self.sequencer.push(DeviceEvent { at_ms, device: FRAMES, change });
        }
        self.held = step;
    }

    /// Takes in a change with a time of its own.
    pub(crate) fn change(&mut self, event: DeviceEvent<HeldControls>) {
        self.sequencer.push(DeviceEvent { device: event.device.max(FRAMES + 1), ..event });
    }

    /// The input of the next tick, whose slice of time ends at `until_ms`.
    pub(crate) fn next(&mut self, now_ms: f64, until_ms: Option<f64>) -> StepInput<HeldControls> {
        self.sequencer.next(now_ms, until_ms)
    }
}
