use glam::Vec3;
use serde::Serialize;
use tidelock::Place;
use tidelock::replication::instance::PartShape;
use tidelock::replication::place::PlacePart;

use super::frames::short;

/// The place as the page draws it: sent once, as JSON.
#[derive(Debug, Serialize)]
pub(crate) struct PlaceMessage {
    #[serde(rename = "type")]
    kind: &'static str,
    name: String,
    parts: Vec<PartMessage>,
}

#[derive(Debug, Serialize)]
struct PartMessage {
    id: u32,
    shape: &'static str,
    size: [f32; 3],
    pos: [f32; 3],
    rot: [f32; 4],
    color: [u8; 3],
    opacity: f32,
    /// Whether frames say where it is.
    moving: bool,
    /// Whether it falls and can be pushed.
    loose: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    points: Vec<[f32; 3]>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    triangles: Vec<[u32; 3]>,
}

impl PlaceMessage {
    pub(crate) fn of(place: &Place) -> Self {
        Self {
            kind: "place",
            name: place.name().to_owned(),
            parts: place.parts().map(|part| PartMessage::of(&part)).collect(),
        }
    }
}

impl PartMessage {
    fn of(PlacePart { id, properties, pose }: &PlacePart) -> Self {
        let (shape, points, triangles): (_, &[Vec3], &[[u32; 3]]) = match &properties.shape {
            PartShape::Box => ("box", &[], &[]),
            PartShape::Ball => ("ball", &[], &[]),
            PartShape::Cylinder => ("cylinder", &[], &[]),
            PartShape::Wedge => ("wedge", &[], &[]),
            PartShape::Capsule => ("capsule", &[], &[]),
            PartShape::Hull(points) => ("hull", points, &[]),
            PartShape::TriMesh { vertices, triangles } => ("mesh", vertices, triangles),
        };
        Self {
            id: short(id.0),
            shape,
            size: properties.size.to_array(),
            pos: pose.position.to_array(),
            rot: pose.rotation.to_array(),
            color: properties.color.0,
            opacity: 1.0 - properties.transparency,
            loose: !properties.anchored,
            moving: properties.mover.is_some() || !properties.anchored,
            points: points.iter().map(Vec3::to_array).collect(),
            triangles: triangles.to_vec(),
        }
    }
}
