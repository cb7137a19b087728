//! The record on a real disk: nothing that was confirmed is lost, nothing torn is believed.

use std::collections::HashSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::model::{Outcome, Transcript};
use evalrig_core::secrets::Secrets;
use evalrig_run::results::{
    Completion, Existing, Interrupted, Latest, PlanOptions, PlannedSuite, ReadError, ResultsPaths,
    ResultsWriter, Row, RowError, Rows, RunFacts, RunHeader, SummaryBuilder, WriteError,
    fingerprint, read_finished, write_summary,
};

/// Names the file that the child is to write.
const CHILD: &str = "EVALRIG_TEST_RECORD_CHILD";

const EXAMPLE: &str = include_str!("../src/results/example_row.json");

struct Folder {
    _guard: tempfile::TempDir,
    path: Utf8PathBuf,
}

impl Folder {
    fn new() -> Self {
        let guard = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(guard.path().to_owned()).unwrap();
        Self { _guard: guard, path }
    }

    fn place(&self) -> ResultsPaths {
        ResultsPaths::at(&self.path.join("out.jsonl")).unwrap()
    }

    fn writer(&self) -> ResultsWriter {
        self.recorder_with(Secrets::default())
    }

    fn recorder_with(&self, secrets: Secrets) -> ResultsWriter {
        let secrets = Arc::new(secrets);
        ResultsWriter::create(self.place(), Existing::Refuse, &header(), secrets).unwrap()
    }

    fn resume(&self) -> ResultsWriter {
        let interrupted = Interrupted::read(self.place().results()).unwrap();
        ResultsWriter::resume(&interrupted, &header(), Arc::default()).unwrap()
    }
}

fn row(test: &str) -> Row {
    let mut row: Row = serde_json::from_str(EXAMPLE).unwrap();
    row.eval_id = test.to_owned();
    row
}

fn with_outcome(test: &str, outcome: Outcome, kind: Option<&str>) -> Row {
    let mut row = row(test);
    row.outcome = outcome;
    row.error = kind.map(|kind| RowError {
        stage: "target".to_owned(),
        kind: kind.to_owned(),
        message: "no".to_owned(),
    });
    row
}

/// Plans the tests `a` and `b`.
fn header() -> RunHeader {
    let print = fingerprint([("a", "5f2b8c0d9e1a7744")]);
    let cases = [("a", "default", 1), ("b", "default", 1)];
    let suite = PlannedSuite::new("csv", "evals/csv/EVAL.yaml", print, cases);
    RunHeader::new("2026-01-02T03:04:05Z".to_owned(), vec![suite], PlanOptions::default())
}

fn ids(results: &Utf8Path) -> Vec<String> {
    let rows = Rows::open(results).unwrap();
    rows.map(|row| row.unwrap().eval_id).collect()
}

fn append(path: &Utf8Path, bytes: &[u8]) {
    let mut file = fs::OpenOptions::new().append(true).open(path).unwrap();
    file.write_all(bytes).unwrap();
}

fn line(row: &Row) -> String {
    serde_json::to_string(row).unwrap() + "\n"
}

#[test]
fn a_confirmed_row_is_on_disk() {
    let folder = Folder::new();
    let writer = folder.writer();
    for test in ["a", "b", "c"] {
        let (kept, receipt) = writer.write_row(row(test));
        receipt.wait().unwrap();
        let text = fs::read_to_string(folder.place().results()).unwrap();
        let last: Row = serde_json::from_str(text.lines().last().unwrap()).unwrap();
        assert_eq!(last, *kept);
    }
    assert!(folder.place().journal().exists());
    let written = writer.finish(Completion::Complete).unwrap();
    assert_eq!(written.lines, 3);
    assert!(!folder.place().journal().exists());
}

#[test]
fn receipts_can_be_awaited() {
    let folder = Folder::new();
    let writer = folder.writer();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let (_, receipt) = writer.write_row(row("a"));
        receipt.await.unwrap();
    });
    writer.finish(Completion::Interrupted).unwrap();
    assert!(folder.place().journal().exists());
}

#[test]
#[ignore = "the other half of the next test, which starts it"]
fn a_child_that_writes_until_it_is_killed() {
    let path = std::env::var(CHILD).unwrap();
    let place = ResultsPaths::at(path.as_str().into()).unwrap();
    let writer = ResultsWriter::create(place, Existing::Refuse, &header(), Arc::default()).unwrap();
    std::thread::scope(|scope| {
        for worker in 0..4 {
            let writer = &writer;
            scope.spawn(move || {
                for number in 0_u64.. {
                    let test = format!("{worker}-{number}");
                    let mut row = row(&test);
                    row.candidate_answer = Some("x".repeat(number as usize % 7 * 1000));
                    writer.write_row(row).1.wait().unwrap();
                    // One write, so that lines of several threads do not mix.
                    let line = format!("confirmed {test}\n");
                    std::io::stdout().write_all(line.as_bytes()).unwrap();
                }
            });
        }
    });
}

