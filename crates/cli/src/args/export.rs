//! The options of `export`, one struct per kind.

use clap::{Args, Subcommand};

use super::{LOADING, Loading};

#[derive(Debug, Args)]
pub struct Export {
    #[command(subcommand)]
    pub kind: ExportKind,
}

/// What is written.
#[derive(Debug, Subcommand)]
pub enum ExportKind {
    /// Write results as a skill-creator iteration: gradings, timings, outputs and the benchmark.
    #[command(
        after_help = "Example: evalrig export skill-creator latest -o csv-workspace/iteration-1"
    )]
    SkillCreator(ExportSkillCreator),
    /// Write tests that check files as Harbor task directories.
    #[command(after_help = "Example: evalrig export harbor evals/EVAL.yaml -o tasks")]
    Harbor(ExportHarbor),
}

#[derive(Debug, Args)]
pub struct ExportHarbor {
    /// The suite.
    #[arg(value_name = "SUITE")]
    pub suite: String,
    /// The directory to write, with one directory per test; must be empty or not exist.
    #[arg(short, long, value_name = "DIR")]
    pub output: String,
    /// Replace what an earlier export wrote to the directory.
    #[arg(long)]
    pub force: bool,
    /// Write nothing and exit with 1 if anything would be lost.
    #[arg(long)]
    pub deny_loss: bool,
    /// Write the list of losses to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    pub loss_report: Option<String>,
    #[command(flatten)]
    pub loading: Loading,
}

#[derive(Debug, Args)]
pub struct ExportSkillCreator {
    /// Results: files, a pattern, a directory with results, `latest` or `latest~N`.
    #[arg(required = true, value_name = "RESULTS")]
    pub results: Vec<String>,
    /// The directory to write, such as `csv-workspace/iteration-1`; must be empty or not exist.
    #[arg(short, long, value_name = "DIR")]
    pub output: String,
    /// Replace what an earlier export wrote to the directory.
    #[arg(long)]
    pub force: bool,
    /// Repository root, below which `latest` is looked up [default: the nearest directory with
    /// `.git`].
    #[arg(long, value_name = "DIR", help_heading = LOADING)]
    pub root: Option<String>,
}
