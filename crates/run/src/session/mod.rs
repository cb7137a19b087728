//! Orchestrates a run: loads suites, resumes or repeats earlier runs, opens results files and reports,
//! executes, compares with a baseline and decides the exit code.
//!
//! [`RunSession::prepare`] finds everything that is missing before anything is called; [`RunSession::run`]
//! does the rest. [`regrade`] and [`report_stored_run`] start from stored rows instead.

mod arm_forecast;
mod base_runs;
mod baseline;
mod case_collector;
mod command_line;
mod compared_answers;
mod earlier_options;
mod error;
#[cfg(all(test, unix))]
mod fault_tests;
mod find_results;
mod finish;
mod gate;
mod git_state;
mod hidden_paths;
mod history;
mod judge_check;
mod judged_rows;
mod known_secrets;
mod load;
mod mutate;
mod mutation_asks;
mod next_command;
mod noise_report;
mod observer;
#[cfg(feature = "queue")]
mod queue_bundle;
#[cfg(feature = "queue")]
mod queue_neighbours;
#[cfg(feature = "queue")]
mod queue_worker;
#[cfg(feature = "queue")]
mod queued_run;
mod regrade;
mod rejected_runs;
mod report_set;
mod results_files;
mod resume;
mod reuse;
mod round_decision;
mod round_setup;
mod run_job;
mod run_origin;
mod run_search;
mod run_suites;
mod same_results;
mod scratch;
#[cfg(feature = "view")]
mod served_run;
mod signals;
mod skill_files;
mod skill_revision;
mod spec;
mod stored_rounds;
mod stored_run;
mod suite_text;
mod test_spans;
#[cfg(test)]
mod tests;
mod watch;
mod watch_inputs;

use std::collections::HashSet;
use std::sync::Arc;

use camino::Utf8PathBuf;
use evalrig_core::compare::{ArmForecast, ComparedCase, Forecast};
use evalrig_core::secrets::Secrets;

#[cfg(feature = "queue")]
use crate::disk::{LoadEnvironment, LoadFiles};
use crate::execute::SuiteJob;
#[cfg(feature = "queue")]
use crate::prepare::TargetNeed;
use crate::prepare::{Estimate, TargetPool, TestOnTarget};
use crate::results::{Gaps, Interrupted};

pub use crate::agent::{enable_watchdog, kill_programs, watch_if_asked};
pub use crate::prepare::GradingSpec;
pub use base_runs::{BaseRunFiles, DEFAULT_BASELINE_RUNS, group_runs};
pub use case_collector::{StoredCases, read_cases};
pub use command_line::{other_providers, quoted};
pub use compared_answers::read_answers;
pub use error::{ForeignFileFound, Notice, Notify, SessionError, SuiteRefusal};
pub use find_results::{LATEST, find_all_results, find_results, matching_results, names_results};
pub use finish::FinishedRun;
pub use gate::{comparison_exit, gate_exit};
pub use judge_check::{JudgeCheckFinding, JudgeCheckSpec, check_stored_judges};
pub use judged_rows::{LabelCounts, StaleLabel};
pub use known_secrets::{
    environment_secrets, known_secrets, known_secrets_and_logins, redact_names,
};
pub use mutate::{MutationReport, MutationSpec, mutate};
pub use mutation_asks::AskedMutants;
pub use noise_report::{DollarChoice, NoiseReport, OlderTests, TestName, measure_noise};
pub use observer::{SessionExit, StopSignal};
#[cfg(feature = "queue")]
pub use queue_worker::{WorkerSpec, cancel_queued_run, queued_runs, remove_queued_run, run_worker};
#[cfg(feature = "queue")]
pub use queued_run::QueueSpec;
pub use regrade::{RegradeSpec, estimate_regrade, regrade};
pub use rejected_runs::SkippedRuns;
pub use run_job::EventListener;
pub use run_search::{FoundRuns, RunSearch, find_runs, split_sides};
pub use same_results::are_same_results;
#[cfg(feature = "view")]
pub use served_run::ServedRun;
pub use signals::{report_size_limit, wait_for_signal};
use skill_revision::SkillRevisions;
pub use skill_revision::{missing_revisions, missing_revisions_of_targets};
pub use spec::{
    ArmComparisonSpec, BaselineSpec, LoadOptions, ReportSpec, RerunWords, RoundsSpec, RunLogSpec,
    RunSpec,
};
pub use stored_rounds::{StoredRounds, compare_stored};
pub use stored_run::{StoredRunSpec, report_stored_run};
pub use watch::{Waited, WatchSession, WatchStep};

