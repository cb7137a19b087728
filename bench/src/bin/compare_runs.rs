//! `compare_runs --generate FILES` writes four baseline runs, a candidate and one that has dropped;
//! `compare_runs [--gate] EVALRIG FILES` compares each candidate, by passes and by scores, with one of the runs
//! and with all four, and prints the CPU time and the clock time that both take. The CPU time decides, because
//! files are read on all cores.

#![expect(clippy::print_stdout, reason = "a table is what this program is for")]

use std::fs::File;
use std::io::{BufWriter, Error, Result, Write};
use std::path::Path;
use std::process::ExitCode;

use evalrig_bench::cost::{Verdict, compare, once_ending_with};
use evalrig_core::stats::SplitMix64;

const TESTS: u32 = 10_000;
const TRIALS: u32 = 10;
const BASE: [&str; 4] = ["base-1", "base-2", "base-3", "base-4"];
const CANDIDATE: &str = "now";
const DROPPED: &str = "dropped";
/// What a dropped candidate keeps of each rate.
const KEPT: f64 = 0.8;
/// Candidates and what is measured of them.
const KINDS: [(&str, &str); 4] =
    [(CANDIDATE, "pass"), (DROPPED, "pass"), (CANDIDATE, "score"), (DROPPED, "score")];
const ROUNDS: usize = 5;
const MOST: f64 = 2.0;

fn main() -> Result<ExitCode> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["--once", program, arguments @ ..] => {
            // A dropped candidate does not pass the gate.
            println!("{}", once_ending_with(&[0, 1], program, arguments)?);
            Ok(ExitCode::SUCCESS)
        }
        ["--generate", folder] => generate(Path::new(folder)).map(|()| ExitCode::SUCCESS),
        ["--gate", program, folder] => measure(program, Path::new(folder)).map(Verdict::gate),
        [program, folder] => measure(program, Path::new(folder)).map(|_| ExitCode::SUCCESS),
        _ => Err(Error::other("usage: compare_runs --generate FILES | [--gate] EVALRIG FILES")),
    }
}

fn measure(program: &str, folder: &Path) -> Result<Verdict> {
    let path = |name: &str| folder.join(format!("{name}.jsonl")).to_string_lossy().into_owned();
    let command = |base: &[&str], (candidate, measure): (&str, &str)| -> Vec<String> {
        let files = base.iter().copied().chain([candidate]).map(path);
        let words = [program, "compare", "--gate", "--quiet", "--measure", measure];
        words.map(str::to_owned).into_iter().chain(files).collect()
    };
    let commands: Vec<Vec<String>> =
        KINDS.iter().flat_map(|kind| [command(&BASE[..1], *kind), command(&BASE, *kind)]).collect();
    let costs = compare(ROUNDS, &commands)?;
    println!(
        "{:<34} {:>10} {:>10} {:>9}",
        "10,000 tests x 10 trials", "CPU ms", "clock ms", "peak MB"
    );
    let mut verdict = Verdict::Within;
    for ((candidate, measure), costs) in KINDS.iter().zip(costs.chunks(2)) {
        let [one, four] = costs else {
            return Err(Error::other("two commands have two costs"));
        };
        for (runs, cost) in [("1 baseline run", one), ("4 baseline runs", four)] {
            let (micros, passed) = (cost.micros / 1000.0, cost.passed / 1000.0);
            let name = format!("{candidate}, {measure}, {runs}");
            println!("{name:<34} {micros:>10.0} {passed:>10.0} {:>9.0}", cost.peak_mb());
        }
        let ratio = four.micros / one.micros;
        println!("clock, four / one{:>28.2}", four.passed / one.passed);
        println!("CPU, four / one{ratio:>30.2}  limit {MOST:.1}  {}", verdict.judge(ratio <= MOST));
    }
    Ok(verdict)
}

/// Tests that pass in 60 to 100 % of their trials, alike in all runs but the dropped one: the candidate is
/// equivalent.
fn generate(folder: &Path) -> Result<()> {
    for (seed, name) in BASE.iter().chain(&[CANDIDATE, DROPPED]).enumerate() {
        let kept = if *name == DROPPED { KEPT } else { 1.0 };
        let mut random = SplitMix64::new(seed as u64);
        let mut out = BufWriter::new(File::create(folder.join(format!("{name}.jsonl")))?);
        for test in 0..TESTS {
            let rate = 0.6 + 0.4 * f64::from(test) / f64::from(TESTS);
            for trial in 1..=TRIALS {
                writeln!(out, "{}", row(name, test, trial, random.fraction() < kept * rate))?;
            }
        }
        out.flush()?;
    }
    Ok(())
}

/// About as long as a row of a test with one assertion and a short answer.
fn row(run: &str, test: u32, trial: u32, is_passed: bool) -> String {
    let (score, verdict, outcome) =
        if is_passed { ("1.0", "pass", "passed") } else { ("0.0", "fail", "failed") };
    let (hits, misses) = if is_passed {
        ("\"Output contains 'ready'\"", "")
    } else {
        ("", "\"Output does not contain 'ready'\"")
    };
    format!(
        "{{\"schemaVersion\":1,\"timestamp\":\"2026-01-02T03:04:05Z\",\"evalId\":\"case-{test:06}\",\
         \"dataset\":\"bench\",\"conversationId\":null,\"score\":{score},\"verdict\":\"{verdict}\",\
         \"passThreshold\":0.8,\"outcome\":\"{outcome}\",\"hits\":[{hits}],\"misses\":[{misses}],\
         \"candidateAnswer\":\"The order of customer {test} is on its way and will be there on Friday.\",\
         \"target\":\"default\",\"trial\":{trial},\"attempts\":1,\"durationMs\":900,\"costUsd\":0.002,\
         \"tokens\":{{\"input\":1200,\"output\":350,\"total\":1550,\"cached\":0}},\
         \"traceSummary\":{{\"eventCount\":1,\"toolNames\":[],\"toolCallCount\":0}},\
         \"evaluatorResults\":[{{\"name\":\"contains\",\"type\":\"contains\",\"score\":{score},\
         \"weight\":1,\"required\":false,\"outcome\":\"graded\",\"hits\":[{hits}],\"misses\":[{misses}]}}],\
         \"judgeUsage\":null,\"error\":null,\"testHash\":\"5f2b8c0d9e1a7744\",\
         \"source\":{{\"file\":\"EVAL.yaml\",\"line\":{line}}},\"record\":null,\"run\":\"{run}\"}}",
        line = test + 2,
    )
}