#[cfg(unix)]
#[test]
fn a_kill_loses_no_confirmed_row() {
    let folder = Folder::new();
    for round in 0..5 {
        let path = folder.path.join(format!("{round}.jsonl"));
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "--nocapture", "a_child_that_writes_until_it_is_killed"])
            .env(CHILD, &path)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut confirmed = Vec::new();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        while confirmed.len() < 20 + round * 37 {
            let line = lines.next().unwrap().unwrap();
            confirmed.extend(line.strip_prefix("confirmed ").map(str::to_owned));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let rest = lines.map_while(Result::ok);
        confirmed.extend(rest.filter_map(|line| Some(line.strip_prefix("confirmed ")?.to_owned())));
        let kept: HashSet<String> = ids(&path).into_iter().collect();
        for test in &confirmed {
            assert!(kept.contains(test), "{test}");
        }
        // The lock went with the process.
        let interrupted = Interrupted::read(&path).unwrap();
        assert_eq!(interrupted.header, Some(header()));
        let writer = ResultsWriter::resume(&interrupted, &header(), Arc::default()).unwrap();
        writer.write_row(row("after")).1.wait().unwrap();
        writer.finish(Completion::Complete).unwrap();
        assert_eq!(ids(&path).len(), kept.len() + 1);
    }
}

#[test]
fn a_burst_of_rows_is_kept_whole() {
    let folder = Folder::new();
    let writer = folder.writer();
    let rows: Vec<Row> = (0..1000).map(|number| row(&format!("t{number}"))).collect();
    let receipts: Vec<_> = rows.into_iter().map(|row| writer.write_row(row).1).collect();
    for receipt in receipts {
        receipt.wait().unwrap();
    }
    let written = writer.finish(Completion::Complete).unwrap();
    assert_eq!(written.lines, 1000);
    // How many depends on the disk: on one that is fast, nothing waits.
    assert!(written.syncs <= written.lines, "{written:?}");
    assert_eq!(ids(folder.place().results()).len(), 1000);
}

#[test]
fn wherever_the_last_row_is_torn_the_others_are_kept() {
    let whole = line(&row("a"));
    let last = line(&row("b"));
    let folder = Folder::new();
    let path = folder.place().results().to_owned();
    for cut in 0..=last.len() {
        fs::write(&path, format!("{whole}{}", &last[..cut])).unwrap();
        let interrupted = Interrupted::read(&path).unwrap();
        // Without its line break the row is whole all the same.
        let is_whole = cut + 1 >= last.len();
        let expected: &[&str] = if is_whole { &["a", "b"] } else { &["a"] };
        assert_eq!(interrupted.rows().len(), expected.len(), "{cut}");
        let is_torn = cut > 0 && !is_whole;
        assert_eq!(interrupted.notices().len(), usize::from(is_torn), "{cut}");
        assert_eq!(ids(&path), expected, "{cut}");
    }
    // Going on is dearer, so not at every place.
    for cut in [0, 1, 2, last.len() / 2, last.len() - 2, last.len() - 1] {
        let _ = fs::remove_file(folder.place().journal());
        fs::write(&path, format!("{whole}{}", &last[..cut])).unwrap();
        let writer = folder.resume();
        writer.write_row(row("c")).1.wait().unwrap();
        writer.finish(Completion::Complete).unwrap();
        let expected: &[&str] = if cut + 1 == last.len() { &["a", "b", "c"] } else { &["a", "c"] };
        assert_eq!(ids(&path), expected, "{cut}");
        assert!(fs::read_to_string(&path).unwrap().ends_with("}\n"));
    }
}

