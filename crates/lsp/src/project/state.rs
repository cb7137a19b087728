//! The state of a session: open documents, known suites, and which of them are out of date. What is
//! known of a file depends on its text alone, never on the order of the edits that led to it.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::read::{FoundSuite, is_suite_name, repository_root};
use evalrig_core::secrets::Secrets;
use evalrig_core::source::{Files, Reach};
use evalrig_run::disk::Disk;
use evalrig_run::session::{LoadOptions, known_secrets};
use lsp_types::{PublishDiagnosticsParams, TextDocumentContentChangeEvent as Change};

use crate::outline::{FileKind, ParsedText, Survey};
use crate::text::{Document, PositionEncoding, uri_of};

use super::analysis::Analysis;
use super::load::MainFile;
use super::open_files::OpenFiles;
use super::published::diagnostics_of;

/// Suites of a workspace that are read before they are opened, to know who imports what.
const MOST_SUITES: usize = 1000;

/// A file that is read for names only may be this long.
const LONGEST_READ: u64 = 16 * 1024 * 1024;

/// A suite or targets file, and what is known of it.
#[derive(Debug)]
struct KnownMain {
    main: MainFile,
    /// Found by walking a folder: it stays known when it is closed.
    is_found: bool,
    is_dirty: bool,
    analysis: Option<Analysis>,
}

#[derive(Debug)]
pub(crate) struct Project {
    pub(crate) encoding: PositionEncoding,
    pub(crate) documents: BTreeMap<Utf8PathBuf, Document>,
    folders: Vec<Utf8PathBuf>,
    mains: BTreeMap<Utf8PathBuf, KnownMain>,
    /// Folders that are still to be walked.
    unexplored: Vec<Utf8PathBuf>,
    published: BTreeMap<Utf8PathBuf, Vec<lsp_types::Diagnostic>>,
    outbox: Vec<PublishDiagnosticsParams>,
    secrets: HashMap<Utf8PathBuf, Secrets>,
    surveys: RefCell<HashMap<Utf8PathBuf, SurveyedText>>,
}

/// A survey with the text that it is of, and how that was read: suites that import a file decide too.
type SurveyedText = (FileKind, Arc<String>, Arc<Survey>);

impl Project {
    pub(crate) fn new(encoding: PositionEncoding, folders: Vec<Utf8PathBuf>) -> Self {
        Self {
            encoding,
            documents: BTreeMap::new(),
            unexplored: folders.clone(),
            folders,
            mains: BTreeMap::new(),
            published: BTreeMap::new(),
            outbox: Vec::new(),
            secrets: HashMap::new(),
            surveys: RefCell::default(),
        }
    }

    pub(crate) fn open(&mut self, path: Utf8PathBuf, document: Document) {
        self.documents.insert(path.clone(), document);
        self.register(&path);
        self.invalidate_presence(&path);
        self.refresh_readers(&path);
    }

    pub(crate) fn change(&mut self, path: &Utf8Path, version: i32, changes: Vec<Change>) {
        let encoding = self.encoding;
        let Some(document) = self.documents.get_mut(path) else {
            return;
        };
        document.change(version, changes, encoding);
        self.register(path);
        self.invalidate(path);
    }

    pub(crate) fn close(&mut self, path: &Utf8Path) {
        self.documents.remove(path);
        self.surveys.get_mut().remove(path);
        if self.mains.get(path).is_some_and(|known| !known.is_found || !path.is_file()) {
            self.forget(path);
        }
        self.invalidate_presence(path);
        self.refresh_readers(path);
    }

    /// Files have changed on the disk.
    pub(crate) fn files_changed(&mut self, paths: &[Utf8PathBuf]) {
        self.secrets.clear();
        for path in paths {
            self.invalidate_presence(path);
            if path.file_name().is_some_and(is_suite_name) && path.is_file() {
                match self.mains.get_mut(path) {
                    Some(known) => known.is_found = true,
                    None => self.add_main(path.clone(), false, true),
                }
            }
            let is_gone = !path.exists() && !self.documents.contains_key(path);
            if is_gone && self.mains.contains_key(path) {
                self.forget(path);
            }
        }
    }

    /// Walks a folder, or loads one suite that is out of date; `false` if there is nothing to do. What
    /// the user looks at comes first.
    pub(crate) fn work(&mut self) -> bool {
        if self.work_on_open() {
            return true;
        }
        if let Some(folder) = self.unexplored.pop() {
            self.explore(&folder);
            return true;
        }
        let next = self.mains.iter().find(|(_, known)| known.is_dirty);
        match next.map(|(path, _)| path.clone()) {
            Some(path) => {
                self.load(&path);
                true
            }
            None => false,
        }
    }

    /// Loads one suite that an open document belongs to and that is out of date.
    pub(crate) fn work_on_open(&mut self) -> bool {
        let open = self.mains.iter().find(|(_, known)| known.is_dirty && self.is_active(known));
        let Some(path) = open.map(|(path, _)| path.clone()) else {
            return false;
        };
        self.load(&path);
        true
    }

