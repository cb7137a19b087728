//! Transpiles a suite to `evals.json` and the eval sets of skill-creator (spec 12). Pure: files are
//! built in memory, and the caller writes them. A suite with a blocking diagnostic gives no files.
//! Tests are added one by one, and only their written texts are kept.

mod entry;
pub(super) mod eval_set;
mod evals_json;
pub(super) mod ids;
mod loss;
mod prompt;
pub(super) mod sentence;
pub(super) mod skills;

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use camino::Utf8Path;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::model::{Loss, Map, Suite, Test};
use crate::secrets::Secrets;
use crate::source::{Sources, Span};
use crate::transpile_rules::triggers_of;
use crate::words;

use entry::Entries;
use ids::EntryNumbers;
use skills::{SkillFiles, SkillIndex};

words! {
    /// Which files are written.
    pub enum Format {
        Evals = "evals",
        EvalSet = "eval-set",
        Both = "both",
    }
}

words! {
    /// The tool that reads the files: it determines the key of the list of sentences.
    pub enum Audience {
        AgentEvals = "agentevals",
        AgentSkills = "agentskills",
        SkillCreator = "skill-creator",
    }
}

impl Audience {
    fn list_key(self) -> &'static str {
        match self {
            Self::AgentEvals | Self::AgentSkills => "assertions",
            Self::SkillCreator => "expectations",
        }
    }
}

words! {
    /// Whether all files are written side by side or in one directory per skill.
    pub enum Layout {
        Flat = "flat",
        SkillDirs = "skill-dirs",
    }
}

words! {
    /// Where tests without a trigger go.
    pub enum NoSkill {
        Dominant = "dominant",
        Separate = "separate",
    }
}

/// Whether criteria are written as the first sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CriteriaMode {
    Kept,
    Omitted,
}

/// What is written for a prompt that is a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptMode {
    AsWritten,
    Inlined,
}

#[derive(Debug, Clone, Copy)]
pub struct TranspileOptions<'a> {
    /// The directory of the suite file, absolute.
    pub directory: &'a Utf8Path,
    /// The repository root, absolute.
    pub root: &'a Utf8Path,
    /// The directory of the skill that the suite lies in, absolute; paths in the written files start
    /// there. `None` leaves them as written.
    pub skill_root: Option<&'a Utf8Path>,
    pub format: Format,
    pub audience: Audience,
    pub layout: Layout,
    pub no_skill: NoSkill,
    pub criteria: CriteriaMode,
    pub prompts: PromptMode,
}

impl<'a> TranspileOptions<'a> {
    /// The defaults of the command line.
    pub fn new(directory: &'a Utf8Path, root: &'a Utf8Path) -> Self {
        Self {
            directory,
            root,
            skill_root: None,
            format: Format::Both,
            audience: Audience::AgentEvals,
            layout: Layout::Flat,
            no_skill: NoSkill::Dominant,
            criteria: CriteriaMode::Kept,
            prompts: PromptMode::AsWritten,
        }
    }
}

/// A file to be written. The name has `/` between directories and never leaves the output
/// directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutFile {
    pub name: String,
    pub text: String,
}

#[derive(Debug, Clone, Default)]
pub struct Transpiled {
    /// Empty if a diagnostic blocks transpiling.
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

/// What is known about a suite once all its tests have been added.
#[derive(Debug, Clone, Copy)]
pub struct Ending<'a> {
    /// The suite's own.
    pub metadata: &'a Map,
    pub sources: &'a Sources,
    /// Values to redact. A test may contain a secret that a later test introduces, so they are
    /// complete only now.
    pub secrets: &'a Secrets,
}

/// Transpiles a loaded suite.
pub fn transpile(
    suite: &Suite,
    sources: &Sources,
    secrets: &Secrets,
    options: &TranspileOptions<'_>,
) -> Transpiled {
    let mut transpiler = Transpiler::new(*options);
    for test in &suite.tests {
        transpiler.add(test, &suite.metadata, sources);
    }
    transpiler.finish(&Ending { metadata: &suite.metadata, sources, secrets })
}

