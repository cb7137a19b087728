//! What workspaces are copied from: a directory, and in memory what is in it. The old side of a diff does
//! not come from the directory, but from a pack of the texts.
//!
//! A template that was not changed just now is a base as it is: its files are read once, and the first
//! workspaces are copied from it. Meanwhile it is copied into a directory of the run ([`WorkspaceBase::settle`]),
//! so that later cases start from the same files whatever happens to the template.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::model::{Fault, FaultKind, Stage};
use sha2::{Digest, Sha256};

use crate::disk::{
    CopiedTree, CopyError, NodeFacts, NodeKind, TreeEntry, TreeReader, TreeVisitor, copy_tree,
    walk_tree,
};
use crate::lock::locked;

use super::base_source::{BaseSource, SourceDirectory};
use super::ignore_rules::{IgnoreRules, collect_evidence_of};
use super::text_pack::{ContentHash, FileContent, TextPack, TextPackDraft};

/// What an entry holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum EntryContent {
    File(FileContent),
    Link(Vec<u8>),
    /// A FIFO, a socket, a device or the root of another file system. In a base there is none.
    Special,
}

#[derive(Debug)]
pub(super) struct BaseEntry {
    pub(super) path: Vec<u8>,
    /// `None` if it is not evidence.
    pub(super) content: Option<EntryContent>,
}

/// A directory that is ready to be copied.
#[derive(Debug)]
pub(super) struct WorkspaceBase {
    source: Mutex<Arc<BaseSource>>,
    /// Set by the first case that copies from a template.
    is_settling: AtomicBool,
    pub(super) entries: Vec<BaseEntry>,
    /// Positions in `entries`.
    by_path: HashMap<Vec<u8>, usize>,
    pub(super) rules: IgnoreRules,
    pub(super) texts: TextPack,
}

impl WorkspaceBase {
    /// Looks at a directory that is ready. `texts` is where its texts are kept.
    pub(super) fn of(
        directory: SourceDirectory,
        texts: Utf8PathBuf,
        patterns: &[String],
    ) -> io::Result<Self> {
        let mut pack = TextPackDraft::new(texts);
        let mut evidence = HashMap::new();
        let (place, unreadable) = (directory.place(), directory.unreadable());
        let rules = collect_evidence_of(place, unreadable, patterns, &mut |entry| {
            if let Some(content) = content_of(entry, &mut pack)? {
                evidence.insert(entry.path.to_owned(), content);
            }
            Ok(())
        })?;
        let mut listing = BaseListing { evidence, entries: Vec::new(), facts: Vec::new() };
        walk_tree(place, unreadable, &mut listing)?;
        let BaseListing { entries, facts, .. } = listing;
        let paths = entries.iter().enumerate();
        let by_path = paths.map(|(at, entry)| (entry.path.clone(), at)).collect();
        let source = Mutex::new(Arc::new(BaseSource { directory, facts }));
        let (texts, is_settling) = (pack.complete()?, AtomicBool::new(false));
        Ok(Self { source, is_settling, entries, by_path, rules, texts })
    }

    /// A template itself. Fails if a file was changed less than `rest` ago: the clock of a file system
    /// may be too coarse to show that it changes once more.
    pub(super) fn of_template(
        template: SourceDirectory,
        texts: Utf8PathBuf,
        patterns: &[String],
        rest: Duration,
    ) -> io::Result<Self> {
        let base = Self::of(template, texts, patterns)?;
        let latest = base.source().facts.iter().map(|facts| facts.changed).max();
        let rest = i128::try_from(rest.as_nanos()).unwrap_or(i128::MAX);
        if latest.is_some_and(|latest| latest.saturating_add(rest) > base.texts.completed_at()) {
            return Err(io::Error::other("it was changed just now"));
        }
        Ok(base)
    }

    pub(super) fn source(&self) -> Arc<BaseSource> {
        Arc::clone(&locked(&self.source))
    }

    pub(super) fn position(&self, path: &[u8]) -> Option<usize> {
        self.by_path.get(path).copied()
    }

    /// A digest of the evidence: paths and contents.
    pub(super) fn digest(&self) -> ContentHash {
        let mut known: Vec<_> = self.entries.iter().collect();
        known.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        let mut digest = Sha256::new();
        for entry in known {
            let content = match &entry.content {
                None => continue,
                Some(EntryContent::File(file)) => file.hash,
                Some(EntryContent::Link(target)) => Sha256::digest(target).into(),
                Some(EntryContent::Special) => [0; 32],
            };
            digest.update((entry.path.len() as u64).to_le_bytes());
            digest.update(&entry.path);
            digest.update(content);
        }
        digest.finalize().into()
    }

    /// Whether the caller has to let it settle: it is still copied from a template.
    pub(super) fn needs_settling(&self) -> bool {
        self.source().directory.is_template() && !self.is_settling.swap(true, Ordering::Relaxed)
    }

    /// From now on it is copied from this directory, which is new, and no longer from the template. If that
    /// fails, everything stays as it is.
    pub(super) fn settle(&self, path: Utf8PathBuf) -> Result<(), BaseError> {
        let mut copy = BaseSource { directory: SourceDirectory::made(path), facts: Vec::new() };
        let copied = self.copy_to(&copy.directory.path)?;
        copy.facts = copied.into_iter().collect::<Option<_>>().ok_or(BaseError::Tampered)?;
        *locked(&self.source) = Arc::new(copy);
        Ok(())
    }

    /// Copies it, and gives the facts of the copies by position.
    pub(super) fn copy_to(&self, target: &Utf8Path) -> Result<Vec<Option<NodeFacts>>, BaseError> {
        if !self.texts.is_intact() {
            return Err(BaseError::Tampered);
        }
        let source = self.source();
        let from = &source.directory;
        let CopiedTree { files, links } = copy_tree(from.place(), target.into(), from.rules())?;
        let mut facts = vec![None; self.entries.len()];
        if files.len() + links.len() != self.entries.len() {
            return Err(BaseError::Tampered);
        }
        for file in files {
            let at = self.position(&file.path).ok_or(BaseError::Tampered)?;
            if source.facts[at] != file.original {
                return Err(BaseError::Tampered);
            }
            facts[at] = Some(file.copy);
        }
        let copies = TreeReader::open(target)?;
        for (path, link) in links {
            let at = self.position(&path).ok_or(BaseError::Tampered)?;
            let is_same = match &self.entries[at].content {
                Some(EntryContent::Link(known)) => *known == link,
                Some(EntryContent::File(_) | EntryContent::Special) => false,
                None => source.facts[at].kind == NodeKind::Link,
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
    facts: Vec<NodeFacts>,
}

impl TreeVisitor for BaseListing {
    fn visit(&mut self, entry: &TreeEntry<'_>) -> io::Result<()> {
        if entry.kind != NodeKind::Special {
            let content = self.evidence.remove(entry.path);
            let path = entry.path.to_owned();
            self.facts.push(entry.facts()?);
            self.entries.push(BaseEntry { path, content });
        }
        Ok(())
    }
}
