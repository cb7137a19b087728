//! `run`, `grade` and `report` beyond their exit codes: selection, order, saved results, and
//! secrets.
#![cfg(unix)]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use fake_model::{FakeModel, Reply, Rule, Script};
use serde_json::{Value, json};
use support::{LATEST, Project, ids, text, wait_until};

const MOCK: &str = "targets:\n  - {name: default, provider: mock, response: hello}\n  - {name: second, provider: mock, response: hello}\n";

/// Says which test it was called for.
const LOGGING: &str = "targets: [{name: default, provider: cli, command: [sh, -c, 'echo $EVALRIG_TEST_ID >> calls; echo hello']}]\n";

/// Tests of these ids, all of which pass.
fn suite(ids: &[&str]) -> String {
    let mut suite = "name: many\ntests:\n".to_owned();
    for id in ids {
        suite += &format!(
            "  - {{id: {id}, criteria: c, input: hi, metadata: {{tags: [{}]}}, assert: [{{type: contains, value: hello}}]}}\n",
            &id[..1]
        );
    }
    suite
}

const TEN: [&str; 10] = ["a1", "a2", "a3", "b1", "b2", "b3", "c1", "c2", "c3", "d1"];

/// Test, target and trial of every row.
fn cases(rows: &[Value]) -> Vec<(String, String, u64)> {
    let case = |row: &Value| {
        let trial = row["trial"].as_u64().expect("a number");
        (text(&row["evalId"]), text(&row["target"]), trial)
    };
    let mut cases: Vec<_> = rows.iter().map(case).collect();
    cases.sort();
    cases
}

#[test]
fn filters_and_tags_choose() {
    let project = Project::new(&suite(&TEN), MOCK);
    for (words, expected) in [
        ("--filter a*", "a1 a2 a3"),
        ("--filter a* --filter b1", "a1 a2 a3 b1"),
        ("--filter a* --filter !a2", "a1 a3"),
        ("--filter !*1 --filter !*2", "a3 b3 c3"),
        ("--filter ?3", "a3 b3 c3"),
        ("--tag d", "d1"),
        ("--tag d --tag a", "a1 a2 a3 d1"),
        ("--tag b --filter *1", "b1"),
        ("--sample 100", "a1 a2 a3 b1 b2 b3 c1 c2 c3 d1"),
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        project.run(&words).exits(0);
        assert_eq!(ids(&project.rows()).join(" "), expected, "{words:?}");
    }
}

#[test]
fn a_sample_is_the_same_for_the_same_seed() {
    let project = Project::new(&suite(&TEN), MOCK);
    let sample = |seed: &str| {
        project.run(&["--sample", "3", "--seed", seed]).exits(0);
        ids(&project.rows())
    };
    let samples: BTreeMap<&str, Vec<String>> =
        ["0", "1", "2", "3", "4"].iter().map(|seed| (*seed, sample(seed))).collect();
    assert!(samples.values().all(|sample| sample.len() == 3));
    assert_eq!(sample("2"), samples["2"]);
    let different: BTreeSet<_> = samples.values().collect();
    assert!(different.len() > 1, "{samples:?}");
}

#[test]
fn shards_cover_every_test_once() {
    let conversation = "  - {id: t1, criteria: c, input: hi, conversation_id: x, assert: [{type: contains, value: hello}]}\n  \
                        - {id: t2, criteria: c, input: hi, conversation_id: x, assert: [{type: contains, value: hello}]}\n";
    let project = Project::new(&(suite(&TEN) + conversation), MOCK);
    let words = ["--trials", "2", "--target", "default", "--target", "second"];
    project.run(&words).exits(0);
    let whole = cases(&project.rows());
    assert_eq!(whole.len(), 12 * 2 * 2);
    let mut parts = Vec::new();
    for shard in ["1/3", "2/3", "3/3"] {
        let words: Vec<&str> = words.iter().chain(&["--shard", shard]).copied().collect();
        project.run(&words).exits(0);
        let part = cases(&project.rows());
        assert!(part.len() < whole.len() && !part.is_empty(), "{shard}");
        parts.extend(part);
    }
    parts.sort();
    assert_eq!(parts, whole);
    // With more shards than tests some are empty, and the others still pass.
    let codes: BTreeSet<_> =
        (1..=20).map(|part| project.run(&["--shard", &format!("{part}/20")]).code).collect();
    assert_eq!(codes, BTreeSet::from([Some(0), Some(4)]));
}

const MIXED: &str = "\
name: mixed
tests:
  - {id: good, criteria: c, input: hi, assert: [{type: contains, value: hello}]}
  - {id: bad, criteria: c, input: hi, assert: [{type: contains, value: bye}]}
  - {id: broken, criteria: c, input: boom, assert: [{type: contains, value: hello}]}
  - {id: skipped, criteria: c, input: hi, skip: true, assert: [{type: contains, value: hello}]}
";
const PICKY: &str =
    "targets: [{name: default, provider: mock, responses: [{pattern: hi, response: hello}]}]\n";

#[test]
fn failures_can_be_rerun_alone() {
    let project = Project::new(MIXED, PICKY);
    project.run(&["--output", "first.jsonl"]).exits(1);
    project.run(&["--failed=first.jsonl"]).exits(1);
    assert_eq!(ids(&project.rows()), ["bad", "broken"]);
    // The latest results are those of the two now; one of them is repaired.
    project.write("EVAL.yaml", &MIXED.replace("bye", "hello"));
    project.run(&["--failed"]).exits(3);
    assert_eq!(ids(&project.rows()), ["bad", "broken"]);
    project.run(&["--failed"]).exits(3);
    assert_eq!(ids(&project.rows()), ["broken"]);
    project.run(&["--failed", "--filter", "bad"]).exits(4);
    project.run(&["--filter", "good"]).exits(0);
    project.run(&["--failed"]).exits(4).says("every selected test passed in the earlier run");
    // A suite that was never run has nothing to run again, and does not hinder the others.
    project.write("more/EVAL.yaml", &suite(&["a"]));
    project.run(&["--failed"]).exits(4).says("every selected test passed in the earlier run");
    project.run(&["--failed", "more"]).exits(2).says("no results yet of `more/EVAL.yaml`");
    let ran = project.run(&["--failed", "more", "EVAL.yaml"]);
    ran.exits(4).says("has no results of `many`");
}

