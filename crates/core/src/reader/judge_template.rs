//! Finds variables such as `{{ answer }}` in judge prompts (spec 6.3).

use std::ops::Range;

use crate::diagnostic::{Diagnostic, declare_codes};
use crate::model::JudgeVariable;
use crate::source::Span;
use crate::syntax::fields::shorten;

use super::typed::list_words;

declare_codes! {
    UNKNOWN_TEMPLATE_VARIABLE = "unknown-template-variable", BlocksRun, Reference, r#"A judge's prompt uses a variable in double braces that does not exist.

## Example
```yaml
name: demo
tests:
  - id: a
    criteria: Is polite
    input: Hi
    assert:
      - {type: llm-judge, prompt: "Is this polite? {{ anwser }}"}
```

## Instead
```yaml
name: demo
tests:
  - id: a
    criteria: Is polite
    input: Hi
    assert:
      - {type: llm-judge, prompt: "Is this polite? {{ answer }}"}
```

## Why
The judge would see the braces instead of the answer and would grade nothing. Write `{{{{` and
`}}}}` for literal braces.
"#;
}

/// Whether `${{ }}` is replaced; in prompt files it is plain text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EnvReferences {
    Replaced,
    Plain,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum PromptPiece<'a> {
    Text(&'a str),
    /// `${{ NAME }}` at this byte.
    Environment {
        at: usize,
        reference: &'a str,
    },
    /// `{{ name }}`, the name trimmed.
    Variable {
        range: Range<usize>,
        name: &'a str,
    },
    /// `{{` without `}}`.
    Unclosed(Range<usize>),
}

pub(super) fn pieces(text: &str, environment: EnvReferences) -> Vec<PromptPiece<'_>> {
    let mut pieces = Vec::new();
    // Braces after the last closing pair stay open; knowing that saves a search for each.
    let last_close = text.rfind("}}").unwrap_or(0);
    // Everything before `from` has become a piece.
    let (mut from, mut at) = (0, 0);
    while let Some(step) = text[at..].find(['$', '{', '}']) {
        at += step;
        let Some((piece, length)) = special(text, at, last_close, environment) else {
            at += 1;
            continue;
        };
        if from < at {
            pieces.push(PromptPiece::Text(&text[from..at]));
        }
        // Whatever follows an open brace cannot be closed either: one report is enough.
        let is_open = matches!(piece, PromptPiece::Unclosed(_));
        pieces.push(piece);
        at += length;
        from = at;
        if is_open {
            break;
        }
    }
    if from < text.len() {
        pieces.push(PromptPiece::Text(&text[from..]));
    }
    pieces
}

/// What begins at byte `at`, and how long it is.
fn special(
    text: &str,
    at: usize,
    last_close: usize,
    environment: EnvReferences,
) -> Option<(PromptPiece<'_>, usize)> {
    let rest = &text[at..];
    let end_of = |inside: &str| {
        if at < last_close { inside.find("}}") } else { None }
    };
    if environment == EnvReferences::Replaced {
        if rest.starts_with("$${{") {
            return Some((PromptPiece::Text("${{"), 4));
        }
        if let Some(inside) = rest.strip_prefix("${{") {
            let length = end_of(inside).map_or(3, |end| end + 5);
            let reference = &rest[..length];
            return Some((PromptPiece::Environment { at, reference }, length));
        }
    }
    if rest.starts_with("{{{{") || rest.starts_with("}}}}") {
        return Some((PromptPiece::Text(&rest[..2]), 4));
    }
    let inside = rest.strip_prefix("{{")?;
    Some(match end_of(inside) {
        Some(end) => {
            let range = at..at + end + 4;
            let name = inside[..end].trim();
            (PromptPiece::Variable { range, name }, end + 4)
        }
        None => (PromptPiece::Unclosed(at..at + 2), 2),
    })
}

pub(super) fn unclosed(span: Span) -> Diagnostic {
    let message = "`{{` is never closed by `}}`";
    let help = "write `{{{{` for literal braces";
    Diagnostic::new(&UNKNOWN_TEMPLATE_VARIABLE, span, message).help(help)
}

pub(super) fn unknown_variable(name: &str, span: Span) -> Diagnostic {
    let message = format!("`{}` is not a variable of judge prompts", shorten(name));
    let known = list_words(JudgeVariable::NAMES);
    let help = format!("use {known}; write `{{{{{{{{` and `}}}}}}}}` for literal braces");
    let names = JudgeVariable::NAMES.iter().copied();
    Diagnostic::new(&UNKNOWN_TEMPLATE_VARIABLE, span, message).suggest(name, names, help)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_are_variables_or_literal() {
        assert_eq!(
            pieces("a {{ answer }} {{{{x}}}} }}", EnvReferences::Replaced),
            [
                PromptPiece::Text("a "),
                PromptPiece::Variable { range: 2..14, name: "answer" },
                PromptPiece::Text(" "),
                PromptPiece::Text("{{"),
                PromptPiece::Text("x"),
                PromptPiece::Text("}}"),
                PromptPiece::Text(" }}"),
            ]
        );
    }

    #[test]
    fn environment_references_are_no_variables() {
        assert_eq!(
            pieces("${{ A }}$${{ B }}", EnvReferences::Replaced),
            [
                PromptPiece::Environment { at: 0, reference: "${{ A }}" },
                PromptPiece::Text("${{"),
                PromptPiece::Text(" B }}"),
            ]
        );
        assert_eq!(
            pieces("${{ note }}", EnvReferences::Plain),
            [PromptPiece::Text("$"), PromptPiece::Variable { range: 1..11, name: "note" }]
        );
    }

    #[test]
    fn an_open_brace_at_the_end_is_noticed() {
        assert_eq!(
            pieces("é {{", EnvReferences::Plain),
            [PromptPiece::Text("é "), PromptPiece::Unclosed(3..5)]
        );
    }
}
