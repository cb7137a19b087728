//! A comparison for programs: its shape is a contract (spec 16.4).

use evalrig_core::compare::{Comparison, Side, TestChange};
use serde_json::{Value, json};

use super::usage;
use crate::text::numbers::rounded;

pub fn json(base: &str, candidate: &str, comparison: &Comparison) -> Value {
    let judged = comparison.suite.map(|suite| suite.judged);
    let mut shown = json!({
        "schemaVersion": 1,
        "base": base,
        "candidate": candidate,
        "tests": tests(comparison),
        "suite": {
            "delta": judged.map(|judged| rounded(judged.delta)),
            "low": judged.map(|judged| rounded(judged.interval.low)),
            "high": judged.map(|judged| rounded(judged.interval.high)),
            "p": judged.map(|judged| rounded(judged.p)),
            // Nothing measured settles nothing.
            "verdict": judged.map_or("inconclusive", |judged| judged.verdict.word()),
            "trialsNeeded": judged.and_then(|judged| judged.trials_needed),
        },
    });
    shown["usage"] = usage::usage_json(comparison);
    // Only where more trials are needed and their cost is known.
    if let Some(cost) = comparison.suite.and_then(|suite| suite.cost_needed) {
        shown["suite"]["costNeededUsd"] = json!(rounded(cost));
    }
    shown
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
    })
}
