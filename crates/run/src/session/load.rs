//! Loads suites with their targets files and variables.

use std::collections::{HashMap, HashSet};

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::assertion::judge_criteria;
use evalrig_core::diagnostic::{Diagnostic, Diagnostics, Level, Severity};
use evalrig_core::import::{DirectReading, DirectRequest, DirectSuite};
use evalrig_core::model::Suite;
use evalrig_core::read::{
    Findings, FoundSuite, LoadError, LoadRequest, Origin, enclosing_skill, load_suite,
};
use evalrig_core::reader::{ReadPolicy, TargetNames, World};
use evalrig_core::repair::Overlay;
use evalrig_core::secrets::Secrets;
use evalrig_core::source::{Reach, Sources};

use crate::disk::Disk;
use crate::execute::SuiteJob;
use crate::prepare::{
    CaseSpec, GradingSpec, NO_TARGETS_FILE, PrepareErrors, TargetPool, TargetScope, WantedArms,
    plan_cases, plan_stored_cases,
};
use crate::results::{CaseKey, WITH, WITHOUT};
use crate::target::{
    InstalledAgent, Targets, find_targets_file, installed_agents, is_agentv, read_targets,
    targets_of_agents,
};

use super::command_line::other_providers;
use super::error::{Notice, Notify, SessionError, SuiteRefusal};
use super::known_secrets::{lookup, redact_names, secrets_of};
use super::skill_revision::SkillRevisions;
use super::spec::LoadOptions;
use super::test_spans::TestSpans;

/// A suite that could be read. [`LoadedSuite::into_job`] is the only way to run it, and refuses suites
/// with diagnostics that block running.
#[derive(Debug)]
pub(super) struct LoadedSuite {
    /// Its cases are not planned yet.
    job: SuiteJob,
    pub(super) secrets: Secrets,
    /// Some may block running; none blocks reading.
    diagnostics: Vec<Diagnostic>,
    targets: Option<Targets>,
    /// Those that are installed, if there is no targets file and they are the targets.
    agents: Vec<InstalledAgent>,
    /// From `.env` files.
    variables: HashMap<String, String>,
}

/// Whether a suite without a targets file is an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TargetsFile {
    Required,
    /// Only judges need it.
    Optional,
}

/// Loads every suite. Fails with the refusals of all of them.
pub(super) fn load_suites(
    options: &LoadOptions,
    found: &[FoundSuite],
    need: TargetsFile,
    notify: &mut Notify<'_>,
) -> Result<Vec<LoadedSuite>, SessionError> {
    let (mut suites, mut refusals) = (Vec::new(), Vec::new());
    for one in found {
        match LoadedSuite::load(options, one, need, notify) {
            Ok(suite) => suites.extend(suite),
            Err(refusal) => refusals.push(*refusal),
        }
    }
    if !refusals.is_empty() {
        return Err(SessionError::Refused(refusals));
    }
    if suites.is_empty() {
        return Err(SessionError::NoSuite);
    }
    warn_of_duplicate_names(options, &suites, notify);
    Ok(suites)
}

/// `duplicate-suite-name`; not a diagnostic, because the suites have separate sources.
fn warn_of_duplicate_names(options: &LoadOptions, suites: &[LoadedSuite], notify: &mut Notify<'_>) {
    let mut first: HashMap<&str, &Utf8Path> = HashMap::new();
    for one in suites {
        if let Some(other) = first.insert(one.name(), &one.job.path) {
            let (other, path) = (options.shown(other), options.shown(&one.job.path));
            notify(Notice::Warning(format!(
                "warning[duplicate-suite-name]: `{other}` and `{path}` are both named `{}`; \
                 their results would be mixed up",
                one.name()
            )));
        }
    }
}

