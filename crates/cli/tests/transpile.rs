//! `transpile` as a process: what it writes, what it refuses to write, and how it ends.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

const SUITE: &str = "name: demo
tests:
  - id: a
    criteria: Reads the table
    input: What is the mean of column b?
    assert: [{type: trigger-judge, skill: csv}]
  - id: b
    criteria: Says the time
    input: What time is it?
    assert: [{type: trigger-judge, skill: csv, should_trigger: false}]
";

const MANIFEST: &str = ".evalrig-transpile.json";

fn directory(suite: &str) -> TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    fs::write(directory.path().join("EVAL.yaml"), suite).expect("a suite");
    directory
}

fn run(directory: &Path, options: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_evalrig"))
        .args(["transpile", "EVAL.yaml"])
        .args(options)
        .current_dir(directory)
        .env("NO_COLOR", "1")
        .output()
        .expect("the binary starts")
}

#[track_caller]
fn ends_with(output: &Output, code: i32) -> String {
    let out = String::from_utf8_lossy(&output.stdout);
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{out}\n{err}");
    format!("{out}{err}")
}

fn read(directory: &Path, name: &str) -> String {
    fs::read_to_string(directory.join(name)).expect("the file is there")
}

/// Names below a directory, without the suite.
fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("a directory");
    let names = entries.map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<String> = names.map(|name| name.to_string_lossy().into_owned()).collect();
    names.retain(|name| name != "EVAL.yaml");
    names.sort();
    names
}

#[test]
fn files_go_beside_the_suite_with_a_manifest() {
    let place = directory(SUITE);
    let said = ends_with(&run(place.path(), &[]), 0);
    assert_eq!(said, "wrote evals.json\nwrote eval-set.json\n");
    assert_eq!(names(place.path()), [MANIFEST, "eval-set.json", "evals.json"]);
    let manifest: serde_json::Value =
        serde_json::from_str(&read(place.path(), MANIFEST)).expect("JSON");
    for name in ["evals.json", "eval-set.json"] {
        assert_eq!(manifest[name].as_str().map(str::len), Some(64));
    }
    let said = ends_with(&run(place.path(), &[]), 0);
    assert_eq!(said, "unchanged evals.json\nunchanged eval-set.json\n");
}

#[test]
fn only_unchanged_files_of_evalrig_are_overwritten() {
    let place = directory(SUITE);
    ends_with(&run(place.path(), &[]), 0);
    fs::write(place.path().join("EVAL.yaml"), SUITE.replace("mean", "sum")).expect("a suite");
    ends_with(&run(place.path(), &[]), 0);
    assert!(read(place.path(), "evals.json").contains("sum of column"));
    fs::write(place.path().join("eval-set.json"), "[]\n").expect("a file");
    fs::write(place.path().join("EVAL.yaml"), SUITE).expect("a suite");
    let said = ends_with(&run(place.path(), &[]), 2);
    assert!(said.contains("eval-set.json` was not written by evalrig"), "{said}");
    assert!(read(place.path(), "evals.json").contains("sum of column"), "nothing is written");
    ends_with(&run(place.path(), &["--force"]), 0);
    assert!(read(place.path(), "eval-set.json").contains("mean of column"));
}

#[test]
fn foreign_files_are_not_overwritten() {
    let place = directory(SUITE);
    fs::write(place.path().join("evals.json"), "mine").expect("a file");
    ends_with(&run(place.path(), &[]), 2);
    assert_eq!(names(place.path()), ["evals.json"]);
    assert_eq!(read(place.path(), "evals.json"), "mine");
}

#[test]
fn check_writes_nothing() {
    let place = directory(SUITE);
    let said = ends_with(&run(place.path(), &["--check"]), 1);
    assert_eq!(said, "evals.json is missing\neval-set.json is missing\n");
    assert_eq!(names(place.path()), [""; 0]);
    ends_with(&run(place.path(), &[]), 0);
    ends_with(&run(place.path(), &["--check"]), 0);
    let said = ends_with(&run(place.path(), &["--check", "--no-criteria"]), 1);
    assert!(said.contains("evals.json differs\n"), "{said}");
}