#[test]
fn failures_are_selected_by_suite_and_target() {
    let project = Project::new(MIXED, PICKY);
    let other = "name: other\ntests: [{id: bad, criteria: c, input: hi, assert: [{type: contains, value: hello}]}]\n";
    project.write("other/EVAL.yaml", other);
    project.run(&[]).exits(1);
    project.run(&["--failed", "--output", "again.jsonl"]).exits(1);
    let rows = project.rows_of("again.jsonl");
    let found: BTreeSet<_> =
        rows.iter().map(|row| (text(&row["dataset"]), text(&row["evalId"]))).collect();
    let expected =
        [("mixed", "bad"), ("mixed", "broken")].map(|(a, b)| (a.to_owned(), b.to_owned()));
    assert_eq!(found, BTreeSet::from(expected));

    let targets = "targets:\n  - {name: one, provider: mock, response: hello}\n  - {name: two, provider: mock, response: bye}\n";
    let project = Project::new(&suite(&["a1", "a2"]), targets);
    let both = ["--target", "one", "--target", "two"];
    project.run(&both).exits(1);
    assert_eq!(project.rows().len(), 4);
    project.run(&[&both[..], &["--failed"]].concat()).exits(1);
    assert_eq!(project.rows().len(), 2, "only what failed, on the target where it did");
}

#[test]
fn trials_and_targets_multiply() {
    let project = Project::new(&suite(&["a", "b"]), MOCK);
    project
        .run(&["--trials", "2", "--target", "default", "--target", "second", "--target", "default"])
        .exits(0);
    let cases = cases(&project.rows());
    assert_eq!(cases.len(), 8);
    assert_eq!(cases.iter().collect::<BTreeSet<_>>().len(), 8);
    // Written in the suite, and on one test.
    let written = suite(&["a"]).replace("name: many", "name: many\ntrials: 3")
        + "  - {id: b, criteria: c, input: hi, trials: 1, assert: [{type: contains, value: hello}]}\n";
    project.write("EVAL.yaml", &written);
    project.run(&[]).exits(0);
    assert_eq!(ids(&project.rows()), ["a", "a", "a", "b"]);
    project.run(&["--trials", "2"]).exits(0);
    assert_eq!(ids(&project.rows()), ["a", "a", "b", "b"]);
}

#[test]
fn turns_of_a_conversation_come_one_after_another() {
    let mut suite = "name: talk\ntests:\n".to_owned();
    for turn in 1..=4 {
        for talk in ["x", "y"] {
            let wanted = if turn == 2 { "never said" } else { "hello" };
            suite += &format!(
                "  - {{id: {talk}{turn}, criteria: c, input: hi, conversation_id: {talk}, assert: [{{type: contains, value: {wanted}}}]}}\n"
            );
        }
    }
    let targets = "targets: [{name: default, provider: cli, command: \
                   [sh, -c, 'echo begin $EVALRIG_TEST_ID >> calls; sleep 0.02; echo end $EVALRIG_TEST_ID >> calls; echo hello']}]\n";
    let project = Project::new(&suite, targets);
    project.run(&["--workers", "8"]).exits(1);
    let calls = project.lines("calls");
    for talk in ["x", "y"] {
        let of_talk: Vec<_> =
            calls.iter().filter(|line| line.contains(&format!(" {talk}"))).collect();
        let expected: Vec<_> = (1..=4)
            .flat_map(|turn| [format!("begin {talk}{turn}"), format!("end {talk}{turn}")])
            .collect();
        assert_eq!(of_talk, expected.iter().collect::<Vec<_>>());
    }
}

#[test]
fn max_errors_stops_a_run_that_can_be_resumed() {
    let targets = "targets: [{name: default, provider: cli, command: [sh, -c, 'echo $EVALRIG_TEST_ID >> calls; test -e fixed && echo hello']}]\n";
    let project = Project::new(&suite(&TEN), targets);
    let ran = project.run(&["--workers", "1", "--max-errors", "2"]);
    ran.exits(3).says("2 cases could not be measured");
    assert_eq!(project.lines("calls"), ["a1", "a2"]);
    let rows = project.rows();
    assert_eq!(rows.len(), 10);
    let limited = rows.iter().filter(|row| row["error"]["kind"] == "limit");
    assert_eq!(limited.clone().count(), 8);
    for row in limited {
        assert_eq!((&row["outcome"], &row["attempts"]), (&json!("errored"), &json!(0)));
        assert!(text(&row["error"]["message"]).starts_with("not run: 2 cases could not"));
    }
    project.write("fixed", "");
    // The two finished cases are not repeated.
    project.run(&["--resume", "--workers", "1"]).exits(3);
    assert_eq!(project.lines("calls"), TEN);
    let (mut errored, mut passed) = (0, 0);
    for id in TEN {
        match project.row(id)["outcome"].as_str() {
            Some("passed") => passed += 1,
            _ => errored += 1,
        }
    }
    assert_eq!((errored, passed), (2, 8));
    project.run(&["--failed"]).exits(0);
    assert_eq!(ids(&project.rows()), ["a1", "a2"]);
}

