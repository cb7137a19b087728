//! Defaults for the options of `run` and `validate` (spec 24): flags, then variables `EVALRIG_*`, then
//! the profile, then `evalrig.toml`, then what is built in. The keys are the options themselves.

mod keys;
mod layers;

use camino::{Utf8Path, Utf8PathBuf};
use clap::ArgMatches;
use evalrig_core::diagnostic::{Diagnostic, Diagnostics, did_you_mean};
use evalrig_core::read::repository_root;
use evalrig_core::source::{Reach, Sources};
use evalrig_run::config::{
    CONFIG_FILE, CONFIG_LIMIT, ConfigFile, ConfigType, ConfigValue, INVALID_SETTING, confine_path,
    read_config,
};
use evalrig_run::disk::{Disk, read_whole};

pub use keys::{OptionKey, option_keys};
pub use layers::{ResolvedOption, SettingOrigin};

use keys::fault_of;
use layers::{Layer, LayerValue, resolve};

/// The variable that selects a profile.
const PROFILE_VARIABLE: &str = "EVALRIG_PROFILE";

/// Why the settings cannot be used.
#[derive(Debug)]
pub enum ConfigRefusal {
    Message(String),
    Diagnostics(Sources, Vec<Diagnostic>),
}

/// What was typed that decides where settings come from.
#[derive(Debug, Clone, Copy)]
pub struct ConfigScope<'a> {
    pub working_directory: &'a Utf8Path,
    pub root: Option<&'a str>,
    pub profile: Option<&'a str>,
    /// The options that were typed; `None` for `config`, which only shows settings.
    pub typed: Option<&'a ArgMatches>,
}

/// The settings of an invocation.
#[derive(Debug, Default)]
pub struct LoadedConfig {
    /// The file, if there is one.
    pub file: Option<Utf8PathBuf>,
    /// The selected profile.
    pub profile: Option<String>,
    pub options: Vec<ResolvedOption>,
}

/// Whether anything besides the command line may set an option.
pub fn has_settings(scope: &ConfigScope<'_>) -> bool {
    let is_ours = |name: &std::ffi::OsStr| name.as_encoded_bytes().starts_with(b"EVALRIG_");
    scope.profile.is_some()
        || std::env::vars_os().any(|(name, _)| is_ours(&name))
        || config_file(&root_of(scope)).exists()
}

/// Resolves every option of `command`, which is the command line of the program, not built yet.
pub fn load(
    command: &clap::Command,
    scope: &ConfigScope<'_>,
) -> Result<LoadedConfig, ConfigRefusal> {
    let mut command = command.clone();
    command.build();
    let keys = option_keys(&command);
    let variables = environment_layer(&command, &keys)?;
    let root = root_of(scope);
    let mut sources = Sources::new();
    let mut out = Diagnostics::new();
    let file = read_file(&root, &keys, &mut sources, &mut out)?;
    let (is_there, file) = (file.is_some(), file.unwrap_or_default());
    let profile = chosen_profile(scope, &file, is_there)?;
    let mut check = FileCheck { command: &command, keys: &keys, root: &root, out: &mut out };
    let of_file = check.layer(file.values, &sources, None);
    let profiles: Vec<(String, Layer)> = file
        .profiles
        .into_iter()
        .map(|one| {
            let layer = check.layer(one.values, &sources, Some(&one.name));
            (one.name, layer)
        })
        .collect();
    let of_profile = profiles.into_iter().find(|(name, _)| Some(name) == profile.as_ref());
    let of_profile = of_profile.map(|(_, layer)| layer).unwrap_or_default();
    if !out.is_empty() {
        return Err(ConfigRefusal::Diagnostics(sources, out.into_vec()));
    }
    Ok(LoadedConfig {
        file: is_there.then(|| config_file(&root)),
        profile,
        options: resolve(&command, keys, scope.typed, [variables, of_profile, of_file]),
    })
}

/// The command line with the settings as defaults of the options. A default takes part in no conflict
/// and satisfies no requirement, so a flag always wins.
pub fn with_defaults(command: clap::Command, loaded: &LoadedConfig) -> clap::Command {
    loaded.options.iter().fold(command, |command, option| option.set_default(command))
}

fn root_of(scope: &ConfigScope<'_>) -> Utf8PathBuf {
    let variable = std::env::var("EVALRIG_ROOT").ok().filter(|root| !root.is_empty());
    match scope.root.or(variable.as_deref()) {
        Some(root) => scope.working_directory.join(root),
        None => repository_root(&Disk, scope.working_directory),
    }
}

fn config_file(root: &Utf8Path) -> Utf8PathBuf {
    root.join(CONFIG_FILE)
}

