//! Tests of writing to a store.

use std::fs;
use std::thread;

use evalrig_core::model::Value;

use super::testing::{alice, folder, read, run};
use super::*;

#[test]
fn the_worked_files_are_written_byte_for_byte() {
    let here = folder();
    let store = &here.store;
    store.record(&alice("2025-12-25 11:56:26", 4438)).unwrap();
    let recorded = store.record(&alice("2025-12-25 11:56:56", 3595)).unwrap();
    assert_eq!((recorded.name.as_str(), recorded.run), ("say_hello_to_alice", 2));
    assert_eq!(read(&recorded.file), include_str!("worked_summary.yaml"));
    let run = read(&store.run_path("say_hello_to_alice", 2));
    assert_eq!(run, include_str!("worked_run.yaml"));
}

#[test]
fn without_an_expected_answer_the_file_has_empty_texts() {
    let here = folder();
    for (time, took) in [("2025-12-25 11:56:26", 4438), ("2025-12-25 11:56:56", 3595)] {
        let mut new = alice(time, took);
        new.expected = None;
        new.evaluation = String::new();
        here.store.record(&new).unwrap();
    }
    let written = read(&here.store.summary_path("say_hello_to_alice"));
    let seed = include_str!("worked_summary.yaml")
        .replace("expected: Hello, Alice!", "expected: ''")
        .replace("evaluation: pass", "evaluation: ''");
    assert_eq!(written, seed);
}

#[test]
fn another_input_with_the_same_slug_gets_its_own_record() {
    let here = folder();
    let store = &here.store;
    for (input, name, number) in [
        ("Say hello to Alice", "say_hello_to_alice", 1),
        ("Say hello, to: ALICE!", "say_hello_to_alice_2", 1),
        ("say hello to alice?", "say_hello_to_alice_3", 1),
        ("Say hello, to: ALICE!", "say_hello_to_alice_2", 2),
        ("Say hello to Alice", "say_hello_to_alice", 2),
    ] {
        let recorded = store.record(&run(input, "x")).unwrap();
        assert_eq!((recorded.name.as_str(), recorded.run), (name, number));
        assert_eq!(store.read(name).unwrap().summary.name(), name);
    }
    let finder = RecordFinder::new(store.clone());
    let found = |input: &str| finder.find(&[UserMessage::new(input)]).unwrap();
    let name = |input: &str| found(input).map(|record| record.name);
    for _ in 0..2 {
        let third = name("say hello to alice?");
        assert_eq!(third.as_deref(), Some("say_hello_to_alice_3"));
        assert_eq!(name("Say hello to Alice!!!"), None);
    }
    // A corrupt file belongs to no input.
    fs::write(store.summary_path("say_hello_to_alice"), "[").unwrap();
    assert_eq!(name("Say hello to Alice"), None);
    let second = name("Say hello, to: ALICE!");
    assert_eq!(second.as_deref(), Some("say_hello_to_alice_2"));
}

