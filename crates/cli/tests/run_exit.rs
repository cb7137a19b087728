//! How `run` exits (spec 11.4), and which reason wins when there are several.
#![cfg(unix)]

mod support;

use support::{Project, is_alive, wait_until};

/// One test for each outcome.
const SUITE: &str = "\
name: exits
tests:
  - {id: good, criteria: c, input: hi, metadata: {tags: [fine]}, assert: [{type: contains, value: hello}]}
  - {id: good-2, criteria: c, input: hi, assert: [{type: contains, value: hello}]}
  - {id: bad, criteria: c, input: hi, assert: [{type: contains, value: bye}]}
  - id: half
    criteria: c
    input: hi
    assert: [{type: contains, value: hello, weight: 7}, {type: contains, value: bye, weight: 3}]
  - {id: broken, criteria: c, input: boom, assert: [{type: contains, value: hello}]}
  - {id: skipped, criteria: c, input: hi, skip: not today, assert: [{type: contains, value: hello}]}
  - {id: ungraded, input: hi}
";

const MOCK: &str =
    "targets: [{name: default, provider: mock, responses: [{pattern: hi, response: hello}]}]\n";

/// Creates a file when it is called.
const MARKING: &str = "\
targets:
  - {name: default, provider: cli, command: [sh, -c, 'touch called; echo hello']}
  - {name: other, provider: cli, command: [sh, -c, 'touch called; echo hello'], env: {A: '${{ NEVER_SET_ANYWHERE }}'}}
";

const PLAIN: &str = "\
name: plain
tests:
  - {id: a, criteria: c, input: hi, assert: [{type: contains, value: hello}]}
";

#[test]
fn a_file_of_another_tool_is_skipped_with_a_message() {
    let targets = "targets: [{name: default, provider: mock, response: hello}]\n";
    let project = Project::new("testcases: []\n", targets);
    std::fs::rename(project.path("EVAL.yaml"), project.path("eval.yaml")).unwrap();
    let ran = project.run(&[]);
    ran.exits(4).says("foreign-dialect").says("no suite was found");
}

#[test]
fn the_worst_outcome_decides() {
    let project = Project::new(SUITE, MOCK);
    for (filters, options, code) in [
        ("good", "", 0),
        ("good good-2", "", 0),
        ("bad", "", 1),
        ("half", "", 1),
        ("half", "--allow-borderline", 0),
        ("half good", "--allow-borderline", 0),
        ("half bad", "--allow-borderline", 1),
        ("half broken", "--allow-borderline", 3),
        ("half", "--pass 0.7", 0),
        ("half", "--borderline 0.75", 1),
        ("broken", "", 3),
        ("broken good", "", 3),
        ("broken skipped", "", 3),
        ("broken bad", "", 1),
        ("broken half", "", 1),
        ("skipped", "", 4),
        ("ungraded", "", 4),
        ("skipped ungraded", "", 4),
        ("skipped good", "", 0),
        ("ungraded good", "", 0),
        ("skipped bad", "", 1),
        ("*", "", 1),
        ("* !bad !half !broken", "", 0),
    ] {
        let mut words = Vec::new();
        for filter in filters.split_whitespace() {
            words.extend(["--filter", filter]);
        }
        words.extend(options.split_whitespace());
        let ran = project.run(&words);
        assert_eq!(ran.code, Some(code), "{words:?}\n{}\n{}", ran.out, ran.err);
        let summary = project.path(".evalrig/results/latest.jsonl");
        let summary = std::fs::canonicalize(summary).unwrap().with_extension("");
        let summary = std::fs::read_to_string(summary.with_extension("summary.json")).unwrap();
        assert!(summary.contains(&format!("\"exitCode\": {code}")), "{summary}");
        if !options.starts_with("--pass") && !options.starts_with("--borderline") {
            let mut words = vec!["report", support::LATEST];
            words.extend(options.split_whitespace());
            project.evalrig(&words).exits(code);
        }
    }
}

