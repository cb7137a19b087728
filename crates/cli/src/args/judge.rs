//! The options of `judge`, one struct per command.

use clap::{Args, Subcommand};
use evalrig_run::session::LATEST;

use super::running::{amount, at_least_one};
use super::{LOADING, Loading, TextOrJson};

#[derive(Debug, Args)]
pub struct Judge {
    #[command(subcommand)]
    pub command: JudgeCommand,
}

#[derive(Debug, Subcommand)]
pub enum JudgeCommand {
    /// Check judges against labels: agreement, consistency, and the corrected pass rate.
    #[command(
        after_help = "Example: evalrig judge check latest --labels labels.csv",
        after_long_help = JUDGE_CHECK_HELP
    )]
    Check(Box<JudgeCheck>),
}

const JUDGE_CHECK_HELP: &str = "\
Example: evalrig judge check latest --labels labels.csv

Without --readings, no judge is called. Labels come from `evalrig view` or from a CSV file with the
columns suite, test, answer (or answerHash) and label (right or wrong); assertion, item, who and
note are optional. A label applies to an answer with the same text in the same suite and test.

Exit codes:
  0  agreement could be measured
  2  could not start: wrong usage, an unreadable file
  3  incomplete: fewer than 20 labelled answers, the results lack rows, or the budget is used up
  4  no answer in the results was judged";

#[derive(Debug, Args)]
pub struct JudgeCheck {
    /// Runs: results files, patterns, directories with results, `latest` or `latest~N`. The corrected
    /// pass rates of two runs are compared.
    #[arg(default_value = LATEST, value_name = "RESULTS")]
    pub results: Vec<String>,
    /// Labels, as CSV or JSONL [default: `.evalrig/labels.jsonl` in the repository root].
    #[arg(long, value_name = "FILE")]
    pub labels: Option<String>,
    /// Grade every answer N more times (odd) to measure consistency; prints the cost first.
    #[arg(long, value_name = "N", value_parser = odd_readings)]
    pub readings: Option<u64>,
    /// With --readings: print the cost, and call no judge.
    #[arg(long, requires = "readings")]
    pub dry_run: bool,
    /// With --readings: stop calling judges when this is spent.
    #[arg(long, value_name = "USD", value_parser = amount, requires = "readings")]
    pub budget_usd: Option<f64>,
    /// With --readings: the judge target.
    #[arg(long, value_name = "TARGET", requires = "readings")]
    pub judge: Option<String>,
    /// With --readings: grade N cases at once.
    #[arg(short = 'j', long, value_name = "N", value_parser = at_least_one, requires = "readings")]
    pub workers: Option<usize>,
    /// Output format.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: TextOrJson,
    /// The targets file, for judges [default: the nearest `.evalrig/targets.yaml`].
    #[arg(long, value_name = "FILE", help_heading = LOADING)]
    pub targets: Option<String>,
    #[command(flatten)]
    pub loading: Loading,
}

fn odd_readings(text: &str) -> Result<u64, String> {
    let number: u64 = text.parse().map_err(|_| "expected a number".to_owned())?;
    match evalrig_core::model::Votes::new(number) {
        Some(votes) if votes.count() > 1 => Ok(number),
        _ => Err("expected an odd number from 3 to 99".to_owned()),
    }
}
