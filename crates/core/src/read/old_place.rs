//! Old root keys whose place is inside another mapping now.

use crate::diagnostic::{Diagnostic, Fix};
use crate::model::{Execution, Map, Value};
use crate::reader::Reader;
use crate::source::Span;
use crate::syntax::fields::{Bound, CONFLICTING_FIELDS, DEPRECATED_FIELD, Entry};
use crate::syntax::{Node, edit};

use super::metadata::{reserved_fault, wrong};

/// An old root key whose place is in `metadata`.
pub(super) fn move_to_metadata(
    reader: &mut Reader<'_>,
    bound: &Bound<'_>,
    key: &str,
    metadata: &mut Map,
) {
    let Some(entry) = bound.get(key) else { return };
    if let Some((other, _)) = written_in(bound.get("metadata"), key) {
        reader.report(two_places(entry.key.span(), key, "metadata", other));
        return;
    }
    let fix = edit::move_into(bound, key, "metadata");
    reader.report(old_place(&entry, "metadata", fix));
    let value: Value = reader.value(key, entry.value);
    match reserved_fault(key, &value) {
        Some(wants) => reader.report(wrong(key, entry.value, wants)),
        None => metadata.insert(key, value),
    }
}

pub(super) fn move_to_execution(
    reader: &mut Reader<'_>,
    bound: &Bound<'_>,
    entry: &Entry<'_>,
    execution: &mut Execution,
) {
    if let Some((other, _)) = written_in(bound.get("execution"), "target") {
        reader.report(two_places(entry.key.span(), "target", "execution", other));
        return;
    }
    let fix = edit::move_into(bound, "target", "execution");
    reader.report(old_place(entry, "execution", fix));
    execution.target = reader.target_name(entry).map(|name| name.value);
}

pub(super) fn written_in<'t>(outer: Option<Entry<'t>>, key: &str) -> Option<(Span, Node<'t>)> {
    let mapping = outer?.value;
    let (key, value) = mapping
        .entries()
        .into_iter()
        .find(|(name, value)| name.scalar_text() == Some(key) && !value.is_null())?;
    Some((key.span(), value))
}

fn two_places(span: Span, key: &str, home: &str, other: Span) -> Diagnostic {
    let message = format!("`{key}` and `{home}.{key}` are two spellings of one field");
    Diagnostic::new(&CONFLICTING_FIELDS, span, message)
        .related(other, "the other one")
        .help(format!("keep `{home}.{key}`"))
}

fn old_place(entry: &Entry<'_>, home: &str, fix: Option<Fix>) -> Diagnostic {
    let key = entry.field.name;
    let message = format!("`{key}` at the root is an old spelling of `{home}.{key}`");
    Diagnostic::new(&DEPRECATED_FIELD, entry.key.span(), message)
        .help(format!("write it under `{home}:`"))
        .fix_if(fix)
}
