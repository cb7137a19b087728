//! Small files with the verdict that both drafts must give.

use std::sync::Arc;

use jsonschema::Validator;
use serde_json::{Value as Json, json};

use super::object::all_keys;
use super::{
    Document, Draft, ObjectSchema, SchemaBuilder, Variant, choose, evals_json, strict_suite, suite,
};
use crate::assertion::{COMMON_FIELDS, KINDS};
use crate::diagnostic::Diagnostics;
use crate::model::{JsonStyle, Value};
use crate::read::{
    BLOCK_FIELDS, EXECUTION_FIELDS, Findings, LoadRequest, MESSAGE_FIELDS, METADATA_FIELDS,
    ROOT_FIELDS, TEST_FIELDS, TOOL_CALL_FIELDS, load_suite,
};
use crate::reader::{ReadPolicy, World};
use crate::source::{MemoryFiles, Sources, Variables};
use crate::syntax::fields::{Field, Shape};
use crate::syntax::{Node, Scalar, parse_yaml};

const DRAFTS: [Draft; 2] = [Draft::D2020, Draft::D07];

fn to_serde(schema: &Value) -> Json {
    serde_json::from_str(&schema.to_json(JsonStyle::Pretty)).expect("legal JSON")
}

fn validator(schema: &Value) -> Validator {
    jsonschema::validator_for(&to_serde(schema)).expect("a legal schema")
}

/// What YAML tools hand to a validator: merge keys resolved, numbers as numbers.
fn to_json(node: Node<'_>) -> Json {
    if node.is_sequence() {
        return node.items().map(to_json).collect();
    }
    if node.is_mapping() {
        let entries = node.entries().into_iter();
        let pairs = entries.map(|(key, value)| {
            let name = key.scalar_text().expect("scalar keys").to_owned();
            (name, to_json(value))
        });
        return Json::Object(pairs.collect());
    }
    match node.scalar() {
        None | Some(Scalar::Null) => Json::Null,
        Some(Scalar::Bool(value)) => Json::Bool(value),
        Some(Scalar::Int(text) | Scalar::Float(text)) => {
            serde_json::from_str(text).unwrap_or_else(|_| json!(text.parse::<f64>().unwrap()))
        }
        Some(Scalar::Str(text)) => Json::String(text.to_owned()),
    }
}

fn from_yaml(text: &str) -> Json {
    let mut out = Diagnostics::new();
    let mut sources = Sources::new();
    let id = sources.add_file("EVAL.yaml".into(), text.to_owned(), 0);
    let tree = parse_yaml(id, Arc::new(text.to_owned()), &mut out).expect("legal YAML");
    to_json(tree.root())
}

#[track_caller]
fn check(schema: fn(Draft) -> Value, accepted: bool, files: &[Json]) {
    for draft in DRAFTS {
        let validator = validator(&schema(draft));
        for file in files {
            let errors: Vec<String> = validator
                .iter_errors(file)
                .map(|error| format!("{}: {error}", error.instance_path()))
                .collect();
            assert_eq!(errors.is_empty(), accepted, "{draft:?} {file}\n{errors:#?}");
        }
    }
}

/// A suite whose one test has these fields besides `id` and `criteria`.
fn test_with(fields: &str) -> String {
    format!("name: demo\ntests: [{{id: a, criteria: Greets, {fields}}}]")
}

/// A suite whose one test has this assertion.
fn assertion(entry: &str) -> String {
    test_with(&format!("input: Hi, assert: [{entry}]"))
}

const ACCEPTED: &[&str] = &[
    "name: demo\ntests: [{id: a, criteria: Greets, input: Hi}]",
    "name: demo\ntests: [cases.yaml, {id: 1, criteria: Greets, input: Hi}]",
    "name: demo\ntests: ./cases.jsonl",
    // The sidecar of a JSONL file.
    "name: demo\nexecution: {target: default, timeout_seconds: 30}",
    // Old spellings, unknown and free keys, fields without a value.
    "name: demo\nevalcases: [{id: a, expected_outcome: Greets, input_messages: [{role: user, content: Hi}]}]",
    "name: demo\n$schema: ./eval.schema.json\nx-team: [1]\nwhat: ever\ntests: [a.yaml]",
    "name: demo\ndescription:\nmetadata:\ntrials:\nassert:\ntests: [{id: a, criteria: Greets, input: Hi, note: , skip: }]",
    "name: demo\ntests:\ncases: [a.yaml]",
    "name: demo\ntarget: x\ntags: [a]\nauthor: me\nexecution: {trials: {count: 3}}\ntests: [a.yaml]",
    // Numbers where text is read, variables where something else is read.
    "name: demo\nversion: 1.0\ntests: [a.yaml]",
    "name: ${{ NAME }}\nversion: ${{ VERSION }}\ntrials: ${{ TRIALS }}\nverdicts: {pass: ' ${{ PASS }} '}\ntests: [a.yaml]",
    "name: demo\nverdicts: {pass: 0.9, borderline: 0.5, fail: 0}\nversion: '1.2.3'\ntests: [a.yaml]",
    "name: demo\nmetadata: {tags: [a], runs_per_query: 3, mine: {x: 1}}\ntests: [a.yaml]",
    "name: demo\ninput: ''\ntests: [a.yaml]",
    "name: demo\nx-base: &base {criteria: Greets, input: Hi}\ntests: [{<<: *base, id: -5}]",
];