#[test]
fn a_torn_journal_keeps_its_whole_answers() {
    let folder = Folder::new();
    let writer = folder.writer();
    for test in ["a", "b"] {
        let transcript = Transcript::of_text(format!("answer {test}\n\"ä\""));
        let key = row(test).key();
        writer.write_answer(&key, "h", 2, &transcript).wait().unwrap();
    }
    writer.finish(Completion::Interrupted).unwrap();
    let journal = folder.place().journal();
    let text = fs::read(&journal).unwrap();
    let lines = text.split_inclusive(|byte| *byte == b'\n');
    let ends: Vec<usize> = lines
        .scan(0, |end, line| {
            *end += line.len();
            Some(*end)
        })
        .collect();
    for cut in 0..=text.len() {
        fs::write(&journal, &text[..cut]).unwrap();
        let interrupted = Interrupted::read(folder.place().results()).unwrap();
        let whole = |line: usize| cut + 1 >= ends[line];
        assert_eq!(interrupted.header, Some(header()), "{cut}");
        for (line, test) in [(1, "a"), (2, "b")] {
            let answered = interrupted.answered(&row(test).key(), "h");
            assert_eq!(answered.is_some(), whole(line), "{cut}");
            if let Some(answered) = answered {
                assert_eq!(answered.transcript.answer, format!("answer {test}\n\"ä\""));
                assert_eq!(answered.attempts, 2);
            }
        }
    }
}

#[test]
fn an_answer_is_taken_from_the_journal_until_its_case_is_finished() {
    let folder = Folder::new();
    let writer = folder.writer();
    let transcript = Transcript::of_text("paid");
    for test in ["a", "b"] {
        let answered = writer.write_answer(&row(test).key(), "h", 1, &transcript);
        answered.wait().unwrap();
    }
    writer.write_row(row("a")).1.wait().unwrap();
    writer.finish(Completion::Interrupted).unwrap();
    let interrupted = Interrupted::read(folder.place().results()).unwrap();
    assert_eq!(interrupted.header, Some(header()));
    let (a, b) = (row("a"), row("b"));
    assert!(interrupted.finished(&a.key(), &a.test_hash).is_some());
    assert!(interrupted.finished(&a.key(), "another").is_none());
    assert!(interrupted.answered(&a.key(), "h").is_none());
    assert!(interrupted.answered(&b.key(), "another").is_none());
    let answered = interrupted.answered(&b.key(), "h").unwrap();
    assert_eq!(answered.transcript, transcript);
    // A journal that was kept is gone on with, not begun again.
    let writer = folder.resume();
    writer.write_row(row("b")).1.wait().unwrap();
    let journal = fs::read_to_string(folder.place().journal()).unwrap();
    assert_eq!(journal.matches("\"kind\":\"plan\"").count(), 1);
    writer.finish(Completion::Complete).unwrap();
}

#[test]
fn the_last_row_of_a_case_counts() {
    let folder = Folder::new();
    let writer = folder.writer();
    // Never started: a limit was reached before its turn came.
    let unstarted = Row { attempts: 0, ..with_outcome("b", Outcome::Errored, Some("limit")) };
    let rows = [
        with_outcome("a", Outcome::Failed, None),
        unstarted,
        with_outcome("c", Outcome::Errored, Some("http")),
        with_outcome("d", Outcome::Skipped, None),
        with_outcome("e", Outcome::Borderline, None),
        with_outcome("f", Outcome::Passed, None),
        with_outcome("a", Outcome::Passed, None),
    ];
    for row in &rows {
        writer.write_row(row.clone()).1.wait().unwrap();
    }
    writer.finish(Completion::Interrupted).unwrap();
    let results = folder.place().results().to_owned();
    assert_eq!(read_finished(&results).unwrap().len(), 6);
    assert_eq!(ids(&results), ["b", "c", "d", "e", "f", "a"]);
    let last_rows = read_finished(&results).unwrap();
    let unpassed = last_rows.iter().filter(|(_, row)| row.did_not_pass());
    let mut unpassed: Vec<_> = unpassed.map(|(key, _)| key.test.as_str()).collect();
    unpassed.sort_unstable();
    assert_eq!(unpassed, ["b", "c", "e"]);
    let interrupted = Interrupted::read(&results).unwrap();
    let is_finished = |row: &Row| interrupted.finished(&row.key(), &row.test_hash).is_some();
    let finished: Vec<bool> = rows.iter().map(is_finished).collect();
    assert_eq!(finished, [true, false, true, true, true, true, true]);
}

