//! Every text that a diagnostic may point into.
//!
//! A source is a whole file, or an excerpt: one line of a JSONL file that is too large to keep.
//! Excerpts know their position in the file, so places are still right.

use std::sync::Arc;
use std::sync::OnceLock;

use camino::{Utf8Path, Utf8PathBuf};

use super::line_index::{LineIndex, Position};
use super::span::{SourceId, Span};

#[derive(Debug)]
pub struct Source {
    path: Arc<Utf8Path>,
    text: Arc<String>,
    first_line: u32,
    first_column: u32,
    offset: u64,
    lines: OnceLock<LineIndex>,
}

impl Source {
    /// Absolute, with `/` as separator.
    pub fn path(&self) -> &Utf8Path {
        &self.path
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn shared_text(&self) -> Arc<String> {
        self.text.clone()
    }

    /// The line of the file on which this text begins.
    pub fn first_line(&self) -> u32 {
        self.first_line
    }

    /// The byte of the file at which this text begins.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    pub fn position(&self, offset: u32) -> Position {
        let inside = self.lines().position(&self.text, offset);
        let column = match inside.line {
            1 => inside.column + self.first_column - 1,
            _ => inside.column,
        };
        Position { line: inside.line + self.first_line - 1, column }
    }

    /// The line of the file that contains an offset. A short text, such as a line of a JSONL file,
    /// needs no index for that: there may be a million of them.
    pub fn line(&self, offset: u32) -> u32 {
        const SHORT: usize = 4096;
        if self.text.len() > SHORT {
            return self.position(offset).line;
        }
        let before = &self.text.as_bytes()[..self.text.len().min(offset as usize)];
        let breaks = memchr::memchr_iter(b'\n', before).count();
        self.first_line + breaks as u32
    }

    pub fn lines(&self) -> &LineIndex {
        self.lines.get_or_init(|| LineIndex::new(&self.text))
    }
}

#[derive(Debug, Default)]
pub struct Sources {
    list: Vec<Source>,
    /// The number of the first one.
    base: u32,
}

/// How the ids of sources change when they are appended to others.
#[derive(Debug, Clone, Copy)]
pub struct Shift {
    base: u32,
    by: u32,
}

impl Shift {
    /// The same place after appending. Places before the appended sources stay.
    pub fn of(self, span: Span) -> Span {
        if span.source.0 < self.base {
            span
        } else {
            Span { source: SourceId(span.source.0 + self.by), ..span }
        }
    }
}

impl Sources {
    pub fn new() -> Self {
        Self::default()
    }

    /// Sources that will be appended to a collection that has `base` already.
    pub(crate) fn numbered_from(base: u32) -> Self {
        Self { list: Vec::new(), base }
    }

    pub fn count(&self) -> u32 {
        self.base + self.list.len() as u32
    }

    /// Takes over sources that were numbered behind these, or behind fewer of these.
    pub fn append(&mut self, other: Self) -> Shift {
        let shift = Shift { base: other.base, by: self.count() - other.base };
        self.list.extend(other.list);
        shift
    }

    /// `offset` is how many bytes of the file were dropped in front (a byte order mark).
    pub fn add_file(&mut self, path: Utf8PathBuf, text: String, offset: u64) -> SourceId {
        self.push(Source {
            path: path.into(),
            text: Arc::new(text),
            first_line: 1,
            first_column: 1,
            offset,
            lines: OnceLock::new(),
        })
    }

    /// A part of a file that begins at `first` and at byte `offset`.
    pub fn add_excerpt(
        &mut self,
        path: Arc<Utf8Path>,
        text: &str,
        first: Position,
        offset: u64,
    ) -> SourceId {
        self.push(Source {
            path,
            text: Arc::new(text.to_owned()),
            first_line: first.line,
            first_column: first.column,
            offset,
            lines: OnceLock::new(),
        })
    }

    /// An id for a part of a file that may or may not be kept; see [`Sources::fill`].
    pub fn reserve(&mut self, path: Arc<Utf8Path>) -> SourceId {
        self.add_excerpt(path, "", Position::start_of(1), 0)
    }

    /// Gives a reserved source its text and its place in the file.
    pub fn fill(&mut self, id: SourceId, text: &str, first: Position, offset: u64) {
        let source = &mut self.list[(id.0 - self.base) as usize];
        source.text = Arc::new(text.to_owned());
        source.first_line = first.line;
        source.first_column = first.column;
        source.offset = offset;
        source.lines = OnceLock::new();
    }

    /// The path of every source; a file of which several lines are kept occurs several times.
    pub fn paths(&self) -> impl Iterator<Item = &Utf8Path> {
        self.list.iter().map(Source::path)
    }

    pub fn get(&self, id: SourceId) -> &Source {
        &self.list[(id.0 - self.base) as usize]
    }

    pub fn text_of(&self, span: Span) -> &str {
        let text = self.get(span.source).text();
        text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    pub fn position(&self, span: Span) -> Position {
        self.get(span.source).position(span.start)
    }

    /// The line on which a span begins.
    pub fn line(&self, span: Span) -> u32 {
        self.get(span.source).line(span.start)
    }

    pub fn end_position(&self, span: Span) -> Position {
        self.get(span.source).position(span.end)
    }

    fn push(&mut self, source: Source) -> SourceId {
        let id = SourceId(self.count());
        self.list.push(source);
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_those_of_positions_with_and_without_an_index() {
        let path: Arc<Utf8Path> = Utf8PathBuf::from("/a").into();
        for text in ["", "é\nb\n\nc", &"word\n".repeat(1000)] {
            let mut sources = Sources::new();
            let first = Position { line: 7, column: 3 };
            let id = sources.add_excerpt(Arc::clone(&path), text, first, 0);
            let source = sources.get(id);
            for offset in (0..=text.len() as u32 + 1).filter(|at| *at < 20 || at % 97 == 0) {
                assert_eq!(source.line(offset), source.position(offset).line);
            }
        }
    }

    #[test]
    fn appended_sources_are_found_at_their_shifted_places() {
        let mut all = Sources::new();
        all.add_file("/a".into(), "a".to_owned(), 0);
        let mut part = Sources::numbered_from(all.count());
        let id = part.add_file("/b".into(), "bcd".to_owned(), 0);
        all.add_file("/c".into(), "c".to_owned(), 0);
        let shift = all.append(part);
        assert_eq!(all.text_of(shift.of(Span::new(id, 1, 3))), "cd");
        let kept = Span::new(SourceId(0), 0, 1);
        assert_eq!(shift.of(kept), kept);
    }

    #[test]
    fn an_excerpt_reports_places_of_its_file() {
        let mut sources = Sources::new();
        let path: Arc<Utf8Path> = Utf8PathBuf::from("/d.jsonl").into();
        let first = Position { line: 7, column: 3 };
        let id = sources.add_excerpt(path, "{\"id\": 1}", first, 100);
        let span = Span::new(id, 1, 5);
        assert_eq!(sources.position(span), Position { line: 7, column: 4 });
        assert_eq!(sources.text_of(span), "\"id\"");
    }
}