/// A suite that is being transpiled test by test.
#[derive(Debug)]
pub struct Transpiler<'a> {
    options: TranspileOptions<'a>,
    numbers: EntryNumbers,
    skills: SkillIndex,
    entries: Entries,
    losses: Vec<Loss>,
    /// Conflicts between triggers; one that all tests share is reported once.
    conflicts: Diagnostics,
    /// Faults in the content of entries.
    faults: Vec<Diagnostic>,
    /// Spans of shared assertions that have been reported.
    told: HashSet<Span>,
}

impl<'a> Transpiler<'a> {
    pub fn new(options: TranspileOptions<'a>) -> Self {
        Self {
            options,
            numbers: EntryNumbers::default(),
            skills: SkillIndex::default(),
            entries: Entries::default(),
            losses: Vec::new(),
            conflicts: Diagnostics::new(),
            faults: Vec::new(),
            told: HashSet::new(),
        }
    }

    /// Adds the next test; `metadata` is the suite's. Only the paths of `sources` are used: the text
    /// of the current line may not have been added yet.
    pub fn add(&mut self, test: &Test, metadata: &Map, sources: &Sources) {
        let id = Arc::new(test.id.clone());
        let wanted = triggers_of(test, &mut |conflict| {
            self.conflicts.report(conflict.of_test(test.position));
        });
        self.skills.add(test, &wanted);
        let expected = entry::expected_of(test);
        let expected = expected.as_deref();
        let is_copy = sentence::is_copy(test, expected, metadata);
        self.entry(test, expected, is_copy);
        let mut collector =
            loss::LossCollector { test, id: &id, options: &self.options, losses: &mut self.losses };
        collector.collect(is_copy, sources);
        self.numbers.add(id, test);
    }

    /// Builds the files and returns them with all losses and diagnostics.
    pub fn finish(self, ending: &Ending<'_>) -> Transpiled {
        let mut done = Transpiled { losses: self.losses, ..Transpiled::default() };
        let ids = self.numbers.assign(ending.sources, &mut done.diagnostics);
        done.diagnostics.extend(self.conflicts.into_vec());
        let skills = self.skills.redacted(ending.secrets);
        let metadata = redacted_metadata(ending);
        let groups = skills.group(&self.options, &metadata, &mut done.diagnostics);
        let faults = self.faults.into_iter();
        done.diagnostics.extend(faults.map(|one| prompt::narrowed(one, ending.sources)));
        if done.is_stopped() {
            return done;
        }
        let entries = self.entries.redacted(ending.secrets);
        let mut told = self.told;
        for group in &groups {
            let content = FileContent {
                group,
                entries: &entries,
                ids: &ids,
                list_key: self.options.audience.list_key(),
            };
            if self.options.format != Format::EvalSet {
                done.files.push(evals_json::file(&content));
            }
            if self.options.format != Format::Evals
                && let Some(file) = eval_set::file(&content)
            {
                let repeats = eval_set::duplicates(&content, ending.sources, &mut told);
                done.diagnostics.extend(repeats);
                done.files.push(file);
            }
        }
        done
    }
}

fn redacted_metadata<'e>(ending: &Ending<'e>) -> Cow<'e, Map> {
    if ending.secrets.is_empty() {
        return Cow::Borrowed(ending.metadata);
    }
    let entries = ending.metadata.iter().map(|(key, value)| {
        let mut value = value.clone();
        ending.secrets.redact_data(&mut value);
        (key.to_owned(), value)
    });
    Cow::Owned(entries.collect())
}

/// The content of one file.
#[derive(Debug, Clone, Copy)]
struct FileContent<'c> {
    group: &'c SkillFiles,
    /// Of the whole suite.
    entries: &'c Entries,
    /// One per entry.
    ids: &'c [u64],
    /// The key of the list of sentences.
    list_key: &'static str,
}

impl FileContent<'_> {
    /// The approximate length of the text, so that it is allocated once.
    fn capacity(&self) -> usize {
        const KEYS: usize = 160;
        let members = self.group.members.iter();
        members.map(|(at, _)| self.entries.size(*at) + KEYS).sum()
    }
}

/// Diagnostics about a whole test mark its first line only.
fn first_line(sources: &Sources, span: Span) -> Span {
    let text = sources.text_of(span);
    let length = text.find(['\n', '\r']).unwrap_or(text.len());
    let length = u32::try_from(length).unwrap_or(0);
    Span::new(span.source, span.start, span.start + length)
}