use arm_forecast::forecast_arms;
use base_runs::{BaselineSearch, BaselineSuite};
use baseline::Baseline;
use earlier_options::repeat_options;
use load::{TargetsFile, load_suites};
#[cfg(feature = "queue")]
use queue_bundle::refuse_secrets;
#[cfg(feature = "queue")]
use queued_run::{AttachedRun, ReadyRun, attach_run};
use resume::{FailedSource, assign_interrupted, read_interrupted, resume_spec};
use round_setup::{RoundSetup, arms, check_arms, forecast_of, take_rounds};
use run_suites::{RunStart, run_suites};
#[cfg(feature = "queue")]
use scratch::RunScratch;

/// In place of variables of targets, which only workers need.
#[cfg(feature = "queue")]
const NOT_SET_HERE: &str = "not-set-on-the-coordinator";

/// Suites whose cases are planned and whose targets are connected. Nothing has been called.
#[derive(Debug)]
pub struct RunSession {
    spec: RunSpec,
    suites: Vec<SuiteJob>,
    secrets: Arc<Secrets>,
    /// Interrupted results to continue.
    interrupted: Vec<Arc<Interrupted>>,
    /// What the results lack that the run starts from.
    gaps: Gaps,
    /// Holds the skills of arms until the run is over.
    skill_revisions: SkillRevisions,
    /// Whether cases were left out that an earlier run of `--watch` has answered.
    is_part: bool,
    /// `--attach`.
    #[cfg(feature = "queue")]
    attached: Option<AttachedQueue>,
}

/// A run on the server that is followed.
#[cfg(feature = "queue")]
#[derive(Debug)]
struct AttachedQueue {
    queued: ReadyRun,
    /// Holds the files of the run until it is over.
    _scratch: RunScratch,
}

/// What a run would do (`--dry-run`).
#[derive(Debug)]
pub struct RunEstimate {
    pub estimate: Estimate,
    /// Name of the baseline, and the number of tests in common.
    pub baseline: Option<(String, usize)>,
    /// What the comparison would probably say, by the baseline's own results; with a drop of nothing,
    /// of the margin and of twice the margin.
    pub forecast: Vec<Forecast>,
    /// What would probably be said of each arm, if none but arms are compared.
    pub arms: Vec<ArmForecast>,
}

impl RunSession {
    /// Loads the suites and plans their cases. Fails with everything that is missing.
    pub fn prepare(spec: RunSpec, notify: &mut Notify<'_>) -> Result<Self, SessionError> {
        Self::prepare_only(spec, None, notify)
    }

    /// A run that is on the server of a queue, with its suites and options.
    #[cfg(feature = "queue")]
    pub fn attach(
        spec: RunSpec,
        queue: &QueueSpec,
        run: &str,
        notify: &mut Notify<'_>,
    ) -> Result<Self, SessionError> {
        let AttachedRun { spec, queued, only, scratch } = attach_run(spec, queue, run, notify)?;
        let mut session = Self::prepare_only(spec, Some(only), notify)?;
        session.attached = Some(AttachedQueue { queued, _scratch: scratch });
        Ok(session)
    }

