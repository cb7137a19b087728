//! Orchestrates a run: loads suites, resumes or repeats earlier runs, opens results files and reports,
//! executes, compares with a baseline and decides the exit code.
//!
//! [`RunSession::prepare`] finds everything that is missing before anything is called; [`RunSession::run`]
//! does the rest. [`regrade`] and [`report_stored_run`] start from stored rows instead.

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
mod history;
mod known_secrets;
mod load;
mod next_command;
mod observer;
mod regrade;
mod report_set;
mod results_files;
mod resume;
mod reuse;
mod run_job;
mod run_origin;
mod scratch;
#[cfg(feature = "view")]
mod served_run;
mod signals;
mod skill_files;
mod skill_revision;
mod spec;
mod stored_run;
mod suite_text;
#[cfg(test)]
mod tests;
mod watch;
mod watch_inputs;

use std::collections::HashMap;
use std::sync::Arc;

use camino::Utf8PathBuf;
use evalrig_core::secrets::Secrets;

use crate::cache::AnswerCache;
use crate::descriptor::{DescriptorBudget, raise_limit};
use crate::execute::{FailFast, Job, RunOptions, SuiteJob, TreeDigests};
use crate::prepare::{Estimate, TargetPool};
use crate::report::RunLogNews;
use crate::results::{Gaps, Interrupted};
use crate::runlog::{RunLogRecorder, Store};
use crate::workspace::Workspaces;

pub use crate::agent::{enable_watchdog, kill_programs, watch_if_asked};
pub use crate::prepare::GradingSpec;
pub use base_runs::{BaseRunFiles, DEFAULT_BASELINE_RUNS, find_runs, group_runs};
pub use case_collector::{StoredCases, read_cases};
pub use command_line::quoted;
pub use compared_answers::read_answers;
pub use error::{Notice, Notify, SessionError, SuiteRefusal};
pub use find_results::{LATEST, find_all_results, find_results, matching_results, names_results};
pub use finish::FinishedRun;
pub use gate::{comparison_exit, gate_exit};
pub use known_secrets::known_secrets;
pub use observer::{SessionExit, StopSignal};
pub use regrade::{RegradeSpec, regrade};
pub use run_job::EventListener;
#[cfg(feature = "view")]
pub use served_run::ServedRun;
pub use signals::wait_for_signal;
use skill_revision::SkillRevisions;
pub use spec::{BaselineSpec, LoadOptions, ReportSpec, RerunWords, RunLogSpec, RunSpec};
pub use stored_run::{StoredRunSpec, report_stored_run};
pub use watch::{Waited, WatchSession, WatchStep};

use base_runs::{BaselineSearch, BaselineSuite};
use baseline::Baseline;
use earlier_options::repeat_options;
use finish::{EndedRun, finish_run};
use history::TestHistory;
use known_secrets::redacting;
use load::{TargetsFile, load_suites};
use observer::RunObserver;
use report_set::{ReportSet, check_report_paths};
use results_files::ResultsFiles;
use resume::{
    FailedSource, ResumableSuite, assign_interrupted, read_interrupted, resume_spec, start_suites,
};
use reuse::read_reusable;
use run_job::run_job;
use run_origin::RunOrigin;
use scratch::RunScratch;
use skill_files::skill_digest;

/// Suites whose cases are planned and whose targets are connected. Nothing has been called.
#[derive(Debug)]
pub struct RunSession {
    spec: RunSpec,
    suites: Vec<SuiteJob>,
    secrets: Arc<Secrets>,
    /// What the run left that goes on.
    interrupted: Vec<Arc<Interrupted>>,
    /// What the results lack that the run starts from.
    gaps: Gaps,
    /// Holds the skills of arms until the run is over.
    skill_revisions: SkillRevisions,
    /// Whether cases were left out that an earlier run of `--watch` has answered.
    is_part: bool,
}

/// What a run would do (`--dry-run`).
#[derive(Debug)]
pub struct RunEstimate {
    pub estimate: Estimate,
    /// Name of the baseline, and the number of tests in common.
    pub baseline: Option<(String, usize)>,
}

impl RunSession {
    /// Loads the suites and plans their cases. Fails with everything that is missing.
    pub fn prepare(mut spec: RunSpec, notify: &mut Notify<'_>) -> Result<Self, SessionError> {
        spec.loading.check()?;
        let interrupted = read_interrupted(&spec, notify)?;
        let only = resume_spec(&mut spec, &interrupted)?;
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
        cases.only = only;
        let mut loaded = load_suites(&spec.loading, &found, TargetsFile::Required, notify)?;
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
        let secrets = Arc::new(secrets);
        Ok(Self { spec, suites, secrets, interrupted, gaps, skill_revisions, is_part: false })
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
            return Err(SessionError::NoTest);
        }
        let jobs: Vec<&SuiteJob> = self.suites.iter().collect();
        let baseline = read_baseline(&self.spec, &jobs, Vec::new(), notify)?;
        Ok(RunEstimate { estimate, baseline: baseline.map(|(found, common)| (found.name, common)) })
    }

    /// Runs every case and writes results and reports. Blocks the thread; starts its own async runtime.
    pub fn run(
        self,
        notify: &mut Notify<'_>,
        listener: EventListener,
    ) -> Result<FinishedRun, SessionError> {
        let Self { spec, suites, secrets, interrupted, gaps, skill_revisions: _held, is_part } =
            self;
        let notify = &mut |notice: Notice<'_>| notify(notice.redacted(&secrets));
        if suites.iter().all(|suite| suite.case_count() == 0) {
            return Err(if gaps.is_empty() {
                SessionError::NoTest
            } else {
                SessionError::Incomplete("no test is known to have failed".to_owned())
            });
        }
        let suites = assign_interrupted(&spec, suites, &interrupted)?;
        drop(interrupted);
        let own = suites.iter().filter_map(|suite| suite.results()).collect();
        let jobs: Vec<&SuiteJob> = suites.iter().map(|suite| &suite.job).collect();
        let baseline = read_baseline(&spec, &jobs, own, notify)?.map(|(found, _)| found);
        let secrets = Arc::clone(&secrets);
        let start = RunStart { suites, secrets, baseline, gaps, is_regrade: false, is_part };
        run_suites(&spec, start, notify, listener)
    }
}

