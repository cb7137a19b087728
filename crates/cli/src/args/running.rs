//! The options of `run` and of what goes on with a run: `grade`, `report`, `compare`.

use clap::{Args, ValueEnum};

use super::{Loading, Recording};

const WHAT: &str = "What is run";
const HOW: &str = "How it is run";
const GRADING: &str = "Grading";
pub const KEEPING: &str = "What is kept";
const REPORTING: &str = "Reports";
const COMPARING: &str = "Comparing";

/// What is run, and against what.
#[derive(Debug, Args)]
pub struct Run {
    /// Files, directories or patterns; `!PATTERN` takes away [default: the current directory].
    pub paths: Vec<String>,
    /// Run against this target, whatever the suite says; repeatable.
    #[arg(long = "target", value_name = "NAME", help_heading = WHAT)]
    pub target: Vec<String>,
    /// Only tests whose id fits; `!GLOB` excludes; repeatable.
    #[arg(long, value_name = "GLOB", help_heading = WHAT)]
    pub filter: Vec<String>,
    /// Only tests with this tag; repeatable.
    #[arg(long, value_name = "TAG", help_heading = WHAT)]
    pub tag: Vec<String>,
    /// Only what did not pass in a results file [default: the latest].
    #[arg(long, value_name = "RESULTS", num_args = 0..=1, require_equals = true, default_missing_value = LATEST, help_heading = WHAT)]
    pub failed: Option<String>,
    /// How often each test is run, whatever the suite says.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100), help_heading = WHAT)]
    pub trials: Option<u32>,
    /// Only so many tests, chosen by the seed.
    #[arg(long, value_name = "N", help_heading = WHAT)]
    pub sample: Option<usize>,
    /// Seed of every choice that is left to chance.
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = WHAT)]
    pub seed: u64,
    /// Only part I of N; the parts together are the whole.
    #[arg(long, value_name = "I/N", help_heading = WHAT)]
    pub shard: Option<String>,
    /// Go on with an interrupted run [default: the latest].
    #[arg(long, value_name = "RESULTS", num_args = 0..=1, require_equals = true, default_missing_value = LATEST, conflicts_with_all = ["output", "failed"], help_heading = WHAT)]
    pub resume: Option<String>,
    /// Call nothing; print how many calls there would be and what they may cost.
    #[arg(long, help_heading = WHAT)]
    pub dry_run: bool,
    /// The targets file [default: the nearest `.evalrig/targets.yaml`].
    #[arg(long, value_name = "FILE", help_heading = WHAT)]
    pub targets: Option<String>,
    /// Cases at once [default: cores for processes, four times that for HTTP].
    #[arg(long, value_name = "N", value_parser = at_least_one, help_heading = HOW)]
    pub workers: Option<usize>,
    /// Seconds that one attempt may take.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=3600), help_heading = HOW)]
    pub timeout: Option<u64>,
    /// Further attempts after a transport failure.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=10), help_heading = HOW)]
    pub retries: Option<u32>,
    /// Stop when so many cases could not be measured.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = HOW)]
    pub max_errors: Option<u64>,
    /// Stop when targets and judges have cost this much.
    #[arg(long, value_name = "USD", value_parser = amount, help_heading = HOW)]
    pub budget_usd: Option<f64>,
    #[command(flatten)]
    pub grading: Grading,
    #[command(flatten)]
    pub keeping: Keeping,
    #[command(flatten)]
    pub recording: Recording,
    #[command(flatten)]
    pub against: Against,
    /// Let only the comparison decide: exit with 0 when better or equivalent, with 1 when worse, with
    /// 3 when nothing is settled.
    #[arg(long, requires = "baseline", conflicts_with_all = ["failed", "allow_borderline", "pass_trials"], help_heading = COMPARING)]
    pub gate: bool,
    #[command(flatten)]
    pub reports: Reports,
    #[command(flatten)]
    pub loading: Loading,
}

/// How answers are graded.
#[derive(Debug, Clone, Args)]
pub struct Grading {
    /// The target that judges, where an assertion names none.
    #[arg(long, value_name = "NAME", help_heading = GRADING)]
    pub judge: Option<String>,
    /// Leave out what a model has to judge.
    #[arg(long, conflicts_with_all = ["judge", "judge_criteria"], help_heading = GRADING)]
    pub skip_judges: bool,
    /// Judge `criteria` too where a test has assertions.
    #[arg(long, help_heading = GRADING)]
    pub judge_criteria: bool,
    /// Score from which a case passes [default: the suite's, else 0.8].
    #[arg(long, value_name = "SCORE", value_parser = share, help_heading = GRADING)]
    pub pass: Option<f64>,
    /// Score from which a case is borderline [default: the suite's, else 0.6].
    #[arg(long, value_name = "SCORE", value_parser = share, help_heading = GRADING)]
    pub borderline: Option<f64>,
    /// Exit with 0 when tests are borderline.
    #[arg(long, help_heading = GRADING)]
    pub allow_borderline: bool,
    /// Share of a test's trials that must pass.
    #[arg(long, value_name = "SHARE", value_parser = share, default_value_t = 1.0, help_heading = GRADING)]
    pub pass_trials: f64,
}

/// Which earlier run a run is seen against.
#[derive(Debug, Clone, Args)]
pub struct Against {
    /// Compare with an earlier run: a results file, a directory with results, `latest` or `latest~N`.
    #[arg(long, value_name = "RUN", help_heading = COMPARING)]
    pub baseline: Option<String>,
    /// Differences of the rate, or of the mean score, below this do not matter.
    #[arg(long, value_name = "SHARE", value_parser = share, default_value_t = evalrig_core::compare::DEFAULT_MARGIN, requires = "baseline", help_heading = COMPARING)]
    pub margin: f64,
    /// Compare how many trials pass, or what they score.
    #[arg(long, value_name = "MEASURE", default_value = "pass", requires = "baseline", help_heading = COMPARING)]
    pub measure: MeasureName,
}

