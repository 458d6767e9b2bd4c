use std::f32::consts::TAU;

use glam::Vec3;

use crate::motor::{ControllerBytes, InputFrame};
use crate::time::SimSpan;

/// An input frame as the integers the wire carries, without controller bytes.
///
/// Client and server both run frames made of these, so that they run the same bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct WireFrame {
    /// Duration in units of 1/61,440 s.
    pub duration_units: u16,
    /// Direction in units of 1/127, each component -127 to 127.
    pub direction: [i8; 3],
    /// Camera yaw in units of 2π/65,536, wrapped.
    pub yaw: u16,
    /// [`Self::CAMERA_RELATIVE`], [`Self::JUMP`] and [`Self::AUTO_JUMP`].
    pub flags: u8,
}

/// Wire units of a direction component of 1.
const DIRECTION_UNITS: f32 = 127.0;
/// Radians in one wire unit of yaw.
const YAW_UNIT: f32 = TAU / 65_536.0;

impl WireFrame {
    /// The direction turns with the camera.
    pub const CAMERA_RELATIVE: u8 = 1;
    /// Jump is held.
    pub const JUMP: u8 = 2;
    /// The motor jumps by itself at obstacles.
    pub const AUTO_JUMP: u8 = 4;
    /// All flags there are; other bits are malformed.
    pub const ALL_FLAGS: u8 = 7;
}

impl InputFrame {
    /// This frame in wire units: rounded to the nearest, the direction limited to unit length even after rounding,
    /// nonfinite direction or yaw taken as zero, a duration too long for the wire cut to its longest.
    #[must_use]
    pub fn to_wire(&self) -> WireFrame {
        let mut flags = 0;
        for (set, flag) in [
            (self.camera_relative, WireFrame::CAMERA_RELATIVE),
            (self.jump, WireFrame::JUMP),
            (self.auto_jump, WireFrame::AUTO_JUMP),
        ] {
            flags |= if set { flag } else { 0 };
        }
        WireFrame {
            duration_units: u16::try_from(self.duration.0).unwrap_or(u16::MAX),
            direction: direction_units(self.direction),
            yaw: yaw_units(self.camera_yaw),
            flags,
        }
    }

    /// The frame that wire units and controller bytes stand for; unknown flags are ignored.
    #[must_use]
    pub fn from_wire(wire: WireFrame, controller: ControllerBytes) -> Self {
        let [x, y, z] = wire.direction.map(|units| f32::from(units) / DIRECTION_UNITS);
        Self {
            duration: SimSpan(u32::from(wire.duration_units)),
            direction: Vec3::new(x, y, z),
            camera_relative: wire.flags & WireFrame::CAMERA_RELATIVE != 0,
            camera_yaw: f32::from(wire.yaw as i16) * YAW_UNIT,
            jump: wire.flags & WireFrame::JUMP != 0,
            auto_jump: wire.flags & WireFrame::AUTO_JUMP != 0,
            controller,
        }
    }

    /// This frame with only values the wire can say exactly; a client runs nothing else. Snapping again changes nothing.
    #[must_use]
    pub fn snapped(self) -> Self {
        Self::from_wire(self.to_wire(), self.controller)
    }
}

/// The nearest direction in wire units whose length is at most one.
fn direction_units(direction: Vec3) -> [i8; 3] {
    if !direction.is_finite() {
        return [0; 3];
    }
    // A first scaling keeps the length from overflowing.
    let largest = direction.abs().max_element();
    let direction = if largest > 1.0 { direction / largest } else { direction };
    let length = direction.length();
    let limited = if length > 1.0 { direction / length } else { direction };
    let wanted = (limited * DIRECTION_UNITS).to_array();
    let mut units = wanted.map(|component| component.round() as i8);
    // Rounding can lengthen it by less than one unit: take back what was rounded up most, until it fits.
    while units.iter().map(|unit| i32::from(*unit).pow(2)).sum::<i32>() > 127 * 127 {
        let mut most = (0, f32::MIN);
        for (index, (unit, want)) in units.iter().zip(wanted).enumerate() {
            let excess = f32::from(unit.unsigned_abs()) - want.abs();
            if *unit != 0 && excess > most.1 {
                most = (index, excess);
            }
        }
        units[most.0] -= units[most.0].signum();
    }
    units
}

/// The nearest yaw in wire units.
fn yaw_units(yaw: f32) -> u16 {
    if !yaw.is_finite() {
        return 0;
    }
    let turns = f64::from(yaw) / std::f64::consts::TAU;
    // A share of a turn below one, so the product is at most 65,536, which wraps to 0.
    ((turns - turns.floor()) * 65_536.0).round() as u32 as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_float() -> impl Strategy<Value = f32> {
        prop_oneof![-2.0_f32..2.0, prop::num::f32::ANY]
    }

    proptest! {
        // S-10
        #[test]
        fn snapped_frames_survive_the_wire(
            x in any_float(), y in any_float(), z in any_float(), yaw in any_float(),
            duration in 0_u32..70_000, flags in 0_u8..8,
        ) {
            let frame = InputFrame {
                duration: SimSpan(duration),
                direction: Vec3::new(x, y, z),
                camera_yaw: yaw,
                camera_relative: flags & 1 != 0,
                jump: flags & 2 != 0,
                auto_jump: flags & 4 != 0,
                controller: ControllerBytes::new(&[flags]).unwrap(),
            };
            let snapped = frame.snapped();
            prop_assert_eq!(snapped.snapped(), snapped);
            prop_assert_eq!(InputFrame::from_wire(snapped.to_wire(), snapped.controller), snapped);
            prop_assert_eq!(snapped.to_wire().flags, flags);
            prop_assert!(snapped.direction.length_squared() <= 1.0 + 1e-6);
            // Squares of larger numbers overflow in the naive model.
            if frame.direction.is_finite() && frame.direction.abs().max_element() < 1e18 {
                let limited = frame.direction.clamp_length_max(1.0);
                prop_assert!(snapped.direction.distance(limited) < 0.014, "{} {}", snapped.direction, limited);
            }
        }

        // Every frame a peer can send is what its own snapping gives, unless its direction is too long.
        #[test]
        fn wire_frames_are_snapped(direction: [i8; 3], yaw: u16, flags in 0_u8..8, duration_units: u16) {
            let wire = WireFrame { duration_units, direction, yaw, flags };
            let frame = InputFrame::from_wire(wire, ControllerBytes::default());
            if direction.iter().map(|unit| i32::from(*unit).pow(2)).sum::<i32>() <= 127 * 127 {
                prop_assert_eq!(frame.to_wire(), wire);
            }
        }
    }

    #[test]
    fn diagonals_lose_less_than_a_hundredth() {
        let frame = InputFrame { direction: Vec3::new(1.0, 0.0, -1.0), ..InputFrame::default() }.snapped();
        assert!(frame.direction.length() > 0.99);
    }
}
