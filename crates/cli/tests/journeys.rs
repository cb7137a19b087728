//! The journeys of newcomers in `scripts/journeys`: each counts the commands that lead to a graded result.
#![cfg(unix)]

use std::path::Path;
use std::process::Command;

#[track_caller]
fn journey(name: &str, commands: &str) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/journeys").join(name);
    let binary = Path::new(env!("CARGO_BIN_EXE_evalrig")).parent().expect("a directory");
    let inherited = std::env::var_os("PATH").unwrap_or_default();
    let path = std::iter::once(binary.to_owned()).chain(std::env::split_paths(&inherited));
    let output = Command::new(script)
        .env("PATH", std::env::join_paths(path).expect("a search path"))
        .env("NO_COLOR", "1")
        .output()
        .expect("the script starts");
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}\n{err}");
    assert!(out.lines().any(|line| line == commands), "{out}\n{err}");
}

#[test]
fn a_skill_author_types_three_commands() {
    journey("skill-author", "commands: 3");
}

#[test]
fn a_python_developer_types_three_commands() {
    journey("python-developer", "commands: 3");
}

#[test]
fn a_ci_engineer_copies_one_workflow() {
    journey("ci-engineer", "commands: 1");
}

/// The installers are stand-ins; `scripts/test-packages` takes the same journeys with the real ones.
#[test]
fn two_commands_lead_from_nothing_to_a_graded_run() {
    for installer in ["from-npm", "from-pip", "from-cargo"] {
        journey(installer, "commands: 2");
    }
}
