//! `run --cache` through the binary: when the target is asked, and what says that it was not.
#![cfg(unix)]

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::{Value, json};
use support::{Project, ids};

/// Says who asked, and counts its calls.
const AGENT: &str = r#"echo "$EVALRIG_TEST_ID $EVALRIG_TRIAL" >> calls
n=$(wc -l < calls)
cat > /dev/null
printf '{"text": "yes %s", "cost_usd": 0.25, "token_usage": {"input": 10, "output": 5}}' "$n"
"#;

const TARGETS: &str = "targets:\n  - name: default\n    provider: cli\n    command: [sh, ./agent.sh]\n    format: messages\n    env: {MODE: \"${{ MODE }}\", MY_TOKEN: \"${{ MY_TOKEN }}\"}\n";

fn suite(question: &str, expected: &str) -> String {
    format!(
        "name: demo\ntests:\n  \
         - id: a\n    input: {question}\n    assertions: [{{type: contains, value: \"{expected}\"}}]\n  \
         - id: b\n    input: [{{role: user, content: [{{type: file, value: notes.md}}]}}]\n    \
         assertions: [{{type: contains, value: \"{expected}\"}}]\n"
    )
}

fn project() -> Project {
    let project = Project::new(&suite("Hi", "yes"), TARGETS);
    project.write("agent.sh", AGENT);
    project.write("notes.md", "one");
    project.write(".env", "MODE=fast\nMY_TOKEN=token-number-one\n");
    project
}

/// The calls that a run makes.
#[track_caller]
fn calls(project: &Project, arguments: &[&str]) -> Vec<String> {
    let before = project.lines("calls").len();
    project.run(&[&["--no-record"], arguments].concat()).exits(0);
    let mut calls = project.lines("calls").split_off(before);
    calls.sort();
    calls
}

fn entries(project: &Project) -> Vec<PathBuf> {
    let folder = project.path(".evalrig/cache");
    let files = fs::read_dir(folder).into_iter().flatten();
    let files = files.map(|entry| entry.expect("an entry").path());
    files.filter(|path| path.extension().is_some_and(|ending| ending == "json")).collect()
}

