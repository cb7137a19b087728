//! The places of keys, values and items that are not written: `? `, `: x`, `a:`, `- `. They are inside
//! their collection and behind what is written before them.

use memchr::memchr;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Omitted {
    Key,
    Value,
    Item,
}

/// The collection in which something is omitted.
#[derive(Debug, Clone, Copy)]
pub(super) struct OpenCollection {
    pub(super) start: usize,
    pub(super) is_flow: bool,
    /// Whether what is omitted has a tag or an anchor.
    pub(super) is_marked: bool,
}

impl Omitted {
    /// A value is after the colon of its key, an item after its dash, a key after its question mark or
    /// at its colon. `from` is the end of what is written before it. `None` if the parser knows better:
    /// between brackets, and behind a tag or an anchor.
    pub(super) fn place(
        self,
        input: &[u8],
        collection: OpenCollection,
        from: usize,
    ) -> Option<usize> {
        let OpenCollection { start, is_flow, is_marked } = collection;
        let mut at = from + blank_length(&input[from..]);
        if self == Self::Key && is_flow && input.get(at) == Some(&b',') {
            at += 1 + blank_length(&input[at + 1..]);
        }
        // Further left it belongs to a mapping around this one.
        let is_own = || {
            is_flow
                || !input[from..at].iter().any(is_line_break)
                || column(input, at) == column(input, start)
        };
        match (self, indicator_at(input, at, is_flow)) {
            (Self::Item, Some(b'-')) if !is_flow => Some(at + 1),
            (Self::Item, _) => None,
            (Self::Key, Some(b'?')) | (Self::Value, Some(b':')) if is_own() => Some(at + 1),
            (Self::Key, Some(b':')) if is_own() => Some(at),
            _ if is_flow || is_marked => None,
            _ => Some(from),
        }
    }
}

/// Blanks, line breaks and comments.
fn blank_length(bytes: &[u8]) -> usize {
    let mut at = 0;
    loop {
        match bytes.get(at) {
            Some(b' ' | b'\t' | b'\n' | b'\r') => at += 1,
            Some(b'#') => at += memchr(b'\n', &bytes[at..]).unwrap_or(bytes.len() - at),
            _ => return at,
        }
    }
}

/// A character that has a meaning of its own, because no text begins with it there.
fn indicator_at(input: &[u8], at: usize, in_flow: bool) -> Option<u8> {
    let is_alone = match input.get(at + 1) {
        None | Some(b' ' | b'\t' | b'\n' | b'\r') => true,
        Some(b',' | b'[' | b']' | b'{' | b'}') => in_flow,
        Some(_) => false,
    };
    input.get(at).filter(|_| is_alone).copied()
}

fn is_line_break(byte: &u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// In bytes, from 0.
fn column(input: &[u8], at: usize) -> usize {
    input[..at].iter().rev().take_while(|byte| !is_line_break(byte)).count()
}