impl LoadedSuite {
    /// `Ok(None)` if the file is not a suite.
    fn load(
        options: &LoadOptions,
        found: &FoundSuite,
        need: TargetsFile,
        notify: &mut Notify<'_>,
    ) -> Result<Option<Self>, Box<SuiteRefusal>> {
        let mut findings = Findings::new();
        let root = options.root_of(&found.path);
        let (file, mut targets) = targets_of(options, &found.path, &root, &mut findings);
        let direct = match read_directly(options, found, &root, targets.as_ref(), &mut findings) {
            DirectReading::Native => None,
            DirectReading::Converted(suite) => Some(suite),
            DirectReading::Refused => {
                add_secrets(&mut findings, targets.as_ref());
                let (sources, blocking, secrets) = findings.into_blocking();
                return Err(SuiteRefusal::of_diagnostics(sources, blocking, secrets));
            }
        };
        if let (Some(suite), None) = (&direct, &file) {
            targets = targets_of_direct(options, &found.path, suite, &root, &mut findings, notify);
        }
        let mut agents = Vec::new();
        if direct.is_none()
            && file.is_none()
            && need == TargetsFile::Required
            && is_of_skill(options, found, &root)
        {
            agents = installed_agents();
            let (sources, out) = findings.parts_mut();
            targets = targets_of_agents(&agents, options.world(), sources, out, &root);
        }
        findings.add_secrets(secrets_of(&HashMap::new(), targets.as_ref()));
        let limits = ReadPolicy {
            targets: match (&targets, &file) {
                (Some(targets), _) => targets.target_names(),
                (None, Some(_)) => TargetNames::Unchecked,
                (None, None) => TargetNames::NoFile,
            },
            ..options.limits()
        };
        let request = LoadRequest::new(options.world(), &limits, &found.path, &root)
            .origin(found.origin)
            .converted(direct.as_ref().map(|suite| suite.text.as_str()))
            .with_env_values();
        let sound = match load_suite(&request, findings) {
            Ok(sound) => sound,
            Err(LoadError::Blocked(mut findings)) => {
                add_secrets(&mut findings, targets.as_ref());
                let (sources, blocking, secrets) = findings.into_blocking();
                return Err(SuiteRefusal::of_diagnostics(sources, blocking, secrets));
            }
            Err(LoadError::NotASuite(mut findings)) => {
                add_secrets(&mut findings, targets.as_ref());
                let (sources, diagnostics, secrets) = findings.into_parts();
                // The diagnostics say why the file is skipped.
                if !diagnostics.is_empty() {
                    notify(Notice::Diagnostics {
                        sources: &sources,
                        secrets: &secrets,
                        diagnostics,
                    });
                }
                return Ok(None);
            }
        };
        let (mut suite, mut findings) = sound.into_parts();
        let variables = add_secrets(&mut findings, targets.as_ref());
        let (sources, diagnostics, secrets) = findings.into_parts();
        let has_targets = targets.is_some() || file.is_some();
        if agents.is_empty() && !has_targets && need == TargetsFile::Required {
            return Err(no_targets_file(&suite, sources, secrets));
        }
        redact_names(&mut suite, &secrets);
        let mut job =
            SuiteJob::new(suite, sources, found.path.clone(), root, options.confinement());
        job.targets_file = file;
        Ok(Some(Self { job, secrets, diagnostics, targets, agents, variables }))
    }

    /// See [`redact_names`].
    pub(super) fn redact_names(&mut self, secrets: &Secrets) {
        redact_names(&mut self.job.suite, secrets);
    }

    /// Whether the targets file contains a literal secret.
    #[cfg(feature = "queue")]
    pub(super) fn has_literal_secret(&self) -> bool {
        self.targets.as_ref().is_some_and(|targets| !targets.secrets().is_empty())
    }

    pub(super) fn name(&self) -> &str {
        &self.job.suite.name
    }

    /// Judges `criteria` even in tests with assertions.
    pub(super) fn judge_criteria(&mut self) {
        self.job.suite.tests.iter_mut().for_each(judge_criteria);
    }

