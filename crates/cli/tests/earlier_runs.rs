//! Commands that start from earlier runs: `--failed`, `--resume`, `report`, `grade`, `compare`. Nothing
//! that was recorded is lost, and every name of a run means the same run.

mod support;

use std::collections::BTreeSet;

use serde_json::Value;
use support::{Project, wait_until};

const SUITE: &str = "\
name: mixed
tests:
  - {id: good, criteria: c, input: hi, assert: [{type: contains, value: hello}]}
  - {id: bad, criteria: c, input: hi, assert: [{type: contains, value: bye}]}
";
const TARGETS: &str = "targets:\n  - {name: default, provider: mock, response: hello}\n  \
                       - {name: other, provider: mock, response: hello there}\n";

fn ids(rows: &[Value]) -> Vec<String> {
    let ids: BTreeSet<String> =
        rows.iter().map(|row| row["evalId"].as_str().unwrap().to_owned()).collect();
    ids.into_iter().collect()
}

/// The command that the `next` line suggests.
fn next(out: &str) -> Vec<String> {
    let line = out.lines().find(|line| line.trim_start().starts_with("next ")).unwrap();
    let words = line.split("  ").map(str::trim).filter(|part| part.starts_with("evalrig "));
    let command = words.last().unwrap_or_else(|| panic!("no command in {line}")).to_owned();
    command.split(' ').skip(1).map(str::to_owned).collect()
}

fn call(project: &Project, words: &[String]) -> support::Ran {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    project.evalrig(&words)
}

#[test]
fn the_next_command_repeats_the_failures_of_the_run_just_shown() {
    let project = Project::new(SUITE, TARGETS);
    // Another run, whose failures are others.
    project.run(&["--filter", "good"]).exits(0);
    let ran = project.run(&["--output", "x.jsonl", "--target", "other", "-n", "3", "--no-record"]);
    let before = project.read("x.jsonl");
    let command = next(&ran.exits(1).out);
    assert_eq!(command, ["run", "--failed", "x.jsonl"]);
    call(&project, &command).exits(1);
    assert_eq!(project.read("x.jsonl"), before, "the rows that were read are still there");
    let rows = project.rows();
    assert_eq!((ids(&rows), rows.len()), (vec!["bad".to_owned()], 3));
    assert!(rows.iter().all(|row| row["target"] == "other"));
    // Without an output file, nothing needs a name.
    let ran = project.run(&["--target", "other", "-n", "2"]);
    assert_eq!(next(&ran.exits(1).out), ["run", "--failed"]);
    project.run(&["--failed"]).exits(1);
    assert_eq!(project.rows().len(), 2);
}

#[test]
fn no_command_writes_over_results_unless_forced() {
    let project = Project::new(SUITE, TARGETS);
    project.run(&["--output", "x.jsonl"]).exits(1);
    let before = project.read("x.jsonl");
    for words in [
        &["run", "--output", "x.jsonl"][..],
        &["run", "--output", "./x.jsonl", "--filter", "good"],
        &["run", "--failed", "x.jsonl", "--output", "x.jsonl"],
        &["grade", "x.jsonl", "--output", "x.jsonl"],
        &["grade", "x.jsonl", "--output", "x.jsonl", "--force"],
        &["run", "--baseline", "x.jsonl", "--output", "x.jsonl", "--force"],
        &["run", "--report", "jsonl=x.jsonl"],
        &["report", "x.jsonl", "--report", "json=x.jsonl"],
        &["grade", "x.jsonl", "--report", "html=x.jsonl"],
        &["run", "--output", "y.jsonl", "--report", "junit=y.jsonl"],
    ] {
        project.evalrig(words).exits(2);
        assert_eq!(project.read("x.jsonl"), before, "{words:?}");
    }
    project.run(&["--output", "x.jsonl"]).exits(2).says("evalrig run --resume ");
    project.run(&["--output", "x.jsonl", "--filter", "good", "--force"]).exits(0);
    assert_eq!(ids(&project.rows_of("x.jsonl")), ["good"]);
    project.run(&["--force"]).exits(2).says("--output");
    // An empty file, as mktemp makes it, holds nothing.
    project.write("empty.jsonl", "");
    project.run(&["--output", "empty.jsonl", "--filter", "good"]).exits(0);
}