#[test]
fn an_empty_selection_is_not_a_success() {
    let project = Project::new(SUITE, MARKING);
    for words in [
        &["--filter", "zebra"][..],
        &["--tag", "zebra"],
        &["--tag", "fine", "--filter", "bad"],
        &["--filter", "!*"],
        &["--sample", "0"],
        &["--dry-run", "--filter", "zebra"],
    ] {
        let ran = project.run(words);
        assert_eq!(ran.code, Some(4), "{words:?}\n{}\n{}", ran.out, ran.err);
        ran.says("no test was selected");
    }
    assert!(!project.has("called"));
    assert!(!project.has(".evalrig/results"));
    let empty = Project::empty();
    empty.run(&[]).exits(4).says("no suite found");
}

#[test]
fn skipped_cases_say_why_and_call_nothing() {
    let project = Project::new(SUITE, MARKING);
    project.run(&["--filter", "skipped"]).exits(4);
    assert!(!project.has("called"));
    let row = project.row("skipped");
    assert_eq!(row["outcome"], "skipped");
    assert_eq!(row["error"]["stage"], "skip");
    assert_eq!(row["error"]["kind"], "skip");
    assert_eq!(row["error"]["message"], "not today");
    // The answer exists, but no assertion grades it.
    let ran = project.run(&["--filter", "ungraded"]);
    ran.exits(4);
    assert!(project.has("called"));
    let row = project.row("ungraded");
    assert_eq!(row["outcome"], "skipped");
    assert_eq!(row["error"]["kind"], "nothing-to-grade");
    assert_eq!(row["error"]["message"], "nothing to grade");
    assert_eq!(row["candidateAnswer"], "hello");
    assert!(row["score"].is_null() && row["verdict"].is_null());
}

/// Nothing was called and nothing was recorded.
#[track_caller]
fn refuses(project: &Project, words: &[&str], reason: &str) {
    project.run(words).exits(2).says(reason);
    assert!(!project.has("called"), "{words:?} called the target");
    assert!(!project.has(".evalrig/results"), "{words:?} left results");
}

#[test]
fn wrong_usage_starts_nothing() {
    let project = Project::new(PLAIN, MARKING);
    for (words, reason) in [
        (&["nowhere"][..], "`nowhere` does not exist"),
        (&["--targets", "nowhere.yaml"], "does not exist"),
        (&["--target", "defualt"], "did you mean `default`?"),
        (&["--judge", "missing"], "`missing`"),
        (&["--shard", "4/3"], "--shard: write I/N"),
        (&["--shard", "0/3"], "--shard: write I/N"),
        (&["--shard", "1/0"], "--shard: write I/N"),
        (&["--shard", "x"], "--shard: write I/N"),
        (&["--filter", "["], "--filter: `[` is not a valid pattern"),
        (&["--pass", "0.5", "--borderline", "0.7"], "borderline"),
        (&["--pass", "1.5"], "--pass"),
        (&["--pass-trials", "2"], "--pass-trials"),
        (&["--trials", "0"], "--trials"),
        (&["--workers", "0"], "--workers"),
        (&["--timeout", "0"], "--timeout"),
        (&["--max-errors", "0"], "--max-errors"),
        (&["--budget-usd=-1"], "--budget-usd"),
        (&["--budget-usd", "NaN"], "--budget-usd"),
        (&["--report", "pdf"], "pdf"),
        (&["--report", "json", "--report", "junit"], "standard output"),
        (&["--resume"], "no interrupted run"),
        (&["--resume=nowhere.jsonl"], "nowhere.jsonl"),
        (&["--failed"], "no results in `.evalrig/results`"),
        (&["--failed", "EVAL.yaml"], "no results yet of `EVAL.yaml`"),
        (&["--failed=nowhere.jsonl"], "nowhere.jsonl"),
        (&["--root", "nowhere"], "`nowhere` does not exist"),
        (&["--target", "other"], "NEVER_SET_ANYWHERE"),
    ] {
        refuses(&project, words, reason);
    }
}

