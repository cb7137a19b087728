//! `evals.json`, eval sets and trigger lists (spec 15).

use crate::model::Value;
use crate::syntax::fields::{Field, Shape};

use super::document::{Document, Draft};
use super::keyword::{
    any_of, first_of, list_of, map, matching, non_empty_list_of, not, not_blank, of_type, with,
};
use super::object::ObjectSchema;
use super::shape::SchemaBuilder;

/// Keys of the root under which entries are found.
pub const LIST_KEYS: &[&str] = &["evals", "cases", "tests", "test_cases", "queries"];
const PROMPT_KEYS: &[&str] = &["prompt", "query", "input", "task"];
/// Where the text of an assertion that is a mapping is looked for.
const TEXT_KEYS: &[&str] = &["text", "description", "criteria", "assertion", "name", "id"];

pub static ROOT_FIELDS: &[Field] = &[
    Field::new("skill_name", Shape::Text, "the skill that is tested"),
    Field::new("evals", Shape::Any, "the entries, one per test"),
    Field::new("metadata", Shape::Any, "free data"),
];

pub static ENTRY_FIELDS: &[Field] = &[
    Field::new("id", Shape::Any, "integer or text; default: the position"),
    Field::new("prompt", Shape::Any, "what the user says"),
    Field::new("query", Shape::Any, "read when `prompt` is absent"),
    Field::new("expected_output", Shape::Any, "what a good answer is like"),
    Field::new(
        "files",
        Shape::List(&Shape::OneOf(&[Shape::NonEmptyText, Shape::Ref("file")])),
        "files that go with the prompt, relative to the skill's directory",
    ),
    Field::new("assertions", ASSERTIONS, "statements that must be true of the answer")
        .also(&["expectations", "expected_behavior"]),
    Field::new("should_trigger", Shape::Boolean, "whether the skill must be used"),
    Field::new("name", Shape::Any, "for people"),
    Field::new("description", Shape::Any, "for people"),
];

const ASSERTIONS: Shape = Shape::List(&Shape::OneOf(&[Shape::Text, Shape::Ref("assertion")]));

static TRIGGER_FIELDS: &[Field] = &[
    Field::new("skill_name", Shape::Text, "the skill that is tested"),
    Field::new(
        "should_trigger",
        Shape::List(&Shape::NonEmptyText),
        "queries that must use the skill",
    ),
    Field::new(
        "should_not_trigger",
        Shape::List(&Shape::NonEmptyText),
        "queries that must not use the skill",
    ),
];

/// Any of the dialects that are read.
pub fn evals_json(draft: Draft) -> Value {
    let writer = SchemaBuilder::new(draft);
    let root = any_of(vec![
        writer.reference("eval-list"),
        writer.reference("eval-set"),
        writer.reference("trigger-lists"),
    ]);
    Document::new(
        draft,
        "evals.json",
        "Evaluations of a skill: a mapping with `evals`, a list of entries, or lists of queries.",
    )
    .define("eval-list", eval_list(writer))
    .define("eval-set", eval_set(writer))
    .define("trigger-lists", trigger_lists(writer))
    .define("eval", eval(writer))
    .define("file", file())
    .define("assertion", assertion())
    .finish(&root)
}

fn eval_list(writer: SchemaBuilder) -> Value {
    let list = non_empty_list_of(writer.reference("eval"));
    ObjectSchema::new(writer, &[ROOT_FIELDS])
        .rule(first_of(LIST_KEYS, &list, &not(of_type("array"))))
        .finish()
}

/// A bare list; other lists of mappings belong to other tools.
fn eval_set(writer: SchemaBuilder) -> Value {
    let has = |key: &str| map([("required", vec![key].into())]);
    let entry = map([(
        "allOf",
        vec![
            writer.reference("eval"),
            map([("type", "object".into()), ("anyOf", vec![has("query"), has("prompt")].into())]),
        ]
        .into(),
    )]);
    non_empty_list_of(entry)
}

fn trigger_lists(writer: SchemaBuilder) -> Value {
    let queries = list_of(not_blank());
    let filled = |key| with(key, non_empty_list_of(not_blank()));
    ObjectSchema::new(writer, &[TRIGGER_FIELDS])
        .replace("should_trigger", queries.clone())
        .replace("should_not_trigger", queries)
        .rule(any_of(vec![filled("should_trigger"), filled("should_not_trigger")]))
        .finish()
}

fn eval(writer: SchemaBuilder) -> Value {
    let id = any_of(vec![matching(r"^[^\n\r]*\S[^\n\r]*$"), of_type("integer")]);
    // Unlike elsewhere, null is not the same as absent here (spec 15).
    let never_null = map([("properties", map([("should_trigger", not(of_type("null")))]))]);
    ObjectSchema::new(writer, &[ENTRY_FIELDS])
        .title("Evaluation")
        .replace("id", id)
        .rule(first_of(PROMPT_KEYS, &not_blank(), &of_type("null")))
        .rule(never_null)
        .finish()
}

fn file() -> Value {
    let inline = map([
        ("required", vec!["name", "content"].into()),
        ("properties", map([("name", of_type("string")), ("content", of_type("string"))])),
    ]);
    map([
        ("type", "object".into()),
        ("anyOf", vec![with("path", of_type("string")), inline].into()),
    ])
}

fn assertion() -> Value {
    let texts = TEXT_KEYS.iter().map(|key| with(key, of_type("string")));
    map([("type", "object".into()), ("anyOf", texts.collect::<Vec<_>>().into())])
}

#[cfg(test)]
pub(super) const TABLES: &[&[Field]] = &[ROOT_FIELDS, ENTRY_FIELDS, TRIGGER_FIELDS];
