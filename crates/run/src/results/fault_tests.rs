//! Results, journal and summary under faults and power cuts: what a receipt has confirmed is there, a
//! resumed run has every case once, and a file that looks complete is complete.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use camino::Utf8Path;
use evalrig_core::model::Transcript;

use super::planned_suite::PlannedSuite;
use super::results_paths::ResultsPaths;
use super::resume::Interrupted;
use super::row::{CaseKey, Row};
use super::run_header::{Completion, PlanOptions, RunHeader};
use super::testing::row;
use super::writer::{Existing, ResultsWriter};
use super::{Rows, RunFacts, SummaryBuilder, WriteError, write_summary};
use crate::disk::faults::{
    FaultyDirectory, LEAST_POINTS, Recovery, Scenario, assert_points, sweep,
};

const SUITE: &str = "desk";
const CASES: u32 = 14;

/// Cases whose answers go to the journal before they are graded.
fn is_journaled(case: u32) -> bool {
    case.is_multiple_of(2)
}

fn case_row(case: u32) -> Row {
    let mut row = row(&format!("case-{case}"), 1);
    row.dataset = SUITE.to_owned();
    row
}

fn answer(case: u32) -> String {
    format!("answer {case}")
}

fn header() -> RunHeader {
    let keys: Vec<CaseKey> = (0..CASES).map(key).collect();
    let cases = keys.iter().map(|key| (key.test.as_str(), key.target.as_str(), key.trial));
    let suite = PlannedSuite::new(SUITE, "EVAL.yaml", "f".to_owned(), cases);
    RunHeader::new("2026-01-02T03:04:05Z".to_owned(), vec![suite], PlanOptions::default())
}

fn claim(root: &Utf8Path) -> Result<ResultsPaths, WriteError> {
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
    let place = ResultsPaths::claim(root, SUITE, now);
    place.map_err(|error| WriteError::io(root, error))
}

/// Runs the cases as the session does: an answer that is to be judged is safe before it is judged, and
/// a case is reported when its row is safe.
fn write_cases(
    writer: &ResultsWriter,
    cases: impl Iterator<Item = u32>,
    mut promise: impl FnMut(String),
) -> Result<(), WriteError> {
    let mut failure = Ok(());
    for case in cases {
        let row = case_row(case);
        if is_journaled(case) {
            let transcript = Transcript::of_text(answer(case));
            let receipt = writer.write_answer(&row.key(), &row.test_hash, 1, &transcript);
            match receipt.wait() {
                Ok(()) => promise(format!("answer {case}")),
                Err(error) => failure = Err(error),
            }
        }
        match writer.write_row(row).1.wait() {
            Ok(()) => promise(format!("row {case}")),
            Err(error) => failure = Err(error),
        }
    }
    failure
}

fn finish(
    writer: ResultsWriter,
    written: Result<(), WriteError>,
    mut promise: impl FnMut(String),
) -> Result<(), WriteError> {
    let place = writer.place().clone();
    let end = if written.is_ok() { Completion::Complete } else { Completion::Interrupted };
    let mut summary = SummaryBuilder::default();
    (0..CASES).for_each(|case| summary.add(&case_row(case)));
    writer.finish(end)?;
    written?;
    promise("complete".to_owned());
    let summary = summary.finish(RunFacts {
        suite: SUITE.to_owned(),
        timestamp: "2026-01-02T03:05:05Z".to_owned(),
        duration_ms: None,
        exit_code: 0,
    });
    let path = place.summary();
    write_summary(&path, &summary).map_err(|error| WriteError::io(&path, error))?;
    promise("summary".to_owned());
    Ok(())
}

/// A whole run from nothing.
fn run(root: &Utf8Path, watched: &FaultyDirectory) {
    let promise = |what| watched.promise(what);
    let run = || {
        let place = claim(root)?;
        let header = header();
        let writer = ResultsWriter::create(place, Existing::Replace, &header, Arc::default())?;
        let _ = writer.place().point_latest();
        let written = write_cases(&writer, 0..CASES, promise);
        finish(writer, written, promise)
    };
    // A fault is reported, and the next start recovers.
    let _: Result<(), WriteError> = run();
}

/// What a run was killed over: rows, answers, and part of a row.
fn interrupt(root: &Utf8Path) {
    let place = claim(root).unwrap();
    let writer =
        ResultsWriter::create(place.clone(), Existing::Replace, &header(), Arc::default()).unwrap();
    write_cases(&writer, 0..3, |_| {}).unwrap();
    let row = case_row(4);
    let transcript = Transcript::of_text(answer(4));
    writer.write_answer(&row.key(), &row.test_hash, 1, &transcript).wait().unwrap();
    writer.finish(Completion::Interrupted).unwrap();
    let mut bytes = std::fs::read(place.results()).unwrap();
    bytes.extend_from_slice(b"{\"schemaVersion\":1,\"timest");
    std::fs::write(place.results(), bytes).unwrap();
}

