//! Many mutated inputs, for all readers in turn. Counts panics, slow inputs, inputs that take much
//! memory, and exit codes of the binary that are not documented.

use std::fmt;
use std::fs;
use std::io;
use std::panic;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};

use super::{InputReader, Mutator, READERS, seeds};

/// A reader that takes longer hangs, for a user.
const SLOW: Duration = Duration::from_secs(5);
/// In kilobytes.
const LARGE: u64 = 500_000;
/// Inputs between two looks at the memory.
const PART: u64 = 200;

/// What to do.
#[derive(Debug, Clone)]
pub struct Plan {
    pub inputs: u64,
    pub seed: u64,
    /// The binary gets one of this many inputs.
    pub binary: Option<(PathBuf, u64)>,
    /// Where inputs with a finding are kept.
    pub kept: Utf8PathBuf,
}

/// An input that a reader did not take well.
#[derive(Debug)]
pub struct Finding {
    pub reader: &'static str,
    pub problem: String,
    pub file: Utf8PathBuf,
}

/// What came of a campaign.
#[derive(Debug, Default)]
pub struct Outcome {
    pub inputs: u64,
    pub calls: u64,
    pub slowest: Duration,
    pub largest_kilobytes: u64,
    pub findings: Vec<Finding>,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} inputs, {} calls of the binary", self.inputs, self.calls)?;
        writeln!(f, "slowest input: {:.3} s", self.slowest.as_secs_f64())?;
        writeln!(f, "most memory: {} MB", self.largest_kilobytes / 1000)?;
        for finding in &self.findings {
            writeln!(f, "{}: {} ({})", finding.reader, finding.problem, finding.file)?;
        }
        writeln!(f, "{} findings", self.findings.len())
    }
}

/// Runs a plan. `progress` hears the number of inputs now and then.
pub fn run(
    workspace: &Utf8Path,
    plan: &Plan,
    progress: &mut dyn FnMut(u64),
) -> io::Result<Outcome> {
    let mut pools = Vec::new();
    for reader in READERS {
        let own: Vec<Vec<u8>> =
            seeds(workspace, reader.name)?.into_iter().map(|(_, bytes)| bytes).collect();
        pools.push(own);
    }
    pools[0].extend(example_suites(workspace)?);
    let mut campaign =
        Campaign { plan, outcome: Outcome::default(), mutator: Mutator::new(plan.seed) };
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let done = campaign.all(&pools, progress);
    panic::set_hook(hook);
    done.map(|()| campaign.outcome)
}

fn example_suites(workspace: &Utf8Path) -> io::Result<Vec<Vec<u8>>> {
    let mut found = Vec::new();
    for entry in workspace.join("examples").read_dir_utf8()? {
        let suite = entry?.path().join("EVAL.yaml");
        if suite.is_file() {
            found.push(fs::read(suite)?);
        }
    }
    found.sort();
    Ok(found)
}

struct Campaign<'a> {
    plan: &'a Plan,
    outcome: Outcome,
    mutator: Mutator,
}

impl Campaign<'_> {
    fn all(&mut self, pools: &[Vec<Vec<u8>>], progress: &mut dyn FnMut(u64)) -> io::Result<()> {
        let directory = tempfile::tempdir()?;
        let place = Utf8Path::from_path(directory.path()).unwrap_or(Utf8Path::new("."));
        fs::create_dir_all(place.join(".git"))?;
        fs::create_dir_all(place.join(".co/evals"))?;
        while self.outcome.inputs < self.plan.inputs {
            let at = (self.outcome.inputs % READERS.len() as u64) as usize;
            // Mostly the reader's own seeds; sometimes those of another one.
            let pool =
                if self.mutator.below(10) == 0 { self.mutator.below(pools.len()) } else { at };
            let seed = &pools[pool][self.mutator.below(pools[pool].len())];
            let input = self.mutator.mutate(seed, &pools[at]);
            self.feed(&READERS[at], &input)?;
            self.outcome.inputs += 1;
            if let Some((binary, share)) = &self.plan.binary
                && self.outcome.inputs.is_multiple_of(*share)
            {
                self.call(binary, &READERS[at], &input, place)?;
            }
            if self.outcome.inputs.is_multiple_of(PART) {
                self.measure(&READERS[at], &input)?;
                progress(self.outcome.inputs);
            }
        }
        Ok(())
    }

    fn feed(&mut self, reader: &InputReader, input: &[u8]) -> io::Result<()> {
        let start = Spent::now();
        let ended = panic::catch_unwind(|| (reader.read)(input));
        let took = start.elapsed();
        self.outcome.slowest = self.outcome.slowest.max(took);
        if let Err(reason) = ended {
            let text = reason.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| reason.downcast_ref::<&str>().copied());
            let reason: String = text.unwrap_or("without a text").chars().take(300).collect();
            self.keep(reader, input, format!("panicked: {reason}"))?;
        }
        if took > SLOW {
            self.keep(reader, input, format!("took {:.1} s", took.as_secs_f64()))?;
        }
        Ok(())
    }

    /// Runs the binary on the input as a file.
    fn call(
        &mut self,
        binary: &std::path::Path,
        reader: &InputReader,
        input: &[u8],
        place: &Utf8Path,
    ) -> io::Result<()> {
        if reader.arguments.is_empty() {
            return Ok(());
        }
        let file = place.join(reader.file);
        fs::write(&file, input)?;
        let mut command = Command::new(binary);
        let (first, rest) = reader.arguments.split_at(1);
        command.args(first).arg(&file).args(rest).current_dir(place);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let status = command.status()?;
        self.outcome.calls += 1;
        if !status.code().is_some_and(|code| (0..=4).contains(&code)) {
            self.keep(reader, input, format!("the binary ended with {status}"))?;
        }
        fs::remove_file(&file)
    }

    /// The peak includes all inputs since the last look, so the one that is kept may be innocent.
    fn measure(&mut self, reader: &InputReader, input: &[u8]) -> io::Result<()> {
        let Some(peak) = peak_kilobytes() else {
            return Ok(());
        };
        self.outcome.largest_kilobytes = self.outcome.largest_kilobytes.max(peak);
        if peak > LARGE {
            self.keep(reader, input, format!("{} MB, or an input before it", peak / 1000))?;
            let _ = fs::write("/proc/self/clear_refs", "5");
        }
        Ok(())
    }

    fn keep(&mut self, reader: &InputReader, input: &[u8], problem: String) -> io::Result<()> {
        fs::create_dir_all(&self.plan.kept)?;
        let number = self.outcome.findings.len();
        let file = self.plan.kept.join(format!("{}-{number}", reader.name));
        fs::write(&file, input)?;
        self.outcome.findings.push(Finding { reader: reader.name, problem, file });
        Ok(())
    }
}

/// Time of the processor where the system tells it, so that a busy machine is not a slow reader.
enum Spent {
    Processor(Duration),
    Clock(Instant),
}

impl Spent {
    fn now() -> Self {
        processor_time().map_or_else(|| Self::Clock(Instant::now()), Self::Processor)
    }

    fn elapsed(&self) -> Duration {
        match self {
            Self::Processor(start) => processor_time().unwrap_or(*start).saturating_sub(*start),
            Self::Clock(start) => start.elapsed(),
        }
    }
}

/// User and system time of all threads of this process, on Linux, where a tick is 10 ms.
fn processor_time() -> Option<Duration> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    let ticks = |at: usize| fields.split_whitespace().nth(at)?.parse::<u64>().ok();
    Some(Duration::from_millis(10 * (ticks(11)? + ticks(12)?)))
}

/// The most memory that this process has had, on Linux.
fn peak_kilobytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}
