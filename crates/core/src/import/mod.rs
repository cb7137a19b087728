//! Suites of other tools → suites. One file per format, named after it, with its name, how it is
//! recognised, how it is read, and its doc. This file has the list of them.

mod assertion_draft;
mod braintrust;
mod chat;
mod conversion;
mod criteria;
mod deepeval;
mod direct;
mod field_map;
mod file_checks;
mod foreign_file;
mod format;
mod harbor;
mod importer;
mod inspect;
mod js_pattern;
mod langfuse;
mod langsmith;
mod list;
mod located;
mod openai_evals;
mod promptfoo;
mod ragas;
mod row;
mod schema_keywords;
mod script;
mod suite_draft;
mod template;
mod toml_file;
mod vally;
mod waza;

pub use conversion::{Conversion, DetectedFormat, Opened};
pub use direct::{DirectReading, DirectRequest, DirectSuite, lone_format};
pub use field_map::{CHECKS, FIELDS, FieldMap, PRESETS};
pub use foreign_file::ForeignFile;
pub use format::ImportFormat;
pub use harbor::task_files;
pub use importer::{CodeUse, ImportRequest};
pub use list::MapProposal;
pub use suite_draft::{ImportedSuite, ImportedTargets};

/// Every format, in the order of the docs.
pub static FORMATS: &[&ImportFormat] = &[
    &promptfoo::FORMAT,
    &openai_evals::FORMAT,
    &deepeval::FORMAT,
    &inspect::FORMAT,
    &waza::FORMAT,
    &vally::FORMAT,
    &harbor::FORMAT,
    &langsmith::FORMAT,
    &langfuse::FORMAT,
    &braintrust::FORMAT,
    &ragas::FORMAT,
    &list::FORMAT,
];

/// The format with this name; `_` and `-` are equivalent.
pub fn format_named(name: &str) -> Option<&'static ImportFormat> {
    conversion::format_named(name)
}

/// The codes of this room, file by file: `validate` does not report them.
pub const CODES: &[&[&crate::diagnostic::Code]] = &[importer::CODES, toml_file::CODES];
