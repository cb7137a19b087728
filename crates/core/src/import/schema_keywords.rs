//! Which keywords of JSON Schema the script beside a converted suite knows.

use super::importer::Importer;
use super::located::{Located, LocatedData};

const CHECKED: &[&str] = &[
    "$ref",
    "additionalProperties",
    "allOf",
    "anyOf",
    "const",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "items",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "not",
    "oneOf",
    "pattern",
    "properties",
    "required",
    "type",
    "uniqueItems",
];

/// They say nothing about a value.
const NEUTRAL: &[&str] = &[
    "$schema",
    "$id",
    "$comment",
    "$defs",
    "definitions",
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
];

/// Reports the keywords that are not checked.
pub(super) fn report_keywords(importer: &mut Importer<'_>, schema: &Located) {
    for entry in schema.entries() {
        let key = entry.key.as_str();
        if !CHECKED.contains(&key) && !NEUTRAL.contains(&key) {
            let message = format!("the keyword `{key}` of the schema is not checked");
            importer.loss("schema", entry.key_span, message);
        }
        match (key, &entry.value.data) {
            ("properties" | "$defs" | "definitions", LocatedData::Map(inner)) => {
                for entry in inner {
                    report_keywords(importer, &entry.value);
                }
            }
            ("allOf" | "anyOf" | "oneOf", LocatedData::List(inner)) => {
                for schema in inner {
                    report_keywords(importer, schema);
                }
            }
            ("items", LocatedData::List(_)) => {
                let message = "a list under `items` is not checked";
                importer.loss("schema", entry.key_span, message);
            }
            ("items" | "not" | "additionalProperties", LocatedData::Map(_)) => {
                report_keywords(importer, &entry.value);
            }
            _ => {}
        }
    }
}
