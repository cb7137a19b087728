//! Tests of writing to a store.

use std::fs;
use std::thread;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::model::{Map, Value};
use evalrig_core::syntax::json_value;

use super::*;

struct Folder {
    _folder: tempfile::TempDir,
    store: Store,
}

fn folder() -> Folder {
    let folder = tempfile::tempdir().unwrap();
    let path = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
    Folder {
        _folder: folder,
        store: Store::of_root(&path),
    }
}

fn read(path: &Utf8Path) -> String {
    fs::read_to_string(path).unwrap()
}

fn run(input: &str, output: &str) -> NewRun {
    let mut message = Map::new();
    message.insert("role", "user");
    message.insert("content", input);
    NewRun {
        asked: vec![Asked::new(input)],
        output: output.to_owned(),
        model: "m".to_owned(),
        timestamp: "2025-12-25 11:56:26".to_owned(),
        messages: vec![message.into()],
        ..NewRun::default()
    }
}

/// The run of `FORMAT.md` 13.3 and 13.4.
fn alice(timestamp: &str, duration_ms: u64) -> NewRun {
    let messages = r#"[
      {"role":"user","content":"Say hello to Alice"},
      {"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"greet","arguments":"{\"name\":\"Alice\"}"}}]},
      {"role":"tool","tool_call_id":"call_1","name":"greet","content":"Hello, Alice!"},
      {"role":"assistant","content":"Hello, Alice!"}]"#;
    NewRun {
        asked: vec![Asked::new("Say hello to Alice")],
        output: "Hello, Alice!".to_owned(),
        tools_called: vec!["greet(name='Alice')".to_owned()],
        expected: Some("Hello, Alice!".to_owned()),
        evaluation: "pass".to_owned(),
        model: "gemini-2.5-flash".to_owned(),
        cwd: "/path/to/project".to_owned(),
        tokens: Some(155),
        cost_usd: Some(0.0),
        duration_ms: Some(duration_ms),
        timestamp: timestamp.to_owned(),
        messages: json_value(messages).unwrap().as_list().unwrap().to_vec(),
    }
}

#[test]
fn the_worked_files_come_out_byte_for_byte() {
    let here = folder();
    let store = &here.store;
    store.record(&alice("2025-12-25 11:56:26", 4438)).unwrap();
    let recorded = store.record(&alice("2025-12-25 11:56:56", 3595)).unwrap();
    assert_eq!(
        (recorded.name.as_str(), recorded.run),
        ("say_hello_to_alice", 2)
    );
    assert_eq!(read(&recorded.file), include_str!("worked_summary.yaml"));
    let run = read(&store.run_path("say_hello_to_alice", 2));
    assert_eq!(run, include_str!("worked_run.yaml"));
}

