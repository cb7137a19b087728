//! What workspaces are copied from: a directory that was prepared once, and in memory what is in it. The
//! old side of a diff does not come from the directory, but from a pack of the texts.

use std::collections::HashMap;
use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::model::{Fault, FaultKind, Stage};

use crate::disk::{
    CopiedTree, CopyError, CopyOrigin, CopyRules, NodeFacts, NodeKind, TreeEntry, TreeReader,
    TreeVisitor, UnreadableDirectory, copy_tree, remove_tree, walk_tree,
};

use super::ignore_rules::{IgnoreRules, collect_evidence};
use super::text_pack::{FileContent, TextPack, TextPackDraft};

/// What an entry holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum EntryContent {
    File(FileContent),
    Link(Vec<u8>),
}

#[derive(Debug)]
pub(super) struct BaseEntry {
    pub(super) path: Vec<u8>,
    /// Of the file in the base.
    facts: NodeFacts,
    /// `None` if it is not evidence.
    pub(super) content: Option<EntryContent>,
}

/// A prepared directory. It is removed when it is dropped.
#[derive(Debug)]
pub(super) struct WorkspaceBase {
    pub(super) path: Utf8PathBuf,
    pub(super) entries: Vec<BaseEntry>,
    /// Positions in `entries`.
    by_path: HashMap<Vec<u8>, usize>,
    pub(super) rules: IgnoreRules,
    pub(super) texts: TextPack,
}

impl Drop for WorkspaceBase {
    fn drop(&mut self) {
        let _ = remove_tree(&self.path);
    }
}

impl WorkspaceBase {
    /// Looks at a directory that is ready. `texts` is where its texts are kept.
    pub(super) fn of(
        path: Utf8PathBuf,
        texts: Utf8PathBuf,
        patterns: &[String],
    ) -> io::Result<Self> {
        let mut pack = TextPackDraft::new(texts);
        let mut evidence = HashMap::new();
        let rules = collect_evidence(&path, patterns, &mut |entry| {
            if let Some(content) = content_of(entry, &mut pack)? {
                evidence.insert(entry.path.to_owned(), content);
            }
            Ok(())
        })?;
        let mut listing = BaseListing { evidence, entries: Vec::new() };
        walk_tree(&path, UnreadableDirectory::UnlockToRead, &mut listing)?;
        let entries = listing.entries;
        let paths = entries.iter().enumerate();
        let by_path = paths.map(|(at, entry)| (entry.path.clone(), at)).collect();
        Ok(Self { path, entries, by_path, rules, texts: pack.complete()? })
    }

    pub(super) fn position(&self, path: &[u8]) -> Option<usize> {
        self.by_path.get(path).copied()
    }

    /// Copies it, and gives the facts of the copies by position.
    pub(super) fn copy_to(&self, target: &Utf8Path) -> Result<Vec<Option<NodeFacts>>, BaseError> {
        if !self.texts.is_intact() {
            return Err(BaseError::Tampered);
        }
        let rules = CopyRules { origin: CopyOrigin::Made, leaves_out: &|_| false };
        let from = self.path.as_path();
        let CopiedTree { files, links } = copy_tree(from.into(), target.into(), rules)?;
        let mut facts = vec![None; self.entries.len()];
        if files.len() + links.len() != self.entries.len() {
            return Err(BaseError::Tampered);
        }
        for file in files {
            let at = self.position(&file.path).ok_or(BaseError::Tampered)?;
            if self.entries[at].facts != file.original {
                return Err(BaseError::Tampered);
            }
            facts[at] = Some(file.copy);
        }
        let copies = TreeReader::open(target)?;
        for (path, link) in links {
            let at = self.position(&path).ok_or(BaseError::Tampered)?;
            let is_same = match &self.entries[at].content {
                Some(EntryContent::Link(known)) => *known == link,
                Some(EntryContent::File(_)) => false,
                None => self.entries[at].facts.kind == NodeKind::Link,
            };
            if !is_same {
                return Err(BaseError::Tampered);
            }
            facts[at] = Some(copies.facts(&path)?);
        }
        Ok(facts)
    }
}

/// Why a base cannot be copied.
#[derive(Debug)]
pub(super) enum BaseError {
    /// It is not what it was.
    Tampered,
    Copy(CopyError),
}

impl From<CopyError> for BaseError {
    fn from(error: CopyError) -> Self {
        Self::Copy(error)
    }
}

impl From<io::Error> for BaseError {
    fn from(error: io::Error) -> Self {
        Self::Copy(error.into())
    }
}

/// Something changed what belongs to evalrig.
pub(super) fn tampered() -> Fault {
    let message = "the snapshot of the workspace was changed while the case ran";
    Fault::new(Stage::Workspace, FaultKind::Tampered, message)
}

/// `None` for what cannot be read or is neither a file nor a link.
fn content_of(entry: &TreeEntry<'_>, pack: &mut TextPackDraft) -> io::Result<Option<EntryContent>> {
    Ok(match entry.kind {
        NodeKind::Link => Some(EntryContent::Link(entry.link_target()?)),
        NodeKind::File => match entry.open() {
            Ok(file) => Some(EntryContent::File(pack.read(file)?.keep()?)),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => None,
            Err(error) => return Err(error),
        },
        NodeKind::Directory | NodeKind::Special => None,
    })
}

struct BaseListing {
    evidence: HashMap<Vec<u8>, EntryContent>,
    entries: Vec<BaseEntry>,
}

impl TreeVisitor for BaseListing {
    fn visit(&mut self, entry: &TreeEntry<'_>) -> io::Result<()> {
        if entry.kind != NodeKind::Special {
            let content = self.evidence.remove(entry.path);
            let path = entry.path.to_owned();
            self.entries.push(BaseEntry { path, facts: entry.facts()?, content });
        }
        Ok(())
    }
}
