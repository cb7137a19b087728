//! Results as the folders of skill-creator, and its folders as results (spec 19.5, 19.6). Knows rows, not
//! suites. Nothing is written here: the caller puts files into place.

mod benchmark;
mod compared_evals;
mod configuration;
mod documents;
mod expectation;
mod export;
mod file_names;
mod history;
mod history_files;
mod history_rows;
mod output_files;

pub use export::{ExportedContent, ExportedFile, ExportedRun, SkillCreatorExport};
pub use history::{HistoryError, SkillHistory, is_history, read_history};
pub use output_files::{WorkspaceFile, read_output};
