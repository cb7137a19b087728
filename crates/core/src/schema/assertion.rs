//! Assert lists: what every assertion takes, then one definition per type.

use crate::assertion::{AssertionKind, COMMON_FIELDS, KINDS, custom_fields};
use crate::model::Value;

use super::keyword::{any_of, list_of, map};
use super::object::ObjectSchema;
use super::shape::SchemaBuilder;
use super::variant::{Variant, choose, spellings};

pub(super) fn definitions(writer: SchemaBuilder) -> Vec<(String, Value)> {
    let entries = any_of(vec![writer.reference("assertion"), question()]);
    let mut definitions = vec![
        ("assertion-list".to_owned(), list_of(entries)),
        ("assertion".to_owned(), entry(writer)),
    ];
    for kind in KINDS {
        definitions.push((definition_of(kind), options(writer, kind)));
    }
    definitions.push(("assertion-custom".to_owned(), custom(writer)));
    definitions
}

fn definition_of(kind: &AssertionKind) -> String {
    format!("assertion-{}", kind.name)
}

fn question() -> Value {
    map([("description", "a statement that a judge checks".into()), ("type", "string".into())])
}

/// Common options that mean the same in every type. A type may have its own of that name.
fn shared() -> Vec<&'static str> {
    let own = |name: &str| {
        let tables = KINDS.iter().map(|kind| kind.fields);
        let mut fields = tables.chain([custom_fields()]).flatten();
        fields.any(|field| field.name == name)
    };
    let names = COMMON_FIELDS.iter().map(|field| field.name);
    names.filter(|name| !own(name)).collect()
}

fn entry(writer: SchemaBuilder) -> Value {
    let shared = shared();
    let names: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
    // Editors offer the built-in names; any other is a type of the author's own.
    let name = any_of(vec![
        map([("enum", names.into())]),
        map([("type", "string".into()), ("minLength", 1_u64.into())]),
    ]);
    let others: Vec<&str> = COMMON_FIELDS
        .iter()
        .map(|field| field.name)
        .filter(|name| !shared.contains(name))
        .collect();
    let variants: Vec<Variant> = KINDS
        .iter()
        .map(|kind| Variant {
            names: [kind.name]
                .iter()
                .chain(kind.aliases)
                .flat_map(|name| spellings(name))
                .collect(),
            schema: writer.reference(&definition_of(kind)),
        })
        .collect();
    let custom = writer.reference("assertion-custom");
    let whole = ObjectSchema::new(writer, &[COMMON_FIELDS])
        .title("Assertion")
        .description("one check of what the agent did")
        .without(&others)
        .replace("type", name);
    choose("type", &variants, Some(custom)).into_iter().fold(whole, ObjectSchema::rule).finish()
}

fn options(writer: SchemaBuilder, kind: &'static AssertionKind) -> Value {
    let summary = kind.doc.split("\n\n").next().unwrap_or("").trim();
    let mut object = ObjectSchema::new(writer, &[kind.fields, COMMON_FIELDS])
        .title(kind.name)
        .without(&shared());
    if !summary.is_empty() {
        object = object.description(summary.replace('\n', " "));
    }
    if !kind.needs_one_of.is_empty() {
        object = object.need(kind.needs_one_of);
    }
    object.finish()
}

fn custom(writer: SchemaBuilder) -> Value {
    ObjectSchema::new(writer, &[custom_fields(), COMMON_FIELDS])
        .title("custom type")
        .description("a check of your own: a script; other keys are its settings")
        .without(&shared())
        .finish()
}
