//! The state of cases, units, deliveries and workers.

use std::time::Duration;

use crate::agenda::DeliveryId;
use crate::rate::Permit;
use crate::scenario::Scenario;
use crate::simulation::CaseEnd;

/// A case alone, or the cases of one conversation. What is delivered.
#[derive(Debug, Clone)]
pub(crate) struct Unit {
    pub(crate) first: u32,
    pub(crate) length: u32,
    /// Cases that have a row.
    pub(crate) finished: u32,
    pub(crate) deliveries: u32,
    /// The delivery that counts.
    pub(crate) current: Option<DeliveryId>,
    pub(crate) lease_until: Duration,
}

impl Unit {
    pub(crate) fn all(scenario: &Scenario) -> Vec<Self> {
        let length = scenario.conversation;
        (0..scenario.cases)
            .step_by(length as usize)
            .map(|first| Self {
                first,
                length: length.min(scenario.cases - first),
                finished: 0,
                deliveries: 0,
                current: None,
                lease_until: Duration::ZERO,
            })
            .collect()
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.finished == self.length
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    Answer,
    Judgement,
}

/// Of what a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallEnd {
    Answered,
    TimedOut,
}

/// One unit in one slot of one worker.
#[derive(Debug, Clone)]
pub(crate) struct Delivery {
    pub(crate) unit: u32,
    pub(crate) worker: u32,
    /// Of the worker; a worker that starts again has another one.
    pub(crate) life: u32,
    /// The case within the unit.
    pub(crate) step: u32,
    pub(crate) purpose: Purpose,
    pub(crate) permit: Option<Permit>,
    /// The bucket has made it wait, so the bucket is asked again before sending.
    pub(crate) has_waited: bool,
    pub(crate) refusals: u32,
    /// Tokens of the running call.
    pub(crate) tokens: u64,
    pub(crate) call_end: CallEnd,
    /// What the row says that is being stored.
    pub(crate) end: CaseEnd,
    /// When the slot was taken, and when the present wait or call began.
    pub(crate) begun: Duration,
    pub(crate) since: Duration,
    pub(crate) is_calling: bool,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Worker {
    pub(crate) life: u32,
    pub(crate) is_alive: bool,
    pub(crate) frozen_until: Duration,
    pub(crate) held: Vec<DeliveryId>,
    pub(crate) faults: u32,
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CaseState {
    /// The answer is stored, so that the case is only graded.
    pub(crate) is_answered: bool,
    /// A row counts.
    pub(crate) is_done: bool,
    /// Calls that the provider accepted.
    pub(crate) calls: u32,
    pub(crate) judgements: u32,
}
