//! `convert` as a process: what it writes, what it refuses, and that no evals.json of the corpus
//! loses anything (skipped without a corpus).
#![allow(clippy::print_stdout)]

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::diagnostic::{Level, Severity};
use evalrig_core::export::{Context, converted_yaml};
use evalrig_core::model::{Expected, JsonStyle, Value};
use evalrig_core::repair::Overlay;
use evalrig_run::disk::Disk;
use tempfile::TempDir;
use xtask::corpus::{Corpus, CorpusFile, Read, read, without};

const EVALS: &str = r#"{"skill_name": "greeter", "evals": [
  {"id": 1, "prompt": "Greet\nme", "files": ["a.md"], "expected_output": "Hi", "should_trigger": true}]}"#;

fn directory(files: &[(&str, &str)]) -> TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    for (name, text) in files {
        let path = directory.path().join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, text).expect("a file");
    }
    directory
}

/// A repository with one skill.
fn skill() -> TempDir {
    directory(&[(".git/HEAD", ""), ("greeter/evals/evals.json", EVALS), ("greeter/a.md", "A")])
}

fn run(directory: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_evalrig"))
        .args(arguments)
        .current_dir(directory)
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .output()
        .expect("the binary runs")
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[track_caller]
fn ends_with(output: &Output, code: i32) {
    let (out, err) = (out(output), err(output));
    assert!(!err.contains("panicked"), "{err}");
    assert_eq!(output.status.code(), Some(code), "{out}\n{err}");
}

#[track_caller]
fn refuses(directory: &Path, arguments: &[&str], reason: &str) {
    let output = run(directory, arguments);
    ends_with(&output, 2);
    assert!(err(&output).contains(reason), "{}", err(&output));
    assert_eq!(out(&output), "");
}

#[test]
fn a_suite_is_written_to_the_output_file() {
    let here = skill();
    let source = "greeter/evals/evals.json";
    let output = run(here.path(), &["convert", source, "-o", "new/deep/EVAL.yaml"]);
    ends_with(&output, 0);
    assert_eq!(out(&output), "wrote new/deep/EVAL.yaml (greeter, 1 test)\n");
    assert_eq!(err(&output), "");
    let text = fs::read_to_string(here.path().join("new/deep/EVAL.yaml")).expect("it is there");
    assert!(text.contains("- /greeter/a.md\n"), "{text}");
    let names: Vec<_> = fs::read_dir(here.path().join("new/deep")).expect("a directory").collect();
    assert_eq!(names.len(), 1, "a temporary file was left");
    ends_with(&run(here.path(), &["validate", "new", "--strict"]), 0);
}

#[test]
fn beside_the_skill_paths_stay_as_they_were() {
    let here = skill();
    let at = here.path().join("greeter");
    let output = run(&at, &["convert", "evals/evals.json", "--output", "EVAL.yaml", "-q"]);
    ends_with(&output, 0);
    assert_eq!((out(&output), err(&output)), (String::new(), String::new()));
    let text = fs::read_to_string(at.join("EVAL.yaml")).expect("it is there");
    assert!(text.contains("input_files:\n      - a.md\n"), "{text}");
    assert!(text.contains("input: |-\n      Greet\n      me\n"), "{text}");
}

#[test]
fn both_ways_to_print_give_the_same() {
    let here = skill();
    let at = here.path().join("greeter");
    let dash = run(&at, &["convert", "evals/evals.json", "-o", "-"]);
    let flag = run(&at, &["convert", "evals/evals.json", "--stdout"]);
    ends_with(&dash, 0);
    assert_eq!(out(&dash), out(&flag));
    assert!(out(&dash).contains("- a.md\n"));
    assert!(!at.join("EVAL.yaml").exists());
    ends_with(&run(&at, &["convert", "evals/evals.json"]), 2);
}

#[test]
fn an_existing_file_is_overwritten_only_with_force() {
    let here = skill();
    let source = "greeter/evals/evals.json";
    fs::write(here.path().join("EVAL.yaml"), "mine").expect("a file");
    refuses(
        here.path(),
        &["convert", source, "-o", "EVAL.yaml"],
        "`EVAL.yaml` already exists; use `--force`",
    );
    let kept = fs::read_to_string(here.path().join("EVAL.yaml")).expect("a file");
    assert_eq!(kept, "mine");
    let output = run(here.path(), &["convert", source, "-o", "EVAL.yaml", "--force"]);
    ends_with(&output, 0);
    ends_with(&run(here.path(), &["validate", "EVAL.yaml"]), 0);
}

#[cfg(unix)]
#[test]
fn a_link_is_kept_and_the_file_behind_it_replaced() {
    let here = skill();
    fs::write(here.path().join("real.yaml"), "old").expect("a file");
    std::os::unix::fs::symlink("real.yaml", here.path().join("EVAL.yaml")).expect("a link");
    let arguments = ["convert", "greeter/evals/evals.json", "-o", "EVAL.yaml"];
    refuses(here.path(), &arguments, "already exists");
    let forced = [&arguments[..], &["--force"]].concat();
    ends_with(&run(here.path(), &forced), 0);
    assert!(here.path().join("EVAL.yaml").is_symlink());
    let text = fs::read_to_string(here.path().join("real.yaml")).expect("a file");
    assert!(text.contains("name: greeter"), "{text}");
}

#[test]
fn unsupported_files_are_named() {
    let here = directory(&[
        ("EVAL.yaml", "name: x\n"),
        (".co/evals/hi.yaml", "name: hi\n"),
        ("notes.txt", ""),
        ("evals.json", EVALS),
        ("other.json", "{\"a\": 1}"),
    ]);
    for (file, reason) in [
        ("EVAL.yaml", "use `evalrig show EVAL.yaml` to print a suite"),
        ("notes.txt", "does not end in .yaml, .yml, .json"),
        ("gone.json", "does not exist"),
        ("other.json", "has an unknown format"),
    ] {
        refuses(here.path(), &["convert", file, "-o", "new.yaml"], reason);
    }
    for (output, reason) in [
        ("evals.json", "must end in .yaml"),
        (".co", "`.co` is a directory; use `-o .co/EVAL.yaml`"),
        ("notes.txt/EVAL.yaml", "cannot write `notes.txt/EVAL.yaml`"),
    ] {
        refuses(here.path(), &["convert", "evals.json", "-o", output, "--force"], reason);
    }
    assert!(!here.path().join("new.yaml").exists());
}

#[test]
fn blocking_errors_stop_a_conversion() {
    let twice = r#"[{"id": 1, "prompt": "a"}, {"id": 1, "prompt": "b"}]"#;
    let here = directory(&[("evals.json", twice)]);
    refuses(here.path(), &["convert", "evals.json", "-o", "EVAL.yaml", "-q"], "duplicate-id");
    assert!(!here.path().join("EVAL.yaml").exists());
}

#[test]
fn inexpressible_input_is_refused() {
    let blank = r#"{"skill_name": "x", "evals": [{"prompt": "a", "assertions": [" "]}]}"#;
    let here = directory(&[("evals.json", blank)]);
    let arguments = ["convert", "evals.json", "-o", "EVAL.yaml"];
    refuses(here.path(), &arguments, "missing-outcome");
    refuses(here.path(), &arguments, "cannot be expressed as a suite; nothing was written");
}

#[test]
fn warnings_are_shown_unless_quiet() {
    let bare = r#"[{"prompt": "a", "files": ["gone.md"]}]"#;
    let here = directory(&[("evals.json", bare)]);
    let loud = run(here.path(), &["convert", "evals.json", "--stdout"]);
    ends_with(&loud, 0);
    assert!(err(&loud).contains("warning[nothing-to-grade]"), "{}", err(&loud));
    assert!(err(&loud).contains("will report these errors in this suite: nothing-to-grade (1)"));
    let quiet = run(here.path(), &["convert", "evals.json", "--stdout", "-q"]);
    ends_with(&quiet, 0);
    assert!(err(&quiet).contains("error[file-not-found]"), "{}", err(&quiet));
    assert!(!err(&quiet).contains("nothing-to-grade"), "{}", err(&quiet));
    assert_eq!(out(&quiet), out(&loud));
}

#[test]
fn losses_of_cases_are_reported_and_can_be_denied() {
    let here = directory(&[
        (".claude-plugin/plugin.json", r#"{"name": "p"}"#),
        ("evals/hi/prompt.md", "Say hello to Alex."),
        ("evals/hi/case.yaml", "schema_version: \"1.1\"\nexecution: {max_turns: 4}\n"),
        ("evals/hi/graders/a.md", "---\ntype: regex\nmatch: count:1\n---\nAlex\n"),
    ]);
    let losing = ["convert", "evals", "-o", "out.yaml", "--loss-report", "loss.json"];
    let denied = run(here.path(), &[&losing[..], &["--deny-loss"]].concat());
    ends_with(&denied, 1);
    assert!(err(&denied).contains("nothing was written: `--deny-loss` is set"), "{}", err(&denied));
    assert!(!here.path().join("out.yaml").exists());
    ends_with(&run(here.path(), &losing), 0);
    let report = fs::read_to_string(here.path().join("loss.json")).expect("the report");
    let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    let places: Vec<(&str, &str)> = report
        .as_array()
        .expect("a list")
        .iter()
        .map(|loss| (loss["kind"].as_str().unwrap(), loss["source"]["file"].as_str().unwrap()))
        .collect();
    assert!(places.contains(&("plugin-eval-loss", "evals/hi/case.yaml")), "{report}");
    assert!(places.contains(&("plugin-eval-loss", "evals/hi/graders/a.md")), "{report}");
}

#[test]
fn an_evals_json_loses_nothing() {
    let here = skill();
    let file = "greeter/evals/evals.json";
    let arguments = ["convert", file, "--stdout", "--deny-loss", "--loss-report", "loss.json"];
    ends_with(&run(here.path(), &arguments), 0);
    let report = fs::read_to_string(here.path().join("loss.json")).expect("the report");
    assert_eq!(report, "[]\n");
}

/// Where the files of an evals.json start.
fn skill_root(file: &CorpusFile) -> &Utf8Path {
    let directory = file.directory();
    match (directory.file_name(), directory.parent()) {
        (Some("evals"), Some(parent)) => parent,
        _ => directory,
    }
}

/// Everything `show` says but the kind of the expected outputs, and their texts beside it. Criteria
/// repeat them, or were made by `convert`.
fn meaning(file: &CorpusFile, read: &Read, files: &Overlay<'_>) -> (String, Vec<Option<String>>) {
    let shown = read.shown(file, files).unwrap_or(Value::Null);
    let shown = without("criteria", without("testHash", without("expectedOutput", shown)));
    let tests = read.suite.iter().flat_map(|suite| &suite.tests);
    let texts = tests.map(|test| test.expected_output.as_ref().and_then(Expected::text));
    (shown.to_json(JsonStyle::Pretty), texts.collect())
}

/// What is wrong with the converted file, if anything.
fn complaint(file: &CorpusFile) -> Option<String> {
    let before = read(file, &file.path, &Disk);
    let suite = before.suite.as_ref()?;
    let context = Context { files: &Disk, sources: before.findings.sources(), root: &file.root };
    let directory = skill_root(file);
    let path: Utf8PathBuf = directory.join("converted.eval.yaml");
    let mut files = Overlay::new(&Disk);
    let text = converted_yaml(suite, &context, directory, "evals.json", &Default::default());
    files.insert(path.clone(), text.into_bytes());
    let after = read(file, &path, &files);
    if after.suite.is_none() {
        let names = after.names(|level| level == Level::Blocking);
        return Some(format!("refused: {names:?}"));
    }
    let errors = |read: &Read| {
        let mut names = read.names(|level| level.severity() == Severity::Error);
        // Of an evals.json it is a warning.
        names.retain(|name| *name != "nothing-to-grade");
        names
    };
    if errors(&after) != errors(&before) {
        return Some(format!("{:?} is now {:?}", errors(&before), errors(&after)));
    }
    let (first, second) = (meaning(file, &before, &files), meaning(file, &after, &files));
    let mut lines = first.0.lines().zip(second.0.lines());
    let line = lines.find(|(before, after)| before != after);
    (first != second).then(|| format!("not the same: {line:?}"))
}

#[test]
fn every_evals_json_of_the_corpus_is_kept() {
    let Some(corpus) = Corpus::find() else {
        println!("{}", Corpus::ABSENT);
        return;
    };
    let files = corpus.suites();
    let complaints: Vec<String> = files
        .filter(|file| file.path.extension() == Some("json"))
        .filter_map(|file| Some(format!("{}: {}", file.name, complaint(file)?)))
        .collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}
