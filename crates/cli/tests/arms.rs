//! Arms through the binary: with and without a skill, compared within one run.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

mod support;
use support::Project;

const SKILL: &str = "---\nname: csv\ndescription: Reads CSV files\n---\nAdd up the column.\n";

/// Knows the answer if its workspace has the skill. Notes that it was asked.
const AGENT: &str = r#"echo "$EVALRIG_TEST_ID" >> "$ASKED"
if [ -e .agents/skills/csv/SKILL.md ]; then echo "the sum is 42"; else echo "I cannot tell"; fi
"#;

/// A skill with tests, of which some want the sum.
fn project(tests: usize) -> Project {
    let project = Project::empty();
    project.write("csv/SKILL.md", SKILL);
    let test = |at: usize| {
        format!(
            "  - {{id: t{at}, criteria: c, input: Sum, assert: [{{type: contains, value: \"42\"}}]}}\n"
        )
    };
    let tests: String = (0..tests).map(test).collect();
    project.write("csv/evals/EVAL.yaml", &format!("name: csv\ntests:\n{tests}"));
    project.write("agent.sh", AGENT);
    let agent = project.path("agent.sh");
    let asked = project.path("asked");
    project.write(
        ".evalrig/targets.yaml",
        &format!(
            "targets: [{{name: default, provider: cli, command: [sh, \"{}\"], env: {{ASKED: \"{}\"}}}}]\n",
            agent.display(),
            asked.display()
        ),
    );
    project
}

const BOTH: &[&str] = &["csv", "--arm", "with", "--arm", "without", "--no-record"];

fn with(more: &[&'static str]) -> Vec<&'static str> {
    BOTH.iter().chain(more).copied().collect()
}

#[test]
fn a_run_says_whether_the_skill_helps() {
    let project = project(12);
    let ran = project.run(BOTH);
    // What fails without the skill does not fail the run.
    ran.exits(0)
        .prints("without  0 of 12 passed")
        .prints("with     12 of 12 passed")
        .prints("against `without`: better: +100 points (95 % CI ")
        .prints("✓ all 12 ");
    let rows = project.rows();
    let arm = |name: &str| rows.iter().filter(|row| row["arm"] == name).collect::<Vec<_>>();
    assert!(arm("without").iter().all(|row| row["baselineArm"] == true));
    assert!(arm("with").iter().all(|row| row["baselineArm"].is_null()));
    assert_eq!(arm("with")[0]["skills"]["given"], json!(["csv"]));
    assert_eq!(arm("without")[0]["skills"]["given"], json!([]));
    for row in &rows {
        assert_eq!(row["setup"].as_str().unwrap().len(), 64, "{row}");
    }
}

#[test]
fn every_report_has_the_arms() {
    let project = project(6);
    let mut arguments = with(&["--report", "json=out.json", "--report", "markdown=out.md"]);
    arguments.extend(["--report", "junit=out.xml", "--report", "html=out.html"]);
    project.run(&arguments).exits(0);
    let document: Value = serde_json::from_str(&project.read("out.json")).unwrap();
    let arms = &document["arms"];
    assert_eq!((&arms[0]["arm"], &arms[0]["baseline"]), (&json!("without"), &json!(true)));
    assert_eq!(arms[1]["comparison"]["suite"]["delta"], 1.0);
    let markdown = project.read("out.md");
    assert!(markdown.contains("| <code>without</code> | 0 of 6 passed"), "{markdown}");
    let junit = project.read("out.xml");
    assert!(junit.contains("tests=\"12\" failures=\"0\" errors=\"0\""), "{junit}");
    assert!(junit.contains("<skipped message=\"the baseline arm does not have to pass\"/>"));
    assert!(project.read("out.html").contains("against the baseline"));
    // A stored run says the same.
    project.evalrig(&["report", "latest"]).exits(0).prints("against `without`: ");
}

#[test]
fn another_arm_can_be_the_baseline() {
    let project = project(3);
    project.run(&with(&["--baseline-arm", "with"])).exits(1).prints("against `with`: ");
    let ran = project.run(&with(&["--baseline-arm", "before"]));
    ran.exits(2).says("--baseline-arm: `before` is not run; the arms are with, without");
    let ran = project.run(&["csv", "--no-record", "--baseline-arm", "with"]);
    ran.exits(2).says("runs without arms; select some with --arm");
}

#[test]
fn what_failed_is_run_again_without_the_baseline_arm() {
    let project = project(2);
    project.write("csv/SKILL.md", &SKILL.replace("name: csv", "name: other"));
    project.run(BOTH).exits(1);
    assert_eq!(project.lines("asked").len(), 4);
    project.write("csv/SKILL.md", SKILL);
    project.run(&["--failed", "latest", "--no-record"]).exits(0);
    let rows = project.rows();
    assert!(rows.iter().all(|row| row["arm"] == "with"), "{rows:?}");
    assert_eq!(rows.len(), 2);
}

#[test]
fn rows_of_an_unchanged_arm_are_taken_over() {
    let project = project(4);
    project.run(&with(&["--output", "first.jsonl"])).exits(0);
    assert_eq!(project.lines("asked").len(), 8);
    // Nothing has changed.
    project.run(&with(&["--output", "again.jsonl", "--reuse-arm", "first.jsonl"])).exits(0);
    assert_eq!(project.lines("asked").len(), 8);
    assert!(project.rows_of("again.jsonl").iter().all(|row| row["reused"] == true));
    // The skill has: only the arm without it is taken over.
    project.write("csv/SKILL.md", &format!("{SKILL}Carefully.\n"));
    let ran = project.run(&with(&["--output", "new.jsonl", "--reuse-arm", "first.jsonl"]));
    ran.exits(0).prints("against `without`: ");
    assert_eq!(project.lines("asked").len(), 12);
    for row in project.rows_of("new.jsonl") {
        assert_eq!(row["reused"] == true, row["arm"] == "without", "{row}");
    }
    // So does a changed agent.
    project.write("agent.sh", &format!("# better\n{AGENT}"));
    project.run(&with(&["--output", "third.jsonl", "--reuse-arm", "new.jsonl"])).exits(0);
    assert_eq!(project.lines("asked").len(), 20);
    let ran = project.run(&with(&["--reuse-arm", "nothing.jsonl"]));
    ran.exits(2);
}

/// A skill folder, an agent that is installed, and nothing else.
#[test]
fn a_bare_skill_runs_in_both_arms() {
    let project = Project::empty();
    project.write("csv/SKILL.md", SKILL);
    project.write(
        "csv/evals/evals.json",
        r#"{"skill_name": "csv", "evals": [{"id": 1, "prompt": "Sum", "expected_output": "42", "files": [], "expectations": []}]}"#,
    );
    // Answers, and judges, with one stream.
    let events = [
        json!({"type": "system", "subtype": "init", "session_id": "s", "model": "m", "tools": ["Skill"]}),
        json!({"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": "{\"score\": 1, \"reasoning\": \"fine\", \"hits\": [], \"misses\": []}"}]}}),
        json!({"type": "result", "subtype": "success", "is_error": false, "result": "{\"score\": 1, \"reasoning\": \"fine\", \"hits\": [], \"misses\": []}", "num_turns": 1, "duration_ms": 1, "total_cost_usd": 0.01, "usage": {"input_tokens": 1, "output_tokens": 1}}),
    ];
    let stream: String = events.iter().map(|event| format!("{event}\n")).collect();
    project.write("bin/claude", &format!("#!/bin/sh\ncat <<'EOF'\n{stream}EOF\n"));
    fs::set_permissions(project.path("bin/claude"), fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = project.command(&["run", "csv", "--no-record"]);
    command.env("PATH", format!("{}:/usr/bin:/bin", project.path("bin").display()));
    let ran = support::Ran::of(command);
    ran.says("no targets file: `csv` runs on `claude`, which is installed");
    ran.prints("arms");
    let mut arms: Vec<String> =
        project.rows().iter().map(|row| row["arm"].as_str().unwrap().to_owned()).collect();
    arms.sort();
    assert_eq!(arms, ["with", "without"]);
    // Without an agent there is nothing to run.
    let mut command = project.command(&["run", "csv", "--no-record"]);
    command.env("PATH", "/nowhere");
    support::Ran::of(command).exits(2).says("no targets file found");
}