#[test]
fn an_answer_is_asked_for_once() {
    let project = project();
    assert_eq!(calls(&project, &[]), ["a 1", "b 1"]);
    assert!(!project.has(".evalrig/cache"), "nothing is kept without the option");
    assert_eq!(calls(&project, &["--cache"]), ["a 1", "b 1"]);
    let first = project.row("a");
    assert_eq!(first.get("cached"), None);
    assert_eq!(calls(&project, &["--cache"]), [""; 0]);
    let second = project.row("a");
    assert_eq!(second["cached"], true);
    for key in ["candidateAnswer", "costUsd", "tokens", "durationMs", "outcome", "attempts"] {
        assert_eq!(second[key], first[key], "{key}");
    }
    // Another trial is another answer; the first is known.
    assert_eq!(calls(&project, &["--cache", "--trials", "2"]), ["a 2", "b 2"]);
    assert_eq!(calls(&project, &["--cache", "--trials", "2"]), [""; 0]);
    assert_eq!(calls(&project, &[]), ["a 1", "b 1"]);
    assert_eq!(project.read(".evalrig/cache/.gitignore"), "*\n");
    for path in entries(&project) {
        let mode = fs::metadata(path).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn whatever_decides_an_answer_asks_again() {
    let project = project();
    let both = ["a 1", "b 1"];
    assert_eq!(calls(&project, &["--cache"]), both);
    let changed = |name: &str, text: &str| {
        project.write(name, text);
        calls(&project, &["--cache"])
    };
    // Grading is not part of the answer.
    assert_eq!(changed("EVAL.yaml", &suite("Hi", "ye")), [""; 0]);
    assert_eq!(changed("EVAL.yaml", &suite("Hello", "ye")), ["a 1"]);
    assert_eq!(changed("notes.md", "two"), ["b 1"]);
    assert_eq!(changed("agent.sh", &format!("{AGENT}# more\n")), both);
    assert_eq!(changed(".env", "MODE=slow\nMY_TOKEN=token-number-one\n"), both);
    assert_eq!(changed(".env", "MODE=slow\nMY_TOKEN=token-number-two\n"), [""; 0], "a key");
    let limits = format!("{TARGETS}    timeout_seconds: 9\n    retries: 1\n");
    assert_eq!(changed(".evalrig/targets.yaml", &limits), [""; 0]);
    assert_eq!(changed(".evalrig/targets.yaml", &format!("{limits}    cwd: .\n")), both);
    // The earlier answers are still there.
    project.write(".evalrig/targets.yaml", TARGETS);
    assert_eq!(calls(&project, &["--cache"]), [""; 0]);
}

#[test]
fn totals_say_what_was_spent_and_reports_what_was_reused() {
    let project = project();
    project.run(&["--cache", "--no-record"]).exits(0).prints("$0.50");
    let ran = project.run(&["--cache", "--no-record", "--budget-usd", "0.1"]);
    ran.exits(0).prints("2 of 2 tests answered from the cache").prints("cost     $0\n");
    let stored = project.evalrig(&["report", "--report", "json"]);
    let document: Value = serde_json::from_str(&stored.out).expect("JSON");
    assert_eq!(document["summary"]["costUsd"], json!(0.0), "{}", document["summary"]);
    assert_eq!(document["summary"]["cachedAnswers"], 2);
    assert_eq!(document["results"][0]["costUsd"], 0.25);
    project
        .evalrig(&["report", "--report", "junit"])
        .exits(0)
        .prints("name=\"cached\" value=\"true\"");
    let markdown = project.evalrig(&["report", "--report", "markdown"]);
    markdown.exits(0).prints("2 of 2 tests answered from the cache");
    project.evalrig(&["report", "--report", "html=page.html"]).exits(0);
    assert!(project.read("page.html").contains("answered from the cache"));
    // What failed on a stored answer says so where it is shown.
    project.write("EVAL.yaml", &suite("Hi", "no"));
    project.run(&["--cache", "--no-record"]).exits(1).prints("cached");
}

#[test]
fn the_run_log_has_each_answer_once() {
    let project = project();
    project.run(&["--cache"]).exits(0);
    assert!(project.row("a")["record"].is_object());
    project.run(&["--cache"]).exits(0);
    assert_eq!(project.row("a")["record"], Value::Null);
    project.evalrig(&["log", "list"]).exits(0);
    assert!(!project.all_files().iter().any(|(path, _)| path.ends_with("run_2.yaml")));
}

#[test]
fn damaged_answers_and_failures_are_asked_for_again() {
    let project = project();
    assert_eq!(calls(&project, &["--cache", "--filter", "a"]), ["a 1"]);
    let [entry] = &entries(&project)[..] else { panic!("one entry") };
    let whole = fs::read(entry).expect("a file");
    fs::write(entry, &whole[..whole.len() / 2]).expect("a file");
    assert_eq!(calls(&project, &["--cache", "--filter", "a"]), ["a 1"]);
    assert_eq!(calls(&project, &["--cache", "--filter", "a"]), [""; 0]);
    project.write("agent.sh", "echo call >> calls\nexit 3\n");
    for _ in 0..2 {
        let before = project.lines("calls").len();
        project.run(&["--cache", "--no-record", "--filter", "a"]).exits(3);
        assert_eq!(project.lines("calls").len(), before + 1);
    }
}

#[test]
fn a_gate_asks_again_unless_the_command_line_says_otherwise() {
    let project = project();
    project.run(&["--cache", "--no-record", "--output", "base.jsonl"]).exits(0);
    let gated = |option: &[&str]| {
        let arguments = ["--no-record", "--baseline", "base.jsonl", "--gate", "--margin", "0.9"];
        let before = project.lines("calls").len();
        let ran = project.run(&[&arguments, option].concat());
        (ran, project.lines("calls").len() - before)
    };
    let (ran, made) = gated(&["--cache"]);
    ran.exits(2).says("use `--cache=gate`");
    assert_eq!(made, 0);
    assert_eq!(gated(&["--cache=gate"]).1, 0);
    assert_eq!(gated(&[]).1, 2);
    project.write("evalrig.toml", "cache = \"gate\"\n");
    let (ran, made) = gated(&[]);
    ran.says("--gate asks the target for every answer");
    assert_eq!(made, 2);
    assert_eq!(calls(&project, &[]), [""; 0], "without a gate the file counts");
    assert_eq!(calls(&project, &["--cache=off"]), ["a 1", "b 1"]);
}

#[test]
fn no_secret_is_kept_in_names_or_files() {
    let project = project();
    project.write("agent.sh", "cat > /dev/null\nprintf '{\"text\": \"yes %s\"}' \"$MY_TOKEN\"\n");
    project.write("EVAL.yaml", &suite("\"Use ${{ MY_TOKEN }}\"", "yes"));
    project.run(&["--cache", "--no-record"]).exits(0);
    assert_eq!(entries(&project).len(), 2);
    for path in entries(&project) {
        let text = fs::read_to_string(&path).expect("a file");
        assert!(text.contains("yes ***") && !text.contains("token-number"), "{text}");
    }
    // Another key, the same names.
    let names = entries(&project);
    project.write(".env", "MODE=fast\nMY_TOKEN=token-number-two\n");
    project.run(&["--cache", "--no-record"]).exits(0);
    assert_eq!(entries(&project).len(), names.len());
    assert_eq!(ids(&project.rows()), ["a", "b"]);
    assert_eq!(project.row("a")["cached"], true);
}

#[test]
fn a_watched_run_takes_unchanged_answers_from_the_cache() {
    let project = project();
    assert_eq!(calls(&project, &["--cache"]), ["a 1", "b 1"]);
    let running = project.start(&["--watch", "--cache", "--no-record"]);
    let settled = |rounds: usize| {
        support::wait_until("a round", || running.said().matches("press Ctrl-C").count() >= rounds);
    };
    settled(1);
    project.write("EVAL.yaml", &suite("Hi", "ye"));
    settled(2);
    assert_eq!(project.lines("calls").len(), 2, "only the grading is new");
    assert_eq!(project.row("a")["cached"], true);
    running.signal("INT");
    running.end().exits(0);
}
