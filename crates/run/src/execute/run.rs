//! Distributes chains of cases to workers and collects their rows.

use std::sync::{Arc, Mutex};

use evalrig_core::model::Transcript;
use tokio::sync::Semaphore;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::{JoinError, JoinHandle, JoinSet};

use crate::descriptor;
use crate::event::Event;
use crate::lock::locked;
use crate::results::Row;

use super::answer_memory::{AnswerMemory, MemoryShare};
use super::backlog::Backlog;
use super::cancel::Cancel;
use super::case::{CaseDone, CaseWork};
use super::case_workspace::ChainState;
use super::chain_queue::{ChainCursor, ChainQueue, QueueKey, queues_of, worker_count};
use super::job::Job;
use super::limit::{Limit, ReachedLimit, RunLimits};
use super::round_gate::RoundGate;
use super::row_sink::{Durable, RowSink, WrittenRow};

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
    broken: Mutex<Option<BreakOff>>,
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

    pub(super) fn done(&self, work: CaseWork<'_>, done: CaseDone) {
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
        match &*locked(&self.broken) {
            Some(BreakOff::Unwritten(reason)) => return ExecutionEnd::Broken(reason.clone()),
            #[cfg(feature = "queue")]
            Some(BreakOff::Elsewhere(reason)) => {
                return ExecutionEnd::EndedElsewhere(reason.clone());
            }
            None => {}
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

    /// The limit whose remaining cases get rows that say so.
    pub(super) fn limit_with_rows(&self) -> Option<ReachedLimit> {
        let reached = self.limits.reached().filter(|_| !self.cancel.is_asked())?;
        (reached.limit != Limit::Failures).then_some(reached)
    }

    /// Waits until every row is on disk and was reported.
    pub(super) async fn wait_until_reported(&self) {
        self.backlog.wait_until_empty().await;
    }

    pub(super) async fn wait_for_room(&self) {
        self.backlog.wait_for_room().await;
    }

    #[cfg(feature = "queue")]
    pub(super) fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.cancel.is_asked() || self.limits.reached().is_some() || self.broken().is_some()
    }

    pub(super) fn broken(&self) -> Option<String> {
        locked(&self.broken).as_ref().map(|broken| broken.reason().to_owned())
    }

    /// Results cannot be written.
    pub(super) fn break_off(&self, reason: String) {
        self.end_early(BreakOff::Unwritten(reason));
    }

    /// Where the cases are executed, the run was ended.
    #[cfg(feature = "queue")]
    pub(super) fn end_elsewhere(&self, reason: String) {
        self.end_early(BreakOff::Elsewhere(reason));
    }

    fn end_early(&self, end: BreakOff) {
        let mut broken = locked(&self.broken);
        if broken.is_none() {
            self.tell(Event::Stopping(end.reason().to_owned()));
            *broken = Some(end);
        }
    }
}

/// Why a run ended early.
#[derive(Debug)]
enum BreakOff {
    Unwritten(String),
    #[cfg(feature = "queue")]
    Elsewhere(String),
}

