//! The settings that exist: every option of `run` and `validate`, taken from the command line itself,
//! so that a new option can be configured without a second list.

use std::any::TypeId;
use std::error::Error;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction};
use evalrig_run::config::{ConfigKey, ConfigType, PathForm, RefusedBecause};

/// The commands whose options can be configured.
pub const CONFIGURED: &[&str] = &["run", "validate"];

/// Options that a file of the repository cannot set.
const COMMAND_LINE_ONLY: &[(&str, RefusedBecause)] = &[
    ("root", RefusedBecause::Reach),
    ("allow_outside_root", RefusedBecause::Reach),
    ("view", RefusedBecause::Reach),
    ("no_open", RefusedBecause::Reach),
    ("sandbox", RefusedBecause::Reach),
    ("queue", RefusedBecause::Reach),
    ("queue_creds", RefusedBecause::Reach),
    ("queue_ca", RefusedBecause::Reach),
    ("queue_include", RefusedBecause::Reach),
    ("insecure", RefusedBecause::Reach),
    ("detach", RefusedBecause::OneRun),
    ("attach", RefusedBecause::OneRun),
    ("force", RefusedBecause::OneRun),
    ("failed", RefusedBecause::OneRun),
    ("resume", RefusedBecause::OneRun),
    ("reuse_arm", RefusedBecause::OneRun),
    ("watch", RefusedBecause::OneRun),
];

/// An option, and how it is configured.
#[derive(Debug, Clone)]
pub struct OptionKey {
    pub key: ConfigKey,
    /// The name of the argument in clap.
    pub id: String,
    /// The first of [`CONFIGURED`] that has it.
    pub command: &'static str,
    pub is_positional: bool,
    pub defaults: Vec<String>,
}

impl OptionKey {
    /// The variable that sets it.
    pub fn variable(&self) -> String {
        format!("EVALRIG_{}", self.key.name.to_uppercase())
    }
}

/// All settings in the order of the help. `command` is built.
pub fn option_keys(command: &clap::Command) -> Vec<OptionKey> {
    let mut keys: Vec<OptionKey> = Vec::new();
    for name in CONFIGURED {
        let arguments = command.find_subcommand(name).map(clap::Command::get_arguments);
        for argument in arguments.into_iter().flatten() {
            let Some(key) = option_key(name, argument) else { continue };
            if !keys.iter().any(|known| known.key.name == key.key.name) {
                keys.push(key);
            }
        }
    }
    keys
}

fn option_key(command: &'static str, argument: &Arg) -> Option<OptionKey> {
    let is_value =
        matches!(argument.get_action(), ArgAction::Set | ArgAction::Append | ArgAction::SetTrue);
    let name = match argument.get_long() {
        Some(long) => long.replace('-', "_"),
        None => argument.get_id().to_string(),
    };
    if !is_value || argument.is_hide_set() || name == "profile" {
        return None;
    }
    let refused = COMMAND_LINE_ONLY.iter().find(|(known, _)| *known == name);
    let takes = refused.map_or_else(|| type_of(argument), |(_, why)| ConfigType::Refused(*why));
    let is_list = matches!(argument.get_action(), ArgAction::Append);
    let defaults = argument.get_default_values().iter();
    Some(OptionKey {
        key: ConfigKey { name, takes, is_list },
        id: argument.get_id().to_string(),
        command,
        is_positional: argument.is_positional(),
        defaults: defaults.map(|value| value.to_string_lossy().into_owned()).collect(),
    })
}

fn type_of(argument: &Arg) -> ConfigType {
    if matches!(argument.get_action(), ArgAction::SetTrue) {
        return ConfigType::Flag;
    }
    let parsed = argument.get_value_parser().type_id();
    let numbers = [
        TypeId::of::<u8>(),
        TypeId::of::<u16>(),
        TypeId::of::<u32>(),
        TypeId::of::<u64>(),
        TypeId::of::<usize>(),
        TypeId::of::<f64>(),
    ];
    if numbers.iter().any(|number| parsed == *number) {
        return ConfigType::Number;
    }
    let shown = argument.get_value_names().and_then(|names| names.first());
    match shown.map(clap::builder::Str::as_str) {
        Some("FILE" | "DIR" | "PATHS") => ConfigType::Path(PathForm::Plain),
        Some("RUN" | "RESULTS") => ConfigType::Path(PathForm::Run),
        Some("NAME[=PATH]") => ConfigType::Path(PathForm::AfterName),
        Some("NAME" | "GLOB" | "TAG" | "I/N" | "FORMAT" | "MEASURE" | "WHEN" | "TIME") => {
            ConfigType::Text
        }
        // A value of another kind might be a path, so it is refused until it is listed here.
        _ => ConfigType::Refused(RefusedBecause::Reach),
    }
}

