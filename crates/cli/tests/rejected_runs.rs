//! A run that its gate did not pass is no baseline for later runs, unless its file is named.
#![cfg(unix)]

mod support;

use serde_json::Value;
use support::{LATEST, Project, Ran};

const GOOD: &str = "targets: [{name: default, provider: mock, response: yes}]\n";
const BAD: &str = "targets: [{name: default, provider: mock, responses: [{pattern: 'ask 1', response: no}, \
                   {pattern: ask, response: yes}]}]\n";
const RESULTS: &str = ".evalrig/results";

/// Twenty tests, of which a bad agent fails half.
fn project() -> Project {
    let test = |at: usize| {
        format!(
            "  - {{id: t{at}, criteria: c, input: ask {at}, assert: [{{type: contains, value: yes}}]}}\n"
        )
    };
    let tests: String = (10..30).map(test).collect();
    Project::new(&format!("name: shop\ntests:\n{tests}"), GOOD)
}

fn run(project: &Project, words: &[&str]) -> Ran {
    project.run(&[&["--trials", "3", "--no-record"], words].concat())
}

fn gated(project: &Project, words: &[&str]) -> Ran {
    run(project, &[&["--gate"], words].concat())
}

/// The file of the newest run.
fn newest(project: &Project) -> String {
    let file = std::fs::read_link(project.path(LATEST)).expect("a link");
    format!("{RESULTS}/{}", file.display())
}

fn base_of(ran: &Ran) -> Value {
    let document: Value = serde_json::from_str(&ran.out).expect("JSON");
    document["comparison"]["suite"]["base"].clone()
}

#[test]
fn a_rejected_run_does_not_become_the_baseline_when_it_is_run_again() {
    let project = project();
    run(&project, &[]).exits(0);
    run(&project, &[]).exits(0);
    project.write(".evalrig/targets.yaml", BAD);
    let ran = gated(&project, &["--baseline", "latest"]);
    ran.exits(1);
    assert!(!ran.err.contains("skipping"), "{}", ran.err);
    for count in ["1 run", "2 runs"] {
        let ran = gated(&project, &["--baseline", "latest", "--report", "json"]);
        ran.exits(1).says(&format!("--baseline: skipping {count} that did not pass the gate"));
        assert_eq!((&base_of(&ran)["runs"], &base_of(&ran)["level"]), (&2.into(), &1.0.into()));
    }
    for name in ["latest~1", "latest~0..1", RESULTS] {
        let ran = gated(&project, &["--baseline", name]);
        ran.exits(1).says("that did not pass the gate");
    }
    let last = project.lines(&newest(&project)).pop().expect("a line");
    assert_eq!(serde_json::from_str::<Value>(&last).expect("JSON")["gate"], "worse");
}

#[test]
fn a_rejected_run_can_be_named_and_what_passes_against_it_counts_again() {
    let project = project();
    run(&project, &[]).exits(0);
    project.write(".evalrig/targets.yaml", BAD);
    gated(&project, &["--baseline", "latest"]).exits(1);
    let rejected = newest(&project);
    let ran = gated(&project, &["--baseline", &rejected]);
    ran.exits(0);
    assert!(!ran.err.contains("skipping"), "{}", ran.err);
    let ran = run(&project, &["--baseline", "latest", "--baseline-runs", "1", "--report", "json"]);
    assert_eq!(base_of(&ran)["level"], 0.5);
}

#[test]
fn without_any_run_that_passed_there_is_no_baseline() {
    let project = project();
    run(&project, &["--output", "base.jsonl"]).exits(0);
    project.write(".evalrig/targets.yaml", BAD);
    for _ in 0..2 {
        gated(&project, &["--baseline", "base.jsonl"]).exits(1);
    }
    for name in ["latest", "latest~1", RESULTS] {
        let ran = gated(&project, &["--baseline", name]);
        ran.exits(2).says("2 runs did not pass the gate").says("name its file");
    }
    let compare = |words: &[&str]| project.evalrig(&[&["compare"], words].concat());
    compare(&["--baseline", "latest", "base.jsonl"]).exits(2).says("name its file");
    compare(&["latest~1", "base.jsonl", "--gate"]).exits(2).says("name its file");
    // Without a gate, a name means what it says.
    compare(&["latest~1", "latest"]).exits(0);
}

#[test]
fn grading_a_rejected_run_again_does_not_make_it_a_baseline() {
    let project = project();
    run(&project, &[]).exits(0);
    project.write(".evalrig/targets.yaml", BAD);
    gated(&project, &["--baseline", "latest"]).exits(1);
    project.evalrig(&["grade", "latest"]).exits(1);
    let ran = gated(&project, &["--baseline", "latest", "--report", "json"]);
    ran.exits(1).says("skipping 2 runs that did not pass the gate");
    assert_eq!(base_of(&ran)["level"], 1.0);
}
