//! `run --baseline`: what is compared, which result decides, and errors before anything is called.
#![cfg(unix)]

mod support;

use serde_json::Value;
use support::{LATEST, Project, wait_until};

/// Twenty tests, and one that no target can answer.
fn suite(name: &str) -> String {
    let mut text = format!("name: {name}\ntests:\n");
    for at in 10..30 {
        text += &format!(
            "  - {{id: t{at}, criteria: c, input: ask {at}, assert: [{{type: contains, value: yes}}]}}\n"
        );
    }
    text + "  - {id: broken, criteria: c, input: boom, assert: [{type: contains, value: yes}]}\n"
}

/// `default` fails two tests of ten, `bad` all of the first ten, `good` none.
const MOCK: &str = "\
targets:
  - {name: default, provider: mock, responses: [{pattern: 'ask .[23]', response: no}, {pattern: ask, response: yes}]}
  - {name: bad, provider: mock, responses: [{pattern: 'ask 1', response: no}, {pattern: ask, response: yes}]}
  - {name: good, provider: mock, responses: [{pattern: ask, response: yes}]}
";

const NO_BROKEN: [&str; 2] = ["--filter", "t*"];

/// A project whose run has five trials of every test in `base.jsonl`.
fn project() -> Project {
    let project = Project::new(&suite("shop"), MOCK);
    run(&project, &["--output", "base.jsonl"]).exits(1);
    project
}

/// Without the test that cannot be measured.
fn run(project: &Project, words: &[&str]) -> support::Ran {
    let words: Vec<&str> = [&NO_BROKEN[..], &["--trials", "5"], words].concat();
    project.run(&words)
}

fn document(ran: &support::Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}\n{}", ran.err))
}

fn exit_code_of(project: &Project, summary: &str) -> Value {
    let summary: Value = serde_json::from_str(&project.read(summary)).unwrap();
    summary["exitCode"].clone()
}

#[test]
fn with_a_gate_the_comparison_decides() {
    let project = project();
    for (words, plain, gated, said) in [
        (&[][..], 1, 0, "✓ gate: equivalent to the baseline; "),
        (&["--target", "good"], 0, 0, "✓ gate: better than the baseline; "),
        (&["--target", "bad"], 1, 1, "✗ gate: worse than the baseline; "),
        (
            &["--target", "good", "--trials", "1", "--filter", "t1?"],
            0,
            0,
            "✓ gate: not worse than the baseline; ",
        ),
        (
            &["--trials", "1", "--filter", "t1?"],
            1,
            3,
            "! gate: inconclusive against the baseline; ",
        ),
    ] {
        let ask = |more: &[&str]| {
            let base = ["--baseline", "base.jsonl", "--output", "now.jsonl", "--force"];
            let trials: &[&str] = if words.contains(&"--trials") {
                &[]
            } else {
                &["--filter", "t*", "--trials", "5"]
            };
            project.run(&[&base[..], trials, words, more].concat())
        };
        let ran = ask(&[]);
        ran.exits(plain).prints("baseline base.jsonl");
        assert!(!ran.out.contains("gate:"), "{}", ran.out);
        ask(&["--gate"]).exits(gated).prints(said);
        assert_eq!(exit_code_of(&project, "now.summary.json"), gated);
    }
}

#[test]
fn an_unmeasured_test_passes_the_gate_only_if_it_cannot_change_the_verdict() {
    let project = Project::new(&suite("shop"), MOCK);
    project.run(&["--trials", "5", "--output", "base.jsonl"]).exits(1);
    let words = ["--trials", "5", "--baseline", "base.jsonl", "--gate"];
    let said = "equivalent to the baseline, but trials that could not be measured may change that";
    let ran = project.run(&words);
    ran.exits(3).prints(said);
    ran.prints("10 trials could not be measured (5 in the baseline): -4.8 points if each counts");
    // A wide margin holds whatever they were.
    project.run(&[&words[..], &["--margin", "0.3"]].concat()).exits(0).prints("✓ gate: equivalent");
    // What is new cannot be compared.
    run(&project, &["--output", "base.jsonl", "--force"]).exits(1);
    project.run(&words).exits(0).prints("✓ gate: equivalent to the baseline; ");
    // A worse run is still worse.
    let worse: Vec<&str> = [&words[..], &["--target", "bad"]].concat();
    project.run(&worse).exits(1).prints("✗ gate: worse");
}

