//! Faults in the author's files, as data: a name, a level, a place, and what to do about it.

mod code;
mod collect;
// The room and its one central type share a name.
#[allow(clippy::module_inception)]
mod diagnostic;
mod doc;
mod fix;
mod suggest;

pub use crate::declare_codes;
pub use code::{Code, Family, Level, Severity};
pub use collect::Diagnostics;
pub use diagnostic::{Diagnostic, Related};
pub use doc::{Doc, DocFile};
pub use fix::{Edit, Fix};
pub use suggest::did_you_mean;
