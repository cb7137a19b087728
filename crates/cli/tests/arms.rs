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
fn a_baseline_arm_that_errors_is_in_every_headline() {
    let project = project(3);
    project.write("agent.sh", "[ -e .agents/skills/csv ] || exit 9\necho 42\n");
    let ran = project.run(&with(&["--report", "markdown=out.md", "--report", "github=out.txt"]));
    let found = "baseline arm: 3 could not be measured";
    ran.exits(3).prints("! 3 of 3 passed (100 %").prints(found);
    assert!(
        project.read("out.md").starts_with("### ⚠️ evalrig: 3 of 3"),
        "{}",
        project.read("out.md")
    );
    assert!(project.read("out.txt").contains(found), "{}", project.read("out.txt"));
    project.run(&with(&["--quiet"])).exits(3).prints(found);
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
    let report = |arm| project.evalrig(&["report", "latest", "--baseline-arm", arm]);
    report("with").exits(1).prints("against `with`: ");
    report("without").exits(0).prints("against `without`: ");
    report("before").exits(2).says("--baseline-arm: the results have no arm `before`");
}

#[test]
fn a_gate_decides_between_arms() {
    let project = project(12);
    let better = "✓ gate: arm `with`: better than the baseline; ";
    project.run(&with(&["--gate", "--measure", "score"])).exits(0).prints(better);
    // The tests of the other arm fail, which is all that counts without a gate.
    let turned = ["--baseline-arm", "with", "--gate", "--trials", "2"];
    project.run(&with(&turned)).exits(1).prints("✗ gate: arm `without`: worse than the baseline; ");
    project.run(&["csv", "--no-record", "--gate"]).exits(2).says("--gate: there is nothing to");
}

#[test]
fn a_dry_run_forecasts_what_is_said_of_an_arm() {
    let project = project(12);
    let dry = |more: &[&str]| {
        let words = [&["csv", "--arm", "with", "--arm", "without", "--dry-run"], more].concat();
        project.run(&words)
    };
    let ran = dry(&["--rounds=3"]);
    ran.exits(0)
        .prints(
            "forecast of `with` against `without`, without earlier results, \
             assuming that tests pass half of the time: the verdicts of 100 such runs",
        )
        .prints("no change, in rounds")
        .prints("-20 points, in rounds")
        .prints("+20 points, in rounds");
    assert!(!project.has("asked"), "nothing is called");
    assert_eq!(ran.out, dry(&["--rounds=3"]).out);
    let earlier =
        "forecast of `with` against `without`, from earlier results: the verdicts of 100 such runs";
    project.run(&with(&["--output", "one.jsonl"])).exits(0);
    let ran = dry(&["--trials", "2", "--reuse-arm", "one.jsonl"]);
    ran.exits(0).prints(earlier).prints("no change, 2 trials");
    project.run(&["csv", "--arm", "with", "--arm", "without"]).exits(0);
    dry(&[]).exits(0).prints(earlier).prints("no change, 1 trial ");
    // With a baseline, arms are not what is compared.
    let ran = dry(&["--baseline", "one.jsonl"]);
    ran.exits(0).prints("forecast from the baseline's own results");
    assert!(!ran.out.contains("forecast of"), "{}", ran.out);
}