const ACCEPTED_TESTS: &[&str] = &[
    "input: {role: user, content: Hi}",
    "input: [{role: '${{ WHO }}', content: Hi}, {role: system, content: [Hi, {type: text, value: x}]}]",
    "input: [{role: user, content: {total: 12}}, {role: user, content: [{type: json, value: }]}]",
    "input: [{role: assistant, tool_calls: [{function: {name: f, arguments: {a: 1}}}]}, {role: tool, tool_call_id: c, content: x}]",
    "input: [{role: assistant, tool_calls: [{tool: f, args: {a: 1}, output: x}]}]",
    "input: Hi, input_files: [a.md], input_messages: ",
    "input: Hi, expected_output: 42",
    "input: Hi, expected_output: [{role: assistant, content: x}]",
    "input: Hi, expected_output: {role: admin, level: 3}",
    "input: Hi, skip: not yet, trials: 3, vars: {a: 1}, metadata: {author: 1}",
    "input: Hi, skip: true, execution: {skip_defaults: true}",
    "input: Hi, rubrics: [Greets, {id: x, outcome: Polite, required: true}, {score_ranges: {0: bad, 10: good}}]",
];

const ACCEPTED_ASSERTIONS: &[&str] = &[
    "Greets politely",
    "{type: contains, value: Hello, weight: 0, required: 0.5, negate: true}",
    "{type: contains, value: 42, name: , typo: 1}",
    "{type: contains_any, values: [a, 1, true], value: }",
    "{type: icontains-all, value: a}",
    "{type: word-count, max: 50, limits: {a: []}, config: {b: 1}}",
    "{type: '${{ TYPE }}', value: []}",
    "{type: regex, pattern: '^[0-9]+$', value: }",
    "{type: rubric, criteria: [Greets, {outcome: Polite, weight: 2}]}",
    "{type: code-grader, script: [python3, check.py], other: 1}",
    "{type: composite, evaluators: [{type: contains, value: a}, {type: is_json}], aggregator: minimum}",
    "{type: tool-trajectory, minimums: {search: 2}}",
    "{type: token_usage, max_total: '${{ MOST }}', max_input: }",
    "{type: skill-trigger, skill: s, should_trigger: '${{ WANTED }}'}",
    "{type: contains, value: a, weight: '${{ W }}', negate: '${{ N }}', required: true, min_score: 0.6}",
];

const REJECTED: &[&str] = &[
    "tests: [a.yaml]",
    "name:\ntests: [a.yaml]",
    "name: Code Review\ntests: [a.yaml]",
    "name: demo\nversion: '2.0'\ntests: [a.yaml]",
    "name: demo\ntests: []",
    "name: demo\ntests: {id: a}",
    "name: demo\ntests: [{criteria: Greets, input: Hi}]",
    "name: demo\ntests: [{id: a, criteria: Greets}]",
    "name: demo\ntests: [{id: '  ', criteria: Greets, input: Hi}]",
    "name: demo\ntrials: 0\ntests: [a.yaml]",
    "name: demo\nverdicts: {pass: 1.5}\ntests: [a.yaml]",
    "name: demo\nexecution: {timeout_seconds: 3601}\ntests: [a.yaml]",
    "name: demo\nassert: {type: contains, value: a}\ntests: [a.yaml]",
    "name: demo\nmetadata: {tags: smoke}\ntests: [a.yaml]",
    "[{id: a, criteria: Greets, input: Hi}]",
];

