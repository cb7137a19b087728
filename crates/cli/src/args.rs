//! What can be typed.

mod log;
mod running;
mod transpile;

use clap::builder::styling::{AnsiColor, Styles};
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::exit::{self, Exit};

use running::{COMPARE_HELP, RUN_HELP};

pub use log::{
    Diff, Evaluate, Expect, Log, LogCommand, Messages, Named, Prune, Record, Recording, Verify,
    WordName,
};
pub use running::{
    Against, Compare, ComparisonFormat, Grade, Grading, MeasureName, ReportRun, Reports, Run,
};
pub use transpile::{AudienceName, EvalsFormat, LayoutName, NoSkillName, Transpile};

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

/// Title of the options that every command takes.
const GLOBAL: &str = "Options of every command";

/// Agent evaluations kept as files in git.
#[derive(Debug, Parser)]
#[command(name = "evalrig", version, styles = STYLES, after_help = exit::HELP)]
#[command(
    propagate_version = false,
    subcommand_required = true,
    arg_required_else_help = true
)]
#[command(max_term_width = 100)]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Clone, Args)]
pub struct Global {
    /// Say less: no report when all is well.
    #[arg(short, long, global = true, conflicts_with = "verbose", help_heading = GLOBAL)]
    pub quiet: bool,
    /// Say more: notes too.
    #[arg(short, long, global = true, help_heading = GLOBAL)]
    pub verbose: bool,
    /// When to use colours.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", help_heading = GLOBAL)]
    pub color: When,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum When {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Write a small suite and a mock target that answers it.
    #[command(after_help = "Example: evalrig init evals/greeting")]
    Init(Init),
    /// Read suites, imports, targets and evals.json, and report every mistake at its line.
    #[command(after_help = "Example: evalrig validate evals --format github")]
    Validate(Validate),
    /// Print the doc of a diagnostic, an assertion type or a provider; without a name, the index.
    #[command(after_help = "Example: evalrig explain duplicate-id")]
    Explain(Explain),
    /// Print a JSON Schema for editors and other tools.
    #[command(after_help = "Example: evalrig schema suite --draft 07 > eval.schema.json")]
    Schema(Schema),
    /// List suites and their tests.
    #[command(after_help = "Example: evalrig list evals --format json")]
    List(List),
    /// Print a suite, or one test, as it was understood: imports, old spellings, `input_files` and
    /// variables resolved.
    #[command(after_help = "Example: evalrig show evals/EVAL.yaml#greeting")]
    Show(Show),
    /// Turn evals.json, an eval set, a list of triggers or `.co/evals` records into an EVAL.yaml.
    #[command(after_help = "Example: evalrig convert evals/evals.json -o EVAL.yaml")]
    Convert(Convert),
    /// Write a suite as the evals.json and eval sets of skill-creator.
    #[command(after_help = "Example: evalrig transpile evals/EVAL.yaml --out build --deny-loss")]
    Transpile(Transpile),
    /// Run suites against their targets, grade the answers, keep and report what came of it.
    #[command(
        after_help = "Example: evalrig run evals --target claude --report junit=junit.xml",
        after_long_help = RUN_HELP
    )]
    Run(Box<Run>),
    /// Grade a stored run again, with the suite's assertions of today and without calling the
    /// target.
    #[command(
        after_help = "Example: evalrig grade .evalrig/results/latest.jsonl --suite evals/EVAL.yaml"
    )]
    Grade(Box<Grade>),
    /// Say what changed between two runs, and whether it is more than chance.
    #[command(
        after_help = "Example: evalrig compare latest~1 latest --gate",
        after_long_help = COMPARE_HELP
    )]
    Compare(Compare),
    /// Show a stored run again.
    #[command(
        after_help = "Example: evalrig report .evalrig/results/latest.jsonl --report markdown=comment.md"
    )]
    Report(ReportRun),
    /// Look into the `.co/evals` store, where every run is kept, and add to it.
    #[command(after_help = "Example: evalrig log diff say_hello_to_alice")]
    Log(Log),
    /// Print a completion script for a shell.
    #[command(after_help = "Example: evalrig completions zsh > ~/.zfunc/_evalrig")]
    Completions(Completions),
    /// Write man pages into a directory.
    #[command(after_help = "Example: evalrig man man/man1")]
    Man(Man),
}