    /// `attached` are the cases of a run on a server.
    fn prepare_only(
        mut spec: RunSpec,
        attached: Option<HashSet<TestOnTarget>>,
        notify: &mut Notify<'_>,
    ) -> Result<Self, SessionError> {
        spec.loading.check()?;
        #[cfg(feature = "queue")]
        if spec.queue.is_some() {
            spec.loading.files = LoadFiles::recording();
            spec.loading.environment = LoadEnvironment::recording();
        }
        let interrupted = read_interrupted(&spec, notify)?;
        let only = resume_spec(&mut spec, &interrupted)?;
        take_rounds(&mut spec)?;
        let named = if spec.paths.is_empty() {
            None
        } else {
            Some(spec.loading.discover(&spec.paths, notify)?)
        };
        let failed = match &spec.failed {
            Some(argument) => Some(FailedSource::find(&spec, argument, named.as_deref())?),
            None => None,
        };
        if let Some(source) = &failed {
            if named.is_none() {
                spec.paths = source.suites(&spec).unwrap_or_default();
            }
            if let (Some(file), Some(header)) = (source.files.first(), source.header()) {
                repeat_options(&mut spec, file, header);
            }
        }
        let found = match named {
            Some(found) => found,
            None => spec.loading.discover(&spec.paths, notify)?,
        };
        let mut cases = spec.cases()?;
        cases.only = only.or(attached);
        let mut loaded = load_suites(&spec.loading, &found, TargetsFile::Required, notify)?;
        #[cfg(feature = "queue")]
        if spec.queue.is_some() {
            refuse_secrets(&spec, &loaded)?;
        }
        let mut secrets = Secrets::default();
        for suite in &loaded {
            secrets.absorb(suite.secrets.clone());
        }
        for suite in &mut loaded {
            suite.redact_names(&secrets);
        }
        let notify = &mut |notice: Notice<'_>| notify(notice.redacted(&secrets));
        let mut gaps = Gaps::default();
        if let Some(source) = failed {
            let failed = source.read(&spec, &loaded, notify)?;
            cases.only = Some(failed.only);
            failed.gaps.into_iter().for_each(|text| gaps.add_fault(text));
        }
        let mut pool = TargetPool::default();
        pool.sandbox = spec.sandbox;
        #[cfg(feature = "queue")]
        if spec.queue.is_some() {
            // Workers call them, with variables of their own.
            (pool.need, pool.stand_in) = (TargetNeed::Optional, Some(NOT_SET_HERE));
        }
        let skill_revisions = SkillRevisions::default();
        let (mut suites, mut refusals) = (Vec::with_capacity(loaded.len()), Vec::new());
        for mut suite in loaded {
            if spec.grading.judge_criteria {
                suite.judge_criteria();
            }
            match suite.into_job(&cases, &mut pool, &skill_revisions, notify) {
                Ok(job) => suites.push(job),
                Err(refusal) => refusals.push(*refusal),
            }
        }
        if !refusals.is_empty() {
            return Err(SessionError::Refused(refusals));
        }
        suites.iter().for_each(|suite| suite.add_login_secrets(&mut secrets));
        let secrets = Arc::new(secrets);
        Ok(Self {
            spec,
            suites,
            secrets,
            interrupted,
            gaps,
            skill_revisions,
            is_part: false,
            #[cfg(feature = "queue")]
            attached: None,
        })
    }

    pub fn suites(&self) -> &[SuiteJob] {
        &self.suites
    }

    /// How many calls the run would make and what they may cost.
    pub fn estimate(&self, notify: &mut Notify<'_>) -> Result<RunEstimate, SessionError> {
        let mut estimate = Estimate::default();
        for suite in &self.suites {
            estimate.add(suite, self.spec.grading.judging, self.spec.retries);
        }
        if estimate.cases == 0 {
            return Err(no_test(&self.spec));
        }
        let jobs: Vec<&SuiteJob> = self.suites.iter().collect();
        check_arms(&self.spec, &jobs)?;
        let baseline = read_baseline(&self.spec, &jobs, Vec::new(), notify)?;
        let found = baseline.as_ref().map(|(found, _)| found);
        RoundSetup::of(&self.spec, &jobs, found, None)?;
        let forecast = found.map_or_else(Vec::new, |found| forecast_of(found, &jobs));
        let compared = if found.is_some() { Vec::new() } else { arms(&jobs) };
        let arms = if compared.is_empty() {
            Vec::new()
        } else {
            let history = earlier_cases(&self.spec, &jobs);
            forecast_arms(&self.spec, &jobs, &compared, &history)
        };
        let baseline = baseline.map(|(found, common)| (found.name, common));
        Ok(RunEstimate { estimate, baseline, forecast, arms })
    }

