//! A panic is a bug in evalrig: it is reported, and ends the process and all programs that it runs. Only
//! the language server goes on, in builds that unwind; the released binary does not, and editors start it again.

use std::panic;
use std::process::exit;
use std::sync::atomic::{AtomicBool, Ordering};

use evalrig_run::session::kill_programs;

use crate::output::print_message;

/// The exit code that a Rust program has after a panic.
const EXIT_CODE: i32 = 101;

const REPORT: &str = concat!(
    "this is a bug in evalrig ",
    env!("CARGO_PKG_VERSION"),
    "; please report the lines above, and what you ran, at ",
    env!("CARGO_PKG_REPOSITORY"),
    "/issues"
);

/// Whether a panic may be caught where it happens.
static IS_CAUGHT: AtomicBool = AtomicBool::new(false);

/// A panic on any thread ends the process: half of a run cannot be trusted.
pub fn end_programs_on_panic() {
    let show = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if cfg!(panic = "unwind") && IS_CAUGHT.load(Ordering::SeqCst) {
            show(info);
            print_message(REPORT);
            return;
        }
        kill_programs();
        show(info);
        print_message(REPORT);
        exit(EXIT_CODE);
    }));
}

/// From now on a panic is only reported. For a server that runs no programs and answers one message after
/// another: it catches the panic, and the next message may well succeed.
#[cfg(feature = "lsp")]
pub fn go_on_after_panic() {
    IS_CAUGHT.store(true, Ordering::SeqCst);
}

/// Panics once the file that `EVALRIG_TEST_PANIC` names exists. Only in debug builds, for tests.
pub fn panic_if_asked() {
    if cfg!(debug_assertions)
        && let Some(path) = std::env::var_os("EVALRIG_TEST_PANIC")
    {
        std::thread::spawn(move || {
            while std::fs::read_to_string(&path).unwrap_or_default().lines().count() < 4 {
                std::thread::yield_now();
            }
            panic!("asked for by a test");
        });
    }
}
