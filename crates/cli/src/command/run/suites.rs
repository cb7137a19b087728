//! Suites that are about to be run: loaded, with their targets file and their variables.

use std::collections::HashMap;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::diagnostic::{Diagnostic, Diagnostics, Level, Severity};
use evalrig_core::model::Suite;
use evalrig_core::read::{
    Findings as ReadFindings, FoundSuite, LoadError, LoadRequest, load_suite,
};
use evalrig_core::reader::{Limits, TargetNames};
use evalrig_core::secrets::Secrets;
use evalrig_core::source::{EntryKind, Files, Sources, Span};
use evalrig_run::disk::Disk;
use evalrig_run::prepare::NO_TARGETS_FILE;
use evalrig_run::target::{Targets, find_targets_file, read_targets};

use crate::args::Loading;
use crate::command::suite::show;
use crate::context::{Context, complain};
use crate::exit::Exit;

/// One suite and what belongs to it.
#[derive(Debug)]
pub(in super::super) struct Ready {
    pub(in super::super) path: Utf8PathBuf,
    pub(in super::super) root: Utf8PathBuf,
    pub(in super::super) suite: Suite,
    pub(in super::super) sources: Sources,
    pub(in super::super) secrets: Secrets,
    /// What was found besides; nothing in it blocks everything.
    pub(in super::super) rest: Vec<Diagnostic>,
    pub(in super::super) targets: Option<Targets>,
    /// Of `.env` files.
    pub(in super::super) variables: HashMap<String, String>,
}

impl Ready {
    pub(in super::super) fn variable(&self) -> impl Fn(&str) -> Option<String> + use<> {
        let variables = self.variables.clone();
        move |name| lookup(&variables)(name)
    }
}

/// The process first, then `.env` files.
fn lookup(variables: &HashMap<String, String>) -> impl Fn(&str) -> Option<String> {
    |name| {
        let own = std::env::var(name).ok();
        own.or_else(|| variables.get(name).cloned())
    }
}

/// Whether a run needs somebody who answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Need {
    Targets,
    /// Only if a judge is asked.
    Judges,
}

/// Everything that was found, or the way out after every fault has been shown.
pub(in super::super) fn load_all(
    context: &Context,
    loading: &Loading,
    targets: Option<&String>,
    found: &[FoundSuite],
    need: Need,
) -> Result<Vec<Ready>, Exit> {
    let chosen = targets.map(|file| context.absolute(file));
    if let Some(file) = &chosen
        && Disk.kind(file) != Some(EntryKind::File)
    {
        complain(&format!("--targets: `{file}` is not a file"));
        return Err(Exit::CouldNotStart);
    }
    let mut ready = Vec::new();
    let mut is_faulty = false;
    for one in found {
        match load_one(context, loading, chosen.as_deref(), one, need) {
            Ok(Some(suite)) => ready.push(suite),
            Ok(None) => {}
            Err(_) => is_faulty = true,
        }
    }
    if is_faulty {
        return Err(Exit::CouldNotStart);
    }
    if ready.is_empty() {
        complain("no suite was found");
        return Err(Exit::NothingSelected);
    }
    if !context.global.quiet {
        warn_of_namesakes(context, &ready);
    }
    Ok(ready)
}

/// `duplicate-suite-name`, for suites that share no sources.
fn warn_of_namesakes(context: &Context, ready: &[Ready]) {
    let mut first: HashMap<&str, &Utf8Path> = HashMap::new();
    for one in ready {
        let name = one.suite.name.as_str();
        if let Some(other) = first.insert(name, &one.path) {
            let (other, path) = (context.shown(other), context.shown(&one.path));
            complain(&format!(
                "warning[duplicate-suite-name]: `{other}` and `{path}` are both named `{name}`; \
                 their results can hardly be told apart"
            ));
        }
    }
}

