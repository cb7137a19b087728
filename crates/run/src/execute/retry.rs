//! Trying again after a passing failure (spec 9.1). The waits of a case are the same in
//! every run.

use std::time::{Duration, Instant};

use evalrig_core::model::{Fault, Stage, Transcript};
use evalrig_core::stats::{Fnv1a, SplitMix64};

use crate::agent::{Agent, AttemptFault, Purpose, Request, Retry};

/// The first wait; each further one is twice as long.
const FIRST: Duration = Duration::from_secs(1);

/// The longest wait, also where the service asks for more: then the case has failed now rather
/// than in an hour.
const LONGEST: Duration = Duration::from_secs(60);

/// How much longer than its due a wait may be, so that cases which failed together do not come
/// back together.
const JITTER: f64 = 0.5;

/// What happens between two attempts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retrying<'a> {
    /// The attempt that failed, from 1.
    pub attempt: u32,
    pub fault: &'a Fault,
    /// How long until the next one.
    pub wait: Duration,
}

/// The next attempt would come too late.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLong {
    /// What the service asked for.
    pub asked: Duration,
}

/// The waits between the attempts of one case.
#[derive(Debug, Clone)]
pub struct Backoff {
    random: SplitMix64,
    due: Duration,
}

impl Backoff {
    pub fn new(seed: u64) -> Self {
        Self {
            random: SplitMix64::new(seed),
            due: FIRST,
        }
    }

    /// The waits of a case and trial; a judge that is called for it waits differently.
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

    /// 1 s, 2 s, 4 s … and up to half as much again, at most 60 s. A time that the service gave
    /// is the least that is waited, also with something on top; more than 60 s is not waited.
    pub fn next_wait(&mut self, asked: Option<Duration>) -> Result<Duration, TooLong> {
        let due = self.due;
        self.due = due.saturating_mul(2).min(LONGEST);
        let spread = 1.0 + JITTER * self.random.fraction();
        let usual = due.mul_f64(spread).min(LONGEST);
        match asked {
            None => Ok(usual),
            Some(asked) if asked > LONGEST => Err(TooLong { asked }),
            Some(asked) => Ok(usual.max(asked + FIRST.mul_f64(spread - 1.0))),
        }
    }
}

