//! `mutate` finds the checks that were made weak on purpose in `mutate/weak`, and none in
//! `mutate/strong` or in the examples.
#![cfg(unix)]

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use support::Project;

fn suites(folder: &str) -> Vec<(String, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mutate").join(folder);
    let entries = fs::read_dir(path).expect("a directory");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    let named = paths.into_iter().map(|path| {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        (name, fs::read_to_string(&path).expect("a suite"))
    });
    named.collect()
}

const TARGETS: &str = include_str!("mutate/targets.yaml");

/// The report about a run of the suite.
fn mutated(suite: &str, options: &[&str]) -> Value {
    let project = Project::new(suite, TARGETS);
    project.run(&["-q"]).exits(0);
    let arguments: Vec<&str> =
        ["mutate", "--format", "json"].iter().chain(options).copied().collect();
    let ran = project.evalrig(&arguments);
    serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}{}", ran.out, ran.err))
}

/// Lines of the weak checks and of the unchecked tests.
fn findings(report: &Value) -> (Vec<u64>, Vec<u64>) {
    let lines = |list: &Value, is_meant: &dyn Fn(&Value) -> bool| -> Vec<u64> {
        let list = list.as_array().expect("a list");
        let found = list.iter().filter(|one| is_meant(one));
        found.map(|one| one["line"].as_u64().expect("a line")).collect()
    };
    let weak = lines(&report["checks"], &|one| !one["weakness"].is_null());
    (weak, lines(&report["uncheckedTests"], &|_| true))
}

/// File, lines of its weak checks, lines of its unchecked tests.
const WEAK: &[(&str, &[u64], &[u64])] = &[
    ("almost-empty-value", &[7], &[]),
    ("any-of-common-words", &[7], &[]),
    ("any-text", &[7], &[]),
    ("call-without-arguments", &[7], &[]),
    ("cost-only", &[], &[3]),
    ("files-that-match-all", &[9], &[]),
    ("inherited", &[3], &[]),
    ("json-without-schema", &[7], &[]),
    ("latency-only", &[], &[3]),
    ("one-letter", &[7], &[]),
    ("only-forbids", &[], &[3]),
    ("regex-for-everything", &[7], &[]),
    ("schema-of-an-object", &[7], &[]),
];

#[test]
fn every_check_that_is_weak_on_purpose_is_found() {
    let suites = suites("weak");
    assert_eq!(suites.len(), WEAK.len());
    for ((name, suite), (expected, weak, unchecked)) in suites.iter().zip(WEAK) {
        assert_eq!(name, expected);
        let report = mutated(suite, &[]);
        let found = findings(&report);
        assert_eq!(found, (weak.to_vec(), unchecked.to_vec()), "{name}: {report:#}");
    }
}

#[test]
fn strong_suites_have_no_weak_check() {
    let suites = suites("strong");
    assert!(suites.len() >= 5);
    for (name, suite) in suites {
        let report = mutated(&suite, &["--deny-weak"]);
        assert_eq!(findings(&report), (Vec::new(), Vec::new()), "{name}: {report:#}");
        assert_eq!(report["weakChecks"], 0);
        assert!(report["mutants"].as_u64().expect("a number") > 0, "{name}");
    }
}

#[test]
fn weak_checks_fail_only_if_they_are_denied() {
    let (_, suite) = &suites("weak")[0];
    let project = Project::new(suite, TARGETS);
    project.run(&["-q"]).exits(0);
    project.evalrig(&["mutate"]).exits(0).prints("EVAL.yaml:7: weak: `contains`");
    project.evalrig(&["mutate", "--deny-weak"]).exits(1);
    let again = || project.evalrig(&["mutate", "--format", "json", "--seed", "3"]).out;
    assert_eq!(again(), again());
}

