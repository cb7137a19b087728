//! The loop: chains of cases go to workers, rows come back.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Semaphore;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::{JoinHandle, JoinSet};

use crate::event::Event;
use crate::record::{CaseKey, Row};

use super::backlog::Backlog;
use super::cancel::Cancel;
use super::case::{CaseWork, Done};
use super::job::{Answered, Job};
use super::ledger::{Kept, Ledger, Safe};
use super::limit::{Limits, Reached};

/// Workers of a target that is not a process, per core.
const PER_CORE: usize = 4;

/// A case that is over, and waits for its place in the run log, if it gets one.
struct BeingLogged {
    suite: usize,
    case: usize,
    done: Done,
}

/// A row that is not safe yet.
struct OnTheWay {
    suite: usize,
    case: usize,
    kept: Kept,
}

/// What the loop talks to.
pub(super) struct Outside {
    ledger: Arc<dyn Ledger>,
    tell: Box<dyn Fn(Event) + Send + Sync>,
    /// Gone when no further case comes.
    logged: Mutex<Option<UnboundedSender<BeingLogged>>>,
    /// Rows on their way to the disk; gone when no further row comes.
    rows: Mutex<Option<UnboundedSender<OnTheWay>>>,
    backlog: Backlog,
    limits: Limits,
    cancel: Arc<Cancel>,
    broken: Mutex<Option<String>>,
}

impl std::fmt::Debug for Outside {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Outside").finish_non_exhaustive()
    }
}

impl Outside {
    pub(super) fn tell(&self, event: Event) {
        (self.tell)(event);
    }

    /// Written down when this returns, and safe when what it returns says so.
    pub(super) fn answered(
        &self,
        suite: usize,
        key: &CaseKey,
        test_hash: &str,
        answered: &Answered,
    ) -> Safe {
        self.ledger.answered(suite, key, test_hash, answered)
    }

    pub(super) async fn wait(&self, safe: Safe) {
        if let Err(reason) = safe.await {
            self.break_off(reason);
        }
    }

    fn done(&self, work: CaseWork<'_>, done: Done) {
        if let Some(warning) = self.limits.blindness(&done.row) {
            self.tell(Event::Warning(warning));
        }
        if let Some(reason) = self.limits.count(&done.row) {
            self.tell(Event::Stopping(reason));
        }
        self.backlog.add();
        let (suite, case) = (work.suite, work.number);
        // Rows stay in the order in which cases end, also those that are not logged.
        match (&*locked(&self.logged), &work.job.options.recording) {
            (Some(logged), Some(_)) => {
                // Fails only when nobody listens any more.
                let _ = logged.send(BeingLogged { suite, case, done });
            }
            _ => self.keep(suite, case, done.row),
        }
    }

    fn keep(&self, suite: usize, case: usize, row: Row) {
        let kept = self.ledger.keep(suite, row);
        if let Some(rows) = &*locked(&self.rows) {
            let _ = rows.send(OnTheWay { suite, case, kept });
        }
    }

    /// Keeps cases once they are in the run log. Workers do not wait for that.
    async fn keep_logged(&self, mut cases: UnboundedReceiver<BeingLogged>) {
        let _lifted = self.backlog.lifted_at_the_end();
        while let Some(one) = cases.recv().await {
            let Done { mut row, logging } = one.done;
            if let Some(logging) = logging {
                self.wait(logging.answer).await;
                logging.record.note(&mut row).await;
            }
            self.keep(one.suite, one.case, row);
        }
    }

    fn ended(&self) -> Ended {
        if let Some(reason) = self.broken() {
            return Ended::Broken(reason);
        }
        if self.cancel.is_asked() {
            return Ended::Cancelled;
        }
        match self.limits.reached() {
            None => Ended::Complete,
            Some(reached) => Ended::Limited(reached),
        }
    }

