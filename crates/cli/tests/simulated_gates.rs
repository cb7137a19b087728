//! What the gate promises, on simulated runs of known truth and through the binary: files are written,
//! `compare --gate` and `run --rounds` decide, exit codes are counted. Seeded; each limit allows three
//! standard errors. `crates/core/tests/statistics.rs` has more, without files.
#![cfg(unix)]

#[path = "../../core/examples/statistics/simulation.rs"]
mod simulation;
mod support;

use evalrig_core::stats::Pair;
use serde_json::{Value, json};
use simulation::{Chance, Change, Loss, Setting, Shape, Share, cases};
use support::{Project, Ran};

const BASE_RUNS: usize = 4;

fn row(test: usize, trial: usize, is_passed: bool, hash: &str) -> Value {
    let answer = if is_passed { "yes" } else { "no" };
    let (score, outcome) = if is_passed { (1.0, "passed") } else { (0.0, "failed") };
    json!({
        "schemaVersion": 1, "timestamp": "2026-01-02T03:04:05Z", "evalId": format!("t{test}"),
        "dataset": "s", "conversationId": null, "score": score, "verdict": null,
        "outcome": outcome, "hits": [], "misses": [], "candidateAnswer": answer,
        "target": "now", "trial": trial, "attempts": 1, "durationMs": null, "costUsd": null,
        "tokens": null, "traceSummary": {}, "evaluatorResults": [], "judgeUsage": null,
        "error": null, "testHash": hash, "source": {"file": "EVAL.yaml", "line": test + 1},
        "record": null
    })
}

/// A results file in which each test has one of these rates and so many trials.
fn run_of(rates: &[f64], trials: usize, hashes: &[String], random: &mut Chance) -> String {
    let mut text = String::new();
    for (test, rate) in rates.iter().enumerate() {
        let hash = hashes.get(test).map_or("h", String::as_str);
        for (at, value) in random.passes(trials, *rate).into_iter().enumerate() {
            text += &format!("{}\n", row(test, at + 1, value == 1.0, hash));
        }
    }
    text
}

/// Four base runs and a candidate.
#[derive(Clone, Copy)]
struct Simulation {
    setting: Setting,
    candidate_trials: usize,
    repeats: usize,
}

impl Simulation {
    fn new(tests: usize, trials: usize, shape: Shape, loss: Loss) -> Self {
        let setting = Setting::new(tests, trials, BASE_RUNS, shape).losing(loss);
        Self { setting, candidate_trials: trials, repeats: 40 }
    }

    /// Writes `b0` to `b3` and `now`, and hands the project and the true rates of the candidate over.
    fn each(
        self,
        project: &Project,
        hashes: &[String],
        mut judge: impl FnMut(&Project, &[f64]) -> bool,
    ) -> Share {
        let mut random = self.setting.random();
        let mut hits = 0;
        for _ in 0..self.repeats {
            let rates = self.setting.shape.rates(self.setting.tests, &mut random);
            let lost = self.setting.loss.apply(&rates, &mut random);
            for number in 0..BASE_RUNS {
                let text = run_of(&rates, self.setting.trials, hashes, &mut random);
                project.write(&format!("b{number}"), &text);
            }
            project.write("now", &run_of(&lost, self.candidate_trials, hashes, &mut random));
            hits += usize::from(judge(project, &lost));
        }
        Share { hits, of: self.repeats }
    }

    /// The share of comparisons with this exit code of the gate.
    fn exits(self, code: i32) -> Share {
        self.each(&Project::empty(), &[], |project, _| gate(project).code == Some(code))
    }
}

fn gate(project: &Project) -> Ran {
    let words = ["compare", "b0", "b1", "b2", "b3", "now", "--gate", "--format", "json", "-q"];
    project.evalrig(&words)
}

#[test]
fn equal_runs_rarely_fail_the_gate_and_mostly_pass_it() {
    let equal = Simulation::new(30, 4, Shape::Skilled, Loss::Nothing);
    let (mut worse, mut passed) = (0, 0);
    Simulation { repeats: 60, ..equal }.each(&Project::empty(), &[], |project, _| {
        let code = gate(project).code;
        worse += usize::from(code == Some(1));
        passed += usize::from(code == Some(0));
        true
    });
    let [worse, passed] = [worse, passed].map(|hits| Share { hits, of: 60 });
    assert!(worse.may_be_at_most(0.05), "{worse:?}");
    assert!(passed.may_be_at_least(0.67), "{passed:?}");
}

