use tidelock_replication::instance::{PartMover, PartShape};
use tidelock_replication::place::{Place, PlacePart};

use crate::document::{Document, number};

/// Reads a place's client part by the offsets PROTOCOL.md gives, knowing nothing else.
struct Archive<'a>(&'a [u8]);

impl Archive<'_> {
    fn u32(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.0[at..at + 4].try_into().unwrap())
    }

    fn f32s<const N: usize>(&self, at: usize) -> [f32; N] {
        std::array::from_fn(|index| f32::from_bits(self.u32(at + 4 * index)))
    }

    /// Where a list's elements begin, and how many there are.
    fn list(&self, at: usize) -> (usize, usize) {
        (at.wrapping_add_signed(self.u32(at) as i32 as isize), self.u32(at + 4) as usize)
    }

    fn text(&self, at: usize) -> String {
        let (start, len) = if self.0[at] & 0xc0 == 0x80 {
            let word = self.u32(at) as usize;
            (at.wrapping_add_signed(self.u32(at + 4) as i32 as isize), word & 0x3f | (word >> 8) << 6)
        } else {
            (at, self.0[at..at + 8].iter().position(|byte| *byte == 0xff).unwrap_or(8))
        };
        String::from_utf8(self.0[start..start + len].to_vec()).unwrap()
    }

    fn motion(&self, at: usize) -> Option<([f32; 3], u32, u32)> {
        (self.0[at] == 1).then(|| (self.f32s(at + 1), self.u32(at + 13), self.u32(at + 17)))
    }
}

/// Offsets and sizes of a structure's fields by the table under `heading`, and its size.
fn layout(document: &Document, heading: &str) -> (impl Fn(&str) -> usize, usize) {
    let rows: Vec<(usize, usize, String)> = document
        .table(heading)
        .into_iter()
        .map(|row| (number(&row[0]) as usize, number(&row[1]) as usize, row[2].clone()))
        .collect();
    assert!(rows.windows(2).all(|pair| pair[0].0 + pair[0].1 == pair[1].0), "a gap under `{heading}`");
    let size = rows.last().map_or(0, |row| row.0 + row.1);
    let find = move |name: &str| rows.iter().find(|row| row.2 == name).unwrap_or_else(|| panic!("no field `{name}`")).0;
    (find, size)
}

const EXTRA: &str = r#"
name = "a place with a long name"

[[spawn]]
position = [0, 3, 0]

[[part]]
name = "hull"
shape = "hull"
points = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
tags = ["a", "a tag that is longer"]
position = [0, 0, 0]

[[part]]
name = "a part with a name that is longer"
shape = "trimesh"
points = [[0, 0, 0], [1, 0, 0], [0, 0, 1]]
triangles = [[0, 2, 1]]
position = [0, 0, 0]
"#;

// R-2
#[test]
fn place_files_have_the_layout_of_the_tables() {
    let document = Document::read();
    let demo = include_str!("../../bins/places/demo.toml");
    for text in [demo, EXTRA] {
        let place = Place::compile(text).unwrap();
        let bytes = place.client_bytes();
        assert_eq!(bytes[..8], *b"TIDEPLC1");
        assert_eq!(u32::from_le_bytes(bytes[8..12].try_into().unwrap()) as usize, bytes.len() - 12);
        let archive = Archive(&bytes[12..]);
        let (root, size) = layout(&document, "The client part of a place");
        let root = |name: &str| bytes.len() - 12 - size + root(name);
        assert_eq!(archive.text(root("name")), place.name());
        let settings = place.motor_settings();
        assert_eq!(archive.f32s(root("radius")), [settings.radius, settings.half_height, settings.step_height]);
        assert_eq!(archive.f32s(root("up")), settings.up.to_array());
        assert_eq!(archive.f32s(root("walk speed")), [settings.walk_speed]);
        assert_eq!(archive.f32s(root("gravity")), [settings.gravity, settings.terminal_speed, settings.jump_speed]);
        assert_eq!(archive.0[root("air jumps")], settings.air_jumps);
        assert_eq!(archive.f32s(root("turn speed")), [settings.turn_speed]);
        assert_eq!(archive.f32s(root("swim speed")), [settings.swim_speed, settings.flight_speed]);
        assert_eq!(archive.0[root("streaming")] == 1, place.interest().streaming);
        assert_eq!(archive.f32s(root("target radius")), [place.interest().target_radius]);
        let (start, count) = archive.list(root("parts"));
        assert_eq!(count, place.parts().len());
        let (field, stride) = layout(&document, "A part of a place");
        for (index, part) in place.parts().enumerate() {
            compare(&archive, |name| start + index * stride + field(name), &part);
        }
    }
}

fn compare(archive: &Archive<'_>, at: impl Fn(&str) -> usize, part: &PlacePart) {
    let properties = &part.properties;
    assert_eq!(u64::from_le_bytes(archive.0[at("id")..at("id") + 8].try_into().unwrap()), part.id.0);
    assert_eq!(archive.text(at("name")), *properties.name);
    assert_eq!(archive.f32s(at("size")), properties.size.to_array());
    assert_eq!(archive.f32s(at("position")), part.pose.position.to_array());
    assert_eq!(archive.f32s(at("rotation")), part.pose.rotation.to_array());
    assert_eq!(archive.0[at("color")..at("color") + 3], properties.color.0);
    assert_eq!(archive.f32s(at("transparency")), [properties.transparency]);
    assert_eq!(archive.0[at("anchored")] == 1, properties.anchored);
    assert_eq!(archive.0[at("can collide")] == 1, properties.can_collide);
    assert_eq!(archive.0[at("water")] == 1, properties.water);
    let PartMover { slide, turn } = properties.mover.unwrap_or_default();
    let slide = slide.map(|slide| (slide.offset.to_array(), slide.period.0, slide.phase.0));
    let turn = turn.map(|turn| (turn.axis.to_array(), turn.period.0, turn.phase.0));
    assert_eq!((archive.motion(at("slide")), archive.motion(at("turn"))), (slide, turn));
    let (start, count) = archive.list(at("tags"));
    let tags: Vec<String> = (0..count).map(|tag| archive.text(start + 8 * tag)).collect();
    assert!(tags.iter().map(String::as_str).eq(properties.tags.iter().map(|tag| &**tag)));
    let shape = at("shape");
    let points = |(start, count): (usize, usize)| -> Vec<[f32; 3]> {
        (0..count).map(|point| archive.f32s(start + 12 * point)).collect()
    };
    let number = match &properties.shape {
        PartShape::Box => 0,
        PartShape::Ball => 1,
        PartShape::Cylinder => 2,
        PartShape::Wedge => 3,
        PartShape::Capsule => 4,
        PartShape::Hull(corners) => {
            assert!(points(archive.list(shape + 1)).iter().eq(corners.iter().map(|corner| corner.as_ref())));
            5
        }
        PartShape::TriMesh { vertices, triangles } => {
            assert!(points(archive.list(shape + 1)).iter().eq(vertices.iter().map(|corner| corner.as_ref())));
            let (start, count) = archive.list(shape + 9);
            let corners = (0..3 * count).map(|corner| archive.u32(start + 4 * corner));
            assert!(corners.eq(triangles.iter().flatten().copied()));
            6
        }
    };
    assert_eq!(archive.0[shape], number);
}
