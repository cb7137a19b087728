//! The options of `transpile`.

use clap::{Args, ValueEnum};

use super::Loading;

#[derive(Debug, Args)]
pub struct Transpile {
    /// A suite.
    pub file: String,
    /// Where to write [default: the suite's directory].
    #[arg(long, value_name = "DIR")]
    pub out: Option<String>,
    /// Print instead of writing; only when there is exactly one file.
    #[arg(long, conflicts_with_all = ["out", "force", "check"])]
    pub stdout: bool,
    /// Which files to make.
    #[arg(long, value_name = "FORMAT", default_value = "both")]
    pub format: EvalsFormat,
    /// Who will read them; skill-creator calls the assertions `expectations`.
    #[arg(long = "for", value_name = "READER", default_value = "issue-598")]
    pub audience: AudienceName,
    /// Files side by side, or one directory per skill.
    #[arg(long, value_name = "LAYOUT", default_value = "flat")]
    pub layout: LayoutName,
    /// Where tests without a trigger go: to the skill with most tests, or to a file of their own.
    #[arg(long, value_name = "PLACE", default_value = "dominant")]
    pub no_skill: NoSkillName,
    /// Leave `criteria` out of the assertions.
    #[arg(long)]
    pub no_criteria: bool,
    /// Write the text of prompt files in place of their paths.
    #[arg(long)]
    pub inline_prompts: bool,
    /// Write nothing, and exit with 1, when something would be lost.
    #[arg(long)]
    pub deny_loss: bool,
    /// Write what is lost to this file, as JSON.
    #[arg(long, value_name = "FILE", conflicts_with = "check")]
    pub loss_report: Option<String>,
    /// Replace files that evalrig did not write.
    #[arg(long, conflicts_with = "check")]
    pub force: bool,
    /// Write nothing; exit with 1 when a file differs from what would be written.
    #[arg(long)]
    pub check: bool,
    #[command(flatten)]
    pub loading: Loading,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum EvalsFormat {
    Evals,
    EvalSet,
    Both,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AudienceName {
    #[value(name = "issue-598")]
    Issue598,
    #[value(name = "agentskills")]
    AgentSkills,
    SkillCreator,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LayoutName {
    Flat,
    SkillDirs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum NoSkillName {
    Dominant,
    Separate,
}
