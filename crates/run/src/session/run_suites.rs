//! Runs suites whose cases are planned, on this machine or on workers, and writes results and reports.

use std::collections::HashMap;
use std::sync::Arc;

use evalrig_core::secrets::Secrets;

use crate::cache::AnswerCache;
use crate::descriptor::{DescriptorBudget, raise_limit};
use crate::execute::{
    AnswerPayment, FailFast, Job, RoundGate, RunOptions, TreeDigests, UngradedAnswer,
};
use crate::report::RunLogNews;
use crate::results::{CaseKey, Gaps, GateResult};
use crate::runlog::{RunLogRecorder, Store};
use crate::workspace::Workspaces;

use super::baseline::Baseline;
use super::error::{Notice, Notify, SessionError};
use super::finish::{EndedRun, FinishedRun, finish_run};
use super::hidden_paths::hidden_paths;
use super::history::TestHistory;
use super::known_secrets::redacting;
use super::observer::RunObserver;
#[cfg(feature = "queue")]
use super::queued_run::{QueueSpec, QueuedRun, ReadyRun, RunToQueue, prepare_queued_run};
use super::report_set::{ReportSet, check_report_paths};
use super::results_files::ResultsFiles;
use super::resume::{ResumableSuite, start_suites};
use super::reuse::read_reusable;
use super::round_decision::SharedRounds;
use super::round_setup::RoundSetup;
use super::run_job::{EventListener, execute_here, run_job};
use super::run_origin::RunOrigin;
use super::scratch::RunScratch;
#[cfg(feature = "queue")]
use super::signals::hold_signals;
use super::skill_files::skill_digest;
use super::spec::RunSpec;

/// Everything that a run starts from.
pub(super) struct RunStart {
    pub(super) suites: Vec<ResumableSuite>,
    pub(super) secrets: Arc<Secrets>,
    pub(super) baseline: Option<Baseline>,
    pub(super) rounds: Option<RoundSetup>,
    /// What the results lack that it starts from.
    pub(super) gaps: Gaps,
    /// Whether a stored run is graded again.
    pub(super) is_regrade: bool,
    /// What the gate said of the answers that are graded again.
    pub(super) earlier_gate: Option<GateResult>,
    /// Whether the suites have selected cases that are not run.
    pub(super) is_part: bool,
    /// The server has the run already.
    #[cfg(feature = "queue")]
    pub(super) queued: Option<ReadyRun>,
}

/// Runs the cases that are not finished, and writes results and reports.
pub(super) fn run_suites(
    spec: &RunSpec,
    start: RunStart,
    notify: &mut Notify<'_>,
    listener: EventListener,
) -> Result<FinishedRun, SessionError> {
    let RunStart { mut suites, secrets, baseline, rounds, gaps, is_regrade, .. } = start;
    let listener = redacting(listener, Arc::clone(&secrets));
    let planned = suites.iter().map(|suite| suite.job.case_count()).sum();
    let run_log = run_log_news(spec, &suites);
    let roots = suites.iter().map(|suite| suite.job.root.clone()).collect();
    let answered = remove_finished(spec, &mut suites);
    if spec.handle_signals {
        raise_limit();
    }
    check_report_paths(&spec.loading, &spec.reports, spec.output.as_slice())?;
    let reusable = read_reusable(&spec.loading, spec.reuse_arm.as_deref(), &secrets)?;
    let scratch = RunScratch::of_jobs(suites.iter().map(|suite| &suite.job))?;
    let rule = spec.grading.exit_rule;
    let reports = ReportSet::open(&spec.loading, &spec.reports, rule, roots, Arc::clone(&secrets))?;
    let history = TestHistory::new(reports.shows_history);
    let mut origin = RunOrigin::of(spec, &suites, start.is_part);
    origin.rounds = rounds.as_ref().map(|rounds| rounds.settings.clone());
    origin.is_regrade = is_regrade;
    let rounds = rounds.map(|rounds| SharedRounds::new(rounds.decision));
    #[cfg(feature = "queue")]
    let ready = prepare_queue(spec, start.queued, &mut origin, &suites, &secrets, notify)?;
    #[cfg(feature = "queue")]
    if spec.queue.as_ref().is_some_and(|queue| queue.is_detached) {
        return begin_detached(spec, ready, notify);
    }
    let mut files = ResultsFiles::new(origin, Arc::clone(&secrets), history);
    if is_regrade {
        files.expect_gaps();
    }
    let mut observer = RunObserver::new(reports, rule, baseline);
    observer.add_gaps(gaps);
    observer.compare_arms(spec.arms);
    if let Some(rounds) = &rounds {
        observer.decide_rounds(rounds.clone());
    }
    let suites = start_suites(spec, suites, &mut files, &mut observer)?;
    let listener = files.noting_workers(listener);
    // Not earlier: workers must not run cases whose rows cannot be written, and `--resume` needs the file.
    #[cfg(feature = "queue")]
    let mut queued = match (ready, &spec.queue) {
        (Some(ready), Some(queue)) => Some(begin_on_queue(spec, queue, ready, notify)?),
        _ => None,
    };
    let descriptors = DescriptorBudget::now();
    let cache = spec.cache.then(|| {
        let roots = suites.iter().map(|suite| suite.job.root.as_path());
        Arc::new(AnswerCache::open(roots, Arc::clone(&secrets)))
    });
    let recording = recorder(spec, descriptors.drafts, &secrets);
    let options = RunOptions {
        workers: spec.workers,
        descriptors,
        timeout: spec.timeout,
        retries: spec.retries,
        budget_usd: spec.budget_usd,
        payment: if is_regrade { AnswerPayment::Earlier } else { AnswerPayment::Now },
        max_errors: spec.max_errors,
        fail_fast: spec.fail_fast.map(|most| FailFast { most, borderline: rule.borderline }),
        judging: spec.grading.judging,
        messages: spec.messages,
        scratch: scratch.path().to_owned(),
        workspaces: Arc::new(Workspaces::new(scratch.path())),
        hidden: hidden_paths(spec, suites.iter().map(|suite| &suite.job), scratch.path()),
        keep_workspaces: spec.keep_workspaces,
        recording: recording.clone(),
        secrets: Arc::clone(&secrets),
        cache: cache.clone(),
        trees: TreeDigests::default(),
        rounds: rounds.map(|rounds| Arc::new(rounds) as Arc<dyn RoundGate>),
    };
    let job = Job { suites, options, answered, reusable };
    let signals = spec.handle_signals;
    #[cfg(feature = "queue")]
    let (end, observer) = match &mut queued {
        Some(queued) => {
            let execution = |job, cancel, tell| queued.execute(job, cancel, tell);
            run_job(job, observer, listener, signals, planned, execution)
        }
        None => run_job(job, observer, listener, signals, planned, execute_here),
    };
    #[cfg(not(feature = "queue"))]
    let (end, observer) = run_job(job, observer, listener, signals, planned, execute_here);
    #[cfg(feature = "queue")]
    if let Some(queued) = queued {
        queued.end(&end.ended, notify);
    }
    let recorded = recording.iter().flat_map(|one| one.take_warnings());
    let uncached = cache.and_then(|cache| cache.take_warning());
    for warning in scratch.remove().into_iter().chain(recorded).chain(uncached) {
        notify(Notice::Message(warning));
    }
    let ended = EndedRun { end, planned, is_regrade, earlier_gate: start.earlier_gate, run_log };
    Ok(finish_run(spec, &ended, observer, files, notify))
}

