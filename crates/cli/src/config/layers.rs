//! The precedence of settings: each option takes the value of the first layer that sets it.

use clap::parser::ValueSource;
use clap::{ArgMatches, Command};
use evalrig_run::config::ConfigType;

use super::keys::{CONFIGURED, OptionKey};

/// Where the value of an option comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingOrigin {
    Environment(String),
    File { line: u32, profile: Option<String> },
    Default,
}

/// An option with its value; none if nothing sets it, or if it was typed.
#[derive(Debug, Clone)]
pub struct ResolvedOption {
    pub key: OptionKey,
    /// For the command line; paths of the file are absolute.
    texts: Vec<String>,
    /// As they were written.
    pub shown: Vec<String>,
    pub origin: SettingOrigin,
}

#[derive(Debug, Clone)]
pub(super) struct LayerValue {
    pub(super) name: String,
    pub(super) texts: Vec<String>,
    pub(super) shown: Vec<String>,
    pub(super) origin: SettingOrigin,
}

/// The values of one source of settings.
#[derive(Debug, Clone, Default)]
pub(super) struct Layer {
    pub(super) values: Vec<LayerValue>,
}

impl Layer {
    /// The name of a value of this layer that excludes another.
    pub(super) fn clash(
        &self,
        command: &Command,
        key: &OptionKey,
        texts: &[String],
    ) -> Option<String> {
        let is_off = |texts: &[String]| texts == ["false"];
        if is_off(texts) {
            return None;
        }
        let others = self.values.iter().filter(|other| !is_off(&other.texts));
        others
            .map(|other| &other.name)
            .find(|other| exclude_each_other(command, &key.key.name, other))
            .cloned()
    }
}

/// Whether two options exclude each other in one of the commands.
fn exclude_each_other(command: &Command, one: &str, other: &str) -> bool {
    let names_of = |argument: &clap::Arg| match argument.get_long() {
        Some(long) => long.replace('-', "_"),
        None => argument.get_id().to_string(),
    };
    let conflicts = |sub: &Command, one: &str, other: &str| {
        let argument = sub.get_arguments().find(|argument| names_of(argument) == one);
        let against = argument.map(|argument| sub.get_arg_conflicts_with(argument));
        against.into_iter().flatten().any(|argument| names_of(argument) == other)
    };
    CONFIGURED
        .iter()
        .filter_map(|name| command.find_subcommand(name))
        .any(|sub| conflicts(sub, one, other) || conflicts(sub, other, one))
}

/// Every option with the value of the first layer that has one. A value is left out if an option
/// that was typed, or a value of an earlier layer, excludes it.
pub(super) fn resolve(
    command: &Command,
    keys: Vec<OptionKey>,
    typed: Option<&ArgMatches>,
    layers: [Layer; 3],
) -> Vec<ResolvedOption> {
    let mut taken: Layer = typed_options(&keys, typed);
    let typed_names: Vec<String> = taken.values.iter().map(|one| one.name.clone()).collect();
    for layer in layers {
        let mut added = Vec::new();
        for value in layer.values {
            let Some(key) = keys.iter().find(|key| key.key.name == value.name) else { continue };
            let is_taken = taken.values.iter().any(|other| other.name == value.name);
            if !is_taken && taken.clash(command, key, &value.texts).is_none() {
                added.push(value);
            }
        }
        taken.values.extend(added);
    }
    let resolved = keys.into_iter().filter(|key| !typed_names.contains(&key.key.name));
    resolved
        .map(|key| {
            let found = taken.values.iter().find(|value| value.name == key.key.name);
            match found.cloned() {
                Some(LayerValue { texts, shown, origin, .. }) => {
                    ResolvedOption { key, texts, shown, origin }
                }
                None => ResolvedOption {
                    texts: Vec::new(),
                    shown: key.defaults.clone(),
                    origin: SettingOrigin::Default,
                    key,
                },
            }
        })
        .collect()
}

/// What was typed, as the first layer.
fn typed_options(keys: &[OptionKey], typed: Option<&ArgMatches>) -> Layer {
    let Some(typed) = typed else { return Layer::default() };
    let is_typed = |key: &&OptionKey| {
        let is_known = typed.try_contains_id(&key.id).unwrap_or(false);
        is_known && typed.value_source(&key.id) == Some(ValueSource::CommandLine)
    };
    let values = keys.iter().filter(is_typed).map(|key| LayerValue {
        name: key.key.name.clone(),
        texts: Vec::new(),
        shown: Vec::new(),
        origin: SettingOrigin::Default,
    });
    Layer { values: values.collect() }
}

impl ResolvedOption {
    /// Sets the value as the default of the option in every command that has it.
    pub(super) fn set_default(&self, command: Command) -> Command {
        if self.origin == SettingOrigin::Default {
            return command;
        }
        let texts = self.texts.clone();
        let set = |argument: clap::Arg| argument.default_values(texts.clone());
        let has = |command: &Command| {
            command.get_arguments().any(|argument| argument.get_id() == self.key.id.as_str())
        };
        if has(&command) {
            return command.mut_arg(&self.key.id, set);
        }
        CONFIGURED.iter().fold(command, |command, name| {
            if command.find_subcommand(name).is_some_and(has) {
                return command.mut_subcommand(name, |sub| sub.mut_arg(&self.key.id, set));
            }
            command
        })
    }

    /// The value as TOML would have it; `None` if nothing sets it.
    pub fn written(&self) -> Option<String> {
        let is_plain = matches!(self.key.key.takes, ConfigType::Flag | ConfigType::Number);
        let is_flag = |text: &str| matches!(text, "true" | "false");
        let write = |text: &String| {
            if is_plain || is_flag(text) { text.clone() } else { format!("{text:?}") }
        };
        let texts: Vec<String> = self.shown.iter().map(write).collect();
        match (self.key.key.is_list, texts.as_slice()) {
            (_, []) => None,
            (false, [one, ..]) => Some(one.clone()),
            (true, list) => Some(format!("[{}]", list.join(", "))),
        }
    }
}
