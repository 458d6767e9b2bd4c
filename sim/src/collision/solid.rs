use std::collections::BTreeMap;
use std::sync::Arc;

use glam::Vec3;
use parry3d::partitioning::{Bvh, BvhBuildStrategy};
use parry3d::transformation::try_convex_hull;

use super::kernel::{Hull, Triangle};
use super::placement::Bounds;
use super::shape::{ColliderError, Shape};
use super::voxels::Voxels;

/// A shape checked and made ready for gathering.
#[derive(Clone, Debug)]
pub(super) enum Solid {
    Cuboid { half: Vec3 },
    Ball { radius: f32 },
    Cylinder { half_height: f32, radius: f32 },
    Capsule { half_segment: f32, radius: f32 },
    Hull(Arc<Hull>),
    Surface(Arc<Surface>),
    Heightfield(Heightfield),
    Voxels(Arc<Voxels>),
}

/// Solids in use, so that colliders of one mesh, hull or size of wedge share what was made of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Solids {
    shared: BTreeMap<Source, Shared>,
}

/// What a shared solid was made of. Addresses name it as long as its shape is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Source {
    Wedge([u32; 3]),
    Points(usize),
    Mesh(usize, usize),
}

#[derive(Clone, Debug)]
struct Shared {
    /// Keeps the addresses in use.
    _shape: Shape,
    solid: Solid,
    bounds: Bounds,
    users: u32,
}

impl Solids {
    /// The solid of a shape, its bounds, and what to [`Solids::release`] when it is no longer used.
    pub(super) fn acquire(&mut self, shape: &Shape) -> Result<(Solid, Bounds, Option<Source>), ColliderError> {
        let Some(source) = Source::of(shape) else {
            let (solid, bounds) = Solid::new(shape)?;
            return Ok((solid, bounds, None));
        };
        if let Some(held) = self.shared.get_mut(&source) {
            held.users += 1;
            return Ok((held.solid.clone(), held.bounds, Some(source)));
        }
        let (solid, bounds) = Solid::new(shape)?;
        let held = Shared { _shape: shape.clone(), solid: solid.clone(), bounds, users: 1 };
        self.shared.insert(source, held);
        Ok((solid, bounds, Some(source)))
    }

    /// Gives back what was acquired.
    pub(super) fn release(&mut self, source: Source) {
        if let Some(held) = self.shared.get_mut(&source) {
            held.users -= 1;
            if held.users == 0 {
                self.shared.remove(&source);
            }
        }
    }
}

impl Source {
    fn of(shape: &Shape) -> Option<Self> {
        match shape {
            Shape::Wedge { half } => Some(Self::Wedge(half.to_array().map(f32::to_bits))),
            Shape::ConvexHull { points } => Some(Self::Points(points.as_ptr().addr())),
            Shape::TriMesh { vertices, indices } => Some(Self::Mesh(vertices.as_ptr().addr(), indices.as_ptr().addr())),
            _ => None,
        }
    }
}

/// Triangles and where to find them.
#[derive(Clone, Debug)]
pub(super) struct Surface {
    triangles: Vec<Triangle>,
    tree: Bvh,
}

/// Heights over a grid, see [`Shape::Heightfield`].
#[derive(Clone, Debug)]
pub(super) struct Heightfield {
    heights: Arc<[f32]>,
    columns: u32,
    rows: u32,
    cell: f32,
}

