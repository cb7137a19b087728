//! Tests from JSONL, a line at a time.

use std::io::{self, BufRead};
use std::sync::Arc;

use camino::Utf8Path;

use crate::diagnostic::Diagnostic;
use crate::source::{Position, Span};
use crate::syntax::codes::{INVALID_ENCODING, LINE_TOO_LONG, control_character};
use crate::syntax::fields::WRONG_TYPE;
use crate::syntax::{JsonLines, Line, explain_json, unreadable};

use super::inherited_defaults::InheritedDefaults;
use super::jsonl_parts::is_large;
use super::loader::Loader;
use super::test::{LineLocation, LineRetention};

impl Loader<'_, '_> {
    /// Every line of a JSONL file. `place` is where the file was named.
    pub(super) fn read_jsonl_tests(
        &mut self,
        path: &Utf8Path,
        level: &InheritedDefaults<'_>,
        place: Span,
    ) {
        let shared: Arc<Utf8Path> = path.to_owned().into();
        let inner = self.plain_level(Some(level));
        let files = self.reader.world.files;
        let reach = self.reader.reach_of(path);
        let size = files.look(path, reach).map_or(0, |found| found.size);
        let read = files.open(path, reach).and_then(|input| {
            if !self.sink.needs_source_lines() && is_large(size) {
                return self.check_jsonl_parts(input, &inner, &shared);
            }
            let source = self.reader.sources.reserve(shared.clone());
            let mut lines = JsonLines::new(input, source);
            self.read_lines(&mut lines, &inner, &shared)
        });
        if let Err(error) = read {
            self.import_failed = true;
            self.reader.report(unreadable(place, path, &error));
        }
    }

    pub(super) fn read_lines<R: BufRead>(
        &mut self,
        lines: &mut JsonLines<R>,
        level: &InheritedDefaults<'_>,
        path: &Arc<Utf8Path>,
    ) -> io::Result<()> {
        while let Some(line) = lines.advance()? {
            let before = self.reader.out.kept();
            self.read_line(lines, line, level, path);
            if self.sink.needs_source_lines() || self.reader.out.kept() > before {
                // Spans of a line carry a reserved id, which becomes the line's excerpt now.
                let first = Position::start_of(lines.number());
                let tree = lines.tree();
                self.reader.sources.fill(tree.source(), tree.text(), first, lines.offset());
                lines.set_source(self.reader.sources.reserve(path.clone()));
            }
        }
        Ok(())
    }

    fn read_line<R: BufRead>(
        &mut self,
        lines: &JsonLines<R>,
        line: Line,
        level: &InheritedDefaults<'_>,
        path: &Arc<Utf8Path>,
    ) {
        let (text, source) = (lines.tree().text(), lines.tree().source());
        match line {
            Line::Value => {
                let root = lines.tree().root();
                if root.is_mapping() {
                    let retention = LineRetention::Dropped(LineLocation {
                        path: path.clone(),
                        line: lines.number(),
                        offset: lines.offset(),
                    });
                    self.reader.enter_line(text.len());
                    self.read_test(root, level, &retention);
                    self.reader.leave_line();
                    return;
                }
                let found = crate::reader::type_of(root);
                let message = format!("each line is one test, a JSON object; found {found}");
                self.reader.report(Diagnostic::new(&WRONG_TYPE, root.span(), message));
            }
            Line::Faulty(faults) => {
                for fault in faults {
                    self.reader.report(explain_json(source, text, &fault));
                }
            }
            Line::InvalidByte { offset } => {
                let line = lines.number();
                let message = format!("byte {offset} of the file, on line {line}, is not UTF-8");
                let start = Span::new(source, 0, 0);
                self.reader.report(Diagnostic::new(&INVALID_ENCODING, start, message));
            }
            Line::Control { at, character } => {
                self.reader.report(control_character(source, at, character));
            }
            Line::TooLong => {
                let message = format!("line {} is longer than 16 MiB", lines.number());
                let start = Span::new(source, 0, 0);
                self.reader.report(Diagnostic::new(&LINE_TOO_LONG, start, message));
            }
        }
        self.import_failed = true;
    }
}
