//! An agent that asks its bucket before every attempt.

use std::time::{Duration, Instant};

use evalrig_core::model::FaultKind;

use crate::agent::{Agent, AttemptFault, Pending, Request, Retry};

use super::RateBucket;

/// Waits are not part of the timeout, nor of the duration.
#[derive(Debug)]
pub(crate) struct LimitedAgent<'a> {
    pub(crate) agent: &'a dyn Agent,
    pub(crate) bucket: &'a RateBucket,
}

impl Agent for LimitedAgent<'_> {
    fn answer<'a>(&'a self, request: &'a Request<'a>) -> Pending<'a> {
        Box::pin(async move {
            let permit = self.bucket.take().await.map_err(unusable)?;
            let begun = Instant::now();
            let mut answered = self.agent.answer(request).await;
            let used = match &mut answered {
                Ok(transcript) => {
                    let elapsed = || self.agent.elapsed_ms(begun);
                    transcript.duration_ms = transcript.duration_ms.or_else(elapsed);
                    transcript.tokens
                }
                Err(failure) => {
                    if failure.is_rate_limit {
                        self.bucket.block(wait_of(failure)).await.map_err(unusable)?;
                    }
                    failure.so_far.as_ref().and_then(|so_far| so_far.tokens)
                }
            };
            let used = used.map(|tokens| tokens.input.saturating_add(tokens.output));
            self.bucket.settle(permit, used).await.map_err(unusable)?;
            answered
        })
    }

    fn elapsed_ms(&self, begun: Instant) -> Option<u64> {
        self.agent.elapsed_ms(begun)
    }
}

fn wait_of(failure: &AttemptFault) -> Duration {
    match failure.retry {
        Retry::After(wait) => wait,
        Retry::Soon | Retry::Never => Duration::ZERO,
    }
}

fn unusable(reason: String) -> AttemptFault {
    AttemptFault::new(FaultKind::Start, format!("cannot keep to `rate`: {reason}"))
}