#[test]
fn an_earlier_run_is_named_behind_a_space_and_suites_stay_suites() {
    let project = Project::new(SUITE, TARGETS);
    project.write("more/EVAL.yaml", &SUITE.replace("mixed", "more"));
    project.run(&["--output", "x.jsonl"]).exits(1);
    project.run(&["EVAL.yaml"]).exits(1);
    for (words, suites) in [
        (&["--failed", "x.jsonl"][..], &["mixed", "more"][..]),
        (&["--failed", "x.jsonl", "EVAL.yaml"], &["mixed"]),
        (&["--failed=x.jsonl", "more"], &["more"]),
        (&["EVAL.yaml", "--failed"], &["mixed"]),
        (&["--failed", "EVAL.yaml"], &["mixed"]),
        (&["--failed", "latest"], &["mixed"]),
        (&["--failed", ".evalrig/results"], &["mixed"]),
        (&["--failed"], &["mixed"]),
    ] {
        let words: Vec<&str> = words.iter().chain(&["--report", "jsonl"]).copied().collect();
        let ran = project.run(&words);
        let rows = ran.exits(1).out.lines().map(|line| serde_json::from_str(line).unwrap());
        let rows: Vec<Value> = rows.collect();
        let found: BTreeSet<&str> =
            rows.iter().map(|row| row["dataset"].as_str().unwrap()).collect();
        assert_eq!(found.into_iter().collect::<Vec<_>>(), suites, "{words:?}");
        assert_eq!(ids(&rows), ["bad"], "{words:?}");
    }
    // A dataset has the ending of results.
    let dataset = "{\"id\": \"one\", \"criteria\": \"c\", \"input\": \"hi\", \"assert\": [{\"type\": \"contains\", \"value\": \"bye\"}]}\n";
    project.write("data.jsonl", dataset);
    project.run(&["data.jsonl"]).exits(1);
    project.run(&["--failed", "data.jsonl"]).exits(1);
    assert_eq!(ids(&project.rows()), ["one"]);
}

/// Interrupts a run after its first case.
fn interrupted(words: &[&str]) -> Project {
    let targets = "targets: [{name: default, provider: mock, response: hello}, \
                   {name: slow, provider: cli, command: [sh, -c, 'echo $EVALRIG_TEST_ID >> calls; \
                   while [ $EVALRIG_TEST_ID = bad ] && [ ! -e go ]; do sleep 0.02; done; echo hello']}]\n";
    let project = Project::new(SUITE, targets);
    let given = ["--target", "slow", "--workers", "1"];
    let running = project.start(&[&given[..], words].concat());
    wait_until("the second case", || project.lines("calls").len() == 2);
    running.signal("INT");
    wait_until("the signal to be heard", || running.said().contains("finishing running cases"));
    running.signal("INT");
    running.end();
    project.write("go", "");
    project
}

#[test]
fn a_resumed_run_takes_its_options_from_its_results() {
    let project = interrupted(&["--filter", "*", "--skip-judges", "--no-record"]);
    for (words, reason) in [
        (
            &["--target", "default"][..],
            "it was started with `--target slow`, not `--target default`",
        ),
        (&["--trials", "2"], "it was started without `--trials`"),
        (&["--judge-criteria"], "it was started without `--judge-criteria`"),
    ] {
        let words = [&["--resume"], words].concat();
        project.run(&words).exits(2).says(reason);
    }
    project.run(&["--resume"]).exits(1);
    assert_eq!(project.lines("calls"), ["good", "bad", "bad"]);
    assert_eq!(ids(&project.rows()), ["bad", "good"]);
    assert!(!project.has(".co/evals"));
    project.run(&["--resume"]).exits(2).says("no interrupted run");
}

#[test]
fn a_run_of_failures_that_was_interrupted_stays_one() {
    let project = interrupted(&["--output", "rows.jsonl"]);
    project.run(&["--resume", "rows.jsonl"]).exits(1);
    std::fs::remove_file(project.path("go")).unwrap();
    let running = project.start(&["--failed", "rows.jsonl"]);
    wait_until("the case", || project.lines("calls").len() == 4);
    running.kill();
    project.write("go", "");
    project.run(&["--resume"]).exits(1);
    assert_eq!(ids(&project.rows()), ["bad"], "the others had not failed");
}

