//! The shape of `show --format json`: keys and their order are a contract (spec 16.2).

use camino::Utf8Path;

use crate::model::{Arm, Map, Suite, Test, Value, skills_to_value};
use crate::source::Span;

use super::Context;
use super::fields::{FieldView, canonical_fields, filled};
use super::hash::TestHasher;
use super::workspace::shown_workspace;

const SCHEMA_VERSION: u32 = 1;

/// The whole suite.
pub fn suite_value(suite: &Suite, context: &Context<'_>) -> Value {
    let mut map = Map::new();
    map.insert("schemaVersion", SCHEMA_VERSION);
    map.insert("name", suite.name.as_str());
    map.insert("version", suite.version.as_str());
    map.insert_some("description", suite.description.as_deref());
    map.insert_some("metadata", filled(suite.metadata.clone()));
    let execution = &suite.execution;
    map.insert_some("execution", (!execution.is_empty()).then(|| execution.to_value()));
    map.insert("verdicts", suite.verdicts.to_value());
    map.insert_some("skills", suite.skills.as_deref().map(skills_to_value));
    map.insert_some("arms", filled(arms_value(suite, context.root)));
    let mut hasher = TestHasher::default();
    let tests = suite.tests.iter();
    let tests: Vec<Value> = tests.map(|test| test_value(test, context, &mut hasher)).collect();
    map.insert("tests", tests);
    map.into()
}

fn arms_value(suite: &Suite, root: &Utf8Path) -> Map {
    let value = |arm: &Arm| {
        let mut value = arm.to_value();
        if let (Value::Map(map), Some(workspace)) = (&mut value, &arm.workspace) {
            map.insert("workspace", shown_workspace(workspace, root));
        }
        value
    };
    suite.arms.iter().map(|arm| (arm.name.clone(), value(arm))).collect()
}

/// One test as a document of its own: `show FILE#ID`.
pub fn test_document(test: &Test, context: &Context<'_>) -> Value {
    let mut map = Map::new();
    map.insert("schemaVersion", SCHEMA_VERSION);
    map.insert("test", test_value(test, context, &mut TestHasher::default()));
    map.into()
}

/// One entry of `tests`.
fn test_value(test: &Test, context: &Context<'_>, hasher: &mut TestHasher) -> Value {
    let mut map = canonical_fields(test, &FieldView::Json { root: context.root });
    map.insert("testHash", hasher.hash(test, context.files));
    map.insert("source", source_value(test.span, context));
    map.into()
}

fn source_value(span: Span, context: &Context<'_>) -> Value {
    let path = context.sources.get(span.source).path();
    // A file outside the root, allowed by `--allow-outside-root`, keeps its absolute path.
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
    fn keys_keep_the_order_of_the_contract() {
        let loaded =
            load(MemoryFiles::new().with("/p/evals/EVAL.yaml", SUITE), "/p/evals/EVAL.yaml");
        let context = loaded.context();
        let value = suite_value(&loaded.suite, &context);
        let keys: Vec<&str> = value.as_map().unwrap().iter().map(|(key, _)| key).collect();
        assert_eq!(
            keys,
            ["schemaVersion", "name", "version", "metadata", "execution", "verdicts", "tests"]
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
        let loaded = load(MemoryFiles::new().with("/p/EVAL.yaml", SUITE), "/p/EVAL.yaml");
        let text = test_document(&loaded.suite.tests[0], &loaded.context());
        let text = text.to_json(JsonStyle::Compact);
        assert!(text.starts_with(r#"{"schemaVersion":1,"test":{"id":7,"#), "{text}");
    }
}
