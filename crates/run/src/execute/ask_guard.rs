//! Whether requests may still be sent for a case. A case that came from a queue may have become another
//! worker's while this one waited for a rate, for a retry, or because the process was stopped. One that has
//! asked nothing yet need not be asked here either.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use evalrig_core::model::{Fault, FaultKind, Stage};
use futures_util::future::BoxFuture;

use crate::agent::{Agent, Pending, Purpose, Request};

/// Between two looks whether a case that waits may still be asked.
const LOOK: Duration = Duration::from_millis(200);

/// Whether a request was sent for a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SentSoFar {
    Nothing,
    Something,
}

/// Knows whether someone else has done the case by now.
pub(crate) trait LookElsewhere: Sync {
    /// Fails if that cannot be known now.
    fn is_done(&self) -> BoxFuture<'_, Result<bool, String>>;
}

/// Asked right before every request.
pub(crate) struct AskGuard<'a> {
    may_ask: &'a (dyn Fn(SentSoFar) -> bool + Send + Sync),
    elsewhere: Option<&'a dyn LookElsewhere>,
    has_sent: AtomicBool,
    has_refused: AtomicBool,
}

impl fmt::Debug for AskGuard<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AskGuard").field("has_refused", &self.has_refused()).finish()
    }
}

impl<'a> AskGuard<'a> {
    #[cfg_attr(not(any(feature = "queue", test)), allow(dead_code, reason = "for queues"))]
    pub(crate) fn new(may_ask: &'a (dyn Fn(SentSoFar) -> bool + Send + Sync)) -> Self {
        let (has_sent, has_refused) = (AtomicBool::new(false), AtomicBool::new(false));
        Self { may_ask, elsewhere: None, has_sent, has_refused }
    }

    /// Also asks, right before a target is asked for a case, whether someone else has done it by now.
    #[cfg_attr(not(any(feature = "queue", test)), allow(dead_code, reason = "for queues"))]
    pub(crate) fn looking(self, elsewhere: &'a dyn LookElsewhere) -> Self {
        Self { elsewhere: Some(elsewhere), ..self }
    }

    /// For the next case, nothing was sent yet.
    #[cfg_attr(not(any(feature = "queue", test)), allow(dead_code, reason = "for queues"))]
    pub(crate) fn begin_case(&self) {
        self.has_sent.store(false, Ordering::SeqCst);
    }

    /// Whether a request was not sent: the case has no result here.
    pub(crate) fn has_refused(&self) -> bool {
        self.has_refused.load(Ordering::SeqCst)
    }

    fn check(&self) -> Result<(), Fault> {
        let has_sent = self.has_sent.load(Ordering::SeqCst);
        let sent = if has_sent { SentSoFar::Something } else { SentSoFar::Nothing };
        if (self.may_ask)(sent) { Ok(()) } else { Err(self.refuse()) }
    }

    fn refuse(&self) -> Fault {
        self.has_refused.store(true, Ordering::SeqCst);
        let message = "the case no longer belongs to this worker";
        Fault::new(Stage::Queue, FaultKind::LostWorker, message)
    }

    /// Waits until it is known: what someone else has paid for is not asked again.
    async fn check_elsewhere(&self) -> Result<(), Fault> {
        let Some(elsewhere) = self.elsewhere else { return Ok(()) };
        loop {
            match elsewhere.is_done().await {
                Ok(true) => return Err(self.refuse()),
                // That took a while.
                Ok(false) => return self.check(),
                Err(_) => tokio::time::sleep(LOOK).await,
            }
            self.check()?;
        }
    }

    /// Returns once nothing may be sent any more. Never returns after a request was sent.
    async fn wait_until_refused(&self) -> Fault {
        loop {
            tokio::time::sleep(LOOK).await;
            if self.has_sent.load(Ordering::SeqCst) {
                std::future::pending::<()>().await;
            }
            if let Err(fault) = self.check() {
                return fault;
            }
        }
    }
}

/// What comes after the guard has allowed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Guarded {
    /// The request itself.
    Request,
    /// Something before it, such as a workspace.
    Preparation,
}

/// An agent that is called only while the guard allows it.
#[derive(Debug)]
pub(super) struct GuardedAgent<'a> {
    pub(super) agent: &'a dyn Agent,
    pub(super) guard: &'a AskGuard<'a>,
    pub(super) guarded: Guarded,
}

