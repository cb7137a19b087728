//! Assertions that a model decides, and some that a suite can only put to a judge.

use crate::model::{Map, Value};

use super::super::assertion_draft::{negated_if, rubric};
use super::super::located::Located;
use super::foo_check::{CheckWriter, FooAssertion};
use super::variables::inserted;

/// How the outcome for the judge is worded.
enum Wording {
    /// The value is the outcome.
    Value,
    /// A sentence before the value.
    Before(&'static str),
    /// A sentence alone.
    Alone(&'static str),
}

/// Type, wording, and whether another method than a judge decides in promptfoo.
const GRADED: &[(&str, Wording, bool)] = &[
    ("llm-rubric", Wording::Value, false),
    ("model-graded-closedqa", Wording::Value, false),
    ("g-eval", Wording::Value, false),
    ("agent-rubric", Wording::Value, false),
    ("search-rubric", Wording::Value, false),
    ("factuality", Wording::Before("Agrees with these facts: "), false),
    ("model-graded-factuality", Wording::Before("Agrees with these facts: "), false),
    ("answer-relevance", Wording::Alone("Answers what was asked"), false),
    ("conversation-relevance", Wording::Alone("Stays relevant to the conversation"), false),
    (
        "context-faithfulness",
        Wording::Alone("Says nothing that the given context does not support"),
        false,
    ),
    ("trajectory:goal-success", Wording::Before("Reaches this goal: "), false),
    ("similar", Wording::Before("Means the same as: "), true),
    ("similar:cosine", Wording::Before("Means the same as: "), true),
    ("similar:dot", Wording::Before("Means the same as: "), true),
    ("similar:euclidean", Wording::Before("Means the same as: "), true),
    ("gleu", Wording::Before("Says much the same as: "), true),
    ("meteor", Wording::Before("Says much the same as: "), true),
    ("is-refusal", Wording::Alone("Refuses the request"), true),
    ("is-sql", Wording::Alone("Is a valid SQL statement and nothing else"), true),
    ("contains-sql", Wording::Alone("Contains a valid SQL statement"), true),
    ("is-html", Wording::Alone("Is valid HTML and nothing else"), true),
    ("contains-html", Wording::Alone("Contains HTML"), true),
];

pub(super) fn is_graded_type(base: &str) -> bool {
    GRADED.iter().any(|(name, ..)| *name == base)
}

pub(super) fn checks(writer: &mut CheckWriter<'_, '_>, assertion: &FooAssertion<'_>) -> Vec<Map> {
    let Some((_, wording, is_other)) = GRADED.iter().find(|(name, ..)| *name == assertion.base)
    else {
        return Vec::new();
    };
    let Some(value) = writer.value(assertion) else { return Vec::new() };
    let texts = texts_of(&value);
    let outcomes: Vec<String> = match wording {
        Wording::Value => texts,
        Wording::Before(words) if texts.len() > 1 => {
            vec![format!("{words}{}", texts.join(" — or: "))]
        }
        Wording::Before(words) => texts.iter().map(|text| format!("{words}{text}")).collect(),
        Wording::Alone(words) if texts.is_empty() => vec![(*words).to_owned()],
        Wording::Alone(words) => vec![format!("{words}: {}", texts.join(", "))],
    };
    if outcomes.is_empty() {
        return writer.lost(assertion, "it has no value");
    }
    report(writer, assertion, *is_other);
    writer.note_grader(assertion);
    // Each outcome counts alone, as a list of `g-eval` does in the mean.
    let items: Vec<Value> = outcomes.into_iter().map(Value::from).collect();
    let map = match items.as_slice() {
        [Value::String(only)] => rubric(only.as_str()),
        _ => Map::new().with("type", "rubrics").with("rubrics", items),
    };
    vec![negated_if(assertion.is_negated, map)]
}

fn report(writer: &mut CheckWriter<'_, '_>, assertion: &FooAssertion<'_>, is_other: bool) {
    let (base, span) = (assertion.base, assertion.span());
    if is_other {
        let message = format!("`{base}` is put to a judge");
        writer.importer.loss("judged", span, message);
        return;
    }
    if let Some(threshold) = assertion.data.get("threshold") {
        let message = "the judge answers yes or no, so the threshold of its score is left out";
        writer.importer.loss("threshold", threshold.span, message);
    }
    if let Some(prompt) = assertion.data.get("rubricPrompt") {
        let message = "the prompt of the judge is left out; evalrig has its own";
        writer.importer.loss("option", prompt.span, message);
    }
    if matches!(base, "agent-rubric" | "search-rubric") {
        let message = format!("the judge of `{base}` has no tools");
        writer.importer.loss("judged", span, message);
    }
}

/// The texts of a value; a mapping has its `goal`, or is JSON.
fn texts_of(value: &Value) -> Vec<String> {
    let one = |value: &Value| match value {
        Value::Map(map) => match map.get("goal").and_then(Value::as_str) {
            Some(goal) => goal.to_owned(),
            None => value.to_json(crate::model::JsonStyle::Compact),
        },
        other => inserted(other),
    };
    let texts = match value {
        Value::List(items) => items.iter().map(one).collect(),
        other => vec![one(other)],
    };
    let texts = texts.into_iter().map(|text: String| text.trim().to_owned());
    texts.filter(|text| !text.is_empty()).collect()
}

/// Text of an optional scalar.
pub(super) fn word(value: &Located, key: &str) -> Option<String> {
    value.get(key).and_then(Located::text)
}
