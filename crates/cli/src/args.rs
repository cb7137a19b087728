//! The command line: commands, options and their help.

mod convert;
mod earlier_run;
mod export;
mod judge;
mod log;
#[cfg(feature = "lsp")]
mod lsp;
#[cfg(feature = "mcp")]
mod mcp;
mod mutate;
#[cfg(feature = "queue")]
mod queue;
mod running;
mod transpile;
#[cfg(feature = "view")]
mod view;
mod word;

use camino::Utf8PathBuf;
use clap::builder::styling::{AnsiColor, Styles};
use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use evalrig_core::schema::Draft;

use crate::config::{self, ConfigRefusal, ConfigScope};
use crate::exit::{self, Exit};
use crate::output::print_usage;

use mutate::{MUTATE_HELP, STATS_HELP};
use running::{COMPARE_HELP, RUN_HELP};

pub use convert::{CO_EVALS, Convert, EVALS_JSON};
pub use export::{Export, ExportHarbor, ExportKind, ExportSkillCreator};
pub use judge::{Judge, JudgeCheck, JudgeCommand};
pub use log::{
    Diff, Evaluate, Expect, Log, LogCommand, Messages, Prune, Record, RecordName, RunLogOptions,
    VerdictWord, Verify,
};
#[cfg(feature = "lsp")]
pub use lsp::Lsp;
#[cfg(feature = "mcp")]
pub use mcp::Mcp;
pub use mutate::{DocumentFormat, Mutate, Stats};
#[cfg(feature = "queue")]
pub use queue::{Queue, QueueAction, QueueAddress, QueueFormat, QueueLogin, Queueing, Worker};
pub use running::{
    Against, CacheOption, Compare, ComparisonFormat, Grade, Grading, MeasureOption, ReportRun,
    Reports, Run,
};
pub use transpile::Transpile;
#[cfg(feature = "view")]
pub use view::View;
use word::word_parser;

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

/// Title of the options that every command takes.
const GLOBAL: &str = "Global options";

