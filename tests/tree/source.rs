use std::fs;
use std::path::{Path, PathBuf};

/// A Rust source file of the workspace.
pub(crate) struct SourceFile {
    /// Path from the workspace root, `/` between its parts.
    pub(crate) path: String,
    /// The text as it stands.
    pub(crate) text: String,
}

impl SourceFile {
    /// The text with comments, strings and character literals blanked out, line breaks kept.
    pub(crate) fn code(&self) -> String {
        blank(&self.text)
    }
}

/// The workspace root.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests package lies in the workspace").to_path_buf()
}

/// Every file below the root with this extension, but for build output, fetched modules and hidden folders.
pub(crate) fn files(extension: &str) -> Vec<SourceFile> {
    let mut found = Vec::new();
    walk(&root(), &root(), extension, &mut found);
    found.sort_by(|a, b| a.path.cmp(&b.path));
    assert!(!found.is_empty(), "no .{extension} file below {}", root().display());
    found
}

fn walk(root: &Path, folder: &Path, extension: &str, found: &mut Vec<SourceFile>) {
    for entry in fs::read_dir(folder).expect("a folder of the workspace can be read") {
        let path = entry.expect("an entry can be read").path();
        let name = path.file_name().and_then(|name| name.to_str()).expect("names are UTF-8");
        if path.is_dir() {
            if !name.starts_with('.') && name != "target" && name != "node_modules" {
                walk(root, &path, extension, found);
            }
        } else if path.extension().is_some_and(|has| has == extension) {
            let text = fs::read_to_string(&path).expect("sources are UTF-8");
            let parts: Vec<_> = path.strip_prefix(root).expect("below the root").iter().collect();
            let path = parts.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/");
            found.push(SourceFile { path, text });
        }
    }
}

/// Replaces what is not code by spaces.
pub(crate) fn blank(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = not_code(rest, &out);
        if length == 0 {
            out.push(first);
            rest = &rest[first.len_utf8()..];
        } else {
            out.extend(rest[..length].chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
            rest = &rest[length..];
        }
    }
    out
}

/// Bytes of the comment or literal `rest` begins with, 0 when it begins with code.
fn not_code(rest: &str, before: &str) -> usize {
    if rest.starts_with("//") {
        return rest.find('\n').unwrap_or(rest.len());
    }
    if rest.starts_with("/*") {
        return block_comment(rest);
    }
    let in_word = before.chars().next_back().is_some_and(|c| c.is_alphanumeric() || c == '_');
    if !in_word && let Some(length) = raw_string(rest) {
        return length;
    }
    if rest.starts_with('"') {
        return quoted(rest, '"');
    }
    if rest.starts_with('\'') {
        return character(rest);
    }
    0
}

fn block_comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < rest.len() {
        if rest[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += rest[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    rest.len()
}

fn raw_string(rest: &str) -> Option<usize> {
    let after = rest.strip_prefix("br").or_else(|| rest.strip_prefix('r'))?;
    let hashes = after.len() - after.trim_start_matches('#').len();
    if !after[hashes..].starts_with('"') {
        return None;
    }
    let start = rest.len() - after.len() + hashes + 1;
    let end = format!("\"{}", "#".repeat(hashes));
    Some(rest[start..].find(&end).map_or(rest.len(), |at| start + at + end.len()))
}

fn quoted(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if c == quote {
            return at + 1;
        }
    }
    rest.len()
}

/// A quote begins a character literal or a lifetime; only the former is blanked.
fn character(rest: &str) -> usize {
    let mut chars = rest.chars().skip(1);
    let literal = match chars.next() {
        Some('\\') => true,
        Some(_) => chars.next() == Some('\''),
        None => false,
    };
    if literal { quoted(rest, '\'') } else { 0 }
}

#[test]
fn comments_strings_and_characters_are_blanked_and_lines_kept() {
    let text =
        "let a = \"fn b() {\"; // fn c() {\n/* fn d /* nested */ {\n*/ let e = '{'; let f: &'static str = r#\"\"{\"#;";
    let code = blank(text);
    assert_eq!(code.lines().count(), text.lines().count());
    assert!(!code.contains('{') && !code.contains("fn"), "{code}");
    assert!(code.contains("&'static str"), "{code}");
    assert_eq!(blank("for r in r\"x\" '\\''"), format!("for r in {}", " ".repeat(9)));
}
