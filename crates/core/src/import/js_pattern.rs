//! Regular expressions of JavaScript → those of a suite (spec 7.10), with the same matches: `\d`, `\w`
//! and `\b` are about ASCII there, and a brace that is no repetition stands for itself.

/// The pattern in the syntax of suites. What it cannot translate stays; the caller compiles the result.
pub(super) fn translated(pattern: &str) -> String {
    let needs_backtracking =
        ["(?=", "(?!", "(?<=", "(?<!", "\\k<"].iter().any(|mark| pattern.contains(mark))
            || has_back_reference(pattern);
    let mut translator = Translator {
        rest: pattern.chars().collect(),
        at: 0,
        out: String::with_capacity(pattern.len() + 16),
        needs_backtracking,
    };
    translator.run();
    translator.out
}

fn has_back_reference(pattern: &str) -> bool {
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        if letter == '\\' && letters.next().is_some_and(|next| matches!(next, '1'..='9')) {
            return true;
        }
    }
    false
}

struct Translator {
    rest: Vec<char>,
    at: usize,
    out: String,
    needs_backtracking: bool,
}

const WORD: &str = "A-Za-z0-9_";

impl Translator {
    fn run(&mut self) {
        while let Some(letter) = self.take() {
            match letter {
                '\\' => self.escape(),
                '[' => self.class(),
                '{' if !self.is_repetition() => self.out.push_str("\\{"),
                '{' => self.repetition(),
                '}' => self.out.push_str("\\}"),
                ']' => self.out.push_str("\\]"),
                other => self.out.push(other),
            }
        }
    }

    fn take(&mut self) -> Option<char> {
        let letter = self.rest.get(self.at).copied();
        self.at += 1;
        letter
    }

    fn escape(&mut self) {
        let Some(letter) = self.take() else {
            self.out.push_str("\\\\");
            return;
        };
        match letter {
            'd' => self.out.push_str("[0-9]"),
            'D' => self.out.push_str("[^0-9]"),
            'w' => self.out.push_str(&format!("[{WORD}]")),
            'W' => self.out.push_str(&format!("[^{WORD}]")),
            'b' if self.needs_backtracking => {
                let inside = format!("(?<=[{WORD}])(?![{WORD}])");
                let outside = format!("(?<![{WORD}])(?=[{WORD}])");
                self.out.push_str(&format!("(?:{inside}|{outside})"));
            }
            'b' => self.out.push_str("(?-u:\\b)"),
            'B' if !self.needs_backtracking => self.out.push_str("(?-u:\\B)"),
            // Escapes that are not needed are errors elsewhere.
            other if other.is_ascii_punctuation() => {
                if !matches!(
                    other,
                    '/' | '"'
                        | '\''
                        | '`'
                        | ','
                        | ';'
                        | ':'
                        | '!'
                        | '@'
                        | '%'
                        | '='
                        | '<'
                        | '>'
                        | '_'
                ) {
                    self.out.push('\\');
                }
                self.out.push(other);
            }
            other => self.out.extend(['\\', other]),
        }
    }

    /// `[…]` with the same members.
    fn class(&mut self) {
        let is_negated = self.rest.get(self.at) == Some(&'^');
        if is_negated {
            self.at += 1;
        }
        if self.rest.get(self.at) == Some(&']') {
            self.at += 1;
            // `[]` matches nothing, and `[^]` everything.
            self.out.push_str(if is_negated { "[\\s\\S]" } else { "[^\\s\\S]" });
            return;
        }
        self.out.push_str(if is_negated { "[^" } else { "[" });
        while let Some(letter) = self.take() {
            match letter {
                ']' => {
                    self.out.push(']');
                    return;
                }
                '\\' => self.class_escape(),
                '[' | '&' | '~' => self.out.extend(['\\', letter]),
                other => self.out.push(other),
            }
        }
    }

    fn class_escape(&mut self) {
        match self.take() {
            Some('d') => self.out.push_str("0-9"),
            Some('w') => self.out.push_str(WORD),
            Some('D') => self.out.push_str("[^0-9]"),
            Some('W') => self.out.push_str(&format!("[^{WORD}]")),
            Some('b') => self.out.push_str("\\x08"),
            Some(other) => self.out.extend(['\\', other]),
            None => {}
        }
    }

    /// Whether `{2}`, `{2,}` or `{2,3}` begins behind the brace.
    fn is_repetition(&self) -> bool {
        let rest: String =
            self.rest[self.at..].iter().take_while(|letter| **letter != '}').collect();
        let is_closed = self.rest[self.at..].contains(&'}');
        let (least, most) = rest.split_once(',').unwrap_or((&rest, ""));
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        is_closed && !least.is_empty() && is_number(least) && is_number(most)
    }

    fn repetition(&mut self) {
        self.out.push('{');
        while let Some(letter) = self.take() {
            self.out.push(letter);
            if letter == '}' {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::translated;
    use crate::assertion::pattern_fault;

    #[test]
    fn patterns_keep_their_meaning() {
        for (js, rust) in [
            (r"^\d{3}-\w+$", r"^[0-9]{3}-[A-Za-z0-9_]+$"),
            (r"\bcat\b", r"(?-u:\b)cat(?-u:\b)"),
            (r#"{"a":\s*1}"#, r#"\{"a":\s*1\}"#),
            (r"[\w.-]+@[^\d]", r"[A-Za-z0-9_.-]+@[^0-9]"),
            (r"a\/b\-c", r"a/b\-c"),
            (r"[^]*", r"[\s\S]*"),
            (r"x{2,}y{a}", r"x{2,}y\{a\}"),
            (r"[[a&&b]", r"[\[a\&\&b]"),
            (r"\u00e9|\x41|\t", r"\u00e9|\x41|\t"),
        ] {
            assert_eq!(translated(js), rust, "{js}");
            assert_eq!(pattern_fault(&translated(js)), None, "{js}");
        }
    }

    #[test]
    fn boundaries_beside_look_around_are_look_around_too() {
        let pattern = translated(r"(?!no)\bok\b");
        assert_eq!(pattern_fault(&pattern), None, "{pattern}");
        assert!(!pattern.contains("-u"), "{pattern}");
        assert_eq!(pattern_fault(&translated(r"(\w)\1")), None);
    }

    #[test]
    fn a_broken_pattern_stays_broken() {
        for js in ["(a", "*a", "[a", "(?<n"] {
            assert!(pattern_fault(&translated(js)).is_some(), "{js}");
        }
    }
}
