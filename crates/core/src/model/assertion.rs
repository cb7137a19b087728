//! Assertions as a test holds them. `Check` is the trait that every assertion type implements.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};

use crate::diagnostic::Diagnostic;
use crate::source::Span;

use super::arm::Skill;
use super::evidence_part::EvidencePart;
use super::expected::Expected;
use super::grading::{GradingContext, Step};
use super::ignore_list::IgnoreList;
use super::judge_prompt::JudgePrompt;
use super::measurement::Measurement;
use super::number::Number;
use super::rubric::{Required, RubricItem, Weight};
use super::subject::SubjectName;
use super::transcript::{Call, SkillUse};
use super::value::{Map, Value};

/// A skill that the agent must use, or must not use.
#[derive(Debug, Clone, PartialEq)]
pub struct Trigger {
    /// As written.
    pub skill: String,
    pub should_trigger: bool,
    /// Trials, unless the run says how many.
    pub runs_per_query: Option<u64>,
    /// Minimum share of trials that use the skill for it to count as used.
    pub threshold: Option<Number>,
}

impl Trigger {
    pub fn new(skill: String, should_trigger: bool) -> Self {
        Self { skill, should_trigger, runs_per_query: None, threshold: None }
    }

    /// The name of the skill as uses and offers have it: without that of a plugin.
    pub fn skill_name(&self) -> &str {
        Skill::bare_name(&self.skill)
    }
}

/// The part of a test that an assertion can see while a suite is read.
#[derive(Debug, Clone, Copy)]
pub struct TestView<'a> {
    /// `None` where it is missing or invalid, which has been reported.
    pub id: Option<&'a str>,
    pub criteria: Option<&'a str>,
    pub expected_output: Option<&'a Expected>,
    /// What is known of its workspace; `None` without one.
    pub workspace: Option<WorkspaceView<'a>>,
    /// Names of the skills that the agent may be given; `None` if there are none, or not all are known.
    pub given_skills: Option<&'a [String]>,
    /// The test itself, for related places.
    pub span: Span,
}

/// The part of a workspace that is known while a suite is read.
#[derive(Debug, Clone, Copy, Default)]
pub struct WorkspaceView<'a> {
    /// Every file that the agent finds, in byte order; `None` where repositories, hooks or attached
    /// files add to them.
    pub files: Option<&'a [String]>,
    /// What the suite ignores.
    pub ignore: Option<&'a IgnoreList>,
    /// The `.gitignore` files that the agent finds, by directory; none where `files` is unknown.
    pub gitignores: &'a [(String, IgnoreList)],
}

impl WorkspaceView<'_> {
    /// Whether it is known that a file is not part of the evidence. Nothing below an excluded directory is.
    pub fn is_ignored(&self, path: &str) -> bool {
        let directories = path.match_indices('/').map(|(end, _)| (&path[..end], true));
        directories.chain([(path, false)]).any(|(path, is_directory)| {
            let own = self.ignore.and_then(|list| list.decide(path, is_directory));
            own.or_else(|| self.decide_by_files(path, is_directory)).unwrap_or(false)
        })
    }

    /// The file in the nearest directory decides.
    fn decide_by_files(&self, path: &str, is_directory: bool) -> Option<bool> {
        let mut directory = path;
        while !directory.is_empty() {
            directory = directory.rsplit_once('/').map_or("", |(parent, _)| parent);
            let found = self.gitignores.iter().find(|(place, _)| place == directory);
            let below = path[directory.len()..].trim_start_matches('/');
            let decided = found.and_then(|(_, list)| list.decide(below, is_directory));
            if decided.is_some() {
                return decided;
            }
        }
        None
    }
}

/// A configured check of one assertion type. Pure: it never does I/O.
pub trait Check: fmt::Debug + Send + Sync {
    /// The options in canonical form, without those that every type has: what `show` prints and
    /// `testHash` covers.
    fn options(&self) -> Map;

    /// What it asserts, in the words of spec 12.5: what `transpile` writes.
    fn sentences(&self, common: &CommonOptions) -> Vec<String>;

    /// What its sentences leave out: the kind of loss (spec 12.7) and what `transpile` says. Judge
    /// prompts and rubric items are compared by `transpile` itself.
    fn losses(&self, type_name: &str) -> Vec<(&'static str, String)> {
        let _ = type_name;
        Vec::new()
    }

