//! Names of files as they are shown and compared with patterns: text, whatever bytes they are made of.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Bytes that are not UTF-8 become `\377`, as git writes them, so that different names stay different.
pub(super) fn shown_name(name: &[u8]) -> Cow<'_, str> {
    if let Ok(plain) = std::str::from_utf8(name) {
        return Cow::Borrowed(plain);
    }
    let mut shown = String::with_capacity(name.len() + 8);
    for chunk in name.utf8_chunks() {
        shown.push_str(chunk.valid());
        push_octal(&mut shown, chunk.invalid());
    }
    Cow::Owned(shown)
}

pub(super) fn push_octal(text: &mut String, bytes: &[u8]) {
    for byte in bytes {
        let _ = write!(text, "\\{byte:03o}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_not_utf8_stay_different() {
        assert_eq!(shown_name(b"b\xff"), "b\\377");
        assert_eq!(shown_name(b"b\xfe/\xc3\xa9"), "b\\376/\u{e9}");
        assert_eq!(shown_name("\u{fffd}".as_bytes()), "\u{fffd}");
    }
}
