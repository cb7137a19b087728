//! A test of promptfoo with everything that it inherits.

use crate::model::{Map, Number};
use crate::source::Span;

use super::super::importer::Importer;
use super::super::located::{Located, LocatedEntry};
use super::super::suite_draft::one_line;
use super::foo_prompt::FooPrompt;

#[derive(Debug)]
pub(super) struct FooTest {
    pub(super) span: Span,
    pub(super) description: Option<String>,
    pub(super) vars: Vec<LocatedEntry>,
    /// Those of `defaultTest`.
    pub(super) default_assertions: Vec<Located>,
    pub(super) own_assertions: Vec<Located>,
    /// The score that the test needs; without it every assertion must pass.
    pub(super) threshold: Option<Number>,
    pub(super) metadata: Map,
    pub(super) repeat: Option<u64>,
    /// What the output passes through before it is checked.
    pub(super) transform: Option<Located>,
    /// The model that grades.
    pub(super) grader: Option<Located>,
    pub(super) prefix: String,
    pub(super) suffix: String,
    /// Lists of texts are one value.
    pub(super) keeps_lists: bool,
    /// The provider of this test alone.
    pub(super) provider: Option<Located>,
    pub(super) providers: Option<Located>,
    prompts: Option<Vec<String>>,
}

/// Keys of `options` that are read; others are options of the provider.
const OPTIONS: &[&str] = &[
    "transform",
    "postprocess",
    "provider",
    "prefix",
    "suffix",
    "repeat",
    "disableVarExpansion",
    "disableDefaultAsserts",
    "disableConversationVar",
    "runSerially",
];

impl FooTest {
    /// `layers` are mappings from the most general one to the test itself; the first is `defaultTest`.
    pub(super) fn merged(importer: &mut Importer<'_>, layers: &[&Located]) -> Self {
        let Some(test) = layers.last().copied() else { unreachable!("a test has itself") };
        let last = |key: &str| layers.iter().rev().find_map(|layer| layer.get(key));
        let options = merged_entries(layers, "options");
        let option =
            |key: &str| options.iter().find(|entry| entry.key == key).map(|entry| &entry.value);
        let is_set = |key: &str| option(key).and_then(Located::as_bool) == Some(true);
        let assertions = |layers: &[&Located]| {
            let lists = layers.iter().filter_map(|layer| layer.get("assert"));
            lists.flat_map(Located::items).cloned().collect::<Vec<Located>>()
        };
        let default =
            if is_set("disableDefaultAsserts") { Vec::new() } else { assertions(&layers[..1]) };
        let mut metadata = Map::new();
        for entry in merged_entries(layers, "metadata") {
            metadata.insert(entry.key, entry.value.value());
        }
        report(importer, layers, &options);
        let text = |key: &str| option(key).and_then(Located::text).unwrap_or_default();
        Self {
            span: test.span.at_start(),
            description: last("description").and_then(Located::text).map(|text| one_line(&text)),
            vars: merged_entries(layers, "vars"),
            default_assertions: default,
            own_assertions: assertions(&layers[1..]),
            threshold: last("threshold").and_then(Located::number),
            metadata,
            repeat: option("repeat").and_then(Located::number).and_then(|count| count.as_u64()),
            transform: option("transform").or_else(|| option("postprocess")).cloned(),
            grader: option("provider").cloned(),
            prefix: text("prefix"),
            suffix: text("suffix"),
            keeps_lists: is_set("disableVarExpansion"),
            provider: last("provider").cloned(),
            providers: last("providers").cloned(),
            prompts: last("prompts").map(Located::texts),
        }
    }

    /// Whether the test runs with this prompt: by its label or id, or by a part of it before `:`.
    pub(super) fn uses_prompt(&self, prompt: &FooPrompt) -> bool {
        let Some(filter) = &self.prompts else { return true };
        let names = [Some(prompt.label.as_str()), prompt.id.as_deref()];
        filter.iter().any(|wanted| {
            let prefix = wanted.trim_end_matches('*');
            names.iter().flatten().any(|name| {
                *name == wanted
                    || (wanted.ends_with('*') && name.starts_with(prefix))
                    || name.strip_prefix(wanted.as_str()).is_some_and(|rest| rest.starts_with(':'))
            })
        })
    }
}

/// The entries of a mapping in all layers; later ones replace earlier ones in their place.
fn merged_entries(layers: &[&Located], key: &str) -> Vec<LocatedEntry> {
    let mut merged: Vec<LocatedEntry> = Vec::new();
    for entry in layers.iter().filter_map(|layer| layer.get(key)).flat_map(Located::entries) {
        match merged.iter_mut().find(|known| known.key == entry.key) {
            Some(known) => *known = entry.clone(),
            None => merged.push(entry.clone()),
        }
    }
    merged
}

fn report(importer: &mut Importer<'_>, layers: &[&Located], options: &[LocatedEntry]) {
    for (key, kind, message) in [
        ("assertScoringFunction", "scoring", "a scoring function of your own is left out"),
        ("providerOutput", "provider", "an answer that is already there is left out"),
    ] {
        if let Some(value) = layers.iter().rev().find_map(|layer| layer.get(key)) {
            importer.loss(kind, value.span, message);
        }
    }
    for entry in options {
        let message = match entry.key.as_str() {
            key if OPTIONS.contains(&key) => continue,
            "storeOutputAs" => "the answer is not handed on to later tests".to_owned(),
            "rubricPrompt" => "the prompt of the judge is left out; evalrig has its own".to_owned(),
            "transformVars" => {
                "`transformVars` is left out: the variables are used as written".to_owned()
            }
            key => format!("`{key}` is left out: options of a provider belong to its target"),
        };
        importer.loss("option", entry.key_span, message);
    }
}
