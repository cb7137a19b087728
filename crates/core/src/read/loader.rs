//! Loading one suite: from a path to a header and a stream of tests.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};

use crate::diagnostic::{Diagnostic, declare_codes};
use crate::model::{Map, Test};
use crate::reader::Reader;
use crate::source::{EntryKind, SourceId, Span, is_outside};
use crate::syntax::{Node, Tree, parse_json, parse_yaml, read_source};

use super::identity::{IdHasher, Ids, LineId};
use super::inherited_defaults::InheritedDefaults;
use super::load::{Header, Origin};
use super::pattern::PatternTrees;
use super::plugin_eval_files::plugin_root;
use super::sink::{Sink, SuiteContext};
use super::skills::SkillRegistry;
use super::workspace::WorkspaceLayer;
use super::workspace_template::TemplateContent;
use super::{evals_json, plugin_eval, sidecar, suite};

declare_codes! {
    NO_TESTS = "no-tests", Blocking, Shape, r#"The suite has no tests after all imports.

## Example
```yaml
name: demo
tests: []
```

## Instead
```yaml
name: demo
tests:
  - {id: a, criteria: Greets, input: Hi}
```

## Why
A suite without tests passes every run.
"#;
    DUPLICATE_SUITE_NAME = "duplicate-suite-name", Warning, Reference, r#"Two suites of one invocation have the same name.

## Example
```text
evals/a/EVAL.yaml and evals/b/EVAL.yaml, both with `name: review`
```

## Instead
```text
`name: review-a` and `name: review-b`
```

## Why
Results are stored under the suite's name and would be mixed up.
"#;
}

/// The repository root of a suite file; for evals.json that of the skill, because its paths start
/// there, and for cases of a plugin that of the plugin, whose skills they are about.
pub fn suite_root(files: &dyn crate::source::Files, suite: &Utf8Path) -> Utf8PathBuf {
    let is_json = suite.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json"));
    let own = if is_json { Some(evals_json::skill_root(suite)) } else { plugin_root(files, suite) };
    repository_root(files, own.as_deref().or(suite.parent()).unwrap_or(suite))
}

/// The directory, or its nearest ancestor, that holds `.git`; else the directory itself.
pub fn repository_root(files: &dyn crate::source::Files, directory: &Utf8Path) -> Utf8PathBuf {
    directory
        .ancestors()
        .find(|ancestor| files.kind(&ancestor.join(".git")).is_some())
        .unwrap_or(directory)
        .to_owned()
}

/// Two suites of one invocation have this name.
pub fn duplicate_suite_name(name: &str, first: Span, second: Span) -> Diagnostic {
    Diagnostic::new(&DUPLICATE_SUITE_NAME, second, format!("another suite is also named `{name}`"))
        .related(first, "this one")
        .help("give one of them another name")
}

/// One load in progress.
pub(super) struct Loader<'w, 's> {
    pub(super) reader: Reader<'w>,
    pub(super) sink: &'s mut dyn Sink,
    pub(super) origin: Origin,
    pub(super) ids: IdRegistry,
    pub(super) skills: SkillRegistry,
    /// Of the last test read; the next one is one higher.
    pub(super) position: u32,
    pub(super) imported: HashSet<Utf8PathBuf>,
    /// The files that are being read, main file first.
    pub(super) chain: Vec<Utf8PathBuf>,
    /// Some tests are missing because a file could not be read, which has been reported.
    pub(super) import_failed: bool,
    pub(super) defaults: RootDefaults,
    pub(super) is_targets_file: bool,
    pub(super) trees: PatternTrees,
    /// The workspace files read so far.
    pub(super) workspace_files: HashMap<Utf8PathBuf, WorkspaceLayer>,
    pub(super) templates: HashMap<Utf8PathBuf, Arc<TemplateContent>>,
}

/// What the root of the main file gives to every test.
#[derive(Debug, Clone, Default)]
pub(super) struct RootDefaults {
    pub(super) metadata: Map,
    pub(super) trials: Option<u32>,
    /// See [`super::given_skills`].
    pub(super) given_skills: Option<Arc<[String]>>,
}

/// The ids read so far.
#[derive(Debug)]
pub(super) enum IdRegistry {
    /// Of the whole suite.
    Whole(Ids),
    /// Of a part of a file; they are compared when the parts are joined.
    Part { ids: Vec<LineId>, hasher: IdHasher },
}