    /// After a load that did not end: nothing is out of date until the next change.
    pub(crate) fn give_up(&mut self) {
        self.mains.values_mut().for_each(|known| known.is_dirty = false);
        self.unexplored.clear();
    }

    /// Diagnostics that the client does not have yet.
    pub(crate) fn take_outbox(&mut self) -> Vec<PublishDiagnosticsParams> {
        std::mem::take(&mut self.outbox)
    }

    pub(crate) fn files(&self) -> OpenFiles<'_> {
        OpenFiles::new(&self.documents)
    }

    /// What is known of suites and targets files that count.
    pub(crate) fn analyses(&self) -> impl Iterator<Item = &Analysis> {
        self.mains
            .values()
            .filter(|known| self.counts(known))
            .filter_map(|one| one.analysis.as_ref())
    }

    /// Of those, the ones that read a file.
    pub(crate) fn readers_of<'p>(
        &'p self,
        path: &'p Utf8Path,
    ) -> impl Iterator<Item = &'p Analysis> {
        self.analyses().filter(move |analysis| analysis.reads.contains(path))
    }

    /// The text of an open document, or of a file.
    pub(crate) fn text_of(&self, path: &Utf8Path) -> Option<Arc<String>> {
        if let Some(document) = self.documents.get(path) {
            return Some(document.shared_text());
        }
        let bytes = Disk.read(path, Reach::Anywhere, LONGEST_READ).ok()?;
        let text = String::from_utf8(bytes).ok()?;
        Some(Arc::new(text.strip_prefix('\u{feff}').map_or(text.clone(), str::to_owned)))
    }

    pub(crate) fn kind_of(&self, path: &Utf8Path, text: &str) -> FileKind {
        match FileKind::of(path, text) {
            FileKind::Other if self.readers_of(path).next().is_some() => {
                let is_lines = path.extension() == Some("jsonl");
                if is_lines { FileKind::Lines } else { FileKind::TestList }
            }
            kind => kind,
        }
    }

    pub(crate) fn parsed(&self, path: &Utf8Path, text: &Arc<String>) -> ParsedText {
        ParsedText::new(self.kind_of(path, text), text)
    }

    /// The survey of a text, kept while the text and its kind stay the same.
    pub(crate) fn survey(&self, path: &Utf8Path, text: &Arc<String>) -> Arc<Survey> {
        let kind = self.kind_of(path, text);
        let mut surveys = self.surveys.borrow_mut();
        if let Some((known_kind, known, survey)) = surveys.get(path)
            && *known_kind == kind
            && Arc::ptr_eq(known, text)
        {
            return Arc::clone(survey);
        }
        let survey = Arc::new(Survey::of(&ParsedText::new(kind, text)));
        if self.documents.contains_key(path) {
            surveys.insert(path.to_owned(), (kind, Arc::clone(text), Arc::clone(&survey)));
        }
        survey
    }

    /// The folder of the workspace that holds a file, or its repository.
    pub(crate) fn folder_of(&self, path: &Utf8Path) -> Utf8PathBuf {
        let holds = self.folders.iter().filter(|folder| path.starts_with(folder));
        let nearest = holds.max_by_key(|folder| folder.as_str().len()).cloned();
        nearest.unwrap_or_else(|| repository_root(&Disk, path.parent().unwrap_or(path)))
    }

    /// Values that must not be shown, as seen from a directory.
    pub(crate) fn secrets_of(&mut self, path: &Utf8Path) -> Secrets {
        let directory = path.parent().unwrap_or(path).to_owned();
        let folder = self.folder_of(path);
        let make = || known_secrets(&LoadOptions::new(folder), &directory);
        self.secrets.entry(directory.clone()).or_insert_with(make).clone()
    }

    pub(crate) fn main(&self, path: &Utf8Path) -> Option<&MainFile> {
        self.mains.get(path).map(|known| &known.main)
    }

    /// Makes a document a suite or a targets file of its own, or no longer one.
    fn register(&mut self, path: &Utf8Path) {
        let Some(document) = self.documents.get(path) else {
            return;
        };
        let kind = FileKind::of(path, document.text());
        let is_main = kind.is_loaded() || kind == FileKind::Targets;
        let is_targets_file = kind == FileKind::Targets;
        match self.mains.get(path) {
            Some(known) if is_main && known.main.is_targets_file == is_targets_file => {}
            Some(known) if known.is_found && !is_main => {}
            Some(known) => {
                let is_found = known.is_found;
                self.forget(path);
                if is_main {
                    self.add_main(path.to_owned(), is_targets_file, is_found);
                }
            }
            None if is_main => self.add_main(path.to_owned(), is_targets_file, false),
            None => {}
        }
    }

    fn add_main(&mut self, path: Utf8PathBuf, is_targets_file: bool, is_found: bool) {
        let working_directory = self.folder_of(&path);
        let main = MainFile { path: path.clone(), is_targets_file, working_directory };
        self.mains.insert(path, KnownMain { main, is_found, is_dirty: true, analysis: None });
    }

    fn forget(&mut self, path: &Utf8Path) {
        if let Some(analysis) = self.mains.remove(path).and_then(|known| known.analysis) {
            self.refresh_read(analysis.reads);
        }
    }

    fn invalidate(&mut self, path: &Utf8Path) {
        for known in self.mains.values_mut() {
            let depends = known.analysis.as_ref().is_some_and(|one| one.depends_on(path));
            known.is_dirty |= depends || known.main.path == path;
        }
    }

    /// A document that is not saved is a file that appears or goes away.
    fn invalidate_presence(&mut self, path: &Utf8Path) {
        for known in self.mains.values_mut() {
            let analysis = known.analysis.as_ref();
            let depends = analysis.is_none_or(|one| one.depends_on_presence_of(path));
            known.is_dirty |= depends || known.main.path == path;
        }
    }

    fn load(&mut self, path: &Utf8Path) {
        let secrets = self.secrets_of(path);
        let Some(known) = self.mains.get_mut(path) else {
            return;
        };
        let files = OpenFiles::new(&self.documents);
        let analysis = Analysis::new(&known.main, files, secrets, self.encoding);
        known.is_dirty = false;
        let mut changed = analysis.reads.clone();
        changed.extend(known.analysis.replace(analysis).into_iter().flat_map(|old| old.reads));
        self.refresh_read(changed);
    }

    /// A suite that others import, or no longer import, [counts](Self::counts) or not for all of its files.
    fn refresh_read(&mut self, mut paths: BTreeSet<Utf8PathBuf>) {
        let mains = paths.iter().filter_map(|path| self.mains.get(path)?.analysis.as_ref());
        let members: Vec<Utf8PathBuf> =
            mains.flat_map(|analysis| analysis.reads.iter().cloned()).collect();
        paths.extend(members);
        self.refresh(paths);
    }

    fn explore(&mut self, folder: &Utf8Path) {
        let Ok(found) = FoundSuite::from_arguments(&Disk, folder, &[]) else {
            return;
        };
        for suite in found.suites.into_iter().take(MOST_SUITES) {
            match self.mains.get_mut(&suite.path) {
                Some(known) => known.is_found = true,
                // Cases of `claude plugin eval` are directories; editors open files.
                None if suite.path.is_dir() => {}
                None => self.add_main(suite.path, false, true),
            }
        }
    }

    /// Whether an open document is read by it.
    fn is_active(&self, known: &KnownMain) -> bool {
        let reads = known.analysis.as_ref().map(|analysis| &analysis.reads);
        let mut open = self.documents.keys();
        open.any(|path| *path == known.main.path || reads.is_some_and(|reads| reads.contains(path)))
    }

    /// A file that a suite imports is not looked at as a suite of its own, unless its name says that it
    /// is one.
    fn counts(&self, known: &KnownMain) -> bool {
        let path = &known.main.path;
        if known.main.is_targets_file || path.file_name().is_some_and(is_suite_name) {
            return true;
        }
        let others = self.mains.values().filter(|other| other.main.path != *path);
        let mut analyses = others.filter_map(|other| other.analysis.as_ref());
        !analyses.any(|analysis| analysis.reads.contains(path))
    }

    /// What a document was opened or closed for may be shown or hidden.
    fn refresh_readers(&mut self, path: &Utf8Path) {
        let readers = self.mains.values().filter_map(|known| known.analysis.as_ref());
        let readers = readers.filter(|analysis| analysis.reads.contains(path));
        let files: BTreeSet<Utf8PathBuf> =
            readers.flat_map(|analysis| analysis.reads.iter().cloned()).collect();
        self.refresh(files.into_iter().chain([path.to_owned()]));
    }

    /// Puts what has changed about these files into the outbox.
    fn refresh(&mut self, paths: impl IntoIterator<Item = Utf8PathBuf>) {
        for path in paths {
            // The cheap question first: there may be many suites.
            let reading = self.mains.values().filter(|known| {
                known.analysis.as_ref().is_some_and(|one| one.reads.contains(&path))
            });
            let shown = reading.filter(|known| self.is_active(known) && self.counts(known));
            let analyses = shown.filter_map(|known| known.analysis.as_ref());
            let diagnostics = diagnostics_of(&path, analyses);
            let before = self.published.get(&path);
            if before.map_or(diagnostics.is_empty(), |before| *before == diagnostics) {
                continue;
            }
            let document = self.documents.get(&path);
            self.outbox.push(PublishDiagnosticsParams {
                uri: document.map_or_else(|| uri_of(&path), |document| document.uri.clone()),
                version: document.map(|document| document.version),
                diagnostics: diagnostics.clone(),
            });
            self.published.insert(path, diagnostics);
        }
    }
}
