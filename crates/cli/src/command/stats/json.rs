//! The noise of stored runs as JSON. What is not known is null.

use evalrig_core::stats::StandardError;
use evalrig_run::results::SCHEMA_VERSION;
use evalrig_run::session::{NoiseReport, TestName};
use evalrig_run::text::numbers::rounded;
use serde_json::{Value, json};

use crate::args::MeasureOption;

pub(super) fn report(found: &NoiseReport, measure: MeasureOption) -> String {
    let choices = found.choices.iter().map(|choice| {
        json!({
            "what": choice.what,
            "unitUsd": choice.unit_usd.map(rounded),
            "standardError": choice.after.map(error),
        })
    });
    let document = json!({
        "schemaVersion": SCHEMA_VERSION,
        "measure": match measure { MeasureOption::Pass => "pass", MeasureOption::Score => "score" },
        "runs": found.runs,
        "tests": found.tests,
        "cases": found.cases,
        "unmeasured": found.unmeasured,
        "older": {"tests": found.older.tests, "cases": found.older.cases},
        "perTest": {
            "runs": rounded(found.effort.runs),
            "trials": rounded(found.effort.trials),
            "readings": rounded(found.effort.readings),
        },
        "variance": {
            "test": found.noise.test.map(rounded),
            "run": found.noise.run.map(rounded),
            "trial": found.noise.trial.map(rounded),
            "judge": found.judge.map(rounded),
        },
        "standardError": found.error.map(error),
        "oneMoreDollar": choices.collect::<Vec<Value>>(),
        "unvarying": {
            "repeated": found.repeated,
            "always": found.always_count,
            "never": found.never_count,
            "alwaysNamed": found.always.iter().map(name).collect::<Vec<Value>>(),
            "neverNamed": found.never.iter().map(name).collect::<Vec<Value>>(),
        },
        "slowest": valued(&found.slowest, "durationMs"),
        "dearest": valued(&found.dearest, "costUsd"),
        "incomplete": found.gaps,
    });
    format!("{document:#}\n")
}

fn error(found: StandardError) -> Value {
    json!({
        "theseTests": rounded(found.these_tests),
        "suchTests": found.such_tests.map(rounded),
    })
}

fn name(found: &TestName) -> Value {
    json!({"suite": found.suite, "evalId": found.test, "target": found.target})
}

fn valued(tests: &[(TestName, f64)], key: &str) -> Vec<Value> {
    let shown = tests.iter().map(|(test, value)| {
        let mut shown = name(test);
        shown[key] = json!(rounded(*value));
        shown
    });
    shown.collect()
}
