//! Many writers, and writers that are killed: no run is lost, and every file stays readable.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use camino::Utf8PathBuf;
use evalrig_run::runlog::{Store, VerifyMode};

/// Two inputs with one slug.
const INPUTS: [&str; 2] = ["Say hello to Alice", "Say hello, to: ALICE!"];

fn writer(here: &Path, input: &str, answer: &str) -> Child {
    let mut child = Command::new(env!("CARGO_BIN_EXE_evalrig"))
        .args(["log", "record", "-q", "--from", "messages"])
        .current_dir(here)
        .stdin(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let messages = serde_json::json!([
        {"role": "user", "content": input},
        {"role": "assistant", "content": answer},
    ]);
    let mut pipe = child.stdin.take().expect("a pipe");
    // A writer that was killed reads nothing.
    let _ = pipe.write_all(messages.to_string().as_bytes());
    child
}

fn project() -> (tempfile::TempDir, Store) {
    let here = tempfile::tempdir().expect("a directory");
    fs::create_dir(here.path().join(".git")).expect("a directory");
    let root = Utf8PathBuf::from_path_buf(here.path().to_owned()).expect("UTF-8");
    (here, Store::of_root(&root))
}

/// Every summary and run file can be read; the answers that summaries mention.
fn answers(store: &Store) -> BTreeSet<String> {
    let listing = store.list().expect("a store");
    assert!(listing.unreadable.is_empty(), "{:?}", listing.unreadable);
    let mut found = BTreeSet::new();
    for record in &listing.records {
        for run in store.run_numbers(&record.name).expect("runs") {
            store.run_file(&record.name, run).expect("a run");
        }
        for entry in record.summary.turns[0].entries() {
            let is_new = found.insert(entry.output().expect("an output").to_owned());
            assert!(is_new, "{:?} is there twice", entry.output());
        }
    }
    found
}

#[test]
fn eight_processes_lose_nothing() {
    let (here, store) = project();
    thread::scope(|scope| {
        for process in 0..8 {
            let here = here.path();
            scope.spawn(move || {
                for at in 0..50 {
                    let input = INPUTS[(process + at) % 2];
                    let mut child = writer(here, input, &format!("{process}-{at}"));
                    assert!(child.wait().expect("an end").success());
                }
            });
        }
    });
    assert_eq!(answers(&store).len(), 400);
    for name in ["say_hello_to_alice", "say_hello_to_alice_2"] {
        let numbers: Vec<u64> = (1..=200).collect();
        assert_eq!(store.run_numbers(name).expect("runs"), numbers);
        let record = store.read(name).expect("a record");
        let mut mentioned = record.summary.mentioned_runs();
        mentioned.reverse();
        assert_eq!(mentioned, numbers);
        assert_eq!(record.summary.runs(), Some(200));
    }
    assert_eq!(store.verify(VerifyMode::Check).expect("a store").findings, []);
}

/// Pseudo-random, the same every time.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
    *state >> 33
}

#[test]
fn two_hundred_kills_leave_a_sound_store() {
    let (here, store) = project();
    let mut state = 42;
    let mut finished = BTreeSet::new();
    for at in 0..200 {
        let answer = format!("a-{at}");
        let mut child = writer(here.path(), INPUTS[at % 2], &answer);
        thread::sleep(Duration::from_micros(next(&mut state) % 12_000));
        // Fails when the writer is done, which is what we want to know.
        let _ = child.kill();
        if child.wait().expect("an end").success() {
            finished.insert(answer);
        }
    }
    // What was acknowledged is there. What was not may be.
    let kept = answers(&store);
    assert!(kept.is_superset(&finished), "{:?}", finished.difference(&kept));
    // A run file that no summary mentions is all that a kill may leave, and it can be entered.
    assert!(store.verify(VerifyMode::Repair).expect("a store").is_sound());
    assert_eq!(store.verify(VerifyMode::Check).expect("a store").findings, []);
    for name in store.names().expect("a store") {
        let numbers = store.run_numbers(&name).expect("runs");
        let contiguous: Vec<u64> = (1..=numbers.len() as u64).collect();
        assert_eq!(numbers, contiguous, "{name}");
        let mut mentioned = store.read(&name).expect("a record").summary.mentioned_runs();
        mentioned.reverse();
        assert_eq!(mentioned, contiguous, "{name}");
    }
    let mut child = writer(here.path(), INPUTS[0], "last");
    assert!(child.wait().expect("an end").success());
    assert!(answers(&store).contains("last"));
}
