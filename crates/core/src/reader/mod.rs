//! Typed access to nodes: a value of the wrong type becomes a diagnostic. Knows interpolation
//! (spec 6) and paths (spec 4), but not suites.

mod dotenv;
mod expansion;
pub(crate) mod interpolate;
mod judge_template;
mod options;
mod path;
mod pattern_budget;
mod prompt;
mod state;
mod target;
mod template;
mod typed;
mod vars;
mod workspace_path;

pub use dotenv::EnvFiles;
pub use expansion::EXPANSION_LIMIT;
pub(crate) use options::read_mapping;
pub use options::{Options, ReadResult, Reported, all_read};
pub(crate) use path::INVALID_PATH;
pub use path::{FileUse, Resolved};
pub(crate) use path::{is_prompt_path, malformed as malformed_path};
pub(crate) use pattern_budget::PatternBudget;
pub use state::{ReadPolicy, Reader, TargetNames, World};
pub use target::UNKNOWN_TARGET;
pub(crate) use template::is_lone_reference;
pub use template::{FillError, InsertionBudget, Reference, Template};
pub use typed::{list_words, wrong_type};
pub(crate) use typed::{out_of_range, quote, short_span, type_of};
pub(crate) use vars::TestVars;
pub(crate) use workspace_path::WorkspaceGlob;

/// The codes of this room, file by file.
pub const CODES: &[&[&crate::diagnostic::Code]] = &[
    interpolate::CODES,
    expansion::CODES,
    dotenv::CODES,
    path::CODES,
    target::CODES,
    judge_template::CODES,
    workspace_path::CODES,
];
