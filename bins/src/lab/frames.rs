//! The binary frames the page draws from, about 60 a second. `bins/page/frames.js` decodes them.
//!
//! Little-endian: `u8` kind 1; `f64` time in ms; `u8` which of own, truth and seen follow (bits 0 to 2), each a pose of 4 × `f32` (x, y,
//! z, yaw); `u16` count of other characters, each `u32` id and a pose; `u16` count of moving parts, each `u32` id, 3 × `f32` position,
//! 4 × `f32` rotation (x, y, z, w) and `u8` who simulates it (0 the server, 1 the visitor, 2 another player).

use std::time::Duration;

use glam::Vec3;
use tidelock::{DrawnPart, PartOwner, Projection};

const KIND: u8 = 1;

/// Where a character is, as far as the page draws it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pose {
    /// Centre of the capsule, studs.
    pub(crate) position: Vec3,
    /// Facing, radians.
    pub(crate) yaw: f32,
}

/// The visitor's own character as others have it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Others {
    /// On the server.
    pub(crate) truth: Option<Pose>,
    /// On another client's screen.
    pub(crate) seen: Option<Pose>,
}

/// Writes one frame over `out`.
pub(crate) fn encode(out: &mut Vec<u8>, now: Duration, projection: &Projection, others: Others) {
    let own = projection.own().map(|own| Pose { position: own.position, yaw: own.yaw });
    let poses = [own, others.truth, others.seen];
    out.clear();
    out.push(KIND);
    out.extend_from_slice(&(now.as_secs_f64() * 1000.0).to_le_bytes());
    out.push((0..).zip(&poses).map(|(bit, pose)| u8::from(pose.is_some()) << bit).sum());
    poses.iter().flatten().for_each(|pose| write_pose(out, *pose));
    let strangers = projection.characters.iter().filter(|character| !character.own);
    write_count(out, strangers.clone().count());
    for character in strangers.take(usize::from(u16::MAX)) {
        out.extend_from_slice(&short(character.id.0).to_le_bytes());
        write_pose(out, Pose { position: character.position, yaw: character.yaw });
    }
    write_count(out, projection.parts.len() + projection.movers.len());
    for part in projection.parts.iter().chain(&projection.movers).take(usize::from(u16::MAX)) {
        write_part(out, part);
    }
}

/// An id as the page knows it: JavaScript's numbers do not hold 64 bits, and a place of the lab has far fewer instances.
pub(crate) fn short(id: u64) -> u32 {
    id as u32
}

fn write_count(out: &mut Vec<u8>, count: usize) {
    out.extend_from_slice(&u16::try_from(count).unwrap_or(u16::MAX).to_le_bytes());
}

fn write_pose(out: &mut Vec<u8>, pose: Pose) {
    write_floats(out, &pose.position.to_array());
    write_floats(out, &[pose.yaw]);
}

fn write_part(out: &mut Vec<u8>, part: &DrawnPart) {
    out.extend_from_slice(&short(part.id.0).to_le_bytes());
    write_floats(out, &part.position.to_array());
    write_floats(out, &part.rotation.to_array());
    out.push(match part.owner {
        PartOwner::Server => 0,
        PartOwner::Own => 1,
        PartOwner::Other(_) => 2,
    });
}

fn write_floats(out: &mut Vec<u8>, floats: &[f32]) {
    floats.iter().for_each(|float| out.extend_from_slice(&float.to_le_bytes()));
}

#[cfg(test)]
mod tests {
    use glam::Quat;
    use tidelock::DrawnCharacter;
    use tidelock::replication::ids::{InstanceId, PlayerId};
    use tidelock::replication::instance::Color;
    use tidelock::sim::motor::CharacterState;

    use super::*;

    fn character(id: u64, own: bool) -> DrawnCharacter {
        DrawnCharacter {
            id: InstanceId(id),
            player: PlayerId(id),
            name: "someone".into(),
            color: Color::default(),
            position: Vec3::new(1.0, 2.0, 3.0),
            yaw: 0.5,
            velocity: Vec3::ZERO,
            state: CharacterState::Grounded,
            own,
        }
    }

    // T-40
    #[test]
    fn a_frame_has_the_length_its_layout_says() {
        let owner = PartOwner::Own;
        let part = DrawnPart { id: InstanceId(9), position: Vec3::ONE, rotation: Quat::IDENTITY, owner };
        let projection = Projection {
            parts: vec![part],
            movers: vec![part, part],
            characters: vec![character(1, false), character(2, true)],
            ..Projection::default()
        };
        let mut out = Vec::new();
        encode(&mut out, Duration::from_millis(1500), &projection, Others::default());
        assert_eq!(out.len(), 10 + 16 + 2 + 20 + 2 + 3 * 33);
        assert_eq!((out[0], out[9], out.last()), (KIND, 0b001, Some(&1)));
        assert_eq!(out[1..9], 1500f64.to_le_bytes());
        let pose = Pose { position: Vec3::ZERO, yaw: 0.0 };
        encode(&mut out, Duration::ZERO, &Projection::default(), Others { truth: Some(pose), seen: Some(pose) });
        assert_eq!((out.len(), out[9]), (10 + 32 + 4, 0b110));
    }
}
