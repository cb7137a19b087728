//! A chain that this worker has: its cases, one after the other, as long as it is leased.

use std::sync::atomic::Ordering;

use evalrig_core::model::{Fault, FaultKind, Stage};

use crate::execute::{AskGuard, GivenChain, NoRow, SentSoFar};
use crate::lock::locked;
use crate::results::Row;

use super::known_answers::{KnownCase, LaterWork};
use super::lease::Lease;
use super::message::CaseMessage;
use super::worker_run::{ChainEnd, MOST_REDELIVERIES, WorkerRun};
use super::worker_state::WorkerState;

pub(super) struct TakenChain<'a> {
    pub(super) given: GivenChain,
    pub(super) cases: &'a [CaseMessage],
    /// Cases that had a row when the chain was taken.
    pub(super) finished: Vec<bool>,
    /// Whether the chain may have been another worker's before, which may still publish its answers.
    pub(super) may_be_repeated: bool,
    pub(super) lease: &'a Lease,
    pub(super) number: u64,
}

impl WorkerRun {
    pub(super) async fn run_cases(&self, taken: &TakenChain<'_>, counts: &WorkerState) -> ChainEnd {
        let TakenChain { given, cases, finished, lease, number, .. } = taken;
        // A session went with its worker: the conversation begins again, and its rows come together.
        let suite = &self.runner.job().suites[given.suite].job;
        let is_session = suite.is_one_session(&given.cases);
        let may_ask = |sent| {
            let is_left = sent == SentSoFar::Nothing && counts.is_draining();
            lease.is_held() && !self.is_over() && !is_left
        };
        let later = LaterWork::new(&self.queue, !is_session);
        let mut guard = AskGuard::new(&may_ask);
        if taken.may_be_repeated {
            guard = guard.looking(&later);
        }
        let mut running = self.runner.start(given, &guard);
        let mut held = Vec::new();
        for (case, is_finished) in cases.iter().zip(finished) {
            if *is_finished && !is_session {
                running.skip_next();
                continue;
            }
            if !lease.is_held() {
                running.end().await;
                return ChainEnd::Lost;
            }
            // A session cannot be handed over, so a worker that drains finishes it.
            let is_left = counts.is_draining() && (running.is_new() || !is_session);
            if is_left || !self.takes_cases() {
                let is_published = self.publish(&mut held, counts).await;
                return if is_published { ChainEnd::Left } else { ChainEnd::Lost };
            }
            if let Some(chain) = locked(&self.leased).get_mut(number) {
                chain.test = Some(case.test.clone());
            }
            let has_answer = given.answered.contains_key(&case.key());
            later.begin_case(KnownCase { case, has_row: *is_finished, has_answer });
            if !is_session {
                guard.begin_case();
            }
            let row = match running.run_next().await {
                Ok(row) => row,
                // Nothing was asked, or another worker has the answer: the chain may be taken at once.
                Err(NoRow::Lost) if lease.is_held() && !self.is_over() => {
                    running.end().await;
                    return ChainEnd::Left;
                }
                Err(NoRow::Lost) => return ChainEnd::Lost,
                Err(NoRow::DiskFull(reason)) => return ChainEnd::DiskFull(reason),
                Err(NoRow::Unable(reason)) => return ChainEnd::GivenBack(reason),
            };
            held.push((case, row));
            if is_session {
                continue;
            }
            if !self.publish(&mut held, counts).await {
                running.end().await;
                return ChainEnd::Lost;
            }
        }
        running.end().await;
        if self.publish(&mut held, counts).await { ChainEnd::Done } else { ChainEnd::Lost }
    }

    /// Whether the server has the rows.
    async fn publish(&self, rows: &mut Vec<(&CaseMessage, Row)>, counts: &WorkerState) -> bool {
        let secrets = &self.runner.job().options.secrets;
        for (case, row) in rows.drain(..) {
            let outcome = row.outcome;
            if self.publisher.publish_row(&case.key(), row, secrets).await.is_err() {
                return false;
            }
            counts.count(outcome);
            self.done.fetch_add(1, Ordering::Relaxed);
        }
        true
    }

    /// The rows of cases whose workers were lost again and again.
    pub(super) async fn give_up(&self, taken: &TakenChain<'_>, counts: &WorkerState) -> ChainEnd {
        let TakenChain { given, cases, finished, .. } = taken;
        let times = MOST_REDELIVERIES + 1;
        let message = format!("{times} workers were lost while they ran this case");
        let fault = Fault::new(Stage::Queue, FaultKind::LostWorker, message);
        let open = cases.iter().enumerate().filter(|(at, _)| !finished[*at]);
        let rows = open.map(|(at, case)| (case, self.runner.row_of_fault(given, at, &fault)));
        let mut rows: Vec<(&CaseMessage, Row)> = rows.collect();
        if self.publish(&mut rows, counts).await { ChainEnd::Done } else { ChainEnd::Lost }
    }
}
