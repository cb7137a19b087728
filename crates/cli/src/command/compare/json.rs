//! The comparison for programs: the shape of `CLI.md`.

use evalrig_core::compare::{SelfTest, Side, TestChange};
use serde_json::{Value, json};

use super::Shown;

pub fn comparison(shown: &Shown) -> String {
    let comparison = shown.comparison;
    let judged = comparison.suite.map(|suite| suite.judged);
    let value = json!({
        "schemaVersion": 1,
        "base": shown.base,
        "candidate": shown.candidate,
        "tests": comparison.tests.iter().map(test).collect::<Vec<_>>(),
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
    pretty(&value)
}

fn test(test: &TestChange) -> Value {
    json!({
        "evalId": test.test,
        "target": test.target,
        "change": test.change.word(),
        "base": side(test.base),
        "candidate": side(test.candidate),
    })
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

pub fn selftest(name: &str, found: &SelfTest) -> String {
    let value = json!({
        "schemaVersion": 1,
        "results": name,
        "tests": found.tests,
        "splits": found.splits,
        "falseAlarms": found.alarms,
        "falseAlarmRate": rounded(found.alarms as f64 / found.splits as f64),
        "low": rounded(found.interval.low),
        "high": rounded(found.interval.high),
        "smallestDrop": found.smallest_drop.map(rounded),
    });
    pretty(&value)
}

/// To 6 decimals, as scores are (`FORMAT.md` 8).
fn rounded(value: f64) -> f64 {
    let value = (value * 1e6).round() / 1e6;
    // No minus before nothing.
    if value == 0.0 { 0.0 } else { value }
}

fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}
