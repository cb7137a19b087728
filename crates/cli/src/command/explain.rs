//! `explain`: prints the documentation of diagnostics, assertion types, providers and formats.

use evalrig_core::assertion::{
    AssertionKind, COMMON_FIELDS, KINDS, TOOL_FAMILIES, kind_named, tools_page,
};
use evalrig_core::codes::all_codes;
use evalrig_core::diagnostic::{Code, did_you_mean};
use evalrig_core::import::{FORMATS, ImportFormat, format_named};
use evalrig_core::model::{JsonStyle, Map, Value};
use evalrig_core::syntax::fields::Field;
use evalrig_run::provider::{PROVIDERS, Provider, provider_named};
use evalrig_run::setting::TARGET_FIELDS;

use crate::args::{Explain, TextOrJson};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::{print_json, print_text};

/// Something that has documentation.
#[derive(Debug, Clone, Copy)]
enum Topic {
    Diagnostic(&'static Code),
    Assertion(&'static AssertionKind),
    Provider(&'static Provider),
    /// The canonical names of tools.
    Tools,
    Format(&'static ImportFormat),
}

const TOOLS: &str = "tools";

/// The first sentence of the page on tools, for the index.
const TOOLS_DOC: &str = "Names of tools that fit every agent.";

pub fn run(args: &Explain) -> Result<Exit, CommandError> {
    let found = match &args.name {
        None => topics(),
        Some(name) => named(name),
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

fn codes() -> Vec<&'static Code> {
    let mut codes: Vec<&'static Code> = all_codes().chain(evalrig_run::codes()).collect();
    codes.sort_by_key(|code| code.name);
    codes
}

fn topics() -> Vec<Topic> {
    let diagnostics = codes().into_iter().map(Topic::Diagnostic);
    let assertions = KINDS.iter().copied().map(Topic::Assertion);
    let providers = PROVIDERS.iter().copied().map(Topic::Provider);
    let formats = FORMATS.iter().copied().map(Topic::Format);
    assertions.chain(providers).chain(formats).chain([Topic::Tools]).chain(diagnostics).collect()
}

fn named(name: &str) -> Vec<Topic> {
    // Suites may spell type names with `_`; here that works for every name.
    let name = name.trim().to_lowercase().replace('_', "-");
    let mut found: Vec<Topic> = Vec::new();
    found.extend(kind_named(&name).map(Topic::Assertion));
    found.extend(provider_named(&name).map(Topic::Provider));
    found.extend(format_named(&name).map(Topic::Format));
    found.extend(codes().into_iter().find(|code| code.name == name).map(Topic::Diagnostic));
    found.extend((name == TOOLS).then_some(Topic::Tools));
    found
}

fn unknown(name: &str) -> String {
    let known: Vec<&str> = topics().iter().map(Topic::name).collect();
    match did_you_mean(&name.to_lowercase(), known) {
        Some(near) => format!("nothing is named `{name}`; did you mean `{near}`?"),
        None => format!("nothing is named `{name}`; `evalrig explain` lists everything"),
    }
}

impl Topic {
    fn name(&self) -> &'static str {
        match self {
            Self::Diagnostic(code) => code.name,
            Self::Assertion(kind) => kind.name,
            Self::Provider(provider) => provider.name,
            Self::Tools => TOOLS,
            Self::Format(format) => format.name,
        }
    }

    fn doc(&self) -> &'static str {
        match self {
            Self::Diagnostic(code) => code.doc,
            Self::Assertion(kind) => kind.doc,
            Self::Provider(provider) => provider.doc,
            Self::Tools => TOOLS_DOC,
            Self::Format(format) => format.doc,
        }
    }

    fn page(&self) -> String {
        let name = self.name();
        let doc = self.doc().trim();
        match self {
            Self::Diagnostic(code) => format!(
                "# {name}\n\n{} ({}).\n\n{doc}\n",
                capitalised(code.level.sentence()),
                code.family.word()
            ),
            Self::Assertion(kind) => {
                let also = match kind.aliases {
                    [] => String::new(),
                    names => format!(" Also written {}.", quoted(names)),
                };
                let own = options("Options", kind.fields);
                let common = options("Options of every assertion", COMMON_FIELDS);
                format!("# {name}\n\nAssertion type.{also}\n\n{doc}\n\n{own}{common}")
            }
            Self::Provider(provider) => {
                let own = options("Options", provider.fields);
                let common = options("Options of every target", TARGET_FIELDS);
                format!("# {name}\n\nTarget provider.\n\n{doc}\n\n{own}{common}")
            }
            Self::Tools => format!("# {name}\n\n{doc}\n\n{}", tools_page()),
            Self::Format(_) => {
                let command = format!("`evalrig convert FILE --from {name} -o EVAL.yaml`");
                format!("# {name}\n\nFormat of `convert`: {command}.\n\n{doc}\n")
            }
        }
    }
}

fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    match characters.next() {
        Some(first) => first.to_uppercase().chain(characters).collect(),
        None => String::new(),
    }
}

fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn options(title: &str, fields: &[Field]) -> String {
    if fields.is_empty() {
        return String::new();
    }
    let mut text = format!("## {title}\n\n");
    for field in fields {
        let mark = if field.required { " (required)" } else { "" };
        let also = match field.also {
            [] => String::new(),
            names => format!(" (also {})", quoted(names)),
        };
        text.push_str(&format!("- `{}`{mark}{also}: {}\n", field.name, field.doc));
    }
    text + "\n"
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
    for code in codes() {
        text.push_str(&entry(code.name, code.doc));
    }
    text + "\n`evalrig explain NAME` prints the whole page.\n"
}

/// A name and the first sentence of its documentation.
fn entry(name: &str, doc: &str) -> String {
    let paragraph = doc.trim().split("\n\n").next().unwrap_or("").replace('\n', " ");
    let end = paragraph.find(". ").map_or(paragraph.len(), |at| at + 1);
    format!("{name:<28} {}\n", &paragraph[..end])
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
