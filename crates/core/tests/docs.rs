//! The docs that `explain` prints: every example of a code reports exactly that code, every
//! "instead" nothing, and every example of an assertion type loads clean.
#![allow(clippy::disallowed_methods, reason = "the test reads the pages of the book")]

mod support;

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::assertion::KINDS;
use evalrig_core::codes::all_codes;
use evalrig_core::diagnostic::{Code, Doc, DocFile, Family};
use support::{Outcome, Project, show};

/// Codes whose example cannot be a file in a doc, and why. `limits.rs` has a test for each.
const ONLY_TOLD: &[(&str, &str)] = &[
    ("attachment-too-large", "the attached file has over 10 MiB"),
    ("import-depth", "it takes eighteen files"),
    ("duplicate-suite-name", "it takes two suites of one invocation"),
    ("description-too-long", "the text has 2049 characters"),
    ("invalid-encoding", "Markdown is UTF-8"),
    ("control-character", "the character would be in the source of this project"),
    ("file-too-large", "the file has over 32 MiB"),
    ("line-too-long", "the line has over 16 MiB"),
    ("too-deep", "129 brackets are not readable"),
    ("alias-limit", "the nested aliases fill a page"),
    ("expansion-limit", "the text is longer than 1 MiB"),
    ("unreadable-file", "the file system has to fail"),
    ("unreadable-env-file", "the file has over 1 MiB"),
    ("import-limit", "it takes a hundred thousand files"),
    ("undecodable-name", "Markdown is UTF-8"),
    ("link-outside-template", "it takes a symbolic link"),
    ("special-file-in-template", "it takes a FIFO"),
    ("overlay-too-large", "it takes ten thousand files"),
    ("csv-syntax", "only `convert` reads CSV"),
    ("toml-syntax", "only `convert` reads TOML"),
    ("not-convertible", "only `convert` reads files of other tools"),
];

/// Warnings that only show when a suite is transpiled, which `validate` does not do.
const EXPORTED: &[&str] =
    &["conflicting-trigger-settings", "duplicate-query", "id-moved", "prompt-path-as-text"];

/// Errors that block transpiling only.
const NOT_EXPORTED: &[&str] = &["conflicting-triggers", "no-prompt", "skill-name-collision"];

fn is_exported(code: &Code) -> bool {
    EXPORTED.contains(&code.name)
}

fn load(files: &[DocFile]) -> Outcome {
    project(files).load()
}

fn project(files: &[DocFile]) -> Project {
    let (main, others) = files.split_first().expect("a part has a file");
    let mut project = Project::named(&main.path, main.text.as_str());
    for file in others {
        project = project.with(&file.path, file.text.as_str());
    }
    project.with_targets_of_file()
}

fn doc_of(code: &Code) -> Doc {
    Doc::parse(code.doc).unwrap_or_else(|| panic!("the doc of `{}` lacks a part", code.name))
}

#[test]
fn every_code_has_a_doc_of_four_parts() {
    for code in all_codes() {
        let doc = doc_of(code);
        assert!(!doc.what.is_empty(), "`{}` says nothing", code.name);
        assert!(!doc.why.is_empty(), "`{}` gives no reason", code.name);
    }
}

#[test]
fn every_example_reports_exactly_its_code() {
    let mut faults = String::new();
    for code in all_codes() {
        let doc = doc_of(code);
        if doc.example.is_empty() || is_exported(code) {
            continue;
        }
        let outcome = load(&doc.example);
        let names: BTreeSet<&str> = outcome.names().into_iter().collect();
        if names != BTreeSet::from([code.name]) {
            faults += &format!("`{}` reports:\n{}\n", code.name, show(&outcome.seen));
        }
    }
    assert!(faults.is_empty(), "{faults}");
}

#[test]
fn every_example_of_an_export_code_reports_it_when_transpiled() {
    let family: BTreeSet<&str> =
        all_codes().filter(|code| code.family == Family::Export).map(|code| code.name).collect();
    let listed = EXPORTED.iter().chain(NOT_EXPORTED).copied();
    assert_eq!(family, BTreeSet::from_iter(listed));
    for code in all_codes().filter(|code| code.family == Family::Export) {
        let doc = doc_of(code);
        let made = project(&doc.example).transpile(|_| {});
        assert_eq!(made.loading.is_empty(), is_exported(code), "{}", show(&made.loading));
        assert_eq!(made.told_names(), [code.name]);
        assert_eq!(made.files.is_empty(), code.level.blocks_transpile());
        let made = project(&doc.instead).transpile(|_| {});
        assert!(made.told.is_empty(), "{}", show(&made.told));
        assert!(!made.files.is_empty(), "`{}`", code.name);
    }
}

#[test]
fn every_instead_is_clean() {
    let mut faults = String::new();
    for code in all_codes() {
        let doc = doc_of(code);
        if doc.instead.is_empty() {
            continue;
        }
        let outcome = load(&doc.instead);
        if !outcome.seen.is_empty() || outcome.suite.is_none() {
            faults += &format!("`{}` reports:\n{}\n", code.name, show(&outcome.seen));
        }
    }
    assert!(faults.is_empty(), "{faults}");
}

#[test]
fn codes_without_an_example_file_are_listed_and_tested_in_limits() {
    let told: BTreeSet<&str> = all_codes()
        .filter(|code| doc_of(code).example.is_empty() || doc_of(code).instead.is_empty())
        .map(|code| code.name)
        .collect();
    let listed: BTreeSet<&str> = ONLY_TOLD.iter().map(|(name, _)| *name).collect();
    assert_eq!(told, listed);
    let limits = include_str!("limits.rs");
    for (name, reason) in ONLY_TOLD {
        assert!(!reason.is_empty(), "`{name}` is listed without a reason");
        assert!(limits.contains(&format!("\"{name}\"")), "`limits.rs` lacks `{name}`");
    }
}

