//! Results files that were cut, flipped or edited: what is missing is named exactly, nothing that
//! changed a row goes unnoticed, and nothing panics.

use std::collections::BTreeSet;
use std::fs;
use std::sync::Arc;

use camino::Utf8PathBuf;
use evalrig_core::compare::{CompareOptions, Measure, compare};
use evalrig_run::report::REPORTS;
use evalrig_run::results::{
    Completion, Existing, ExitRule, Gaps, Interrupted, PlanOptions, PlannedSuite, ResultsPaths,
    ResultsWriter, Row, Rows, RunHeader,
};
use evalrig_run::session::{
    ArmComparisonSpec, LoadOptions, ReportSpec, StoredRunSpec, read_cases, report_stored_run,
};
use proptest::prelude::*;
use serde_json::{Value, json};

struct Folder {
    _guard: tempfile::TempDir,
    path: Utf8PathBuf,
}

impl Folder {
    fn new() -> Self {
        let guard = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(guard.path().to_owned()).unwrap();
        fs::create_dir(path.join(".git")).unwrap();
        Self { _guard: guard, path }
    }

    fn file(&self, name: &str, bytes: &[u8]) -> Utf8PathBuf {
        let path = self.path.join(name);
        fs::write(&path, bytes).unwrap();
        path
    }

    /// Reports the files in every format; the exit code, or that of an error.
    fn report(&self, results: &[Utf8PathBuf]) -> u8 {
        let list = REPORTS.iter().map(|report| format!("{0}=out/{0}", report.name));
        let spec = StoredRunSpec {
            loading: LoadOptions::new(self.path.clone()),
            results: results.to_vec(),
            exit_rule: ExitRule::default(),
            baseline_arm: None,
            baseline: None,
            arms: ArmComparisonSpec::default(),
            reports: ReportSpec { list: list.collect(), ..ReportSpec::default() },
        };
        match report_stored_run(&spec, &mut |_| {}) {
            Ok(exit) => exit.code(),
            Err(error) if error.is_incomplete() => 3,
            Err(_) => 2,
        }
    }

    /// Every way to read results; none may panic.
    fn read_all(&self, path: &Utf8PathBuf) {
        let _ = Interrupted::read(path).map(|found| found.notices());
        let loading = LoadOptions::new(self.path.clone());
        for found in read_cases(&loading, &[vec![path.clone()]]).into_iter().flatten() {
            for measure in [Measure::Rate, Measure::Score] {
                let options = CompareOptions { measure, ..CompareOptions::default() };
                let _ = compare(&found.cases, &found.cases, &options);
            }
        }
        let code = self.report(std::slice::from_ref(path));
        assert!([0, 1, 2, 3, 4].contains(&code));
    }
}

fn row(test: &str, trial: u32) -> Row {
    let row = json!({
        "schemaVersion": 1, "timestamp": "2026-01-02T03:04:05Z", "evalId": test,
        "dataset": "s", "conversationId": null, "score": 1.0, "verdict": "pass",
        "outcome": "passed", "hits": [], "misses": [], "candidateAnswer": "hi",
        "target": "t", "trial": trial, "attempts": 1, "durationMs": 5, "costUsd": 0.5,
        "tokens": {"input": 1, "output": 2, "total": 3, "cached": 0}, "traceSummary": {},
        "evaluatorResults": [{"name": "c", "type": "contains", "score": 1.0, "weight": 1,
            "required": false, "outcome": "graded", "gate": null}],
        "judgeUsage": null, "error": null, "testHash": "0123456789abcdef",
        "source": {"file": "EVAL.yaml", "line": 1}, "record": null
    });
    serde_json::from_value(row).unwrap()
}

