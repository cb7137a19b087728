//! Separates code from comments and text literals, byte by byte.

/// What a byte of a source file belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    Code,
    Comment,
    /// Inside a string or character literal, quotes excluded.
    Text,
}

/// The class of every byte of `text`.
pub(crate) fn classify(text: &str) -> Vec<Class> {
    let bytes = text.as_bytes();
    let mut classes = vec![Class::Code; bytes.len()];
    let mut at = 0;
    while at < bytes.len() {
        let (class, start, end, next) = match bytes[at] {
            b'/' if bytes[at..].starts_with(b"//") => {
                let end = find(bytes, at, b"\n").unwrap_or(bytes.len());
                (Class::Comment, at, end, end)
            }
            b'/' if bytes[at..].starts_with(b"/*") => {
                let end = end_of_block_comment(bytes, at);
                (Class::Comment, at, end, end)
            }
            b'"' => {
                let end = end_of_string(bytes, at + 1);
                (Class::Text, at + 1, end, end + 1)
            }
            b'r' if !is_word(bytes, at.wrapping_sub(1)) || bytes[at - 1] == b'b' => {
                match raw_string(bytes, at) {
                    Some((start, end, next)) => (Class::Text, start, end, next),
                    None => (Class::Code, at, at, at + 1),
                }
            }
            b'\'' => match end_of_char(bytes, at) {
                Some(end) => (Class::Text, at + 1, end, end + 1),
                None => (Class::Code, at, at, at + 1),
            },
            _ => (Class::Code, at, at, at + 1),
        };
        let end = end.min(bytes.len());
        if start < end {
            classes[start..end].fill(class);
        }
        at = next;
    }
    classes
}

fn is_word(bytes: &[u8], at: usize) -> bool {
    bytes.get(at).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}

fn find(bytes: &[u8], from: usize, needle: &[u8]) -> Option<usize> {
    let found = bytes.get(from..)?.windows(needle.len());
    found.into_iter().position(|part| part == needle).map(|at| from + at)
}

fn end_of_block_comment(bytes: &[u8], start: usize) -> usize {
    let mut depth = 0usize;
    let mut at = start;
    while at < bytes.len() {
        if bytes[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if bytes[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    at
}

/// The place of the closing quote.
fn end_of_string(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() && bytes[at] != b'"' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    at
}

/// Start and end of the text of a raw string at `r`, and the place behind its closing hashes.
fn raw_string(bytes: &[u8], at: usize) -> Option<(usize, usize, usize)> {
    let hashes = bytes[at + 1..].iter().take_while(|b| **b == b'#').count();
    let quote = at + 1 + hashes;
    if bytes.get(quote) != Some(&b'"') {
        return None;
    }
    let mut closing = vec![b'"'];
    closing.resize(1 + hashes, b'#');
    let end = find(bytes, quote + 1, &closing).unwrap_or(bytes.len());
    Some((quote + 1, end, end + closing.len()))
}

/// The closing quote of a character literal; `None` for a lifetime.
fn end_of_char(bytes: &[u8], at: usize) -> Option<usize> {
    if bytes.get(at + 1) == Some(&b'\\') {
        return find(bytes, at + 3, b"'");
    }
    // One character has at most four bytes.
    let end = (at + 2..=at + 5).find(|end| bytes.get(*end) == Some(&b'\''))?;
    let text = std::str::from_utf8(&bytes[at + 1..end]).ok()?;
    (text.chars().count() == 1).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code_of(text: &str) -> String {
        let classes = classify(text);
        let keep = text.char_indices().filter(|(at, _)| classes[*at] == Class::Code);
        keep.map(|(_, c)| c).collect()
    }

    #[test]
    fn comments_and_texts_are_not_code() {
        assert_eq!(code_of("a /* b /* c */ d */ e // f\ng"), "a  e \ng");
        assert_eq!(code_of(r#"f("x \" y", 'z', '\'', b'"')"#), r#"f("", '', '', b'')"#);
        assert_eq!(code_of("r#\"a \" b\"# + r\"c\""), "r#\"\"# + r\"\"");
    }

    #[test]
    fn lifetimes_are_code() {
        assert_eq!(code_of("fn f<'a>(x: &'a str) {}"), "fn f<'a>(x: &'a str) {}");
        assert_eq!(code_of("for 'é' in x"), "for '' in x");
    }
}
