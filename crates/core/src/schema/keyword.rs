//! Small pieces of schema that several definitions share.

use crate::model::{Map, Value};

/// A mapping with these keys, in this order.
pub fn map<const N: usize>(entries: [(&str, Value); N]) -> Value {
    let entries = entries.map(|(key, value)| (key.to_owned(), value));
    Value::Map(entries.into_iter().collect())
}

/// `{"type": name}`
pub fn of_type(name: &str) -> Value {
    map([("type", name.into())])
}

/// Accepts everything.
pub(super) fn anything() -> Value {
    Map::new().into()
}

pub fn any_of(schemas: Vec<Value>) -> Value {
    map([("anyOf", schemas.into())])
}

pub(super) fn not(schema: Value) -> Value {
    map([("not", schema)])
}

/// A text that matches the pattern.
pub fn matching(pattern: &str) -> Value {
    map([("type", "string".into()), ("pattern", pattern.into())])
}

/// A text that is not blank.
pub(super) fn not_blank() -> Value {
    matching(r"\S")
}

pub fn list_of(items: Value) -> Value {
    map([("type", "array".into()), ("items", items)])
}

pub(super) fn non_empty_list_of(items: Value) -> Value {
    map([("type", "array".into()), ("minItems", 1_u64.into()), ("items", items)])
}

/// The key is present and matches.
pub(super) fn with(key: &str, schema: Value) -> Value {
    map([("required", vec![key].into()), ("properties", map([(key, schema)]))])
}

/// The key is present and not null: null is read as absent.
pub(super) fn present(key: &str) -> Value {
    with(key, not(of_type("null")))
}

/// What matches the condition must match the other schema too.
pub fn when(condition: Value, then: Value) -> Value {
    map([("if", condition), ("then", then)])
}

/// The first of these keys that does not match `passed_over` must match `schema`.
pub(super) fn first_of(keys: &[&str], schema: &Value, passed_over: &Value) -> Value {
    let choices = keys.iter().enumerate().map(|(at, key)| {
        let mut properties: Map =
            keys[..at].iter().map(|earlier| ((*earlier).to_owned(), passed_over.clone())).collect();
        properties.insert(*key, schema.clone());
        map([("required", vec![*key].into()), ("properties", properties.into())])
    });
    any_of(choices.collect())
}