impl Solid {
    /// Checks a shape and prepares it; also returns its bounds in its own axes.
    pub(super) fn new(shape: &Shape) -> Result<(Self, Bounds), ColliderError> {
        match shape {
            Shape::Box { half } => {
                check_size(half.to_array())?;
                Ok((Self::Cuboid { half: *half }, Bounds::around(Vec3::ZERO, *half)))
            }
            &Shape::Ball { radius } => {
                check_size([radius; 3])?;
                Ok((Self::Ball { radius }, Bounds::around(Vec3::ZERO, Vec3::splat(radius))))
            }
            &Shape::Cylinder { half_height, radius } => {
                let half = Vec3::new(radius, half_height, radius);
                check_size(half.to_array())?;
                Ok((Self::Cylinder { half_height, radius }, Bounds::around(Vec3::ZERO, half)))
            }
            &Shape::Capsule { half_height, radius } => {
                let half = Vec3::new(radius, half_height, radius);
                check_size(half.to_array())?;
                let half_segment = half_height - radius;
                if half_segment < 0.0 {
                    return Err(ColliderError::Empty);
                }
                Ok((Self::Capsule { half_segment, radius }, Bounds::around(Vec3::ZERO, half)))
            }
            Shape::Wedge { half } => {
                check_size(half.to_array())?;
                Ok((Self::Hull(Arc::new(wedge(*half))), Bounds::around(Vec3::ZERO, *half)))
            }
            Shape::ConvexHull { points } => Ok((Self::Hull(Arc::new(convex(points)?)), Bounds::of(points))),
            Shape::TriMesh { vertices, indices } => {
                let surface = Surface::new(vertices, indices)?;
                let bounds = surface.triangles.iter().fold(Bounds::NOTHING, |all, triangle| {
                    let one = Bounds::of(&triangle.corners);
                    Bounds { min: all.min.min(one.min), max: all.max.max(one.max) }
                });
                Ok((Self::Surface(Arc::new(surface)), bounds))
            }
            &Shape::Heightfield { ref heights, columns, rows, cell } => {
                let field = Heightfield { heights: Arc::clone(heights), columns, rows, cell };
                let bounds = field.check()?;
                Ok((Self::Heightfield(field), bounds))
            }
            Shape::Voxels { voxels } => {
                let bounds = voxels.bounds().ok_or(ColliderError::Empty)?;
                Ok((Self::Voxels(Arc::clone(voxels)), bounds))
            }
        }
    }
}

impl Surface {
    fn new(vertices: &[Vec3], indices: &[[u32; 3]]) -> Result<Self, ColliderError> {
        if !vertices.iter().all(|vertex| vertex.is_finite()) {
            return Err(ColliderError::NonFinite);
        }
        let mut triangles = Vec::with_capacity(indices.len());
        for corners in indices {
            let corner = |i: usize| vertices.get(corners[i] as usize).copied().ok_or(ColliderError::Index);
            triangles.extend(Triangle::new([corner(0)?, corner(1)?, corner(2)?]));
        }
        if triangles.is_empty() {
            return Err(ColliderError::Empty);
        }
        let leaves = triangles.iter().map(|triangle| Bounds::of(&triangle.corners).aabb()).enumerate();
        let tree = Bvh::from_iter(BvhBuildStrategy::Binned, leaves);
        Ok(Self { triangles, tree })
    }

    /// Calls `take` with each triangle that may touch `bounds`, in a fixed order; `found` is scratch.
    pub(super) fn gather(&self, bounds: &Bounds, found: &mut Vec<u32>, mut take: impl FnMut(Triangle)) {
        found.clear();
        found.extend(self.tree.intersect_aabb(&bounds.aabb()));
        found.sort_unstable();
        for &index in found.iter() {
            take(self.triangles[index as usize]);
        }
    }
}

impl Heightfield {
    fn check(&self) -> Result<Bounds, ColliderError> {
        let points = u64::from(self.columns) * u64::from(self.rows);
        if self.columns < 2 || self.rows < 2 || points != self.heights.len() as u64 {
            return Err(ColliderError::Empty);
        }
        check_size([self.cell; 3])?;
        if !self.heights.iter().all(|height| height.is_finite()) {
            return Err(ColliderError::NonFinite);
        }
        let low = self.heights.iter().copied().fold(f32::INFINITY, f32::min);
        let high = self.heights.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let (x, z) = self.half();
        Ok(Bounds { min: Vec3::new(-x, low, -z), max: Vec3::new(x, high, z) })
    }

