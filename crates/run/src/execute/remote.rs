//! A run whose cases are executed elsewhere. Their rows come in here, and are counted, written and
//! reported as those of a local run.

use std::sync::Arc;

use evalrig_core::model::{Fault, FaultKind, Stage};
use futures_util::future::BoxFuture;

use crate::event::Event;
use crate::provider::replay::recorded_transcript;
use crate::results::{CaseKey, Row};

use super::cancel::Cancel;
use super::case::{CaseDone, CaseWork, PendingRunLog};
use super::job::{Job, SuiteRun};
use super::limit::ReachedLimit;
use super::run::{ExecutionEnd, RunShared, StartedRun};

/// Gets the rows of a run from where its cases are executed.
pub(crate) trait RemoteExecution: Send {
    /// Returns when every case has its row, or the run is stopped.
    fn collect<'a>(&'a mut self, intake: &'a RowIntake) -> BoxFuture<'a, CollectionEnd>;
}

/// Why no further row is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CollectionEnd {
    /// Every case has a row, or the run was stopped.
    Collected,
    /// No further round is needed.
    Settled,
}

/// A case of the plan: indices of its suite, its chain, and within the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CaseIndex {
    pub(crate) suite: usize,
    pub(crate) chain: usize,
    pub(crate) case: usize,
    /// Number in the plan.
    pub(crate) number: usize,
}

pub(crate) struct RowIntake {
    job: Arc<Job>,
    shared: Arc<RunShared>,
}

/// Runs every case of the job elsewhere.
pub(crate) async fn execute_elsewhere(
    job: Arc<Job>,
    cancel: Arc<Cancel>,
    tell: Box<dyn Fn(Event) + Send + Sync>,
    execution: &mut dyn RemoteExecution,
) -> ExecutionEnd {
    let run = StartedRun::new(&job, cancel, tell);
    let intake = RowIntake { job, shared: Arc::clone(&run.shared) };
    let collected = execution.collect(&intake).await;
    drop(intake);
    match (run.finish().await, collected) {
        (ExecutionEnd::Complete, CollectionEnd::Settled) => ExecutionEnd::Settled,
        (ended, _) => ended,
    }
}

impl RowIntake {
    /// Every case of the plan, in order.
    pub(crate) fn cases(&self) -> Vec<(CaseKey, CaseIndex)> {
        let mut found = Vec::with_capacity(self.job.case_count());
        for (suite, SuiteRun { job, .. }) in self.job.suites.iter().enumerate() {
            for (chain, cases) in job.chains.iter().enumerate() {
                for (case, planned) in cases.iter().enumerate() {
                    let index = CaseIndex { suite, chain, case, number: found.len() };
                    found.push((job.key(planned), index));
                }
            }
        }
        found
    }

    pub(crate) fn test_hash(&self, at: CaseIndex) -> &str {
        let suite = &self.job.suites[at.suite].job;
        suite.hash(suite.chains[at.chain][at.case].test)
    }

    /// The row of a case.
    pub(crate) async fn accept(&self, at: CaseIndex, mut row: Row) {
        self.shared.wait_for_room().await;
        let work = self.work(at);
        if row.setup.is_some() {
            // Programs of a worker are at other paths.
            row.setup = work.setup();
        }
        let recording = self.job.options.recording.as_ref();
        let logging = recording.filter(|_| has_answer(&row)).and_then(|recording| {
            let transcript = recorded_transcript(row.clone()).ok()?;
            let record = recording.add(work.finished(&transcript, &row));
            Some(PendingRunLog { record, answer: Box::pin(std::future::ready(Ok(()))) })
        });
        self.shared.done(work, CaseDone { logging, ..row.into() });
    }

    /// The row of a case that no worker could finish.
    pub(crate) async fn give_up(&self, at: CaseIndex, kind: FaultKind, message: String) {
        let row = self.work(at).row_of_fault(&Fault::new(Stage::Queue, kind, message));
        self.accept(at, row).await;
    }

    /// The row of a case that a limit prevented.
    pub(crate) async fn leave_out(&self, at: CaseIndex, reason: &str) {
        let row = self.work(at).row_without_run(reason);
        self.accept(at, row).await;
    }

    /// Waits until every row that came in is on disk and was reported.
    pub(crate) async fn wait_until_reported(&self) {
        self.shared.wait_until_reported().await;
    }

    /// The round that is to be run, of a run in rounds.
    pub(crate) fn open_round(&self) -> Option<u32> {
        self.job.options.rounds.as_ref()?.open_round()
    }

    pub(crate) fn tell(&self, event: Event) {
        self.shared.tell(event);
    }

    /// Whether no further case is to be started.
    pub(crate) fn is_stopped(&self) -> bool {
        self.shared.is_stopped()
    }

    /// The limit whose remaining cases get rows that say so.
    pub(crate) fn limit_with_rows(&self) -> Option<ReachedLimit> {
        self.shared.limit_with_rows()
    }

    pub(crate) fn cancel(&self) -> &Cancel {
        self.shared.cancel()
    }

    /// Ends the run, because no further case can be sent.
    pub(crate) fn break_off(&self, reason: String) {
        self.shared.break_off(reason);
    }

    /// Ends the run as one that others have ended.
    pub(crate) fn end_elsewhere(&self, reason: String) {
        self.shared.end_elsewhere(reason);
    }

    fn work(&self, at: CaseIndex) -> CaseWork<'_> {
        let suite = &self.job.suites[at.suite];
        CaseWork {
            job: &self.job,
            suite,
            case: &suite.job.chains[at.chain][at.case],
            number: at.number,
            answered: &self.job.answered,
            shared: &self.shared,
            guard: None,
        }
    }
}

/// Whether the target answered; a local run logs no other cases.
fn has_answer(row: &Row) -> bool {
    let is_of_target =
        |stage: &str| [Stage::Target, Stage::Workspace].iter().any(|one| one.word() == stage);
    row.attempts > 0 && !row.error.as_ref().is_some_and(|error| is_of_target(&error.stage))
}
