//! A repair that is certain: byte edits that keep everything they do not name.

use crate::source::Span;

/// Replaces the bytes of `span` by `text`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Edit {
    pub span: Span,
    pub text: String,
}

impl Edit {
    pub fn new(span: Span, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { span, text }
    }
}

/// All edits of a fix are made together or not at all.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Fix {
    pub title: String,
    pub edits: Vec<Edit>,
    /// At most one fix with the same place here is made in one go: two fixes that each add the
    /// same key to a mapping would add it twice.
    pub isolation: Option<Span>,
}

impl Fix {
    pub fn new(title: impl Into<String>, edits: Vec<Edit>) -> Self {
        Self { title: title.into(), edits, isolation: None }
    }

    pub fn replace(title: impl Into<String>, span: Span, text: impl Into<String>) -> Self {
        Self::new(title, vec![Edit::new(span, text)])
    }

    #[must_use]
    pub(crate) fn isolated(mut self, place: Span) -> Self {
        self.isolation = Some(place);
        self
    }
}