#[test]
fn a_foreign_line_in_the_middle_is_named_and_the_other_rows_are_read() {
    let folder = Folder::new();
    let path = folder.place().results().to_owned();
    let newer = line(&row("b")).replacen("\"schemaVersion\":1", "\"schemaVersion\":2", 1);
    for (foreign, reason) in [
        ("half a row\n", "not a row: expected value (column 1)"),
        ("{\"evalId\": \"a\"}\n", "not a row: missing field"),
        ("\u{0}\u{0}\n", "not a row"),
        (newer.as_str(), "written by a newer version of evalrig"),
    ] {
        let (first, last) = (line(&row("a")), line(&row("c")));
        fs::write(&path, format!("{first}\n{foreign}{last}")).unwrap();
        let notices = Interrupted::read(&path).unwrap().notices();
        assert_eq!(notices.len(), 1);
        assert!(notices[0].contains(&format!("out.jsonl:3: {reason}")), "{notices:?}");
        let gaps = Rows::open(&path).unwrap().gaps();
        assert_eq!(gaps.damaged.len(), 1);
        assert!(gaps.sentences()[0].contains(&format!("out.jsonl:3: {reason}")));
        assert_eq!(ids(&path), ["a", "c"]);
        fs::write(&path, foreign).unwrap();
        let error = Rows::open(&path).unwrap_err();
        assert!(matches!(error, ReadError::Corrupt { line: 1, .. }), "{error}");
        read_finished(&path).unwrap_err();
    }
}

#[test]
fn a_foreign_line_in_the_journal_is_named_too() {
    let folder = Folder::new();
    drop(folder.writer());
    append(&folder.place().journal(), b"{\"evalId\": \"a\"}\n");
    let interrupted = Interrupted::read(folder.place().results()).unwrap();
    let notices = interrupted.notices();
    assert!(notices[0].contains("out.jsonl.journal:2: "), "{notices:?}");
    // A removed journal does not matter: the rows tell what is finished.
    fs::remove_file(folder.place().journal()).unwrap();
    let interrupted = Interrupted::read(folder.place().results()).unwrap();
    assert_eq!(interrupted.header, Some(header()));
    folder.resume().finish(Completion::Complete).unwrap();
}

#[test]
fn a_file_that_changed_since_it_was_read_is_not_written_to() {
    let folder = Folder::new();
    let path = folder.place().results().to_owned();
    fs::write(&path, line(&row("a"))).unwrap();
    let interrupted = Interrupted::read(&path).unwrap();
    append(&path, line(&row("b")).as_bytes());
    let error = ResultsWriter::resume(&interrupted, &header(), Arc::default()).unwrap_err();
    assert!(matches!(error, WriteError::Changed { .. }), "{error}");
    assert_eq!(ids(&path), ["a", "b"]);
}

