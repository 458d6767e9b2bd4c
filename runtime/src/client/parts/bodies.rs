use tidelock_replication::ids::InstanceId;
use tidelock_replication::instance::{PartProperties, Pose};
use tidelock_sim::collision::ColliderId;
use tidelock_sim::motor::MotorSettings;
use tidelock_sim::ownership::{PartView, PartViewConfig};
use tidelock_sim::physics::{LooseMotion, LooseParts, LoosePartsConfig};
use tidelock_sim::{PartState, SimTime};

use super::super::replica::Replica;
use super::characters::{Characters, Own};
use crate::scene::Scene;

/// Parts of others without news for this long stay where they are put, seconds.
const NEWS: f64 = 2.0;

/// Physics of a place on a client: own parts are simulated, all others driven, characters push.
#[derive(Debug)]
pub(super) struct Bodies {
    physics: LooseParts,
    settings: MotorSettings,
    moved: LooseMotion,
    characters: Characters,
    /// Parts that physics could not hold.
    refused: usize,
}

impl Bodies {
    /// Every part of the place as it is known here; loose ones are driven.
    pub(super) fn new(scene: &Scene, replica: &Replica, at: SimTime) -> Self {
        let settings = scene.settings;
        let config =
            LoosePartsConfig { gravity: settings.up * -settings.gravity, up: settings.up, ..Default::default() };
        let mut bodies = Self {
            physics: LooseParts::new(config),
            settings,
            moved: LooseMotion::default(),
            characters: Characters::default(),
            refused: 0,
        };
        for part in scene.place.parts() {
            bodies.insert(part.id, replica.part(part.id), at);
        }
        for (id, properties, pose) in replica.world.query::<(&InstanceId, &PartProperties, &Pose)>().iter() {
            if !scene.place.contains(*id) {
                bodies.insert(*id, Some((properties.clone(), *pose)), at);
            }
        }
        bodies
    }

    fn insert(&mut self, id: InstanceId, part: Option<(PartProperties, Pose)>, at: SimTime) {
        let Some((properties, pose)) = part.filter(|(properties, _)| properties.can_collide) else { return };
        let (collider, shape) = (ColliderId(id.0), properties.collider_shape());
        let added = if !properties.anchored {
            self.physics.insert_driven(collider, &shape, &PartState::resting(pose.position, pose.rotation))
        } else if let Some(mover) = properties.mover_at(pose) {
            self.physics.insert_mover(collider, &shape, mover, at)
        } else {
            self.physics.insert_anchored(collider, &shape, pose.position, pose.rotation)
        };
        self.refused += usize::from(added.is_err());
    }

    /// Follows a part's new shape or pose, or its end. One that stays owned goes on from where it was.
    pub(super) fn reshape(&mut self, id: InstanceId, part: Option<(PartProperties, Pose)>, owned: bool) {
        let held = self.state(id).filter(|_| owned);
        self.physics.remove(ColliderId(id.0));
        self.insert(id, part, SimTime(0));
        if let Some(held) = held {
            self.physics.acquire(ColliderId(id.0), &held);
        }
    }

    pub(super) fn drives(&self, id: ColliderId) -> bool {
        self.physics.is_driven(id)
    }

    /// Simulates parts here from now on, which were like this so many steps ago, pushed by whoever was there since.
    pub(super) fn acquire(
        &mut self,
        parts: &[(ColliderId, PartState)],
        (now, ticks): (SimTime, u32),
        (replica, own): (&Replica, Own<'_>),
    ) {
        let Self { physics, characters, settings, .. } = self;
        physics.acquire_behind(parts, (now, ticks), |physics, time, first| {
            characters.move_to(physics, (replica, settings), own, (time, first));
        });
    }

    pub(super) fn release(&mut self, id: ColliderId) {
        self.physics.release(id);
    }

    pub(super) fn place(&mut self, id: ColliderId, state: &PartState) {
        self.physics.place(id, state);
    }

    pub(super) fn state(&self, id: InstanceId) -> Option<PartState> {
        self.physics.state(ColliderId(id.0))
    }

    /// What the last step moved.
    pub(super) fn moved(&self) -> &LooseMotion {
        &self.moved
    }

    /// Puts a part of others where it is expected to be then.
    pub(super) fn drive(&mut self, id: InstanceId, view: &PartView, time: f64, views: &PartViewConfig) {
        let news = view.track().newest().is_some_and(|newest| newest.time > time - NEWS);
        if let Some(state) = view.predicted(time, views).filter(|_| news) {
            self.physics.drive(ColliderId(id.0), &state);
        }
    }

    /// Moves characters during the next step, which ends at `time`.
    pub(super) fn move_characters(&mut self, replica: &Replica, own: Own<'_>, time: SimTime) {
        let Self { physics, characters, settings, .. } = self;
        characters.move_to(physics, (replica, settings), own, (time, false));
    }

    pub(super) fn step(&mut self, time: SimTime) {
        self.physics.step(time, &mut self.moved);
    }
}
