use glam::Vec3;
use tidelock_sim::input::{HeldControls, StepInput};
use tidelock_sim::motor::{ControllerBytes, InputFrame};

/// What a player holds: handed to its client each frame, and a component of its character on the server, as of its last report.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ControlInput {
    /// Wanted movement, length 0 to 1 as a share of full speed; in the camera's axes (−z forward) when `camera_relative`,
    /// else in the world's.
    pub direction: Vec3,
    /// Whether `direction` turns with `camera_yaw`.
    pub camera_relative: bool,
    /// Camera yaw about the up direction, radians.
    pub camera_yaw: f32,
    /// Whether jump is held.
    pub jump: bool,
    /// Whether to jump by itself at obstacles too high to step on.
    pub auto_jump: bool,
    /// Input of the simulation module; the stock module reads sprint from bit 0 and dash from bit 1 of the first byte.
    pub controller: ControllerBytes,
    /// Buttons held, for controllers that take inputs of ticks; the protocol's actions say which of them act on the press. Bit 0 is
    /// jump as well; a simulation module finds the others in the first controller bytes, button 1 in bit 0.
    pub buttons: u32,
}

impl ControlInput {
    /// What a frame was run with.
    pub(crate) fn of(frame: &InputFrame) -> Self {
        let InputFrame { direction, camera_relative, camera_yaw, jump, auto_jump, controller, .. } = *frame;
        Self { direction, camera_relative, camera_yaw, jump, auto_jump, controller, buttons: 0 }
    }

    /// What a tick was run with.
    pub(crate) fn of_step(input: &StepInput<HeldControls>) -> Self {
        let frame = input.frame();
        Self { controller: input.held.controller, buttons: input.buttons, ..Self::of(&frame) }
    }

    /// What is held beside buttons, and the buttons, in the units the wire carries.
    pub(crate) fn step(&self) -> StepInput<HeldControls> {
        let jump = if self.jump { StepInput::<HeldControls>::JUMP } else { 0 };
        StepInput { buttons: self.buttons | jump, held: HeldControls::of(&self.frame()) }
    }

    /// The frame the motor runs on; its duration is set when time is cut into frames.
    pub(crate) fn frame(&self) -> InputFrame {
        InputFrame {
            direction: self.direction,
            camera_relative: self.camera_relative,
            camera_yaw: self.camera_yaw,
            jump: self.jump,
            auto_jump: self.auto_jump,
            controller: self.controller,
            ..InputFrame::default()
        }
    }
}
