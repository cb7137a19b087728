//! Retries after a transient failure (spec 9.1). The waits of a case are the same in every run.

use std::time::{Duration, Instant};

use evalrig_core::model::{Fault, FaultKind, Stage, Transcript};
use evalrig_core::stats::{Fnv1a, SplitMix64};

use crate::agent::{Agent, AttemptFault, Purpose, Request, Retry};

/// The first wait; each further wait is twice as long.
const FIRST: Duration = Duration::from_secs(1);

/// The longest wait. If the service asks for more, the case fails immediately.
const LONGEST: Duration = Duration::from_secs(60);

/// Random extra share of a wait, so that cases that failed together do not retry together.
const JITTER: f64 = 0.5;

/// A failed attempt that will be retried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retrying<'a> {
    /// The attempt that failed, from 1.
    pub attempt: u32,
    pub fault: &'a Fault,
    /// Time until the next attempt.
    pub wait: Duration,
}

/// The waits between the attempts of one case.
#[derive(Debug, Clone)]
pub struct Backoff {
    random: SplitMix64,
    due: Duration,
}

impl Backoff {
    pub fn new(seed: u64) -> Self {
        Self { random: SplitMix64::new(seed), due: FIRST }
    }

    /// Seeded by test, trial, purpose and call, so that a judge waits differently than its case.
    pub fn of(request: &Request<'_>) -> Self {
        let purpose = match request.purpose {
            Purpose::Case => 0,
            Purpose::Judge => 1,
        };
        let numbers = [u64::from(request.trial), purpose, request.call as u64];
        let mut hash = Fnv1a::default();
        hash.add(request.test_id.as_bytes());
        for number in numbers {
            hash.add(&number.to_le_bytes());
        }
        Self::new(hash.finish())
    }

    /// 1 s, 2 s, 4 s … plus up to 50 % jitter, at most 60 s. A wait that the service asks for is a
    /// minimum and gets jitter too; `None` if it is longer than 60 s.
    pub fn next_wait(&mut self, asked: Option<Duration>) -> Option<Duration> {
        let due = self.due;
        self.due = due.saturating_mul(2).min(LONGEST);
        let spread = 1.0 + JITTER * self.random.fraction();
        let usual = due.mul_f64(spread).min(LONGEST);
        match asked {
            None => Some(usual),
            Some(asked) if asked > LONGEST => None,
            Some(asked) => Some(usual.max(asked + FIRST.mul_f64(spread - 1.0))),
        }
    }
}

