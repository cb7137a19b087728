//! A row as the page needs it: its part of a line of the table, details, and the conversation.

use evalrig_core::model::Outcome;
use serde_json::{Map, Value, json};

use super::super::SuiteText;
use super::super::case_finding::CaseFinding;
use super::super::file_finding::{enter_command, is_compared};
use super::check::{self, CheckSpecs, place, trouble};
use super::cut_text::{self, TextBudget};
use super::page::inert_value;
use super::page_budget::PageCase;
use crate::results::{Row, WorkspaceChanges};
use crate::text;

pub const NAME: usize = 300;
const TOOLS: usize = 50;
/// Of the files that were created, modified or deleted.
const PATHS: usize = 100;
/// Of the misses that the table can be searched for.
const FOUND: usize = 6;
pub const FOUND_SENTENCE: usize = 200;
/// Of the question in the table.
const QUESTION: usize = 160;
/// Of question, criteria and expected output together.
const COMMON: usize = 60_000;
const LOST: usize = 12;

/// What trials of a test have in common, most of the time: what was asked, and who answered.
pub fn common(row: &Row) -> String {
    let mut map = Map::new();
    let mut room = TextBudget::of(COMMON);
    let input = row.input.as_ref().map(|messages| room.cut(&Value::Array(messages.clone())));
    put(&mut map, "input", input);
    let criteria = row.criteria.as_deref();
    put(&mut map, "criteria", criteria.map(|text| cut_text::text(text, cut_text::TEXT)));
    put(&mut map, "expected", row.expected_output.as_ref().map(|value| room.cut(value)));
    if let Some(agent) = &row.agent {
        let mut facts = Map::new();
        for (key, value) in
            [("provider", &agent.provider), ("model", &agent.model), ("version", &agent.version)]
        {
            put(&mut facts, key, value.as_deref().map(|text| cut_text::text(text, NAME)));
        }
        map.insert("agent".to_owned(), facts.into());
    }
    inert_value(&map.into())
}

/// What the table shows and searches of a test, without its cases.
pub fn test_line(row: &Row) -> String {
    let mut map = Map::new();
    map.insert("id".to_owned(), json!(cut_text::text(&row.eval_id, NAME)));
    let name = row.test_name.as_deref().filter(|name| *name != row.eval_id);
    put(&mut map, "name", name.map(|name| cut_text::text(name, NAME)));
    map.insert("suite".to_owned(), json!(cut_text::text(&row.dataset, NAME)));
    map.insert("target".to_owned(), json!(cut_text::text(&row.variant(), NAME)));
    let tags = cut_text::texts(&row.tags, TOOLS, NAME);
    put(&mut map, "tags", (!tags.is_empty()).then_some(tags));
    put(&mut map, "ask", question(row));
    map.insert("file".to_owned(), json!(cut_text::text(&row.source.file, NAME)));
    map.insert("line".to_owned(), json!(row.source.line));
    inert_value(&map.into())
}

/// In one line.
fn question(row: &Row) -> Option<String> {
    let text = row.question()?.split_whitespace().collect::<Vec<_>>().join(" ");
    Some(text::line(&text, QUESTION))
}

/// `common` is the place of [`common`] in its test.
pub fn kept(row: &Row, text: &SuiteText, common: usize, specs: &mut CheckSpecs) -> PageCase {
    PageCase {
        outcome: row.outcome,
        line: inert_value(&case_line(row)),
        details: Some(inert_value(&details(row, text, common, specs))),
        conversation: conversation(row).map(|value| inert_value(&value)),
    }
}

/// `[trial, outcome, score, cost, ms, tokens, why, misses, lost]`, without nulls at its end. The
/// outcome is its first letter, and `lost` names the assertions that lost points.
fn case_line(row: &Row) -> Value {
    let is_told = !matches!(row.outcome, Outcome::Passed);
    let why = is_told.then(|| CaseFinding::of(row).first_miss()).filter(|why| !why.is_empty());
    let misses: Vec<String> = row
        .misses
        .iter()
        .take(FOUND)
        .map(|miss| text::line(miss, FOUND_SENTENCE))
        .filter(|miss| Some(miss) != why.as_ref())
        .collect();
    let lost: Vec<String> = row
        .evaluator_results
        .iter()
        .filter(|result| result.score.is_none_or(|score| score < 1.0 - 1e-9))
        .take(LOST)
        .map(|result| cut_text::text(&result.name, NAME))
        .collect();
    let mut parts = vec![
        json!(row.trial),
        json!(&row.outcome.word()[..1]),
        json!(row.score),
        json!(row.cost_usd),
        json!(row.duration_ms),
        json!(row.tokens.map(|tokens| tokens.total)),
        json!(why),
        json!((!misses.is_empty()).then_some(misses)),
        json!((!lost.is_empty()).then_some(lost)),
    ];
    while parts.last().is_some_and(Value::is_null) {
        parts.pop();
    }
    parts.into()
}

