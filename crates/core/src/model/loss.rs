//! What a conversion leaves out (spec 12.7, 15.4), with its place.

use std::borrow::Cow;
use std::sync::Arc;

use crate::source::Span;

use super::id::TestId;

/// Something that the written files omit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    pub kind: &'static str,
    /// `None` if it concerns the whole file.
    pub test: Option<Arc<TestId>>,
    pub message: Cow<'static, str>,
    pub span: Span,
}
