//! What one file of this folder declares about its assertion type.

use crate::model::{Check, CommonOptions};
use crate::reader::{Options, ReadResult};
use crate::syntax::fields::Field;

/// What a type does with keys that are not options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnknownKeys {
    /// Reports `unknown-field`.
    Warn,
    /// Passes them to the script as configuration.
    Config,
}

/// The entry that an assertion type reads its options from.
#[derive(Debug)]
pub struct EntryContext<'a> {
    /// A type may change these, such as the gate or the configuration.
    pub common: &'a mut CommonOptions,
    /// How many composites enclose it.
    pub depth: usize,
}

pub type ReadCheck =
    fn(&mut Options<'_, '_, '_>, &mut EntryContext<'_>) -> ReadResult<Box<dyn Check>>;

/// One assertion type.
#[derive(Debug)]
pub struct AssertionKind {
    pub name: &'static str,
    /// Other names it is read under.
    pub aliases: &'static [&'static str],
    /// Options besides those that every type takes.
    pub fields: &'static [Field],
    /// Options of which at least one must be given; empty when there is no such rule.
    pub needs_one_of: &'static [&'static str],
    pub unknown_keys: UnknownKeys,
    /// Whether the `config` option has an effect.
    pub takes_config: bool,
    /// Markdown: what it checks, then examples. A test reads the examples.
    pub doc: &'static str,
    pub read: ReadCheck,
}

impl AssertionKind {
    /// A type without aliases and without configuration.
    pub(super) const fn new(
        name: &'static str,
        fields: &'static [Field],
        read: ReadCheck,
        doc: &'static str,
    ) -> Self {
        Self {
            name,
            aliases: &[],
            fields,
            needs_one_of: &[],
            unknown_keys: UnknownKeys::Warn,
            takes_config: false,
            doc,
            read,
        }
    }

    pub(super) const fn also(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }

    pub(super) const fn needs_one_of(self, needs_one_of: &'static [&'static str]) -> Self {
        Self { needs_one_of, ..self }
    }
}
