//! Text → spanned tree. Parsing never panics and never gives up without a place.

pub(crate) mod codes;
mod csv;
pub mod edit;
mod emit;
mod emit_scalar;
mod encoding;
pub mod fields;
mod harmful;
mod json;
mod json_value;
mod jsonl;
mod load;
mod lone;
mod merge;
mod omitted;
mod scalar;
mod tree;
mod yaml;
mod yaml_error;

pub use csv::parse_csv;
pub use emit::{EmitStyle, LineBreaks, to_yaml, to_yaml_with_anchors};
pub use emit_scalar::is_one_line_text;
pub(crate) use encoding::FILE_LIMIT;
pub use encoding::{DecodeError, decode};
pub use harmful::{INTERNAL_MARK, is_harmful};
pub(crate) use json::explain as explain_json;
pub use json::{JsonError, JsonErrorKind, parse_json};
pub use json_value::{JsonFault, json_value, lenient_json_value};
pub(crate) use json_value::{first_json_value, plain_value};
pub(crate) use jsonl::LINE_LIMIT;
pub use jsonl::{JsonLines, Line};
pub use load::{read_source, unreadable};
pub use lone::lone_tree;
pub use scalar::Scalar;
pub(crate) use scalar::resolve_plain;
pub(crate) use tree::ScalarStyle;
pub use tree::{Kind, Node, Tree};
pub use yaml::parse_yaml;

/// The codes of this room, file by file.
pub const CODES: &[&[&crate::diagnostic::Code]] =
    &[codes::CODES, csv::CODES, fields::CODES, load::CODES];

/// Deeper nesting than this is refused (spec 2.6).
pub(crate) const DEPTH_LIMIT: usize = 128;
