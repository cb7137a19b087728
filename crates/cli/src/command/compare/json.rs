//! The comparison as JSON.

use evalrig_core::compare::SelfTest;
use evalrig_run::report::comparison;
use evalrig_run::text::numbers::rounded;
use serde_json::{Value, json};

use super::Shown;

pub fn comparison(shown: &Shown) -> String {
    let mut value = comparison::json(&shown.base, &shown.candidate, shown.comparison);
    if !shown.gaps.is_empty() {
        value["incomplete"] = json!(shown.gaps);
    }
    pretty(&value)
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

fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}