impl<'w, 's> Loader<'w, 's> {
    /// The file of a node, as a user would type it.
    pub(super) fn file_of(&self, node: Node<'_>) -> String {
        let path = self.reader.sources.get(node.span().source).path();
        self.reader.shown(path).into_string()
    }

    pub(super) fn new(reader: Reader<'w>, sink: &'s mut dyn Sink, origin: Origin) -> Self {
        Self {
            reader,
            sink,
            origin,
            ids: IdRegistry::Whole(Ids::default()),
            skills: SkillRegistry::of_suite(),
            position: 0,
            imported: HashSet::new(),
            chain: Vec::new(),
            import_failed: false,
            defaults: RootDefaults::default(),
            is_targets_file: false,
            trees: PatternTrees::default(),
            workspace_files: HashMap::new(),
            templates: HashMap::new(),
        }
    }

    pub(super) fn load_main(&mut self, path: &Utf8Path) -> Option<Header> {
        if self.reader.world.files.kind(path) == Some(EntryKind::Directory) {
            return plugin_eval::load(self, path);
        }
        self.chain.push(path.to_owned());
        self.imported.insert(path.to_owned());
        match path.extension().map(str::to_ascii_lowercase).as_deref() {
            Some("jsonl") => sidecar::load_jsonl(self, path),
            Some("json") => {
                let (source, tree) = self.parse_json_file(path)?;
                evals_json::load(self, path, source, &tree)
            }
            _ => {
                let (source, tree) = self.parse_yaml_file(path)?;
                suite::load_root(self, path, source, tree.root())
            }
        }
    }

    /// A suite that was made from the file, whose places are lines of a text that no file has.
    pub(super) fn load_converted(&mut self, path: &Utf8Path, text: &str) -> Option<Header> {
        self.chain.push(path.to_owned());
        self.imported.insert(path.to_owned());
        let shown = Utf8PathBuf::from(format!("{path} (converted)"));
        let source = self.reader.sources.add_file(shown, text.to_owned(), 0);
        let text = self.reader.sources.get(source).shared_text();
        let tree = parse_yaml(source, text, self.reader.out)?;
        suite::load_root(self, path, source, tree.root())
    }

    pub(super) fn emit(&mut self, test: Test) {
        let context =
            SuiteContext { metadata: &self.defaults.metadata, sources: self.reader.sources };
        self.sink.test(test, context);
    }

    /// Reads and parses a YAML file; the tree belongs to the caller.
    pub(super) fn parse_yaml_file(&mut self, path: &Utf8Path) -> Option<(SourceId, Tree)> {
        let source = self.read_file(path)?;
        let text = self.reader.sources.get(source).shared_text();
        parse_yaml(source, text, self.reader.out).map(|tree| (source, tree))
    }

    fn parse_json_file(&mut self, path: &Utf8Path) -> Option<(SourceId, Tree)> {
        let source = self.read_file(path)?;
        let text = self.reader.sources.get(source).shared_text();
        parse_json(source, text, self.reader.out).map(|tree| (source, tree))
    }

    pub(super) fn read_file(&mut self, path: &Utf8Path) -> Option<SourceId> {
        let Reader { world, policy, root, main_directory, sources, out, .. } = &mut self.reader;
        let reach = policy.reach_of(path, root, main_directory);
        read_source(world.files, sources, out, path, reach)
    }

    /// All tests are in: is there one?
    pub(super) fn check_count(&mut self, place: Span) {
        if self.position == 0 && !self.import_failed {
            self.reader.report(
                Diagnostic::new(&NO_TESTS, place, "the suite has no tests")
                    .help("add at least one test with `id`, `criteria` and `input`"),
            );
        }
    }

    /// Reads with another directory as the start of relative paths.
    pub(super) fn within<T>(
        &mut self,
        directory: &Utf8Path,
        read: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let before = std::mem::replace(&mut self.reader.directory, directory.to_owned());
        let result = read(self);
        self.reader.directory = before;
        result
    }

    /// Whether there is something to read, or to report as unreadable.
    pub(super) fn is_file(&self, path: &Utf8Path) -> bool {
        match self.reader.world.files.look(path, self.reader.reach_of(path)) {
            Ok(found) => found.kind != EntryKind::Directory,
            Err(error) => is_outside(&error),
        }
    }

    /// The level of a file that hands nothing down itself.
    pub(super) fn plain_level<'p>(
        &self,
        parent: Option<&'p InheritedDefaults<'p>>,
    ) -> InheritedDefaults<'p> {
        InheritedDefaults::plain(parent, self.reader.directory.clone())
    }
}