#[test]
fn latest_is_the_run_before_and_the_decision_is_that_of_compare() {
    let project = Project::new(&suite("shop"), MOCK);
    run(&project, &[]).exits(1);
    let first = std::fs::read_link(project.path(LATEST)).unwrap();
    let first = format!(".evalrig/results/{}", first.display());
    for (measure, target) in [("pass", "bad"), ("score", "good")] {
        let words = ["--target", target, "--measure", measure, "--margin", "0.05"];
        let baseline = ["--baseline", &first, "--report", "json"];
        let ran = run(&project, &[&words[..], &baseline].concat());
        let found = &document(&ran)["comparison"];
        let candidate = found["candidate"].as_str().unwrap();
        let asked = ["compare", &first, candidate, "--format", "json"];
        let compared = project.evalrig(&[&asked[..], &words[2..]].concat());
        assert_eq!(*found, document(&compared));
    }
    let ran = run(&project, &["--baseline", "latest~2", "--report", "json"]);
    assert_eq!(document(&ran)["comparison"]["base"], first.as_str());
    // At its end, the link will point to this run.
    let ran = run(&project, &["--baseline", LATEST, "--report", "json"]);
    let found = &document(&ran)["comparison"];
    assert_ne!(found["base"], LATEST);
    assert_ne!(found["base"], found["candidate"]);
}

#[test]
fn deselected_tests_are_not_missing() {
    let project = project();
    let ran = project.run(&["--filter", "t10", "--baseline", "base.jsonl"]);
    ran.exits(0).prints("\n           1 unchanged\n");
    assert!(!ran.out.contains("removed"), "{}", ran.out);
    let dry = project.run(&["--filter", "t1*", "--baseline", "base.jsonl", "--dry-run"]);
    dry.exits(0).prints("baseline      base.jsonl, 10 tests in common\n");
    // A removed test is missing, unless only some tests were selected.
    let shorter: String = suite("shop").replace("id: t10", "id: new");
    project.write("EVAL.yaml", &shorter);
    let ran = project.run(&["--trials", "5", "--baseline", "base.jsonl"]);
    ran.prints("2 added, 1 removed, 19 unchanged").exits(1);
}

/// Creates a file when it is called.
const MARKING: &str =
    "targets: [{name: default, provider: cli, command: [sh, -c, 'touch called; echo yes']}]\n";

#[test]
fn errors_are_found_before_any_call() {
    let project = project();
    project.write(".evalrig/targets.yaml", MARKING);
    let rows = project.read("base.jsonl");
    let renamed = project.rows_of("base.jsonl").into_iter().map(|mut row| {
        row["evalId"] = format!("other-{}", row["evalId"]).into();
        format!("{row}\n")
    });
    project.write("other.jsonl", &renamed.collect::<String>());
    project.write("old/any-name.jsonl", &rows);
    project.write("empty.jsonl", "");
    let gate = ["--baseline", "base.jsonl", "--gate"];
    for (words, code, said) in [
        (&["--gate"][..], 2, "--gate: there is nothing to compare with; add `--baseline latest`"),
        (&["--margin", "0.2"], 2, "--margin: there is nothing to compare with"),
        (&["--baseline", "nowhere.jsonl"], 2, "nowhere.jsonl` cannot be read"),
        (&["--baseline", "EVAL.yaml"], 2, "is not a results file"),
        (&["--baseline", "latest"], 2, "`.evalrig/results` has no earlier results of `shop`"),
        (&["--baseline", "old"], 0, ""),
        (&["--baseline", "base.jsonl", "--output", "base.jsonl"], 2, "name an earlier one"),
        (&["--baseline", "other.jsonl", "--gate"], 4, "no test of this run was measured in"),
        (&["--baseline", "empty.jsonl", "--gate"], 4, "no test of this run was measured in"),
        (&[&gate[..], &["--failed"]].concat(), 2, "cannot be used with '--failed"),
        (&[&gate[..], &["--allow-borderline"]].concat(), 2, "cannot be used with"),
        (&[&gate[..], &["--pass-trials", "0.5"]].concat(), 2, "cannot be used with"),
    ] {
        let words: Vec<&str> = [&NO_BROKEN[..], words].concat();
        // One of them is valid; it is only planned.
        let words = match code {
            0 => [&words[..], &["--dry-run"]].concat(),
            _ => words,
        };
        let ran = project.run(&words);
        assert_eq!(ran.code, Some(code), "{words:?}\n{}\n{}", ran.out, ran.err);
        ran.says(said);
        assert!(!project.has("called"), "{words:?}");
    }
    // Without a gate there is nothing to decide, so the run goes on.
    let ran = project.run(&["--filter", "t10", "--baseline", "other.jsonl"]);
    ran.exits(0).prints("no test was measured in both runs");
}

