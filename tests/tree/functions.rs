/// A function found in blanked code.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Function {
    /// Its name; `$name` inside a macro.
    pub(crate) name: String,
    /// The line of its `fn`, counted from 1.
    pub(crate) line: usize,
    /// Lines of its body that hold code, the outer braces' own lines apart.
    pub(crate) lines: usize,
}

/// Functions with a body, in order, nested ones too; `code` must be blanked.
pub(crate) fn functions(code: &str) -> Vec<Function> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(offset) = code[at..].find("fn ") {
        let start = at + offset;
        at = start + 3;
        let begins_word = !code[..start].chars().next_back().is_some_and(|c| c.is_alphanumeric() || c == '_');
        let name: String = code[at..].chars().take_while(|c| c.is_alphanumeric() || "_$#".contains(*c)).collect();
        if !begins_word || name.is_empty() {
            continue;
        }
        if let Some((open, close)) = body(&code[at..]) {
            let inside = &code[at + open + 1..at + close];
            found.push(Function {
                name,
                line: code[..start].matches('\n').count() + 1,
                lines: inside.lines().filter(|line| !line.trim().is_empty()).count(),
            });
        }
    }
    found
}

/// Where the body's braces stand after a function's name, `None` for a declaration.
fn body(after: &str) -> Option<(usize, usize)> {
    let mut nested = 0;
    let open = after.char_indices().find_map(|(at, c)| {
        match c {
            '(' | '[' => nested += 1,
            ')' | ']' => nested -= 1,
            _ => {}
        }
        (nested == 0 && (c == '{' || c == ';')).then_some(at)
    })?;
    if after[open..].starts_with(';') {
        return None;
    }
    let mut depth = 0;
    for (at, c) in after[open..].char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some((open, open + at));
        }
    }
    None
}

#[test]
fn bodies_are_measured_and_declarations_passed_over() {
    let code = "trait T { fn a(&self, b: [u8; 4]) -> u8; }\nfn c<F: Fn(u8)>(f: F)\nwhere\n    F: Copy,\n{\n    f(1);\n\n    fn d() {}\n}\n";
    let found = functions(code);
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!((found[0].name.as_str(), found[0].line, found[0].lines), ("c", 2, 2));
    assert_eq!((found[1].name.as_str(), found[1].line, found[1].lines), ("d", 8, 0));
}
