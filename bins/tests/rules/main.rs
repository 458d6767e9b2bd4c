//! Every kind of vector against models written straight from the rules, in f64 and with no thought of speed: the kept files
//! must follow them, and what the library writes from seeds nobody chose its code by.

mod clocks;
mod collections;
mod expectation;
mod following;
mod inputs;
mod judging;
mod motor;
mod poses;
mod smoothing;
mod tracks;

use std::path::Path;

use serde_json::Value;
use tidelock_bins::vectors::written;

use expectation::Expectation;

type Model = fn(&Value, &mut Expectation);

const MODELS: [(&str, Model); 19] = [
    ("character-track", tracks::character),
    ("collection-delta", collections::delta),
    ("correction-smoother", smoothing::smoother),
    ("fixed-step-clock", clocks::clock),
    ("input-buffer", inputs::buffer),
    ("input-pacer", inputs::pacer),
    ("interest", collections::interest),
    ("interpolation-buffer", smoothing::buffer),
    ("motor-run", motor::run),
    ("movement-allowance", judging::allowance),
    ("owned-physics", judging::owned),
    ("part-track", tracks::part),
    ("reconcile", following::reconcile),
    ("remote-timeline", following::timeline),
    ("replay-budget", judging::budget),
    ("rig-hermite", poses::rig),
    ("rotation-codec", poses::codec),
    ("sequence-order", collections::order),
    ("step-cutoffs", clocks::cutoffs),
];

fn hold(model: Model, file: &str, content: &Value) {
    let mut expectation = Expectation::new(file, &content["tolerance"]);
    for (index, case) in content["cases"].as_array().expect("cases").iter().enumerate() {
        expectation.enter(index);
        model(case, &mut expectation);
    }
    assert!(expectation.compared() > 30, "{file}: {} values", expectation.compared());
}

// T-43: the models themselves agree with every kept file.
#[test]
fn the_kept_files_follow_the_rules() {
    for (kind, model) in MODELS {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/vectors").join(format!("{kind}.json"));
        let text = std::fs::read_to_string(&path).expect("the file is kept");
        hold(model, kind, &serde_json::from_str(&text).expect("it is JSON"));
    }
}

// T-43: the library follows the rules, not the files.
#[test]
fn the_library_follows_the_rules_under_other_seeds() {
    for seed in [1, 2, 3, 77, 20_260, u64::MAX] {
        for ((kind, content), (name, model)) in written(seed).expect("every kind is written").iter().zip(MODELS) {
            assert_eq!(*kind, name);
            hold(model, &format!("{kind} from seed {seed}"), content);
        }
    }
}
