//! The options of a run.

use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::compare::{CompareOptions, DEFAULT_MARGIN, Measure};
use evalrig_core::import::lone_format;
use evalrig_core::model::KeepRule;
use evalrig_core::plan::{Filter, Selection, Shard};
use evalrig_core::read::{FoundSuite, UNDECODABLE_NAME, suite_root};
use evalrig_core::reader::{EnvFiles, ReadPolicy, TargetNames, World};
use evalrig_core::source::{EntryKind, Files, Reach};

use crate::disk::{Confinement, LoadEnvironment, LoadFiles};
use crate::prepare::{CaseSpec, GradingSpec, WantedArms};
use crate::report::Detail;
use crate::results::PlanOptions;
use crate::setting::SandboxName;
use crate::target::reach_of_found;
use crate::text::{OutputStyle, single_line};

use super::error::{ForeignFileFound, Notice, Notify, SessionError};
#[cfg(feature = "queue")]
use super::queued_run::QueueSpec;

/// Where suites are read from.
#[derive(Debug, Clone)]
pub struct LoadOptions {
    pub working_directory: Utf8PathBuf,
    /// `None`: the nearest directory with `.git`.
    pub root: Option<Utf8PathBuf>,
    pub env_files: EnvFiles,
    /// Whether paths may leave the repository root.
    pub allow_outside_root: bool,
    /// `None`: the one nearest to each suite.
    pub targets_file: Option<Utf8PathBuf>,
    pub files: LoadFiles,
    pub environment: LoadEnvironment,
}

impl LoadOptions {
    pub fn new(working_directory: impl Into<Utf8PathBuf>) -> Self {
        Self {
            working_directory: working_directory.into(),
            root: None,
            env_files: EnvFiles::Search,
            allow_outside_root: false,
            targets_file: None,
            files: LoadFiles::default(),
            environment: LoadEnvironment::default(),
        }
    }

    /// Fails if an option names a path that does not exist.
    pub fn check(&self) -> Result<(), SessionError> {
        let env_file = match &self.env_files {
            EnvFiles::Only(file) => Some(file),
            EnvFiles::None | EnvFiles::Search => None,
        };
        self.check_kind("--root", self.root.as_ref(), EntryKind::Directory)?;
        self.check_kind("--env-file", env_file, EntryKind::File)?;
        self.check_kind("--targets", self.targets_file.as_ref(), EntryKind::File)
    }

    /// Suites below these paths and patterns. `!PATTERN` excludes.
    pub fn discover(
        &self,
        paths: &[String],
        notify: &mut Notify<'_>,
    ) -> Result<Vec<FoundSuite>, SessionError> {
        let found = FoundSuite::from_arguments(&self.files, &self.working_directory, paths);
        let found = found.map_err(SessionError::DiscoveryError)?;
        for path in &found.undecodable {
            let shown = single_line(self.shown(path).as_str());
            let name = UNDECODABLE_NAME.name;
            notify(Notice::Warning(format!(
                "warning[{name}]: `{shown}` is skipped in the search for suites: its name is not UTF-8"
            )));
        }
        match (&found.suites[..], found.generated.first()) {
            ([], None) => Err(SessionError::NoSuiteFile(self.foreign_files(&found.others))),
            ([], Some(path)) => Err(SessionError::OnlyGenerated(self.shown(path))),
            _ => Ok(found.suites),
        }
    }

    /// The first of these files that `convert` reads without being told how.
    fn foreign_files(&self, paths: &[Utf8PathBuf]) -> Vec<ForeignFileFound> {
        /// Larger files are not looked into for a message.
        const LARGEST: u64 = 1024 * 1024;
        const MOST: usize = 3;
        let is_small = |path: &&Utf8PathBuf| {
            let facts = self.files.look(path, Reach::Anywhere);
            facts.is_ok_and(|facts| facts.size <= LARGEST)
        };
        let found = paths.iter().filter(is_small).filter_map(|path| {
            let title = lone_format(&self.files, path)?.title;
            Some(ForeignFileFound { path: self.shown(path), title })
        });
        found.take(MOST).collect()
    }

