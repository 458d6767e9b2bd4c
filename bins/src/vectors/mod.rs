//! Replays reference vectors through the library, one file per kind.

mod character_track;
mod check;
mod collection_delta;
mod correction_smoother;
mod fixed_step_clock;
mod input_buffer;
mod input_pacer;
mod interest;
mod interpolation_buffer;
mod movement_allowance;
mod node;
mod owned_physics;
mod part_track;
mod reconcile;
mod remote_timeline;
mod replay_budget;
mod rig_hermite;
mod rotation_codec;
mod sequence_order;
mod step_cutoffs;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

pub use check::Trouble;
use check::{Check, Outcome};
use node::Node;

type CheckCase = fn(Node<'_>, &mut Check) -> Outcome;

/// Every kind the library can replay.
const KINDS: &[(&str, CheckCase)] = &[
    ("character-track", character_track::check),
    ("collection-delta", collection_delta::check),
    ("correction-smoother", correction_smoother::check),
    ("fixed-step-clock", fixed_step_clock::check),
    ("input-buffer", input_buffer::check),
    ("input-pacer", input_pacer::check),
    ("interest", interest::check),
    ("interpolation-buffer", interpolation_buffer::check),
    ("movement-allowance", movement_allowance::check),
    ("owned-physics", owned_physics::check),
    ("part-track", part_track::check),
    ("reconcile", reconcile::check),
    ("remote-timeline", remote_timeline::check),
    ("replay-budget", replay_budget::check),
    ("rig-hermite", rig_hermite::check),
    ("rotation-codec", rotation_codec::check),
    ("sequence-order", sequence_order::check),
    ("step-cutoffs", step_cutoffs::check),
];

/// What became of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every case agrees.
    Agrees {
        /// The file's kind.
        kind: &'static str,
        /// Cases in the file.
        cases: usize,
        /// Values compared in all of them.
        values: u64,
    },
    /// The library has nothing of this kind.
    Unknown {
        /// The kind the file names.
        kind: String,
    },
}

/// Replays one file.
///
/// # Errors
///
/// [`Trouble`] with file, case, step, field, wanted and got at the first difference, or saying what the file lacks.
pub fn check_file(path: &Path) -> Result<Verdict, Trouble> {
    let file = path.display().to_string();
    let outside = |what: String| Trouble { file: file.clone(), case: String::new(), step: String::new(), what };
    let text = fs::read_to_string(path).map_err(|why| outside(format!("cannot be read: {why}")))?;
    let root: Value = serde_json::from_str(&text).map_err(|why| outside(format!("is not JSON: {why}")))?;
    check_value(&file, &root)
}

fn check_value(file: &str, root: &Value) -> Result<Verdict, Trouble> {
    let mut check = Check::new(file);
    let outcome = check_root(Node::new(root), &mut check);
    outcome.map_err(|what| check.trouble(what))
}

fn check_root(root: Node<'_>, check: &mut Check) -> Result<Verdict, String> {
    let format = root.get("format")?.text()?;
    if format != "tidelock.vectors/1" {
        return Err(format!("format is `{format}`, not `tidelock.vectors/1`"));
    }
    let kind = root.get("kind")?.text()?;
    let Some((kind, check_case)) = KINDS.iter().find(|(known, _)| *known == kind) else {
        return Ok(Verdict::Unknown { kind: kind.to_owned() });
    };
    let tolerance = root.get("tolerance")?;
    check.set_tolerance(tolerance.get("abs")?.number()?, tolerance.get("rel")?.number()?);
    let cases = root.get("cases")?.items()?;
    for (index, case) in cases.iter().enumerate() {
        check.enter_case(index, case.find("name").and_then(|name| name.text().ok()));
        check_case(*case, check)?;
    }
    check.enter_case(cases.len(), None);
    if check.values() == 0 {
        return Err("holds nothing to compare".into());
    }
    Ok(Verdict::Agrees { kind, cases: cases.len(), values: check.values() })
}

/// Replays files in order, prints a line for each, and stops at the first difference.
///
/// # Errors
///
/// The first [`Trouble`].
pub fn check_files(files: &[PathBuf]) -> Result<(), Trouble> {
    let mut unknown = Vec::new();
    for file in files {
        match check_file(file)? {
            Verdict::Agrees { kind, cases, values } => {
                println!("{kind}: {cases} cases, {values} values agree ({})", file.display());
            }
            Verdict::Unknown { kind } => {
                println!("{kind}: not known to this library, passed over ({})", file.display());
                unknown.push(kind);
            }
        }
    }
    let known = files.len() - unknown.len();
    println!("{known} of {} files agree; {} of unknown kind: {}", files.len(), unknown.len(), listed(&unknown));
    Ok(())
}

fn listed(kinds: &[String]) -> String {
    if kinds.is_empty() { "none".into() } else { kinds.join(", ") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn order(newer: bool) -> Value {
        let tolerance = json!({ "abs": 0, "rel": 0 });
        let cases = json!([{ "a": 2, "b": 1, "newer": true }, { "a": 1, "b": 2, "newer": newer }]);
        json!({ "format": "tidelock.vectors/1", "kind": "sequence-order", "tolerance": tolerance, "cases": cases })
    }

    // T-43
    #[test]
    fn the_first_difference_is_named_with_its_place() {
        let agreed = Verdict::Agrees { kind: "sequence-order", cases: 2, values: 2 };
        assert_eq!(check_value("order.json", &order(false)), Ok(agreed));
        let trouble = check_value("order.json", &order(true)).unwrap_err().to_string();
        assert_eq!(trouble, "order.json: case 1: newer: wanted true, got false");
    }

    // T-43
    #[test]
    fn unknown_kinds_are_named_and_misshapen_files_refused() {
        let mut root = order(false);
        root["kind"] = json!("tea-leaves");
        assert_eq!(check_value("x.json", &root), Ok(Verdict::Unknown { kind: "tea-leaves".into() }));
        root["kind"] = json!("sequence-order");
        root["cases"] = json!([]);
        assert!(check_value("x.json", &root).is_err());
        root["cases"] = json!([{ "a": 1, "b": "two", "newer": true }]);
        let trouble = check_value("x.json", &root).unwrap_err().to_string();
        assert_eq!(trouble, "x.json: case 0: b is `\"two\"`, not an integer");
        root["format"] = json!("tidelock.vectors/2");
        assert!(check_value("x.json", &root).is_err());
    }

    #[test]
    fn kinds_are_in_order_so_that_a_double_shows() {
        assert!(KINDS.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }
}
