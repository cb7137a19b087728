//! The comparison as JSON.

use evalrig_core::compare::{SelfTest, SelfTestMethod};
use evalrig_run::report::comparison;
use evalrig_run::text::numbers::rounded;
use serde_json::{Value, json};

use super::Shown;

pub fn comparison(shown: &Shown) -> String {
    let mut value = comparison::json(&shown.base, &shown.candidate, shown.comparison);
    if let Some(rounds) = &shown.rounds {
        value["rounds"] = rounds.json();
    }
    if shown.is_same {
        value["sameResults"] = json!(true);
    }
    if !shown.gaps.is_empty() {
        value["incomplete"] = json!(shown.gaps);
    }
    pretty(&value)
}

pub fn selftest(name: &str, found: &SelfTest) -> String {
    let mut value = json!({
        "schemaVersion": 1,
        "results": name,
        "tests": found.tests,
        "comparisons": found.comparisons,
        "falseAlarms": found.alarms,
        "falseAlarmRate": rounded(found.alarms as f64 / found.comparisons as f64),
        "low": rounded(found.interval.low),
        "high": rounded(found.interval.high),
        "smallestDrop": found.smallest_drop.map(rounded),
        "seed": found.seed,
    });
    match found.method {
        SelfTestMethod::Halves { trials } => {
            value["method"] = json!("halves");
            value["trialsPerHalf"] = json!(rounded(trials));
        }
        SelfTestMethod::Runs { runs, single, drift } => {
            value["method"] = json!("runs");
            value["runs"] = json!(runs);
            value["singleBaseline"] = json!({"comparisons": single.0, "falseAlarms": single.1});
            value["drift"] = json!({
                "factor": rounded(drift.factor()),
                "perTest": rounded(drift.per_test),
                "perRun": rounded(drift.per_run),
                "perRunP": rounded(drift.per_run_chance),
                "correlation": rounded(drift.correlation),
            });
        }
    }
    pretty(&value)
}

fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}
