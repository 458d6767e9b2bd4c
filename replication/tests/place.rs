//! Places: authoring errors name line and key, archives are refused rather than trusted, and what is hidden stays hidden.

use glam::{Quat, Vec3};
use proptest::prelude::*;
use tidelock_replication::ids::{InstanceId, PlayerId};
use tidelock_replication::instance::{Audience, Color, PartShape};
use tidelock_replication::place::{MAX_PARTS, Place, PlaceError};
use tidelock_sim::SimSpan;

const WHOLE: &str = r##"
name = "Whole"

[movement]
walk_speed = 20
slope_limit = 45

[streaming]
target_radius = 100

[[spawn]]
position = [1, 2, 3]
yaw = 90

[[part]]
name = "Door"
size = [1, 2, 3]
position = [4, 5, 6]
rotation = [0, 90, 0]
color = "#0a141e"
transparency = 0.5
can_collide = false
tags = ["b", "a", "a"]
server_tags = ["worth 5 coins"]
mover.slide = { offset = [0, 4, 0], period = 2.0, phase = 0.5 }
mover.turn = { axis = [0, 2, 0], period = 4 }

[[part]]
name = "Trapdoor nobody may know"
size = [1, 1, 1]
position = [0, 0, 0]
server_only = true

[[part]]
name = "Key of player 9"
shape = "ball"
size = [1, 1, 1]
position = [0, 0, 0]
audience = { owner = 9 }

[[part]]
name = "Sign of group 4"
size = [1, 1, 1]
position = [0, 0, 0]
audience = { group = 4 }

[[part]]
name = "Tent"
shape = "trimesh"
position = [0, 0, 0]
points = [[0, 0, 0], [4, 0, 0], [0, 0, 2]]
triangles = [[0, 1, 2]]
"##;

// R-2, T-30
#[test]
fn everything_authored_is_found_again() {
    let place = Place::compile(WHOLE).unwrap();
    assert_eq!(place.name(), "Whole");
    assert_eq!(place.motor_settings().walk_speed, 20.0);
    assert_eq!(place.motor_settings().slope_limit, 45f32.to_radians());
    assert_eq!(place.interest().default_radius(), 100.0);
    let spawn = place.spawns().next().unwrap();
    assert_eq!((spawn.position, spawn.yaw), (Vec3::new(1.0, 2.0, 3.0), 90f32.to_radians()));
    let door = place.part(InstanceId(1)).unwrap();
    let properties = &door.properties;
    assert_eq!((&*properties.name, properties.size), ("Door", Vec3::new(1.0, 2.0, 3.0)));
    assert_eq!((properties.color, properties.transparency), (Color([10, 20, 30]), 0.5));
    assert!(properties.anchored && !properties.can_collide);
    assert_eq!(properties.tags.iter().map(|tag| &**tag).collect::<Vec<_>>(), ["a", "b"]);
    assert!((door.pose.rotation * Vec3::X).abs_diff_eq(-Vec3::Z, 1e-6));
    let mover = properties.mover.unwrap();
    assert_eq!(mover.slide.unwrap().phase, SimSpan::from_seconds(0.5));
    assert_eq!(mover.turn.unwrap().axis, Vec3::Y);
    assert_eq!(place.server_tags(InstanceId(1)).collect::<Vec<_>>(), ["worth 5 coins"]);
    let tent = place.part(InstanceId(5)).unwrap();
    assert!(matches!(tent.properties.shape, PartShape::TriMesh { .. }));
    assert_eq!(tent.properties.size, Vec3::new(4.0, 1e-3, 2.0));
    assert_eq!((place.authored(), place.parts().len()), (5, 2));
    let hidden: Vec<_> = place.hidden_parts().map(|hidden| (hidden.part.id.0, hidden.audience)).collect();
    let owner = Some(Audience::Owner(PlayerId(9)));
    assert_eq!(hidden, [(2, None), (3, owner), (4, Some(Audience::Group(4)))]);
}

// R-2, R-40: no byte of what not everyone may know is in what clients are sent.
#[test]
fn the_client_part_holds_nothing_hidden() {
    let place = Place::compile(WHOLE).unwrap();
    let holds = |bytes: &[u8], text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    for hidden in ["Trapdoor", "Key of player", "Sign of group", "worth 5 coins"] {
        assert!(holds(place.bytes(), hidden), "{hidden}");
        assert!(!holds(place.client_bytes(), hidden), "{hidden}");
    }
    assert!(holds(place.client_bytes(), "Door"));
    let client = Place::from_bytes(place.client_bytes().to_vec()).unwrap();
    assert_eq!((client.hidden_parts().count(), client.spawns().count()), (0, 0));
    assert_eq!(client.server_tags(InstanceId(1)).count(), 0);
    let other = Place::compile(&WHOLE.replace("worth 5 coins", "worth 6 coins")).unwrap();
    assert_eq!(other.hash(), place.hash(), "the hash is of the client part");
    let other = Place::compile(&WHOLE.replace("Door", "Gate")).unwrap();
    assert_ne!(other.hash(), place.hash());
}

