//! What the project shows of itself is true: the examples are clean, and the outputs printed in the
//! documentation are those of the binary.
#![allow(clippy::print_stderr, reason = "tests say what they leave out")]

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
    for example in ["agent", "measurements", "outcomes", "targets"] {
        clean(&[&format!("examples/{example}/.evalrig/targets.yaml")]);
    }
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

/// One command of a `console` block, with what it exits with and prints.
struct Step {
    arguments: Vec<String>,
    code: i32,
    output: String,
}

fn steps(session: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for line in session.lines() {
        if let Some(command) = line.strip_prefix("$ evalrig ") {
            steps.push(Step {
                arguments: command.split(' ').map(str::to_owned).collect(),
                code: 0,
                output: String::new(),
            });
            continue;
        }
        let step = steps.last_mut().expect("a command comes first");
        match line.strip_prefix("? ") {
            Some(code) => step.code = code.parse().expect("an exit code"),
            None => step.output += &format!("{line}\n"),
        }
    }
    steps
}

/// `[..]` stands for anything within a line.
fn line_fits(shown: &str, line: &str) -> bool {
    let Some((start, rest)) = shown.split_once("[..]") else {
        return shown == line;
    };
    let Some(line) = line.strip_prefix(start) else {
        return false;
    };
    let ends = line.char_indices().map(|(at, _)| at).chain([line.len()]);
    ends.into_iter().any(|at| line_fits(rest, &line[at..]))
}

/// `...` on a line of its own stands for any lines.
fn fits(shown: &[&str], lines: &[&str]) -> bool {
    match shown.split_first() {
        None => lines.is_empty(),
        Some((&"...", rest)) => (0..=lines.len()).any(|at| fits(rest, &lines[at..])),
        Some((first, rest)) => lines
            .split_first()
            .is_some_and(|(line, lines)| line_fits(first, line) && fits(rest, lines)),
    }
}

fn session_is_true(directory: &Path, session: &str) {
    for step in steps(session) {
        let arguments: Vec<&str> = step.arguments.iter().map(String::as_str).collect();
        let output = evalrig(directory, &arguments);
        let printed = stdout(&output);
        let shown: Vec<&str> = step.output.trim_end().lines().collect();
        let lines: Vec<&str> = printed.trim_end().lines().map(str::trim_end).collect();
        assert!(fits(&shown, &lines), "{arguments:?} prints:\n{printed}");
        assert_eq!(output.status.code(), Some(step.code), "{arguments:?}");
    }
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
    fs::write(path, text).expect("a file");
}

#[test]
fn the_readme_shows_what_the_binary_says() {
    let readme = read("README.md");
    let sessions = blocks(&readme, "console");
    let [run, validate] = &sessions[..] else {
        panic!("one session that runs and one that validates");
    };
    let directory = tempfile::tempdir().expect("a directory");
    fs::create_dir(directory.path().join(".git")).expect("the mark of a repository");
    session_is_true(directory.path(), run);

    let directory = tempfile::tempdir().expect("a directory");
    let suite = &blocks(&readme, "yaml")[0];
    write(&directory.path().join("EVAL.yaml"), suite);
    session_is_true(directory.path(), validate);
}

fn has_python() -> bool {
    let started = Command::new("python3").arg("--version").output();
    started.is_ok_and(|output| output.status.success())
}

#[test]
fn the_suite_in_the_docs_of_grading_runs() {
    if !has_python() {
        eprintln!("not run: there is no python3");
        return;
    }
    let page = read("docs/explanation/grading.md");
    let directory = tempfile::tempdir().expect("a directory");
    let [suite, targets] = &blocks(&page, "yaml")[..] else {
        panic!("a suite and its targets");
    };
    write(&directory.path().join("EVAL.yaml"), suite);
    write(&directory.path().join(".evalrig/targets.yaml"), targets);
    let script = &blocks(&page, "python")[0];
    write(&directory.path().join("judges/words.py"), script);
    session_is_true(directory.path(), &blocks(&page, "console")[0]);
}

