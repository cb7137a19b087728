//! The cost of commands, and whether it is within limits.
//!
//! A cost is the minimum CPU time over several runs. Each run is the child of a `--once` process of
//! its own: the peak of a process is never below the memory of the one that started it.

use std::io::{Error, Read as _, Result};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use wait4::{ResourceUsage, Wait4 as _};

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
    once_ending_with(&[0], program, arguments)
}

/// As [`once`], for a command that may end with any of these exit codes.
pub fn once_ending_with(exits: &[i32], program: &str, arguments: &[&str]) -> Result<String> {
    let start = Instant::now();
    let ended = Command::new(program).args(arguments).stdout(Stdio::null()).spawn()?.wait4()?;
    if !ended.status.code().is_some_and(|code| exits.contains(&code)) {
        return Err(Error::other(format!("`{program}` ended with {}", ended.status)));
    }
    let passed = start.elapsed().as_micros();
    let time = cpu_time(&ended.rusage).as_micros();
    Ok(format!("{time} {passed} {}", ended.rusage.maxrss / 1024))
}

/// Runs one command, which must end with this exit code; gives its CPU time in microseconds.
pub fn cpu_time_of_child(program: &str, arguments: &[&str], exit: &str) -> Result<u128> {
    let mut command = Command::new(program);
    command.args(arguments).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let mut said = Vec::new();
    if let Some(mut pipe) = child.stderr.take() {
        pipe.read_to_end(&mut said)?;
    }
    let ended = child.wait4()?;
    if ended.status.code().map(|code| code.to_string()).as_deref() != Some(exit) {
        let said: String = String::from_utf8_lossy(&said).chars().take(2_000).collect();
        return Err(Error::other(format!("ended with {}, not {exit}: {said}", ended.status)));
    }
    Ok(cpu_time(&ended.rusage).as_micros())
}

fn cpu_time(usage: &ResourceUsage) -> Duration {
    usage.utime + usage.stime
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
