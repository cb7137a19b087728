//! The rows themselves, one to a line (spec 11.1).

use std::io::{self, Write};

use serde_json::{Map, Value};

use super::{Report, ReportKind, ReportedRun, gap_lines};
use crate::results::{INCOMPLETE, Row};
use crate::text;

pub static REPORT: ReportKind = ReportKind {
    name: "jsonl",
    doc: "the rows as they are recorded, one JSON object per line",
    shows_gate: false,
    shows_history: false,
    make: |_| Box::new(Jsonl),
};

#[derive(Debug, Clone, Copy)]
pub struct Jsonl;

impl Report for Jsonl {
    fn row(&mut self, row: &Row, out: &mut dyn Write) -> io::Result<()> {
        write_row(row, out)?;
        writeln!(out)
    }

    /// Rows that are not all of a run say so in a last line, which is not a row.
    fn finish(&mut self, end: &ReportedRun, out: &mut dyn Write) -> io::Result<()> {
        if let Some(Value::Object(gaps)) = gap_lines::document(end) {
            let mut line = Map::new();
            line.insert("kind".to_owned(), INCOMPLETE.into());
            line.extend(gaps);
            writeln!(out, "{}", text::json(&Value::Object(line).to_string()))?;
        }
        out.flush()
    }
}

/// It begins with a brace and has no line break, so that it cannot be taken for a command of a CI
/// runner.
pub(super) fn write_row(row: &Row, out: &mut dyn Write) -> io::Result<()> {
    let text = serde_json::to_string(row)?;
    out.write_all(text::json(&text).as_bytes())
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{self, Shown};
    use super::*;
    use crate::text::OutputStyle;

    #[test]
    fn rows_come_back_as_they_were() {
        let mut rows = fixture::rows();
        rows.extend(fixture::hostile_rows());
        let text = Shown::of(&REPORT, OutputStyle::default()).rows(&rows);
        let read: Vec<Row> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(read, rows);
    }

    #[test]
    fn snapshot() {
        insta::assert_snapshot!(
            Shown::of(&REPORT, OutputStyle::default()).rows(&fixture::rows()[1..3])
        );
    }
}