/// Everything that a run starts from.
struct RunStart {
    suites: Vec<ResumableSuite>,
    secrets: Arc<Secrets>,
    baseline: Option<Baseline>,
    /// What the results lack that it starts from.
    gaps: Gaps,
    /// Whether a stored run is graded again.
    is_regrade: bool,
    /// Whether the suites have selected cases that are not run.
    is_part: bool,
}

/// Runs the cases that are not finished, and writes results and reports.
fn run_suites(
    spec: &RunSpec,
    start: RunStart,
    notify: &mut Notify<'_>,
    listener: EventListener,
) -> Result<FinishedRun, SessionError> {
    let RunStart { mut suites, secrets, baseline, gaps, is_regrade, is_part } = start;
    let listener = redacting(listener, Arc::clone(&secrets));
    let planned = suites.iter().map(|suite| suite.job.case_count()).sum();
    let run_log = run_log_news(spec, &suites);
    let roots = suites.iter().map(|suite| suite.job.root.clone()).collect();
    let mut answered = HashMap::new();
    for suite in &mut suites {
        suite.remove_finished(&mut answered);
        if spec.cache {
            suite.job.skill = skill_digest(&suite.job);
        }
    }
    if spec.handle_signals {
        raise_limit();
    }
    check_report_paths(&spec.loading, &spec.reports, spec.output.as_slice())?;
    let reusable = read_reusable(&spec.loading, spec.reuse_arm.as_deref(), &secrets)?;
    let scratch = RunScratch::new()?;
    let rule = spec.grading.exit_rule;
    let reports = ReportSet::open(&spec.loading, &spec.reports, rule, roots, Arc::clone(&secrets))?;
    let history = TestHistory::new(reports.shows_history);
    let origin = RunOrigin::of(spec, &suites, is_part);
    let mut files = ResultsFiles::new(origin, Arc::clone(&secrets), history);
    if is_regrade {
        files.expect_gaps();
    }
    let mut observer = RunObserver::new(reports, rule, baseline);
    observer.add_gaps(gaps);
    let suites = start_suites(spec, suites, &mut files, &mut observer)?;
    let descriptors = DescriptorBudget::now();
    let cache = spec.cache.then(|| {
        let roots = suites.iter().map(|suite| suite.job.root.as_path());
        Arc::new(AnswerCache::open(roots, Arc::clone(&secrets)))
    });
    let recording = spec.run_log.as_ref().map(|log| {
        let drafts = descriptors.drafts;
        Arc::new(RunLogRecorder::new(
            log.store.clone(),
            log.keep_runs,
            drafts,
            Arc::clone(&secrets),
        ))
    });
    let options = RunOptions {
        workers: spec.workers,
        descriptors,
        timeout: spec.timeout,
        retries: spec.retries,
        budget_usd: spec.budget_usd,
        max_errors: spec.max_errors,
        fail_fast: spec.fail_fast.map(|most| FailFast { most, borderline: rule.borderline }),
        judging: spec.grading.judging,
        messages: spec.messages,
        scratch: scratch.path().to_owned(),
        workspaces: Arc::new(Workspaces::new(scratch.path())),
        recording: recording.clone(),
        secrets: Arc::clone(&secrets),
        cache: cache.clone(),
        trees: TreeDigests::default(),
    };
    let job = Job { suites, options, answered, reusable };
    let (end, observer) = run_job(job, observer, listener, spec.handle_signals, planned);
    drop(scratch);
    let uncached = cache.and_then(|cache| cache.take_warning());
    for warning in recording.iter().flat_map(|one| one.take_warnings()).chain(uncached) {
        notify(Notice::Message(warning));
    }
    let ended = EndedRun { end, planned, is_regrade, run_log };
    Ok(finish_run(spec, &ended, observer, files, notify))
}

/// What the summary has to say about the run log, looked up before the run creates it.
fn run_log_news(spec: &RunSpec, suites: &[ResumableSuite]) -> RunLogNews {
    let Some(log) = &spec.run_log else {
        return if spec.is_run_log_off_in_ci { RunLogNews::OffInCi } else { RunLogNews::None };
    };
    let stores = suites.iter().map(|suite| match &log.store {
        Some(store) => store.clone(),
        None => Store::of_root(&suite.job.root).directory().to_owned(),
    });
    let is_new = stores.into_iter().any(|store| !store.exists());
    if is_new { RunLogNews::New } else { RunLogNews::None }
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
    let names = suites.iter().map(|suite| BaselineSuite {
        root: &suite.root,
        name: &suite.suite.name,
        targets: &suite.targets,
    });
    let search = BaselineSearch {
        loading: &spec.loading,
        suites: names.collect(),
        own,
        shard: spec.plan.shard.as_deref(),
    };
    let mut baseline = Baseline::read(wanted, &search, notify)?;
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
