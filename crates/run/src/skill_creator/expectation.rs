//! The checks of a row as expectations of skill-creator: a statement that is the same in every run, whether
//! it holds, and why.

use std::collections::HashMap;

use evalrig_core::model::Verdicts;
use serde_json::Value;

use super::documents::Expectation;
use crate::results::{EvaluatorResult, GradeOutcome, Row};

/// Of each graded check. `None` if the row has no verdict: it was not measured, and skill-creator knows
/// only passed and failed.
pub(super) fn expectations_of(row: &Row) -> Option<Vec<Expectation>> {
    row.verdict?;
    let pass = row.pass_threshold.unwrap_or_else(|| Verdicts::default().pass());
    let graded = row.evaluator_results.iter().filter(|one| one.outcome == GradeOutcome::Graded);
    let mut found: Vec<Expectation> = graded.flat_map(|one| of_result(one, pass)).collect();
    make_unique(&mut found);
    (!found.is_empty()).then_some(found)
}

/// What the row does not say of its checks.
pub(super) fn ungraded_notes(row: &Row) -> Vec<String> {
    let ungraded = row.evaluator_results.iter().filter(|one| one.outcome != GradeOutcome::Graded);
    ungraded
        .map(|one| {
            let reason = one.error.as_ref().map(|error| error.message.as_str());
            let reason = reason.or(one.reasoning.as_deref()).unwrap_or("no reason given");
            format!("Not graded: {} ({reason})", statement(one))
        })
        .collect()
}

fn of_result(result: &EvaluatorResult, pass: f64) -> Vec<Expectation> {
    if let Some(items) = items(result) {
        return items;
    }
    let passed = result.score.is_some_and(|score| score >= pass);
    vec![Expectation { text: statement(result), passed, evidence: evidence(result, passed) }]
}

/// The items of a rubric, which a judge answered one by one.
fn items(result: &EvaluatorResult) -> Option<Vec<Expectation>> {
    let items = result.details.as_ref()?.get("items")?.as_array()?;
    items
        .iter()
        .map(|item| {
            let (text, points) = without_points(item.get("sentence")?.as_str()?);
            let reason = item.get("reasoning").and_then(Value::as_str).map(str::to_owned);
            let evidence = reason.or_else(|| points.map(|points| format!("Scored {points}")));
            Some(Expectation {
                text: text.to_owned(),
                passed: item.get("holds")?.as_bool()?,
                evidence: evidence.unwrap_or_default(),
            })
        })
        .collect()
}

/// `Is clear (7/10)`: the points differ between runs.
fn without_points(sentence: &str) -> (&str, Option<&str>) {
    let parts = sentence.strip_suffix(')').and_then(|rest| rest.rsplit_once(" ("));
    let is_points = |points: &str| {
        let number = points.strip_suffix("/10");
        number.is_some_and(|number| number.parse::<u8>().is_ok())
    };
    match parts {
        Some((text, points)) if is_points(points) => (text, Some(points)),
        _ => (sentence, None),
    }
}

/// What the check demands. Older rows do not say it.
fn statement(result: &EvaluatorResult) -> String {
    let sentence = result.sentence.as_ref().or(result.hits.first()).or(result.misses.first());
    sentence.unwrap_or(&result.name).clone()
}

fn evidence(result: &EvaluatorResult, passed: bool) -> String {
    if let Some(reasoning) = &result.reasoning {
        return reasoning.clone();
    }
    let (first, second) = (&result.misses, &result.hits);
    let (first, second) = if passed { (second, first) } else { (first, second) };
    let said = if first.is_empty() { second } else { first };
    said.join("; ")
}

/// The viewer finds expectations by their text.
fn make_unique(expectations: &mut [Expectation]) {
    let mut seen: HashMap<String, usize> = HashMap::new();
    for one in expectations {
        let count = seen.entry(one.text.clone()).or_default();
        *count += 1;
        if *count > 1 {
            one.text = format!("{} ({count})", one.text);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::results::testing::row;

    #[test]
    fn every_check_is_a_statement_with_its_reason() {
        let mut row = row("a", 1);
        row.evaluator_results[1].sentence = Some("Output contains '$22,500'".to_owned());
        row.evaluator_results[2].sentence = row.evaluator_results[1].sentence.clone();
        let found = expectations_of(&row).unwrap();
        let said: Vec<(&str, bool, &str)> =
            found.iter().map(|one| (&*one.text, one.passed, &*one.evidence)).collect();
        let triggered = "Skill 'csv-analyzer' triggered (first call: Skill)";
        assert_eq!(
            said,
            [
                (triggered, true, triggered),
                ("Output contains '$22,500'", true, "Output contains '$22,500'"),
                ("Output contains '$22,500' (2)", false, "Only November is named."),
            ]
        );
    }

    #[test]
    fn the_items_of_a_rubric_are_statements_of_their_own() {
        let mut row = row("a", 1);
        row.evaluator_results.drain(..2);
        row.evaluator_results[0].details = Some(json!({"items": [
            {"id": "a", "sentence": "Is clear (9/10)", "holds": true},
            {"id": "b", "sentence": "Names (two) months", "holds": false, "reasoning": "One"},
        ]}));
        let found = expectations_of(&row).unwrap();
        let said: Vec<(&str, bool, &str)> =
            found.iter().map(|one| (&*one.text, one.passed, &*one.evidence)).collect();
        assert_eq!(said, [("Is clear", true, "Scored 9/10"), ("Names (two) months", false, "One")]);
    }

    #[test]
    fn what_was_not_measured_is_not_an_expectation() {
        let mut row = row("a", 1);
        row.evaluator_results[1].outcome = GradeOutcome::Skipped;
        row.evaluator_results[1].reasoning = Some("no judge".to_owned());
        assert_eq!(expectations_of(&row).unwrap().len(), 2);
        assert_eq!(ungraded_notes(&row), ["Not graded: Output contains '$22,500' (no judge)"]);
        row.verdict = None;
        assert_eq!(expectations_of(&row), None);
    }
}