    /// Without a targets file, says which installed agents run the suite, or that one is not installed.
    fn check_agents(&self, wanted: &[String], notify: &mut Notify<'_>) -> PrepareErrors {
        let mut errors = PrepareErrors::default();
        let Some(first) = self.agents.first() else {
            return errors;
        };
        let names: Vec<&str> = self.agents.iter().map(|agent| agent.program).collect();
        let is_known = |name: &str| name == "default" || names.contains(&name);
        for name in wanted.iter().filter(|name| !is_known(name)) {
            let names = names.join(", ");
            errors.add(format!(
                "--target: no targets file defines `{name}`, and no agent of this name is installed; installed: {names}"
            ));
        }
        if errors.messages.is_empty() {
            let on = match wanted {
                [] => format!("`{}`, which is installed", first.program),
                _ => {
                    wanted.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" and ")
                }
            };
            let suite = &self.job.suite.name;
            notify(Notice::Message(format!("no targets file: `{suite}` runs on {on}")));
        }
        errors
    }

    /// Plans the selected cases and connects their targets. A diagnostic that blocks running is only a
    /// warning if it concerns a test that is not selected.
    pub(super) fn into_job(
        mut self,
        spec: &CaseSpec,
        pool: &mut TargetPool,
        revisions: &SkillRevisions,
        notify: &mut Notify<'_>,
    ) -> Result<SuiteJob, Box<SuiteRefusal>> {
        let selected = spec.select(&self.job.suite);
        let blocking = self.check(|at| selected.binary_search(&at).is_ok(), notify);
        let stand_in = pool.stand_in;
        let variable =
            |name: &str| lookup(&self.variables, name).or_else(|| stand_in.map(str::to_owned));
        let not_installed = self.check_agents(&spec.targets, notify);
        let errors = match &self.targets {
            Some(_) if !not_installed.messages.is_empty() => not_installed,
            Some(targets) => {
                let scope = TargetScope {
                    targets,
                    files: &Disk,
                    variable: &variable,
                    skill_directory: &|source| revisions.directory(source),
                };
                if !self.agents.is_empty()
                    && spec.arms.names.is_empty()
                    && self.job.suite.arms.is_empty()
                {
                    let names = vec![WITH.to_owned(), WITHOUT.to_owned()];
                    let arms = WantedArms { names, ..spec.arms.clone() };
                    let spec = CaseSpec { arms, ..spec.clone() };
                    plan_cases(&mut self.job, &selected, &spec, scope, pool)
                } else {
                    plan_cases(&mut self.job, &selected, spec, scope, pool)
                }
            }
            None => {
                let path = &self.job.path;
                let mut errors = PrepareErrors::default();
                errors.add(format!("the targets file of `{path}` cannot be used"));
                errors
            }
        };
        if !errors.warnings.is_empty() {
            notify(Notice::Diagnostics {
                sources: &self.job.sources,
                secrets: &self.secrets,
                diagnostics: errors.warnings.clone(),
            });
        }
        self.finish(blocking, errors)
    }

    /// Plans the cases of a stored run. Also returns the ids of tests that the suite no longer has.
    pub(super) fn into_regrade_job(
        mut self,
        spec: &GradingSpec,
        results: &Utf8Path,
        keys: &[CaseKey],
        notify: &mut Notify<'_>,
    ) -> Result<(SuiteJob, Vec<String>), Box<SuiteRefusal>> {
        let with_row: HashSet<&str> = keys.iter().map(|key| key.test.as_str()).collect();
        let has_row = |at: usize| with_row.contains(self.job.suite.tests[at].id.as_str());
        let blocking = self.check(has_row, notify);
        let variable = |name: &str| lookup(&self.variables, name);
        let scope = self.targets.as_ref().map(|targets| TargetScope {
            targets,
            files: &Disk,
            variable: &variable,
            skill_directory: &|source| Ok(source.directory.clone()),
        });
        let (errors, gone) = plan_stored_cases(&mut self.job, spec, results, keys, scope);
        Ok((self.finish(blocking, errors)?, gone))
    }

    /// All diagnostics if one of them blocks running a selected test; otherwise they are notices.
    fn check(
        &self,
        is_selected: impl Fn(usize) -> bool,
        notify: &mut Notify<'_>,
    ) -> Vec<Diagnostic> {
        let tests = TestSpans::new(self.job.suite.tests.iter().map(|test| test.span));
        let touches_selected = |one: &Diagnostic| tests.test_at(one.span).is_none_or(&is_selected);
        let mut is_blocked = false;
        let mut shown = Vec::with_capacity(self.diagnostics.len());
        for one in &self.diagnostics {
            let blocks = one.level == Level::BlocksRun && touches_selected(one);
            is_blocked |= blocks;
            shown.push(match one.level.severity() {
                Severity::Error if !blocks => one.clone().level(Level::Warning),
                _ => one.clone(),
            });
        }
        if is_blocked {
            return shown;
        }
        if !shown.is_empty() {
            notify(Notice::Diagnostics {
                sources: &self.job.sources,
                secrets: &self.secrets,
                diagnostics: shown,
            });
        }
        Vec::new()
    }

    /// A blocked suite is prepared too, so that all errors are reported together.
    fn finish(
        self,
        blocking: Vec<Diagnostic>,
        errors: PrepareErrors,
    ) -> Result<SuiteJob, Box<SuiteRefusal>> {
        if blocking.is_empty() && errors.is_empty() {
            return Ok(self.job);
        }
        let messages = errors.messages.iter();
        let messages = messages.map(|text| self.secrets.redact(text).to_string());
        Err(Box::new(SuiteRefusal {
            sources: self.job.sources,
            diagnostics: blocking,
            messages: messages.collect(),
            missing: errors.diagnostics,
            secrets: self.secrets,
        }))
    }
}

