use glam::Vec3;

use super::triangle::{Triangle, triangle};
use super::{Axis, Separation, TOUCHING, earliest};

/// A convex polyhedron: its planes, and its faces cut into triangles.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::collision) struct Hull {
    planes: Vec<Plane>,
    triangles: Vec<Triangle>,
}

/// A face's plane and its triangles' range.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Plane {
    normal: Vec3,
    offset: f32,
    first: u32,
    end: u32,
}

impl Hull {
    /// The hull bounded by triangles, counter-clockwise seen from outside. Those in one plane make one face; those
    /// without area are left out.
    pub(in crate::collision) fn from_triangles(triangles: impl Iterator<Item = [Vec3; 3]>) -> Self {
        let mut faces: Vec<(Vec3, f32, Vec<Triangle>)> = Vec::new();
        for triangle in triangles.filter_map(Triangle::new) {
            let offset = triangle.normal.dot(triangle.corners[0]);
            let same = faces.iter_mut().find(|(normal, at, _)| {
                normal.dot(triangle.normal) > 1.0 - 1e-6 && (*at - offset).abs() <= 1e-4 * (1.0 + offset.abs())
            });
            match same {
                Some((_, _, held)) => held.push(triangle),
                None => faces.push((triangle.normal, offset, vec![triangle])),
            }
        }
        let mut hull = Self::default();
        for (normal, offset, held) in faces {
            let first = hull.triangles.len() as u32;
            hull.triangles.extend(held);
            hull.planes.push(Plane { normal, offset, first, end: hull.triangles.len() as u32 });
        }
        hull
    }

    /// Whether there are enough faces to enclose anything.
    pub(in crate::collision) fn is_solid(&self) -> bool {
        self.planes.len() >= 4
    }

    /// The earliest share of a movement by `delta` at which an axis can be within `reach` of the hull, going by each
    /// face alone; infinite if never.
    pub(in crate::collision) fn earliest(&self, axis: &Axis, delta: Vec3, reach: f32) -> f32 {
        self.planes.iter().fold(0.0, |latest: f32, plane| {
            let start = plane.normal.dot(axis.center) - plane.normal.dot(axis.half).abs() - plane.offset;
            latest.max(earliest(start - reach, -plane.normal.dot(delta)))
        })
    }

    /// Separation of an axis from the solid hull, or `None` when it is certainly more than `limit`.
    pub(in crate::collision) fn separation(&self, axis: &Axis, limit: f32) -> Option<Separation> {
        let (mut apart, mut normal) = (f32::NEG_INFINITY, Vec3::Y);
        for plane in &self.planes {
            let distance = plane.normal.dot(axis.center) - plane.normal.dot(axis.half).abs() - plane.offset;
            if distance > apart {
                (apart, normal) = (distance, plane.normal);
            }
        }
        if apart > limit {
            return None;
        }
        let deep = Separation { distance: apart, normal, on_axis: axis.end_against(normal) };
        let mut best: Option<Separation> = None;
        for plane in &self.planes {
            let highest = plane.normal.dot(axis.center) + plane.normal.dot(axis.half).abs() - plane.offset;
            if highest <= 0.0 {
                continue;
            }
            for face in &self.triangles[plane.first as usize..plane.end as usize] {
                let limit = best.map_or(f32::INFINITY, |best| best.distance);
                let Some(found) = triangle(axis, face, limit) else { continue };
                if found.distance <= TOUCHING {
                    return Some(deep);
                }
                if best.is_none_or(|best| found.distance < best.distance) {
                    best = Some(found);
                }
            }
        }
        // Wholly behind every face: inside.
        Some(best.unwrap_or(deep))
    }

    /// Normal of the face through the point `point` of the surface that looks most along `up`.
    pub(in crate::collision) fn face(&self, point: Vec3, normal: Vec3, up: Vec3) -> Vec3 {
        let mut best = None;
        for plane in &self.planes {
            let touches = (plane.normal.dot(point) - plane.offset).abs() <= 1e-3 && plane.normal.dot(normal) > TOUCHING;
            if touches && best.is_none_or(|best: Vec3| plane.normal.dot(up) > best.dot(up)) {
                best = Some(plane.normal);
            }
        }
        best.unwrap_or(normal)
    }
}
