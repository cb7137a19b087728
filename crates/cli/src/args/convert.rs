//! The options of `convert`.

use clap::Args;
use clap::builder::PossibleValuesParser;
use evalrig_core::import::{FORMATS, PRESETS};

use super::Loading;

/// The word of `--from` for evals.json, eval sets and trigger lists.
pub const EVALS_JSON: &str = "evals-json";

/// The word of `--from` for records of the run log.
pub const CO_EVALS: &str = "co-evals";

#[derive(Debug, Args)]
pub struct Convert {
    /// A file of another tool, an evals.json, a directory of cases, a `.co/evals` record or the whole
    /// store, or a workspace, an iteration or a benchmark.json of skill-creator.
    pub file: String,
    /// Further exports of the same eval from the OpenAI Evals API: its runs, their output items, or a
    /// file of items.
    #[arg(value_name = "FILE")]
    pub more: Vec<String>,
    /// The format of the file [default: detected from its keys].
    #[arg(long, value_name = "FORMAT", value_parser = PossibleValuesParser::new(format_names()))]
    pub from: Option<String>,
    /// Map record keys to test fields, such as `input=question,tags=labels`, or name a preset.
    #[arg(long, value_name = "FIELD=KEY,…", value_delimiter = ',')]
    pub map: Vec<String>,
    /// The file to write; `-` is standard output. For several iterations, a directory.
    #[arg(short, long, value_name = "FILE", conflicts_with = "stdout")]
    pub output: Option<String>,
    /// Print the suite, with paths relative to the current directory.
    #[arg(long)]
    pub stdout: bool,
    /// Overwrite an existing file.
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

fn format_names() -> Vec<&'static str> {
    let names = FORMATS.iter().map(|format| format.name);
    names.chain([EVALS_JSON, CO_EVALS]).collect()
}

/// Shown at the end of `convert --help`.
pub(super) fn help() -> String {
    let mut text = "Formats (`evalrig explain FORMAT` lists the conversions):\n".to_owned();
    for format in FORMATS {
        text.push_str(&format!("  {:<13} {}\n", format.name, format.title));
    }
    text.push_str(&format!(
        "  {EVALS_JSON:<13} evals.json, eval sets and trigger lists of skill-creator\n"
    ));
    text.push_str(&format!("  {CO_EVALS:<13} records of the run log\n\nPresets of --map:\n"));
    for (name, pairs) in PRESETS {
        text.push_str(&format!("  {name:<13} {pairs}\n"));
    }
    text.push_str(
        "\nExamples:\n  \
         evalrig convert promptfooconfig.yaml -o EVAL.yaml\n  \
         evalrig convert cases.csv --from list --map input=question,expected_output=answer -o EVAL.yaml",
    );
    text
}
