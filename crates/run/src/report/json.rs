//! The whole run as one JSON document. The summary stands behind the rows, because it is known only
//! when they have been written.

use std::io::{self, Write};

use super::tally::Tally;
use super::{Report, ReportKind, RunEnd, Setting, jsonl, visible};
use crate::record::{Row, SCHEMA_VERSION};

pub static REPORT: ReportKind = ReportKind {
    name: "json",
    doc: "one JSON document: every row and the summary",
    make: |setting| Box::new(Json::new(setting)),
};

#[derive(Debug, Default)]
pub struct Json {
    tally: Tally,
}

impl Json {
    pub fn new(_: &Setting) -> Self {
        Self::default()
    }

    /// What comes before the next row.
    fn opening(&self) -> String {
        match self.tally.counts.total() {
            0 => format!("{{\"schemaVersion\":{SCHEMA_VERSION},\"results\":[\n"),
            _ => ",\n".to_owned(),
        }
    }
}

impl Report for Json {
    fn row(&mut self, row: &Row, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(self.opening().as_bytes())?;
        self.tally.add(row);
        jsonl::write_row(row, out)
    }

    fn finish(&mut self, end: &RunEnd, out: &mut dyn Write) -> io::Result<()> {
        let before = match self.tally.counts.total() {
            0 => self.opening(),
            _ => "\n".to_owned(),
        };
        let made = || self.tally.document(end);
        let summary = end.summary_document.clone().unwrap_or_else(made);
        let summary = serde_json::to_string(&summary)?;
        writeln!(out, "{before}],\"summary\":{}}}", visible::json(&summary))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::Look;
    use super::super::fixture::{self, Shown};
    use super::*;

    fn shown() -> Shown {
        Shown::of(&REPORT, Look::default())
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
        let end = RunEnd {
            summary_document: Some(json!({"suite": "mine"})),
            ..RunEnd::default()
        };
        let text = shown().end(end).rows(&fixture::rows());
        let document: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(document["summary"], json!({"suite": "mine"}));
    }
}
