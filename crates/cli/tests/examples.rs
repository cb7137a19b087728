//! The examples are valid, listed, and give the documented results.
#![allow(clippy::print_stderr, reason = "tests say what they leave out")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn evalrig(directory: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_evalrig"))
        .args(arguments)
        .current_dir(directory)
        .env("NO_COLOR", "1")
        .env_remove("CI")
        .output()
        .expect("the binary starts")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("the report is UTF-8")
}

fn read(path: &str) -> String {
    fs::read_to_string(project().join(path)).expect("the file is part of the project")
}

fn directories(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(path).expect("the directory is part of the project");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let is_hidden = |path: &Path| path.file_name().is_some_and(|n| n.as_encoded_bytes()[0] == b'.');
    paths.filter(|path| path.is_dir() && !is_hidden(path)).collect()
}

/// With the root given, because a source archive has no `.git`.
fn clean(paths: &[&str]) {
    let options = ["--strict", "-v", "--format", "json", "--root", "."];
    let arguments: Vec<&str> = ["validate"].iter().chain(paths).chain(&options).copied().collect();
    let output = evalrig(&project(), &arguments);
    let report = stdout(&output);
    assert!(report.contains("\"diagnostics\": []"), "{paths:?}: {report}");
    assert_eq!(output.status.code(), Some(0), "{paths:?}");
}

#[test]
fn the_examples_are_clean_together() {
    clean(&["examples"]);
}

