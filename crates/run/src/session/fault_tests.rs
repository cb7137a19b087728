//! Whole runs under faults and power cuts, with results, run log, summary and reports: a case that was
//! reported is there, a resumed run has every case once, and no report is half written.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;

use camino::Utf8Path;

use super::*;
use crate::disk::faults::{
    FaultyDirectory, LEAST_POINTS, Recovery, Scenario, assert_points, sweep,
};
use crate::event::Event;
use crate::results::{ResultsPaths, Rows};
use crate::runlog::{Store, VerifyMode};

const TARGETS: &str = "targets: [{name: default, provider: mock, response: hello}]\n";
const TESTS: [&str; 3] = ["a", "b", "c"];

fn prepare(root: &Utf8Path) {
    fs::create_dir_all(root.join(".git")).unwrap();
    fs::create_dir_all(root.join(".evalrig")).unwrap();
    fs::write(root.join(".evalrig/targets.yaml"), TARGETS).unwrap();
    let tests = TESTS.map(|id| {
        format!("  - {{id: {id}, criteria: c, input: hi {id}, assert: [{{type: contains, value: hello}}]}}\n")
    });
    fs::write(root.join("EVAL.yaml"), format!("name: s\ntests:\n{}", tests.concat())).unwrap();
    fs::write(root.join("junit.xml"), OLD_REPORT).unwrap();
}

const OLD_REPORT: &str = "<testsuites>old</testsuites>\n";

fn spec(root: &Utf8Path) -> RunSpec {
    let mut spec = RunSpec::new(root);
    spec.loading.root = Some(root.to_owned());
    spec.workers = Some(2);
    spec.run_log = Some(RunLogSpec::default());
    spec.reports.list = vec![format!("junit={root}/junit.xml"), format!("html={root}/new.html")];
    spec
}

fn start(
    spec: RunSpec,
    reported: impl Fn(String) + Send + Sync + 'static,
) -> Result<FinishedRun, SessionError> {
    let session = RunSession::prepare(spec, &mut |_| {})?;
    let listener = Arc::new(move |event: &Event| {
        if let Event::Finished { row, .. } = event {
            reported(row.eval_id.clone());
        }
    });
    session.run(&mut |_| {}, listener)
}

fn act(root: &Utf8Path, watched: &FaultyDirectory) {
    let finished = start(spec(root), watched.promiser());
    if finished.is_ok_and(|finished| finished.exit.code() == 0) {
        watched.promise("complete");
    }
}

/// Either report is whole, as far as it can be told from outside.
fn check_reports(root: &Utf8Path, is_complete: bool) {
    let junit = fs::read_to_string(root.join("junit.xml")).unwrap();
    assert!(junit.ends_with("</testsuites>\n"), "{junit}");
    if is_complete {
        assert_ne!(junit, OLD_REPORT);
    }
    let html = fs::read_to_string(root.join("new.html"));
    assert!(html.as_ref().is_ok_and(|html| html.ends_with("</html>\n")) || html.is_err());
    assert!(html.is_ok() || !is_complete);
}

fn check(recovery: &Recovery<'_>) {
    let Recovery { root, promised, lost_sync } = *recovery;
    let latest = ResultsPaths::latest_of(root, "s");
    let promised: &[String] = if lost_sync { &[] } else { promised };
    let is_complete = promised.iter().any(|what| what == "complete");
    if !lost_sync {
        check_reports(root, false);
    }
    let ids: Vec<&String> = promised.iter().filter(|what| *what != "complete").collect();
    if let Some(results) = &latest {
        let found = rows(results);
        assert!(ids.iter().all(|id| found.contains_key(*id)), "{ids:?} of {found:?}");
        let is_interrupted = ResultsPaths::interrupted(root, "s").is_some();
        assert!(is_interrupted || !is_complete || found.len() == TESTS.len());
        assert!(!is_interrupted || !is_complete, "a complete run looks interrupted");
    } else {
        assert!(promised.is_empty(), "the results are gone: {promised:?}");
    }
    // Goes on where there is something to go on with, and starts over otherwise.
    let mut again = spec(root);
    if ResultsPaths::interrupted(root, "s").is_some() {
        again.resume = Some(LATEST.to_owned());
    }
    let finished = start(again, |_| {}).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(finished.exit.code(), 0);
    let results = ResultsPaths::latest_of(root, "s").unwrap();
    let expected = TESTS.iter().map(|id| ((*id).to_owned(), 1)).collect();
    assert_eq!(rows(&results), expected);
    check_reports(root, true);
    let store = Store::of_root(root);
    let repaired = store.verify(VerifyMode::Repair).unwrap_or_else(|error| panic!("{error}"));
    assert!(lost_sync || repaired.is_sound(), "{:?}", repaired.findings);
    assert_eq!(store.names().unwrap().len(), TESTS.len());
}

/// How often each test has a row.
fn rows(results: &Utf8Path) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for row in Rows::open(results).unwrap_or_else(|error| panic!("{error}")) {
        let row = row.unwrap_or_else(|error| panic!("{error}"));
        *found.entry(row.eval_id).or_default() += 1;
    }
    found
}

#[test]
fn no_fault_or_power_cut_loses_a_reported_case_or_halves_a_report() {
    let scenario = Scenario { name: "session", prepare: &prepare, act: &act, check: &check };
    assert_points(&[(scenario.name, sweep(&scenario))], LEAST_POINTS[2]);
}
