//! What every provider has in common.

use std::any::Any;
use std::fmt;

use evalrig_core::diagnostic::Diagnostic;
use evalrig_core::reader::Template;
use evalrig_core::syntax::fields::Field;

use crate::agent::{Agent, Connect};

use super::every_target::FilesMode;
use super::options::{Options, Read};

/// One kind of thing that answers.
pub struct Provider {
    pub name: &'static str,
    /// Options besides those that every target takes.
    pub fields: &'static [Field],
    /// `retries` of a target that does not say.
    pub retries: u64,
    /// `files` of a target that does not say.
    pub files: FilesMode,
    /// Markdown: what it does, then targets files that are read by a test.
    pub doc: &'static str,
    /// Fails when the options are wrong; then every reason has been reported.
    pub read: fn(&mut Options<'_, '_, '_>) -> Read<Box<dyn Settings>>,
}

impl fmt::Debug for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Provider")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// The options of one target, read by its provider.
pub trait Settings: Any + fmt::Debug + Send + Sync {
    /// What records name beside the target and the provider (spec 9.5).
    fn model(&self) -> Option<&Template> {
        None
    }

    /// The agent that these settings describe, now that variables are known. Fails with a
    /// diagnostic at the setting that cannot be used.
    fn connect(&self, connect: &Connect<'_>) -> Result<Box<dyn Agent>, Diagnostic>;
}
