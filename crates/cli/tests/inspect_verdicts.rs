//! The same answers have the same verdicts in evalrig as in Inspect, whose verdicts were recorded by
//! `scripts/test-inspect`: a short target is looked for as the scorer `includes` does, and choices are decided as by
//! the scorer `choice`.

mod support;

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use support::Project;

fn read(name: &str) -> Value {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/inspect");
    let text = fs::read_to_string(directory.join(name)).expect("a file");
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn converted_samples_judge_as_inspect_does() {
    let (cases, recorded) = (read("cases.json"), read("verdicts.json"));
    let (cases, recorded) = (cases.as_array().expect("cases"), &recorded["passed"]);
    assert!(cases.len() >= 30, "{} cases", cases.len());
    let project = Project::empty();
    let (mut samples, mut responses) = (String::new(), Vec::new());
    for case in cases {
        let mut sample = json!({"id": case["id"], "input": format!("<{}>", case["id"].as_str().expect("an id"))});
        sample["target"] = case["target"].clone();
        if !case["choices"].is_null() {
            sample["choices"] = case["choices"].clone();
        }
        samples += &format!("{sample}\n");
        let pattern = sample["input"].clone();
        responses.push(json!({"pattern": pattern, "response": case["answer"]}));
    }
    project.write("samples.jsonl", &samples);
    let target = json!({"name": "default", "provider": "mock", "responses": responses});
    project.write(".evalrig/targets.yaml", &json!({"targets": [target]}).to_string());
    project.evalrig(&["convert", "samples.jsonl", "--from", "inspect", "-o", "EVAL.yaml"]).exits(0);
    project.has_recorded_verdicts(recorded, "Inspect");
}