#[test]
fn fail_fast_starts_no_other_case_and_the_rest_can_be_resumed() {
    let targets = "targets: [{name: default, provider: cli, command: [sh, -c, 'echo $EVALRIG_TEST_ID >> calls; test $EVALRIG_TEST_ID = a2 && echo no || echo hello']}]\n";
    let project = Project::new(&suite(&TEN), targets);
    let ran = project.run(&["--workers", "1", "--fail-fast"]);
    ran.exits(1).says("a case did not pass").prints("stopped after a failure");
    ran.prints("8 of 10 cases have no row").prints("evalrig run --resume");
    assert_eq!(project.lines("calls"), TEN[..2]);
    assert_eq!(project.rows().len(), 2, "cases that were not started have no row");
    project.run(&["--resume"]).exits(1).prints("9 of 10 passed");
    assert_eq!(project.lines("calls"), TEN);
    assert_eq!(project.rows().len(), 10);
    // Two failures are allowed by a number, and borderline cases where they are accepted.
    std::fs::remove_file(project.path("calls")).unwrap();
    project.run(&["--workers", "1", "--fail-fast=2"]).exits(1);
    assert_eq!(project.lines("calls"), TEN);
    project.run(&["--fail-fast=0"]).exits(2).says("--fail-fast");
    project.run(&["--fail-fast", "--baseline", LATEST, "--gate"]).exits(2).says("--gate");
}

#[test]
fn a_budget_stops_a_run_that_can_be_resumed() {
    let targets = "targets: [{name: default, provider: cli, format: messages, command: \
                   [sh, -c, 'echo $EVALRIG_TEST_ID >> calls; echo \"{\\\"text\\\": \\\"hello\\\", \\\"cost_usd\\\": 0.5}\"']}]\n";
    let project = Project::new(&suite(&TEN), targets);
    let ran = project.run(&["--workers", "1", "--budget-usd", "1.5"]);
    ran.exits(3).says("budget of 1.5 USD");
    assert_eq!(project.lines("calls"), ["a1", "a2", "a3"]);
    assert_eq!(project.row("b1")["error"]["kind"], "limit");
    assert_eq!(project.row("a1")["costUsd"], 0.5);
    let ran = project.run(&["--resume", "--workers", "1"]);
    ran.exits(0).prints("10 tests passed");
    assert_eq!(project.lines("calls"), TEN);
    project.evalrig(&["report", LATEST]).exits(0).prints("10 tests passed");
    project.run(&["--resume"]).exits(2).says("no interrupted run");
}

#[test]
fn rows_go_to_the_output_file() {
    let project = Project::new(&suite(&["a", "b"]), MOCK);
    project.run(&["--output", "deep/down/rows.jsonl"]).exits(0);
    assert_eq!(ids(&project.rows_of("deep/down/rows.jsonl")), ["a", "b"]);
    assert!(project.has("deep/down/rows.summary.json"));
    assert!(!project.has("deep/down/rows.jsonl.journal"));
    assert!(!project.has(".evalrig/results"));
    // Forced, a second time replaces; the old rows are not mixed with the new ones.
    project.run(&["--output", "deep/down/rows.jsonl", "--filter", "a", "--force"]).exits(0);
    assert_eq!(ids(&project.rows_of("deep/down/rows.jsonl")), ["a"]);
    project.run(&["--output", "deep"]).exits(2).says("cannot write results");
    project.run(&["--output", "EVAL.yaml/x.jsonl"]).exits(2).says("cannot write results");
    assert!(std::fs::read_dir(project.scratch.path()).unwrap().next().is_none());
}

#[test]
fn rows_may_go_to_a_device_that_has_nothing_beside_it() {
    let project = Project::new(&suite(&["a"]), MOCK);
    project.run(&["--output", "/dev/null"]).exits(0);
    assert!(!std::path::Path::new("/dev/null.summary.json").exists());
    // A disk that is full is noticed before anything is called.
    if std::path::Path::new("/dev/full").exists() {
        let ran = project.run(&["--output", "/dev/full"]);
        ran.exits(2).says("`/dev/full` cannot be written");
    }
}

#[test]
fn several_suites_are_one_run() {
    let project = Project::new(&suite(&["a"]), LOGGING);
    project.write("two/EVAL.yaml", &suite(&["a", "b"]).replace("name: many", "name: more"));
    project.run(&[]).exits(0).prints("3 tests passed");
    let names = |ending: &str| {
        let files = project.all_files();
        let names =
            files.iter().map(|(path, _)| path.file_name().unwrap().to_string_lossy().into_owned());
        names.filter(|name| name.ends_with(ending)).count()
    };
    // One of each, and the link to the latest.
    assert_eq!((names(".jsonl"), names(".summary.json")), (3, 2));
    project.run(&["--output", "all.jsonl"]).exits(0);
    let rows = project.rows_of("all.jsonl");
    let datasets: BTreeSet<_> = rows.iter().map(|row| text(&row["dataset"])).collect();
    assert_eq!(rows.len(), 3);
    assert_eq!(datasets, BTreeSet::from(["many".to_owned(), "more".to_owned()]));
    let summary: Value = serde_json::from_str(&project.read("all.summary.json")).unwrap();
    assert_eq!(summary["summary"]["total"], 3);
    // Graded again, each suite on its own.
    project
        .evalrig(&["grade", "all.jsonl", "--suite", "two/EVAL.yaml", "--output", "g.jsonl"])
        .exits(0);
    assert_eq!(ids(&project.rows_of("g.jsonl")), ["a", "b"]);
}

const CALLING: &str = "targets: [{name: default, provider: mock, responses: [{response: hello, tool_calls: [{tool: search, args: {q: x}, output: found}]}]}]\n";

