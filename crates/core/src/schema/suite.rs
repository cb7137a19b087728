//! `EVAL.yaml`: the root, its tests and everything in them.

use crate::model::Value;
use crate::read::{EXECUTION_FIELDS, METADATA_FIELDS, ROOT_FIELDS, TEST_FIELDS};

use super::document::{Document, Draft};
use super::keyword::{any_of, map, matching, non_empty_list_of, not_blank, of_type, when, with};
use super::object::ObjectSchema;
use super::shape::{SchemaBuilder, SchemaMode};
use super::{assertion, message, rubric, workspace};

/// Suites, and files of tests through the definition `test`.
pub fn suite(draft: Draft) -> Value {
    suite_in(SchemaBuilder::new(draft))
}

/// The same for editors.
pub fn strict_suite(draft: Draft) -> Value {
    suite_in(SchemaBuilder::new(draft).in_mode(SchemaMode::Strict))
}

fn suite_in(writer: SchemaBuilder) -> Value {
    let draft = writer.draft;
    let mut document = Document::new(
        draft,
        "EVAL.yaml",
        "A suite of agent evaluations. Tests of an imported file or a JSONL line: the definition `test`.",
    )
    .define("tests", tests(writer))
    .define("test", test(writer))
    .define("execution", execution(writer))
    .define("metadata", metadata(writer));
    if writer.is_strict() {
        document = document.without_title();
    }
    for (name, schema) in message::definitions(writer)
        .into_iter()
        .chain(rubric::definitions(writer))
        .chain(assertion::definitions(writer))
        .chain(workspace::definitions(writer))
    {
        document = document.define(name, schema);
    }
    document.finish(&root(writer))
}

/// `tests` is not needed: it is absent from the sidecar of a JSONL file (spec 2.2).
fn root(writer: SchemaBuilder) -> Value {
    let name = map([
        ("type", "string".into()),
        ("pattern", "^[a-z]([a-z0-9-]*[a-z0-9])?$".into()),
        ("maxLength", 64_u64.into()),
    ]);
    let version = any_of(vec![
        writer.text_that(matching(r"^0*1\.[0-9]+(\.[0-9]+)?$")),
        map([
            ("type", "number".into()),
            ("minimum", 1_u64.into()),
            ("exclusiveMaximum", 2_u64.into()),
        ]),
    ]);
    let description = map([("type", "string".into()), ("maxLength", 2048_u64.into())]);
    ObjectSchema::new(writer, &[ROOT_FIELDS])
        .replace("name", writer.text_that(name))
        .replace("version", version)
        .replace("description", writer.text_that(description))
        .finish()
}

fn path() -> Value {
    map([
        ("description", "path or pattern of files with tests".into()),
        ("type", "string".into()),
        ("minLength", 1_u64.into()),
    ])
}

fn tests(writer: SchemaBuilder) -> Value {
    let entries = any_of(vec![writer.reference("test"), path()]);
    any_of(vec![non_empty_list_of(entries), path()])
}

fn test(writer: SchemaBuilder) -> Value {
    // Any integer is an id; one that tools read differently is only warned of.
    let id = any_of(vec![matching(r"^[^\n\r]*\S[^\n\r]*$"), of_type("integer")]);
    // The suite's own input may be empty, a test's may not.
    let input = any_of(vec![
        not_blank(),
        non_empty_list_of(writer.reference("message")),
        writer.reference("message"),
    ]);
    let attaches_files = with("input_files", of_type("array"));
    let string_or_null = map([("type", vec!["string", "null"].into())]);
    let string_input = map([(
        "properties",
        map([("input", string_or_null.clone()), ("input_messages", string_or_null)]),
    )]);
    ObjectSchema::new(writer, &[TEST_FIELDS])
        .title("Test")
        .description("one task for the agent, and what counts as success")
        .replace("id", id)
        .replace("criteria", not_blank())
        .replace("input", input)
        .replace("skip", skip())
        .need(&["input"])
        .need(&["criteria"])
        .rule(when(attaches_files, string_input))
        .finish()
}

/// `skip: no` must not skip a test for the reason "no".
fn skip() -> Value {
    let words = ["yes", "no", "on", "off", "true", "false"];
    let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
    let spelt: Vec<String> = words
        .iter()
        .flat_map(|word| [(*word).to_owned(), capital(word), word.to_uppercase()])
        .collect();
    let reason = map([("type", "string".into()), ("not", map([("enum", spelt.into())]))]);
    any_of(vec![of_type("boolean"), reason])
}

fn execution(writer: SchemaBuilder) -> Value {
    ObjectSchema::new(writer, &[EXECUTION_FIELDS])
        .title("Execution")
        .description("how tests are run")
        .finish()
}

fn metadata(writer: SchemaBuilder) -> Value {
    ObjectSchema::new(writer, &[METADATA_FIELDS])
        .title("Metadata")
        .description("free data; the keys listed here are reserved")
        .open()
        .finish()
}