#[test]
fn every_suite_has_its_own_latest() {
    let project = Project::new(&suite("shop"), MOCK);
    project.write("two/EVAL.yaml", &suite("depot"));
    run(&project, &["EVAL.yaml"]).exits(1);
    let ran = run(&project, &["--baseline", "latest"]);
    ran.exits(1).says("no earlier results of `depot`");
    ran.prints("20 added, 20 unchanged");
    let ran = run(&project, &["--baseline", "latest", "--gate"]);
    ran.exits(0).prints("baseline 2 runs, the first ");
    ran.prints("5 trials each, against ");
    ran.prints("40 unchanged");
    // Results of several suites in one file are kept separate.
    run(&project, &["--output", "both.jsonl"]).exits(1);
    let ran = run(&project, &["two", "--baseline", "both.jsonl", "--gate"]);
    ran.exits(0).prints("\n           20 unchanged\n");
}

#[test]
fn a_stored_run_can_be_compared_with_another() {
    let project = project();
    run(&project, &[]).exits(1);
    run(&project, &["--target", "bad"]).exits(1);
    let words = ["report", LATEST, "--baseline"];
    let ask = |more: &[&str]| project.evalrig(&[&words[..], more].concat());
    ask(&["latest"]).exits(1).prints("worse than the baseline: ");
    ask(&["latest", "--gate"]).exits(1).prints("✗ gate: worse");
    ask(&[LATEST]).exits(2).says("name an earlier one");
    ask(&["latest~1"]).exits(2).says("has only one earlier run of `shop`");
    let ran = project.evalrig(&["report", "base.jsonl", "--baseline", "latest~1", "--gate"]);
    ran.exits(0).prints("✓ gate: equivalent");
}

#[test]
fn the_decision_of_the_gate_is_printed_if_no_report_has_it() {
    let project = project();
    let words = ["--baseline", "base.jsonl", "--gate", "--report", "json"];
    run(&project, &words).exits(0).says("gate: equivalent to the baseline; ");
    let words = ["--baseline", "base.jsonl", "--gate", "--report", "github", "--target", "bad"];
    let ran = run(&project, &words);
    ran.exits(1).prints("::error title=evalrig gate::gate: worse than the baseline; ");
    assert!(!ran.err.contains("gate:"), "{}", ran.err);
}

#[test]
fn rerunning_failures_cannot_be_compared() {
    let project = project();
    let words = ["--failed=base.jsonl", "--baseline", "base.jsonl", "--target", "good"];
    let ran = project.run(&words);
    ran.exits(0).says("will improve by chance alone");
    ran.prints("4 fixed");
}

/// `b` waits until it is released.
const PATIENT: &str = "\
targets:
  - name: default
    provider: cli
    command: [sh, -c, 'if [ $EVALRIG_TEST_ID = b ]; then touch waiting; while [ ! -e go ]; do sleep 0.02; done; fi; echo yes']
";

#[test]
fn an_interrupted_run_is_not_compared_and_never_with_itself() {
    let three = "\
name: three
assert: [{type: contains, value: yes}]
tests:
  - {id: a, criteria: c, input: hi}
  - {id: b, criteria: c, input: hi}
  - {id: c, criteria: c, input: hi}
";
    let project = Project::new(three, PATIENT);
    project.write("go", "");
    project.run(&[]).exits(0);
    let first = std::fs::read_link(project.path(LATEST)).unwrap();
    for name in ["go", "waiting"] {
        std::fs::remove_file(project.path(name)).unwrap();
    }
    let mut running = project.start(&["--workers", "1", "--baseline", "latest", "--gate"]);
    wait_until("b to start", || project.has("waiting"));
    running.signal("INT");
    running.wait_for("finishing running cases");
    project.write("go", "");
    let ran = running.end();
    ran.exits(130).says("not compared, because the run did not finish");
    ran.prints("evalrig run --resume --baseline latest --gate");
    let ran = project.run(&["--resume", "--baseline", LATEST]);
    ran.exits(2).says("name an earlier one");
    let ran = project.run(&["--resume", "--baseline", "latest", "--report", "json"]);
    ran.exits(0);
    let found = &document(&ran)["comparison"];
    let base = found["base"].as_str().unwrap();
    assert!(base.ends_with(&first.display().to_string()), "{base}");
    assert_eq!(found["tests"].as_array().unwrap().len(), 3);
}