#[test]
fn arms_in_rounds_have_a_gate_with_a_margin() {
    let project = project(12);
    let rounds = ["--rounds=3", "--gate", "--margin", "0.2", "--baseline-arm", "with"];
    let ran = project.run(&with(&rounds));
    ran.exits(1).prints("✗ gate: arm `without`: worse than the baseline; ");
    ran.prints("of 3: worse");
    // Without the skill the agent answers as well.
    let agent = AGENT.replace("I cannot tell", "the sum is 42");
    project.write("agent.sh", &agent);
    let ran = project.run(&with(&["--rounds=3", "--gate", "--margin", "0.3"]));
    ran.exits(0).prints("✓ gate: arm `with`: ").prints("it is smaller than 30");
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

#[test]
fn what_the_agent_is_not_given_does_not_keep_rows_from_being_taken_over() {
    let project = project(1);
    // The skill is the repository.
    fs::rename(project.path("csv/SKILL.md"), project.path("SKILL.md")).unwrap();
    fs::rename(project.path("csv/evals"), project.path("evals")).unwrap();
    let targets = project.read(".evalrig/targets.yaml");
    let asked = project.path("evals/asked").display().to_string();
    let targets = targets.replace(&project.path("asked").display().to_string(), &asked);
    project.write(".evalrig/targets.yaml", &targets);
    let run = |more: &[&'static str]| {
        let arms = ["evals", "--arm", "with", "--arm", "without"];
        project.run(&[&arms[..], more].concat()).exits(0);
        project.lines("evals/asked").len()
    };
    assert_eq!(run(&["--output", "evals/first.jsonl"]), 2);
    project.write("evals/notes.md", "More to test");
    // Both runs have left a record and a summary beside the skill.
    project.write(".evalrig/results/other.jsonl", "");
    assert_eq!(run(&["--output", "evals/again.jsonl", "--reuse-arm", "evals/first.jsonl"]), 2);
}

#[test]
fn a_conversation_is_taken_over_as_a_whole_or_not_at_all() {
    let project = project(0);
    let turn = |id: &str, text: &str| {
        format!(
            "  - {{id: {id}, conversation_id: talk, criteria: c, input: {text}, assert: [{{type: contains, value: \"42\"}}]}}\n"
        )
    };
    let suite = |second: &str| {
        let turns = turn("one", "Sum") + &turn("two", second) + &turn("three", "Why");
        project.write("csv/evals/EVAL.yaml", &format!("name: csv\ntests:\n{turns}"));
    };
    let run = |more: &[&'static str]| {
        let arms = ["csv", "--arm", "with", "--no-record"];
        project.run(&[&arms[..], more].concat()).exits(0);
        project.lines("asked").len()
    };
    suite("Again");
    assert_eq!(run(&["--output", "first.jsonl"]), 3);
    assert_eq!(run(&["--output", "again.jsonl", "--reuse-arm", "first.jsonl"]), 3);
    suite("Once more");
    assert_eq!(run(&["--output", "third.jsonl", "--reuse-arm", "first.jsonl"]), 6);
    assert!(project.rows_of("third.jsonl").iter().all(|row| row["reused"] != true));
}

#[test]
fn settings_that_cannot_take_effect_are_errors() {
    let suite = "name: s\narms:\n  plain: {}\n  other: {ARM}\ntests:\n  - {id: a, criteria: c, input: i, assert: [{type: contains, value: x}]}\n";
    let cli = "provider: cli, command: [echo, answer]";
    for (target, arm, fault) in [
        (cli, "model: m", "target `default` takes no `model` (arm `other`)"),
        ("provider: cli, command: echo x", "args: [x]", "target `default` takes no `args`"),
        ("provider: mock, response: x", "model: m", "takes no `model`"),
        ("provider: mock, response: x", "args: [x]", "takes no `args`"),
        ("provider: mock, response: x", "env: {A: b}", "takes no `env`"),
    ] {
        let targets = format!("targets: [{{name: default, {target}}}]\n");
        let project = Project::new(&suite.replace("ARM", arm), &targets);
        project.run(&["--no-record"]).exits(2).says(fault).says("EVAL.yaml:4:3");
    }
    let targets = format!("targets: [{{name: default, {cli}}}]\n");
    let project = Project::new(&suite.replace("ARM", "args: [x]"), &targets);
    project.run(&["--no-record"]).exits(0);
    let answers: Vec<String> = project
        .rows()
        .iter()
        .map(|row| row["candidateAnswer"].as_str().unwrap_or("").to_owned())
        .collect();
    assert_eq!(answers.iter().filter(|answer| answer.contains('x')).count(), 1, "{answers:?}");
}

#[test]
fn a_target_without_a_program_is_given_no_skills() {
    let project = project(1);
    project.write(
        ".evalrig/targets.yaml",
        "targets: [{name: default, provider: mock, response: \"42\"}]\n",
    );
    let ran = project.run(BOTH);
    ran.exits(0).says("target `default` starts no program, so it is given no skills (arm `with`)");
    assert!(project.rows().iter().all(|row| row["skills"]["given"].is_null()));
}

fn git(project: &Project, arguments: &[&str]) {
    let mut command = std::process::Command::new("git");
    command.args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(arguments);
    let done = command.current_dir(project.path(".")).output().unwrap();
    assert!(done.status.success(), "{done:?}");
}

/// Runs the program of the skill, if it can.
const RUNS_SCRIPT: &str = "./.agents/skills/csv/scripts/again.sh\n";

#[test]
fn a_skill_at_a_revision_has_the_modes_and_links_of_its_files() {
    let project = project(1);
    project.write("agent.sh", RUNS_SCRIPT);
    project.write("csv/scripts/run.sh", "#!/bin/sh\necho 42\n");
    let script = project.path("csv/scripts/run.sh");
    fs::set_permissions(script, fs::Permissions::from_mode(0o755)).unwrap();
    std::os::unix::fs::symlink("run.sh", project.path("csv/scripts/again.sh")).unwrap();
    git(&project, &["init", "-q"]);
    git(&project, &["add", "csv"]);
    git(&project, &["commit", "-qm", "first"]);
    let suite = project.read("csv/evals/EVAL.yaml");
    let arms = "skills: [../]\narms:\n  now: {}\n  before: {skills: [\"git:HEAD:../\"]}\n";
    project.write("csv/evals/EVAL.yaml", &suite.replace("tests:", &format!("{arms}tests:")));
    project.run(&["csv", "--no-record"]).exits(0);
    let rows = project.rows();
    assert_eq!(rows.len(), 2);
    assert!(rows.iter().all(|row| row["outcome"] == "passed"), "{rows:?}");
}

/// A skill folder, an agent that is installed, and nothing else. The agent runs `first`.
fn bare_skill(first: &str) -> Project {
    let project = Project::empty();
    project.write("csv/SKILL.md", SKILL);
    project.write(
        "csv/evals/evals.json",
        r#"{"skill_name": "csv", "evals": [{"id": 1, "prompt": "Sum", "expected_output": "42", "files": [], "expectations": []}]}"#,
    );
    // Answers, and judges, with one stream.
    let verdict = r#"{"checks": [{"id": "criteria", "reasoning": "fine", "satisfied": true}]}"#;
    let events = [
        json!({"type": "system", "subtype": "init", "session_id": "s", "model": "m", "tools": ["Skill"]}),
        json!({"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": verdict}]}}),
        json!({"type": "result", "subtype": "success", "is_error": false, "result": verdict, "num_turns": 1, "duration_ms": 1, "total_cost_usd": 0.01, "usage": {"input_tokens": 1, "output_tokens": 1}}),
    ];
    let stream: String = events.iter().map(|event| format!("{event}\n")).collect();
    project.write("bin/claude", &format!("#!/bin/sh\n{first}\ncat <<'EOF'\n{stream}EOF\n"));
    fs::set_permissions(project.path("bin/claude"), fs::Permissions::from_mode(0o755)).unwrap();
    project
}

