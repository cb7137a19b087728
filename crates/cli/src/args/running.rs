//! The options of `run`, and of `report`, `compare` and `grade`, which work on its results.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use evalrig_core::compare::MOST_ROUNDS;
use evalrig_core::model::{KeepRule, MOST_TRIALS};
use evalrig_run::setting::SandboxName;

use super::{LOADING, Loading, Profile, RunLogOptions};

const SELECTION: &str = "Selection";
const LIMITS: &str = "Limits";
const GRADING: &str = "Grading";
pub const RESULTS: &str = "Results";
const COMPARISON: &str = "Comparison";

#[derive(Debug, Args)]
pub struct Run {
    /// Files, directories or patterns; `!PATTERN` excludes [default: the current directory].
    pub paths: Vec<String>,
    /// Run against this target instead of the suite's; repeatable.
    #[arg(short, long = "target", value_name = "NAME")]
    pub target: Vec<String>,
    /// Run this arm of the suites, such as `with` or `without` their skills; repeatable.
    #[arg(long, value_name = "NAME")]
    pub arm: Vec<String>,
    /// Compare the other arms with this one [default: `without`, else the first].
    #[arg(long, value_name = "NAME")]
    pub baseline_arm: Option<String>,
    /// Reuse rows of unchanged arms from this run: a results file, a directory, `latest` or
    /// `latest~N`.
    #[arg(long, value_name = "RESULTS")]
    pub reuse_arm: Option<String>,
    /// Confine the processes of every target: none, home, bwrap, podman or docker.
    #[arg(long, value_name = "KIND", value_parser = sandbox_name())]
    pub sandbox: Option<SandboxName>,
    /// Keep the workspaces of cases: never, failed (and errored) or always [default: `keep` of the
    /// workspace, else failed].
    #[arg(long, value_name = "WHEN", value_parser = keep_rule())]
    pub keep_workspaces: Option<KeepRule>,
    /// Run tests whose id matches; `!GLOB` excludes; repeatable.
    #[arg(short, long, value_name = "GLOB")]
    pub filter: Vec<String>,
    /// Run tests with this tag; repeatable.
    #[arg(long, value_name = "TAG")]
    pub tag: Vec<String>,
    /// Run each test N times, instead of as often as the suite says.
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=MOST_TRIALS as i64))]
    pub trials: Option<u32>,
    /// Run in rounds of one trial per test, at most R (2 to 20), and stop as soon as --gate or the arms
    /// have a verdict [default: the number of trials].
    #[arg(long, value_name = "R", num_args = 0..=1, require_equals = true, default_missing_value = "", value_parser = rounds, conflicts_with_all = ["shard", "failed", "watch", "fail_fast"], help_heading = COMPARISON)]
    pub rounds: Option<u32>,
    /// With --rounds: also stop when a verdict is unlikely.
    #[arg(long, requires = "rounds", help_heading = COMPARISON)]
    pub futility: bool,
    /// Run N cases at once [default: one per core; four per core for HTTP targets].
    #[arg(short = 'j', long, value_name = "N", value_parser = at_least_one)]
    pub workers: Option<usize>,
    /// Run only the tests that did not pass in an earlier run, with its suites and options [default:
    /// the latest].
    #[arg(long, value_name = "RESULTS", num_args = 0..=1, require_equals = true, default_missing_value = LATEST)]
    pub failed: Option<String>,
    /// Continue an interrupted run, with its suites and options [default: the latest].
    #[arg(long, value_name = "RESULTS", num_args = 0..=1, require_equals = true, default_missing_value = LATEST, conflicts_with_all = ["output", "failed"])]
    pub resume: Option<String>,
    /// Print the number of calls and their estimated cost without making them.
    #[arg(long)]
    pub dry_run: bool,
    /// Rerun affected tests when files change, until Ctrl-C.
    #[arg(long, conflicts_with_all = ["dry_run", "failed", "resume", "output", "shard", "gate"])]
    pub watch: bool,
    /// Reuse answers of earlier runs if nothing they depend on has changed, and save new ones; `gate`
    /// also with --gate.
    #[arg(long, value_name = "WHEN", num_args = 0..=1, require_equals = true, default_missing_value = "on")]
    pub cache: Option<CacheOption>,
    /// Show the run live in a browser; on a terminal, the page is served until Ctrl-C.
    #[cfg(feature = "view")]
    #[arg(long, conflicts_with_all = ["dry_run", "watch"])]
    pub view: bool,
    /// With --view: do not open a browser.
    #[cfg(feature = "view")]
    #[arg(long, requires = "view")]
    pub no_open: bool,
    #[command(flatten)]
    pub reports: Reports,
    #[command(flatten)]
    pub keeping: Keeping,
    #[command(flatten)]
    pub recording: RunLogOptions,
    /// Run a random sample of N tests; see --seed.
    #[arg(long, value_name = "N", help_heading = SELECTION)]
    pub sample: Option<usize>,
    /// Run shard I of N; together the shards run every test once.
    #[arg(long, value_name = "I/N", help_heading = SELECTION)]
    pub shard: Option<String>,
    /// Random seed.
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = SELECTION)]
    pub seed: u64,
    /// Timeout of one attempt.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=3600), help_heading = LIMITS)]
    pub timeout: Option<u64>,
    /// Retries after a transport failure.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=10), help_heading = LIMITS)]
    pub retries: Option<u32>,
    /// Stop when N cases could not be measured.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = LIMITS)]
    pub max_errors: Option<u64>,
    /// Start no new case after the first failure, or after N; --resume runs the rest.
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "1", value_parser = clap::value_parser!(u64).range(1..), conflicts_with = "gate", help_heading = LIMITS)]
    pub fail_fast: Option<u64>,
    /// Stop when targets and judges have cost this much.
    #[arg(long, value_name = "USD", value_parser = amount, help_heading = LIMITS)]
    pub budget_usd: Option<f64>,
    #[cfg(feature = "queue")]
    #[command(flatten)]
    pub queueing: super::Queueing,
    #[command(flatten)]
    pub grading: Grading,
    #[command(flatten)]
    pub against: Against,
    /// Base the exit code on the comparison alone: 0 if equivalent, better or not worse, 1 if worse,
    /// 3 if inconclusive.
    #[arg(long, conflicts_with_all = ["failed", "allow_borderline", "pass_trials"], help_heading = COMPARISON)]
    pub gate: bool,
    /// The targets file [default: the nearest `.evalrig/targets.yaml`].
    #[arg(long, value_name = "FILE", help_heading = LOADING)]
    pub targets: Option<String>,
    #[command(flatten)]
    pub loading: Loading,
    #[command(flatten)]
    pub profile: Profile,
}

