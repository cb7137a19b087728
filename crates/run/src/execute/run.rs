//! Distributes chains of cases to workers and collects their rows.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

use evalrig_core::model::Transcript;
use tokio::sync::Semaphore;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::{JoinError, JoinSet};

use crate::descriptor;
use crate::event::Event;
use crate::lock::locked;
use crate::results::Row;

use super::answer_memory::{AnswerMemory, MemoryShare};
use super::backlog::Backlog;
use super::cancel::Cancel;
use super::case::{CaseDone, CaseWork};
use super::case_workspace::ChainState;
use super::job::Job;
use super::limit::{Limit, ReachedLimit, RunLimits};
use super::row_sink::{Durable, RowSink, WrittenRow};

/// Workers of a target that is not a process, per core.
const PER_CORE: usize = 4;

/// A finished case that waits for the run log.
struct PendingLog {
    sink: Arc<dyn RowSink>,
    case: usize,
    done: CaseDone,
}

/// A written row that is not on disk yet.
struct PendingRow {
    sink: Arc<dyn RowSink>,
    case: usize,
    written: WrittenRow,
    memory: MemoryShare,
}

/// State that all workers share.
pub(super) struct RunShared {
    tell: Box<dyn Fn(Event) + Send + Sync>,
    /// `None` after the last case.
    logged: Mutex<Option<UnboundedSender<PendingLog>>>,
    /// `None` after the last row.
    rows: Mutex<Option<UnboundedSender<PendingRow>>>,
    backlog: Backlog,
    answer_memory: AnswerMemory,
    limits: RunLimits,
    cancel: Arc<Cancel>,
    broken: Mutex<Option<String>>,
}

impl RunShared {
    pub(super) fn tell(&self, event: Event) {
        (self.tell)(event);
    }

    /// Waits until an answer of this size may be graded and written.
    pub(super) async fn reserve_memory(&self, transcript: &Transcript) -> MemoryShare {
        self.answer_memory.reserve(transcript).await
    }

    pub(super) async fn wait(&self, durable: Durable) {
        if let Err(reason) = durable.await {
            self.break_off(reason);
        }
    }

    fn done(&self, work: CaseWork<'_>, done: CaseDone) {
        if let Some(warning) = self.limits.unknown_cost_warning(&done.row) {
            self.tell(Event::Warning(warning));
        }
        if let Some(reason) = self.limits.count(&done.row) {
            self.tell(Event::Stopping(reason));
        }
        self.backlog.add();
        let (sink, case) = (Arc::clone(&work.suite.sink), work.number);
        // All cases take the same way, so that rows keep the order in which cases end.
        match (&*locked(&self.logged), &work.job.options.recording) {
            (Some(logged), Some(_)) => {
                // Fails only after the receiving task has ended.
                let _ = logged.send(PendingLog { sink, case, done });
            }
            _ => self.write(sink, case, done.row, done.memory),
        }
    }

    fn write(&self, sink: Arc<dyn RowSink>, case: usize, row: Row, memory: MemoryShare) {
        let written = sink.write(row);
        if let Some(rows) = &*locked(&self.rows) {
            let _ = rows.send(PendingRow { sink, case, written, memory });
        }
    }

    /// Writes rows once their cases are in the run log.
    async fn log_task(&self, mut cases: UnboundedReceiver<PendingLog>) {
        let _lifted = self.backlog.lift_on_drop();
        while let Some(one) = cases.recv().await {
            let CaseDone { mut row, logging, memory } = one.done;
            if let Some(logging) = logging {
                self.wait(logging.answer).await;
                logging.record.note(&mut row).await;
            }
            self.write(one.sink, one.case, row, memory);
        }
    }

    fn ended(&self) -> ExecutionEnd {
        if let Some(reason) = self.broken() {
            return ExecutionEnd::Broken(reason);
        }
        if self.cancel.is_asked() {
            return ExecutionEnd::Cancelled;
        }
        match self.limits.reached() {
            None => ExecutionEnd::Complete,
            Some(reached) if reached.limit == Limit::Failures => ExecutionEnd::FailedFast,
            Some(reached) => ExecutionEnd::Limited(reached),
        }
    }