const REJECTED_TESTS: &[&str] = &[
    "input: ",
    "input: ' '",
    "input: []",
    "input: {content: Hi}",
    "input: [{role: human, content: Hi}]",
    "input: [{role: user}]",
    "input: [{role: user, tool_calls: [{function: {name: f}}]}]",
    "input: [{role: user, content: [{type: txt, value: x}]}]",
    "input: [{role: user, content: [{type: text}]}]",
    "input: [{role: user, content: [{type: file, value: 3}]}]",
    "input: [{role: tool, content: x}]",
    "input: [{role: assistant, tool_calls: [{function: {arguments: x}}]}]",
    "input: Hi, input_files: a.md",
    "input: [{role: user, content: Hi}], input_files: [a.md]",
    "input: Hi, skip: no",
    "input: Hi, expected_output: [{role: human, content: x}]",
    "input: Hi, execution: {skip_defaults: yes}",
    "input: Hi, rubrics: [{id: x}]",
    "input: Hi, rubrics: [{outcome: x, operator: sum}]",
];

const REJECTED_ASSERTIONS: &[&str] = &[
    "3",
    "{contains: Hello}",
    "{type: , value: a}",
    "{type: contains}",
    "{type: contains, value: ''}",
    "{type: contains, value: [a]}",
    "{type: contains-any, value: []}",
    "{type: icontains_any, values: }",
    "{type: contains, value: a, weight: -1}",
    "{type: contains, value: a, required: 2}",
    "{type: contains, value: a, negate: yes}",
    "{type: word-count, weight: heavy}",
    "{type: regex, flags: i}",
    "{type: regex, pattern: ''}",
    "{type: rubrics}",
    "{type: rubric, criteria: [{weight: 1}]}",
    "{type: code_grader, cwd: .}",
    "{type: composite, assert: {type: contains, value: a}}",
    "{type: composite, assert: [{type: contains}]}",
    "{type: tool-trajectory, mode: in_order}",
    "{type: tool_trajectory, mode: ordered, expected: [a]}",
    "{type: latency, threshold: fast}",
    "{type: cost, budget: -1}",
    "{type: token-usage}",
    "{type: execution-metrics, name: x}",
    "{type: skill_trigger, should_trigger: true}",
    "{type: trigger-judge, skill: s, should_trigger: no}",
];

fn all_suites(roots: &[&str], tests: &[&str], assertions: &[&str]) -> Vec<Json> {
    let whole = roots.iter().map(|text| (*text).to_owned());
    let tests = tests.iter().map(|fields| test_with(fields));
    let assertions = assertions.iter().map(|entry| assertion(entry));
    let texts = whole.chain(tests).chain(assertions);
    texts.map(|text| from_yaml(&text)).collect()
}

#[test]
fn suites_that_validate_accepts_are_accepted() {
    let files = all_suites(ACCEPTED, ACCEPTED_TESTS, ACCEPTED_ASSERTIONS);
    check(suite, true, &files);
}

#[test]
fn plain_mistakes_are_rejected() {
    let files = all_suites(REJECTED, REJECTED_TESTS, REJECTED_ASSERTIONS);
    check(suite, false, &files);
}

#[test]
fn every_dialect_of_evals_json_is_accepted() {
    let files = [
        json!({"skill_name": "s", "evals": [{"id": 1, "prompt": "Hi", "files": ["a", {"path": "b"}, {"name": "c", "content": "d"}]}]}),
        json!({"evals": 3, "cases": [{"task": "Hi", "assertions": ["x", {"text": "y"}], "own": {}}]}),
        json!([{"query": "Hi", "should_trigger": false}]),
        json!({"should_trigger": ["a"], "should_not_trigger": []}),
    ];
    check(evals_json, true, &files);
}

#[test]
fn plain_mistakes_in_evals_json_are_rejected() {
    let files = [
        json!({"evals": []}),
        json!({"evals": [{"id": 1}]}),
        json!({"evals": [{"prompt": "", "query": "Hi"}]}),
        json!({"evals": [{"prompt": "Hi", "should_trigger": "yes"}]}),
        json!({"evals": [{"prompt": "Hi", "should_trigger": null}]}),
        json!({"evals": [{"prompt": "Hi", "assertions": [{"weight": 1}]}]}),
        json!([{"task": "Hi"}]),
        json!({"should_trigger": "a"}),
        json!("evals"),
    ];
    check(evals_json, false, &files);
}

/// Every key that a property, somewhere in the schema, is described for.
fn described(schema: &Json, out: &mut Vec<String>) {
    match schema {
        Json::Object(keywords) => {
            if let Some(Json::Object(properties)) = keywords.get("properties") {
                let named = properties.iter().filter(|(_, p)| p["description"].is_string());
                out.extend(named.map(|(key, _)| key.clone()));
            }
            keywords.values().for_each(|value| described(value, out));
        }
        Json::Array(items) => items.iter().for_each(|item| described(item, out)),
        _ => {}
    }
}