/// How answers are graded.
#[derive(Debug, Clone, Args)]
pub struct Grading {
    /// Judge target, unless an assertion names another.
    #[arg(long, value_name = "NAME", help_heading = GRADING)]
    pub judge: Option<String>,
    /// Skip assertions that need a model as a judge.
    #[arg(long, conflicts_with_all = ["judge", "judge_criteria"], help_heading = GRADING)]
    pub skip_judges: bool,
    /// Judge `criteria` even if a test has assertions.
    #[arg(long, help_heading = GRADING)]
    pub judge_criteria: bool,
    /// Lowest score that passes [default: the suite's, else 0.8].
    #[arg(long, value_name = "SCORE", value_parser = share, help_heading = GRADING)]
    pub pass: Option<f64>,
    /// Lowest score that is borderline [default: the suite's, else 0.6].
    #[arg(long, value_name = "SCORE", value_parser = share, help_heading = GRADING)]
    pub borderline: Option<f64>,
    /// Exit with 0 even if tests are borderline.
    #[arg(long, help_heading = GRADING)]
    pub allow_borderline: bool,
    /// Share of a test's trials that must pass.
    #[arg(long, value_name = "SHARE", value_parser = share, default_value_t = 1.0, help_heading = GRADING)]
    pub pass_trials: f64,
}

/// The baseline of a run.
#[derive(Debug, Clone, Args)]
pub struct Against {
    /// Compare with earlier runs: a results file, a pattern, a directory with results, `latest`,
    /// `latest~N` or `latest~A..B`; repeatable.
    #[arg(long, value_name = "RUN", help_heading = COMPARISON)]
    pub baseline: Vec<String>,
    /// Number of complete runs that `--baseline latest` selects [default: 4].
    #[arg(long, value_name = "K", value_parser = at_least_one, requires = "baseline", help_heading = COMPARISON)]
    pub baseline_runs: Option<usize>,
    /// Ignore differences in pass rate, or mean score, that are smaller than this.
    #[arg(long, value_name = "SHARE", value_parser = share, default_value_t = evalrig_core::compare::DEFAULT_MARGIN, help_heading = COMPARISON)]
    pub margin: f64,
    /// Compare pass rates or mean scores.
    #[arg(long, value_name = "MEASURE", default_value = "pass", help_heading = COMPARISON)]
    pub measure: MeasureOption,
}