/// What a run of each example comes to: its exit code, and how many cases passed, were borderline,
/// failed, could not be measured and were skipped.
const RUNS: &[(&str, i32, [usize; 5])] = &[
    ("agent", 0, [3, 0, 0, 0, 0]),
    ("dataset", 0, [3, 0, 0, 0, 0]),
    ("gates", 0, [7, 0, 0, 0, 3]),
    ("hello", 0, [2, 0, 0, 0, 0]),
    ("imports", 0, [6, 0, 0, 0, 0]),
    ("input-files", 0, [3, 0, 0, 0, 0]),
    ("judges", 0, [2, 0, 0, 0, 0]),
    ("measurements", 0, [2, 0, 0, 0, 0]),
    ("messages-and-tools", 0, [2, 0, 0, 0, 0]),
    ("outcomes", 1, [1, 1, 1, 2, 1]),
    ("skill-evals", 0, [2, 0, 0, 0, 0]),
    ("skill-triggers", 0, [4, 0, 0, 0, 0]),
    ("targets", 0, [2, 0, 0, 0, 0]),
    ("transpile", 0, [3, 0, 0, 0, 0]),
    ("variables", 0, [3, 0, 0, 0, 0]),
];

/// Programs that an example needs besides `sh`.
fn can_run(example: &str) -> bool {
    match example {
        "judges" => has_python(),
        _ => true,
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a directory");
    for entry in fs::read_dir(from).expect("the directory is part of the project") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name");
        match path.is_dir() {
            // Left behind by those who tried the examples.
            true if name == "results" => {}
            true => copy(&path, &to.join(name)),
            false => drop(fs::copy(&path, to.join(name)).expect("a copy")),
        }
    }
}

#[test]
fn every_example_runs_and_comes_to_what_is_expected() {
    let directory = tempfile::tempdir().expect("a directory");
    let examples = directory.path().join("examples");
    copy(&project().join("examples"), &examples);
    let mut names: Vec<String> = directories(&examples)
        .iter()
        .map(|path| path.file_name().expect("a name").to_string_lossy().into())
        .collect();
    names.sort();
    let known: Vec<&str> = RUNS.iter().map(|(name, ..)| *name).collect();
    assert_eq!(names, known, "every example is in the list");
    let list = read("examples/README.md");
    for (name, code, counts) in RUNS {
        assert!(
            list.lines()
                .any(|l| l.starts_with(&format!("| [{name}]("))
                    && l.ends_with(&format!("| {code} |"))),
            "examples/README.md says another exit code for {name}"
        );
        if !can_run(name) {
            eprintln!("{name} is not run: there is no python3");
            continue;
        }
        let output = evalrig(
            &examples,
            &["run", name, "--root", ".", "--report", "jsonl"],
        );
        let rows = stdout(&output);
        let outcome = |row: &str| {
            let row: serde_json::Value = serde_json::from_str(row).expect("a row is JSON");
            row["outcome"].as_str().expect("an outcome").to_owned()
        };
        let outcomes: Vec<String> = rows.lines().map(outcome).collect();
        let found = ["passed", "borderline", "failed", "errored", "skipped"]
            .map(|wanted| outcomes.iter().filter(|found| *found == wanted).count());
        assert_eq!(found, *counts, "{name}: {rows}");
        assert_eq!(output.status.code(), Some(*code), "{name}: {rows}");
    }
}

/// As the README says it, and with nothing round it: no repository, no `--root`.
#[test]
fn the_example_of_the_readme_runs_anywhere() {
    assert!(read("README.md").contains("cargo run -q -- run examples/measurements "));
    let directory = tempfile::tempdir().expect("a directory");
    let examples = directory.path().join("examples");
    copy(&project().join("examples"), &examples);
    let output = evalrig(directory.path(), &["run", "examples/measurements"]);
    assert!(stdout(&output).contains("all 2 tests passed"));
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn links_in_the_docs_lead_somewhere() {
    for page in [
        "docs/guides/run.md",
        "docs/explanation/grading.md",
        "docs/guides/write-suites.md",
        "examples/README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
    ] {
        let file = project().join(page);
        let text = read(page);
        for link in text.split("](").skip(1) {
            let link = link.split(')').next().expect("a link");
            let (path, place) = link.split_once('#').unwrap_or((link, ""));
            if path.starts_with("http") {
                continue;
            }
            let target = match path {
                "" => file.clone(),
                path => file.parent().expect("a directory").join(path),
            };
            assert!(target.exists(), "{page} links to {path}");
            if !place.is_empty() {
                let heading = format!("\n## {}", place.replace('-', " "));
                let text = fs::read_to_string(&target).expect("a page").to_lowercase();
                assert!(text.contains(&heading), "{page} links to {link}");
            }
        }
    }
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
    let page = read("docs/guides/diagnostics.md");
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
    let blocks = blocks(&read("docs/guides/agents.md"), "yaml");
    assert!(blocks.len() >= 5);
    for block in blocks {
        let directory = tempfile::tempdir().expect("a directory");
        let file = if block.starts_with("targets:") {
            ".evalrig/targets.yaml"
        } else {
            "EVAL.yaml"
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
