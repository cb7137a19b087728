//! The secrets that a session knows, and what passes them on its way to the user (spec 9.5).

use std::collections::HashMap;
use std::sync::Arc;

use camino::Utf8Path;
use evalrig_core::diagnostic::Diagnostics;
use evalrig_core::model::{Suite, TestId};
use evalrig_core::reader::{EnvFiles, ReadPolicy, Reader};
use evalrig_core::secrets::{RedactedNames, Secrets};
use evalrig_core::source::Sources;

use crate::agent::clean_home::{UserEnvironment, login_secrets};
use crate::disk::Disk;
use crate::event::Event;
use crate::target::{Targets, find_targets_file, read_targets};

use super::error::Notice;
use super::run_job::EventListener;
use super::spec::LoadOptions;

/// Secrets of the environment, of `.env` files and of the targets file, as seen from a directory. For
/// commands that do not run the suites in it.
pub fn known_secrets(options: &LoadOptions, directory: &Utf8Path) -> Secrets {
    let (variables, targets) = known_targets(options, directory);
    secrets_of(&variables, targets.as_ref())
}

/// As [`known_secrets`], with the user's logins of the agents in the targets file: for commands that show
/// files that agents have made.
pub fn known_secrets_and_logins(options: &LoadOptions, directory: &Utf8Path) -> Secrets {
    let (variables, targets) = known_targets(options, directory);
    let mut secrets = secrets_of(&variables, targets.as_ref());
    let user = UserEnvironment::current();
    let found = targets.iter().flat_map(|found| found.names().filter_map(|name| found.get(name)));
    for layout in found.filter_map(|target| target.settings.home_layout()) {
        secrets.absorb(login_secrets(layout, None, &user));
    }
    secrets
}

/// The variables of `.env` files and the targets file.
fn known_targets(
    options: &LoadOptions,
    directory: &Utf8Path,
) -> (HashMap<String, String>, Option<Targets>) {
    let root = options.root_of(&directory.join("EVAL.yaml"));
    let variables = env_file_values(options, directory, &root);
    let find = || find_targets_file(&Disk, directory, &root, &options.working_directory);
    let file = options.targets_file.clone().or_else(find);
    let (mut sources, mut out) = (Sources::new(), Diagnostics::new());
    let targets = file.and_then(|file| {
        let reach = options.reach_of_targets(&file, &root);
        read_targets(options.world(), &mut sources, &mut out, &file, &root, reach)
    });
    (variables, targets)
}

fn env_file_values(
    options: &LoadOptions,
    directory: &Utf8Path,
    root: &Utf8Path,
) -> HashMap<String, String> {
    if options.env_files == EnvFiles::None {
        return HashMap::new();
    }
    let (mut sources, mut out) = (Sources::new(), Diagnostics::new());
    let limits: ReadPolicy = options.limits();
    let (root, directory) = (root.to_owned(), directory.to_owned());
    let mut reader = Reader::new(options.world(), &mut sources, &mut out, &limits, root, directory);
    reader.env_file_values()
}

/// Secrets of the environment, of these variables and of the targets file.
pub(super) fn secrets_of(
    variables: &HashMap<String, String>,
    targets: Option<&Targets>,
) -> Secrets {
    let mut secrets = environment_secrets();
    for (name, value) in variables {
        secrets.notice(name, value);
    }
    if let Some(targets) = targets {
        secrets.absorb(targets.secrets_with(&|name: &str| lookup(variables, name)));
    }
    secrets
}

/// Values of variables of the process whose names say that they are secret.
pub fn environment_secrets() -> Secrets {
    let mut secrets = Secrets::default();
    for (name, value) in std::env::vars_os() {
        if let (Some(name), Some(value)) = (name.to_str(), value.to_str()) {
            secrets.notice(name, value);
        }
    }
    secrets
}

/// The process environment, then `.env` files.
pub(super) fn lookup(variables: &HashMap<String, String>, name: &str) -> Option<String> {
    let own = std::env::var(name).ok();
    own.or_else(|| variables.get(name).cloned())
}

/// Redacts the names by which rows are found: before cases are planned, so that all of a run uses the
/// same names. Names that become equal are numbered.
pub fn redact_names(suite: &mut Suite, secrets: &Secrets) {
    if secrets.is_empty() {
        return;
    }
    secrets.redact_in_place(&mut suite.name);
    let mut names = RedactedNames::new(secrets);
    for test in &mut suite.tests {
        let mut id = test.id.to_string();
        if names.redact(&mut id)
            && let Some(id) = TestId::new(id)
        {
            test.id = id;
        }
    }
}

/// A listener that hears no secret. Rows are redacted when they are written.
pub(super) fn redacting(listener: EventListener, secrets: Arc<Secrets>) -> EventListener {
    if secrets.is_empty() {
        return listener;
    }
    Arc::new(move |event| match event {
        Event::Retrying { case, reason, seconds } => listener(&Event::Retrying {
            case: *case,
            reason: secrets.redact(reason),
            seconds: *seconds,
        }),
        Event::Warning(text) => listener(&Event::Warning(secrets.redact(text))),
        Event::Stopping(text) => listener(&Event::Stopping(secrets.redact(text))),
        Event::Worker { name, text } => listener(&Event::Worker {
            name: Arc::clone(name),
            text: text.as_ref().map(|text| secrets.redact(text)),
        }),
        Event::Planned { .. }
        | Event::Started { .. }
        | Event::Finished { .. }
        | Event::StopRequested => listener(event),
    })
}

impl Notice<'_> {
    /// Diagnostics are redacted where they are rendered.
    pub(super) fn redacted(self, secrets: &Secrets) -> Self {
        match self {
            Self::Message(text) => Self::Message(secrets.redact(&text)),
            Self::Warning(text) => Self::Warning(secrets.redact(&text)),
            Self::Diagnostics { .. } => self,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listener_hears_no_secret() {
        let mut secrets = Secrets::default();
        secrets.add("sk-very-secret");
        let heard = Arc::new(std::sync::Mutex::new(Vec::new()));
        let listener: EventListener = {
            let heard = Arc::clone(&heard);
            Arc::new(move |event| heard.lock().unwrap().push(format!("{event:?}")))
        };
        let listener = redacting(listener, Arc::new(secrets));
        let text = || "no sk-very-secret".to_owned();
        listener(&Event::Retrying { case: 1, reason: text(), seconds: 0.5 });
        listener(&Event::Warning(text()));
        listener(&Event::Stopping(text()));
        listener(&Event::StopRequested);
        let heard = heard.lock().unwrap().join("\n");
        assert_eq!(heard.matches("no ***").count(), 3, "{heard}");
        assert!(!heard.contains("very"), "{heard}");
    }
}
