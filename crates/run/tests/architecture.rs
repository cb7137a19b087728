//! Which room may use which, read from the sources.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Every room and what it may use, in the order in which data passes through.
const ROOMS: &[(&str, &[&str])] = &[
    ("text", &[]),
    ("disk", &[]),
    ("json", &[]),
    ("setting", &[]),
    ("agent", &["setting"]),
    ("format", &["agent"]),
    ("grade", &["agent"]),
    ("record", &["json"]),
    // Sessions of agents, which `log record` reads.
    ("runlog", &["disk", "format", "record"]),
    // Replay reads rows and logged runs; `cli` reads the output file of a program.
    (
        "provider",
        &["disk", "setting", "agent", "format", "record", "runlog"],
    ),
    ("target", &["setting", "agent", "provider"]),
    ("event", &["record"]),
    (
        "execute",
        &[
            "disk", "json", "setting", "agent", "grade", "record", "runlog", "provider", "target",
            "event",
        ],
    ),
    (
        "prepare",
        &["disk", "setting", "target", "agent", "execute", "record"],
    ),
    // Only what was kept: any stored run can be shown again.
    ("report", &["record", "text"]),
];

/// Without tests.
const LONGEST: usize = 500;

fn source_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("the sources") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => source_files(&path, found),
            false if path.extension().is_some_and(|end| end == "rs") => found.push(path),
            false => {}
        }
    }
}

/// The room of a file, its path from `src` and its text above the tests.
fn all_files() -> Vec<(String, String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut paths = Vec::new();
    source_files(&root, &mut paths);
    paths
        .iter()
        .map(|path| {
            let relative = path.strip_prefix(&root).expect("below `src`");
            let relative = relative.to_str().expect("UTF-8").replace('\\', "/");
            let first = relative.split('/').next().unwrap_or("");
            let room = first.trim_end_matches(".rs").to_owned();
            let text = std::fs::read_to_string(path).expect("a source file");
            let code = match text.find("\nmod tests {") {
                Some(at) => &text[..at],
                None => &text,
            };
            (room, relative, code.to_owned())
        })
        .filter(|(room, ..)| room != "lib")
        .collect()
}

#[test]
fn every_room_is_in_the_table() {
    let known: BTreeSet<&str> = ROOMS.iter().map(|(room, _)| *room).collect();
    let files = all_files();
    let found: BTreeSet<&str> = files.iter().map(|(room, ..)| room.as_str()).collect();
    assert_eq!(found, known);
}

#[test]
fn rooms_use_only_what_they_may() {
    for (room, path, code) in all_files() {
        let may = ROOMS.iter().find(|(name, _)| *name == room);
        let may = may.map_or(&[] as &[&str], |(_, may)| may);
        for (other, _) in ROOMS.iter().filter(|(name, _)| *name != room) {
            let uses = code.contains(&format!("crate::{other}::"))
                || code.contains(&format!("crate::{other};"));
            assert!(!uses || may.contains(other), "{path} uses `{other}`");
        }
    }
}

#[test]
fn every_file_says_what_it_owns_and_is_short() {
    for (_, path, code) in all_files() {
        // Support of tests says so by its place.
        let is_support = path.ends_with("testing.rs") || path.ends_with("_tests.rs");
        assert!(code.starts_with("//! "), "{path} does not say what it owns");
        let lines = code.lines().count();
        assert!(lines <= LONGEST || is_support, "{path} has {lines} lines");
    }
}