    /// Reports rows once they are on disk.
    async fn settle_task(&self, mut rows: UnboundedReceiver<PendingRow>) {
        let _lifted = self.backlog.lift_on_drop();
        while let Some(PendingRow { sink, case, written, memory }) = rows.recv().await {
            let WrittenRow { row, durable } = written;
            match durable.await {
                Ok(()) => {
                    sink.settled(&row);
                    self.tell(Event::Finished { case, row });
                }
                Err(reason) => self.break_off(reason),
            }
            drop(memory);
            self.backlog.take();
        }
    }

    fn is_stopped(&self) -> bool {
        self.cancel.is_asked() || self.limits.reached().is_some() || self.broken().is_some()
    }

    fn broken(&self) -> Option<String> {
        locked(&self.broken).clone()
    }

    fn break_off(&self, reason: String) {
        let mut broken = locked(&self.broken);
        if broken.is_none() {
            self.tell(Event::Stopping(reason.clone()));
            *broken = Some(reason);
        }
    }
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ExecutionEnd {
    /// Every case has a row.
    Complete,
    /// Cases were left out because of a limit; they have rows that say so.
    Limited(ReachedLimit),
    /// Stopped after failures (`--fail-fast`); cases that were not started have no row.
    FailedFast,
    /// Stopped by a signal or by the caller; cases that were not started have no row.
    Cancelled,
    /// Results could not be written.
    Broken(String),
}

/// The remaining cases of a chain.
#[derive(Debug, Clone, Copy)]
struct ChainCursor {
    suite: usize,
    chain: usize,
    /// Number in the plan of the chain's first case.
    first: usize,
    /// Number of finished cases.
    done: usize,
}

type Queue = Arc<Mutex<VecDeque<ChainCursor>>>;

/// Runs every case of the job.
pub(crate) async fn execute(
    job: Arc<Job>,
    cancel: Arc<Cancel>,
    tell: Box<dyn Fn(Event) + Send + Sync>,
) -> ExecutionEnd {
    let (rows, pending_rows) = unbounded_channel();
    let (logged, pending_logs) = unbounded_channel();
    let shared = Arc::new(RunShared {
        tell,
        logged: Mutex::new(Some(logged)),
        rows: Mutex::new(Some(rows)),
        backlog: Backlog::default(),
        answer_memory: AnswerMemory::default(),
        limits: RunLimits::new(
            job.options.budget_usd,
            job.options.max_errors,
            job.options.fail_fast,
        ),
        cancel,
        broken: Mutex::new(None),
    });
    let logging = {
        let shared = Arc::clone(&shared);
        tokio::spawn(async move { shared.log_task(pending_logs).await })
    };
    let settling = {
        let shared = Arc::clone(&shared);
        tokio::spawn(async move { shared.settle_task(pending_rows).await })
    };
    let queues = queues(&job);
    drain_queues(&job, &shared, &queues).await;
    for warning in job.options.workspaces.finish().await {
        shared.tell(Event::Warning(warning));
    }
    if let (Some(reached), false) = (shared.limits.reached(), shared.cancel.is_asked())
        && reached.limit != Limit::Failures
    {
        write_rest(&job, &shared, &queues, &reached.reason);
    }
    *locked(&shared.logged) = None;
    resume_panic(logging.await);
    *locked(&shared.rows) = None;
    resume_panic(settling.await);
    shared.ended()
}

/// Continues a panic of a task. Other errors mean that it was aborted.
fn resume_panic(ended: Result<(), JoinError>) {
    if let Err(error) = ended
        && let Ok(panic) = error.try_into_panic()
    {
        std::panic::resume_unwind(panic);
    }
}

/// Returns when every worker is done, or immediately after a second stop request.
async fn drain_queues(job: &Arc<Job>, shared: &Arc<RunShared>, queues: &[(QueueKey, Queue)]) {
    let counts: Vec<usize> = queues
        .iter()
        .map(|(target, queue)| worker_count(job, target, locked(queue).len()))
        .collect();
    let most = job.options.workers.unwrap_or(usize::MAX).min(job.options.descriptors.workers);
    let is_limited = counts.iter().sum::<usize>() > most;
    let slots = is_limited.then(|| Arc::new(Semaphore::new(most)));
    let mut workers = JoinSet::new();
    for ((_, queue), count) in queues.iter().zip(counts) {
        for _ in 0..count {
            let worker = Worker {
                job: Arc::clone(job),
                shared: Arc::clone(shared),
                queue: Arc::clone(queue),
                slots: slots.clone(),
            };
            workers.spawn(worker.run());
        }
    }
    loop {
        tokio::select! {
            ended = workers.join_next() => match ended {
                Some(ended) => resume_panic(ended),
                None => return,
            },
            () = shared.cancel.wait_for_second() => return workers.shutdown().await,
        }
    }
}

/// One queue per target, so that a slow target does not delay the others.
fn queues(job: &Job) -> Vec<(QueueKey, Queue)> {
    let mut queues: BTreeMap<QueueKey, VecDeque<ChainCursor>> = BTreeMap::new();
    let mut first = 0;
    for (suite, work) in job.suites.iter().enumerate() {
        for (chain, cases) in work.job.chains.iter().enumerate() {
            let target = &cases[0].target;
            let key = match work.job.target(target) {
                Some(connected) => Arc::as_ptr(connected) as usize,
                None => 0,
            };
            let cursor = ChainCursor { suite, chain, first, done: 0 };
            let queue = queues.entry((key, target.clone())).or_default();
            queue.push_back(cursor);
            first += cases.len();
        }
    }
    let queues = queues.into_iter();
    queues.map(|(key, chains)| (key, Arc::new(Mutex::new(chains)))).collect()
}

/// Address of the connected target, and the name that cases use for it.
type QueueKey = (usize, String);

fn worker_count(job: &Job, key: &QueueKey, chains: usize) -> usize {
    let suites = job.suites.iter();
    let mut targets = suites.filter_map(|suite| suite.job.target(&key.1));
    let connected = targets.find(|target| Arc::as_ptr(target) as usize == key.0);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let usual =
        if connected.is_some_and(|target| target.is_process()) { cores } else { cores * PER_CORE };
    let most = connected.and_then(|target| target.max_concurrency);
    let wanted = job.options.workers.unwrap_or(usual);
    let most = most.unwrap_or(usize::MAX).min(job.options.descriptors.workers);
    wanted.min(most).min(chains).max(1)
}

struct Worker {
    job: Arc<Job>,
    shared: Arc<RunShared>,
    queue: Queue,
    /// `--workers` and the limit of open files hold for all targets together.
    slots: Option<Arc<Semaphore>>,
}

impl Worker {
    async fn run(self) {
        while !self.shared.is_stopped() {
            let Some(cursor) = locked(&self.queue).pop_front() else {
                return;
            };
            self.run_chain(cursor).await;
        }
    }

