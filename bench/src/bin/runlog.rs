//! What recording and listing cost: `runlog DIRECTORY EVALRIG [--gate]`.
//!
//! A run on a record with a long history against the first run of a record, both on the same disk;
//! and the time in which a store of many records is listed.

use std::error::Error;
use std::fs;
use std::io::Write;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use evalrig_run::runlog::{NewRun, Store, UserMessage};

const HISTORY: usize = 1_000;
const RECORDS: usize = 2_500;
const SAMPLES: usize = 31;

const MOST_TIMES_THE_FIRST: f64 = 3.0;
const LONGEST_LISTING: Duration = Duration::from_millis(150);

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [directory, evalrig, rest @ ..] = arguments.as_slice() else {
        return Err("usage: runlog DIRECTORY EVALRIG [--gate]".into());
    };
    let _ = fs::remove_dir_all(directory);
    let first = first_runs(&Store::open(format!("{directory}/first")))?;
    let later = later_runs(&Store::open(format!("{directory}/later")))?;
    let listing = listing(&format!("{directory}/many"), evalrig)?;
    let times = later.as_secs_f64() / first.as_secs_f64();
    let mut out = std::io::stdout().lock();
    writeln!(out, "first run of a record                {first:>10.2?}")?;
    writeln!(
        out,
        "run on a record with {HISTORY} runs      {later:>10.2?}   {times:.2}x (limit {MOST_TIMES_THE_FIRST}x)"
    )?;
    writeln!(
        out,
        "`log list` of {RECORDS} records           {listing:>10.2?}   (limit {LONGEST_LISTING:?})"
    )?;
    fs::remove_dir_all(directory)?;
    let is_well = times <= MOST_TIMES_THE_FIRST && listing < LONGEST_LISTING;
    if rest.iter().any(|one| one == "--gate") && !is_well {
        Ok(ExitCode::FAILURE)
    } else {
        Ok(ExitCode::SUCCESS)
    }
}

fn run(input: &str) -> NewRun {
    NewRun {
        asked: vec![UserMessage::new(input)],
        output: "November ($22,500) was the best month.".to_owned(),
        tools_called: vec!["read(path='sales.csv')".to_owned()],
        evaluation: "pass".to_owned(),
        model: "model".to_owned(),
        tokens: Some(155),
        cost_usd: Some(0.002),
        duration_ms: Some(900),
        timestamp: "2026-01-02 03:04:05".to_owned(),
        ..NewRun::default()
    }
}

fn timed(store: &Store, input: &str) -> Result<Duration, Box<dyn Error>> {
    let begun = Instant::now();
    store.record(&run(input))?;
    Ok(begun.elapsed())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn first_runs(store: &Store) -> Result<Duration, Box<dyn Error>> {
    let times: Result<Vec<_>, _> =
        (0..SAMPLES).map(|at| timed(store, &format!("input {at}"))).collect();
    Ok(median(times?))
}

fn later_runs(store: &Store) -> Result<Duration, Box<dyn Error>> {
    for _ in 0..HISTORY {
        store.record(&run("the same"))?;
    }
    let times: Result<Vec<_>, _> = (0..SAMPLES).map(|_| timed(store, "the same")).collect();
    Ok(median(times?))
}

fn listing(directory: &str, evalrig: &str) -> Result<Duration, Box<dyn Error>> {
    let store = Store::open(directory);
    for at in 0..RECORDS {
        store.record(&run(&format!("input {at}")))?;
    }
    let mut times = Vec::new();
    for _ in 0..9 {
        let begun = Instant::now();
        let listed = Command::new(evalrig)
            .args(["log", "list", "--store", directory, "--format", "json"])
            .stdout(Stdio::null())
            .status()?;
        times.push(begun.elapsed());
        if !listed.success() {
            return Err("the store cannot be listed".into());
        }
    }
    Ok(median(times))
}
