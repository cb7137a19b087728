//! `growth EVALRIG DIRECTORY [NAME…]` multiplies each dimension of input by eight and fails when the
//! work of a command grows much more than that. Names select dimensions.
//!
//! Work is CPU time without that of starting the program, the least of several runs. A ratio is that
//! of one doubling: 2 for linear work, 4 for quadratic. The limit is generous, because machines are
//! busy and sorting is allowed; only the order of growth is checked, never a duration.

#![expect(clippy::print_stdout, reason = "a table is what this program is for")]

use std::fs;
use std::io::{Error, Result};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use evalrig_bench::cost::{Verdict, cpu_time_of_child};
use evalrig_bench::growth::{DIMENSIONS, Dimension};

/// Three doublings.
const FACTOR: usize = 8;
const DOUBLINGS: f64 = 3.0;
/// Linear work has 2.0, and work of `n log n` 2.2 at these sizes.
const MOST: f64 = 2.6;
/// A dimension that grows too fast is measured again: one busy moment must not fail the check.
const ATTEMPTS: usize = 4;

fn main() -> Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["--once", expected, program, arguments @ ..] => {
            println!("{}", cpu_time_of_child(program, arguments, expected)?);
            Ok(ExitCode::SUCCESS)
        }
        [program, directory, names @ ..] => {
            let program = fs::canonicalize(program)?;
            Growth { program, directory: directory.into() }.check(names).map(Verdict::gate)
        }
        _ => Err(Error::other("usage: growth EVALRIG DIRECTORY [NAME…]")),
    }
}

struct Growth {
    program: PathBuf,
    directory: PathBuf,
}

/// CPU time in microseconds for the base size and for eight times as much.
struct Measured {
    small: f64,
    large: f64,
}

impl Growth {
    fn check(&self, names: &[&str]) -> Result<Verdict> {
        println!("{:<34} {:>8} {:>9} {:>9} {:>6}", "what", "size", "ms", "× 8: ms", "ratio");
        let mut verdict = Verdict::Within;
        for dimension in DIMENSIONS {
            if !names.is_empty() && !names.contains(&dimension.name) {
                continue;
            }
            let measured = match self.measure(dimension) {
                Ok(measured) => measured,
                Err(error) => {
                    println!("{:<34} {error} {}", dimension.name, verdict.judge(false));
                    continue;
                }
            };
            let ratio = measured.ratio();
            println!(
                "{:<34} {:>8} {:>9.1} {:>9.1} {ratio:>6.2} {}",
                dimension.name,
                dimension.size,
                measured.small / 1000.0,
                measured.large / 1000.0,
                verdict.judge(ratio <= MOST),
            );
        }
        Ok(verdict)
    }

    fn measure(&self, dimension: &Dimension) -> Result<Measured> {
        let place = |size: usize| {
            self.directory.join(dimension.name.replace(' ', "-")).join(size.to_string())
        };
        let (small, large) = (dimension.size, dimension.size * FACTOR);
        for size in [small, large] {
            self.prepare(dimension, &place(size), size)?;
        }
        let mut best = Measured { small: f64::INFINITY, large: f64::INFINITY };
        for _ in 0..ATTEMPTS {
            // The small one twice: it is cheap, and its noise decides the ratio.
            for _ in 0..2 {
                best.small = best.small.min(self.run(dimension, &place(small))?);
            }
            best.large = best.large.min(self.run(dimension, &place(large))?);
            if best.ratio() <= MOST {
                break;
            }
        }
        fs::remove_dir_all(place(large))?;
        Ok(best)
    }

    fn prepare(&self, dimension: &Dimension, directory: &Path, size: usize) -> Result<()> {
        if directory.exists() {
            fs::remove_dir_all(directory)?;
        }
        // The root of a repository: what is above does not matter.
        fs::create_dir_all(directory.join(".git"))?;
        (dimension.write)(directory, size)?;
        for arguments in dimension.before {
            let status = Command::new(&self.program)
                .args(*arguments)
                .current_dir(directory)
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()?;
            if status.code().is_none() {
                return Err(Error::other(format!("{}: {arguments:?} was killed", dimension.name)));
            }
        }
        Ok(())
    }

    /// The system adds up the CPU time of all children of a process, so each run has a parent of its
    /// own.
    fn run(&self, dimension: &Dimension, directory: &Path) -> Result<f64> {
        let output = Command::new(std::env::current_exe()?)
            .args(["--once", dimension.exit])
            .arg(&self.program)
            .args(dimension.arguments)
            .current_dir(directory)
            .stderr(Stdio::inherit())
            .output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        match text.trim().parse() {
            Ok(micros) if output.status.success() => Ok(micros),
            _ => {
                Err(Error::other(format!("`{}` failed in {}", dimension.name, directory.display())))
            }
        }
    }
}

impl Measured {
    fn ratio(&self) -> f64 {
        (self.large / self.small).powf(1.0 / DOUBLINGS)
    }
}