    async fn run_chain(&self, mut cursor: ChainCursor) {
        let length = self.job.suites[cursor.suite].job.chains[cursor.chain].len();
        let mut chain = ChainState::new(&self.job.options.scratch, cursor.first, length);
        while cursor.done < length {
            let _slot = match &self.slots {
                Some(slots) => slots.acquire().await.ok(),
                None => None,
            };
            self.shared.backlog.wait_for_room().await;
            if self.shared.is_stopped() {
                // A limit writes rows for the remaining cases.
                locked(&self.queue).push_front(cursor);
                return;
            }
            let work = work_of(&self.job, &self.shared, cursor);
            self.shared.tell(Event::Started { case: work.number, label: work.label() });
            chain.has_next = cursor.done + 1 < length;
            let done = work.run(&mut chain).await;
            if done.row.error.is_some() && descriptor::is_exhausted() {
                // No row: the case was not at fault, and `--resume` runs it.
                return self.shared.break_off(descriptor::EXHAUSTED.to_owned());
            }
            self.shared.done(work, done);
            cursor.done += 1;
        }
    }
}

/// The next case of a chain.
fn work_of<'a>(job: &'a Job, shared: &'a RunShared, cursor: ChainCursor) -> CaseWork<'a> {
    let suite = &job.suites[cursor.suite];
    CaseWork {
        job,
        suite,
        case: &suite.job.chains[cursor.chain][cursor.done],
        number: cursor.first + cursor.done,
        shared,
    }
}

/// Writes an errored row for each case that a limit prevented, so that the run is not a success.
fn write_rest(job: &Job, shared: &RunShared, queues: &[(QueueKey, Queue)], reason: &str) {
    for (_, queue) in queues {
        let chains = std::mem::take(&mut *locked(queue));
        for mut cursor in chains {
            while cursor.done < job.suites[cursor.suite].job.chains[cursor.chain].len() {
                let work = work_of(job, shared, cursor);
                shared.done(work, work.row_without_run(reason).into());
                cursor.done += 1;
            }
        }
    }
}
