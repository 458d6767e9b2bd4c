//! Measures what the targets name, and prints each target and what it is measured against beside the figure.
//!
//! `cargo bench -p tidelock-benches` runs all of it, `-- WORD` the groups whose name contains the word.

mod course;
mod interest;
mod motion;
mod motor;
mod ownership;
mod peer;
mod place;
mod publish;
mod remote;
mod replay;
mod scene;
mod server;
mod table;
mod watch;

use table::Table;

type Group = (&'static str, fn(&mut Table));

const GROUPS: [Group; 8] = [
    ("motor", motor::run),
    ("replay", replay::run),
    ("remote", remote::run),
    ("ownership", ownership::run),
    ("motion", motion::run),
    ("interest", interest::run),
    ("publish", publish::run),
    ("server", server::run),
];

fn main() {
    // Cargo passes `--bench`; what is not an option chooses groups.
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let mut table = Table::begin();
    for (name, run) in GROUPS {
        if wanted.is_empty() || wanted.iter().any(|word| name.contains(word.as_str())) {
            table.group(name);
            run(&mut table);
        }
    }
    table.end();
}