/// A shard of a plan has the tests of the others.
fn header(tests: &[&str], shard: Option<(&str, &[&str])>) -> RunHeader {
    let cases = tests.iter().map(|test| (*test, "t", 1));
    let mut suite = PlannedSuite::new("s", "EVAL.yaml", String::new(), cases);
    let mut options = PlanOptions::default();
    if let Some((shard, others)) = shard {
        options.shard = Some(shard.to_owned());
        suite.plan = Some("whole".to_owned());
        suite.other_shards = others.iter().map(|&test| test.to_owned()).collect();
    }
    RunHeader::new("2026-01-02T03:04:05Z".to_owned(), vec![suite], options)
}

/// The bytes of a results file in which `rows` of the planned tests have a row.
fn written(header: &RunHeader, rows: &[&str], end: Option<Completion>) -> Vec<u8> {
    let folder = Folder::new();
    let place = ResultsPaths::at(&folder.path.join("out.jsonl")).unwrap();
    let writer =
        ResultsWriter::create(place.clone(), Existing::Refuse, header, Arc::default()).unwrap();
    for test in rows {
        writer.write_row(row(test, 1)).1.wait().unwrap();
    }
    if let Some(end) = end {
        writer.finish(end).unwrap();
    } else {
        drop(writer);
    }
    fs::read(place.results()).unwrap()
}

fn complete(tests: &[&str]) -> Vec<u8> {
    written(&header(tests, None), tests, Some(Completion::Complete))
}

/// The rows that can be read, and what is missing.
fn read(path: &Utf8PathBuf) -> Option<(Vec<Row>, Gaps)> {
    let mut rows = Rows::open(path).ok()?;
    let found: Vec<Row> = rows.by_ref().map(Result::unwrap).collect();
    Some((found, rows.gaps()))
}

fn missing(gaps: &Gaps) -> Vec<&str> {
    gaps.missing.iter().map(|case| case.test.as_str()).collect()
}

#[test]
fn a_complete_file_lacks_nothing() {
    let folder = Folder::new();
    let path = folder.file("out.jsonl", &complete(&["a", "b", "c"]));
    let (rows, gaps) = read(&path).unwrap();
    assert_eq!(rows.len(), 3);
    assert!(gaps.is_empty() && gaps.without_plan.is_empty(), "{gaps:?}");
    assert_eq!(folder.report(&[path]), 0);
}

#[test]
fn wherever_a_file_is_cut_it_is_not_complete() {
    let folder = Folder::new();
    let tests = ["a", "b", "c"];
    let whole = complete(&tests);
    for cut in 0..whole.len() - 1 {
        let path = folder.file("cut.jsonl", &whole[..cut]);
        match read(&path) {
            // Nothing is left, or nothing that can be read.
            None => {}
            Some((rows, gaps)) if cut == 0 => assert!(rows.is_empty() && gaps.planned == 0),
            Some((rows, gaps)) => {
                assert!(!gaps.is_empty(), "{cut}");
                if gaps.planned > 0 {
                    let found: Vec<&str> = rows.iter().map(|row| row.eval_id.as_str()).collect();
                    assert_eq!([found, missing(&gaps)].concat(), tests, "{cut}");
                }
            }
        }
        if cut % 53 == 0 {
            folder.read_all(&path);
            assert_ne!(folder.report(&[path]), 0, "{cut}");
        }
    }
    // Only the last line break is not missed.
    let path = folder.file("cut.jsonl", &whole[..whole.len() - 1]);
    assert!(read(&path).unwrap().1.is_empty());
}

#[test]
fn every_flipped_bit_is_noticed() {
    let folder = Folder::new();
    let whole = complete(&["a", "b"]);
    let path = folder.path.join("flipped.jsonl");
    let intact = [row("a", 1), row("b", 1)];
    for at in 0..whole.len() {
        for bit in 0..8 {
            let mut flipped = whole.clone();
            flipped[at] ^= 1 << bit;
            fs::write(&path, &flipped).unwrap();
            let Some((rows, gaps)) = read(&path) else { continue };
            // A row is as it was written, or it is not there.
            assert!(rows.iter().all(|row| intact.contains(row)), "{at} {bit}");
            assert!(!gaps.is_empty(), "{at} {bit}: {}", String::from_utf8_lossy(&flipped));
            if (at * 8 + bit) % 997 == 0 {
                folder.read_all(&path);
                assert_ne!(folder.report(std::slice::from_ref(&path)), 0, "{at} {bit}");
            }
        }
    }
}