#[test]
fn stdout_takes_exactly_one_file() {
    let place = directory(SUITE);
    ends_with(&run(place.path(), &["--stdout"]), 2);
    let output = run(place.path(), &["--stdout", "--format", "eval-set"]);
    ends_with(&output, 0);
    let set: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    for item in set.as_array().expect("`run_eval.py` walks a list") {
        assert!(item["query"].is_string() && item["should_trigger"].is_boolean());
    }
    assert_eq!(names(place.path()), [""; 0]);
}

#[test]
fn a_denied_loss_writes_only_its_report() {
    let lossy = SUITE.replace("skill: csv}", "skill: csv, weight: 2}");
    let place = directory(&lossy);
    let said = ends_with(&run(place.path(), &["--deny-loss", "--loss-report", "loss.json"]), 1);
    assert!(said.contains("EVAL.yaml:6: loss[weight]: "), "{said}");
    assert_eq!(names(place.path()), ["loss.json"]);
    let report: serde_json::Value =
        serde_json::from_str(&read(place.path(), "loss.json")).expect("JSON");
    assert_eq!(report[0]["kind"], "weight");
    assert_eq!(report[0]["test"], "a");
    assert_eq!(report[0]["source"], serde_json::json!({"file": "EVAL.yaml", "line": 6}));
    ends_with(&run(place.path(), &[]), 0);
}

#[test]
fn blocking_errors_are_shown_and_nothing_is_written() {
    let place = directory(&SUITE.replace(
        "[{type: trigger-judge, skill: csv}]",
        "[{type: trigger-judge, skill: csv}, {type: trigger-judge, skill: csv, negate: true}]",
    ));
    let said = ends_with(&run(place.path(), &["--force"]), 2);
    assert!(said.contains("error[conflicting-triggers]"), "{said}");
    assert_eq!(names(place.path()), [""; 0]);
}

/// An error that blocks only `transpile` is an error in `validate`, a warning in `run`, and reported once here.
#[test]
fn errors_that_block_only_transpile_are_reported_by_validate() {
    const CODES: [&str; 3] = ["conflicting-triggers", "no-prompt", "skill-name-collision"];
    let place = directory(
        "name: demo
tests:
  - id: a
    criteria: c
    input: q
    assert: [{type: trigger-judge, skill: k}, {type: trigger-judge, skill: k, negate: true}, {type: trigger-judge, skill: K}]
  - id: b
    criteria: c
    input: [{role: user, content: ' '}]
  - id: c
    criteria: c
    input: [{role: system, content: x}]
",
    );
    let evalrig = |arguments: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_evalrig"))
            .args(arguments)
            .current_dir(place.path())
            .env("NO_COLOR", "1")
            .output()
            .expect("the binary starts")
    };
    let said = ends_with(&evalrig(&["validate", "--format", "concise"]), 1);
    for part in [
        "EVAL.yaml:6:48: error[conflicting-triggers]",
        "EVAL.yaml:6:95: error[skill-name-collision]",
        "EVAL.yaml:9:12: error[no-prompt]",
        "EVAL.yaml:12:12: error[no-user-message]",
        "4 errors",
    ] {
        assert!(said.contains(part), "{part}\n{said}");
    }
    let said = ends_with(&run(place.path(), &[]), 2);
    for (code, times) in CODES.into_iter().zip([1, 2, 1]) {
        // The prompt of `c`, which has no user, is missed here only.
        let count = said.matches(&format!("error[{code}]")).count();
        assert_eq!(count, times, "{code}\n{said}");
    }
    fs::create_dir(place.path().join(".evalrig")).expect("a directory");
    fs::write(
        place.path().join(".evalrig/targets.yaml"),
        "targets: [{name: default, provider: mock, response: fine}]\n",
    )
    .expect("targets");
    let said = ends_with(&evalrig(&["run", "--skip-judges", "--no-record"]), 1);
    for code in CODES {
        let warning = format!("warning[{code}]");
        assert!(said.contains(&warning), "{code}\n{said}");
        assert!(!said.contains(&format!("error[{code}]")), "{said}");
    }
}

