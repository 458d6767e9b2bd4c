use std::collections::BTreeSet;
use std::fs;

use toml::Table;

use crate::source::{SourceFile, blank, files, root};

/// Which of our packages each may name in its manifest (ARCHITECTURE.md, "The parts").
const EDGES: [(&str, &[&str]); 10] = [
    ("tidelock-sim", &[]),
    ("tidelock-net", &[]),
    ("tidelock-replication-derive", &[]),
    ("tidelock-replication", &["tidelock-sim", "tidelock-replication-derive"]),
    ("tidelock", &["tidelock-sim", "tidelock-net", "tidelock-replication"]),
    ("tidelock-bins", &["tidelock"]),
    ("tidelock-benches", &["tidelock-sim", "tidelock-net", "tidelock-replication", "tidelock", "tidelock-bins"]),
    ("tidelock-peers", &["tidelock-net"]),
    ("tidelock-fuzz", &["tidelock-sim", "tidelock-net", "tidelock-replication", "tidelock", "tidelock-bins"]),
    ("tidelock-tests", &["tidelock-sim", "tidelock-net", "tidelock-replication", "tidelock", "tidelock-bins"]),
];

/// Crates that belong to one package.
const OWNERS: [(&str, &str); 13] = [
    ("parry3d", "tidelock-sim"),
    ("rapier3d", "tidelock-sim"),
    ("mio", "tidelock-net"),
    ("quinn-udp", "tidelock-net"),
    ("rustix", "tidelock-net"),
    ("ring", "tidelock-net"),
    ("rkyv", "tidelock-replication"),
    ("hecs", "tidelock"),
    ("rayon", "tidelock"),
    ("crossbeam-channel", "tidelock"),
    ("parking_lot", "tidelock"),
    ("clap", "tidelock-bins"),
    ("axum", "tidelock-bins"),
];

/// Where crates may be named in code, by the beginning of a path; a crate not listed may be named wherever its manifest allows.
const PLACES: [(&str, &[&str]); 9] = [
    ("mio", &["net/src/io/"]),
    ("quinn_udp", &["net/src/io/"]),
    ("rustix", &["net/src/io/"]),
    ("rkyv", &["replication/src/place"]),
    ("hecs", &["runtime/"]),
    ("rayon", &["runtime/"]),
    ("crossbeam_channel", &["runtime/"]),
    ("parking_lot", &["runtime/"]),
    ("axum", &["bins/src/"]),
];

/// Who may read the wall clock, by the beginning of a path: the runtime's edge, the socket driver and its tests, and programs.
const CLOCKS: [&str; 5] = ["runtime/src/clock.rs", "net/src/io/", "net/tests/", "bins/", "benches/"];

/// The dependencies a manifest names, of every kind and target.
fn dependencies(manifest: &Table) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let targets = manifest.get("target").and_then(|targets| targets.as_table());
    let tables = targets.into_iter().flat_map(|targets| targets.values()).filter_map(|target| target.as_table());
    for table in tables.chain([manifest]) {
        for kind in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let named = table.get(kind).and_then(|named| named.as_table());
            names.extend(named.into_iter().flat_map(|named| named.iter().map(package_name)));
        }
    }
    names
}

/// A dependency's real name, should it be renamed.
fn package_name((key, value): (&String, &toml::Value)) -> String {
    let renamed = value.get("package").and_then(|package| package.as_str());
    renamed.unwrap_or(key).to_owned()
}

fn manifest_faults(manifest: &Table) -> Vec<String> {
    let name = manifest["package"]["name"].as_str().expect("a package has a name");
    let Some((_, allowed)) = EDGES.iter().find(|(package, _)| *package == name) else {
        return vec![format!("{name} is a package the layering does not know")];
    };
    let mut faults = Vec::new();
    for dependency in dependencies(manifest) {
        let ours = dependency == "tidelock" || dependency.starts_with("tidelock-");
        if ours && !allowed.contains(&dependency.as_str()) {
            faults.push(format!("{name} must not depend on {dependency}"));
        }
        let owner = OWNERS.iter().find(|(owned, _)| *owned == dependency).map(|(_, owner)| *owner);
        let lent = matches!(name, "tidelock-tests" | "tidelock-fuzz" | "tidelock-benches" | "tidelock-peers");
        if let Some(owner) = owner.filter(|owner| *owner != name && !lent) {
            faults.push(format!("{dependency} belongs to {owner}, not to {name}"));
        }
    }
    faults
}

fn source_faults(file: &SourceFile) -> Vec<String> {
    let code = file.code();
    let lent = file.path.starts_with("tests/") || file.path.starts_with("benches/");
    let mut faults = Vec::new();
    for (krate, places) in PLACES {
        if !lent && !places.iter().any(|place| file.path.starts_with(place)) {
            faults.extend(uses(&code, krate).map(|line| format!("{}:{line}: names {krate}", file.path)));
        }
    }
    if !CLOCKS.iter().any(|place| file.path.starts_with(place)) {
        for call in ["Instant::now", "SystemTime::now", "Utc::now", "CLOCK_MONOTONIC"] {
            let lines = code.match_indices(call).map(|(at, _)| line_of(&code, at));
            faults.extend(lines.map(|line| format!("{}:{line}: reads the clock", file.path)));
        }
    }
    faults
}