#[test]
fn the_examples_are_clean_without_a_repository_around_them() {
    let output = evalrig(&project(), &["validate", "examples", "-v"]);
    let report = stdout(&output);
    assert!(report.starts_with("all good: "), "{report}");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn files_that_are_only_read_when_named_are_clean_too() {
    clean(&["examples/dataset/quiz.jsonl"]);
    clean(&["examples/dataset/quiz.yaml"]);
    clean(&["examples/.evalrig/targets.yaml"]);
    for example in ["agent", "measurements", "outcomes", "targets"] {
        clean(&[&format!("examples/{example}/.evalrig/targets.yaml")]);
    }
}

#[test]
fn every_example_says_what_it_shows_and_is_in_the_list() {
    let list = read("examples/README.md");
    let examples = directories(&project().join("examples"));
    assert!(examples.len() >= 9);
    for example in examples {
        let name = example.file_name().expect("a name").to_string_lossy();
        let page = [example.join("EVAL.yaml"), example.join("README.md")];
        let page = page.iter().find_map(|path| fs::read_to_string(path).ok());
        let page = page.unwrap_or_else(|| panic!("{name} has no EVAL.yaml and no README.md"));
        assert!(page.starts_with("# "), "{name} does not open with a comment");
        assert!(page.contains("Shows: "), "{name} does not say what it shows");
        assert!(list.contains(&format!("| [{name}](")), "{name} is not listed");
    }
}

fn has_python() -> bool {
    let started = Command::new("python3").arg("--version").output();
    started.is_ok_and(|output| output.status.success())
}

/// What a run of each example comes to: its exit code, and how many cases passed, were borderline,
/// failed, could not be measured and were skipped.
const RUNS: &[(&str, i32, [usize; 5])] = &[
    ("agent", 0, [3, 0, 0, 0, 0]),
    ("coding-agent", 0, [2, 0, 0, 0, 0]),
    ("dataset", 0, [3, 0, 0, 0, 0]),
    ("gates", 0, [7, 0, 0, 0, 3]),
    ("hello", 0, [2, 0, 0, 0, 0]),
    ("imports", 0, [6, 0, 0, 0, 0]),
    ("input-files", 0, [3, 0, 0, 0, 0]),
    ("judges", 0, [2, 0, 0, 0, 0]),
    ("measurements", 0, [2, 0, 0, 0, 0]),
    ("messages-and-tools", 0, [2, 0, 0, 0, 0]),
    ("outcomes", 1, [1, 1, 1, 2, 1]),
    ("skill-evals", 0, [2, 0, 0, 0, 0]),
    ("skill-triggers", 0, [4, 0, 0, 0, 0]),
    ("targets", 0, [2, 0, 0, 0, 0]),
    ("transpile", 0, [5, 0, 0, 0, 0]),
    ("variables", 0, [3, 0, 0, 0, 0]),
];

/// Programs that an example needs besides `sh`.
fn can_run(example: &str) -> bool {
    match example {
        "judges" | "coding-agent" => has_python(),
        _ => true,
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a directory");
    for entry in fs::read_dir(from).expect("the directory is part of the project") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name");
        match path.is_dir() {
            // Left over from running the examples by hand.
            true if name == "results" => {}
            true => copy(&path, &to.join(name)),
            false => drop(fs::copy(&path, to.join(name)).expect("a copy")),
        }
    }
}

#[test]
fn every_example_runs_with_the_expected_result() {
    let directory = tempfile::tempdir().expect("a directory");
    let examples = directory.path().join("examples");
    copy(&project().join("examples"), &examples);
    let mut names: Vec<String> = directories(&examples)
        .iter()
        .map(|path| path.file_name().expect("a name").to_string_lossy().into())
        .collect();
    names.sort();
    let known: Vec<&str> = RUNS.iter().map(|(name, ..)| *name).collect();
    assert_eq!(names, known, "every example is in the list");
    let list = read("examples/README.md");
    for (name, code, counts) in RUNS {
        assert!(
            list.lines()
                .any(|l| l.starts_with(&format!("| [{name}]("))
                    && l.ends_with(&format!("| {code} |"))),
            "examples/README.md says another exit code for {name}"
        );
        if !can_run(name) {
            eprintln!("{name} is not run: python3 is missing");
            continue;
        }
        let output = evalrig(&examples, &["run", name, "--root", ".", "--report", "jsonl"]);
        let rows = stdout(&output);
        let outcome = |row: &str| {
            let row: serde_json::Value = serde_json::from_str(row).expect("a row is JSON");
            row["outcome"].as_str().expect("an outcome").to_owned()
        };
        let outcomes: Vec<String> = rows.lines().map(outcome).collect();
        let found = ["passed", "borderline", "failed", "errored", "skipped"]
            .map(|wanted| outcomes.iter().filter(|found| *found == wanted).count());
        assert_eq!(found, *counts, "{name}: {rows}");
        assert_eq!(output.status.code(), Some(*code), "{name}: {rows}");
    }
}

/// Without a repository around it and without `--root`.
#[test]
fn the_example_of_the_readme_runs_anywhere() {
    let directory = tempfile::tempdir().expect("a directory");
    let examples = directory.path().join("examples");
    copy(&project().join("examples"), &examples);
    let output = evalrig(directory.path(), &["run", "examples/measurements"]);
    assert!(stdout(&output).contains("all 2 tests passed"));
    assert_eq!(output.status.code(), Some(0));
}

/// Two of their tests call a skill that does not exist.
#[test]
fn the_suites_for_real_agents_miss_nothing_but_a_skill_on_purpose() {
    let options = ["validate", "scripts/e2e", "-v", "--format", "concise", "--root", "."];
    let output = evalrig(&project(), &options);
    assert_eq!(output.status.code(), Some(0));
    let report = stdout(&output);
    let found: Vec<&str> = report.lines().filter(|line| line.contains("EVAL.yaml:")).collect();
    assert_eq!(found.len(), 2, "{report}");
    let is_known = |line: &&str| line.contains("unknown-skill") && line.contains("`csv-missing`");
    assert!(found.iter().all(is_known), "{report}");
}

#[test]
fn paths_are_relative_to_the_working_directory() {
    let output = evalrig(&project().join("examples"), &["list", "hello", "--format", "json"]);
    assert!(stdout(&output).contains("\"file\": \"hello/EVAL.yaml\""));
}
