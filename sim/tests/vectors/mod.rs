//! Reading the reference vectors and comparing with their tolerance.
#![allow(dead_code, reason = "each test uses its share")]

use glam::{Quat, Vec3};
use serde_json::Value;

/// A file of cases.
pub(crate) struct File {
    root: Value,
    abs: f64,
    rel: f64,
}

impl File {
    pub(crate) fn read(kind: &str) -> Self {
        let path = format!("{}/../tests/vectors/{kind}.json", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let root: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(root["format"], "tidelock.vectors/1");
        assert_eq!(root["kind"], kind);
        let (abs, rel) = (number(&root["tolerance"]["abs"]), number(&root["tolerance"]["rel"]));
        Self { root, abs, rel }
    }

    pub(crate) fn cases(&self) -> &[Value] {
        let cases = self.root["cases"].as_array().unwrap();
        assert!(!cases.is_empty());
        cases
    }

    fn agrees(&self, got: f64, want: f64) -> bool {
        got == want || (got - want).abs() <= self.abs + self.rel * want.abs()
    }

    pub(crate) fn close(&self, got: f64, want: &Value, what: &str) {
        let want = number(want);
        assert!(self.agrees(got, want), "{what}: got {got}, want {want}");
    }

    pub(crate) fn close_vec3(&self, got: Vec3, want: &Value, what: &str) {
        let want = vec3_f64(want);
        let fine = got.to_array().iter().zip(want).all(|(got, want)| self.agrees(f64::from(*got), want));
        assert!(fine, "{what}: got {got}, want {want:?}");
    }

    pub(crate) fn close_quat(&self, got: Quat, want: &Value, what: &str) {
        let want: Vec<f64> = want.as_array().unwrap().iter().map(number).collect();
        let equal =
            |sign: f32| got.to_array().iter().zip(&want).all(|(got, want)| self.agrees(f64::from(*got * sign), *want));
        assert!(equal(1.0) || equal(-1.0), "{what}: got {got}, want {want:?}");
    }
}

pub(crate) fn number(value: &Value) -> f64 {
    match value.as_str() {
        Some("nan") => f64::NAN,
        Some("inf") => f64::INFINITY,
        Some("-inf") => f64::NEG_INFINITY,
        _ => value.as_f64().unwrap_or_else(|| panic!("{value} is no number")),
    }
}

fn vec3_f64(value: &Value) -> [f64; 3] {
    [number(&value[0]), number(&value[1]), number(&value[2])]
}

pub(crate) fn vec3(value: &Value) -> Vec3 {
    Vec3::from_array(vec3_f64(value).map(|component| component as f32))
}

pub(crate) fn quat(value: &Value) -> Quat {
    let component = |index: usize| number(&value[index]) as f32;
    Quat::from_xyzw(component(0), component(1), component(2), component(3))
}
