//! The whole run as one JSON document. The summary follows the rows, because it is known
//! only when they have been written.

use std::io::{self, Write};

use evalrig_core::stats::Interval;
use serde_json::{Value, json};

use super::pass_k::PassKTally;
use super::tally::Tally;
use super::{Report, ReportKind, ReportOptions, ReportedRun, arms, comparison, gap_lines, jsonl};
use crate::results::{Row, SCHEMA_VERSION};
use crate::text::{self, numbers};

pub static REPORT: ReportKind = ReportKind {
    name: "json",
    doc: "one JSON document: every row and the summary",
    shows_gate: false,
    shows_history: false,
    make: |setting| Box::new(Json::new(setting)),
};

#[derive(Debug, Default)]
pub struct Json {
    tally: Tally,
    pass_k: PassKTally,
}

impl Json {
    pub fn new(_: &ReportOptions) -> Self {
        Self::default()
    }

    /// What comes before the next row.
    fn opening(&self) -> String {
        match self.tally.totals.counts.total() {
            0 => format!("{{\"schemaVersion\":{SCHEMA_VERSION},\"results\":[\n"),
            _ => ",\n".to_owned(),
        }
    }
}

impl Report for Json {
    fn row(&mut self, row: &Row, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(self.opening().as_bytes())?;
        self.tally.add(row);
        self.pass_k.add(row);
        jsonl::write_row(row, out)
    }

    fn finish(&mut self, end: &ReportedRun, out: &mut dyn Write) -> io::Result<()> {
        let before = match self.tally.totals.counts.total() {
            0 => self.opening(),
            _ => "\n".to_owned(),
        };
        let made = || self.tally.document(end);
        let summary = end.summary_document.clone().unwrap_or_else(made);
        write!(out, "{before}],\"summary\":{}", text(&summary))?;
        write!(out, ",\"intervals\":{}", text(&self.intervals()))?;
        if self.tally.disputes.count() > 0 {
            write!(out, ",\"disputed\":{}", text(&self.tally.disputes.document()))?;
        }
        if let Some(found) = self.pass_k.json() {
            write!(out, ",\"passAtK\":{}", text(&found))?;
        }
        if let Some(gaps) = gap_lines::document(end) {
            write!(out, ",\"incomplete\":{}", text(&gaps))?;
        }
        let arms = self.tally.arms.findings(end.rounds.as_ref(), &end.arm_options);
        if !arms.is_empty() {
            write!(out, ",\"arms\":{}", text(&arms::json(&arms)))?;
        }
        if let Some(rounds) = &end.rounds {
            write!(out, ",\"rounds\":{}", text(&rounds.json()))?;
        }
        if let Some(compared) = &end.compared {
            let candidate = end.results.as_ref().map_or("", |path| path.as_str());
            let compared = comparison::json(&compared.base, candidate, &compared.comparison);
            write!(out, ",\"comparison\":{}", text(&compared))?;
        }
        writeln!(out, "}}")
    }
}

impl Json {
    /// At 95 %, of the numbers in the summary, whose keys the format has fixed. Null from 200 tests
    /// on.
    fn intervals(&self) -> Value {
        let pair = |interval: Interval| {
            json!([numbers::rounded(interval.low), numbers::rounded(interval.high)])
        };
        json!({
            "passRate": self.tally.sample.rate().map(pair),
            "averageScore": self.tally.sample.average().map(pair),
        })
    }
}

fn text(value: &Value) -> String {
    text::json(&value.to_string()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::super::comparison::testing;
    use super::super::fixture::{self, Shown};
    use super::*;
    use crate::text::OutputStyle;

    fn shown() -> Shown {
        Shown::of(&REPORT, OutputStyle::default())
    }

    #[test]
    fn the_document_has_every_row_and_the_counts() {
        let rows = fixture::rows();
        let document: Value = serde_json::from_str(&shown().rows(&rows)).unwrap();
        assert_eq!(document["schemaVersion"], 1);
        assert_eq!(document["results"], serde_json::to_value(&rows).unwrap());
        insta::assert_snapshot!(serde_json::to_string_pretty(&document["summary"]).unwrap());
    }

    #[test]
    fn a_run_without_rows_is_a_document_too() {
        let document: Value = serde_json::from_str(&shown().rows(&[])).unwrap();
        assert_eq!(document["results"], json!([]));
    }

    #[test]
    fn a_summary_that_was_made_is_taken() {
        let end = ReportedRun {
            summary_document: Some(json!({"suite": "mine"})),
            ..ReportedRun::default()
        };
        let text = shown().end(end).rows(&fixture::rows());
        let document: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(document["summary"], json!({"suite": "mine"}));
    }

    #[test]
    fn numbers_come_with_their_intervals() {
        let rows = [fixture::row("a", evalrig_core::model::Outcome::Passed, Some(1.0))];
        let document: Value = serde_json::from_str(&shown().rows(&rows)).unwrap();
        // 1 of 1 by Wilson.
        assert_eq!(document["intervals"]["passRate"], json!([0.206549, 1.0]));
        assert_eq!(document["intervals"]["averageScore"], json!([0.206549, 1.0]));
        let none: Value = serde_json::from_str(&shown().rows(&[])).unwrap();
        assert_eq!(none["intervals"]["passRate"], Value::Null);
    }

    #[test]
    fn a_baseline_is_shown_as_compare_shows_it() {
        let end = ReportedRun {
            results: Some("now.jsonl".into()),
            compared: Some(testing::compared(20, 5, 3)),
            ..ReportedRun::default()
        };
        let text = shown().end(end).rows(&fixture::rows());
        let document: Value = serde_json::from_str(&text).unwrap();
        let found = &document["comparison"];
        assert_eq!(found["base"], "main.jsonl");
        assert_eq!(found["candidate"], "now.jsonl");
        assert_eq!(found["suite"]["verdict"], "worse");
        assert_eq!(found["tests"].as_array().map(Vec::len), Some(20));
    }
}