/// A row of an older version, with one value replaced or, without one, removed.
fn edited(pointer: &str, value: Option<&Value>) -> String {
    let mut row = serde_json::to_value(row("b", 1)).unwrap();
    match value {
        Some(value) => *row.pointer_mut(pointer).unwrap() = value.clone(),
        None => {
            let (parent, key) = pointer.rsplit_once('/').unwrap();
            row.pointer_mut(parent).unwrap().as_object_mut().unwrap().remove(key);
        }
    }
    row.to_string()
}

#[test]
fn edited_rows_never_panic_and_never_pass_for_intact_ones() {
    let folder = Folder::new();
    let values = [
        json!(1e308),
        json!(-1e308),
        json!(1.000_000_1),
        json!(-0.1),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(0),
        json!(null),
        json!("NaN"),
        json!(true),
        json!([]),
        json!({}),
        json!("\u{1b}[31m\n::error::x"),
    ];
    let whole = serde_json::to_value(row("b", 1)).unwrap();
    let mut pointers: Vec<String> =
        whole.as_object().unwrap().keys().map(|key| format!("/{key}")).collect();
    for inner in ["tokens/input", "tokens/total", "source/line", "evaluatorResults/0/score"] {
        pointers.push(format!("/{inner}"));
    }
    for inner in ["evaluatorResults/0/weight", "evaluatorResults/0/required"] {
        pointers.push(format!("/{inner}"));
    }
    let first = serde_json::to_string(&row("a", 1)).unwrap();
    for pointer in &pointers {
        for value in values.iter().map(Some).chain([None]) {
            let text = format!("{first}\n{}\n", edited(pointer, value));
            let path = folder.file("edited.jsonl", text.as_bytes());
            let (rows, gaps) = read(&path).unwrap();
            assert_eq!(rows.len() + gaps.damaged.len(), 2, "{pointer} {value:?}");
            for row in &rows {
                assert!(row.score.is_none_or(|score| (0.0..=1.0).contains(&score)));
                assert!(row.trial > 0 && row.cost_usd.is_none_or(|cost| cost >= 0.0));
            }
            folder.read_all(&path);
        }
    }
}

#[test]
fn marks_and_line_breaks_of_other_systems_do_no_harm() {
    let folder = Folder::new();
    let whole = String::from_utf8(complete(&["a", "b"])).unwrap();
    for text in [format!("\u{feff}{whole}"), whole.replace('\n', "\r\n"), format!("\n{whole}\n\n")]
    {
        let path = folder.file("out.jsonl", text.as_bytes());
        let (rows, gaps) = read(&path).unwrap();
        assert_eq!((rows.len(), gaps.sentences()), (2, Vec::new()));
        assert_eq!(folder.report(&[path]), 0);
    }
}

#[test]
fn rows_that_were_added_or_doubled_are_noticed() {
    let folder = Folder::new();
    let whole = String::from_utf8(complete(&["a", "b"])).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    let doubled = [lines[0], lines[1], lines[1], lines[2], lines[3]].join("\n") + "\n";
    let swapped = [lines[0], lines[2], lines[1], lines[3]].join("\n") + "\n";
    for text in [doubled, swapped] {
        let path = folder.file("out.jsonl", text.as_bytes());
        let (rows, gaps) = read(&path).unwrap();
        assert_eq!(rows.len(), 2);
        assert!(gaps.sentences()[0].contains("rows were changed after the run"), "{gaps:?}");
    }
    // Without its checksum a row is not believed either.
    let plain = serde_json::to_string(&row("a", 1)).unwrap();
    let text = [lines[0], &plain, lines[2], lines[3]].join("\n") + "\n";
    let path = folder.file("out.jsonl", text.as_bytes());
    let (_, gaps) = read(&path).unwrap();
    assert_eq!((missing(&gaps), gaps.damaged[0].line), (vec!["a"], 2));
}

