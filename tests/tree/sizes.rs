use crate::functions::functions;
use crate::source::{SourceFile, files};

const FILE_LINES: usize = 600;
const FUNCTION_LINES: usize = 70;
const NAMES_OF_NOTHING: [&str; 8] = ["util", "utils", "common", "helper", "helpers", "manager", "misc", "stuff"];

/// What is too large, or named after nothing.
fn faults(file: &SourceFile) -> Vec<String> {
    let mut faults = Vec::new();
    let lines = file.text.lines().count();
    if lines > FILE_LINES {
        faults.push(format!("{}: {lines} lines, at most {FILE_LINES}", file.path));
    }
    let mut parts = file.path.trim_end_matches(".rs").split('/');
    if let Some(name) = parts.find(|part| part.split('_').any(|word| NAMES_OF_NOTHING.contains(&word))) {
        faults.push(format!("{}: `{name}` says nothing about what it holds", file.path));
    }
    for function in functions(&file.code()).into_iter().filter(|function| function.lines > FUNCTION_LINES) {
        faults.push(format!(
            "{}:{}: `{}` has {} lines, at most {FUNCTION_LINES}",
            file.path, function.line, function.name, function.lines
        ));
    }
    faults
}

#[test]
fn files_and_functions_stay_small_and_are_named_after_something() {
    let faults: Vec<String> = files("rs").iter().flat_map(faults).collect();
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn what_is_too_large_is_found() {
    let file = |path: &str, text: String| SourceFile { path: path.into(), text };
    assert_eq!(faults(&file("sim/src/clock.rs", "//\n".repeat(FILE_LINES))).len(), 0);
    assert_eq!(faults(&file("sim/src/clock.rs", "//\n".repeat(FILE_LINES + 1))).len(), 1);
    let long = |lines: usize| format!("fn f() {{\n{}}}\n", "    g();\n".repeat(lines));
    assert_eq!(faults(&file("sim/src/clock.rs", long(FUNCTION_LINES))).len(), 0);
    assert_eq!(faults(&file("sim/src/clock.rs", long(FUNCTION_LINES + 1))).len(), 1);
    for path in ["sim/src/utils.rs", "net/src/io/common.rs", "runtime/src/session_manager.rs", "bins/src/misc/mod.rs"] {
        assert_eq!(faults(&file(path, String::new())).len(), 1, "{path}");
    }
}
