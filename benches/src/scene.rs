use std::sync::Arc;

use glam::{Quat, Vec3};
use tidelock_sim::collision::{Collider, ColliderId, CollisionIndex, Shape};

/// A place to walk about in: the same shapes for the motor and for its peer.
pub(crate) struct Scene {
    pub(crate) parts: Vec<(Shape, Vec3)>,
    /// How far from the middle a character wanders, studs.
    pub(crate) range: f32,
}

/// Numbers that look random and are the same in every run.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x2545_f491_4f6c_dd1d)
    }

    pub(crate) fn roll(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// From 0 to 1.
    pub(crate) fn share(&mut self) -> f32 {
        (self.roll() >> 40) as f32 / (1_u64 << 24) as f32
    }

    /// From `-reach` to `reach`.
    pub(crate) fn around(&mut self, reach: f32) -> f32 {
        (self.share() * 2.0 - 1.0) * reach
    }
}

impl Scene {
    /// Nothing but a floor.
    pub(crate) fn flat() -> Self {
        let floor = (Shape::Box { half: Vec3::new(200.0, 1.0, 200.0) }, Vec3::new(0.0, -1.0, 0.0));
        Self { parts: vec![floor], range: 60.0 }
    }

    /// A thousand boxes of 1 to 4 studs about a floor of 128, a third of it covered: blocks, steps and walls.
    pub(crate) fn boxes() -> Self {
        let (mut scene, mut dice) = (Self::flat(), Dice::new(1));
        for _ in 0..1_000 {
            let half = Vec3::new(0.5 + dice.share() * 1.5, 0.15 + dice.share() * 1.5, 0.5 + dice.share() * 1.5);
            scene.parts.push((Shape::Box { half }, Vec3::new(dice.around(64.0), half.y, dice.around(64.0))));
        }
        scene
    }

    /// A ground made of a thousand boxes of two studs side by side, each of another height within what can be stepped on.
    pub(crate) fn packed() -> Self {
        let mut dice = Dice::new(2);
        let tile = |at: usize| (at % 32, at / 32);
        let parts = (0..32 * 32).map(|at| {
            let (column, row) = tile(at);
            let height = 1.0 + (dice.roll() % 5) as f32 * 0.25;
            let at = Vec3::new(column as f32 * 2.0 - 31.0, height * 0.5, row as f32 * 2.0 - 31.0);
            (Shape::Box { half: Vec3::new(1.0, height * 0.5, 1.0) }, at)
        });
        Self { parts: parts.collect(), range: 28.0 }
    }

    /// Rolling ground of 64 × 64 cells of two triangles, as a mesh.
    pub(crate) fn mesh(cell: f32) -> Self {
        let heights = rolling(cell);
        let half = 32.0 * cell;
        let corner = |at: usize| ((at % 65) as f32 * cell - half, (at / 65) as f32 * cell - half);
        let vertices: Vec<Vec3> =
            heights.iter().enumerate().map(|(at, height)| Vec3::new(corner(at).0, *height, corner(at).1)).collect();
        let mut indices = Vec::new();
        for row in 0..64_u32 {
            for column in 0..64_u32 {
                let a = row * 65 + column;
                let (b, c, d) = (a + 1, a + 65, a + 66);
                indices.extend([[a, c, b], [b, c, d]]);
            }
        }
        let shape = Shape::TriMesh { vertices: vertices.into(), indices: indices.into() };
        Self { parts: vec![(shape, Vec3::ZERO)], range: half * 0.9 }
    }

    /// The same ground as a heightfield.
    pub(crate) fn heightfield(cell: f32) -> Self {
        let shape = Shape::Heightfield { heights: rolling(cell), columns: 65, rows: 65, cell };
        Self { parts: vec![(shape, Vec3::ZERO)], range: 32.0 * cell * 0.9 }
    }

    pub(crate) fn index(&self) -> CollisionIndex {
        let mut index = CollisionIndex::new();
        for (id, (shape, position)) in self.parts.iter().enumerate() {
            let id = ColliderId(id as u64);
            let part = Collider { id, shape: shape.clone(), position: *position, rotation: Quat::IDENTITY };
            index.insert(part).expect("a sound part");
        }
        index
    }
}

/// Heights of 65 × 65 points, slopes up to about 25°.
fn rolling(cell: f32) -> Arc<[f32]> {
    let mut dice = Dice::new(3);
    let points = (0..65 * 65).map(|at| {
        let (x, z) = ((at % 65) as f32, (at / 65) as f32);
        (libm::sinf(x * 0.35) * libm::cosf(z * 0.3) + dice.around(0.12)) * cell
    });
    points.collect()
}