/// Which results are saved, and where.
#[derive(Debug, Clone, Args)]
pub struct Keeping {
    /// The results file to write [default: a new one in `.evalrig/results` of the repository root].
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<String>,
    /// Overwrite the results of another run in the --output file.
    #[arg(long, requires = "output", help_heading = RESULTS)]
    pub force: bool,
    /// Leave the agent's messages out of the results; `grade` then cannot check tool calls.
    #[arg(long, help_heading = RESULTS)]
    pub no_messages: bool,
    /// Messages are saved by default.
    #[arg(long, hide = true, conflicts_with = "no_messages")]
    pub messages: bool,
}

#[derive(Debug, Clone, Args)]
pub struct Reports {
    /// Report format, and the file to write it to; repeatable [default: terminal].
    #[arg(long = "report", value_name = "NAME[=PATH]", long_help = report_help())]
    pub list: Vec<String>,
}

#[derive(Debug, Args)]
pub struct Grade {
    /// The run: a results file, a pattern, a directory with results, `latest` or `latest~N`.
    #[arg(default_value = LATEST)]
    pub results: String,
    /// The suite with the assertions [default: the suites named in the results].
    #[arg(long, value_name = "FILE")]
    pub suite: Option<String>,
    /// Grade N cases at once.
    #[arg(short = 'j', long, value_name = "N", value_parser = at_least_one)]
    pub workers: Option<usize>,
    #[command(flatten)]
    pub reports: Reports,
    #[command(flatten)]
    pub keeping: Keeping,
    #[command(flatten)]
    pub grading: Grading,
    /// The targets file, for judges [default: the nearest `.evalrig/targets.yaml`].
    #[arg(long, value_name = "FILE", help_heading = LOADING)]
    pub targets: Option<String>,
    #[command(flatten)]
    pub loading: Loading,
}

#[derive(Debug, Args)]
pub struct ReportRun {
    /// A run, or results files that belong together, such as those of shards: files, patterns,
    /// directories with results, `latest` or `latest~N`.
    #[arg(default_value = LATEST, value_name = "RESULTS")]
    pub results: Vec<String>,
    #[command(flatten)]
    pub reports: Reports,
    /// Exit with 0 even if tests are borderline.
    #[arg(long)]
    pub allow_borderline: bool,
    /// Share of a test's trials that must pass.
    #[arg(long, value_name = "SHARE", value_parser = share, default_value_t = 1.0)]
    pub pass_trials: f64,
    /// Compare the other arms with this one [default: the baseline arm of the run].
    #[arg(long, value_name = "ARM", help_heading = COMPARISON)]
    pub baseline_arm: Option<String>,
    #[command(flatten)]
    pub against: Against,
    /// Base the exit code on the comparison alone: 0 if equivalent, better or not worse, 1 if worse,
    /// 3 if inconclusive.
    #[arg(long, requires = "baseline", conflicts_with_all = ["allow_borderline", "pass_trials"], help_heading = COMPARISON)]
    pub gate: bool,
    /// Repository root: paths in the results start there [default: the nearest directory with
    /// `.git`].
    #[arg(long, value_name = "DIR", help_heading = LOADING)]
    pub root: Option<String>,
}