#[test]
fn a_run_without_a_passed_test_has_nothing_to_damage() {
    let suite = "name: demo\ntests:\n  - {id: a, criteria: c, input: hi, \
                 assert: [{type: contains, value: never}]}\n";
    let project = Project::new(suite, TARGETS);
    project.run(&["-q"]).exits(1);
    project.evalrig(&["mutate"]).exits(4).says("no test of the run passed");
}

const JUDGED: &str = "name: judged
tests:
  - id: best
    criteria: Names the best month
    input: Which was the best month?
    assert:
      - type: llm-judge
        prompt: |
          Does it answer? {{ answer }}
  - id: worst
    criteria: Names the worst month
    input: Which was the worst month?
    assert:
      - {type: contains, value: February}
";

/// The judge passes whatever it sees, or only the answer that is right.
fn judged(judge: &str) -> Project {
    let targets =
        format!("judge_target: judge\n{TARGETS}  - name: judge\n    provider: mock\n{judge}");
    let project = Project::new(JUDGED, &targets);
    project.run(&["-q"]).exits(0);
    project
}

const ANYTHING: &str = "    response: '{\"score\": 1, \"reasoning\": \"fine\"}'\n";
const STRICT: &str = "    responses:
      - {pattern: 'The best month was November with [$]22,500 in sales[.]', response: '{\"score\": 1, \"reasoning\": \"fine\"}'}
      - {response: '{\"score\": 0, \"reasoning\": \"wrong\"}'}
";

#[test]
fn judges_are_asked_only_on_request() {
    let project = judged(ANYTHING);
    let ran = project.evalrig(&["mutate"]);
    ran.exits(0).prints("it asks a judge or runs a program; add `--judges N`");
    let before = project.all_files().len();
    let ran = project.evalrig(&["mutate", "--judges", "4", "--format", "json"]);
    ran.exits(0).says("showing 4 mutants to judges and scripts: 4 to 8 judge calls");
    let report: Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!(report["asked"]["mutants"], 4);
    assert_eq!(report["asked"]["judgeCalls"], 4);
    assert_eq!(findings(&report).0, [7], "{report:#}");
    assert_eq!(report["checks"][0]["applicable"], 4);
    assert_eq!(project.all_files().len(), before, "nothing is written");
}

#[test]
fn a_judge_that_looks_closely_is_not_weak() {
    let project = judged(STRICT);
    let ran = project.evalrig(&["mutate", "--judges", "5", "--deny-weak", "--format", "json"]);
    ran.exits(0);
    let report: Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!(report["checks"][0]["killScore"], 1.0);
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a directory");
    for entry in fs::read_dir(from).expect("a directory") {
        let path = entry.expect("an entry").path();
        let target = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).expect("a file");
        }
    }
}

/// `outcomes` fails on purpose, `agent`, `coding-agent` and `judges` need programs.
const EXAMPLES: &[&str] = &[
    "dataset",
    "gates",
    "hello",
    "imports",
    "input-files",
    "measurements",
    "messages-and-tools",
    "skill-evals",
    "skill-triggers",
    "targets",
    "transpile",
    "variables",
];

#[test]
fn the_examples_have_no_weak_check() {
    let project = Project::empty();
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples"), &project.path("."));
    for example in EXAMPLES {
        project.run(&[example, "-q", "--no-record", "--output", "r.jsonl", "--force"]).exits(0);
        let ran = project.evalrig(&["mutate", "r.jsonl", "--deny-weak", "-v"]);
        ran.exits(0).prints("no weak check");
    }
}

#[test]
fn a_check_that_others_outweigh_is_listed() {
    let suite = "name: demo\ntests:\n  - id: best\n    criteria: c\n    input: best month\n    assert:\n      \
                 - {type: contains, value: November}\n      - {type: latency, threshold: 9000, weight: 9}\n";
    let project = Project::new(suite, TARGETS);
    project.run(&["-q"]).exits(0);
    let ran = project.evalrig(&["mutate"]);
    ran.exits(0).prints("EVAL.yaml:7 contains: 5 of 5 mutants that it fails");
}
