//! Reference vectors of rotation-codec, interest and collection-delta, replayed through the public interface.

use glam::{Quat, Vec3};
use serde_json::Value;
use tidelock_replication::collection::{ListDelta, MapDelta, list_delta, map_delta};
use tidelock_replication::ids::PlayerId;
use tidelock_replication::instance::Audience;
use tidelock_replication::interest::{InterestSettings, Origin, Subject, Viewer, first_sight};
use tidelock_replication::motion::PackedRotation;

fn cases(text: &str) -> Vec<Value> {
    let file: Value = serde_json::from_str(text).expect("a vector file");
    file["cases"].as_array().expect("a vector file").clone()
}

fn number(value: &Value) -> f32 {
    match value.as_str() {
        Some("nan") => f32::NAN,
        Some("inf") => f32::INFINITY,
        Some("-inf") => f32::NEG_INFINITY,
        _ => value.as_f64().expect("a vector file") as f32,
    }
}

fn numbers(value: &Value) -> Vec<f32> {
    value.as_array().expect("a vector file").iter().map(number).collect()
}

fn vector(value: &Value) -> Vec3 {
    Vec3::from_slice(&numbers(value))
}

//
#[test]
fn rotations_encode_and_decode_as_the_reference_does() {
    let cases = cases(include_str!("../../tests/vectors/rotation-codec.json"));
    assert!(!cases.is_empty());
    for (number, case) in cases.iter().enumerate() {
        let rotation = Quat::from_slice(&numbers(&case["rotation"]));
        let packed = PackedRotation::pack(rotation);
        let wanted: Vec<i64> = case["encoded"].as_array().unwrap().iter().map(|word| word.as_i64().unwrap()).collect();
        let got = [packed.axis[0].into(), packed.axis[1].into(), packed.axis[2].into(), i64::from(packed.angle)];
        for (got, wanted) in got.iter().zip(&wanted) {
            assert!((got - wanted).abs() <= 1, "case {number}: {got} for {wanted}");
        }
        let axis = [wanted[0] as i16, wanted[1] as i16, wanted[2] as i16];
        let decoded = PackedRotation { axis, angle: wanted[3] as u16 }.unpack();
        let wanted = Quat::from_slice(&numbers(&case["decoded"]));
        let near = |a: Quat, b: Quat| (a - b).to_array().iter().all(|difference| difference.abs() <= 1e-4);
        assert!(near(decoded, wanted) || near(decoded, -wanted), "case {number}: {decoded} for {wanted}");
    }
}

//
#[test]
fn first_sight_is_the_references() {
    let cases = cases(include_str!("../../tests/vectors/interest.json"));
    assert!(!cases.is_empty());
    for (number_of_case, case) in cases.iter().enumerate() {
        let player = &case["player"];
        let groups: Vec<u32> =
            player["groups"].as_array().unwrap().iter().map(|group| group.as_u64().unwrap() as u32).collect();
        let origins: Vec<Origin> = player["origins"]
            .as_array()
            .unwrap()
            .iter()
            .map(|origin| Origin { position: vector(&origin["pos"]), radius: Some(number(&origin["radius"])) })
            .collect();
        let player = PlayerId(player["id"].as_u64().unwrap());
        let viewer = Viewer { player, groups: &groups, origins: &origins, character: None };
        let parts = case["parts"].as_array().unwrap();
        for (part, expect) in parts.iter().zip(case["expect"].as_array().unwrap()) {
            let audience = &part["audience"];
            let subject = Subject {
                position: vector(&part["pos"]),
                audience: match audience["kind"].as_str().unwrap() {
                    "owner" => Audience::Owner(PlayerId(audience["player"].as_u64().unwrap())),
                    "group" => Audience::Group(audience["group"].as_u64().unwrap() as u32),
                    _ => Audience::Shared,
                },
                always_relevant: part["always"].as_bool().unwrap(),
                character_of: part["character_of"].as_u64().map(PlayerId),
            };
            let seen = first_sight(&InterestSettings::default(), &viewer, &subject);
            assert_eq!(seen, expect.as_bool().unwrap(), "case {number_of_case}: {subject:?}");
        }
    }
}

fn list(value: &Value) -> Vec<i64> {
    value.as_array().expect("a vector file").iter().map(|value| value.as_i64().expect("a vector file")).collect()
}

fn map(value: &Value) -> Vec<(String, i64)> {
    let pair =
        |pair: &Value| (pair[0].as_str().expect("a vector file").to_owned(), pair[1].as_i64().expect("a vector file"));
    value.as_array().expect("a vector file").iter().map(pair).collect()
}

fn wanted_list(expect: &Value) -> ListDelta<i64> {
    match expect["kind"].as_str().expect("a vector file") {
        "none" => ListDelta::None,
        "whole" => ListDelta::Whole(list(&expect["value"])),
        _ => {
            let replace = expect["replace"].as_array().expect("a vector file");
            ListDelta::Edits {
                replace: replace
                    .iter()
                    .map(|pair| {
                        (pair[0].as_u64().expect("a vector file") as usize, pair[1].as_i64().expect("a vector file"))
                    })
                    .collect(),
                truncate: expect["truncate"].as_u64().map(|len| len as usize),
            }
        }
    }
}

fn wanted_map(expect: &Value) -> MapDelta<String, i64> {
    match expect["kind"].as_str().expect("a vector file") {
        "none" => MapDelta::None,
        "whole" => MapDelta::Whole(map(&expect["value"])),
        _ => MapDelta::Edits {
            remove: expect["remove"]
                .as_array()
                .expect("a vector file")
                .iter()
                .map(|key| key.as_str().expect("a vector file").to_owned())
                .collect(),
            replace: map(&expect["replace"]),
        },
    }
}

//
#[test]
fn collections_change_as_the_reference_says() {
    let cases = cases(include_str!("../../tests/vectors/collection-delta.json"));
    assert!(!cases.is_empty());
    for (number, case) in cases.iter().enumerate() {
        let (before, after, expect) = (&case["before"], &case["after"], &case["expect"]);
        if case["type"] == "list" {
            assert_eq!(list_delta(&list(before), &list(after)), wanted_list(expect), "case {number}");
        } else {
            assert_eq!(map_delta(&map(before), &map(after)), wanted_map(expect), "case {number}");
        }
    }
}
