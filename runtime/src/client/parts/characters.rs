use glam::Vec3;
use tidelock_replication::ids::InstanceId;
use tidelock_sim::SimTime;
use tidelock_sim::motor::{CharacterState, MotorSettings};
use tidelock_sim::physics::{LooseParts, PushingBody};
use tidelock_sim::tracks::{CharacterPose, CharacterTrack};

use super::super::replica::Replica;
use super::path::OwnPath;

/// How long another character's motion leads it on, seconds.
const SILENT: f64 = 0.4;

/// Whoever pushes parts on a client: its own character and all others.
#[derive(Debug, Default)]
pub(super) struct Characters {
    own: Option<PushingBody>,
    others: Vec<(InstanceId, PushingBody, bool)>,
}

/// The own character: which one, and where it was.
#[derive(Clone, Copy, Debug)]
pub(super) struct Own<'a> {
    pub(super) id: Option<InstanceId>,
    pub(super) path: &'a OwnPath,
}

/// Where another character pushes: where its motion leads, or where it was last heard of when it fell silent on its way.
fn expected(track: &CharacterTrack, time: f64) -> Option<CharacterPose> {
    let newest = track.newest()?;
    if newest.time < time - SILENT { Some(*newest) } else { track.sample(time) }
}

impl Characters {
    /// Moves characters during the next step to where they are, or are expected, at its end; who sits pushes nothing. With `put`, they are there at
    /// once and push nothing on their way.
    pub(super) fn move_to(
        &mut self,
        physics: &mut LooseParts,
        (replica, settings): (&Replica, &MotorSettings),
        own: Own<'_>,
        (time, put): (SimTime, bool),
    ) {
        let go = |physics: &mut LooseParts, body: Option<PushingBody>, position: Vec3| match body {
            Some(body) if put => physics.put_character(body, position).then_some(body),
            Some(body) => {
                physics.move_character(body, position);
                Some(body)
            }
            None => physics.insert_character(position, settings.radius, settings.half_height).ok(),
        };
        let position = own.path.at(time);
        self.own = match (self.own, position) {
            (body, Some(position)) => go(physics, body, position),
            (Some(body), None) => (!physics.remove_character(body)).then_some(body),
            (None, None) => None,
        };
        self.others.iter_mut().for_each(|(.., here)| *here = false);
        for (id, track) in replica.world.query::<(&InstanceId, &CharacterTrack)>().iter() {
            let Some(pose) = expected(track, time.seconds()).filter(|_| own.id != Some(*id)) else { continue };
            if pose.state == CharacterState::Seated {
                continue;
            }
            if let Some((_, body, here)) = self.others.iter_mut().find(|(other, ..)| other == id) {
                *here = true;
                go(physics, Some(*body), pose.position);
            } else if let Some(body) = go(physics, None, pose.position) {
                self.others.push((*id, body, true));
            }
        }
        self.others.retain(|(_, body, here)| *here || !physics.remove_character(*body));
    }
}
