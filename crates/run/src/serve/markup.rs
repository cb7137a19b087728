//! HTML that is put together on the server. Texts come in through [`Markup::text`] and
//! [`Markup::attribute`] only, which make them inert.

use std::fmt::Write as _;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::text;

/// Everything but what may be in a path segment and in a parameter as it is.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// Longer texts are cut.
const LONGEST_TEXT: usize = 100_000;

/// A growing piece of HTML.
#[derive(Debug, Default)]
pub(super) struct Markup(String);

impl Markup {
    /// Markup of ours.
    pub(super) fn raw(&mut self, html: &'static str) -> &mut Self {
        self.0.push_str(html);
        self
    }

    /// A text of anyone's, between elements.
    pub(super) fn text(&mut self, text: &str) -> &mut Self {
        let cut = text.char_indices().nth(LONGEST_TEXT).map(|(at, _)| at);
        self.push_escaped(&text[..cut.unwrap_or(text.len())]);
        if cut.is_some() {
            self.0.push('…');
        }
        self
    }

    /// ` name="value"`.
    pub(super) fn attribute(&mut self, name: &'static str, value: &str) -> &mut Self {
        self.0.push(' ');
        self.0.push_str(name);
        self.0.push_str("=\"");
        self.push_escaped(value);
        self.0.push('"');
        self
    }

    /// ` name="1.5"`, for drawings.
    pub(super) fn number(&mut self, name: &'static str, value: f64) -> &mut Self {
        let _ = write!(self.0, " {name}=\"{value:.1}\"");
        self
    }

    /// `<tag class="class">text</tag>`.
    pub(super) fn element(
        &mut self,
        tag: &'static str,
        class: &'static str,
        text: &str,
    ) -> &mut Self {
        self.0.push('<');
        self.0.push_str(tag);
        if !class.is_empty() {
            self.attribute("class", class);
        }
        self.0.push('>');
        self.text(text);
        self.0.push_str("</");
        self.0.push_str(tag);
        self.0.push('>');
        self
    }

    pub(super) fn link(&mut self, address: &str, text: &str) -> &mut Self {
        self.raw("<a").attribute("href", address).raw(">").text(text).raw("</a>")
    }

    pub(super) fn add(&mut self, other: &Self) -> &mut Self {
        self.0.push_str(&other.0);
        self
    }

    pub(super) fn into_string(self) -> String {
        self.0
    }

    fn push_escaped(&mut self, text: &str) {
        for c in text::paragraph(text).chars() {
            match c {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                c => self.0.push(c),
            }
        }
    }
}

/// A name as part of an address. A browser takes `.` and `..` for directories.
pub(super) fn encoded(name: &str) -> String {
    match name {
        "." => "%2E".to_owned(),
        ".." => "%2E%2E".to_owned(),
        name => utf8_percent_encode(name, ENCODED).to_string(),
    }
}

/// A whole page.
pub(super) fn document(title: &str, styles: &[&str], body: &Markup) -> Markup {
    let mut page = Markup::default();
    page.raw(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n",
    );
    page.element("title", "", title).raw("\n");
    for style in styles {
        page.raw("<style>");
        // Ours, and free of `<`.
        page.0.push_str(style);
        page.raw("</style>\n");
    }
    page.raw("</head>\n<body>\n").add(body).raw("</body>\n</html>\n");
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_inert_wherever_they_are() {
        let hostile = "\"><script>alert('1')</script>&\u{1b}[2J\u{202e}";
        let mut markup = Markup::default();
        markup.element("p", "note", hostile).raw("<i").attribute("title", hostile).raw(">");
        let html = markup.into_string();
        assert_eq!(html.matches('<').count(), 3, "{html}");
        assert_eq!(html.matches('"').count(), 4, "{html}");
        assert!(!html.contains(['\u{1b}', '\u{202e}', '\'']), "{html}");
    }

    #[test]
    fn names_stay_one_segment() {
        for name in ["../../etc/passwd", "..", ".", "a/b", "a\\b", "?x#y", "a%2fb", "ü \n", "\""] {
            let encoded = encoded(name);
            assert!(encoded.chars().all(|c| c.is_ascii_alphanumeric() || "%-_.~".contains(c)));
            assert!(encoded != "." && encoded != "..", "{name}");
        }
        assert_eq!(encoded("support-2026-11-16T20-00-00"), "support-2026-11-16T20-00-00");
    }
}
