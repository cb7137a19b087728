//! The one sanitizer: every text that an agent, a judge or an author wrote passes through here before
//! it reaches a terminal, a CI log or a page. Nothing that leaves here can move the cursor, hide or
//! reorder characters, or give a command to a CI runner.

use std::borrow::Cow;
use std::fmt::Write as _;

pub use evalrig_core::syntax::{INTERNAL_MARK, is_harmful};

pub const CUT: char = '…';

/// `␛` for U+001B; characters without a picture become U+FFFD.
pub fn control_picture(c: char) -> char {
    match u32::from(c) {
        code @ 0..=0x1F => char::from_u32(0x2400 + code).unwrap_or('\u{FFFD}'),
        0x7F => '\u{2421}',
        _ => '\u{FFFD}',
    }
}

/// Keeps line breaks, tabs and all spacing.
pub fn paragraph(text: &str) -> Cow<'_, str> {
    // Most texts are plain, and there can be many.
    let is_plain = text.bytes().all(|b| matches!(b, b' '..=b'~' | b'\n' | b'\t'));
    if is_plain && !may_hold_command(text) {
        return text.into();
    }
    let text = text.replace("\r\n", "\n");
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let shown = line.chars().map(|c| match c {
            '\n' | '\t' => c,
            c if is_harmful(c) => control_picture(c),
            c => c,
        });
        out += &defuse_commands(shown.collect());
    }
    out.into()
}

/// Like [`paragraph`], and keeps colours: `ESC [ … m` with digits and semicolons.
pub fn painted(text: &str) -> Cow<'_, str> {
    if !text.contains('\u{1b}') {
        return paragraph(text);
    }
    let mut out = String::with_capacity(text.len());
    for line in text.replace("\r\n", "\n").split_inclusive('\n') {
        out += &painted_line(line);
    }
    out.into()
}

fn painted_line(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    // Where the first character that can be seen is.
    let mut start = None;
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        if let Some(length) = colour_length(rest) {
            out.push_str(&rest[..length]);
            rest = &rest[length..];
            continue;
        }
        if start.is_none() && !c.is_whitespace() {
            start = Some(out.len());
        }
        let is_kept = matches!(c, '\n' | '\t') || !is_harmful(c);
        out.push(if is_kept { c } else { control_picture(c) });
        rest = &rest[c.len_utf8()..];
    }
    let start = start.unwrap_or(out.len());
    let visible = defuse_commands(out.split_off(start));
    out + &visible
}

/// The length of the colour that a text begins with.
fn colour_length(text: &str) -> Option<usize> {
    let numbers = text.strip_prefix("\u{1b}[")?;
    let behind = numbers.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';');
    behind.starts_with('m').then(|| text.len() - behind.len() + 1)
}

/// Line breaks become spaces; all other spacing is kept.
pub fn single_line(text: &str) -> String {
    let out = paragraph(text);
    if out.contains('\n') {
        let joined: Vec<&str> = out.lines().map(str::trim).collect();
        defuse_commands(joined.join(" "))
    } else {
        out.into_owned()
    }
}

/// Lines of a source file. Each character is replaced by one of the same length in bytes, so that
/// spans stay valid. ASCII is left as it is: `annotate-snippets` draws control characters itself.
pub fn source(text: String) -> String {
    if !text.chars().any(|c| is_harmful(c) && !c.is_ascii()) {
        return text;
    }
    text.chars()
        .map(|c| match c.len_utf8() {
            2 if is_harmful(c) => '¿',
            3 if is_harmful(c) => '\u{FFFD}',
            4 if is_harmful(c) => '\u{1F6AB}',
            _ => c,
        })
        .collect()
}

/// At most `limit` characters on one line; each run of white space becomes one space.
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
    defuse_commands(out)
}

/// As [`line()`], but a text that is too long keeps its end too, where programs name the error.
pub fn line_ends(text: &str, limit: usize) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.chars().count() <= limit {
        return line(&text, limit);
    }
    let head = limit / 4;
    let tail = limit - head;
    let start = text.char_indices().rev().nth(tail - 1).map_or(0, |(at, _)| at);
    // A word that was cut in two is left out, unless it is all there is.
    let end = &text[start..];
    let end = end.split_once(' ').map_or(end, |(_, whole)| whole);
    format!("{} {}", line(&text, head), line(end, tail))
}

/// The first or the last lines of a text.
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
        defuse_commands(out)
    });
    Excerpt {
        lines: if text.is_empty() { Vec::new() } else { shown.collect() },
        total: if text.is_empty() {
            0
        } else {
            text.bytes().filter(|byte| *byte == b'\n').count() + 1
        },
    }
}

/// As [`excerpt`], from the end of the text.
pub fn last_lines(text: &str, lines: usize, limit: usize) -> Excerpt {
    let all = excerpt(text, usize::MAX, limit);
    let start = all.lines.len().saturating_sub(lines);
    Excerpt { lines: all.lines[start..].to_vec(), total: all.total }
}