impl Agent for GuardedAgent<'_> {
    fn answer<'a>(&'a self, request: &'a Request<'a>) -> Pending<'a> {
        Box::pin(async move {
            self.guard.check()?;
            if self.guarded == Guarded::Request {
                // The answer of the target is there before its judges are asked.
                if request.purpose == Purpose::Case {
                    self.guard.check_elsewhere().await?;
                }
                self.guard.has_sent.store(true, Ordering::SeqCst);
            }
            self.agent.answer(request).await
        })
    }

    fn elapsed_ms(&self, begun: Instant) -> Option<u64> {
        self.agent.elapsed_ms(begun)
    }
}

/// An agent that waits before it sends a request. The wait ends when the guard refuses.
#[derive(Debug)]
pub(super) struct WaitingAgent<'a> {
    pub(super) agent: &'a dyn Agent,
    pub(super) guard: &'a AskGuard<'a>,
}

impl Agent for WaitingAgent<'_> {
    fn answer<'a>(&'a self, request: &'a Request<'a>) -> Pending<'a> {
        Box::pin(async move {
            tokio::select! {
                answered = self.agent.answer(request) => answered,
                fault = self.guard.wait_until_refused() => Err(fault.into()),
            }
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
    use crate::agent::{AttemptFault, Retry};

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
        let busy = BusyAgent::default();
        let may_ask = |_| busy.0.load(Ordering::SeqCst) < 2;
        let guard = AskGuard::new(&may_ask);
        let agent = GuardedAgent { agent: &busy, guard: &guard, guarded: Guarded::Request };
        let (answered, attempts) =
            retry::attempts(&agent, &Request::sample(&files), 9, |_| {}).await;
        assert_eq!(answered.unwrap_err().fault.kind, FaultKind::LostWorker);
        assert!(guard.has_refused());
        assert_eq!((busy.0.load(Ordering::SeqCst), attempts), (2, 3));
    }

    /// The first two looks have no answer; the case is done before the fourth.
    #[derive(Debug, Default)]
    struct DoneLater(AtomicUsize);

    impl LookElsewhere for DoneLater {
        fn is_done(&self) -> BoxFuture<'_, Result<bool, String>> {
            let found = match self.0.fetch_add(1, Ordering::SeqCst) {
                0 | 1 => Err("the server is away".to_owned()),
                count => Ok(count >= 3),
            };
            Box::pin(std::future::ready(found))
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_case_that_someone_else_has_done_is_not_asked() {
        let files = MemoryFiles::new();
        let (busy, later) = (BusyAgent::default(), DoneLater::default());
        let may_ask = |_| true;
        let guard = AskGuard::new(&may_ask).looking(&later);
        let agent = GuardedAgent { agent: &busy, guard: &guard, guarded: Guarded::Request };
        let (answered, attempts) =
            retry::attempts(&agent, &Request::sample(&files), 9, |_| {}).await;
        assert_eq!(answered.unwrap_err().fault.kind, FaultKind::LostWorker);
        assert!(guard.has_refused());
        assert_eq!((busy.0.load(Ordering::SeqCst), attempts), (1, 2));
        // Judges are asked about an answer that is there.
        let judged = Request { purpose: Purpose::Judge, ..Request::sample(&files) };
        assert!(agent.answer(&judged).await.is_err());
        assert_eq!(busy.0.load(Ordering::SeqCst), 2);
    }

    /// Sends its request after an hour.
    #[derive(Debug)]
    struct SlowLine<'a>(&'a dyn Agent);

    impl Agent for SlowLine<'_> {
        fn answer<'a>(&'a self, request: &'a Request<'a>) -> Pending<'a> {
            Box::pin(async move {
                tokio::time::sleep(Duration::from_secs(3600)).await;
                self.0.answer(request).await
            })
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_case_that_waits_in_line_is_left_and_one_that_has_asked_is_not() {
        let files = MemoryFiles::new();
        for (has_asked, calls) in [(false, 0), (true, 1)] {
            let busy = BusyAgent::default();
            let is_draining = AtomicBool::new(false);
            let may_ask =
                |sent| sent == SentSoFar::Something || !is_draining.load(Ordering::SeqCst);
            let guard = AskGuard::new(&may_ask);
            guard.has_sent.store(has_asked, Ordering::SeqCst);
            let agent = GuardedAgent { agent: &busy, guard: &guard, guarded: Guarded::Request };
            let line = SlowLine(&agent);
            let agent = WaitingAgent { agent: &line, guard: &guard };
            is_draining.store(true, Ordering::SeqCst);
            assert!(agent.answer(&Request::sample(&files)).await.is_err());
            assert_eq!(busy.0.load(Ordering::SeqCst), calls);
            assert_eq!(guard.has_refused(), !has_asked);
            guard.begin_case();
            assert!(guard.check().is_err());
        }
    }
}
