//! The JSON Schema of targets files, built from the tables of the providers.

use evalrig_core::model::Value;
use evalrig_core::schema::{Document, Draft, ObjectSchema, SchemaBuilder, Variant, choose};
use evalrig_core::syntax::fields::Shape;

use crate::provider::{PROVIDERS, Provider};
use crate::setting::TARGET_FIELDS;

use super::file::ROOT;

/// An alias has no provider.
pub fn schema(draft: Draft) -> Value {
    let writer = SchemaBuilder::new(draft);
    let variants: Vec<Variant> = PROVIDERS
        .iter()
        .map(|provider| Variant {
            names: vec![provider.name.to_owned()],
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

fn provider_names() -> &'static [&'static str] {
    static NAMES: std::sync::OnceLock<Vec<&'static str>> = std::sync::OnceLock::new();
    NAMES.get_or_init(|| PROVIDERS.iter().map(|provider: &&Provider| provider.name).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use evalrig_core::model::JsonStyle;

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