/// Agent evaluations kept as files in git.
#[derive(Debug, Parser)]
#[command(name = "evalrig", version, styles = STYLES, after_help = exit::HELP)]
#[command(propagate_version = false, subcommand_required = true, arg_required_else_help = true)]
#[command(max_term_width = 100)]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Clone, Args)]
pub struct Global {
    /// Print less; no report when nothing is wrong.
    #[arg(short, long, global = true, conflicts_with = "verbose", help_heading = GLOBAL)]
    pub quiet: bool,
    /// Print more, including notes.
    #[arg(short, long, global = true, help_heading = GLOBAL)]
    pub verbose: bool,
    /// When to color the output.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", help_heading = GLOBAL)]
    pub color: When,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum When {
    Auto,
    Always,
    Never,
}

/// In the order of work: write, check, run, look at the results, then everything else.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Write the files needed to run suites: a suite, a targets file, a .gitignore, a CI workflow.
    #[command(after_help = "Example: evalrig init --target claude --ci github")]
    Init(Init),
    /// Check suites, imports, targets files and evals.json; report every mistake with its line.
    #[command(after_help = "Example: evalrig validate evals --fix")]
    Validate(Validate),
    /// Run suites against their targets, grade the answers, save and report the results.
    #[command(
        after_help = "Example: evalrig run evals -t claude --report junit=junit.xml",
        after_long_help = RUN_HELP
    )]
    Run(Box<Run>),
    /// Report a stored run again, in any format.
    #[command(after_help = "Example: evalrig report latest --report markdown=comment.md")]
    Report(ReportRun),
    /// Compare two runs: what changed, and whether it is more than chance.
    #[command(
        after_help = "Example: evalrig compare latest~1 latest --gate",
        after_long_help = COMPARE_HELP
    )]
    Compare(Compare),
    /// Show runs, comparisons and records in a browser, served on this machine only.
    #[cfg(feature = "view")]
    #[command(after_help = "Example: evalrig view", after_long_help = view::VIEW_HELP)]
    View(View),
    /// Grade a stored run again with the suite's current assertions, without calling the target.
    #[command(after_help = "Example: evalrig grade latest --suite evals/EVAL.yaml")]
    Grade(Box<Grade>),
    /// Measure how reliable judges are.
    Judge(Judge),
    /// Damage stored answers that passed, and list the checks that do not notice.
    #[command(
        after_help = "Example: evalrig mutate latest --deny-weak",
        after_long_help = MUTATE_HELP
    )]
    Mutate(Box<Mutate>),
    /// Show what causes variance in stored runs, and the effect of more trials, tests or votes.
    #[command(after_help = "Example: evalrig stats latest~1..4", after_long_help = STATS_HELP)]
    Stats(Stats),
    /// Inspect and edit the `.co/evals` store, which records every run.
    #[command(after_help = "Example: evalrig log diff say_hello_to_alice")]
    Log(Log),
    /// Explain a diagnostic, an assertion type, a provider or a format of `convert`; without a name, list
    /// all of them.
    #[command(after_help = "Example: evalrig explain duplicate-id")]
    Explain(Explain),
    /// List suites and their tests.
    #[command(after_help = "Example: evalrig list evals --format json")]
    List(List),
    /// Print a suite, or one test, as evalrig understands it: imports, old spellings, `input_files`
    /// and variables are resolved.
    #[command(after_help = "Example: evalrig show evals/EVAL.yaml#greeting")]
    Show(Show),
    /// Convert a suite of another tool, an evals.json, cases of `claude plugin eval` or `.co/evals`
    /// records to an EVAL.yaml, or an iteration of skill-creator to results.
    #[command(
        after_help = "Example: evalrig convert promptfooconfig.yaml -o EVAL.yaml",
        after_long_help = convert::help()
    )]
    Convert(Convert),
    /// Write a suite as the evals.json and eval sets of skill-creator.
    #[command(after_help = "Example: evalrig transpile evals/EVAL.yaml --out build --deny-loss")]
    Transpile(Transpile),
    /// Write results in the format of another tool.
    #[command(
        after_help = "Example: evalrig export skill-creator latest -o csv-workspace/iteration-1"
    )]
    Export(Export),
    /// Show the settings of `run` and `validate`, and where each comes from.
    #[command(
        after_help = "Example: evalrig config --profile ci",
        after_long_help = CONFIG_HELP
    )]
    Config(Config),
    /// Run cases of `run --queue` on this machine until stopped.
    #[cfg(feature = "queue")]
    #[command(
        after_help = "Example: evalrig worker --queue nats://localhost:4222 --workers 16",
        after_long_help = queue::WORKER_HELP
    )]
    Worker(Worker),
    /// List, cancel and remove the runs on a server.
    #[cfg(feature = "queue")]
    #[command(after_help = "Example: evalrig queue status --queue nats://localhost:4222")]
    Queue(Queue),
    /// Run the language server (LSP): diagnostics, fixes, completion and more for editors.
    #[cfg(feature = "lsp")]
    #[command(after_help = "Example: evalrig lsp", after_long_help = lsp::LSP_HELP)]
    Lsp(Lsp),
    /// Run the MCP server: tools for coding agents, on standard input and output.
    #[cfg(feature = "mcp")]
    #[command(after_help = "Example: evalrig mcp", after_long_help = mcp::MCP_HELP)]
    Mcp(Mcp),
    /// Print a JSON Schema for editors and other tools.
    #[command(
        after_help = "Example: evalrig schema suite --strict --draft 07 > eval.strict.schema.json"
    )]
    Schema(Schema),
    /// Print a completion script for a shell.
    #[command(after_help = "Example: evalrig completions zsh > ~/.zfunc/_evalrig")]
    Completions(Completions),
    /// Write man pages to a directory.
    #[command(after_help = "Example: evalrig man man/man1")]
    Man(Man),
}

/// Title of the options about paths and variables, which are rarely needed.
pub const LOADING: &str = "Paths and variables";

