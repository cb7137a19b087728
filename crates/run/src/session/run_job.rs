//! Runs a job on its own async runtime, and leaves no program behind.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::agent::{adopt_orphans, end_all};
use crate::event::Event;
use crate::execute::{Cancel, ExecutionEnd, Job, execute};
use crate::lock::locked;

use super::observer::{RunObserver, StopSignal};
use super::signals::{last_signal, stop_on_signals};

/// Receives every event of a run, from any thread.
pub type EventListener = Arc<dyn Fn(&Event) + Send + Sync>;

/// How a job ended, and the signal that asked for it.
#[derive(Debug)]
pub(super) struct FinishedJob {
    pub(super) ended: ExecutionEnd,
    pub(super) signal: Option<StopSignal>,
    pub(super) duration: Duration,
}

/// Runs what is left of the `planned` cases. With `handle_signals`, the first signal lets running cases
/// finish, the second stops them, and what programs leave behind is ended: the process must be ours.
pub(super) fn run_job(
    job: Job,
    observer: RunObserver,
    listener: EventListener,
    handle_signals: bool,
    planned: usize,
) -> (FinishedJob, RunObserver) {
    let started = Instant::now();
    listener(&Event::Planned { cases: planned, finished: planned - job.case_count() });
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = match runtime.enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            let end = FinishedJob {
                ended: ExecutionEnd::Broken(format!("cannot start workers: {error}")),
                signal: None,
                duration: started.elapsed(),
            };
            return (end, observer);
        }
    };
    let observer = Arc::new(Mutex::new(observer));
    let cancel = Arc::new(Cancel::default());
    let tell = {
        let (listener, observer) = (Arc::clone(&listener), Arc::clone(&observer));
        Box::new(move |event: Event| {
            listener(&event);
            if let Event::Finished { row, .. } = &event {
                locked(&observer).add(row);
            }
        })
    };
    if handle_signals {
        adopt_orphans();
        stop_on_signals(Arc::clone(&cancel), listener);
    }
    let ended = runtime.block_on(execute(Arc::new(job), cancel, tell));
    // Does not wait for blocking reads from processes that hang.
    runtime.shutdown_background();
    let signal = if handle_signals {
        end_all();
        last_signal()
    } else {
        None
    };
    let observer = Arc::into_inner(observer).expect("execution has ended");
    let observer = observer.into_inner();
    let end = FinishedJob { ended, signal, duration: started.elapsed() };
    (end, observer.unwrap_or_else(PoisonError::into_inner))
}
