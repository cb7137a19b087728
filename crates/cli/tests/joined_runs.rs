//! Results files that were joined from several runs, as by `cat`: each run counts.
#![cfg(unix)]

mod support;

use serde_json::Value;
use support::Project;

const SUITE: &str = "name: shop
tests:
  - {id: a, criteria: c, input: ask a, assert: [{type: contains, value: yes}]}
  - {id: b, criteria: c, input: ask b, assert: [{type: contains, value: yes}]}
";
const TARGETS: &str = "targets:
  - {name: default, provider: mock, responses: [{pattern: 'ask a', response: yes}, {pattern: ask, response: no}]}
  - {name: good, provider: mock, response: yes}
";

/// Two runs of three trials: `one.jsonl` passes in half of its cases, `two.jsonl` in all.
fn project() -> Project {
    let project = Project::new(SUITE, TARGETS);
    let run = |name: &str, words: &[&str]| {
        let own = ["--trials", "3", "--no-record", "-q", "--output", name];
        project.run(&[&own[..], words].concat());
    };
    run("one.jsonl", &[]);
    run("two.jsonl", &["--target", "good"]);
    // The same target, so that both are runs of the same cases.
    let renamed = project.read("two.jsonl").lines().filter(|line| !line.contains("\"kind\"")).fold(
        String::new(),
        |mut text, line| {
            let mut row: Value = serde_json::from_str(line).expect("a row");
            row["target"] = "default".into();
            row.as_object_mut().expect("a row").remove("crc");
            text += &format!("{row}\n");
            text
        },
    );
    project.write("two.jsonl", &renamed);
    // Rows without checksums are only accepted where no row has one.
    let plain = project
        .rows_of("one.jsonl")
        .iter()
        .fold(String::new(), |text, row| text + &format!("{row}\n"));
    project.write("one.jsonl", &plain);
    project.write("joined.jsonl", &(plain + &renamed));
    project
}

fn compared(project: &Project, words: &[&str]) -> Value {
    let ran = project.evalrig(&[&["compare", "--format", "json", "--seed", "7"], words].concat());
    serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}{}", ran.out, ran.err))
}

#[test]
fn a_base_joined_from_two_runs_has_the_trials_of_both() {
    let project = project();
    let joined = compared(&project, &["joined.jsonl", "two.jsonl"]);
    let apart = compared(&project, &["one.jsonl", "two.jsonl", "two.jsonl"]);
    assert_eq!(joined["suite"]["base"]["runs"], 2);
    assert_eq!(joined["tests"][1]["base"]["trials"], 6);
    assert_eq!(joined["tests"][1]["base"]["passes"], 3);
    assert_eq!(joined["suite"], apart["suite"]);
    assert_eq!(joined["tests"], apart["tests"]);
    let tried = project.evalrig(&["compare", "--selftest", "joined.jsonl", "--format", "json"]);
    let tried: Value = serde_json::from_str(&tried.out).expect("JSON");
    assert_eq!(tried["runs"], 2, "{tried:#}");
    let noise = project.evalrig(&["stats", "joined.jsonl", "--format", "json"]);
    let noise: Value = serde_json::from_str(&noise.out).expect("JSON");
    assert_eq!((&noise["runs"], &noise["cases"]), (&2.into(), &12.into()), "{noise:#}");
}

#[test]
fn a_joined_candidate_is_its_last_run() {
    let project = project();
    let ran = project.evalrig(&["compare", "one.jsonl", "joined.jsonl"]);
    ran.says("the candidate holds 2 runs; the last row of each case counts");
    let joined = compared(&project, &["one.jsonl", "joined.jsonl"]);
    assert_eq!(joined["tests"], compared(&project, &["one.jsonl", "two.jsonl"])["tests"]);
}

#[test]
fn a_resumed_run_is_one_run() {
    let project = Project::new(SUITE, TARGETS);
    let own = ["--trials", "3", "--no-record", "-q", "-j", "1", "--output", "r.jsonl"];
    project.run(&own).exits(1);
    let whole = project.lines("r.jsonl");
    project.write("r.jsonl", &(whole[..5].join("\n") + "\n"));
    // The suite has changed, so the run goes on with a plan of its own.
    project.write("EVAL.yaml", &SUITE.replace("input: ask b", "input: ask b again"));
    project.run(&["--resume=r.jsonl", "--no-record", "-q"]);
    let found = compared(&project, &["r.jsonl", "r.jsonl"]);
    assert_eq!(found["suite"]["base"]["runs"], 1);
    assert_eq!(found["tests"][0]["base"]["trials"], 3);
}

/// Shards of a good run, `good-1.jsonl` to `good-3.jsonl`, and of a bad one.
fn sharded() -> Project {
    let tests: String = (0..12)
        .map(|at| format!("  - {{id: t{at}, criteria: c, input: ask a, assert: [{{type: contains, value: yes}}]}}\n"))
        .collect();
    let targets = "targets:\n  - {name: good, provider: mock, response: yes}\n  \
                   - {name: bad, provider: mock, response: no}\n";
    let project = Project::new(&format!("name: shop\ntests:\n{tests}"), targets);
    for (name, alias) in [("good", "good"), ("again", "good"), ("bad", "bad")] {
        for part in 1..=3 {
            let shard = format!("{part}/3");
            let output = format!("{name}-{part}.jsonl");
            let words = ["--target", alias, "-n", "3", "--shard", &shard, "--output", &output];
            project.run(&[&words[..], &["--no-record", "-q"]].concat());
        }
    }
    project
}

const GOOD: [&str; 3] = ["good-1.jsonl", "good-2.jsonl", "good-3.jsonl"];
const AGAIN: [&str; 3] = ["again-1.jsonl", "again-2.jsonl", "again-3.jsonl"];
const BAD: [&str; 3] = ["bad-1.jsonl", "bad-2.jsonl", "bad-3.jsonl"];

/// As a shell expands `good-*.jsonl`.
#[test]
fn shards_that_are_named_one_by_one_are_one_run() {
    let project = sharded();
    let compare = |words: &[&[&str]]| {
        let ran = project
            .evalrig(&[&["compare", "--gate", "--format", "json"], &words.concat()[..]].concat());
        assert!(!ran.err.contains("missing"), "{}", ran.err);
        let found: Value =
            serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}{}", ran.out, ran.err));
        assert_eq!(found["incomplete"], Value::Null, "{words:?}");
        assert_eq!(found["suite"]["tests"], 12, "{words:?}");
        (ran.code, found["suite"]["base"]["runs"].clone())
    };
    let one = (Some(1), Value::from(1));
    assert_eq!(compare(&[&["--base"], &GOOD, &["--candidate"], &BAD]), one);
    assert_eq!(compare(&[&GOOD, &BAD]), one);
    assert_eq!(compare(&[&["--base"], &GOOD, &AGAIN, &["--candidate"], &BAD]).1, 2);
    assert_eq!(compare(&[&GOOD, &AGAIN, &BAD]).1, 2);
    let each: Vec<&str> = GOOD.iter().flat_map(|file| ["--baseline", file]).collect();
    project
        .run(&[&["--target", "bad", "-n", "3", "--gate", "--no-record"], &each[..]].concat())
        .exits(1);
    let report = [&["report", "--gate"], &BAD[..], &each[..]].concat();
    project.evalrig(&report).exits(1).prints("gate: worse than the baseline");
}