#[test]
fn names_are_kebab_case_and_unique() {
    let mut seen = BTreeSet::new();
    for code in all_codes() {
        let is_kebab = code.name.split('-').all(|word| {
            !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
        });
        assert!(is_kebab, "`{}`", code.name);
        assert!(seen.insert(code.name), "`{}` is declared twice", code.name);
    }
}

/// The ```` ```yaml ```` fences of a doc.
fn yaml_fences(doc: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut lines = doc.lines();
    while let Some(line) = lines.next() {
        if line.trim_end() == "```yaml" {
            let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            found.push(body.join("\n"));
        }
    }
    found
}

/// A whole suite stays; a fragment becomes a part of a test.
fn as_suite(fragment: &str) -> String {
    if fragment.lines().any(|line| line.starts_with("tests:")) {
        return fragment.to_owned();
    }
    let mut suite = "name: demo\ntests:\n  - id: a\n".to_owned();
    for (key, value) in [("criteria", "Fits"), ("input", "Hi")] {
        if !fragment.lines().any(|line| line.starts_with(&format!("{key}:"))) {
            suite += &format!("    {key}: {value}\n");
        }
    }
    for line in fragment.lines() {
        suite += &format!("    {line}\n");
    }
    suite
}

#[test]
fn every_example_of_an_assertion_type_is_clean() {
    let mut faults = String::new();
    for kind in KINDS {
        let fences = yaml_fences(kind.doc);
        assert!(!fences.is_empty(), "the doc of `{}` has no example", kind.name);
        for fence in fences {
            let outcome = Project::new(&as_suite(&fence)).load();
            if !outcome.seen.is_empty() {
                faults += &format!("`{}`\n{fence}\n{}\n", kind.name, show(&outcome.seen));
            }
        }
    }
    assert!(faults.is_empty(), "{faults}");
}

#[test]
fn every_example_of_an_assertion_type_uses_the_type() {
    for kind in KINDS {
        for fence in yaml_fences(kind.doc) {
            let mut names = std::iter::once(&kind.name).chain(kind.aliases);
            assert!(
                names.any(|name| fence.contains(&format!("type: {name}"))),
                "the doc of `{}` shows:\n{fence}",
                kind.name
            );
        }
    }
}

/// The default of the format is the first call only, which is rarely what an author means.
#[test]
fn every_example_of_a_trigger_says_which_calls_count() {
    let mut found = Vec::new();
    let docs = all_codes().map(|code| (code.name, code.doc));
    let types = KINDS.iter().map(|kind| (kind.name, kind.doc));
    for (name, text) in docs.chain(types) {
        found.extend(silent_triggers(text).into_iter().map(|line| format!("{name}: {line}")));
    }
    for (path, text) in pages() {
        found.extend(silent_triggers(&text).into_iter().map(|line| format!("{path}: {line}")));
    }
    assert!(found.is_empty(), "without `detection`:\n{}", found.join("\n"));
    assert_eq!(silent_triggers("- {type: trigger-judge, skill: a}").len(), 1);
    assert_eq!(silent_triggers("- type: trigger-judge\n  skill: a\n- type: is-json").len(), 1);
    assert_eq!(silent_triggers("- type: trigger-judge\n  detection: any-call").len(), 0);
}

/// The script lets its workers see each other's copies of the skill, so that rates are wrong with several.
#[test]
fn commands_of_the_script_for_triggers_have_one_worker() {
    let mut commands = 0;
    for (path, text) in pages() {
        for block in text.split("```").skip(1).step_by(2) {
            let block = block.replace("\\\n", " ");
            for line in block.lines().filter(|line| line.contains("scripts.run_eval ")) {
                assert!(
                    line.contains("--num-workers 1 ") || line.ends_with("--num-workers 1"),
                    "{path}: {line}"
                );
                commands += 1;
            }
        }
    }
    assert!(commands > 0);
}

/// The pages of the book, by path.
fn pages() -> Vec<(Utf8PathBuf, String)> {
    let mut directories = vec![Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")];
    let mut found = Vec::new();
    while let Some(directory) = directories.pop() {
        for entry in directory.read_dir_utf8().expect("a directory of docs") {
            let path = entry.expect("an entry").into_path();
            if path.is_dir() {
                directories.push(path);
            } else if path.extension() == Some("md") {
                let text = std::fs::read_to_string(&path).expect("a page");
                found.push((path, text));
            }
        }
    }
    found
}

/// The lines that begin a trigger-judge without `detection`.
fn silent_triggers(text: &str) -> Vec<&str> {
    let lines: Vec<&str> = text.lines().collect();
    let is_silent = |(at, line): (usize, &&str)| {
        let start = line.find("type: trigger-judge")?;
        let rest = &line[start..];
        let is_told = if line[..start].trim_end().ends_with('{') {
            rest.split('}').next().is_some_and(|inside| inside.contains("detection:"))
        } else {
            let is_inside = |line: &&&str| {
                line.chars().position(|c| c != ' ').is_some_and(|column| column >= start)
            };
            lines[at + 1..].iter().take_while(is_inside).any(|line| line.contains("detection:"))
        };
        (!is_told).then_some(lines[at])
    };
    lines.iter().enumerate().filter_map(is_silent).collect()
}