#[test]
fn messages_are_saved_unless_they_are_left_out() {
    let project = Project::new(&suite(&["a"]), CALLING);
    project.run(&["--no-messages"]).exits(0);
    assert!(project.row("a").get("outputMessages").is_none());
    project.run(&[]).exits(0);
    let messages = &project.row("a")["outputMessages"];
    assert!(messages.to_string().contains("search"), "{messages}");
    // With them, tool calls can be graded later; without them that is said.
    let stored = std::fs::canonicalize(project.path(LATEST)).unwrap();
    let changed = suite(&["a"])
        .replace("{type: contains, value: hello}", "{type: tool-trajectory, expected: [search]}");
    project.write("EVAL.yaml", &changed);
    project.evalrig(&["grade", stored.to_str().unwrap(), "--output", "g.jsonl"]).exits(0);
    project.write("EVAL.yaml", &suite(&["a"]));
    project.run(&["--no-messages", "--output", "bare.jsonl"]).exits(0);
    project.write("EVAL.yaml", &changed);
    project.evalrig(&["grade", "bare.jsonl", "--output", "h.jsonl"]).exits(3);
    assert_eq!(project.rows_of("h.jsonl")[0]["error"]["kind"], "not-measured");
}

#[test]
fn rows_hold_the_question_and_where_they_come_from() {
    let asked = "name: desk
tests:
  - id: hours
    criteria: Says when the shop opens
    tags: [fast]
    input:
      - {role: system, content: Be brief.}
      - {role: user, content: When do you open?}
    expected_output: At nine.
    assert:
      - {type: contains, value: hello}
      - {type: not-contains, value: euro}
";
    let project = Project::new(asked, MOCK);
    project.run(&["--trials", "2", "--shard", "1/1"]).exits(0);
    let rows = project.rows();
    let row = &rows[0];
    assert_eq!(
        row["input"],
        json!([{"role": "system", "content": "Be brief."},
               {"role": "user", "content": "When do you open?"}])
    );
    assert_eq!(row["criteria"], "Says when the shop opens");
    assert_eq!(row["expectedOutput"], "At nine.");
    assert_eq!(row["tags"], json!(["fast"]));
    assert_eq!(row["agent"], json!({"provider": "mock"}));
    assert_eq!(row["plan"]["shard"], "1/1");
    assert_eq!(row["evalrig"], env!("CARGO_PKG_VERSION"));
    let sentences = row["evaluatorResults"].as_array().unwrap().iter();
    let sentences: Vec<String> = sentences.map(|result| text(&result["sentence"])).collect();
    assert_eq!(sentences, ["Output contains 'hello'", "NOT: Output contains 'euro'"]);
    let command = text(&row["command"]);
    assert!(command.starts_with("evalrig run ") && command.contains("--shard 1/1"), "{command}");
    // The answer is all there is.
    assert!(row.get("outputMessages").is_none());
    let header = project.read(LATEST);
    let header: Value = serde_json::from_str(header.lines().next().unwrap()).unwrap();
    for row in &rows {
        assert_eq!(row["run"], header["run"]);
        assert_eq!(row["plan"]["hash"], header["plan"]);
    }
}

#[test]
fn all_results_files_of_a_run_have_its_id() {
    let project = Project::new(&suite(&["a"]), MOCK);
    project.write("two/EVAL.yaml", &suite(&["b"]).replace("name: many", "name: more"));
    let ids_of_run = || -> BTreeSet<String> {
        let files = std::fs::read_dir(project.path(".evalrig/results")).unwrap();
        let files = files.map(|entry| entry.unwrap().path());
        let files = files.filter(|path| path.extension().is_some_and(|end| end == "jsonl"));
        let texts = files.map(|path| std::fs::read_to_string(path).unwrap());
        texts
            .flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>())
            .map(|line| serde_json::from_str::<Value>(&line).unwrap())
            .filter(|line| line["kind"] != "end")
            .map(|line| text(&line["run"]))
            .collect()
    };
    project.evalrig(&["run", "--no-record"]).exits(0);
    assert_eq!(ids_of_run().len(), 1);
    project.evalrig(&["run", "--no-record"]).exits(0);
    assert_eq!(ids_of_run().len(), 2);
}

const YES: &str = r#"{"checks": [{"id": "criteria", "reasoning": "r", "satisfied": true}, {"id": "rubric-1", "reasoning": "r", "satisfied": true}]}"#;
const NO: &str = r#"{"checks": [{"id": "criteria", "reasoning": "r", "satisfied": false}, {"id": "rubric-1", "reasoning": "r", "satisfied": false}]}"#;

fn with_judge(server: &FakeModel, target: &str) -> String {
    format!(
        "judge_target: judge\ntargets:\n  - {target}\n  \
         - {{name: judge, provider: openai, base_url: \"{}/v1\", api_key: \"${{{{ JUDGE_KEY }}}}\", model: m}}\n",
        server.url()
    )
}

const CLI: &str = "{name: default, provider: cli, command: [sh, -c, 'echo $EVALRIG_TEST_ID >> calls; echo hello']}";