#[test]
fn two_runs_do_not_write_to_one_file() {
    let folder = Folder::new();
    let first = folder.writer();
    let again =
        || ResultsWriter::create(folder.place(), Existing::Replace, &header(), Arc::default());
    let error = again().unwrap_err();
    assert!(matches!(error, WriteError::Busy { .. }), "{error}");
    first.write_row(row("a")).1.wait().unwrap();
    first.finish(Completion::Complete).unwrap();
    let refused =
        ResultsWriter::create(folder.place(), Existing::Refuse, &header(), Arc::default());
    let error = refused.unwrap_err();
    assert!(matches!(error, WriteError::Exists { .. }), "{error}");
    assert_eq!(ids(folder.place().results()), ["a"]);
    let second = again().unwrap();
    second.write_row(row("b")).1.wait().unwrap();
    drop(second);
    assert_eq!(ids(folder.place().results()), ["b"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_at_once() {
    let place = ResultsPaths::at("/dev/full".into()).unwrap();
    let created = ResultsWriter::create(place, Existing::Refuse, &header(), Arc::default());
    let Err(WriteError::Io { source, .. }) = created else {
        panic!("the header cannot have been written");
    };
    assert_eq!(source.kind(), std::io::ErrorKind::StorageFull);
    assert!(!Utf8Path::new("/dev/full.journal").exists());
}

#[test]
fn a_place_that_cannot_be_written_is_an_error_at_once() {
    let folder = Folder::new();
    let place = ResultsPaths::existing(&folder.path.join("missing/out.jsonl"));
    let error =
        ResultsWriter::create(place, Existing::Refuse, &header(), Arc::default()).unwrap_err();
    assert!(error.to_string().contains("cannot be written"), "{error}");
}

#[test]
fn no_secret_reaches_the_disk() {
    let secret = "pa\"ss\nwörd\\x";
    let mut secrets = Secrets::default();
    secrets.add(secret);
    let folder = Folder::new();
    let writer = folder.recorder_with(secrets);
    let mut spoiled = row("a");
    spoiled.candidate_answer = Some(format!("it is {secret}"));
    spoiled.misses = vec![secret.to_owned()];
    spoiled.evaluator_results[0].details = Some(serde_json::json!({ secret: [secret] }));
    let transcript = Transcript::of_text(serde_json::json!({ "k": secret }).to_string());
    let answered = writer.write_answer(&spoiled.key(), "h", 1, &transcript);
    answered.wait().unwrap();
    let (kept, receipt) = writer.write_row(spoiled);
    receipt.wait().unwrap();
    assert_eq!(kept.candidate_answer.as_deref(), Some("it is ***"));
    writer.finish(Completion::Interrupted).unwrap();
    for path in [folder.place().results().to_owned(), folder.place().journal()] {
        let text = fs::read_to_string(path).unwrap();
        assert!(!text.contains("wörd") && !text.contains("rd\\"), "{text}");
        assert!(text.contains("***"));
    }
}

#[test]
fn recorders_on_different_files_do_not_disturb_each_other() {
    let folders: Vec<Folder> = (0..4).map(|_| Folder::new()).collect();
    std::thread::scope(|scope| {
        for folder in &folders {
            scope.spawn(|| {
                let writer = folder.writer();
                std::thread::scope(|inner| {
                    for worker in 0..4 {
                        let writer = &writer;
                        inner.spawn(move || {
                            for number in 0..25 {
                                let (_, receipt) =
                                    writer.write_row(row(&format!("{worker}-{number}")));
                                receipt.wait().unwrap();
                            }
                        });
                    }
                });
                writer.finish(Completion::Complete).unwrap();
            });
        }
    });
    for folder in &folders {
        let mut found = ids(folder.place().results());
        found.sort();
        found.dedup();
        assert_eq!(found.len(), 100);
    }
}

#[test]
fn results_are_named_after_suite_and_time_and_never_shared() {
    let folder = Folder::new();
    let now = UNIX_EPOCH + Duration::from_secs(1_767_323_045);
    let claim = |suite| ResultsPaths::claim(&folder.path, suite, now).unwrap();
    let names: Vec<String> = [claim("csv"), claim("csv"), claim("csv"), claim("pdf")]
        .iter()
        .map(|place| place.results().file_name().unwrap().to_owned())
        .collect();
    assert_eq!(
        names,
        [
            "csv-2026-01-02T03-04-05.jsonl",
            "csv-2026-01-02T03-04-05-2.jsonl",
            "csv-2026-01-02T03-04-05-3.jsonl",
            "pdf-2026-01-02T03-04-05.jsonl",
        ]
    );
    let odd = claim("../../escape");
    assert_eq!(odd.results().parent(), Some(&*folder.path.join(".evalrig/results")));
}

#[cfg(unix)]
#[test]
fn latest_is_a_link_to_the_newest_results() {
    let folder = Folder::new();
    let latest = folder.path.join(".evalrig/results/latest.jsonl");
    for suite in ["csv", "pdf"] {
        let place = ResultsPaths::claim(&folder.path, suite, SystemTime::now()).unwrap();
        assert_eq!(place.point_latest().unwrap(), Latest::Link);
        let writer =
            ResultsWriter::create(place.clone(), Existing::Refuse, &header(), Arc::default())
                .unwrap();
        writer.write_row(row(suite)).1.wait().unwrap();
        writer.finish(Completion::Interrupted).unwrap();
        let target = fs::read_link(&latest).unwrap();
        assert_eq!(target.to_str(), place.results().file_name());
        assert_eq!(ids(&latest), [suite]);
        // The journal is next to the file that the link points to.
        let interrupted = Interrupted::read(&latest).unwrap();
        assert!(interrupted.header.is_some());
    }
    let listed = fs::read_dir(folder.path.join(".evalrig/results")).unwrap();
    assert_eq!(listed.count(), 5);
    let chosen = folder.place();
    assert_eq!(chosen.point_latest().unwrap(), Latest::None);
    // A copy, as made where links are not available, is not taken for results of its own.
    let newest = ResultsPaths::existing(&latest);
    fs::remove_file(&latest).unwrap();
    fs::copy(newest.results(), &latest).unwrap();
    let itself = ResultsPaths::existing(&latest);
    assert_eq!(itself.point_latest().unwrap(), Latest::None);
}

#[test]
fn a_summary_is_written_beside_the_results() {
    let folder = Folder::new();
    let mut tally = SummaryBuilder::new();
    tally.add(&row("a"));
    let facts = RunFacts {
        suite: "csv".to_owned(),
        timestamp: "2026-01-02T03:04:09Z".to_owned(),
        duration_ms: None,
        exit_code: 1,
    };
    let path = folder.place().summary();
    for _ in 0..2 {
        write_summary(&path, &tally.finish(facts.clone())).unwrap();
    }
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.ends_with("}\n"));
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["summary"]["borderline"], 1);
    assert_eq!(fs::read_dir(&folder.path).unwrap().count(), 1);
}
