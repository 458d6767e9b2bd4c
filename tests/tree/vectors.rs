use tidelock_bins::vectors::{Verdict, check_file};

use crate::source::root;

// T-43
#[test]
fn the_library_agrees_with_every_reference_vector() {
    let folder = root().join("tests/vectors");
    let mut agreed = 0;
    for entry in std::fs::read_dir(folder).expect("the vectors are kept") {
        let path = entry.expect("an entry can be read").path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        match check_file(&path) {
            Ok(Verdict::Agrees { .. }) => agreed += 1,
            Ok(Verdict::Unknown { kind }) => panic!("{}: the library has nothing of kind {kind}", path.display()),
            Err(trouble) => panic!("{trouble}"),
        }
    }
    assert!(agreed >= 18, "{agreed}");
}
