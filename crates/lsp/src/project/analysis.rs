//! One suite or targets file, loaded: what was found, which files it reads, and where its tests and
//! assertions are.

use std::collections::{BTreeSet, HashSet};

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::model::{NamedAssertion, Test, Value};
use evalrig_core::read::{Sink, SuiteContext};
use evalrig_core::secrets::Secrets;
use evalrig_core::source::{Sources, Span};
use lsp_types::{Position, Range};

use crate::text::PositionEncoding;

use super::finding::{Finding, PlaceFinder};
use super::load::MainFile;
use super::open_files::OpenFiles;

/// A test that was read, where an editor shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LoadedTest {
    pub(crate) id: String,
    pub(crate) path: Utf8PathBuf,
    pub(crate) range: Range,
    pub(crate) assertions: Vec<PlacedAssertion>,
    pub(crate) tags: Vec<String>,
}

/// An assertion with the name that its results have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlacedAssertion {
    pub(crate) name: String,
    pub(crate) path: Utf8PathBuf,
    pub(crate) start: Position,
}

#[derive(Debug)]
pub(crate) struct Analysis {
    pub(crate) main: MainFile,
    pub(crate) name: Option<String>,
    pub(crate) root: Utf8PathBuf,
    pub(crate) targets_file: Option<Utf8PathBuf>,
    pub(crate) findings: Vec<Finding>,
    pub(crate) tests: Vec<LoadedTest>,
    /// The files whose text was read.
    pub(crate) reads: BTreeSet<Utf8PathBuf>,
    /// Every path whose change may change the result.
    touched: HashSet<Utf8PathBuf>,
}

impl Analysis {
    pub(crate) fn new(
        main: &MainFile,
        files: OpenFiles<'_>,
        secrets: Secrets,
        encoding: PositionEncoding,
    ) -> Self {
        let mut tests = TestPlaces::default();
        let loaded = main.load(&files, secrets, &mut tests);
        let sources = loaded.findings.sources();
        let mut reads: BTreeSet<Utf8PathBuf> = sources.paths().map(Utf8Path::to_owned).collect();
        reads.insert(main.path.clone());
        Self {
            main: main.clone(),
            name: loaded.name,
            root: loaded.root,
            targets_file: loaded.targets_file,
            findings: Finding::all(&loaded.findings, encoding),
            tests: tests.placed(sources, encoding),
            reads,
            touched: files.into_touched(),
        }
    }

    /// Whether a change of this file may change the result.
    pub(crate) fn depends_on(&self, path: &Utf8Path) -> bool {
        self.reads.contains(path) || self.touched.contains(path)
    }

    /// Whether a file that appeared or went away may change the result: it was asked for, or a directory
    /// above it was listed. Its own may be as new as the file.
    pub(crate) fn depends_on_presence_of(&self, path: &Utf8Path) -> bool {
        let mut above = path.ancestors().skip(1);
        above.any(|directory| self.touched.contains(directory)) || self.depends_on(path)
    }
}

/// Notes where tests are. Places become positions when everything is read.
#[derive(Debug, Default)]
struct TestPlaces(Vec<TestPlace>);

#[derive(Debug)]
struct TestPlace {
    id: String,
    span: Span,
    assertions: Vec<(String, Span)>,
    tags: Vec<String>,
}

impl Sink for TestPlaces {
    fn needs_source_lines(&self) -> bool {
        true
    }

    fn test(&mut self, test: Test, _: SuiteContext<'_>) {
        let tags = test.metadata.get("tags").and_then(Value::as_list).unwrap_or_default();
        let mut assertions = Vec::new();
        collect(&test.assertions, "", &mut assertions);
        self.0.push(TestPlace {
            id: test.id.as_str().to_owned(),
            span: test.span,
            assertions,
            tags: tags.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        });
    }
}

/// Members of composites have their names behind that of the composite.
fn collect(assertions: &[NamedAssertion], above: &str, found: &mut Vec<(String, Span)>) {
    for named in assertions {
        let name = format!("{above}{}", named.name);
        found.push((name.clone(), named.assertion.common.span));
        collect(named.assertion.check.members(), &format!("{name}/"), found);
    }
}

impl TestPlaces {
    fn placed(self, sources: &Sources, encoding: PositionEncoding) -> Vec<LoadedTest> {
        let mut places = PlaceFinder::new(sources, encoding);
        let mut placed = |one: TestPlace| {
            let assertions = one.assertions.into_iter().map(|(name, span)| PlacedAssertion {
                name,
                path: places.path(span).to_owned(),
                start: places.range(span).start,
            });
            let assertions = assertions.collect();
            LoadedTest {
                id: one.id,
                path: places.path(one.span).to_owned(),
                range: places.range(one.span),
                assertions,
                tags: one.tags,
            }
        };
        self.0.into_iter().map(&mut placed).collect()
    }
}
