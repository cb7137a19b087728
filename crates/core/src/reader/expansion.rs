//! How much text references may insert (spec 2.6). A short file can name a long value thousands of
//! times, so its size does not bound the work.

use crate::diagnostic::{Diagnostic, declare_codes};
use crate::model::Value;
use crate::source::Span;

declare_codes! {
    EXPANSION_LIMIT = "expansion-limit", Blocking, Reference, r#"References insert more text than a suite may hold: 64 MiB in all its YAML and JSON files.

## Example
```text
vars: {page: a text of 1 MiB}
input: a hundred times "{{ page }}"
```

## Instead
```text
vars: {page: a text of 1 MiB}
input: "{{ page }}"
```

## Why
A short file could otherwise fill the memory. A line of a JSONL file may insert 64 KiB or 16 times its
own length, whichever is more, because such a file has no limit.
"#;
}

/// For all files of a suite but JSONL; as much as aliases may add.
pub(crate) const SUITE_LIMIT: usize = 64 * 1024 * 1024;
/// For one line of a JSONL file, whatever its length.
const LINE_LIMIT: usize = 64 * 1024;
const LINE_FACTOR: usize = 16;
/// What a value that is not a text takes in memory besides its texts.
const VALUE_SIZE: usize = 64;

#[derive(Debug)]
pub(super) struct Expansion {
    /// What the suite may still insert.
    left: usize,
    /// What the line of a JSONL file that is being read may still insert.
    left_in_line: Option<usize>,
}

impl Default for Expansion {
    fn default() -> Self {
        Self { left: SUITE_LIMIT, left_in_line: None }
    }
}

/// Whether a reference may be replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Charge {
    Within,
    /// The first reference over the limit.
    Over,
    /// One after it: already reported.
    Exhausted,
}

impl Expansion {
    pub(super) fn enter_line(&mut self, length: usize) {
        self.left_in_line = Some(LINE_LIMIT.max(length.saturating_mul(LINE_FACTOR)));
    }

    pub(super) fn leave_line(&mut self) {
        self.left_in_line = None;
    }

    fn left(&mut self) -> &mut usize {
        self.left_in_line.as_mut().unwrap_or(&mut self.left)
    }

    /// Asked before a value is copied: behind the limit nothing is.
    pub(super) fn is_exhausted(&mut self) -> bool {
        *self.left() == 0
    }

    pub(super) fn charge(&mut self, bytes: usize) -> Charge {
        let left = self.left();
        if *left == 0 && bytes > 0 {
            return Charge::Exhausted;
        }
        match left.checked_sub(bytes) {
            Some(rest) => {
                // The limit itself is allowed; zero means that it was passed.
                *left = rest.max(1);
                Charge::Within
            }
            None => {
                *left = 0;
                Charge::Over
            }
        }
    }

    pub(super) fn diagnostic(&self, span: Span) -> Diagnostic {
        let message = match self.left_in_line {
            None => "references insert more text than a suite may hold",
            Some(_) => "references insert more text than a line of a JSONL file may hold",
        };
        Diagnostic::new(&EXPANSION_LIMIT, span, message)
            .help("attach the text as a file instead of inserting it")
    }
}

/// What a copy of a value takes, roughly.
pub(super) fn size_of(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::List(items) => items.iter().map(|item| VALUE_SIZE + size_of(item)).sum(),
        Value::Map(map) => {
            map.iter().map(|(key, value)| 2 * VALUE_SIZE + key.len() + size_of(value)).sum()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => VALUE_SIZE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_allowed_and_reported_once() {
        let mut expansion = Expansion::default();
        assert_eq!(expansion.charge(SUITE_LIMIT), Charge::Within);
        assert_eq!(expansion.charge(0), Charge::Within);
        assert_eq!(expansion.charge(2), Charge::Over);
        assert!(expansion.is_exhausted());
        assert_eq!(expansion.charge(1), Charge::Exhausted);
    }

    #[test]
    fn each_line_has_a_budget_of_its_own() {
        let mut expansion = Expansion::default();
        for (length, most) in [(10, LINE_LIMIT), (LINE_LIMIT, 16 * LINE_LIMIT)] {
            expansion.enter_line(length);
            assert_eq!(expansion.charge(most), Charge::Within);
            expansion.enter_line(length);
            assert_eq!(expansion.charge(most + 1), Charge::Over);
        }
        expansion.leave_line();
        assert_eq!(expansion.charge(SUITE_LIMIT), Charge::Within);
    }
}
