//! Places inside a written text.

use std::ops::Range;

use crate::source::Span;
use crate::syntax::Node;

/// The place of a part of `text`, which is the value of `node`. If a variable was replaced in it, or
/// the part is empty, it is the place of the whole value.
pub(super) fn span_in(node: Node<'_>, text: &str, part: Range<usize>) -> Span {
    if node.scalar_text() == Some(text) && !part.is_empty() {
        node.text_span(part)
    } else {
        node.span()
    }
}

/// The character at a byte offset; at the end of the text, the last character.
pub(super) fn character_at(text: &str, at: usize) -> Range<usize> {
    match text.get(at..).and_then(|rest| rest.chars().next()) {
        Some(found) => at..at + found.len_utf8(),
        None => {
            let last = text.chars().next_back().map_or(0, char::len_utf8);
            text.len() - last..text.len()
        }
    }
}
