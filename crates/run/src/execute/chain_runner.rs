//! Runs chains of cases that arrive one by one, such as those that a worker takes from a queue. A case
//! runs as in a local run; its row goes back to the caller.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use evalrig_core::model::Fault;
use evalrig_core::plan::PlannedCase;

use crate::descriptor;
use crate::disk::full_disk_count;
use crate::event::Event;
use crate::results::{CaseKey, Row};

use super::ask_guard::AskGuard;
use super::cancel::Cancel;
use super::case::CaseWork;
use super::case_workspace::ChainState;
use super::job::{Job, UngradedAnswer};
use super::run::StartedRun;

/// Never finished: it has no rows of its own.
pub(crate) struct ChainRunner {
    job: Arc<Job>,
    run: StartedRun,
    /// Number of the next chain's first case, which names its temporary files.
    next: AtomicUsize,
}

/// Why a case has no row from this machine. The case is not at fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NoRow {
    /// The guard refused a request.
    Lost,
    /// A file could not be written for lack of space, with what failed.
    DiskFull(String),
    /// No case can be run here now.
    Unable(String),
}

/// A chain, and the answers to it that are known.
#[derive(Debug)]
pub(crate) struct GivenChain {
    /// Index of the suite.
    pub(crate) suite: usize,
    pub(crate) cases: Vec<PlannedCase>,
    pub(crate) answered: HashMap<CaseKey, UngradedAnswer>,
}

/// A chain whose cases run one after the other.
pub(crate) struct RunningChain<'a> {
    runner: &'a ChainRunner,
    chain: &'a GivenChain,
    guard: &'a AskGuard<'a>,
    state: ChainState,
    first: usize,
    done: usize,
}

impl ChainRunner {
    pub(crate) fn new(job: Job, tell: Box<dyn Fn(Event) + Send + Sync>) -> Self {
        let run = StartedRun::new(&job, Arc::new(Cancel::default()), tell);
        Self { job: Arc::new(job), run, next: AtomicUsize::new(0) }
    }

    pub(crate) fn job(&self) -> &Job {
        &self.job
    }

    pub(crate) fn start<'a>(
        &'a self,
        chain: &'a GivenChain,
        guard: &'a AskGuard<'a>,
    ) -> RunningChain<'a> {
        let length = chain.cases.len();
        let first = self.next.fetch_add(length, Ordering::Relaxed);
        let state = ChainState::new(&self.job.options.scratch, first, length);
        RunningChain { runner: self, chain, guard, state, first, done: 0 }
    }

    /// The row of a case of a chain that could not be measured.
    pub(crate) fn row_of_fault(&self, chain: &GivenChain, at: usize, fault: &Fault) -> Row {
        self.work(chain, at, 0).row_of_fault(fault)
    }

    fn work<'a>(&'a self, chain: &'a GivenChain, at: usize, number: usize) -> CaseWork<'a> {
        let suite = &self.job.suites[chain.suite];
        CaseWork {
            job: &self.job,
            suite,
            case: &chain.cases[at],
            number,
            answered: &chain.answered,
            shared: &self.run.shared,
            guard: None,
        }
    }

    /// Runs the hooks that end workspaces. Returns what went wrong.
    pub(crate) async fn finish(&self) -> Vec<String> {
        self.job.options.workspaces.finish().await
    }
}

impl RunningChain<'_> {
    /// Whether no case was run or left out yet.
    pub(crate) fn is_new(&self) -> bool {
        self.done == 0
    }

    /// Runs the next case.
    pub(crate) async fn run_next(&mut self) -> Result<Row, NoRow> {
        let run = &self.runner.run;
        let work = self.runner.work(self.chain, self.done, self.first + self.done);
        let work = CaseWork { guard: Some(self.guard), ..work };
        let full = full_disk_count();
        run.shared.tell(Event::Started { case: work.number, label: work.label() });
        self.state.has_next = work.suite_job().is_continued(&self.chain.cases[self.done + 1..]);
        let done = work.run(&mut self.state).await;
        if !self.state.has_next {
            work.end_chain(&mut self.state).await;
        }
        if self.guard.has_refused() {
            return Err(NoRow::Lost);
        }
        if done.row.error.is_some() && descriptor::is_exhausted() {
            return Err(NoRow::Unable(descriptor::EXHAUSTED.to_owned()));
        }
        if let Some(error) = done.row.error.as_ref().filter(|_| full_disk_count() > full) {
            return Err(NoRow::DiskFull(error.message.clone()));
        }
        if let Some(reason) = run.shared.broken() {
            return Err(NoRow::Unable(reason));
        }
        self.done += 1;
        Ok(done.row)
    }

    /// Leaves out the next case, which has a row.
    pub(crate) fn skip_next(&mut self) {
        self.done += 1;
    }

    /// To be called when no further case is run.
    pub(crate) async fn end(&mut self) {
        if let Some(last) = self.done.checked_sub(1) {
            let work = self.runner.work(self.chain, last, self.first + last);
            work.end_chain(&mut self.state).await;
        }
    }
}
