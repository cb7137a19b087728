//! Which room may use which, read from the sources. Data only moves to the right: a room uses only
//! rooms above it in the table, so there can be no cycle but the exceptions listed here.
#![allow(clippy::disallowed_methods, reason = "the test reads the sources")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use evalrig_core::assertion::KINDS;

/// Every room and what it may use, in the order in which data passes through.
const ROOMS: &[(&str, &[&str])] = &[
    ("source", &[]),
    ("diagnostic", &["source"]),
    ("model", &["source", "diagnostic"]),
    // Of the model only `Value` and `Number`.
    ("syntax", &["source", "diagnostic", "model"]),
    // Of the model only `Value`.
    ("secrets", &["model"]),
    (
        "reader",
        &["source", "diagnostic", "model", "syntax", "secrets"],
    ),
    // Of the syntax only JSON.
    ("evidence", &["source", "diagnostic", "model", "syntax"]),
    (
        "assertion",
        &[
            "source",
            "diagnostic",
            "model",
            "syntax",
            "reader",
            "evidence",
        ],
    ),
    // Of evidence only what a prompt is.
    (
        "transpile_rules",
        &["source", "diagnostic", "model", "evidence", "assertion"],
    ),
    ("score", &["source", "model"]),
    ("stats", &[]),
    ("plan", &["source", "model", "stats"]),
    // Of the model only `Outcome`.
    ("compare", &["model", "stats"]),
    // Reading again is the caller's: fixes know nothing of suites.
    ("repair", &["source", "diagnostic", "syntax"]),
    // Of evidence only what a prompt is.
    (
        "read",
        &[
            "source",
            "diagnostic",
            "model",
            "syntax",
            "secrets",
            "reader",
            "evidence",
            "assertion",
            "transpile_rules",
        ],
    ),
    (
        "export",
        &[
            "source",
            "diagnostic",
            "model",
            "syntax",
            "secrets",
            "reader",
            "evidence",
            "assertion",
            "transpile_rules",
        ],
    ),
    // The schema is made from the tables of fields, wherever they stand.
    (
        "schema",
        &[
            "source",
            "diagnostic",
            "model",
            "syntax",
            "reader",
            "assertion",
            "read",
        ],
    ),
];

/// Files that look to the right all the same: file, room, reason.
const BACKWARDS: &[(&str, &str, &str)] = &[];

/// Files that are longer than the rest, and why.
const LONG: &[(&str, &str)] = &[
    (
        "read/evals_json.rs",
        "a dialect of its own: header, entries, files and triggers",
    ),
    ("read/suite.rs", "every field of the root, with its faults"),
    (
        "read/test.rs",
        "every field of a test, and its list of assertions",
    ),
    ("syntax/json.rs", "one parser; its states belong together"),
    (
        "syntax/yaml.rs",
        "one builder of trees; its states belong together",
    ),
];

/// Files that use something of the world all the same: file, module of `std`, reason.
const WORLDLY: &[(&str, &str, &str)] = &[(
    "read/jsonl_parts.rs",
    "thread",
    "parts of a large JSONL file are parsed side by side; the result does not depend on it",
)];

/// Without the docs of the codes, and without tests.
const LONGEST: usize = 500;

struct SourceFile {
    /// From `src`, with `/`.
    path: String,
    text: String,
}

impl SourceFile {
    fn room(&self) -> &str {
        self.path.split_once('/').map_or("", |(room, _)| room)
    }

    fn stem(&self) -> &str {
        let name = self.path.rsplit('/').next().unwrap_or("");
        name.trim_end_matches(".rs")
    }

    /// Everything above the tests at the foot.
    fn code(&self) -> &str {
        let mark = "\n#[cfg(test)]\n";
        let tests = self.text.match_indices(mark).find(|(at, _)| {
            let next = self.text[at + mark.len()..].lines().next().unwrap_or("");
            next.contains("mod ") && next.ends_with('{')
        });
        tests.map_or(&self.text, |(at, _)| &self.text[..at])
    }

    /// As [`Self::code`], without the docs of codes, which are prose.
    fn lines(&self) -> Vec<&str> {
        let mut in_doc = false;
        let mut found = Vec::new();
        for line in self.code().lines() {
            if in_doc {
                in_doc = !line.contains("\"#");
                continue;
            }
            in_doc = line.contains("r#\"") && !line.contains("\"#;");
            found.push(line);
        }
        found
    }

    /// As [`Self::lines`], without comments.
    fn statements(&self) -> impl Iterator<Item = &str> {
        let lines = self.lines().into_iter();
        lines.filter(|line| !line.trim_start().starts_with("//"))
    }
}

fn source_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn collect(folder: &Path, found: &mut Vec<SourceFile>) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the sources")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            let relative = path.strip_prefix(source_folder()).expect("below `src`");
            found.push(SourceFile {
                path: relative.to_str().expect("UTF-8").replace('\\', "/"),
                text: std::fs::read_to_string(&path).expect("a source file"),
            });
        }
    }
}

fn all_files() -> Vec<SourceFile> {
    let mut found = Vec::new();
    collect(&source_folder(), &mut found);
    found
}

/// Files that only tests use: their `mod` line stands behind `#[cfg(test)]`.
fn is_for_tests(file: &SourceFile, files: &[SourceFile]) -> bool {
    let parent = format!("{}/mod.rs", file.room());
    let line = format!("#[cfg(test)]\nmod {};", file.stem());
    files
        .iter()
        .any(|other| other.path == parent && other.text.contains(&line))
}