/// Tests are transpiled while the file is read, before the text of their line is stored.
#[test]
fn faults_and_losses_of_a_jsonl_file_have_their_lines() {
    let place = directory("name: demo\nmetadata: {skill: csv}\ntests: [data.jsonl]\n");
    let lines = [
        r#"{"id": "x", "criteria": "c", "input": "a", "note": "n"}"#,
        r#"{"id": 1, "criteria": "c", "input": "b", "trials": 3}"#,
    ];
    fs::write(place.path().join("data.jsonl"), lines.join("\n")).expect("a file");
    let said = ends_with(&run(place.path(), &[]), 0);
    for part in [
        "data.jsonl:1:1",
        "test `x` becomes number 2",
        "data.jsonl:1: loss[note]",
        "data.jsonl:2: loss[trials]",
    ] {
        assert!(said.contains(part), "{part}\n{said}");
    }
    let silent = r#"{"id": 5, "criteria": "c", "input": [{"role": "user", "content": [{"type": "image", "value": "data:image/png;base64,AAAA"}]}]}"#;
    fs::write(place.path().join("data.jsonl"), [lines[0], silent].join("\n")).expect("a file");
    let said = ends_with(&run(place.path(), &["--force"]), 2);
    for part in ["no-prompt", "data.jsonl:2:37", r#"{"id": 5, "criteria""#] {
        assert!(said.contains(part), "{part}\n{said}");
    }
}

/// A secret found in a later test is redacted in earlier tests, too.
#[test]
fn secrets_are_redacted_in_every_test() {
    let suite = "name: demo
metadata: {skill: csv}
tests:
  - {id: 1, criteria: c, input: The word is opensesame, note: opensesame}
  - {id: 2, criteria: c, input: 'Log in with ${{ DOOR_TOKEN }}'}
";
    let place = directory(suite);
    fs::write(place.path().join(".env"), "DOOR_TOKEN=opensesame\n").expect("a file");
    ends_with(&run(place.path(), &[]), 0);
    let file = read(place.path(), "evals.json");
    assert!(!file.contains("opensesame"), "{file}");
    assert!(file.contains("The word is ***") && file.contains("Log in with ***"));
}

#[test]
fn errors_of_conformance_are_warnings_here() {
    let place = directory(&SUITE.replace("name: demo\n", ""));
    let said = ends_with(&run(place.path(), &["--out", "new/dir"]), 0);
    assert!(said.contains("warning[missing-name]"), "{said}");
    assert_eq!(names(&place.path().join("new/dir")).len(), 3);
}

#[test]
fn hostile_skill_names_stay_in_the_directory() {
    let outer = tempfile::tempdir().expect("a directory");
    let inner = outer.path().join("inner");
    fs::create_dir(&inner).expect("a directory");
    let suite =
        SUITE.replace("skill: csv}", "skill: ../../x}").replace("skill: csv,", "skill: /tmp/y,");
    fs::write(inner.join("EVAL.yaml"), suite).expect("a suite");
    for layout in ["flat", "skill-dirs"] {
        ends_with(&run(&inner, &["--layout", layout]), 0);
    }
    assert_eq!(names(outer.path()), ["inner"]);
    assert!(inner.join("_._.._x/evals/evals.json").exists());
    assert!(inner.join("_tmp_y.evals.json").exists());
}

#[cfg(unix)]
#[test]
fn links_do_not_lead_out_of_the_directory() {
    use std::os::unix::fs::symlink;
    let outside = tempfile::tempdir().expect("a directory");
    let victim = outside.path().join("victim");
    fs::write(&victim, "precious").expect("a file");
    let place = directory(SUITE);
    symlink(&victim, place.path().join("evals.json")).expect("a link");
    ends_with(&run(place.path(), &[]), 2);
    ends_with(&run(place.path(), &["--force"]), 0);
    assert_eq!(fs::read_to_string(&victim).expect("a file"), "precious");
    assert!(read(place.path(), "evals.json").starts_with('{'));
    symlink(outside.path(), place.path().join("csv")).expect("a link");
    let said = ends_with(&run(place.path(), &["--layout", "skill-dirs", "--force"]), 2);
    assert!(said.contains("is a link or not a directory"), "{said}");
    assert_eq!(names(outside.path()), ["victim"]);
}

