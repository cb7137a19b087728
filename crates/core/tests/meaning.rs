//! The meaning of loaded suites (spec 2.2–2.5, 3, 5, 6): one dialect, however a suite is written.

mod support;

use evalrig_core::model::{
    Block, Expected, HookCommand, KeepRule, Message, RepoOrigin, Role, Suite, Test, Value,
    Workspace,
};
use support::{Project, assertion_names, input_json, json, test};

fn clean(suite: &str) -> Suite {
    Project::new(suite).load().clean()
}

/// The type and the canonical options of each assertion.
fn assertions(test: &Test) -> Vec<String> {
    test.assertions.iter().map(|placed| json(&placed.to_value())).collect()
}

fn expected(suite: &Suite, id: &str) -> String {
    let expected = test(suite, id).expected_output.as_ref().expect("an expected output");
    json(&expected.to_value())
}

fn ids(suite: &Suite) -> Vec<&str> {
    suite.tests.iter().map(|test| test.id.as_str()).collect()
}

// Section 2.2.

const LINE: &str = "{\"id\": \"a\", \"criteria\": \"Greets\", \"input\": \"Hi\"}\n";
const SIDECAR: &str = r"name: demo
metadata: {tags: [x]}
input: Before
trials: 2
verdicts: {pass: 0.9}
execution: {target: t, timeout_seconds: 9}
assert: [{type: contains, value: Hello}]
";

#[track_caller]
fn assert_sidecar_applies(suite: &Suite) {
    assert_eq!(suite.name, "demo");
    assert_eq!(suite.verdicts.pass(), 0.9);
    let test = &suite.tests[0];
    assert_eq!(test.trials, 2);
    assert_eq!(test.execution.target.as_deref(), Some("t"));
    assert_eq!(test.execution.timeout_seconds, Some(9));
    assert_eq!(assertion_names(test), ["contains"]);
    assert_eq!(test.input, [Message::user("Before"), Message::user("Hi")]);
    assert_eq!(json(&test.metadata.clone().into()), "{\"tags\":[\"x\"]}");
}

#[test]
fn a_jsonl_file_takes_all_root_fields_from_its_sidecar() {
    for end in ["yaml", "yml"] {
        let project = Project::named("d.jsonl", LINE).with(&format!("d.{end}"), SIDECAR);
        assert_sidecar_applies(&project.load().clean());
    }
}

#[test]
fn a_sidecar_that_is_named_is_the_same_suite() {
    let project = Project::named("d.yaml", SIDECAR).with("d.jsonl", LINE);
    assert_sidecar_applies(&project.load().clean());
}

#[test]
fn a_sidecar_that_points_to_its_jsonl_file_is_the_same_suite() {
    let sidecar = format!("{SIDECAR}tests: ./d.jsonl\n");
    let named = Project::named("d.jsonl", LINE).with("d.yaml", sidecar.as_str());
    assert_sidecar_applies(&named.load().clean());
    let other = Project::named("d.yaml", sidecar.as_str()).with("d.jsonl", LINE);
    assert_sidecar_applies(&other.load().clean());
}

#[test]
fn a_jsonl_file_alone_is_named_by_its_stem() {
    let suite = Project::named("Data Set.jsonl", LINE).load().with_names(&["missing-sidecar"]);
    assert_eq!(suite.name, "data-set");
}

#[test]
fn an_imported_jsonl_file_has_no_sidecar() {
    let project =
        Project::new("name: demo\ntests: d.jsonl\n").with("d.jsonl", LINE).with("d.yaml", SIDECAR);
    let suite = project.load().clean();
    assert_eq!(suite.tests[0].input, [Message::user("Hi")]);
    assert_eq!(assertion_names(&suite.tests[0]), ["criteria"]);
}

// Section 2.3.

