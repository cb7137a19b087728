//! Runs a job on its own async runtime, and leaves no program behind.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::agent::{adopt_orphans, end_all};
use crate::event::Event;
use crate::execute::{Cancel, ExecutionEnd, Job, execute, remove_stale_containers};
use crate::lock::locked;
use crate::results::Row;

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

/// Hears of everything that happens to the cases of a job.
pub(super) type Tell = Box<dyn Fn(Event) + Send + Sync>;

/// Executes cases on this machine.
pub(super) fn execute_here(job: Arc<Job>, cancel: Arc<Cancel>, tell: Tell) -> ExecutionEnd {
    remove_stale_containers(job.suites.iter().map(|suite| &suite.job));
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = match runtime.enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return ExecutionEnd::Broken(format!("cannot start workers: {error}")),
    };
    let ended = runtime.block_on(execute(job, cancel, tell));
    // Does not wait for blocking reads from processes that hang.
    runtime.shutdown_background();
    ended
}

/// Runs what is left of the `planned` cases. With `handle_signals`, the first signal lets running cases
/// finish, the second stops them, and what programs leave behind is ended: the process must be ours.
pub(super) fn run_job(
    job: Job,
    observer: RunObserver,
    listener: EventListener,
    handle_signals: bool,
    planned: usize,
    execution: impl FnOnce(Arc<Job>, Arc<Cancel>, Tell) -> ExecutionEnd,
) -> (FinishedJob, RunObserver) {
    let observer = Arc::new(Mutex::new(observer));
    let observe = {
        let observer = Arc::clone(&observer);
        move |row: &Row| locked(&observer).add(row)
    };
    let end = run_cases(job, observe, listener, handle_signals, planned, execution);
    let observer = Arc::into_inner(observer).expect("execution has ended");
    let observer = observer.into_inner();
    (end, observer.unwrap_or_else(PoisonError::into_inner))
}

/// The same with another use of the rows.
pub(super) fn run_cases(
    job: Job,
    observe: impl Fn(&Row) + Send + Sync + 'static,
    listener: EventListener,
    handle_signals: bool,
    planned: usize,
    execution: impl FnOnce(Arc<Job>, Arc<Cancel>, Tell) -> ExecutionEnd,
) -> FinishedJob {
    let started = Instant::now();
    listener(&Event::Planned { cases: planned, finished: planned - job.case_count() });
    let cancel = Arc::new(Cancel::default());
    let tell = {
        let listener = Arc::clone(&listener);
        Box::new(move |event: Event| {
            listener(&event);
            if let Event::Finished { row, .. } = &event {
                observe(row);
            }
        })
    };
    if handle_signals {
        adopt_orphans();
        stop_on_signals(Arc::clone(&cancel), listener);
    }
    let ended = execution(Arc::new(job), cancel, tell);
    let signal = if handle_signals {
        end_all();
        last_signal()
    } else {
        None
    };
    FinishedJob { ended, signal, duration: started.elapsed() }
}