/// Options of every command that loads suites.
#[derive(Debug, Clone, Args)]
pub struct Loading {
    /// Repository root: where a leading `/` starts and what no path may leave
    /// [default: the nearest directory with `.git`].
    #[arg(long, value_name = "DIR")]
    pub root: Option<String>,
    /// Let paths lead out of the repository root.
    #[arg(long)]
    pub allow_outside_root: bool,
    /// Take variables from this file instead of searching for `.env` files.
    #[arg(long, value_name = "FILE", conflicts_with = "no_env_file")]
    pub env_file: Option<String>,
    /// Read no `.env` file.
    #[arg(long)]
    pub no_env_file: bool,
}

#[derive(Debug, Args)]
pub struct Init {
    /// Where to write [default: the current directory].
    pub directory: Option<String>,
}

#[derive(Debug, Args)]
pub struct Validate {
    /// Files, directories or patterns; `!PATTERN` takes away [default: the current directory].
    pub paths: Vec<String>,
    /// How to show what was found.
    #[arg(long, value_name = "FORMAT", default_value = "full", value_parser = clap::builder::PossibleValuesParser::new(crate::render::format_names()))]
    pub format: String,
    /// Treat warnings and conformance errors as errors that stop everything.
    #[arg(long)]
    pub strict: bool,
    /// Make safe fixes in place; comments and formatting are kept.
    #[arg(long)]
    pub fix: bool,
    /// With --fix: only show the changes.
    #[arg(long, requires = "fix")]
    pub diff: bool,
    /// The targets file to check target names against.
    #[arg(long, value_name = "FILE")]
    pub targets: Option<String>,
    #[command(flatten)]
    pub loading: Loading,
}

#[derive(Debug, Args)]
pub struct Explain {
    /// Name of a diagnostic, an assertion type or a provider.
    pub name: Option<String>,
    /// How to print it.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: TextOrJson,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TextOrJson {
    Text,
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum YamlOrJson {
    Yaml,
    Json,
}

#[derive(Debug, Args)]
pub struct Schema {
    /// Which kind of file it describes.
    #[arg(default_value = "suite")]
    pub kind: SchemaKind,
    /// Draft of JSON Schema.
    #[arg(long, value_name = "DRAFT", default_value = "2020-12")]
    pub draft: DraftName,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SchemaKind {
    Suite,
    Targets,
    Results,
    EvalsJson,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DraftName {
    #[value(name = "2020-12")]
    D2020,
    #[value(name = "07")]
    D07,
}

#[derive(Debug, Args)]
pub struct List {
    /// Files, directories or patterns; `!PATTERN` takes away [default: the current directory].
    pub paths: Vec<String>,
    /// How to print it.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: TextOrJson,
    #[command(flatten)]
    pub loading: Loading,
}

#[derive(Debug, Args)]
pub struct Show {
    /// A suite, or one test of it as FILE#TEST-ID.
    pub file: String,
    /// How to print it.
    #[arg(long, value_name = "FORMAT", default_value = "yaml")]
    pub format: YamlOrJson,
    #[command(flatten)]
    pub loading: Loading,
}

#[derive(Debug, Args)]
pub struct Convert {
    /// An evals.json, an eval set, a list of triggers, a `.co/evals` record or the whole directory.
    pub file: String,
    /// Where to write the suite; `-` is standard output.
    #[arg(
        short,
        long,
        value_name = "FILE",
        required_unless_present = "stdout",
        conflicts_with = "stdout"
    )]
    pub output: Option<String>,
    /// Print the suite; its paths are written for a file in the current directory.
    #[arg(long)]
    pub stdout: bool,
    /// Replace a file that exists.
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub loading: Loading,
}

#[derive(Debug, Args)]
pub struct Completions {
    /// The shell.
    pub shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub struct Man {
    /// Where to write.
    pub directory: String,
}

/// The typed arguments; help, version and usage errors are printed here.
pub fn parse() -> Result<Cli, Exit> {
    Cli::try_parse().map_err(|error| {
        // A closed pipe while printing help is nobody's problem.
        let _ = error.print();
        if error.use_stderr() {
            Exit::CouldNotStart
        } else {
            Exit::Success
        }
    })
}
