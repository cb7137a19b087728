//! What the project shows of itself is true: the examples are clean, and the outputs printed in the
//! documentation are those of the binary.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn evalrig(directory: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_evalrig"))
        .args(arguments)
        .current_dir(directory)
        .env("NO_COLOR", "1")
        .output()
        .expect("the binary starts")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("the report is UTF-8")
}

/// The contents of the fenced blocks of a language, in order.
fn blocks(markdown: &str, language: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut lines = markdown.lines();
    while let Some(line) = lines.next() {
        let Some(found) = line.strip_prefix("```") else {
            continue;
        };
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        if found == language {
            blocks.push(block.join("\n") + "\n");
        }
    }
    blocks
}

fn read(path: &str) -> String {
    fs::read_to_string(project().join(path)).expect("the file is part of the project")
}

fn directories(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(path).expect("the directory is part of the project");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let is_hidden = |path: &Path| {
        path.file_name()
            .is_some_and(|n| n.as_encoded_bytes()[0] == b'.')
    };
    paths
        .filter(|path| path.is_dir() && !is_hidden(path))
        .collect()
}

/// With the root given, because a source archive has no `.git`.
fn clean(paths: &[&str]) {
    let options = ["--strict", "-v", "--format", "json", "--root", "."];
    let arguments: Vec<&str> = ["validate"]
        .iter()
        .chain(paths)
        .chain(&options)
        .copied()
        .collect();
    let output = evalrig(&project(), &arguments);
    let report = stdout(&output);
    assert!(
        report.contains("\"diagnostics\": []"),
        "{paths:?}: {report}"
    );
    assert_eq!(output.status.code(), Some(0), "{paths:?}");
}

#[test]
fn the_examples_are_clean_together() {
    clean(&["examples"]);
}

#[test]
fn the_examples_are_clean_without_a_repository_round_them() {
    let output = evalrig(&project(), &["validate", "examples", "-v"]);
    let report = stdout(&output);
    assert!(report.starts_with("all good: "), "{report}");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn files_that_are_only_read_when_named_are_clean_too() {
    clean(&["examples/dataset/quiz.jsonl"]);
    clean(&["examples/dataset/quiz.yaml"]);
    clean(&["examples/.evalrig/targets.yaml"]);
    clean(&["examples/targets/.evalrig/targets.yaml"]);
}

#[test]
fn every_example_says_what_it_shows_and_is_in_the_list() {
    let list = read("examples/README.md");
    let examples = directories(&project().join("examples"));
    assert!(examples.len() >= 9);
    for example in examples {
        let name = example.file_name().expect("a name").to_string_lossy();
        let page = [example.join("EVAL.yaml"), example.join("README.md")];
        let page = page.iter().find_map(|path| fs::read_to_string(path).ok());
        let page = page.unwrap_or_else(|| panic!("{name} has no EVAL.yaml and no README.md"));
        assert!(
            page.starts_with("# "),
            "{name} does not open with a comment"
        );
        assert!(
            page.contains("Shows: "),
            "{name} does not say what it shows"
        );
        assert!(
            list.contains(&format!("| [{name}](")),
            "{name} is not listed"
        );
    }
}

#[test]
fn the_readme_shows_what_the_binary_says() {
    let readme = read("README.md");
    let suite = &blocks(&readme, "yaml")[0];
    let session = &blocks(&readme, "console")[0];
    let (head, report) = session.split_once("\n? 1\n").expect("an exit code");
    let arguments: Vec<&str> = head
        .strip_prefix("$ evalrig ")
        .expect("a command")
        .split(' ')
        .collect();
    let directory = tempfile::tempdir().expect("a directory");
    fs::write(directory.path().join("EVAL.yaml"), suite).expect("a suite");
    let output = evalrig(directory.path(), &arguments);
    assert_eq!(stdout(&output).trim_end(), report.trim_end());
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn the_commands_in_the_readme_exist() {
    let readme = read("README.md");
    let help = stdout(&evalrig(&project(), &["--help"]));
    for line in readme
        .lines()
        .filter(|line| line.starts_with("| `evalrig "))
    {
        let command = line["| `evalrig ".len()..]
            .split([' ', '`'])
            .next()
            .expect("a word");
        assert!(help.contains(&format!("\n  {command} ")), "{command}");
    }
    for link in readme.split("](").skip(1) {
        let path = link.split(')').next().expect("a link");
        assert!(project().join(path).exists(), "README.md links to {path}");
    }
}

#[test]
fn the_fix_in_the_docs_gives_what_the_docs_show() {
    let page = read("docs/diagnostics.md");
    let [before, after] = &blocks(&page, "yaml")[..] else {
        panic!("one block before and one after");
    };
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("EVAL.yaml");
    fs::write(&file, before).expect("a suite");
    let output = evalrig(directory.path(), &["validate", "--fix"]);
    assert_eq!(output.status.code(), Some(0), "{}", stdout(&output));
    assert_eq!(&fs::read_to_string(&file).expect("the suite"), after);
}

#[test]
fn the_targets_and_suites_in_the_docs_about_agents_are_clean() {
    let blocks = blocks(&read("docs/agents.md"), "yaml");
    assert!(blocks.len() >= 5);
    for block in blocks {
        let directory = tempfile::tempdir().expect("a directory");
        let file = match block.starts_with("targets:") {
            true => ".evalrig/targets.yaml",
            false => "EVAL.yaml",
        };
        fs::create_dir(directory.path().join(".evalrig")).expect("a directory");
        fs::write(directory.path().join(file), &block).expect("a file");
        let arguments = ["validate", file, "--strict", "-v", "--root", "."];
        let output = evalrig(directory.path(), &arguments);
        assert_eq!(output.status.code(), Some(0), "{block}{}", stdout(&output));
    }
}

#[test]
fn the_suites_for_real_agents_are_clean() {
    clean(&["scripts/e2e"]);
    clean(&["scripts/e2e/.evalrig/targets.yaml"]);
}

#[test]
fn paths_are_relative_to_where_one_stands() {
    let output = evalrig(
        &project().join("examples"),
        &["list", "hello", "--format", "json"],
    );
    assert!(stdout(&output).contains("\"file\": \"hello/EVAL.yaml\""));
}