/// Why an option does not accept a value.
pub fn fault_of(command: &clap::Command, key: &OptionKey, text: &str) -> Option<String> {
    let name = &key.key.name;
    let is_flag = command
        .find_subcommand(key.command)
        .and_then(|sub| sub.get_arguments().find(|argument| argument.get_id() == key.id.as_str()))
        .is_some_and(|argument| matches!(argument.get_action(), ArgAction::SetTrue));
    if is_flag {
        let is_boolean = matches!(text, "true" | "false");
        return (!is_boolean).then(|| format!("`{name}` takes `true` or `false`, found `{text}`"));
    }
    if key.is_positional {
        return None;
    }
    let option = format!("--{}={text}", name.replace('_', "-"));
    let error = command.clone().try_get_matches_from(["evalrig", key.command, &option]).err()?;
    match error.kind() {
        ErrorKind::MissingRequiredArgument | ErrorKind::ArgumentConflict => None,
        _ => Some(format!("`{name}` does not accept `{text}`{}", reason(&error))),
    }
}

fn reason(error: &clap::Error) -> String {
    if let Some(source) = error.source() {
        return format!(": {source}");
    }
    match error.get(ContextKind::ValidValue) {
        Some(ContextValue::Strings(values)) => format!("; use one of {}", values.join(", ")),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::args::Cli;

    fn keys() -> Vec<OptionKey> {
        let mut command = Cli::command();
        command.build();
        option_keys(&command)
    }

    #[test]
    fn every_option_can_be_configured_except_those_that_are_listed() {
        let keys = keys();
        let refused = keys.iter().filter(|key| matches!(key.key.takes, ConfigType::Refused(_)));
        let mut refused: Vec<&str> = refused.map(|key| key.key.name.as_str()).collect();
        let mut expected: Vec<&str> = COMMAND_LINE_ONLY.iter().map(|(name, _)| *name).collect();
        if cfg!(not(feature = "view")) {
            expected.retain(|name| !matches!(*name, "view" | "no_open"));
        }
        if cfg!(not(feature = "queue")) {
            let others = ["insecure", "detach", "attach"];
            expected.retain(|name| !name.starts_with("queue") && !others.contains(name));
        }
        refused.sort_unstable();
        expected.sort_unstable();
        // Another name here: an option has a new `value_name`. Say in `type_of` whether it is a path.
        assert_eq!(refused, expected);
        for name in ["paths", "trials", "tag", "budget_usd", "keep_runs", "strict", "color"] {
            assert!(keys.iter().any(|key| key.key.name == name), "{name}");
        }
    }

    #[test]
    fn types_follow_from_the_options() {
        let keys = keys();
        let takes = |name: &str| {
            let key = keys.iter().find(|key| key.key.name == name).expect(name);
            (key.key.takes, key.key.is_list)
        };
        assert_eq!(takes("trials"), (ConfigType::Number, false));
        assert_eq!(takes("pass"), (ConfigType::Number, false));
        assert_eq!(takes("tag"), (ConfigType::Text, true));
        assert_eq!(takes("strict"), (ConfigType::Flag, false));
        assert_eq!(takes("output"), (ConfigType::Path(PathForm::Plain), false));
        assert_eq!(takes("paths"), (ConfigType::Path(PathForm::Plain), true));
        assert_eq!(takes("baseline"), (ConfigType::Path(PathForm::Run), true));
        assert_eq!(takes("report"), (ConfigType::Path(PathForm::AfterName), true));
    }

    #[test]
    fn values_are_checked_as_on_the_command_line() {
        let mut command = Cli::command();
        command.build();
        let keys = option_keys(&command);
        let fault = |name: &str, text: &str| {
            let key = keys.iter().find(|key| key.key.name == name).expect(name);
            fault_of(&command, key, text)
        };
        assert_eq!(fault("trials", "3"), None);
        assert_eq!(
            fault("trials", "300").as_deref(),
            Some("`trials` does not accept `300`: 300 is not in 1..=100")
        );
        assert_eq!(
            fault("color", "pink").as_deref(),
            Some("`color` does not accept `pink`; use one of auto, always, never")
        );
        // Requirements and conflicts are those of the command line as a whole.
        assert_eq!(fault("margin", "0.2"), None);
        assert!(fault("margin", "2").is_some());
        assert!(fault("strict", "yes").is_some());
    }
}
