//! Signals that stop a run. A thread with a runtime of its own hears them, so that the second signal
//! ends the process whatever the run waits for.

use std::sync::{Arc, Mutex, OnceLock, mpsc};
use std::thread;
use std::time::Duration;

use crate::agent::kill_programs;
use crate::event::Event;
use crate::execute::Cancel;
use crate::lock::locked;

use super::observer::StopSignal;
use super::run_job::EventListener;

/// How long the run may take to end by itself after the second signal.
const GRACE: Duration = Duration::from_millis(1500);

/// Makes a write beyond the limit of file sizes (`ulimit -f`) an error that is reported, in place of a signal
/// that ends the process. Programs that are started have the signal as usual: a handler, unlike an ignored
/// signal, is not inherited.
pub fn report_size_limit() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};

        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build();
        if let Ok(runtime) = runtime {
            let _entered = runtime.enter();
            // The handler stays when its receiver is dropped.
            let _ = signal(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw()));
        }
    }
}

/// The signals of this process.
static SIGNALS: OnceLock<Mutex<HeardSignals>> = OnceLock::new();

#[derive(Default)]
struct HeardSignals {
    count: usize,
    last: Option<StopSignal>,
    /// The run to stop; the last one stays until the process ends or another starts.
    run: Option<(Arc<Cancel>, EventListener)>,
    /// Who waits for a signal while nothing runs.
    waiter: Option<mpsc::Sender<StopSignal>>,
    /// Whether a run is about to start, which a signal that comes before it stops too.
    is_held: bool,
}

/// Keeps signals for the run that starts next. Workers may run its cases before it is ready itself, and would go on
/// if a signal ended this process.
#[cfg(feature = "queue")]
pub(super) fn hold_signals() {
    *locked(handled_signals()) = HeardSignals { is_held: true, ..HeardSignals::default() };
}

/// Directs signals to this run. From now on the process handles them itself.
pub(super) fn stop_on_signals(cancel: Arc<Cancel>, listener: EventListener) {
    let run = Some((Arc::clone(&cancel), Arc::clone(&listener)));
    let mut signals = locked(handled_signals());
    let held = signals.last.filter(|_| signals.is_held);
    let count = usize::from(held.is_some());
    *signals = HeardSignals { run, count, last: held, ..HeardSignals::default() };
    drop(signals);
    if held.is_some() {
        cancel.ask();
        listener(&Event::StopRequested);
    }
}

/// Waits until the process is asked to end. For commands that serve until then.
pub fn wait_for_signal() -> StopSignal {
    let (waiter, asked) = mpsc::channel();
    *locked(handled_signals()) = HeardSignals { waiter: Some(waiter), ..HeardSignals::default() };
    // Closed if signals cannot be heard: they end the process then.
    asked.recv().unwrap_or(StopSignal::Interrupt)
}

/// Hears signals while nothing runs. A run that starts hears them instead.
#[derive(Debug)]
pub(super) struct SignalWaiter(mpsc::Receiver<StopSignal>);

impl SignalWaiter {
    /// A signal that came after the last case of a run counts.
    pub(super) fn new() -> Self {
        let (waiter, asked) = mpsc::channel();
        let mut signals = locked(handled_signals());
        if let Some(signal) = signals.last {
            let _ = waiter.send(signal);
        }
        *signals = HeardSignals { waiter: Some(waiter), ..HeardSignals::default() };
        Self(asked)
    }

    /// Whether the process is asked to end before the time is over.
    pub(super) fn is_asked_within(&self, time: Duration) -> bool {
        match self.0.recv_timeout(time) {
            Ok(_) => true,
            Err(mpsc::RecvTimeoutError::Timeout) => false,
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                thread::sleep(time);
                false
            }
        }
    }
}

fn handled_signals() -> &'static Mutex<HeardSignals> {
    SIGNALS.get_or_init(|| {
        let (ready, is_ready) = mpsc::channel();
        let thread = thread::Builder::new().name("signals".to_owned());
        if thread.spawn(move || listen(&ready)).is_ok() {
            // Closed early if the runtime cannot start: signals then end the process immediately.
            let _ = is_ready.recv();
        }
        Mutex::default()
    })
}

/// The last signal since the run began.
pub(super) fn last_signal() -> Option<StopSignal> {
    locked(SIGNALS.get()?).last
}

fn hear(signal: StopSignal) {
    let Some(signals) = SIGNALS.get() else { return };
    let mut signals = locked(signals);
    signals.count += 1;
    signals.last = Some(signal);
    let (is_first, run) = (signals.count == 1, signals.run.clone());
    let waiter = signals.waiter.clone();
    drop(signals);
    if let Some(waiter) = waiter {
        let _ = waiter.send(signal);
    }
    if let Some((cancel, listener)) = run {
        cancel.ask();
        if is_first {
            // A listener that prints may block.
            let tell = move || listener(&Event::StopRequested);
            let _ = thread::Builder::new().spawn(tell);
        }
    }
    if !is_first {
        thread::sleep(GRACE);
        kill_programs();
        std::process::exit(i32::from(signal.exit_code()));
    }
}

fn listen(ready: &mpsc::Sender<()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    if let Ok(runtime) = runtime {
        runtime.block_on(hear_all(ready));
    }
}

#[cfg(unix)]
async fn hear_all(ready: &mpsc::Sender<()>) {
    use futures_util::StreamExt as _;
    use futures_util::stream::SelectAll;
    use rustix::process::Signal as Number;
    use tokio::signal::unix::{SignalKind, signal};

    let ignored = ignored_signals();
    let mut all = SelectAll::new();
    for (number, stop) in [
        (Number::INT, StopSignal::Interrupt),
        (Number::TERM, StopSignal::Terminate),
        (Number::HUP, StopSignal::Hangup),
        (Number::QUIT, StopSignal::Quit),
    ] {
        let number = number.as_raw();
        // `nohup` ignores SIGHUP for its program, and shells SIGQUIT for background jobs.
        let is_optional = matches!(stop, StopSignal::Hangup | StopSignal::Quit);
        if is_optional && ignored & (1 << (number - 1)) != 0 {
            continue;
        }
        if let Ok(signals) = signal(SignalKind::from_raw(number)) {
            all.push(Box::pin(futures_util::stream::unfold(
                signals,
                move |mut signals| async move { signals.recv().await.map(|()| (stop, signals)) },
            )));
        }
    }
    let _ = ready.send(());
    while let Some(stop) = all.next().await {
        hear(stop);
    }
}

/// Bit `n - 1` is set if signal `n` is ignored.
#[cfg(unix)]
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

#[cfg(not(unix))]
async fn hear_all(ready: &mpsc::Sender<()>) {
    let _ = ready.send(());
    while tokio::signal::ctrl_c().await.is_ok() {
        hear(StopSignal::Interrupt);
    }
}
