//! Reads a store that evalrig wrote with Python and PyYAML, using the unchanged snippets of seed
//! `002`. Skipped with a message without Python or PyYAML, unless `PYTHON` names an interpreter:
//! then both must work.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// The `python` blocks of the seed's usage section, in their order and unchanged.
const USAGE: &str = include_str!("runlog_usage.py");
const STRICT: &str = include_str!("runlog_strict.py");

/// Texts that are difficult to write as YAML.
const NASTY: &[&str] = &[
    "yes",
    "212",
    "2025-12-25 11:56:26",
    "a\nb\n",
    "\u{85}\u{2028}\u{2029}\u{feff}",
    "'single' \"double\" \\",
    "- a: b #c",
    " blank ",
    "0o17",
    "1e3",
    "=",
    "<<",
    "{}",
    "\t",
    "\u{7f}\u{1}",
    "写一个爬虫 😀",
    "|",
    "%a",
    "!!str",
];

/// The interpreter that `PYTHON` names, else `python3`.
fn python() -> String {
    std::env::var("PYTHON").unwrap_or_else(|_| "python3".to_owned())
}

fn has_yaml() -> bool {
    let imported = Command::new(python()).args(["-c", "import yaml"]).output();
    let is_there = imported.is_ok_and(|output| output.status.success());
    assert!(
        is_there || std::env::var_os("PYTHON").is_none(),
        "the interpreter that PYTHON names has no PyYAML"
    );
    if !is_there {
        #[expect(clippy::disallowed_methods, reason = "the test itself says that it is skipped")]
        let _ = writeln!(std::io::stderr(), "skipped: PyYAML is not there");
    }
    is_there
}

fn run_python(here: &Path, script: &str) -> String {
    let output = Command::new(python())
        .args(["-c", script])
        .current_dir(here)
        .env("PYTHONUTF8", "1")
        .output()
        .expect("Python starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn record(here: &Path, messages: &serde_json::Value) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_evalrig"))
        .args(["log", "record", "-q", "--from", "messages"])
        .current_dir(here)
        .stdin(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut pipe = child.stdin.take().expect("a pipe");
    pipe.write_all(messages.to_string().as_bytes()).expect("room");
    drop(pipe);
    assert!(child.wait().expect("an end").success());
}

fn project() -> tempfile::TempDir {
    let here = tempfile::tempdir().expect("a directory");
    fs::create_dir(here.path().join(".git")).expect("a directory");
    here
}

#[test]
fn the_snippets_of_the_seed_run_unchanged() {
    if !has_yaml() {
        return;
    }
    let here = project();
    for output in 35..37 {
        let session = serde_json::json!({
            "messages": [
                {"role": "system", "content": "You are kind: \"always\"\n"},
                {"role": "user", "content": "Say hello to Alice"},
                {"role": "assistant", "content": null, "tool_calls": [
                    {"id": "call_1", "type": "function", "function": {"name": "greet", "arguments": "{\"name\": \"Alice\"}"}}]},
                {"role": "tool", "tool_call_id": "call_1", "content": "Hello, Alice!"},
                {"role": "assistant", "content": format!("Hello, Alice! ({output})")},
            ],
            "model": "gemini-2.5-flash",
            "tokens": {"input": 120, "output": output},
            "cost_usd": 0.00151,
            "duration_ms": 3595,
        });
        record(here.path(), &session);
    }
    let check = "\nassert [m['role'] for m in messages] == ['system', 'user', 'assistant', 'tool', 'assistant']\nassert data['runs'] == 2\nassert run_data['system_prompt'] == messages[0]['content']\n";
    let told = run_python(here.path(), &format!("{USAGE}{check}"));
    assert!(told.contains("Model: gemini-2.5-flash\n"), "{told}");
    assert!(told.contains("Tokens: 155, Cost: $0.0015\n"), "{told}");
    assert!(told.contains("Run 2: Hello, Alice! (36)\nRun 1: Hello, Alice! (35)\n"), "{told}");
    assert!(told.ends_with("Tokens: 156, Cost: $0.0015, Duration: 3595ms\n"), "{told}");
}

#[test]
fn every_text_is_the_same_text_in_python() {
    if !has_yaml() {
        return;
    }
    let here = project();
    for text in NASTY {
        let messages = serde_json::json!([
            {"role": "system", "content": text},
            {"role": "user", "content": text},
            {"role": "assistant", "content": text, "tool_calls": [{"tool": text, "args": {"a": text}}]},
        ]);
        record(here.path(), &messages);
        record(here.path(), &messages);
    }
    let told = run_python(here.path(), STRICT);
    let mut outputs: Vec<String> = serde_json::from_str(&told).expect("JSON");
    let mut expected: Vec<String> =
        NASTY.iter().flat_map(|&one| [one.to_owned(), one.to_owned()]).collect();
    outputs.sort();
    expected.sort();
    assert_eq!(outputs, expected);
}
