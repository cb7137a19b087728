//! Test hashes tie stored results to the tests they came from, so a refactoring must not change
//! them. The golden file lists the hash of every test in the examples.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use evalrig_run::disk::{Access, Durability, replace};
use serde_json::Value;

const GOLDEN: &str = "tests/test_hashes.txt";

#[test]
fn hashes_of_the_examples_do_not_change() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join(GOLDEN);
    let found = hashes_of_examples();
    if std::env::var_os("EVALRIG_BLESS_HASHES").is_some() {
        let place = camino::Utf8Path::from_path(&golden).expect("a path in UTF-8");
        replace(place, found.as_bytes(), Access::Shared, Durability::Contents)
            .expect("the golden file is writable");
    }
    let expected = std::fs::read_to_string(&golden).expect("the golden file");
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<BTreeSet<_>>();
    let (found, expected) = (lines(&found), lines(&expected));
    let gone: Vec<_> = expected.difference(&found).collect();
    let new: Vec<_> = found.difference(&expected).collect();
    assert!(
        gone.is_empty() && new.is_empty(),
        "a changed hash orphans stored results; for a new or edited example run this test again \
         with EVALRIG_BLESS_HASHES=1\nexpected {gone:#?}\nfound {new:#?}"
    );
}

/// One line per test: suite, test id, hash.
fn hashes_of_examples() -> String {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut suites = Vec::new();
    collect_suites(&examples, &mut suites);
    suites.sort();
    assert!(suites.len() > 15, "only {} suites found", suites.len());
    suites.iter().map(|suite| hashes_of_suite(&examples, suite)).collect()
}

fn hashes_of_suite(examples: &Path, suite: &Path) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_evalrig"))
        .args(["show", "--format", "json"])
        .arg(suite)
        .current_dir(examples)
        .output()
        .expect("evalrig starts");
    let name = suite.strip_prefix(examples).expect("below the examples");
    assert!(
        output.status.success(),
        "{}: {}",
        name.display(),
        String::from_utf8_lossy(&output.stderr)
    );
    let shown: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let tests = shown["tests"].as_array().expect("a list of tests");
    let mut lines = String::new();
    for test in tests {
        lines += &format!("{} {} {}\n", name.display(), test["id"], test["testHash"]);
    }
    lines
}

fn collect_suites(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect_suites(&path, found);
        } else if is_suite(&path) {
            found.push(path);
        }
    }
}

fn is_suite(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| {
        name == "EVAL.yaml"
            || [".eval.yaml", ".jsonl", "evals.json"].iter().any(|ending| name.ends_with(ending))
    })
}
