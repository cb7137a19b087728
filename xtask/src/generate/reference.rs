//! Pages of `docs/reference`, generated from the docs and tables in the code.

use std::fmt::Write as _;

use evalrig_core::assertion::{COMMON_FIELDS, ITEM_FIELDS, KINDS, tools_page};
use evalrig_core::codes::all_codes;
use evalrig_core::diagnostic::Code;
use evalrig_core::import::FORMATS;
use evalrig_core::read::{
    BLOCK_FIELDS, EXECUTION_FIELDS, MESSAGE_FIELDS, METADATA_FIELDS, ROOT_FIELDS, TEST_FIELDS,
    TOOL_CALL_FIELDS, WORKSPACE_FIELDS, WORKSPACE_HOOK_FIELDS, WORKSPACE_REPO_FIELDS,
};
use evalrig_core::syntax::fields::{Field, Shape};
use evalrig_run::provider::PROVIDERS;
use evalrig_run::setting::TARGET_FIELDS;

use super::Generated;

/// The mappings of a suite file, from the outside inwards.
const MAPPINGS: &[(&str, &str, &[Field])] = &[
    ("Suite", "The root of an `EVAL.yaml`.", ROOT_FIELDS),
    ("Test", "One entry of `tests`.", TEST_FIELDS),
    ("Message", "One entry of a list in `input` or `expected_output`.", MESSAGE_FIELDS),
    ("Content block", "One entry of a message's `content`.", BLOCK_FIELDS),
    ("Tool call", "One entry of a message's `tool_calls`.", TOOL_CALL_FIELDS),
    ("Rubric item", "One entry of `rubrics` that is a mapping.", ITEM_FIELDS),
    ("Execution", "The mapping `execution`.", EXECUTION_FIELDS),
    ("Workspace", "The mapping `workspace`, of the suite or of a test.", WORKSPACE_FIELDS),
    ("Repository", "One entry of `repos` of a workspace.", WORKSPACE_REPO_FIELDS),
    ("Hook", "A command of a workspace that is a mapping.", WORKSPACE_HOOK_FIELDS),
    (
        "Metadata",
        "Free data; these keys of the suite's own `metadata` are reserved.",
        METADATA_FIELDS,
    ),
    ("Assertion", "What every assertion takes besides the options of its type.", COMMON_FIELDS),
];

pub(super) fn files() -> Vec<Generated> {
    [
        ("assertions", assertions()),
        ("diagnostics", diagnostics()),
        ("fields", fields()),
        ("formats", formats()),
        ("providers", providers()),
        ("tools", head("Tools", std::iter::empty()) + &tools_page()),
    ]
    .into_iter()
    .map(|(name, text)| Generated {
        path: format!("docs/reference/{name}.md").into(),
        content: (text.trim_end().to_owned() + "\n").into(),
    })
    .collect()
}

/// A title, a line that says where the page comes from, and its contents.
fn head(title: &str, names: impl Iterator<Item = &'static str>) -> String {
    let mut text = format!(
        "# {title}\n\n<!-- Made by `cargo xtask bless`; edit the doc beside the code. -->\n\n"
    );
    for name in names {
        let anchor = name.to_lowercase().replace(' ', "-");
        let _ = writeln!(text, "- [{name}](#{anchor})");
    }
    text + "\n"
}

fn assertions() -> String {
    let mut page = head("Assertion types", KINDS.iter().map(|kind| kind.name));
    for kind in KINDS {
        let _ = write!(page, "## {}\n\n", kind.name);
        if !kind.aliases.is_empty() {
            let _ = write!(page, "Also written {}.\n\n", quoted(kind.aliases));
        }
        let _ = write!(page, "{}\n\n{}", lowered(kind.doc), table(kind.fields));
    }
    let _ = write!(page, "## Options of every assertion\n\n{}", table(COMMON_FIELDS));
    page
}

fn providers() -> String {
    let mut page = head("Target providers", PROVIDERS.iter().map(|provider| provider.name));
    for provider in PROVIDERS {
        let doc = lowered(provider.doc);
        let table = table(provider.fields);
        let _ = write!(page, "## {}\n\n{doc}\n\n{table}", provider.name);
    }
    let _ = write!(page, "## Options of every target\n\n{}", table(TARGET_FIELDS));
    page
}

fn formats() -> String {
    let mut page = head("Formats of `convert`", FORMATS.iter().map(|format| format.name));
    for format in FORMATS {
        let _ = write!(page, "## {}\n\n{}\n\n", format.name, lowered(format.doc));
    }
    page
}

