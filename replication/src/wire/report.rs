use tidelock_sim::bytes::{Reader, Writer};
use tidelock_sim::module::CustomState;
use tidelock_sim::motor::{ControllerBytes, InputFrame};
use tidelock_sim::report::{Report, WireFrame};
use tidelock_sim::{Sequence, SimSpan};

use super::scalar::{character_state, read_array, read_time, varint_u32};
use super::{WireError, check};

/// The most bytes of a report: every frame different and with all its controller bytes.
pub const MAX_REPORT_BYTES: usize = 4_500;

/// Bits 0 to 2 of a frame's head are its flags.
const REPEATED: u8 = 0x08;
const CONTROLLER: u8 = 0x10;
const RUN: u8 = 0x20;

/// Appends a report (report lane). Frames must be snapped to wire units, as a client runs no others; consecutive frames of
/// equal input are written as their durations alone.
///
/// # Panics
///
/// When the report holds more than [`Report::MAX_FRAMES`] frames.
pub fn write_report(bytes: &mut Vec<u8>, report: &Report) {
    assert!(report.frames.len() <= Report::MAX_FRAMES, "a report of {} frames", report.frames.len());
    let mut out = Writer::new(bytes);
    out.u32(report.sequence.0);
    out.varint(u64::from(report.epoch));
    out.varint(report.start.0);
    out.varint(u64::from(report.end.since(report.start).0));
    out.vec3(report.position);
    out.vec3(report.velocity);
    out.f32(report.yaw);
    out.u8(report.state as u8);
    out.prefixed(report.custom.as_slice());
    out.u8(report.frames.len() as u8);
    let mut before: Option<(WireFrame, ControllerBytes)> = None;
    for frame in &report.frames {
        let wire = frame.to_wire();
        let same_input = before.is_some_and(|(held, controller)| {
            WireFrame { duration_units: wire.duration_units, ..held } == wire && controller == frame.controller
        });
        let same_duration = before.is_some_and(|(held, _)| held.duration_units == wire.duration_units);
        write_frame(&mut out, &wire, &frame.controller, same_input, same_duration);
        before = Some((wire, frame.controller));
    }
}

fn write_frame(
    out: &mut Writer<'_>,
    wire: &WireFrame,
    controller: &ControllerBytes,
    same_input: bool,
    same_duration: bool,
) {
    if same_input {
        out.u8(if same_duration { REPEATED | RUN } else { REPEATED });
        if !same_duration {
            out.u16(wire.duration_units);
        }
        return;
    }
    let has_controller = !controller.as_slice().is_empty();
    out.u8(wire.flags & WireFrame::ALL_FLAGS | if has_controller { CONTROLLER } else { 0 });
    out.u16(wire.duration_units);
    for component in wire.direction {
        out.i8(component);
    }
    out.u16(wire.yaw);
    if has_controller {
        out.prefixed(controller.as_slice());
    }
}

/// Reads a report into `report`, whose frames' memory is used again. Numbers may be nonfinite: the checks of S-21 see them.
///
/// # Errors
///
/// Any [`WireError`]; `report` then holds nothing meaningful.
pub fn read_report(bytes: &[u8], report: &mut Report) -> Result<(), WireError> {
    report.frames.clear();
    check(bytes.len() <= MAX_REPORT_BYTES, WireError::TooLong)?;
    let mut reader = Reader::new(bytes);
    report.sequence = Sequence(reader.u32()?);
    report.epoch = varint_u32(&mut reader)?;
    report.start = read_time(&mut reader)?;
    report.end = report.start + SimSpan(varint_u32(&mut reader)?);
    report.position = reader.vec3()?;
    report.velocity = reader.vec3()?;
    report.yaw = reader.f32()?;
    report.state = character_state(reader.u8()?)?;
    report.custom = CustomState::new(reader.prefixed(CustomState::MAX)?).ok_or(WireError::Value)?;
    let count = usize::from(reader.u8()?);
    check(count <= Report::MAX_FRAMES, WireError::TooLong)?;
    let mut before: Option<(WireFrame, ControllerBytes)> = None;
    for _ in 0..count {
        let (wire, controller) = read_frame(&mut reader, before)?;
        report.frames.push(InputFrame::from_wire(wire, controller));
        before = Some((wire, controller));
    }
    Ok(reader.finish()?)
}

type HeldFrame = (WireFrame, ControllerBytes);

fn read_frame(reader: &mut Reader<'_>, before: Option<HeldFrame>) -> Result<HeldFrame, WireError> {
    let head = reader.u8()?;
    if head & REPEATED != 0 {
        check(head & !(REPEATED | RUN) == 0, WireError::Flags)?;
        let (mut wire, controller) = before.ok_or(WireError::Value)?;
        if head & RUN == 0 {
            wire.duration_units = reader.u16()?;
        }
        return Ok((wire, controller));
    }
    check(head & !(WireFrame::ALL_FLAGS | CONTROLLER) == 0, WireError::Flags)?;
    let duration_units = reader.u16()?;
    let direction = read_array::<3>(reader)?.map(|byte| byte as i8);
    let yaw = reader.u16()?;
    let controller = if head & CONTROLLER != 0 { reader.prefixed(ControllerBytes::MAX)? } else { &[] };
    let controller = ControllerBytes::new(controller).ok_or(WireError::Value)?;
    Ok((WireFrame { duration_units, direction, yaw, flags: head & WireFrame::ALL_FLAGS }, controller))
}
