//! Runs a job on its own async runtime and stops it on signals.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::event::Event;
use crate::execute::{Cancel, ExecutionEnd, Job, execute};
use crate::lock::locked;

use super::observer::{RunObserver, StopSignal};

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
/// finish and the second stops them.
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
    let heard = Arc::new(Mutex::new(None));
    let tell = {
        let (listener, observer) = (Arc::clone(&listener), Arc::clone(&observer));
        Box::new(move |event: Event| {
            listener(&event);
            if let Event::Finished { row, .. } = &event {
                locked(&observer).add(row);
            }
        })
    };
    let ended = runtime.block_on(async {
        let listening = handle_signals.then(|| {
            tokio::spawn(stop_on_signals(Arc::clone(&cancel), Arc::clone(&heard), listener))
        });
        let ended = execute(Arc::new(job), cancel, tell).await;
        if let Some(listening) = listening {
            listening.abort();
        }
        ended
    });
    // Does not wait for blocking reads from processes that hang.
    runtime.shutdown_background();
    let observer = Arc::into_inner(observer).expect("execution has ended");
    let observer = observer.into_inner();
    let end = FinishedJob { ended, signal: *locked(&heard), duration: started.elapsed() };
    (end, observer.unwrap_or_else(PoisonError::into_inner))
}

async fn stop_on_signals(
    cancel: Arc<Cancel>,
    heard: Arc<Mutex<Option<StopSignal>>>,
    listener: EventListener,
) {
    loop {
        let signal = next_signal().await;
        if locked(&heard).replace(signal).is_none() {
            listener(&Event::StopRequested);
        }
        cancel.ask();
    }
}

#[cfg(unix)]
async fn next_signal() -> StopSignal {
    use tokio::signal::unix::{SignalKind, signal};
    let terminated = async {
        match signal(SignalKind::terminate()) {
            Ok(mut signals) => {
                signals.recv().await;
            }
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => StopSignal::Interrupt,
        () = terminated => StopSignal::Terminate,
    }
}

#[cfg(not(unix))]
async fn next_signal() -> StopSignal {
    let _ = tokio::signal::ctrl_c().await;
    StopSignal::Interrupt
}
