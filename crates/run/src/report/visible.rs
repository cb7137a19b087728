//! Text that agents and judges wrote, made harmless: nothing that steers a terminal, hides words,
//! turns their order round or commands a CI runner leaves here raw. And it is bounded.

use std::borrow::Cow;
use std::fmt::Write as _;

pub const CUT: char = '…';

/// Control characters, characters that change the writing direction, line separators that only
/// some programs honour, and characters that cannot be seen at all.
pub fn is_harmful(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{061C}' | '\u{200B}' | '\u{200E}' | '\u{200F}' | '\u{2060}' | '\u{FEFF}'
        )
        || matches!(c, '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{E0000}'..='\u{E007F}')
}

pub fn picture(c: char) -> char {
    match u32::from(c) {
        code @ 0..=0x1F => char::from_u32(0x2400 + code).unwrap_or('\u{FFFD}'),
        0x7F => '\u{2421}',
        _ => '\u{FFFD}',
    }
}

/// One line of at most `limit` characters; white space is folded.
pub fn line(text: &str, limit: usize) -> String {
    let mut out = String::new();
    let mut left = limit;
    let mut words = text.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let is_cut = push_visible(&mut out, word, left);
        left = left.saturating_sub(word.chars().take(left).count() + 1);
        if is_cut || (left == 0 && words.peek().is_some()) {
            out.push(CUT);
            break;
        }
        if words.peek().is_some() {
            out.push(' ');
        }
    }
    defused(out)
}

/// The first lines of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    pub lines: Vec<String>,
    /// Of the whole text.
    pub total: usize,
}

/// At most `lines` lines of at most `limit` characters each. Blank lines at both ends are dropped,
/// indentation is kept.
pub fn excerpt(text: &str, lines: usize, limit: usize) -> Excerpt {
    let text = text.trim_end();
    let blank = text.len() - text.trim_start().len();
    let start = text[..blank].rfind('\n').map_or(0, |at| at + 1);
    let text = &text[start..];
    let shown = text.split('\n').take(lines).map(|line| {
        let mut out = String::new();
        let line = line.strip_suffix('\r').unwrap_or(line);
        if push_visible(&mut out, line, limit) {
            out.push(CUT);
        }
        defused(out)
    });
    Excerpt {
        lines: if text.is_empty() {
            Vec::new()
        } else {
            shown.collect()
        },
        total: if text.is_empty() {
            0
        } else {
            text.bytes().filter(|byte| *byte == b'\n').count() + 1
        },
    }
}

/// Whether something was left out.
fn push_visible(out: &mut String, text: &str, limit: usize) -> bool {
    for (at, c) in text.chars().enumerate() {
        if at == limit {
            return true;
        }
        match c {
            '\t' => out.push_str("    "),
            c if is_harmful(c) => out.push(picture(c)),
            c => out.push(c),
        }
    }
    false
}

/// Runners of GitHub and Azure read `::command::` at the start of a printed line and `##[command]`,
/// `##vso[command]` anywhere in it. Wide signs look alike and command nothing.
fn defused(mut text: String) -> String {
    if text.contains("##") {
        text = text.replace("##[", "#＃[").replace("##vso[", "#＃vso[");
    }
    let indent = text.len() - text.trim_start().len();
    if text[indent..].starts_with("::") {
        text.replace_range(indent..indent + 1, "：");
    }
    text
}

/// JSON text without line breaks, in which harmful characters are written as escapes, and commands too. Both can stand
/// in strings only, so the meaning stays.
pub fn json(text: &str) -> Cow<'_, str> {
    // Control characters below the space are escaped already, and most rows are plain.
    let is_plain = text.is_ascii() && !text.contains('\u{7F}');
    if (is_plain || !text.contains(is_harmful)) && !text.contains("##") {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut before = ' ';
    for c in text.chars() {
        if is_harmful(c) || (c == '#' && before == '#') {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
        before = c;
    }
    Cow::Owned(out)
}

/// For places that show ASCII only.
pub fn ascii(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            CUT => out.push_str("..."),
            '›' => out.push('>'),
            '·' => out.push('-'),
            '：' => out.push_str(" :"),
            '＃' => out.push_str(" #"),
            c if c.is_ascii() => out.push(c),
            '\u{2400}'..='\u{2421}' => {
                let code = match u32::from(c) - 0x2400 {
                    0x21 => 0x7F,
                    code => code,
                };
                let _ = write!(out, "\\x{code:02x}");
            }
            c => out.extend(c.escape_unicode()),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_become_pictures() {
        assert_eq!(
            line("a\u{1b}[31mb \u{0}\u{9b}\u{202e}\u{7f}", 90),
            "a␛[31mb ␀\u{FFFD}\u{FFFD}␡"
        );
    }

    #[test]
    fn a_line_is_folded_and_cut() {
        assert_eq!(line(" one\n  two\r\nthree ", 90), "one two three");
        assert_eq!(line("one two", 7), "one two");
        assert_eq!(line("one two three", 7), "one two…");
        assert_eq!(line("one two", 5), "one t…");
        assert_eq!(line("a b a", 1), "a…");
        assert_eq!(line("a b a", 3), "a b…");
        assert_eq!(line("a b a", usize::MAX), "a b a");
        assert_eq!(line("", 5), "");
    }

    #[test]
    fn an_excerpt_keeps_indentation_and_counts_lines() {
        let found = excerpt("\n\n  a\r\n\tb\n\nc\n\n", 2, 90);
        assert_eq!(found.lines, ["  a", "    b"]);
        assert_eq!(found.total, 4);
        assert_eq!(excerpt(" \n ", 2, 90).total, 0);
        assert_eq!(excerpt("ééé", 2, 2).lines, ["éé…"]);
    }

    #[test]
    fn commands_of_runners_are_defused() {
        assert_eq!(line("::error::x ::y", 90), "：:error::x ::y");
        assert_eq!(excerpt("a\n  ::stop::", 9, 90).lines, ["a", "  ：:stop::"]);
        assert_eq!(
            line("a ##[error] ##vso[task]", 90),
            "a #＃[error] #＃vso[task]"
        );
        assert_eq!(line("## Title", 90), "## Title");
    }

    #[test]
    fn json_means_the_same() {
        let text = "\u{9b}##[error]\u{202e}\u{E0001}";
        let written = serde_json::to_string(text).unwrap();
        let safe = json(&written);
        assert_eq!(safe, r#""\u009b#\u0023[error]\u202e\udb40\udc01""#);
        assert_eq!(serde_json::from_str::<String>(&safe).unwrap(), text);
    }

    #[test]
    fn ascii_is_left_alone_and_the_rest_is_spelled_out() {
        assert_eq!(ascii("a b"), "a b");
        assert_eq!(ascii("é…␛"), "\\u{e9}...\\x1b");
    }
}
