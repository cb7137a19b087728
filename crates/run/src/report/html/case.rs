//! A row as the page needs it: a line of the table, details, and the conversation.

use evalrig_core::model::Outcome;
use serde_json::{Map, Value, json};

use super::super::SuiteText;
use super::super::case_finding::CaseFinding;
use super::cut_text::{self, TextBudget};
use super::page::inert_value;
use super::page_budget::PageCase;
use crate::results::{EvaluatorResult, Row, RowError, SourcePlace};
use crate::text;

const NAME: usize = 300;
const SENTENCE: usize = 2_000;
const SENTENCES: usize = 50;
const REASONING: usize = 10_000;
const DETAILS: usize = 10_000;
const CHECKS: usize = 200;
/// Deeper composites are not entered.
const DEPTH: usize = 16;
/// Of the misses that the table can be searched for.
const FOUND: usize = 6;
const FOUND_SENTENCE: usize = 200;
const CODE: usize = 400;

pub fn kept(row: &Row, text: &SuiteText) -> PageCase {
    PageCase {
        outcome: row.outcome,
        line: inert_value(&line(row)),
        details: Some(inert_value(&details(row, text))),
        conversation: conversation(row).map(|value| inert_value(&value)),
    }
}

/// What the table shows and searches.
fn line(row: &Row) -> Value {
    let told = |outcome: Outcome| !matches!(outcome, Outcome::Passed);
    let why = told(row.outcome).then(|| CaseFinding::of(row).first_miss());
    let misses: Vec<String> = row
        .misses
        .iter()
        .take(FOUND)
        .map(|miss| text::line(miss, FOUND_SENTENCE))
        .filter(|miss| Some(miss) != why.as_ref())
        .collect();
    let tokens = row.tokens.map(|tokens| tokens.total);
    let mut map = Map::new();
    map.insert("id".to_owned(), json!(cut_text::text(&row.eval_id, NAME)));
    map.insert("suite".to_owned(), json!(cut_text::text(&row.dataset, NAME)));
    map.insert("target".to_owned(), json!(cut_text::text(&row.target, NAME)));
    map.insert("trial".to_owned(), json!(row.trial));
    map.insert("outcome".to_owned(), json!(row.outcome.word()));
    put(&mut map, "score", row.score);
    put(&mut map, "cost", row.cost_usd);
    put(&mut map, "ms", row.duration_ms);
    put(&mut map, "tokens", tokens);
    put(&mut map, "why", why.filter(|why| !why.is_empty()));
    put(&mut map, "misses", (!misses.is_empty()).then_some(misses));
    map.insert("file".to_owned(), json!(cut_text::text(&row.source.file, NAME)));
    map.insert("line".to_owned(), json!(row.source.line));
    map.into()
}

fn details(row: &Row, text: &SuiteText) -> Value {
    let mut map = Map::new();
    map.insert("timestamp".to_owned(), json!(cut_text::text(&row.timestamp, NAME)));
    map.insert("attempts".to_owned(), json!(row.attempts));
    let id = row.conversation_id.as_deref();
    put(&mut map, "conversationId", id.map(|id| cut_text::text(id, NAME)));
    put(&mut map, "answerHash", row.answer_hash());
    put(&mut map, "tokens", row.tokens);
    put(&mut map, "judge", row.judge_usage.filter(|usage| usage.calls > 0));
    let tools = row.trace_summary.tool_names.as_deref();
    let tools = tools.map(|names| cut_text::texts(names, SENTENCES, NAME));
    put(&mut map, "tools", tools);
    put(&mut map, "calls", row.trace_summary.tool_call_count);
    put(&mut map, "error", row.error.as_ref().map(trouble));
    let record = row.record.as_ref();
    let record =
        record.map(|place| json!({"file": cut_text::text(&place.file, NAME), "run": place.run}));
    put(&mut map, "record", record);
    map.insert("source".to_owned(), place(&row.source, text));
    let checks = checks(&row.evaluator_results, text, 0);
    map.insert("checks".to_owned(), checks);
    map.into()
}

/// `None` when nothing was said.
fn conversation(row: &Row) -> Option<Value> {
    let mut map = Map::new();
    if let Some(messages) = &row.output_messages {
        let messages = Value::Array(messages.clone());
        map.insert("messages".to_owned(), TextBudget::conversation().cut(&messages));
    }
    let answer = row.candidate_answer.as_deref();
    put(&mut map, "answer", answer.map(|answer| cut_text::text(answer, cut_text::TEXT)));
    (!map.is_empty()).then(|| map.into())
}

fn checks(results: &[EvaluatorResult], text: &SuiteText, depth: usize) -> Value {
    let shown = results.iter().take(CHECKS);
    shown.map(|result| check(result, text, depth)).collect()
}

fn check(result: &EvaluatorResult, text: &SuiteText, depth: usize) -> Value {
    let mut map = Map::new();
    map.insert("name".to_owned(), json!(cut_text::text(&result.name, NAME)));
    map.insert("type".to_owned(), json!(cut_text::text(&result.type_name, NAME)));
    put(&mut map, "score", result.score);
    map.insert("weight".to_owned(), json!(result.weight));
    // A boolean or a number; what else a file may hold is not worth showing.
    let required = Some(&result.required).filter(|value| value.is_number() || value.is_boolean());
    put(&mut map, "required", required);
    map.insert("outcome".to_owned(), json!(result.outcome));
    let gate = result.gate.as_deref();
    put(&mut map, "gate", gate.map(|gate| cut_text::text(gate, NAME)));
    let sentences = |list: &[String]| cut_text::texts(list, SENTENCES, SENTENCE);
    map.insert("hits".to_owned(), json!(sentences(&result.hits)));
    map.insert("misses".to_owned(), json!(sentences(&result.misses)));
    let reasoning = result.reasoning.as_deref();
    put(&mut map, "reasoning", reasoning.map(|text| cut_text::text(text, REASONING)));
    let details = result.details.as_ref();
    put(&mut map, "details", details.map(|value| TextBudget::of(DETAILS).cut(value)));
    put(&mut map, "error", result.error.as_ref().map(trouble));
    put(&mut map, "ms", result.duration_ms);
    let aggregator = result.aggregator.as_deref();
    put(&mut map, "aggregator", aggregator.map(|name| cut_text::text(name, NAME)));
    put(&mut map, "source", result.source.as_ref().map(|source| place(source, text)));
    if let Some(members) = result.evaluator_results.as_deref().filter(|_| depth < DEPTH) {
        map.insert("members".to_owned(), checks(members, text, depth + 1));
    }
    map.into()
}

fn trouble(error: &RowError) -> Value {
    json!({
        "stage": cut_text::text(&error.stage, NAME),
        "kind": cut_text::text(&error.kind, NAME),
        "message": cut_text::text(&error.message, SENTENCE),
    })
}

/// With the author's own line, where the suite is still there.
fn place(source: &SourcePlace, text: &SuiteText) -> Value {
    let mut map = Map::new();
    map.insert("file".to_owned(), json!(cut_text::text(&source.file, NAME)));
    map.insert("line".to_owned(), json!(source.line));
    let code = text.line(&source.file, source.line);
    put(&mut map, "code", code.map(|code| cut_text::text(code.trim_end(), CODE)));
    map.into()
}

/// What is not known is left out, so that it is never taken for a zero.
pub fn put(map: &mut Map<String, Value>, key: &str, value: Option<impl serde::Serialize>) {
    if let Some(value) = value {
        map.insert(key.to_owned(), json!(value));
    }
}
