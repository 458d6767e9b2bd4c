use super::{HeldState, StepInput};
use crate::motor::{ControllerBytes, InputFrame};
use crate::report::WireFrame;
use crate::time::SimSpan;

/// What a character's player holds during one step besides buttons, in the units the wire carries: client and server step with the
/// same bits (S-33).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeldControls {
    /// Wanted movement in units of 1/127, each component -127 to 127.
    pub direction: [i8; 3],
    /// Camera yaw in units of 2π/65,536, wrapped.
    pub yaw: u16,
    /// [`WireFrame::CAMERA_RELATIVE`] and [`WireFrame::AUTO_JUMP`]; jump is a button.
    pub flags: u8,
    /// Input of the simulation module, or of a game that moves characters its own way.
    pub controller: ControllerBytes,
}

impl HeldControls {
    /// The flags there are; other bits are malformed.
    pub const ALL_FLAGS: u8 = WireFrame::CAMERA_RELATIVE | WireFrame::AUTO_JUMP;

    /// What a frame holds besides jump, rounded to wire units; nonfinite numbers count as zero.
    #[must_use]
    pub fn of(frame: &InputFrame) -> Self {
        let WireFrame { direction, yaw, flags, .. } = frame.to_wire();
        Self { direction, yaw, flags: flags & Self::ALL_FLAGS, controller: frame.controller }
    }

    /// The same with the direction times `share`, 0 to 1, rounded to wire units.
    #[must_use]
    pub fn scaled(self, share: f32) -> Self {
        let frame = StepInput { buttons: 0, held: self }.frame();
        Self::of(&InputFrame { direction: frame.direction * share.clamp(0.0, 1.0), ..frame })
    }
}

impl HeldState for HeldControls {
    /// A direction longer than 1 is cut to length 1.
    fn sanitised(self) -> Self {
        let length = self.direction.iter().map(|unit| i32::from(*unit).pow(2)).sum::<i32>();
        if length <= 127 * 127 {
            return self;
        }
        let wire = WireFrame { duration_units: 0, direction: self.direction, yaw: self.yaw, flags: self.flags };
        Self { direction: InputFrame::from_wire(wire, self.controller).to_wire().direction, ..self }
    }
}

impl StepInput<HeldControls> {
    /// The button that jumps.
    pub const JUMP: u32 = 1;

    /// The frame of one server tick that the motor and the module run with. Button 0 is jump; a module finds buttons 1 to 31 in the
    /// first controller bytes from bit 0 on, beside the bits set there.
    #[must_use]
    pub fn frame(&self) -> InputFrame {
        let HeldControls { direction, yaw, flags, controller } = self.held;
        let jump = if self.buttons & Self::JUMP != 0 { WireFrame::JUMP } else { 0 };
        let wire = WireFrame { duration_units: SimSpan::TICK.0 as u16, direction, yaw, flags: flags | jump };
        InputFrame::from_wire(wire, with_buttons(controller, self.buttons >> 1))
    }
}

fn with_buttons(controller: ControllerBytes, buttons: u32) -> ControllerBytes {
    if buttons == 0 {
        return controller;
    }
    let held = controller.as_slice();
    let mut bytes = [0; ControllerBytes::MAX];
    bytes[..held.len()].copy_from_slice(held);
    for (byte, more) in bytes.iter_mut().zip(buttons.to_le_bytes()) {
        *byte |= more;
    }
    let buttons_end = 4 - buttons.leading_zeros() as usize / 8;
    ControllerBytes::new(&bytes[..held.len().max(buttons_end)]).unwrap_or(controller)
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;
    use proptest::prelude::*;

    fn step(buttons: u32, held: HeldControls) -> StepInput<HeldControls> {
        StepInput { buttons, held }
    }

    #[test]
    fn buttons_stand_in_the_first_controller_bytes() {
        let bytes = |controller: &[u8], buttons| {
            let held =
                HeldControls { controller: ControllerBytes::new(controller).unwrap(), ..HeldControls::default() };
            step(buttons, held).frame().controller.as_slice().to_vec()
        };
        assert_eq!(bytes(&[], 1), [0_u8; 0]);
        assert_eq!(bytes(&[], 0b110), [3]);
        assert_eq!(bytes(&[4, 0, 9], 0b110), [7, 0, 9]);
        assert_eq!(bytes(&[], 1 << 31), [0, 0, 0, 0x40]);
        assert!(step(1, HeldControls::default()).frame().jump && !step(2, HeldControls::default()).frame().jump);
    }

    proptest! {
        // S-23, S-33: what an honest client steps with is what the server steps with, and nobody walks faster than full speed.
        #[test]
        fn held_controls_survive_and_are_made_sound(direction: [i8; 3], yaw: u16, x in -2.0_f32..2.0, z in -2.0_f32..2.0) {
            let held = HeldControls { direction, yaw, flags: 1, controller: ControllerBytes::default() }.sanitised();
            prop_assert_eq!(held.sanitised(), held);
            prop_assert!(step(0, held).frame().direction.length() <= 1.0 + 1e-6);
            let frame = InputFrame { direction: Vec3::new(x, 0.0, z), auto_jump: true, ..InputFrame::default() };
            let honest = HeldControls::of(&frame);
            prop_assert_eq!(honest.sanitised(), honest);
            prop_assert_eq!(HeldControls::of(&step(0, honest).frame()), honest);
            prop_assert_eq!(honest.scaled(1.0), honest);
            prop_assert_eq!(honest.scaled(0.0).direction, [0; 3]);
        }
    }
}
