//! What `convert` knows about one foreign format.

use super::foreign_file::ForeignFile;
use super::importer::Importer;
use super::suite_draft::SuiteDraft;

/// A format that `convert` reads.
#[derive(Debug)]
pub struct ImportFormat {
    /// The word of `--from`.
    pub name: &'static str,
    /// What a file of it is, behind "this is".
    pub title: &'static str,
    /// For `explain`; the first sentence says what is read.
    pub doc: &'static str,
    /// The keys that identify a file of this format.
    pub(super) detect: fn(&ForeignFile) -> Option<Vec<&'static str>>,
    /// `None` when no suite can be made; the reason has been reported.
    pub(super) read: fn(&mut Importer<'_>, &ForeignFile) -> Option<SuiteDraft>,
}