/// Calls the agent until it answers, fails permanently or has no retries left. Returns the number of
/// attempts too. Faults of judges have stage `judge`.
pub async fn attempts(
    agent: &dyn Agent,
    request: &Request<'_>,
    retries: u32,
    mut on_retry: impl FnMut(Retrying<'_>) + Send,
) -> (Result<Transcript, AttemptFault>, u32) {
    let mut backoff = Backoff::of(request);
    let mut attempt = 1;
    loop {
        let this = Request { attempt, ..*request };
        let begun = Instant::now();
        let mut failure = match agent.answer(&this).await {
            Ok(mut transcript) => {
                // Excludes earlier attempts and waits.
                transcript.duration_ms = transcript.duration_ms.or_else(|| agent.elapsed_ms(begun));
                return (Ok(transcript), attempt);
            }
            Err(failure) => failure,
        };
        let elapsed = agent.elapsed_ms(begun);
        if failure.fault.kind == FaultKind::Timeout && elapsed.is_some() {
            // The times in a stream end with its last event.
            failure.so_far.get_or_insert_default().duration_ms = elapsed;
        } else if let Some(so_far) = &mut failure.so_far {
            so_far.duration_ms = so_far.duration_ms.or(elapsed);
        }
        if request.purpose == Purpose::Judge && failure.fault.stage == Stage::Target {
            failure.fault.stage = Stage::Judge;
        }
        let asked = match failure.retry {
            Retry::Soon => None,
            Retry::After(asked) => Some(asked),
            Retry::Never => return (Err(failure), attempt),
        };
        if attempt > retries {
            return (Err(failure), attempt);
        }
        let Some(wait) = backoff.next_wait(asked) else {
            failure.fault.message.push_str(&too_long(asked.unwrap_or_default()));
            return (Err(failure), attempt);
        };
        on_retry(Retrying { attempt, fault: &failure.fault, wait });
        tokio::time::sleep(wait).await;
        attempt += 1;
    }
}

fn too_long(asked: Duration) -> String {
    let (asked, longest) = (asked.as_secs_f64().ceil(), LONGEST.as_secs());
    format!(
        "; not retried: the service asks for a wait of {asked} s, and the maximum is {longest} s"
    )
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use evalrig_core::source::MemoryFiles;

    use super::*;
    use crate::agent::Pending;

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn waits_double_up_to_a_minute() {
        let mut backoff = Backoff::new(7);
        for due in [1, 2, 4, 8, 16, 32, 60, 60, 60] {
            let wait = backoff.next_wait(None).unwrap();
            let most = seconds(due).mul_f64(1.5).min(LONGEST);
            assert!(wait >= seconds(due) && wait <= most, "{due}: {wait:?}");
        }
    }

    #[test]
    fn the_wait_a_service_asks_for_is_a_minimum() {
        for seed in 0..100 {
            let mut backoff = Backoff::new(seed);
            let wait = backoff.next_wait(Some(seconds(20))).unwrap();
            assert!(wait >= seconds(20) && wait < seconds(21), "{wait:?}");
            let wait = backoff.next_wait(Some(Duration::ZERO)).unwrap();
            assert!(wait >= seconds(2) && wait <= seconds(3), "{wait:?}");
            assert!(backoff.next_wait(Some(LONGEST)).is_some());
            assert_eq!(backoff.next_wait(Some(seconds(61))), None);
        }
    }

    #[test]
    fn waits_are_the_same_in_every_run_and_differ_between_cases() {
        let waits = |seed| {
            let mut backoff = Backoff::new(seed);
            [(); 4].map(|()| backoff.next_wait(None).unwrap())
        };
        assert_eq!(waits(1), waits(1));
        assert_ne!(waits(1), waits(2));
    }

    /// Fails with the given faults, then answers.
    #[derive(Debug)]
    struct FailingAgent {
        failures: Mutex<Vec<Retry>>,
        seen: Mutex<Vec<u32>>,
    }

    impl FailingAgent {
        fn new(failures: &[Retry]) -> Self {
            Self {
                failures: Mutex::new(failures.iter().rev().copied().collect()),
                seen: Mutex::default(),
            }
        }
    }

    impl Agent for FailingAgent {
        fn answer<'a>(&'a self, request: &'a Request<'a>) -> Pending<'a> {
            Box::pin(async {
                self.seen.lock().unwrap().push(request.attempt);
                match self.failures.lock().unwrap().pop() {
                    Some(retry) => Err(AttemptFault::new(FaultKind::Http, "busy").retry(retry)),
                    None => Ok(Transcript::of_text("done")),
                }
            })
        }
    }

    fn sent_between_threads<T: Send>(future: T) -> T {
        future
    }

    /// The result, the attempts, and the waits in between.
    async fn ask(
        agent: &dyn Agent,
        purpose: Purpose,
        retries: u32,
    ) -> (Result<Transcript, AttemptFault>, u32, Vec<Duration>) {
        let files = MemoryFiles::new();
        let request = Request { purpose, ..Request::sample(&files) };
        let mut waits = Vec::new();
        let on_retry = |retrying: Retrying<'_>| waits.push(retrying.wait);
        let pending = attempts(agent, &request, retries, on_retry);
        let (result, count) = sent_between_threads(pending).await;
        (result, count, waits)
    }

    #[tokio::test(start_paused = true)]
    async fn transient_failures_are_retried() {
        let agent = FailingAgent::new(&[Retry::Soon, Retry::After(seconds(9))]);
        let started = tokio::time::Instant::now();
        let (result, count, waits) = ask(&agent, Purpose::Case, 2).await;
        assert_eq!(result.unwrap().answer, "done");
        assert_eq!((count, waits.len()), (3, 2));
        assert!(waits[0] >= seconds(1) && waits[1] >= seconds(9));
        assert!(started.elapsed() >= waits[0] + waits[1]);
        assert_eq!(*agent.seen.lock().unwrap(), [1, 2, 3]);
    }

    /// Runs into its timeout, with or without events.
    #[derive(Debug)]
    struct SlowAgent(Option<Transcript>);

    impl Agent for SlowAgent {
        fn answer<'a>(&'a self, request: &'a Request<'a>) -> Pending<'a> {
            let so_far = self.0.clone().map(Box::new);
            let fault = AttemptFault::timed_out(request.timeout).retry(Retry::Never);
            Box::pin(std::future::ready(Err(AttemptFault { so_far, ..fault })))
        }

        fn elapsed_ms(&self, _: Instant) -> Option<u64> {
            Some(4321)
        }
    }

    #[tokio::test]
    async fn a_timeout_lasts_as_long_as_the_attempt() {
        let events = Transcript { duration_ms: Some(187), partial: true, ..Transcript::default() };
        for so_far in [None, Some(events)] {
            let is_partial = so_far.is_some();
            let (result, ..) = ask(&SlowAgent(so_far), Purpose::Case, 0).await;
            let so_far = result.unwrap_err().so_far.unwrap();
            assert_eq!((so_far.duration_ms, so_far.partial), (Some(4321), is_partial));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn retries_are_limited() {
        let agent = FailingAgent::new(&[Retry::Soon; 9]);
        let (result, count, _) = ask(&agent, Purpose::Judge, 3).await;
        let fault = result.unwrap_err().fault;
        assert_eq!((fault.stage, fault.kind), (Stage::Judge, FaultKind::Http));
        assert_eq!(count, 4);
        let (_, count, waits) = ask(&agent, Purpose::Case, 0).await;
        assert_eq!((count, waits), (1, Vec::new()));
    }

    #[tokio::test(start_paused = true)]
    async fn permanent_failures_and_long_waits_are_not_retried() {
        let (result, count, _) = ask(&FailingAgent::new(&[Retry::Never]), Purpose::Case, 5).await;
        assert_eq!((result.unwrap_err().fault.message.as_str(), count), ("busy", 1));
        let agent = FailingAgent::new(&[Retry::After(seconds(3600))]);
        let (result, count, _) = ask(&agent, Purpose::Case, 5).await;
        let message =
            "busy; not retried: the service asks for a wait of 3600 s, and the maximum is 60 s";
        assert_eq!((result.unwrap_err().fault.message.as_str(), count), (message, 1));
    }
}
