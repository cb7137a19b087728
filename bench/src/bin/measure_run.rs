//! `measure_run [--gate] PROGRAMS FILES` runs suites with evalrig and prints what that costs beside
//! what it would cost at best: an ideal that follows from the task, or a floor measured in the
//! same run. Without `--gate` the exit code does not depend on the figures.
//!
//! Every run keeps its results durably in a file of its own and writes the report to nowhere. Runs that
//! are logged besides make a run log of their own; the others are told not to.

#![expect(clippy::print_stdout, reason = "a table is what this program is for")]

use std::fs;
use std::io::{Error, Result};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use evalrig_bench::cost::{Cost, FRESH, Verdict, compare, once};
use evalrig_bench::text::READY;
use fake_model::{FakeModel, Keep, Options, Reply, Script};

/// How long the loopback server thinks about each answer.
const DELAY: Duration = Duration::from_millis(50);

/// Reads a prompt and prints an answer with as little overhead as possible.
const ECHO: &str = "/bin/cat";

const CASES: usize = 1000;

fn main() -> Result<ExitCode> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["--once", program, arguments @ ..] => once(program, arguments).map(|figures| {
            println!("{figures}");
            ExitCode::SUCCESS
        }),
        ["--gate", programs, files] => Bench::new(programs, files)?.run().map(Verdict::gate),
        [programs, files] => Bench::new(programs, files)?.run().map(|_| ExitCode::SUCCESS),
        _ => Err(Error::other("usage: measure_run [--gate] PROGRAMS FILES")),
    }
}

struct Bench {
    programs: PathBuf,
    files: PathBuf,
    verdict: Verdict,
    server: FakeModel,
}

impl Bench {
    fn new(programs: &str, files: &str) -> Result<Self> {
        let script = Script::new().otherwise(Reply::text(format!("It is {READY}.")));
        let options = Options { port: 0, keep: Keep::Nothing };
        let bench = Self {
            programs: programs.into(),
            files: files.into(),
            verdict: Verdict::Within,
            server: FakeModel::start_with(script.delay(DELAY), options)?,
        };
        fs::write(bench.file("targets.yaml"), bench.targets())?;
        Ok(bench)
    }

