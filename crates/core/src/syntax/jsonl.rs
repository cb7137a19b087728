//! One JSON value per line, read as a stream: memory does not grow with the file.

use std::io::{self, BufRead};
use std::sync::Arc;

use memchr::memchr;

use crate::source::SourceId;

use super::encoding::find_control_in_line;
use super::json::{JsonError, parse_into};
use super::tree::Tree;

/// A longer line is refused (spec 2.6).
pub(crate) const LINE_LIMIT: usize = 16 * 1024 * 1024;

/// What a line turned out to be.
#[derive(Debug)]
pub enum Line {
    Value,
    /// The tree is not usable.
    Faulty(Vec<JsonError>),
    InvalidByte {
        offset: u64,
    },
    Control {
        at: usize,
        character: char,
    },
    TooLong,
}

/// Reads lines one after another into the same tree.
#[derive(Debug)]
pub struct JsonLines<R> {
    input: R,
    tree: Tree,
    number: u32,
    next_offset: u64,
    offset: u64,
}

impl<R: BufRead> JsonLines<R> {
    /// `source` is the id that spans of the current line carry.
    pub fn new(input: R, source: SourceId) -> Self {
        Self::resumed(input, source, 0, 0)
    }

    /// Goes on in the middle of a file, behind so many lines and bytes.
    pub fn resumed(input: R, source: SourceId, lines: u32, offset: u64) -> Self {
        let tree = Tree::new(source, Arc::default());
        Self { input, tree, number: lines, next_offset: offset, offset }
    }

    /// The next line that is not blank; `None` at the end of the file.
    pub fn advance(&mut self) -> io::Result<Option<Line>> {
        loop {
            let Some(read) = self.read_line()? else {
                return Ok(None);
            };
            if let Err(line) = read {
                return Ok(Some(line));
            }
            let text = &self.tree.text;
            if text.bytes().all(|byte| byte.is_ascii_whitespace()) {
                continue;
            }
            if let Some((at, character)) = find_control_in_line(text) {
                return Ok(Some(Line::Control { at, character }));
            }
            return Ok(Some(match parse_into(&mut self.tree) {
                Ok(()) => Line::Value,
                Err(faults) => Line::Faulty(faults),
            }));
        }
    }

    /// What the lines were read from.
    pub fn into_inner(self) -> R {
        self.input
    }

    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// 1-based, blank lines counted.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// The byte of the file at which the current line's text begins.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    pub(crate) fn set_source(&mut self, source: SourceId) {
        self.tree.source = source;
    }

    /// Up to and with the next line feed, but no more than a line may have, and one byte.
    fn read_bytes(&mut self, bytes: &mut Vec<u8>) -> io::Result<usize> {
        loop {
            let buffer = self.input.fill_buf()?;
            let room = (LINE_LIMIT + 1 - bytes.len()).min(buffer.len());
            let (used, done) = match memchr(b'\n', &buffer[..room]) {
                Some(at) => (at + 1, true),
                None => (room, room == 0),
            };
            bytes.extend_from_slice(&buffer[..used]);
            self.input.consume(used);
            if done {
                return Ok(bytes.len());
            }
        }
    }

    fn read_line(&mut self) -> io::Result<Option<Result<(), Line>>> {
        let mut bytes = std::mem::take(Arc::make_mut(&mut self.tree.text)).into_bytes();
        bytes.clear();
        let taken = self.read_bytes(&mut bytes)?;
        if taken == 0 {
            return Ok(None);
        }
        self.number += 1;
        self.offset = self.next_offset;
        self.next_offset += taken as u64;
        if bytes.last() == Some(&b'\n') {
            bytes.pop();
        } else if taken > LINE_LIMIT {
            self.next_offset += self.input.skip_until(b'\n')? as u64;
            return Ok(Some(Err(Line::TooLong)));
        }
        if self.number == 1 && bytes.starts_with(b"\xef\xbb\xbf") {
            bytes.drain(..3);
            self.offset = 3;
        }
        match String::from_utf8(bytes) {
            Ok(text) => {
                *Arc::make_mut(&mut self.tree.text) = text;
                Ok(Some(Ok(())))
            }
            Err(error) => {
                let offset = self.offset + error.utf8_error().valid_up_to() as u64;
                Ok(Some(Err(Line::InvalidByte { offset })))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Sources;
    use std::io::Cursor;

    fn lines(bytes: impl Into<Vec<u8>>) -> JsonLines<Cursor<Vec<u8>>> {
        let source = Sources::new().add_file("/d.jsonl".into(), String::new(), 0);
        JsonLines::new(Cursor::new(bytes.into()), source)
    }

    #[test]
    fn blank_lines_are_skipped_but_counted() {
        let mut lines = lines("\u{feff}{\"id\": 1}\r\n\n  \n{\"id\": 2}");
        assert!(matches!(lines.advance().unwrap(), Some(Line::Value)));
        assert_eq!((lines.number(), lines.offset()), (1, 3));
        assert!(matches!(lines.advance().unwrap(), Some(Line::Value)));
        assert_eq!(lines.number(), 4);
        assert_eq!(lines.tree().root().get("id").unwrap().scalar_text(), Some("2"));
        assert!(lines.advance().unwrap().is_none());
    }

    #[test]
    fn a_bad_line_does_not_stop_the_next() {
        let mut lines = lines(b"{\n\xff\n\x01\n{}\n".to_vec());
        assert!(matches!(lines.advance().unwrap(), Some(Line::Faulty(_))));
        assert!(matches!(lines.advance().unwrap(), Some(Line::InvalidByte { offset: 2 })));
        assert!(matches!(lines.advance().unwrap(), Some(Line::Control { .. })));
        assert!(matches!(lines.advance().unwrap(), Some(Line::Value)));
    }

    #[test]
    fn an_endless_line_is_refused_without_being_kept() {
        let long = [vec![b'x'; LINE_LIMIT + 100], b"\n{}\n".to_vec()].concat();
        let mut lines = lines(long);
        assert!(matches!(lines.advance().unwrap(), Some(Line::TooLong)));
        assert!(matches!(lines.advance().unwrap(), Some(Line::Value)));
        assert_eq!(lines.number(), 2);
    }
}
