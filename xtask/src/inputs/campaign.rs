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

use super::{BESIDE, InputReader, Mutator, seeds};

/// A reader that takes longer hangs, for a user.
const SLOW: Duration = Duration::from_secs(5);
/// In kilobytes. The binary has no more address space than this.
const LARGE: u64 = 500_000;
/// Inputs between two reports of progress.
const PART: u64 = 200;

/// What to do.
#[derive(Debug, Clone)]
pub struct Plan {
    pub inputs: u64,
    pub seed: u64,
    /// Who gets them, in turn.
    pub readers: Vec<&'static InputReader>,
    /// The binary gets one of about this many inputs.
    pub binary: Option<(PathBuf, usize)>,
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
    /// By how much this process grew for a single input.
    pub largest_kilobytes: u64,
    pub findings: Vec<Finding>,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} inputs, {} calls of the binary", self.inputs, self.calls)?;
        writeln!(f, "slowest input: {:.3} s", self.slowest.as_secs_f64())?;
        writeln!(f, "most memory for one input: {} MB", self.largest_kilobytes / 1000)?;
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
    for reader in &plan.readers {
        let mut own: Vec<Vec<u8>> =
            seeds(workspace, reader.name)?.into_iter().map(|(_, bytes)| bytes).collect();
        if reader.name == "yaml" {
            own.extend(example_suites(workspace)?);
        }
        pools.push(own);
    }
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
        let readers = &self.plan.readers;
        while self.outcome.inputs < self.plan.inputs {
            let at = (self.outcome.inputs % readers.len() as u64) as usize;
            // Mostly the reader's own seeds; sometimes those of another one.
            let pool =
                if self.mutator.below(10) == 0 { self.mutator.below(pools.len()) } else { at };
            let seed = &pools[pool][self.mutator.below(pools[pool].len())];
            let input = self.mutator.mutate(seed, &pools[at]);
            self.feed(readers[at], &input)?;
            self.outcome.inputs += 1;
            // By chance: multiples would be those of the same readers again and again.
            if let Some((binary, share)) = &self.plan.binary
                && self.mutator.below(*share) == 0
            {
                self.call(binary, readers[at], &input, place)?;
            }
            if self.outcome.inputs.is_multiple_of(PART) {
                progress(self.outcome.inputs);
            }
        }
        Ok(())
    }

    fn feed(&mut self, reader: &InputReader, input: &[u8]) -> io::Result<()> {
        forget_peak();
        // What the process holds already, such as memory of earlier inputs that it can use again.
        let held = peak_kilobytes().unwrap_or(0);
        let start = Spent::now();
        let ended = panic::catch_unwind(|| (reader.read)(input));
        let took = start.elapsed();
        let peak = peak_kilobytes().unwrap_or(0).saturating_sub(held);
        self.outcome.slowest = self.outcome.slowest.max(took);
        self.outcome.largest_kilobytes = self.outcome.largest_kilobytes.max(peak);
        if let Err(reason) = ended {
            let text = reason.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| reason.downcast_ref::<&str>().copied());
            let reason: String = text.unwrap_or("without a text").chars().take(300).collect();
            self.keep(reader, input, format!("panicked: {reason}"))?;
        }
        if took > SLOW {
            self.keep(reader, input, format!("took {:.1} s", took.as_secs_f64()))?;
        }
        if peak > LARGE {
            self.keep(reader, input, format!("took {} MB", peak / 1000))?;
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
        for (name, text) in BESIDE {
            write_below(place, name, text.as_bytes())?;
        }
        let file = write_below(place, reader.file, input)?;
        let mut command = with_limited_memory(binary);
        command.args(reader.arguments).current_dir(place).stdin(fs::File::open(&file)?);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let start = Spent::now();
        let status = command.status()?;
        let took = start.elapsed();
        self.outcome.calls += 1;
        self.outcome.slowest = self.outcome.slowest.max(took);
        if !status.code().is_some_and(|code| (0..=4).contains(&code)) {
            self.keep(reader, input, format!("the binary ended with {status}"))?;
        }
        if took > SLOW {
            self.keep(reader, input, format!("the binary took {:.1} s", took.as_secs_f64()))?;
        }
        // A resumed run has removed its journal.
        match fs::remove_file(&file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
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

fn write_below(place: &Utf8Path, name: &str, bytes: &[u8]) -> io::Result<Utf8PathBuf> {
    let file = place.join(name);
    if let Some(directory) = file.parent() {
        fs::create_dir_all(directory)?;
    }
    fs::write(&file, bytes)?;
    Ok(file)
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

/// User and system time of all threads of this process and of its ended children, on Linux, where a
/// tick is 10 ms.
fn processor_time() -> Option<Duration> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    let ticks = |at: usize| fields.split_whitespace().nth(at)?.parse::<u64>().ok();
    let own = ticks(11)? + ticks(12)?;
    Some(Duration::from_millis(10 * (own + ticks(13)? + ticks(14)?)))
}

/// A command whose program cannot get more memory than an input may take; it aborts instead.
fn with_limited_memory(binary: &std::path::Path) -> Command {
    if cfg!(not(unix)) {
        return Command::new(binary);
    }
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("ulimit -v {LARGE} && exec \"$0\" \"$@\"")).arg(binary);
    command
}

/// Begins another peak, on Linux.
fn forget_peak() {
    // Without it the peak is that of an earlier input, which is no less than this one's.
    let _ = fs::write("/proc/self/clear_refs", "5");
}

/// The most memory that this process has had since [`forget_peak`], on Linux.
fn peak_kilobytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_peak_is_that_of_one_input() {
        const SIZE: usize = 256 << 20;
        forget_peak();
        let before = peak_kilobytes().unwrap();
        assert!(std::hint::black_box(vec![1_u8; SIZE]).iter().all(|byte| *byte == 1));
        assert!(peak_kilobytes().unwrap() >= (SIZE / 1024) as u64);
        forget_peak();
        assert!(peak_kilobytes().unwrap() < before + (SIZE / 2048) as u64);
    }

    #[test]
    fn a_program_cannot_get_more_memory_than_an_input_may_take() {
        let run = |megabytes: u64| {
            let script = format!("head -c {megabytes}000000 /dev/zero | tail -c {megabytes}000000");
            let mut command = with_limited_memory(std::path::Path::new("sh"));
            let command = command.arg("-c").arg(script);
            command.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap().success()
        };
        assert!(run(1));
        assert!(!run(2 * LARGE / 1000));
    }
}
