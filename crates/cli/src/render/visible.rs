//! Text that others wrote, made harmless: nothing that steers a terminal, hides words or turns
//! their order round leaves here raw.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Stands in drawings for a place that is filled in afterwards. Unicode reserves this character
/// for use inside of programs, and every text that is shown loses it here.
pub const MARK: char = '\u{FDD0}';

/// Control characters, characters that change the writing direction, and line separators that
/// only some programs honour.
fn is_harmful(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{061C}' | '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}'
        )
        || matches!(c, '\u{2066}'..='\u{2069}' | MARK)
}

fn picture(c: char) -> char {
    match u32::from(c) {
        code @ 0..=0x1F => char::from_u32(0x2400 + code).unwrap_or('\u{FFFD}'),
        0x7F => '\u{2421}',
        _ => '\u{FFFD}',
    }
}

/// Keeps line breaks and tabs.
pub fn paragraph(text: &str) -> Cow<'_, str> {
    // Nearly every text is plain, and long lists of them are shown.
    if text
        .bytes()
        .all(|b| matches!(b, b' '..=b'~' | b'\n' | b'\t'))
    {
        return text.into();
    }
    let shown: String = text
        .replace("\r\n", "\n")
        .chars()
        .map(|c| match c {
            '\n' | '\t' => c,
            c if is_harmful(c) => picture(c),
            c => c,
        })
        .collect();
    shown.into()
}

/// One line: line breaks become spaces.
pub fn line(text: &str) -> String {
    let out = paragraph(text);
    if out.contains('\n') {
        out.lines().map(str::trim).collect::<Vec<_>>().join(" ")
    } else {
        out.into_owned()
    }
}

/// Source text of one or more lines. Every character is replaced by one of the same length, so
/// that spans hold; what `annotate-snippets` draws as a picture by itself is left to it.
pub fn source(text: String) -> String {
    if !text.chars().any(|c| is_harmful(c) && !c.is_ascii()) {
        return text;
    }
    text.chars()
        .map(|c| match c.len_utf8() {
            2 if is_harmful(c) => '¿',
            3 if is_harmful(c) => '\u{FFFD}',
            _ => c,
        })
        .collect()
}

/// JSON text in which harmful characters are written as escapes. They can stand in strings only,
/// because everything else in JSON is ASCII.
pub fn json(text: &str) -> Cow<'_, str> {
    let harmful = |c: char| is_harmful(c) && c != '\n';
    if !text.chars().any(harmful) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if harmful(c) {
            let _ = write!(out, "\\u{:04x}", u32::from(c));
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_become_pictures() {
        assert_eq!(paragraph("a\u{1b}[31mb\r\nc\td"), "a␛[31mb\nc\td");
        assert_eq!(paragraph("\u{9b}31m\u{202e}\u{7f}"), "\u{FFFD}31m\u{FFFD}␡");
    }

    #[test]
    fn a_line_has_no_breaks() {
        assert_eq!(line("one\n  two\r\nthree\rfour"), "one two three␍four");
    }

    #[test]
    fn source_text_keeps_its_length() {
        let text = "é\u{9b}\u{202e}\u{FDD0}\u{1b}x".to_owned();
        let shown = source(text.clone());
        assert_eq!(shown, "é¿\u{FFFD}\u{FFFD}\u{1b}x");
        assert_eq!(shown.len(), text.len());
    }

    #[test]
    fn json_is_escaped_where_serde_does_not() {
        assert_eq!(json("{\n\"a\": \"\u{9b}\"}"), "{\n\"a\": \"\\u009b\"}");
    }
}
