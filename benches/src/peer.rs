//! The peer of the motor: rapier3d's kinematic character controller.

use glam::Vec3;
use rapier3d::control::{CharacterAutostep, CharacterLength, KinematicCharacterController};
use rapier3d::math::Pose;
use rapier3d::parry::utils::Array2;
use rapier3d::prelude::{Capsule, ColliderBuilder, PhysicsWorld};
use tidelock_sim::collision::Shape;

use crate::scene::Scene;

const DT: f32 = 1.0 / 240.0;

/// A character that walks by rapier's controller, set to what the motor's default is.
pub(crate) struct Peer {
    world: PhysicsWorld,
    controller: KinematicCharacterController,
    shape: Capsule,
    pub(crate) position: Vec3,
    fall: f32,
}

impl Peer {
    pub(crate) fn new(scene: &Scene) -> Self {
        let mut world = PhysicsWorld::new();
        for (shape, at) in &scene.parts {
            world.insert_collider(collider(shape).translation(*at), None);
        }
        world.step();
        let step = CharacterAutostep {
            max_height: CharacterLength::Absolute(1.1),
            min_width: CharacterLength::Absolute(0.1),
            include_dynamic_bodies: false,
        };
        let limit = 50.0_f32.to_radians();
        let controller = KinematicCharacterController {
            offset: CharacterLength::Absolute(0.02),
            autostep: Some(step),
            max_slope_climb_angle: limit,
            min_slope_slide_angle: limit,
            snap_to_ground: Some(CharacterLength::Absolute(1.1)),
            ..KinematicCharacterController::default()
        };
        Self { world, controller, shape: Capsule::new_y(1.5, 1.0), position: Vec3::ZERO, fall: 0.0 }
    }

    /// Puts it in the air somewhere.
    pub(crate) fn begin(&mut self, position: Vec3) {
        self.position = position;
        self.fall = 0.0;
    }

    /// Walks for one motor tick.
    pub(crate) fn tick(&mut self, direction: Vec3) {
        self.fall -= 196.2 * DT;
        let wanted = (direction * 16.0 + Vec3::Y * self.fall) * DT;
        let queries = self.world.query_pipeline();
        let pose = Pose::from_translation(self.position);
        let moved = self.controller.move_shape(DT, &queries, &self.shape, &pose, wanted, |_| {});
        self.position += moved.translation;
        if moved.grounded {
            self.fall = 0.0;
        }
    }
}

fn collider(shape: &Shape) -> ColliderBuilder {
    match shape {
        Shape::Box { half } => ColliderBuilder::cuboid(half.x, half.y, half.z),
        Shape::TriMesh { vertices, indices } => {
            ColliderBuilder::trimesh(vertices.to_vec(), indices.to_vec()).expect("a sound mesh")
        }
        Shape::Heightfield { heights, columns, rows, cell } => {
            let (columns, rows) = (*columns as usize, *rows as usize);
            // Rows of parry's array go along Z.
            let field = Array2::from_fn(rows, columns, |row, column| heights[row * columns + column]);
            let size = Vec3::new((columns - 1) as f32 * cell, 1.0, (rows - 1) as f32 * cell);
            ColliderBuilder::heightfield(field, size)
        }
        _ => unreachable!("scenes are made of boxes and ground"),
    }
}