/// Whether something was left out.
fn push_visible(out: &mut String, text: &str, limit: usize) -> bool {
    for (at, c) in text.chars().enumerate() {
        if at == limit {
            return true;
        }
        match c {
            '\t' => out.push_str("    "),
            c if is_harmful(c) => out.push(control_picture(c)),
            c => out.push(c),
        }
    }
    false
}

fn may_hold_command(text: &str) -> bool {
    text.contains("##") || text.contains("::")
}

/// GitHub and Azure runners obey `::command::` at the start of a printed line, and `##[command]` and
/// `##vso[command]` anywhere in it. Fullwidth characters look the same and are not obeyed.
pub fn defuse_commands(mut text: String) -> String {
    if text.contains("##") {
        text = text.replace("##[", "#＃[").replace("##vso[", "#＃vso[");
    }
    let indent = text.len() - text.trim_start().len();
    if text[indent..].starts_with("::") {
        text.replace_range(indent..indent + 1, "：");
    }
    text
}

/// JSON text in which harmful characters and commands are written as escapes. Outside of strings JSON
/// has neither, except for line breaks, so the value stays the same.
pub fn json(text: &str) -> Cow<'_, str> {
    let needs_escape = |c: char| is_harmful(c) && c != '\n';
    // Control characters below U+0020 are already escaped, and most rows are plain.
    let is_plain = text.is_ascii() && !text.contains('\u{7F}');
    if (is_plain || !text.contains(needs_escape)) && !text.contains("##") {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut before = ' ';
    for c in text.chars() {
        if needs_escape(c) || (c == '#' && before == '#') {
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

/// For terminals that show ASCII only.
pub fn ascii(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            CUT => out.push_str("..."),
            '›' => out.push('>'),
            '·' | '–' | '○' => out.push('-'),
            '●' => out.push('#'),
            '→' => out.push_str("->"),
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
        assert_eq!(line("a ##[error] ##vso[task]", 90), "a #＃[error] #＃vso[task]");
        assert_eq!(line("## Title", 90), "## Title");
    }

    #[test]
    fn json_keeps_its_value() {
        let text = "\u{9b}##[error]\u{202e}\u{E0001}";
        let written = serde_json::to_string(text).unwrap();
        let safe = json(&written);
        assert_eq!(safe, r#""\u009b#\u0023[error]\u202e\udb40\udc01""#);
        assert_eq!(serde_json::from_str::<String>(&safe).unwrap(), text);
    }

    #[test]
    fn a_paragraph_keeps_its_lines_and_loses_commands() {
        assert_eq!(paragraph("a\u{1b}[31mb\r\nc\td"), "a␛[31mb\nc\td");
        assert_eq!(paragraph("\u{9b}31m\u{202e}\u{7f}"), "\u{FFFD}31m\u{FFFD}␡");
        assert_eq!(
            paragraph("a::b\n  ::add-mask::x\n##[error]y\n"),
            "a::b\n  ：:add-mask::x\n#＃[error]y\n"
        );
        assert_eq!(paragraph("\u{200b}\u{2060}\u{feff}\u{e0041}"), "\u{FFFD}".repeat(4));
    }

    #[test]
    fn a_painted_text_keeps_colours_and_nothing_else() {
        assert_eq!(
            painted("\u{1b}[1;31ma\u{1b}[0m\u{1b}[2J\u{1b}]0;t\u{7}\u{9b}\r\n"),
            "\u{1b}[1;31ma\u{1b}[0m␛[2J␛]0;t␇\u{FFFD}\n"
        );
        assert_eq!(
            painted("\u{1b}[31m ::stop::\n\u{1b}[0m##[error]"),
            "\u{1b}[31m ：:stop::\n\u{1b}[0m#＃[error]"
        );
        assert_eq!(painted("::stop::"), "：:stop::");
    }

    #[test]
    fn a_single_line_has_no_breaks_and_keeps_its_spacing() {
        assert_eq!(single_line("one\n  two\r\nthree\rfour"), "one two three␍four");
        assert_eq!(single_line("  a  b"), "  a  b");
        assert_eq!(single_line("\n::error::x"), " ：:error::x");
    }

    #[test]
    fn source_text_keeps_its_length() {
        let text = "é\u{9b}\u{202e}\u{FDD0}\u{e0041}\u{1b}x".to_owned();
        let shown = source(text.clone());
        assert_eq!(shown, "é¿\u{FFFD}\u{FFFD}\u{1F6AB}\u{1b}x");
        assert_eq!(shown.len(), text.len());
    }

    #[test]
    fn line_breaks_between_json_values_stay() {
        assert_eq!(json("{\n\"a\": \"\u{9b}\"}"), "{\n\"a\": \"\\u009b\"}");
    }

    #[test]
    fn ascii_is_left_alone_and_the_rest_is_spelled_out() {
        assert_eq!(ascii("a b"), "a b");
        assert_eq!(ascii("é…␛"), "\\u{e9}...\\x1b");
        assert_eq!(ascii("5 of 5 → 2 of 5 ●○"), "5 of 5 -> 2 of 5 #-");
    }
}