#[test]
fn an_arm_can_have_a_workspace_of_its_own() {
    let project = project(1);
    project.write("plain/note.txt", "nothing");
    project.write("rich/note.txt", "the sum is 42");
    project.write(
        "csv/evals/EVAL.yaml",
        "name: csv\nworkspace: {template: ../../plain, env: {KEPT: yes}}\narms:\n  plain: {}\n  rich: {workspace: {template: ../../rich}}\ntests:\n  - {id: a, criteria: c, input: i, assert: [{type: contains, value: \"42 yes\"}]}\n",
    );
    project.write("agent.sh", "echo \"$(cat note.txt) $KEPT\"\n");
    project.run(&["csv", "--no-record"]).exits(0).prints("against `plain`: ");
    for row in project.rows() {
        let wanted = if row["arm"] == "rich" { "the sum is 42 yes" } else { "nothing yes" };
        assert_eq!(row["candidateAnswer"], wanted);
    }
    let shown = project.evalrig(&["show", "csv/evals/EVAL.yaml", "--format", "json"]);
    let shown: Value = serde_json::from_str(&shown.exits(0).out).unwrap();
    assert_eq!(shown["arms"]["rich"]["workspace"]["template"], "/rich");
}

#[test]
fn skills_of_a_target_go_before_those_of_the_suite() {
    let project = project(1);
    project.write("other/csv/SKILL.md", SKILL);
    project.write("other/git/SKILL.md", "---\nname: git\ndescription: Commits\n---\n");
    let targets = project.read(".evalrig/targets.yaml");
    project.write(".evalrig/targets.yaml", &targets.replace("env:", "skills: [other], env:"));
    project.run(BOTH).exits(0);
    let given = |arm: &str| {
        let rows = project.rows();
        rows.iter().find(|row| row["arm"] == arm).unwrap()["skills"]["given"].clone()
    };
    assert_eq!(given("with"), json!(["csv", "git"]));
    assert_eq!(given("without"), json!([]));
    project.write(".evalrig/targets.yaml", &targets.replace("env:", "skills: [nowhere], env:"));
    project.run(BOTH).exits(2).says("skill-not-found");
}