fn syntax(text: &str) -> (usize, String) {
    match Place::compile(text) {
        Err(PlaceError::Syntax { line, message, .. }) => (line, message),
        other => panic!("{other:?}"),
    }
}

fn value(part: &str) -> (usize, &'static str) {
    match Place::compile(&format!("name = \"A\"\n\n{part}\n")) {
        Err(PlaceError::Value { line, key, .. }) => (line, key),
        other => panic!("{other:?} for {part}"),
    }
}

// T-30, T-44: malformed TOML names line and key.
#[test]
fn authoring_errors_name_line_and_key() {
    let (line, message) =
        syntax("name = \"A\"\n[[part]]\nsize = [1, 1, 1]\nposition = [0, 0, 0]\ncolour = \"#ffffff\"\n");
    assert!(line == 5 && message.contains("colour"), "{line}: {message}");
    let (line, message) = syntax("name = \"A\"\n[[part]]\nsize = [1, 1]\nposition = [0, 0, 0]\n");
    assert!(line == 3 && message.contains("size"), "{line}: {message}");
    let (line, message) = syntax("name = \"A\"\n\n[[part]]\nsize = [1, 1, 1]\n");
    assert!(line == 3 && message.contains("position"), "{line}: {message}");
    let (line, message) = syntax("name = \"A\"\n[[part]]\nshape = \"cone\"\nposition = [0, 0, 0]\n");
    assert!(line == 3 && message.contains("shape"), "{line}: {message}");
    let (line, _) = syntax("name = \"A\"\n[[part\n");
    assert_eq!(line, 2);
    let (_, message) = syntax("");
    assert!(message.contains("name"), "{message}");
    let text = Place::compile("name = \"A\"\nnaem = 1").unwrap_err().to_string();
    assert!(text.starts_with("line 2, column 1: ") && text.contains("naem"), "{text}");
}

#[test]
fn impossible_values_name_line_and_key() {
    let part = |rest: &str| value(&format!("[[part]]\nposition = [0, 0, 0]\n{rest}"));
    assert_eq!(part("size = [1, -1, 1]"), (3, "size"));
    assert_eq!(part("size = [1, nan, 1]"), (3, "size"));
    assert_eq!(part(""), (3, "size"));
    assert_eq!(part("size = [1, 1, 1]\ncolor = \"red\""), (3, "color"));
    assert_eq!(part("size = [1, 1, 1]\ncolor = \"#+1+1+1\""), (3, "color"));
    assert_eq!(part("size = [1, 1, 1]\ntransparency = 1.5"), (3, "transparency"));
    assert_eq!(part("size = [1, 1, 1]\nanchored = false\nmover.turn = { period = 1 }"), (3, "mover"));
    assert_eq!(part("size = [1, 1, 1]\nmover.turn = { period = 0 }"), (3, "mover"));
    assert_eq!(part("size = [1, 1, 1]\nmover.turn = { period = 1, axis = [0, 0, 0] }"), (3, "mover"));
    assert_eq!(part("size = [1, 1, 1]\nmover = {}"), (3, "mover"));
    assert_eq!(part("size = [1, 1, 1]\nrotation = [inf, 0, 0]"), (3, "rotation"));
    assert_eq!(part("size = [1, 1, 1]\nrepeat = { count = 0 }"), (3, "count"));
    assert_eq!(part("size = [1, 1, 1]\nrepeat = { count = 3, step = [9e3, 0, 0] }"), (3, "position"));
    assert_eq!(part("size = [1, 1, 1]\npoints = [[0, 0, 0]]"), (3, "points"));
    assert_eq!(part("shape = \"hull\"\npoints = [[0, 0, 0]]"), (3, "points"));
    assert_eq!(part("shape = \"trimesh\"\npoints = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]"), (3, "triangles"));
    let bad_corner = "shape = \"trimesh\"\npoints = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]\ntriangles = [[0, 1, 3]]";
    assert_eq!(part(bad_corner), (3, "triangles"));
    assert_eq!(part("size = [1, 1, 1]\nserver_only = true\naudience = \"shared\""), (3, "audience"));
    assert_eq!(value("[movement]\nhalf_height = 0.5"), (3, "half_height"));
    assert_eq!(value("[movement]\nup = [0, 0, 0]"), (3, "up"));
    assert_eq!(value("[streaming]\nmin_radius = -1"), (3, "min_radius"));
    assert_eq!(value("[[spawn]]\nposition = [0, nan, 0]"), (3, "position"));
    let many = "name = \"A\"\n[[part]]\nsize = [1, 1, 1]\nposition = [0, 0, 0]\nrepeat = { count = 4000000000, repeat = { count = 4000000000 } }";
    assert_eq!(Place::compile(many).unwrap_err(), PlaceError::TooManyParts { line: 2, limit: MAX_PARTS });
}

