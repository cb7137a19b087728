//! The coordinator's side of a run with a queue (spec 22): from prepared suites to a run on the server,
//! and back to one that goes on.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use camino::Utf8PathBuf;
use evalrig_core::secrets::Secrets;
use tokio::runtime::Runtime;

use crate::execute::{Cancel, ExecutionEnd, Job, SuiteJob, execute_elsewhere};
use crate::prepare::TestOnTarget;
use crate::queue::{
    BundleManifest, Coordinator, PreparedRun, QueueError, QueueLink, QueueServer, QueueSettings,
    QueuedPlan, RunName, RunQueue, ServerPatience, materialise, read_manifest,
};
use crate::results::{PlannedSuite, ResultsPaths};
use crate::runlog::Store;

use super::error::{Notice, Notify, SessionError};
use super::queue_bundle::{BundledFiles, collect_files, request_of};
use super::queue_worker::spec_of_request;
use super::run_job::Tell;
use super::scratch::RunScratch;
use super::signals::last_signal;
use super::spec::{RunLogSpec, RunSpec};

/// Where the cases of a run are executed.
#[derive(Debug, Clone)]
pub struct QueueSpec {
    pub server: QueueServer,
    /// Copies of everything on the server.
    pub replicas: usize,
    /// How long a worker may be silent.
    pub lease: Duration,
    /// How long a case waits for a worker that can run it.
    pub patience: Duration,
    /// Whether to return once every case is on the server.
    pub is_detached: bool,
    /// Files and directories that are sent to workers besides what the run is known to need.
    pub included: Vec<Utf8PathBuf>,
}

/// A run that workers do not run yet because of this process. Its connection belongs to the runtime.
pub(super) struct ReadyRun {
    runtime: Runtime,
    next: NextStep,
}

enum NextStep {
    /// To be put on the server.
    Queue(Box<(QueueLink, PreparedRun)>),
    /// On the server already.
    GoOn(Box<Coordinator>),
}

impl std::fmt::Debug for ReadyRun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReadyRun").field("name", &self.name()).finish_non_exhaustive()
    }
}

/// A run that workers run. Its connection belongs to the runtime.
pub(super) struct QueuedRun {
    runtime: Runtime,
    coordinator: Coordinator,
}

impl std::fmt::Debug for QueuedRun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("QueuedRun").field("name", self.coordinator.name()).finish_non_exhaustive()
    }
}

/// What is put on the server.
pub(super) struct RunToQueue<'a> {
    pub(super) run: &'a str,
    pub(super) suites: Vec<&'a SuiteJob>,
    pub(super) planned: Vec<PlannedSuite>,
    pub(super) secrets: &'a Secrets,
    /// Whether trials are run in rounds.
    pub(super) in_rounds: bool,
    /// Whether the run may be on the server already.
    pub(super) goes_on: bool,
}

pub(super) fn start_runtime() -> Result<Runtime, QueueError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.map_err(|error| QueueError::new(format!("cannot start threads: {error}")))
}

/// Waits for a server that cannot answer now. Signals may be held meanwhile, for a run that has begun.
fn patience_of<'a>(queue: &QueueSpec, say: &'a mut dyn FnMut(String)) -> ServerPatience<'a> {
    ServerPatience::new(queue.patience, say).ending_when(|| last_signal().is_some())
}

/// Prepares a run for the server, or finds it there.
pub(super) fn prepare_queued_run(
    spec: &RunSpec,
    queue: &QueueSpec,
    run: RunToQueue<'_>,
    notify: &mut Notify<'_>,
) -> Result<ReadyRun, SessionError> {
    let name = RunName::parse(run.run)?;
    let runtime = start_runtime()?;
    let link = runtime.block_on(QueueLink::connect(&queue.server, "evalrig run"))?;
    if run.goes_on {
        let mut say = |text| notify(Notice::Message(text));
        let mut patience = patience_of(queue, &mut say);
        let attached = runtime.block_on(patience.attempt(&link, async || {
            let cases = run.suites.iter().flat_map(|suite| suite.keys());
            Coordinator::attach(&link, name.clone(), cases).await
        }))?;
        if let Some(coordinator) = attached {
            return Ok(ReadyRun { runtime, next: NextStep::GoOn(Box::new(coordinator)) });
        }
        notify(Notice::Message(format!(
            "run {} is no longer on the server; queueing its remaining cases again",
            name.as_str()
        )));
    }
    let BundledFiles { base, files, notices } = collect_files(spec, &run.suites, &queue.included)?;
    for notice in notices {
        notify(Notice::Message(notice));
    }
    let plan = QueuedPlan {
        name,
        settings: QueueSettings {
            replicas: queue.replicas,
            lease: queue.lease,
            patience: queue.patience,
        },
        request: request_of(spec, &run.suites, &base)?,
        base: &base,
        files,
        suites: run.suites,
        planned: run.planned,
        in_rounds: run.in_rounds,
        secrets: run.secrets,
    };
    let next = NextStep::Queue(Box::new((link, PreparedRun::new(plan)?)));
    Ok(ReadyRun { runtime, next })
}

