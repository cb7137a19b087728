//! `measure [--gate] PROGRAMS FILES` runs evalrig and its baselines in turn and prints what each
//! costs beside what it may cost. Only ratios within one run mean anything: machines differ and
//! are shared. Without `--gate` the exit code does not depend on the figures.
//!
//! A cost is the CPU time of the process, the least of several runs; a throughput is compared by
//! the time that passes, because both cores may work for it.

#![expect(clippy::print_stdout, reason = "a table is what this program is for")]

use std::io::{Error, Result};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use evalrig_bench::cost::{Cost, Verdict, compare, once};

fn main() -> Result<ExitCode> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["--once", program, arguments @ ..] => once(program, arguments).map(|figures| {
            println!("{figures}");
            ExitCode::SUCCESS
        }),
        ["--gate", programs, files] => Bench::new(programs, files).run().map(Verdict::gate),
        [programs, files] => Bench::new(programs, files).run().map(|_| ExitCode::SUCCESS),
        _ => Err(Error::other("usage: measure [--gate] PROGRAMS FILES")),
    }
}

/// What a row may reach.
#[derive(Debug, Clone, Copy, Default)]
struct Limits {
    ratio: Option<f64>,
    peak_mb: Option<f64>,
}

struct Bench {
    programs: PathBuf,
    files: PathBuf,
    verdict: Verdict,
}

impl Bench {
    fn new(programs: &str, files: &str) -> Self {
        Self { programs: programs.into(), files: files.into(), verdict: Verdict::Within }
    }

    fn run(mut self) -> Result<Verdict> {
        println!(
            "{:<44} {:>10} {:>7} {:>7} {:>9} {:>7}",
            "what", "CPU ms", "ratio", "limit", "peak MB", "limit"
        );
        self.yaml()?;
        self.start()?;
        self.jsonl()?;
        self.growth()?;
        Ok(self.verdict)
    }

    fn yaml(&mut self) -> Result<()> {
        let file = self.file("10000/EVAL.yaml");
        let out = self.file("transpiled");
        let costs = compare(
            12,
            &[
                self.command("raw_tree", &["raw", &file]),
                self.command("raw_tree", &["core", &file]),
                self.command("evalrig", &["validate", &file]),
                self.command("evalrig", &["transpile", &file, "--out", &out, "--force", "--quiet"]),
            ],
        )?;
        let base = costs[0];
        self.row("YAML, 10 000 tests: the raw parser's tree", base, base, Limits::default());
        self.row("  evalrig's tree of it", costs[1], base, Limits::default());
        let limits = Limits { ratio: Some(1.6), peak_mb: Some(150.0) };
        self.row("  evalrig validate", costs[2], base, limits);
        let limits = Limits { ratio: Some(1.5), peak_mb: None };
        self.row("  evalrig transpile, beside validate", costs[3], costs[2], limits);
        Ok(())
    }

    fn start(&mut self) -> Result<()> {
        let costs =
            compare(60, &[self.command("empty", &[]), self.command("evalrig", &["--version"])])?;
        self.row("an empty program", costs[0], costs[0], Limits::default());
        let limits = Limits { ratio: Some(3.0), peak_mb: None };
        self.row("  evalrig --version", costs[1], costs[0], limits);
        self.size()
    }

    /// The binary as it is released.
    fn size(&mut self) -> Result<()> {
        const MOST_MB: f64 = 18.0;
        let size = self.programs.join("evalrig").metadata()?.len() as f64 / 1e6;
        let verdict = self.verdict.judge(size <= MOST_MB);
        println!("{:<44} {size:>7.1} MB {:>15.1} {verdict}", "  evalrig, its file", MOST_MB);
        Ok(())
    }

    /// Half the throughput is twice the time.
    fn jsonl(&mut self) -> Result<()> {
        let (few, many) = (self.file("few.jsonl"), self.file("many.jsonl"));
        let costs = compare(
            4,
            &[
                self.command("serde_lines", &[&many]),
                self.command("evalrig", &["validate", &many]),
                self.command("evalrig", &["validate", &few]),
            ],
        )?;
        let base = costs[0];
        let limits = Limits { ratio: Some(2.0), peak_mb: Some(200.0) };
        self.row("JSONL, 1 000 000 lines: serde_json, typed", base, base, Limits::default());
        self.row("  evalrig validate", costs[1], base, Limits { ratio: None, ..limits });
        let (clock, clock_base) = (costs[1].by_the_clock(), base.by_the_clock());
        self.row("  the same by the clock: serde_json", clock_base, clock_base, Limits::default());
        self.row("  the same by the clock: evalrig validate", clock, clock_base, limits);
        self.row("  evalrig validate, 100 000 lines", costs[2], base, Limits::default());
        Ok(())
    }

    /// The cost of a test must not depend on how many others there are.
    fn growth(&mut self) -> Result<()> {
        const SIZES: [(&str, f64); 3] = [("1000", 1e3), ("10000", 1e4), ("30000", 3e4)];
        const MOST: f64 = 0.10;
        let files = SIZES.map(|(name, _)| self.file(&format!("{name}/EVAL.yaml")));
        let commands: Vec<_> =
            files.iter().map(|file| self.command("evalrig", &["validate", file])).collect();
        let costs = compare(8, &commands)?;
        let each: Vec<f64> =
            costs.iter().zip(SIZES).map(|(cost, (_, count))| cost.micros / count).collect();
        println!("\n{:<44} {:>10} {:>9} {:>7}", "growth", "µs / test", "deviation", "limit");
        for ((name, _), micros) in SIZES.iter().zip(&each) {
            let deviation = micros / each[1] - 1.0;
            let verdict = self.verdict.judge(deviation.abs() <= MOST);
            println!(
                "{:<44} {micros:>10.2} {:>8.1}% {:>6.0}% {verdict}",
                format!("  evalrig validate, {name} tests"),
                deviation * 100.0,
                MOST * 100.0,
            );
        }
        Ok(())
    }

    fn row(&mut self, what: &str, cost: Cost, base: Cost, limits: Limits) {
        let ratio = cost.micros / base.micros;
        let peak_mb = cost.peak_mb();
        let is_within = limits.ratio.is_none_or(|most| ratio <= most)
            && limits.peak_mb.is_none_or(|most| peak_mb <= most);
        let verdict = match (limits.ratio, limits.peak_mb) {
            (None, None) => "",
            _ => self.verdict.judge(is_within),
        };
        println!(
            "{what:<44} {:>10.2} {ratio:>7.2} {:>7} {peak_mb:>9.1} {:>7} {verdict}",
            cost.micros / 1000.0,
            limits.ratio.map_or(String::new(), |most| format!("{most:.2}")),
            limits.peak_mb.map_or(String::new(), |most| format!("{most:.0}")),
        );
    }

    fn file(&self, name: &str) -> String {
        self.files.join(name).to_string_lossy().into_owned()
    }

    fn command(&self, program: &str, arguments: &[&str]) -> Vec<String> {
        let program = self.programs.join(Path::new(program));
        let mut command = vec![program.to_string_lossy().into_owned()];
        command.extend(arguments.iter().map(ToString::to_string));
        command
    }
}
