//! A comparison for programs: its shape is a contract (spec 16.4). It has everything that the
//! text says.

use evalrig_core::compare::{
    Comparison, Drift, ErrorBounds, Measure, Side, SuiteChange, SuiteVerdict, TestChange,
    TrialsNeeded,
};
use evalrig_core::stats::Interval;
use serde_json::{Value, json};

use super::usage;
use crate::text::numbers::rounded;

pub fn json(base: &str, candidate: &str, comparison: &Comparison) -> Value {
    let mut shown = json!({
        "schemaVersion": 1,
        "base": base,
        "candidate": candidate,
        "tests": tests(comparison),
        "suite": suite(comparison),
    });
    shown["usage"] = usage::usage_json(comparison);
    if !comparison.left_out_arms.is_empty() {
        shown["leftOutArms"] = json!(comparison.left_out_arms);
    }
    shown
}

fn suite(comparison: &Comparison) -> Value {
    let judged = comparison.suite.map(|suite| suite.judged);
    let number = |of: fn(&SuiteVerdict) -> f64| judged.as_ref().map(|judged| rounded(of(judged)));
    let needed = judged.and_then(|judged| judged.trials_needed);
    let mut shown = json!({
        "delta": number(|judged| judged.delta),
        "low": number(|judged| judged.interval.low),
        "high": number(|judged| judged.interval.high),
        "p": number(|judged| judged.p),
        // Nothing measured settles nothing.
        "verdict": judged.map_or("inconclusive", |judged| judged.verdict.word()),
        "trialsNeeded": needed.and_then(TrialsNeeded::trials),
        "trialsNeededIn": needed.map(needed_in),
        "measure": match comparison.measure {
            Measure::Rate => "pass",
            Measure::Score => "score",
        },
        "margin": rounded(comparison.margin),
        "seed": comparison.seed,
    });
    if let Some(suite) = &comparison.suite {
        add_evidence(&mut shown, suite);
    }
    shown
}

fn add_evidence(shown: &mut Value, suite: &SuiteChange) {
    let judged = &suite.judged;
    shown["exact"] = json!(judged.is_exact);
    shown["tests"] = json!(suite.tests);
    shown["base"] = level(judged.levels.base, judged.level_intervals.base);
    shown["candidate"] = level(judged.levels.candidate, judged.level_intervals.candidate);
    shown["base"]["trialsPerTest"] = json!(rounded(judged.base_trials));
    shown["base"]["runs"] = json!(judged.drift.runs);
    shown["candidate"]["trialsPerTest"] = json!(rounded(judged.candidate_trials));
    shown["drift"] = drift(&judged.drift);
    shown["errors"] = json!(suite.errors.as_ref().map(errors));
    shown["certain"] = json!(suite.is_certain());
    // Only where more trials are needed and their cost is known.
    if let Some(cost) = suite.cost_needed {
        shown["costNeededUsd"] = json!(rounded(cost));
    }
}

fn needed_in(needed: TrialsNeeded) -> &'static str {
    match needed {
        TrialsNeeded::EachRun(_) => "both",
        TrialsNeeded::Candidate(_) => "candidate",
        TrialsNeeded::LargerBase => "base",
        TrialsNeeded::MoreTests => "tests",
    }
}

fn level(value: f64, interval: Interval) -> Value {
    json!({
        "level": rounded(value),
        "low": rounded(interval.low),
        "high": rounded(interval.high),
    })
}

/// `null` with one base run, which says nothing about it.
fn drift(drift: &Drift) -> Value {
    if drift.runs < 2 {
        return Value::Null;
    }
    json!({
        "factor": rounded(drift.factor()),
        "perTest": rounded(drift.per_test),
        "perRun": rounded(drift.per_run),
        "perRunP": rounded(drift.per_run_chance),
        "correlation": rounded(drift.correlation),
    })
}

fn errors(bounds: &ErrorBounds) -> Value {
    json!({
        "base": bounds.base,
        "candidate": bounds.candidate,
        "worst": bound(&bounds.worst),
        "best": bound(&bounds.best),
    })
}

fn bound(judged: &SuiteVerdict) -> Value {
    json!({
        "delta": rounded(judged.delta),
        "low": rounded(judged.interval.low),
        "high": rounded(judged.interval.high),
        "p": rounded(judged.p),
        "verdict": judged.verdict.word(),
    })
}

fn tests(comparison: &Comparison) -> Vec<Value> {
    let has_suites = comparison.has_suites();
    let tests = comparison.tests.iter();
    tests.map(|one| test(one, has_suites)).collect()
}

fn test(test: &TestChange, has_suites: bool) -> Value {
    let mut shown = json!({
        "evalId": test.test,
        "target": test.target,
        "change": test.change.word(),
        "beyondChance": test.is_certain,
        "base": side(test.base),
        "candidate": side(test.candidate),
    });
    // Two suites may have tests of one name.
    if has_suites {
        shown["dataset"] = json!(test.suite);
    }
    shown
}

/// A side that was not run has no trials.
fn side(side: Option<Side>) -> Value {
    let side = side.unwrap_or_default();
    json!({
        "trials": side.trials,
        "passes": side.passes,
        "score": side.score.map(rounded),
        "errors": side.errors,
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing;
    use super::*;

    #[test]
    fn programs_get_what_people_read() {
        let found = testing::compared(20, 5, 3).comparison;
        let shown = json("main.jsonl", "now.jsonl", &found);
        let suite = &shown["suite"];
        assert_eq!(suite["verdict"], "worse");
        assert_eq!(suite["base"]["level"], 1.0);
        assert_eq!(suite["base"]["trialsPerTest"], 5.0);
        assert_eq!((&suite["margin"], &suite["tests"]), (&json!(0.1), &json!(20)));
        assert_eq!((&suite["drift"], &suite["errors"]), (&Value::Null, &Value::Null));
        assert_eq!(suite["certain"], true);
        assert_eq!(suite["seed"], json!(found.seed));
        assert!(shown["tests"][0]["beyondChance"].is_boolean());
        assert_eq!(shown["tests"][0]["base"]["errors"], 0);
    }
}
