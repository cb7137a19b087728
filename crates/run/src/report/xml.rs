//! Text for XML 1.0. What XML can carry keeps its meaning; what it cannot becomes visible.

use crate::text;

/// For element content and for attributes in double quotes.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut is_start = true;
    let mut before = ' ';
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            // Also because `]]>` is not allowed in content.
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push('\n'),
            '\t' | '\r' => push_reference(&mut out, c),
            // Runners of CI systems look for commands in what is printed.
            ':' if is_start => push_reference(&mut out, c),
            '#' if before == '#' => push_reference(&mut out, c),
            '\u{FFFE}' | '\u{FFFF}' => out.push('\u{FFFD}'),
            c if c < ' ' => out.push(text::control_picture(c)),
            c if text::is_harmful(c) => push_reference(&mut out, c),
            c => out.push(c),
        }
        is_start = c == '\n' || (is_start && c.is_whitespace());
        before = c;
    }
    out
}

/// As [`escape`]; parsers turn raw line breaks in attributes into spaces.
pub fn attribute(text: &str) -> String {
    escape(text).replace('\n', "&#10;")
}

fn push_reference(out: &mut String, c: char) {
    out.push_str(&format!("&#{};", u32::from(c)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_and_illegal_characters() {
        assert_eq!(escape("]]></testcase>&\""), "]]&gt;&lt;/testcase&gt;&amp;&quot;");
        assert_eq!(escape("\u{0}\u{1b}[0m\u{FFFF}"), "␀␛[0m\u{FFFD}");
        assert_eq!(escape("\u{9b}\u{202e}\r"), "&#155;&#8238;&#13;");
        assert_eq!(attribute("a\nb\t"), "a&#10;b&#9;");
    }

    #[test]
    fn commands_keep_their_meaning_in_xml_only() {
        assert_eq!(escape("::error::x\n ::y"), "&#58;:error::x\n &#58;:y");
        assert_eq!(escape("##[error]"), "#&#35;[error]");
    }
}
