//! A place in an open document that a request is about.

use std::ops::Range;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::read::skill_root;
use lsp_types::{self as lsp, Location, Position};

use crate::outline::{FileKind, ParsedText, Survey};
use crate::project::{Analysis, Project};
use crate::text::{LineMap, uri_of};

#[derive(Debug)]
pub(crate) struct Spot<'p> {
    pub(crate) project: &'p Project,
    pub(crate) path: Utf8PathBuf,
    pub(crate) text: Arc<String>,
    pub(crate) lines: &'p LineMap,
    pub(crate) offset: usize,
}

impl<'p> Spot<'p> {
    /// `None` if the document is not open.
    pub(crate) fn new(project: &'p Project, path: Utf8PathBuf, position: Position) -> Option<Self> {
        let document = project.documents.get(&path)?;
        let offset = document.offset(position, project.encoding);
        Some(Self { project, text: document.shared_text(), lines: document.lines(), offset, path })
    }

    pub(crate) fn survey(&self) -> Arc<Survey> {
        self.project.survey(&self.path, &self.text)
    }

    pub(crate) fn parsed(&self) -> ParsedText {
        self.project.parsed(&self.path, &self.text)
    }

    pub(crate) fn range(&self, bytes: &Range<usize>) -> lsp::Range {
        range_in(self.lines, &self.text, bytes, self.project)
    }

    pub(crate) fn directory(&self) -> &Utf8Path {
        self.path.parent().unwrap_or(&self.path)
    }

    /// Where relative paths start: beside the document, and of an `evals.json` at its skill.
    pub(crate) fn start_of_paths(&self) -> Utf8PathBuf {
        match self.project.kind_of(&self.path, &self.text) {
            FileKind::EvalsJson => skill_root(&self.path),
            _ => self.directory().to_owned(),
        }
    }

    /// The suite that the document belongs to: itself, or the first one that reads it.
    pub(crate) fn suite(&self) -> Option<&'p Analysis> {
        let own = self.project.analyses().find(|analysis| analysis.main.path == self.path);
        let mut readers = self.project.analyses();
        own.or_else(|| readers.find(|analysis| analysis.reads.contains(&self.path)))
    }

    /// Where a leading `/` starts, and what no path may leave.
    pub(crate) fn root(&self) -> Utf8PathBuf {
        let suite = self.suite().map(|analysis| analysis.root.clone());
        suite.unwrap_or_else(|| self.project.folder_of(&self.path))
    }

    /// The targets file that the names of targets refer to.
    pub(crate) fn targets_file(&self) -> Option<&'p Utf8Path> {
        self.suite()?.targets_file.as_deref()
    }
}

fn range_in(lines: &LineMap, text: &str, bytes: &Range<usize>, project: &Project) -> lsp::Range {
    let at = |offset| lines.position(text, offset, project.encoding);
    lsp::Range { start: at(bytes.start), end: at(bytes.end) }
}

/// Places in a file, open or not.
pub(super) fn locations(
    project: &Project,
    path: &Utf8Path,
    text: &str,
    places: &[Range<usize>],
) -> Vec<Location> {
    let lines = LineMap::new(text);
    let document = project.documents.get(path);
    let uri = document.map_or_else(|| uri_of(path), |document| document.uri.clone());
    let location =
        |place| Location { uri: uri.clone(), range: range_in(&lines, text, place, project) };
    places.iter().map(location).collect()
}