    /// Tells of rows once they are safe.
    async fn settle(&self, mut rows: UnboundedReceiver<OnTheWay>) {
        let _lifted = self.backlog.lifted_at_the_end();
        while let Some(OnTheWay { suite, case, kept }) = rows.recv().await {
            match kept.safe.await {
                Ok(()) => self.tell(Event::Finished {
                    suite,
                    case,
                    row: kept.row,
                }),
                Err(reason) => self.break_off(reason),
            }
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
pub enum Ended {
    /// Every case has a row.
    Complete,
    /// Cases were left out because of a limit; they have rows that say so.
    Limited(Reached),
    /// Somebody asked to stop; what was not begun has no row.
    Cancelled,
    /// Results could not be written.
    Broken(String),
}

/// What is left to do of one chain of one suite.
#[derive(Debug, Clone, Copy)]
struct Piece {
    suite: usize,
    chain: usize,
    /// Number in the plan of the chain's first case.
    first: usize,
    /// How many of its cases are done.
    done: usize,
}

type Queue = Arc<Mutex<VecDeque<Piece>>>;

/// Runs every case of the job.
pub async fn execute(
    job: Arc<Job>,
    ledger: Arc<dyn Ledger>,
    cancel: Arc<Cancel>,
    tell: Box<dyn Fn(Event) + Send + Sync>,
) -> Ended {
    let (rows, on_the_way) = unbounded_channel();
    let (logged, being_logged) = unbounded_channel();
    let outside = Arc::new(Outside {
        ledger,
        tell,
        logged: Mutex::new(Some(logged)),
        rows: Mutex::new(Some(rows)),
        backlog: Backlog::default(),
        limits: Limits::new(job.options.budget_usd, job.options.max_errors),
        cancel,
        broken: Mutex::new(None),
    });
    let logging = {
        let outside = Arc::clone(&outside);
        tokio::spawn(async move { outside.keep_logged(being_logged).await })
    };
    let settling = {
        let outside = Arc::clone(&outside);
        tokio::spawn(async move { outside.settle(on_the_way).await })
    };
    let queues = queues(&job);
    work_off(&job, &outside, &queues).await;
    if let (Some(reached), false) = (outside.limits.reached(), outside.cancel.is_asked()) {
        write_rest(&job, &outside, &queues, &reached.reason);
    }
    *locked(&outside.logged) = None;
    end_of(logging).await;
    *locked(&outside.rows) = None;
    end_of(settling).await;
    outside.ended()
}

/// A panic of the task is one of ours.
async fn end_of(task: JoinHandle<()>) {
    if let Err(error) = task.await
        && let Ok(panic) = error.try_into_panic()
    {
        std::panic::resume_unwind(panic);
    }
}

/// Until every worker is done, or everything must end at once.
async fn work_off(job: &Arc<Job>, outside: &Arc<Outside>, queues: &[(StationKey, Queue)]) {
    let most = job.options.workers;
    let shared = most.map(|most| Arc::new(Semaphore::new(most)));
    let mut workers = JoinSet::new();
    for (target, queue) in queues {
        for _ in 0..worker_count(job, target, lock(queue).len()) {
            let worker = Worker {
                job: Arc::clone(job),
                outside: Arc::clone(outside),
                queue: Arc::clone(queue),
                shared: shared.clone(),
            };
            workers.spawn(worker.run());
        }
    }
    let is_cut = tokio::select! {
        () = finish(&mut workers) => false,
        () = outside.cancel.at_once() => true,
    };
    if is_cut {
        workers.shutdown().await;
    }
}

async fn finish(workers: &mut JoinSet<()>) {
    while let Some(ended) = workers.join_next().await {
        if let Err(error) = ended
            && let Ok(panic) = error.try_into_panic()
        {
            std::panic::resume_unwind(panic);
        }
    }
}

/// One queue per station, so that a slow target keeps none of the others waiting.
fn queues(job: &Job) -> Vec<(StationKey, Queue)> {
    let mut queues: BTreeMap<StationKey, VecDeque<Piece>> = BTreeMap::new();
    let mut first = 0;
    for (suite, work) in job.suites.iter().enumerate() {
        for (chain, cases) in work.chains.iter().enumerate() {
            let target = &cases[0].target;
            let key = match work.target(target) {
                Some(station) => Arc::as_ptr(station) as usize,
                None => 0,
            };
            let piece = Piece {
                suite,
                chain,
                first,
                done: 0,
            };
            let queue = queues.entry((key, target.clone())).or_default();
            queue.push_back(piece);
            first += cases.len();
        }
    }
    let queues = queues.into_iter();
    queues
        .map(|(key, pieces)| (key, Arc::new(Mutex::new(pieces))))
        .collect()
}

/// Which station, and the name that cases use for it.
type StationKey = (usize, String);

fn worker_count(job: &Job, key: &StationKey, pieces: usize) -> usize {
    let mut stations = job.suites.iter().filter_map(|suite| suite.target(&key.1));
    let station = stations.find(|station| Arc::as_ptr(station) as usize == key.0);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let usual = if station.is_some_and(|station| station.is_process()) {
        cores
    } else {
        cores * PER_CORE
    };
    let most = station.and_then(|station| station.max_concurrency);
    let wanted = job.options.workers.unwrap_or(usual);
    wanted.min(most.unwrap_or(usize::MAX)).min(pieces).max(1)
}

struct Worker {
    job: Arc<Job>,
    outside: Arc<Outside>,
    queue: Queue,
    /// Limits cases over all targets, where somebody set a limit.
    shared: Option<Arc<Semaphore>>,
}

impl Worker {
    async fn run(self) {
        while !self.outside.is_stopped() {
            let Some(piece) = lock(&self.queue).pop_front() else {
                return;
            };
            self.run_chain(piece).await;
        }
    }

    async fn run_chain(&self, mut piece: Piece) {
        let length = self.job.suites[piece.suite].chains[piece.chain].len();
        while piece.done < length {
            let _turn = match &self.shared {
                Some(shared) => shared.acquire().await.ok(),
                None => None,
            };
            self.outside.backlog.room().await;
            if self.outside.is_stopped() {
                // Back to the others that are not begun, which have to be accounted for.
                lock(&self.queue).push_front(piece);
                return;
            }
            let work = work_of(&self.job, &self.outside, piece);
            self.outside.tell(Event::Started {
                case: work.number,
                label: work.label(),
            });
            let done = work.run().await;
            self.outside.done(work, done);
            piece.done += 1;
        }
    }
}

/// The first case of a piece that is not done.
fn work_of<'a>(job: &'a Job, outside: &'a Outside, piece: Piece) -> CaseWork<'a> {
    CaseWork {
        job,
        suite: piece.suite,
        case: &job.suites[piece.suite].chains[piece.chain][piece.done],
        number: piece.first + piece.done,
        outside,
    }
}

/// Cases that a limit kept from being run are errors, so that nobody takes them for passed.
fn write_rest(job: &Job, outside: &Outside, queues: &[(StationKey, Queue)], reason: &str) {
    for (_, queue) in queues {
        let pieces = std::mem::take(&mut *lock(queue));
        for mut piece in pieces {
            while piece.done < job.suites[piece.suite].chains[piece.chain].len() {
                let work = work_of(job, outside, piece);
                outside.done(work, work.not_begun(reason).into());
                piece.done += 1;
            }
        }
    }
}

fn lock(queue: &Queue) -> MutexGuard<'_, VecDeque<Piece>> {
    locked(queue)
}

/// What these locks guard is whole at every moment, also after a panic.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
