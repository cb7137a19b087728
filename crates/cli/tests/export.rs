//! `export skill-creator` and the way back with `convert`: the shapes that its scripts read, what is
//! replaced and what is kept, and the files of agents. `scripts/test-skill-creator` runs the real scripts.
#![cfg(unix)]

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::{Value, json};
use support::Project;

const SUITE: &str = "\
name: csv-analyzer
tests:
  - id: top-months
    criteria: Names the best month
    input: Which month was best?
    assert:
      - {type: contains, value: November}
      - {type: regex, value: sorry, negate: true}
  - {id: broken, criteria: Answers, input: fail, assert: [{type: contains, value: a}]}
";

const TARGETS: &str = "\
targets:
  - {name: with_skill, provider: mock, responses: [{pattern: fail, error: down}, {response: November}]}
  - name: without_skill
    provider: mock
    responses: [{pattern: fail, error: down}, {response: 'sorry, November'}]
";

fn project() -> Project {
    let project = Project::new(SUITE, TARGETS);
    let run = ["run", "-t", "with_skill", "-t", "without_skill", "-n", "2", "--output", "r.jsonl"];
    project.evalrig(&run).exits(1);
    project
}

const EXPORT: [&str; 5] = ["export", "skill-creator", "r.jsonl", "-o", "ws/iteration-1"];

#[track_caller]
fn document(project: &Project, name: &str) -> Value {
    serde_json::from_str(&project.read(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Every file below a directory.
fn files_below(directory: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![directory.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).expect("a directory") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(directory).expect("below").to_string_lossy();
                found.insert(name.into_owned());
            }
        }
    }
    found
}

/// The contract with `aggregate_benchmark` and `generate_review`, read from their sources.
#[test]
fn an_export_has_the_shapes_of_skill_creator() {
    let project = project();
    let ran = project.evalrig(&EXPORT);
    ran.exits(0).prints("wrote ws/iteration-1 (1 eval, 4 runs)");
    ran.says("4 cases without an answer left out; benchmark.json says why");
    let mut expected: BTreeSet<String> = ["benchmark.json", "benchmark.md", ".evalrig-export.json"]
        .map(str::to_owned)
        .into_iter()
        .collect();
    expected.insert("eval-top-months/eval_metadata.json".to_owned());
    for configuration in ["with_skill", "without_skill"] {
        for run in 1..=2 {
            for file in ["eval_metadata.json", "grading.json", "timing.json", "outputs/answer.md"] {
                expected.insert(format!("eval-top-months/{configuration}/run-{run}/{file}"));
            }
        }
    }
    assert_eq!(files_below(&project.path("ws/iteration-1")), expected);

    let run = "ws/iteration-1/eval-top-months/without_skill/run-2";
    let grading = document(&project, &format!("{run}/grading.json"));
    let summary = json!({"passed": 1, "failed": 1, "total": 2, "pass_rate": 0.5});
    assert_eq!(grading["summary"], summary);
    let first = json!({"text": "Output contains 'November'", "passed": true,
        "evidence": "Output contains 'November'"});
    assert_eq!(grading["expectations"][0], first);
    assert_eq!(grading["expectations"][1]["text"], "NOT: Output matches regex: sorry");
    assert_eq!(project.read(&format!("{run}/outputs/answer.md")), "sorry, November");
    let metadata = document(&project, &format!("{run}/eval_metadata.json"));
    assert_eq!((&metadata["eval_id"], &metadata["eval_name"]), (&json!(1), &json!("top-months")));
    assert_eq!(metadata["prompt"], "Which month was best?");

    let benchmark = document(&project, "ws/iteration-1/benchmark.json");
    assert_eq!(benchmark["metadata"]["skill_name"], "csv-analyzer");
    let configurations: Vec<&String> =
        benchmark["run_summary"].as_object().expect("a mapping").keys().collect();
    assert_eq!(configurations, ["with_skill", "without_skill", "delta"]);
    assert_eq!(benchmark["run_summary"]["delta"]["pass_rate"], "+0.50");
    assert_eq!(benchmark["runs"].as_array().map(Vec::len), Some(4));
    assert_eq!(benchmark["notes"][0], "4 runs have no verdict and are not counted");
    let page = project.read("ws/iteration-1/benchmark.md");
    assert!(page.contains("| with_skill | 2 | 100% ± 0% |"), "{page}");
}

