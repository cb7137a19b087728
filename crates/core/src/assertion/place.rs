//! Places inside a text that an author wrote.

use std::ops::Range;

use crate::source::Span;
use crate::syntax::Node;

/// Where a part of `text` stands. `text` is what `node` was read as; where a variable was put in,
/// or the part is empty, the whole value is meant.
pub(super) fn span_in(node: Node<'_>, text: &str, part: Range<usize>) -> Span {
    if node.scalar_text() == Some(text) && !part.is_empty() {
        node.text_span(part)
    } else {
        node.span()
    }
}

/// The character at a byte; the last one at the end of the text.
pub(super) fn character_at(text: &str, at: usize) -> Range<usize> {
    match text.get(at..).and_then(|rest| rest.chars().next()) {
        Some(found) => at..at + found.len_utf8(),
        None => {
            let last = text.chars().next_back().map_or(0, char::len_utf8);
            text.len() - last..text.len()
        }
    }
}
