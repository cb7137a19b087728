//! `run --rounds`: one trial of every test at a time, until there is a verdict.
#![cfg(unix)]

mod support;

use serde_json::Value;
use support::{Project, Ran};

/// 24 tests; the target `default` fails three of them in every trial, `slightly` one more.
fn project() -> Project {
    let mut suite = "name: shop\ntests:\n".to_owned();
    for at in 10..34 {
        suite += &format!(
            "  - {{id: t{at}, criteria: c, input: ask {at}, assert: [{{type: contains, value: yes}}]}}\n"
        );
    }
    let targets = "\
targets:
  - {name: default, provider: mock, responses: [{pattern: 'ask .3', response: no}, {pattern: ask, response: yes}]}
  - {name: bad, provider: mock, responses: [{pattern: 'ask [12]', response: no}, {pattern: ask, response: yes}]}
  - {name: slightly, provider: mock, responses: [{pattern: 'ask (.3|15)', response: no}, {pattern: ask, response: yes}]}
  - {name: torn, provider: mock, responses: [{pattern: 'ask (.3|1)', response: no}, {pattern: ask, response: yes}]}
";
    let project = Project::new(&suite, targets);
    for name in ["one.jsonl", "two.jsonl"] {
        project.run(&["--trials", "4", "--output", name, "--no-record"]).exits(1);
    }
    project
}

const AGAINST: [&str; 6] =
    ["--baseline", "one.jsonl", "--baseline", "two.jsonl", "--gate", "--no-record"];

fn rounds(project: &Project, words: &[&str]) -> Ran {
    project.run(&[&AGAINST[..], words].concat())
}

