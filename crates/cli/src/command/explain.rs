//! `explain`: prints the documentation of diagnostics, assertion types, providers, formats and fields.

use evalrig_core::assertion::{KINDS, TOOL_FAMILIES};
use evalrig_core::diagnostic::did_you_mean;
use evalrig_core::import::FORMATS;
use evalrig_core::model::{JsonStyle, Map, Value};
use evalrig_core::syntax::fields::Field;
use evalrig_run::provider::PROVIDERS;
use evalrig_run::topic::{TOOLS, TOOLS_DOC, Topic, every_code, fields, topics, topics_named};

use crate::args::{Explain, TextOrJson};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::{print_json, print_text};

pub fn run(args: &Explain) -> Result<Exit, CommandError> {
    let found = match &args.name {
        None => topics(),
        Some(name) => topics_named(name),
    };
    if let (Some(name), true) = (&args.name, found.is_empty()) {
        return Err(CommandError::CouldNotStart(unknown(name)));
    }
    match (args.format, &args.name) {
        (TextOrJson::Json, _) => print_json(&as_json(&found))?,
        (TextOrJson::Text, None) => print_text(&index())?,
        (TextOrJson::Text, Some(_)) => {
            let pages: Vec<String> = found.iter().map(Topic::page).collect();
            print_text(&pages.join("\n"))?;
        }
    }
    Ok(Exit::Success)
}

fn unknown(name: &str) -> String {
    let named = topics().into_iter().chain(fields().map(Topic::Field));
    let known: Vec<&str> = named.map(|topic| topic.name()).collect();
    match did_you_mean(&name.to_lowercase(), known) {
        Some(near) => format!("unknown name `{name}`; did you mean `{near}`?"),
        None => format!("unknown name `{name}`; `evalrig explain` lists all names"),
    }
}

fn index() -> String {
    let mut text = String::from("# Assertion types\n\n");
    for kind in KINDS {
        text.push_str(&entry(kind.name, kind.doc));
    }
    text.push_str("\n# Target providers\n\n");
    for provider in PROVIDERS {
        text.push_str(&entry(provider.name, provider.doc));
    }
    text.push_str("\n# Formats of `convert`\n\n");
    for format in FORMATS {
        text.push_str(&entry(format.name, format.doc));
    }
    text.push_str("\n# Other\n\n");
    text.push_str(&entry(TOOLS, TOOLS_DOC));
    text.push_str("\n# Diagnostics\n\n");
    for code in every_code() {
        text.push_str(&entry(code.name, code.doc));
    }
    text + "\n`evalrig explain NAME` prints the whole page, also of a field such as `criteria`.\n"
}

/// A name and the first sentence of its documentation.
fn entry(name: &str, doc: &str) -> String {
    format!("{name:<28} {}\n", first_sentence(doc))
}

pub(crate) fn first_sentence(doc: &str) -> String {
    let mut paragraph = doc.trim().split("\n\n").next().unwrap_or("").replace('\n', " ");
    let end = paragraph.find(". ").map_or(paragraph.len(), |at| at + 1);
    paragraph.truncate(end);
    paragraph
}

fn as_json(topics: &[Topic]) -> String {
    let list: Vec<Value> = topics.iter().map(topic_json).collect();
    let mut root = Map::new();
    root.insert("schemaVersion", 1u64);
    root.insert("topics", list);
    Value::Map(root).to_json(JsonStyle::Pretty) + "\n"
}

fn topic_json(topic: &Topic) -> Value {
    let mut map = Map::new();
    map.insert("name", topic.name());
    match topic {
        Topic::Diagnostic(code) => {
            map.insert("kind", "diagnostic");
            map.insert("level", code.level.severity().word());
            map.insert("blocks", code.level.blocks().to_vec());
            map.insert("family", code.family.word());
        }
        Topic::Assertion(kind) => {
            map.insert("kind", "assertion");
            map.insert("aliases", kind.aliases.to_vec());
            map.insert("options", field_list(kind.fields));
        }
        Topic::Provider(provider) => {
            map.insert("kind", "provider");
            map.insert("options", field_list(provider.fields));
        }
        Topic::Tools => {
            map.insert("kind", "tools");
            let families = TOOL_FAMILIES.iter().map(|family| {
                let tools = family.tools.iter();
                let tools =
                    tools.map(|(agent, tools)| ((*agent).to_owned(), tools.to_vec().into()));
                let tools: Map = tools.collect();
                Value::from(Map::new().with("name", family.name).with("tools", tools))
            });
            map.insert("families", families.collect::<Vec<_>>());
        }
        Topic::Format(_) => map.insert("kind", "format"),
        Topic::Field(one) => {
            map.insert("kind", "field");
            map.insert("of", one.of);
            map.insert("required", one.field.required);
        }
    }
    map.insert("doc", topic.doc());
    map.into()
}

fn field_list(fields: &[Field]) -> Vec<Value> {
    fields
        .iter()
        .map(|field| {
            let mut map = Map::new();
            map.insert("name", field.name);
            map.insert("required", field.required);
            map.insert("doc", field.doc);
            map.into()
        })
        .collect()
}