/// Options of every command that loads suites.
#[derive(Debug, Clone, Args)]
pub struct Loading {
    /// Repository root: paths with a leading `/` start there, and no path may leave it
    /// [default: the nearest directory with `.git`].
    #[arg(long, value_name = "DIR", help_heading = LOADING)]
    pub root: Option<String>,
    /// Allow paths outside the repository root.
    #[arg(long, help_heading = LOADING)]
    pub allow_outside_root: bool,
    /// Read variables from this file instead of searching for `.env` files.
    #[arg(long, value_name = "FILE", conflicts_with = "no_env_file", help_heading = LOADING)]
    pub env_file: Option<String>,
    /// Do not read `.env` files.
    #[arg(long, help_heading = LOADING)]
    pub no_env_file: bool,
}

/// The profile of `evalrig.toml`.
#[derive(Debug, Clone, Args)]
pub struct Profile {
    /// Use the settings of this profile of `evalrig.toml` [default: `$EVALRIG_PROFILE`].
    #[arg(long, value_name = "NAME", help_heading = LOADING)]
    pub profile: Option<String>,
}

/// Shown at the end of `config --help`.
const CONFIG_HELP: &str = "\
Example: evalrig config --profile ci

Precedence: the command line, `EVALRIG_<OPTION>` variables, the profile, top-level keys of
`evalrig.toml`, the built-in default.";

#[derive(Debug, Args)]
pub struct Config {
    /// Repository root, which contains `evalrig.toml` [default: the nearest directory with `.git`].
    #[arg(long, value_name = "DIR", help_heading = LOADING)]
    pub root: Option<String>,
    #[command(flatten)]
    pub profile: Profile,
    /// Output format.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: TextOrJson,
}

