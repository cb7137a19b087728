//! Rubric items (spec 3.6).

use crate::assertion::ITEM_FIELDS;
use crate::model::Value;

use super::keyword::{any_of, list_of, non_empty_list_of, of_type};
use super::object::ObjectSchema;
use super::shape::SchemaBuilder;

pub(super) fn definitions(writer: SchemaBuilder) -> Vec<(String, Value)> {
    let item = ObjectSchema::new(writer, &[ITEM_FIELDS])
        .title("Rubric item")
        .need(&["outcome", "description", "score_ranges"])
        .finish();
    let entries = any_of(vec![of_type("string"), writer.reference("rubric-item")]);
    vec![
        ("rubric-items".to_owned(), list_of(entries.clone())),
        ("rubric-checks".to_owned(), non_empty_list_of(entries)),
        ("rubric-item".to_owned(), item),
    ]
}
