//! The options of `export`, one struct per kind.

use clap::{Args, Subcommand};

use super::LOADING;

#[derive(Debug, Args)]
pub struct Export {
    #[command(subcommand)]
    pub kind: ExportKind,
}

/// What is written.
#[derive(Debug, Subcommand)]
pub enum ExportKind {
    /// Write results as an iteration of skill-creator: gradings, times, outputs and the benchmark.
    #[command(
        after_help = "Example: evalrig export skill-creator latest -o csv-workspace/iteration-1"
    )]
    SkillCreator(ExportSkillCreator),
}

#[derive(Debug, Args)]
pub struct ExportSkillCreator {
    /// Results: files, a pattern, a directory with results, `latest` or `latest~N`.
    #[arg(required = true, value_name = "RESULTS")]
    pub results: Vec<String>,
    /// The directory to write, such as `csv-workspace/iteration-1`. It must not exist or be empty.
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
