//! `transpile`: the worked examples of spec 12, every row of the tables of seed `000`, and
//! every signal by which it is accepted.

mod support;

use evalrig_core::export::{
    Audience, CriteriaMode, Format, Layout, NoSkill, PromptMode, TranspileOptions,
};
use serde_json::json;
use support::{Made, Project, show};

const SEED: &str = r#"tests:
  - id: csv-top-months
    criteria: Agent finds the top 3 months by revenue
    input:
      - role: user
        content:
          - type: file
            value: evals/files/sales.csv
          - type: text
            value: "I have a CSV of monthly sales data. Find the top 3 months by revenue."
    expected_output: "The top 3 months by revenue are November ($22,500), September ($20,100), and December ($19,400)."
    assert:
      - type: trigger-judge          # from .agentv/judges/trigger-judge.ts
        skill: csv-analyzer
        should_trigger: true
      - type: rubrics
        criteria: "Output identifies November as the highest revenue month"
      - type: contains
        value: "$22,500"

  - id: irrelevant-query
    criteria: Agent does not invoke csv-analyzer for an unrelated query
    input: "What time is it?"
    assert:
      - type: trigger-judge
        skill: csv-analyzer
        should_trigger: false
"#;

/// The sample of the seed, byte for byte, and a line break.
const SAMPLE: &str = r#"{
  "skill_name": "csv-analyzer",
  "evals": [
    {
      "id": 1,
      "prompt": "I have a CSV of monthly sales data. Find the top 3 months by revenue.",
      "expected_output": "The top 3 months by revenue are November ($22,500), September ($20,100), and December ($19,400).",
      "files": ["evals/files/sales.csv"],
      "should_trigger": true,
      "assertions": [
        "Output identifies November as the highest revenue month",
        "Output contains '$22,500'"
      ]
    },
    {
      "id": 2,
      "prompt": "What time is it?",
      "should_trigger": false,
      "assertions": []
    }
  ]
}
"#;

const DESK: &str = r#"name: desk
assert: [{type: latency, threshold: 5000}]
tests:
  - id: commit
    criteria: Commits the change
    input: Commit my changes
    assert:
      - {type: trigger-judge, skill: commit}
      - {type: trigger-judge, skill: push, should_trigger: false}
      - {type: contains, value: force, negate: true}
  - id: 7
    criteria: "Says hello\n"
    input:
      - {role: system, content: Be brief.}
      - {role: user, content: Hi}
      - {role: assistant, content: Hello!}
      - {role: user, content: [{type: text, value: And}, {type: text, value: again}]}
    expected_output: {greeting: true, n: 1.50}
"#;

#[track_caller]
fn made(suite: &str) -> Made {
    made_with(suite, |_| {})
}