    pub fn world(&self) -> World<'_> {
        World {
            files: &self.files,
            environment: &self.environment,
            working_directory: &self.working_directory,
        }
    }

    pub fn limits(&self) -> ReadPolicy {
        ReadPolicy {
            allow_outside_root: self.allow_outside_root,
            env_files: self.env_files.clone(),
            targets: TargetNames::Unchecked,
        }
    }

    /// Where the targets file of a suite may lead; one that the user named may be anywhere.
    pub(super) fn reach_of_targets<'r>(&'r self, file: &Utf8Path, root: &'r Utf8Path) -> Reach<'r> {
        match self.targets_file {
            Some(_) => Reach::Anywhere,
            None => reach_of_found(&self.limits(), file, root, &self.working_directory),
        }
    }

    pub(super) fn confinement(&self) -> Confinement {
        if self.allow_outside_root { Confinement::None } else { Confinement::Root }
    }

    /// The repository root of a suite.
    pub fn root_of(&self, suite: &Utf8Path) -> Utf8PathBuf {
        match &self.root {
            Some(root) => root.clone(),
            None => suite_root(&self.files, suite),
        }
    }

    /// A path relative to the working directory, if it is inside.
    pub(super) fn shown(&self, path: &Utf8Path) -> Utf8PathBuf {
        match path.strip_prefix(&self.working_directory) {
            Ok(near) if near.as_str().is_empty() => Utf8PathBuf::from("."),
            Ok(near) => near.to_owned(),
            Err(_) => path.to_owned(),
        }
    }

    fn check_kind(
        &self,
        option: &'static str,
        path: Option<&Utf8PathBuf>,
        expected: EntryKind,
    ) -> Result<(), SessionError> {
        let Some(path) = path else { return Ok(()) };
        let found = self.files.kind(path);
        if found == Some(expected) {
            return Ok(());
        }
        let fault = match (found, expected) {
            (None, _) => "does not exist",
            (Some(_), EntryKind::File) => "is not a file",
            (Some(_), _) => "is not a directory",
        };
        let path = self.shown(path);
        Err(SessionError::argument(option, format!("`{path}` {fault}")))
    }
}

/// Reports, each `NAME` or `NAME=PATH` with an absolute path; those without a path go to standard
/// output.
#[derive(Debug, Clone, Default)]
pub struct ReportSpec {
    pub list: Vec<String>,
    pub style: OutputStyle,
    pub detail: Detail,
}

/// The runs to compare with.
#[derive(Debug, Clone)]
pub struct BaselineSpec {
    /// Results files, patterns, directories with results, `latest`, `latest~N` or `latest~A..B`.
    pub runs: Vec<String>,
    /// How many runs `latest` and a directory stand for; `None` for the default.
    pub most_runs: Option<usize>,
    pub margin: f64,
    /// Whether the margin was asked for; a run that goes on has its own.
    pub has_margin: bool,
    pub measure: Measure,
    /// Whether the exit code is based on the comparison alone.
    pub is_gated: bool,
}

/// How arms are compared with the baseline arm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ArmComparisonSpec {
    pub margin: f64,
    /// As [`BaselineSpec::has_margin`].
    pub has_margin: bool,
    pub measure: Measure,
    /// Whether the exit code is based on the comparisons alone.
    pub is_gated: bool,
    /// Whether the gate was asked for, and not only configured. Then it is an error if there is nothing
    /// to compare with.
    pub needs_arms: bool,
}

impl Default for ArmComparisonSpec {
    fn default() -> Self {
        Self {
            margin: DEFAULT_MARGIN,
            has_margin: false,
            measure: Measure::Rate,
            is_gated: false,
            needs_arms: false,
        }
    }
}

impl ArmComparisonSpec {
    pub(super) fn options(&self) -> CompareOptions {
        CompareOptions { measure: self.measure, margin: self.margin, seed: None }
    }
}

/// Rounds that stop themselves.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RoundsSpec {
    /// At most so many; `None`: as many as there are trials.
    pub most: Option<u32>,
    /// Whether to stop as well when a verdict has become unlikely.
    pub stops_futile: bool,
}

/// The `.co/evals` store that cases are logged in.
#[derive(Debug, Clone, Default)]
pub struct RunLogSpec {
    /// `None`: that of each suite's repository.
    pub store: Option<Utf8PathBuf>,
    pub keep_runs: Option<usize>,
    /// Whether the user asked for it now. Otherwise a run that goes on or is repeated has one only if
    /// it had one before.
    pub is_asked_for: bool,
}

/// What is to be typed besides `--failed` or `--resume`, because results do not keep it.
#[derive(Debug, Clone, Default)]
pub struct RerunWords {
    pub failed: String,
    pub resume: String,
}

