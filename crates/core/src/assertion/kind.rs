//! What one file of this folder declares about its assertion type.

use std::fmt;

use crate::model::Check;
use crate::syntax::fields::Field;

use super::options::Options;

/// What a type does with keys that neither it nor every type has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnknownKeys {
    /// Reports `unknown-field`.
    Warn,
    /// Passes them to the script as configuration.
    Config,
}

/// One assertion type.
pub struct AssertionKind {
    pub name: &'static str,
    /// Other names it is read under.
    pub aliases: &'static [&'static str],
    /// Options besides those that every type takes.
    pub fields: &'static [Field],
    pub unknown_keys: UnknownKeys,
    /// Whether the `config` option has an effect.
    pub takes_config: bool,
    /// Markdown: what it checks, then examples. A test reads the examples.
    pub doc: &'static str,
    /// `None` when an option is invalid, which has then been reported.
    pub read: fn(&mut Options<'_, '_, '_>) -> Option<Box<dyn Check>>,
}

impl fmt::Debug for AssertionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AssertionKind")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
