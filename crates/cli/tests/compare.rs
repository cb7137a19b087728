//! `compare` as a whole: exit codes, places, and output that does not change.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

fn evalrig(directory: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_evalrig"))
        .args(arguments)
        .current_dir(directory)
        .env("NO_COLOR", "1")
        .output()
        .expect("the binary starts")
}

fn code(output: &Output) -> i32 {
    output.status.code().expect("an exit code")
}

fn row(test: &str, trial: u32, outcome: &str) -> Value {
    let score = match outcome {
        "passed" => json!(1.0),
        "failed" => json!(0.0),
        _ => Value::Null,
    };
    json!({
        "schemaVersion": 1, "timestamp": "2026-01-02T03:04:05Z", "evalId": test,
        "dataset": "s", "conversationId": null, "score": score, "verdict": null,
        "outcome": outcome, "hits": [], "misses": [], "candidateAnswer": null,
        "target": "t", "trial": trial, "attempts": 1, "durationMs": null, "costUsd": null,
        "tokens": null, "traceSummary": {}, "evaluatorResults": [], "judgeUsage": null,
        "error": null, "testHash": "h", "source": {"file": "EVAL.yaml", "line": 1},
        "record": null
    })
}

/// `tests` tests with five trials each, of which `passes` pass.
fn run_of(tests: usize, passes: u32) -> String {
    let mut text = String::new();
    for test in 0..tests {
        for trial in 1..=5 {
            let outcome = if trial <= passes { "passed" } else { "failed" };
            text += &format!("{}\n", row(&format!("t{test}"), trial, outcome));
        }
    }
    text
}

#[test]
fn the_gate_decides_by_the_verdict() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    for (name, text) in [
        ("all", run_of(20, 5)),
        ("some", run_of(20, 3)),
        ("few", run_of(2, 5)),
        ("empty", String::new()),
    ] {
        fs::write(at.join(name), text).unwrap();
    }
    let gate =
        |base: &str, candidate: &str| code(&evalrig(at, &["compare", base, candidate, "--gate"]));
    assert_eq!(gate("all", "some"), 1);
    assert_eq!(gate("some", "all"), 0);
    assert_eq!(gate("all", "all"), 0);
    assert_eq!(gate("few", "few"), 3);
    assert_eq!(gate("all", "empty"), 4);
    assert_eq!(gate("all", "missing"), 2);
}

/// A pattern for the base that matches the candidate too means the others.
#[test]
fn the_candidate_is_not_its_own_base() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    for (name, passes) in [("b1", 5), ("b2", 5), ("b3", 3)] {
        fs::write(at.join(format!("{name}.jsonl")), run_of(20, passes)).unwrap();
    }
    let gate =
        |arguments: &[&str]| evalrig(at, &[arguments, &["--gate", "--format", "json"]].concat());
    let by_pattern = gate(&["compare", "b?.jsonl", "b3.jsonl"]);
    assert_eq!(code(&by_pattern), 1, "{by_pattern:?}");
    let named = gate(&["compare", "--baseline", "b1.jsonl", "--baseline", "b2.jsonl", "b3.jsonl"]);
    assert_eq!(code(&named), 1);
    let deltas = [&by_pattern, &named].map(|output| {
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        document["suite"]["delta"].clone()
    });
    assert_eq!(deltas[0], deltas[1]);
}

#[test]
fn without_a_gate_every_regression_counts() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let write = |name: &str, outcomes: [&str; 2]| {
        let rows = [row("a", 1, outcomes[0]), row("b", 1, outcomes[1])];
        fs::write(at.join(name), format!("{}\n{}\n", rows[0], rows[1])).unwrap();
    };
    write("both", ["passed", "passed"]);
    write("one", ["passed", "failed"]);
    write("torn", ["passed", "errored"]);
    write("mixed", ["failed", "errored"]);
    let plain = |base: &str, candidate: &str| code(&evalrig(at, &["compare", base, candidate]));
    assert_eq!(plain("both", "both"), 0);
    assert_eq!(plain("both", "one"), 1);
    assert_eq!(plain("one", "both"), 0);
    assert_eq!(plain("both", "torn"), 3);
    assert_eq!(plain("both", "mixed"), 1);
    assert_eq!(plain("torn", "both"), 0);
}

#[test]
fn the_same_runs_give_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("a"), run_of(30, 5)).unwrap();
    fs::write(at.join("b"), run_of(30, 4)).unwrap();
    for format in ["text", "json", "markdown"] {
        let arguments = ["compare", "a", "b", "--measure", "score", "--format", format];
        let first = evalrig(at, &arguments);
        let second = evalrig(at, &arguments);
        assert!(!first.stdout.is_empty());
        assert_eq!(first.stdout, second.stdout);
    }
    let arguments = ["compare", "--selftest", "b", "--format", "json"];
    assert_eq!(evalrig(at, &arguments).stdout, evalrig(at, &arguments).stdout);
}

