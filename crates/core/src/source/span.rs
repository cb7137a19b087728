//! Byte ranges that know which source they belong to.

/// Names one entry of [`super::Sources`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceId(pub(crate) u32);

/// A byte range in one source. `start <= end`, both on character boundaries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    pub source: SourceId,
    pub start: u32,
    pub end: u32,
}

impl Span {
    pub fn new(source: SourceId, start: u32, end: u32) -> Self {
        debug_assert!(start <= end);
        Self { source, start, end }
    }

    /// The empty span at this span's first byte.
    pub fn at_start(self) -> Self {
        self.up_to(self.start)
    }

    /// From another byte on.
    pub fn starting_at(self, start: u32) -> Self {
        Self { start, ..self }
    }

    /// Up to another byte.
    pub fn up_to(self, end: u32) -> Self {
        Self { end, ..self }
    }

    pub fn is_empty(self) -> bool {
        self.start == self.end
    }
}

/// A value and the place where its author wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spanned<T> {
    pub value: T,
    pub span: Span,
}

impl<T> Spanned<T> {
    pub fn new(value: T, span: Span) -> Self {
        Self { value, span }
    }
}