/// What is kept of a run.
#[derive(Debug, Clone, Args)]
pub struct Keeping {
    /// Where the rows go [default: `.evalrig/results` in the repository root].
    #[arg(long, value_name = "FILE", help_heading = KEEPING)]
    pub output: Option<String>,
    /// Keep the messages of every case, so that tool calls can be graded again.
    #[arg(long, help_heading = KEEPING)]
    pub messages: bool,
}

#[derive(Debug, Clone, Args)]
pub struct Reports {
    /// What to report, and where to; repeatable [default: terminal].
    #[arg(long = "report", value_name = "NAME[=PATH]", help_heading = REPORTING, long_help = report_help())]
    pub list: Vec<String>,
}

#[derive(Debug, Args)]
pub struct Grade {
    /// A results file.
    pub results: String,
    /// The suite whose assertions grade [default: where the rows say they come from].
    #[arg(long, value_name = "FILE")]
    pub suite: Option<String>,
    /// The targets file, for judges [default: the nearest `.evalrig/targets.yaml`].
    #[arg(long, value_name = "FILE")]
    pub targets: Option<String>,
    /// Cases at once.
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub workers: Option<usize>,
    #[command(flatten)]
    pub grading: Grading,
    #[command(flatten)]
    pub keeping: Keeping,
    #[command(flatten)]
    pub reports: Reports,
    #[command(flatten)]
    pub loading: Loading,
}

#[derive(Debug, Args)]
pub struct ReportRun {
    /// A results file.
    pub results: String,
    /// Exit with 0 when tests are borderline.
    #[arg(long)]
    pub allow_borderline: bool,
    /// Share of a test's trials that must pass.
    #[arg(long, value_name = "SHARE", value_parser = share, default_value_t = 1.0)]
    pub pass_trials: f64,
    #[command(flatten)]
    pub against: Against,
    /// Let only the comparison decide: exit with 0 when better or equivalent, with 1 when worse, with
    /// 3 when nothing is settled.
    #[arg(long, requires = "baseline", conflicts_with_all = ["allow_borderline", "pass_trials"], help_heading = COMPARING)]
    pub gate: bool,
    #[command(flatten)]
    pub reports: Reports,
    /// Repository root: where the paths of the rows start [default: the nearest directory with
    /// `.git`].
    #[arg(long, value_name = "DIR")]
    pub root: Option<String>,
}

#[derive(Debug, Args)]
pub struct Compare {
    /// The run before: a results file, a directory with results, `latest` or `latest~N`.
    #[arg(required_unless_present = "selftest")]
    pub base: Option<String>,
    /// The run after.
    #[arg(required_unless_present = "selftest")]
    pub candidate: Option<String>,
    /// How to print it.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: ComparisonFormat,
    /// Differences of the rate, or of the mean score, below this do not matter.
    #[arg(long, value_name = "SHARE", value_parser = share, default_value_t = evalrig_core::compare::DEFAULT_MARGIN)]
    pub margin: f64,
    /// Compare how many trials pass, or what they score.
    #[arg(long, value_name = "MEASURE", default_value = "pass")]
    pub measure: MeasureName,
    /// Let only the verdict decide: exit with 1 when worse, with 3 when nothing is settled.
    #[arg(long)]
    pub gate: bool,
    /// Seed of what is left to chance [default: made from the runs].
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Try the gate on the trials of one run: how often it raises a false alarm, and how small a
    /// drop it would catch.
    #[arg(long, value_name = "RESULTS", conflicts_with_all = ["base", "candidate", "gate"])]
    pub selftest: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ComparisonFormat {
    Text,
    Json,
    Markdown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MeasureName {
    Pass,
    Score,
}

/// Shown at the end of `run --help`.
pub(super) const RUN_HELP: &str = "\
Example: evalrig run evals --target claude --report junit=junit.xml
Example: evalrig run evals --trials 5 --baseline main.jsonl --gate

Exit codes:
  0  every test passed; with --gate: better than the baseline or equivalent to it, whatever fails
  1  a test failed or was borderline; with --gate: worse than the baseline
  2  could not start: usage, a fault in a suite, no targets file, no judge, no baseline
  3  something could not be measured; with --gate also: nothing is settled
  4  nothing was selected, or no test could be graded; with --gate: no test in common
  130, 143  interrupted by a signal; what was finished is kept";

/// Shown at the end of `compare --help`.
pub(super) const COMPARE_HELP: &str = "\
Example: evalrig compare latest~1 latest --gate

Exit codes:
  0  with --gate: better or equivalent; without: no test regressed, and the whole is not worse
  1  with --gate: worse; without: a test regressed, or the whole is worse
  2  could not start: usage, a file that is missing or no results
  3  with --gate: nothing is settled; with and without: a test could not be measured
  4  no test was measured in both runs";

/// Stands for the newest results file.
pub const LATEST: &str = evalrig_run::session::LATEST;

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("a number of at least 1 is wanted".to_owned()),
        Ok(number) => Ok(number),
    }
}

fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value <= 1.0 => Ok(value),
        _ => Err("a number above 0 and up to 1 is wanted".to_owned()),
    }
}

fn amount(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value.is_finite() => Ok(value),
        _ => Err("a number above 0 is wanted".to_owned()),
    }
}

fn report_help() -> String {
    let mut text = "What to report, and where to; repeatable [default: terminal]\n".to_owned();
    for report in evalrig_run::report::REPORTS {
        text += &format!("\n  {:<9} {}", report.name, report.doc);
    }
    text
}
