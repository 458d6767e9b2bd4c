use glam::Vec3;
use rapier3d::prelude::{RigidBodyHandle, SphericalJointBuilder};

use super::LooseParts;
use super::loose::state_of;
use crate::collision::ColliderId;
use crate::ownership::Partition;
use crate::part::PartState;

impl LooseParts {
    /// Joins two loose parts at a point of each, in the parts' own axes, so that they turn about it freely and change hands
    /// as one. It goes with either of them. False when one is missing or is the other.
    pub fn join(&mut self, first: (ColliderId, Vec3), second: (ColliderId, Vec3)) -> bool {
        let handle = |id: ColliderId| self.bodies.get(&id).copied();
        let (Some(a), Some(b)) = (handle(first.0), handle(second.0)) else { return false };
        if a == b || !first.1.is_finite() || !second.1.is_finite() {
            return false;
        }
        let joint = SphericalJointBuilder::new().local_anchor1(first.1).local_anchor2(second.1).contacts_enabled(false);
        self.world.insert_impulse_joint(a, b, joint);
        true
    }

    /// Divides the loose parts that are awake, with those that touch or are joined to them, into islands (S-51a).
    pub fn partition(&self, islands: &mut Partition) {
        self.partition_with(islands, &[]);
    }

    /// The same as if `also`, ascending, were awake too: parts at rest that somebody may touch soon.
    pub fn partition_with(&self, islands: &mut Partition, also: &[ColliderId]) {
        let awake = self.awake.iter().map(|(id, _)| *id).chain(also.iter().copied());
        islands.reset(awake.chain(self.bonds(also).flat_map(|(a, b)| [a, b])));
        for (a, b) in self.bonds(also) {
            islands.join(a, b);
        }
        islands.finish();
    }

    /// Loose parts simulated here, awake or not.
    pub fn simulated(&self) -> impl Iterator<Item = (ColliderId, PartState)> + '_ {
        self.bodies.iter().filter_map(|(id, handle)| {
            let body = self.world.bodies.get(*handle)?;
            body.is_dynamic().then(|| (*id, state_of(body)))
        })
    }

    /// Pairs of loose parts that touch or are joined, one of them awake, or in `also`, at least.
    fn bonds<'a>(&'a self, also: &'a [ColliderId]) -> impl Iterator<Item = (ColliderId, ColliderId)> + 'a {
        let touching = self.world.contact_pairs().filter(|pair| pair.has_any_active_contact());
        let parent = |collider| self.world.colliders.get(collider).and_then(|collider| collider.parent());
        let touching = touching.filter_map(move |pair| Some((parent(pair.collider1)?, parent(pair.collider2)?)));
        let joined = self.world.impulse_joints().map(|(_, joint)| (joint.body1(), joint.body2()));
        touching
            .chain(joined)
            .filter(move |(a, b)| self.is_awake(*a) || self.is_awake(*b) || !also.is_empty())
            .filter_map(|(a, b)| Some(((a, self.loose(a)?), (b, self.loose(b)?))))
            .filter(move |((a, first), (b, second))| {
                let named = |id| also.binary_search(id).is_ok();
                self.is_awake(*a) || self.is_awake(*b) || named(first) || named(second)
            })
            .map(|((_, first), (_, second))| (first, second))
    }

    fn is_awake(&self, handle: RigidBodyHandle) -> bool {
        self.world.bodies.get(handle).is_some_and(|body| body.is_dynamic() && !body.is_sleeping())
    }

    fn loose(&self, handle: RigidBodyHandle) -> Option<ColliderId> {
        let body = self.world.bodies.get(handle)?;
        let id = ColliderId(body.user_data as u64);
        // Characters and movers are no parts; driven ones are.
        let part = body.is_dynamic() || self.driven.iter().any(|(driven, other)| *driven == id && *other == handle);
        part.then_some(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collision::Shape;
    use crate::physics::{LooseMotion, LoosePartsConfig};
    use crate::time::SimTime;
    use glam::Quat;

    // S-51a
    #[test]
    fn stacks_and_chains_are_islands() {
        let mut parts = LooseParts::new(LoosePartsConfig::default());
        let half = Vec3::new(80.0, 1.0, 80.0);
        parts.insert_anchored(ColliderId(0), &Shape::Box { half }, Vec3::NEG_Y, Quat::IDENTITY).unwrap();
        let cube = Shape::Box { half: Vec3::ONE };
        for (id, x, y) in [(1, 0.0, 1.0), (2, 0.5, 3.02), (3, 30.0, 1.0), (4, 33.0, 1.0), (5, 60.0, 1.0)] {
            let state = PartState::resting(Vec3::new(x, y, 0.0), Quat::IDENTITY);
            parts.insert_part(ColliderId(id), &cube, &state).unwrap();
        }
        assert!(parts.join((ColliderId(3), Vec3::X * 1.5), (ColliderId(4), Vec3::X * -1.5)));
        assert!(!parts.join((ColliderId(3), Vec3::X), (ColliderId(3), Vec3::X)));
        let mut moved = LooseMotion::default();
        for tick in 1..=10_u64 {
            parts.step(SimTime(tick * 1_024), &mut moved);
        }
        let mut islands = Partition::default();
        parts.partition(&mut islands);
        let ids = |island: &[ColliderId]| island.iter().map(|id| id.0).collect::<Vec<_>>();
        assert_eq!(islands.islands().map(ids).collect::<Vec<_>>(), [vec![1, 2], vec![3, 4], vec![5]]);
    }
    // S-51a: who stands beside a sleeping stack can be given it whole.
    #[test]
    fn sleeping_parts_that_are_named_come_with_what_they_touch() {
        let mut parts = LooseParts::new(LoosePartsConfig::default());
        let half = Vec3::new(80.0, 1.0, 80.0);
        parts.insert_anchored(ColliderId(0), &Shape::Box { half }, Vec3::NEG_Y, Quat::IDENTITY).unwrap();
        let cube = Shape::Box { half: Vec3::ONE };
        for (id, x, y) in [(1, 0.0, 1.0), (2, 0.0, 3.0), (3, 30.0, 1.0)] {
            parts
                .insert_part(ColliderId(id), &cube, &PartState::resting(Vec3::new(x, y, 0.0), Quat::IDENTITY))
                .unwrap();
        }
        let mut moved = LooseMotion::default();
        for tick in 1..=600_u64 {
            parts.step(SimTime(tick * 1_024), &mut moved);
        }
        assert_eq!((parts.awake(), parts.simulated().count()), (0, 3));
        let mut islands = Partition::default();
        parts.partition(&mut islands);
        assert_eq!(islands.islands().count(), 0);
        parts.partition_with(&mut islands, &[ColliderId(2)]);
        assert_eq!(islands.islands().map(<[ColliderId]>::to_vec).collect::<Vec<_>>(), [[ColliderId(1), ColliderId(2)]]);
    }
}
