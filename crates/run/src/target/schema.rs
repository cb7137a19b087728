//! The JSON Schema of targets files, built from the tables of the providers.

use evalrig_core::model::Value;
use evalrig_core::schema::{
    Document, Draft, ObjectSchema, SchemaBuilder, SchemaMode, Variant, choose, is_named, map, when,
};
use evalrig_core::syntax::fields::{Field, Shape};

use crate::provider::{OTHER_SPELLINGS, PROVIDERS, Provider};
use crate::setting::TARGET_FIELDS;

use super::file::ROOT;

/// An alias has no provider.
pub fn schema(draft: Draft) -> Value {
    let writer = SchemaBuilder::new(draft);
    let variants: Vec<Variant> = PROVIDERS
        .iter()
        .map(|provider| Variant {
            names: spellings(provider).map(str::to_owned).collect(),
            schema: ObjectSchema::new(writer, &[provider.fields]).finish(),
        })
        .collect();
    let target = choose("provider", &variants, None).into_iter().fold(
        ObjectSchema::new(writer, &[TARGET_FIELDS])
            .title("Target")
            .description("An agent, a model, a mock or a recorded run.")
            .need(&["provider", "use_target"]),
        ObjectSchema::rule,
    );
    let names: &'static [&'static str] = provider_names();
    Document::new(draft, "targets.yaml", "Targets that the suites of a repository run against.")
        .define("target", target.finish())
        .define("provider", writer.shape(&Shape::Choice(names)))
        .finish(&ObjectSchema::new(writer, &[ROOT]).finish())
}

/// The same for editors: unknown keys are flagged, and before the provider is known, only it, the name
/// and `use_target` are offered.
pub fn strict_schema(draft: Draft) -> Value {
    let writer = SchemaBuilder::new(draft).in_mode(SchemaMode::Strict);
    let of_provider = PROVIDERS.iter().map(|provider| {
        let tables: &[&'static [Field]] = &[provider.fields, TARGET_FIELDS];
        let options = ObjectSchema::new(writer, tables)
            .description(summary(provider))
            .without(&["use_target"]);
        when(is_named("provider", provider.name), options.finish())
    });
    let alias = map([("type", "object".into()), ("required", vec!["use_target"].into())]);
    let except = |kept: &[&str]| -> Vec<&'static str> {
        let names = TARGET_FIELDS.iter().map(|field| field.name);
        names.filter(|name| !kept.contains(name)).collect()
    };
    let of_alias = ObjectSchema::new(writer, &[TARGET_FIELDS])
        .description("another name for a target")
        .without(&except(&["name", "use_target"]));
    let target = of_provider.chain([when(alias, of_alias.finish())]).fold(
        ObjectSchema::new(writer, &[TARGET_FIELDS])
            .description("an agent, a model, a mock or a recorded run")
            .open()
            .without(&except(&["name", "provider", "use_target"]))
            .need(&["provider", "use_target"]),
        ObjectSchema::rule,
    );
    let docs: Vec<String> = PROVIDERS.iter().map(|provider| summary(provider)).collect();
    let names =
        map([("enum", provider_names().to_vec().into()), ("enumDescriptions", docs.into())]);
    Document::new(draft, "targets.yaml", "Targets that the suites of a repository run against.")
        .without_title()
        .define("target", target.finish())
        .define("provider", names)
        .finish(&ObjectSchema::new(writer, &[ROOT]).finish())
}

/// The first paragraph of the doc as one line.
fn summary(provider: &Provider) -> String {
    provider.doc.split("\n\n").next().unwrap_or("").trim().replace('\n', " ")
}

fn provider_names() -> &'static [&'static str] {
    static NAMES: std::sync::OnceLock<Vec<&'static str>> = std::sync::OnceLock::new();
    NAMES.get_or_init(|| PROVIDERS.iter().flat_map(|provider| spellings(provider)).collect())
}

/// Its name, and those that other tools have for it.
fn spellings(provider: &Provider) -> impl Iterator<Item = &'static str> {
    let name = provider.name;
    let others = OTHER_SPELLINGS.iter().filter(move |(_, ours)| *ours == name);
    std::iter::once(name).chain(others.map(|(other, _)| *other))
}

