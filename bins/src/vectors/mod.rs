//! Reference vectors, one file per kind: replayed through the library, and written by it.

mod character_track;
mod check;
mod collection_delta;
mod correction_smoother;
mod course;
mod draws;
mod fixed_step_clock;
mod input_buffer;
mod input_pacer;
mod interest;
mod interpolation_buffer;
mod motor_run;
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

use serde_json::{Value, json};

pub use check::Trouble;
use check::{Check, Outcome};
use draws::Draws;
use node::Node;

/// A kind of vectors: how a file of it is replayed and written.
struct Kind {
    name: &'static str,
    /// What a written file allows, absolute and relative.
    tolerance: (f64, f64),
    check: fn(Node<'_>, &mut Check) -> Outcome,
    write: fn(&mut Draws) -> Result<Vec<Value>, String>,
}

/// Every kind the library knows.
const KINDS: &[Kind] = &[
    kind("character-track", (0.003, 0.0001), character_track::check, character_track::write),
    kind("collection-delta", (0.0, 0.0), collection_delta::check, collection_delta::write),
    kind("correction-smoother", (0.0001, 0.0001), correction_smoother::check, correction_smoother::write),
    kind("fixed-step-clock", (0.0, 0.0), fixed_step_clock::check, fixed_step_clock::write),
    kind("input-buffer", (0.0, 0.0), input_buffer::check, input_buffer::write),
    kind("input-pacer", (1e-12, 1e-12), input_pacer::check, input_pacer::write),
    kind("interest", (0.0, 0.0), interest::check, interest::write),
    kind("interpolation-buffer", (0.0001, 1e-5), interpolation_buffer::check, interpolation_buffer::write),
    kind("motor-run", (0.0, 0.0), motor_run::check, motor_run::write),
    kind("movement-allowance", (0.002, 0.0001), movement_allowance::check, movement_allowance::write),
    kind("owned-physics", (0.0, 0.0), owned_physics::check, owned_physics::write),
    kind("part-track", (0.003, 0.0001), part_track::check, part_track::write),
    kind("reconcile", (0.0001, 1e-5), reconcile::check, reconcile::write),
    kind("remote-timeline", (1e-7, 1e-10), remote_timeline::check, remote_timeline::write),
    kind("replay-budget", (1e-6, 0.0), replay_budget::check, replay_budget::write),
    kind("rig-hermite", (0.0002, 0.0001), rig_hermite::check, rig_hermite::write),
    kind("rotation-codec", (0.0001, 0.0), rotation_codec::check, rotation_codec::write),
    kind("sequence-order", (0.0, 0.0), sequence_order::check, sequence_order::write),
    kind("step-cutoffs", (1e-9, 0.0), step_cutoffs::check, step_cutoffs::write),
];

const fn kind(
    name: &'static str,
    tolerance: (f64, f64),
    check: fn(Node<'_>, &mut Check) -> Outcome,
    write: fn(&mut Draws) -> Result<Vec<Value>, String>,
) -> Kind {
    Kind { name, tolerance, check, write }
}

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
    let text = fs::read_to_string(path).map_err(|why| outside(&file, format!("cannot be read: {why}")))?;
    check_text(&file, &text)
}

/// Replays the text of a file called `file`.
///
/// # Errors
///
/// As [`check_file`].
pub fn check_text(file: &str, text: &str) -> Result<Verdict, Trouble> {
    let root: Value = serde_json::from_str(text).map_err(|why| outside(file, format!("is not JSON: {why}")))?;
    check_value(file, &root)
}

/// Trouble with a file as a whole.
fn outside(file: &str, what: String) -> Trouble {
    Trouble { file: file.to_owned(), case: String::new(), step: String::new(), what }
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
    let Some(kind) = KINDS.iter().find(|known| known.name == kind) else {
        return Ok(Verdict::Unknown { kind: kind.to_owned() });
    };
    let tolerance = root.get("tolerance")?;
    check.set_tolerance(tolerance.get("abs")?.number()?, tolerance.get("rel")?.number()?);
    let cases = root.get("cases")?.items()?;
    for (index, case) in cases.iter().enumerate() {
        check.enter_case(index, case.find("name").and_then(|name| name.text().ok()));
        (kind.check)(*case, check)?;
    }
    check.enter_case(cases.len(), None);
    if check.values() == 0 {
        return Err("holds nothing to compare".into());
    }
    Ok(Verdict::Agrees { kind: kind.name, cases: cases.len(), values: check.values() })
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

/// Every kind's file as this library writes it from a seed: its name without `.json`, and its content. Equal seeds give
/// equal files.
///
/// # Errors
///
/// Never for any seed; a kind whose own cases cannot be replayed would say what they lack.
pub fn written(seed: u64) -> Result<Vec<(&'static str, Value)>, Trouble> {
    KINDS.iter().map(|kind| Ok((kind.name, written_kind(kind, seed)?))).collect()
}

fn written_kind(kind: &Kind, seed: u64) -> Result<Value, Trouble> {
    let cases = (kind.write)(&mut Draws::new(seed)).map_err(|what| outside(kind.name, what))?;
    let (abs, rel) = kind.tolerance;
    let tolerance = json!({ "abs": abs, "rel": rel });
    Ok(json!({ "format": "tidelock.vectors/1", "kind": kind.name, "tolerance": tolerance, "cases": cases }))
}

/// Writes one file for every kind into `folder`, which is made when it is not there, and prints how many.
///
/// # Errors
///
/// [`Trouble`] with the file that cannot be written, and why.
pub fn write_files(folder: &Path, seed: u64) -> Result<(), Trouble> {
    let outside = |path: &Path, what| outside(&path.display().to_string(), what);
    fs::create_dir_all(folder).map_err(|why| outside(folder, format!("cannot be made: {why}")))?;
    let files = written(seed)?;
    for (kind, content) in &files {
        let path = folder.join(format!("{kind}.json"));
        fs::write(&path, format!("{content}\n")).map_err(|why| outside(&path, format!("cannot be written: {why}")))?;
    }
    println!("{} files written to {} from seed {seed}", files.len(), folder.display());
    Ok(())
}

fn listed(kinds: &[String]) -> String {
    if kinds.is_empty() { "none".into() } else { kinds.join(", ") }
}

#[cfg(test)]
mod tests {
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

    // T-43
    #[test]
    fn what_is_written_is_read_back_and_seeds_tell_apart() {
        let (first, again, other) = (written(1).unwrap(), written(1).unwrap(), written(2).unwrap());
        assert_eq!(first, again);
        for ((kind, content), (_, other)) in first.iter().zip(&other) {
            assert_ne!(content, other, "{kind}");
            for content in [content, other] {
                // As a reader of the file has it, numbers through text.
                let read = serde_json::from_str(&content.to_string()).unwrap();
                assert!(
                    matches!(check_value(kind, &read), Ok(Verdict::Agrees { .. })),
                    "{:?}",
                    check_value(kind, &read)
                );
            }
        }
    }

    #[test]
    fn kinds_are_in_order_so_that_a_double_shows() {
        assert!(KINDS.windows(2).all(|pair| pair[0].name < pair[1].name));
    }
}
