//! How workspaces end, through the binary: which are kept, where `teardown` runs, and what rows say of them.
#![cfg(target_os = "linux")]

mod support;

use std::fs;

use serde_json::{Value, json};
use support::{Project, text};

fn target(command: &str) -> String {
    json!({"targets": [{"name": "default", "provider": "cli", "command": command}]}).to_string()
}

fn suite(workspace: &Value, tests: &Value) -> String {
    json!({"name": "ends", "workspace": workspace, "tests": tests}).to_string()
}

fn test(id: &str, assertion: &Value) -> Value {
    json!({"id": id, "criteria": "c", "input": "go", "assert": [assertion]})
}

fn any() -> Value {
    json!({"type": "regex", "value": "^"})
}

/// The names in the kept workspace of a row.
fn kept(row: &Value) -> Vec<String> {
    let path = text(&row["workspace"]["path"]);
    let entries = fs::read_dir(&path).unwrap_or_else(|error| panic!("{path}: {error}: {row}"));
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_workspace_is_kept_and_torn_down_if_its_setup_fails() {
    let project = Project::empty();
    let trace = project.path("trace");
    let workspace = json!({
        "template": "./template",
        "setup": "touch half; exit 3",
        "teardown": format!("ls >> {}", trace.display()),
    });
    project.write("template/a", "");
    project.write("EVAL.yaml", &suite(&workspace, &json!([test("t", &any())])));
    project.write(".evalrig/targets.yaml", &target("echo ok"));
    project.run(&["--quiet"]).exits(3);
    let row = project.row("t");
    assert_eq!(
        (&row["error"]["stage"], &row["error"]["kind"]),
        (&json!("workspace"), &json!("setup"))
    );
    assert_eq!(row["agent"]["sandbox"], "none", "{row}");
    assert_eq!(kept(&row), ["a", "half"]);
    assert_eq!(project.read("trace"), "a\nhalf\n");
}

#[test]
fn the_workspace_of_a_repeated_attempt_is_torn_down_and_removed() {
    let project = Project::empty();
    let trace = project.path("trace");
    let workspace = json!({
        "teardown": format!("echo $EVALRIG_ATTEMPT $(ls) >> {}", trace.display()),
        "keep": "always",
    });
    let mut one = test("t", &any());
    // Only the first attempt takes longer.
    one["execution"] = json!({"timeout_seconds": 3});
    project.write("EVAL.yaml", &suite(&workspace, &json!([one])));
    let agent = "touch made-$EVALRIG_ATTEMPT; [ $EVALRIG_ATTEMPT = 2 ] || sleep 300; echo ok";
    project.write(".evalrig/targets.yaml", &target(agent));
    project.run(&["--quiet", "--retries", "1"]).exits(0);
    assert_eq!(project.read("trace"), "1 made-1\n2 made-2\n");
    assert_eq!(kept(&project.row("t")), ["made-2"]);
    let left: Vec<_> = fs::read_dir(project.scratch.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

#[test]
fn a_conversation_is_kept_if_one_of_its_tests_failed() {
    for (values, last_is_skipped, is_kept) in [
        (["no", "ok"], false, true),
        (["ok", "ok"], false, false),
        (["ok", "no"], false, true),
        (["no", "ok"], true, true),
    ] {
        let project = Project::empty();
        let mut tests: Vec<Value> = values
            .iter()
            .zip(["a", "b"])
            .map(|(value, id)| {
                let mut test = test(id, &json!({"type": "contains", "value": value}));
                test["conversation_id"] = json!("x");
                test
            })
            .collect();
        if last_is_skipped {
            tests[1]["skip"] = json!(true);
        }
        let teardown = format!("echo down >> {}", project.path("trace").display());
        let workspace = json!({"teardown": teardown});
        project.write("EVAL.yaml", &suite(&workspace, &json!(tests)));
        project.write(".evalrig/targets.yaml", &target("touch $EVALRIG_TEST_ID; echo ok"));
        project.run(&["--quiet"]);
        assert_eq!(project.read("trace"), "down\n", "{values:?}");
        let last = if last_is_skipped { "a" } else { "b" };
        let row = project.row(last);
        assert_eq!(row["workspace"]["path"].is_string(), is_kept, "{values:?} {row}");
        if is_kept && !last_is_skipped {
            assert_eq!(kept(&row), ["a", "b"]);
        }
    }
}

#[test]
fn workspaces_are_outside_of_the_repository() {
    let project = Project::empty();
    let workspace = json!({"template": "./template"});
    project.write("template/a", "");
    project.write("tmp/x", "");
    project.write(".git/HEAD", "ref: refs/heads/main\n");
    project.write("EVAL.yaml", &suite(&workspace, &json!([test("t", &any())])));
    project.write(".evalrig/targets.yaml", &target("echo $EVALRIG_WORKSPACE"));
    for given in ["tmp".to_owned(), project.path("tmp").display().to_string()] {
        let mut command = project.command(&["run", "--quiet"]);
        command.env("TMPDIR", &given);
        support::Ran::of(command).exits(0);
        let place = text(&project.row("t")["candidateAnswer"]);
        assert!(place.starts_with('/'), "{place}");
        let root = project.path("tmp").canonicalize().unwrap();
        assert!(!place.starts_with(root.parent().unwrap().to_str().unwrap()), "{place}");
    }
}

#[test]
fn a_command_with_the_workspace_needs_one() {
    let tests = json!([test("t", &any())]);
    let targets = target("echo {WORKSPACE}");
    let without = json!({"name": "ends", "tests": tests}).to_string();
    let ran = Project::new(&without, &targets).run(&["--quiet"]);
    ran.exits(2).says("uses `{WORKSPACE}`, and test `t` has no workspace");
    let project = Project::new(&suite(&json!({}), &tests), &targets);
    project.run(&["--quiet"]).exits(0);
    assert!(text(&project.row("t")["candidateAnswer"]).trim().ends_with("/workspace"));
}

#[test]
fn ignored_files_exist_and_attached_files_are_named_by_their_place() {
    let project = Project::empty();
    let mut one = test("t", &any());
    one["assert"] = json!([
        {"type": "files", "exists": ["dist/app.js"], "only": []},
        {"type": "files", "absent": [".env"]},
    ]);
    one["input"] = json!([{"role": "user", "content": [
        {"type": "file", "value": "../data/in.txt"}, {"type": "text", "value": "go"}]}]);
    project.write("data/in.txt", "x\n");
    project.write("suites/template/.gitignore", "dist\n.env\n");
    project.write(".git/HEAD", "ref: refs/heads/main\n");
    project.write("suites/EVAL.yaml", &suite(&json!({"template": "./template"}), &json!([one])));
    let agent = "mkdir dist; touch dist/app.js .env; cat; cat in.txt";
    project.write(".evalrig/targets.yaml", &target(agent));
    project.evalrig(&["run", "suites", "--quiet"]).exits(1);
    let row = project.row("t");
    let scores = row["evaluatorResults"].as_array().unwrap();
    assert_eq!((&scores[0]["score"], &scores[1]["score"]), (&json!(1.0), &json!(0.0)), "{row}");
    let answer = text(&row["candidateAnswer"]);
    assert!(answer.contains("<file path=\"in.txt\">"), "{answer}");
}