fn read_file(
    root: &Utf8Path,
    keys: &[OptionKey],
    sources: &mut Sources,
    out: &mut Diagnostics,
) -> Result<Option<ConfigFile>, ConfigRefusal> {
    let path = config_file(root);
    let bytes = match read_whole(&path, Reach::Inside(root), CONFIG_LIMIT) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            return Err(ConfigRefusal::Message(format!("cannot read `{CONFIG_FILE}`: {error}")));
        }
    };
    let Ok(text) = String::from_utf8(bytes) else {
        return Err(ConfigRefusal::Message(format!("`{CONFIG_FILE}` is not UTF-8")));
    };
    let source = sources.add_file(path, text.clone(), 0);
    let keys: Vec<_> = keys.iter().map(|key| key.key.clone()).collect();
    Ok(Some(read_config(source, &text, &keys, out)))
}

fn chosen_profile(
    scope: &ConfigScope<'_>,
    file: &ConfigFile,
    is_there: bool,
) -> Result<Option<String>, ConfigRefusal> {
    let variable = std::env::var(PROFILE_VARIABLE).ok().filter(|name| !name.is_empty());
    let Some(name) = scope.profile.map(str::to_owned).or(variable) else {
        return Ok(None);
    };
    if file.profiles.iter().any(|profile| profile.name == name) {
        return Ok(Some(name));
    }
    let known: Vec<&str> = file.profiles.iter().map(|profile| profile.name.as_str()).collect();
    let reason = match did_you_mean(&name, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if !is_there => format!("the repository has no `{CONFIG_FILE}`"),
        None if known.is_empty() => format!("add `[profile.{name}]` to `{CONFIG_FILE}`"),
        None => format!("`{CONFIG_FILE}` has {}", known.join(", ")),
    };
    Err(ConfigRefusal::Message(format!("unknown profile `{name}`; {reason}")))
}

/// The variables that are set. Those that are not options are left to other uses.
fn environment_layer(command: &clap::Command, keys: &[OptionKey]) -> Result<Layer, ConfigRefusal> {
    let mut layer = Layer::default();
    for key in keys {
        let variable = key.variable();
        let Ok(text) = std::env::var(&variable) else { continue };
        if text.is_empty() {
            continue;
        }
        let texts: Vec<String> =
            if key.key.is_list { text.split(',').map(str::to_owned).collect() } else { vec![text] };
        if let Some(fault) = texts.iter().find_map(|text| fault_of(command, key, text)) {
            return Err(ConfigRefusal::Message(format!("{variable}: {fault}")));
        }
        let origin = SettingOrigin::Environment(variable);
        let (name, shown) = (key.key.name.clone(), texts.clone());
        layer.values.push(LayerValue { name, texts, shown, origin });
    }
    Ok(layer)
}

/// Checks the values of the file against the options, and reports what they do not accept.
struct FileCheck<'a> {
    command: &'a clap::Command,
    keys: &'a [OptionKey],
    root: &'a Utf8Path,
    out: &'a mut Diagnostics,
}

impl FileCheck<'_> {
    fn layer(
        &mut self,
        values: Vec<ConfigValue>,
        sources: &Sources,
        profile: Option<&str>,
    ) -> Layer {
        let mut layer = Layer::default();
        for value in values {
            let Some(key) = self.keys.iter().find(|key| key.key.name == value.name) else {
                continue;
            };
            let fault = value.texts.iter().find_map(|text| fault_of(self.command, key, text));
            let clash = layer.clash(self.command, key, &value.texts);
            let fault = fault.or_else(|| {
                clash.map(|other| format!("`{}` and `{other}` exclude each other", value.name))
            });
            let texts = match fault {
                None => self.confined(key, &value),
                Some(message) => Err(message),
            };
            match texts {
                Ok(texts) => {
                    let line = sources.position(value.key).line;
                    let origin = SettingOrigin::File { line, profile: profile.map(str::to_owned) };
                    let ConfigValue { name, texts: shown, .. } = value;
                    layer.values.push(LayerValue { name, texts, shown, origin });
                }
                Err(message) => {
                    self.out.report(Diagnostic::new(&INVALID_SETTING, value.span, message));
                }
            }
        }
        layer
    }

    fn confined(&self, key: &OptionKey, value: &ConfigValue) -> Result<Vec<String>, String> {
        let ConfigType::Path(form) = key.key.takes else {
            return Ok(value.texts.clone());
        };
        let texts = value.texts.iter().map(|text| {
            confine_path(&Disk, self.root, form, text)
                .ok_or_else(|| format!("`{}` leads out of the repository", value.name))
        });
        texts.collect()
    }
}