    /// Runs every case and writes results and reports. Blocks the thread; starts its own async runtime.
    pub fn run(
        self,
        notify: &mut Notify<'_>,
        listener: EventListener,
    ) -> Result<FinishedRun, SessionError> {
        #[cfg(feature = "queue")]
        let (queued, _scratch) = match self.attached {
            Some(AttachedQueue { queued, _scratch }) => (Some(queued), Some(_scratch)),
            None => (None, None),
        };
        let Self { spec, suites, secrets, interrupted, gaps, is_part, .. } = self;
        let _held = self.skill_revisions;
        let notify = &mut |notice: Notice<'_>| notify(notice.redacted(&secrets));
        if suites.iter().all(|suite| suite.case_count() == 0) {
            return Err(if gaps.is_empty() {
                no_test(&spec)
            } else {
                SessionError::Incomplete("no test is known to have failed".to_owned())
            });
        }
        let suites = assign_interrupted(&spec, suites, &interrupted)?;
        drop(interrupted);
        let own = suites.iter().filter_map(|suite| suite.results()).collect();
        let jobs: Vec<&SuiteJob> = suites.iter().map(|suite| &suite.job).collect();
        check_arms(&spec, &jobs)?;
        let baseline = read_baseline(&spec, &jobs, own, notify)?.map(|(found, _)| found);
        let header = suites.iter().find_map(|suite| suite.interrupted.as_ref()?.header.as_ref());
        let stored = header.and_then(|header| header.rounds.as_ref());
        let rounds = RoundSetup::of(&spec, &jobs, baseline.as_ref(), stored)?;
        let secrets = Arc::clone(&secrets);
        let start = RunStart {
            suites,
            secrets,
            baseline,
            rounds,
            gaps,
            is_regrade: false,
            earlier_gate: None,
            is_part,
            #[cfg(feature = "queue")]
            queued,
        };
        run_suites(&spec, start, notify, listener)
    }
}

/// Why a run has no case.
fn no_test(spec: &RunSpec) -> SessionError {
    if spec.failed.is_some() { SessionError::NoFailedTest } else { SessionError::NoTest }
}

/// Of the results of `--reuse-arm`, otherwise of the newest runs of the suites. None if there are none: they
/// only make a forecast better.
fn earlier_cases(spec: &RunSpec, suites: &[&SuiteJob]) -> Vec<ComparedCase> {
    let wanted = BaselineSpec {
        runs: vec![spec.reuse_arm.clone().unwrap_or_else(|| LATEST.to_owned())],
        most_runs: None,
        margin: spec.arms.margin,
        has_margin: false,
        measure: spec.arms.measure,
        is_gated: false,
    };
    let search = baseline_search(spec, suites, Vec::new());
    Baseline::read(&wanted, &search, &mut |_| {}).map_or_else(|_| Vec::new(), Baseline::into_cases)
}

fn baseline_search<'a>(
    spec: &'a RunSpec,
    suites: &[&'a SuiteJob],
    own: Vec<Utf8PathBuf>,
) -> BaselineSearch<'a> {
    let names = suites.iter().map(|suite| BaselineSuite {
        root: &suite.root,
        name: &suite.suite.name,
        targets: &suite.targets,
    });
    BaselineSearch {
        loading: &spec.loading,
        suites: names.collect(),
        own,
        shard: spec.plan.shard.as_deref(),
    }
}

/// The baseline, and the number of tests in common. With none, a gate could not pass, so it is an
/// error. `own` are the results that the run continues.
fn read_baseline(
    spec: &RunSpec,
    suites: &[&SuiteJob],
    mut own: Vec<Utf8PathBuf>,
    notify: &mut Notify<'_>,
) -> Result<Option<(Baseline, usize)>, SessionError> {
    let Some(wanted) = &spec.baseline else {
        return Ok(None);
    };
    own.extend(spec.output.clone());
    let mut baseline = Baseline::read(wanted, &baseline_search(spec, suites, own), notify)?;
    let common = baseline.plan(suites);
    if common == 0 {
        let error = SessionError::NothingInCommon(baseline.name.clone());
        if wanted.is_gated {
            return Err(error);
        }
        notify(Notice::Message(error.to_string()));
    } else if spec.failed.is_some() {
        let text = "--baseline: some of the tests that failed before will improve by chance alone";
        notify(Notice::Message(text.to_owned()));
    }
    Ok(Some((baseline, common)))
}