impl BreakOff {
    fn reason(&self) -> &str {
        match self {
            Self::Unwritten(reason) => reason,
            #[cfg(feature = "queue")]
            Self::Elsewhere(reason) => reason,
        }
    }
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ExecutionEnd {
    /// Every case has a row.
    Complete,
    /// No further round was needed; cases of later rounds have no row.
    Settled,
    /// Cases were left out because of a limit; they have rows that say so.
    Limited(ReachedLimit),
    /// Stopped after failures (`--fail-fast`); cases that were not started have no row.
    FailedFast,
    /// Stopped by a signal or by the caller; cases that were not started have no row.
    Cancelled,
    /// Results could not be written.
    Broken(String),
    /// Cancelled or removed where the cases are executed; cases without a row were not started there.
    #[cfg_attr(not(feature = "queue"), allow(dead_code, reason = "for queues"))]
    EndedElsewhere(String),
}

/// Runs every case of the job.
pub(crate) async fn execute(
    job: Arc<Job>,
    cancel: Arc<Cancel>,
    tell: Box<dyn Fn(Event) + Send + Sync>,
) -> ExecutionEnd {
    let run = StartedRun::new(&job, cancel, tell);
    let (queues, is_settled) = match &job.options.rounds {
        None => {
            let queues = queues_of(&job, |_| true);
            drain_queues(&job, &run.shared, &queues).await;
            (queues, false)
        }
        Some(gate) => drain_rounds(&job, &run.shared, &**gate).await,
    };
    for warning in job.options.workspaces.finish().await {
        run.shared.tell(Event::Warning(warning));
    }
    if let Some(reached) = run.shared.limit_with_rows() {
        write_rest(&job, &run.shared, &queues, &reached.reason).await;
    }
    match run.finish().await {
        ExecutionEnd::Complete if is_settled => ExecutionEnd::Settled,
        ended => ended,
    }
}

/// A run whose rows are written and reported as its cases end.
pub(super) struct StartedRun {
    pub(super) shared: Arc<RunShared>,
    logging: JoinHandle<()>,
    settling: JoinHandle<()>,
}

impl StartedRun {
    pub(super) fn new(
        job: &Job,
        cancel: Arc<Cancel>,
        tell: Box<dyn Fn(Event) + Send + Sync>,
    ) -> Self {
        let (rows, pending_rows) = unbounded_channel();
        let (logged, pending_logs) = unbounded_channel();
        let options = &job.options;
        let shared = Arc::new(RunShared {
            tell,
            logged: Mutex::new(Some(logged)),
            rows: Mutex::new(Some(rows)),
            backlog: Backlog::default(),
            answer_memory: AnswerMemory::default(),
            limits: RunLimits::of(options),
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
        Self { shared, logging, settling }
    }

    /// Waits until every row is reported.
    pub(super) async fn finish(self) -> ExecutionEnd {
        *locked(&self.shared.logged) = None;
        resume_panic(self.logging.await);
        *locked(&self.shared.rows) = None;
        resume_panic(self.settling.await);
        self.shared.ended()
    }
}

/// Runs one round after another until the gate needs no more. Returns the queues that are left, and
/// whether rounds were left out because none was needed. A round begins when every row of the one before was reported,
/// so no trial is started that a look might save.
async fn drain_rounds(
    job: &Arc<Job>,
    shared: &Arc<RunShared>,
    gate: &dyn RoundGate,
) -> (Vec<(QueueKey, ChainQueue)>, bool) {
    let trial_of = |cursor: &ChainCursor| -> u32 {
        job.suites[cursor.suite].job.chains[cursor.chain][0].trial
    };
    let mut done = 0;
    while let Some(round) = gate.open_round().filter(|round| *round > done) {
        // Cases of earlier rounds that a resumed run runs again.
        let is_due = |cursor: &ChainCursor| (done + 1..=round).contains(&trial_of(cursor));
        let due = queues_of(job, is_due);
        drain_queues(job, shared, &due).await;
        shared.wait_until_reported().await;
        if shared.is_stopped() {
            let mut left = due;
            left.extend(queues_of(job, |cursor| trial_of(cursor) > round));
            return (left, false);
        }
        done = round;
    }
    let is_left_out = !queues_of(job, |cursor| trial_of(cursor) > done).is_empty();
    (Vec::new(), gate.open_round().is_none() && is_left_out)
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
async fn drain_queues(job: &Arc<Job>, shared: &Arc<RunShared>, queues: &[(QueueKey, ChainQueue)]) {
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

struct Worker {
    job: Arc<Job>,
    shared: Arc<RunShared>,
    queue: ChainQueue,
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
            self.shared.wait_for_room().await;
            if self.shared.is_stopped() {
                let last = ChainCursor { done: cursor.done.saturating_sub(1), ..cursor };
                work_of(&self.job, &self.shared, last).end_chain(&mut chain).await;
                // A limit writes rows for the remaining cases.
                locked(&self.queue).push_front(cursor);
                return;
            }
            let work = work_of(&self.job, &self.shared, cursor);
            self.shared.tell(Event::Started { case: work.number, label: work.label() });
            let suite = &self.job.suites[cursor.suite].job;
            chain.has_next = suite.is_continued(&suite.chains[cursor.chain][cursor.done + 1..]);
            let done = work.run(&mut chain).await;
            if !chain.has_next {
                work.end_chain(&mut chain).await;
            }
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
        answered: &job.answered,
        shared,
        guard: None,
    }
}

/// Writes an errored row for each case that a limit prevented, so that the run is not a success.
async fn write_rest(
    job: &Job,
    shared: &RunShared,
    queues: &[(QueueKey, ChainQueue)],
    reason: &str,
) {
    for (_, queue) in queues {
        let chains = std::mem::take(&mut *locked(queue));
        for mut cursor in chains {
            while cursor.done < job.suites[cursor.suite].job.chains[cursor.chain].len() {
                // There may be more of them than fit into memory.
                shared.wait_for_room().await;
                let work = work_of(job, shared, cursor);
                shared.done(work, work.row_without_run(reason).into());
                cursor.done += 1;
            }
        }
    }
}
