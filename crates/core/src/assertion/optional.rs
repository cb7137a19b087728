//! Options that may be absent, and those that an entry inside an option must have.

use crate::diagnostic::Diagnostic;
use crate::reader::Reader;
use crate::syntax::fields::{Bound, Entry, MISSING_OPTION};

/// `None` only when the option was written and is wrong, so that a reader can look at every option
/// before it gives up: all faults of an assertion are reported at once.
pub(super) fn optional<'t, T>(
    reader: &mut Reader<'_>,
    fields: &Bound<'t>,
    name: &str,
    read: impl FnOnce(&mut Reader<'_>, &Entry<'t>) -> Option<T>,
) -> Option<Option<T>> {
    match fields.get(name) {
        None => Some(None),
        Some(entry) => read(reader, &entry).map(Some),
    }
}

/// The entry of a key without which the mapping `what` means nothing.
pub(super) fn require_in<'t>(
    reader: &mut Reader<'_>,
    fields: &Bound<'t>,
    what: &str,
    name: &str,
) -> Option<Entry<'t>> {
    let entry = fields.get(name);
    if entry.is_none() {
        let message = format!("{what} needs `{name}`");
        reader.report(
            Diagnostic::new(&MISSING_OPTION, fields.head(), message).help(format!("add `{name}`")),
        );
    }
    entry
}
