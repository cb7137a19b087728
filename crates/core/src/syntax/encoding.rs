//! Bytes → text: UTF-8 only, no control characters (spec 2.6).

/// A YAML file larger than this is refused.
pub(crate) const FILE_LIMIT: u64 = 32 * 1024 * 1024;

/// The byte order mark.
pub(super) const BYTE_ORDER_MARK: char = '\u{feff}';

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DecodeError {
    /// A byte order mark of another encoding.
    Encoding { name: &'static str },
    /// The first byte that is not UTF-8, and its line.
    InvalidByte { offset: u64, line: u32 },
}

/// Bytes that are not UTF-8, given back with the reason.
#[derive(Debug)]
pub(super) struct Undecoded {
    pub(super) error: DecodeError,
    pub(super) bytes: Vec<u8>,
}

/// The text without a leading byte order mark, and how many bytes that mark took.
pub fn decode(bytes: Vec<u8>) -> Result<(String, u64), DecodeError> {
    decode_or_return(bytes).map_err(|undecoded| undecoded.error)
}

/// As [`decode`], for callers that show the bad bytes.
pub(super) fn decode_or_return(bytes: Vec<u8>) -> Result<(String, u64), Undecoded> {
    if let Some(name) = other_encoding(&bytes) {
        let error = DecodeError::Encoding { name };
        return Err(Undecoded { error, bytes });
    }
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let offset = error.utf8_error().valid_up_to();
            let bytes = error.into_bytes();
            let line = bytes[..offset].iter().filter(|b| **b == b'\n').count() as u32 + 1;
            let error = DecodeError::InvalidByte { offset: offset as u64, line };
            return Err(Undecoded { error, bytes });
        }
    };
    match text.strip_prefix(BYTE_ORDER_MARK) {
        Some(rest) => Ok((rest.to_owned(), BYTE_ORDER_MARK.len_utf8() as u64)),
        None => Ok((text, 0)),
    }
}

fn other_encoding(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0xff, 0xfe, 0, 0, ..] | [0, 0, 0xfe, 0xff, ..] => Some("UTF-32"),
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Some("UTF-16"),
        _ => None,
    }
}

/// The first control character: below U+0020 except tab, line feed and carriage return, U+007F,
/// and U+0080–U+009F except U+0085.
pub(super) fn find_control(text: &str) -> Option<(usize, char)> {
    // Most chunks hold nothing suspicious; the fold has no branches, so it is vectorised.
    for (at, chunk) in text.as_bytes().chunks(256).enumerate() {
        let suspicious = chunk.iter().fold(false, |found, byte| {
            found
                | ((*byte < 0x20) & (*byte != b'\n') & (*byte != b'\t'))
                | (*byte == 0x7f)
                | (*byte == 0xc2)
        });
        if suspicious && let Some(found) = control_in(text, at * 256, chunk.len()) {
            return Some(found);
        }
    }
    None
}

/// As [`find_control`], for a single line: nearly none holds anything below a blank.
// Never inlined into another crate, where it is compiled for size: its loop takes ten times as long there.
#[inline(never)]
pub(super) fn find_control_in_line(text: &str) -> Option<(usize, char)> {
    let suspicious = text
        .as_bytes()
        .iter()
        .fold(false, |found, byte| found | (*byte < 0x20) | (*byte == 0x7f) | (*byte == 0xc2));
    suspicious.then(|| find_control(text)).flatten()
}

fn control_in(text: &str, start: usize, length: usize) -> Option<(usize, char)> {
    let bytes = text.as_bytes();
    (start..start + length).find_map(|at| match bytes[at] {
        b'\t' | b'\n' | b'\r' => None,
        byte @ (0..0x20 | 0x7f) => Some((at, char::from(byte))),
        0xc2 => match bytes.get(at + 1) {
            Some(byte @ 0x80..=0x9f) if *byte != 0x85 => Some((at, char::from(*byte))),
            _ => None,
        },
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_dropped_once() {
        let bytes = "\u{feff}a: 1".as_bytes().to_vec();
        assert_eq!(decode(bytes), Ok(("a: 1".to_owned(), 3)));
    }

    #[test]
    fn other_encodings_are_named() {
        let found = decode(vec![0xff, 0xfe, b'a', 0]);
        assert_eq!(found, Err(DecodeError::Encoding { name: "UTF-16" }));
    }

    #[test]
    fn a_bad_byte_has_its_offset_and_line() {
        let found = decode(b"a: 1\nb: \xff".to_vec());
        assert_eq!(found, Err(DecodeError::InvalidByte { offset: 8, line: 2 }));
    }

    #[test]
    fn control_characters_are_found_and_ordinary_text_is_not() {
        assert_eq!(find_control("a\tb\r\nc é \u{85} \u{a0}"), None);
        assert_eq!(find_control("ab\0"), Some((2, '\0')));
        assert_eq!(find_control("é\u{7f}"), Some((2, '\u{7f}')));
        assert_eq!(find_control("x\u{9b}"), Some((1, '\u{9b}')));
        let long = "x".repeat(1000) + "\u{1}";
        assert_eq!(find_control(&long), Some((1000, '\u{1}')));
    }
}