#[track_caller]
fn made_with(suite: &str, change: impl FnOnce(&mut TranspileOptions<'_>)) -> Made {
    Project::new(suite).transpile(change)
}

/// The only entry of a suite whose only test has these fields.
#[track_caller]
fn entry(fields: &str) -> serde_json::Value {
    let made = made(&one_test(fields));
    assert!(made.told.is_empty(), "{}", show(&made.told));
    made.json(made.names()[0])["evals"][0].clone()
}

fn one_test(fields: &str) -> String {
    let mut suite = "name: demo\ntests:\n  - id: a\n".to_owned();
    for line in fields.lines() {
        suite += &format!("    {line}\n");
    }
    suite
}

/// The sentences of one assertion.
#[track_caller]
fn sentences(assertion: &str) -> serde_json::Value {
    entry(&format!("input: Hi\nassert:\n  - {assertion}"))["assertions"].clone()
}

fn ids(suite: &str) -> (serde_json::Value, Vec<&'static str>) {
    let made = made(suite);
    let file = made.json("_no-skill.json");
    let entries = file["evals"].as_array().expect("a list");
    let ids = entries.iter().map(|entry| entry["id"].clone()).collect();
    (ids, made.told_names())
}

#[test]
fn the_first_worked_example_is_written_exactly() {
    let made = made(SEED);
    let second = "\"assertions\": [\n        \"Agent does not invoke csv-analyzer for an unrelated query\"\n      ]";
    let first = "\"assertions\": [\n        \"Agent finds the top 3 months by revenue\",\n";
    let expected =
        SAMPLE.replace("\"assertions\": []", second).replacen("\"assertions\": [\n", first, 1);
    assert_eq!(made.text("evals.json"), expected);
    let names: Vec<&str> = made.loading.iter().map(|seen| seen.code.name).collect();
    assert_eq!(names, ["missing-name", "file-not-found"]);
    assert!(made.losses.is_empty() && made.told.is_empty());
    assert_eq!(made.names(), ["evals.json", "eval-set.json"]);
}

#[test]
fn without_criteria_the_file_is_the_sample_of_the_seed() {
    let made = made_with(SEED, |options| options.criteria = CriteriaMode::Omitted);
    assert_eq!(made.text("evals.json"), SAMPLE);
    assert_eq!(
        made.lost(),
        ["criteria-omitted csv-top-months 2", "criteria-omitted irrelevant-query 21"]
    );
}

#[test]
fn the_eval_set_has_the_same_entries_in_its_own_order_of_keys() {
    let made = made(SEED);
    let text = made.text("eval-set.json");
    let start = "[\n  {\n    \"query\": \"I have a CSV of monthly sales data. Find the top 3 months by revenue.\",\n    \"should_trigger\": true,\n    \"id\": 1,\n    \"expected_output\": ";
    assert!(text.starts_with(start), "{text}");
    assert!(
        text.contains("\n    \"files\": [\"evals/files/sales.csv\"],\n    \"assertions\": [\n")
    );
    let end = "  {\n    \"query\": \"What time is it?\",\n    \"should_trigger\": false,\n    \"id\": 2,\n    \"assertions\": [\n      \"Agent does not invoke csv-analyzer for an unrelated query\"\n    ]\n  }\n]\n";
    assert!(text.ends_with(end), "{text}");
}

#[test]
fn the_second_worked_example() {
    let made = made(DESK);
    let names = made.names();
    assert_eq!(
        names,
        ["commit.evals.json", "commit.eval-set.json", "push.evals.json", "push.eval-set.json"]
    );
    let latency = "Response time under 5000ms";
    let sentences = ["Commits the change", "NOT: Output contains 'force'", latency];
    assert_eq!(
        made.json("commit.evals.json"),
        json!({"skill_name": "commit", "evals": [
            {"id": 1, "prompt": "Commit my changes", "should_trigger": true,
             "assertions": sentences},
            {"id": 7, "prompt": "And\nagain", "expected_output": "{\"greeting\":true,\"n\":1.50}",
             "assertions": ["Says hello", latency]}]})
    );
    assert_eq!(
        made.json("push.evals.json"),
        json!({"skill_name": "push", "evals": [
            {"id": 1, "prompt": "Commit my changes", "should_trigger": false,
             "assertions": sentences}]})
    );
    assert_eq!(made.lost(), ["negation commit 10", "system-message 7 11", "earlier-turns 7 11"]);
}

#[test]
fn ids_are_kept_or_become_positions() {
    let suite = |ids: &[&str]| -> String {
        let tests = ids.iter();
        let tests = tests.map(|id| format!("  - {{id: {id}, criteria: c, input: '{id}'}}\n"));
        format!("name: demo\ntests:\n{}", tests.collect::<String>())
    };
    assert_eq!(ids(&suite(&["a", "1", "b"])), (json!([2, 1, 3]), vec!["id-moved"]));
    assert_eq!(ids(&suite(&["x", "y"])), (json!([1, 2]), vec![]));
    assert_eq!(ids(&suite(&["0", "z"])), (json!([0, 2]), vec![]));
    let moved = ids(&suite(&["a", "b", "1", "2"]));
    assert_eq!(moved, (json!([3, 4, 1, 2]), vec!["id-moved", "id-moved"]));
}

// The table of fields.

#[test]
fn row_id_a_number_is_kept_over_all_files() {
    let made = made(
        "name: demo\ntests:\n  - {id: x, criteria: c, input: q, assert: [{type: trigger-judge, skill: a}]}\n  \
         - {id: y, criteria: c, input: q, assert: [{type: trigger-judge, skill: b}]}\n",
    );
    assert_eq!(made.json("b.evals.json")["evals"][0]["id"], 2);
}

#[test]
fn row_input_string() {
    let entry = entry("criteria: c\ninput: \" as is\\n\"");
    assert_eq!(entry["prompt"], " as is\n");
}

#[test]
fn row_input_message_with_string_content() {
    let entry =
        entry("criteria: c\ninput: [{role: user, content: first}, {role: user, content: last}]");
    assert_eq!(entry["prompt"], "last");
}

#[test]
fn row_file_blocks_of_all_messages() {
    let made = made(&one_test(
        "criteria: c\ninput:\n  - {role: system, content: [{type: file, value: s.md}]}\n  \
         - {role: user, content: [{type: file, value: a.md}, {type: text, value: Go}, {type: image, value: p.png}, {type: file, value: s.md}]}",
    ));
    let entry = &made.json("_no-skill.json")["evals"][0];
    assert_eq!(entry["files"], json!(["s.md", "a.md", "p.png"]));
    assert!(made.text("_no-skill.json").contains("\"files\": [\"s.md\", \"a.md\", \"p.png\"],"));
}

#[test]
fn row_expected_output_is_flattened() {
    for (written, text) in [
        ("Fine", "Fine"),
        ("[{role: assistant, content: A}, {role: assistant, content: B}]", "B"),
        ("{role: assistant, content: A}", "A"),
        ("[1, {b: 2.0, a: x}]", "[1,{\"b\":2.0,\"a\":\"x\"}]"),
    ] {
        let entry = entry(&format!("criteria: c\ninput: q\nexpected_output: {written}"));
        assert_eq!(entry["expected_output"], text);
    }
    assert_eq!(entry("criteria: c\ninput: q").get("expected_output"), None);
}

#[test]
fn row_should_trigger_defaults_to_true_and_negate_flips_it() {
    for (options, value) in [
        ("", true),
        (", should_trigger: false", false),
        (", negate: true", false),
        (", should_trigger: false, negate: true", true),
    ] {
        let entry = entry(&format!(
            "criteria: c\ninput: q\nassert: [{{type: trigger-judge, skill: s{options}}}]"
        ));
        assert_eq!(entry["should_trigger"], value, "{options}");
    }
}

#[test]
fn row_skill_names_the_file() {
    let made = made(&one_test(
        "criteria: c\ninput: q\nassert: [{type: trigger-judge, skill: 'my skill'}]",
    ));
    assert_eq!(made.json("evals.json")["skill_name"], "my skill");
}

#[test]
fn row_other_assertions_become_words_and_criteria_come_first() {
    let entry = entry(
        "criteria: ' c '\ninput: q\nrubrics: [r]\nassert: [x, c]\nexecution: {assert: [e, r]}",
    );
    assert_eq!(entry["assertions"], json!(["c", "r", "x", "e"]));
}

// The table of sentences.

#[test]
fn sentence_rubrics() {
    assert_eq!(sentences("{type: rubrics, criteria: Is kind}"), json!(["Is kind"]));
    assert_eq!(sentences("{type: rubrics, rubrics: [A, {id: b, outcome: B}]}"), json!(["A", "B"]));
}

#[test]
fn sentence_contains_regex_equals_json() {
    assert_eq!(sentences("{type: contains, value: a'b}"), json!(["Output contains 'a'b'"]));
    assert_eq!(
        sentences("{type: regex, value: '^\\d+$'}"),
        json!(["Output matches regex: ^\\d+$"])
    );
    assert_eq!(sentences("{type: equals, value: x}"), json!(["Output exactly equals: x"]));
    assert_eq!(sentences("{type: is-json}"), json!(["Output is valid JSON"]));
}

#[test]
fn sentence_llm_judge_and_agent_judge() {
    assert_eq!(sentences("{type: llm-judge, prompt: Is it kind?}"), json!(["Is it kind?"]));
    assert_eq!(sentences("{type: agent-judge, rubrics: [A, B]}"), json!(["A", "B"]));
}

#[test]
fn sentence_tool_trajectory() {
    assert_eq!(
        sentences(
            "{type: tool-trajectory, mode: in_order, expected: [{tool: find}, {tool: read}]}"
        ),
        json!(["Agent called tools in order: find, read"])
    );
}

#[test]
fn sentence_code_judge() {
    assert_eq!(
        sentences("{type: code-judge, script: 'exit 0', name: lines, description: counts lines}"),
        json!(["lines: counts lines"])
    );
    assert_eq!(sentences("{type: code-judge, script: 'exit 0'}"), json!(["exit 0"]));
}

#[test]
fn sentence_field_accuracy() {
    let entry = entry(
        "input: Hi\nexpected_output: {a: 1, b: 2}\nassert:\n  - {type: field-accuracy, fields: [{path: a}, {path: b}]}",
    );
    assert_eq!(entry["assertions"], json!(["Fields a, b match expected values"]));
}

#[test]
fn sentence_latency_cost_tokens_metrics() {
    assert_eq!(
        sentences("{type: latency, threshold: 1500}"),
        json!(["Response time under 1500ms"])
    );
    assert_eq!(sentences("{type: cost, budget: 0.10}"), json!(["Cost under $0.10"]));
    assert_eq!(
        sentences("{type: token-usage, max_total: 9}"),
        json!(["Token usage within limits"])
    );
    assert_eq!(
        sentences("{type: execution-metrics, max_tool_calls: 9}"),
        json!(["Execution within metric bounds"])
    );
}

#[test]
fn sentence_composite_and_negation() {
    assert_eq!(
        sentences(
            "{type: composite, negate: true, assert: [A, {type: trigger-judge, skill: s}, {type: contains, value: x}]}"
        ),
        json!(["NOT: A", "NOT: Output contains 'x'"])
    );
}

// The signals of acceptance.

#[test]
fn signal_mixed_assertions_give_valid_json() {
    let file = made(SEED).json("evals.json");
    assert_eq!(file["evals"].as_array().map(Vec::len), Some(2));
}

#[test]
fn signal_tests_without_a_trigger_omit_should_trigger() {
    let entry = entry("criteria: c\ninput: q");
    assert_eq!(entry.get("should_trigger"), None);
}

#[test]
fn signal_files_are_extracted_and_texts_joined() {
    let entry = entry(
        "criteria: c\ninput:\n  - role: user\n    content: [{type: json, value: {a: 1}}, {type: text, value: A}, {type: text, value: B}]",
    );
    assert_eq!(entry["prompt"], "A\nB\n{\n  \"a\": 1\n}");
    let only_data =
        self::entry("criteria: c\ninput:\n  - role: user\n    content: [{type: json, value: [1]}]");
    assert_eq!(only_data["prompt"], "[\n  1\n]");
}

#[test]
fn signal_root_assertions_reach_all_tests() {
    let made = made(DESK);
    for entry in made.json("commit.evals.json")["evals"].as_array().expect("a list") {
        let last = entry["assertions"].as_array().and_then(|list| list.last());
        assert_eq!(last, Some(&json!("Response time under 5000ms")));
    }
}

/// What `run_eval.py` does with `--eval-set`: it walks a list, and takes `item["query"]` as a text
/// and `item["should_trigger"]` as a truth value.
#[test]
fn signal_run_eval_reads_the_eval_set() {
    let made = made(DESK);
    for name in ["commit.eval-set.json", "push.eval-set.json"] {
        let set = made.json(name);
        for item in set.as_array().expect("a list") {
            assert!(item["query"].is_string());
            assert!(item["should_trigger"].is_boolean());
        }
        assert_eq!(set.as_array().map(Vec::len), Some(1), "only tests with a trigger");
    }
}

// Skills, files, settings.

#[test]
fn root_triggers_hold_where_a_test_has_none_for_the_skill() {
    let made = made(
        "name: demo
assert: [{type: trigger-judge, skill: s}]
tests:
  - {id: 1, criteria: c, input: a}
  - {id: 2, criteria: c, input: b, assert: [{type: trigger-judge, skill: s, should_trigger: false}]}
  - id: 3
    criteria: c
    input: d
    assert: [{type: composite, assert: [{type: trigger-judge, skill: s, should_trigger: false}]}]
",
    );
    let file = made.json("evals.json");
    let values: Vec<_> = (0..3).map(|at| &file["evals"][at]["should_trigger"]).collect();
    assert_eq!(values, [true, false, false]);
    assert!(made.told.is_empty(), "{}", show(&made.told));
}

#[test]
fn contradicting_triggers_block_transpiling() {
    let suite = one_test(
        "criteria: c\ninput: q\nassert:\n  - {type: trigger-judge, skill: s}\n  - {type: trigger-judge, skill: s}\n  \
         - {type: trigger-judge, skill: s, negate: true}",
    );
    let made = made(&suite);
    assert_eq!(made.told_names(), ["conflicting-triggers"]);
    assert_eq!((made.told[0].line, &*made.told[0].related), (9, &[7][..]));
    assert!(made.files.is_empty());
}

#[test]
fn tests_without_a_trigger_go_to_the_dominant_skill_or_apart() {
    let suite = "name: demo
tests:
  - {id: 1, criteria: c, input: a, assert: [{type: trigger-judge, skill: x}]}
  - {id: 2, criteria: c, input: b}
  - {id: 3, criteria: c, input: d, assert: [{type: trigger-judge, skill: y}]}
  - {id: 4, criteria: c, input: e, assert: [{type: trigger-judge, skill: y}]}
";
    let ids = |made: &Made, name: &str| -> Vec<u64> {
        let file = made.json(name);
        let entries = file["evals"].as_array().expect("a list").iter();
        entries.map(|entry| entry["id"].as_u64().expect("a number")).collect()
    };
    let together = made_with(suite, |options| options.format = Format::Evals);
    assert_eq!(ids(&together, "x.evals.json"), [1]);
    assert_eq!(ids(&together, "y.evals.json"), [2, 3, 4]);
    let apart = made_with(suite, |options| options.no_skill = NoSkill::Separate);
    assert_eq!(ids(&apart, "y.evals.json"), [3, 4]);
    assert_eq!(ids(&apart, "_no-skill.json"), [2]);
    assert_eq!(apart.json("_no-skill.json")["skill_name"], "_no-skill");
    let folders = made_with(suite, |options| {
        options.no_skill = NoSkill::Separate;
        options.layout = Layout::SkillDirs;
    });
    assert_eq!(
        folders.names(),
        [
            "x/evals/evals.json",
            "x/evals/eval-set.json",
            "y/evals/evals.json",
            "y/evals/eval-set.json",
            "_no-skill/evals/evals.json"
        ]
    );
}

#[test]
fn a_suite_without_triggers_belongs_to_the_skill_it_names() {
    let suite = "name: demo\nmetadata: {skill: s, runs_per_query: 5}\ntests: [{id: 1, criteria: c, input: a}]\n";
    let made = made(suite);
    assert_eq!(made.names(), ["evals.json"]);
    let file = made.json("evals.json");
    assert_eq!(file["skill_name"], "s");
    assert_eq!(file["metadata"], json!({"runs_per_query": 5}));
}

#[test]
fn settings_of_a_trigger_win_over_those_of_the_suite() {
    let suite = "name: demo
metadata: {runs_per_query: 5, trigger_threshold: 0.50}
tests:
  - {id: 1, criteria: c, input: a, assert: [{type: trigger-judge, skill: x, runs_per_query: 3}]}
  - {id: 2, criteria: c, input: b, assert: [{type: trigger-judge, skill: x, runs_per_query: 4}]}
";
    let made = made(suite);
    let end = "  ],\n  \"metadata\": {\n    \"runs_per_query\": 3,\n    \"trigger_threshold\": 0.50\n  }\n}\n";
    assert!(made.text("evals.json").ends_with(end));
    assert_eq!(made.told_names(), ["conflicting-trigger-settings"]);
}

#[test]
fn hostile_skill_names_make_harmless_files() {
    let suite = "name: demo
tests:
  - {id: 1, criteria: c, input: a, assert: [{type: trigger-judge, skill: ../../up}]}
  - {id: 2, criteria: c, input: b, assert: [{type: trigger-judge, skill: ..}]}
";
    let made_flat = made(suite);
    assert!(made_flat.names().contains(&"_._.._up.evals.json"), "{:?}", made_flat.names());
    assert_eq!(made_flat.json("_._.._up.evals.json")["skill_name"], "../../up");
    let folders = made_with(suite, |options| options.layout = Layout::SkillDirs);
    assert!(folders.names().contains(&"__/evals/evals.json"));
}

#[test]
fn names_that_windows_keeps_for_itself_are_not_written() {
    let suite = "name: demo
tests:
  - {id: 1, criteria: c, input: a, assert: [{type: trigger-judge, skill: NUL}]}
  - {id: 2, criteria: c, input: b, assert: [{type: trigger-judge, skill: aux.v2}]}
  - {id: 3, criteria: c, input: d, assert: [{type: trigger-judge, skill: csv.}]}
";
    let flat = made_with(suite, |options| options.format = Format::Evals);
    let names = ["_NUL.evals.json", "_aux.v2.evals.json", "csv..evals.json"];
    assert_eq!(flat.names(), names);
    assert_eq!(flat.json("_NUL.evals.json")["skill_name"], "NUL");
    let folders = made_with(suite, |options| {
        options.format = Format::Evals;
        options.layout = Layout::SkillDirs;
    });
    let names = ["_NUL", "_aux.v2", "csv_"].map(|name| format!("{name}/evals/evals.json"));
    assert_eq!(folders.names(), names);
}

#[test]
fn colliding_directories_block_transpiling() {
    let suite = "name: demo
tests:
  - {id: 1, criteria: c, input: a, assert: [{type: trigger-judge, skill: csv.}]}
  - {id: 2, criteria: c, input: b, assert: [{type: trigger-judge, skill: csv_}]}
";
    assert!(made(suite).told_names().is_empty());
    let folders = made_with(suite, |options| options.layout = Layout::SkillDirs);
    assert_eq!(folders.told_names(), ["skill-name-collision"]);
}

#[test]
fn colliding_skill_files_block_transpiling() {
    let suite = "name: demo
tests:
  - {id: 1, criteria: c, input: a, assert: [{type: trigger-judge, skill: Csv}]}
  - {id: 2, criteria: c, input: b, assert: [{type: trigger-judge, skill: csv}]}
";
    assert_eq!(made(suite).told_names(), ["skill-name-collision"]);
}

#[test]
fn a_test_without_a_prompt_blocks_transpiling() {
    let image = "criteria: c\ninput: [{role: user, content: [{type: image, value: 'data:image/png;base64,AAAA'}]}]";
    let made_image = made(&one_test(image));
    assert_eq!(made_image.told_names(), ["no-prompt"]);
    assert_eq!(made_image.lost(), ["image-data a 3"]);
    let system = made(&one_test("criteria: c\ninput: [{role: system, content: x}]"));
    assert_eq!(system.told_names(), ["no-prompt"]);
}

#[test]
fn equal_queries_are_noticed_in_eval_sets_only() {
    let suite = "name: demo
tests:
  - {id: 1, criteria: c, input: a, assert: [{type: trigger-judge, skill: x}]}
  - {id: 2, criteria: c, input: a, assert: [{type: trigger-judge, skill: x}]}
";
    let both = made(suite);
    assert_eq!(both.told_names(), ["duplicate-query"]);
    assert_eq!((both.told[0].line, &*both.told[0].related), (4, &[3][..]));
    let evals = made_with(suite, |options| options.format = Format::Evals);
    assert!(evals.told.is_empty() && evals.names() == ["evals.json"]);
}

#[test]
fn skill_creator_calls_the_list_expectations() {
    let made = made_with(SEED, |options| options.audience = Audience::SkillCreator);
    assert!(made.json("evals.json")["evals"][0]["expectations"].is_array());
    assert!(made.json("eval-set.json")[0]["expectations"].is_array());
    assert!(!made.text("evals.json").contains("\"assertions\""));
}

#[test]
fn prompt_files_go_out_as_paths_or_as_text() {
    let suite = "name: demo
assert: [{type: llm-judge, prompt: tone.md, rubrics: [Is brief], negate: true}]
tests:
  - {id: 1, criteria: c, input: a}
  - {id: 2, criteria: c, input: b}
";
    let project = Project::new(suite).with("tone.md", "\nKind? {{ answer }}\n\n");
    let plain = project.transpile(|_| {});
    assert_eq!(plain.told_names(), ["prompt-path-as-text"]);
    let list = |made: &Made| made.json("_no-skill.json")["evals"][1]["assertions"].clone();
    assert_eq!(list(&plain), json!(["c", "NOT: tone.md", "NOT: Is brief"]));
    let inlined = project.transpile(|options| options.prompts = PromptMode::Inlined);
    assert!(inlined.told.is_empty());
    assert_eq!(list(&inlined), json!(["c", "NOT: Kind? {{ answer }}", "NOT: Is brief"]));
    assert!(inlined.lost().contains(&"template-variables 2 2".to_owned()));
}

#[test]
fn every_kind_of_loss_has_its_line() {
    let suite = "name: demo
execution: {target: main}
tests:
  - id: a
    criteria: c
    conversation_id: x
    note: n
    trials: 3
    skip: true
    execution: {timeout_seconds: 9}
    input:
      - {role: user, content: Hi}
    expected_output: [{role: user, content: q}, {role: assistant, content: A}]
    assert:
      - {type: contains, value: x, weight: 2}
      - {type: contains, value: y, required: true}
      - {type: composite, assert: [B]}
      - {type: rubrics, rubrics: [{id: r, weight: 2, required: true, score_ranges: {0: bad, 5: good}}]}
      - {type: tool-trajectory, mode: exact, expected: [{tool: find, args: {q: 1}}]}
      - {type: llm-judge, prompt: 'Good? {{ answer }}'}
      - {type: token-usage, max_total: 5}
      - {type: code-judge, script: 'exit 0'}
";
    let expected = [
        "expected-messages a 4",
        "target a 4",
        "timeout a 4",
        "note a 4",
        "conversation a 4",
        "trials a 4",
        "skip a 4",
        "weight a 15",
        "required a 16",
        "composite a 17",
        "weight a 18",
        "required a 18",
        "score-ranges a 18",
        "trajectory-order a 19",
        "trajectory-args a 19",
        "template-variables a 20",
        "limits a 21",
        "code-judge a 22",
    ];
    assert_eq!(made(suite).lost(), expected);
}

#[test]
fn one_assistant_message_as_expected_output_loses_nothing() {
    let made =
        made(&one_test("criteria: c\ninput: q\nexpected_output: [{role: assistant, content: A}]"));
    assert_eq!(made.lost(), [""; 0]);
}

#[test]
fn relative_paths_of_imported_tests_are_a_loss() {
    let project = Project::new("name: demo\ninput_files: [r.md]\ntests: [sub/more.yaml]\n")
        .with("r.md", "R")
        .with("sub/more.yaml", "- {id: a, criteria: c, input: q, input_files: [f.md]}\n- {id: b, criteria: c, input: q}\n")
        .with("sub/f.md", "F");
    assert_eq!(project.transpile(|_| {}).lost(), ["relative-base a 1"]);
}

#[test]
fn criteria_made_from_the_expected_output_do_not_come_back() {
    let text = r#"{"skill_name": "s", "evals": [
        {"id": 1, "prompt": "a", "expected_output": " It works ", "assertions": ["A"], "should_trigger": true},
        {"id": 2, "prompt": "b", "expected_output": "Fine"}]}"#;
    let made = Project::named("s/evals/evals.json", text).transpile(|_| {});
    assert_eq!(
        made.json("evals.json")["evals"],
        json!([
            {"id": 1, "prompt": "a", "expected_output": " It works ", "should_trigger": true,
             "assertions": ["A"]},
            {"id": 2, "prompt": "b", "expected_output": "Fine", "assertions": []}])
    );
    let yaml = "name: s\nmetadata: {source: other}\ntests: [{id: 1, criteria: X, input: q, expected_output: X}]\n";
    let file = self::made(yaml).json("_no-skill.json");
    assert_eq!(file["evals"][0]["assertions"], json!(["X"]));
}

#[test]
fn texts_are_escaped_no_more_than_json_demands() {
    let made = made(&one_test("criteria: \"é \\\"q\\\" \\\\ \\t\\x01 </x>\"\ninput: q"));
    let line = "        \"é \\\"q\\\" \\\\ \\t\\u0001 </x>\"\n";
    assert!(made.text("_no-skill.json").contains(line), "{}", made.text("_no-skill.json"));
}

#[test]
fn secrets_do_not_leave_the_program() {
    let suite = one_test("criteria: c\ninput: 'use ${{ API_KEY }} now'");
    let project = Project::new(&suite).variable("API_KEY", "sk-very-secret-value");
    let made = project.transpile(|_| {});
    assert_eq!(made.json("_no-skill.json")["evals"][0]["prompt"], "use *** now");
}