#[test]
fn equal_runs_with_other_numbers_of_trials_rarely_fail_the_gate() {
    for (base, now) in [(3, 6), (5, 2)] {
        let equal = Simulation::new(20, base, Shape::Skilled, Loss::Nothing);
        let found = Simulation { candidate_trials: now, repeats: 30, ..equal }.exits(1);
        assert!(found.may_be_at_most(0.05), "{base} {now}: {found:?}");
    }
}

#[test]
fn a_drop_of_ten_points_is_mostly_caught() {
    let found = Simulation::new(30, 4, Shape::Skilled, Loss::Spread(0.1)).exits(1);
    assert!(found.may_be_at_least(0.69), "{found:?}");
}

#[test]
fn a_drop_of_ten_points_rarely_passes_the_gate() {
    let found = Simulation::new(30, 4, Shape::Even, Loss::Spread(0.1)).exits(0);
    assert!(found.may_be_at_most(0.05), "{found:?}");
}

#[test]
fn a_test_that_broke_wholly_is_named() {
    let broken = Simulation::new(20, 5, Shape::Solved, Loss::OneTest);
    let found = broken.each(&Project::empty(), &[], |project, rates| {
        let found: Value = serde_json::from_str(&gate(project).out).expect("JSON");
        let tests = found["tests"].as_array().expect("tests");
        let at = rates.iter().position(|rate| *rate == 0.0).expect("a broken test");
        tests.iter().any(|test| {
            test["evalId"] == format!("t{at}")
                && test["change"] == "regressed"
                && test["beyondChance"] == true
        })
    });
    assert!(found.may_be_at_least(0.9), "{found:?}");
}

/// Writes a comparison, one file for each base run, and asks the gate.
fn gate_of(project: &Project, pairs: &[Pair], more: &[&str]) -> Ran {
    let [base, now] = cases(pairs);
    let runs = base.iter().map(|case| case.run + 1).max().unwrap_or(0);
    let names: Vec<String> = (0..runs).map(|run| format!("b{run}")).collect();
    let mut files: Vec<String> = vec![String::new(); names.len() + 1];
    let numbered = base.iter().map(|case| (case.run as usize, case));
    for (at, case) in numbered.chain(now.iter().map(|case| (names.len(), case))) {
        let test: usize = case.test[1..].parse().expect("a number");
        let mut row = row(test, case.trial as usize, case.score == Some(1.0), "h");
        row["score"] = json!(case.score);
        if let Some(group) = &case.group {
            row["group"] = json!(group);
        }
        files[at] += &format!("{row}\n");
    }
    let names: Vec<&str> = names.iter().map(String::as_str).chain(["now"]).collect();
    for (name, text) in names.iter().zip(&files) {
        project.write(name, text);
    }
    let words = ["--gate", "--format", "json", "-q"];
    project.evalrig(&[&["compare"], &names[..], &words, more].concat())
}

/// Of so many comparisons, the share with this exit code of the gate.
fn share(
    repeats: usize,
    (code, more): (i32, &[&str]),
    mut pairs: impl FnMut() -> Vec<Pair>,
) -> Share {
    let project = Project::empty();
    let hits = (0..repeats).filter(|_| gate_of(&project, &pairs(), more).code == Some(code));
    Share { hits: hits.count(), of: repeats }
}

#[test]
fn trials_that_resemble_each_other_rarely_fail_the_gate() {
    for correlation in [0.1, 0.3] {
        let change = Change::Correlation(correlation);
        let setting = Setting::new(15, 4, BASE_RUNS, Shape::Skilled).changing(change);
        let mut random = setting.random();
        let found = share(25, (1, &[]), || setting.pairs(&mut random));
        assert!(found.may_be_at_most(0.05), "{correlation}: {found:?}");
    }
}

#[test]
fn one_baseline_run_is_enough_to_see_a_large_drop_and_rarely_fails_equal_runs() {
    let equal = Setting::new(30, 4, 1, Shape::Skilled);
    let mut random = equal.random();
    let found = share(40, (1, &[]), || equal.pairs(&mut random));
    assert!(found.may_be_at_most(0.05), "{found:?}");
    let less = equal.losing(Loss::Spread(0.2));
    let found = share(20, (1, &[]), || less.pairs(&mut random));
    assert!(found.may_be_at_least(0.9), "{found:?}");
}

/// Scores around a level of each test's own.
fn scored(drop: f64, random: &mut Chance) -> Vec<Pair> {
    let mut pair = || {
        let level = 0.4 + 0.4 * random.fraction();
        let mut run = |level: f64| -> Vec<f64> {
            (0..4).map(|_| (level + 0.2 * random.normal()).clamp(0.0, 0.999)).collect()
        };
        Pair::pooled((0..BASE_RUNS).map(|_| run(level)).collect(), run(level - drop))
    };
    (0..20).map(|_| pair()).collect()
}