/// The files that are shipped.
fn files() -> Vec<SourceFile> {
    let all = all_files();
    let keep: Vec<bool> = all.iter().map(|file| !is_for_tests(file, &all)).collect();
    all.into_iter()
        .zip(keep)
        .filter_map(|(file, keep)| keep.then_some(file))
        .collect()
}

/// The rooms that a line names with `crate::`.
fn rooms_of(line: &str) -> Vec<&str> {
    line.match_indices("crate::")
        .map(|(at, found)| {
            let rest = &line[at + found.len()..];
            let end = rest.find(|c: char| !c.is_ascii_lowercase() && c != '_');
            &rest[..end.unwrap_or(rest.len())]
        })
        .collect()
}

#[test]
fn every_room_is_in_the_table() {
    let found: BTreeSet<String> = files()
        .iter()
        .map(|file| file.room().to_owned())
        .filter(|room| !room.is_empty())
        .collect();
    for room in &found {
        assert!(
            ROOMS.iter().any(|(known, _)| known == room),
            "`{room}` is a new room: say in `ROOMS` what it may use"
        );
    }
}

#[test]
fn the_table_only_looks_to_the_left() {
    for (at, (room, uses)) in ROOMS.iter().enumerate() {
        for used in *uses {
            let place = ROOMS.iter().position(|(other, _)| other == used);
            assert!(
                place.is_some_and(|place| place < at),
                "`{room}` uses `{used}`"
            );
        }
    }
}

#[test]
fn rooms_use_only_what_they_may() {
    let mut faults = String::new();
    let mut needed = BTreeSet::new();
    for file in files() {
        let Some((room, allowed)) = ROOMS.iter().find(|(room, _)| *room == file.room()) else {
            continue;
        };
        for line in file.statements() {
            assert!(
                !line.contains("crate::{"),
                "{}: one `use` per room, please",
                file.path
            );
            for used in rooms_of(line) {
                let is_room = ROOMS.iter().any(|(other, _)| *other == used);
                if !is_room || used == *room || allowed.contains(&used) {
                    continue;
                }
                let listed = BACKWARDS
                    .iter()
                    .find(|(path, other, _)| *path == file.path && *other == used);
                match listed {
                    Some(listed) => drop(needed.insert(listed)),
                    None => faults += &format!("{} uses `{used}`: {}\n", file.path, line.trim()),
                }
            }
        }
    }
    assert!(faults.is_empty(), "{faults}");
    for listed in BACKWARDS {
        assert!(!listed.2.is_empty());
        assert!(needed.contains(listed), "{listed:?} is not needed any more");
    }
}

#[test]
fn the_core_touches_no_file_clock_process_network_or_thread() {
    let forbidden = ["fs", "env", "process", "net", "time", "thread"];
    for file in files() {
        for line in file.statements() {
            for name in forbidden {
                let is_used = line.contains(&format!("std::{name}::"))
                    || line.contains(&format!("std::{name};"))
                    || (line.contains("use std::{") && line.contains(&format!("{name}::")));
                let is_listed = WORLDLY
                    .iter()
                    .any(|(path, other, _)| *path == file.path && *other == name);
                assert!(!is_used || is_listed, "{}: {}", file.path, line.trim());
            }
            for printing in ["println!", "eprintln!", "print!(", "dbg!"] {
                assert!(!line.contains(printing), "{}: {}", file.path, line.trim());
            }
        }
    }
}

#[test]
fn every_assertion_file_is_in_the_list_under_its_own_name() {
    let files = files();
    let list = &files
        .iter()
        .find(|file| file.path == "assertion/mod.rs")
        .expect("the list")
        .text;
    let mut count = 0;
    for file in files.iter().filter(|file| file.room() == "assertion") {
        if !file.text.contains("static KIND: AssertionKind") {
            continue;
        }
        count += 1;
        let stem = file.stem();
        assert!(
            list.contains(&format!("&{stem}::KIND,")),
            "`{stem}` is not in `KINDS`"
        );
        let name = stem.replace('_', "-");
        assert!(
            KINDS.iter().any(|kind| kind.name == name),
            "`{}` should hold the type `{name}`",
            file.path
        );
    }
    assert_eq!(count, KINDS.len());
}

#[test]
fn every_file_that_declares_codes_is_gathered() {
    let files = files();
    for file in &files {
        if !file.text.contains("\ndeclare_codes! {") {
            continue;
        }
        let parent = format!("{}/mod.rs", file.room());
        let list = files
            .iter()
            .find(|other| other.path == parent)
            .expect("a `mod.rs`");
        let line = format!("{}::CODES", file.stem());
        assert!(
            list.text.contains(&line),
            "`{}` is not in `{parent}`",
            file.path
        );
    }
}

#[test]
fn every_file_says_what_it_owns() {
    for file in all_files() {
        assert!(
            file.text.starts_with("//! "),
            "{} has no first line",
            file.path
        );
    }
}

#[test]
fn files_are_short() {
    for file in files() {
        let length = file.lines().len();
        let is_listed = LONG
            .iter()
            .any(|(path, reason)| *path == file.path && !reason.is_empty());
        assert!(
            length < LONGEST || is_listed,
            "{} has {length} lines: look for the missing room",
            file.path
        );
    }
}

#[test]
fn files_are_named_after_what_they_own() {
    for file in all_files() {
        let is_vague = [
            "utils", "util", "helpers", "helper", "common", "imp", "misc",
        ];
        assert!(!is_vague.contains(&file.stem()), "{}", file.path);
    }
}
