//! The rules that the architecture tests of all crates share. Each gives the violations as sentences;
//! an empty list means that the rule holds.
//!
//! Rules that take `pending` excuse the violations listed there, as `cycle a -> b`, `type Name` or
//! `function path name`. An entry that excuses nothing is a violation too, so a list only shrinks.

use std::collections::BTreeSet;

use crate::Sources;

/// Lines from `fn` to the closing brace.
pub const LONGEST_FUNCTION: usize = 100;

/// Lines of a file without tests and doc texts.
pub const LONGEST_FILE: usize = 500;

const VAGUE: [&str; 7] = ["utils", "util", "helpers", "helper", "common", "imp", "misc"];

/// Rooms must not use each other in a circle.
pub fn cycles(sources: &Sources, pending: &[&str]) -> Vec<String> {
    let graph = sources.room_graph();
    let excused = tagged(pending, "cycle ");
    let mut found = Vec::new();
    for cycle in graph.cycles(&excused) {
        found.push(format!("rooms in a circle: {}", cycle.join(", ")));
        for (edge, files) in &graph.edges {
            if cycle.contains(&edge.from.as_str()) && cycle.contains(&edge.to.as_str()) {
                let files: Vec<&str> = files.iter().map(String::as_str).collect();
                found.push(format!("  {edge} in {}", files.join(", ")));
            }
        }
    }
    for entry in &excused {
        let others: Vec<&str> = excused.iter().copied().filter(|e| e != entry).collect();
        if graph.cycles(&others) == graph.cycles(&excused) {
            found.push(unneeded(&format!("cycle {entry}")));
        }
    }
    found
}

/// A type name must occur once in a crate.
pub fn repeated_types(sources: &Sources, pending: &[&str]) -> Vec<String> {
    let repeated = sources.repeated_types();
    let violations = repeated.iter().map(|(name, files)| {
        let text = format!("`{name}` is declared in {}", files.join(", "));
        (name.clone(), text)
    });
    excuse(violations, &tagged(pending, "type "), "type ")
}

/// A function must not be longer than [`LONGEST_FUNCTION`].
pub fn long_functions(sources: &Sources, pending: &[&str]) -> Vec<String> {
    let functions = sources.functions().into_iter();
    let long = functions.filter(|(_, function)| function.lines > LONGEST_FUNCTION);
    let violations = long.map(|(path, function)| {
        let entry = format!("{path} {}", function.name);
        let text = format!("`{}` in {path} has {} lines", function.name, function.lines);
        (entry, text)
    });
    excuse(violations, &tagged(pending, "function "), "function ")
}

/// A room must use only the rooms that `promises` lists for it; other rooms are free.
pub fn broken_promises(sources: &Sources, promises: &[(&str, &[&str])]) -> Vec<String> {
    let graph = sources.room_graph();
    let mut found = Vec::new();
    for (room, allowed) in promises {
        if !graph.rooms.contains(*room) {
            found.push(format!("the room `{room}` does not exist"));
        }
        for used in graph.uses_of(room) {
            if !allowed.contains(&used) {
                found.push(format!("`{room}` must not use `{used}`"));
            }
        }
    }
    found
}

/// The parts of the standard library that create, change or remove files.
const FILE_CHANGES: [&str; 12] = [
    "fs::write",
    "fs::rename",
    "fs::remove_",
    "fs::create_dir",
    "fs::hard_link",
    "fs::copy",
    "fs::set_permissions",
    "unix::fs::symlink",
    "File::create",
    "File::options",
    "OpenOptions",
    "DirBuilder",
];

/// Only the room `writer` may create, change or remove files.
pub fn file_changes_outside(sources: &Sources, writer: Option<&str>) -> Vec<String> {
    let mut found = Vec::new();
    for file in sources.shipped().filter(|file| Some(file.room()) != writer) {
        for (at, line) in file.code().lines().enumerate() {
            if FILE_CHANGES.iter().any(|call| line.contains(call)) {
                found.push(format!("{}:{}: {}", file.path, at + 1, line.trim()));
            }
        }
    }
    found
}

/// The parts of the standard library that open files for reading, or list directories.
const FILE_READS: [&str; 5] =
    ["fs::read", "File::open", "read_dir_utf8", "read_link_utf8", "tokio::fs"];

