use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use serde_json::Value;
use toml::Table;

use crate::source::root;

/// What deny.toml says about the dependency tree.
struct Policy {
    licences: BTreeSet<String>,
    registries: BTreeSet<String>,
    /// Banned crates, each with those that may nevertheless bring it.
    banned: Vec<(String, BTreeSet<String>)>,
}

impl Policy {
    fn read() -> Self {
        let text = fs::read_to_string(root().join("deny.toml")).expect("deny.toml lies at the root");
        let table: Table = text.parse().expect("deny.toml is TOML");
        let banned = table["bans"]["deny"].as_array().expect("a list of crates").iter().map(|entry| {
            let name = entry["crate"].as_str().expect("a crate").to_owned();
            (name, entry.get("wrappers").map(words).unwrap_or_default())
        });
        Self {
            licences: words(&table["licenses"]["allow"]),
            registries: words(&table["sources"]["allow-registry"]),
            banned: banned.collect(),
        }
    }
}

fn words(list: &toml::Value) -> BTreeSet<String> {
    list.as_array().expect("a list").iter().map(|word| word.as_str().expect("text").to_owned()).collect()
}

/// Whether an SPDX expression can be met with the allowed licences: `/` reads as OR, AND binds tighter than OR.
fn allowed(expression: &str, licences: &BTreeSet<String>) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let (met, rest) = either(&words, licences);
    met && rest.is_empty()
}

fn either<'a>(words: &'a [&'a str], licences: &BTreeSet<String>) -> (bool, &'a [&'a str]) {
    let (mut met, mut rest) = both(words, licences);
    while let ["OR", tail @ ..] = rest {
        let (next, after) = both(tail, licences);
        met |= next;
        rest = after;
    }
    (met, rest)
}

fn both<'a>(words: &'a [&'a str], licences: &BTreeSet<String>) -> (bool, &'a [&'a str]) {
    let (mut met, mut rest) = one(words, licences);
    while let ["AND", tail @ ..] = rest {
        let (next, after) = one(tail, licences);
        met &= next;
        rest = after;
    }
    (met, rest)
}

fn one<'a>(words: &'a [&'a str], licences: &BTreeSet<String>) -> (bool, &'a [&'a str]) {
    match words {
        ["(", tail @ ..] => match either(tail, licences) {
            (met, [")", rest @ ..]) => (met, rest),
            (_, rest) => (false, rest),
        },
        [licence, "WITH", exception, rest @ ..] => (licences.contains(&format!("{licence} WITH {exception}")), rest),
        [licence, rest @ ..] => (licences.contains(*licence), rest),
        [] => (false, words),
    }
}

fn package_fault(package: &Value, policy: &Policy) -> Option<String> {
    let name = package["name"].as_str()?;
    let licence = package["license"].as_str().unwrap_or_default();
    if !allowed(licence, &policy.licences) {
        return Some(format!("{name}: licence `{licence}` is not among those of deny.toml"));
    }
    // A package without a source is one of ours.
    let registry = package["source"].as_str().map(|source| source.trim_start_matches("registry+"));
    let strange = registry.filter(|registry| !policy.registries.contains(*registry));
    strange.map(|registry| format!("{name}: comes from {registry}"))
}

fn ban_faults(lock: &Table, policy: &Policy) -> Vec<String> {
    let mut faults = Vec::new();
    for package in lock["package"].as_array().expect("a list of packages") {
        let name = package["name"].as_str().expect("a name");
        let named = package.get("dependencies").map(words).unwrap_or_default();
        let brings = named.iter().filter_map(|dependency| dependency.split(' ').next());
        for (banned, wrappers) in brings.flat_map(|brought| policy.banned.iter().filter(move |(ban, _)| ban == brought))
        {
            if !wrappers.contains(name) {
                faults.push(format!("{name} brings the banned crate {banned}"));
            }
        }
    }
    faults
}

/// The compiler's own target, so that no crate of another platform has to be fetched.
fn host() -> String {
    let output = Command::new(std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into())).arg("-vV").output();
    let text = String::from_utf8(output.expect("rustc runs").stdout).expect("rustc speaks UTF-8");
    text.lines().find_map(|line| line.strip_prefix("host: ")).expect("rustc names its host").to_owned()
}

#[test]
fn every_dependency_has_an_allowed_licence_and_source() {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--filter-platform", &host()])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo prints JSON");
    let policy = Policy::read();
    let packages = metadata["packages"].as_array().expect("a list of packages");
    assert!(packages.len() > 50, "only {} packages", packages.len());
    let faults: Vec<String> = packages.iter().filter_map(|package| package_fault(package, &policy)).collect();
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn no_banned_crate_is_brought_in() {
    let lock: Table = fs::read_to_string(root().join("Cargo.lock")).expect("Cargo.lock is kept").parse().expect("TOML");
    let faults = ban_faults(&lock, &Policy::read());
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn licence_expressions_are_read_as_spdx_means_them() {
    let licences: BTreeSet<String> = ["MIT", "Zlib", "Apache-2.0 WITH LLVM-exception"].map(String::from).into();
    for met in [
        "MIT",
        "MIT OR GPL-3.0",
        "GPL-3.0/MIT",
        "MIT AND Zlib",
        "(GPL-3.0 OR MIT) AND Zlib",
        "Apache-2.0 WITH LLVM-exception",
    ] {
        assert!(allowed(met, &licences), "{met}");
    }
    for unmet in
        ["", "GPL-3.0", "MIT AND GPL-3.0", "GPL-3.0 OR MIT AND AGPL-3.0", "(MIT", "MIT)", "Apache-2.0", "MIT MIT"]
    {
        assert!(!allowed(unmet, &licences), "{unmet}");
    }
}

#[test]
fn a_foreign_licence_source_or_crate_is_found() {
    let policy = Policy::read();
    let crates_io = "registry+https://github.com/rust-lang/crates.io-index";
    let fault = |licence: &str, source: &str| {
        package_fault(&serde_json::json!({ "name": "x", "license": licence, "source": source }), &policy).is_some()
    };
    assert!(!fault("MIT OR Apache-2.0", crates_io));
    assert!(fault("GPL-3.0", crates_io));
    assert!(fault("MIT", "git+https://example.org/x"));
    let lock = |name: &str| {
        format!("[[package]]\nname = '{name}'\ndependencies = ['lazy_static 1.5.1', 'openssl']").parse().expect("TOML")
    };
    assert_eq!(ban_faults(&lock("sharded-slab"), &policy).len(), 1);
    assert_eq!(ban_faults(&lock("tidelock"), &policy).len(), 2);
}
