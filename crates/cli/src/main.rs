//! The binary: parses the arguments, calls the command and maps its result to an exit code.

mod args;
mod command;
mod context;
mod error;
mod exit;
mod loss;
mod output;
mod place;
mod progress;
mod render;

use std::process::ExitCode;

fn main() -> ExitCode {
    args::parse().map_or_else(|exit| exit, command::run).into()
}
