//! A suite as an `EVAL.yaml` in the canonical dialect (spec 3). Reading it gives the same suite;
//! only source locations differ, and the paths of files beside an imported file.

use camino::Utf8Path;

use crate::model::{
    Arm, Block, Execution, Expected, Map, Message, NamedAssertion, OnTimeout, Role, SkillSource,
    Suite, Value, Verdicts,
};
use crate::syntax::{EmitStyle, LineBreaks};

use super::Context;
use super::fields::{FieldView, canonical_fields, filled};
use super::rebase::Rebase;
use super::workspace::written_workspace;

pub(crate) const STYLE: EmitStyle =
    EmitStyle { compact_lists: false, line_breaks: LineBreaks::Literal };

/// The suite as the data of a file in `directory`, which is absolute. Callers redact and emit it.
pub fn suite_document(suite: &Suite, context: &Context<'_>, directory: &Utf8Path) -> Value {
    let rebase = Rebase::new(context, directory);
    let mut map = Map::new();
    map.insert("name", suite.name.as_str());
    map.insert("version", suite.version.as_str());
    map.insert_some("description", suite.description.as_deref());
    map.insert_some("metadata", filled(suite.metadata.clone()));
    let execution = own_settings(&suite.execution, &Execution::default());
    map.insert_some("execution", filled(execution));
    if suite.verdicts != Verdicts::default() {
        map.insert("verdicts", suite.verdicts.to_value());
    }
    map.insert_some("skills", suite.skills.as_deref().map(|list| skills_value(list, &rebase)));
    let arms = suite.arms.iter().map(|arm| (arm.name.clone(), arm_value(arm, &rebase)));
    map.insert_some("arms", filled(arms.collect()));
    let view = FieldView::Suite {
        metadata: &suite.metadata,
        execution: &suite.execution,
        rebase: &rebase,
    };
    let tests = suite.tests.iter();
    let tests: Vec<Value> = tests.map(|test| canonical_fields(test, &view).into()).collect();
    map.insert("tests", tests);
    literal_references(Value::Map(map))
}

fn skills_value(skills: &[SkillSource], rebase: &Rebase<'_>) -> Value {
    let written = skills.iter().map(|source| {
        let mut path = rebase.directory(&source.directory);
        if source.is_parent {
            path += "/*";
        }
        match &source.revision {
            Some(revision) => format!("git:{revision}:{path}").into(),
            None => path.into(),
        }
    });
    Value::List(written.collect())
}

fn arm_value(arm: &Arm, rebase: &Rebase<'_>) -> Value {
    let mut value = arm.to_value();
    if let (Value::Map(map), Some(skills)) = (&mut value, &arm.skills) {
        map.insert("skills", skills_value(skills, rebase));
    }
    if let (Value::Map(map), Some(workspace)) = (&mut value, &arm.workspace) {
        map.insert("workspace", written_workspace(workspace, rebase));
    }
    value
}

/// The settings that are not those of the level above.
pub(super) fn own_settings(execution: &Execution, above: &Execution) -> Map {
    let mut map = Map::new();
    if execution.target != above.target {
        map.insert_some("target", execution.target.as_deref());
    }
    if execution.timeout_seconds != above.timeout_seconds {
        map.insert_some("timeout_seconds", execution.timeout_seconds);
    }
    if execution.allow_empty != above.allow_empty {
        map.insert_some("allow_empty", execution.allow_empty);
    }
    if execution.on_timeout != above.on_timeout {
        map.insert_some("on_timeout", execution.on_timeout.map(OnTimeout::word));
    }
    if execution.stop_on_trigger != above.stop_on_trigger {
        map.insert_some("stop_on_trigger", execution.stop_on_trigger);
    }
    map
}

