//! The same answers have the same verdicts in evalrig as in OpenAI Evals, whose verdicts were recorded by
//! `scripts/test-openai-evals`. Skipped without Node.js, which two of the classes need.
#![cfg(unix)]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use support::Project;
use support::other_programs::{NODE, PYTHON, has_program};

fn read(name: &str) -> Value {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/openai_evals");
    let text = fs::read_to_string(directory.join(name)).expect("a file");
    serde_json::from_str(&text).expect("JSON")
}

/// The registry, its samples, and a target that gives the answers.
fn write_evals(project: &Project, cases: &[Value]) {
    let mut samples: BTreeMap<(&str, bool), String> = BTreeMap::new();
    let mut responses = Vec::new();
    for case in cases {
        let class = case["class"].as_str().expect("a class");
        let lines = samples.entry((class, case["ignore_case"] == true)).or_default();
        let sample = json!({"id": case["id"], "input": case["id"], "ideal": case["ideal"]});
        *lines += &format!("{sample}\n");
        responses.push(json!({"pattern": case["id"], "response": case["answer"]}));
    }
    let mut registry = String::new();
    for (at, ((class, ignores_case), lines)) in samples.iter().enumerate() {
        registry += &format!(
            "eval-{at}:\n  class: evals.elsuite.basic.x:{class}\n  args:\n    samples_jsonl: s{at}.jsonl\n"
        );
        if *ignores_case {
            registry += "    ignore_case: true\n";
        }
        project.write(&format!("s{at}.jsonl"), lines);
    }
    project.write("registry.yaml", &registry);
    let target = json!({"name": "default", "provider": "mock", "responses": responses});
    project.write(".evalrig/targets.yaml", &json!({"targets": [target]}).to_string());
}

#[test]
fn converted_samples_judge_as_openai_evals_does() {
    if !has_program(NODE) {
        return;
    }
    let (cases, recorded) = (read("cases.json"), read("verdicts.json"));
    let (cases, recorded) = (cases.as_array().expect("cases"), &recorded["passed"]);
    let project = Project::empty();
    write_evals(&project, cases);
    project
        .evalrig(&["convert", "registry.yaml", "--from", "openai-evals", "-o", "EVAL.yaml"])
        .exits(0);
    project.has_recorded_verdicts(recorded, "OpenAI Evals");
}

/// What the API returns for one eval: the eval, a run whose source is a file, and what the run has recorded.
fn write_export(project: &Project) {
    let source = "def grade(sample, item):\n    words = sample['output_text'].split()\n    \
                  return len([word for word in words if word == item['topic']]) / len(words)\n";
    let grader =
        json!({"type": "python", "name": "share", "source": source, "pass_threshold": 0.5});
    project.write("eval.json", &json!({"id": "eval_1", "testing_criteria": [grader]}).to_string());
    let messages = [json!({"role": "user", "content": "Name the topic of {{ item.headline }}"})];
    let data_source = json!({
        "type": "completions",
        "source": {"type": "file_id", "id": "file-1"},
        "input_messages": {"type": "template", "template": messages},
    });
    let run = json!({"id": "evalrun_1", "eval_id": "eval_1", "data_source": data_source});
    project.write("runs.json", &json!({"object": "list", "data": [run]}).to_string());
    let topics = [("shares", "Markets"), ("goals", "Sports"), ("rain", "Weather")];
    let items = topics.map(|(headline, topic)| {
        json!({"id": headline, "datasource_item": {"id": headline, "headline": headline, "topic": topic}})
    });
    project.write("output_items.json", &json!({"object": "list", "data": items}).to_string());
}

#[test]
fn an_eval_of_the_api_is_graded_by_its_python_grader() {
    if !has_program(PYTHON) {
        return;
    }
    let project = Project::empty();
    write_export(&project);
    let convert = ["convert", "eval.json", "runs.json", "output_items.json", "-o", "EVAL.yaml"];
    project.evalrig(&convert).exits(0).prints("3 tests");
    let answers = [("shares", "Markets"), ("goals", "Sports maybe"), ("rain", "I do not know")];
    let responses =
        answers.map(|(pattern, response)| json!({"pattern": pattern, "response": response}));
    let target = json!({"name": "default", "provider": "mock", "responses": responses});
    project.write(".evalrig/targets.yaml", &json!({"targets": [target]}).to_string());
    project.run(&["EVAL.yaml", "--no-record", "-o", "results.jsonl"]).exits(1);
    let rows = project.rows_of("results.jsonl");
    let outcome =
        |id: &str| rows.iter().find(|row| row["evalId"] == id).expect("a row")["outcome"].clone();
    assert_eq!(["shares", "goals", "rain"].map(outcome), ["passed", "passed", "failed"]);
}

#[test]
fn files_of_other_formats_are_converted_one_by_one() {
    let project = Project::empty();
    project.write("a.jsonl", "{\"input\": \"a\", \"target\": \"b\"}\n");
    let ran = project.evalrig(&["convert", "a.jsonl", "a.jsonl", "-o", "EVAL.yaml"]);
    ran.exits(2).says("convert `a.jsonl` separately");
    let ran = project.evalrig(&["convert", "a.jsonl", "none.jsonl", "-o", "EVAL.yaml"]);
    ran.exits(2).says("`none.jsonl` is not a file");
}
