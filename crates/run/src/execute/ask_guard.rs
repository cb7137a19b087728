//! Whether requests may still be sent for a case. A case that came from a queue may have become another
//! worker's while this one waited for a rate, for a retry, or because the process was stopped.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use evalrig_core::model::{Fault, FaultKind, Stage};

use crate::agent::{Agent, Pending, Request};

/// Asked right before every request.
pub(crate) struct AskGuard<'a> {
    may_ask: &'a (dyn Fn() -> bool + Send + Sync),
    has_refused: AtomicBool,
}

impl fmt::Debug for AskGuard<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AskGuard").field("has_refused", &self.has_refused()).finish()
    }
}

impl<'a> AskGuard<'a> {
    #[cfg_attr(not(any(feature = "queue", test)), allow(dead_code, reason = "for queues"))]
    pub(crate) fn new(may_ask: &'a (dyn Fn() -> bool + Send + Sync)) -> Self {
        Self { may_ask, has_refused: AtomicBool::new(false) }
    }

    /// Whether a request was not sent: the case has no result here.
    pub(crate) fn has_refused(&self) -> bool {
        self.has_refused.load(Ordering::SeqCst)
    }

    fn check(&self) -> Result<(), Fault> {
        if (self.may_ask)() {
            return Ok(());
        }
        self.has_refused.store(true, Ordering::SeqCst);
        let message = "the case is not this worker's any more";
        Err(Fault::new(Stage::Queue, FaultKind::LostWorker, message))
    }
}

/// An agent that is called only while the guard allows it.
#[derive(Debug)]
pub(super) struct GuardedAgent<'a> {
    pub(super) agent: &'a dyn Agent,
    pub(super) guard: &'a AskGuard<'a>,
}

impl Agent for GuardedAgent<'_> {
    fn answer<'a>(&'a self, request: &'a Request<'a>) -> Pending<'a> {
        Box::pin(async move {
            self.guard.check()?;
            self.agent.answer(request).await
        })
    }

    fn elapsed_ms(&self, begun: Instant) -> Option<u64> {
        self.agent.elapsed_ms(begun)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;
    use std::time::Duration;

    use evalrig_core::model::Transcript;
    use evalrig_core::source::MemoryFiles;

    use super::super::retry;
    use super::*;
    use crate::agent::{AttemptFault, Purpose, Retry};
    use crate::setting::FilesMode;

    /// Always busy.
    #[derive(Debug, Default)]
    struct BusyAgent(AtomicUsize);

    impl Agent for BusyAgent {
        fn answer<'a>(&'a self, _: &'a Request<'a>) -> Pending<'a> {
            self.0.fetch_add(1, Ordering::SeqCst);
            let busy = AttemptFault::new(FaultKind::Http, "busy").retry(Retry::Soon);
            Box::pin(std::future::ready(Err::<Transcript, _>(busy)))
        }
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_is_asked_after_a_wait_in_which_the_case_was_lost() {
        let files = MemoryFiles::new();
        let request = Request {
            purpose: Purpose::Case,
            suite: "demo",
            test_id: "t",
            trial: 1,
            attempt: 1,
            call: 0,
            messages: &[],
            config: None,
            timeout: Duration::from_secs(1),
            attachments: FilesMode::Inline,
            files: &files,
            scratch: "/tmp".into(),
            home: None,
            env: &[],
            place: None,
            confinement: None,
            stop: None,
            conversation: None,
        };
        let busy = BusyAgent::default();
        let may_ask = || busy.0.load(Ordering::SeqCst) < 2;
        let guard = AskGuard::new(&may_ask);
        let agent = GuardedAgent { agent: &busy, guard: &guard };
        let (answered, attempts) = retry::attempts(&agent, &request, 9, |_| {}).await;
        assert_eq!(answered.unwrap_err().fault.kind, FaultKind::LostWorker);
        assert!(guard.has_refused());
        assert_eq!((busy.0.load(Ordering::SeqCst), attempts), (2, 3));
    }
}
