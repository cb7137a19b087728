//! Arms for programs.

use evalrig_core::model::Outcome;
use serde_json::{Value, json};

use super::super::comparison;
use super::{ArmFinding, SkillMatrix};
use crate::results::PartialSum;
use crate::text::numbers::rounded;

/// One entry per arm, the baseline first.
pub fn json(arms: &[ArmFinding]) -> Value {
    arms.iter().map(one).collect()
}

fn one(arm: &ArmFinding) -> Value {
    let (kept, contracts) = arm.kept_contracts();
    let mut shown = json!({
        "arm": arm.name,
        "baseline": arm.is_baseline,
        "passed": arm.counts.of(Outcome::Passed),
        "judged": arm.counts.judged(),
        "errored": arm.counts.of(Outcome::Errored),
        "skipped": arm.counts.of(Outcome::Skipped),
        "passRate": arm.counts.pass_rate().map(rounded),
        "interval": arm.interval.map(|found| [rounded(found.low), rounded(found.high)]),
        "costUsd": mean(&arm.usage.cost),
        "tokens": mean(&arm.usage.tokens),
        "durationMs": mean(&arm.usage.duration_ms),
        "contracts": {"passed": kept, "judged": contracts},
    });
    if let Some(found) = &arm.contrast {
        shown["comparison"] = comparison::json(&arm.bases.join(", "), &arm.name, found);
    }
    if arm.skills.is_shown() {
        shown["skillMatrix"] = matrix(&arm.skills);
    }
    shown
}

/// Of a case; null if one of them is unknown.
fn mean(sum: &PartialSum) -> Option<f64> {
    let known = sum.whole().filter(|_| sum.reported > 0)?;
    Some(rounded(known / sum.reported as f64))
}

fn matrix(skills: &SkillMatrix) -> Value {
    let columns = skills.columns();
    let row = |(wanted, cases): &(Option<&str>, u64)| {
        let cells = columns.iter().map(|used| skills.cell(*wanted, *used));
        let (counts, rates): (Vec<u64>, Vec<Option<f64>>) =
            cells.map(|cell| (cell.count, cell.rate().map(rounded))).unzip();
        json!({"wanted": wanted, "cases": cases, "counts": counts, "rates": rates})
    };
    let steals = skills.steals();
    let steals = steals.iter().map(|cell| {
        json!({"wanted": cell.wanted, "used": cell.used, "cases": cell.count, "of": cell.of})
    });
    json!({
        "used": columns,
        "rows": skills.rows().iter().map(row).collect::<Vec<Value>>(),
        "steals": steals.collect::<Vec<Value>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{arm_row, findings, skill_row};
    use super::*;

    #[test]
    fn arms_have_their_numbers_and_the_matrix() {
        let rows =
            [skill_row("a", &["csv"], &["csv-pro"]), arm_row("without", "a", 1, Outcome::Failed)];
        let shown = json(&findings(&rows));
        assert_eq!(shown[0]["arm"], "without");
        assert_eq!(shown[0]["passRate"], 0.0);
        assert_eq!(shown[0].get("comparison"), None);
        assert_eq!(shown[1]["comparison"]["base"], "without");
        let matrix = &shown[1]["skillMatrix"];
        assert_eq!(matrix["used"], json!(["csv", "csv-pro", "git", null]));
        assert_eq!(
            matrix["rows"][0],
            json!({"wanted": "csv", "cases": 1, "counts": [0, 1, 0, 0], "rates": [0.0, 1.0, 0.0, 0.0]})
        );
        assert_eq!(matrix["steals"][0]["used"], "csv-pro");
    }
}