#[test]
fn an_agent_that_is_not_installed_is_named() {
    let project = bare_skill(":");
    let run = |target: &str| {
        let mut command = project.command(&["run", "csv", "--target", target, "--dry-run"]);
        command.env("PATH", format!("{}:/usr/bin:/bin", project.path("bin").display()));
        support::Ran::of(command)
    };
    run("codex").exits(2).says(
        "--target: no targets file defines `codex`, and no agent of this name is installed; installed: claude",
    );
    run("claude").exits(0).says("no targets file: `csv` runs on `claude`");
}

#[test]
fn an_unknown_arm_is_told_what_there_is_once() {
    let project = project(1);
    let suite = "name: csv\nskills: [../../csv]\narms: {with: {}, small: {}, without: {skills: []}}\ntests:\n  \
                 - {id: t, criteria: c, input: Sum, assert: [{type: contains, value: \"42\"}]}\n";
    project.write("csv/evals/EVAL.yaml", suite);
    let ran = project.run(&["csv", "--arm", "zzzzzzzz", "--no-record"]);
    ran.exits(2).says("has no arm `zzzzzzzz`; it has with, small, without, all");
}

#[test]
fn a_skill_whose_name_is_a_path_is_never_copied() {
    let project = project(1);
    project.write("up/SKILL.md", &SKILL.replace("name: csv", "name: ../../esc"));
    let ran = project.run(&["csv", "--arm", "all", "--no-record"]);
    ran.exits(2).says("up/SKILL.md`: its name `../../esc` is a path");
    project.write("csv/SKILL.md", &SKILL.replace("name: csv", "name: ../esc"));
    let ran = project.run(&["csv", "--no-record"]);
    ran.exits(2).says("csv/SKILL.md`: its name `../esc` is a path");
    assert!(!project.path("asked").exists());
}

#[test]
fn a_skill_does_not_hide_those_in_its_directory() {
    let project = project(1);
    project.write("SKILL.md", &SKILL.replace("name: csv", "name: root"));
    let suite = "name: csv\nskills: [../../*]\ntests:\n  \
                 - {id: t, criteria: c, input: Sum, assert: [{type: contains, value: \"42\"}]}\n";
    project.write("csv/evals/EVAL.yaml", suite);
    project.run(&["csv", "--no-record"]).exits(0);
}

