//! What the documents show works.

use tidelock::Place;

/// The fenced blocks of a document whose fence line is exactly `fence`.
fn blocks(document: &str, fence: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut lines = document.lines();
    while let Some(line) = lines.next() {
        if line == fence {
            let block: Vec<_> = lines.by_ref().take_while(|line| *line != "```").collect();
            found.push(block.join("\n"));
        }
    }
    found
}

#[test]
fn places_in_the_manual_compile() {
    let places = blocks(include_str!("../../docs/manual.md"), "```toml place");
    assert!(!places.is_empty());
    for text in places {
        let place = Place::compile(&text).unwrap_or_else(|why| panic!("{why}\n{text}"));
        assert!(place.spawns().count() > 0 && place.parts().len() > 0);
    }
}
