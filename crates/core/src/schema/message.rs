//! Messages, content blocks, tool calls, and what they appear in.

use crate::model::{Block, Value};
use crate::read::{BLOCK_FIELDS, MESSAGE_FIELDS, TOOL_CALL_FIELDS};
use crate::syntax::fields::Shape;

use super::keyword::{any_of, list_of, map, of_type, present, when, with};
use super::object::ObjectSchema;
use super::shape::{SchemaBuilder, choice};

pub(super) fn definitions(writer: SchemaBuilder) -> Vec<(String, Value)> {
    [
        ("input", input(writer)),
        ("message", message(writer)),
        ("content", content(writer)),
        ("block", block(writer)),
        ("tool-call", tool_call(writer)),
        ("expected-output", expected_output(writer)),
    ]
    .map(|(name, schema)| (name.to_owned(), schema))
    .into()
}

fn input(writer: SchemaBuilder) -> Value {
    any_of(vec![
        of_type("string"),
        list_of(writer.reference("message")),
        writer.reference("message"),
    ])
}

fn message(writer: SchemaBuilder) -> Value {
    let assistant = writer.shape(&Shape::Choice(&["assistant"]));
    let calls = map([("type", "array".into()), ("minItems", 1_u64.into())]);
    let only_calls = map([
        ("required", vec!["role", "tool_calls"].into()),
        ("properties", map([("role", assistant), ("tool_calls", calls)])),
    ]);
    let answers_a_call = with("role", choice(&["tool"]));
    ObjectSchema::new(writer, &[MESSAGE_FIELDS])
        .title("Message")
        .rule(any_of(vec![present("content"), only_calls]))
        .rule(when(answers_a_call, present("tool_call_id")))
        .finish()
}

/// A mapping is read as one `json` block, a bare text as a `text` block, both with a warning.
fn content(writer: SchemaBuilder) -> Value {
    let blocks = any_of(vec![writer.reference("block"), of_type("string")]);
    any_of(vec![of_type("string"), list_of(blocks), of_type("object")])
}

fn block(writer: SchemaBuilder) -> Value {
    let texts: Vec<&str> = Block::TYPES.iter().copied().filter(|name| *name != "json").collect();
    let holds_text = with("type", choice(&texts));
    let text = map([("properties", map([("value", of_type("string"))]))]);
    ObjectSchema::new(writer, &[BLOCK_FIELDS])
        .title("Content block")
        .rule(when(holds_text, text))
        .finish()
}

fn tool_call(writer: SchemaBuilder) -> Value {
    ObjectSchema::new(writer, &[TOOL_CALL_FIELDS])
        .title("Tool call")
        .need(&["function", "tool"])
        .finish()
}

/// Any value. What looks like messages is read as messages (spec 3.5).
fn expected_output(writer: SchemaBuilder) -> Value {
    let has_role = map([("type", "object".into()), ("required", vec!["role"].into())]);
    let message_list =
        map([("type", "array".into()), ("minItems", 1_u64.into()), ("items", has_role)]);
    let keys: Vec<&str> = MESSAGE_FIELDS.iter().map(|field| field.name).collect();
    let has = |key: &str| map([("required", vec![key].into())]);
    let one_message = map([
        ("type", "object".into()),
        ("required", vec!["role"].into()),
        ("propertyNames", map([("enum", keys.into())])),
        ("anyOf", vec![has("content"), has("tool_calls")].into()),
    ]);
    let message = writer.reference("message");
    map([(
        "allOf",
        vec![when(message_list, list_of(message.clone())), when(one_message, message)].into(),
    )])
}
