//! The store under faults and power cuts: what was recorded stays, no number is given out twice, and
//! `verify` repairs the rest.

use std::fs;

use camino::Utf8Path;

use super::testing::run;
use super::*;
use crate::disk::faults::{
    FaultyDirectory, LEAST_POINTS, Recovery, Scenario, assert_points, sweep,
};

const CORRUPT: &str = "written by hand: [";

/// A run whose file tells the input and the output, as those of agents do.
fn spoken_run(input: &str, output: &str, second: usize) -> NewRun {
    let mut new = run(input, output);
    let mut reply = evalrig_core::model::Map::new();
    reply.insert("role", "assistant");
    reply.insert("content", output);
    new.messages.push(reply.into());
    new.timestamp = format!("2025-12-25 11:56:{second:02}");
    new
}

fn promised_run(recorded: &Recorded, output: &str) -> String {
    format!("{} {} {output}", recorded.name, recorded.run)
}

fn record_all(store: &Store, watched: Option<&FaultyDirectory>, runs: &[(&str, &str)], at: usize) {
    let runs: Vec<NewRun> =
        runs.iter().enumerate().map(|(n, (i, o))| spoken_run(i, o, at + n)).collect();
    let all: Vec<&NewRun> = runs.iter().collect();
    for (new, recorded) in runs.iter().zip(store.writer().record_all(&all)) {
        match (recorded, watched) {
            (Ok(recorded), Some(watched)) => watched.promise(promised_run(&recorded, &new.output)),
            (recorded, None) => drop(recorded.unwrap()),
            // The case is reported as not recorded.
            (Err(_), Some(_)) => {}
        }
    }
}

/// Three records with four runs each.
fn fill(root: &Utf8Path) {
    let store = Store::of_root(root);
    for number in 0..4 {
        let outputs = ["a", "b", "c"].map(|input| format!("{input}{number}"));
        let runs = [("a", &*outputs[0]), ("b", &*outputs[1]), ("c", &*outputs[2])];
        record_all(&store, None, &runs, number * 3);
    }
}

fn promise_all(watched: &FaultyDirectory, names: &[&str], runs: std::ops::RangeInclusive<u64>) {
    for name in names {
        for run in runs.clone() {
            watched.promise(format!("{name} {run} {name}{}", run - 1));
        }
    }
}

/// New records, records with a history, two inputs with one slug, two runs of one record.
fn record(root: &Utf8Path, watched: &FaultyDirectory) {
    promise_all(watched, &["a", "b", "c"], 1..=4);
    let store = Store::of_root(root);
    let first = [("a", "a4"), ("new", "n0"), ("New!", "n1"), ("a", "a5")];
    record_all(&store, Some(watched), &first, 20);
    record_all(&store, Some(watched), &[("new", "n2"), ("b", "b4")], 30);
}

fn record_in_new_store(root: &Utf8Path, watched: &FaultyDirectory) {
    let store = Store::of_root(root);
    record_all(&store, Some(watched), &[("a", "a0"), ("b", "b0")], 1);
    record_all(&store, Some(watched), &[("a", "a1")], 3);
}

fn fill_and_corrupt(root: &Utf8Path) {
    fill(root);
    let store = Store::of_root(root);
    fs::write(store.summary_path("a"), CORRUPT).unwrap();
    fs::remove_file(store.summary_path("b")).unwrap();
}

fn record_beside_corrupt(root: &Utf8Path, watched: &FaultyDirectory) {
    watched.promise("corrupt");
    record_all(&Store::of_root(root), Some(watched), &[("a", "a4"), ("b", "b4")], 20);
}

fn repair(root: &Utf8Path, watched: &FaultyDirectory) {
    watched.promise("corrupt");
    promise_all(watched, &["a", "b", "c"], 1..=4);
    if Store::of_root(root).verify(VerifyMode::Repair).is_ok() {
        watched.promise("sound");
    }
}

fn revise(root: &Utf8Path, watched: &FaultyDirectory) {
    promise_all(watched, &["a", "b", "c"], 1..=4);
    let store = Store::of_root(root);
    if store.expect("a", TurnSelector::Last, "as expected").is_ok() {
        watched.promise("expected");
    }
    if store.evaluate("b", TurnSelector::Last, ManualVerdict::Fail, Some("why")).is_ok() {
        watched.promise("evaluated");
    }
}

const RETENTION: Retention = Retention { runs: Some(2), history: Some(2), records: Some(2) };

/// Record `a` is the oldest, and goes.
fn prune(root: &Utf8Path, watched: &FaultyDirectory) {
    promise_all(watched, &["b", "c"], 3..=4);
    let _ = Store::of_root(root).prune(RETENTION, PruneMode::Delete);
}