#[test]
fn attachments_are_part_of_the_input_but_not_of_the_name() {
    let here = folder();
    let mut with = run("Sum it up", "x");
    with.asked[0].attachments = vec!["[file: a.csv]".to_owned(), "[image]".to_owned()];
    here.store.record(&run("Sum it up", "x")).unwrap();
    assert_eq!(here.store.record(&with).unwrap().name, "sum_it_up_2");
    let text = read(&here.store.summary_path("sum_it_up_2"));
    assert!(text.contains(r#"- input: "Sum it up\n[file: a.csv]\n[image]""#), "{text}");
}

#[test]
fn a_conversation_has_a_turn_for_every_user_message() {
    let here = folder();
    let mut new = run("one", "answer");
    new.asked[0].reply = Some("scripted".to_owned());
    new.asked.push(UserMessage::new("two"));
    new.tokens = Some(7);
    here.store.record(&new).unwrap();
    here.store.expect("one", TurnSelector::Number(1), "mine").unwrap();
    here.store.record(&new).unwrap();
    let expected = "\
name: one
created: '2025-12-25 11:56:26'
updated: '2025-12-25 11:56:26'
runs: 2
model: m
turns:
- input: one
  run: 2
  output: scripted
  tools_called: []
  expected: mine
  evaluation: ''
  meta: '{\"tokens\": 0, \"cost\": 0.0, \"duration_ms\": 0, \"ts\": \"2025-12-25 11:56:26\"}'
  history:
  - run: 1
    output: scripted
    tools_called: []
    expected: mine
    evaluation: ''
    meta: '{\"tokens\": 0, \"cost\": 0.0, \"duration_ms\": 0, \"ts\": \"2025-12-25 11:56:26\"}'
- input: two
  run: 2
  output: answer
  tools_called: []
  expected: ''
  evaluation: ''
  meta: '{\"tokens\": 7, \"cost\": null, \"duration_ms\": null, \"ts\": \"2025-12-25 11:56:26\"}'
  history:
  - run: 1
    output: answer
    tools_called: []
    expected: ''
    evaluation: ''
    meta: '{\"tokens\": 7, \"cost\": null, \"duration_ms\": null, \"ts\": \"2025-12-25 11:56:26\"}'
";
    assert_eq!(read(&here.store.summary_path("one")), expected);
    // A prefix of a conversation is a different conversation.
    assert_eq!(here.store.record(&run("one", "x")).unwrap().name, "one_2");
}

#[test]
fn an_expected_answer_of_the_test_follows_the_test() {
    let here = folder();
    let store = &here.store;
    let expecting = |text: &str| NewRun { expected: Some(text.to_owned()), ..run("hi", "x") };
    let expected = || store.read("hi").unwrap().summary.turns[0].now.expected().to_owned();
    for text in ["first", "second", "second", "third"] {
        store.record(&expecting(text)).unwrap();
        assert_eq!(expected(), text);
    }
    // A person edits the file.
    let path = store.summary_path("hi");
    let edited = read(&path).replacen("expected: third", "expected: mine", 1);
    fs::write(&path, edited).unwrap();
    for text in ["third", "fourth"] {
        store.record(&expecting(text)).unwrap();
        assert_eq!(expected(), "mine");
    }
    // Emptied again, it is the test's.
    store.expect("hi", TurnSelector::Last, "").unwrap();
    store.record(&expecting("fifth")).unwrap();
    assert_eq!(expected(), "fifth");
}

#[test]
fn an_expected_answer_of_a_user_stays() {
    let here = folder();
    let store = &here.store;
    store.record(&run("hi", "x")).unwrap();
    store.expect("hi", TurnSelector::Last, "a greeting").unwrap();
    store.evaluate("hi", TurnSelector::Number(1), ManualVerdict::Fail, Some("too\nshort")).unwrap();
    store.record(&run("hi", "y")).unwrap();
    let mut new = run("hi", "z");
    new.expected = Some("of the test".to_owned());
    store.record(&new).unwrap();
    let turn = store.read("hi").unwrap().summary.turns.remove(0);
    assert_eq!(turn.now.expected(), "a greeting");
    assert_eq!(turn.history[0].expected(), "a greeting");
    assert_eq!(turn.history[0].evaluation(), "");
    assert_eq!(turn.history[1].evaluation(), "fail: too short");
    let error = store.expect("hi", TurnSelector::Number(2), "x").unwrap_err();
    assert_eq!(error.to_string(), "record `hi` has no turn 2; its last turn is 1");
    assert!(matches!(
        store.expect("no", TurnSelector::Last, "x"),
        Err(StoreError::NoRecord { .. })
    ));
}

#[test]
fn a_corrupt_summary_is_renamed_and_numbers_continue() {
    let here = folder();
    let store = &here.store;
    let path = store.summary_path("hi");
    for (bytes, aside) in [(&b"a: ["[..], 1), (b"\xff\xff", 2), (b"- x\n", 3)] {
        store.record(&run("hi", "x")).unwrap();
        fs::write(&path, bytes).unwrap();
        let recorded = store.record(&run("hi", "x")).unwrap();
        assert_eq!(recorded.run, aside * 2);
        assert_eq!(recorded.warnings.len(), 1);
        let aside = format!("{path}.corrupt.{aside}");
        assert_eq!(fs::read(aside).unwrap(), bytes);
    }
    assert_eq!(store.names().unwrap(), ["hi"]);
}

#[test]
fn run_numbers_are_never_reused() {
    let here = folder();
    let store = &here.store;
    store.record(&run("hi", "x")).unwrap();
    fs::write(store.run_path("hi", 7), "broken: [").unwrap();
    fs::write(store.run_directory("hi").join("run_9.jsonl"), "{}").unwrap();
    assert_eq!(store.record(&run("hi", "x")).unwrap().run, 10);
    let path = store.summary_path("hi");
    fs::write(&path, read(&path).replace("runs: 10", "runs: 40")).unwrap();
    assert_eq!(store.record(&run("hi", "x")).unwrap().run, 41);
    assert_eq!(read(&store.run_path("hi", 7)), "broken: [");
}

#[test]
fn files_of_co_eval_are_never_changed() {
    let here = folder();
    let store = &here.store;
    fs::create_dir_all(store.directory()).unwrap();
    let text = "agent: a.py\nexpected: x\nturns:\n- input: hi\n";
    fs::write(store.summary_path("hi"), text).unwrap();
    assert_eq!(store.record(&run("hi", "x")).unwrap().name, "hi_2");
    assert!(matches!(
        store.expect("hi", TurnSelector::Last, "x"),
        Err(StoreError::Authored { .. })
    ));
    store.prune(Retention { records: Some(0), ..Retention::default() }, PruneMode::Delete).unwrap();
    assert_eq!(store.names().unwrap(), ["hi"]);
    assert_eq!(read(&store.summary_path("hi")), text);
}

#[test]
fn a_record_of_another_client_is_continued_and_keeps_its_keys() {
    let here = folder();
    let store = &here.store;
    fs::create_dir_all(store.directory()).unwrap();
    let text = "name: hi\ncreated: '2025-01-01 00:00:00'\nruns: 2\nmodel: co/x\nturns:\n- input: hi\n  run: 2\n  output: old\n  tools_called: []\n  expected: ''\n  evaluation: ''\n  meta: '{}'\n  history:\n  - run: 1\n    status: ''\n    meta: '{\"tokens\": 5}'\n  mine: kept\nupdated: '2025-01-01 00:00:01'\n";
    fs::write(store.summary_path("hi"), text).unwrap();
    assert_eq!(store.record(&run("hi", "new")).unwrap().run, 3);
    let written = read(&store.summary_path("hi"));
    assert!(written.starts_with("name: hi\ncreated: '2025-01-01 00:00:00'\nupdated: '2025-12-25 11:56:26'\nruns: 3\nmodel: m\n"));
    assert!(written.contains("  - run: 2\n    output: old\n"), "{written}");
    assert!(
        written.contains("  - run: 1\n    status: ''\n    meta: '{\"tokens\": 5}'\n  mine: kept\n")
    );
}

#[test]
fn a_history_of_unknown_shape_is_not_extended() {
    let here = folder();
    let store = &here.store;
    let text = "turns:\n- input: hi\n  run: 1\n  output: kept\n  history: see log.txt\n";
    fs::create_dir_all(store.directory()).unwrap();
    fs::write(store.summary_path("hi"), text).unwrap();
    assert_eq!(store.record(&run("hi", "x")).unwrap().name, "hi_2");
    assert_eq!(read(&store.summary_path("hi")), text);
}

#[test]
fn the_name_in_a_copied_file_is_corrected() {
    let here = folder();
    let store = &here.store;
    let text = "name: other\nturns:\n- input: hi\n";
    fs::create_dir_all(store.directory()).unwrap();
    fs::write(store.summary_path("hi"), text).unwrap();
    store.record(&run("hi", "x")).unwrap();
    assert_eq!(store.read("hi").unwrap().summary.name(), "hi");
}

#[test]
fn every_text_round_trips() {
    let here = folder();
    for text in [
        "yes",
        "212",
        "a\nb",
        "\u{2028}\u{85}\u{feff}",
        "'\"\\",
        "- a: b #c",
        " x ",
        "é写😀",
        "0o17",
        "",
    ] {
        let mut new = run("same", text);
        new.tools_called = vec![text.to_owned()];
        new.expected = Some(text.to_owned());
        new.cwd = text.to_owned();
        let recorded = here.store.record(&new).unwrap();
        let turn = here.store.read("same").unwrap().summary.turns.remove(0);
        assert_eq!((turn.now.output(), turn.now.expected()), (Some(text), text));
        assert_eq!(turn.now.tools_called(), [text]);
        let file = here.store.run_file("same", recorded.run).unwrap();
        assert_eq!(file.cwd, text);
    }
    let texts: Vec<Value> = here.store.messages("same", 1).unwrap();
    assert_eq!(texts.len(), 1);
}

#[test]
fn concurrent_writers_lose_nothing() {
    let here = folder();
    thread::scope(|scope| {
        for writer in 0..8 {
            let store = here.store.clone();
            scope.spawn(move || {
                for at in 0..10 {
                    let input = ["Same input", "same, input!"][(writer + at) % 2];
                    store.record(&run(input, &format!("{writer}-{at}"))).unwrap();
                }
            });
        }
    });
    let listing = here.store.list().unwrap();
    assert!(listing.unreadable.is_empty());
    let mut outputs = std::collections::BTreeSet::new();
    for record in &listing.records {
        let runs = record.summary.mentioned_runs();
        let numbers: Vec<u64> = (1..=40).rev().collect();
        assert_eq!(runs, numbers);
        for entry in record.summary.turns[0].entries() {
            outputs.insert(entry.output().unwrap().to_owned());
        }
    }
    assert_eq!((listing.records.len(), outputs.len()), (2, 80));
    assert!(here.store.verify(VerifyMode::Check).unwrap().findings.is_empty());
}

/// An agent may do this between two cases; the check at the start has passed.
#[cfg(unix)]
#[test]
fn a_store_that_became_a_link_is_neither_written_nor_read() {
    use std::os::unix::fs::symlink;

    let here = folder();
    let store = &here.store;
    let mut writer = store.writer();
    let new = run("hi", "x");
    writer.record_all(&[&new]).remove(0).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let kept = store.directory().with_file_name("kept");
    fs::rename(store.directory(), &kept).unwrap();
    symlink(elsewhere.path(), store.directory()).unwrap();
    assert!(writer.record_all(&[&new]).remove(0).is_err());
    assert!(store.record(&run("new", "x")).is_err());
    assert!(store.expect("hi", TurnSelector::Last, "x").is_err());
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    // Only the directory of one record.
    fs::remove_file(store.directory()).unwrap();
    fs::rename(&kept, store.directory()).unwrap();
    fs::rename(store.run_directory("hi"), store.directory().join("away")).unwrap();
    symlink(elsewhere.path(), store.run_directory("hi")).unwrap();
    assert!(store.record(&new).is_err());
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
}