/// Lines on which blanked code names the crate `krate` at the head of a path.
fn uses<'a>(code: &'a str, krate: &'a str) -> impl Iterator<Item = usize> + 'a {
    code.match_indices(krate)
        .filter(move |(at, _)| {
            let (before, after) = (&code[..*at], &code[at + krate.len()..]);
            let joined = |c: char| c.is_alphanumeric() || c == '_';
            if before.ends_with(joined) || after.starts_with(joined) {
                return false;
            }
            let before = before.trim_end();
            let in_use = before
                .rsplit(';')
                .next()
                .is_some_and(|item| item.trim_start().trim_start_matches("pub ").starts_with("use"));
            let headed = before.ends_with("::") && !starts_a_path(before);
            !headed && (after.trim_start().starts_with("::") || (in_use && !before.ends_with('.')))
        })
        .map(|(at, _)| line_of(code, at))
}

/// Whether a leading `::` stands alone, as in `::hecs::World`.
fn starts_a_path(before: &str) -> bool {
    !before.trim_end_matches(':').ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '>')
}

fn line_of(code: &str, at: usize) -> usize {
    code[..at].matches('\n').count() + 1
}

#[test]
fn packages_depend_only_downwards() {
    let mut faults = Vec::new();
    for file in files("toml").iter().filter(|file| file.path.ends_with("Cargo.toml")) {
        let manifest: Table = file.text.parse().expect("a manifest is TOML");
        if manifest.contains_key("package") {
            faults.extend(manifest_faults(&manifest));
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn crates_and_clocks_stay_where_they_belong() {
    let faults: Vec<String> = files("rs").iter().flat_map(source_faults).collect();
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn every_package_takes_the_workspace_lints() {
    for file in files("toml").iter().filter(|file| file.path.ends_with("/Cargo.toml")) {
        let manifest: Table = file.text.parse().expect("a manifest is TOML");
        assert_eq!(manifest["lints"]["workspace"].as_bool(), Some(true), "{}", file.path);
    }
    let workspace: Table =
        fs::read_to_string(root().join("Cargo.toml")).expect("the workspace has a manifest").parse().expect("TOML");
    assert_eq!(workspace["workspace"]["lints"]["rust"]["unsafe_code"].as_str(), Some("deny"));
    assert_eq!(workspace["workspace"]["lints"]["rust"]["missing_docs"].as_str(), Some("deny"));
}

#[test]
fn unsafe_code_stays_in_the_file_that_is_made_for_it() {
    let with = |words: &str| -> Vec<String> {
        files("rs").into_iter().filter(|file| file.text.contains(words)).map(|file| file.path).collect()
    };
    assert_eq!(with(concat!("allow(", "unsafe_code")), ["net/src/prefetch.rs"]);
    let mut forbidden = with(concat!("#![forbid(", "unsafe_code)]"));
    forbidden.sort();
    let roots =
        ["bins/src/lib.rs", "bins/src/main.rs", "replication/src/lib.rs", "runtime/src/lib.rs", "sim/src/lib.rs"];
    assert_eq!(forbidden, roots);
}

#[test]
fn a_forbidden_edge_is_found() {
    let fault = |text: &str| manifest_faults(&text.parse().expect("TOML")).len();
    assert_eq!(
        fault("[package]\nname = 'tidelock-replication'\n[dependencies]\ntidelock-sim.workspace = true\nrkyv = '1'"),
        0
    );
    assert_eq!(fault("[package]\nname = 'tidelock-sim'\n[dependencies]\ntidelock-replication.workspace = true"), 1);
    assert_eq!(fault("[package]\nname = 'tidelock-net'\n[dev-dependencies]\ntidelock-sim.workspace = true"), 1);
    assert_eq!(
        fault("[package]\nname = 'tidelock-sim'\n[target.'cfg(unix)'.dependencies]\nworld = { package = 'hecs' }"),
        1
    );
    assert_eq!(fault("[package]\nname = 'tidelock-extra'"), 1);
}

#[test]
fn a_crate_or_clock_out_of_place_is_found() {
    let fault = |path: &str, text: &str| source_faults(&SourceFile { path: path.into(), text: text.into() }).len();
    assert_eq!(fault("net/src/io/driver.rs", "use mio::Poll;\nlet now = Instant::now();"), 0);
    assert_eq!(fault("net/src/lane.rs", "use mio::Poll;"), 1);
    assert_eq!(fault("net/src/lane.rs", "use {\n    mio::Poll,\n};"), 1);
    assert_eq!(fault("sim/src/motor/walk.rs", "let world = hecs::World::new();"), 1);
    assert_eq!(fault("sim/src/motor/walk.rs", "let world = ::hecs::World::new();"), 1);
    assert_eq!(
        fault(
            "sim/src/motor/walk.rs",
            "// hecs::World\nlet a = \"hecs::World\"; self::hecs::open(); my_hecs::open(); a.hecs();"
        ),
        0
    );
    assert_eq!(fault("replication/src/row.rs", "#[derive(rkyv::Archive)]\nstruct A;"), 1);
    assert_eq!(fault("replication/src/place/file.rs", "#[derive(rkyv::Archive)]\nstruct A;"), 0);
    assert_eq!(fault("runtime/src/server/tick.rs", "let now = std::time::Instant::now();"), 1);
    assert_eq!(fault("runtime/src/server/tick.rs", "let now = SystemTime::now();"), 1);
    assert_eq!(fault("runtime/src/clock.rs", "let now = Instant::now();"), 0);
}

#[test]
fn blanking_hides_no_code_behind_a_quote() {
    assert!(blank("let q = '\"'; hecs::World::new(); let r = '\"';").contains("hecs::World"));
}
