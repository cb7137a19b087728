//! One fault at one place.

use crate::source::Span;

use super::code::{Code, Level};
use super::fix::Fix;
use super::suggest::did_you_mean;

/// A further place that helps to understand the first one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Related {
    pub span: Span,
    pub message: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    pub code: &'static Code,
    pub level: Level,
    pub message: String,
    pub span: Span,
    /// A few words drawn beside the marked text.
    pub label: Option<String>,
    pub related: Vec<Related>,
    pub help: Option<String>,
    pub fix: Option<Fix>,
    /// A likely repair that a person has to choose: editors offer it, `--fix` does not apply it.
    pub suggestion: Option<Box<Fix>>,
    /// Position of the test it touches; `None` when it concerns the whole file.
    pub test: Option<u32>,
}

impl Diagnostic {
    pub fn new(code: &'static Code, span: Span, message: impl Into<String>) -> Self {
        Self {
            code,
            level: code.level,
            message: message.into(),
            span,
            label: None,
            related: Vec::new(),
            help: None,
            fix: None,
            suggestion: None,
            test: None,
        }
    }

    /// Moves every place it names.
    pub(super) fn move_spans(&mut self, place: &impl Fn(Span) -> Span) {
        self.span = place(self.span);
        for related in &mut self.related {
            related.span = place(related.span);
        }
        for fix in self.fix.iter_mut().chain(self.suggestion.as_deref_mut()) {
            fix.isolation = fix.isolation.map(place);
            for edit in &mut fix.edits {
                edit.span = place(edit.span);
            }
        }
    }

    /// Touches the test at this position.
    #[must_use]
    pub(crate) fn of_test(mut self, position: u32) -> Self {
        self.test = Some(position);
        self
    }

    #[must_use]
    pub fn level(mut self, level: Level) -> Self {
        self.level = level;
        self
    }

    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    #[must_use]
    pub(crate) fn help_if(mut self, help: Option<String>) -> Self {
        if help.is_some() {
            self.help = help;
        }
        self
    }

    /// Suggests the known name nearest to the one that was written, or helps otherwise.
    #[must_use]
    pub fn suggest<'a>(
        self,
        written: &str,
        known: impl IntoIterator<Item = &'a str>,
        otherwise: impl Into<String>,
    ) -> Self {
        match did_you_mean(written, known) {
            Some(near) => self.help(format!("did you mean `{near}`?")),
            None => self.help(otherwise),
        }
    }

    #[must_use]
    pub fn related(mut self, span: Span, message: impl Into<String>) -> Self {
        self.related.push(Related { span, message: message.into() });
        self
    }

    #[must_use]
    pub fn fix(mut self, fix: Fix) -> Self {
        self.fix = Some(fix);
        self
    }

    #[must_use]
    pub(crate) fn suggestion_if(mut self, suggestion: Option<Fix>) -> Self {
        self.suggestion = suggestion.map(Box::new);
        self
    }

    #[must_use]
    pub(crate) fn fix_if(mut self, fix: Option<Fix>) -> Self {
        if fix.is_some() {
            self.fix = fix;
        }
        self
    }
}