#[test]
fn files_of_a_bare_skill_are_kept_on_request() {
    let project = bare_skill("echo hi > made.txt");
    let note = "`run --keep-workspaces always` keeps it";
    for (output, more) in [("a", &[][..]), ("b", &["--keep-workspaces", "always"])] {
        let results = format!("{output}.jsonl");
        let mut command = project.command(&["run", "csv", "--no-record", "--output", &results]);
        command.args(more);
        command.env("PATH", format!("{}:/usr/bin:/bin", project.path("bin").display()));
        support::Ran::of(command).exits(0);
        let export = ["export", "skill-creator", &results, "-o", output];
        support::Ran::of(project.command(&export)).exits(0);
        let run = project.path(&format!("{output}/eval-1/with_skill/run-1"));
        let grading = fs::read_to_string(run.join("grading.json")).unwrap();
        assert_eq!(run.join("outputs/made.txt").exists(), !more.is_empty(), "{grading}");
        assert_eq!(grading.contains(note), more.is_empty(), "{grading}");
    }
}

#[test]
fn a_bare_skill_runs_in_both_arms() {
    let project = bare_skill(":");
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

/// The skill always helps, so one round of both arms is enough.
#[test]
fn arms_run_in_rounds_until_they_differ() {
    let project = project(20);
    let ran = project.run(&with(&["--rounds=4"]));
    ran.exits(0).prints("with: stopped after round 1 of 4: better");
    assert_eq!(project.rows().len(), 40);
}

#[test]
fn variables_of_an_arm_arrive_with_and_without_a_workspace() {
    let suite = "name: s\narms:\n  mint: {env: {FLAVOUR: mint, NUMBER: 5, IS_ON: true}}\ntests:\n  - {id: plain, criteria: c, input: i, assert: [{type: contains, value: x}]}\n  - {id: placed, criteria: c, input: i, workspace: {env: {A: b}}, assert: [{type: contains, value: x}]}\n";
    for target in [
        "provider: cli, command: [./agent]",
        "provider: codex-cli, executable: ./agent, home: user",
        "provider: acp, command: [./agent], home: user",
    ] {
        let project = Project::new(suite, "");
        let seen = project.path("seen").display().to_string();
        let target =
            format!("name: default, {target}, retries: 0, env: {{SEEN: \"{seen}\", FLAVOUR: no}}");
        project.write(".evalrig/targets.yaml", &format!("targets: [{{{target}}}]\n"));
        let script =
            "#!/bin/sh\necho \"$EVALRIG_TEST_ID $FLAVOUR $NUMBER $IS_ON\" >> \"$SEEN\"\nexit 1\n";
        project.write("agent", script);
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(project.path("agent"), mode).unwrap();
        project.run(&["--no-record"]).exits(3);
        let mut lines = project.lines("seen");
        lines.sort();
        assert_eq!(lines, ["placed mint 5 true", "plain mint 5 true"], "{target}");
    }
}

#[test]
fn rows_that_would_be_graded_otherwise_are_not_taken_over() {
    let project = project(0);
    project.write(
        "csv/evals/EVAL.yaml",
        "name: csv\ntests:\n  - id: a\n    criteria: c\n    input: i\n    assert:\n      - {type: code-judge, script: [sh, ./judge.sh]}\n      - {type: llm-judge, prompt: prompt.md, target: judge}\n",
    );
    project.write("csv/evals/judge.sh", "cat > /dev/null\necho '{\"score\": 1}'\n");
    project.write("csv/evals/prompt.md", "Good? {{ answer }}\n");
    let targets = project.read(".evalrig/targets.yaml").replace("}}]", "}}");
    let judging = |score: &str| {
        let judge = format!(
            "  {{name: judge, provider: mock, response: '{{\"score\": {score}, \"reasoning\": \"ok\"}}'}}]\n"
        );
        project.write(".evalrig/targets.yaml", &format!("{},\n{judge}", targets.trim_end()));
    };
    judging("1");
    let run = |output: &'static str, more: &[&'static str]| {
        let arms = ["csv", "--arm", "with", "--no-record", "--output", output];
        project.run(&[&arms[..], more].concat());
        let row = project.rows_of(output).remove(0);
        (row["reused"] == true, row["outcome"].as_str().unwrap().to_owned())
    };
    let is = |reused: bool, outcome: &str| (reused, outcome.to_owned());
    let reuse = ["--reuse-arm", "first.jsonl"];
    assert_eq!(run("first.jsonl", &[]), is(false, "passed"));
    assert_eq!(run("same.jsonl", &reuse), is(true, "passed"));
    project.write("csv/evals/judge.sh", "cat > /dev/null\necho '{\"score\": 0}'\n");
    assert_eq!(run("script.jsonl", &reuse), is(false, "failed"));
    project.write("csv/evals/judge.sh", "cat > /dev/null\necho '{\"score\": 1}'\n");
    assert_eq!(run("back.jsonl", &reuse), is(true, "passed"));
    judging("0");
    assert_eq!(run("judge.jsonl", &reuse), is(false, "failed"));
    judging("1");
    project.write("csv/evals/prompt.md", "Excellent? {{ answer }}\n");
    assert_eq!(run("prompt.jsonl", &reuse), is(false, "passed"));
}

