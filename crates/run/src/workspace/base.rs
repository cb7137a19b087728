//! What workspaces are copied from: a directory that was prepared once, and in memory what is in it. The
//! files are evidence too, being the old side of a diff, so their hashes are kept in memory.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::model::{Fault, FaultKind, Stage};
use sha2::{Digest, Sha256};

use crate::disk::{
    ContentHash, CopiedFile, CopiedTree, CopyError, CopyOrigin, CopyRules, NodeFacts, NodeKind,
    TreeEntry, TreeReader, TreeVisitor, UnreadableDirectory, copy_tree, remove_tree, walk_tree,
};

use super::ignore_rules::{IgnoreRules, collect_evidence};

/// What an entry holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum EntryContent {
    File(ContentHash),
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
}

impl Drop for WorkspaceBase {
    fn drop(&mut self) {
        let _ = remove_tree(&self.path);
    }
}

impl WorkspaceBase {
    /// Looks at a directory that is ready. `copied` is what is known of it already.
    pub(super) fn of(
        path: Utf8PathBuf,
        copied: &[CopiedFile],
        patterns: &[String],
    ) -> io::Result<Self> {
        let hashed = copied.iter().filter_map(|file| Some((file, file.hash?)));
        let known: KnownHashes<'_> =
            hashed.map(|(file, hash)| (file.path.as_slice(), (file.copy, hash))).collect();
        let mut evidence = HashMap::new();
        let rules = collect_evidence(&path, patterns, &mut |entry| {
            if let Some(content) = content_of(entry, &known)? {
                evidence.insert(entry.path.to_owned(), content);
            }
            Ok(())
        })?;
        let mut listing = BaseListing { evidence, entries: Vec::new() };
        walk_tree(&path, UnreadableDirectory::UnlockToRead, &mut listing)?;
        let entries = listing.entries;
        let paths = entries.iter().enumerate();
        let by_path = paths.map(|(at, entry)| (entry.path.clone(), at)).collect();
        Ok(Self { path, entries, by_path, rules })
    }

    pub(super) fn position(&self, path: &[u8]) -> Option<usize> {
        self.by_path.get(path).copied()
    }

    /// Copies it, and gives the facts of the copies by position.
    pub(super) fn copy_to(&self, target: &Utf8Path) -> Result<Vec<Option<NodeFacts>>, BaseError> {
        let rules =
            CopyRules { origin: CopyOrigin::Made, is_hashed: false, leaves_out: &|_| false };
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

    /// Whether everything in it is as it was.
    pub(super) fn is_intact(&self) -> io::Result<bool> {
        let mut check = BaseCheck { base: self, seen: 0, is_intact: true };
        walk_tree(&self.path, UnreadableDirectory::UnlockToRead, &mut check)?;
        Ok(check.is_intact && check.seen == self.entries.len())
    }
}

/// Files whose hashes are known as long as they have these facts.
type KnownHashes<'a> = HashMap<&'a [u8], (NodeFacts, ContentHash)>;

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
fn content_of(entry: &TreeEntry<'_>, known: &KnownHashes<'_>) -> io::Result<Option<EntryContent>> {
    Ok(match entry.kind {
        NodeKind::Link => Some(EntryContent::Link(entry.link_target()?)),
        NodeKind::File => {
            let hash = match known.get(entry.path) {
                Some((facts, hash)) if *facts == entry.facts()? => *hash,
                _ => match entry.open() {
                    Ok(file) => hash_of(file)?,
                    Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                        return Ok(None);
                    }
                    Err(error) => return Err(error),
                },
            };
            Some(EntryContent::File(hash))
        }
        NodeKind::Directory | NodeKind::Special => None,
    })
}

/// The hash of a file, whatever its size.
pub(super) fn hash_of(mut file: File) -> io::Result<ContentHash> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(hasher.finalize().into()),
            Ok(length) => hasher.update(&buffer[..length]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

pub(super) fn hash_of_bytes(bytes: &[u8]) -> ContentHash {
    Sha256::digest(bytes).into()
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

struct BaseCheck<'a> {
    base: &'a WorkspaceBase,
    seen: usize,
    is_intact: bool,
}

impl TreeVisitor for BaseCheck<'_> {
    fn visit(&mut self, entry: &TreeEntry<'_>) -> io::Result<()> {
        if entry.kind != NodeKind::Special {
            self.seen += 1;
            let known = self.base.position(entry.path).map(|at| &self.base.entries[at].facts);
            self.is_intact &= known == Some(&entry.facts()?);
        }
        Ok(())
    }
}