    /// Grades the evidence, or returns what it has to ask first. The caller applies negation and
    /// the assertion's own gate.
    fn grade(&self, context: &GradingContext<'_>) -> Step;

    /// Faults that only show in the test it is applied to. `span` is the assertion itself.
    fn diagnostics_in(&self, test: &TestView<'_>, span: Span) -> Vec<Diagnostic> {
        let _ = (test, span);
        Vec::new()
    }

    /// Where gates are written inside it: required items, required members, safety gates. They
    /// are ambiguous once the check is negated.
    fn gates(&self) -> Vec<Span> {
        Vec::new()
    }

    /// Members of a composite.
    fn members(&self) -> &[NamedAssertion] {
        &[]
    }

    fn trigger(&self) -> Option<&Trigger> {
        None
    }

    /// The judge prompt, where the author wrote one.
    fn prompt(&self) -> Option<&JudgePrompt> {
        None
    }

    /// The rubric items that a judge answers one by one.
    fn items(&self) -> &[RubricItem] {
        &[]
    }

    /// The target that judges, where the author chose one.
    fn judge(&self) -> Option<&str> {
        None
    }

    /// What it needs the target to report, its members not included.
    fn measures(&self) -> Vec<Measurement> {
        Vec::new()
    }

    /// What of the evidence it demands something of. Empty if it only measures numbers, or only forbids
    /// something.
    fn parts(&self) -> Vec<EvidencePart> {
        match self.members() {
            [] => vec![EvidencePart::Answer],
            members => {
                let parts = members.iter().flat_map(|member| member.assertion.parts());
                let mut parts: Vec<EvidencePart> = parts.collect();
                parts.sort_unstable();
                parts.dedup();
                parts
            }
        }
    }

    /// The files that it runs, as far as they can be told. They must not change while a suite runs.
    fn script_files(&self) -> Vec<Utf8PathBuf> {
        Vec::new()
    }

    /// The installed program that its script needs, if it can be told: a name or an absolute path.
    fn script_program(&self) -> Option<String> {
        None
    }

    /// Whether the grade is certain, whatever the agent does next. Known are the calls so far, and
    /// the uses of skills by those that ended.
    fn is_decided(&self, common: &CommonOptions, calls: &[Call], uses: &[SkillUse]) -> bool {
        let _ = (common, calls, uses);
        false
    }

    /// The files that the agent must not see: they would tell it what it is judged by.
    fn hidden_files(&self) -> Vec<Utf8PathBuf> {
        self.script_files()
    }

    /// The directory of these files, if they are all below one that the author named.
    fn hidden_directory(&self) -> Option<&Utf8Path> {
        None
    }

    /// Whether grading it takes a judge.
    fn needs_judge(&self) -> bool {
        self.members().iter().any(|member| member.assertion.check.needs_judge())
    }
}

/// The options that every assertion type has.
#[derive(Debug, Clone)]
pub struct CommonOptions {
    /// Only if the author wrote one.
    pub name: Option<String>,
    pub weight: Weight,
    pub required: Required,
    /// Where the gate is written; without one, the same as `head`.
    pub required_at: Span,
    pub negate: bool,
    pub description: Option<String>,
    pub config: Map,
    /// The file of the workspace that is looked at instead of the answer, for types that take one.
    pub file: Option<String>,
    /// The whole entry.
    pub span: Span,
    /// The written name, or the first line: where faults of the list point.
    pub head: Span,
}

impl CommonOptions {
    /// Every default, for an entry that sets none of these options.
    pub fn defaults(span: Span, head: Span) -> Self {
        Self {
            name: None,
            weight: Weight::default(),
            required: Required::No,
            required_at: head,
            negate: false,
            description: None,
            config: Map::new(),
            file: None,
            span,
            head,
        }
    }

    /// A sentence about the file, where the assertion names one.
    pub fn about(&self, sentence: &str) -> String {
        match &self.file {
            Some(_) => format!("{}: {sentence}", self.subject()),
            None => sentence.to_owned(),
        }
    }

    /// What the check looks at, as its sentences call it.
    pub fn subject(&self) -> SubjectName<'_> {
        SubjectName { file: self.file.as_deref() }
    }
}

#[derive(Debug)]
pub struct Assertion {
    /// Canonical; for a custom type, the author's name.
    pub type_name: Cow<'static, str>,
    pub check: Box<dyn Check>,
    pub common: CommonOptions,
}

impl Assertion {
    /// What it looks at.
    pub fn parts(&self) -> Vec<EvidencePart> {
        match &self.common.file {
            Some(_) => vec![EvidencePart::Files],
            None => self.check.parts(),
        }
    }

    /// What it asserts, with a `NOT:` where it is negated (spec 12.5).
    pub fn sentences(&self) -> Vec<String> {
        let mut sentences = self.check.sentences(&self.common);
        if self.common.negate {
            for sentence in &mut sentences {
                sentence.insert_str(0, "NOT: ");
            }
        }
        sentences
    }
}

/// An assertion and its name in its list, which is the key of its results.
#[derive(Debug, Clone)]
pub struct NamedAssertion {
    pub name: Cow<'static, str>,
    pub assertion: Arc<Assertion>,
}

impl NamedAssertion {
    /// The shape of `show --format json`.
    pub fn to_value(&self) -> Value {
        let assertion = &self.assertion;
        let mut map = Map::new();
        map.insert("type", assertion.type_name.as_ref());
        map.insert("name", self.name.as_ref());
        map.insert("weight", assertion.common.weight.number().clone());
        map.insert("required", assertion.common.required.to_value());
        map.insert("negate", assertion.common.negate);
        map.insert_some("description", assertion.common.description.as_deref());
        for (key, value) in assertion.check.options().iter() {
            map.insert(key, value.clone());
        }
        map.insert_some("file", assertion.common.file.as_deref());
        if !assertion.common.config.is_empty() {
            map.insert("config", assertion.common.config.clone());
        }
        map.into()
    }
}
