use rapier3d::math::{Pose, Vector};
use rapier3d::prelude::SharedShape;

use crate::collision::{ColliderError, Shape};

/// The rapier shape of a collision shape.
pub(super) fn shared_shape(shape: &Shape) -> Result<SharedShape, ColliderError> {
    match shape {
        Shape::Box { half } => {
            check_size(&half.to_array())?;
            Ok(SharedShape::cuboid(half.x, half.y, half.z))
        }
        &Shape::Ball { radius } => {
            check_size(&[radius])?;
            Ok(SharedShape::ball(radius))
        }
        &Shape::Cylinder { half_height, radius } => {
            check_size(&[half_height, radius])?;
            Ok(SharedShape::cylinder(half_height, radius))
        }
        Shape::Wedge { half } => {
            check_size(&half.to_array())?;
            hull(&wedge(*half))
        }
        &Shape::Capsule { half_height, radius } => {
            check_size(&[half_height, radius])?;
            Ok(SharedShape::capsule_y((half_height - radius).max(0.0), radius))
        }
        Shape::ConvexHull { points } => hull(points),
        Shape::TriMesh { vertices, indices } => mesh(vertices.to_vec(), indices.to_vec()),
        Shape::Heightfield { heights, columns, rows, cell } => {
            check_size(&[*cell])?;
            heightfield(heights, *columns, *rows, *cell)
        }
        Shape::Voxels { voxels } => {
            let mut boxes = Vec::new();
            voxels.each_box(|center, half| {
                boxes.push((Pose::from_translation(center), SharedShape::cuboid(half.x, half.y, half.z)));
            });
            if boxes.is_empty() { Err(ColliderError::Empty) } else { Ok(SharedShape::compound(boxes)) }
        }
    }
}

/// Whether a body of this shape has an inside, so that it can be loose.
pub(super) fn is_solid(shape: &Shape) -> bool {
    !matches!(shape, Shape::TriMesh { .. } | Shape::Heightfield { .. } | Shape::Voxels { .. })
}

fn check_size(sizes: &[f32]) -> Result<(), ColliderError> {
    if !sizes.iter().all(|size| size.is_finite()) {
        return Err(ColliderError::NonFinite);
    }
    if sizes.iter().all(|size| *size > 0.0) { Ok(()) } else { Err(ColliderError::Empty) }
}

/// Corners of a wedge: the box without its upper −Z edge.
fn wedge(half: Vector) -> [Vector; 6] {
    let corner = |x: f32, y: f32, z: f32| half * Vector::new(x, y, z);
    [
        corner(-1.0, -1.0, -1.0),
        corner(1.0, -1.0, -1.0),
        corner(-1.0, -1.0, 1.0),
        corner(1.0, -1.0, 1.0),
        corner(-1.0, 1.0, 1.0),
        corner(1.0, 1.0, 1.0),
    ]
}

fn hull(points: &[Vector]) -> Result<SharedShape, ColliderError> {
    if !points.iter().all(|point| point.is_finite()) {
        return Err(ColliderError::NonFinite);
    }
    if points.len() < 4 {
        return Err(ColliderError::Empty);
    }
    SharedShape::convex_hull(points).ok_or(ColliderError::Empty)
}

fn mesh(vertices: Vec<Vector>, indices: Vec<[u32; 3]>) -> Result<SharedShape, ColliderError> {
    if !vertices.iter().all(|vertex| vertex.is_finite()) {
        return Err(ColliderError::NonFinite);
    }
    if indices.iter().flatten().any(|index| *index as usize >= vertices.len()) {
        return Err(ColliderError::Index);
    }
    SharedShape::trimesh(vertices, indices).map_err(|_| ColliderError::Empty)
}

/// A heightfield as triangles, two a cell.
fn heightfield(heights: &[f32], columns: u32, rows: u32, cell: f32) -> Result<SharedShape, ColliderError> {
    if columns < 2 || rows < 2 || u64::from(columns) * u64::from(rows) != heights.len() as u64 {
        return Err(ColliderError::Empty);
    }
    let at = |index: u32, count: u32| (index as f32 - (count - 1) as f32 * 0.5) * cell;
    let grid = (0..rows).flat_map(|row| (0..columns).map(move |column| (column, row)));
    let vertices =
        grid.zip(heights).map(|((column, row), height)| Vector::new(at(column, columns), *height, at(row, rows)));
    let mut indices = Vec::with_capacity(heights.len() * 2);
    for row in 0..rows - 1 {
        for column in 0..columns - 1 {
            let corner = row * columns + column;
            let below = corner + columns;
            indices.push([corner, below, corner + 1]);
            indices.push([corner + 1, below, below + 1]);
        }
    }
    mesh(vertices.collect(), indices)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn shapes_keep_their_size() {
        let half = Vector::new(1.0, 2.0, 3.0);
        let heights: Arc<[f32]> = [0.0, 1.0, 2.0, 0.0, 1.0, 2.0].into();
        for (shape, want) in [
            (Shape::Box { half }, half),
            (Shape::Ball { radius: 2.0 }, Vector::splat(2.0)),
            (Shape::Cylinder { half_height: 3.0, radius: 1.0 }, Vector::new(1.0, 3.0, 1.0)),
            (Shape::Capsule { half_height: 3.0, radius: 1.0 }, Vector::new(1.0, 3.0, 1.0)),
            (Shape::Wedge { half }, half),
            (Shape::ConvexHull { points: wedge(half).into() }, half),
            (Shape::Heightfield { heights, columns: 3, rows: 2, cell: 4.0 }, Vector::new(4.0, 1.0, 2.0)),
        ] {
            let bounds = shared_shape(&shape).unwrap().compute_local_aabb();
            assert!((bounds.half_extents() - want).length() < 1e-4, "{shape:?}: {bounds:?}");
        }
    }

    #[test]
    fn impossible_shapes_are_refused() {
        for (shape, want) in [
            (Shape::Ball { radius: 0.0 }, ColliderError::Empty),
            (Shape::Ball { radius: f32::NAN }, ColliderError::NonFinite),
            (Shape::Box { half: Vector::new(1.0, -1.0, 1.0) }, ColliderError::Empty),
            (Shape::ConvexHull { points: [Vector::ZERO; 3].into() }, ColliderError::Empty),
            (Shape::TriMesh { vertices: [Vector::ZERO].into(), indices: [[0, 0, 1]].into() }, ColliderError::Index),
            (Shape::Heightfield { heights: [0.0; 3].into(), columns: 2, rows: 2, cell: 1.0 }, ColliderError::Empty),
        ] {
            assert_eq!(shared_shape(&shape).err(), Some(want), "{shape:?}");
        }
    }
}
