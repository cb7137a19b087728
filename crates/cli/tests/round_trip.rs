//! evals.json → `convert` → `transpile`: every entry of the corpus comes back as it was, in every
//! field that the format names (skipped without a corpus).
#![allow(clippy::print_stderr, reason = "a skipped check must say so")]

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use serde_json::Value;
use xtask::corpus::Corpus;

fn evalrig(arguments: &[&str]) -> Option<()> {
    let output = Command::new(env!("CARGO_BIN_EXE_evalrig")).args(arguments).output().ok()?;
    output.status.success().then_some(())
}

/// The entries of an evals.json in any dialect.
fn entries(root: &Value) -> Option<Vec<Value>> {
    let keys = ["evals", "cases", "tests", "test_cases", "queries"];
    let list = root.as_array().or_else(|| keys.iter().find_map(|key| root.get(key)?.as_array()));
    list.cloned()
}

fn prompt(entry: &Value) -> Option<&str> {
    ["prompt", "query", "input", "task"].iter().find_map(|key| entry.get(key)?.as_str())
}

fn expected(entry: &Value) -> Option<String> {
    match entry.get("expected_output")? {
        Value::Null => None,
        Value::String(text) => (!text.is_empty()).then(|| text.clone()),
        other => Some(other.to_string()),
    }
}

/// Texts in order, each once.
fn assertions(entry: &Value) -> Vec<String> {
    let keys = ["assertions", "expectations", "expected_behavior"];
    let names = ["text", "description", "criteria", "assertion", "name", "id"];
    let lists = keys.iter().filter_map(|key| entry.get(key)?.as_array());
    let mut texts: Vec<String> = Vec::new();
    for item in lists.flatten() {
        let text = item.as_str().or_else(|| names.iter().find_map(|name| item.get(name)?.as_str()));
        let text = text.unwrap_or_default().to_owned();
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    texts
}

/// Paths, each once; `None` if the entry contains the file itself.
fn files(entry: &Value) -> Option<Vec<String>> {
    let mut paths: Vec<String> = Vec::new();
    for item in entry.get("files").and_then(Value::as_array).into_iter().flatten() {
        let path = item.as_str().or_else(|| item.get("path")?.as_str())?.to_owned();
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    Some(paths)
}

fn difference(source: &Value, made: &Value) -> Option<String> {
    let number = source.get("id").and_then(Value::as_u64);
    let same = [
        ("id", number.is_none() || number == made.get("id").and_then(Value::as_u64)),
        ("prompt", files(source).is_none() || prompt(source) == prompt(made)),
        ("expected_output", expected(source) == expected(made)),
        ("files", files(source).is_none_or(|paths| Some(paths) == files(made))),
        ("should_trigger", source.get("should_trigger") == made.get("should_trigger")),
        ("assertions", assertions(source) == assertions(made)),
    ];
    let wrong = same.iter().find(|(_, is_same)| !is_same)?;
    Some(format!("{}: {source} became {made}", wrong.0))
}

#[test]
fn every_evals_json_of_the_corpus_comes_back() {
    let Some(corpus) = Corpus::find() else {
        eprintln!("{}", Corpus::ABSENT);
        return;
    };
    let (mut compared, mut skipped, mut faults) = (0, 0, BTreeSet::new());
    for file in corpus.suites().filter(|file| file.kind == "evalsjson") {
        let scratch = tempfile::tempdir().expect("a directory for one file");
        let text = fs::read_to_string(&file.path).expect("the corpus can be read");
        // A copy without companions: paths of files that are not there stay as they are.
        let copy = scratch.path().join("evals.json");
        let suite = scratch.path().join("EVAL.yaml");
        let out = scratch.path().join("out");
        fs::write(&copy, &text).expect("a file in a new directory");
        let [copy, suite, out] = [&copy, &suite, &out].map(|path| path.to_string_lossy());
        let made = evalrig(&["convert", &copy, "-o", &suite])
            .and_then(|()| evalrig(&["transpile", &suite, "--format", "evals", "--out", &out]));
        let written = fs::read_dir(scratch.path().join("out")).into_iter().flatten().flatten();
        let made = made.and(written.map(|entry| entry.path()).find(|path| {
            path.extension().is_some_and(|ending| ending == "json")
                && !path
                    .file_name()
                    .is_some_and(|name| name.to_string_lossy().starts_with(".evalrig"))
        }));
        let root: Option<Value> = serde_json::from_str(&text).ok();
        let (Some(made), Some(source)) = (made, root.as_ref().and_then(entries)) else {
            skipped += 1;
            continue;
        };
        let made: Value = serde_json::from_str(&fs::read_to_string(made).expect("just written"))
            .expect("what is written is JSON");
        let made = entries(&made).unwrap_or_default();
        assert_eq!(source.len(), made.len(), "{}", file.path);
        for (source, made) in source.iter().zip(&made) {
            compared += 1;
            faults.extend(difference(source, made).map(|text| format!("{}: {text}", file.path)));
        }
    }
    eprintln!("{compared} entries came back, {skipped} files are not converted");
    assert!(faults.is_empty(), "{faults:#?}");
    assert!(compared > 200, "only {compared}");
}
