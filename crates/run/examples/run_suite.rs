//! Runs all suites below a directory and prints what failed.
//!
//! `cargo run -p evalrig-run --example run_suite -- examples/hello`

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "an example program prints its results"
)]

use std::error::Error;
use std::sync::Arc;

use evalrig_run::event::Event;
use evalrig_run::session::{FinishedRun, Notice, RunSession, RunSpec};

fn main() -> Result<(), Box<dyn Error>> {
    let directory = std::env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    let outcome = run_suites(&directory)?;
    println!("{} cases, exit code {}", outcome.totals.counts.total(), outcome.exit.code());
    Ok(())
}

/// Runs every suite against its targets file, without reports.
pub fn run_suites(directory: &str) -> Result<FinishedRun, Box<dyn Error>> {
    let mut notify = |notice: Notice<'_>| {
        if let Notice::Message(text) = notice {
            eprintln!("{text}");
        }
    };
    let spec = RunSpec::new(camino::absolute_utf8(directory)?);
    let session = RunSession::prepare(spec, &mut notify)?;
    let print_failed = |event: &Event| {
        if let Event::Finished { row, .. } = event
            && row.outcome.word() != "passed"
        {
            println!("{}: {}", row.eval_id, row.outcome.word());
        }
    };
    Ok(session.run(&mut notify, Arc::new(print_failed))?)
}