/// The options of a run. [`RunSpec::new`] runs everything below a directory once and reports
/// nothing; rows go to `.evalrig/results`.
#[derive(Debug, Clone)]
pub struct RunSpec {
    pub loading: LoadOptions,
    /// Files, directories and patterns; none: the working directory.
    pub paths: Vec<String>,
    pub plan: PlanOptions,
    pub grading: GradingSpec,
    /// Run only the cases that did not pass in this run: a results file, a directory with results, a
    /// pattern, `latest` or `latest~N`.
    pub failed: Option<String>,
    /// An interrupted run to continue.
    pub resume: Option<String>,
    /// A run whose rows of arms are taken over where nothing has changed.
    pub reuse_arm: Option<String>,
    pub baseline: Option<BaselineSpec>,
    pub arms: ArmComparisonSpec,
    /// One trial of every test at a time, until there is a verdict against the baseline, or between
    /// the arms.
    pub rounds: Option<RoundsSpec>,
    /// Absolute; `None`: `.evalrig/results` of each suite's repository.
    pub output: Option<Utf8PathBuf>,
    /// Whether `output` may have the results of another run, which are overwritten.
    pub force: bool,
    /// Whether rows hold the messages.
    pub messages: bool,
    pub run_log: Option<RunLogSpec>,
    /// Whether the run log is off only because this is a CI system; the summary says so.
    pub is_run_log_off_in_ci: bool,
    pub workers: Option<usize>,
    /// `--sandbox`, in place of that of every target.
    pub sandbox: Option<SandboxName>,
    /// `--keep-workspaces`, in place of `keep` of every workspace.
    pub keep_workspaces: Option<KeepRule>,
    pub timeout: Option<Duration>,
    pub retries: Option<u32>,
    pub budget_usd: Option<f64>,
    pub max_errors: Option<u64>,
    /// Start no other case after this many cases that did not pass.
    pub fail_fast: Option<u64>,
    /// Whether answers of earlier runs are used, and new ones kept for later runs.
    pub cache: bool,
    pub reports: ReportSpec,
    pub rerun: RerunWords,
    /// The command line, for the record.
    pub command: Option<String>,
    /// Whether SIGINT and SIGTERM stop the run gracefully.
    pub handle_signals: bool,
    /// Other machines run the cases.
    #[cfg(feature = "queue")]
    pub queue: Option<QueueSpec>,
}

impl RunSpec {
    pub fn new(working_directory: impl Into<Utf8PathBuf>) -> Self {
        Self {
            loading: LoadOptions::new(working_directory),
            paths: Vec::new(),
            plan: PlanOptions { seed: Some(0), ..PlanOptions::default() },
            grading: GradingSpec::default(),
            failed: None,
            resume: None,
            reuse_arm: None,
            baseline: None,
            arms: ArmComparisonSpec::default(),
            rounds: None,
            output: None,
            force: false,
            messages: true,
            run_log: None,
            is_run_log_off_in_ci: false,
            workers: None,
            sandbox: None,
            timeout: None,
            retries: None,
            budget_usd: None,
            max_errors: None,
            fail_fast: None,
            keep_workspaces: None,
            cache: false,
            reports: ReportSpec::default(),
            rerun: RerunWords::default(),
            command: None,
            handle_signals: false,
            #[cfg(feature = "queue")]
            queue: None,
        }
    }

    /// Without `--failed`, which is read from results files.
    pub(super) fn cases(&self) -> Result<CaseSpec, SessionError> {
        let plan = &self.plan;
        let filters = plan.filters.iter().map(|text| Filter::parse(text));
        let filters = filters.collect::<Result<_, _>>().map_err(|bad| {
            SessionError::argument("--filter", format!("`{}` is not a valid pattern", bad.0))
        })?;
        let shard = plan.shard.as_deref().map(Shard::parse).transpose();
        let shard = shard.map_err(|_| {
            SessionError::argument("--shard", "write I/N with I from 1 to N, such as 2/4")
        })?;
        let mut targets: Vec<String> = Vec::new();
        for name in &plan.targets {
            if !targets.contains(name) {
                targets.push(name.clone());
            }
        }
        Ok(CaseSpec {
            targets,
            arms: WantedArms { names: plan.arms.clone(), baseline: plan.baseline_arm.clone() },
            selection: Selection {
                filters,
                tags: plan.tags.clone(),
                ids: None,
                sample: plan.sample.map(|count| count as usize),
                seed: plan.seed.unwrap_or(0),
                shard,
            },
            trials: plan.trials,
            only: None,
            grading: self.grading.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_named_twice_runs_once() {
        let mut spec = RunSpec::new("/");
        spec.plan.targets = ["b", "a", "b"].map(str::to_owned).to_vec();
        assert_eq!(spec.cases().unwrap().targets, ["b", "a"]);
    }

    #[test]
    fn filters_and_shards_are_checked_first() {
        let mut spec = RunSpec::new("/");
        spec.plan.filters = vec!["[".to_owned()];
        let error = spec.cases().unwrap_err();
        assert_eq!(error.to_string(), "--filter: `[` is not a valid pattern");
        spec.plan.filters.clear();
        spec.plan.shard = Some("3/2".to_owned());
        assert!(spec.cases().unwrap_err().to_string().starts_with("--shard: "));
    }

    #[test]
    fn a_missing_path_in_an_option_is_an_error() {
        let mut loading = LoadOptions::new("/here");
        loading.targets_file = Some("/nowhere/targets.yaml".into());
        let error = loading.check().unwrap_err();
        assert_eq!(error.to_string(), "--targets: `/nowhere/targets.yaml` does not exist");
        assert!(!error.is_nothing_selected());
    }
}