fn lines(project: &Project, name: &str) -> Vec<Value> {
    let lines = project.lines(name);
    lines.iter().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

fn rows(project: &Project, name: &str) -> usize {
    lines(project, name).iter().filter(|line| line.get("kind").is_none()).count()
}

#[test]
fn a_candidate_like_its_baseline_stops_early_and_passes() {
    let project = project();
    let ran = rounds(&project, &["--rounds=4", "--output", "now.jsonl"]);
    ran.exits(0)
        .prints("stopped after round 2 of 4: equivalent")
        .prints("no drop could be called worse yet");
    assert_eq!(rows(&project, "now.jsonl"), 48);
    let lines = lines(&project, "now.jsonl");
    let (first, last) = (&lines[0], lines.last().unwrap());
    assert_eq!(first["rounds"]["rounds"], 4);
    assert_eq!(first["rounds"]["base"]["trials"], 8.0);
    assert_eq!(first["rounds"]["looks"].as_array().unwrap().len(), 4);
    assert_eq!((&last["kind"], &last["completion"]), (&"end".into(), &"settled".into()));
    assert_eq!(last["rounds"]["rounds"], 2);
    let looks = last["rounds"]["comparisons"][0]["looks"].as_array().unwrap();
    assert_eq!(looks.len(), 2);
    // Nothing is missing, so nothing is left to resume.
    project.evalrig(&["report", "now.jsonl"]).exits(1).prints("stopped after round 2 of 4");
}

#[test]
fn a_collapse_stops_after_the_first_round() {
    let project = project();
    let words = ["--target", "bad", "--rounds=4", "--output", "now.jsonl"];
    let words = [&words[..], &["--report", "json=out.json", "--report", "html=out.html"]].concat();
    let words = [&words[..], &["--report", "markdown=out.md"]].concat();
    rounds(&project, &words)
        .exits(1)
        .prints("stopped after round 1 of 4: worse")
        .prints("gate: worse than the baseline");
    assert_eq!(rows(&project, "now.jsonl"), 24);
    let document: Value = serde_json::from_str(&project.read("out.json")).unwrap();
    assert_eq!(document["rounds"]["run"], 1);
    assert_eq!(document["comparison"]["suite"]["verdict"], "worse");
    assert!(project.read("out.md").contains("- stopped after round 1 of 4: worse"));
    assert!(project.read("out.html").contains("id=\"rounds-data\""));
}

#[test]
fn the_number_of_workers_does_not_matter() {
    let project = project();
    let mut looks = Vec::new();
    for workers in ["1", "7"] {
        let words = ["--target", "torn", "--rounds=3", "-j", workers];
        rounds(&project, &[&words[..], &["--output", "now.jsonl", "--force"]].concat());
        looks.push(lines(&project, "now.jsonl").last().unwrap()["rounds"].clone());
    }
    assert_eq!(looks[0], looks[1]);
}

#[test]
fn compare_takes_the_looks_of_the_run() {
    let project = project();
    rounds(&project, &["--target", "slightly", "--rounds=4", "--output", "now.jsonl"]);
    let end = lines(&project, "now.jsonl").last().unwrap().clone();
    let looks = end["rounds"]["comparisons"][0]["looks"].as_array().unwrap().clone();
    let asked = ["compare", "one.jsonl", "two.jsonl", "now.jsonl", "--format", "json"];
    let found: Value = serde_json::from_str(&project.evalrig(&asked).out).unwrap();
    let levels: Vec<f64> = looks.iter().map(|look| look["dropLevel"].as_f64().unwrap()).collect();
    // One test differs, so few arrangements do: a look cannot stop unless there is a rare one among those
    // that would not have stopped before.
    assert!(levels.len() > 2 && levels[0] == 0.0 && levels[2] > 0.0, "{levels:?}");
    assert_eq!(found["suite"]["verdict"], looks.last().unwrap()["verdict"]);
    assert_eq!(found["suite"]["p"], looks.last().unwrap()["p"]);
    assert_eq!(found["rounds"]["comparisons"], end["rounds"]["comparisons"]);
    // Against another base the looks are not those of the run.
    let other = project.evalrig(&["compare", "one.jsonl", "now.jsonl"]);
    other.says("was run in rounds against another baseline");
    other.prints("rounds: ");
}

/// A run that is cut off after its first round goes on with its plan, and another one is refused.
#[test]
fn a_resumed_run_keeps_its_plan() {
    let project = project();
    let words = ["--target", "slightly", "--rounds=4", "-j", "1"];
    rounds(&project, &[&words[..], &["--output", "whole.jsonl"]].concat());
    let whole = project.lines("whole.jsonl");
    // The header, the first round, and part of the second.
    assert!(whole.len() > 1 + 2 * 24 + 1, "it is decided in the third round");
    project.write("cut.jsonl", &(whole[..31].join("\n") + "\n"));
    let resume =
        |more: &[&str]| project.run(&[&["--resume=cut.jsonl"][..], &AGAINST, more].concat());
    resume(&["--rounds=3"]).exits(2).says("it was started with `--rounds 4`, not `--rounds 3`");
    resume(&["--margin", "0.2"]).exits(2).says("it was started with `--margin 0.1`");
    resume(&["--rounds=4", "--futility"]).exits(2).says("it was started without `--futility`");
    let other = ["--resume=cut.jsonl", "--baseline", "one.jsonl", "--gate"];
    project.run(&other).exits(2).says("it was started against other baseline runs");
    project
        .run(&["--resume=cut.jsonl"])
        .exits(2)
        .says("add the `--baseline` of its first command and `--gate`");
    resume(&[]);
    let end = |name: &str| lines(&project, name).last().unwrap()["rounds"].clone();
    assert_eq!(end("cut.jsonl"), end("whole.jsonl"));
    assert_eq!(rows(&project, "cut.jsonl"), rows(&project, "whole.jsonl"));
}

#[test]
fn rounds_that_cannot_work_are_refused_before_anything_is_called() {
    let project = project();
    project.run(&["--rounds=4"]).exits(2).says("--rounds: rounds are compared with a baseline");
    let ungated = ["--rounds=4", "--baseline", "one.jsonl"];
    project.run(&ungated).exits(2).says("rounds stop at a verdict; add `--gate`");
    rounds(&project, &["--rounds"]).exits(2).says("one trial of each test has one round");
    rounds(&project, &["--rounds=3", "--trials", "4"]).exits(2).says("leave out `--trials 4`");
    rounds(&project, &["--rounds", "--trials", "30"]).exits(2).says("at most 20 rounds");
    rounds(&project, &["--rounds=4", "--shard", "1/2"]).exits(2);
    for count in ["0", "1", "21", "x"] {
        let said = format!(
            "invalid value '{count}' for '--rounds[=<R>]': expected a whole number from 2 to 20"
        );
        rounds(&project, &[&format!("--rounds={count}")]).exits(2).says(&said);
    }
}

#[test]
fn a_dry_run_forecasts_the_verdicts() {
    let project = project();
    let ran = rounds(&project, &["--rounds=4", "--dry-run"]);
    ran.exits(0)
        .prints("forecast from the baseline's own results: the verdicts of 100 such runs")
        .prints("no change, 4 trials")
        .prints("no change, in rounds")
        .prints("-10 points, in rounds")
        .prints("-20 points, in rounds");
    assert_eq!(ran.out, rounds(&project, &["--rounds=4", "--dry-run"]).out);
    let plain = project.run(&["--dry-run", "--baseline", "one.jsonl"]);
    plain.exits(0).prints("no change, 1 trial ");
}

/// As many errors as are allowed end the run before its first look.
#[test]
fn a_limit_before_the_first_look_leaves_the_gate_open() {
    let project = project();
    let targets = project.read(".evalrig/targets.yaml")
        + "  - {name: broken, provider: cli, command: [sh, -c, 'exit 3'], format: text}\n";
    project.write(".evalrig/targets.yaml", &targets);
    let words = ["--target", "broken", "--rounds=4", "--max-errors", "3", "-j", "1"];
    let ran = rounds(&project, &[&words[..], &["--output", "now.jsonl"]].concat());
    ran.exits(3).prints("0 of 4 rounds are over, without a verdict so far");
    assert_eq!(lines(&project, "now.jsonl").last().unwrap()["completion"], "limited");
}

#[test]
fn a_run_that_needed_all_its_rounds_is_complete() {
    let project = project();
    let words = ["--target", "torn", "--rounds=2", "--margin", "0.001", "--output", "now.jsonl"];
    let words = [&words[..], &["--filter", "t2[5-9]"]].concat();
    rounds(&project, &words).exits(3).prints("all 2 rounds: inconclusive");
    assert_eq!(lines(&project, "now.jsonl").last().unwrap()["completion"], "complete");
}
