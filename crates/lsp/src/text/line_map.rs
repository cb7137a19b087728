//! Byte offsets ↔ positions of the protocol: lines from 0, columns in code units of the encoding that
//! client and server agreed on. A line ends with `\n`, `\r\n` or `\r`, as the protocol says.

use lsp_types::Position;

/// What a column counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PositionEncoding {
    Utf8,
    Utf16,
    Utf32,
}

impl PositionEncoding {
    /// Code units of a text.
    pub(crate) fn length(self, text: &str) -> u32 {
        let length = match self {
            Self::Utf8 => text.len(),
            Self::Utf16 => text.chars().map(char::len_utf16).sum(),
            Self::Utf32 => text.chars().count(),
        };
        u32::try_from(length).unwrap_or(u32::MAX)
    }

    /// The byte of a line at which so many code units have passed: the start of the character that
    /// contains the last one, and the end of the line if it is shorter.
    fn byte_of(self, line: &str, units: u32) -> usize {
        let units = units as usize;
        if self == Self::Utf8 {
            let mut at = units.min(line.len());
            while !line.is_char_boundary(at) {
                at -= 1;
            }
            return at;
        }
        let mut passed = 0;
        for (at, character) in line.char_indices() {
            passed += if self == Self::Utf16 { character.len_utf16() } else { 1 };
            if passed > units {
                return at;
            }
        }
        line.len()
    }
}

/// Where the lines of a text begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LineMap {
    starts: Vec<u32>,
}

impl LineMap {
    pub(crate) fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut starts = vec![0];
        for at in memchr::memchr2_iter(b'\n', b'\r', bytes) {
            let is_first_of_two = bytes[at] == b'\r' && bytes.get(at + 1) == Some(&b'\n');
            if !is_first_of_two {
                starts.push(at as u32 + 1);
            }
        }
        Self { starts }
    }

    pub(crate) fn line_of(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start as usize <= offset).saturating_sub(1)
    }

    /// The bytes of a line without its line break; empty behind the last line.
    pub(crate) fn line_range(&self, text: &str, line: usize) -> std::ops::Range<usize> {
        let Some(start) = self.starts.get(line).map(|start| *start as usize) else {
            return text.len()..text.len();
        };
        let next = self.starts.get(line + 1).map_or(text.len(), |next| *next as usize);
        let content = text[start..next].trim_end_matches(['\n', '\r']);
        start..start + content.len()
    }

    /// Whether nothing but white space comes before an offset on its line.
    pub(crate) fn is_line_start(&self, text: &str, offset: usize) -> bool {
        let start = self.starts.get(self.line_of(offset)).map_or(0, |start| *start as usize);
        text[start..offset].trim().is_empty()
    }

    /// Offsets behind the end are at the end; those inside a character, before it.
    pub(crate) fn position(
        &self,
        text: &str,
        offset: usize,
        encoding: PositionEncoding,
    ) -> Position {
        let mut offset = offset.min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.line_of(offset);
        let column = encoding.length(&text[self.starts[line] as usize..offset]);
        Position { line: line as u32, character: column }
    }

    /// Positions behind the end of a line are at its end; those behind the text, at its end.
    pub(crate) fn offset(
        &self,
        text: &str,
        position: Position,
        encoding: PositionEncoding,
    ) -> usize {
        let range = self.line_range(text, position.line as usize);
        range.start + encoding.byte_of(&text[range.clone()], position.character)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "a: é😀x\r\nb\rc\n";

    fn at(line: u32, character: u32) -> Position {
        Position { line, character }
    }

    #[test]
    fn columns_count_code_units() {
        let map = LineMap::new(TEXT);
        let x = TEXT.find('x').unwrap();
        assert_eq!(map.position(TEXT, x, PositionEncoding::Utf8), at(0, 9));
        assert_eq!(map.position(TEXT, x, PositionEncoding::Utf16), at(0, 6));
        assert_eq!(map.position(TEXT, x, PositionEncoding::Utf32), at(0, 5));
        for encoding in [PositionEncoding::Utf8, PositionEncoding::Utf16, PositionEncoding::Utf32] {
            for offset in (0..=TEXT.len()).filter(|at| TEXT.is_char_boundary(*at)) {
                let found = map.offset(TEXT, map.position(TEXT, offset, encoding), encoding);
                // Between `\r` and `\n` there is no position of its own.
                assert!(found == offset || TEXT[found..offset] == *"\r", "{offset}");
            }
        }
    }

    #[test]
    fn every_kind_of_line_break_ends_a_line() {
        let map = LineMap::new(TEXT);
        let line = |number| &TEXT[map.line_range(TEXT, number)];
        assert_eq!((line(0), line(1), line(2), line(3), line(4)), ("a: é😀x", "b", "c", "", ""));
    }

    #[test]
    fn positions_that_do_not_exist_are_moved() {
        let map = LineMap::new(TEXT);
        let offset = |line, column| map.offset(TEXT, at(line, column), PositionEncoding::Utf16);
        assert_eq!(offset(0, 99), TEXT.find('\r').unwrap());
        assert_eq!(offset(99, 0), TEXT.len());
        assert_eq!(offset(u32::MAX, u32::MAX), TEXT.len());
        // In the middle of the surrogate pair.
        assert_eq!(offset(0, 5), TEXT.find('😀').unwrap());
        assert_eq!(map.offset(TEXT, at(0, 4), PositionEncoding::Utf8), TEXT.find('é').unwrap());
        assert_eq!(map.position(TEXT, 4, PositionEncoding::Utf8), at(0, 3));
    }
}
