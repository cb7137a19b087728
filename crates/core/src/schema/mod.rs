//! JSON Schemas made from the field tables: a new field or assertion type appears in them by
//! itself. A schema accepts every file that `validate` finds no error in.

mod assertion;
mod document;
mod evals_json;
mod keyword;
mod message;
mod object;
mod rubric;
mod shape;
mod suite;
#[cfg(test)]
mod tests;
mod variant;
mod workspace;

pub use document::{Document, Draft};
pub use evals_json::{
    ENTRY_FIELDS as EVALS_JSON_ENTRY, LIST_KEYS as EVALS_JSON_LISTS,
    ROOT_FIELDS as EVALS_JSON_ROOT, evals_json,
};
pub use keyword::{any_of, list_of, map, matching, of_type, when};
pub use object::ObjectSchema;
pub use shape::{SchemaBuilder, SchemaMode};
pub use suite::{strict_suite, suite};
pub use variant::{Variant, choose, is_named, spellings};
