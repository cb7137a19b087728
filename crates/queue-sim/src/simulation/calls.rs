//! The way of a case through its worker: permits, calls, answers, grades, rows.

use std::time::Duration;

use crate::agenda::{DeliveryId, Event};
use crate::spread::{Spread, Subject, random_for};
use crate::unit::{CallEnd, Purpose};

use super::Simulation;
use super::tally::CaseEnd;

/// A longer wait than this is not retried (spec 9.1).
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// Random extra share of a wait before a retry.
const JITTER: f64 = 0.5;

const TOKENS: Spread = Spread::LogNormal(0.5);

impl Simulation<'_> {
    pub(super) fn prepare(&mut self, id: DeliveryId) {
        let time = self.scenario.work.cpu;
        let step = self.unit_of(id).finished;
        let now = self.now;
        let delivery = self.delivery_mut(id);
        delivery.step = step;
        delivery.purpose = Purpose::Answer;
        delivery.refusals = 0;
        let host = delivery.worker / self.scenario.workers_per_host;
        let ready = if time.is_zero() { now } else { self.hosts[host as usize].work(now, time) };
        self.agenda.plan(ready, Event::Prepared(id));
    }

    /// A case with a stored answer is only graded.
    pub(super) fn ask(&mut self, id: DeliveryId) {
        let case = self.case_of(id);
        if self.cases[case as usize].is_answered {
            self.grade(id);
        } else {
            self.request(id);
        }
    }

    fn bucket_of(&self, id: DeliveryId) -> Option<usize> {
        let worker = self.delivery(id).worker as usize;
        (!self.buckets.is_empty()).then(|| worker % self.buckets.len())
    }

    /// Waits for a permit, if there is a bucket.
    fn request(&mut self, id: DeliveryId) {
        let now = self.now;
        self.delivery_mut(id).since = now;
        let Some(bucket) = self.bucket_of(id) else { return self.send(id) };
        let (permit, at) = self.buckets[bucket].reserve(now);
        let delivery = self.delivery_mut(id);
        delivery.permit = Some(permit);
        delivery.has_waited = !permit.wait.is_zero();
        self.agenda.plan(at, Event::Permitted(id));
    }

    pub(super) fn permitted(&mut self, id: DeliveryId) {
        self.count_wait(id);
        let has_waited = self.delivery(id).has_waited;
        let bucket = self.bucket_of(id);
        if self.delivery(id).permit.is_some_and(|permit| !permit.is_granted) {
            return self.request(id);
        }
        match bucket {
            // Another worker was refused in the meantime.
            Some(bucket) if has_waited && self.buckets[bucket].is_blocked(self.now) => {
                self.request(id);
            }
            _ => self.send(id),
        }
    }

    pub(super) fn retry(&mut self, id: DeliveryId) {
        self.count_wait(id);
        self.request(id);
    }

    fn count_wait(&mut self, id: DeliveryId) {
        self.tally.waiting += self.now - self.delivery(id).since;
    }

    fn send(&mut self, id: DeliveryId) {
        let case = self.case_of(id);
        let purpose = self.delivery(id).purpose;
        let state = self.cases[case as usize];
        let (subject, attempt) = match purpose {
            Purpose::Answer => (Subject::Answer, state.calls),
            Purpose::Judgement => (Subject::Judgement, state.judgements),
        };
        let tokens = self.call_tokens(case, purpose, attempt);
        if let Err(wait) = self.gate.admit(self.now, tokens) {
            return self.refused(id, wait);
        }
        let state = &mut self.cases[case as usize];
        match purpose {
            Purpose::Answer => {
                state.calls += 1;
                self.tally.calls += 1;
                self.tally.repeated += u64::from(state.calls > 1);
            }
            Purpose::Judgement => state.judgements += 1,
        }
        self.tally.tokens += tokens;
        let time = self.call_time(case, subject);
        let limit = self.scenario.work.timeout.filter(|_| purpose == Purpose::Answer);
        let now = self.now;
        let delivery = self.delivery_mut(id);
        delivery.tokens = tokens;
        delivery.since = now;
        delivery.is_calling = true;
        delivery.call_end = match limit {
            Some(limit) if time > limit => CallEnd::TimedOut,
            _ => CallEnd::Answered,
        };
        let time = limit.map_or(time, |limit| limit.min(time));
        self.agenda.plan(now + time, Event::Called(id));
    }

    /// A slow case is slow in every attempt.
    fn call_time(&self, case: u32, subject: Subject) -> Duration {
        let work = &self.scenario.work;
        let mean = match subject {
            Subject::Judgement => work.judge.unwrap_or_default(),
            _ if work.measured.is_empty() => work.call,
            _ => return work.measured[case as usize % work.measured.len()],
        };
        let mut random = random_for(self.scenario.seed, subject, case, 0);
        mean.mul_f64(work.spread.draw(&mut random))
    }

    fn call_tokens(&self, case: u32, purpose: Purpose, attempt: u32) -> u64 {
        let mean = self.scenario.work.tokens;
        if mean == 0 {
            return 0;
        }
        let number = case.wrapping_mul(2) + u32::from(purpose == Purpose::Judgement);
        let mut random = random_for(self.scenario.seed, Subject::Tokens, number, attempt);
        (mean as f64 * TOKENS.draw(&mut random)) as u64
    }

    /// Tries again as the runner does, and empties the bucket for all.
    fn refused(&mut self, id: DeliveryId, asked: Duration) {
        if let Some(bucket) = self.bucket_of(id) {
            self.buckets[bucket].block(self.now, asked);
        }
        let case = self.case_of(id);
        let now = self.now;
        let delivery = self.delivery_mut(id);
        delivery.refusals += 1;
        delivery.since = now;
        let refusals = delivery.refusals;
        if refusals > self.scenario.work.retries || asked > LONGEST_WAIT {
            return self.finish_case(id, CaseEnd::Refused);
        }
        let mut random = random_for(self.scenario.seed, Subject::Jitter, case, refusals);
        let extra = JITTER * random.fraction();
        let usual = Duration::from_secs(1 << (refusals - 1).min(6)).mul_f64(1.0 + extra);
        let wait = usual.min(LONGEST_WAIT).max(asked + Duration::from_secs_f64(extra));
        self.agenda.plan(now + wait, Event::Retry(id));
    }

    pub(super) fn called(&mut self, id: DeliveryId) {
        let now = self.now;
        let case = self.case_of(id);
        let bucket = self.bucket_of(id);
        let is_stale = self.is_stale(id);
        let delivery = self.delivery_mut(id);
        delivery.is_calling = false;
        let time = now - delivery.since;
        let (purpose, tokens, permit) = (delivery.purpose, delivery.tokens, delivery.permit.take());
        let call_end = delivery.call_end;
        if let (Some(bucket), Some(permit)) = (bucket, permit) {
            self.buckets[bucket].settle(now, permit, tokens);
        }
        if is_stale || (purpose == Purpose::Answer && self.cases[case as usize].is_answered) {
            self.tally.wasted += time;
        } else {
            self.tally.useful += time;
        }
        match (purpose, call_end) {
            (Purpose::Answer, CallEnd::TimedOut) => self.finish_case(id, CaseEnd::TimedOut),
            (Purpose::Answer, CallEnd::Answered) => {
                let stored = self.server.pass(now + self.way, 1);
                self.agenda.plan(stored, Event::AnswerStored(id));
            }
            (Purpose::Judgement, _) => self.check(id),
        }
    }

    pub(super) fn answer_stored(&mut self, id: DeliveryId) {
        let case = self.case_of(id);
        self.cases[case as usize].is_answered = true;
        if self.is_awake(id, Event::AnswerStored(id)) {
            self.grade(id);
        }
    }

    fn grade(&mut self, id: DeliveryId) {
        if self.scenario.work.judge.is_some() {
            let delivery = self.delivery_mut(id);
            delivery.purpose = Purpose::Judgement;
            delivery.refusals = 0;
            self.request(id);
        } else {
            self.check(id);
        }
    }

    fn check(&mut self, id: DeliveryId) {
        let time = self.scenario.work.checks;
        self.tally.useful += time;
        self.agenda.plan(self.now + self.way + time, Event::Graded(id));
    }

    /// Sends the row, and with it the acknowledgement.
    pub(super) fn finish_case(&mut self, id: DeliveryId, end: CaseEnd) {
        self.delivery_mut(id).end = end;
        let stored = self.server.pass(self.now + self.way, 2);
        self.agenda.plan(stored, Event::RowStored(id));
    }

    pub(super) fn row_stored(&mut self, id: DeliveryId) {
        let case = self.case_of(id);
        let end = self.delivery(id).end;
        self.record_row(case, end);
        let is_current = !self.is_stale(id);
        let unit = self.unit_of(id);
        if is_current {
            unit.finished += 1;
        }
        let goes_on = is_current && !unit.is_finished();
        if !self.is_live(id) {
            return;
        }
        if goes_on {
            self.agenda.plan(self.now + self.way, Event::Begin(id));
        } else {
            self.release(id);
        }
    }
}
