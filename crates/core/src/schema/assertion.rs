//! Assert lists: what every assertion takes, then one definition per type.

use crate::assertion::{AssertionKind, COMMON_FIELDS, KINDS, UnknownKeys, custom_fields};
use crate::model::Value;
use crate::syntax::fields::Field;

use super::keyword::{any_of, list_of, map, non_empty_list_of, when};
use super::object::ObjectSchema;
use super::shape::SchemaBuilder;
use super::variant::{Variant, choose, is_named, spellings};

pub(super) fn definitions(writer: SchemaBuilder) -> Vec<(String, Value)> {
    let entries = any_of(vec![writer.reference("assertion"), question()]);
    let whole = if writer.is_strict() { strict_entry(writer) } else { entry(writer) };
    let mut definitions = vec![
        ("assertion-list".to_owned(), list_of(entries.clone())),
        ("assertion-members".to_owned(), non_empty_list_of(entries)),
        ("assertion".to_owned(), whole),
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

/// Only `type` until it is known: then the definition of the type has all keys.
fn strict_entry(writer: SchemaBuilder) -> Value {
    let names: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
    let docs: Vec<String> = KINDS.iter().map(|kind| summary(kind)).collect();
    let known = map([("enum", names.into()), ("enumDescriptions", docs.into())]);
    let name = any_of(vec![known, map([("type", "string".into()), ("minLength", 1_u64.into())])]);
    let is_kind = |pattern: String| is_named("type", &format!("(not[-_])?({pattern})"));
    let rules = KINDS
        .iter()
        .map(|kind| when(is_kind(pattern_of(kind)), writer.reference(&definition_of(kind))));
    let all: Vec<String> = KINDS.iter().map(|kind| pattern_of(kind)).collect();
    let own = map([
        ("type", "object".into()),
        ("required", vec!["type"].into()),
        ("not", is_kind(all.join("|"))),
    ]);
    let custom = when(own, writer.reference("assertion-custom"));
    let type_only: &'static [Field] = &COMMON_FIELDS[..1];
    let whole = ObjectSchema::new(writer, &[type_only])
        .description("one check of what the agent did")
        .open()
        .replace("type", name);
    rules.chain([custom]).fold(whole, ObjectSchema::rule).finish()
}

/// All names of a type; each `-` may be written as `_`.
fn pattern_of(kind: &AssertionKind) -> String {
    let names = [kind.name].into_iter().chain(kind.aliases.iter().copied());
    names.map(|name| name.replace('-', "[-_]")).collect::<Vec<_>>().join("|")
}

/// The first paragraph of the doc as one line.
fn summary(kind: &AssertionKind) -> String {
    kind.doc.split("\n\n").next().unwrap_or("").trim().replace('\n', " ")
}

fn options(writer: SchemaBuilder, kind: &'static AssertionKind) -> Value {
    let summary = summary(kind);
    let tables: &[&'static [Field]] = &[kind.fields, COMMON_FIELDS];
    let mut object = ObjectSchema::new(writer, tables).title(kind.name);
    if !writer.is_strict() {
        object = object.without(&shared());
    }
    if kind.unknown_keys == UnknownKeys::Config {
        object = object.open();
    }
    if !summary.is_empty() {
        object = object.description(summary);
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
        .open()
        .without(&shared())
        .finish()
}
