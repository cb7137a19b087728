//! Runs a job on its own async runtime and stops it on signals.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::event::Event;
use crate::execute::{Cancel, Ended, Job, execute};

use super::observer::{RunObserver, StopSignal};

/// Receives every event of a run, from any thread.
pub type EventListener = Arc<dyn Fn(&Event) + Send + Sync>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SignalHandling {
    /// The first signal lets running cases finish, the second does not.
    Stop,
    Ignore,
}

/// How a job ended, and the signal that asked for it.
#[derive(Debug)]
pub(super) struct JobEnd {
    pub(super) ended: Ended,
    pub(super) signal: Option<StopSignal>,
}

pub(super) fn run_job(
    job: Job,
    observer: RunObserver,
    listener: EventListener,
    signals: SignalHandling,
    finished: usize,
) -> (JobEnd, RunObserver) {
    let cases = job.case_count() + finished;
    listener(&Event::Planned { cases, finished });
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => {
            let ended = Ended::Broken(format!("cannot start workers: {error}"));
            let signal = None;
            return (JobEnd { ended, signal }, observer);
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
        let listening = (signals == SignalHandling::Stop).then(|| {
            tokio::spawn(stop_on_signals(
                Arc::clone(&cancel),
                Arc::clone(&heard),
                listener,
            ))
        });
        let ended = execute(Arc::new(job), cancel, tell).await;
        if let Some(listening) = listening {
            listening.abort();
        }
        ended
    });
    // Does not wait for blocking reads from processes that hang.
    runtime.shutdown_background();
    let signal = *locked(&heard);
    let observer = Arc::into_inner(observer).expect("execution has ended");
    let observer = observer
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    (JobEnd { ended, signal }, observer)
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

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