#[test]
fn a_file_of_an_older_version_is_read_with_a_note() {
    let folder = Folder::new();
    let lines = ["a", "b"].map(|test| serde_json::to_string(&row(test, 1)).unwrap() + "\n");
    let path = folder.file("old.jsonl", lines.concat().as_bytes());
    let (rows, gaps) = read(&path).unwrap();
    assert_eq!((rows.len(), gaps.is_empty()), (2, true));
    let note = gaps.unknown_note().unwrap();
    assert!(note.contains("does not say which cases were planned"), "{note}");
    assert_eq!(folder.report(&[path]), 0);
}

#[test]
fn a_file_without_its_first_lines_is_not_of_an_older_version() {
    let folder = Folder::new();
    let whole = String::from_utf8(complete(&["a", "b", "c"])).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    for first in 1..lines.len() {
        for last in first + 1..=lines.len() {
            let text = lines[first..last].join("\n") + "\n";
            let path = folder.file("cut.jsonl", text.as_bytes());
            let (rows, gaps) = read(&path).unwrap();
            assert_eq!(rows.len(), last.min(4) - first.min(4), "{first} {last}");
            assert!(gaps.sentences()[0].contains("the header is missing"), "{gaps:?}");
            assert_eq!(gaps.unknown_note(), None);
            assert_eq!(folder.report(&[path]), 3, "{first} {last}");
        }
    }
    for text in ["", "\n\n"] {
        let path = folder.file("empty.jsonl", text.as_bytes());
        let gaps = read(&path).unwrap().1;
        assert_eq!((gaps.unknown_note(), folder.report(&[path])), (None, 4));
    }
}

#[test]
fn a_file_without_its_header_can_be_resumed() {
    let folder = Folder::new();
    let tests = ["a", "b", "c"];
    let whole = String::from_utf8(complete(&tests)).unwrap();
    let kept: String = whole.lines().skip(2).take(2).map(|line| format!("{line}\n")).collect();
    let path = folder.file("cut.jsonl", kept.as_bytes());
    let interrupted = Interrupted::read(&path).unwrap();
    let writer =
        ResultsWriter::resume(&interrupted, &header(&tests, None), Arc::default()).unwrap();
    writer.write_row(row("a", 1)).1.wait().unwrap();
    writer.finish(Completion::Complete).unwrap();
    let (rows, gaps) = read(&path).unwrap();
    assert_eq!((rows.len(), gaps.sentences()), (3, Vec::new()));
}

#[test]
fn a_missing_shard_is_named_with_its_tests() {
    let folder = Folder::new();
    let all = ["a", "b", "c", "d"];
    let shard = |number: usize| {
        let own = all[number];
        let others: Vec<&str> = all.into_iter().filter(|test| *test != own).collect();
        let name = format!("{}/4", number + 1);
        let header = header(&[own], Some((&name, &others)));
        let bytes = written(&header, &[own], Some(Completion::Complete));
        folder.file(&format!("shard-{number}.jsonl"), &bytes)
    };
    let files: Vec<Utf8PathBuf> = (0..4).map(shard).collect();
    assert_eq!(folder.report(&files), 0);
    let some = [files[0].clone(), files[2].clone()];
    assert_eq!(folder.report(&some), 3);
    let gaps = Rows::open_all(&some).unwrap().gaps();
    assert_eq!(
        (missing(&gaps), gaps.shards.clone()),
        (vec!["b", "d"], vec!["2/4".to_owned(), "4/4".to_owned()])
    );
    assert_eq!(
        gaps.sentences(),
        ["2 of 4 cases have no row: b, d", "shards are missing: 2/4, 4/4"]
    );
    // Joined by `cat`.
    let joined: Vec<u8> = files.iter().flat_map(|file| fs::read(file).unwrap()).collect();
    let path = folder.file("all.jsonl", &joined);
    assert!(read(&path).unwrap().1.is_empty());
    // One shard on its own is enough for the same shard.
    let gaps = Rows::open(&files[1]).unwrap().gaps_shown(Some("2/4"), |path| path.to_owned());
    assert!(gaps.is_empty(), "{gaps:?}");
}

