//! A run beside its baseline, as the page needs it: verdict, counts, and every test within a budget.

use evalrig_core::compare::{Change, Comparison, Side, TestChange};
use serde_json::{Map, Value, json};

use super::super::Compared;
use super::super::comparison as words;
use super::page::{inert_value, list};
use super::{cut_text, verdict};
use crate::text::numbers;

/// In bytes, beside that of the cases. What changed comes first, so what is left out did not.
pub const BUDGET: usize = 5_000_000;

const NAME: usize = 300;

/// Ready to be written.
pub fn block(compared: &Compared) -> String {
    block_within(compared, BUDGET)
}

fn block_within(compared: &Compared, budget: usize) -> String {
    let tests = tests_within(&compared.comparison, budget);
    let left_out = compared.comparison.tests.len() - tests.len();
    let head = inert_value(&head(compared, left_out));
    let head = head.strip_suffix('}').unwrap_or(&head);
    let tests = list(tests.iter().map(String::as_str), ",\n");
    format!("{head},\"tests\":{tests}}}")
}

fn head(compared: &Compared, left_out: usize) -> Value {
    let comparison = &compared.comparison;
    let judged = comparison.suite.map(|suite| suite.judged);
    let count = |change: &Change| (change.word(), comparison.count(*change));
    json!({
        "base": cut_text::text(&compared.base, NAME),
        "verdict": judged.map(|judged| judged.verdict.word()),
        "title": verdict::title(comparison),
        "sentences": verdict::sentences(comparison),
        "facts": verdict::facts(comparison),
        "usage": words::usage(comparison),
        "difference": verdict::drawn(comparison),
        "counts": Change::ALL.iter().map(count).collect::<Vec<_>>(),
        "note": note(left_out),
    })
}

fn note(left_out: usize) -> Option<String> {
    let tests = numbers::counted(left_out as u64, "test", "tests");
    let text = format!("To stay small, this page leaves out {tests} of the comparison.");
    (left_out > 0).then_some(text)
}

/// What needs a look first; otherwise the order is that of the comparison.
fn tests_within(comparison: &Comparison, budget: usize) -> Vec<String> {
    let of = |change: Change| comparison.tests.iter().filter(move |test| test.change == change);
    let mut left = budget;
    let mut kept = Vec::new();
    for found in Change::ALL.iter().flat_map(|change| of(*change)) {
        let text = inert_value(&test(found));
        match left.checked_sub(text.len()) {
            Some(rest) => left = rest,
            None => break,
        }
        kept.push(text);
    }
    kept
}

fn test(test: &TestChange) -> Value {
    let mut map = Map::new();
    map.insert("id".to_owned(), json!(cut_text::text(&test.test, NAME)));
    map.insert("suite".to_owned(), json!(cut_text::text(&test.suite, NAME)));
    map.insert("target".to_owned(), json!(cut_text::text(&test.target, NAME)));
    map.insert("change".to_owned(), json!(test.change.word()));
    for (key, found) in [("base", test.base), ("now", test.candidate)] {
        if let Some(found) = found {
            map.insert(key.to_owned(), side(found));
        }
    }
    if test.is_certain {
        map.insert("certain".to_owned(), json!(true));
    }
    map.into()
}

fn side(side: Side) -> Value {
    let mut map = Map::new();
    map.insert("passes".to_owned(), json!(side.passes));
    map.insert("trials".to_owned(), json!(side.trials));
    // What is not known is left out, so that it is never taken for a zero.
    if let Some(score) = side.score {
        map.insert("score".to_owned(), json!((score * 1e6).round() / 1e6));
    }
    if side.errors > 0 {
        map.insert("errors".to_owned(), json!(side.errors));
    }
    map.into()
}

#[cfg(test)]
mod tests {
    use evalrig_core::model::Outcome;

    use super::super::super::fixture;
    use super::*;

    fn read(block: &str) -> Value {
        serde_json::from_str(block).unwrap()
    }

    fn ids(block: &Value) -> Vec<&str> {
        let tests = block["tests"].as_array().unwrap();
        tests.iter().map(|test| test["id"].as_str().unwrap()).collect()
    }

    #[test]
    fn what_changed_comes_first_and_goes_last() {
        let base =
            [("same", Outcome::Passed), ("broken", Outcome::Passed), ("mended", Outcome::Failed)];
        let now =
            [("same", Outcome::Passed), ("broken", Outcome::Failed), ("mended", Outcome::Passed)];
        let compared = fixture::compared("base.jsonl", &base, &now);
        let whole = read(&block(&compared));
        assert_eq!(ids(&whole), ["broken", "mended", "same"]);
        assert_eq!(whole["note"], Value::Null);
        let broken = &whole["tests"][0];
        assert_eq!(broken["base"]["passes"], 1);
        assert_eq!(broken["now"], json!({"passes": 0, "trials": 1, "score": 0.0}));
        let room = inert_value(&whole["tests"][0]).len() + inert_value(&whole["tests"][1]).len();
        let cut = read(&block_within(&compared, room));
        assert_eq!(ids(&cut), ["broken", "mended"]);
        assert_eq!(cut["counts"][7], json!(["unchanged", 1]));
        assert_eq!(cut["note"], "To stay small, this page leaves out 1 test of the comparison.");
    }

    #[test]
    fn what_was_not_run_has_no_numbers() {
        let now = [("new", Outcome::Passed), ("torn", Outcome::Errored)];
        let compared = fixture::compared("b", &[("torn", Outcome::Passed)], &now);
        let found = read(&block(&compared));
        assert_eq!(ids(&found), ["torn", "new"]);
        assert_eq!(found["tests"][1].get("base"), None);
        assert_eq!(found["tests"][0]["now"], json!({"passes": 0, "trials": 0, "errors": 1}));
    }

    #[test]
    fn names_cannot_leave_the_block() {
        let name = "</script><script>alert(1)</script>\u{2028}";
        let compared = fixture::compared(name, &[(name, Outcome::Passed)], &[]);
        let text = block(&compared);
        assert!(!text.contains(['<', '>', '&', '\u{2028}']), "{text}");
        let found = read(&text);
        assert_eq!((&found["base"], ids(&found)[0]), (&json!(name), name));
    }
}
