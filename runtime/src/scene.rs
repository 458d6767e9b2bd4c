use tidelock_replication::ids::InstanceId;
use tidelock_replication::instance::{PartProperties, Pose};
use tidelock_replication::place::{Place, PlacePart};
use tidelock_sim::collision::{Collider, ColliderError, ColliderId, CollisionIndex};
use tidelock_sim::motor::MotorSettings;

/// A place made ready: its file, and the colliders characters walk on, equal on server and client.
#[derive(Clone, Debug)]
pub(crate) struct Scene {
    pub(crate) place: Place,
    pub(crate) colliders: CollisionIndex,
    pub(crate) settings: MotorSettings,
    /// Authored parts whose motion is a function of time, by ascending id.
    pub(crate) movers: Vec<PlacePart>,
    /// Authored colliders the index refused: shapes without extent. They are drawn and not walked on.
    pub(crate) refused: usize,
}

impl Scene {
    /// What a client knows.
    pub(crate) fn client(place: Place) -> Self {
        let mut scene = Self {
            settings: place.motor_settings(),
            colliders: CollisionIndex::new(),
            movers: place.parts().filter(|part| part.properties.mover.is_some()).collect(),
            place,
            refused: 0,
        };
        for part in scene.place.clone().parts() {
            scene.refused +=
                usize::from(add_collider(&mut scene.colliders, part.id, &part.properties, part.pose).is_err());
        }
        scene
    }
}

/// Adds a part to what characters walk on, if it belongs there: anchored and solid, or a volume of water. Loose parts are pushed and hold nobody up.
///
/// # Errors
///
/// [`ColliderError`] for a shape the index cannot hold.
pub(crate) fn add_collider(
    index: &mut CollisionIndex,
    id: InstanceId,
    properties: &PartProperties,
    pose: Pose,
) -> Result<(), ColliderError> {
    let collider = ColliderId(id.0);
    if properties.water && properties.anchored && properties.mover.is_none() {
        return index.insert_water(resting(collider, properties, pose));
    }
    if properties.water || !properties.anchored || !properties.can_collide {
        return Ok(());
    }
    match properties.mover_at(pose) {
        Some(mover) => index.insert_mover(collider, properties.collider_shape(), mover),
        None => index.insert(resting(collider, properties, pose)),
    }
}

fn resting(id: ColliderId, properties: &PartProperties, pose: Pose) -> Collider {
    Collider { id, shape: properties.collider_shape(), position: pose.position, rotation: pose.rotation }
}
