//! Cases of the baseline, as the page shows them beside the cases of now: answer, tool calls and
//! costs.

use std::collections::BTreeMap;

use evalrig_core::compare::{Change, TestChange};
use serde_json::{Map, Value, json};

use super::super::Compared;
use super::case::put;
use super::cut_text;
use super::page::{inert_value, list};
use crate::results::{CaseKey, Row};

/// In bytes. Cases of tests that changed come first.
pub const BUDGET: usize = 8_000_000;

const NAME: usize = 300;
const ANSWER: usize = 8_000;
const CALLS: usize = 100;
const ARGUMENTS: usize = 400;
const SENTENCES: usize = 6;
const SENTENCE: usize = 400;

/// What is kept of a row of the baseline.
#[derive(Debug, Clone, PartialEq)]
pub struct EarlierCase {
    key: CaseKey,
    /// Ready to be written.
    json: String,
}

impl EarlierCase {
    pub fn of(row: &Row) -> Self {
        Self { key: row.key(), json: inert_value(&document(row)) }
    }

    /// How much room it takes.
    pub fn size(&self) -> usize {
        self.json.len()
    }
}

fn document(row: &Row) -> Value {
    let mut map = Map::new();
    map.insert("id".to_owned(), json!(cut_text::text(&row.eval_id, NAME)));
    map.insert("suite".to_owned(), json!(cut_text::text(&row.dataset, NAME)));
    map.insert("target".to_owned(), json!(cut_text::text(&row.variant(), NAME)));
    map.insert("trial".to_owned(), json!(row.trial));
    map.insert("outcome".to_owned(), json!(row.outcome.word()));
    put(&mut map, "score", row.score);
    put(&mut map, "cost", row.cost_usd);
    put(&mut map, "ms", row.duration_ms);
    put(&mut map, "tokens", row.tokens.map(|tokens| tokens.total));
    let answer = row.candidate_answer.as_deref();
    put(&mut map, "answer", answer.map(|answer| cut_text::text(answer, ANSWER)));
    let misses = cut_text::texts(&row.misses, SENTENCES, SENTENCE);
    put(&mut map, "misses", (!misses.is_empty()).then_some(misses));
    put(&mut map, "calls", calls(row));
    map.into()
}

/// Names with arguments where messages were kept, otherwise names. `None` where neither is known.
pub fn calls(row: &Row) -> Option<Vec<Value>> {
    if let Some(messages) = &row.output_messages {
        let asked = messages.iter().filter_map(|message| message.get("tool_calls")?.as_array());
        return Some(asked.flatten().take(CALLS).map(call).collect());
    }
    let names = row.trace_summary.tool_names.as_ref()?;
    Some(names.iter().take(CALLS).map(|name| json!([cut_text::text(name, NAME)])).collect())
}

fn call(call: &Value) -> Value {
    let asked = call.get("function").unwrap_or(call);
    let name = asked.get("name").or_else(|| call.get("tool")).and_then(Value::as_str);
    let name = cut_text::text(name.unwrap_or("tool"), NAME);
    let input = ["arguments", "args", "input"].iter().find_map(|key| asked.get(key));
    match input {
        Some(Value::String(text)) => json!([name, cut_text::text(text, ARGUMENTS)]),
        Some(value) if !value.is_null() => {
            json!([name, cut_text::text(&value.to_string(), ARGUMENTS)])
        }
        _ => json!([name]),
    }
}

/// Ready to be written.
pub fn block(compared: &Compared) -> String {
    block_within(compared, BUDGET)
}

fn block_within(compared: &Compared, budget: usize) -> String {
    let mut by_test: BTreeMap<(&str, &str, &str), Vec<&EarlierCase>> = BTreeMap::new();
    for case in &compared.earlier {
        let key = (&*case.key.suite, &*case.key.test, &*case.key.target);
        by_test.entry(key).or_default().push(case);
    }
    let mut left = budget;
    let mut kept = Vec::new();
    for test in in_order(&compared.comparison.tests) {
        let key = (&*test.suite, &*test.test, &*test.target);
        for case in by_test.remove(&key).unwrap_or_default() {
            match left.checked_sub(case.size()) {
                Some(rest) => left = rest,
                None => return list(kept.into_iter(), ",\n"),
            }
            kept.push(case.json.as_str());
        }
    }
    list(kept.into_iter(), ",\n")
}

fn in_order(tests: &[TestChange]) -> impl Iterator<Item = &TestChange> {
    let of = |change: Change| tests.iter().filter(move |test| test.change == change);
    Change::ALL.iter().flat_map(move |change| of(*change))
}

#[cfg(test)]
mod tests {
    use evalrig_core::model::Outcome;

    use super::super::super::fixture;
    use super::*;

    fn earlier(id: &str, answer: &str) -> EarlierCase {
        let mut row = fixture::row(id, Outcome::Passed, Some(1.0));
        (row.dataset, row.target) = ("support".to_owned(), "claude".to_owned());
        row.candidate_answer = Some(answer.to_owned());
        EarlierCase::of(&row)
    }

    fn ids(block: &str) -> Vec<String> {
        let found: Vec<Value> = serde_json::from_str(block).unwrap();
        found.iter().map(|case| case["id"].as_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn cases_of_tests_that_changed_are_kept_longest() {
        let base = [("same", Outcome::Passed), ("broken", Outcome::Passed)];
        let now = [("same", Outcome::Passed), ("broken", Outcome::Failed)];
        let mut compared = fixture::compared("main.jsonl", &base, &now);
        compared.earlier = vec![earlier("same", "yes"), earlier("broken", "<b>no</b>")];
        assert_eq!(ids(&block(&compared)), ["broken", "same"]);
        let room = compared.earlier[1].size();
        assert_eq!(ids(&block_within(&compared, room)), ["broken"]);
        assert!(!block(&compared).contains('<'));
    }

    #[test]
    fn calls_have_arguments_where_messages_were_kept() {
        let mut row = fixture::row("a", Outcome::Passed, Some(1.0));
        row.output_messages = None;
        row.trace_summary.tool_names = Some(vec!["search".to_owned()]);
        assert_eq!(calls(&row), Some(vec![json!(["search"])]));
        row.output_messages = Some(vec![json!({"role": "assistant", "tool_calls": [
            {"id": "1", "function": {"name": "read", "arguments": "{\"path\": \"a\"}"}},
            {"tool": "write", "input": {"path": "b"}},
            {"name": "list"},
        ]})]);
        let wanted = [
            json!(["read", "{\"path\": \"a\"}"]),
            json!(["write", "{\"path\":\"b\"}"]),
            json!(["list"]),
        ];
        assert_eq!(calls(&row).unwrap(), wanted);
    }
}
