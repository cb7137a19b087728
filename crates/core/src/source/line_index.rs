//! Byte offset → line and column, both 1-based; columns count Unicode scalar values.

use std::iter;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    pub line: u32,
    pub column: u32,
}

impl Position {
    pub fn start_of(line: u32) -> Self {
        Self { line, column: 1 }
    }
}

#[derive(Debug, Clone)]
pub struct LineIndex {
    starts: Vec<u32>,
}

impl LineIndex {
    pub fn new(text: &str) -> Self {
        let breaks = memchr::memchr_iter(b'\n', text.as_bytes());
        let starts = iter::once(0).chain(breaks.map(|at| at as u32 + 1));
        Self { starts: starts.collect() }
    }

    pub fn position(&self, text: &str, offset: u32) -> Position {
        let offset = floor_char_boundary(text, offset);
        let line = self.starts.partition_point(|start| *start <= offset as u32) - 1;
        let column = text[self.starts[line] as usize..offset].chars().count();
        Position { line: line as u32 + 1, column: column as u32 + 1 }
    }

    /// The byte range of a 1-based line, without its line break.
    pub fn line_range(&self, text: &str, line: u32) -> std::ops::Range<usize> {
        let at = (line as usize - 1).min(self.starts.len() - 1);
        let start = self.starts[at] as usize;
        let end = self.starts.get(at + 1).map_or(text.len(), |next| *next as usize - 1);
        start..end
    }

    pub fn line_count(&self) -> usize {
        self.starts.len()
    }
}

fn floor_char_boundary(text: &str, offset: u32) -> usize {
    let mut offset = (offset as usize).min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_not_bytes() {
        let text = "a: é😀x\nb: 1\n";
        let index = LineIndex::new(text);
        let x = text.find('x').unwrap() as u32;
        assert_eq!(index.position(text, x), Position { line: 1, column: 6 });
        let b = text.find('b').unwrap() as u32;
        assert_eq!(index.position(text, b), Position { line: 2, column: 1 });
    }

    #[test]
    fn an_offset_past_the_end_is_the_end() {
        let index = LineIndex::new("ab");
        assert_eq!(index.position("ab", 99), Position { line: 1, column: 3 });
    }

    #[test]
    fn a_line_range_leaves_out_the_break() {
        let text = "one\ntwo\n";
        let index = LineIndex::new(text);
        assert_eq!(&text[index.line_range(text, 2)], "two");
        assert_eq!(&text[index.line_range(text, 3)], "");
    }
}
