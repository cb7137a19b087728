//! Targets files: finding one, reading it, and the targets it names.

mod alias;
mod entry;
mod file;
mod find;
mod hidden;
mod identity;
mod installed;
mod schema;
#[cfg(test)]
pub(crate) mod testing;
mod unsupported;

pub use entry::Target;
pub use file::{NotFound, ROOT, Targets, read_targets};
pub use find::{find_targets_file, is_agentv, reach_of_found};
pub use installed::{InstalledAgent, installed_agents, is_installed, targets_of_agents};
pub use schema::{schema, strict_schema};

/// The codes of this room, file by file.
pub const CODES: &[&[&evalrig_core::diagnostic::Code]] =
    &[alias::CODES, entry::CODES, file::CODES, unsupported::CODES];
