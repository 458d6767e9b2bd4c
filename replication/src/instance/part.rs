use std::sync::Arc;

use glam::{Quat, Vec3};
use tidelock_sim::collision::{Mover, Shape, Slide, Turn};

/// Where a part is and how it is turned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// Centre, studs.
    pub position: Vec3,
    /// Orientation, unit length.
    pub rotation: Quat,
}

impl Default for Pose {
    fn default() -> Self {
        Self { position: Vec3::ZERO, rotation: Quat::IDENTITY }
    }
}

/// A colour, 8 bits each of red, green and blue (sRGB).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Color(pub [u8; 3]);

impl Default for Color {
    /// A middle grey.
    fn default() -> Self {
        Self([163, 162, 165])
    }
}

/// Geometry of a part; [`PartProperties::size`] gives the lengths of all but meshes.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum PartShape {
    /// A box of the part's size.
    #[default]
    Box,
    /// A ball whose diameter is the smallest of the part's three sizes.
    Ball,
    /// A cylinder about Y, as high as the size's Y; its diameter is the smaller of X and Z.
    Cylinder,
    /// Half a box, rising towards +Z.
    Wedge,
    /// A capsule about Y, as high as the size's Y; its diameter is the smallest of the three.
    Capsule,
    /// The convex hull of points in the part's axes, studs.
    Hull(Arc<[Vec3]>),
    /// Triangles in the part's axes.
    TriMesh {
        /// Corners, studs.
        vertices: Arc<[Vec3]>,
        /// Three indices into `vertices` a triangle.
        triangles: Arc<[[u32; 3]]>,
    },
}

/// Scripted motion of an anchored part about its own pose.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PartMover {
    /// Motion to and fro.
    pub slide: Option<Slide>,
    /// Rotation about an axis of the world.
    pub turn: Option<Turn>,
}

/// What is told of a part reliably; where it is and how it moves is told apart.
#[derive(Clone, Debug, PartialEq)]
pub struct PartProperties {
    /// Name, at most [`MAX_NAME_BYTES`] bytes.
    pub name: Arc<str>,
    /// Geometry.
    pub shape: PartShape,
    /// Lengths along the part's axes, studs, each positive; of a mesh its extents.
    pub size: Vec3,
    /// Colour.
    pub color: Color,
    /// 0 opaque to 1 invisible.
    pub transparency: f32,
    /// Whether it stays where it is put; otherwise physics moves it.
    pub anchored: bool,
    /// Whether characters and parts collide with it.
    pub can_collide: bool,
    /// Whether it is a volume of water instead of a solid: characters inside swim. Anchored parts without mover and with an
    /// inside only; `can_collide` then means nothing.
    pub water: bool,
    /// Scripted motion; anchored parts only.
    pub mover: Option<PartMover>,
    /// Words games find it by, ascending, at most [`MAX_TAGS`].
    pub tags: Arc<[Arc<str>]>,
}

/// The most bytes of a name or tag.
pub const MAX_NAME_BYTES: usize = 64;
/// The most tags of an instance.
pub const MAX_TAGS: usize = 32;
/// The most points of a mesh.
pub const MAX_MESH_POINTS: usize = 4_096;
/// The most triangles of a mesh.
pub const MAX_MESH_TRIANGLES: usize = 8_192;

impl Default for PartProperties {
    fn default() -> Self {
        Self {
            name: Arc::from("Part"),
            shape: PartShape::Box,
            size: Vec3::new(4.0, 1.0, 2.0),
            color: Color::default(),
            transparency: 0.0,
            anchored: true,
            can_collide: true,
            water: false,
            mover: None,
            tags: Arc::new([]),
        }
    }
}

impl PartProperties {
    /// The collider of this part.
    #[must_use]
    pub fn collider_shape(&self) -> Shape {
        let half = self.size * 0.5;
        match &self.shape {
            PartShape::Box => Shape::Box { half },
            PartShape::Wedge => Shape::Wedge { half },
            PartShape::Ball => Shape::Ball { radius: half.min_element() },
            PartShape::Cylinder => Shape::Cylinder { half_height: half.y, radius: half.x.min(half.z) },
            PartShape::Capsule => Shape::Capsule { half_height: half.y, radius: half.min_element() },
            PartShape::Hull(points) => Shape::ConvexHull { points: points.clone() },
            PartShape::TriMesh { vertices, triangles } => {
                Shape::TriMesh { vertices: vertices.clone(), indices: triangles.clone() }
            }
        }
    }

    /// The mover of this part when its base pose is `pose`; `None` when it has none.
    #[must_use]
    pub fn mover_at(&self, pose: Pose) -> Option<Mover> {
        let PartMover { slide, turn } = self.mover?;
        Some(Mover { position: pose.position, rotation: pose.rotation, slide, turn })
    }

