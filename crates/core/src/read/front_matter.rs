//! Markdown files that begin with YAML between two lines of `---`.

use std::sync::Arc;

use crate::diagnostic::{Diagnostic, declare_codes};
use crate::source::{Position, SourceId, Span};
use crate::syntax::{Tree, parse_yaml};

use super::loader::Loader;

declare_codes! {
    UNCLOSED_FRONT_MATTER = "unclosed-front-matter", Blocking, Syntax, r#"A Markdown file begins with a line of `---`, but no second one ends its settings.

## Example
```md evals/greets/prompt.md
---
runs: 5
Say hello to Alex.
```
```md evals/greets/graders/kind.md
---
type: llm
---
The answer is friendly.
```

## Instead
```md evals/greets/prompt.md
---
runs: 5
---
Say hello to Alex.
```
```md evals/greets/graders/kind.md
---
type: llm
---
The answer is friendly.
```

## Why
Nothing says where the settings end and the text begins.
"#;
}

/// A Markdown file with its settings.
pub(super) struct FrontMatter {
    /// The whole file.
    pub(super) source: SourceId,
    /// `None` without settings, or if they are empty.
    pub(super) settings: Option<Tree>,
    pub(super) has_settings: bool,
    /// What follows, without white space around it.
    pub(super) body: String,
    pub(super) body_span: Span,
}

/// The bytes of the settings and of the rest.
enum Parts {
    Body,
    Settings { settings: std::ops::Range<usize>, body: usize },
    Unclosed,
}

fn parts(text: &str) -> Parts {
    let mut lines = text.split_inclusive('\n');
    let Some(first) = lines.next().filter(|line| line.trim_end() == "---") else {
        return Parts::Body;
    };
    let start = first.len();
    let mut at = start;
    for line in lines {
        if line.trim_end() == "---" {
            return Parts::Settings { settings: start..at, body: at + line.len() };
        }
        at += line.len();
    }
    Parts::Unclosed
}

impl Loader<'_, '_> {
    /// `None` if the file cannot be read, which has been reported.
    pub(super) fn read_front_matter(&mut self, path: &camino::Utf8Path) -> Option<FrontMatter> {
        let source = self.read_file(path)?;
        let text = self.reader.sources.get(source).shared_text();
        let (settings, from) = match parts(&text) {
            Parts::Body => (None, 0),
            Parts::Settings { settings, body } => (Some(settings), body),
            Parts::Unclosed => {
                let end = text.find('\n').unwrap_or(text.len());
                let span = Span::new(source, 0, byte(end));
                let message = "the settings at the top of this file do not end";
                let diagnostic = Diagnostic::new(&UNCLOSED_FRONT_MATTER, span, message);
                return self.reader.refuse(diagnostic.help("add a line of `---` after them"));
            }
        };
        let has_settings = settings.is_some();
        let settings = match settings.filter(|range| !text[range.clone()].trim().is_empty()) {
            Some(range) => {
                let offset = self.reader.sources.get(source).offset() + range.start as u64;
                let first = Position { line: 2, column: 1 };
                let excerpt = &text[range];
                let part = self.reader.sources.add_excerpt(path.into(), excerpt, first, offset);
                Some(parse_yaml(part, Arc::new(excerpt.to_owned()), self.reader.out)?)
            }
            None => None,
        };
        let rest = &text[from..];
        let start = from + (rest.len() - rest.trim_start().len());
        let end = start + rest.trim().len();
        Some(FrontMatter {
            source,
            settings,
            has_settings,
            body: rest.trim().to_owned(),
            body_span: Span::new(source, byte(start), byte(end)),
        })
    }
}

/// A file has at most 32 MiB.
fn byte(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Option<(&str, &str)> {
        match parts(text) {
            Parts::Settings { settings, body } => Some((&text[settings], &text[body..])),
            Parts::Body => Some(("", text)),
            Parts::Unclosed => None,
        }
    }

    #[test]
    fn settings_are_between_two_lines_of_dashes() {
        assert_eq!(split("---\na: 1\n---\nHi\n"), Some(("a: 1\n", "Hi\n")));
        assert_eq!(split("---\r\na: 1\r\n---\r\nHi"), Some(("a: 1\r\n", "Hi")));
        assert_eq!(split("---\n---\n"), Some(("", "")));
        assert_eq!(split("Hi\n---\nthere"), Some(("", "Hi\n---\nthere")));
        assert_eq!(split(""), Some(("", "")));
        assert_eq!(split("---\na: 1\n"), None);
    }
}
