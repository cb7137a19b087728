//! `${{ NAME }}` in a text: finds references, and keeps texts whose references are replaced later.
//! The only place that knows the syntax of a reference (spec 6.1).

use std::cell::Cell;

use crate::diagnostic::{Diagnostic, Level};
use crate::source::Span;

use super::dotenv::is_variable_name;
use super::expansion::SUITE_LIMIT;
use super::interpolate::MISSING_VARIABLE;

/// What begins at a `$` of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TemplatePiece<'t> {
    /// `$${{`, which means `${{`.
    Escape,
    Variable(&'t str),
    /// Braces around something else; they stay as they are.
    Stray,
}

/// The piece at the beginning of `rest`, and how many bytes it takes.
pub(super) fn piece_at(rest: &str) -> Option<(TemplatePiece<'_>, usize)> {
    piece_before(rest, true)
}

/// As [`piece_at`], for a text with many: after the last `}}` none is searched for, which would take
/// the square of the text's length.
pub(super) fn piece_before(rest: &str, may_close: bool) -> Option<(TemplatePiece<'_>, usize)> {
    if rest.starts_with("$${{") {
        return Some((TemplatePiece::Escape, 4));
    }
    let inside = rest.strip_prefix("${{")?;
    let Some(end) = may_close.then(|| inside.find("}}")).flatten() else {
        return Some((TemplatePiece::Stray, 3));
    };
    let name = inside[..end].trim();
    let piece =
        if is_variable_name(name) { TemplatePiece::Variable(name) } else { TemplatePiece::Stray };
    Some((piece, end + 5))
}

/// Every piece of a text, with the byte at which it begins and its length.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = (usize, TemplatePiece<'_>, usize)> {
    let mut at = 0;
    let last_close = text.rfind("}}");
    std::iter::from_fn(move || {
        loop {
            at += text.get(at..)?.find('$')?;
            match piece_before(&text[at..], last_close.is_some_and(|end| at < end)) {
                Some((piece, length)) => {
                    let start = at;
                    at += length;
                    return Some((start, piece, length));
                }
                None => at += 1,
            }
        }
    })
}

/// One use of an environment variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    pub name: String,
    /// The field whose value contains it.
    pub field: String,
    pub span: Span,
}

impl Reference {
    pub fn new(name: &str, field: &str, span: Span) -> Self {
        let (name, field) = (name.to_owned(), field.to_owned());
        Self { name, field, span }
    }

    /// The variable is not set. In a suite nothing can be read without it; a targets file only
    /// cannot be run.
    pub fn missing(&self, level: Level) -> Diagnostic {
        let message = format!("variable `{}`, used by `{}`, is not set", self.name, self.field);
        Diagnostic::new(&MISSING_VARIABLE, self.span, message)
            .level(level)
            .help("set it in the environment or in a `.env` file up to the repository root")
    }
}

/// What to do with references while a file is read.
#[derive(Debug, Default)]
pub(super) enum ReferencePolicy {
    /// Replaced at once; a variable that is not set is a fault.
    #[default]
    Replace,
    /// Kept in the text and recorded, to be replaced when the value is used.
    Keep(Vec<Reference>),
}

/// A text whose references to variables have not been replaced yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    raw: String,
    span: Span,
}

/// Why the references of a text cannot be replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FillError {
    /// This variable is not set.
    Unset(String),
    /// The values are longer than the budget allows.
    TooLong,
}

/// Bytes that templates which are filled together may still insert (spec 2.6).
#[derive(Debug)]
pub struct InsertionBudget(Cell<usize>);

impl Default for InsertionBudget {
    fn default() -> Self {
        Self(Cell::new(SUITE_LIMIT))
    }
}

impl Template {
    pub fn new(raw: impl Into<String>, span: Span) -> Self {
        Self { raw: raw.into(), span }
    }

    /// As its author wrote it.
    pub fn raw(&self) -> &str {
        &self.raw
    }

    pub fn span(&self) -> Span {
        self.span
    }