fn check(recovery: &Recovery<'_>) {
    let store = Store::of_root(recovery.root);
    let repaired = store.verify(VerifyMode::Repair).unwrap_or_else(|error| panic!("{error}"));
    if !recovery.lost_sync {
        assert!(repaired.is_sound(), "{:?}", repaired.findings);
    }
    let promised = if recovery.lost_sync { &[] } else { recovery.promised };
    for what in promised {
        check_promise(&store, what);
    }
    // The store goes on: numbers are new, and the next writer finds all that was promised.
    let before: Vec<(String, u64)> = promised.iter().filter_map(|what| number_of(what)).collect();
    for (input, output) in [("a", "later"), ("new", "later")] {
        let recorded = store.record(&spoken_run(input, output, 59));
        let recorded = recorded.unwrap_or_else(|error| panic!("{error}"));
        let place = (recorded.name, recorded.run);
        assert!(!before.contains(&place), "{place:?} is given out twice");
    }
    for what in promised {
        check_promise(&store, what);
    }
    for record in store.list().unwrap().records {
        let mut runs = record.summary.mentioned_runs();
        let count = runs.len();
        runs.dedup();
        assert_eq!(runs.len(), count, "{} has a run twice", record.name);
    }
    let left = store.verify(VerifyMode::Check).unwrap_or_else(|error| panic!("{error}"));
    if !recovery.lost_sync {
        assert!(left.findings.is_empty(), "{:?}", left.findings);
    }
}

/// The record and the number of a promised run.
fn number_of(what: &str) -> Option<(String, u64)> {
    let mut words = what.split(' ');
    let (name, run) = (words.next()?, words.next()?);
    Some((name.to_owned(), run.parse().ok()?))
}

fn check_promise(store: &Store, what: &str) {
    match what {
        "sound" => {}
        "corrupt" => {
            let names = fs::read_dir(store.directory()).unwrap().map(|entry| entry.unwrap().path());
            let mut files = names.filter(|path| path.is_file());
            let is_kept = files.any(|path| fs::read(path).unwrap() == CORRUPT.as_bytes());
            assert!(is_kept, "what a person wrote is gone");
        }
        "expected" => {
            let record = store.read("a").unwrap_or_else(|error| panic!("{error}"));
            let entry = record.summary.turns.last().unwrap().entries().next().unwrap();
            assert_eq!(entry.expected(), "as expected");
        }
        "evaluated" => {
            let record = store.read("b").unwrap_or_else(|error| panic!("{error}"));
            let entry = record.summary.turns.last().unwrap().entry_of(4).unwrap().clone();
            assert_eq!(entry.evaluation(), "fail: why");
        }
        run => check_run(store, run),
    }
}

/// Both the run file and the summary have it.
fn check_run(store: &Store, what: &str) {
    let (name, run) = number_of(what).unwrap();
    let output = what.rsplit(' ').next().unwrap();
    let file = store.run_file(&name, run).unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(Dialogue::of(&file.messages).output.as_deref(), Some(output), "{what}");
    let record = store.read(&name).unwrap_or_else(|error| panic!("{what}: {error}"));
    let turn = record.summary.turns.last().unwrap();
    let entry = turn.entry_of(run).unwrap_or_else(|| panic!("{what} is not in its summary"));
    assert_eq!(entry.output(), Some(output), "{what}");
}

fn check_prune(recovery: &Recovery<'_>) {
    check(recovery);
    let store = Store::of_root(recovery.root);
    store.prune(RETENTION, PruneMode::Delete).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(store.names().unwrap().len(), 2);
    assert!(store.verify(VerifyMode::Check).unwrap().findings.is_empty());
}

#[test]
fn no_fault_or_power_cut_loses_or_doubles_a_recorded_run() {
    let nothing = |_: &Utf8Path| {};
    let scenarios = [
        Scenario { name: "record", prepare: &fill, act: &record, check: &check },
        Scenario { name: "new store", prepare: &nothing, act: &record_in_new_store, check: &check },
        Scenario {
            name: "corrupt summary",
            prepare: &fill_and_corrupt,
            act: &record_beside_corrupt,
            check: &check,
        },
        Scenario { name: "repair", prepare: &fill_and_corrupt, act: &repair, check: &check },
        Scenario { name: "revise", prepare: &fill, act: &revise, check: &check },
        Scenario { name: "prune", prepare: &fill, act: &prune, check: &check_prune },
    ];
    let points = scenarios.map(|scenario| (scenario.name, sweep(&scenario)));
    assert_points(&points, LEAST_POINTS[1]);
}