#[test]
fn an_unknown_target_is_reported_once() {
    let project = Project::new(PLAIN, MARKING);
    let ran = project.run(&["--target", "missing"]);
    ran.exits(2).says("it has default, other");
    assert_eq!(ran.err.matches("missing").count(), 1, "{}", ran.err);
    let ran = project.run(&["--judge", "missing"]);
    assert_eq!(ran.err.matches("missing").count(), 1, "{}", ran.err);
}

#[test]
fn a_suite_without_targets_starts_nothing() {
    let project = Project::empty();
    project.write("EVAL.yaml", PLAIN);
    refuses(&project, &[], "no-targets-file");
    let nameless =
        "targets: [{name: one, provider: cli, command: [sh, -c, 'touch called; echo no']}]\n";
    let project = Project::new(PLAIN, nameless);
    refuses(&project, &[], "no-target");
    refuses(&project, &[], "--target one");
    project.run(&["--target", "one"]).exits(1);
    // The test names one that does not exist.
    let named = PLAIN.replace("criteria: c", "criteria: c, execution: {target: gone}");
    let project = Project::new(&named, MARKING);
    refuses(&project, &[], "unknown-target");
}

#[test]
fn a_missing_judge_is_found_before_anything_is_called() {
    let suite = "\
name: judged
tests:
  - {id: by-rubric, criteria: c, input: hi, rubrics: [Is polite]}
  - {id: by-text, criteria: c, input: hi, assert: [{type: contains, value: hello}]}
  - {id: by-criteria, criteria: Is polite, input: hi}
  - {id: by-prompt, criteria: c, input: hi, assert: [{type: llm-judge, prompt: Is it polite?}]}
";
    let project = Project::new(suite, MARKING);
    refuses(&project, &[], "judge-target-missing");
    let ran = project.run(&[]);
    for id in ["by-rubric", "by-criteria", "by-prompt"] {
        ran.says(id);
    }
    assert!(!ran.err.contains("by-text"), "{}", ran.err);
    // Tests without a judge may run.
    project.run(&["--filter", "by-text"]).exits(0);
    project.run(&["--filter", "by-text", "--judge-criteria"]).exits(2);
    project.run(&["--skip-judges"]).exits(0);
    let row = project.row("by-rubric");
    assert_eq!(row["outcome"], "skipped");
    assert_eq!(row["error"]["kind"], "not-judged");
    project.run(&["--skip-judges", "--filter", "by-rubric"]).exits(4);
}

#[test]
fn unset_variables_matter_only_where_they_are_used() {
    let project = Project::new(PLAIN, MARKING);
    refuses(&project, &["--target", "other"], "missing-variable");
    project.run(&[]).exits(0);
    project.write(".env", "NEVER_SET_ANYWHERE=now\n");
    project.run(&["--target", "other"]).exits(0);
    project.run(&["--target", "other", "--no-env-file"]).exits(2);
}

#[test]
fn blocking_faults_stop_a_run_whatever_is_selected() {
    let suite = format!(
        "{PLAIN}  - {{id: b, criteria: c, input: hi, assert: [{{type: contians, value: x}}]}}\n"
    );
    let project = Project::new(&suite, MARKING);
    refuses(&project, &[], "unknown-assertion-type");
    refuses(&project, &["--filter", "a"], "unknown-assertion-type");
    // Also when nothing would be selected: 2 comes before 4.
    refuses(&project, &["--filter", "zebra"], "unknown-assertion-type");
    // In another suite of the same run, too.
    let project = Project::new(PLAIN, MARKING);
    project.write("more/EVAL.yaml", "name: more\ntests: [{id: a}]\n");
    refuses(&project, &[], "missing-input");
}

