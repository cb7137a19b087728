//! Variables of a test: lists are expanded, files are read, and references between them are resolved.

use camino::Utf8Path;

use crate::model::{JsonStyle, Map, Value, to_base64};
use crate::source::Span;

use super::super::importer::Importer;
use super::super::located::{Located, LocatedData};
use super::super::template::{has_open_tag, js_string, render};
use super::file_value::{FileKind, FileReference};
use super::foo_test::FooTest;

/// How often references between variables are followed.
const ROUNDS: usize = 5;

/// Every combination of the values of the variables.
pub(super) fn combinations(
    importer: &mut Importer<'_>,
    test: &FooTest,
    directory: &Utf8Path,
) -> Vec<Map> {
    let mut found = vec![Map::new()];
    for entry in &test.vars {
        let values = values(importer, &entry.value, test.keeps_lists, directory);
        let mut next = Vec::with_capacity(found.len() * values.len());
        for combination in &found {
            for value in &values {
                next.push(combination.clone().with(entry.key.as_str(), value.clone()));
            }
            if next.len() > super::MOST_TESTS {
                return next;
            }
        }
        found = next;
    }
    for combination in &mut found {
        resolve(combination);
    }
    found
}

/// A list of texts stands for each of them.
fn values(
    importer: &mut Importer<'_>,
    value: &Located,
    keeps_lists: bool,
    directory: &Utf8Path,
) -> Vec<Value> {
    if let Some(text) = value.as_str()
        && let Some(reference) = FileReference::of(text, directory)
    {
        let paths = importer.matching(&reference.path);
        let references = paths.into_iter().map(|path| FileReference { path, ..reference.clone() });
        let references: Vec<FileReference> = references.collect();
        return references.iter().map(|one| file_text(importer, one, value.span)).collect();
    }
    match &value.data {
        LocatedData::List(items)
            if !keeps_lists && items.first().is_some_and(|item| item.as_str().is_some()) =>
        {
            items.iter().map(|item| one_value(importer, item, directory)).collect()
        }
        _ => vec![value.value()],
    }
}

fn one_value(importer: &mut Importer<'_>, item: &Located, directory: &Utf8Path) -> Value {
    let reference = item.as_str().and_then(|text| FileReference::of(text, directory));
    match reference {
        Some(reference) => file_text(importer, &reference, item.span),
        None => item.value(),
    }
}

/// What promptfoo inserts for a file.
fn file_text(importer: &mut Importer<'_>, reference: &FileReference, place: Span) -> Value {
    let shown = importer.shown(&reference.path);
    let read = match reference.kind() {
        FileKind::Data => importer
            .open(&reference.path, place)
            .map(|file| file.root.value().to_json(JsonStyle::Compact)),
        FileKind::Image => importer.read_bytes(&reference.path).map(|bytes| {
            let kind =
                match reference.path.extension().unwrap_or("png").to_ascii_lowercase().as_str() {
                    "jpg" => "jpeg".to_owned(),
                    other => other.to_owned(),
                };
            format!("data:image/{kind};base64,{}", to_base64(&bytes))
        }),
        FileKind::Text => importer.read_text(&reference.path).map(|text| text.trim().to_owned()),
        FileKind::Other => None,
        _ => {
            let message =
                format!("`{shown}` is made by code when promptfoo runs; nothing is inserted");
            importer.loss("variables", place, message);
            return "".into();
        }
    };
    match read {
        Some(text) => text.into(),
        None => {
            importer.loss(
                "variables",
                place,
                format!("`{shown}` cannot be read; nothing is inserted"),
            );
            "".into()
        }
    }
}

/// Inserts variables into variables, and drops a line break at the end of each.
fn resolve(vars: &mut Map) {
    let keys: Vec<String> = vars.iter().map(|(key, _)| key.to_owned()).collect();
    for key in &keys {
        if let Some(text) =
            vars.get(key).and_then(Value::as_str).and_then(|text| text.strip_suffix('\n'))
        {
            let text = text.to_owned();
            vars.insert(key.as_str(), text);
        }
    }
    for _ in 0..ROUNDS {
        let mut changed = false;
        for key in &keys {
            let Some(text) = vars.get(key).and_then(Value::as_str).map(str::to_owned) else {
                continue;
            };
            if !text.contains("{{") && !text.contains("{%") || has_open_tag(&text) {
                continue;
            }
            // A reference to something that is not a variable stays as it is.
            let names = super::super::template::plain_references(&text);
            let is_known = names.is_some_and(|names| {
                names.iter().all(|name| vars.get(name.split('.').next().unwrap_or(name)).is_some())
            });
            if let Ok(rendered) = render(&text, vars)
                && is_known
                && rendered != text
            {
                vars.insert(key.as_str(), rendered);
                changed = true;
            }
        }
        if !changed {
            return;
        }
    }
}

/// A value as promptfoo writes it into a text.
pub(super) fn inserted(value: &Value) -> String {
    js_string(value)
}