    /// The names of its variables, in order.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        pieces(&self.raw).filter_map(|(_, piece, _)| match piece {
            TemplatePiece::Variable(name) => Some(name),
            TemplatePiece::Escape | TemplatePiece::Stray => None,
        })
    }

    pub fn has_references(&self) -> bool {
        has_references(&self.raw)
    }

    /// The text, if it has no references.
    pub fn fixed(&self) -> Option<String> {
        self.fill(&|_| None).ok()
    }

    /// The text with every reference replaced. Inserted text is not scanned again.
    pub fn fill(&self, variable: &dyn Fn(&str) -> Option<String>) -> Result<String, FillError> {
        self.fill_within(&InsertionBudget::default(), variable)
    }

    /// As [`Self::fill`], one of several texts with a common budget.
    pub fn fill_within(
        &self,
        budget: &InsertionBudget,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<String, FillError> {
        let mut result = String::with_capacity(self.raw.len());
        let mut copied = 0;
        for (start, piece, length) in pieces(&self.raw) {
            result.push_str(&self.raw[copied..start]);
            copied = start + length;
            match piece {
                TemplatePiece::Escape => result.push_str("${{"),
                TemplatePiece::Stray => result.push_str(&self.raw[start..copied]),
                TemplatePiece::Variable(name) => {
                    let value = variable(name).ok_or_else(|| FillError::Unset(name.to_owned()))?;
                    let left = budget.0.get().checked_sub(value.len());
                    budget.0.set(left.ok_or(FillError::TooLong)?);
                    result.push_str(&value);
                }
            }
        }
        result.push_str(&self.raw[copied..]);
        Ok(result)
    }
}

pub(super) fn has_references(text: &str) -> bool {
    pieces(text).any(|(_, piece, _)| matches!(piece, TemplatePiece::Variable(_)))
}

/// Nothing but one reference, blanks around it allowed.
pub(crate) fn is_lone_reference(text: &str) -> bool {
    let text = text.trim();
    matches!(piece_at(text), Some((TemplatePiece::Variable(_), length)) if length == text.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Sources;

    fn template(raw: &str) -> Template {
        let mut sources = Sources::new();
        let id = sources.add_file("/a".into(), raw.to_owned(), 0);
        Template::new(raw, Span::new(id, 0, raw.len() as u32))
    }

    fn filled(raw: &str) -> Result<String, FillError> {
        template(raw).fill(&|name| (name == "A").then(|| "1 ${{ A }}".to_owned()))
    }

    #[test]
    fn references_are_replaced_once_and_escapes_are_undone() {
        assert_eq!(filled("<${{A}}> é").unwrap(), "<1 ${{ A }}> é");
        assert_eq!(filled("$${{ A }}").unwrap(), "${{ A }}");
        assert_eq!(filled("$$${{ A }}").unwrap(), "$${{ A }}");
        assert_eq!(filled("${{ x.y }} ${{ $ {{").unwrap(), "${{ x.y }} ${{ $ {{");
        assert_eq!(filled("${{ A }}${{ B }}"), Err(FillError::Unset("B".into())));
    }

    #[test]
    fn texts_that_are_filled_together_have_one_budget() {
        let budget = InsertionBudget::default();
        let long = |_: &str| Some("x".repeat(SUITE_LIMIT / 2));
        let (one, two) = (template("${{ A }}"), template("${{ A }}${{ A }}"));
        assert_eq!(one.fill_within(&budget, &long).unwrap().len(), SUITE_LIMIT / 2);
        assert_eq!(two.fill_within(&budget, &long), Err(FillError::TooLong));
        assert!(two.fill(&long).is_ok());
    }

    #[test]
    fn only_texts_without_references_are_fixed() {
        assert_eq!(template("a $${{b}}").fixed().as_deref(), Some("a ${{b}}"));
        assert_eq!(template("a ${{ B }}").fixed(), None);
    }

    #[test]
    fn a_lone_reference_has_nothing_beside_it() {
        assert!(is_lone_reference(" ${{ A }} "));
        for text in ["${{ A }}0", "${{A}}${{B}}", "$${{ A }}", "${{ a.b }}", ""] {
            assert!(!is_lone_reference(text), "{text}");
        }
    }
}
