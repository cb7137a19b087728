//! Results that are unfinished, cut or damaged: every command says what is missing, and none of them
//! turns green.
#![cfg(unix)]

mod support;

use std::fmt::Write as _;
use std::fs;

use support::{LATEST, Project, wait_until};

const MOCK: &str =
    "targets: [{name: default, provider: mock, responses: [{pattern: hi, response: hello}]}]\n";

/// The first four calls answer; the others wait to be killed.
const STUCK: &str = "\
targets:
  - name: default
    provider: cli
    command:
      - sh
      - -c
      - |
        echo call >> calls
        if [ \"$(wc -l < calls)\" -gt 4 ] && [ ! -e go ]; then
          while [ $PPID -ne 1 ] && kill -0 $PPID 2> /dev/null; do sleep 0.01; done
        fi
        echo hello
";

fn suite(tests: usize) -> String {
    let mut suite = "name: s\ntests:\n".to_owned();
    for number in 0..tests {
        let _ = writeln!(
            suite,
            "  - {{id: t{number:02}, criteria: c, input: hi, assert: [{{type: contains, value: hello}}]}}"
        );
    }
    suite
}

/// A run of 20 cases that was killed after four rows.
fn killed() -> Project {
    let project = Project::new(&suite(20), STUCK);
    let mut running = project.start(&["--workers", "1", "--no-record"]);
    wait_until("the fifth call", || {
        assert!(!running.is_over(), "{}", running.said());
        project.lines("calls").len() >= 5
    });
    running.kill();
    let rows = project.rows();
    assert_eq!(rows.iter().filter(|row| row["evalId"].is_string()).count(), 4);
    project
}

#[test]
fn judges_are_not_checked_on_what_a_killed_run_has_not_judged() {
    let ran = killed().evalrig(&["judge", "check", LATEST]);
    ran.exits(3).says("16 of 20 cases have no row");
}

#[test]
fn a_killed_run_is_not_reported_as_passed() {
    let project = killed();
    let ran = project.evalrig(&["report", LATEST]);
    ran.exits(3).prints("16 of 20 cases have no row").prints("t04, t05").prints("--resume=");
    assert!(!ran.out.contains("all 4 tests passed"), "{}", ran.out);
    for name in ["json", "jsonl", "junit", "markdown", "html", "sarif", "github"] {
        let ran = project.evalrig(&["report", LATEST, "--report", name]);
        ran.exits(3).prints("t04");
    }
    project.evalrig(&["report", LATEST, "--quiet"]).exits(3).prints("16 of 20 cases have no row");
    project.evalrig(&["report", LATEST, "--report", "json=r.json"]).exits(3).prints("16 of 20");
    // As a baseline it stops a gate before anything is called.
    fs::copy(project.path(LATEST), project.path("base.jsonl")).unwrap();
    let gated = ["--baseline", "base.jsonl", "--gate", "--output", "new.jsonl"];
    let calls = project.lines("calls").len();
    project.run(&gated).exits(3).says("--baseline: 16 of 20 cases have no row");
    assert_eq!(project.lines("calls").len(), calls);
    // Without a gate the run goes on and cannot be green.
    project.write("go", "");
    let compared = ["--baseline", "base.jsonl", "--no-record", "--output", "new.jsonl"];
    project.run(&compared).exits(3).prints("--baseline: 16 of 20 cases have no row");
    project.evalrig(&["report", "new.jsonl"]).exits(0);
    for format in ["text", "json", "markdown"] {
        let ran = project.evalrig(&["compare", "base.jsonl", "new.jsonl", "--format", format]);
        ran.exits(3).prints("16 of 20 cases have no row");
    }
    project.evalrig(&["compare", "new.jsonl", "base.jsonl", "--gate"]).exits(3);
    project.run(&["--failed=base.jsonl"]).exits(3).says("--failed: 16 of 20 cases have no row");
    // Graded again, it lacks the same cases.
    let graded = ["grade", "base.jsonl", "--output", "graded.jsonl"];
    project.evalrig(&graded).exits(3).prints("16 of 20 cases have no row");
    project.evalrig(&["report", "graded.jsonl"]).exits(3).prints("16 of 20 cases have no row");
    // Resumed, it is complete.
    project.run(&["--resume", "--no-record"]).exits(0);
    project.evalrig(&["report", LATEST]).exits(0).prints("all 20 tests passed");
    assert_eq!(project.rows().len(), 20);
}

/// As `sed -n 8,15p` and `tail -n +2` leave them.
#[test]
fn results_without_their_header_are_not_reported_as_passed() {
    let project = Project::new(&suite(20), MOCK);
    project.run(&["--output", "whole.jsonl", "--no-record"]).exits(0);
    let whole = project.read("whole.jsonl");
    let lines: Vec<&str> = whole.lines().collect();
    for part in [&lines[7..15], &lines[1..]] {
        project.write("cut.jsonl", &(part.join("\n") + "\n"));
        project.evalrig(&["report", "cut.jsonl"]).exits(3).prints("the header is missing");
        for name in ["json", "jsonl", "junit", "markdown", "html", "sarif", "github"] {
            let ran = project.evalrig(&["report", "cut.jsonl", "--report", name]);
            ran.exits(3).prints("the header is missing");
        }
        let quiet = project.evalrig(&["report", "cut.jsonl", "--quiet"]);
        assert!(!quiet.exits(3).err.contains("older version"), "{}", quiet.err);
        for format in ["text", "json", "markdown"] {
            let compare = ["compare", "cut.jsonl", "whole.jsonl", "--format", format];
            project.evalrig(&compare).exits(3).prints("the header is missing");
        }
        let gated = ["--baseline", "cut.jsonl", "--gate", "--output", "new.jsonl"];
        project.run(&gated).exits(3).says("the header is missing");
        project.run(&["--failed=cut.jsonl"]).exits(3).says("the header is missing");
        project.evalrig(&["grade", "cut.jsonl", "--output", "graded.jsonl", "--force"]).exits(3);
    }
    project.write("empty.jsonl", "");
    let ran = project.evalrig(&["report", "empty.jsonl"]);
    assert!(!ran.exits(4).err.contains("older version"), "{}", ran.err);
}

#[test]
fn merging_three_of_four_shards_is_not_green() {
    let project = Project::new(&suite(8), MOCK);
    for number in 1..=4 {
        let (shard, file) = (format!("{number}/4"), format!("shard-{number}.jsonl"));
        project.run(&["--shard", &shard, "--output", &file, "--no-record"]).exits(0);
    }
    let all = ["shard-1.jsonl", "shard-2.jsonl", "shard-3.jsonl", "shard-4.jsonl"];
    project.evalrig(&["report", all[0], all[1], all[2], all[3]]).exits(0);
    project.evalrig(&["report", "shard-*.jsonl"]).exits(0).prints("all 8 tests passed");
    project.evalrig(&["compare", "shard-*.jsonl", "shard-*.jsonl"]).exits(0);
    let ran = project.evalrig(&["report", all[0], all[1], all[3]]);
    ran.exits(3).prints("2 of 8 cases have no row: t02, t06").prints("shard is missing: 3/4");
    let joined: String = all[..3].iter().map(|file| project.read(file)).collect();
    project.write("joined.jsonl", &joined);
    project.evalrig(&["report", "joined.jsonl"]).exits(3).prints("shard is missing: 4/4");
    let baseline = ["--shard", "2/4", "--output", "again.jsonl", "--baseline", "shard-2.jsonl"];
    project.run(&baseline).exits(0);
    project.evalrig(&["report", "none-*.jsonl"]).exits(2).says("matches no file");
}

/// As on a full disk: rows can no longer be written.
#[test]
fn a_run_whose_results_cannot_be_written_has_not_passed() {
    let project = Project::new(&suite(400), MOCK);
    let program = env!("CARGO_BIN_EXE_evalrig");
    let script = format!(
        "{{ '{program}' run --no-record --workers 1 --output /dev/stdout --report terminal=report.txt; \
         echo $? > code; }} | head -c 1"
    );
    let mut command = std::process::Command::new("sh");
    command.args(["-c", &script]).current_dir(project.path(""));
    support::Ran::of(command);
    assert_eq!(project.read("code").trim(), "3");
    let report = project.read("report.txt");
    assert!(report.contains("results could not be written"), "{report}");
    assert!(!report.contains("tests passed"), "{report}");
}

#[test]
fn a_torn_row_is_named() {
    let project = Project::new(&suite(3), MOCK);
    project.run(&["--output", "out.jsonl", "--no-record"]).exits(0);
    let text = project.read("out.jsonl");
    let lines: Vec<&str> = text.lines().collect();
    let half = &lines[2][..lines[2].len() / 2];
    project.write("out.jsonl", &[lines[0], lines[1], half, lines[3], lines[4], ""].join("\n"));
    let ran = project.evalrig(&["report", "out.jsonl"]);
    ran.exits(3).prints("out.jsonl:3: ").prints("1 of 3 cases has no row");
    project.run(&["--resume=out.jsonl", "--no-record"]).exits(0).says("out.jsonl:3: ");
    project.evalrig(&["report", "out.jsonl"]).exits(0).prints("all 3 tests passed");
}

#[test]
fn a_score_above_1_is_a_damaged_row_and_not_a_panic() {
    let project = Project::new(&suite(3), MOCK);
    project.run(&["--output", "out.jsonl"]).exits(0);
    let rows = project.rows_of("out.jsonl");
    let mut rows: Vec<_> = rows.into_iter().filter(|row| row["evalId"].is_string()).collect();
    for score in [1.5, -0.1] {
        rows[1]["score"] = score.into();
        let lines: String = rows.iter().map(|row| format!("{row}\n")).collect();
        fs::write(project.path("old.jsonl"), lines).unwrap();
        project.evalrig(&["report", "old.jsonl"]).exits(3).prints("old.jsonl:2: ");
        let compared = ["compare", "old.jsonl", "old.jsonl", "--measure", "score"];
        project.evalrig(&compared).exits(3).prints("old.jsonl:2: ");
        project.run(&["--resume=old.jsonl"]).exits(0).says("old.jsonl:2: ");
    }
}