#[test]
fn latest_says_why_a_run_of_another_target_is_taken() {
    let project = Project::new(&suite("shop"), MOCK);
    run(&project, &[]).exits(1);
    let ran = run(&project, &["--target", "bad", "--baseline", "latest"]);
    ran.says("--baseline: no earlier run of `bad`; compared with the newest run of `default`");
    let ran = run(&project, &["--target", "bad", "--baseline", "latest"]);
    assert!(!ran.err.contains("no earlier run of"), "{}", ran.err);
}

#[test]
fn latest_says_that_an_incomplete_run_is_used_if_there_is_no_other() {
    let project = Project::new(&suite("shop"), MOCK);
    for _ in 0..2 {
        run(&project, &[]).exits(1);
        let file = std::fs::read_link(project.path(LATEST)).unwrap();
        let name = format!(".evalrig/results/{}", file.display());
        let lines = project.lines(&name);
        project.write(&name, &(lines[..30].join("\n") + "\n"));
    }
    let ran = run(&project, &["--baseline", "latest", "--dry-run"]);
    assert_eq!(ran.err.matches("is incomplete; used because there is no other").count(), 1);
    assert_eq!(ran.err.matches("is incomplete and left out").count(), 1, "{}", ran.err);
    run(&project, &["--baseline", "latest", "--gate"]).exits(3);
    // A complete one is better.
    run(&project, &[]).exits(1);
    let ran = run(&project, &["--baseline", "latest", "--gate"]);
    assert!(!ran.err.contains("used because"), "{}", ran.err);
}

/// The number of base runs, and their mean.
fn base_of(ran: &support::Ran) -> (u64, f64) {
    let base = document(ran)["comparison"]["suite"]["base"].clone();
    (base["runs"].as_u64().unwrap(), base["level"].as_f64().unwrap())
}

/// Runs of another target, and an incomplete one, lie between them.
#[test]
fn latest_stands_for_so_many_complete_runs_of_the_target() {
    let project = Project::new(&suite("shop"), MOCK);
    for target in ["default", "bad", "default", "bad", "default", "default"] {
        run(&project, &["--target", target]).exits(1);
    }
    let file = std::fs::read_link(project.path(LATEST)).unwrap();
    let name = format!(".evalrig/results/{}", file.display());
    let lines = project.lines(&name);
    project.write(&name, &(lines[..30].join("\n") + "\n"));
    let compared = |words: &[&str]| {
        let own = ["--output", "now.jsonl", "--force", "--report", "json", "--baseline", "latest"];
        base_of(&run(&project, &[&own[..], words].concat()))
    };
    for (most, runs) in [("1", 1), ("2", 2), ("3", 3), ("9", 3)] {
        let (found, level) = compared(&["--baseline-runs", most]);
        assert_eq!(found, runs, "--baseline-runs {most}");
        assert!((level - 0.8).abs() < 1e-9, "{level}");
    }
    assert_eq!(compared(&[]).0, 3);
    let (runs, level) = compared(&["--target", "bad"]);
    assert!(runs == 2 && (level - 0.5).abs() < 1e-9, "{runs} {level}");
}

#[test]
fn a_pattern_names_results_without_their_summaries() {
    let project = project();
    for name in ["main-1.jsonl", "main-2.jsonl"] {
        run(&project, &["--output", name]).exits(1);
    }
    assert!(project.has("main-1.summary.json"));
    let own = ["--output", "now.jsonl", "--report", "json"];
    let ran = run(&project, &[&own[..], &["--baseline", "main-*"]].concat());
    assert_eq!(base_of(&ran).0, 2);
    assert!(!ran.err.contains("not a row") && !ran.err.contains("damaged"), "{}", ran.err);
    let compared = project.evalrig(&["compare", "main-*", "now.jsonl", "--gate"]);
    compared.exits(0);
    assert!(!compared.err.contains("not a row"), "{}", compared.err);
    project.evalrig(&["compare", "*.summary.json", "now.jsonl"]).exits(2).says("matches no file");
}
