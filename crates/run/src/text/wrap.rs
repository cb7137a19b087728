//! Text in columns.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

pub fn width(text: &str) -> usize {
    text.width()
}

/// The part that fits into `columns`, with `end` where something was left out.
pub fn cut(text: &str, columns: usize, end: &str) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let room = columns.saturating_sub(width(end));
    let (head, _) = split(text, room);
    format!("{}{end}", head.trim_end())
}

/// Where `columns` are full; what comes before is never empty.
fn split(text: &str, columns: usize) -> (&str, &str) {
    let mut used = 0;
    for (at, c) in text.char_indices() {
        used += c.width().unwrap_or(0);
        if used > columns && at > 0 {
            return text.split_at(at);
        }
    }
    (text, "")
}

/// Broken at spaces; words that are too long are broken anywhere.
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(10);
    let mut lines = Vec::new();
    let mut line = String::new();
    for mut word in text.split_whitespace() {
        let needed = width(&line) + usize::from(!line.is_empty()) + width(word);
        if needed > columns && !line.is_empty() {
            lines.push(std::mem::take(&mut line));
        }
        while width(word) > columns {
            let (head, rest) = split(word, columns);
            lines.push(head.to_owned());
            word = rest;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if !line.is_empty() || lines.is_empty() {
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_at_spaces_and_long_words_anywhere() {
        assert_eq!(wrap("one two three four", 10), ["one two", "three four"]);
        assert_eq!(wrap("a 0123456789abcdef b", 10), ["a", "0123456789", "abcdef b"]);
        assert_eq!(wrap("", 10), [""]);
    }

    #[test]
    fn wide_characters_take_two_columns() {
        assert_eq!(wrap("漢字漢字漢字", 10), ["漢字漢字漢", "字"]);
        assert_eq!(cut("漢字漢字", 6, "…"), "漢字…");
        assert_eq!(cut("abc", 3, "…"), "abc");
    }
}
