//! What the places of a text mean: which table of fields a mapping is read by, where tests, targets
//! and the names of others are. Made from one text alone, so it is there before a suite is loaded and
//! for files that no suite reads.

mod cursor;
mod file_kind;
mod grammar;
mod parsed;
mod survey;
mod walk;

pub(crate) use cursor::{Completing, Notation, Slot, complete_at};
pub(crate) use file_kind::{FileKind, is_begun};
pub(crate) use grammar::{MappingKind, MappingTables, TARGET_KEYS, assertion_kind, provider_kind};
pub(crate) use parsed::ParsedText;
pub(crate) use survey::{Mark, MarkKind, Survey};
pub(crate) use walk::Visit;
