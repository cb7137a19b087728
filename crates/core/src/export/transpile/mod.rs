//! A suite as the `evals.json` and eval sets of skill-creator (`FORMAT.md` 12). Pure: the files are
//! built in memory, and whoever asked writes them. Nothing is built from a suite that has a fault
//! which stops the work.

mod entry;
pub(super) mod eval_set;
mod evals_json;
pub(super) mod ids;
mod json_text;
mod loss;
pub(super) mod prompt;
pub(super) mod sentence;
pub(super) mod skills;
pub(super) mod trigger;

use std::collections::HashSet;

use camino::Utf8Path;

use crate::access::Secrets;
use crate::diagnostic::Diagnostic;
use crate::model::{Suite, Test};
use crate::source::{Sources, Span};

use super::Context;

pub use loss::Loss;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Evals,
    EvalSet,
    Both,
}

/// Who reads the files: it decides what the list of sentences is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    Issue598,
    AgentSkills,
    SkillCreator,
}

impl Audience {
    fn list_key(self) -> &'static str {
        match self {
            Self::Issue598 | Self::AgentSkills => "assertions",
            Self::SkillCreator => "expectations",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    Flat,
    SkillDirs,
}

/// Where tests without a trigger go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoSkill {
    Dominant,
    Separate,
}

/// Whether criteria go out as the first sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Criteria {
    Kept,
    Omitted,
}

/// What goes out for a prompt that is a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prompts {
    AsWritten,
    Inlined,
}

#[derive(Debug, Clone, Copy)]
pub struct TranspileOptions<'a> {
    /// Where the suite's own file lies, absolute.
    pub directory: &'a Utf8Path,
    /// Values that must not leave the program.
    pub secrets: &'a Secrets,
    pub format: Format,
    pub audience: Audience,
    pub layout: Layout,
    pub no_skill: NoSkill,
    pub criteria: Criteria,
    pub prompts: Prompts,
}

impl<'a> TranspileOptions<'a> {
    /// Every default of the command line.
    pub fn new(directory: &'a Utf8Path, secrets: &'a Secrets) -> Self {
        Self {
            directory,
            secrets,
            format: Format::Both,
            audience: Audience::Issue598,
            layout: Layout::Flat,
            no_skill: NoSkill::Dominant,
            criteria: Criteria::Kept,
            prompts: Prompts::AsWritten,
        }
    }
}

/// A file to be written. The name has `/` between directories and never leads out of the one it
/// is written into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutFile {
    pub name: String,
    pub text: String,
}

#[derive(Debug, Clone, Default)]
pub struct Transpiled {
    /// Empty when a diagnostic stops the work.
    pub files: Vec<OutFile>,
    pub losses: Vec<Loss>,
    pub diagnostics: Vec<Diagnostic>,
}

impl Transpiled {
    pub fn is_stopped(&self) -> bool {
        let mut levels = self.diagnostics.iter().map(|one| one.level);
        levels.any(|level| level.blocks_transpile())
    }
}

pub fn transpile(
    suite: &Suite,
    context: &Context<'_>,
    options: &TranspileOptions<'_>,
) -> Transpiled {
    let mut job = Job {
        suite,
        context,
        options,
        done: Transpiled::default(),
        told: HashSet::new(),
    };
    let ids = ids::assign(&mut job);
    let wanted = trigger::find(&mut job);
    let groups = skills::group(&mut job, &wanted);
    let entries = entry::build(&mut job, &ids);
    if !job.done.is_stopped() {
        for group in &groups {
            if options.format != Format::EvalSet {
                let file = evals_json::file(group, &entries, options.audience);
                job.done.files.push(file);
            }
            if options.format != Format::Evals {
                let file = eval_set::file(&mut job, group, &entries);
                job.done.files.extend(file);
            }
        }
    }
    job.done
}

/// One suite on its way.
struct Job<'a> {
    suite: &'a Suite,
    context: &'a Context<'a>,
    options: &'a TranspileOptions<'a>,
    done: Transpiled,
    /// Places of shared assertions whose fault has been reported.
    told: HashSet<Span>,
}

impl Job<'_> {
    fn report(&mut self, diagnostic: Diagnostic) {
        self.done.diagnostics.push(diagnostic);
    }

    fn head(&self, test: &Test) -> Span {
        first_line(self.context.sources, test.span)
    }

    fn redacted(&self, text: String) -> String {
        match self.options.secrets.is_empty() {
            true => text,
            false => self.options.secrets.redact(&text),
        }
    }
}

/// Where a test as a whole is at fault, the line it begins on is marked, not all of it.
fn first_line(sources: &Sources, span: Span) -> Span {
    let text = sources.text_of(span);
    let length = text.find(['\n', '\r']).unwrap_or(text.len());
    let length = u32::try_from(length).unwrap_or(0);
    Span::new(span.source, span.start, span.start + length)
}