/// Leaves out finished cases; returns the answers that are still to be graded.
fn remove_finished(
    spec: &RunSpec,
    suites: &mut [ResumableSuite],
) -> HashMap<CaseKey, UngradedAnswer> {
    let mut answered = HashMap::new();
    for suite in suites {
        suite.remove_finished(&mut answered);
        if spec.cache {
            suite.job.skill = skill_digest(&suite.job);
        }
    }
    answered
}

/// Prepares the cases for the server, unless they are there already. The run has the name that it has there.
#[cfg(feature = "queue")]
fn prepare_queue(
    spec: &RunSpec,
    found: Option<ReadyRun>,
    origin: &mut RunOrigin,
    suites: &[ResumableSuite],
    secrets: &Secrets,
    notify: &mut Notify<'_>,
) -> Result<Option<ReadyRun>, SessionError> {
    let Some(queue) = &spec.queue else { return Ok(None) };
    if let Some(found) = found {
        found.name().clone_into(&mut origin.run);
        return Ok(Some(found));
    }
    let earlier = suites.iter().find_map(ResumableSuite::earlier_run);
    if let Some(earlier) = &earlier {
        origin.run.clone_from(earlier);
    }
    let run = RunToQueue {
        run: &origin.run,
        suites: suites.iter().map(|suite| &suite.job).collect(),
        planned: suites.iter().map(|suite| suite.planned.clone()).collect(),
        in_rounds: origin.rounds.is_some(),
        secrets,
        goes_on: earlier.is_some(),
    };
    prepare_queued_run(spec, queue, run, notify).map(Some)
}

#[cfg(feature = "queue")]
fn begin_detached(
    spec: &RunSpec,
    ready: Option<ReadyRun>,
    notify: &mut Notify<'_>,
) -> Result<FinishedRun, SessionError> {
    if let (Some(ready), Some(queue)) = (ready, &spec.queue) {
        ready.begin(spec, queue, notify)?.detach();
    }
    Ok(FinishedRun::detached())
}

#[cfg(feature = "queue")]
fn begin_on_queue(
    spec: &RunSpec,
    queue: &QueueSpec,
    ready: ReadyRun,
    notify: &mut Notify<'_>,
) -> Result<QueuedRun, SessionError> {
    if spec.handle_signals {
        hold_signals();
    }
    ready.begin(spec, queue, notify)
}

/// Writes the run log, if it is wanted.
fn recorder(spec: &RunSpec, drafts: usize, secrets: &Arc<Secrets>) -> Option<Arc<RunLogRecorder>> {
    let log = spec.run_log.as_ref()?;
    let secrets = Arc::clone(secrets);
    Some(Arc::new(RunLogRecorder::new(log.store.clone(), log.keep_runs, drafts, secrets)))
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