    /// Bytes the properties point to: name, tags and mesh.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        let tags: usize = self.tags.iter().map(|tag| size_of_val(tag) + tag.len()).sum();
        let shape = match &self.shape {
            PartShape::Hull(points) => size_of_val(&points[..]),
            PartShape::TriMesh { vertices, triangles } => size_of_val(&vertices[..]) + size_of_val(&triangles[..]),
            _ => 0,
        };
        self.name.len() + tags + shape
    }

    /// The properties in which `self` and `other` differ; position, rotation and velocities are none of them.
    #[must_use]
    pub fn difference(&self, other: &Self) -> PartMask {
        let pairs = [
            (PartProperty::Name, self.name != other.name),
            (PartProperty::Shape, self.shape != other.shape),
            (PartProperty::Size, self.size != other.size),
            (PartProperty::Color, self.color != other.color),
            (PartProperty::Transparency, self.transparency != other.transparency),
            (PartProperty::Anchored, self.anchored != other.anchored),
            (PartProperty::CanCollide, self.can_collide != other.can_collide),
            (PartProperty::Mover, self.mover != other.mover),
            (PartProperty::Tags, self.tags != other.tags),
            (PartProperty::Water, self.water != other.water),
        ];
        pairs.iter().filter(|pair| pair.1).fold(PartMask::NONE, |mask, pair| mask.with(pair.0))
    }
}

/// One reliable property of a part; its number is its bit in a [`PartMask`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum PartProperty {
    /// [`PartProperties::name`].
    Name = 0,
    /// [`PartProperties::shape`].
    Shape = 1,
    /// [`PartProperties::size`].
    Size = 2,
    /// [`PartProperties::color`].
    Color = 3,
    /// [`PartProperties::transparency`].
    Transparency = 4,
    /// [`PartProperties::anchored`].
    Anchored = 5,
    /// [`PartProperties::can_collide`].
    CanCollide = 6,
    /// [`PartProperties::mover`].
    Mover = 7,
    /// [`PartProperties::tags`].
    Tags = 8,
    /// The pose: at creation, and the final one of an anchored part that a script has moved.
    Pose = 9,
    /// [`PartProperties::water`].
    Water = 10,
}

impl PartProperty {
    /// All properties by their bits.
    pub const ALL: [Self; 11] = [
        Self::Name,
        Self::Shape,
        Self::Size,
        Self::Color,
        Self::Transparency,
        Self::Anchored,
        Self::CanCollide,
        Self::Mover,
        Self::Tags,
        Self::Pose,
        Self::Water,
    ];
}

/// A set of part properties.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PartMask(pub u16);

impl PartMask {
    /// No property.
    pub const NONE: Self = Self(0);
    /// Every property, the pose included.
    pub const ALL: Self = Self((1 << PartProperty::ALL.len()) - 1);

    /// Whether the property is in the set.
    #[must_use]
    pub fn contains(self, property: PartProperty) -> bool {
        self.0 >> property as u8 & 1 != 0
    }

    /// The set with the property added.
    #[must_use]
    pub fn with(self, property: PartProperty) -> Self {
        Self(self.0 | 1 << property as u8)
    }

    /// The properties of either set.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether no property is in the set.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The properties in the set, by their bits.
    pub fn iter(self) -> impl Iterator<Item = PartProperty> {
        PartProperty::ALL.into_iter().filter(move |&property| self.contains(property))
    }
}

/// New values of some properties of a part.
#[derive(Clone, Debug, PartialEq)]
pub struct PartPatch {
    /// Which properties are meant.
    pub mask: PartMask,
    /// Their values; those not in the mask mean nothing.
    pub properties: PartProperties,
    /// The pose, if in the mask.
    pub pose: Pose,
}

impl PartPatch {
    /// Puts the values into a part's and returns the properties that thereby changed, each worth one notice.
    pub fn apply(&self, properties: &mut PartProperties, pose: &mut Pose) -> PartMask {
        let before = properties.clone();
        let new = &self.properties;
        for property in self.mask.iter() {
            match property {
                PartProperty::Name => properties.name = new.name.clone(),
                PartProperty::Shape => properties.shape = new.shape.clone(),
                PartProperty::Size => properties.size = new.size,
                PartProperty::Color => properties.color = new.color,
                PartProperty::Transparency => properties.transparency = new.transparency,
                PartProperty::Anchored => properties.anchored = new.anchored,
                PartProperty::CanCollide => properties.can_collide = new.can_collide,
                PartProperty::Mover => properties.mover = new.mover,
                PartProperty::Tags => properties.tags = new.tags.clone(),
                PartProperty::Pose => {}
                PartProperty::Water => properties.water = new.water,
            }
        }
        let mut changed = properties.difference(&before);
        if self.mask.contains(PartProperty::Pose) && *pose != self.pose {
            *pose = self.pose;
            changed = changed.with(PartProperty::Pose);
        }
        changed
    }

    /// Lays a later patch over this one.
    pub fn merge(&mut self, later: &Self) {
        later.apply(&mut self.properties, &mut self.pose);
        self.mask = self.mask.union(later.mask);
    }
}