#[test]
fn criteria_are_judged_on_request_and_judges_can_be_skipped() {
    let server = FakeModel::start(Script::new().otherwise(Reply::text(NO)));
    let judged = "  - {id: r, criteria: c, input: hi, rubrics: [Is polite], assert: [{type: contains, value: hello}]}\n";
    let project = Project::new(&(suite(&["a"]) + judged), &with_judge(&server, CLI));
    project.write(".env", "JUDGE_KEY=open-sesame\n");
    project.run(&["--filter", "a"]).exits(0);
    assert_eq!(server.requests().len(), 0);
    project.run(&["--filter", "a", "--judge-criteria"]).exits(1);
    assert_eq!(server.requests().len(), 1);
    assert_eq!(server.requests()[0].header("authorization"), Some("Bearer open-sesame"));
    assert_eq!(project.row("a")["score"], 0.5);
    project.run(&["--filter", "r", "--skip-judges"]).exits(0);
    assert_eq!(server.requests().len(), 1);
    let row = project.row("r");
    assert_eq!(row["evaluatorResults"][0]["outcome"], "skipped");
    assert_eq!(row["score"], 1.0);
    project.run(&["--filter", "r"]).exits(1);
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn a_mock_judge_that_is_asked_to_repair_gives_its_next_response() {
    let judged = "name: judged\ntests: [{id: a, criteria: c, input: hi, rubrics: [Is polite]}]\n";
    let targets = format!(
        "judge_target: judge\ntargets:\n  - {{name: default, provider: mock, response: hello}}\n  \
         - {{name: judge, provider: mock, responses: [{{pattern: Is polite, response: [no JSON, '{YES}']}}]}}\n"
    );
    let project = Project::new(judged, &targets);
    project.run(&[]).exits(0);
    assert_eq!(project.row("a")["judgeUsage"]["calls"], 2);
}

#[test]
fn a_dry_run_calls_nothing_and_leaves_nothing() {
    let server = FakeModel::start(Script::new());
    let judged = "  - {id: r, criteria: c, input: hi, rubrics: [Is polite]}\n";
    let project = Project::new(&(suite(&["a"]) + judged), &with_judge(&server, CLI));
    project.write(".env", "JUDGE_KEY=open-sesame\n");
    let ran = project.run(&["--dry-run", "--trials", "3"]);
    ran.exits(0).prints("2 tests on default, 6 cases").prints("`judge` have no known price");
    assert!(!project.has("calls") && !project.has(".evalrig/results"));
    assert_eq!(server.connections(), 0);
    // Errors that stop a run stop a dry run, too.
    project.run(&["--dry-run", "--target", "missing"]).exits(2);
}

#[test]
fn grading_again_takes_new_assertions_and_old_answers() {
    let server = FakeModel::start(Script::new().otherwise(Reply::text(YES)));
    let project = Project::new(&suite(&["a", "b"]), &with_judge(&server, CLI));
    project.write(".env", "JUDGE_KEY=open-sesame\n");
    project.run(&["--output", "first.jsonl"]).exits(0);
    let before = project.read("first.jsonl");
    let changed = suite(&["a"]).replace("value: hello", "value: bye")
        + "  - {id: b, criteria: c, input: hi, rubrics: [Is polite]}\n  - {id: new, criteria: c, input: hi}\n";
    project.write("EVAL.yaml", &changed);
    let ran = project.evalrig(&["grade", "first.jsonl", "--output", "second.jsonl"]);
    ran.exits(1).prints("Output does not contain 'bye'");
    let rows = project.rows_of("second.jsonl");
    assert_eq!(ids(&rows), ["a", "b"]);
    let of = |id: &str| rows.iter().find(|row| row["evalId"] == id).unwrap();
    assert_eq!((&of("a")["outcome"], &of("b")["outcome"]), (&json!("failed"), &json!("passed")));
    assert_eq!(of("a")["target"], "default");
    // Only the judge was called, and the stored run is unchanged.
    assert_eq!(project.lines("calls").len(), 2);
    assert_eq!(server.requests().len(), 1);
    assert_eq!(project.read("first.jsonl"), before);
    // A test that is gone is named.
    project.write("EVAL.yaml", &suite(&["a"]));
    let ran = project.evalrig(&["grade", "first.jsonl", "--output", "third.jsonl"]);
    ran.exits(0).says("the suite no longer has test `b`");
    project.write("EVAL.yaml", &suite(&["z"]));
    project.evalrig(&["grade", "first.jsonl"]).exits(4);
    assert!(!project.has(".evalrig/results"));
}

#[test]
fn grading_again_keeps_what_could_not_be_measured() {
    let project = Project::new(MIXED, PICKY);
    project.run(&["--output", "first.jsonl"]).exits(1);
    let reason = |file: &str| {
        let rows = project.rows_of(file);
        let row = rows.iter().find(|row| row["evalId"] == "broken").unwrap().clone();
        (row["outcome"].clone(), row["error"].clone())
    };
    project.evalrig(&["grade", "first.jsonl", "--output", "second.jsonl"]).exits(1);
    assert_eq!(reason("second.jsonl").0, "errored");
    let said = |file: &str| text(&reason(file).1["message"]);
    assert!(said("second.jsonl").ends_with(&said("first.jsonl")));
    assert_eq!(reason("second.jsonl").1["kind"], reason("first.jsonl").1["kind"]);
    assert_eq!(ids(&project.rows_of("second.jsonl")), ids(&project.rows_of("first.jsonl")));
    // Without calls, no targets file is needed.
    std::fs::remove_file(project.path(".evalrig/targets.yaml")).unwrap();
    project.evalrig(&["grade", "first.jsonl", "--output", "third.jsonl"]).exits(1);
    project.evalrig(&["grade", "nowhere.jsonl"]).exits(2);
    project.evalrig(&["grade", "EVAL.yaml"]).exits(2);
}

#[test]
fn a_target_that_judges_is_asked_when_grading_again() {
    let targets = format!(
        "targets:\n  - name: default\n    provider: mock\n    judge_target: default\n    max_concurrency: 1\n    responses:\n      - {{pattern: '## Checks', response: '{YES}'}}\n      - {{response: hello}}\n"
    );
    let suite = "name: self\ntests: [{id: a, criteria: c, input: hi, rubrics: [Is polite]}]\n";
    let project = Project::new(suite, &targets);
    project.run(&["--output", "first.jsonl"]).exits(0);
    project.evalrig(&["grade", "first.jsonl", "--output", "second.jsonl"]).exits(0);
}

#[test]
fn a_stored_run_can_be_shown_in_every_format() {
    let project = Project::new(MIXED, PICKY);
    let all = ["terminal", "jsonl", "json", "junit", "markdown", "github"];
    let mut words = Vec::new();
    for name in all {
        words.extend(["--report".to_owned(), format!("{name}=run.{name}")]);
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let ran = project.run(&words);
    ran.exits(1);
    assert!(ran.out.contains("report   run.terminal\n"), "{}", ran.out);
    for name in all {
        let ran = project.evalrig(&["report", LATEST, "--report", &format!("{name}=again.{name}")]);
        ran.exits(1);
        let again = project.read(&format!("again.{name}"));
        let printed = project.evalrig(&["report", LATEST, "--report", name]);
        printed.exits(1);
        assert!(!printed.out.is_empty() && !again.is_empty(), "{name}");
        for id in ["bad", "broken"] {
            assert!(again.contains(id), "{name}: {again}");
            assert!(project.read(&format!("run.{name}")).contains(id), "{name}");
        }
    }
    let rows = project.rows_of("again.jsonl");
    assert_eq!(rows, project.rows());
    let document: Value = serde_json::from_str(&project.read("again.json")).unwrap();
    assert_eq!(document["schemaVersion"], 1);
    assert!(project.read("again.junit").starts_with("<?xml"));
    assert!(project.read("again.github").contains("::error"));
    project.evalrig(&["report", "nowhere.jsonl"]).exits(2);
    project.evalrig(&["report", "EVAL.yaml"]).exits(2);
    project.write("empty.jsonl", "");
    project.evalrig(&["report", "empty.jsonl"]).exits(4);
}

#[test]
fn secrets_are_never_shown_or_saved() {
    let secrets = ["sk-environment-1234", "sk-header-5678", "sk-custom-9012", "sk-dotenv-3456"];
    let echo = json!({"error": {"message": "Incorrect API key provided: sk-header-5678 (x: sk-custom-9012)"}});
    let server = FakeModel::start(
        Script::new()
            .rule(Rule::new(Reply::status(401).body(echo.clone())).when("refuse"))
            .rule(Rule::new(Reply::text("your keys are sk-header-5678 and sk-custom-9012")).when("tell"))
            .rule(Rule::new(Reply::text("no JSON but sk-header-5678")).when_body("babble"))
            .otherwise(Reply::text(r#"{"checks": [{"id": "rubric-1", "reasoning": "because sk-header-5678", "satisfied": false}]}"#)),
    );
    let suite = "\
name: secrets
tests:
  - {id: echo, criteria: c, input: hi, execution: {target: shell}, assert: [{type: equals, value: nothing}]}
  - {id: fail, criteria: c, input: fail, execution: {target: shell}, assert: [{type: contains, value: x}]}
  - {id: tell, criteria: c, input: tell, assert: [{type: contains, value: zebra}]}
  - {id: refuse, criteria: c, input: refuse, assert: [{type: contains, value: x}]}
  - {id: judged, criteria: c, input: tell, rubrics: [Is polite]}
  - {id: babbled, criteria: babble, input: hi, execution: {target: shell}}
  - id: scripted
    criteria: c
    input: hi
    execution: {target: shell}
    assert: [{type: code-judge, script: [sh, -c, 'echo $SOME_API_KEY >&2; echo no $SOME_API_KEY']}]
";
    let targets = format!(
        "judge_target: default\ntargets:\n  - name: default\n    provider: openai\n    base_url: \"{}/v1\"\n    api_key: \"${{{{ MODEL_SESAME }}}}\"\n    \
         headers: {{x-team: \"${{{{ TEAM }}}}\"}}\n    model: m\n  - name: shell\n    provider: cli\n    \
         command: [sh, -c, 'echo \"$SOME_API_KEY $INNER\"; echo \"$SOME_API_KEY $INNER\" >&2; grep -q fail && exit 3 || exit 0']\n    \
         env: {{INNER: \"${{{{ DOTENV_TOKEN }}}}\"}}\n",
        server.url()
    );
    let project = Project::new(suite, &targets);
    let keys = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(keys.path(), "DOTENV_TOKEN=sk-dotenv-3456\n").unwrap();
    let run = |words: &[&str]| {
        let mut all = words.to_vec();
        all.extend(["--env-file", keys.path().to_str().unwrap()]);
        let mut command = project.command(&all);
        command.env("SOME_API_KEY", "sk-environment-1234");
        command.env("MODEL_SESAME", "sk-header-5678").env("TEAM", "sk-custom-9012");
        support::Ran::of(command)
    };
    let mut words = vec!["run", "--messages", "-v", "--trials", "2"];
    for report in
        ["jsonl=r.jsonl", "json=r.json", "junit=r.xml", "markdown=r.md", "github=r.txt", "terminal"]
    {
        words.extend(["--report", report]);
    }
    let ran = run(&words);
    ran.exits(1);
    let again = run(&["grade", LATEST, "-v"]);
    let said: Vec<&str> =
        [&ran, &again].iter().flat_map(|ran| [ran.out.as_str(), ran.err.as_str()]).collect();
    for secret in secrets {
        for said in &said {
            assert!(!said.contains(secret), "{secret} in\n{said}");
        }
        for (path, bytes) in project.all_files() {
            let is_there = bytes.windows(secret.len()).any(|part| part == secret.as_bytes());
            assert!(!is_there, "{secret} in {}", path.display());
        }
    }
    // They were really used, and what is left of them can be seen.
    assert!(
        server
            .requests()
            .iter()
            .all(|one| one.header("authorization") == Some("Bearer sk-header-5678"))
    );
    assert!(server.requests().iter().all(|one| one.header("x-team") == Some("sk-custom-9012")));
    assert_eq!(project.row("echo")["candidateAnswer"], "*** ***");
    assert!(std::fs::read_dir(project.scratch.path()).unwrap().next().is_none());
}

#[test]
fn a_busy_service_is_left_alone_as_long_as_it_asks_and_connections_are_kept() {
    let busy = Rule::new(Reply::status(429).header("retry-after", "1")).when("busy").times(1);
    let server = FakeModel::start(Script::new().rule(busy).otherwise(Reply::text("hello")));
    let mut suite = suite(&TEN);
    suite += "  - {id: z, criteria: c, input: busy, assert: [{type: contains, value: hello}]}\n";
    let targets = format!(
        "targets: [{{name: default, provider: openai, base_url: \"{}/v1\", api_key: \"${{{{ MODEL }}}}\", model: m}}]\n",
        server.url()
    );
    let project = Project::new(&suite, &targets);
    project.write(".env", "MODEL=open-sesame\n");
    let begun = Instant::now();
    project.run(&["--workers", "2"]).exits(0);
    assert!(begun.elapsed() >= Duration::from_secs(1));
    assert_eq!(project.row("z")["attempts"], 2);
    assert_eq!(server.requests().len(), 12);
    // A connection may still be on its way back when the next request is sent.
    assert!(server.connections() <= 4, "{} connections", server.connections());
    assert_eq!(
        project.row("a1")["tokens"],
        json!({"input": 150, "output": 17, "total": 167, "cached": 30})
    );
    // Without retries the first refusal is the last.
    let server = FakeModel::start(Script::new().otherwise(Reply::status(429)));
    let targets = format!(
        "targets: [{{name: default, provider: openai, base_url: \"{}/v1\", api_key: \"${{{{ MODEL }}}}\", model: m}}]\n",
        server.url()
    );
    project.write(".evalrig/targets.yaml", &targets);
    project.run(&["--filter", "a1", "--retries", "0"]).exits(3);
    assert_eq!(server.requests().len(), 1);
}

/// Kills a run while its judge is working; the judge answers the next request.
fn killed_while_judged(project: &Project, words: &[&str]) -> FakeModel {
    let slow = Rule::new(Reply::text(YES).delay(Duration::from_secs(120))).times(1);
    let server = FakeModel::start(Script::new().rule(slow).otherwise(Reply::text(YES)));
    let target = "{name: default, provider: cli, command: [sh, -c, 'echo $EVALRIG_TEST_ID >> calls; echo hello from sk-shell-12345']}";
    project.write(".evalrig/targets.yaml", &with_judge(&server, target));
    project.write(".env", "JUDGE_KEY=open-sesame\nSHELL_TOKEN=sk-shell-12345\n");
    let running = project.start(words);
    wait_until("the judge to be asked", || !server.requests().is_empty());
    running.kill();
    server
}

const JUDGED: &str =
    "name: judged\ntests: [{id: a, criteria: c, input: hi, rubrics: [Is polite]}]\n";

#[test]
fn an_answer_that_was_being_judged_is_not_asked_for_again() {
    let project = Project::new(JUDGED, "");
    let server = killed_while_judged(&project, &[]);
    assert_eq!(project.lines("calls"), ["a"]);
    assert!(project.rows().is_empty());
    // The journal holds the answer, and no secret.
    let results = std::fs::canonicalize(project.path(LATEST)).unwrap();
    let journal = std::fs::read_to_string(format!("{}.journal", results.display())).unwrap();
    assert!(journal.contains("hello from ***"), "{journal}");
    assert!(!journal.contains("sk-shell") && !journal.contains("sesame"));
    project.run(&["--resume"]).exits(0);
    assert_eq!(project.lines("calls"), ["a"]);
    assert_eq!(server.requests().len(), 2);
    let row = project.row("a");
    assert_eq!(row["candidateAnswer"], "hello from ***");
    assert_eq!(row["attempts"], 1);
}

#[test]
fn an_answer_to_another_question_is_asked_for_anew() {
    let project = Project::new(JUDGED, "");
    let _server = killed_while_judged(&project, &[]);
    project.write("EVAL.yaml", &JUDGED.replace("input: hi", "input: bye"));
    project.run(&["--resume"]).exits(0);
    assert_eq!(project.lines("calls"), ["a", "a"]);
    assert_eq!(project.rows().len(), 1);
}

#[test]
fn a_run_resumes_with_its_original_options() {
    let project = Project::new(JUDGED, "");
    let _server = killed_while_judged(&project, &["--trials", "2", "--filter", "a*"]);
    let other = ["--resume", "--trials", "3", "--filter", "b*"];
    let ran = project.run(&other);
    ran.exits(2).says("was started with `--filter 'a*'`, not `--filter 'b*'`");
    ran.says("was started with `--trials 2`, not `--trials 3`");
    // Options that are repeated may stay.
    project.run(&["--resume", "--trials", "2"]).exits(0);
    assert_eq!(project.rows().len(), 2);
}

#[test]
fn a_test_that_was_changed_counts_once_when_a_run_goes_on() {
    let waiting = "targets: [{name: default, provider: cli, command: \
                   [sh, -c, 'test $EVALRIG_TEST_ID = b && touch waiting; while [ $EVALRIG_TEST_ID = b ] && [ ! -e go ]; do sleep 0.02; done; echo hello']}]\n";
    let suite = suite(&["a", "b"]);
    let project = Project::new(&suite.replacen("hello", "bye", 1), waiting);
    let running = project.start(&["--workers", "1"]);
    wait_until("b to start", || project.has("waiting"));
    wait_until("the row of a", || project.rows().len() == 1);
    running.kill();
    project.write("go", "");
    assert_eq!(project.row("a")["outcome"], "failed");
    project.write("EVAL.yaml", &suite);
    let ran = project.run(&["--resume"]);
    ran.exits(0).prints("2 tests passed");
    assert_eq!(project.row("a")["outcome"], "passed");
    project.evalrig(&["report", LATEST]).exits(0).prints("2 tests passed");
    let results = std::fs::canonicalize(project.path(LATEST)).unwrap();
    let summary = std::fs::read(results.with_extension("summary.json")).unwrap();
    let summary: Value = serde_json::from_slice(&summary).unwrap();
    assert_eq!(summary["summary"]["total"], 2);
}

#[test]
fn a_run_with_an_output_file_can_be_resumed() {
    let project = Project::new(JUDGED, "");
    let _server = killed_while_judged(&project, &["--output", "out/rows.jsonl"]);
    assert!(project.has("out/rows.jsonl.journal"));
    project.run(&["--resume"]).exits(2).says("no interrupted run");
    project.run(&["--resume=out/rows.jsonl"]).exits(0);
    assert_eq!(project.lines("calls"), ["a"]);
    assert_eq!(ids(&project.rows_of("out/rows.jsonl")), ["a"]);
    assert!(!project.has("out/rows.jsonl.journal"));
    assert!(!project.has(".evalrig/results"));
}

#[test]
fn several_suites_in_one_file_can_be_resumed() {
    let project = Project::new(JUDGED, "");
    let other = suite(&["x", "y"]);
    project.write("two/EVAL.yaml", &other);
    let words = ["--output", "rows.jsonl", "--workers", "1"];
    let _server = killed_while_judged(&project, &words);
    project.write("three/EVAL.yaml", &other.replace("many", "three"));
    let ran = project.run(&[".", "--resume=rows.jsonl"]);
    ran.exits(2).says("has no rows of suite `three`");
    // Without a path, the suites are those of the file.
    project.run(&["--resume=rows.jsonl"]).exits(0).prints("3 tests passed");
    assert_eq!(ids(&project.rows_of("rows.jsonl")), ["a", "x", "y"]);
    let mut calls = project.lines("calls");
    calls.sort();
    assert_eq!(calls, ["a", "x", "y"]);
}

#[test]
fn two_runs_do_not_write_to_one_file() {
    let waiting = "targets: [{name: default, provider: cli, command: \
                   [sh, -c, 'touch waiting; while [ ! -e go ]; do sleep 0.02; done; echo hello']}]\n";
    let project = Project::new(&suite(&["a"]), waiting);
    let running = project.start(&["--output", "rows.jsonl"]);
    wait_until("the first run", || project.has("waiting"));
    for words in [&["--output", "rows.jsonl"][..], &["--resume=rows.jsonl"]] {
        project.run(words).exits(2).says("rows.jsonl");
    }
    project.write("go", "");
    running.end().exits(0);
    assert_eq!(ids(&project.rows_of("rows.jsonl")), ["a"]);
}

#[test]
fn suites_with_the_same_name_are_counted_separately() {
    let project = Project::new(&suite(&["a"]), MOCK);
    project.write("two/EVAL.yaml", &suite(&["b", "c"]));
    project.run(&[]).exits(0).says("duplicate-suite-name");
    let mut totals: Vec<u64> = project
        .all_files()
        .iter()
        .filter(|(path, _)| path.to_string_lossy().ends_with(".summary.json"))
        .map(|(_, bytes)| serde_json::from_slice::<Value>(bytes).unwrap())
        .map(|summary| summary["summary"]["total"].as_u64().unwrap())
        .collect();
    totals.sort_unstable();
    assert_eq!(totals, [1, 2]);
}

#[test]
fn a_closed_pipe_does_not_stop_a_run() {
    let project = Project::new(MIXED, PICKY);
    let mut command = std::process::Command::new("sh");
    let line = "\"$EVALRIG\" run --output rows.jsonl | true";
    command.args(["-c", line]).env("EVALRIG", env!("CARGO_BIN_EXE_evalrig"));
    command.current_dir(project.path("."));
    support::Ran::of(command).exits(0);
    assert_eq!(project.rows_of("rows.jsonl").len(), 4);
    assert!(project.has("rows.summary.json"));
}

/// Cases that were never answered have no cost, on every surface alike (spec 11.3).
#[test]
fn run_and_report_agree_on_the_cost_of_a_run_with_an_errored_case() {
    let project = Project::new(
        "name: costs\ntests:\n  \
         - {id: good, criteria: c, input: hi, assert: [{type: contains, value: hello}]}\n  \
         - {id: broken, criteria: c, input: boom, assert: [{type: contains, value: hello}]}\n",
        "targets: [{name: default, provider: mock, responses: [{pattern: hi, response: hello, \
         tokens: {input: 10, output: 5}, cost_usd: 0.5}]}]\n",
    );
    let totals = |text: &str| {
        let document: serde_json::Value = serde_json::from_str(text).expect("JSON");
        let summary = document.get("costUsd").map_or(&document["summary"], |_| &document);
        (summary["costUsd"].clone(), summary["tokens"]["total"].clone())
    };
    let expected = (serde_json::json!(0.5), serde_json::json!(15));
    let ran = project.run(&["--report", "json"]);
    assert_eq!(totals(&ran.exits(3).out), expected, "{}", ran.out);
    let files = project.all_files();
    let mut summaries =
        files.iter().filter(|(path, _)| path.to_string_lossy().ends_with(".summary.json"));
    let summary = String::from_utf8(summaries.next().expect("a summary").1.clone()).expect("UTF-8");
    assert_eq!(totals(&summary), expected, "{summary}");
    let shown = project.evalrig(&["report", support::LATEST, "--report", "json"]);
    assert_eq!(totals(&shown.exits(3).out), expected, "{}", shown.out);
    let shown = project.evalrig(&["report", support::LATEST]);
    assert!(shown.out.contains("$0.5000"), "{}", shown.out);
    assert!(!shown.out.contains("at least"), "{}", shown.out);
}
