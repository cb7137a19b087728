//! Every diagnostic code of this crate, collected from the rooms that declare them.

use crate::diagnostic::Code;

/// In the order of the rooms; the command line sorts by name.
pub fn all_codes() -> impl Iterator<Item = &'static Code> {
    [
        crate::syntax::CODES,
        crate::reader::CODES,
        crate::assertion::CODES,
        crate::transpile_rules::CODES,
        crate::read::CODES,
        crate::export::CODES,
        crate::import::CODES,
    ]
    .into_iter()
    .flatten()
    .flat_map(|codes| codes.iter().copied())
}