#[test]
fn resuming_completes_any_cut_and_any_damaged_row() {
    let tests = ["a", "b", "c"];
    let whole = complete(&tests);
    let header = header(&tests, None);
    let mut spoiled = whole.clone();
    let second = whole.iter().position(|byte| *byte == b'\n').unwrap() + 40;
    spoiled[second] ^= 1;
    let cuts = (0..whole.len()).step_by(41).map(|cut| whole[..cut].to_vec());
    for bytes in cuts.chain([spoiled]) {
        let folder = Folder::new();
        let path = folder.file("out.jsonl", &bytes);
        let interrupted = Interrupted::read(&path).unwrap();
        let left: Vec<&str> = tests
            .into_iter()
            .filter(|test| interrupted.finished(&row(test, 1).key(), "0123456789abcdef").is_none())
            .collect();
        let writer = ResultsWriter::resume(&interrupted, &header, Arc::default()).unwrap();
        for test in left {
            writer.write_row(row(test, 1)).1.wait().unwrap();
        }
        writer.finish(Completion::Complete).unwrap();
        let (rows, gaps) = read(&path).unwrap();
        assert_eq!(rows.len(), 3);
        assert!(gaps.is_empty(), "{:?}", gaps.sentences());
        assert_eq!(folder.report(&[path]), 0);
    }
}

#[test]
fn a_file_resumed_with_a_changed_suite_has_the_new_plan() {
    let folder = Folder::new();
    let before = written(&header(&["a", "gone"], None), &["a"], None);
    let path = folder.file("out.jsonl", &before);
    let interrupted = Interrupted::read(&path).unwrap();
    let now = header(&["a", "new"], None);
    let writer = ResultsWriter::resume(&interrupted, &now, Arc::default()).unwrap();
    writer.write_row(row("new", 1)).1.wait().unwrap();
    writer.finish(Completion::Complete).unwrap();
    let (rows, gaps) = read(&path).unwrap();
    assert_eq!(rows.len(), 2);
    assert!(gaps.is_empty(), "{:?}", gaps.sentences());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Any rows can be taken out of a complete file; exactly those are named.
    #[test]
    fn removed_rows_are_named_exactly(removed in proptest::collection::btree_set(0_usize..12, 0..=12)) {
        let names: Vec<String> = (0..12).map(|number| format!("t{number}")).collect();
        let tests: Vec<&str> = names.iter().map(String::as_str).collect();
        let whole = String::from_utf8(complete(&tests)).unwrap();
        let kept = whole.lines().enumerate().filter(|(at, _)| {
            !removed.iter().any(|number| number + 1 == *at)
        });
        let text: String = kept.map(|(_, line)| format!("{line}\n")).collect();
        let folder = Folder::new();
        let path = folder.file("out.jsonl", text.as_bytes());
        let (rows, gaps) = read(&path).unwrap();
        prop_assert_eq!(rows.len(), 12 - removed.len());
        let named: BTreeSet<&str> = missing(&gaps).into_iter().collect();
        let expected: BTreeSet<&str> = removed.iter().map(|number| tests[*number]).collect();
        prop_assert_eq!(named, expected);
        prop_assert_eq!(gaps.is_empty(), removed.is_empty());
        prop_assert_eq!(folder.report(&[path]) == 0, removed.is_empty());
    }
}