#[test]
fn tests_keep_the_order_of_writing_and_positions_count_over_imports() {
    let suite = Project::new(
        r"name: demo
tests:
  - {id: first, criteria: x, input: y}
  - more/*.yaml
  - cases.jsonl
  - {id: last, criteria: x, input: y}
",
    )
    .with(
        "more/b.yaml",
        r"- {id: b1, criteria: x, input: y}
- {id: b2, criteria: x, input: y}
",
    )
    .with("more/a.yaml", "id: a\ncriteria: x\ninput: y\n")
    .with(
        "cases.jsonl",
        r#"
{"id": "line", "criteria": "x", "input": "y"}
"#,
    )
    .load()
    .clean();
    assert_eq!(ids(&suite), ["first", "a", "b1", "b2", "line", "last"]);
    let positions: Vec<u32> = suite.tests.iter().map(|test| test.position).collect();
    assert_eq!(positions, [1, 2, 3, 4, 5, 6]);
}

#[test]
fn a_faulty_test_keeps_its_position() {
    let outcome = Project::new(
        r"name: demo
tests:
  - {id: a, criteria: x}
  - {id: b, criteria: x, input: y}
",
    )
    .load();
    assert_eq!(outcome.seen[0].test, Some(1));
    let suite = outcome.with_names(&["missing-input"]);
    assert_eq!((ids(&suite), suite.tests[0].position), (vec!["b"], 2));
}

#[test]
fn assertions_of_imports_add_up_nearest_first() {
    let suite = Project::new(
        r"name: demo
assert: [{type: contains, name: root, value: x}]
execution:
  assert: [{type: contains, name: root-execution, value: x}]
tests: [sub/more.yaml]
",
    )
    .with(
        "sub/more.yaml",
        r"name: more
assert: [{type: contains, name: near, value: x}]
execution:
  assert: [{type: contains, name: near-execution, value: x}]
tests:
  - id: a
    criteria: x
    input: y
    execution: {assert: [{type: contains, name: own-execution, value: x}]}
    assert: [{type: contains, name: own, value: x}]
    rubrics: [Greets]
  - {id: b, criteria: x, input: y}
",
    )
    .load()
    .clean();
    assert_eq!(
        assertion_names(test(&suite, "a")),
        ["rubrics", "own", "own-execution", "near", "near-execution", "root", "root-execution"]
    );
    assert_eq!(
        assertion_names(test(&suite, "b")),
        ["near", "near-execution", "root", "root-execution"]
    );
}

#[test]
fn settings_of_the_nearest_file_win() {
    let suite = Project::new(
        r"name: demo
metadata: {tags: [root]}
execution: {target: root, timeout_seconds: 10}
tests: [more.yaml]
",
    )
    .with(
        "more.yaml",
        r"name: more
metadata: {tags: [near], skill: near}
description: near
execution: {target: near}
tests:
  - {id: a, criteria: x, input: y}
  - {id: b, criteria: x, input: y, execution: {target: own, timeout_seconds: 1}}
",
    )
    .load()
    .clean();
    let a = &test(&suite, "a").execution;
    assert_eq!((a.target.as_deref(), a.timeout_seconds), (Some("near"), Some(10)));
    let b = &test(&suite, "b").execution;
    assert_eq!((b.target.as_deref(), b.timeout_seconds), (Some("own"), Some(1)));
    assert_eq!(suite.description, None);
    assert_eq!(json(&test(&suite, "a").metadata.clone().into()), "{\"tags\":[\"root\"]}");
}

#[test]
fn inputs_of_imports_come_outermost_first_and_files_come_from_the_nearest() {
    let suite = Project::new(
        r"name: demo
input: [{role: system, content: Root}]
input_files: [root.md]
tests: [sub/more.yaml, {id: b, criteria: x, input: y}]
",
    )
    .with(
        "sub/more.yaml",
        r"name: more
input: Near
input_files: [near.md]
tests:
  - {id: a, criteria: x, input: y}
",
    )
    .with("root.md", "r")
    .with("sub/near.md", "n")
    .load()
    .clean();
    let a = test(&suite, "a");
    assert_eq!(
        input_json(a),
        [
            r#"{"role":"system","content":[{"type":"text","value":"Root"}]}"#,
            r#"{"role":"user","content":[{"type":"text","value":"Near"}]}"#,
            r#"{"role":"user","content":[{"type":"file","value":"near.md"},{"type":"text","value":"y"}]}"#,
        ]
    );
    let file = a.input[2].content[0].file().unwrap();
    assert_eq!(file.path.as_deref().unwrap(), "/p/sub/near.md");
    let file = test(&suite, "b").input[1].content[0].file().unwrap();
    assert_eq!(file.path.as_deref().unwrap(), "/p/root.md");
}

// Section 2.5.

#[test]
fn only_true_and_false_are_booleans_and_dates_are_texts() {
    let suite = clean(
        r"name: demo
metadata: {a: yes, b: off, c: True, d: FALSE, e: 2024-01-02, f: ~, g: null, h: 0o17, i: 0x1F, j: 1_000, k: .5, l: 012}
tests:
  - {id: a, criteria: x, input: y}
",
    );
    assert_eq!(
        json(&suite.metadata.into()),
        r#"{"a":"yes","b":"off","c":true,"d":false,"e":"2024-01-02","f":null,"g":null,"h":15,"i":31,"j":"1_000","k":0.5,"l":12}"#
    );
}

#[test]
fn numbers_keep_their_source_text_and_keys_their_order() {
    let suite = clean(
        r"name: demo
tests:
  - id: a
    criteria: x
    input: y
    expected_output: {z: 1.50, 1: 1e3, a: 1250.00, true: 12345678901234567890123, ~: -0}
",
    );
    assert_eq!(
        test(&suite, "a").expected_output.as_ref().unwrap().text().unwrap(),
        r#"{"z":1.50,"1":1e3,"a":1250.00,"true":12345678901234567890123,"~":-0}"#
    );
}

#[test]
fn merge_keys_and_anchors_work_in_tests_and_written_keys_win() {
    let suite = clean(
        r"name: demo
x-base: &base
  criteria: Base
  input: Base
  metadata: {a: 1}
x-more: &more {note: More, criteria: More}
tests:
  - <<: *base
    id: a
    input: Own
  - {<<: [*base, *more], id: b}
  - &c {id: c, criteria: x, input: y}
  - {<<: *c, id: d}
",
    );
    let a = test(&suite, "a");
    assert_eq!(a.criteria.as_deref(), Some("Base"));
    assert_eq!(a.input, [Message::user("Own")]);
    let b = test(&suite, "b");
    assert_eq!((b.criteria.as_deref(), b.note.as_deref()), (Some("Base"), Some("More")));
    assert_eq!(test(&suite, "d").input, [Message::user("y")]);
}

#[test]
fn a_merge_key_in_quotes_is_a_key_like_any_other() {
    let suite = Project::new(
        r#"name: demo
tests:
  - {"<<": {input: z}, id: a, criteria: x, input: y}
"#,
    )
    .load()
    .with_names(&["unknown-field"]);
    assert_eq!(test(&suite, "a").input, [Message::user("y")]);
}

// Section 3.1.

#[test]
fn names_come_from_the_directory_or_the_stem() {
    for (path, name) in [
        ("Code Review/EVAL.yaml", "code-review"),
        ("a/eval.yml", "a"),
        ("a/Smoke.eval.yaml", "smoke"),
        ("a/data_set.yaml", "data-set"),
    ] {
        let project = Project::named(path, "tests:\n  - {id: a, criteria: x, input: y}\n");
        assert_eq!(project.load().with_names(&["missing-name"]).name, name, "{path}");
    }
}

#[test]
fn root_fields_have_defaults() {
    let suite = clean("name: demo\ntests:\n  - {id: a, criteria: x, input: y}\n");
    assert_eq!(suite.version, "1.0");
    assert_eq!((suite.verdicts.pass(), suite.verdicts.borderline()), (0.8, 0.6));
    assert_eq!(suite.tests[0].trials, 1);
    assert!(suite.execution.is_empty());
}

#[test]
fn a_number_as_version_is_read_as_text() {
    for (written, version) in [("1", "1.0"), ("1.0", "1.0"), ("1.10", "1.10")] {
        let text = format!(
            r"name: demo
version: {written}
tests:
  - {{id: a, criteria: x, input: y}}
"
        );
        let suite = Project::new(&text).load().with_names(&["version-not-string"]);
        assert_eq!(suite.version, version);
    }
}

#[test]
fn old_places_of_root_fields_mean_the_same() {
    let suite = Project::new(
        r"name: demo
target: t
tags: [a]
author: me
license: MIT
tests:
  - {id: a, criteria: x, input: y}
",
    )
    .load()
    .with_names(&["deprecated-field"; 4]);
    assert_eq!(suite.execution.target.as_deref(), Some("t"));
    assert_eq!(test(&suite, "a").execution.target.as_deref(), Some("t"));
    assert_eq!(json(&suite.metadata.into()), r#"{"tags":["a"],"author":"me","license":"MIT"}"#);
}

#[test]
fn trials_of_a_test_override_those_of_the_root() {
    let suite = Project::new(
        r"name: demo
trials: 3
tests:
  - {id: a, criteria: x, input: y}
  - {id: b, criteria: x, input: y, trials: 5}
  - {id: c, criteria: x, input: y, execution: {trials: {count: 7}}}
",
    )
    .load()
    .with_names(&["deprecated-field"]);
    let trials: Vec<u32> = suite.tests.iter().map(|test| test.trials).collect();
    assert_eq!(trials, [3, 5, 7]);
}

// Section 3.2.

#[test]
fn numeric_ids_are_remembered_and_others_are_their_source_text() {
    let suite = Project::new(
        r#"name: demo
tests:
  - {id: 7, criteria: x, input: y}
  - {id: "8", criteria: x, input: y}
  - {id: 007, criteria: x, input: y}
  - {id: 0x10, criteria: x, input: y}
  - {id: 9007199254740991, criteria: x, input: y}
  - {id: 0, criteria: x, input: y}
"#,
    )
    .load()
    .with_names(&["ambiguous-id", "ambiguous-id"]);
    assert_eq!(ids(&suite), ["7", "8", "007", "0x10", "9007199254740991", "0"]);
    let numbers: Vec<Option<u64>> = suite.tests.iter().map(|test| test.id.number()).collect();
    assert_eq!(numbers, [Some(7), None, None, None, Some(9_007_199_254_740_991), Some(0)]);
}

#[test]
fn criteria_alone_become_one_rubrics_assertion() {
    let suite = clean(
        r"name: demo
tests:
  - {id: a, criteria: Greets the user, input: y}
",
    );
    let only = &test(&suite, "a").assertions[0];
    assert_eq!((&*only.name, &*only.assertion.type_name), ("criteria", "rubrics"));
    assert!(only.assertion.common.weight.is_one());
    assert_eq!(only.assertion.sentences(), ["Greets the user"]);
    let value = json(&only.to_value());
    assert!(value.contains(r#""id":"criteria""#), "the item is named `criteria`: {value}");
}

#[test]
fn criteria_beside_assertions_are_context_only() {
    let suite = clean(
        r"name: demo
tests:
  - {id: a, criteria: Greets, input: y, assert: [{type: is-json}]}
",
    );
    assert_eq!(assertion_names(test(&suite, "a")), ["is-json"]);
    assert_eq!(test(&suite, "a").criteria.as_deref(), Some("Greets"));
}

#[test]
fn rubrics_are_one_assertion_of_weight_one_in_front() {
    let suite = clean(
        r"name: demo
tests:
  - id: a
    criteria: x
    input: y
    assert: [{type: is-json}]
    rubrics: [Greets, {id: p, outcome: Is polite, weight: 3}]
",
    );
    let a = test(&suite, "a");
    assert_eq!(assertion_names(a), ["rubrics", "is-json"]);
    assert!(a.assertions[0].assertion.common.weight.is_one());
    assert_eq!(a.assertions[0].assertion.sentences(), ["Greets", "Is polite"]);
    let value = json(&a.assertions[0].to_value());
    assert!(value.contains(r#""id":"rubric-1""#) && value.contains(r#""id":"p""#), "{value}");
}

#[test]
fn bare_strings_are_assertions_of_their_own_and_repeats_are_numbered() {
    let suite = clean(
        r"name: demo
assert: [{type: contains, value: c}]
tests:
  - id: a
    criteria: x
    input: y
    assert:
      - Greets
      - Is polite
      - {type: contains, value: a}
      - {type: contains, value: b}
      - {type: contains, value: d, name: contains-2}
",
    );
    assert_eq!(
        assertion_names(test(&suite, "a")),
        ["rubrics", "rubrics-2", "contains", "contains-3", "contains-2", "contains-4"]
    );
}

#[test]
fn a_test_may_refuse_the_defaults() {
    let suite = Project::new(
        r"name: demo
assert: [{type: is-json}]
input: Before
input_files: [x.md]
execution: {target: t}
tests:
  - {id: a, criteria: x, input: y, execution: {skip_defaults: true}}
  - {id: b, criteria: x, input: y}
",
    )
    .with("x.md", "x")
    .load()
    .clean();
    let a = test(&suite, "a");
    assert_eq!(a.input, [Message::user("y")]);
    assert_eq!(assertion_names(a), ["criteria"]);
    assert_eq!(a.execution.target.as_deref(), Some("t"));
    let b = test(&suite, "b");
    assert_eq!(b.input.len(), 2);
    assert_eq!(b.input[1].content.len(), 2);
    assert_eq!(assertion_names(b), ["is-json"]);
}

#[test]
fn a_root_trigger_gives_way_to_the_tests_own_for_the_same_skill() {
    let suite = clean(
        r"name: demo
assert:
  - {type: trigger-judge, name: root-a, skill: a}
  - {type: trigger-judge, name: root-b, skill: b}
tests:
  - id: own
    criteria: x
    input: y
    assert: [{type: trigger-judge, name: own-a, skill: a, should_trigger: false}]
  - {id: none, criteria: x, input: y}
",
    );
    assert_eq!(assertion_names(test(&suite, "own")), ["own-a", "root-b"]);
    assert_eq!(assertion_names(test(&suite, "none")), ["root-a", "root-b"]);
}

#[test]
fn metadata_is_merged_key_by_key_and_tags_are_joined() {
    let suite = clean(
        r"name: demo
metadata: {tags: [a, b], author: me, deep: {x: 1}}
tests:
  - {id: a, criteria: x, input: y, metadata: {tags: [b, c], deep: {y: 2}, own: 1.0}}
",
    );
    assert_eq!(
        json(&test(&suite, "a").metadata.clone().into()),
        r#"{"tags":["a","b","c"],"author":"me","deep":{"y":2},"own":1.0}"#
    );
}

#[test]
fn skip_takes_a_boolean_or_a_reason() {
    let suite = Project::new(
        r#"name: demo
tests:
  - {id: a, criteria: x, input: y, skip: true}
  - {id: b, criteria: x, input: y, skip: later}
  - {id: c, criteria: x, input: y, skip: false}
  - {id: d, criteria: x, input: y, skip: "${{ OFF }}"}
"#,
    )
    .variable("OFF", "false")
    .load()
    .clean();
    let reason = |id| test(&suite, id).skip.as_ref().map(|skip| skip.reason.as_deref());
    assert_eq!(reason("a"), Some(None));
    assert_eq!(reason("b"), Some(Some("later")));
    assert_eq!((reason("c"), reason("d")), (None, None));
}

// Sections 3.3 and 3.4.

#[test]
fn one_message_and_a_string_are_lists_of_messages() {
    let suite = clean(
        r"name: demo
tests:
  - {id: a, criteria: x, input: Hi}
  - {id: b, criteria: x, input: {role: user, content: Hi}}
  - {id: c, criteria: x, input: [{role: user, content: [{type: text, value: Hi}]}]}
",
    );
    assert_eq!(test(&suite, "a").input, test(&suite, "b").input);
    assert_eq!(test(&suite, "a").input, test(&suite, "c").input);
}

#[test]
fn content_shorthands_become_blocks() {
    let suite = Project::new(
        r"name: demo
tests:
  - id: a
    criteria: x
    input:
      - {role: user, content: {b: 1, a: 2}}
      - {role: user, content: [Hi]}
",
    )
    .load()
    .with_names(&["content-mapping", "bare-string-block"]);
    assert_eq!(
        input_json(test(&suite, "a")),
        [
            r#"{"role":"user","content":[{"type":"json","value":{"b":1,"a":2}}]}"#,
            r#"{"role":"user","content":[{"type":"text","value":"Hi"}]}"#,
        ]
    );
}

#[test]
fn tool_calls_are_numbered_per_test_over_root_and_own_messages() {
    let suite = clean(
        r#"name: demo
tests:
  - id: a
    criteria: x
    input:
      - {role: user, content: Hi}
      - role: assistant
        tool_calls:
          - {function: {name: one}}
          - {id: mine, function: {name: two, arguments: '{"a": 1}'}}
          - {function: {name: three, arguments: {b: 1.0, a: [x]}}}
  - id: b
    criteria: x
    input:
      - {role: user, content: Hi}
      - {role: assistant, tool_calls: [{function: {name: one}}]}
"#,
    );
    let calls: Vec<(&str, &str, &str)> = test(&suite, "a").input[1]
        .tool_calls
        .iter()
        .map(|call| (call.id.as_str(), call.name.as_str(), call.arguments.as_str()))
        .collect();
    assert_eq!(
        calls,
        [
            ("call_1", "one", "{}"),
            ("mine", "two", "{\"a\": 1}"),
            ("call_2", "three", "{\"b\":1.0,\"a\":[\"x\"]}"),
        ]
    );
    assert_eq!(test(&suite, "b").input[1].tool_calls[0].id, "call_1");
}

#[test]
fn calls_of_root_messages_count_in_the_test() {
    let suite = clean(
        r"name: demo
input:
  - {role: user, content: Before}
  - {role: assistant, tool_calls: [{function: {name: one}}]}
  - {role: tool, tool_call_id: call_1, content: done}
tests:
  - id: a
    criteria: x
    input:
      - {role: assistant, tool_calls: [{function: {name: two}}]}
      - {role: tool, tool_call_id: call_2, content: done}
      - {role: user, content: And?}
",
    );
    assert_eq!(test(&suite, "a").input[1].tool_calls[0].id, "call_1");
    assert_eq!(test(&suite, "a").input[3].tool_calls[0].id, "call_2");
}

#[test]
fn the_form_of_agentv_means_the_same_call() {
    let suite = Project::new(r"name: demo
tests:
  - id: a
    criteria: x
    input:
      - {role: user, content: Hi}
      - {role: assistant, tool_calls: [{tool: find, input: {q: 1}}, {tool: find, args: {q: 1}}]}
  - id: b
    criteria: x
    input:
      - {role: user, content: Hi}
      - {role: assistant, tool_calls: [{function: {name: find, arguments: {q: 1}}}, {function: {name: find, arguments: {q: 1}}}]}
")
        .load()
        .with_names(&["deprecated-field", "deprecated-field"]);
    assert_eq!(test(&suite, "a").input, test(&suite, "b").input);
}

// Section 3.5.

#[test]
fn expected_output_in_every_form() {
    let suite = Project::new(r"name: demo
tests:
  - {id: text, criteria: x, input: y, expected_output: Hello}
  - {id: messages, criteria: x, input: y, expected_output: [{role: assistant, content: First}, {role: assistant, content: [{type: text, value: Last}, {type: text, value: line}]}, {role: user, content: Mine}]}
  - {id: message, criteria: x, input: y, expected_output: {role: assistant, content: One}}
  - {id: calls, criteria: x, input: y, expected_output: {role: assistant, tool_calls: [{function: {name: f}}]}}
  - {id: structured, criteria: x, input: y, expected_output: {b: 1.0, a: [true]}}
  - {id: list, criteria: x, input: y, expected_output: [1, two]}
  - {id: boss, criteria: x, input: y, expected_output: {role: boss, content: x, level: 9}}
  - {id: number, criteria: x, input: y, expected_output: 1.50}
  - {id: boolean, criteria: x, input: y, expected_output: True}
")
        .load()
        .with_names(&["scalar-expected-output", "scalar-expected-output"]);
    for (id, text) in [
        ("text", Some("Hello")),
        ("messages", Some("Last\nline")),
        ("message", Some("One")),
        ("calls", None),
        ("structured", Some(r#"{"b":1.0,"a":[true]}"#)),
        ("list", Some(r#"[1,"two"]"#)),
        ("boss", Some(r#"{"role":"boss","content":"x","level":9}"#)),
        ("number", Some("1.50")),
        ("boolean", Some("True")),
    ] {
        let found = test(&suite, id).expected_output.as_ref().unwrap().text();
        assert_eq!(found.as_deref(), text, "{id}");
    }
    assert_eq!(expected(&suite, "number"), r#"{"kind":"text","value":"1.50","text":"1.50"}"#);
    assert!(matches!(test(&suite, "message").expected_output, Some(Expected::Messages(_))));
    assert!(matches!(test(&suite, "boss").expected_output, Some(Expected::Structured(_))));
}

#[test]
fn an_expected_message_with_object_content_flattens_to_json() {
    let suite = Project::new(
        r"name: demo
tests:
  - {id: a, criteria: x, input: y, expected_output: [{role: assistant, content: {b: 1, a: 2}}]}
",
    )
    .load()
    .with_names(&["content-mapping"]);
    let text = test(&suite, "a").expected_output.as_ref().unwrap().text();
    assert_eq!(text.as_deref(), Some(r#"{"b":1,"a":2}"#));
}

// Section 3.6.

#[test]
fn old_gates_of_items_mean_the_same() {
    let suite = Project::new(r"name: demo
tests:
  - {id: a, criteria: x, input: y, rubrics: [{outcome: A, required: true, min_score: 0.5}, {outcome: B, required: true, required_min_score: 7, score_ranges: {0: No, 10: Yes}}]}
  - {id: b, criteria: x, input: y, rubrics: [{outcome: A, required: 0.5}, {outcome: B, required: 0.7, score_ranges: {0: No, 10: Yes}}]}
")
        .load()
        .with_names(&["deprecated-field", "deprecated-field"]);
    assert_eq!(assertions(test(&suite, "a")), assertions(test(&suite, "b")));
}

#[test]
fn an_item_without_outcome_is_its_id_and_ranges_have_one_form() {
    let suite = clean(
        r"name: demo
tests:
  - {id: a, criteria: x, input: y, rubrics: [{id: depth, score_ranges: {0: None, 10: Much}}]}
  - {id: b, criteria: x, input: y, rubrics: [{id: depth, score_ranges: [{score_range: [0, 9], outcome: None}, {score_range: [10, 10], outcome: Much}]}]}
",
    );
    assert_eq!(test(&suite, "a").assertions[0].assertion.sentences(), ["depth"]);
    assert_eq!(assertions(test(&suite, "a")), assertions(test(&suite, "b")));
}

// Section 5.

#[test]
fn input_files_and_the_written_out_form_are_the_same_value() {
    let suite = Project::new(
        r#"name: demo
tests:
  - id: before
    criteria: Names the trend of each quarter
    input_files: [evals/files/sales.csv, ./notes.md]
    input: "Summarize the monthly trends."
  - id: after
    criteria: Names the trend of each quarter
    input:
      - role: user
        content:
          - {type: file, value: evals/files/sales.csv}
          - {type: file, value: ./notes.md}
          - {type: text, value: "Summarize the monthly trends."}
"#,
    )
    .with("evals/files/sales.csv", "m")
    .with("notes.md", "n")
    .load()
    .clean();
    let (before, after) = (test(&suite, "before"), test(&suite, "after"));
    assert_eq!(before.input, after.input);
    assert_eq!(before.input[0].role, Role::User);
    assert_eq!(before.input[0].content.len(), 3);
    assert_eq!(assertions(before), assertions(after));
}

#[test]
fn rows_of_the_table_of_input_files() {
    let suite = Project::new(
        r"name: demo
input_files: [root.md]
tests:
  - {id: empty, criteria: x, input: y, input_files: []}
  - {id: twice, criteria: x, input: y, input_files: [x.md, x.md]}
  - {id: list, criteria: x, input: [{role: user, content: y}]}
  - {id: own, criteria: x, input: y, input_files: [x.md]}
  - {id: root, criteria: x, input: y}
",
    )
    .with("x.md", "x")
    .with("root.md", "r")
    .load()
    .with_names(&["empty-input-files"]);
    let files = |id| -> Vec<&str> {
        let content = &test(&suite, id).input[0].content;
        content.iter().filter_map(Block::file).map(|file| file.value.as_str()).collect()
    };
    assert_eq!(test(&suite, "empty").input, [Message::user("y")]);
    assert_eq!(files("twice"), ["x.md", "x.md"]);
    assert_eq!(files("list"), Vec::<&str>::new());
    assert_eq!(files("own"), ["x.md"]);
    assert_eq!(files("root"), ["root.md"]);
}

// Section 6.

#[test]
fn the_example_of_test_variables() {
    let suite = clean(
        r#"name: demo
tests:
  - id: a
    vars: {country: France, city: {name: Paris}}
    input: "What is the capital of {{ country }}?"
    criteria: "Says {{ city.name }}"
    expected_output: "{{ city }}"
"#,
    );
    let a = test(&suite, "a");
    assert_eq!(a.input, [Message::user("What is the capital of France?")]);
    assert_eq!(a.criteria.as_deref(), Some("Says Paris"));
    assert_eq!(
        expected(&suite, "a"),
        r#"{"kind":"structured","value":{"name":"Paris"},"text":"{\"name\":\"Paris\"}"}"#
    );
}

#[test]
fn variables_go_in_as_text_and_braces_can_be_written() {
    let suite = clean(
        r#"name: demo
tests:
  - id: a
    vars: {s: text, n: 1.50, b: True, z: ~, m: {b: 1, a: [x]}, l: [p, q], my-key: k}
    criteria: x
    input: "{{ s }}|{{n}}|{{ b }}|{{ m }}|{{ m.a.0 }}|{{ l.1 }}|{{ my-key }}|{{{{ s }}}}"
    expected_output: {typed: "{{ n }}", inside: "n={{ n }}", list: ["{{ l }}"]}
"#,
    );
    let a = test(&suite, "a");
    assert_eq!(a.input, [Message::user(r#"text|1.50|True|{"b":1,"a":["x"]}|x|q|k|{{ s }}"#)]);
    let text = a.expected_output.as_ref().unwrap().text();
    assert_eq!(text.as_deref(), Some(r#"{"typed":1.50,"inside":"n=1.50","list":[["p","q"]]}"#));
}

#[test]
fn variables_that_are_scalars_go_in_as_they_are_written() {
    let suite = clean(
        r#"name: demo
tests:
  - id: a
    vars: {h: 0x1F, u: .5, p: +3, y: TRUE, n: false, z: ~, e: , l: [False, {k: Null}], "l.0": True}
    criteria: x
    input: "{{ h }}|{{ u }}|{{ p }}|{{ y }}|{{ n }}|{{ z }}|{{ e }}|{{ l.0 }}|{{ l.1.k }}|{{ l }}"
    expected_output: ["{{ h }}", "{{ y }}", "{{ z }}"]
"#,
    );
    let a = test(&suite, "a");
    let text = r#"0x1F|.5|+3|TRUE|false|~||False|Null|[false,{"k":null}]"#;
    assert_eq!(a.input, [Message::user(text)]);
    let expected = a.expected_output.as_ref().unwrap().text();
    assert_eq!(expected.as_deref(), Some("[31,true,null]"));
}

#[test]
fn root_input_is_read_again_with_the_variables_of_each_test() {
    let suite = clean(
        r#"name: demo
input: "Speak {{ language }}"
tests:
  - {id: a, criteria: x, input: y, vars: {language: French}}
  - {id: b, criteria: x, input: y, vars: {language: Dutch}}
  - {id: c, criteria: x, input: y}
"#,
    );
    assert_eq!(test(&suite, "a").input[0], Message::user("Speak French"));
    assert_eq!(test(&suite, "b").input[0], Message::user("Speak Dutch"));
    assert_eq!(test(&suite, "c").input[0], Message::user("Speak {{ language }}"));
}

#[test]
fn the_environment_comes_from_the_process_then_from_the_nearest_env_file() {
    let suite = Project::named(
        "evals/EVAL.yaml",
        r#"name: demo
trials: "${{ N }}"
tests:
  - {id: a, criteria: x, input: "${{ A }}|${{B}}|${{ C }}|${{ D }}|$${{ A }}|${{ E }}"}
"#,
    )
    .with("evals/.env", "A=near\nB='near $x'\nN=3\n")
    .with(".env", "B=far\nexport C=\"far \\\"q\\\" \\\\ \\n.\" # comment\nD=\n")
    .variable("A", "process")
    .variable("E", "${{ A }}")
    .load()
    .clean();
    assert_eq!(
        test(&suite, "a").input,
        [Message::user("process|near $x|far \"q\" \\ \n.||${{ A }}|${{ A }}")]
    );
    assert_eq!(test(&suite, "a").trials, 3);
}

#[test]
fn assertion_options_take_the_environment_but_no_variables_of_the_test() {
    let suite = Project::new(r#"name: demo
tests:
  - {id: a, vars: {x: 1}, criteria: c, input: y, assert: [{type: contains, value: "${{ W }} {{ x }}"}]}
"#)
        .variable("W", "w")
        .load()
        .clean();
    assert!(assertions(test(&suite, "a"))[0].contains(r#""value":"w {{ x }}""#));
}

// Section 15.

#[test]
fn an_evals_json_is_a_suite_like_any_other() {
    let suite = Project::named(
        "greeter/evals/evals.json",
        r#"{"skill_name": "Greeter Skill", "evals": [
            {"id": 1, "prompt": " Hi ", "expected_output": "Hello", "files": ["evals/x.md", {"name": "n", "content": "c"}], "should_trigger": false, "assertions": ["Greets", {"id": "p", "description": "Is polite"}], "priority": 7},
            {"id": "two", "query": "Bye", "expected_output": "Goodbye", "name": "farewell"},
            {"prompt": "Who?", "should_trigger": true}]}"#,
    )
    .with("greeter/evals/x.md", "x")
    .load()
    .clean();
    assert_eq!(suite.name, "greeter-skill");
    assert_eq!(suite.metadata.get("skill"), Some(&Value::from("Greeter Skill")));
    assert_eq!(ids(&suite), ["1", "two", "3"]);
    let first = &suite.tests[0];
    assert_eq!(first.id.number(), Some(1));
    assert_eq!(first.criteria.as_deref(), Some("Hello"));
    assert_eq!(first.metadata.get("priority").map(json).as_deref(), Some("7"));
    assert_eq!(first.input.len(), 1);
    let file = first.input[0].content[0].file().unwrap();
    assert_eq!(file.path.as_deref().unwrap(), "/p/greeter/evals/x.md");
    assert_eq!(first.input[0].content[2], Block::Text(" Hi ".into()));
    assert_eq!(assertion_names(first), ["rubrics", "trigger-judge"]);
    assert_eq!(first.assertions[0].assertion.sentences(), ["Greets", "Is polite"]);
    let trigger = first.assertions[1].assertion.check.trigger().unwrap();
    assert_eq!((trigger.skill.as_str(), trigger.should_trigger), ("Greeter Skill", false));
    assert_eq!(assertion_names(&suite.tests[1]), ["criteria"]);
    assert_eq!(suite.tests[1].description.as_deref(), Some("farewell"));
    assert_eq!(assertion_names(&suite.tests[2]), ["trigger-judge"]);
}

#[test]
fn trigger_lists_become_tests_in_order() {
    let suite = Project::named(
        "t.json",
        r#"{"skill_name": "s", "should_not_trigger": ["no"], "should_trigger": ["yes", "also"]}"#,
    )
    .load()
    .clean();
    let wanted: Vec<(String, bool)> = suite
        .tests
        .iter()
        .map(|test| {
            let trigger = test.assertions[0].assertion.check.trigger().unwrap();
            (test.input[0].text().unwrap(), trigger.should_trigger)
        })
        .collect();
    let pairs: Vec<(&str, bool)> =
        wanted.iter().map(|(text, wanted)| (text.as_str(), *wanted)).collect();
    assert_eq!(pairs, [("yes", true), ("also", true), ("no", false)]);
}

#[test]
fn joined_assertions_drop_repeats() {
    let suite = Project::named("e.json", r#"{"skill_name": "s", "evals": [{"prompt": "Hi", "assertions": ["a"], "expectations": ["a", "b"]}]}"#)
        .load()
        .with_names(&["conflicting-fields"]);
    assert_eq!(suite.tests[0].assertions[0].assertion.sentences(), ["a", "b"]);
}

#[test]
fn the_id_of_an_assertion_may_be_a_number() {
    let suite = Project::named("e.json", r#"{"skill_name": "s", "evals": [{"prompt": "Hi", "assertions": [{"id": 7, "text": "a"}]}]}"#)
        .load()
        .clean();
    let read = assertions(&suite.tests[0]);
    assert!(read[0].contains(r#""id":"7""#), "{read:?}");
}

// Where variables come from, and what help says.

#[test]
fn one_env_file_replaces_the_search_and_none_turns_it_off() {
    use evalrig_core::reader::EnvFiles;
    let mut project = Project::new(
        r#"name: demo
tests:
  - {id: a, criteria: x, input: "${{ A }}"}
"#,
    )
    .with(".env", "A=found\n")
    .with("other/ci.env", "A=given\n");
    let text = |project: &Project| project.load().clean().tests[0].input[0].text().unwrap();
    assert_eq!(text(&project), "found");
    project.limits.env_files = EnvFiles::Only("/p/other/ci.env".into());
    assert_eq!(text(&project), "given");
    project.limits.env_files = EnvFiles::None;
    assert_eq!(project.load().names(), ["missing-variable"]);
}

#[track_caller]
fn help(project: &Project) -> String {
    project.load().only().help.clone().unwrap_or_default()
}

#[test]
fn the_help_of_a_missing_file_says_where_it_is() {
    let project = Project::named(
        "evals/EVAL.yaml",
        r"name: demo
tests:
  - {id: a, criteria: x, input: y, input_files: [data/x.md]}
",
    )
    .with("data/x.md", "x");
    assert!(help(&project).contains("`/data/x.md`"), "{}", help(&project));
}

#[test]
fn the_help_for_an_evals_json_depends_on_how_it_is_reached() {
    let text = r#"{"skill_name": "csv", "evals": [{"id": 1, "prompt": "Hi"}]}"#;
    let imported = Project::new("name: demo\ntests: [evals.json]\n").with("evals.json", text);
    let expected = "`evalrig convert` makes a suite from it, which can be imported";
    assert_eq!(help(&imported), expected);
    let named = Project::named("EVAL.yaml", text);
    let expected = "name it `*.json` to read it, or `evalrig convert` it";
    assert_eq!(help(&named), expected);
}

#[test]
fn a_directory_that_a_pattern_matches_is_named_in_the_help() {
    let project = Project::named("evals/EVAL.yaml", "name: demo\ntests: [/data/*]\n")
        .with("data/more/a.yaml", "- {id: a, criteria: c, input: i}\n");
    assert_eq!(help(&project), "name its files: `/data/more/*.yaml`");
}

#[test]
fn names_within_two_edits_are_suggested_and_short_ones_within_one() {
    let with_key = |key: &str| {
        Project::new(&format!(
            r"name: demo
tests:
  - {{id: a, criteria: x, input: y, {key}: z}}
"
        ))
    };
    assert!(help(&with_key("descrption")).contains("`description`"));
    assert!(help(&with_key("descrpton")).contains("`description`"));
    assert!(!help(&with_key("dscrpton")).contains("did you mean"));
    assert!(help(&with_key("nte")).contains("`note`"));
    assert!(!help(&with_key("nt")).contains("did you mean"));
}

#[test]
fn command_line_options_are_named_where_agentv_has_a_field() {
    for (field, option) in [
        ("workers: 4", "`--workers N`"),
        ("targets: [a]", "`--target NAME`"),
        ("threshold: 0.8", "`--pass SCORE`"),
        ("budget_usd: 5", "`--budget-usd AMOUNT`"),
    ] {
        let project = Project::new(&format!(
            r"name: demo
execution: {{{field}}}
tests:
  - {{id: a, criteria: x, input: y}}
"
        ));
        assert!(help(&project).contains(option), "{field}: {}", help(&project));
    }
}

#[test]
fn duplicates_show_both_places() {
    let outcome = Project::new(
        r"name: demo
tests:
  - {id: a, criteria: x, input: y}
  - {id: a, criteria: x, input: y}
",
    )
    .load();
    assert_eq!((outcome.only().line, outcome.only().related.as_slice()), (4, [3].as_slice()));
    let outcome = Project::new(
        r#"name: demo
version: "1.0"
version: "1.0"
tests:
  - {id: a, criteria: x, input: y}
"#,
    )
    .load();
    assert_eq!((outcome.only().line, outcome.only().related.as_slice()), (3, [2].as_slice()));
    let project = Project::new("name: demo\ntests: [c.jsonl]\n").with(
        "c.jsonl",
        r#"{"id": 1, "criteria": "x", "input": "y"}

{"id": "1", "criteria": "x", "input": "y"}
"#,
    );
    let outcome = project.load();
    assert_eq!((outcome.only().line, outcome.only().related.as_slice()), (3, [1].as_slice()));
}

#[test]
fn old_spellings_and_wrong_booleans_carry_a_fix() {
    for text in [
        r"name: demo
evalcases:
  - {id: a, criteria: x, input: y}
",
        r"name: demo
version: 1.0
tests:
  - {id: a, criteria: x, input: y}
",
        r"name: demo
tests:
  - {id: a, criteria: x, input: y, expected_output: 7}
",
        r"name: demo
tests:
  - {id: a, criteria: x, input: y, assert: [{type: trigger-judge, skill: s, should_trigger: no}]}
",
        r"name: demo
tests:
  - {id: a, criteria: x, input: y, execution: {trials: 3}}
",
        r"name: demo
tags: [a]
tests:
  - {id: a, criteria: x, input: y}
",
        r"name: demo
tests:
  - {id: a, criteria: x, input: y, assert: [{type: contains, value: 7}]}
",
    ] {
        let outcome = Project::new(text).load();
        assert!(outcome.only().has_fix, "{}", outcome.only());
    }
}

// Section 7.

#[test]
fn custom_types_get_their_options_as_config() {
    let suite = Project::new(r"name: demo
tests:
  - {id: a, criteria: x, input: y, assert: [{type: word_count, max: 50, config: {min: 2}}, {type: mine, script: [check], max: 5}]}
")
        .with(".agentv/judges/word-count.py", "print(1)\n")
        .load()
        .clean();
    let list = &test(&suite, "a").assertions;
    assert_eq!(assertion_names(test(&suite, "a")), ["word-count", "mine"]);
    let config = |at: usize| json(&list[at].assertion.common.config.clone().into());
    assert_eq!(config(0), r#"{"min":2,"max":50}"#);
    assert_eq!(config(1), r#"{"max":5}"#);
}

#[test]
fn stray_keys_of_a_code_judge_join_its_config_and_written_ones_win() {
    let suite = Project::new(r"name: demo
tests:
  - {id: a, criteria: x, input: y, assert: [{type: code-judge, script: check, max: 50, min: 1, config: {max: 7}}]}
")
        .load()
        .with_names(&["stray-config", "stray-config"]);
    let config = &test(&suite, "a").assertions[0].assertion.common.config;
    assert_eq!(json(&config.clone().into()), r#"{"max":7,"min":1}"#);
}

#[test]
fn a_temperature_beside_the_type_is_read_into_config() {
    let suite = clean(
        r"name: demo
tests:
  - {id: a, criteria: x, input: y, assert: [{type: llm-judge, prompt: Is it polite?, temperature: 0.5}]}
",
    );
    assert!(assertions(test(&suite, "a"))[0].contains(r#""temperature":0.5"#));
}

#[test]
fn aliases_of_types_and_options_have_one_canonical_form() {
    let suite = clean(
        r"name: demo
tests:
  - {id: a, criteria: x, input: y, assert: [{type: contains_any, values: [p]}, {type: regex, pattern: p}, {type: rubric, criteria: p}, {type: script, command: p}, {type: llm-rubric, value: p}, {type: assert-set, evaluators: [p], threshold: 0.5}, {type: skill-trigger, skill: p}]}
  - {id: b, criteria: x, input: y, assert: [{type: contains-any, value: p}, {type: regex, value: p}, {type: rubrics, rubrics: [p]}, {type: code-judge, script: p}, {type: llm-judge, rubrics: [p]}, {type: composite, assert: [p], required: 0.5}, {type: trigger-judge, skill: p, should_trigger: true, detection: first-call}]}
",
    );
    assert_eq!(assertions(test(&suite, "a")), assertions(test(&suite, "b")));
}

#[test]
fn scripts_are_absolute_where_they_exist_and_start_in_their_own_directory() {
    let suite = Project::new("name: demo\ntests: [sub/more.yaml]\n")
        .with("sub/more.yaml", "- {id: a, criteria: x, input: y, assert: [{type: code-judge, script: [python3, ./judge.py, --out, nowhere.txt, lib/x]}]}\n")
        .with("sub/judge.py", "print(1)\n")
        .with("sub/lib/x", "x")
        .load()
        .clean();
    let found = format!("{:?}", test(&suite, "a").assertions[0].assertion);
    assert!(found.contains("/p/sub/judge.py"), "{found}");
    assert!(found.contains("/p/sub/lib/x"), "{found}");
    assert!(!found.contains("/p/sub/nowhere.txt"), "{found}");
}

#[test]
fn a_gate_may_come_from_a_variable() {
    let suite = Project::new(
        r#"name: demo
tests:
  - {id: a, criteria: x, input: y, assert: [{type: is-json, required: "${{ GATE }}"}]}
  - {id: b, criteria: x, input: y, assert: [{type: is-json, required: "${{ LEAST }}"}]}
"#,
    )
    .variable("GATE", "true")
    .variable("LEAST", "0.5")
    .load()
    .clean();
    assert!(assertions(test(&suite, "a"))[0].contains(r#""required":true"#));
    assert!(assertions(test(&suite, "b"))[0].contains(r#""required":0.5"#));
}

#[test]
fn core_tags_decide_what_a_scalar_is() {
    let suite = clean(
        r"name: demo
tests:
  - {id: !!str 7, criteria: !!str 8, input: !!str true, trials: !!int 3, skip: !!bool true, metadata: {a: !!str 1, b: !!float 2, c: !!null '', d: !!int 0x10}}
",
    );
    let only = &suite.tests[0];
    assert_eq!((only.id.as_str(), only.id.number()), ("7", None));
    assert_eq!(only.criteria.as_deref(), Some("8"));
    assert_eq!(only.input, [Message::user("true")]);
    assert_eq!((only.trials, only.skip.is_some()), (3, true));
    assert_eq!(json(&only.metadata.clone().into()), r#"{"a":"1","b":2,"c":null,"d":16}"#);
}

#[test]
fn jsonl_may_have_a_byte_order_mark_and_carriage_returns() {
    let jsonl = "\u{feff}{\"id\": \"a\", \"criteria\": \"x\", \"input\": \"y\"}\r\n\r\n{\"id\": \"b\", \"criteria\": \"x\", \"input\": \"y\"}";
    let suite = Project::new("name: demo\ntests: c.jsonl\n").with("c.jsonl", jsonl).load().clean();
    assert_eq!(ids(&suite), ["a", "b"]);
}

// Workspaces.

#[test]
fn workspaces_are_merged_from_the_test_to_the_main_file() {
    let suite = Project::new(
        r"name: demo
workspace: {template: shop, cwd: src, env: {A: '1', B: '2'}, setup: [make, all], ignore: ['*.log']}
tests:
  - sub/more.yaml
  - {id: plain, criteria: x, input: y}
",
    )
    .with(
        "sub/more.yaml",
        r"workspace: {template: ./shop, env: {B: '3'}, hooks: {before_each: ./sub.sh, after_all: done}}
tests:
  - {id: near, criteria: x, input: y}
  - {id: own, criteria: x, input: y, workspace: {cwd: ., env: {C: '4'}, ignore: [], keep: never}}
  - {id: file, criteria: x, input: y, workspace: ../shared/w.yaml}
",
    )
    .with("shared/w.yaml", "{template: t, repos: [{repo: ./r, commit: v1.0, path: .}]}")
    .with("shared/t/a", "")
    .with("shared/r/a", "")
    .with("shop/a", "")
    .with("sub/shop/a", "")
    .load()
    .clean();
    let of = |id: &str| test(&suite, id).workspace.clone().expect("a workspace");
    let env = |id: &str| {
        let variables = of(id).env.into_iter();
        variables.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
    };
    let plain = of("plain");
    assert_eq!(plain.template.as_deref(), Some("/p/shop".into()));
    assert_eq!(plain.setup.as_ref().map(|hook| hook.base.as_str()), Some("/p"));
    assert_eq!((plain.cwd.as_deref(), plain.keep), (Some("src"), KeepRule::Failed));
    let near = of("near");
    assert_eq!(near.template.as_deref(), Some("/p/sub/shop".into()));
    assert_eq!((near.cwd.as_deref(), near.ignore), (Some("src"), vec!["*.log".to_owned()]));
    assert_eq!(env("near"), "A=1 B=3");
    let setup = near.setup.expect("the nearest setup");
    assert_eq!(setup.command, HookCommand::Shell("./sub.sh".to_owned()));
    assert_eq!(setup.base, "/p/sub");
    let own = of("own");
    assert_eq!((own.cwd, own.ignore, own.keep), (None, Vec::new(), KeepRule::Never));
    assert_eq!(env("own"), "A=1 B=3 C=4");
    assert!(own.after_all.is_some());
    let file = of("file");
    assert_eq!(file.template.as_deref(), Some("/p/shared/t".into()));
    let [repo] = &file.repos[..] else { panic!("{:?}", file.repos) };
    assert_eq!(repo.origin, RepoOrigin::Path("/p/shared/r".into()));
    assert_eq!((repo.path.as_str(), repo.commit.as_str()), ("", "v1.0"));
}

#[test]
fn a_name_is_a_repository_on_github_unless_it_is_a_directory() {
    let suite = "name: demo\nworkspace: {repos: [{repo: a/b, commit: 3f2a91c, path: x}]}\n\
                 tests: [{id: t, criteria: x, input: y}]\n";
    let origin = |project: Project| {
        let suite = project.load().clean();
        test(&suite, "t").workspace.as_ref().expect("a workspace").repos[0].origin.clone()
    };
    let address = "https://github.com/a/b.git".to_owned();
    assert_eq!(origin(Project::new(suite)), RepoOrigin::Url(address));
    let beside = Project::new(suite).with("a/b/README", "");
    assert_eq!(origin(beside), RepoOrigin::Path("/p/a/b".into()));
}

#[test]
fn a_test_without_the_field_has_no_workspace() {
    let suite = Project::new(
        "name: demo\ntests:\n  - {id: a, criteria: x, input: y}\n  - {id: b, criteria: x, input: y, workspace: {}}\n",
    );
    let suite = suite.load().clean();
    assert_eq!(test(&suite, "a").workspace, None);
    assert_eq!(test(&suite, "b").workspace, Some(Workspace::default()));
}