/// A plugin of Claude Code with one skill and one case that wants it.
fn plugin() -> Project {
    let project = project(0);
    fs::remove_dir_all(project.path("csv")).unwrap();
    project.write("plug/.claude-plugin/plugin.json", "{\"name\": \"data\"}");
    project.write("plug/skills/csv/SKILL.md", SKILL);
    project.write("plug/evals/sums/prompt.md", "---\nruns: 1\n---\nSum\n");
    project.write("plug/evals/sums/graders/sum.md", "---\ntype: regex\n---\n42\n");
    project
}

#[test]
fn cases_of_a_plugin_run_with_its_skills() {
    let project = plugin();
    project.run(&["plug/evals", "--no-record", "--output", "once.jsonl"]).exits(0);
    assert_eq!(project.rows_of("once.jsonl")[0]["skills"]["given"], json!(["csv"]));
    // Also where nothing is a repository, and for a single case.
    project.run(&["plug/evals/sums", "--no-record", "--output", "case.jsonl"]).exits(0);
    assert_eq!(project.rows_of("case.jsonl")[0]["skills"]["given"], json!(["csv"]));
    let arms = ["plug/evals", "--arm", "with", "--arm", "without", "--no-record"];
    let ran = project.run(&arms);
    ran.exits(0).prints("without  0 of 1 passed").prints("with     1 of 1 passed");
    let shown = project.evalrig(&["convert", "plug/evals", "-o", "EVAL.yaml"]);
    shown.exits(0);
    assert!(project.read("EVAL.yaml").contains("plug/skills/*"), "{}", project.read("EVAL.yaml"));
}

#[test]
fn what_a_plugin_has_beside_skills_is_a_loss() {
    let project = plugin();
    project.write("plug/commands/sum.md", "Sum");
    project.write("plug/.mcp.json", "{}");
    let ran = project.evalrig(&["validate", "plug/evals"]);
    let plugin = "plug/.claude-plugin/plugin.json";
    ran.exits(0)
        .prints(plugin)
        .prints("`commands` of the plugin")
        .prints("`mcpServers` of the plugin");
    assert!(!ran.out.contains("`agents`"), "{}", ran.out);
}

#[test]
fn an_unknown_revision_is_found_by_validate() {
    let project = project(1);
    let suite = project.read("csv/evals/EVAL.yaml");
    let arms = |revision: &str| {
        let arms = format!("arms:\n  before: {{skills: [\"git:{revision}:../\"]}}\ntests:");
        project.write("csv/evals/EVAL.yaml", &suite.replace("tests:", &arms));
        project.evalrig(&["validate"])
    };
    git(&project, &["init", "-q"]);
    git(&project, &["add", "."]);
    git(&project, &["commit", "-qm", "first"]);
    arms("HEAD").exits(0);
    let ran = arms("nowhere");
    ran.exits(1).prints("skill-not-found").prints("`git:nowhere:../` in `skills`").prints(":3:21");
}

#[test]
fn an_unknown_revision_of_a_target_is_found_by_validate() {
    let project = project(1);
    let skills = |source: &str| {
        let target = "targets:\n  - name: default\n    provider: claude-cli\n";
        let own = format!("{target}    skills: [\"git:{source}\"]\n");
        project.write(".evalrig/targets.yaml", &own);
        project.evalrig(&["validate"])
    };
    git(&project, &["init", "-q"]);
    git(&project, &["add", "."]);
    git(&project, &["commit", "-qm", "first"]);
    skills("HEAD:./csv").exits(0);
    for source in ["nowhere:./csv", "HEAD:./csx"] {
        let ran = skills(source);
        let said = format!("`git:{source}` in `skills`");
        ran.exits(1).prints("skill-not-found").prints(&said).prints("targets.yaml:4:14");
    }
}
