//! Writes a loaded suite in other formats. Uses the model only, not how it was written.

mod canonical_json;
mod canonical_yaml;
mod convert;
mod fields;
mod harbor;
mod hash;
mod rebase;
mod records;
mod transpile;
mod workspace;

use camino::Utf8Path;

use crate::source::{Files, Sources};

pub use crate::model::Loss;
pub use workspace::shown_workspace;

pub use canonical_json::{suite_value, test_document};
pub use canonical_yaml::suite_document;
pub(crate) use canonical_yaml::{STYLE, literal_references};
pub use convert::converted_yaml;
pub use harbor::{CopiedFile, HarborTask, HarborTasks, harbor_tasks};
pub use hash::{TestHasher, test_hash};
pub(crate) use records::CRITERIA_PLACEHOLDER;
pub use records::{LoggedTest, logged_suite, test_ids, with_logged_tests};
pub use transpile::{
    Audience, CriteriaMode, Ending, Format, Layout, NoSkill, OutFile, PromptMode, TranspileOptions,
    Transpiled, Transpiler, transpile,
};

/// The codes of this room, file by file: warnings, which `validate` does not report (spec
/// 16).
pub const CODES: &[&[&crate::diagnostic::Code]] = &[
    transpile::eval_set::CODES,
    transpile::ids::CODES,
    transpile::sentence::CODES,
    transpile::skills::CODES,
];

/// What the model points into.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    pub files: &'a dyn Files,
    pub sources: &'a Sources,
    /// The repository root, absolute.
    pub root: &'a Utf8Path,
}

#[cfg(test)]
pub(crate) mod testing {
    //! Suites that live in memory, for the tests of this room.

    use super::*;
    use crate::diagnostic::{Level, Severity};
    use crate::model::Suite;
    use crate::read::{Findings, LoadRequest, load_suite};
    use crate::reader::{ReadPolicy, World};
    use crate::source::{MemoryFiles, Variables};

    pub(crate) struct Loaded {
        pub(crate) files: MemoryFiles,
        pub(crate) sources: Sources,
        pub(crate) suite: Suite,
    }

    impl Loaded {
        pub(crate) fn context(&self) -> Context<'_> {
            Context { files: &self.files, sources: &self.sources, root: "/p".into() }
        }
    }

    /// The suite at `path`; the repository root is `/p`.
    pub(crate) fn load(files: MemoryFiles, path: &str) -> Loaded {
        let environment = Variables::default();
        let world =
            World { files: &files, environment: &environment, working_directory: "/p".into() };
        let limits = ReadPolicy::default();
        let request = LoadRequest::new(world, &limits, path.into(), "/p".into());
        let loaded = load_suite(&request, Findings::new()).expect("the suite is sound");
        let (suite, findings) = loaded.into_parts();
        let (sources, out, _) = findings.into_parts();
        let is_fault = |level: Level| level.severity() == Severity::Error;
        // What cannot be transpiled can still be saved.
        let stops = |level: Level| is_fault(level) && level != Level::BlocksTranspile;
        assert!(!out.iter().any(|one| stops(one.level)), "{out:?}");
        Loaded { files, sources, suite }
    }
}
