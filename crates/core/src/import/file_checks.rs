//! Checks of the files that an agent leaves, as they are written in a suite, for the readers of foreign
//! formats. A test that has one needs a workspace.

use crate::model::{Map, Value};

/// A statement of `files`, such as `exists`, about patterns.
pub(super) fn files_check(statement: &str, patterns: Vec<String>) -> Map {
    Map::new().with("type", "files").with(statement, patterns)
}

/// A check of the answer that looks at a file instead.
pub(super) fn in_file(check: Map, path: &str) -> Map {
    check.with("file", path)
}

/// Whether a path or pattern is one below the workspace.
pub(super) fn is_inside(path: &str) -> bool {
    let is_absolute = path.starts_with(['/', '\\', '~']) || path.get(1..2) == Some(":");
    !path.trim().is_empty() && !is_absolute && path.split(['/', '\\']).all(|part| part != "..")
}

pub(super) fn is_pattern(path: &str) -> bool {
    path.contains(['*', '?', '[', '{'])
}

/// The pattern for a path that may be that of a directory, of which `files` knows only the files.
pub(super) fn path_pattern(path: &str) -> String {
    let mut exact = String::new();
    for character in path.trim_end_matches('/').chars() {
        if "*?[]{}\\,!".contains(character) {
            exact.push('\\');
        }
        exact.push(character);
    }
    let name = path.rsplit('/').next().unwrap_or(path);
    if path.ends_with('/') {
        return format!("{exact}/**");
    }
    if name.contains('.') { exact } else { format!("{{{exact},{exact}/**}}") }
}

/// Whether a check looks into the workspace.
pub(super) fn needs_workspace(check: &Map) -> bool {
    let kind = check.get("type").and_then(Value::as_str);
    let config = check.get("config").and_then(Value::as_map);
    let is_program = config.and_then(|config| config.get("type")?.as_str()) == Some("program");
    let members = check.get("assert").and_then(Value::as_list).unwrap_or_default();
    matches!(kind, Some("files" | "command"))
        || is_program
        || check.get("file").is_some()
        || members.iter().filter_map(Value::as_map).any(needs_workspace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_outside_of_the_workspace_are_known() {
        for path in ["a.txt", "src/**/*.ts", "..a", "a..b/c"] {
            assert!(is_inside(path), "{path}");
        }
        for path in ["/etc/x", "../x", "a/../../x", "C:\\x", "~/x", " "] {
            assert!(!is_inside(path), "{path}");
        }
    }

    #[test]
    fn a_path_without_an_ending_may_be_a_directory() {
        assert_eq!(path_pattern("src/a[1].txt"), "src/a\\[1\\].txt");
        assert_eq!(path_pattern("out/"), "out/**");
        assert_eq!(path_pattern("out"), "{out,out/**}");
    }
}