fn load_one(
    context: &Context,
    loading: &Loading,
    chosen: Option<&Utf8Path>,
    one: &FoundSuite,
    need: Need,
) -> Result<Option<Ready>, Exit> {
    let mut findings = ReadFindings::new();
    let root = context.root(loading, &one.path);
    let directory = one.path.parent().unwrap_or(&one.path);
    let file = match chosen {
        Some(file) => Some(file.to_owned()),
        None => find_targets_file(&Disk, directory, &root, &context.working_directory),
    };
    let targets = file.as_deref().and_then(|file| {
        let is_foreign = chosen.is_none() && is_agentv(file);
        let (sources, out) = findings.parts_mut();
        read_file(context, sources, out, file, &root, is_foreign)
    });
    let limits = Limits {
        targets: match (&targets, &file) {
            (Some(targets), _) => targets.target_names(),
            (None, Some(_)) => TargetNames::Unchecked,
            (None, None) => TargetNames::NoFile,
        },
        ..context.limits(loading)
    };
    let request = LoadRequest::new(context.world(), &limits, &one.path, &root)
        .origin(one.origin)
        .with_env_values();
    let sound = match load_suite(&request, findings) {
        Ok(sound) => sound,
        Err(LoadError::Blocked(mut findings)) => {
            add_secrets(&mut findings, targets.as_ref());
            let (sources, blocking, secrets) = findings.into_blocking();
            show(context, &sources, blocking, &secrets);
            return Err(Exit::CouldNotStart);
        }
        Err(LoadError::NotASuite(mut findings)) => {
            add_secrets(&mut findings, targets.as_ref());
            let (sources, rest, secrets) = findings.into_parts();
            // The file is passed over; only this says why.
            if !rest.is_empty() && !context.global.quiet {
                show(context, &sources, rest, &secrets);
            }
            return Ok(None);
        }
    };
    let (suite, mut findings) = sound.into_parts();
    let variables = add_secrets(&mut findings, targets.as_ref());
    let (sources, rest, secrets) = findings.into_parts();
    if file.is_none() && need == Need::Targets {
        let place = suite.tests.first().map(|test| test.span.at_start());
        refuse_without_targets(context, &sources, place, &secrets);
        return Err(Exit::CouldNotStart);
    }
    Ok(Some(Ready {
        path: one.path.clone(),
        root,
        suite,
        sources,
        secrets,
        rest,
        targets,
        variables,
    }))
}

/// Adds what the environment and the targets file must not show; gives the `.env` variables.
fn add_secrets(findings: &mut ReadFindings, targets: Option<&Targets>) -> HashMap<String, String> {
    let variables = findings.env_values().clone();
    let mut secrets = environment_secrets(&variables);
    if let Some(targets) = targets {
        secrets.absorb(targets.secrets_with(&lookup(&variables)));
    }
    findings.add_secrets(secrets);
    variables
}

fn is_agentv(file: &Utf8Path) -> bool {
    file.parent().and_then(Utf8Path::file_name) == Some(".agentv")
}

/// A targets file. One of another tool that was merely found is read for what it offers; its
/// faults are nobody's business here.
fn read_file(
    context: &Context,
    sources: &mut Sources,
    out: &mut Diagnostics,
    file: &Utf8Path,
    root: &Utf8Path,
    is_foreign: bool,
) -> Option<Targets> {
    let mut ignored = Diagnostics::new();
    let heard = if is_foreign { &mut ignored } else { out };
    read_targets(context.world(), sources, heard, file, root)
}

/// Values that no record may hold (spec 9.5).
fn environment_secrets(variables: &HashMap<String, String>) -> Secrets {
    let mut secrets = Secrets::default();
    for (name, value) in std::env::vars_os() {
        if let (Some(name), Some(value)) = (name.to_str(), value.to_str()) {
            secrets.notice(name, value);
        }
    }
    for (name, value) in variables {
        secrets.notice(name, value);
    }
    secrets
}

fn refuse_without_targets(
    context: &Context,
    sources: &Sources,
    place: Option<Span>,
    secrets: &Secrets,
) {
    let message = "no targets file was found";
    let help = "`evalrig init` writes one; `--targets FILE` names another";
    match place {
        Some(span) => {
            let fault = Diagnostic::new(&NO_TARGETS_FILE, span, message).help(help);
            show(context, sources, vec![fault], secrets);
        }
        None => complain(&format!("{message}: {help}")),
    }
}

/// Shows what hinders running, if it touches a test that is to be run; the rest as warnings.
pub(in super::super) fn check(
    context: &Context,
    ready: &Ready,
    is_selected: impl Fn(usize) -> bool,
) -> Result<(), Exit> {
    let touches = |one: &Diagnostic| {
        let inside = ready.suite.tests.iter().position(|test| {
            test.span.source == one.span.source
                && test.span.start <= one.span.start
                && one.span.end <= test.span.end
        });
        inside.is_none_or(&is_selected)
    };
    let mut shown = Vec::new();
    let mut is_blocked = false;
    for one in &ready.rest {
        let blocks = one.level == Level::BlocksRun && touches(one);
        is_blocked |= blocks;
        match one.level.severity() {
            _ if blocks => shown.push(one.clone()),
            Severity::Error => shown.push(one.clone().level(Level::Warning)),
            Severity::Warning => shown.push(one.clone()),
            Severity::Note if context.global.verbose => shown.push(one.clone()),
            Severity::Note => {}
        }
    }
    if context.global.quiet && !is_blocked {
        return Ok(());
    }
    if !shown.is_empty() {
        show(context, &ready.sources, shown, &ready.secrets);
    }
    if is_blocked {
        Err(Exit::CouldNotStart)
    } else {
        Ok(())
    }
}
