//! `cargo xtask`: what a contributor does besides `cargo test`.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::env;
use std::process::{Command, ExitCode};

use camino::Utf8PathBuf;
use xtask::corpus::{Corpus, Table};
use xtask::generate::{self, Evalrig};
use xtask::inputs::campaign::{self, Plan};
use xtask::inputs::{InputReader, READERS, STREAM_READERS, reader_named};
use xtask::links::Pages;
use xtask::{house, workspace};

const USAGE: &str = "\
usage: cargo xtask COMMAND

  bless   regenerate all generated files
  check   fail when a generated file is out of date
  links   fail when a link in a Markdown page leads nowhere
  corpus  read the corpus of public suites and print the results
  house   print code lines, longest functions, repeated type names and module cycles;
          `house DIRECTORY` measures another checkout
  mutate-inputs N [SEED [READER…]]
          give N mutated inputs to all readers or to these, and one of 500 to the evalrig that was
          built beside xtask; `streams` stands for those that read what agents print
  statistics [--full | --repeats N] [--only TABLE] [--write] | --check
          simulate comparisons and print the numbers of docs/explanation/guarantees.md;
          `--write` puts them there and draws the pictures; `--check` simulates nothing and
          holds the numbers that are there against their limits
  simulate-queue [--workers N | --validate FILE | --write]
          simulate runs over many workers; without options, print the tables of
          docs/explanation/many-machines.md; `--help` has all options
";

fn main() -> ExitCode {
    match env::args().nth(1).as_deref() {
        Some("bless") => report(bless()),
        Some("check") => report(check()),
        Some("links") => report(links()),
        Some("corpus") => {
            corpus();
            ExitCode::SUCCESS
        }
        Some("house") => report(print_house()),
        Some("mutate-inputs") => report(mutate_inputs()),
        Some("statistics") => report(run_statistics()),
        Some("simulate-queue") => simulate_queue(),
        _ => {
            eprint!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

fn report(done: Result<(), String>) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn bless() -> Result<(), String> {
    let files = generate::all(&Evalrig::ThroughCargo)?;
    let written = generate::bless(workspace(), &files).map_err(|error| error.to_string())?;
    println!("{} generated files, {written} changed", files.len());
    Ok(())
}

fn check() -> Result<(), String> {
    let files = generate::all(&Evalrig::ThroughCargo)?;
    let stale = generate::stale(workspace(), &files);
    if stale.is_empty() {
        println!("{} generated files are fresh", files.len());
        return Ok(());
    }
    Err(generate::complaint(&stale))
}

/// With optimisation, and without what else xtask needs.
fn run_statistics() -> Result<(), String> {
    let status = Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--release", "--package", "evalrig-core"])
        .args(["--example", "statistics", "--"])
        .args(env::args().skip(2))
        .current_dir(workspace())
        .status()
        .map_err(|error| error.to_string())?;
    if status.success() { Ok(()) } else { Err("the simulation failed".to_owned()) }
}

/// A program of its own, because it has many options.
fn simulate_queue() -> ExitCode {
    let status = Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--package", "queue-sim", "--"])
        .args(env::args().skip(2))
        .status();
    match status.map(|status| status.code()) {
        Ok(code) => ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(2)),
        Err(error) => report(Err(error.to_string())),
    }
}

fn links() -> Result<(), String> {
    let pages = Pages::read(workspace()).map_err(|error| error.to_string())?;
    let broken = pages.broken(workspace());
    if broken.is_empty() {
        println!("{} pages have no broken links", pages.len());
        return Ok(());
    }
    Err(broken.join("\n"))
}

fn corpus() {
    match Corpus::find() {
        Some(corpus) => print!("{}", Table::of(&corpus)),
        None => println!("{}", Corpus::ABSENT),
    }
}

fn mutate_inputs() -> Result<(), String> {
    let number = |at: usize, default: u64| match env::args().nth(at) {
        Some(text) => text.parse().map_err(|_| format!("`{text}` is not a number")),
        None => Ok(default),
    };
    let own = env::current_exe().map_err(|error| error.to_string())?;
    let binary = own.with_file_name(format!("evalrig{}", env::consts::EXE_SUFFIX));
    let plan = Plan {
        inputs: number(2, 10_000)?,
        seed: number(3, 1)?,
        readers: chosen_readers(env::args().skip(4))?,
        binary: binary.is_file().then_some((binary, 500)),
        kept: workspace().join("target/mutated-inputs"),
    };
    let mut progress = |inputs: u64| {
        if inputs.is_multiple_of(50_000) {
            eprintln!("{inputs} inputs");
        }
    };
    let outcome = campaign::run(workspace(), &plan, &mut progress);
    let outcome = outcome.map_err(|error| error.to_string())?;
    if outcome.findings.is_empty() {
        print!("{outcome}");
        return Ok(());
    }
    Err(outcome.to_string())
}

/// All of them unless some are named.
fn chosen_readers(
    names: impl Iterator<Item = String>,
) -> Result<Vec<&'static InputReader>, String> {
    let mut chosen = Vec::new();
    for name in names {
        let named = match name.as_str() {
            "streams" => STREAM_READERS,
            other => &[other],
        };
        for name in named {
            let reader =
                reader_named(name).ok_or_else(|| format!("no reader is named `{name}`"))?;
            chosen.push(reader);
        }
    }
    if chosen.is_empty() {
        chosen.extend(READERS);
    }
    Ok(chosen)
}

fn print_house() -> Result<(), String> {
    let root = env::args().nth(2).map(Utf8PathBuf::from);
    let root = root.as_deref().unwrap_or(workspace());
    let measured = house::measure(root).map_err(|error| error.to_string())?;
    print!("{measured}");
    Ok(())
}
