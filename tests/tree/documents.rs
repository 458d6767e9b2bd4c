use std::path::Path;

use crate::source::{SourceFile, files, root};

/// A relative link of a document: its line and target, without the fragment.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut fenced = false;
    for (line, content) in text.lines().enumerate() {
        if content.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        // What stands between backticks is no link; what they stand in may be.
        let content: String = content.split('`').step_by(2).collect();
        let inline = content.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next());
        let html = ["src=\"", "href=\""].into_iter().flat_map(|attribute| content.split(attribute).skip(1));
        let html = html.filter_map(|rest| rest.split('"').next());
        let reference =
            content.strip_prefix('[').and_then(|rest| rest.split_once("]: ")).map(|(_, target)| target.trim());
        for target in inline.chain(html).chain(reference) {
            let target = target.split('#').next().unwrap_or_default();
            let elsewhere = target.contains("://") || target.starts_with("mailto:");
            if !target.is_empty() && !elsewhere {
                found.push((line + 1, target.to_owned()));
            }
        }
    }
    found
}

fn link_faults(root: &Path, document: &SourceFile) -> Vec<String> {
    let folder = root.join(&document.path).parent().expect("a file lies in a folder").to_path_buf();
    let dead = links(&document.text).into_iter().filter(|(_, target)| !folder.join(target).exists());
    dead.map(|(line, target)| format!("{}:{line}: {target} does not exist", document.path)).collect()
}

/// Command lines of a document's shell blocks, a leading `$ ` removed, continuation lines joined.
fn commands(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut shell = false;
    let mut joined = String::new();
    for line in text.lines() {
        if let Some(language) = line.trim_start().strip_prefix("```") {
            shell = !shell && matches!(language.trim(), "sh" | "bash" | "console" | "shell");
            continue;
        }
        let line = line.trim().trim_start_matches("$ ");
        if !shell || line.is_empty() || line.starts_with('#') {
            continue;
        }
        joined.push_str(line.trim_end_matches('\\'));
        if !line.ends_with('\\') {
            let command = joined.split(" #").next().unwrap_or_default();
            found.push(command.trim().to_owned());
            joined.clear();
        }
    }
    found
}

/// What is wrong with a command a document tells the reader to type.
fn command_fault(root: &Path, command: &str) -> Option<String> {
    let words: Vec<&str> = command.split_whitespace().collect();
    let arguments = match words.as_slice() {
        ["cargo", "run", rest @ ..] => {
            let own = rest.iter().position(|word| *word == "--").map_or(&[][..], |at| &rest[at + 1..]);
            own.to_vec()
        }
        [program, rest @ ..] if program.rsplit('/').next() == Some("tidelock") => rest.to_vec(),
        ["cargo", "test" | "build" | "bench" | "doc" | "fmt" | "clippy" | "install" | "add", ..] => return None,
        ["git" | "cd" | "curl" | "rustup", ..] => return None,
        [script, ..] => {
            return (!root.join(script).exists()).then(|| format!("`{command}`: nothing called {script}"));
        }
        [] => return None,
    };
    tidelock_bins::check_arguments(&arguments).err().map(|why| format!("`{command}`: {why}"))
}

#[test]
fn relative_links_point_at_files_that_exist() {
    let faults: Vec<String> = files("md").iter().flat_map(|document| link_faults(&root(), document)).collect();
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn commands_in_documents_exist() {
    let all: Vec<String> = files("md").iter().flat_map(|document| commands(&document.text)).collect();
    let faults: Vec<String> = all.iter().filter_map(|command| command_fault(&root(), command)).collect();
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn the_readme_gives_the_two_commands() {
    let files = files("md");
    let readme = files.iter().find(|file| file.path == "README.md").expect("the workspace has a README.md");
    let commands = commands(&readme.text);
    for wanted in ["cargo run --release", "cargo test --workspace"] {
        assert!(commands.iter().any(|command| command == wanted), "README.md does not say `{wanted}`: {commands:?}");
    }
}

#[test]
fn dead_links_and_unknown_commands_are_found() {
    let document = |text: &str| SourceFile { path: "README.md".into(), text: text.into() };
    let faults = |text: &str| link_faults(&root(), &document(text)).len();
    assert_eq!(faults("[a](tests/tree/documents.rs#top) [b](https://example.org) [c](#here) `x[0](y)`"), 0);
    assert_eq!(faults("![p](docs/no-such-picture.png)\n<img src=\"no-such.png\">\n[r]: no-such.md"), 3);
    assert_eq!(faults("```\n[a](no-such.md)\n```"), 0);
    let text = "```sh\n$ cargo run --release -- swarm --bots 8 \\\n  --thin   # eight\n```\n```rust\nlet x = 1;\n```\n";
    assert_eq!(commands(text), ["cargo run --release -- swarm --bots 8 --thin"]);
    assert_eq!(command_fault(&root(), "cargo run --release"), None);
    assert_eq!(command_fault(&root(), "cargo run --release -- swarm --bots 8 --thin"), None);
    assert!(command_fault(&root(), "cargo run --release -- dance").is_some());
    assert!(command_fault(&root(), "tidelock serve --no-such-flag").is_some());
    assert!(command_fault(&root(), "./no-such-script.sh").is_some());
}
