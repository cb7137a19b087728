//! Runs with arms beside other runs: a baseline arm is a reference within its run, and is left out.
#![cfg(unix)]

mod support;

use serde_json::{Value, json};
use support::{Project, Ran};

/// Where there is a file `broken`, every other test fails in the arm `with`.
const AGENT: &str = r#"case "$ARM.$EVALRIG_TEST_ID" in
with.*[02468]) if [ -e "$MARK" ]; then echo no; exit; fi;;
esac
echo yes
"#;
const TESTS: usize = 12;

fn project(arms: &[&str]) -> Project {
    let project = Project::empty();
    let arm = |name: &&str| format!("  {name}: {{env: {{ARM: {name}}}}}\n");
    let arms: String = arms.iter().map(arm).collect();
    let test = |at: usize| {
        format!(
            "  - {{id: t{at}, criteria: c, input: Go, assert: [{{type: contains, value: yes}}]}}\n"
        )
    };
    let tests: String = (0..TESTS).map(test).collect();
    project.write("EVAL.yaml", &format!("name: s\narms:\n{arms}tests:\n{tests}"));
    project.write("agent.sh", AGENT);
    let path = |name: &str| project.path(name).display().to_string();
    let (agent, mark) = (path("agent.sh"), path("broken"));
    let target = format!(
        "name: default, provider: cli, command: [sh, \"{agent}\"], env: {{MARK: \"{mark}\"}}"
    );
    project.write(".evalrig/targets.yaml", &format!("targets: [{{{target}}}]\n"));
    run(&project, &["--output", "base.jsonl"]).exits(0);
    project.write("broken", "");
    project
}

fn run(project: &Project, words: &[&str]) -> Ran {
    project.run(&[&["--trials", "3", "--no-record"], words].concat())
}

fn json_of(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}{}", ran.out, ran.err))
}

#[test]
fn the_baseline_arm_does_not_dilute_the_gate() {
    let project = project(&["with", "without"]);
    let against = ["--baseline", "base.jsonl", "--output", "now.jsonl", "--force"];
    let ran = run(&project, &[&against[..], &["--gate"]].concat());
    ran.exits(1)
        .prints("gate: worse than the baseline")
        .prints("12 tests, 3 trials each in both runs")
        .prints("baseline arm `without` is left out");
    let ran = run(&project, &[&against[..], &["--report", "json"]].concat());
    let found = &json_of(&ran)["comparison"];
    assert_eq!((&found["suite"]["tests"], &found["suite"]["delta"]), (&json!(12), &json!(-0.5)));
    assert_eq!(found["leftOutArms"], json!(["without"]));
    // An arm alone has no arm beside it.
    let alone = |arm: &str, code: i32| {
        run(&project, &[&against[..], &["--arm", arm, "--gate"]].concat()).exits(code);
    };
    alone("with", 1);
    alone("without", 0);
    let dry = project.run(&["--trials", "3", "--baseline", "base.jsonl", "--dry-run"]);
    dry.exits(0).prints("12 tests in common");
}

#[test]
fn a_comparison_of_results_leaves_out_the_baseline_arm_unless_it_is_named() {
    let project = project(&["with", "without"]);
    run(&project, &["--output", "now.jsonl"]).exits(1);
    let compare = |words: &[&str]| {
        project.evalrig(&[&["compare", "base.jsonl", "now.jsonl"], words].concat())
    };
    compare(&[]).exits(1).prints("6 regressed, 6 unchanged").prints("arm `without` is left out");
    compare(&["--format", "markdown"]).prints("arm `without` is left out");
    let delta = |words: &[&str]| {
        json_of(&compare(&[&["--format", "json"], words].concat()))["suite"]["delta"].clone()
    };
    assert_eq!(delta(&[]), -0.5);
    assert_eq!(delta(&["--arm", "without"]), 0.0);
    assert_eq!(delta(&["--arm", "with", "--arm", "without"]), -0.25);
    compare(&["--arm", "before"]).exits(2).says("the candidate has no arm `before`");
}

#[test]
fn other_arms_are_compared_each_and_tests_are_counted_once() {
    let project = project(&["with", "changed", "without"]);
    run(&project, &["--output", "now.jsonl"]).exits(1);
    let compare = |words: &[&str]| {
        project.evalrig(&[&["compare", "base.jsonl", "now.jsonl"], words].concat())
    };
    compare(&[]).exits(1).prints("12 tests (24 counting each target and arm), 3 trials each");
    let found = json_of(&compare(&["--format", "json"]));
    assert_eq!((&found["suite"]["tests"], &found["suite"]["delta"]), (&json!(12), &json!(-0.25)));
}