/// Asks until there is an answer, a failure that will not pass, or no retry left. Also says how
/// many attempts it took. The fault is of stage `judge` when a judge was asked.
pub async fn attempts(
    agent: &dyn Agent,
    request: &Request<'_>,
    retries: u32,
    mut on_retry: impl FnMut(Retrying<'_>) + Send,
) -> (Result<Transcript, Fault>, u32) {
    let mut backoff = Backoff::of(request);
    let mut attempt = 1;
    loop {
        let this = Request {
            attempt,
            ..*request
        };
        let begun = Instant::now();
        let failure = match agent.answer(&this).await {
            Ok(mut transcript) => {
                // Measured here where the agent does not say; retries and waits do not count.
                transcript.duration_ms = transcript.duration_ms.or_else(|| agent.elapsed_ms(begun));
                return (Ok(transcript), attempt);
            }
            Err(failure) => failure,
        };
        let AttemptFault { mut fault, retry } = failure;
        if request.purpose == Purpose::Judge && fault.stage == Stage::Target {
            fault.stage = Stage::Judge;
        }
        let asked = match retry {
            Retry::Soon => None,
            Retry::After(asked) => Some(asked),
            Retry::Never => return (Err(fault), attempt),
        };
        if attempt > retries {
            return (Err(fault), attempt);
        }
        match backoff.next_wait(asked) {
            Ok(wait) => {
                on_retry(Retrying {
                    attempt,
                    fault: &fault,
                    wait,
                });
                tokio::time::sleep(wait).await;
            }
            Err(TooLong { asked }) => {
                fault.message.push_str(&gave_up(asked));
                return (Err(fault), attempt);
            }
        }
        attempt += 1;
    }
}

fn gave_up(asked: Duration) -> String {
    let (asked, longest) = (asked.as_secs_f64().ceil(), LONGEST.as_secs());
    format!(
        "; not tried again, since the service asks for a wait of {asked} s and {longest} s is the longest"
    )
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use evalrig_core::model::FaultKind;
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
    fn a_service_is_left_alone_as_long_as_it_asks() {
        for seed in 0..100 {
            let mut backoff = Backoff::new(seed);
            let wait = backoff.next_wait(Some(seconds(20))).unwrap();
            assert!(wait >= seconds(20) && wait < seconds(21), "{wait:?}");
            let wait = backoff.next_wait(Some(Duration::ZERO)).unwrap();
            assert!(wait >= seconds(2) && wait <= seconds(3), "{wait:?}");
            assert!(backoff.next_wait(Some(LONGEST)).is_ok());
            let asked = seconds(61);
            assert_eq!(backoff.next_wait(Some(asked)), Err(TooLong { asked }));
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

    /// Fails as told, then answers.
    #[derive(Debug)]
    struct Moody {
        failures: Mutex<Vec<Retry>>,
        seen: Mutex<Vec<u32>>,
    }

    impl Moody {
        fn new(failures: &[Retry]) -> Self {
            Self {
                failures: Mutex::new(failures.iter().rev().copied().collect()),
                seen: Mutex::default(),
            }
        }
    }

    impl Agent for Moody {
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
        agent: &Moody,
        purpose: Purpose,
        retries: u32,
    ) -> (Result<Transcript, Fault>, u32, Vec<Duration>) {
        let files = MemoryFiles::new();
        let request = Request {
            purpose,
            suite: "demo",
            test_id: "t",
            trial: 1,
            attempt: 1,
            call: 0,
            messages: &[],
            config: None,
            timeout: seconds(1),

            attachments: crate::setting::FilesMode::Inline,
            files: &files,
            scratch: "/tmp".into(),
        };
        let mut waits = Vec::new();
        let on_retry = |retrying: Retrying<'_>| waits.push(retrying.wait);
        let pending = attempts(agent, &request, retries, on_retry);
        let (result, count) = sent_between_threads(pending).await;
        (result, count, waits)
    }

    #[tokio::test(start_paused = true)]
    async fn passing_failures_are_waited_out() {
        let agent = Moody::new(&[Retry::Soon, Retry::After(seconds(9))]);
        let started = tokio::time::Instant::now();
        let (result, count, waits) = ask(&agent, Purpose::Case, 2).await;
        assert_eq!(result.unwrap().answer, "done");
        assert_eq!((count, waits.len()), (3, 2));
        assert!(waits[0] >= seconds(1) && waits[1] >= seconds(9));
        assert!(started.elapsed() >= waits[0] + waits[1]);
        assert_eq!(*agent.seen.lock().unwrap(), [1, 2, 3]);
    }

    #[tokio::test(start_paused = true)]
    async fn retries_end() {
        let agent = Moody::new(&[Retry::Soon; 9]);
        let (result, count, _) = ask(&agent, Purpose::Judge, 3).await;
        let fault = result.unwrap_err();
        assert_eq!((fault.stage, fault.kind), (Stage::Judge, FaultKind::Http));
        assert_eq!(count, 4);
        let (_, count, waits) = ask(&agent, Purpose::Case, 0).await;
        assert_eq!((count, waits), (1, Vec::new()));
    }

    #[tokio::test(start_paused = true)]
    async fn lasting_failures_and_long_waits_are_not_waited_out() {
        let (result, count, _) = ask(&Moody::new(&[Retry::Never]), Purpose::Case, 5).await;
        assert_eq!((result.unwrap_err().message.as_str(), count), ("busy", 1));
        let agent = Moody::new(&[Retry::After(seconds(3600))]);
        let (result, count, _) = ask(&agent, Purpose::Case, 5).await;
        let message = "busy; not tried again, since the service asks for a wait of 3600 s \
                       and 60 s is the longest";
        assert_eq!((result.unwrap_err().message.as_str(), count), (message, 1));
    }
}