    fn targets(&self) -> String {
        let url = self.server.url();
        format!(
            "targets:
  - {{name: mock, provider: mock, response: It is {READY}.}}
  - {{name: service, provider: openai, base_url: \"{url}/v1\", model: small}}
  - {{name: program, provider: cli, command: [{ECHO}]}}
"
        )
    }

    fn run(mut self) -> Result<Verdict> {
        self.mock()?;
        self.growth()?;
        self.service()?;
        self.program()?;
        Ok(self.verdict)
    }

    /// What evalrig itself costs: the answers are there already.
    fn mock(&mut self) -> Result<()> {
        const MOST_MS: f64 = 500.0;
        const MOST_MB: f64 = 60.0;
        let costs = compare(
            10,
            &[
                self.evalrig("EVAL.yaml", "mock", &["--dry-run"]),
                self.evalrig("EVAL.yaml", "mock", &[]),
                self.logged("EVAL.yaml", "mock", &[]),
            ],
        )?;
        println!(
            "{:<44} {:>10} {:>7} {:>9} {:>7}",
            "1 000 mock tests", "CPU ms", "limit", "peak MB", "limit"
        );
        let floor = costs[0];
        println!(
            "{:<44} {:>10.1} {:>7} {:>9.1}",
            "  loading and planning alone (--dry-run)",
            floor.micros / 1000.0,
            "",
            floor.peak_mb()
        );
        let names = ["  results kept durably", "  results and the run log kept durably"];
        for (name, run) in names.into_iter().zip(&costs[1..]) {
            let run_ms = run.micros / 1000.0;
            let is_within = run_ms <= MOST_MS && run.peak_mb() <= MOST_MB;
            let verdict = self.verdict.judge(is_within);
            println!(
                "{name:<44} {run_ms:>10.1} {MOST_MS:>7.0} {:>9.1} {MOST_MB:>7.0} {verdict}",
                run.peak_mb()
            );
        }
        Ok(())
    }

    /// The cost of a test must not depend on how many others there are, and memory must grow by
    /// nothing but the suite, which planning alone loads as well.
    fn growth(&mut self) -> Result<()> {
        const SIZES: [usize; 3] = [1_000, 10_000, 100_000];
        const MOST: f64 = 0.15;
        let mut commands = Vec::new();
        for size in SIZES {
            let file = format!("{size}.jsonl");
            commands.push(self.evalrig(&file, "mock", &["--dry-run"]));
            commands.push(self.evalrig(&file, "mock", &[]));
        }
        let costs = compare(5, &commands)?;
        println!(
            "\n{:<24} {:>9} {:>10} {:>9} {:>10} {:>7} {:>9} {:>12}",
            "growth",
            "CPU µs",
            "deviation",
            "clock µs",
            "deviation",
            "limit",
            "peak MB",
            "planning MB"
        );
        let each = |cost: Cost, size: usize| cost.micros / size as f64;
        let usual = costs[3];
        for (at, size) in SIZES.into_iter().enumerate() {
            let (planning, run) = (costs[2 * at], costs[2 * at + 1]);
            let clock = run.by_the_clock();
            let more = each(run, size) / each(usual, SIZES[1]) - 1.0;
            let longer = each(clock, size) / each(usual.by_the_clock(), SIZES[1]) - 1.0;
            // Of few tests, the start of the program is the greater part. The clock is shown and
            // not judged: long runs meet more of what else the machine does than short ones.
            let verdict = if size > SIZES[1] { self.verdict.judge(more <= MOST) } else { "" };
            println!(
                "{:<24} {:>9.2} {:>9.1}% {:>9.2} {:>9.1}% {:>6.0}% {:>9.1} {:>12.1} {verdict}",
                format!("  {size} mock tests"),
                each(run, size),
                more * 100.0,
                each(clock, size),
                longer * 100.0,
                MOST * 100.0,
                run.peak_mb(),
                planning.peak_mb(),
            );
        }
        self.memory(&costs[2..], SIZES[2] - SIZES[1]);
        Ok(())
    }

    /// `costs` are of planning and running, few tests and then so many `more`.
    fn memory(&mut self, costs: &[Cost], more: usize) {
        const MOST_MB: f64 = 2.0;
        let growth = |few: Cost, many: Cost| {
            let tens = more as f64 / 10_000.0;
            (many.peak_mb() - few.peak_mb()) / tens
        };
        let suite = growth(costs[0], costs[2]);
        let rest = growth(costs[1], costs[3]) - suite;
        let verdict = self.verdict.judge(rest <= MOST_MB);
        println!("  memory per 10 000 tests: {suite:.1} MB for the loaded suite");
        println!("  and {rest:.2} MB for everything else, at most {MOST_MB:.0} MB   {verdict}");
    }

    /// The server, whose answers come in waves, is the lower bound.
    fn service(&mut self) -> Result<()> {
        // Logging a thousand records takes longer than the four waves of 256 workers, so that
        // figure is shown and not judged.
        const LIMITS: [(usize, f64, f64); 2] = [(64, 1.15, 1.15), (256, 1.30, f64::INFINITY)];
        println!(
            "\n{:<44} {:>10} {:>10} {:>7} {:>7}",
            "1 000 tests, a server that takes 50 ms", "ideal ms", "clock ms", "ratio", "limit"
        );
        let workers = LIMITS.map(|(workers, ..)| workers.to_string());
        let mut commands = Vec::new();
        for workers in &workers {
            commands.push(self.evalrig("EVAL.yaml", "service", &["--workers", workers]));
            commands.push(self.logged("EVAL.yaml", "service", &["--workers", workers]));
        }
        let costs = compare(7, &commands)?;
        for ((workers, most, logged), costs) in LIMITS.into_iter().zip(costs.chunks(2)) {
            let ideal = CASES.div_ceil(workers) as f64 * DELAY.as_secs_f64() * 1000.0;
            let name = format!("  --workers {workers}");
            self.clock_row(&name, ideal, costs[0], most);
            let name = format!("{name}, with the run log");
            self.clock_row(&name, ideal, costs[1], logged);
        }
        Ok(())
    }

    /// Against a loop that starts the program and reads it, and does nothing else.
    fn program(&mut self) -> Result<()> {
        const MOST: f64 = 1.5;
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        println!(
            "\n{:<44} {:>10} {:>10} {:>7} {:>7}",
            "1 000 runs of a program", "floor ms", "clock ms", "ratio", "limit"
        );
        for workers in [cores, 8 * cores] {
            let (count, workers) = (CASES.to_string(), workers.to_string());
            let costs = compare(
                7,
                &[
                    self.command("spawn_loop", &[&count, &workers, ECHO]),
                    self.evalrig("EVAL.yaml", "program", &["--workers", &workers]),
                ],
            )?;
            let floor = costs[0].passed / 1000.0;
            self.clock_row(&format!("  --workers {workers}"), floor, costs[1], MOST);
        }
        Ok(())
    }

    fn clock_row(&mut self, what: &str, best_ms: f64, cost: Cost, most: f64) {
        let passed = cost.passed / 1000.0;
        let ratio = passed / best_ms;
        let (limit, verdict) = if most.is_finite() {
            (format!("{most:.2}"), self.verdict.judge(ratio <= most))
        } else {
            (String::new(), "")
        };
        println!("{what:<44} {best_ms:>10.1} {passed:>10.1} {ratio:>7.2} {limit:>7} {verdict}");
    }

    /// A run of a suite against a target, with a results file that no other run has.
    fn evalrig(&self, suite: &str, target: &str, more: &[&str]) -> Vec<String> {
        let name = format!("{suite}-{target}-{}", more.join(""));
        self.run_of(suite, target, &name, &[more, &["--no-record"]].concat())
    }

    /// The same with a run log of its own.
    fn logged(&self, suite: &str, target: &str, more: &[&str]) -> Vec<String> {
        let name = format!("{suite}-{target}-{}-logged", more.join(""));
        let store = self.file(&format!("stores/{name}-{FRESH}"));
        self.run_of(suite, target, &name, &[more, &["--store", &store]].concat())
    }

    fn run_of(&self, suite: &str, target: &str, name: &str, more: &[&str]) -> Vec<String> {
        let (suite, targets) = (self.file(suite), self.file("targets.yaml"));
        let results = self.file(&format!("results/{name}-{FRESH}.jsonl"));
        let mut arguments = vec!["run", &suite, "--targets", &targets, "--target", target];
        arguments.extend(["--output", &results]);
        arguments.extend(more);
        self.command("evalrig", &arguments)
    }

    fn file(&self, name: &str) -> String {
        self.files.join(name).to_string_lossy().into_owned()
    }

    fn command(&self, program: &str, arguments: &[&str]) -> Vec<String> {
        let program = self.programs.join(program);
        let mut command = vec![program.to_string_lossy().into_owned()];
        command.extend(arguments.iter().map(ToString::to_string));
        command
    }
}