impl ReadyRun {
    pub(super) fn name(&self) -> &str {
        match &self.next {
            NextStep::Queue(new) => new.1.name().as_str(),
            NextStep::GoOn(coordinator) => coordinator.name().as_str(),
        }
    }

    /// Lets workers run it.
    pub(super) fn begin(
        self,
        spec: &RunSpec,
        queue: &QueueSpec,
        notify: &mut Notify<'_>,
    ) -> Result<QueuedRun, SessionError> {
        let Self { runtime, next } = self;
        let coordinator = match next {
            NextStep::Queue(new) => {
                let (link, run) = *new;
                let mut say = |text| notify(Notice::Message(text));
                let mut patience = patience_of(queue, &mut say);
                let coordinator = runtime.block_on(run.put_on_server(&link, &mut patience))?;
                notify(Notice::Message(format!("run {} is queued", coordinator.name().as_str())));
                coordinator
            }
            NextStep::GoOn(mut coordinator) => {
                let mut say = |text| notify(Notice::Message(text));
                let mut patience = patience_of(queue, &mut say);
                let link = coordinator.link().clone();
                let begin = patience.attempt(&link, async || coordinator.begin().await);
                runtime.block_on(begin)?;
                *coordinator
            }
        };
        let run = QueuedRun { runtime, coordinator };
        run.say_limits(spec, notify);
        Ok(run)
    }
}

impl QueuedRun {
    /// Limits of a run that nothing follows yet.
    fn say_limits(&self, spec: &RunSpec, notify: &mut Notify<'_>) {
        let is_detached = spec.queue.as_ref().is_some_and(|queue| queue.is_detached);
        let limits = [
            ("--budget-usd", spec.budget_usd.is_some()),
            ("--max-errors", spec.max_errors.is_some()),
            ("--fail-fast", spec.fail_fast.is_some()),
        ];
        for (option, _) in limits.into_iter().filter(|(_, is_set)| *is_set && is_detached) {
            notify(Notice::Message(format!(
                "{option} counts only while the run is followed; follow it with `evalrig run --attach \
                 {} {}`",
                self.coordinator.name().as_str(),
                self.coordinator.option()
            )));
        }
    }

    /// Others take its rows.
    pub(super) fn detach(self) {
        self.runtime.block_on(self.coordinator.leave());
    }

    pub(super) fn execute(
        &mut self,
        job: Arc<Job>,
        cancel: Arc<Cancel>,
        tell: Tell,
    ) -> ExecutionEnd {
        let Self { runtime, coordinator } = self;
        runtime.block_on(execute_elsewhere(job, cancel, tell, coordinator))
    }

    /// Deletes a run that has ended; one that can go on stays.
    pub(super) fn end(self, ended: &ExecutionEnd, notify: &mut Notify<'_>) {
        let run = self.coordinator.name().as_str().to_owned();
        let is_used = self.runtime.block_on(self.coordinator.leave());
        match ended {
            ExecutionEnd::Complete
            | ExecutionEnd::Settled
            | ExecutionEnd::Limited(_)
            | ExecutionEnd::FailedFast
                if is_used =>
            {
                notify(Notice::Message(format!(
                    "run {run} stays on the server for another process that takes its rows"
                )));
            }
            ExecutionEnd::Complete
            | ExecutionEnd::Settled
            | ExecutionEnd::Limited(_)
            | ExecutionEnd::FailedFast => {
                if let Err(error) = self.runtime.block_on(self.coordinator.delete()) {
                    notify(Notice::Message(format!("run {run} stays on the server: {error}")));
                }
            }
            ExecutionEnd::Cancelled if self.coordinator.is_follower() => {
                let option = self.coordinator.option();
                notify(Notice::Message(format!(
                    "run {run} continues; follow it with `evalrig run --attach {run} {option}`, or stop it with \
                     `evalrig queue cancel {run} {option}`"
                )));
            }
            ExecutionEnd::Cancelled | ExecutionEnd::Broken(_) | ExecutionEnd::EndedElsewhere(_) => {
                // A run that was removed is gone.
                if self.runtime.block_on(self.coordinator.is_on_server()) {
                    notify(Notice::Message(format!(
                        "run {run} is still on the server; `evalrig queue remove {run} {}` deletes it",
                        self.coordinator.option()
                    )));
                }
            }
        }
        self.runtime.shutdown_background();
    }
}