#[test]
fn a_run_over_several_suites_is_one_run() {
    let project = Project::new(SUITE, TARGETS);
    project.write("more/EVAL.yaml", &SUITE.replace("mixed", "more").replace("bye", "hello"));
    project.run(&[]).exits(1);
    project.run(&["more", "--target", "other"]).exits(0);
    project.evalrig(&["report"]).exits(0).prints("2 tests passed");
    project.evalrig(&["report", "latest"]).exits(0).prints("2 tests passed");
    for name in ["latest~1", "latest~"] {
        let ran = project.evalrig(&["report", name, "--report", "jsonl"]);
        assert_eq!(ran.exits(1).out.lines().count(), 4);
    }
    project.evalrig(&["report", "latest~2"]).exits(2).says("has the results of only 2 runs");
    project.evalrig(&["report", "."]).exits(0).prints("2 tests passed");
    project.evalrig(&["report", ".evalrig/results"]).exits(0);
    let ran = project.evalrig(&["compare", "latest~1", "latest", "--format", "json"]);
    let compared: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(compared["tests"].as_array().unwrap().len(), 4);
    // Both suites are graded again, as one run.
    project.write("EVAL.yaml", &SUITE.replace("bye", "hello"));
    project.evalrig(&["grade", "latest~1"]).exits(0).prints("4 tests passed");
    project.evalrig(&["report"]).exits(0).prints("4 tests passed");
    project
        .evalrig(&["grade", "latest", "--suite", "EVAL.yaml"])
        .exits(0)
        .says("`more` are ignored");
    let ran = project.run(&["--baseline", "latest~1", "--report", "json"]);
    ran.exits(0).prints("\"comparison\"");
}

#[test]
fn names_of_runs_that_are_not_there_are_explained() {
    let project = Project::new(SUITE, TARGETS);
    for words in [
        &["report"][..],
        &["grade", "latest"],
        &["compare", "latest~1", "latest"],
        &["report", "."],
        &["view", "latest", "--no-open"],
        &["run", "--failed"],
    ] {
        project.evalrig(words).exits(2).says("`evalrig run` writes them");
    }
    project.run(&["--failed", "EVAL.yaml"]).exits(2).says("no results yet of `EVAL.yaml`");
    project.run(&["--resume"]).exits(2).says("no interrupted run found");
}

#[test]
fn a_resumed_run_is_the_latest_one() {
    let project = interrupted(&["--no-record"]);
    project.run(&["--filter", "good"]).exits(0);
    let ran = project.run(&["--resume"]);
    assert_eq!(next(&ran.exits(1).out), ["run", "--failed"]);
    project.evalrig(&["report"]).exits(1).prints("1 of 2 passed");
}

#[test]
fn judges_of_stored_answers_see_no_secret_that_became_known_later() {
    let key = "sk-was-in-the-answer";
    let suite = "name: demo\ntests:\n  - id: a\n    input: Hi\n    assertions:\n      \
                 - {type: code-judge, script: [sh, judge.sh]}\n      \
                 - {type: llm-judge, prompt: \"Good? {{ answer }}\", target: judge}\n";
    let targets = format!(
        "targets:\n  - name: default\n    provider: mock\n    responses:\n      \
         - response: the key is {key}\n        tool_calls: [{{tool: look, args: {{q: {key}}}}}]\n  \
         - {{name: judge, provider: cli, command: [sh, ask.sh]}}\n  \
         - {{name: again, provider: replay, from: base.jsonl, source_target: default}}\n"
    );
    let project = Project::new(suite, &targets);
    project.write("judge.sh", "cat >> seen\necho '{\"score\": 1}'\n");
    project.write("ask.sh", "cat >> seen\necho '{\"score\": 1, \"reasoning\": \"ok\"}'\n");
    project.run(&["--no-record", "--output", "base.jsonl"]).exits(0);
    assert!(project.read("seen").contains(key), "nothing says that it is a key");
    project.write(".env", &format!("MY_API_KEY={key}\n"));
    for arguments in [
        &["grade", "base.jsonl", "--output", "graded.jsonl"][..],
        &["run", "--no-record", "--target", "again", "--output", "replayed.jsonl"],
    ] {
        project.write("seen", "");
        project.evalrig(arguments).exits(0);
        let seen = project.read("seen");
        assert!(seen.contains("the key is ***"), "{arguments:?}: {seen}");
        assert!(!seen.contains(key), "{arguments:?}: {seen}");
    }
}

#[test]
fn a_resumed_run_is_recorded_if_the_command_line_says_so() {
    let resumed = |more: &[&str], config: &str| {
        // Both tests fail, so that one of them is left.
        let project = Project::new(&SUITE.replace("value: hello", "value: bye"), TARGETS);
        project.run(&["--no-record", "--fail-fast", "-j", "1"]).exits(1);
        assert_eq!(project.rows().len(), 1);
        project.write("evalrig.toml", config);
        project.run(&[&["--resume"], more].concat()).exits(1);
        assert_eq!(project.rows().len(), 2);
        project.has(".co/evals")
    };
    assert!(!resumed(&[], ""), "as it was started");
    assert!(!resumed(&[], "record = true\n"), "the file knows nothing of this run");
    assert!(resumed(&["--record"], ""));
    assert!(resumed(&["--store", ".co/evals"], ""));
    assert!(!resumed(&["--no-record"], ""));
}
