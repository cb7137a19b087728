//! The options of `mutate` and `stats`.

use clap::{Args, ValueEnum};

use super::running::{LATEST, MeasureOption, amount, at_least_one, share};
use super::{LOADING, Loading};

/// Shown at the end of `mutate --help`.
pub(super) const MUTATE_HELP: &str = "\
Example: evalrig mutate latest
Example: evalrig mutate latest --judges 5 --budget-usd 1 --deny-weak

Exit codes:
  0  the checks were tried; with --deny-weak: none is weak
  1  with --deny-weak: a check is weak, or a test is unchecked
  2  could not start: wrong usage, a missing file, an error in a suite
  3  incomplete: results lack rows, or judges and scripts could not grade every mutant
  4  no test of the run passed, so there is no answer to damage";

#[derive(Debug, Args)]
pub struct Mutate {
    /// The run: a results file, a pattern, a directory with results, `latest` or `latest~N`.
    #[arg(default_value = LATEST)]
    pub results: String,
    /// The suite with the assertions [default: the suites named in the results].
    #[arg(long, value_name = "FILE")]
    pub suite: Option<String>,
    /// Also try checks that call a judge or a script, with N mutants each; prints the cost first.
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub judges: Option<usize>,
    /// Stop calling judges when this is spent.
    #[arg(long, value_name = "USD", value_parser = amount, requires = "judges")]
    pub budget_usd: Option<f64>,
    /// Judge target [default: the configured ones].
    #[arg(long, value_name = "NAME", requires = "judges")]
    pub judge: Option<String>,
    /// Lowest score that passes [default: the suite's].
    #[arg(long, value_name = "SCORE", value_parser = share)]
    pub pass: Option<f64>,
    /// Exit with 1 if a check is weak or a test is unchecked.
    #[arg(long)]
    pub deny_weak: bool,
    /// Output format.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: DocumentFormat,
    /// Random seed.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Grade N mutants at once.
    #[arg(short = 'j', long, value_name = "N", value_parser = at_least_one)]
    pub workers: Option<usize>,
    /// The targets file, for judges [default: the nearest `.evalrig/targets.yaml`].
    #[arg(long, value_name = "FILE", help_heading = LOADING)]
    pub targets: Option<String>,
    #[command(flatten)]
    pub loading: Loading,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DocumentFormat {
    Text,
    Json,
}

/// Shown at the end of `stats --help`.
pub(super) const STATS_HELP: &str = "\
Example: evalrig stats latest~1..4
Example: evalrig stats 'main-*.jsonl' --format json

Exit codes:
  0  success
  2  could not start: wrong usage, or a missing file
  3  a run lacks rows
  4  no test of the runs was measured";

#[derive(Debug, Args)]
pub struct Stats {
    /// The runs: results files, patterns such as 'main-*.jsonl', directories with results, `latest`,
    /// `latest~N` or `latest~A..B`. Files of one run, such as those of its shards, count as one.
    #[arg(value_name = "RESULTS", default_value = LATEST)]
    pub results: Vec<String>,
    /// Use at most the newest N runs.
    #[arg(long, value_name = "N", value_parser = at_least_one, default_value_t = 20)]
    pub runs: usize,
    /// Measure pass rates or mean scores.
    #[arg(long, value_name = "MEASURE", default_value = "pass")]
    pub measure: MeasureOption,
    /// Output format.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: DocumentFormat,
}
