//! Tests from JSONL, a line at a time.

use std::sync::Arc;

use camino::Utf8Path;

use crate::diagnostic::Diagnostic;
use crate::source::{Position, SourceId, Span};
use crate::syntax::codes::{INVALID_ENCODING, LINE_TOO_LONG, control_character};
use crate::syntax::fields::WRONG_TYPE;
use crate::syntax::{JsonLines, Line, explain_json};

use super::level::Level;
use super::load::Loader;
use super::test::{IdPlaceMaker, Standing};

impl Loader<'_, '_> {
    /// Every line of a JSONL file. `place` is where the file was named.
    pub(super) fn read_jsonl_tests(&mut self, path: &Utf8Path, level: &Level<'_>, place: Span) {
        let input = match self.reader.world.files.open(path) {
            Ok(input) => input,
            Err(error) => {
                self.import_failed = true;
                self.reader
                    .report(crate::syntax::unreadable(place, path, &error));
                return;
            }
        };
        let shared: Arc<Utf8Path> = path.to_owned().into();
        // Spans of a line carry a reserved id, which becomes the line's excerpt if it is kept.
        let mut source = self.reader.sources.reserve(shared.clone());
        let mut lines = JsonLines::new(input, source);
        let inner = self.plain_level(Some(level));
        loop {
            let line = match lines.advance() {
                Ok(Some(line)) => line,
                Ok(None) => break,
                Err(error) => {
                    self.import_failed = true;
                    self.reader
                        .report(crate::syntax::unreadable(place, path, &error));
                    break;
                }
            };
            let before = self.reader.out.len();
            self.read_line(&lines, line, source, &inner, &shared);
            if self.sink.keeps_tests() || self.reader.out.len() > before {
                let first = Position {
                    line: lines.number(),
                    column: 1,
                };
                self.reader
                    .sources
                    .fill(source, lines.tree().text(), first, lines.offset());
                source = self.reader.sources.reserve(shared.clone());
                lines.set_source(source);
            }
        }
    }

    fn read_line(
        &mut self,
        lines: &JsonLines,
        line: Line,
        source: SourceId,
        level: &Level<'_>,
        path: &Arc<Utf8Path>,
    ) {
        let text = lines.tree().text();
        match line {
            Line::Value => {
                let root = lines.tree().root();
                if root.is_mapping() {
                    let standing = Standing::Passing(IdPlaceMaker {
                        path: path.clone(),
                        line: lines.number(),
                    });
                    self.read_test(root, level, &standing);
                    return;
                }
                let found = crate::access::type_of(root);
                let message = format!("each line is one test, a JSON object; found {found}");
                self.reader
                    .report(Diagnostic::new(&WRONG_TYPE, root.span(), message));
            }
            Line::Faulty(faults) => {
                for fault in faults {
                    self.reader.report(explain_json(source, text, &fault));
                }
            }
            Line::InvalidByte { offset } => {
                let message = format!(
                    "byte {offset} of the file, on line {}, is not UTF-8",
                    lines.number()
                );
                self.reader.report(Diagnostic::new(
                    &INVALID_ENCODING,
                    Span::new(source, 0, 0),
                    message,
                ));
            }
            Line::Control { at, character } => {
                self.reader.report(control_character(source, at, character));
            }
            Line::TooLong => {
                let message = format!("line {} is longer than 16 MiB", lines.number());
                self.reader.report(Diagnostic::new(
                    &LINE_TOO_LONG,
                    Span::new(source, 0, 0),
                    message,
                ));
            }
        }
        self.import_failed = true;
    }
}
