//! `run` writes what `schema results` describes.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Every outcome, every kind of grade.
const SUITE: &str = r#"name: all
tests:
  - {id: passes, criteria: c, input: hello, assert: [{type: contains, value: Hi}]}
  - id: composite
    criteria: c
    input: hello
    assert:
      - type: composite
        required: 0.9
        aggregator: {type: safety_gate, required: [safe]}
        assert:
          - {type: contains, name: safe, value: nowhere}
          - {type: regex, name: rest, value: "H.", weight: 2}
  - {id: judged, criteria: Greets, input: hello}
  - {id: scripted, criteria: c, input: hello, assert: [{type: code-judge, script: "echo '{\"score\": 0.7, \"details\": {\"n\": 1}}'"}]}
  - {id: unmeasured, criteria: c, input: hello, assert: [{type: cost, budget: 0.1}]}
  - {id: unanswered, criteria: c, input: silence, assert: [{type: contains, value: x}]}
  - {id: skipped, criteria: c, input: hello, skip: not today}
  - {id: counted, criteria: c, input: count, conversation_id: talk, assert: [{type: token-usage, max_total: 100}]}
"#;

const TARGETS: &str = r##"judge_target: judge
targets:
  - name: default
    provider: mock
    responses:
      - {pattern: hello, response: Hi!, tool_calls: [{tool: Read, args: {file_path: a}, output: b}]}
      - {pattern: count, response: "1", tokens: {input: 5, output: 2, cached: 1}, cost_usd: 0.01}
  - {name: judge, provider: mock, response: '{"checks": [{"id": "criteria", "reasoning": "it does", "satisfied": true}]}'}
"##;

fn evalrig(directory: &Path, arguments: &[&str]) -> std::process::Output {
    Command::new(env!("CARGO_BIN_EXE_evalrig"))
        .args(arguments)
        .current_dir(directory)
        .output()
        .expect("the binary starts")
}

fn json(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).expect("JSON")
}

#[test]
fn rows_and_summary_follow_the_schema() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::create_dir(path.join(".evalrig")).unwrap();
    fs::write(path.join("EVAL.yaml"), SUITE).unwrap();
    fs::write(path.join(".evalrig/targets.yaml"), TARGETS).unwrap();
    let ran = evalrig(path, &["run", "--messages", "--output", "out.jsonl", "--trials", "2"]);
    assert_eq!(ran.status.code(), Some(1), "{ran:?}");

    for draft in ["2020-12", "07"] {
        let schema = json(&evalrig(path, &["schema", "results", "--draft", draft]).stdout);
        let of_rows = jsonschema::validator_for(&schema).expect("a legal schema");
        let rows = fs::read_to_string(path.join("out.jsonl")).unwrap();
        // The first and the last line are not rows.
        assert_eq!(rows.lines().count(), 18);
        for line in rows.lines() {
            let row: Value = serde_json::from_str(line).expect("a row");
            let faults: Vec<String> = of_rows.iter_errors(&row).map(|e| e.to_string()).collect();
            assert_eq!(faults, [""; 0], "{line}");
        }
        let definitions = if draft == "07" { "definitions" } else { "$defs" };
        let mut of_summary = schema[definitions]["summary"].clone();
        of_summary[definitions] = schema[definitions].clone();
        let of_summary = jsonschema::validator_for(&of_summary).expect("a legal schema");
        let summary = json(&fs::read(path.join("out.summary.json")).unwrap());
        let faults: Vec<String> = of_summary.iter_errors(&summary).map(|e| e.to_string()).collect();
        assert_eq!(faults, [""; 0]);
    }
}
