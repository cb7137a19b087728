//! One entry of an evals.json: prompt, files, expected output and assertions (spec 15).

use crate::diagnostic::{Diagnostic, Level};
use crate::model::{Block, Expected, Map, Message, Role, RubricItem, Value};
use crate::reader::{Reader, short_span, wrong_type};
use crate::syntax::fields::CONFLICTING_FIELDS;
use crate::syntax::{Node, Scalar};

use super::input::{EMPTY_INPUT, MISSING_INPUT, file_ref};

const PROMPT_KEYS: &[&str] = &["prompt", "query", "input", "task"];
const ASSERTION_KEYS: &[&str] = &["assertions", "expectations", "expected_behavior"];

pub(super) fn read_prompt(reader: &mut Reader<'_>, entry: Node<'_>) -> Option<Message> {
    let found = PROMPT_KEYS.iter().find_map(|key| {
        let node = entry.get(key).filter(|node| !node.is_null())?;
        Some((*key, node))
    });
    let Some((key, node)) = found else {
        let message = "this entry has no `prompt`";
        return reader.refuse(Diagnostic::new(&MISSING_INPUT, short_span(entry), message));
    };
    let text = reader.text_of(key, node)?.into_owned();
    if text.trim().is_empty() {
        return reader.refuse(Diagnostic::new(
            &EMPTY_INPUT,
            node.span(),
            format!("`{key}` is blank"),
        ));
    }
    let mut content = read_files(reader, entry)?;
    content.push(Block::Text(text));
    Some(Message::new(Role::User, content))
}

fn read_files(reader: &mut Reader<'_>, entry: Node<'_>) -> Option<Vec<Block>> {
    let Some(list) = entry.get("files").filter(|node| !node.is_null()) else {
        return Some(Vec::new());
    };
    if !list.is_sequence() {
        return reader.refuse(wrong_type("files", list, "a list of paths"));
    }
    let blocks: Vec<Option<Block>> = list.items().map(|item| read_file(reader, item)).collect();
    blocks.into_iter().collect()
}

/// A path, `{path}`, or `{name, content}`.
fn read_file(reader: &mut Reader<'_>, item: Node<'_>) -> Option<Block> {
    if let Some(Scalar::Str(text)) = item.scalar() {
        return Some(Block::File(file_ref(reader, text.to_owned(), item.span())));
    }
    if let Some(path) = item.get("path") {
        let text = reader.text_of("path", path)?.into_owned();
        return Some(Block::File(file_ref(reader, text, path.span())));
    }
    match (item.get("name"), item.get("content")) {
        (Some(name), Some(content)) => {
            let name = reader.text_of("name", name)?;
            let content = reader.text_of("content", content)?;
            Some(Block::Text(format!("{name}:\n{content}")))
        }
        _ => {
            let wants = "a path, a mapping with `path`, or one with `name` and `content`";
            reader.refuse(wrong_type("an item of files", item, wants))
        }
    }
}

pub(super) fn read_expected(reader: &mut Reader<'_>, entry: Node<'_>) -> Option<Expected> {
    let node = entry.get("expected_output").filter(|node| !node.is_null())?;
    Some(match reader.value("expected_output", node) {
        Value::String(text) => Expected::Text(text),
        Value::Number(number) => Expected::Text(number.text().to_owned()),
        Value::Bool(value) => Expected::Text(value.to_string()),
        value => Expected::Structured(value),
    })
}

