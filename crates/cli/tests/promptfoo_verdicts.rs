//! The same configuration has the same verdicts in evalrig as in promptfoo, whose verdicts were recorded
//! by `scripts/test-promptfoo`. Both answer with the prompt itself. Skipped without Node.js or Python,
//! which the code in it needs.
#![cfg(unix)]
#![allow(clippy::print_stdout)]

mod support;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use support::Project;

fn has_program(name: &str) -> bool {
    let mut command = Command::new(name);
    command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

#[test]
fn converted_assertions_judge_as_promptfoo_does() {
    if !has_program("node") || !has_program("python3") {
        println!("skipped: node or python3 is missing");
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
    // Some tests fail, as they do in promptfoo.
    let ran = project.run(&["EVAL.yaml", "--no-record", "-o", "results.jsonl", "-q"]);
    assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
    let recorded: Value = serde_json::from_str(&read("verdicts.json")).expect("JSON");
    let recorded = recorded["passed"].as_object().expect("verdicts");
    assert!(recorded.len() >= 120, "{} cases", recorded.len());
    let rows = project.rows_of("results.jsonl");
    assert_eq!(rows.len(), recorded.len());
    let mut differ = String::new();
    for row in rows {
        let id = row["evalId"].as_str().expect("an id");
        let expected = if recorded[id] == true { "passed" } else { "failed" };
        if row["outcome"] != expected {
            differ +=
                &format!("{id}: promptfoo says {expected}, evalrig {}\n{row}\n", row["outcome"]);
        }
    }
    assert!(differ.is_empty(), "{differ}");
}