#[test]
fn with_nothing_expected_the_file_is_that_of_the_seed() {
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
fn another_input_with_the_same_slug_gets_a_record_of_its_own() {
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
    let finder = Finder::new(store.clone());
    let found = |input: &str| finder.find(&[Asked::new(input)]).unwrap();
    let name = |input: &str| found(input).map(|record| record.name);
    for _ in 0..2 {
        let third = name("say hello to alice?");
        assert_eq!(third.as_deref(), Some("say_hello_to_alice_3"));
        assert_eq!(name("Say hello to Alice!!!"), None);
    }
    // What stands in the way is nobody's.
    fs::write(store.summary_path("say_hello_to_alice"), "[").unwrap();
    assert_eq!(name("Say hello to Alice"), None);
    let second = name("Say hello, to: ALICE!");
    assert_eq!(second.as_deref(), Some("say_hello_to_alice_2"));
}

#[test]
fn attachments_tell_inputs_apart_but_are_not_in_the_name() {
    let here = folder();
    let mut with = run("Sum it up", "x");
    with.asked[0].attachments = vec!["[file: a.csv]".to_owned(), "[image]".to_owned()];
    here.store.record(&run("Sum it up", "x")).unwrap();
    assert_eq!(here.store.record(&with).unwrap().name, "sum_it_up_2");
    let text = read(&here.store.summary_path("sum_it_up_2"));
    assert!(
        text.contains(r#"- input: "Sum it up\n[file: a.csv]\n[image]""#),
        "{text}"
    );
}

#[test]
fn a_conversation_has_a_turn_for_every_user_message() {
    let here = folder();
    let mut new = run("one", "answer");
    new.asked[0].reply = Some("scripted".to_owned());
    new.asked.push(Asked::new("two"));
    new.tokens = Some(7);
    here.store.record(&new).unwrap();
    here.store.expect("one", Which::Number(1), "mine").unwrap();
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
    // The first message alone is another conversation.
    assert_eq!(here.store.record(&run("one", "x")).unwrap().name, "one_2");
}

#[test]
fn what_a_person_wrote_stays_unless_the_test_expects_something() {
    let here = folder();
    let store = &here.store;
    store.record(&run("hi", "x")).unwrap();
    store.expect("hi", Which::Last, "a greeting").unwrap();
    store
        .evaluate("hi", Which::Number(1), Word::Fail, Some("too\nshort"))
        .unwrap();
    store.record(&run("hi", "y")).unwrap();
    let mut new = run("hi", "z");
    new.expected = Some("of the test".to_owned());
    store.record(&new).unwrap();
    let turn = store.read("hi").unwrap().summary.turns.remove(0);
    assert_eq!(turn.now.expected(), "of the test");
    assert_eq!(turn.history[0].expected(), "a greeting");
    assert_eq!(turn.history[0].evaluation(), "");
    assert_eq!(turn.history[1].evaluation(), "fail: too short");
    let error = store.expect("hi", Which::Number(2), "x").unwrap_err();
    assert_eq!(error.to_string(), "record `hi` has no turn 2: it has 1");
    assert!(matches!(
        store.expect("no", Which::Last, "x"),
        Err(StoreError::NoRecord { .. })
    ));
}

#[test]
fn a_corrupt_summary_is_set_aside_and_numbers_go_on() {
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
fn numbers_respect_everything_that_was_ever_used() {
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
fn files_of_people_are_never_written() {
    let here = folder();
    let store = &here.store;
    fs::create_dir_all(store.directory()).unwrap();
    let text = "agent: a.py\nexpected: x\nturns:\n- input: hi\n";
    fs::write(store.summary_path("hi"), text).unwrap();
    assert_eq!(store.record(&run("hi", "x")).unwrap().name, "hi_2");
    assert!(matches!(
        store.expect("hi", Which::Last, "x"),
        Err(StoreError::Authored { .. })
    ));
    store
        .prune(
            Keep {
                records: Some(0),
                ..Keep::default()
            },
            Doing::Delete,
        )
        .unwrap();
    assert_eq!(store.names().unwrap(), ["hi"]);
    assert_eq!(read(&store.summary_path("hi")), text);
}

#[test]
fn a_record_of_the_real_client_is_continued_and_keeps_its_keys() {
    let here = folder();
    let store = &here.store;
    fs::create_dir_all(store.directory()).unwrap();
    let text = "name: hi\ncreated: '2025-01-01 00:00:00'\nruns: 2\nmodel: co/x\nturns:\n- input: hi\n  run: 2\n  output: old\n  tools_called: []\n  expected: ''\n  evaluation: ''\n  meta: '{}'\n  history:\n  - run: 1\n    status: ''\n    meta: '{\"tokens\": 5}'\n  mine: kept\nupdated: '2025-01-01 00:00:01'\n";
    fs::write(store.summary_path("hi"), text).unwrap();
    assert_eq!(store.record(&run("hi", "new")).unwrap().run, 3);
    let written = read(&store.summary_path("hi"));
    assert!(written.starts_with("name: hi\ncreated: '2025-01-01 00:00:00'\nupdated: '2025-12-25 11:56:26'\nruns: 3\nmodel: m\n"));
    assert!(
        written.contains("  - run: 2\n    output: old\n"),
        "{written}"
    );
    assert!(
        written.contains("  - run: 1\n    status: ''\n    meta: '{\"tokens\": 5}'\n  mine: kept\n")
    );
}

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
    assert_eq!(
        [turn.metas[0].tokens, turn.metas[1].tokens],
        [Some(155), None]
    );
    assert!(found.has_regressed());
    let back = store.compare("say_hello_to_alice", Some([2, 1])).unwrap();
    assert!(!back.has_regressed());
    let error = store
        .compare("say_hello_to_alice", Some([1, 5]))
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "record `say_hello_to_alice` has no run 5"
    );
}

#[test]
fn an_output_that_the_history_lacks_comes_from_the_run_file() {
    let here = folder();
    let store = &here.store;
    store.record(&alice("2025-12-25 11:56:26", 1)).unwrap();
    store.record(&alice("2025-12-25 11:56:27", 1)).unwrap();
    let path = store.summary_path("say_hello_to_alice");
    let text = read(&path);
    let start = text.find("  - run: 1").unwrap();
    fs::write(
        &path,
        format!(
            "{}  - run: 1\n    status: pass\n    meta: ''\n",
            &text[..start]
        ),
    )
    .unwrap();
    let found = store.compare("say_hello_to_alice", None).unwrap();
    assert_eq!(found.turns[0].is_output_same(), Some(true));
    assert!(found.turns[0].tools_added.is_empty());
    fs::remove_file(store.run_path("say_hello_to_alice", 1)).unwrap();
    let found = store.compare("say_hello_to_alice", None).unwrap();
    assert_eq!(found.turns[0].is_output_same(), None);
}

#[test]
fn pruning_keeps_what_it_is_told_to() {
    let here = folder();
    let store = &here.store;
    for _ in 0..4 {
        store.record(&run("hi", "x")).unwrap();
    }
    let keep = Keep {
        runs: Some(1),
        history: Some(2),
        records: None,
    };
    let listed = store.prune(keep, Doing::List).unwrap();
    assert_eq!(listed.files.len(), 3);
    assert_eq!(listed.history, [("hi".to_owned(), 1)]);
    assert_eq!(store.run_numbers("hi").unwrap(), [1, 2, 3, 4]);
    assert_eq!(store.prune(keep, Doing::Delete).unwrap(), listed);
    assert_eq!(store.run_numbers("hi").unwrap(), [4]);
    assert_eq!(store.read("hi").unwrap().summary.turns[0].history.len(), 2);
    assert!(store.prune(keep, Doing::Delete).unwrap().is_empty());
    assert!(store.verify(Mending::No).unwrap().is_sound());
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
    let keep = Keep {
        records: Some(0),
        ..Keep::default()
    };
    assert_eq!(store.prune(keep, Doing::Delete).unwrap().files.len(), 1);
    assert_eq!(other.store.run_numbers("hi").unwrap(), [1]);
}

#[test]
fn nothing_is_added_to_a_history_that_nobody_understands() {
    let here = folder();
    let store = &here.store;
    let text = "turns:\n- input: hi\n  run: 1\n  output: kept\n  history: see log.txt\n";
    fs::create_dir_all(store.directory()).unwrap();
    fs::write(store.summary_path("hi"), text).unwrap();
    assert_eq!(store.record(&run("hi", "x")).unwrap().name, "hi_2");
    assert_eq!(read(&store.summary_path("hi")), text);
}

#[test]
fn what_cannot_be_read_does_not_hide_other_problems() {
    let here = folder();
    let store = &here.store;
    fs::create_dir_all(store.summary_path("a")).unwrap();
    fs::create_dir_all(store.run_path("b", 1)).unwrap();
    fs::write(store.summary_path("c"), "x: [").unwrap();
    let problems = store.verify(Mending::Yes).unwrap().problems;
    let names = problems.iter().filter_map(|one| one.path.file_name());
    assert!(names.eq(["a.yaml", "run_1.yaml", "b.yaml", "c.yaml"]));
}

#[test]
fn a_summary_that_cannot_be_made_again_stays_where_it_is() {
    let here = folder();
    let store = &here.store;
    fs::create_dir_all(store.run_directory("a")).unwrap();
    fs::write(store.summary_path("a"), "x: [").unwrap();
    fs::write(store.run_path("a", 1), "messages: '[]'\n").unwrap();
    let problems = store.verify(Mending::Yes).unwrap().problems;
    assert_eq!(problems[0].remedy, Remedy::None);
    assert_eq!(read(&store.summary_path("a")), "x: [");
}

#[test]
fn a_file_that_was_copied_gets_its_own_name() {
    let here = folder();
    let store = &here.store;
    let text = "name: other\nturns:\n- input: hi\n";
    fs::create_dir_all(store.directory()).unwrap();
    fs::write(store.summary_path("hi"), text).unwrap();
    store.record(&run("hi", "x")).unwrap();
    assert_eq!(store.read("hi").unwrap().summary.name(), "hi");
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
    let keep = Keep {
        records: Some(2),
        ..Keep::default()
    };
    let pruned = store.prune(keep, Doing::Delete).unwrap();
    assert_eq!(pruned.records, ["b"]);
    assert_eq!(store.names().unwrap(), ["a", "c"]);
    assert!(!store.run_directory("b").exists());
}

#[test]
fn a_run_that_no_summary_mentions_is_found_and_entered() {
    let here = folder();
    let store = &here.store;
    store.record(&alice("2025-12-25 11:56:26", 4438)).unwrap();
    let summary = read(&store.summary_path("say_hello_to_alice"));
    store.record(&alice("2025-12-25 11:56:56", 3595)).unwrap();
    // As a crash between the two files leaves it.
    fs::write(store.summary_path("say_hello_to_alice"), summary).unwrap();
    let looked = store.verify(Mending::No).unwrap();
    assert_eq!(
        (looked.records, looked.runs, looked.problems.len()),
        (1, 2, 1)
    );
    assert!(!looked.is_sound());
    assert_eq!(
        looked.problems[0].message,
        "the summary does not mention run 2"
    );
    assert!(store.verify(Mending::Yes).unwrap().is_sound());
    assert_eq!(store.verify(Mending::No).unwrap().problems, []);
    let mended = read(&store.summary_path("say_hello_to_alice"));
    let worked =
        include_str!("worked_summary.yaml").replacen("evaluation: pass", "evaluation: ''", 1);
    assert_eq!(
        mended.replace(
            "updated: '2025-12-25 11:56:26'",
            "updated: '2025-12-25 11:56:56'"
        ),
        worked
    );
}

#[test]
fn runs_from_before_the_first_summary_are_told_from_a_shortened_history() {
    let here = folder();
    let store = &here.store;
    store.record(&alice("2025-12-25 11:56:26", 1)).unwrap();
    fs::remove_file(store.summary_path("say_hello_to_alice")).unwrap();
    for second in 27..30 {
        let time = format!("2025-12-25 11:56:{second}");
        store.record(&alice(&time, 1)).unwrap();
    }
    assert_eq!(store.verify(Mending::No).unwrap().problems.len(), 1);
    assert!(store.verify(Mending::Yes).unwrap().is_sound());
    let mentioned = |store: &Store| {
        let record = store.read("say_hello_to_alice").unwrap();
        record.summary.mentioned_runs()
    };
    assert_eq!(mentioned(store), [4, 3, 2, 1]);
    let keep = Keep {
        history: Some(1),
        ..Keep::default()
    };
    store.prune(keep, Doing::Delete).unwrap();
    assert_eq!(store.verify(Mending::No).unwrap().problems, []);
    assert_eq!(mentioned(store), [4, 3]);
}

#[test]
fn a_lost_summary_is_put_together_again() {
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
        assert!(!store.verify(Mending::No).unwrap().is_sound());
        assert!(store.verify(Mending::Yes).unwrap().is_sound());
        assert_eq!(read(&path), ungraded);
    }
}

#[test]
fn what_cannot_be_mended_is_said() {
    let here = folder();
    let store = &here.store;
    store.record(&run("hi", "x")).unwrap();
    fs::write(store.run_path("hi", 2), "broken: [").unwrap();
    let path = store.summary_path("hi");
    fs::write(
        &path,
        read(&path)
            .replace("name: hi", "name: ho")
            .replace("runs: 1\n", ""),
    )
    .unwrap();
    let found = store.verify(Mending::Yes).unwrap();
    let remedies: Vec<Remedy> = found.problems.iter().map(|one| one.remedy).collect();
    assert_eq!(remedies, [Remedy::None, Remedy::Done, Remedy::Done]);
    assert_eq!(read(&store.run_path("hi", 2)), "broken: [");
    assert_eq!(store.verify(Mending::No).unwrap().problems.len(), 1);
}

#[test]
fn every_text_survives_the_files() {
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
fn writers_side_by_side_lose_nothing() {
    let here = folder();
    thread::scope(|scope| {
        for writer in 0..8 {
            let store = here.store.clone();
            scope.spawn(move || {
                for at in 0..10 {
                    let input = ["Same input", "same, input!"][(writer + at) % 2];
                    store
                        .record(&run(input, &format!("{writer}-{at}")))
                        .unwrap();
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
    assert!(here.store.verify(Mending::No).unwrap().problems.is_empty());
}