/// `Some(None)` when there are none, `None` when they are wrong.
pub(super) fn read_assertions(
    reader: &mut Reader<'_>,
    entry: Node<'_>,
) -> Option<Option<Vec<RubricItem>>> {
    let written: Vec<(&str, Node<'_>)> = ASSERTION_KEYS
        .iter()
        .filter_map(|key| Some((*key, entry.get(key).filter(|node| !node.is_null())?)))
        .collect();
    if let [(first, _), (second, node), ..] = written.as_slice() {
        let message =
            format!("`{first}` and `{second}` are two spellings of one field; they are combined");
        let diagnostic = Diagnostic::new(&CONFLICTING_FIELDS, short_span(*node), message);
        reader.report(diagnostic.level(Level::Warning).help("keep one of them"));
    }
    if written.is_empty() {
        return Some(None);
    }
    let mut items: Vec<RubricItem> = Vec::new();
    for (key, list) in written {
        if !list.is_sequence() {
            return reader.refuse(wrong_type(key, list, "a list of strings"));
        }
        for item in list.items() {
            let next = read_item(reader, key, item, items.len() + 1)?;
            let repeats = items.iter().any(|known| known.outcome == next.outcome);
            if !repeats {
                items.push(next);
            }
        }
    }
    make_ids_unique(&mut items);
    Some(Some(items))
}

fn read_item(
    reader: &mut Reader<'_>,
    key: &str,
    item: Node<'_>,
    position: usize,
) -> Option<RubricItem> {
    if item.is_mapping() {
        const TEXTS: &[&str] = &["text", "description", "criteria", "assertion", "name", "id"];
        let text = TEXTS.iter().find_map(|name| {
            let node = item.get(name)?;
            match node.scalar() {
                Some(Scalar::Str(text)) => Some(text.to_owned()),
                _ => None,
            }
        });
        if let Some(text) = text {
            let mut found = RubricItem::from_text(text, position);
            if let Some(Scalar::Str(id) | Scalar::Int(id)) = item.get("id").and_then(Node::scalar)
                && !id.trim().is_empty()
            {
                found.id = id.to_owned();
                found.id_written = true;
            }
            return Some(found);
        }
        return reader.refuse(wrong_type(
            &format!("an item of {key}"),
            item,
            "a string, or a mapping with `text`",
        ));
    }
    let text = reader.text_of(&format!("an item of {key}"), item)?;
    Some(RubricItem::from_text(text.into_owned(), position))
}

/// Ids of other tools need not be unique; ours must be.
fn make_ids_unique(items: &mut [RubricItem]) {
    for at in 0..items.len() {
        let is_taken = |id: &str| items[..at].iter().any(|earlier| earlier.id == id);
        if is_taken(&items[at].id) {
            // An earlier item may already have that name; try the next numbers.
            let mut names = (at + 1..).map(|number| format!("rubric-{number}"));
            items[at].id = names.find(|name| !is_taken(name)).unwrap_or_default();
            items[at].id_written = false;
        }
    }
}

/// The name of an eval beside its id.
pub(super) fn own_name(entry: Node<'_>) -> Option<String> {
    text_at(entry, "name")
}

pub(super) fn read_description(entry: Node<'_>) -> Option<String> {
    let texts: Vec<String> =
        ["name", "description"].iter().filter_map(|key| text_at(entry, key)).collect();
    (!texts.is_empty()).then(|| texts.join(": "))
}

fn text_at(entry: Node<'_>, key: &str) -> Option<String> {
    match entry.get(key)?.scalar() {
        Some(Scalar::Str(text)) => Some(text.to_owned()),
        _ => None,
    }
}

/// Everything the mapping does not name.
pub(super) fn other_keys(reader: &mut Reader<'_>, entry: Node<'_>) -> Map {
    let prompt = PROMPT_KEYS.iter().find(|key| entry.get(key).is_some_and(|node| !node.is_null()));
    let known = ["id", "files", "expected_output", "should_trigger", "name", "description"];
    entry
        .written_entries()
        .filter_map(|(key, value)| {
            let name = key.scalar_text()?;
            let is_known = known.contains(&name)
                || ASSERTION_KEYS.contains(&name)
                || prompt.is_some_and(|prompt| *prompt == name);
            (!is_known).then(|| (name.to_owned(), reader.value(name, value)))
        })
        .collect()
}
