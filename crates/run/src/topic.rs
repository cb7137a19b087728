//! What has documentation: diagnostics, assertion types, providers, formats of `convert`, fields and the
//! names of tools, each as a page of Markdown.

use evalrig_core::assertion::{AssertionKind, COMMON_FIELDS, KINDS, kind_named, tools_page};
use evalrig_core::codes::all_codes;
use evalrig_core::diagnostic::Code;
use evalrig_core::import::{FORMATS, ImportFormat, format_named};
use evalrig_core::read::{
    EXECUTION_FIELDS, METADATA_FIELDS, ROOT_FIELDS, TEST_FIELDS, WORKSPACE_FIELDS,
};
use evalrig_core::syntax::fields::{Field, Shape};

use crate::provider::{PROVIDERS, Provider, provider_named};
use crate::setting::TARGET_FIELDS;
use crate::target;

/// Something that has documentation.
#[derive(Debug, Clone, Copy)]
pub enum Topic {
    Diagnostic(&'static Code),
    Assertion(&'static AssertionKind),
    Provider(&'static Provider),
    /// The canonical names of tools.
    Tools,
    Format(&'static ImportFormat),
    Field(FieldTopic),
}

/// A field of the files that people write.
#[derive(Debug, Clone, Copy)]
pub struct FieldTopic {
    pub field: &'static Field,
    /// What has the field, such as `a test`.
    pub of: &'static str,
}

/// The tables of fields that have a page, and what has these fields. Options of one assertion type or one
/// provider are on its page.
const FIELD_TABLES: &[(&str, &[Field])] = &[
    ("a suite", ROOT_FIELDS),
    ("a test", TEST_FIELDS),
    ("`execution`", EXECUTION_FIELDS),
    ("`metadata`", METADATA_FIELDS),
    ("`workspace`", WORKSPACE_FIELDS),
    ("an assertion", COMMON_FIELDS),
    ("a targets file", target::ROOT),
    ("a target", TARGET_FIELDS),
];

/// The name of the page on tools.
pub const TOOLS: &str = "tools";

/// The first sentence of the page on tools, for the index.
pub const TOOLS_DOC: &str = "Names of tools that fit every agent.";

/// Every diagnostic, by name.
pub fn every_code() -> Vec<&'static Code> {
    let mut codes: Vec<&'static Code> = all_codes().chain(crate::codes()).collect();
    codes.sort_by_key(|code| code.name);
    codes
}

/// Everything that has documentation.
pub fn topics() -> Vec<Topic> {
    let diagnostics = every_code().into_iter().map(Topic::Diagnostic);
    let assertions = KINDS.iter().copied().map(Topic::Assertion);
    let providers = PROVIDERS.iter().copied().map(Topic::Provider);
    let formats = FORMATS.iter().copied().map(Topic::Format);
    assertions.chain(providers).chain(formats).chain([Topic::Tools]).chain(diagnostics).collect()
}

/// What has this name, in any case and spelling.
pub fn topics_named(name: &str) -> Vec<Topic> {
    // Suites may spell type names with `_`; here that works for every name.
    let name = name.trim().to_lowercase().replace('_', "-");
    let mut found: Vec<Topic> = Vec::new();
    // The page of `contains` is that of `not-contains` too.
    let kind = kind_named(&name).or_else(|| kind_named(name.strip_prefix("not-")?));
    found.extend(kind.map(Topic::Assertion));
    found.extend(provider_named(&name).map(Topic::Provider));
    found.extend(format_named(&name).map(Topic::Format));
    found.extend(every_code().into_iter().find(|code| code.name == name).map(Topic::Diagnostic));
    found.extend((name == TOOLS).then_some(Topic::Tools));
    found.extend(fields().filter(|one| one.is_spelled(&name)).map(Topic::Field));
    found
}

/// Every field that has a page.
pub fn fields() -> impl Iterator<Item = FieldTopic> {
    let of_table = |(of, table): &(&'static str, &'static [Field])| {
        let of = *of;
        table.iter().map(move |field| FieldTopic { field, of })
    };
    FIELD_TABLES.iter().flat_map(of_table)
}

impl FieldTopic {
    /// With `-` for `_`.
    fn is_spelled(&self, name: &str) -> bool {
        let Field { name: own, old, also, .. } = self.field;
        let mut names = [*own].into_iter().chain(old.iter().copied()).chain(also.iter().copied());
        names.any(|one| one.to_lowercase().replace('_', "-") == name)
    }
}

/// What a field is for, its other spellings and the words that it takes: on its page, and where editors show it.
pub fn field_text(field: &Field) -> String {
    let mut text = sentence(field.doc);
    if !field.also.is_empty() {
        text.push_str(&format!("\n\nAlso written {}.", quoted(field.also)));
    }
    let words = choices(field.shape);
    if !words.is_empty() {
        text.push_str(&format!("\n\nOne of {}.", quoted(&words)));
    }
    text
}

/// The words that a field allows.
pub fn choices(shape: Shape) -> Vec<&'static str> {
    match shape {
        Shape::Choice(words) => words.to_vec(),
        Shape::OneOf(shapes) => shapes.iter().flat_map(|shape| choices(*shape)).collect(),
        _ => Vec::new(),
    }
}

fn sentence(doc: &str) -> String {
    let text = capitalised(doc);
    if text.ends_with('.') { text } else { text + "." }
}

impl Topic {
    pub fn name(&self) -> &'static str {
        match self {
            Self::Diagnostic(code) => code.name,
            Self::Assertion(kind) => kind.name,
            Self::Provider(provider) => provider.name,
            Self::Tools => TOOLS,
            Self::Format(format) => format.name,
            Self::Field(one) => one.field.name,
        }
    }

    pub fn doc(&self) -> &'static str {
        match self {
            Self::Diagnostic(code) => code.doc,
            Self::Assertion(kind) => kind.doc,
            Self::Provider(provider) => provider.doc,
            Self::Tools => TOOLS_DOC,
            Self::Format(format) => format.doc,
            Self::Field(one) => one.field.doc,
        }
    }

    /// The whole page.
    pub fn page(&self) -> String {
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
            Self::Field(FieldTopic { field, of }) => {
                let required = if field.required { ", required" } else { "" };
                format!("# {name}\n\nField of {of}{required}.\n\n{}\n", field_text(field))
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