fn diagnostics() -> String {
    let mut codes: Vec<&'static Code> = all_codes().chain(evalrig_run::codes()).collect();
    codes.sort_by_key(|code| code.name);
    let mut page = head("Diagnostics", codes.iter().map(|code| code.name));
    for code in codes {
        let _ = write!(
            page,
            "## {}\n\n*{} ({}).*\n\n{}\n\n",
            code.name,
            capitalised(code.level.sentence()),
            code.family.word(),
            lowered(code.doc)
        );
    }
    page
}

fn fields() -> String {
    let mut page = head("Fields", MAPPINGS.iter().map(|(title, ..)| *title));
    for (title, doc, fields) in MAPPINGS {
        let _ = write!(page, "## {title}\n\n{doc}\n\n{}", table(fields));
    }
    page
}

/// The doc's own headings, one step further down; `#` inside a fenced block is a comment.
fn lowered(doc: &str) -> String {
    let mut is_fenced = false;
    let lines = doc.trim().lines().map(|line| {
        is_fenced ^= line.starts_with("```");
        if line.starts_with('#') && !is_fenced { format!("#{line}") } else { line.to_owned() }
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    match characters.next() {
        Some(first) => first.to_uppercase().chain(characters).collect(),
        None => String::new(),
    }
}

fn quoted(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

fn table(fields: &[Field]) -> String {
    if fields.is_empty() {
        return String::new();
    }
    let mut text = String::from("| field | takes | meaning |\n|---|---|---|\n");
    for field in fields {
        let _ = writeln!(
            text,
            "| `{}`{} | {} | {} |",
            field.name,
            if field.required { " (required)" } else { "" },
            cell(&words(&field.shape)),
            cell(&meaning(field))
        );
    }
    text + "\n"
}

fn meaning(field: &Field) -> String {
    let mut text = field.doc.to_owned();
    for (says, names) in [("also", field.also), ("old", field.old)] {
        if !names.is_empty() {
            let _ = write!(text, " ({says}: {})", quoted(names));
        }
    }
    text
}

/// A bar would end the cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

/// What a field takes, in words.
fn words(shape: &Shape) -> String {
    match shape {
        Shape::Any => "anything".to_owned(),
        Shape::Text | Shape::NonEmptyText => "text".to_owned(),
        Shape::TextOrScalar => "text, number or boolean".to_owned(),
        Shape::Boolean => "boolean".to_owned(),
        Shape::Integer { min, max } => match *max {
            u64::MAX => format!("integer ≥ {min}"),
            max => format!("integer {min}–{max}"),
        },
        Shape::Number { min, max } => match (*min > f64::MIN, *max < f64::MAX) {
            (true, true) => format!("number {min}–{max}"),
            (true, false) => format!("number ≥ {min}"),
            (false, true) => format!("number ≤ {max}"),
            (false, false) => "number".to_owned(),
        },
        Shape::PositiveFraction => "number above 0, at most 1".to_owned(),
        Shape::Choice(names) => quoted(names),
        Shape::Map => "mapping".to_owned(),
        Shape::MapOf(values) => format!("mapping of {}", words(values)),
        Shape::List(items) => format!("list of {}", words(items)),
        Shape::NonEmptyList(items) => format!("non-empty list of {}", words(items)),
        Shape::OneOf(shapes) => {
            let mut all: Vec<String> = shapes.iter().map(words).collect();
            all.dedup();
            all.join(", or ")
        }
        Shape::Fields(fields) => {
            let names: Vec<&str> = fields.iter().map(|field| field.name).collect();
            format!("mapping with {}", quoted(&names))
        }
        Shape::Ref(name) => linked(name),
    }
}

/// A definition of the schema, with the page that tells more about it.
fn linked(name: &str) -> String {
    match name {
        "tests" => "list of [tests](fields.md#test) and paths, or one path",
        "assertion" => "[assertion](assertions.md)",
        "assertion-list" | "assertion-members" => "list of [assertions](assertions.md)",
        "content" => "text, or list of [blocks](fields.md#content-block)",
        "execution" => "[execution](fields.md#execution)",
        "expected-output" => "text, [messages](fields.md#message), or any data",
        "input" => "text, or list of [messages](fields.md#message)",
        "metadata" => "[metadata](fields.md#metadata)",
        "rubric-items" | "rubric-checks" => {
            "list of texts and [rubric items](fields.md#rubric-item)"
        }
        "tool-call" => "[tool call](fields.md#tool-call)",
        "workspace" => "[workspace](fields.md#workspace), or a path",
        "workspace-hook" => "command as a list or a text, or a [hook](fields.md#hook)",
        "workspace-repo" => "[repositories](fields.md#repository)",
        other => return other.replace('-', " "),
    }
    .to_owned()
}