#[test]
fn the_json_has_the_documented_shape() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("a"), run_of(3, 5)).unwrap();
    fs::write(at.join("b"), run_of(3, 4)).unwrap();
    let output = evalrig(at, &["compare", "a", "b", "--format", "json"]);
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let keys =
        |value: &Value| -> Vec<String> { value.as_object().unwrap().keys().cloned().collect() };
    assert_eq!(keys(&found), ["schemaVersion", "base", "candidate", "tests", "suite", "usage"]);
    assert_eq!(
        keys(&found["tests"][0]),
        ["evalId", "target", "change", "beyondChance", "base", "candidate"]
    );
    assert_eq!(keys(&found["tests"][0]["base"]), ["trials", "passes", "score", "errors"]);
    let suite = "delta low high p verdict trialsNeeded trialsNeededIn measure margin seed exact tests \
                 base candidate drift errors certain";
    assert_eq!(keys(&found["suite"]), suite.split_whitespace().collect::<Vec<_>>());
    assert_eq!(keys(&found["suite"]["base"]), ["level", "low", "high", "trialsPerTest", "runs"]);
    assert_eq!(keys(&found["suite"]["candidate"]), ["level", "low", "high", "trialsPerTest"]);
    assert!(found["suite"]["low"].as_f64().unwrap() < 0.0);
    // If every case has a cost, the cost of further trials is known.
    let priced = |text: String| text.replace("\"costUsd\":null", "\"costUsd\":0.5");
    for (text, cost) in [(run_of(3, 4), None), (priced(run_of(3, 4)), Some(0.5))] {
        fs::write(at.join("b"), text).unwrap();
        let output = evalrig(at, &["compare", "b", "b", "--format", "json"]);
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        let trials = found["suite"]["trialsNeeded"].as_f64().unwrap();
        let needed = cost.map(|cost| cost * trials * 3.0 * 2.0);
        assert_eq!(found["suite"]["costNeededUsd"].as_f64(), needed);
    }
}

#[test]
fn earlier_runs_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let results = at.join(".evalrig/results");
    fs::create_dir_all(&results).unwrap();
    fs::create_dir_all(at.join(".git")).unwrap();
    for (name, passes) in [
        ("s-2026-01-01T00-00-00.jsonl", 5),
        ("s-2026-01-02T00-00-00.jsonl", 3),
        ("other-2025-12-31T00-00-00.jsonl", 0),
    ] {
        fs::write(results.join(name), run_of(20, passes)).unwrap();
    }
    assert_eq!(code(&evalrig(at, &["compare", "latest~1", "latest", "--gate"])), 1);
    assert_eq!(code(&evalrig(at, &["compare", "latest", "latest~1", "--gate"])), 0);
    assert_eq!(code(&evalrig(at, &["compare", "latest~2", "latest", "--gate"])), 0);
    assert_eq!(code(&evalrig(at, &["compare", "latest~3", "latest"])), 2);
    let output = evalrig(at, &["compare", ".evalrig/results", ".", "--format", "json"]);
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["base"], ".evalrig/results/s-2026-01-02T00-00-00.jsonl");
    assert_eq!(found["base"], found["candidate"]);
}

/// The rows of some tests only, as a shard has them.
fn part_of(run: &str, is_kept: impl Fn(usize) -> bool) -> String {
    let number = |line: &str| {
        let row: Value = serde_json::from_str(line).unwrap();
        row["evalId"].as_str().unwrap()[1..].parse::<usize>().unwrap()
    };
    run.lines().filter(|line| is_kept(number(line))).map(|line| format!("{line}\n")).collect()
}

#[test]
fn files_of_shards_are_compared_as_whole_runs() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let (good, bad) = (run_of(20, 5), run_of(20, 3));
    let is_even = |test: usize| test.is_multiple_of(2);
    for (name, text) in [
        ("good", good.clone()),
        ("bad", bad.clone()),
        ("good-1.jsonl", part_of(&good, is_even)),
        ("good-2.jsonl", part_of(&good, |test| !is_even(test))),
        ("bad-1.jsonl", part_of(&bad, is_even)),
        ("bad-2.jsonl", part_of(&bad, |test| !is_even(test))),
    ] {
        fs::write(at.join(name), text).unwrap();
    }
    let compare = |arguments: &[&str]| {
        let all = [&["compare", "--format", "json", "--gate", "--seed", "7"], arguments].concat();
        let output = evalrig(at, &all);
        let found: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        (code(&output), found["suite"].clone(), found["tests"].clone())
    };
    let whole = compare(&["good", "bad"]);
    assert_eq!(whole.0, 1);
    let shards =
        ["--base", "good-1.jsonl", "good-2.jsonl", "--candidate", "bad-1.jsonl", "bad-2.jsonl"];
    assert_eq!(compare(&shards), whole);
    let patterns = ["--candidate", "bad-*.jsonl", "--base", "good-*.jsonl"];
    assert_eq!(compare(&patterns), whole);
    // Half of it has fewer tests in common.
    let half = compare(&["--base", "good-1.jsonl", "--candidate", "bad-1.jsonl", "bad-2.jsonl"]);
    assert_ne!(half, whole);
    assert_eq!(half.2.as_array().map(Vec::len), whole.2.as_array().map(Vec::len));
    for wrong in [
        &["--base", "good"][..],
        &["--candidate", "bad"],
        &["good", "--base", "good", "--candidate", "bad"],
        &["--base", "good", "--candidate", "none"],
    ] {
        assert_eq!(compare(wrong).0, 2, "{wrong:?}");
    }
}