/// A run that is on the server, with its files on this machine.
pub(super) struct AttachedRun {
    pub(super) spec: RunSpec,
    pub(super) queued: ReadyRun,
    /// The cases of the run.
    pub(super) only: HashSet<TestOnTarget>,
    pub(super) scratch: RunScratch,
}

/// `--attach`: the options and suites are those on the server.
pub(super) fn attach_run(
    spec: RunSpec,
    queue: &QueueSpec,
    run: &str,
    notify: &mut Notify<'_>,
) -> Result<AttachedRun, SessionError> {
    let name = RunName::parse(run)?;
    let runtime = start_runtime()?;
    let scratch = RunScratch::new()?;
    let cache = scratch.path().join("bundles");
    let mut say = |text| notify(Notice::Message(text));
    let mut patience = patience_of(queue, &mut say);
    let (queued, manifest, directory) = runtime.block_on(async {
        let link = QueueLink::connect(&queue.server, "evalrig run --attach").await?;
        let follow = async || {
            let Some(found) = RunQueue::open(&link, name.clone()).await? else {
                return Err(QueueError::new(format!("--attach: the server has no run {run}")));
            };
            let manifest = read_manifest(&found).await?;
            let directory = materialise_run(&found, &manifest, &cache).await?;
            Ok((Coordinator::follow(found, &manifest).await?, manifest, directory))
        };
        patience.attempt(&link, follow).await
    })?;
    let mut attached = spec_of_request(&manifest.request, &directory, &spec.loading);
    let root = spec.loading.root_of(&spec.loading.working_directory.join("EVAL.yaml"));
    let suite = manifest.planned.first().map_or("run", |suite| &suite.name);
    attached.output = match spec.output {
        Some(output) => Some(output),
        None => {
            let place = ResultsPaths::claim(&root, suite, SystemTime::now());
            Some(place.map_err(SessionError::write)?.results().to_owned())
        }
    };
    attached.force = spec.force;
    attached.reports = spec.reports;
    attached.baseline = spec.baseline;
    attached.arms = spec.arms;
    attached.command = spec.command;
    attached.rerun = spec.rerun;
    attached.handle_signals = spec.handle_signals;
    attached.grading.exit_rule = spec.grading.exit_rule;
    attached.budget_usd = spec.budget_usd.or(manifest.request.budget_usd);
    attached.max_errors = spec.max_errors.or(manifest.request.max_errors);
    attached.fail_fast = spec.fail_fast.or(manifest.request.fail_fast);
    // The root of the suites is a directory that is removed at the end.
    attached.run_log = spec.run_log.map(|log| RunLogSpec {
        store: log.store.or_else(|| Some(Store::of_root(&root).directory().to_owned())),
        ..log
    });
    attached.is_run_log_off_in_ci = spec.is_run_log_off_in_ci;
    attached.queue = spec.queue;
    let only = manifest.planned.iter().flat_map(PlannedSuite::keys);
    let only = only.map(|key| TestOnTarget::from(&key)).collect();
    let queued = ReadyRun { runtime, next: NextStep::GoOn(Box::new(queued)) };
    Ok(AttachedRun { spec: attached, queued, only, scratch })
}

async fn materialise_run(
    queue: &RunQueue,
    manifest: &BundleManifest,
    cache: &camino::Utf8Path,
) -> Result<Utf8PathBuf, QueueError> {
    crate::disk::create_directories(cache, crate::disk::Access::Private)
        .map_err(|error| QueueError::new(format!("cannot write `{cache}`: {error}")))?;
    // The cache is this run's own, so nothing is removed from it before its end.
    Ok(materialise(queue, manifest, cache).await?.directory)
}
