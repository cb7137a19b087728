//! Text for a model: sanitized, and never longer than a limit.

use evalrig_run::text;

/// Characters of one answer. A longer one would push out of the client's context what it works on.
pub const MOST_CHARACTERS: usize = 8_000;

/// Characters of one line.
const LONGEST_LINE: usize = 400;

/// Lines that fit into an answer. What does not fit is counted.
#[derive(Debug, Default)]
pub struct BoundedText {
    text: String,
    used: usize,
}

impl BoundedText {
    /// Adds a line, whose white space becomes single spaces behind `indent`. Returns whether there was
    /// room for it.
    pub fn push(&mut self, indent: &str, line: &str) -> bool {
        self.push_whole(&[format!("{indent}{}", text::line(line, LONGEST_LINE))])
    }

    /// Adds lines that belong together, or none of them.
    pub fn push_whole(&mut self, lines: &[String]) -> bool {
        let needed: usize = lines.iter().map(|line| line.chars().count() + 1).sum();
        if self.used + needed > MOST_CHARACTERS {
            return false;
        }
        self.used += needed;
        for line in lines {
            self.text += line;
            self.text.push('\n');
        }
        true
    }

    /// Adds the beginning of a page and says what is missing.
    pub fn push_page(&mut self, page: &str) {
        let lines: Vec<&str> = page.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            if !self.push_whole(&[text::single_line(line)]) {
                self.close(&format!("… {} more lines", lines.len() - at));
                return;
            }
        }
    }

    /// Adds a last line, for which there is always room.
    pub fn close(&mut self, line: &str) {
        self.text += &text::line(line, LONGEST_LINE);
        self.text.push('\n');
    }

    pub fn into_text(self) -> String {
        text::paragraph(self.text.trim_end()).into_owned()
    }
}

/// `1 test`, `2 tests`.
pub fn counted(count: u64, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_never_longer_than_its_limit() {
        let mut answer = BoundedText::default();
        answer.push_page(&"many lines\n".repeat(100_000));
        let text = answer.into_text();
        assert!(text.chars().count() < MOST_CHARACTERS + LONGEST_LINE);
        assert!(text.ends_with("more lines"), "{}", &text[text.len() - 80..]);
    }

    #[test]
    fn a_line_is_cut_and_has_no_control_characters() {
        let mut answer = BoundedText::default();
        assert!(answer.push("  ", &format!("a\nb\u{1b}[31mc {}", "x".repeat(10_000))));
        let text = answer.into_text();
        assert!(text.starts_with("  a b␛[31mc"), "{text}");
        assert!(text.chars().count() <= LONGEST_LINE + 3);
        assert!(!text.contains('\u{1b}'));
    }
}