/// What has to be laid over the root's metadata to get the test's; `tags` are joined by loading.
pub(super) fn own_metadata(merged: &Map, root: &Map) -> Map {
    merged
        .iter()
        .filter(|(key, value)| root.get(key) != Some(value))
        .map(|(key, value)| {
            let own = match (key, root.get(key), value) {
                ("tags", Some(Value::List(first)), Value::List(all)) => {
                    all.strip_prefix(first.as_slice()).map(|rest| Value::List(rest.to_vec()))
                }
                _ => None,
            };
            (key.to_owned(), own.unwrap_or_else(|| value.clone()))
        })
        .collect()
}

/// A plain text where the input is nothing more; a blank one is only legal as a message.
pub(super) fn input_value(input: &[Message], rebase: &Rebase<'_>) -> Value {
    if let [message] = input
        && let [Block::Text(text)] = message.content.as_slice()
        && !text.trim().is_empty()
        && *message == Message::user(text.as_str())
    {
        return text.as_str().into();
    }
    message_list(input, rebase)
}

pub(super) fn expected_value(expected: &Expected, rebase: &Rebase<'_>) -> Value {
    match expected {
        Expected::Text(text) => text.as_str().into(),
        Expected::Structured(value) => value.clone(),
        Expected::Messages(messages) => message_list(messages, rebase),
    }
}

fn message_list(messages: &[Message], rebase: &Rebase<'_>) -> Value {
    let list: Vec<Value> =
        messages.iter().map(|message| message_map(message, rebase).into()).collect();
    list.into()
}

fn message_map(message: &Message, rebase: &Rebase<'_>) -> Map {
    let mut map = Map::new();
    map.insert("role", message.role.word());
    let only_calls = message.role == Role::Assistant && !message.tool_calls.is_empty();
    if !(message.content.is_empty() && only_calls) {
        map.insert("content", content_list(message, rebase));
    }
    let calls: Vec<Value> = message
        .tool_calls
        .iter()
        .map(|call| {
            let mut function = Map::new();
            function.insert("name", call.name.as_str());
            function.insert("arguments", call.arguments.as_str());
            let mut entry = Map::new();
            entry.insert("id", call.id.as_str());
            entry.insert("function", function);
            entry.into()
        })
        .collect();
    if !calls.is_empty() {
        map.insert("tool_calls", calls);
    }
    map.insert_some("tool_call_id", message.tool_call_id.as_deref());
    map.insert_some("name", message.name.as_deref());
    map
}

fn content_list(message: &Message, rebase: &Rebase<'_>) -> Vec<Value> {
    let shown = message.to_value();
    let blocks = shown.as_map().and_then(|map| map.get("content"));
    let blocks = blocks.and_then(Value::as_list).unwrap_or_default();
    blocks
        .iter()
        .zip(&message.content)
        .map(|(shown, block)| match (shown, block.file()) {
            (Value::Map(entry), Some(file)) => {
                let mut entry = entry.clone();
                entry.insert("value", rebase.file(file));
                entry.into()
            }
            _ => shown.clone(),
        })
        .collect()
}

pub(super) fn assert_list(list: &[NamedAssertion], rebase: &Rebase<'_>) -> Vec<Value> {
    list.iter().map(|named| assertion_map(named, rebase).into()).collect()
}

/// Only what differs from the defaults. A name is written only if it was: an assertion's exported
/// sentence knows the difference (spec 7.14).
fn assertion_map(named: &NamedAssertion, rebase: &Rebase<'_>) -> Map {
    let assertion = &named.assertion;
    let common = &assertion.common;
    let mut options = assertion.check.options();
    rebase.options(assertion, &mut options);
    let members = assertion.check.members();
    if !members.is_empty() {
        options.insert("assert", assert_list(members, rebase));
    }
    let mut map = Map::new();
    map.insert("type", assertion.type_name.as_ref());
    map.insert_some("name", common.name.as_deref());
    for (key, value) in options.iter().filter(|(_, value)| **value != Value::Null) {
        map.insert(key, option_value(key, value));
    }
    map.insert_some("file", common.file.as_deref());
    if common.weight.number().text() != "1" {
        map.insert("weight", common.weight.number().clone());
    }
    if common.required.is_gate() {
        map.insert("required", common.required.to_value());
    }
    if common.negate {
        map.insert("negate", true);
    }
    map.insert_some("description", common.description.as_deref());
    map.insert_some("config", filled(common.config.clone()));
    map
}