#[test]
fn the_committed_example_is_what_transpile_writes() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/transpile");
    assert_eq!(ends_with(&run(&example, &["--check"]), 0), "");
}

#[test]
fn files_are_found_from_the_root_of_the_skill() {
    let folder = tempfile::tempdir().expect("a directory");
    let at = |name: &str| folder.path().join(name);
    fs::create_dir_all(at("csv/evals/files")).expect("directories");
    fs::create_dir(at(".git")).expect("a directory");
    fs::write(at("csv/evals/files/a.csv"), "1\n").expect("a file");
    let suite = "name: csv\ntests:\n  - id: one\n    criteria: Adds up\n    input_files: [files/a.csv]\n    \
                 input: Add up a.csv\n    assert: [{type: trigger-judge, skill: csv}]\n";
    fs::write(at("csv/evals/EVAL.yaml"), suite).expect("a file");
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_evalrig"));
        let output = command.args(arguments).current_dir(folder.path()).output();
        output.expect("the binary starts")
    };
    assert!(run(&["transpile", "csv/evals/EVAL.yaml"]).status.success());
    let written = fs::read_to_string(at("csv/evals/evals.json")).expect("a file");
    assert!(written.contains(r#""files": ["evals/files/a.csv"]"#), "{written}");
    // The suite decides where paths start, and not the place of the files.
    for more in [["--layout", "skill-dirs"], ["--out", "other"]] {
        assert!(run(&[&["transpile", "csv/evals/EVAL.yaml"], &more[..]].concat()).status.success());
    }
    for other in ["csv/evals/csv/evals/evals.json", "other/evals.json"] {
        let written = fs::read_to_string(at(other)).expect("a file");
        assert!(written.contains(r#""files": ["evals/files/a.csv"]"#), "{other}: {written}");
    }
    let checked = run(&["validate", "csv/evals/evals.json", "--strict"]);
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stdout));
}

/// A SKILL.md is the root of its skill however deep the suite is below it.
#[test]
fn files_start_at_the_skill_that_the_suite_lies_in() {
    let folder = tempfile::tempdir().expect("a directory");
    let at = |name: &str| folder.path().join(name);
    fs::create_dir_all(at("csv/tests/data")).expect("directories");
    fs::create_dir(at(".git")).expect("a directory");
    fs::write(at("csv/SKILL.md"), "---\nname: csv\n---\n").expect("a file");
    let suite = "name: csv\ntests:\n  - id: one\n    criteria: Adds up\n    input_files: [data/a.csv]\n    \
                 input: Add up a.csv\n    assert: [{type: trigger-judge, skill: csv}]\n";
    let written = |suite: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_evalrig"));
        let command = command.args(["transpile", suite, "--stdout", "--format", "evals"]);
        let output = command.current_dir(folder.path()).output().expect("the binary starts");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    for (place, path) in [("csv/tests", "tests/data/a.csv"), ("plain", "data/a.csv")] {
        fs::create_dir_all(at(place).join("data")).expect("directories");
        fs::write(at(place).join("data/a.csv"), "1\n").expect("a file");
        fs::write(at(place).join("EVAL.yaml"), suite).expect("a file");
        let text = written(&format!("{place}/EVAL.yaml"));
        assert!(text.contains(&format!(r#""files": ["{path}"]"#)), "{place}: {text}");
    }
}

#[test]
fn the_name_of_an_entry_is_listed_as_lost() {
    let folder = tempfile::tempdir().expect("a directory");
    let evals = r#"{"skill_name": "disk", "evals": [{"id": 1, "name": "low-space", "prompt": "Hi", "expected_output": "x"}]}"#;
    fs::write(folder.path().join("evals.json"), evals).expect("a file");
    let output = Command::new(env!("CARGO_BIN_EXE_evalrig"))
        .args(["transpile", "evals.json", "--out", "out", "--deny-loss"])
        .current_dir(folder.path())
        .output()
        .expect("the binary starts");
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("`name` is left out"), "{told}");
}