#[test]
fn an_export_replaces_only_what_an_export_wrote() {
    let project = project();
    project.evalrig(&EXPORT).exits(0);
    project.evalrig(&EXPORT).exits(2).says("is not empty; use `--force`");
    let forced = [&EXPORT[..], &["--force"]].concat();
    // Reviews of people are beside the runs, and stay.
    project.write("ws/iteration-1/feedback.json", "{}");
    project.evalrig(&["run", "-t", "with_skill", "--output", "r.jsonl", "--force"]).exits(3);
    project.evalrig(&forced).exits(0);
    assert!(project.has("ws/iteration-1/feedback.json"));
    assert!(!project.has("ws/iteration-1/eval-top-months/without_skill"));
    assert!(!project.has("ws/iteration-1/eval-top-months/with_skill/run-2"));
    // Runs of others would be counted with ours.
    project.write("ws/iteration-1/eval-9/with_skill/run-1/grading.json", "{}");
    let ran = project.evalrig(&forced);
    ran.exits(2).says("eval-9/with_skill/run-1/grading.json` was not written by an export");
    fs::remove_dir_all(project.path("ws/iteration-1/eval-9")).expect("removed");
    let grading = "ws/iteration-1/eval-top-months/with_skill/run-1/grading.json";
    project.write(grading, "{}");
    project.evalrig(&forced).exits(2).says("was changed since");
    project.write("file", "");
    let ran = project.evalrig(&["export", "skill-creator", "r.jsonl", "-o", "file", "--force"]);
    ran.exits(2).says("`file` is not a directory");
}

#[test]
fn an_export_does_not_follow_links_out_of_its_directory() {
    let project = project();
    fs::create_dir_all(project.path("ws/iteration-1")).expect("a directory");
    fs::create_dir(project.path("elsewhere")).expect("a directory");
    symlink(project.path("elsewhere"), project.path("ws/iteration-1/eval-top-months"))
        .expect("link");
    let forced = [&EXPORT[..], &["--force"]].concat();
    project.evalrig(&forced).exits(2);
    assert!(files_below(&project.path("elsewhere")).is_empty());
}

/// Rows of a results file, changed, without their checksums.
fn changed_rows(project: &Project, change: impl Fn(&mut Value)) {
    let text = project.read("r.jsonl");
    let rows = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let rows = rows.filter(|row| row.get("evalId").is_some()).map(|mut row| {
        row.as_object_mut().expect("a row").remove("crc");
        change(&mut row);
        format!("{row}\n")
    });
    let rows: String = rows.collect();
    project.write("r.jsonl", &rows);
}

#[test]
fn files_of_a_kept_workspace_are_copied_without_secrets() {
    let project = project();
    let kept = project.scratch.path().join("kept/top-months-1");
    fs::create_dir_all(kept.join("out")).expect("a directory");
    fs::write(kept.join("out/sum.csv"), "key,Dot_Env-5521-value\n").expect("a file");
    fs::write(kept.join("chart.png"), [0x89, 0x50, 0xff]).expect("a file");
    fs::write(kept.join("answer.md"), "own").expect("a file");
    fs::write(project.path("private"), "private").expect("a file");
    symlink(project.path("private"), kept.join("link.txt")).expect("a link");
    project.write(".env", "MY_PASSWORD=Dot_Env-5521-value\n");
    let elsewhere = project.path("");
    changed_rows(&project, |row| {
        let is_first = row["trial"] == 1;
        let path = if is_first { kept.as_path() } else { elsewhere.as_path() };
        row["workspace"] = json!({
            "created": ["out/sum.csv", "link.txt", "../../private", "private"],
            "modified": ["chart.png", "answer.md"], "deleted": [], "path": path,
        });
    });
    project.evalrig(&EXPORT).exits(0).says("in the grading.json of their runs");
    let run = "ws/iteration-1/eval-top-months/with_skill/run-1";
    assert_eq!(project.read(&format!("{run}/outputs/out/sum.csv")), "key,***\n");
    assert_eq!(project.read(&format!("{run}/outputs/answer.md")), "November");
    assert_eq!(project.read(&format!("{run}/outputs/workspace-answer.md")), "own");
    let image = fs::read(project.path(&format!("{run}/outputs/chart.png"))).expect("a file");
    assert_eq!(image, [0x89, 0x50, 0xff]);
    let notes = &document(&project, &format!("{run}/grading.json"))["user_notes_summary"];
    let notes = notes["needs_review"].as_array().expect("a list");
    assert_eq!(notes.len(), 3, "{notes:?}");
    // A workspace that is not where workspaces are kept is not copied from.
    let second = "ws/iteration-1/eval-top-months/with_skill/run-2";
    let outputs = files_below(&project.path(&format!("{second}/outputs")));
    assert_eq!(outputs, BTreeSet::from(["answer.md".to_owned()]));
}

#[test]
fn missing_rows_are_named_and_make_the_export_incomplete() {
    let project = project();
    let text = project.read("r.jsonl");
    let kept: String = text.lines().take(3).map(|line| format!("{line}\n")).collect();
    project.write("r.jsonl", &kept);
    let ran = project.evalrig(&EXPORT);
    ran.exits(3).says("of 8 cases have no row");
    let benchmark = document(&project, "ws/iteration-1/benchmark.json");
    assert!(benchmark["notes"][0].as_str().expect("a text").contains("have no row"));
}