/// Options are named as in a suite file already; only rubric items have a form of their own.
fn option_value(key: &str, value: &Value) -> Value {
    let Value::List(items) = value else {
        return value.clone();
    };
    let items = items.iter().enumerate().map(|(at, item)| match item {
        Value::Map(item) if key == "rubrics" => short_item(item.clone(), at + 1),
        other => other.clone(),
    });
    Value::List(items.collect())
}

/// A rubric item without its defaults; a bare text where only the outcome is left.
fn short_item(mut item: Map, position: usize) -> Value {
    let is_default = |key: &str, value: &Value| match (key, value) {
        ("id", Value::String(id)) => *id == format!("rubric-{position}"),
        ("weight", Value::Number(number)) => number.text() == "1",
        ("required", value) => *value == Value::Bool(false),
        _ => false,
    };
    for key in ["id", "weight", "required"] {
        if item.get(key).is_some_and(|value| is_default(key, value)) {
            item.remove(key);
        }
    }
    match item.get("outcome") {
        Some(outcome @ Value::String(_)) if item.len() == 1 => outcome.clone(),
        _ => item.into(),
    }
}

/// Variables have been replaced; a `${{` that is still there is meant literally (spec 6.1).
pub(crate) fn literal_references(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(text.replace("${{", "$${{")),
        Value::List(items) => Value::List(items.into_iter().map(literal_references).collect()),
        Value::Map(map) => Value::Map(
            map.iter()
                .map(|(key, value)| (key.to_owned(), literal_references(value.clone())))
                .collect(),
        ),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;
    use std::sync::Arc;

    use super::super::canonical_json::suite_value;
    use super::super::testing::{Loaded, load};
    use super::*;
    use crate::model::{Assertion, Check, CommonOptions, Fault, GradingContext, Step};
    use crate::model::{JsonStyle, Required, RubricItem, ScoreRange};
    use crate::source::MemoryFiles;
    use crate::syntax::{json_value, to_yaml};

    fn saved(loaded: &Loaded) -> String {
        let directory = "/p/evals".into();
        let document = suite_document(&loaded.suite, &loaded.context(), directory);
        to_yaml(&document, &STYLE)
    }

    /// The canonical JSON without the places.
    fn shown(loaded: &Loaded) -> String {
        let value = suite_value(&loaded.suite, &loaded.context());
        let mut root = value.as_map().unwrap().clone();
        let tests = root.get("tests").and_then(Value::as_list).unwrap();
        let tests: Vec<Value> = tests
            .iter()
            .map(|test| {
                let mut test = test.as_map().unwrap().clone();
                test.remove("source");
                test.into()
            })
            .collect();
        root.insert("tests", tests);
        Value::Map(root).to_json(JsonStyle::Pretty)
    }

    fn load_again(loaded: &Loaded) -> Loaded {
        let files = loaded.files.clone();
        load(files.with("/p/evals/EVAL.yaml", saved(loaded)), "/p/evals/EVAL.yaml")
    }

    const SUITE: &str = r#"
name: demo
version: "1.1"
description: "What it covers: all.\nTwo lines.\n"
metadata: {author: me, tags: [a, b], n: 1.50, "yes": ["212", null, true, {}]}
execution: {target: main, timeout_seconds: 20}
verdicts: {pass: 0.90}
trials: 2
input: [{role: system, content: Be brief.}]
assert:
  - {type: contains, value: everywhere, weight: 1.0, required: 0.5}
tests:
  - id: 7
    criteria: "  Greets  "
    input: |2
        Say hello,
      twice.
    input_files: [a.md, /shared/b.md, missing-is-fine/../a.md]
    expected_output: {total: 1250.00, "on": [1, {x: "a\tb"}]}
    assert:
      - {type: contains, value: "x: #y", negate: true, name: mine, description: why}
      - {type: contains, value: "two\nlines\n"}
    execution: {target: other}
    metadata: {tags: [c, a], own: "line\u2028end"}
    skip: "not yet: see #12"
  - id: "08"
    description: with variables
    criteria: Says {{ city.name }}
    vars: {city: {name: Paris}, x: "{{ raw }}"}
    input: "${{ github.sha }} $${{ HOME }} {{ x }} $$${{ A }}"
    expected_output: "{{ city }}"
    execution: {skip_defaults: true}
    assert: [{type: contains, value: "$${{ HOME }}"}]
    trials: 1
  - id: talk
    conversation_id: c
    note: |
      keep

    criteria: Goes on
    input:
      - {role: user, content: [{type: image, value: a.md}, {type: json, value: {b: [], a: "no"}}]}
      - {role: assistant, tool_calls: [{function: {name: find, arguments: {q: 1.0}}}]}
      - {role: tool, tool_call_id: call_1, name: find, content: ""}
      - {role: user, content: " "}
    expected_output:
      - {role: assistant, content: Fine}
    skip: true
  - id: blank
    criteria: Asks back
    execution: {skip_defaults: true}
    input: {role: user, content: "\n"}
    expected_output: "42"
    assert: [{type: contains, value: "?"}]
"#;

    fn files() -> MemoryFiles {
        MemoryFiles::new()
            .with("/p/evals/EVAL.yaml", SUITE)
            .with("/p/evals/a.md", "A")
            .with("/p/shared/b.md", "B")
    }

    #[test]
    fn what_is_saved_is_loaded_as_the_same_suite() {
        let first = load(files(), "/p/evals/EVAL.yaml");
        let second = load_again(&first);
        assert_eq!(shown(&second), shown(&first), "\n{}", saved(&first));
        assert_eq!(saved(&second), saved(&first));
    }

    #[test]
    fn the_text_is_for_people() {
        let text = "name: demo\ntests:\n  - {id: 1, criteria: c, input: \"one\\ntwo\", \
                    assert: [{type: contains, value: 'yes', weight: 2}]}\n";
        let files = MemoryFiles::new().with("/p/evals/EVAL.yaml", text);
        let expected = "\
name: demo
version: '1.0'
tests:
  - id: 1
    criteria: c
    input: |-
      one
      two
    assert:
      - type: contains
        value: 'yes'
        weight: 2
";
        assert_eq!(saved(&load(files, "/p/evals/EVAL.yaml")), expected);
    }

    #[test]
    fn files_of_imported_tests_are_named_from_the_root() {
        let check = "assert: [{type: contains, value: x}]";
        let main = format!(
            "name: demo\ninput_files: [a.md]\ntests:\n  - sub/more.yaml\n  - \
             {{id: m, criteria: c, input: q, {check}}}\n"
        );
        let more = format!(
            "- {{id: a, criteria: c, input: q, {check}}}\n\
             - {{id: b, criteria: c, input: q, input_files: [./a.md, ../a.md, /evals/a.md], {check}}}\n"
        );
        let files = MemoryFiles::new()
            .with("/p/evals/EVAL.yaml", main)
            .with("/p/evals/sub/more.yaml", more)
            .with("/p/evals/a.md", "outer")
            .with("/p/evals/sub/a.md", "inner");
        let first = load(files, "/p/evals/EVAL.yaml");
        let second = load_again(&first);
        let names = |loaded: &Loaded| -> Vec<(String, String)> {
            let tests = loaded.suite.tests.iter();
            let refs = tests.flat_map(|t| t.input[0].content.iter().filter_map(Block::file));
            refs.map(|file| (file.value.clone(), file.path.clone().unwrap().into_string()))
                .collect()
        };
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        let outer = "/p/evals/a.md";
        assert_eq!(
            names(&second),
            [
                pair("a.md", outer),
                pair("/evals/sub/a.md", "/p/evals/sub/a.md"),
                pair("/evals/a.md", outer),
                pair("/evals/a.md", outer),
                pair("a.md", outer),
            ]
        );
        let hashes = |loaded: &Loaded| -> Vec<String> {
            let tests = loaded.suite.tests.iter();
            tests.map(|t| super::super::test_hash(t, &loaded.files)).collect()
        };
        assert_eq!(hashes(&second), hashes(&first));
    }

    /// A check whose options are what the test says.
    #[derive(Debug)]
    struct Fixed(Map);

    impl Check for Fixed {
        fn options(&self) -> Map {
            self.0.clone()
        }

        fn grade(&self, _: &GradingContext<'_>) -> Step {
            Fault::not_measured("nothing").into()
        }

        fn sentences(&self, _: &CommonOptions) -> Vec<String> {
            Vec::new()
        }
    }

    /// The first test of a suite in `/p/evals/sub` with one assertion of these options.
    fn test_with(type_name: &'static str, options: Map) -> Loaded {
        let files = MemoryFiles::new()
            .with(
                "/p/evals/sub/EVAL.yaml",
                "name: demo\ntests:\n  - {id: a, criteria: c, input: q, \
                 assert: [{type: contains, value: x}]}\n",
            )
            .with("/p/evals/sub/check.py", "")
            .with("/p/evals/sub/judge.md", "");
        let mut loaded = load(files, "/p/evals/sub/EVAL.yaml");
        let span = loaded.suite.tests[0].span;
        let common = CommonOptions::defaults(span, span);
        loaded.suite.tests[0].assertions = vec![NamedAssertion {
            name: Cow::Borrowed(type_name),
            assertion: Arc::new(Assertion {
                type_name: Cow::Borrowed(type_name),
                check: Box::new(Fixed(options)),
                common,
            }),
        }];
        loaded
    }

    fn assertion_yaml(loaded: &Loaded) -> String {
        let context = loaded.context();
        let rebase = Rebase::new(&context, "/p/evals".into());
        let test = &loaded.suite.tests[0];
        let view = FieldView::Suite {
            metadata: &Map::new(),
            execution: &Execution::default(),
            rebase: &rebase,
        };
        let map = canonical_fields(test, &view);
        let text = to_yaml(&map.into(), &STYLE);
        let (_, assertion) = text.split_once("assert:\n").unwrap();
        assertion.to_owned()
    }

    #[test]
    fn rubric_items_are_written_as_in_suites() {
        let scored = RubricItem {
            outcome: None,
            id: "depth".to_owned(),
            ranges: vec![ScoreRange { low: 0, high: 5, outcome: "thin".to_owned() }],
            required: Required::Pass,
            ..RubricItem::from_text("", 2)
        };
        let mut options = Map::new();
        let items = [RubricItem::from_text("Is polite", 1), scored];
        let items: Vec<Value> = items.iter().map(RubricItem::to_value).collect();
        options.insert("rubrics", items);
        let expected = "  - type: rubrics
    rubrics:
      - Is polite
      - id: depth
        required: true
        score_ranges:
          - score_range:
              - 0
              - 5
            outcome: thin
";
        assert_eq!(assertion_yaml(&test_with("rubrics", options)), expected);
    }

    #[test]
    fn scripts_and_prompts_are_found_from_elsewhere() {
        let json = r#"{"script":["python3","check.py","--x=a/b"],"prompt":"./judge.md"}"#;
        let Some(Value::Map(options)) = json_value(json) else {
            panic!("an object");
        };
        let expected = "  - type: code-judge
    script:
      - python3
      - /evals/sub/check.py
      - '--x=a/b'
    prompt: /evals/sub/judge.md
    cwd: /evals/sub
";
        assert_eq!(assertion_yaml(&test_with("code-judge", options)), expected);
    }
}
