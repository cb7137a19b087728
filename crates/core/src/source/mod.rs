//! Where text comes from and how a place in it is named.

mod files;
mod line_index;
mod memory;
mod sources;
mod span;
mod tree;

pub(crate) use files::relative_path;
pub use files::{
    ChangedFile, DirectoryEntry, DirectoryListing, EntryKind, Environment, FileFacts, Files,
    OutsideReach, Reach, is_changed, is_outside, without_dots,
};
pub use line_index::{LineIndex, Position};
pub use memory::{MemoryFiles, Variables};
pub use sources::{Shift, Source, Sources};
pub use span::{SourceId, Span, Spanned};
pub use tree::{TreeListing, list_tree};
