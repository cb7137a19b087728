//! The machine-readable report (`schemaVersion` 1): its shape is a contract (spec 16.1).

use std::borrow::Cow;
use std::io::{self, Write};

use evalrig_core::diagnostic::{Diagnostic, Edit, Fix};
use evalrig_core::source::Span;
use serde::Serialize;

use evalrig_run::text;

use super::{Findings, Render};

#[derive(Debug, Clone, Copy)]
pub struct Json;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    schema_version: u32,
    files: usize,
    tests: usize,
    errors: usize,
    warnings: usize,
    #[serde(skip_serializing_if = "is_zero")]
    dropped: usize,
    diagnostics: Vec<Entry<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Entry<'a> {
    name: &'a str,
    level: &'a str,
    blocks: &'a [&'a str],
    message: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<Cow<'a, str>>,
    file: String,
    line: u32,
    column: u32,
    end_line: u32,
    end_column: u32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related: Vec<Place<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<Repair<'a>>,
}

#[derive(Serialize)]
struct Place<'a> {
    file: String,
    line: u32,
    column: u32,
    message: Cow<'a, str>,
}

#[derive(Serialize)]
struct Repair<'a> {
    safe: bool,
    edits: Vec<Change<'a>>,
}

/// Bytes of the file, not of an excerpt.
#[derive(Serialize)]
struct Change<'a> {
    file: String,
    start: u64,
    end: u64,
    text: &'a str,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl Render for Json {
    fn render(&self, findings: &Findings, out: &mut dyn Write) -> io::Result<()> {
        let document = Document {
            schema_version: 1,
            files: findings.files,
            tests: findings.tests,
            errors: findings.errors,
            warnings: findings.warnings,
            dropped: findings.dropped,
            diagnostics: findings
                .diagnostics
                .iter()
                .map(|diagnostic| entry(findings, diagnostic))
                .collect(),
        };
        let text = serde_json::to_string_pretty(&document)?;
        writeln!(out, "{}", text::json(&text))
    }
}

fn entry<'a>(findings: &Findings<'a>, diagnostic: &'a Diagnostic) -> Entry<'a> {
    let start = findings.sources.position(diagnostic.span);
    let end = findings.sources.end_position(diagnostic.span);
    let related = diagnostic.related.iter();
    Entry {
        name: diagnostic.code.name,
        level: diagnostic.level.severity().word(),
        blocks: diagnostic.level.blocks(),
        message: findings.redact(&diagnostic.message),
        help: diagnostic.help.as_deref().map(|help| findings.redact(help)),
        file: findings.path_of(diagnostic.span),
        line: start.line,
        column: start.column,
        end_line: end.line,
        end_column: end.column,
        related: related.map(|related| place(findings, related.span, &related.message)).collect(),
        fix: findings.fix_without_secrets(diagnostic).map(|fix| repair(findings, fix)),
    }
}

fn place<'a>(findings: &Findings, span: Span, message: &'a str) -> Place<'a> {
    let position = findings.sources.position(span);
    Place {
        file: findings.path_of(span),
        line: position.line,
        column: position.column,
        message: findings.redact(message),
    }
}

fn repair<'a>(findings: &Findings, fix: &'a Fix) -> Repair<'a> {
    let change = |edit: &'a Edit| {
        let offset = findings.sources.get(edit.span.source).offset();
        Change {
            file: findings.path_of(edit.span),
            start: offset + u64::from(edit.span.start),
            end: offset + u64::from(edit.span.end),
            text: &edit.text,
        }
    };
    Repair { safe: true, edits: fix.edits.iter().map(change).collect() }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{BROKEN, Fixture, duplicate};
    use super::*;
    use evalrig_core::source::Position;

    #[test]
    fn the_shape_is_the_promised_one() {
        let expected = r#"{
  "schemaVersion": 1,
  "files": 2,
  "tests": 14,
  "errors": 1,
  "warnings": 0,
  "diagnostics": [
    {
      "name": "duplicate-id",
      "level": "error",
      "blocks": [
        "run",
        "transpile"
      ],
      "message": "test id `a` is used twice",
      "help": "give one of them another id",
      "file": "evals/EVAL.yaml",
      "line": 5,
      "column": 9,
      "endLine": 5,
      "endColumn": 10,
      "related": [
        {
          "file": "evals/EVAL.yaml",
          "line": 3,
          "column": 9,
          "message": "first used here"
        }
      ],
      "fix": {
        "safe": true,
        "edits": [
          {
            "file": "evals/EVAL.yaml",
            "start": 50,
            "end": 51,
            "text": "b"
          }
        ]
      }
    }
  ]
}
"#;
        assert_eq!(duplicate().show(&Json), expected);
    }

    #[test]
    fn nothing_found_is_an_empty_list() {
        let text = Fixture::new().show(&Json);
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["diagnostics"], serde_json::json!([]));
        assert_eq!(value.get("dropped"), None);
    }

    #[test]
    fn edits_count_bytes_of_the_file_and_secrets_stay_home() {
        let mut fixture = Fixture::new();
        fixture.secrets.add("sk-12345678");
        fixture.dropped = 3;
        let first = Position { line: 4, column: 1 };
        let line = fixture.excerpt("d.jsonl", "{\"é\": 1}", first, 100);
        let span = fixture.find(line, "1", 0);
        let faulty = |text: &str| {
            Diagnostic::new(&BROKEN, span, "has sk-12345678 \u{9b}")
                .fix(Fix::replace("write it", span, text))
        };
        fixture.report(faulty("2"));
        fixture.report(faulty("sk-12345678"));
        let text = fixture.show(&Json);
        assert!(text.contains("has *** \\u009b"));
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["dropped"], 3);
        assert_eq!(value["diagnostics"][0]["fix"]["edits"][0]["start"], 107);
        assert_eq!(value["diagnostics"][1].get("fix"), None);
    }
}