#[track_caller]
fn all_described(schema: &Value, tables: &[&'static [Field]]) {
    let mut known = Vec::new();
    described(&to_serde(schema), &mut known);
    for key in all_keys(tables) {
        assert!(known.iter().any(|name| name == key), "{key} is missing");
    }
}

#[test]
fn every_field_of_every_table_is_described() {
    let mut tables = vec![
        ROOT_FIELDS,
        crate::read::ARM_FIELDS,
        TEST_FIELDS,
        MESSAGE_FIELDS,
        BLOCK_FIELDS,
        TOOL_CALL_FIELDS,
        EXECUTION_FIELDS,
        METADATA_FIELDS,
        COMMON_FIELDS,
        crate::assertion::ITEM_FIELDS,
        crate::assertion::custom_fields(),
    ];
    tables.extend(KINDS.iter().map(|kind| kind.fields));
    for draft in DRAFTS {
        all_described(&suite(draft), &tables);
        all_described(&evals_json(draft), super::evals_json::TABLES);
    }
}

#[test]
fn every_reference_has_a_definition() {
    for draft in DRAFTS {
        for schema in [suite(draft), evals_json(draft)] {
            let whole = to_serde(&schema);
            let text = whole.to_string();
            for part in text.split("\"$ref\":\"#").skip(1) {
                let pointer = part.split('"').next().unwrap();
                assert!(whole.pointer(pointer).is_some(), "{pointer}");
            }
        }
    }
}

#[test]
fn every_type_is_known_under_every_name() {
    let text = suite(Draft::D07).to_json(JsonStyle::Compact);
    for kind in KINDS {
        for name in [kind.name].iter().chain(kind.aliases) {
            for written in [(*name).to_owned(), name.replace('-', "_")] {
                assert!(text.contains(&format!("\"{written}\"")), "{written}");
            }
        }
    }
}

#[test]
fn a_targets_file_is_described_by_its_providers() {
    static TARGET: &[Field] = &[
        Field::new("name", Shape::NonEmptyText, "name of the target").required(),
        Field::new("provider", Shape::Choice(&["mock", "http-chat"]), "what it is").required(),
        Field::new("retries", Shape::Integer { min: 0, max: 10 }, "default 2")
            .also(&["max_retries"]),
    ];
    static MOCK: &[Field] = &[Field::new("response", Shape::Text, "what it answers")];
    static CHAT: &[Field] = &[Field::new("model", Shape::NonEmptyText, "the model").required()];
    static ROOT: &[Field] =
        &[Field::new("targets", Shape::NonEmptyList(&Shape::Ref("target")), "the targets")
            .required()];
    fn targets(draft: Draft) -> Value {
        let writer = SchemaBuilder::new(draft);
        let own = |fields| ObjectSchema::new(writer, &[fields]).finish();
        let variants = [("mock", MOCK), ("http-chat", CHAT)]
            .map(|(name, fields)| Variant { names: vec![name.to_owned()], schema: own(fields) });
        let target = choose("provider", &variants, None)
            .into_iter()
            .fold(ObjectSchema::new(writer, &[TARGET]).title("Target"), ObjectSchema::rule);
        Document::new(draft, "targets.yaml", "Where cases are sent.")
            .define("target", target.finish())
            .finish(&ObjectSchema::new(writer, &[ROOT]).finish())
    }
    let good = "targets: [{name: a, provider: mock, response: x, max_retries: '${{ N }}'}]";
    check(targets, true, &[from_yaml(good)]);
    let bad = [
        "targets: []",
        "targets: [{name: a}]",
        "targets: [{name: a, provider: http-chat}]",
        "targets: [{name: a, provider: mock, response: 3}]",
        "targets: [{name: a, provider: mock, retries: 11}]",
    ];
    check(targets, false, &bad.map(from_yaml));
}

/// A schema that is more lenient than the reader lets editors accept what `validate` refuses.
#[test]
fn an_assertion_without_options_is_refused_when_the_reader_refuses_it() {
    let is_sound = |text: &str| {
        let files = MemoryFiles::new().with("/p/EVAL.yaml", text);
        let world = World {
            files: &files,
            environment: &Variables::default(),
            working_directory: "/p".into(),
        };
        let policy = ReadPolicy::default();
        let request = LoadRequest::new(world, &policy, "/p/EVAL.yaml".into(), "/p".into());
        load_suite(&request, Findings::new()).is_ok()
    };
    for kind in KINDS {
        let text = assertion(&format!("{{type: {}}}", kind.name));
        check(suite, is_sound(&text), &[from_yaml(&text)]);
    }
}

#[test]
fn editors_accept_every_key_that_should_be_written() {
    let files = all_suites(
        &[
            "name: demo\n$schema: ./eval.schema.json\nx-team: [1]\ntests: [a.yaml]",
            "name: demo\nmetadata: {mine: {x: 1}}\nverdicts: {pass: 0.9}\ntests: [a.yaml]",
        ],
        &[
            "input: [{role: user, content: [{type: text, value: x}], x-note: 1}]",
            "input: Hi, vars: {a: 1}, metadata: {mine: 1}, tags: [a], execution: {target: t}",
            "input: Hi, rubrics: [Greets, {id: x, outcome: Polite, required: true}]",
        ],
        &[
            "{type: contains, value: x, negate: true, weight: 2, x-why: y}",
            "{type: not_contains, value: x}",
            "{type: not-regex, value: x, name: n}",
            "{type: tool-called, tool: search, args: {q: x}}",
            "{type: llm_judge, prompt: Is it kind?}",
            "{type: code-judge, command: [./x.py], level: 3}",
            "{type: word-count, max: 50}",
            "{type: composite, assert: [{type: contains, value: x}, It is polite]}",
            "It is polite",
        ],
    );
    check(strict_suite, true, &files);
    check(suite, true, &files);
}

#[test]
fn editors_flag_keys_that_have_no_effect() {
    let files = all_suites(
        &[
            "name: demo\nevalz: 1\ntests: [a.yaml]",
            "name: demo\ntests: [a.yaml]\nexecution: {targt: x}",
        ],
        &[
            "input: Hi, asserts: [{type: contains, value: x}]",
            "input: Hi, prompt: Hi",
            "input: [{role: user, content: Hi, contents: x}]",
            "input: Hi, rubrics: [{outcome: Polite, weigth: 2}]",
        ],
        &[
            "{type: contains, value: x, negated: true}",
            "{type: not-contains, valeu: x}",
            "{type: latency, threshold: 5, unit: s}",
            "{type: composite, assert: [{type: contains, value: x, y: 1}]}",
        ],
    );
    check(strict_suite, false, &files);
}

#[test]
fn editors_are_offered_the_spelling_that_should_be_written() {
    let schema = to_serde(&strict_suite(Draft::D07));
    let test = &schema["definitions"]["test"]["properties"];
    assert_eq!(test["input_messages"]["deprecated"], true);
    assert_eq!(test["input_messages"]["deprecationMessage"], "write `input`");
    assert!(test["input"].get("deprecated").is_none());
    let names: Vec<&String> = test.as_object().expect("properties").keys().collect();
    let place = |name: &str| names.iter().position(|known| *known == name);
    assert!(place("trials") < place("expected_outcome"), "{names:?}");
    // Before the type is known, nothing else is offered.
    let entry = &schema["definitions"]["assertion"];
    let offered: Vec<&String> = entry["properties"].as_object().expect("one").keys().collect();
    assert_eq!(offered, ["type"]);
    let types = &entry["properties"]["type"]["anyOf"][0];
    assert_eq!(types["enum"].as_array().map(Vec::len), Some(KINDS.len()));
    let docs = types["enumDescriptions"].as_array().expect("one per type");
    assert!(docs.iter().all(|doc| doc.as_str().is_some_and(|doc| doc.len() > 20)), "{docs:?}");
    // The words of editors: no alias is listed, and no title is shown in the place of a description.
    let text = schema.to_string();
    assert!(!text.contains("tool_trajectory"), "an alias is shown to readers");
    assert!(schema["definitions"]["assertion-tool-trajectory"].get("title").is_none());
    for kind in KINDS {
        let definition = &schema["definitions"][format!("assertion-{}", kind.name)];
        assert!(definition["description"].is_string(), "{}", kind.name);
    }
}

#[test]
fn empty_lists_are_refused_where_the_reader_refuses_them() {
    let files = all_suites(
        &["name: demo\ntests: []"],
        &["input: []"],
        &[
            "{type: contains-any, value: []}",
            "{type: composite, assert: []}",
            "{type: field-accuracy, fields: []}",
            "{type: rubrics, rubrics: []}",
            "{type: llm-judge, prompt: x, rubrics: []}",
            "{type: code-judge, command: []}",
        ],
    );
    check(strict_suite, false, &files);
    check(suite, false, &files);
    let allowed = all_suites(&[], &["input: Hi, rubrics: [], assert: []"], &[]);
    check(strict_suite, true, &allowed);
}