#[test]
fn scores_are_compared_by_their_mean() {
    let mut random = Setting::new(20, 4, BASE_RUNS, Shape::Even).random();
    let by_score = ["--measure", "score"];
    let equal = share(40, (1, &by_score), || scored(0.0, &mut random));
    assert!(equal.may_be_at_most(0.05), "{equal:?}");
    let less = share(15, (1, &by_score), || scored(0.15, &mut random));
    assert!(less.may_be_at_least(0.9), "{less:?}");
    // None of these scores is a pass, so that the rates are the same.
    let rates = share(5, (1, &[]), || scored(0.15, &mut random));
    assert_eq!(rates.hits, 0);
}

#[test]
fn tests_of_one_group_are_not_independent_evidence() {
    let setting = Setting::new(20, 4, BASE_RUNS, Shape::Skilled).changing(Change::Fixture(0.1));
    let (project, mut random) = (Project::empty(), setting.random());
    let (mut worse, mut wider) = (0, 0);
    for _ in 0..25 {
        let grouped = setting.grouped_pairs(&mut random);
        let alone: Vec<Pair> = grouped
            .iter()
            .map(|pair| Pair::pooled(pair.base.clone(), pair.candidate.clone()))
            .collect();
        let width = |ran: &Ran| {
            let found: Value = serde_json::from_str(&ran.out).expect("JSON");
            let side = |name: &str| found["suite"][name].as_f64().expect("a number");
            side("high") - side("low")
        };
        let in_groups = gate_of(&project, &grouped, &[]);
        worse += usize::from(in_groups.code == Some(1));
        wider += usize::from(width(&in_groups) > width(&gate_of(&project, &alone, &[])));
    }
    let worse = Share { hits: worse, of: 25 };
    assert!(worse.may_be_at_most(0.05), "{worse:?}");
    assert!(wider > 12, "{wider} of 25");
}

const TESTS: usize = 20;

/// A suite whose answers are replayed from `now`, and the hashes of its tests.
fn replayed() -> (Project, Vec<String>) {
    let mut suite = "name: s\ntests:\n".to_owned();
    for at in 0..TESTS {
        suite += &format!(
            "  - {{id: t{at}, criteria: c, input: ask {at}, assert: [{{type: equals, value: yes}}]}}\n"
        );
    }
    let targets = "targets:\n  - {name: now, provider: replay, from: now}\n  \
                   - {name: first, provider: mock, response: yes}\n";
    let project = Project::new(&suite, targets);
    project.run(&["-t", "first", "--no-record", "-q", "--output", "first.jsonl"]).exits(0);
    let mut hashes = vec![String::new(); TESTS];
    for row in project.rows_of("first.jsonl") {
        let at: usize = row["evalId"].as_str().expect("an id")[1..].parse().expect("a number");
        hashes[at] = row["testHash"].as_str().expect("a hash").to_owned();
    }
    (project, hashes)
}

/// The exit code of a run in rounds, and how many it had.
fn rounds(project: &Project) -> (Option<i32>, u64) {
    let words = ["-t", "now", "--rounds=4", "--gate", "--no-record", "-q", "--force"];
    let base = ["b0", "b1", "b2", "b3"].into_iter().flat_map(|name| ["--baseline", name]);
    let words: Vec<&str> = words.into_iter().chain(["--output", "out.jsonl"]).chain(base).collect();
    let ran = project.run(&words);
    let lines = project.lines("out.jsonl");
    let end = lines.last().unwrap_or_else(|| panic!("{}{}", ran.out, ran.err));
    let end: Value = serde_json::from_str(end).expect("JSON");
    (ran.code, end["rounds"]["rounds"].as_u64().unwrap_or_else(|| panic!("{}{}", ran.out, ran.err)))
}

#[test]
fn rounds_stop_early_at_a_large_drop_and_rarely_fail_equal_runs() {
    let (project, hashes) = replayed();
    let mut total = 0;
    let large = Simulation::new(TESTS, 4, Shape::Skilled, Loss::Spread(0.2));
    let caught = Simulation { repeats: 16, ..large }.each(&project, &hashes, |project, _| {
        let (code, count) = rounds(project);
        total += count;
        code == Some(1)
    });
    assert!(caught.may_be_at_least(0.9), "{caught:?}");
    assert!(total as f64 / 16.0 <= 2.5, "{total} rounds of 16 runs");
    let equal = Simulation::new(TESTS, 4, Shape::Skilled, Loss::Nothing);
    let worse = Simulation { repeats: 16, ..equal }
        .each(&project, &hashes, |project, _| rounds(project).0 == Some(1));
    assert!(worse.may_be_at_most(0.05), "{worse:?}");
}
