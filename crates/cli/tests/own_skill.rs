//! `skills/evalrig`: the skill that teaches coding agents, and the suite that tests it.
#![cfg(unix)]

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use support::{Project, Ran};

const SKILL: &str = include_str!("../../../skills/evalrig/SKILL.md");

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../skills/evalrig")
}

fn copy(from: &Path, project: &Project, to: &str) {
    for entry in fs::read_dir(from).expect("a directory") {
        let entry = entry.expect("an entry");
        let name = entry.file_name().into_string().expect("UTF-8");
        let place = format!("{to}/{name}");
        if entry.path().is_dir() {
            copy(&entry.path(), project, &place);
        } else {
            project.write(&place, &fs::read_to_string(entry.path()).expect("a text"));
        }
    }
}

/// The skill in a repository of its own, without results of other runs.
fn project() -> Project {
    let project = Project::empty();
    copy(&folder(), &project, "skills/evalrig");
    project
}

fn evalrig(project: &Project, arguments: &[&str]) -> Ran {
    let mut command = project.command(arguments);
    let binary = Path::new(env!("CARGO_BIN_EXE_evalrig")).parent().expect("a directory");
    let inherited = std::env::var_os("PATH").unwrap_or_default();
    let path = std::iter::once(binary.to_owned()).chain(std::env::split_paths(&inherited));
    command.env("PATH", std::env::join_paths(path).expect("a search path"));
    Ran::of(command)
}

#[test]
fn the_suites_of_the_skill_are_clean() {
    evalrig(&project(), &["validate", "skills/evalrig", "--strict"]).exits(0);
}

/// The example of the skill is a suite that passes on the bot, and fails on a broken one.
#[test]
fn a_script_that_follows_the_skill_passes_and_one_without_it_fails() {
    let project = project();
    let suite = "skills/evalrig/evals/EVAL.yaml";
    let arms = ["--arm", "with", "--arm", "without", "--no-record"];
    let arguments: Vec<&str> = ["run", suite].iter().chain(&arms).copied().collect();
    let ran = evalrig(&project, &arguments);
    ran.exits(0).prints("without  0 of 2 passed").prints("with     2 of 2 passed");
}

/// What stands between backticks or in a list behind `evalrig`.
#[test]
fn every_command_and_option_of_the_skill_exists() {
    let project = Project::empty();
    let mut tried = BTreeSet::new();
    for call in SKILL.split("`evalrig ").skip(1) {
        let call = call.split('`').next().unwrap_or_default();
        let mut words = call.split_whitespace();
        let command = words.next().expect("a command");
        let help = project.evalrig(&[command, "--help"]);
        help.exits(0);
        for option in words.filter(|word| word.starts_with("--")) {
            assert!(help.out.contains(option), "`evalrig {command}` has no {option}");
        }
        tried.insert(command);
    }
    for command in ["list", "validate", "explain", "run", "compare", "init", "mcp"] {
        assert!(tried.contains(command), "the skill does not mention `evalrig {command}`");
    }
}

#[test]
fn every_assertion_type_of_the_skill_exists() {
    let project = Project::empty();
    let table = SKILL.split("## Choose the check").nth(1).expect("a section");
    let table = table.split("\n\n").nth(1).expect("a table");
    let cells = table.lines().skip(2).filter_map(|line| line.split('|').nth(2));
    let words = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2));
    let options = ["schema", "expected_output", "workspace", "overlay", "negate: true"];
    let mut count = 0;
    for name in words.filter(|word| !options.contains(word)) {
        project.evalrig(&["explain", name]).exits(0).prints("Assertion type.");
        count += 1;
    }
    assert!(count > 12, "{count}");
}

/// What clients read of a skill before they load it has limits.
#[test]
fn the_front_matter_is_what_agents_expect() {
    let matter = SKILL.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n"));
    let (matter, body) = matter.expect("front matter");
    let value = |key: &str| {
        let line = matter.lines().find_map(|line| line.strip_prefix(key)).expect("a key");
        line.trim().to_owned()
    };
    assert_eq!(value("name:"), "evalrig");
    assert!(value("description:").chars().count() <= 1024);
    assert!(value("compatibility:").chars().count() <= 500);
    assert!(body.lines().count() < 150, "{}", body.lines().count());
}
