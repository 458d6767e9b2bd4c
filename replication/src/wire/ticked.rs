use tidelock_sim::Sequence;
use tidelock_sim::bytes::{Reader, Writer};
use tidelock_sim::input::{HeldControls, InputPacket, StepInput};
use tidelock_sim::motor::ControllerBytes;

use super::scalar::{read_array, varint_u32};
use super::{NewestKind, WireError, check};

/// The most inputs of one message: a third of a second of ticks.
pub const MAX_INPUTS: usize = 20;

/// Inputs of consecutive ticks, as a client sends them (S-5).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TickedInputs {
    /// Epoch at which the character came under its controller: inputs meant for an earlier one are stale.
    pub began: u32,
    /// Sequence of the last input.
    pub last: Sequence,
    /// The inputs, oldest first, 1 to [`MAX_INPUTS`].
    pub inputs: Vec<StepInput<HeldControls>>,
}

impl TickedInputs {
    /// The inputs as a gate and a buffer take them.
    #[must_use]
    pub fn packet(&self) -> InputPacket<'_, StepInput<HeldControls>> {
        InputPacket { last: self.last, inputs: &self.inputs }
    }
}

/// Bits 0 and 2 of an input's head are its flags.
const REPEATED: u8 = 0x08;
const CONTROLLER: u8 = 0x10;
const BUTTONS: u8 = 0x20;

/// Appends inputs (newest lane), the newest [`MAX_INPUTS`] of `packet`; what is as in the input before is left out.
pub fn write_inputs(bytes: &mut Vec<u8>, began: u32, packet: &InputPacket<'_, StepInput<HeldControls>>) {
    let inputs = &packet.inputs[packet.inputs.len().saturating_sub(MAX_INPUTS)..];
    let mut out = Writer::new(bytes);
    out.u8(NewestKind::Inputs as u8);
    out.varint(u64::from(began));
    out.u32(packet.last.0);
    out.u8(inputs.len() as u8);
    let mut before = StepInput::default();
    for input in inputs {
        write_input(&mut out, input, &before);
        before = *input;
    }
}

fn write_input(out: &mut Writer<'_>, input: &StepInput<HeldControls>, before: &StepInput<HeldControls>) {
    let HeldControls { direction, yaw, flags, controller } = input.held;
    let buttons = if input.buttons == before.buttons { 0 } else { BUTTONS };
    let controls = if input.held == before.held {
        REPEATED
    } else {
        flags | if controller.as_slice().is_empty() { 0 } else { CONTROLLER }
    };
    out.u8(buttons | controls);
    if buttons != 0 {
        out.varint(u64::from(input.buttons));
    }
    if controls & REPEATED != 0 {
        return;
    }
    for component in direction {
        out.i8(component);
    }
    out.u16(yaw);
    if controls & CONTROLLER != 0 {
        out.prefixed(controller.as_slice());
    }
}

/// Reads inputs into `into`, whose memory is used again.
///
/// # Errors
///
/// Any [`WireError`]; `into` then holds nothing meaningful.
pub fn read_inputs(bytes: &[u8], into: &mut TickedInputs) -> Result<(), WireError> {
    into.inputs.clear();
    check(NewestKind::of(bytes)? == NewestKind::Inputs, WireError::Kind)?;
    let mut reader = Reader::new(&bytes[1..]);
    into.began = varint_u32(&mut reader)?;
    into.last = Sequence(reader.u32()?);
    let count = usize::from(reader.u8()?);
    check(count >= 1, WireError::Value)?;
    check(count <= MAX_INPUTS, WireError::TooLong)?;
    let mut before = StepInput::default();
    for _ in 0..count {
        before = read_input(&mut reader, before)?;
        into.inputs.push(before);
    }
    Ok(reader.finish()?)
}

fn read_input(reader: &mut Reader<'_>, before: StepInput<HeldControls>) -> Result<StepInput<HeldControls>, WireError> {
    let head = reader.u8()?;
    check(head & !(HeldControls::ALL_FLAGS | REPEATED | CONTROLLER | BUTTONS) == 0, WireError::Flags)?;
    let buttons = if head & BUTTONS != 0 { varint_u32(reader)? } else { before.buttons };
    if head & REPEATED != 0 {
        check(head & !(REPEATED | BUTTONS) == 0, WireError::Flags)?;
        return Ok(StepInput { buttons, held: before.held });
    }
    let direction = read_array::<3>(reader)?.map(|byte| byte as i8);
    let yaw = reader.u16()?;
    let controller = if head & CONTROLLER != 0 { reader.prefixed(ControllerBytes::MAX)? } else { &[] };
    let controller = ControllerBytes::new(controller).ok_or(WireError::Value)?;
    let held = HeldControls { direction, yaw, flags: head & HeldControls::ALL_FLAGS, controller };
    Ok(StepInput { buttons, held })
}
