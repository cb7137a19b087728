//! One open document: its text as the editor has it, saved or not.

use std::sync::Arc;

use lsp_types::{Position, Range, TextDocumentContentChangeEvent as Change, Uri};

use super::line_map::{LineMap, PositionEncoding};

#[derive(Debug, Clone)]
pub(crate) struct Document {
    /// As the client spells it.
    pub(crate) uri: Uri,
    pub(crate) version: i32,
    text: Arc<String>,
    lines: Arc<LineMap>,
}

impl Document {
    pub(crate) fn new(uri: Uri, version: i32, text: String) -> Self {
        let lines = Arc::new(LineMap::new(&text));
        Self { uri, version, text: Arc::new(text), lines }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn shared_text(&self) -> Arc<String> {
        Arc::clone(&self.text)
    }

    pub(crate) fn lines(&self) -> &LineMap {
        &self.lines
    }

    /// Makes the changes one after another; each has the positions of the text that the one before it
    /// has left.
    pub(crate) fn change(
        &mut self,
        version: i32,
        changes: Vec<Change>,
        encoding: PositionEncoding,
    ) {
        self.version = version;
        for change in changes {
            match change {
                Change::TextDocumentContentChangePartial(part) => {
                    let range = self.bytes(part.range, encoding);
                    Arc::make_mut(&mut self.text).replace_range(range, &part.text);
                }
                Change::TextDocumentContentChangeWholeDocument(whole) => {
                    self.text = Arc::new(whole.text);
                }
            }
            self.lines = Arc::new(LineMap::new(&self.text));
        }
    }

    pub(crate) fn offset(&self, position: Position, encoding: PositionEncoding) -> usize {
        self.lines.offset(&self.text, position, encoding)
    }

    /// The bytes of a range; one that ends before it begins is turned round.
    pub(crate) fn bytes(&self, range: Range, encoding: PositionEncoding) -> std::ops::Range<usize> {
        let (start, end) = (self.offset(range.start, encoding), self.offset(range.end, encoding));
        start.min(end)..start.max(end)
    }
}

#[cfg(test)]
mod tests {
    use lsp_types::{
        TextDocumentContentChangePartial as Part, TextDocumentContentChangeWholeDocument as Whole,
    };

    use super::*;

    #[expect(deprecated, reason = "the protocol still has the field")]
    fn part(start: (u32, u32), end: (u32, u32), text: &str) -> Change {
        let at = |(line, character)| Position { line, character };
        let range = Range { start: at(start), end: at(end) };
        Change::TextDocumentContentChangePartial(Part {
            range,
            range_length: None,
            text: text.to_owned(),
        })
    }

    fn changed(text: &str, changes: Vec<Change>) -> String {
        let mut document = Document::new("file:///x".into(), 1, text.to_owned());
        document.change(2, changes, PositionEncoding::Utf16);
        assert_eq!(*document.lines, LineMap::new(&document.text));
        document.text().to_owned()
    }

    #[test]
    fn changes_are_made_one_after_another() {
        let changes = vec![part((0, 1), (0, 1), "\n"), part((1, 0), (1, 3), "c")];
        assert_eq!(changed("a😀b", changes), "a\nc");
        let whole = Whole { text: "x".to_owned() };
        let changes =
            vec![Change::TextDocumentContentChangeWholeDocument(whole), part((0, 1), (0, 1), "y")];
        assert_eq!(changed("a", changes), "xy");
    }

    #[test]
    fn ranges_outside_the_text_and_reversed_ones_do_no_harm() {
        assert_eq!(changed("ab", vec![part((9, 9), (12, 0), "c")]), "abc");
        assert_eq!(changed("ab", vec![part((0, 2), (0, 1), "c")]), "ac");
    }
}