fn details(row: &Row, text: &SuiteText, common: usize, specs: &mut CheckSpecs) -> Value {
    let mut map = Map::new();
    put(&mut map, "common", (common > 0).then_some(common));
    map.insert("timestamp".to_owned(), json!(cut_text::text(&row.timestamp, NAME)));
    put(&mut map, "attempts", (row.attempts > 1).then_some(row.attempts));
    put(&mut map, "cached", row.is_cached().then_some(true));
    let agent = row.agent.as_ref();
    let named = |name: Option<&String>| name.map(|name| cut_text::text(name, NAME));
    put(&mut map, "worker", named(row.worker.as_ref()));
    put(&mut map, "sessionId", named(agent.and_then(|agent| agent.session_id.as_ref())));
    put(&mut map, "stopReason", named(agent.and_then(|agent| agent.stop_reason.as_ref())));
    put(&mut map, "conversationId", named(row.conversation_id.as_ref()));
    put(&mut map, "answerHash", row.answer_hash());
    put(&mut map, "tokens", row.tokens);
    put(&mut map, "judge", row.judge_usage.filter(|usage| usage.calls > 0));
    let tools = row.trace_summary.tool_names.as_deref();
    put(&mut map, "tools", tools.map(|names| cut_text::texts(names, TOOLS, NAME)));
    put(&mut map, "error", row.error.as_ref().map(trouble));
    let record = row.record.as_ref();
    let record =
        record.map(|place| json!({"file": cut_text::text(&place.file, NAME), "run": place.run}));
    put(&mut map, "record", record);
    put(&mut map, "files", row.workspace.as_ref().map(|changes| files(row, changes)));
    let checks = check::checks(&row.evaluator_results, text, specs, 0);
    map.insert("checks".to_owned(), checks);
    map.into()
}

/// What became of the files of the workspace.
fn files(row: &Row, changes: &WorkspaceChanges) -> Value {
    let paths = |list: &[String]| cut_text::texts(list, PATHS, NAME);
    let mut map = Map::new();
    map.insert("created".to_owned(), json!(paths(&changes.created)));
    map.insert("modified".to_owned(), json!(paths(&changes.modified)));
    map.insert("deleted".to_owned(), json!(paths(&changes.deleted)));
    let diff = Some(&changes.diff).filter(|diff| !diff.is_empty());
    put(&mut map, "diff", diff.map(|diff| cut_text::text(diff, cut_text::TEXT)));
    put(&mut map, "unknown", (!is_compared(row, changes)).then_some(true));
    if let Some(path) = &changes.path {
        map.insert("path".to_owned(), json!(cut_text::text(path, NAME)));
        // A command with a part of the path would lead elsewhere.
        put(&mut map, "enter", (path.len() <= NAME).then(|| enter_command(path)));
    }
    map.into()
}

/// Where the test is written.
pub fn source(row: &Row, text: &SuiteText) -> String {
    inert_value(&place(&row.source, text))
}

/// `None` when nothing was said. An answer that is the last message is not repeated.
fn conversation(row: &Row) -> Option<Value> {
    let mut map = Map::new();
    let answer = row.candidate_answer.as_deref();
    let mut is_repeated = false;
    if let Some(messages) = &row.output_messages {
        let last = messages.last().and_then(|message| message.get("content"));
        is_repeated = answer.is_some() && last.and_then(Value::as_str) == answer;
        let messages = Value::Array(messages.clone());
        map.insert("messages".to_owned(), TextBudget::conversation().cut(&messages));
    }
    let answer = answer.filter(|_| !is_repeated);
    put(&mut map, "answer", answer.map(|answer| cut_text::text(answer, cut_text::TEXT)));
    (!map.is_empty()).then(|| map.into())
}

/// What is not known is left out, so that it is never taken for a zero.
pub fn put(map: &mut Map<String, Value>, key: &str, value: Option<impl serde::Serialize>) {
    if let Some(value) = value {
        map.insert(key.to_owned(), json!(value));
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::fixture;
    use super::*;

    #[test]
    fn a_kept_workspace_comes_with_the_command_to_enter_it() {
        let mut row = fixture::changed_files();
        let changes = row.workspace.as_mut().unwrap();
        changes.path = Some("/tmp/kept-1/it's".to_owned());
        let found = files(&row, row.workspace.as_ref().unwrap());
        assert_eq!(found["enter"], r"cd '/tmp/kept-1/it'\''s'");
        assert!(
            found["diff"].as_str().unwrap().contains("+Rounded.") && found["unknown"].is_null()
        );
        row.workspace = Some(WorkspaceChanges {
            path: Some(format!("/tmp/{}", "x".repeat(NAME))),
            ..WorkspaceChanges::default()
        });
        row.error = Some(fixture::fault("workspace", "setup", "exit code 3"));
        let found = files(&row, row.workspace.as_ref().unwrap());
        assert!(found["enter"].is_null() && found["path"].is_string(), "{found}");
        assert_eq!(found["unknown"], true);
    }

    #[test]
    fn a_question_is_one_line_of_the_table() {
        let mut row = fixture::row("a", Outcome::Passed, Some(1.0));
        row.input = Some(vec![json!({"role": "user", "content": "Where is\n my order?"})]);
        let line: Value = serde_json::from_str(&test_line(&row)).unwrap();
        assert_eq!(line["ask"], "Where is my order?");
        row.input = None;
        assert!(!test_line(&row).contains("ask"));
    }

    #[test]
    fn an_answer_is_kept_once() {
        let mut row = fixture::row("a", Outcome::Passed, Some(1.0));
        row.candidate_answer = Some("Yes.".to_owned());
        row.output_messages = None;
        assert_eq!(conversation(&row), Some(json!({"answer": "Yes."})));
        let message = json!({"role": "assistant", "content": "Yes."});
        row.output_messages = Some(vec![message.clone()]);
        assert_eq!(conversation(&row), Some(json!({"messages": [message]})));
        row.candidate_answer = Some("No.".to_owned());
        assert_eq!(conversation(&row).unwrap()["answer"], "No.");
    }

    #[test]
    fn a_line_ends_with_its_last_known_value() {
        let mut row = fixture::row("a", Outcome::Passed, Some(1.0));
        (row.cost_usd, row.tokens) = (None, None);
        assert_eq!(case_line(&row), json!([1, "p", 1.0, null, 900]));
    }
}
