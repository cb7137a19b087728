//! Tests of comparing, pruning and verifying.

use std::fs;

use super::testing::{alice, folder, read, run};
use super::*;

#[test]
fn runs_are_compared() {
    let here = folder();
    let store = &here.store;
    let mut new = alice("2025-12-25 11:56:26", 4438);
    store.record(&new).unwrap();
    assert!(matches!(
        store.compare("say_hello_to_alice", None),
        Err(StoreError::NotEnoughRuns { .. })
    ));
    new.output = "Bye".to_owned();
    new.evaluation = "fail: x".to_owned();
    new.tools_called = vec!["wave()".to_owned()];
    new.tokens = None;
    store.record(&new).unwrap();
    let found = store.compare("say_hello_to_alice", None).unwrap();
    assert_eq!(found.runs, [1, 2]);
    let turn = &found.turns[0];
    assert_eq!(turn.is_output_same(), Some(false));
    assert_eq!(turn.tools_added, ["wave()"]);
    assert_eq!(turn.tools_removed, ["greet(name='Alice')"]);
    assert_eq!([turn.metas[0].tokens, turn.metas[1].tokens], [Some(155), None]);
    assert!(found.has_regressed());
    let back = store.compare("say_hello_to_alice", Some([2, 1])).unwrap();
    assert!(!back.has_regressed());
    let error = store.compare("say_hello_to_alice", Some([1, 5])).unwrap_err();
    assert_eq!(error.to_string(), "record `say_hello_to_alice` has no run 5");
}

#[test]
fn an_output_missing_in_the_history_comes_from_the_run_file() {
    let here = folder();
    let store = &here.store;
    store.record(&alice("2025-12-25 11:56:26", 1)).unwrap();
    store.record(&alice("2025-12-25 11:56:27", 1)).unwrap();
    let path = store.summary_path("say_hello_to_alice");
    let text = read(&path);
    let start = text.find("  - run: 1").unwrap();
    fs::write(&path, format!("{}  - run: 1\n    status: pass\n    meta: ''\n", &text[..start]))
        .unwrap();
    let found = store.compare("say_hello_to_alice", None).unwrap();
    assert_eq!(found.turns[0].is_output_same(), Some(true));
    assert!(found.turns[0].tools_added.is_empty());
    fs::remove_file(store.run_path("say_hello_to_alice", 1)).unwrap();
    let found = store.compare("say_hello_to_alice", None).unwrap();
    assert_eq!(found.turns[0].is_output_same(), None);
}

#[test]
fn pruning_keeps_the_newest_runs_and_entries() {
    let here = folder();
    let store = &here.store;
    for _ in 0..4 {
        store.record(&run("hi", "x")).unwrap();
    }
    let retention = Retention { runs: Some(1), history: Some(2), records: None };
    let listed = store.prune(retention, PruneMode::List).unwrap();
    assert_eq!(listed.files.len(), 3);
    assert_eq!(listed.history, [("hi".to_owned(), 1)]);
    assert_eq!(store.run_numbers("hi").unwrap(), [1, 2, 3, 4]);
    assert_eq!(store.prune(retention, PruneMode::Delete).unwrap(), listed);
    assert_eq!(store.run_numbers("hi").unwrap(), [4]);
    assert_eq!(store.read("hi").unwrap().summary.turns[0].history.len(), 2);
    assert!(store.prune(retention, PruneMode::Delete).unwrap().is_empty());
    assert!(store.verify(VerifyMode::Check).unwrap().is_sound());
    assert_eq!(store.record(&run("hi", "x")).unwrap().run, 5);
    assert_eq!(store.prune_record("hi", 1).unwrap().files.len(), 1);
}

#[cfg(unix)]
#[test]
fn pruning_deletes_nothing_behind_a_link() {
    let (here, other) = (folder(), folder());
    let store = &here.store;
    store.record(&run("hi", "x")).unwrap();
    other.store.record(&run("hi", "x")).unwrap();
    let directory = store.run_directory("hi");
    fs::remove_dir_all(&directory).unwrap();
    std::os::unix::fs::symlink(other.store.run_directory("hi"), &directory).unwrap();
    assert!(store.prune_record("hi", 0).unwrap().is_empty());
    let retention = Retention { records: Some(0), ..Retention::default() };
    assert_eq!(store.prune(retention, PruneMode::Delete).unwrap().files.len(), 1);
    assert_eq!(other.store.run_numbers("hi").unwrap(), [1]);
}

#[test]
fn an_unreadable_file_does_not_hide_other_findings() {
    let here = folder();
    let store = &here.store;
    fs::create_dir_all(store.summary_path("a")).unwrap();
    fs::create_dir_all(store.run_path("b", 1)).unwrap();
    fs::write(store.summary_path("c"), "x: [").unwrap();
    let findings = store.verify(VerifyMode::Repair).unwrap().findings;
    let names = findings.iter().filter_map(|one| one.path.file_name());
    assert!(names.eq(["a.yaml", "run_1.yaml", "b.yaml", "c.yaml"]));
}

#[test]
fn a_summary_that_cannot_be_rebuilt_is_not_renamed() {
    let here = folder();
    let store = &here.store;
    fs::create_dir_all(store.run_directory("a")).unwrap();
    fs::write(store.summary_path("a"), "x: [").unwrap();
    fs::write(store.run_path("a", 1), "messages: '[]'\n").unwrap();
    let findings = store.verify(VerifyMode::Repair).unwrap().findings;
    assert_eq!(findings[0].repair, RepairStatus::Impossible);
    assert_eq!(read(&store.summary_path("a")), "x: [");
}

