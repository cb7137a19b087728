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
    /// Check judges against labels: agreement, changes of mind, and the pass rate people would have seen.
    #[command(
        after_help = "Example: evalrig judge check latest --labels labels.csv",
        after_long_help = JUDGE_CHECK_HELP
    )]
    Check(Box<JudgeCheck>),
}

const JUDGE_CHECK_HELP: &str = "\
Example: evalrig judge check latest --labels labels.csv

Nothing is called without --readings. Labels are those of `evalrig view`, or a CSV file with the columns
suite, test, answer (or answerHash) and label (right or wrong); assertion, item, who and note are optional.
A label counts for an answer of the same suite and test with the same words.

Exit codes:
  0  agreement could be measured
  2  could not start: wrong usage, an unreadable file
  3  incomplete: fewer than 20 labelled answers, the results lack rows, or the budget is used up
  4  no answer in the results was judged";

#[derive(Debug, Args)]
pub struct JudgeCheck {
    /// Runs: results files, patterns, directories with results, `latest` or `latest~N`. With two runs, their
    /// corrected rates are compared.
    #[arg(default_value = LATEST, value_name = "RESULTS")]
    pub results: Vec<String>,
    /// Labels: a CSV file, or lines as in `.evalrig/labels.jsonl` [default: that file of the repository].
    #[arg(long, value_name = "FILE")]
    pub labels: Option<String>,
    /// Ask the judges N more times about every answer, an odd number, to see how often they change their
    /// mind. Prints the price first.
    #[arg(long, value_name = "N", value_parser = odd_readings)]
    pub readings: Option<u64>,
    /// With --readings: print the price, and ask nothing.
    #[arg(long, requires = "readings")]
    pub dry_run: bool,
    /// With --readings: stop asking judges when this is spent.
    #[arg(long, value_name = "USD", value_parser = amount, requires = "readings")]
    pub budget_usd: Option<f64>,
    /// With --readings: the target that judges.
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
    let number: u64 = text.parse().map_err(|_| "not a number".to_owned())?;
    match evalrig_core::model::Votes::new(number) {
        Some(votes) if votes.count() > 1 => Ok(number),
        _ => Err("not an odd number from 3 to 99".to_owned()),
    }
}
