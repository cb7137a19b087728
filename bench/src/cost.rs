//! The cost of commands, and whether it is within limits.
//!
//! A cost is the minimum CPU time over several runs. Each run is the child of a `--once` process of
//! its own, because the system accumulates CPU time and memory over all children of a process.

use std::io::{Error, Result};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

/// Replaced in arguments by a number that is unique to the run.
pub const FRESH: &str = "{fresh}";

/// What one command costs at best.
#[derive(Debug, Clone, Copy)]
pub struct Cost {
    pub micros: f64,
    pub passed: f64,
    pub peak_kib: f64,
}

impl Cost {
    /// The same with the time that passed in place of the CPU time.
    #[must_use]
    pub fn by_the_clock(self) -> Self {
        Self { micros: self.passed, ..self }
    }

    pub fn peak_mb(self) -> f64 {
        self.peak_kib * 1024.0 / 1e6
    }
}

/// Whether every figure so far is within its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Within,
    Over,
}

impl Verdict {
    pub fn gate(self) -> ExitCode {
        match self {
            Self::Within => ExitCode::SUCCESS,
            Self::Over => ExitCode::FAILURE,
        }
    }

    /// Adds a figure and returns how it is shown.
    pub fn judge(&mut self, is_within: bool) -> &'static str {
        if is_within {
            return "PASS";
        }
        *self = Self::Over;
        "over"
    }
}

/// Runs one command; gives its CPU time and the time that passed, in microseconds, and its peak
/// memory in KiB, as [`compare`] reads them.
pub fn once(program: &str, arguments: &[&str]) -> Result<String> {
    let start = Instant::now();
    let status = Command::new(program).args(arguments).stdout(Stdio::null()).status()?;
    if !status.success() {
        return Err(Error::other(format!("`{program}` ended with {status}")));
    }
    let passed = start.elapsed().as_micros();
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let time = usage.user_time() + usage.system_time();
    Ok(format!("{} {passed} {}", time.num_microseconds(), usage.max_rss()))
}

/// Runs one command, which must end with this exit code; gives its CPU time in microseconds.
pub fn cpu_time_of_child(program: &str, arguments: &[&str], exit: &str) -> Result<i64> {
    let output = Command::new(program).args(arguments).stdout(Stdio::null()).output()?;
    if output.status.code().map(|code| code.to_string()).as_deref() != Some(exit) {
        let said = String::from_utf8_lossy(&output.stderr);
        let said: String = said.chars().take(2_000).collect();
        return Err(Error::other(format!("ended with {}, not {exit}: {said}", output.status)));
    }
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    Ok((usage.user_time() + usage.system_time()).num_microseconds())
}

/// Runs the commands in turn, round after round, so that a busy moment of the machine hits all of
/// them alike; keeps the least CPU time and the highest peak of each.
pub fn compare(rounds: usize, commands: &[Vec<String>]) -> Result<Vec<Cost>> {
    let unknown = Cost { micros: f64::INFINITY, passed: f64::INFINITY, peak_kib: 0.0 };
    let mut costs = vec![unknown; commands.len()];
    for round in 0..rounds {
        for (cost, command) in costs.iter_mut().zip(commands) {
            let run = measured(command, round)?;
            cost.micros = cost.micros.min(run.micros);
            cost.passed = cost.passed.min(run.passed);
            cost.peak_kib = cost.peak_kib.max(run.peak_kib);
        }
    }
    Ok(costs)
}

fn measured(command: &[String], round: usize) -> Result<Cost> {
    let output = Command::new(std::env::current_exe()?)
        .arg("--once")
        .args(command.iter().map(|word| word.replace(FRESH, &round.to_string())))
        .stderr(Stdio::inherit())
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let mut figures = text.split_whitespace().map(str::parse::<f64>);
    match (figures.next(), figures.next(), figures.next()) {
        (Some(Ok(micros)), Some(Ok(passed)), Some(Ok(peak_kib))) if output.status.success() => {
            Ok(Cost { micros, passed, peak_kib })
        }
        _ => Err(Error::other(format!("`{}` failed", command.join(" ")))),
    }
}