#[cfg(test)]
mod tests {
    use evalrig_core::diagnostic::Diagnostics;
    use evalrig_core::model::JsonStyle;
    use evalrig_core::source::Sources;
    use evalrig_core::syntax::edit::raw_value;
    use evalrig_core::syntax::parse_yaml;

    use super::super::testing::{fences, read};
    use super::*;

    type Make = fn(Draft) -> Value;

    fn as_json(value: &Value) -> serde_json::Value {
        serde_json::from_str(&value.to_json(JsonStyle::Compact)).unwrap()
    }

    fn parsed(text: &str) -> serde_json::Value {
        let (mut sources, mut out) = (Sources::new(), Diagnostics::new());
        let id = sources.add_file("/p/targets.yaml".into(), text.to_owned(), 0);
        let tree = parse_yaml(id, sources.get(id).shared_text(), &mut out).unwrap();
        as_json(&raw_value(tree.root()))
    }

    /// Whether the schema accepts the file, in both drafts.
    #[track_caller]
    fn accepts(schema: Make, file: &str) -> bool {
        let value = parsed(file);
        let [one, other] = [Draft::D2020, Draft::D07].map(|draft| {
            let validator = jsonschema::validator_for(&as_json(&schema(draft))).unwrap();
            validator.is_valid(&value)
        });
        assert_eq!(one, other, "the drafts differ: {file}");
        one
    }

    #[test]
    fn both_schemas_accept_every_example_of_every_provider() {
        for provider in PROVIDERS {
            for example in fences(provider.doc) {
                assert!(accepts(schema, &example), "{example}");
                assert!(accepts(strict_schema, &example), "{example}");
            }
        }
        let more = "# yaml-language-server: x\n$schema: y\njudge_target: b\nx-mine: 1\ntargets:\n\
            - {name: a, use_target: b, x-why: z}\n\
            - {name: b, provider: openai, model: \"${{ M }}\", timeout_seconds: \"${{ T }}\", \
               x-note: 1, max_retries: 1, price: {input: 1, output: 2}, config: {any: 1}}\n";
        assert!(accepts(strict_schema, more));
    }

    #[test]
    fn editors_flag_keys_that_have_no_effect() {
        for target in [
            "{name: a, provider: mock, response: x, respones: y}",
            "{name: a, provider: mock, response: x, model: y}",
            "{name: a, provider: openai, model: x, timeout: 3}",
            "{name: a, provider: openai, model: x, price: {input: 1, output: 2, cahced: 3}}",
            "{name: a, use_target: b, retries: 1}",
            "{name: a, use_target: b, provider: mock}",
            "{name: a, provider: mokc, response: x}",
            "{name: a}",
        ] {
            let file = format!("targets: [{target}, {{name: b, provider: mock, response: x}}]\n");
            assert!(!accepts(strict_schema, &file), "{target}");
            assert!(!read(&file).out.is_empty(), "`validate` is silent about {target}");
        }
        assert!(!accepts(strict_schema, "target: []\ntargets: [{name: a, use_target: b}]\n"));
    }

    #[test]
    fn editors_are_offered_the_provider_first() {
        let schema = as_json(&strict_schema(Draft::D07));
        let target = &schema["definitions"]["target"];
        let offered = target["properties"].as_object().expect("properties").keys();
        let offered: Vec<&String> = offered.filter(|name| *name != "$schema").collect();
        assert_eq!(offered, ["name", "provider", "use_target"]);
        let providers = &schema["definitions"]["provider"];
        assert_eq!(providers["enum"].as_array().map(Vec::len), Some(provider_names().len()));
        let docs = providers["enumDescriptions"].as_array().expect("one per provider");
        assert!(docs.iter().all(|doc| doc.as_str().is_some_and(|doc| doc.len() > 20)), "{docs:?}");
    }

    #[test]
    fn every_field_of_every_provider_is_described() {
        for draft in [Draft::D2020, Draft::D07] {
            let text = schema(draft).to_json(JsonStyle::Compact);
            let tables = PROVIDERS.iter().map(|provider| provider.fields);
            for field in tables.chain([TARGET_FIELDS, ROOT]).flatten() {
                assert!(text.contains(&format!("\"{}\":", field.name)), "{}", field.name);
            }
        }
    }
}
