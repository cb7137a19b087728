//! The binary: parses the arguments, calls the command and maps its result to an exit code.

mod args;
mod command;
mod config;
mod context;
mod error;
mod exit;
mod export_directory;
mod loss;
mod output;
mod panic;
mod place;
mod progress;
mod render;

use std::process::ExitCode;

use evalrig_run::session::{enable_watchdog, report_size_limit, watch_if_asked};

fn main() -> ExitCode {
    if let Some(exit) = watch_if_asked() {
        return exit;
    }
    panic::end_programs_on_panic();
    let exit = args::parse().map_or_else(
        |exit| exit,
        |arguments| {
            enable_watchdog();
            report_size_limit();
            command::run(arguments)
        },
    );
    exit.into()
}
