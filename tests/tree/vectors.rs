use tidelock_bins::vectors::{Verdict, check_file};

use crate::source::root;

/// Kinds of later work, which the library cannot replay yet. A kind that becomes known must leave this list.
const LATER: [&str; 3] = ["movement-allowance", "owned-physics", "rig-hermite"];

// T-43
#[test]
fn the_library_agrees_with_every_reference_vector_of_a_kind_it_has() {
    let folder = root().join("tests/vectors");
    let mut later = Vec::new();
    let mut agreed = 0;
    for entry in std::fs::read_dir(folder).expect("the vectors are kept") {
        let path = entry.expect("an entry can be read").path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        match check_file(&path) {
            Ok(Verdict::Agrees { .. }) => agreed += 1,
            Ok(Verdict::Unknown { kind }) => later.push(kind),
            Err(trouble) => panic!("{trouble}"),
        }
    }
    later.sort();
    assert_eq!(later, LATER);
    assert!(agreed >= 15, "{agreed}");
}
