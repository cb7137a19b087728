//! `config`: prints every setting of `run` and `validate`, and where it comes from.

use clap::CommandFactory;
use evalrig_core::model::{JsonStyle, Map, Value};
use evalrig_run::config::{CONFIG_FILE, ConfigType};
use evalrig_run::text::single_line;

use crate::args::{Cli, Config, TextOrJson};
use crate::config::{ConfigScope, LoadedConfig, ResolvedOption, SettingOrigin, load};
use crate::context::Context;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::{print_json, print_text};

pub fn run(context: &Context, args: &Config) -> Result<Exit, CommandError> {
    let scope = ConfigScope {
        working_directory: &context.working_directory,
        root: args.root.as_deref(),
        profile: args.profile.profile.as_deref(),
        typed: None,
    };
    let loaded = load(&Cli::command(), &scope).map_err(CommandError::Config)?;
    match args.format {
        TextOrJson::Text => print_text(&as_text(context, &loaded))?,
        TextOrJson::Json => print_json(&(as_json(context, &loaded)))?,
    }
    Ok(Exit::Success)
}

fn as_text(context: &Context, loaded: &LoadedConfig) -> String {
    let file = loaded.file.as_ref().map(|file| context.shown(file));
    let mut text = match &file {
        Some(file) => format!("# {file}"),
        None => format!("# no {CONFIG_FILE} in the repository root"),
    };
    if let Some(profile) = &loaded.profile {
        text += &format!(", profile {}", single_line(profile));
    }
    text.push('\n');
    let lines: Vec<(String, String)> = loaded
        .options
        .iter()
        .map(|option| (single_line(&setting(option)), origin_text(option)))
        .collect();
    // A long list must not push every origin off the screen.
    const WIDEST: usize = 48;
    let widths = lines.iter().map(|(setting, _)| setting.chars().count());
    let width = widths.filter(|width| *width <= WIDEST).max().unwrap_or(0);
    for (setting, origin) in lines {
        text += &format!("{setting:<width$}  # {origin}\n");
    }
    text
}

/// As a line of `evalrig.toml`; a comment if nothing sets it, or if a file cannot.
fn setting(option: &ResolvedOption) -> String {
    let name = &option.key.key.name;
    match option.written() {
        Some(value) if matches!(option.key.key.takes, ConfigType::Refused(_)) => {
            format!("# {name} = {value}")
        }
        Some(value) => format!("{name} = {value}"),
        None => format!("# {name} ="),
    }
}

fn origin_text(option: &ResolvedOption) -> String {
    match &option.origin {
        SettingOrigin::Environment(variable) => variable.clone(),
        SettingOrigin::File { line, profile: None } => format!("{CONFIG_FILE}:{line}"),
        SettingOrigin::File { line, profile: Some(profile) } => {
            format!("{CONFIG_FILE}:{line} [profile.{}]", single_line(profile))
        }
        SettingOrigin::Default => "default".to_owned(),
    }
}

fn as_json(context: &Context, loaded: &LoadedConfig) -> String {
    let text = |text: &str| Value::from(text);
    let settings = loaded.options.iter().map(|option| {
        let values: Vec<Value> = option.shown.iter().map(|one| text(one)).collect();
        let mut map = Map::new();
        map.insert("name", text(&option.key.key.name));
        map.insert("values", Value::from(values));
        map.insert("origin", text(&origin_text(option)));
        Value::from(map)
    });
    let settings: Vec<Value> = settings.collect();
    let mut map = Map::new();
    map.insert("schemaVersion", Value::from(1_u32));
    let file = loaded.file.as_ref().map(|file| context.shown(file));
    map.insert("file", file.map_or(Value::Null, |file| text(file.as_str())));
    let profile = loaded.profile.as_deref();
    map.insert("profile", profile.map_or(Value::Null, text));
    map.insert("settings", Value::from(settings));
    Value::from(map).to_json(JsonStyle::Pretty) + "\n"
}
