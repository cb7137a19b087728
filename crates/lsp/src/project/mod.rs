//! The files of an editor and what evalrig makes of them: which suites there are, what each one reads,
//! and what has to be read again after a change.

mod analysis;
#[cfg(test)]
mod edit_tests;
mod finding;
mod load;
mod open_files;
mod published;
mod state;

pub(crate) use analysis::Analysis;
pub(crate) use finding::Finding;
pub(crate) use state::Project;
