//! Providers: what a target can be. One file per provider with its name, options, settings, key
//! variables, doc and connection. Only the list in this file knows all of them.

mod acp;
mod anthropic;
mod azure;
mod claude_cli;
mod cli;
mod codex_cli;
mod copilot_cli;
mod gemini_cli;
mod http;
mod mock;
mod openai;
mod opencode;
mod pi;
pub(crate) mod replay;

pub use acp::read_conversation;

use std::any::Any;
use std::fmt::Debug;

use evalrig_core::diagnostic::Diagnostic;
use evalrig_core::reader::{Options, ReadResult, Template};
use evalrig_core::syntax::fields::{Field, Shape};

use crate::agent::Agent;
use crate::agent::clean_home::HomeLayout;
use crate::agent::environment::{CWD, ENV};
use crate::agent::event_agent::{ARGS, EventAgentOptions, EventProgram};
use crate::agent::turn_limit::TurnLimit;
use crate::setting::{ConnectContext, FilesMode, Setting, option, unusable};

pub const CODES: &[&[&evalrig_core::diagnostic::Code]] = &[http::body::CODES];

/// Every provider, in the order of spec 9.3.
pub static PROVIDERS: &[&Provider] = &[
    &mock::PROVIDER,
    &cli::PROVIDER,
    &openai::PROVIDER,
    &azure::PROVIDER,
    &anthropic::PROVIDER,
    &claude_cli::PROVIDER,
    &codex_cli::PROVIDER,
    &gemini_cli::PROVIDER,
    &copilot_cli::PROVIDER,
    &opencode::PROVIDER,
    &pi::PROVIDER,
    &acp::PROVIDER,
    &http::PROVIDER,
    &replay::PROVIDER,
];

/// Names that agentv has for our providers. They are read like ours.
pub static OTHER_SPELLINGS: &[(&str, &str)] = &[
    ("gemini", "gemini-cli"),
    ("copilot", "copilot-cli"),
    ("opencode-cli", "opencode"),
    ("pi-cli", "pi"),
];

pub fn provider_named(name: &str) -> Option<&'static Provider> {
    let other = OTHER_SPELLINGS.iter().find(|(other, _)| *other == name);
    let name = other.map_or(name, |(_, ours)| ours);
    PROVIDERS.iter().copied().find(|provider| provider.name == name)
}

/// The variables of all providers from which default keys are read.
pub(crate) fn key_variables() -> impl Iterator<Item = &'static str> {
    let all = PROVIDERS.iter().flat_map(|provider| provider.key_variables);
    all.copied()
}

/// A kind of target.
#[derive(Debug)]
pub struct Provider {
    pub name: &'static str,
    /// Options in addition to those of every target.
    pub fields: &'static [Field],
    /// Default of `retries`.
    pub retries: u64,
    /// Default of `files`.
    pub files: FilesMode,
    /// Variables that may hold the key of a target without `api_key`; the first that is set counts.
    /// A default key is read through this list only, and every variable in it is redacted.
    pub key_variables: &'static [&'static str],
    /// Markdown with examples, which a test reads.
    pub doc: &'static str,
    /// Fails if an option is invalid, after reporting every fault.
    pub read: fn(&mut Options<'_, '_, '_>) -> ReadResult<Box<dyn ProviderSettings>>,
}

/// A program that reports in events.
#[derive(Debug, Clone)]
struct EventProvider {
    options: EventAgentOptions,
    program: &'static EventProgram,
    max_turns: Option<Setting<u64>>,
    bypass_permissions: Option<Setting<bool>>,
}

impl EventProvider {
    fn read(
        options: &mut Options<'_, '_, '_>,
        program: &'static EventProgram,
    ) -> ReadResult<Box<dyn ProviderSettings>> {
        let own = EventAgentOptions::read(options);
        let max_turns = option::integer(options, "max_turns", 1, u64::MAX);
        let bypass_permissions = option::boolean(options, "bypass_permissions");
        Ok(Box::new(Self {
            options: own?,
            program,
            max_turns: max_turns?,
            bypass_permissions: bypass_permissions?,
        }))
    }

    /// Whether every tool is allowed.
    fn is_bypassed(&self, context: &ConnectContext<'_>, default: bool) -> Result<bool, Diagnostic> {
        self.bypass_permissions.as_ref().map_or(Ok(default), |setting| context.boolean(setting))
    }
}

impl ProviderSettings for EventProvider {
    fn model(&self) -> Option<&Template> {
        self.options.model.as_ref()
    }