    fn half(&self) -> (f32, f32) {
        ((self.columns - 1) as f32 * self.cell * 0.5, (self.rows - 1) as f32 * self.cell * 0.5)
    }

    fn point(&self, column: u32, row: u32) -> Vec3 {
        let (x, z) = self.half();
        let height = self.heights[(row * self.columns + column) as usize];
        Vec3::new(column as f32 * self.cell - x, height, row as f32 * self.cell - z)
    }

    /// Calls `take` with each triangle of the cells under `bounds`, row by row.
    pub(super) fn gather(&self, bounds: &Bounds, mut take: impl FnMut(Triangle)) {
        let (x, z) = self.half();
        // Float casts saturate, so columns left of the grid count as 0.
        let cell = |at: f32, half: f32| ((at + half) / self.cell) as u32;
        for row in cell(bounds.min.z, z)..=cell(bounds.max.z, z).min(self.rows - 2) {
            for column in cell(bounds.min.x, x)..=cell(bounds.max.x, x).min(self.columns - 2) {
                let (a, b) = (self.point(column, row), self.point(column + 1, row));
                let (c, d) = (self.point(column, row + 1), self.point(column + 1, row + 1));
                for corners in [[a, c, b], [b, c, d]] {
                    if let Some(triangle) = Triangle::new(corners) {
                        take(triangle);
                    }
                }
            }
        }
    }
}

fn check_size(size: [f32; 3]) -> Result<(), ColliderError> {
    if !size.iter().all(|part| part.is_finite()) {
        Err(ColliderError::NonFinite)
    } else if size.iter().all(|part| *part > 0.0) {
        Ok(())
    } else {
        Err(ColliderError::Empty)
    }
}

fn wedge(half: Vec3) -> Hull {
    let corner = |x: f32, y: f32, z: f32| half * Vec3::new(x, y, z);
    let (a, b) = (corner(-1.0, -1.0, -1.0), corner(1.0, -1.0, -1.0));
    let (c, d) = (corner(1.0, -1.0, 1.0), corner(-1.0, -1.0, 1.0));
    let (e, f) = (corner(1.0, 1.0, 1.0), corner(-1.0, 1.0, 1.0));
    let faces = [[a, b, c], [a, c, d], [d, c, e], [d, e, f], [b, a, f], [b, f, e], [b, e, c], [a, d, f]];
    Hull::from_triangles(faces.into_iter())
}

fn convex(points: &[Vec3]) -> Result<Hull, ColliderError> {
    if !points.iter().all(|point| point.is_finite()) {
        return Err(ColliderError::NonFinite);
    }
    if points.len() < 4 {
        return Err(ColliderError::Empty);
    }
    let (vertices, triangles) = try_convex_hull(points).map_err(|_| ColliderError::Empty)?;
    let corners = triangles.iter().map(|indices| indices.map(|index| vertices[index as usize]));
    let hull = Hull::from_triangles(corners);
    if hull.is_solid() { Ok(hull) } else { Err(ColliderError::Empty) }
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-13
    #[test]
    fn colliders_of_one_source_share_its_solid() {
        let mut solids = Solids::default();
        let points: Arc<[Vec3]> = vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z].into();
        let shape = Shape::ConvexHull { points: Arc::clone(&points) };
        let (first, _, source) = solids.acquire(&shape).unwrap();
        let (second, ..) = solids.acquire(&shape.clone()).unwrap();
        let (Solid::Hull(first), Solid::Hull(second)) = (first, second) else { panic!("hulls") };
        assert!(Arc::ptr_eq(&first, &second));
        let copy = Shape::ConvexHull { points: points.to_vec().into() };
        assert_ne!(solids.acquire(&copy).unwrap().2, source);
        for _ in 0..2 {
            assert!(solids.shared.contains_key(&source.unwrap()));
            solids.release(source.unwrap());
        }
        assert!(!solids.shared.contains_key(&source.unwrap()));
        assert_eq!(solids.acquire(&Shape::Ball { radius: 1.0 }).unwrap().2, None);
    }
}