// T-30
#[test]
fn repeats_make_rows_rings_and_grids() {
    let poses = |repeat: &str| {
        let text = format!("name = \"A\"\n[[part]]\nsize = [1, 1, 1]\nposition = [10, 0, 0]\nrepeat = {repeat}");
        Place::compile(&text).unwrap().parts().map(|part| part.pose).collect::<Vec<_>>()
    };
    let stairs = poses("{ count = 3, step = [0, 1, 2] }");
    let wanted = [Vec3::new(10.0, 0.0, 0.0), Vec3::new(10.0, 1.0, 2.0), Vec3::new(10.0, 2.0, 4.0)];
    assert!(stairs.iter().map(|pose| pose.position).eq(wanted));
    let ring = poses("{ count = 4, turn = 90, around = [0, 0, 0] }");
    assert!(ring[1].position.abs_diff_eq(Vec3::new(0.0, 0.0, -10.0), 1e-4));
    assert!(ring[3].position.abs_diff_eq(Vec3::new(0.0, 0.0, 10.0), 1e-4));
    assert!((ring[2].rotation * Vec3::X).abs_diff_eq(-Vec3::X, 1e-5));
    let turned = poses("{ count = 2, turn = 180 }");
    assert!(turned[1].position == turned[0].position && turned[1].rotation != Quat::IDENTITY);
    let grid = poses("{ count = 2, step = [5, 0, 0], repeat = { count = 3, step = [0, 0, 5] } }");
    assert_eq!(grid.len(), 6);
    assert_eq!((grid[1].position.z, grid[3].position.x), (5.0, 15.0));
}

#[test]
fn archives_that_are_none_are_refused() {
    let place = Place::compile(WHOLE).unwrap();
    let bytes = place.bytes().to_vec();
    assert!(Place::from_bytes(Vec::new()).is_err());
    assert!(Place::from_bytes(vec![0; 1_000]).is_err());
    for len in 0..bytes.len() {
        // Cut right behind the client part it is a client's place; anywhere else it is nothing.
        assert_eq!(Place::from_bytes(bytes[..len].to_vec()).is_ok(), len == place.client_bytes().len(), "{len}");
    }
    let mut longer = bytes.clone();
    longer.push(0);
    assert!(Place::from_bytes(longer).is_err());
    let mut version = bytes;
    version[7] = b'9';
    assert!(Place::from_bytes(version).is_err());
}

proptest! {
    #[test]
    fn damaged_archives_are_refused_or_sound(at in any::<prop::sample::Index>(), flip in 1u8.., again in any::<prop::sample::Index>()) {
        let mut bytes = Place::compile(WHOLE).unwrap().bytes().to_vec();
        let len = bytes.len();
        bytes[at.index(len)] ^= flip;
        bytes[again.index(len)] ^= flip;
        if let Ok(place) = Place::from_bytes(bytes) {
            for part in place.parts().chain(place.hidden_parts().map(|hidden| hidden.part)) {
                prop_assert!(part.id.0 >= 1 && part.properties.size.min_element() > 0.0 && part.pose.position.is_finite());
                prop_assert!(part.properties.tags.len() <= 32);
            }
            prop_assert!(place.spawns().all(|spawn| spawn.position.is_finite()));
        }
    }

    #[test]
    fn any_text_is_a_place_or_an_error(text in "[a-z0-9=\\[\\]{}\" .,\n]{0,200}") {
        let _ = Place::compile(&text);
        let _ = Place::compile(&format!("name = \"A\"\n[[part]]\n{text}"));
    }
}

// S-12
#[test]
fn water_needs_an_inside_and_stays_where_it_is() {
    let place = |extra: &str| {
        Place::compile(&format!(
            "name = \"w\"\n[[spawn]]\nposition = [0, 3, 0]\n[[part]]\nsize = [4, 4, 4]\nposition = [0, 0, 0]\nwater = true\n{extra}"
        ))
    };
    let water = place("").expect("a sound place").parts().next().expect("one part");
    assert!(water.properties.water);
    for refused in ["anchored = false", "mover.turn = { period = 4.0 }"] {
        let error = place(refused).expect_err("it cannot be").to_string();
        assert!(error.contains("water") && error.contains("line 4"), "{error}");
    }
}