/// Whether a line has a call that is not the end of a longer name.
fn calls(line: &str, call: &str) -> bool {
    let mut found = line.match_indices(call);
    found.any(|(at, _)| !line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_'))
}

/// Only the room `reader` may open files, except in `allowed` files, which have a reason.
pub fn file_reads_outside(
    sources: &Sources,
    reader: Option<&str>,
    allowed: &[(&str, &str)],
) -> Vec<String> {
    let mut found = Vec::new();
    let mut used = BTreeSet::new();
    for file in sources.shipped().filter(|file| Some(file.room()) != reader) {
        for (at, line) in file.code().lines().enumerate() {
            if !FILE_READS.iter().any(|call| calls(line, call)) {
                continue;
            }
            match allowed.iter().find(|(path, _)| *path == file.path) {
                Some((path, _)) => drop(used.insert(path)),
                None => found.push(format!("{}:{}: {}", file.path, at + 1, line.trim())),
            }
        }
    }
    let unused = allowed.iter().filter(|(path, _)| !used.contains(path));
    found.extend(unused.map(|(path, _)| unneeded(path)));
    found
}

/// A file must open with a sentence that says what it owns.
pub fn files_without_head(sources: &Sources) -> Vec<String> {
    let without = sources.files.iter();
    let without = without.filter(|file| !file.text.starts_with("//! "));
    without.map(|file| format!("{} does not open with `//! `", file.path)).collect()
}

/// A file must not be longer than [`LONGEST_FILE`] without a reason in `allowed`.
pub fn long_files(sources: &Sources, allowed: &[(&str, &str)]) -> Vec<String> {
    let mut found = Vec::new();
    let mut used = BTreeSet::new();
    for file in sources.shipped() {
        let count = file.count_lines();
        let lines = count.code + count.comment + count.blank;
        if lines < LONGEST_FILE {
            continue;
        }
        match allowed.iter().find(|(path, _)| *path == file.path) {
            Some((path, _)) => drop(used.insert(path)),
            None => found.push(format!("{} has {lines} lines: split it", file.path)),
        }
    }
    let unused = allowed.iter().filter(|(path, _)| !used.contains(path));
    found.extend(unused.map(|(path, _)| unneeded(path)));
    found
}

/// A file must be named after what it owns.
pub fn vague_files(sources: &Sources) -> Vec<String> {
    let vague = sources.files.iter();
    let vague = vague.filter(|file| VAGUE.contains(&file.stem()));
    vague.map(|file| file.path.clone()).collect()
}

/// What is special about a crate.
#[derive(Debug, Clone, Copy, Default)]
pub struct CrateRules<'a> {
    /// Rooms that may use only these rooms.
    pub promises: &'a [(&'a str, &'a [&'a str])],
    /// Files over the limit, and why.
    pub long_files: &'a [(&'a str, &'a str)],
    /// Violations that are still there. Entries are removed with their cause; none may be added.
    pub pending: &'a [&'a str],
}

/// Violations of the rules that hold for every crate: the arrows between rooms, names and sizes.
pub fn check_crate(sources: &Sources, own: &CrateRules<'_>) -> Vec<String> {
    [
        cycles(sources, own.pending),
        broken_promises(sources, own.promises),
        repeated_types(sources, own.pending),
        long_functions(sources, own.pending),
        long_files(sources, own.long_files),
        files_without_head(sources),
        vague_files(sources),
    ]
    .concat()
}

/// # Panics
/// When a rule was violated.
#[track_caller]
pub fn assert_none(violations: &[String]) {
    assert!(violations.is_empty(), "\n{}", violations.join("\n"));
}

fn tagged<'a>(pending: &[&'a str], tag: &str) -> Vec<&'a str> {
    pending.iter().filter_map(|e| e.strip_prefix(tag)).collect()
}

fn excuse(
    violations: impl Iterator<Item = (String, String)>,
    excused: &[&str],
    tag: &str,
) -> Vec<String> {
    let mut needed = BTreeSet::new();
    let mut found = Vec::new();
    for (entry, text) in violations {
        if excused.contains(&entry.as_str()) {
            needed.insert(entry);
        } else {
            found.push(text);
        }
    }
    let rest = excused.iter().filter(|entry| !needed.contains(**entry));
    found.extend(rest.map(|entry| unneeded(&format!("{tag}{entry}"))));
    found
}

fn unneeded(entry: &str) -> String {
    format!("the entry `{entry}` is not needed any more: remove it")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources() -> Sources {
        Sources::from_texts([
            ("a.rs".to_owned(), "//! A.\nuse crate::b::B;\nstruct X;".to_owned()),
            ("b.rs".to_owned(), "use crate::a::A;\nenum X {}".to_owned()),
        ])
    }

    #[test]
    fn pending_entries_excuse_violations_and_must_be_needed() {
        assert_eq!(repeated_types(&sources(), &[]).len(), 1);
        assert!(repeated_types(&sources(), &["type X"]).is_empty());
        let found = repeated_types(&sources(), &["type X", "type Y"]);
        assert_eq!(found, ["the entry `type Y` is not needed any more: remove it"]);
    }

    #[test]
    fn one_pending_edge_opens_a_circle_of_two() {
        assert_eq!(cycles(&sources(), &[]).len(), 3);
        assert!(cycles(&sources(), &["cycle b -> a"]).is_empty());
        let found = cycles(&sources(), &["cycle b -> a", "cycle b -> c"]);
        assert_eq!(found, ["the entry `cycle b -> c` is not needed any more: remove it"]);
    }

    #[test]
    fn heads_and_promises_are_checked() {
        assert_eq!(files_without_head(&sources()), ["b.rs does not open with `//! `"]);
        assert!(broken_promises(&sources(), &[("a", &["b"])]).is_empty());
        assert_eq!(broken_promises(&sources(), &[("a", &[])]), ["`a` must not use `b`"]);
    }
}