#[test]
fn iterations_become_results_that_every_command_reads() {
    let project = project();
    project.evalrig(&EXPORT).exits(0);
    let second = ["export", "skill-creator", "r.jsonl", "-o", "ws/iteration-2"];
    project.evalrig(&second).exits(0);
    project.evalrig(&["convert", "ws", "-o", "one.jsonl"]).exits(2).says("use `-o DIR/`");
    let ran = project.evalrig(&["convert", "ws", "-o", "history/"]);
    ran.exits(0).prints("wrote history/iteration-1.jsonl (csv-analyzer, 4 runs)");
    project.evalrig(&["convert", "ws", "-o", "history/"]).exits(2).says("already exists");
    project.evalrig(&["convert", "ws", "-o", "history/", "--force"]).exits(0);
    let ran = project.evalrig(&["report", "history/iteration-2.jsonl"]);
    ran.exits(0).prints("without  0 of 2 passed").prints("with     2 of 2 passed");
    let compared =
        ["compare", "history/iteration-1.jsonl", "history/iteration-2.jsonl", "--format", "json"];
    let ran = project.evalrig(&compared);
    let compared: Value = serde_json::from_str(&ran.out).expect("JSON");
    assert!(compared.to_string().contains("\"unchanged\""), "{compared}");
    let benchmark = ["convert", "ws/iteration-1/benchmark.json", "-o", "b.jsonl"];
    project.evalrig(&benchmark).exits(0).prints("wrote b.jsonl (csv-analyzer, 4 runs)");
    let again = ["export", "skill-creator", "history/iteration-1.jsonl", "-o", "again"];
    project.evalrig(&again).exits(0).prints("(1 eval, 4 runs)");
    let name = "eval-1/with_skill/run-1/grading.json";
    let before = document(&project, "ws/iteration-1/eval-top-months/with_skill/run-1/grading.json");
    let after = document(&project, &format!("again/{name}"));
    assert_eq!(after["summary"], before["summary"]);
    let results = project.read("history/iteration-1.jsonl");
    let schema: Value =
        serde_json::from_str(&project.evalrig(&["schema", "results"]).out).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    for line in results.lines() {
        let line: Value = serde_json::from_str(line).expect("JSON");
        assert!(validator.is_valid(&line), "{line}");
    }
}

#[test]
fn cases_of_a_plugin_are_read_by_every_command() {
    let project = Project::empty();
    project.write(".claude-plugin/plugin.json", "{\"name\": \"csv-tools\"}");
    project.write("evals/greets/prompt.md", "---\nruns: 1\n---\nSay hello to Alex.\n");
    project.write("evals/greets/graders/name.md", "---\ntype: regex\n---\nAlex\n");
    project.write("evals/greets/graders/trace.md", "---\ntype: regex\ntarget: trace\n---\nx\n");
    project.write(
        ".evalrig/targets.yaml",
        "targets: [{name: default, provider: mock, response: 'Hello, Alex'}]\n",
    );
    project.evalrig(&["validate"]).exits(0).prints("evals/greets/graders/trace.md:3:9");
    project.evalrig(&["list"]).exits(0).prints("evals (csv-tools, 1 test)");
    project.evalrig(&["show", "evals#greets"]).exits(0).prints("value: Alex");
    project.evalrig(&["show", "evals/greets/prompt.md"]).exits(0).prints("id: greets");
    let ran = project.evalrig(&["run", "--output", "r.jsonl"]);
    ran.exits(0).prints("1 test passed");
    project.evalrig(&["run", "evals/greets", "--output", "s.jsonl"]).exits(0);
    let ran = project.evalrig(&["convert", "evals", "-o", "EVAL.yaml"]);
    ran.exits(0).says("plugin-eval-loss").prints("wrote EVAL.yaml (csv-tools, 1 test)");
    project.evalrig(&["validate", "EVAL.yaml", "--strict"]).exits(0);
    project.evalrig(&["grade", "r.jsonl"]).exits(0).prints("1 test passed");
    project.evalrig(&["run", "--failed=r.jsonl"]).exits(4);
}

#[test]
fn tasks_of_harbor_hold_no_secret() {
    let secret = "sk-3f9a7c21d8e6";
    let project = Project::empty();
    let suite = format!(
        "name: s\nworkspace: {{template: template}}\ntests:\n  - {{id: 'ask {secret}', criteria: x, input: Hi, assert: [{{type: command, run: 'true'}}]}}\n"
    );
    project.write("EVAL.yaml", &suite);
    project.write("template/notes", "plain");
    project.write("template/copied", secret);
    project.write("template/.env", "PLAIN=plain-value-41\n");
    let mut command = project.command(&["export", "harbor", "EVAL.yaml", "--output", "out"]);
    command.env("MY_API_KEY", secret);
    let ran = support::Ran::of(command);
    ran.exits(0).says("is left out: it has a secret in it").says(".env` is left out");
    let mut names = 0;
    for (path, bytes) in project.all_files() {
        let shown = path.strip_prefix(project.path("")).unwrap().to_string_lossy().into_owned();
        if shown.starts_with("out/") {
            names += 1;
            let text = String::from_utf8_lossy(&bytes);
            assert!(!shown.contains(secret) && !text.contains(secret), "{shown}");
            assert!(!text.contains("plain-value-41"), "{shown}");
        }
    }
    assert!(names > 2, "{names} files");
}