#[derive(Debug, Args)]
pub struct Compare {
    /// The earlier runs and then the later one: each a results file, a pattern such as
    /// 'main-*.jsonl', a directory with results, `latest`, `latest~N` or `latest~A..B`. Files of one
    /// run, such as those of its shards, count as one.
    #[arg(value_name = "RUN", required_unless_present_any = ["selftest", "base_files"])]
    pub runs: Vec<String>,
    /// An earlier run; repeatable. RUN is then the candidate.
    #[arg(long, value_name = "RUN", conflicts_with_all = ["base_files"])]
    pub baseline: Vec<String>,
    /// Number of runs that `latest` selects as a baseline [default: 4].
    #[arg(long, value_name = "K", value_parser = at_least_one)]
    pub baseline_runs: Option<usize>,
    /// Files of the earlier runs, such as those of shards, instead of RUN.
    #[arg(long = "base", value_name = "RESULTS", num_args = 1.., requires = "candidate_files", conflicts_with = "runs")]
    pub base_files: Vec<String>,
    /// Files of the later run, instead of RUN.
    #[arg(long = "candidate", value_name = "RESULTS", num_args = 1.., requires = "base_files", conflicts_with = "runs")]
    pub candidate_files: Vec<String>,
    /// Compare only this arm; repeatable [default: all but the baseline arms].
    #[arg(long = "arm", value_name = "NAME")]
    pub arms: Vec<String>,
    /// Base the exit code on the verdict alone: 0 if equivalent, better or not worse, 1 if worse, 3
    /// if inconclusive. Of the newest runs, those that their own gate did not pass are no base.
    #[arg(long)]
    pub gate: bool,
    /// Ignore differences in pass rate, or mean score, that are smaller than this.
    #[arg(long, value_name = "SHARE", value_parser = share, default_value_t = evalrig_core::compare::DEFAULT_MARGIN)]
    pub margin: f64,
    /// Compare pass rates or mean scores.
    #[arg(long, value_name = "MEASURE", default_value = "pass")]
    pub measure: MeasureOption,
    /// Output format.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: ComparisonFormat,
    /// Test the gate on stored runs: its false-alarm rate, and the smallest drop that it would catch.
    /// Several runs are compared with each other; one run is split into halves.
    #[arg(long, value_name = "RESULTS", num_args = 1.., conflicts_with_all = ["runs", "baseline", "base_files", "candidate_files", "arms", "gate"])]
    pub selftest: Vec<String>,
    /// Random seed [default: derived from the runs].
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ComparisonFormat {
    Text,
    Json,
    Markdown,
}

/// When answers of earlier runs are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CacheOption {
    Off,
    On,
    Gate,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MeasureOption {
    Pass,
    Score,
}

/// Shown at the end of `run --help`.
pub(super) const RUN_HELP: &str = "\
Example: evalrig run evals -t claude --report junit=junit.xml
Example: evalrig run evals -n 5 --baseline main.jsonl --gate
Example: evalrig run evals --rounds=4 --baseline latest --gate

Exit codes:
  0  every test passed; with --gate: equivalent to the baseline, better or not worse
  1  a test failed or was borderline; with --gate: worse than the baseline
  2  could not start: wrong usage, an error in a suite, no targets file, no judge, no baseline
  3  a case could not be measured, or stored results lack rows; with --gate also: inconclusive
  4  no test was selected or could be graded; with --gate: no test in common with the baseline
  129, 130, 131, 143  stopped by a signal; finished cases are saved";

/// Shown at the end of `compare --help`.
pub(super) const COMPARE_HELP: &str = "\
Example: evalrig compare latest~1 latest --gate
Example: evalrig compare latest~1..4 latest --gate
Example: evalrig compare --base main-*.jsonl --candidate branch-*.jsonl

Exit codes:
  0  no test regressed, and the verdict is not `worse`; with --gate: equivalent, better or not worse
  1  a test regressed, or the verdict is `worse`; with --gate: worse
  2  could not start: wrong usage, a missing file, or a file that is not a results file
  3  a test could not be measured, or a run lacks rows; with --gate also: inconclusive
  4  no test was measured in both runs";

/// Names the newest results file.
pub const LATEST: &str = evalrig_run::session::LATEST;

pub(super) fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("expected a whole number of at least 1".to_owned()),
        Ok(number) => Ok(number),
    }
}

pub(super) fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value <= 1.0 => Ok(value),
        _ => Err("expected a number above 0 and at most 1".to_owned()),
    }
}

pub(super) fn amount(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value.is_finite() => Ok(value),
        _ => Err("expected a number above 0".to_owned()),
    }
}

fn report_help() -> String {
    let mut text =
        "Report format, and the file to write it to; repeatable [default: terminal]\n".to_owned();
    for report in evalrig_run::report::REPORTS {
        text += &format!("\n  {:<9} {}", report.name, report.doc);
    }
    text
}

/// Without a number 0: as many as there are trials.
fn rounds(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(number) if (2..=MOST_ROUNDS).contains(&number) => Ok(number),
        _ if text.is_empty() => Ok(0),
        _ => Err(format!("expected a whole number from 2 to {MOST_ROUNDS}")),
    }
}

fn keep_rule() -> impl TypedValueParser<Value = KeepRule> {
    PossibleValuesParser::new(KeepRule::WORDS)
        .map(|word| KeepRule::parse(&word).expect("clap accepts these words only"))
}

fn sandbox_name() -> impl TypedValueParser<Value = SandboxName> {
    PossibleValuesParser::new(SandboxName::WORDS)
        .map(|word| SandboxName::parse(&word).expect("clap accepts these words only"))
}
