//! Ranges of the numbers in a row. JSON has no NaN, but any other number can occur in a file that was
//! edited or damaged, and statistics are only defined for these.

use serde_json::Value;

use super::row::{EvaluatorResult, Row};

/// In US dollars. More is not a price, and sums of such numbers stay finite.
const MOST_COST: f64 = 1e12;

/// Whether a row may say that a case has cost so much.
pub(crate) fn is_cost(dollars: f64) -> bool {
    (0.0..=MOST_COST).contains(&dollars)
}

/// The error says which number is out of range.
pub(super) fn check_row(row: &Row) -> Result<(), String> {
    check_share("score", row.score)?;
    check_share("passThreshold", row.pass_threshold)?;
    check_share("passTrials.share", row.pass_trials.map(|trials| trials.share))?;
    check_ordinal("trial", u64::from(row.trial))?;
    check_ordinal("source.line", u64::from(row.source.line))?;
    if let Some(record) = &row.record {
        check_ordinal("record.run", record.run)?;
    }
    check_cost("costUsd", row.cost_usd)?;
    check_cost("traceSummary.costUsd", row.trace_summary.cost_usd)?;
    check_cost("judgeUsage.costUsd", row.judge_usage.and_then(|usage| usage.cost_usd))?;
    row.evaluator_results.iter().try_for_each(check_grade)
}

fn check_grade(grade: &EvaluatorResult) -> Result<(), String> {
    check_share("evaluatorResults.score", grade.score)?;
    let weight = grade.weight.as_f64();
    if !weight.is_some_and(|weight| weight.is_finite() && weight >= 0.0) {
        return Err(out_of_range("evaluatorResults.weight", &grade.weight));
    }
    if let Value::Number(number) = &grade.required {
        let is_share = number.as_f64().is_some_and(|share| share > 0.0 && share <= 1.0);
        if !is_share {
            return Err(out_of_range("evaluatorResults.required", number));
        }
    }
    grade.evaluator_results.iter().flatten().try_for_each(check_grade)
}

pub(super) fn check_share(key: &str, share: Option<f64>) -> Result<(), String> {
    match share {
        Some(share) if !(0.0..=1.0).contains(&share) => Err(out_of_range(key, share)),
        _ => Ok(()),
    }
}

pub(super) fn check_cost(key: &str, cost: Option<f64>) -> Result<(), String> {
    match cost {
        Some(cost) if !is_cost(cost) => Err(out_of_range(key, cost)),
        _ => Ok(()),
    }
}

pub(super) fn check_ordinal(key: &str, number: u64) -> Result<(), String> {
    if number == 0 { Err(out_of_range(key, number)) } else { Ok(()) }
}

fn out_of_range(key: &str, found: impl std::fmt::Display) -> String {
    format!("`{key}` is {found}, which is out of range")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::testing::row;
    use super::*;

    fn fault(pointer: &str, value: Value) -> Option<String> {
        let mut changed = serde_json::to_value(row("a", 1)).unwrap();
        changed["passThreshold"] = json!(0.8);
        changed["record"] = json!({"file": "a.yaml", "run": 1});
        *changed.pointer_mut(pointer).unwrap() = value;
        check_row(&serde_json::from_value(changed).unwrap()).err()
    }

    #[test]
    fn every_number_has_its_range() {
        for (pointer, good, bad) in [
            ("/score", json!(1.0), json!(1.000_001)),
            ("/score", json!(0.0), json!(-0.1)),
            ("/passThreshold", json!(1), json!(1e308)),
            ("/trial", json!(1), json!(0)),
            ("/source/line", json!(1), json!(0)),
            ("/record/run", json!(u64::MAX), json!(0)),
            ("/costUsd", json!(0), json!(-1e-9)),
            ("/costUsd", json!(1e6), json!(1e308)),
            ("/judgeUsage/costUsd", json!(null), json!(-1)),
            ("/traceSummary/costUsd", json!(0.5), json!(-0.5)),
            ("/evaluatorResults/0/score", json!(0.5), json!(2)),
            ("/evaluatorResults/0/weight", json!(0), json!(-2)),
            ("/evaluatorResults/0/required", json!(0.5), json!(0)),
        ] {
            assert_eq!(fault(pointer, good), None, "{pointer}");
            let fault = fault(pointer, bad).unwrap_or_else(|| panic!("{pointer}"));
            assert!(fault.ends_with("out of range"), "{fault}");
        }
    }
}
