//! PROTOCOL.md against the library: its examples, tables and layouts.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod connection;
mod document;
mod messages;
mod motion;
mod payloads;
mod place;
mod tables;

use std::collections::BTreeSet;

use document::Document;

/// Every example is held by a test, and every test finds its example.
#[test]
fn every_example_is_checked() {
    let document = Document::read();
    let written: BTreeSet<String> = document.examples().map(|example| example.name.clone()).collect();
    assert_eq!(written.len(), document.examples().count(), "two examples of one name");
    let held: BTreeSet<String> =
        [messages::names(), motion::names(), payloads::names()].into_iter().flatten().collect();
    let unheld: Vec<_> = written.difference(&held).collect();
    let missing: Vec<_> = held.difference(&written).collect();
    assert!(unheld.is_empty(), "no test knows {unheld:?}");
    assert!(missing.is_empty(), "PROTOCOL.md has no example of {missing:?}");
}
