//! The data of the events that a live page reads. Each is one line.

use std::borrow::Borrow;

use serde_json::json;

use super::super::{ReportedRun, SuiteText};
use super::page::inert_value;
use super::page_test::PageTest;
use super::summary::SummaryPanel;
use super::{comparison, earlier};
use crate::results::{Row, WorkerLines};

/// A case as the page knows it: the line of its test with this case alone, and with its details in
/// `details`.
pub fn case_json(row: &Row, text: &SuiteText) -> String {
    let mut test = PageTest::of(row, text);
    let case = test.make_case(row, text);
    test.cases.push(case);
    test.event()
}

/// What is known of a run that goes on, row by row.
#[derive(Debug, Default)]
pub struct LiveSummary(SummaryPanel);

impl LiveSummary {
    pub fn add(&mut self, row: &Row) {
        self.0.add(row);
    }

    /// The data of a `run` event: `suites`, `command` and `planned` from the beginning, counts and rates
    /// of the rows so far.
    pub fn json(&self, facts: &ReportedRun) -> String {
        inert_value(&self.0.document(facts, &[]))
    }
}

/// The data of a `workers` event: what each worker of a queue does now, in the place of the lines before.
pub fn workers_json(workers: &WorkerLines) -> String {
    inert_value(&json!(workers))
}

/// A `run` event of all rows at once.
pub fn run_json<R: Borrow<Row>>(rows: impl IntoIterator<Item = R>, end: &ReportedRun) -> String {
    let mut summary = LiveSummary::default();
    for row in rows {
        summary.add(row.borrow());
    }
    summary.json(end)
}

/// The same when the run is over, in `run`, and what became of it beside its baseline: `compared`
/// and `earlier`, null without one.
pub fn end_json<R: Borrow<Row>>(rows: impl IntoIterator<Item = R>, end: &ReportedRun) -> String {
    let run = run_json(rows, end);
    let null = || "null".to_owned();
    let compared = end.compared.as_ref();
    let [compared, earlier] =
        [compared.map_or_else(null, comparison::block), compared.map_or_else(null, earlier::block)]
            // Newlines separate list entries; inside texts they are escaped.
            .map(|block| block.replace('\n', ""));
    format!("{{\"run\":{run},\"compared\":{compared},\"earlier\":{earlier}}}")
}

#[cfg(test)]
mod tests {
    use evalrig_core::model::Outcome;
    use serde_json::Value;

    use super::super::super::fixture;
    use super::*;

    fn read(line: &str) -> Value {
        assert!(!line.contains('\n'), "{line}");
        serde_json::from_str(line).unwrap()
    }

    #[test]
    fn a_case_has_its_details_in_it() {
        let row = fixture::missing("greets", "Output contains 'hello'\n</script>");
        let found = read(&case_json(&row, &SuiteText::unknown()));
        assert_eq!(found["id"], "greets");
        assert_eq!(
            found["details"]["cases"][0]["checks"][0]["misses"][0],
            "Output contains 'hello'\n</script>"
        );
    }

    #[test]
    fn the_end_has_the_verdict() {
        let now = [("refund-policy", Outcome::Failed)];
        let base = [("refund-policy", Outcome::Passed), ("gone", Outcome::Passed)];
        let end = ReportedRun {
            compared: Some(fixture::compared("main.jsonl", &base, &now)),
            ..ReportedRun::default()
        };
        let found = read(&end_json(fixture::rows(), &end));
        assert_eq!(found["compared"]["tests"].as_array().unwrap().len(), 2);
        assert_eq!(found["run"], read(&run_json(fixture::rows(), &end)));
        let alone = read(&end_json(fixture::rows(), &ReportedRun::default()));
        assert_eq!(alone["compared"], Value::Null);
    }
}