#[test]
fn the_newest_records_are_kept() {
    let here = folder();
    let store = &here.store;
    for (input, day) in [("a", 3), ("b", 1), ("c", 2)] {
        let mut new = run(input, "x");
        new.timestamp = format!("2025-12-0{day} 00:00:00");
        store.record(&new).unwrap();
    }
    let retention = Retention { records: Some(2), ..Retention::default() };
    let pruned = store.prune(retention, PruneMode::Delete).unwrap();
    assert_eq!(pruned.records, ["b"]);
    assert_eq!(store.names().unwrap(), ["a", "c"]);
    assert!(!store.run_directory("b").exists());
}

#[test]
fn a_run_missing_in_the_summary_is_added() {
    let here = folder();
    let store = &here.store;
    store.record(&alice("2025-12-25 11:56:26", 4438)).unwrap();
    let summary = read(&store.summary_path("say_hello_to_alice"));
    store.record(&alice("2025-12-25 11:56:56", 3595)).unwrap();
    // As after a crash between writing the two files.
    fs::write(store.summary_path("say_hello_to_alice"), summary).unwrap();
    let looked = store.verify(VerifyMode::Check).unwrap();
    assert_eq!((looked.records, looked.runs, looked.findings.len()), (1, 2, 1));
    assert!(!looked.is_sound());
    assert_eq!(looked.findings[0].message, "the summary does not mention run 2");
    assert!(store.verify(VerifyMode::Repair).unwrap().is_sound());
    assert_eq!(store.verify(VerifyMode::Check).unwrap().findings, []);
    let mended = read(&store.summary_path("say_hello_to_alice"));
    let worked =
        include_str!("worked_summary.yaml").replacen("evaluation: pass", "evaluation: ''", 1);
    assert_eq!(
        mended.replace("updated: '2025-12-25 11:56:26'", "updated: '2025-12-25 11:56:56'"),
        worked
    );
}

#[test]
fn runs_pruned_from_the_history_are_not_added_again() {
    let here = folder();
    let store = &here.store;
    store.record(&alice("2025-12-25 11:56:26", 1)).unwrap();
    fs::remove_file(store.summary_path("say_hello_to_alice")).unwrap();
    for second in 27..30 {
        let time = format!("2025-12-25 11:56:{second}");
        store.record(&alice(&time, 1)).unwrap();
    }
    assert_eq!(store.verify(VerifyMode::Check).unwrap().findings.len(), 1);
    assert!(store.verify(VerifyMode::Repair).unwrap().is_sound());
    let mentioned = |store: &Store| {
        let record = store.read("say_hello_to_alice").unwrap();
        record.summary.mentioned_runs()
    };
    assert_eq!(mentioned(store), [4, 3, 2, 1]);
    let retention = Retention { history: Some(1), ..Retention::default() };
    store.prune(retention, PruneMode::Delete).unwrap();
    assert_eq!(store.verify(VerifyMode::Check).unwrap().findings, []);
    assert_eq!(mentioned(store), [4, 3]);
}

#[test]
fn a_lost_summary_is_rebuilt() {
    let here = folder();
    let store = &here.store;
    store.record(&alice("2025-12-25 11:56:26", 4438)).unwrap();
    store.record(&alice("2025-12-25 11:56:56", 3595)).unwrap();
    let path = store.summary_path("say_hello_to_alice");
    let ungraded = read(&path)
        .replace("expected: Hello, Alice!", "expected: ''")
        .replace("evaluation: pass", "evaluation: ''");
    for damage in [None, Some("a: [")] {
        match damage {
            None => fs::remove_file(&path).unwrap(),
            Some(text) => fs::write(&path, text).unwrap(),
        }
        assert!(!store.verify(VerifyMode::Check).unwrap().is_sound());
        assert!(store.verify(VerifyMode::Repair).unwrap().is_sound());
        assert_eq!(read(&path), ungraded);
    }
}

#[test]
fn findings_beyond_repair_are_reported() {
    let here = folder();
    let store = &here.store;
    store.record(&run("hi", "x")).unwrap();
    fs::write(store.run_path("hi", 2), "broken: [").unwrap();
    let path = store.summary_path("hi");
    fs::write(&path, read(&path).replace("name: hi", "name: ho").replace("runs: 1\n", "")).unwrap();
    let found = store.verify(VerifyMode::Repair).unwrap();
    let remedies: Vec<RepairStatus> = found.findings.iter().map(|one| one.repair).collect();
    assert_eq!(remedies, [RepairStatus::Impossible, RepairStatus::Done, RepairStatus::Done]);
    assert_eq!(read(&store.run_path("hi", 2)), "broken: [");
    assert_eq!(store.verify(VerifyMode::Check).unwrap().findings.len(), 1);
}

#[test]
fn a_count_of_runs_that_is_too_high_is_repaired() {
    let here = folder();
    let store = &here.store;
    store.record(&alice("2025-12-25 11:56:26", 1)).unwrap();
    let path = store.summary_path("say_hello_to_alice");
    let sound = read(&path);
    fs::write(&path, sound.replace("runs: 1\n", "runs: 18446744073709551615\n")).unwrap();
    let found = store.verify(VerifyMode::Repair).unwrap();
    assert_eq!(
        found.findings[0].message,
        "`runs` is 18446744073709551615, but the highest run is 1"
    );
    assert_eq!(read(&path), sound);
    fs::write(&path, sound.replace("  run: 1\n", "  run: 18446744073709551615\n")).unwrap();
    let found = store.verify(VerifyMode::Repair).unwrap();
    assert!(found.findings.iter().any(|one| one.repair == RepairStatus::Impossible));
}
