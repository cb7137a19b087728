//! The options of `transpile`.

use clap::Args;
use evalrig_core::export::{Audience, Format, Layout, NoSkill};

use super::{Loading, word_parser};

/// The name of the default audience in early versions, still accepted.
const OLD_AUDIENCES: &[(&str, &str)] = &[("issue-598", Audience::AgentEvals.word())];

#[derive(Debug, Args)]
pub struct Transpile {
    /// The suite.
    pub file: String,
    /// The directory to write to [default: the suite's directory].
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<String>,
    /// Print instead of writing; there must be exactly one file.
    #[arg(long, conflicts_with_all = ["out", "force", "check"])]
    pub stdout: bool,
    /// Write nothing; exit with 1 if a file differs from what would be written.
    #[arg(long)]
    pub check: bool,
    /// Overwrite files that evalrig did not write.
    #[arg(long, conflicts_with = "check")]
    pub force: bool,
    /// Write nothing and exit with 1 if anything would be lost.
    #[arg(long)]
    pub deny_loss: bool,
    /// Write the list of losses to this file, as JSON.
    #[arg(long, value_name = "FILE", conflicts_with = "check")]
    pub loss_report: Option<String>,
    /// Which files to write.
    #[arg(long, value_name = "FORMAT", default_value = Format::Both.word(), value_parser = word_parser::<Format>(&[]))]
    pub format: Format,
    /// The tool that reads the files; for skill-creator the assertions are called `expectations`.
    #[arg(long = "for", value_name = "TOOL", default_value = Audience::AgentEvals.word(), value_parser = word_parser::<Audience>(OLD_AUDIENCES))]
    pub audience: Audience,
    /// Write all files side by side, or into one directory per skill.
    #[arg(long, value_name = "LAYOUT", default_value = Layout::Flat.word(), value_parser = word_parser::<Layout>(&[]))]
    pub layout: Layout,
    /// Where tests without a trigger go: to the skill with the most tests, or to a separate file.
    #[arg(long, value_name = "WHERE", default_value = NoSkill::Dominant.word(), value_parser = word_parser::<NoSkill>(&[]))]
    pub no_skill: NoSkill,
    /// Leave `criteria` out of the assertions.
    #[arg(long)]
    pub no_criteria: bool,
    /// Write the contents of prompt files instead of their paths.
    #[arg(long)]
    pub inline_prompts: bool,
    #[command(flatten)]
    pub loading: Loading,
}