#[derive(Debug, Args)]
pub struct Init {
    /// The directory to write to [default: the current directory].
    pub directory: Option<String>,
    /// Agent to test [default: an installed agent if there are suites or a SKILL.md, else a mock].
    #[arg(long, value_name = "AGENT")]
    pub target: Option<InitAgent>,
    /// Write a complete example that runs offline.
    #[arg(long, value_name = "NAME", conflicts_with = "target")]
    pub example: Option<InitExample>,
    /// Write a workflow that runs the suites in CI.
    #[arg(long, value_name = "SYSTEM")]
    pub ci: Option<CiSystem>,
    /// Run the directory's suites afterwards.
    #[arg(long)]
    pub run: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum InitAgent {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// GitHub Copilot CLI.
    Copilot,
    /// opencode.
    Opencode,
    /// Pi.
    Pi,
    /// A Python program.
    Python,
    /// A model behind an OpenAI-compatible API.
    Openai,
    /// An HTTP service.
    Http,
}

impl InitAgent {
    /// What the targets file is for.
    pub fn doc(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code as the target",
            Self::Codex => "Codex as the target",
            Self::Gemini => "Gemini CLI as the target",
            Self::Copilot => "GitHub Copilot CLI as the target",
            Self::Opencode => "opencode as the target",
            Self::Pi => "Pi as the target",
            Self::Python => "a Python program as the target",
            Self::Openai => "a model as the target",
            Self::Http => "a service as the target",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum InitExample {
    /// A program stands in for a coding agent and fixes a bug in a workspace; hidden tests check it.
    CodingAgent,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CiSystem {
    /// GitHub Actions.
    Github,
}

#[derive(Debug, Args)]
pub struct Validate {
    /// Files, directories or patterns; `!PATTERN` excludes [default: the current directory].
    pub paths: Vec<String>,
    /// Apply safe fixes in place; comments and formatting are kept.
    #[arg(long)]
    pub fix: bool,
    /// With --fix: print the changes instead of writing them.
    #[arg(long, requires = "fix")]
    pub diff: bool,
    /// Treat warnings and conformance errors as blocking errors.
    #[arg(long)]
    pub strict: bool,
    /// Output format.
    #[arg(long, value_name = "FORMAT", default_value = "full", value_parser = clap::builder::PossibleValuesParser::new(crate::render::format_names()))]
    pub format: String,
    /// Check target names against this targets file [default: the nearest
    /// `.evalrig/targets.yaml`].
    #[arg(long, value_name = "FILE", help_heading = LOADING)]
    pub targets: Option<String>,
    #[command(flatten)]
    pub loading: Loading,
    #[command(flatten)]
    pub profile: Profile,
}

#[derive(Debug, Args)]
pub struct Explain {
    /// Name of a diagnostic, an assertion type, a provider, a format or a field.
    pub name: Option<String>,
    /// Output format.
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
    /// The kind of file that the schema describes.
    #[arg(default_value = "suite")]
    pub kind: SchemaKind,
    /// JSON Schema draft.
    #[arg(long, value_name = "DRAFT", default_value = Draft::D2020.word(), value_parser = word_parser::<Draft>(&[]))]
    pub draft: Draft,
    /// For editors: flag unknown keys and old spellings; for `suite` and `targets` only.
    #[arg(long)]
    pub strict: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SchemaKind {
    Suite,
    Targets,
    Results,
    EvalsJson,
}

#[derive(Debug, Args)]
pub struct List {
    /// Files, directories or patterns; `!PATTERN` excludes [default: the current directory].
    pub paths: Vec<String>,
    /// Output format.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: TextOrJson,
    #[command(flatten)]
    pub loading: Loading,
}

#[derive(Debug, Args)]
pub struct Show {
    /// A suite, or one of its tests as FILE#TEST-ID.
    pub file: String,
    /// Output format.
    #[arg(long, value_name = "FORMAT", default_value = "yaml")]
    pub format: YamlOrJson,
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
    /// The directory to write to.
    pub directory: String,
}

/// The command line with its settings applied.
#[derive(Debug)]
pub struct ParsedArguments {
    pub cli: Cli,
    /// Why the settings cannot be used; nothing may be run then.
    pub refusal: Option<ConfigRefusal>,
}

/// Parses the command line and applies the settings; prints help, the version and usage errors.
pub fn parse() -> Result<ParsedArguments, Exit> {
    parse_matches().map_err(|error| {
        print_usage(&error);
        if error.use_stderr() { Exit::CouldNotStart } else { Exit::Success }
    })
}

/// The options of `evalrig run PATH`, with the settings applied.
pub fn parse_run(path: &str) -> Result<Option<Box<Run>>, ConfigRefusal> {
    let words = ["evalrig", "run", "--", path].map(std::ffi::OsString::from).to_vec();
    match parse_words(words) {
        Ok(ParsedArguments { refusal: Some(refusal), .. }) => Err(refusal),
        Ok(ParsedArguments { cli: Cli { command: Command::Run(run), .. }, .. }) => Ok(Some(run)),
        _ => Ok(None),
    }
}

fn parse_matches() -> Result<ParsedArguments, clap::Error> {
    parse_words(earlier_run::joined(std::env::args_os()))
}

fn parse_words(words: Vec<std::ffi::OsString>) -> Result<ParsedArguments, clap::Error> {
    let matches = Cli::command().try_get_matches_from(&words)?;
    let cli = Cli::from_arg_matches(&matches)?;
    let here = std::env::current_dir().ok();
    let here = here.and_then(|here| Utf8PathBuf::from_path_buf(here).ok()).unwrap_or_default();
    let scope = scope_of(&cli, &matches, &here).filter(config::has_settings);
    let Some(scope) = scope else {
        return Ok(ParsedArguments { cli, refusal: None });
    };
    match config::load(&Cli::command(), &scope) {
        Ok(loaded) => {
            let command = config::with_defaults(Cli::command(), &loaded);
            let cli = Cli::from_arg_matches(&command.try_get_matches_from(&words)?)?;
            Ok(ParsedArguments { cli, refusal: None })
        }
        Err(refusal) => Ok(ParsedArguments { cli, refusal: Some(refusal) }),
    }
}

/// The part of the command line that settings apply to.
fn scope_of<'a>(
    cli: &'a Cli,
    matches: &'a ArgMatches,
    working_directory: &'a camino::Utf8Path,
) -> Option<ConfigScope<'a>> {
    let (loading, profile) = match &cli.command {
        Command::Run(args) => (&args.loading, &args.profile),
        Command::Validate(args) => (&args.loading, &args.profile),
        _ => return None,
    };
    let typed = matches.subcommand().map(|(_, typed)| typed);
    let (root, profile) = (loading.root.as_deref(), profile.profile.as_deref());
    Some(ConfigScope { working_directory, root, profile, typed })
}
