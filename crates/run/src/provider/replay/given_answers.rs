//! Answers that the caller has, such as stored ones that it changed.

use std::collections::HashMap;
use std::time::Instant;

use evalrig_core::model::{FaultKind, Transcript};

use crate::agent::{Agent, AttemptFault, Pending, Purpose, Quote, Request};

/// Answers by test and trial. Cannot judge.
#[derive(Debug, Default)]
pub(crate) struct GivenAnswers {
    answers: HashMap<(String, u32), Transcript>,
}

impl GivenAnswers {
    pub(crate) fn insert(&mut self, test: String, trial: u32, answer: Transcript) {
        self.answers.insert((test, trial), answer);
    }
}

impl Agent for GivenAnswers {
    fn answer<'a>(&'a self, request: &'a Request<'a>) -> Pending<'a> {
        let key = (request.test_id.to_owned(), request.trial);
        let found = match request.purpose {
            Purpose::Judge => None,
            Purpose::Case => self.answers.get(&key).cloned(),
        };
        let missing = || AttemptFault::new(FaultKind::NoMatch, "no answer was given for this case");
        Box::pin(std::future::ready(found.ok_or_else(missing)))
    }

    fn elapsed_ms(&self, _: Instant) -> Option<u64> {
        None
    }

    fn quote(&self) -> Quote {
        Quote::Call { low: 0.0, high: 0.0 }
    }

    fn may_be_silent(&self) -> bool {
        true
    }

    fn is_stored(&self) -> bool {
        true
    }
}