#[test]
fn faults_that_block_running_matter_only_in_selected_tests() {
    let suite = format!("{PLAIN}  - {{id: b, criteria: c, input: hi, input_files: [gone.txt]}}\n");
    let suite = suite.replace("name: plain", "name: plain\nassert: [{type: contains, value: h}]");
    let project = Project::new(&suite, MARKING);
    refuses(&project, &[], "error[file-not-found]");
    refuses(&project, &["--filter", "b"], "error[file-not-found]");
    project.run(&["--filter", "zebra"]).exits(4);
    let ran = project.run(&["--filter", "a"]);
    ran.exits(0).says("warning[file-not-found]");
    assert!(project.has("called"));
    // Conformance errors do not block a run.
    let project = Project::new(&PLAIN.replace("name: plain\n", ""), MARKING);
    project.run(&[]).exits(0).says("warning[missing-name]");
    // An error in a root assertion affects every test.
    let root = format!("assert: [{{type: code-judge, script: [sh, ./gone.sh]}}]\n{PLAIN}");
    let project = Project::new(&root, MARKING);
    refuses(&project, &["--filter", "a"], "script-not-found");
}

#[test]
fn enough_passing_trials_make_a_test_pass() {
    let targets = "targets: [{name: default, provider: cli, \
                   command: [sh, -c, 'test $EVALRIG_TRIAL = 1 && echo hello || echo bye']}]\n";
    let project = Project::new(PLAIN, targets);
    for (trials, share, code) in [
        ("1", "1.0", 0),
        ("2", "1.0", 1),
        ("2", "0.5", 0),
        ("3", "0.5", 1),
        ("3", "0.33", 0),
        ("4", "0.25", 0),
    ] {
        let ran = project.run(&["--trials", trials, "--pass-trials", share]);
        assert_eq!(ran.code, Some(code), "{trials} {share}\n{}", ran.out);
        assert_eq!(project.rows().len().to_string(), trials);
    }
}

/// Every test says that it was called; `b` waits until it is let go.
const PATIENT: &str = "\
targets:
  - name: default
    provider: cli
    command:
      - sh
      - -c
      - |
        echo $EVALRIG_TEST_ID >> calls
        if [ $EVALRIG_TEST_ID = b ]; then
          sleep 300 & echo $! > grandchild; mv grandchild waiting
          while [ ! -e go ]; do sleep 0.02; done
          kill $!
        fi
        echo hello
";

const THREE: &str = "\
name: three
tests:
  - {id: a, criteria: c, input: hi, assert: [{type: contains, value: hello}]}
  - {id: b, criteria: c, input: hi, assert: [{type: contains, value: hello}]}
  - {id: c, criteria: c, input: hi, assert: [{type: contains, value: hello}]}
";

#[test]
fn the_first_signal_lets_running_cases_finish() {
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let project = Project::new(THREE, PATIENT);
        let mut running = project.start(&["--workers", "1", "--report", "junit=out.xml"]);
        wait_until("b to start", || project.has("waiting"));
        running.signal(signal);
        running.wait_for("finishing running cases");
        project.write("go", "");
        running.end().exits(code);
        assert_eq!(project.lines("calls"), ["a", "b"]);
        assert_eq!(support::ids(&project.rows()), ["a", "b"]);
        assert!(project.has("out.xml"));
        // The remaining cases can be run later.
        project.run(&["--resume"]).exits(0);
        assert_eq!(project.lines("calls"), ["a", "b", "c"]);
        assert_eq!(support::ids(&project.rows()), ["a", "b", "c"]);
        project.run(&["--resume"]).exits(2).says("no interrupted run");
    }
}

#[test]
fn the_second_signal_stops_immediately() {
    let project = Project::new(THREE, PATIENT);
    let mut running = project.start(&["--workers", "1"]);
    wait_until("b to start", || project.has("waiting"));
    let grandchild = project.read("waiting").trim().to_owned();
    running.signal("TERM");
    running.wait_for("press Ctrl-C again to stop immediately");
    // Pending signals of one kind are merged.
    wait_until("the end", || {
        let is_over = running.is_over();
        if !is_over {
            running.signal("TERM");
        }
        is_over
    });
    running.end().exits(143);
    assert_eq!(support::ids(&project.rows()), ["a"]);
    wait_until("the end of what it started", || !is_alive(&grandchild));
    project.write("go", "");
    project.run(&["--resume", "--workers", "1"]).exits(0);
    assert_eq!(project.lines("calls"), ["a", "b", "b", "c"]);
}
