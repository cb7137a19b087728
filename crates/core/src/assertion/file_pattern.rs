//! Patterns of files, and the files that they match, in words.

use globset::GlobMatcher;

use crate::reader::WorkspaceGlob;
use crate::source::Span;

use super::excerpt::excerpt;

/// Names that a hit or miss lists.
const MOST_NAMES: usize = 20;

/// One pattern, ready for use.
#[derive(Debug)]
pub(super) struct FilePattern {
    pub(super) text: String,
    matcher: GlobMatcher,
    pub(super) span: Span,
}

impl FilePattern {
    pub(super) fn of(glob: WorkspaceGlob, span: Span) -> Self {
        Self { matcher: glob.compile_matcher(), text: glob.text, span }
    }

    /// The path that it is, if it has no wildcards.
    pub(super) fn literal(&self) -> Option<&str> {
        (!self.text.contains(['*', '?', '[', '{', '\\'])).then_some(&self.text)
    }

    /// Whether it matches only files in `.git`.
    pub(super) fn is_in_git(&self) -> bool {
        self.text.split('/').any(|part| part == ".git")
    }

    pub(super) fn matches(&self, path: &str) -> bool {
        self.matcher.is_match(path)
    }

    pub(super) fn find<'p>(&self, paths: &'p [String]) -> Vec<&'p str> {
        paths.iter().map(String::as_str).filter(|path| self.matches(path)).collect()
    }

    /// The pattern, and the names it stands for unless they are the same.
    pub(super) fn with_names(&self, names: &[&str]) -> String {
        let text = excerpt(&self.text);
        match names {
            [only] if *only == self.text => format!("'{text}'"),
            names => format!("'{text}' ({})", listed(names.iter().copied())),
        }
    }
}

/// `a, b and 3 more`
pub(super) fn listed<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    let more = names.len().saturating_sub(MOST_NAMES);
    let shown: Vec<_> = names.take(MOST_NAMES).map(excerpt).collect();
    let shown = shown.join(", ");
    if more > 0 { format!("{shown} and {more} more") } else { shown }
}
