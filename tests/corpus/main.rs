//! Every file of the fuzzer's corpus once more, regressions among them, without the fuzzer.

#[allow(dead_code, unreachable_pub, unused_imports, reason = "the fuzzer's own crate uses the rest")]
#[path = "../fuzz/src/lib.rs"]
mod fuzz;

use std::fs;
use std::path::{Path, PathBuf};

/// Most bytes of one target's files: the corpus is kept by the repository.
const TARGET_BYTES: u64 = 128 * 1_024;

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus")
}

/// A target's files, in order of their names.
fn files(target: &str) -> Vec<PathBuf> {
    let folder = corpus().join(target);
    let entries = fs::read_dir(&folder).unwrap_or_else(|why| panic!("{}: {why}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry can be read").path()).collect();
    files.sort();
    files
}

// N-13
#[test]
fn every_target_takes_its_whole_corpus() {
    for (name, target) in fuzz::TARGETS {
        let files = files(name);
        assert!(!files.is_empty(), "{name} has no corpus");
        for file in files {
            let bytes = fs::read(&file).expect("a file of the corpus can be read");
            // Captured, and so shown only when what follows fails.
            println!("{}", file.display());
            target(&bytes);
        }
    }
}

#[test]
fn the_corpus_stays_small_and_every_folder_has_its_target() {
    for entry in fs::read_dir(corpus()).expect("there is a corpus") {
        let folder = entry.expect("an entry can be read").file_name().into_string().expect("names are UTF-8");
        assert!(fuzz::TARGETS.iter().any(|(name, _)| *name == folder), "{folder} is no target");
        let sizes = files(&folder).into_iter().map(|file| fs::metadata(file).map_or(0, |about| about.len()));
        let sum: u64 = sizes.sum();
        assert!(sum <= TARGET_BYTES, "{folder}: {sum} bytes");
    }
}

// The targets of whole games take what real ends say to each other. With TIDELOCK_WRITE_SEEDS the corpus takes it too, where the
// fuzzer begins with it.
#[test]
fn recorded_sessions_are_taken() {
    let inputs = fuzz::recorded();
    assert!(inputs.iter().all(|(_, _, input)| input.len() > 1_000), "there is something to say");
    for (name, session, input) in inputs {
        if std::env::var_os("TIDELOCK_WRITE_SEEDS").is_some() {
            fs::write(corpus().join(name).join(&session), &input).expect("the corpus can be written");
        }
        let (_, target) = fuzz::TARGETS.into_iter().find(|(one, _)| *one == name).expect("a target of that name");
        println!("{name} {session}: {} bytes", input.len());
        target(&input);
    }
}
