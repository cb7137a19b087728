//! The shape of `show --format json`: keys and their order are a contract (spec 16.2).

use crate::model::{Expected, Map, Message, NamedAssertion, Skip, Suite, Test, TestId, Value};
use crate::source::Span;

use super::Context;
use super::hash::test_hash;

const SCHEMA_VERSION: u32 = 1;

/// The whole suite.
pub fn suite_value(suite: &Suite, context: &Context<'_>) -> Value {
    let mut map = Map::new();
    map.insert("schemaVersion", SCHEMA_VERSION);
    map.insert("name", suite.name.as_str());
    map.insert("version", suite.version.as_str());
    map.insert_some("description", suite.description.as_deref());
    map.insert_some("metadata", filled(&suite.metadata));
    map.insert_some("execution", settings(&suite.execution));
    map.insert("verdicts", suite.verdicts.to_value());
    let tests: Vec<Value> = suite
        .tests
        .iter()
        .map(|test| test_value(test, context))
        .collect();
    map.insert("tests", tests);
    map.into()
}

/// One test as a document of its own: `show FILE#ID`.
pub fn test_document(test: &Test, context: &Context<'_>) -> Value {
    let mut map = Map::new();
    map.insert("schemaVersion", SCHEMA_VERSION);
    map.insert("test", test_value(test, context));
    map.into()
}

/// One entry of `tests`.
pub fn test_value(test: &Test, context: &Context<'_>) -> Value {
    let messages: Vec<Value> = test.input.iter().map(Message::to_value).collect();
    let assertions: Vec<Value> = test
        .assertions
        .iter()
        .map(NamedAssertion::to_value)
        .collect();
    let mut map = Map::new();
    map.insert("id", id_value(&test.id));
    map.insert("position", test.position);
    map.insert_some("criteria", test.criteria.as_deref());
    map.insert_some("description", test.description.as_deref());
    map.insert_some("conversationId", test.conversation_id.as_deref());
    map.insert_some("note", test.note.as_deref());
    map.insert_some("metadata", filled(&test.metadata));
    map.insert("input", messages);
    let expected = test.expected_output.as_ref().map(Expected::to_value);
    map.insert_some("expectedOutput", expected);
    map.insert("assertions", assertions);
    map.insert_some("execution", settings(&test.execution));
    map.insert("trials", test.trials);
    map.insert_some("skip", test.skip.as_ref().map(skip_value));
    map.insert("testHash", test_hash(test, context.files));
    map.insert("source", source_value(test.span, context));
    map.into()
}

/// A number where the author wrote a plain one, so that a reader can tell `1` from `"1"`.
pub(super) fn id_value(id: &TestId) -> Value {
    match id.number() {
        Some(number) => number.into(),
        None => id.as_str().into(),
    }
}

/// The reason, or `true` where there is none.
pub(super) fn skip_value(skip: &Skip) -> Value {
    match &skip.reason {
        Some(reason) => reason.as_str().into(),
        None => true.into(),
    }
}

/// The map, unless it says nothing.
fn filled(map: &Map) -> Option<Map> {
    (!map.is_empty()).then(|| map.clone())
}

fn settings(execution: &crate::model::Execution) -> Option<Value> {
    (!execution.is_empty()).then(|| execution.to_value())
}

fn source_value(span: Span, context: &Context<'_>) -> Value {
    let path = context.sources.get(span.source).path();
    // A file outside the root, allowed by `--allow-outside-root`, has no name from there.
    let shown = path.strip_prefix(context.root).unwrap_or(path);
    let mut map = Map::new();
    map.insert("file", shown.as_str());
    map.insert("line", context.sources.position(span).line);
    map.into()
}

#[cfg(test)]
mod tests {
    use super::super::testing::load;
    use super::*;
    use crate::model::JsonStyle;
    use crate::source::MemoryFiles;

    const SUITE: &str = "\
name: demo
execution: {target: a}
metadata: {tags: [x]}
tests:
  - id: 7
    criteria: Greets
    description: d
    conversation_id: c
    note: n
    input: Hi
    expected_output: {a: 1.50}
    skip: later
    execution: {timeout_seconds: 9}
    assert: [{type: contains, value: Hello, weight: 2.0}]
  - id: \"8\"
    criteria: Greets
    input: Hi
    skip: true
    assert: [{type: contains, value: Hello}]
";

    fn without_hash(value: &Value) -> String {
        let mut map = value.as_map().unwrap().clone();
        let hash = map.remove("testHash").unwrap();
        assert_eq!(hash.as_str().unwrap().len(), 16);
        Value::Map(map).to_json(JsonStyle::Compact)
    }

    #[test]
    fn keys_stand_in_the_order_of_the_contract() {
        let loaded = load(
            MemoryFiles::new().with("/p/evals/EVAL.yaml", SUITE),
            "/p/evals/EVAL.yaml",
        );
        let context = loaded.context();
        let value = suite_value(&loaded.suite, &context);
        let keys: Vec<&str> = value.as_map().unwrap().iter().map(|(key, _)| key).collect();
        assert_eq!(
            keys,
            [
                "schemaVersion",
                "name",
                "version",
                "metadata",
                "execution",
                "verdicts",
                "tests"
            ]
        );
        let tests = value.as_map().unwrap().get("tests").unwrap();
        let tests = tests.as_list().unwrap();
        assert_eq!(
            without_hash(&tests[0]),
            concat!(
                r#"{"id":7,"position":1,"criteria":"Greets","description":"d","#,
                r#""conversationId":"c","note":"n","metadata":{"tags":["x"]},"#,
                r#""input":[{"role":"user","content":[{"type":"text","value":"Hi"}]}],"#,
                r#""expectedOutput":{"kind":"structured","value":{"a":1.50},"text":"{\"a\":1.50}"},"#,
                r#""assertions":[{"type":"contains","name":"contains","weight":2.0,"#,
                r#""required":false,"negate":false,"value":"Hello"}],"#,
                r#""execution":{"target":"a","timeoutSeconds":9},"trials":1,"skip":"later","#,
                r#""source":{"file":"evals/EVAL.yaml","line":5}}"#
            )
        );
        let second = without_hash(&tests[1]);
        assert!(second.starts_with(r#"{"id":"8","position":2,"#), "{second}");
        assert!(second.contains(r#""skip":true"#), "{second}");
    }

    #[test]
    fn one_test_is_a_document_too() {
        let loaded = load(
            MemoryFiles::new().with("/p/EVAL.yaml", SUITE),
            "/p/EVAL.yaml",
        );
        let text = test_document(&loaded.suite.tests[0], &loaded.context());
        let text = text.to_json(JsonStyle::Compact);
        assert!(
            text.starts_with(r#"{"schemaVersion":1,"test":{"id":7,"#),
            "{text}"
        );
    }
}