impl SuiteRefusal {
    fn of_diagnostics(
        sources: Sources,
        diagnostics: Vec<Diagnostic>,
        secrets: Secrets,
    ) -> Box<Self> {
        Box::new(Self { sources, secrets, diagnostics, messages: Vec::new(), missing: Vec::new() })
    }
}

/// The path of a suite's targets file, and its contents if they are valid.
fn targets_of(
    options: &LoadOptions,
    suite: &Utf8Path,
    root: &Utf8Path,
    findings: &mut Findings,
) -> (Option<Utf8PathBuf>, Option<Targets>) {
    let chosen = options.targets_file.clone();
    let directory = suite.parent().unwrap_or(suite);
    let find = || find_targets_file(&options.files, directory, root, &options.working_directory);
    let is_chosen = chosen.is_some();
    let file = chosen.or_else(find);
    let targets = file.as_deref().and_then(|file| {
        let (sources, out) = findings.parts_mut();
        // Only the targets of another tool's file matter; diagnostics about it would be noise.
        let is_foreign = !is_chosen && is_agentv(file);
        let mut ignored = Diagnostics::new();
        let out = if is_foreign { &mut ignored } else { out };
        let reach = options.reach_of_targets(file, root);
        read_targets(options.world(), sources, out, file, root, reach)
    });
    (file, targets)
}

/// How a suite that was named is read, and for a file of another tool the suite that it becomes.
fn read_directly(
    options: &LoadOptions,
    found: &FoundSuite,
    root: &Utf8Path,
    targets: Option<&Targets>,
    findings: &mut Findings,
) -> DirectReading {
    if found.origin == Origin::Found {
        return DirectReading::Native;
    }
    let names: Option<Vec<String>> =
        targets.map(|targets| targets.names().map(str::to_owned).collect());
    let (limits, shown) = (options.limits(), options.shown(&found.path));
    let request = DirectRequest {
        files: &options.files,
        path: &found.path,
        root,
        policy: &limits,
        targets: names.as_deref(),
        shown: shown.as_str(),
    };
    DirectReading::of(&request, findings)
}

/// The targets that the providers of a file of another tool become.
fn targets_of_direct(
    options: &LoadOptions,
    path: &Utf8Path,
    suite: &DirectSuite,
    root: &Utf8Path,
    findings: &mut Findings,
    notify: &mut Notify<'_>,
) -> Option<Targets> {
    let text = suite.targets.as_ref()?;
    let file = path.parent().unwrap_or(path).join(".evalrig/targets.yaml");
    let mut files = Overlay::new(&options.files);
    files.insert(file.clone(), text.as_bytes().to_vec());
    let (sources, out) = findings.parts_mut();
    let world = World { files: &files, ..options.world() };
    let targets = read_targets(world, sources, out, &file, root, Reach::Anywhere);
    let subject = format!("`{}`", options.shown(path));
    if let Some(text) = other_providers(&subject, &suite.answering) {
        notify(Notice::Message(text));
    }
    targets
}

/// Whether the suite is an `evals.json` or an eval set of a skill, which people run without further
/// files.
fn is_of_skill(options: &LoadOptions, found: &FoundSuite, root: &Utf8Path) -> bool {
    found.path.extension() == Some("json")
        && enclosing_skill(&options.files, &found.path, root, Reach::Inside(root)).is_some()
}

fn no_targets_file(suite: &Suite, sources: Sources, secrets: Secrets) -> Box<SuiteRefusal> {
    let message = "no targets file found";
    let help = "create one with `evalrig init --target claude` (`evalrig init --help` lists other agents), \
                or name one with `--targets FILE`";
    let mut refusal = SuiteRefusal::of_diagnostics(sources, Vec::new(), secrets);
    match suite.tests.first() {
        Some(test) => {
            let place = test.span.at_start();
            let found = Diagnostic::new(&NO_TARGETS_FILE, place, message).help(help);
            refusal.diagnostics.push(found);
        }
        None => refusal.messages.push(format!("{message}; {help}")),
    }
    refusal
}

/// Adds the secrets of the environment and the targets file; returns the variables of `.env` files.
fn add_secrets(findings: &mut Findings, targets: Option<&Targets>) -> HashMap<String, String> {
    let variables = findings.env_values().clone();
    findings.add_secrets(secrets_of(&variables, targets));
    variables
}
