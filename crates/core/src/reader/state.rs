//! The state that reading needs beyond the nodes themselves.

use std::collections::{HashMap, HashSet};

use camino::{Utf8Path, Utf8PathBuf};

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::model::SkillSource;
use crate::secrets::Secrets;
use crate::source::{Environment, Files, Reach, Sources, Span};

use super::dotenv::{EnvFiles, EnvTable};
use super::expansion::{Charge, Expansion};
use super::path::Looked;
use super::pattern_budget::PatternBudget;
use super::prompt::PromptOnce;
use super::template::{Reference, ReferencePolicy};
use super::vars::TestVars;

/// What the caller lends for reading.
#[derive(Debug, Clone, Copy)]
pub struct World<'w> {
    pub files: &'w dyn Files,
    pub environment: &'w dyn Environment,
    /// Only used to shorten paths in messages.
    pub working_directory: &'w Utf8Path,
}

/// Which target names are known.
#[derive(Debug, Clone, Default)]
pub enum TargetNames {
    /// The command does not check them.
    #[default]
    Unchecked,
    /// No targets file was found.
    NoFile,
    Known {
        names: HashSet<String>,
        file: Utf8PathBuf,
        /// The skills of all targets.
        skills: Vec<SkillSource>,
    },
}

/// What one invocation allows.
#[derive(Debug, Clone, Default)]
pub struct ReadPolicy {
    pub allow_outside_root: bool,
    pub env_files: EnvFiles,
    pub targets: TargetNames,
}

impl ReadPolicy {
    /// Where the paths of a suite may lead.
    pub fn reach<'r>(&self, root: &'r Utf8Path) -> Reach<'r> {
        if self.allow_outside_root { Reach::Anywhere } else { Reach::Inside(root) }
    }

    /// See [`Reader::reach_of`].
    pub(crate) fn reach_of<'r>(
        &self,
        path: &Utf8Path,
        root: &'r Utf8Path,
        own: &'r Utf8Path,
    ) -> Reach<'r> {
        let is_elsewhere = !own.starts_with(root) && path.starts_with(own);
        self.reach(if is_elsewhere { own } else { root })
    }
}

/// Reads the files of one suite.
#[derive(Debug)]
pub struct Reader<'w> {
    pub(crate) world: World<'w>,
    pub(crate) sources: &'w mut Sources,
    pub(crate) out: &'w mut Diagnostics,
    pub(crate) policy: &'w ReadPolicy,
    /// The repository root: where a leading `/` starts and what no path may leave.
    pub(crate) root: Utf8PathBuf,
    /// The directory of the main suite file.
    pub(crate) main_directory: Utf8PathBuf,
    /// The directory of the file that is being read now: where relative paths start.
    pub(crate) directory: Utf8PathBuf,
    /// Texts stay as they are: the file belongs to a format without variables.
    pub(crate) plain_texts: bool,
    /// Variables of the test that is being read, if it has any.
    pub(crate) vars: Option<TestVars>,
    pub(crate) secrets: Secrets,
    pub(super) references: ReferencePolicy,
    pub(super) env_table: Option<EnvTable>,
    pub(super) cache: FileCache,
    pub(super) expansion: Expansion,
    pub(crate) patterns: PatternBudget,
}

/// What is known of files by path: many tests name the same ones.
#[derive(Debug, Default)]
pub(super) struct FileCache {
    pub(super) prompts: HashMap<Utf8PathBuf, PromptOnce>,
    pub(super) looked: HashMap<Utf8PathBuf, Looked>,
}

impl<'w> Reader<'w> {
    pub fn new(
        world: World<'w>,
        sources: &'w mut Sources,
        out: &'w mut Diagnostics,
        policy: &'w ReadPolicy,
        root: Utf8PathBuf,
        main_directory: Utf8PathBuf,
    ) -> Self {
        Self {
            world,
            sources,
            out,
            policy,
            root,
            directory: main_directory.clone(),
            main_directory,
            plain_texts: false,
            vars: None,
            secrets: Secrets::default(),
            references: ReferencePolicy::default(),
            env_table: None,
            cache: FileCache::default(),
            expansion: Expansion::default(),
            patterns: PatternBudget::default(),
        }
    }

    pub fn report(&mut self, diagnostic: Diagnostic) {
        self.out.report(diagnostic);
    }

    /// Reports why a value cannot be read, which is then missing.
    pub(crate) fn refuse<T>(&mut self, diagnostic: Diagnostic) -> Option<T> {
        self.report(diagnostic);
        None
    }

    /// Where mappings are bound to their tables ([`crate::syntax::fields::Bound`]).
    pub fn out(&mut self) -> &mut Diagnostics {
        self.out
    }

    /// From now on `${{ }}` stays in the text and is replaced when the value is used, so that a file
    /// can be checked without its variables. Numbers, booleans and words written as references are
    /// read as `None` without a diagnostic; [`Reader::unresolved`] distinguishes numbers and booleans
    /// from faults, [`super::Template::has_references`] words.
    pub fn keep_references(&mut self) {
        self.references = ReferencePolicy::Keep(Vec::new());
    }

    /// The references kept since the last call.
    pub fn take_references(&mut self) -> Vec<Reference> {
        match &mut self.references {
            ReferencePolicy::Replace => Vec::new(),
            ReferencePolicy::Keep(kept) => std::mem::take(kept),
        }
    }

    pub(super) fn keeps_references(&self) -> bool {
        matches!(self.references, ReferencePolicy::Keep(_))
    }

    /// From now on references count for one line of a JSONL file, whose text is not kept.
    pub(crate) fn enter_line(&mut self, length: usize) {
        self.expansion.enter_line(length);
        self.out.set_in_line(true);
    }

    pub(crate) fn leave_line(&mut self) {
        self.expansion.leave_line();
        self.out.set_in_line(false);
    }

    /// Whether a reference may insert this much; reported where it may not.
    pub(super) fn may_insert(&mut self, bytes: usize, span: Span) -> bool {
        let charge = self.expansion.charge(bytes);
        if charge == Charge::Over {
            let diagnostic = self.expansion.diagnostic(span);
            self.report(diagnostic);
        }
        charge == Charge::Within
    }

    /// Values that must not be shown, found so far.
    pub(crate) fn take_secrets(&mut self) -> Secrets {
        std::mem::take(&mut self.secrets)
    }
}
