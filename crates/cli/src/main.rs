//! The binary: hands the arguments to a command and turns its answer into an exit code.

mod args;
mod command;
mod context;
mod exit;
mod fix;
mod loss;
mod place;
mod progress;
mod render;

use std::process::ExitCode;

fn main() -> ExitCode {
    args::parse().map_or_else(|exit| exit, command::run).into()
}
