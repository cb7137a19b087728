//! The subcommands of `log` and their options.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand, ValueEnum};
use evalrig_run::runlog::SessionFormat;

use super::TextOrJson;
use super::running::RESULTS;

/// The store has one record per input.
#[derive(Debug, Args)]
pub struct Log {
    /// Without one, the records are listed.
    #[command(subcommand)]
    pub command: Option<LogCommand>,
    /// The store [default: `.co/evals` in the repository root].
    #[arg(long, value_name = "DIR", global = true)]
    pub store: Option<String>,
    /// Output format.
    #[arg(long, value_name = "FORMAT", default_value = "text", global = true)]
    pub format: TextOrJson,
}

#[derive(Debug, Subcommand)]
pub enum LogCommand {
    /// List the records.
    #[command(after_help = "Example: evalrig log list --format json")]
    List,
    /// Show a record: the newest run of every turn, then older runs.
    #[command(after_help = "Example: evalrig log show say_hello_to_alice")]
    Show(RecordName),
    /// Compare two runs of a record; exit with 1 if a turn no longer passes.
    #[command(after_help = "Example: evalrig log diff say_hello_to_alice --runs 1,2")]
    Diff(Diff),
    /// Print the messages of a run as a JSON array.
    #[command(after_help = "Example: evalrig log messages say_hello_to_alice --run 1")]
    Messages(Messages),
    /// Set the expected answer of a turn.
    #[command(after_help = "Example: evalrig log expect say_hello_to_alice \"Hello, Alice!\"")]
    Expect(Expect),
    /// Mark the newest answer of a turn as pass or fail.
    #[command(after_help = "Example: evalrig log evaluate say_hello_to_alice fail \"no greeting\"")]
    Evaluate(Evaluate),
    /// Record a session from standard input: chat messages, or an agent's output or session file.
    #[command(
        after_help = "Example: claude -p Hello --output-format stream-json --verbose | evalrig log record --input Hello"
    )]
    Record(Record),
    /// Delete old runs and records.
    #[command(after_help = "Example: evalrig log prune --keep-runs 20 --dry-run")]
    Prune(Prune),
    /// Check the store for unreadable files, runs missing from summaries and wrong counts.
    #[command(after_help = "Example: evalrig log verify --repair")]
    Verify(Verify),
}

impl LogCommand {
    pub fn writes(&self) -> bool {
        match self {
            Self::List | Self::Show(_) | Self::Diff(_) | Self::Messages(_) => false,
            Self::Expect(_) | Self::Evaluate(_) | Self::Record(_) => true,
            Self::Prune(prune) => !prune.dry_run,
            Self::Verify(verify) => verify.repair,
        }
    }
}

#[derive(Debug, Args)]
pub struct RecordName {
    /// Name of the record, or a prefix of it.
    pub name: String,
}

#[derive(Debug, Args)]
pub struct Diff {
    /// Name of the record, or a prefix of it.
    pub name: String,
    /// The two runs, older first [default: the last two].
    #[arg(long, value_name = "A,B", value_parser = two_runs)]
    pub runs: Option<[u64; 2]>,
}

#[derive(Debug, Args)]
pub struct Messages {
    /// Name of the record, or a prefix of it.
    pub name: String,
    /// The run [default: the newest].
    #[arg(long, value_name = "N")]
    pub run: Option<u64>,
}

#[derive(Debug, Args)]
pub struct Expect {
    /// Name of the record, or a prefix of it.
    pub name: String,
    /// The expected answer.
    pub text: String,
    /// The turn, counted from 1 [default: the last].
    #[arg(long, value_name = "K")]
    pub turn: Option<usize>,
}

#[derive(Debug, Args)]
pub struct Evaluate {
    /// Name of the record, or a prefix of it.
    pub name: String,
    /// The verdict.
    pub word: VerdictWord,
    /// The reason.
    pub note: Option<String>,
    /// The turn, counted from 1 [default: the last].
    #[arg(long, value_name = "K")]
    pub turn: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum VerdictWord {
    Pass,
    Fail,
}

#[derive(Debug, Args)]
pub struct Record {
    /// The user's message, if the session does not contain it.
    #[arg(long, value_name = "TEXT")]
    pub input: Option<String>,
    /// The format of the session [default: detected].
    #[arg(long, value_name = "FORMAT", value_parser = session_format())]
    pub from: Option<SessionFormat>,
    /// The model, if the session does not name it.
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// The expected last answer.
    #[arg(long, value_name = "TEXT")]
    pub expected: Option<String>,
}

fn session_format() -> impl TypedValueParser<Value = SessionFormat> {
    let values = SessionFormat::all().map(|one| PossibleValue::new(one.name()).help(one.doc()));
    PossibleValuesParser::new(values).try_map(|name| {
        SessionFormat::named(&name).ok_or_else(|| format!("unknown format `{name}`"))
    })
}

#[derive(Debug, Args)]
pub struct Prune {
    /// Run files to keep per record.
    #[arg(long, value_name = "N")]
    pub keep_runs: Option<usize>,
    /// Older runs to keep in the history of each turn.
    #[arg(long, value_name = "M")]
    pub keep_history: Option<usize>,
    /// Records to keep; the newest are kept.
    #[arg(long, value_name = "N")]
    pub keep_records: Option<usize>,
    /// Print what would be deleted, and delete nothing.
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Debug, Args)]
pub struct Verify {
    /// Repair what can be repaired; no run is deleted.
    #[arg(long)]
    pub repair: bool,
}

/// Options of `run` for the store.
#[derive(Debug, Clone, Args)]
pub struct RunLogOptions {
    /// The store for records [default: `.co/evals` in the repository root].
    #[arg(long, value_name = "DIR", help_heading = RESULTS)]
    pub store: Option<String>,
    /// Record the run even if the `CI` variable is set, which by default turns recording off.
    #[arg(long, conflicts_with = "no_record", help_heading = RESULTS)]
    pub record: bool,
    /// Do not record the run in `.co/evals`.
    #[arg(long, conflicts_with_all = ["store", "keep_runs"], help_heading = RESULTS)]
    pub no_record: bool,
    /// Keep the newest N run files of each record that is written; delete the others.
    #[arg(long, value_name = "N", help_heading = RESULTS)]
    pub keep_runs: Option<usize>,
}

fn two_runs(text: &str) -> Result<[u64; 2], String> {
    let runs: Option<Vec<u64>> = text.split(',').map(|one| one.trim().parse().ok()).collect();
    match runs.as_deref() {
        Some([before, now]) => Ok([*before, *now]),
        _ => Err("expected two run numbers such as `1,2`".to_owned()),
    }
}
