//! Checks the architecture of the crate against its sources: the arrows between rooms, names, and
//! sizes. `house` reads the sources and has the rules.
#![allow(clippy::disallowed_methods, reason = "the test reads the sources")]

use std::path::Path;

use evalrig_core::assertion::KINDS;
use evalrig_core::import::FORMATS;
use house::rules::CrateRules;
use house::{Sources, rules};

/// Rooms that may use only these rooms, so that they can be understood and reused alone.
const PROMISES: &[(&str, &[&str])] = &[
    ("source", &[]),
    ("stats", &[]),
    ("plan", &["source", "model", "stats"]),
    ("compare", &["model", "stats"]),
    // Fixes do not know suites: the caller reads the result again.
    ("repair", &["source", "diagnostic", "syntax"]),
];

/// Files over the limit, and why.
const LONG_FILES: &[(&str, &str)] = &[("syntax/json.rs", "one parser with one set of states")];

/// Files that use a forbidden module of `std`: file, module, reason.
const STD_EXCEPTIONS: &[(&str, &str, &str)] = &[
    (
        "read/jsonl_parts.rs",
        "thread",
        "parts of a large JSONL file are parsed in parallel; the result does not depend on it",
    ),
    ("assertion/backtracking.rs", "thread", "a search that takes too long is given up"),
    ("assertion/backtracking.rs", "time", "after how long"),
    ("model/search_time.rs", "time", "how long searches may take, by the clock of the caller"),
];

fn sources() -> Sources {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    Sources::read(&src).expect("the sources")
}

#[test]
fn the_rules_of_every_crate_are_kept() {
    let own = CrateRules { promises: PROMISES, long_files: LONG_FILES, ..CrateRules::default() };
    rules::assert_none(&rules::check_crate(&sources(), &own));
}

#[test]
fn the_core_touches_no_file_clock_process_network_or_thread() {
    let forbidden = ["fs", "env", "process", "net", "time", "thread"];
    for file in sources().shipped() {
        for line in file.code().lines() {
            for name in forbidden {
                let is_used = line.contains(&format!("std::{name}::"))
                    || line.contains(&format!("std::{name};"))
                    || (line.contains("use std::{") && line.contains(&format!("{name}::")));
                let is_listed = STD_EXCEPTIONS
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
fn every_assertion_type_is_in_the_list_and_in_a_file_of_its_name() {
    let sources = sources();
    let list =
        &sources.files.iter().find(|file| file.path == "assertion/mod.rs").expect("the list").text;
    let mut count = 0;
    for file in sources.shipped().filter(|file| file.room() == "assertion") {
        let statics = file.text.lines().filter_map(|line| {
            let declared = line.strip_prefix("pub(super) static ")?;
            declared
                .strip_suffix(": AssertionKind = AssertionKind::new(")
                .or_else(|| declared.strip_suffix(": AssertionKind = AssertionKind {"))
        });
        let statics: Vec<&str> = statics.collect();
        let stem = file.stem();
        for name in &statics {
            assert!(
                list.contains(&format!("&{stem}::{name},")),
                "`{stem}::{name}` is not in `KINDS`"
            );
        }
        let name = stem.replace('_', "-");
        assert!(
            statics.is_empty() || KINDS.iter().any(|kind| kind.name == name),
            "`{}` should declare the type `{name}`",
            file.path
        );
        count += statics.len();
    }
    assert_eq!(count, KINDS.len());
}

#[test]
fn every_file_that_declares_codes_is_gathered() {
    let sources = sources();
    for file in sources.shipped() {
        if !file.text.contains("\ndeclare_codes! {") {
            continue;
        }
        let parent = format!("{}/mod.rs", file.room());
        let list = sources.files.iter().find(|other| other.path == parent).expect("a `mod.rs`");
        let line = format!("{}::CODES", file.stem());
        assert!(list.text.contains(&line), "`{}` is not in `{parent}`", file.path);
    }
}

#[test]
fn every_import_format_is_in_the_list_and_in_a_file_of_its_name() {
    let sources = sources();
    let list =
        &sources.files.iter().find(|file| file.path == "import/mod.rs").expect("the list").text;
    let mut count = 0;
    for file in sources.shipped().filter(|file| file.room() == "import") {
        if !file.text.contains("pub(super) static FORMAT: ImportFormat =") {
            continue;
        }
        let stem = file.stem();
        assert!(list.contains(&format!("&{stem}::FORMAT,")), "`{stem}` is not in `FORMATS`");
        let name = stem.replace('_', "-");
        assert!(
            FORMATS.iter().any(|format| format.name == name),
            "`{}` should declare the format `{name}`",
            file.path
        );
        count += 1;
    }
    assert_eq!(count, FORMATS.len());
}
