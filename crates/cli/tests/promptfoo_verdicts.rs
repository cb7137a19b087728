//! The same configurations have the same results in evalrig as in promptfoo, whose results were recorded
//! by `scripts/test-promptfoo`. Both answer with the prompt itself. Skipped without Node.js or Python,
//! which the code in it needs.
#![cfg(unix)]

#[path = "foreign/fixture.rs"]
mod fixture;
mod support;

use std::fs;
use std::path::Path;

use fixture::{Fixture, fixtures};
use serde_json::{Value, json};
use support::Project;
use support::other_programs::{NODE, PYTHON, has_program};

#[test]
fn converted_assertions_judge_as_promptfoo_does() {
    if !has_program(NODE) || !has_program(PYTHON) {
        return;
    }
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/promptfoo");
    let read = |name: &str| fs::read_to_string(directory.join(name)).expect("a file");
    let project = Project::empty();
    for name in [
        "promptfooconfig.yaml",
        "checks/long.cjs",
        "checks/several.mjs",
        "checks/limit.mjs",
        "checks/long.py",
    ] {
        project.write(name, &read(name));
    }
    let converted = project.evalrig(&["convert", "promptfooconfig.yaml", "-o", "EVAL.yaml", "-q"]);
    assert_eq!(converted.code, Some(0), "{}{}", converted.out, converted.err);
    let recorded: Value = serde_json::from_str(&read("verdicts.json")).expect("JSON");
    let recorded = &recorded["passed"];
    assert!(recorded.as_object().expect("verdicts").len() >= 120);
    project.has_recorded_verdicts(recorded, "promptfoo");
}

/// Targets with the names of the suite that answer with the prompt, and a judge that is content.
fn echoes(project: &Project) -> String {
    let written =
        project.has(".evalrig/targets.yaml").then(|| project.read(".evalrig/targets.yaml"));
    let written = written.unwrap_or_default();
    let names = written.lines().filter_map(|line| line.strip_prefix("  - name: "));
    let names = names.filter(|name| !matches!(*name, "default" | "same"));
    let aliases = names.map(|name| json!({"name": name, "use_target": "same"}));
    let own = [
        json!({"name": "default", "use_target": "same"}),
        json!({"name": "same", "provider": "cli", "command": ["cat"]}),
        json!({"name": "judge", "provider": "mock", "response": "{\"score\": 1, \"checks\": []}"}),
    ];
    let targets: Vec<Value> = own.into_iter().chain(aliases).collect();
    json!({"judge_target": "judge", "targets": targets}).to_string()
}

/// The outcomes of a configuration, in the order of its tests and their trials.
fn outcomes(fixture: &Fixture) -> Vec<String> {
    let project = Project::empty();
    for (name, text) in &fixture.files {
        project.write(name, text);
    }
    let main = fixture.files[0].0.as_str();
    project.evalrig(&["convert", main, "-o", "EVAL.yaml", "-q"]).exits(0);
    project.write("echoes.yaml", &echoes(&project));
    let run = [
        "EVAL.yaml",
        "--targets",
        "echoes.yaml",
        "-t",
        "same",
        "--no-record",
        "-o",
        "r.jsonl",
        "-q",
    ];
    project.run(&run);
    let listed = project.evalrig(&["list", "EVAL.yaml", "--format", "json"]);
    let listed: Value = serde_json::from_str(&listed.out).expect("JSON");
    let tests = listed["suites"][0]["tests"].as_array().expect("tests");
    let position = |row: &Value| tests.iter().position(|test| test["id"] == row["evalId"]);
    let mut rows = project.rows_of("r.jsonl");
    rows.sort_by_key(|row| (position(row), row["trial"].as_u64()));
    rows.iter().map(|row| row["outcome"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn configurations_have_as_many_results_as_in_promptfoo_with_the_same_verdicts() {
    if !has_program(NODE) || !has_program(PYTHON) {
        return;
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/promptfoo/fixtures.json");
    let recorded: Value =
        serde_json::from_str(&fs::read_to_string(path).expect("a file")).expect("JSON");
    let (mut differ, mut compared) = (String::new(), 0);
    for fixture in fixtures("promptfoo.md") {
        let title = fixture.title.rsplit_once(" (").expect("a number of tests").0;
        let expected = recorded["results"].get(title).unwrap_or_else(|| panic!("{title}"));
        // Without a list, promptfoo ended with an error.
        let Some(expected) = expected.as_array() else { continue };
        let found = outcomes(&fixture);
        let is_same = |(found, expected): (&String, &Value)| match expected.as_bool() {
            Some(true) => found == "passed",
            Some(false) => found == "failed",
            // A service would have decided.
            None => true,
        };
        compared += expected.iter().filter(|verdict| verdict.is_boolean()).count();
        if found.len() != expected.len() || !found.iter().zip(expected).all(is_same) {
            differ += &format!("{title}: promptfoo says {expected:?}, evalrig {found:?}\n");
        }
    }
    assert!(differ.is_empty(), "{differ}");
    assert!(compared >= 60, "{compared} verdicts");
}