fn resume(root: &Utf8Path, watched: &FaultyDirectory) {
    for case in 0..3 {
        watched.promise(format!("row {case}"));
    }
    watched.promise("answer 4");
    let _: Result<(), WriteError> = resume_cases(root, |what| watched.promise(what));
}

fn key(case: u32) -> CaseKey {
    case_row(case).key()
}

/// Runs what is left, as `--resume` does.
fn resume_cases(root: &Utf8Path, promise: impl Fn(String)) -> Result<(), WriteError> {
    let Some(results) = ResultsPaths::interrupted(root, SUITE) else {
        return Ok(());
    };
    let interrupted = Interrupted::read(&results).unwrap_or_else(|error| panic!("{error}"));
    let hash = case_row(0).test_hash;
    let left: Vec<u32> =
        (0..CASES).filter(|case| interrupted.finished(&key(*case), &hash).is_none()).collect();
    let writer = ResultsWriter::resume(&interrupted, &header(), Arc::default())?;
    let written = write_cases(&writer, left.into_iter(), &promise);
    finish(writer, written, promise)
}

/// How often each case has a row.
fn rows_of(results: &Utf8Path) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for row in Rows::open(results).unwrap_or_else(|error| panic!("{error}")) {
        let row = row.unwrap_or_else(|error| panic!("{error}"));
        *found.entry(row.eval_id).or_default() += 1;
    }
    found
}

/// The rows of a file, also those that a later one replaces.
fn row_count(path: &Utf8Path) -> usize {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().filter(|line| line.contains("\"candidateAnswer\":")).count()
}

fn check(recovery: &Recovery<'_>) {
    let Recovery { root, promised, lost_sync } = *recovery;
    let is_promised = |what: String| !lost_sync && promised.contains(&what);
    let latest = ResultsPaths::latest_of(root, SUITE);
    let interrupted = ResultsPaths::interrupted(root, SUITE);
    if latest.is_none() {
        assert!(promised.is_empty() || lost_sync, "the results are gone: {promised:?}");
    }
    if let Some(results) = &interrupted {
        let found = Interrupted::read(results).unwrap_or_else(|error| panic!("{error}"));
        let hash = case_row(0).test_hash;
        for case in 0..CASES {
            let has_row = found.finished(&key(case), &hash).is_some();
            assert!(has_row || !is_promised(format!("row {case}")), "row {case} is gone");
            let has_answer = found.answered(&key(case), &hash);
            assert!(
                has_row || has_answer.is_some() || !is_promised(format!("answer {case}")),
                "answer {case} is gone"
            );
        }
        assert!(!is_promised("complete".to_owned()), "a complete run looks interrupted");
        resume_cases(root, |_| {}).unwrap_or_else(|error| panic!("{error}"));
    }
    let Some(results) = latest else {
        return;
    };
    let rows = rows_of(&results);
    if rows.is_empty() && interrupted.is_none() {
        // Claimed, and nothing more.
        assert!(promised.is_empty() || lost_sync, "the rows are gone: {promised:?}");
        return;
    }
    if lost_sync && interrupted.is_none() {
        // Rows may have been lost after the journal was removed. Then the results say what they lack.
        assert!(rows.values().all(|count| *count == 1), "{rows:?}");
        let gaps = Rows::open(&results).unwrap_or_else(|error| panic!("{error}")).gaps();
        let is_short = rows.len() < CASES as usize;
        assert_eq!(is_short, gaps.missing_count > 0, "{rows:?}: {:?}", gaps.sentences());
        return;
    }
    // Without a journal nothing is left to resume, so nothing may be missing.
    let expected = (0..CASES).map(|case| (format!("case-{case}"), 1)).collect();
    assert_eq!(rows, expected);
    assert_eq!(row_count(&results), CASES as usize, "a case has two rows");
    let gaps = Rows::open(&results).unwrap_or_else(|error| panic!("{error}")).gaps();
    assert!(gaps.is_empty(), "{:?}", gaps.sentences());
    if is_promised("summary".to_owned()) {
        let summary = std::fs::read(ResultsPaths::existing(&results).summary()).unwrap();
        let summary: serde_json::Value = serde_json::from_slice(&summary).unwrap();
        assert_eq!(summary["summary"]["total"], CASES);
    }
}

#[test]
fn no_fault_or_power_cut_loses_or_doubles_a_case() {
    let new = Scenario { name: "run", prepare: &|_| {}, act: &run, check: &check };
    let resumed = Scenario { name: "resume", prepare: &interrupt, act: &resume, check: &check };
    let points = [new, resumed].map(|scenario| (scenario.name, sweep(&scenario)));
    assert_points(&points, LEAST_POINTS[0]);
}
