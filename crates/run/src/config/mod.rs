//! `evalrig.toml`: defaults for options, and profiles of them (spec 24). Reading it calls nothing and
//! opens nothing; the caller knows the options.

mod codes;
mod confine;
mod read;

use evalrig_core::source::Span;

pub use codes::{CODES, INVALID_CONFIG, INVALID_SETTING, UNKNOWN_SETTING};
pub use confine::{PathForm, confine_path};
pub use read::read_config;

/// The name of the file, in the repository root.
pub const CONFIG_FILE: &str = "evalrig.toml";

/// Larger files are refused.
pub const CONFIG_LIMIT: u64 = 1024 * 1024;

/// An option that the file may set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigKey {
    pub name: String,
    pub takes: ConfigType,
    pub is_list: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfigType {
    Flag,
    Number,
    Text,
    Path(PathForm),
    /// Only the command line and the environment may set it.
    Refused(RefusedBecause),
}

/// Why a file of a repository cannot set an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusedBecause {
    /// A repository could otherwise widen what it is allowed to do, or act on the screen of its user.
    Reach,
    /// It is decided for each run: a run that always overwrites, repeats or continues another is a
    /// mistake.
    OneRun,
}

/// A value of the file, as the text that an option takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigValue {
    pub name: String,
    /// One, unless the option takes a list.
    pub texts: Vec<String>,
    pub key: Span,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigProfile {
    pub name: String,
    pub values: Vec<ConfigValue>,
}

/// What could be read; everything else has been reported.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConfigFile {
    pub values: Vec<ConfigValue>,
    pub profiles: Vec<ConfigProfile>,
}

#[cfg(test)]
pub(crate) fn testing_keys() -> Vec<ConfigKey> {
    let key = |name: &str, takes, is_list| ConfigKey { name: name.to_owned(), takes, is_list };
    vec![
        key("trials", ConfigType::Number, false),
        key("tag", ConfigType::Text, true),
        key("budget_usd", ConfigType::Number, false),
        key("strict", ConfigType::Flag, false),
        key("output", ConfigType::Path(PathForm::Plain), false),
        key("root", ConfigType::Refused(RefusedBecause::Reach), false),
        key("force", ConfigType::Refused(RefusedBecause::OneRun), false),
    ]
}