    fn home_layout(&self) -> Option<&'static HomeLayout> {
        Some(self.program.home)
    }

    fn arm_settings(&self) -> &'static [ArmSetting] {
        &[ArmSetting::Model, ArmSetting::Args]
    }

    fn connect(&self, context: &ConnectContext<'_>) -> Result<Box<dyn Agent>, Diagnostic> {
        let (mut flags, mut settings) = (Vec::new(), None);
        if let (Some(limit), Some(turns)) = (self.program.turns, &self.max_turns) {
            let turns = context.integer(turns, 1, u64::MAX)?;
            match limit {
                TurnLimit::Flag(flag) => flags.extend([flag.to_owned(), turns.to_string()]),
                TurnLimit::Setting(setting) => {
                    refuse_user_home(context)?;
                    settings = Some((setting, turns));
                }
            }
        }
        if let Some((bypass, default)) = self.program.bypass
            && self.is_bypassed(context, default)?
        {
            flags.extend(bypass.iter().map(|flag| (*flag).to_owned()));
        }
        self.options.connect(self.program, flags, settings, context)
    }
}

/// Nothing is written into the home directory of the user.
fn refuse_user_home(context: &ConnectContext<'_>) -> Result<(), Diagnostic> {
    let Some(home) = &context.common.confinement.home else { return Ok(()) };
    if context.text(home)? != "user" {
        return Ok(());
    }
    let message = "`max_turns` of this agent is a setting in its home, which cannot be `user`";
    Err(unusable(home.span(), message))
}

const EXECUTABLE: Field = Field::new(
    "executable",
    Shape::NonEmptyText,
    "program to run; by default the name of the agent",
);

/// Options of agents without permissions.
static AGENT_FIELDS: &[Field] = &[EXECUTABLE, MODEL, ARGS, CWD, ENV];

/// Options of agents that ask before they use some tools.
static PERMITTED_AGENT_FIELDS: &[Field] = &[EXECUTABLE, MODEL, ARGS, CWD, ENV, BYPASS_PERMISSIONS];

const BYPASS_PERMISSIONS: Field =
    Field::new("bypass_permissions", Shape::Boolean, "allow every tool without asking");

const MAX_TURNS: Field =
    Field::new("max_turns", Shape::Integer { min: 1, max: u64::MAX }, "maximum number of turns");

const MODEL: Field = Field::new("model", Shape::NonEmptyText, "model to use");

/// A setting of an arm that is up to the provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArmSetting {
    Model,
    Args,
}

/// The options of one target, read by its provider.
pub trait ProviderSettings: Any + Debug + Send + Sync {
    /// The model that records name (spec 9.5).
    fn model(&self) -> Option<&Template> {
        None
    }

    /// What the agent keeps below the home directory, if that is known.
    fn home_layout(&self) -> Option<&'static HomeLayout> {
        None
    }

    /// What an arm can change of the agent.
    fn arm_settings(&self) -> &'static [ArmSetting] {
        &[]
    }

    /// Makes the agent. Fails with a diagnostic at the setting that cannot be used.
    fn connect(&self, connect: &ConnectContext<'_>) -> Result<Box<dyn Agent>, Diagnostic>;
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::setting::TARGET_FIELDS;
    use crate::target::testing;

    #[test]
    fn every_file_is_a_provider_in_the_list() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/provider");
        let list = fs::read_to_string(folder.join("mod.rs")).unwrap();
        let mut providers = 0;
        for file in fs::read_dir(&folder).unwrap() {
            let path = file.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap();
            if name == "mod" || path.is_dir() {
                continue;
            }
            assert!(list.contains(&format!("mod {name};")), "`{name}` is not a module");
            let entry = format!("&{name}::PROVIDER,");
            assert!(list.contains(&entry), "`{name}` is not in PROVIDERS");
            providers += 1;
        }
        assert_eq!(providers, PROVIDERS.len());
    }

    #[test]
    fn names_are_unique_and_no_option_hides_a_common_one() {
        let names: BTreeSet<_> = PROVIDERS.iter().map(|provider| provider.name).collect();
        assert_eq!(names.len(), PROVIDERS.len());
        for provider in PROVIDERS {
            for field in provider.fields {
                let hides = TARGET_FIELDS.iter().any(|common| common.name == field.name);
                assert!(!hides, "`{}` of `{}`", field.name, provider.name);
            }
        }
    }

    #[test]
    fn every_example_of_a_provider_is_clean() {
        for provider in PROVIDERS {
            let examples = testing::fences(provider.doc);
            assert!(!examples.is_empty(), "`{}` has no example", provider.name);
            for example in examples {
                let read = testing::read(&example);
                assert_eq!(read.names(), Vec::<&str>::new(), "{}: {example}", provider.name);
                let used = read.targets.is_some_and(|targets| {
                    let mut names = targets.names();
                    names.any(|name| targets.get(name).unwrap().provider.name == provider.name)
                });
                assert!(used, "an example of `{}` does not use it", provider.name);
            }
        }
    }
}
