//! The files of a workspace before the agent starts.
//!
//! Kept in memory: for each file what the file system says about it, and the hash of its content. Kept
//! on disk, for the old side of a diff: the content, in the base that the workspace was copied from,
//! or, if the file is not as it was there, in a directory of the case that nothing else uses. Content is
//! used only if it still has its hash.

use std::collections::HashMap;
use std::io::{self, Read};
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};

use crate::disk::{
    Access, NodeFacts, NodeKind, TreeEntry, TreeReader, create_new, create_new_directory, facts_at,
    remove_tree,
};

use super::base::{EntryContent, WorkspaceBase, hash_of, hash_of_bytes};
use super::diff::MOST_TEXT;
use super::ignore_rules::{IgnoreRules, collect_evidence};

/// The file whose time says when the snapshot was complete.
const CLOCK: &str = "clock";

#[derive(Debug)]
pub(super) struct WorkspaceSnapshot {
    base: Arc<WorkspaceBase>,
    /// Of the files that are as in the base, by position there.
    from_base: Vec<Option<NodeFacts>>,
    /// The other ones.
    own: HashMap<Vec<u8>, OwnEntry>,
    /// `None`: those of the base.
    rules: Option<IgnoreRules>,
    /// Holds the content of `own` files, by number.
    store: Utf8PathBuf,
    /// A later change of a file sets its time to this or later.
    taken_at: i128,
}

#[derive(Debug)]
struct OwnEntry {
    facts: NodeFacts,
    content: EntryContent,
    /// Its name in the store; `None` if it is too large for a diff.
    number: Option<usize>,
}

/// A file of the snapshot.
#[derive(Debug, Clone, Copy)]
pub(super) struct SnapshotFile<'a> {
    pub(super) facts: NodeFacts,
    pub(super) content: &'a EntryContent,
    number: Option<usize>,
}

/// How a file of the snapshot is identified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SnapshotKey {
    Base(usize),
    Own,
}

/// The old text of a file.
#[derive(Debug)]
pub(super) enum OldText {
    Text(Vec<u8>),
    TooLarge,
    /// The content on disk is not that of the snapshot.
    Tampered,
}

impl WorkspaceSnapshot {
    /// Of a workspace that is a copy of its base and nothing else.
    pub(super) fn of_copy(
        base: Arc<WorkspaceBase>,
        mut copied: Vec<Option<NodeFacts>>,
        store: Utf8PathBuf,
    ) -> io::Result<Self> {
        for (facts, entry) in copied.iter_mut().zip(&base.entries) {
            if entry.content.is_none() {
                *facts = None;
            }
        }
        let own = HashMap::new();
        let mut snapshot = Self { base, from_base: copied, own, rules: None, store, taken_at: 0 };
        snapshot.create_store()?;
        snapshot.complete()?;
        Ok(snapshot)
    }

    /// Of a workspace that was changed after it was copied.
    pub(super) fn of_tree(
        root: &Utf8Path,
        base: Arc<WorkspaceBase>,
        copied: &[Option<NodeFacts>],
        store: Utf8PathBuf,
        patterns: &[String],
    ) -> io::Result<Self> {
        let from_base = vec![None; base.entries.len()];
        let own = HashMap::new();
        let mut snapshot = Self { base, from_base, own, rules: None, store, taken_at: 0 };
        snapshot.create_store()?;
        let rules = collect_evidence(root, patterns, &mut |entry| snapshot.add(entry, copied))?;
        snapshot.rules = Some(rules);
        snapshot.complete()?;
        Ok(snapshot)
    }

    fn create_store(&self) -> io::Result<()> {
        match create_new_directory(&self.store, Access::Private) {
            // Of an attempt that lacked a descriptor.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                remove_tree(&self.store)?;
                create_new_directory(&self.store, Access::Private)
            }
            created => created,
        }
    }

    /// The time comes from the same file system, whose clock may be coarse.
    fn complete(&mut self) -> io::Result<()> {
        let clock = self.store.join(CLOCK);
        create_new(&clock, b"", Access::Private)?;
        self.taken_at = facts_at(&clock)?.changed;
        Ok(())
    }

    fn add(&mut self, entry: &TreeEntry<'_>, copied: &[Option<NodeFacts>]) -> io::Result<()> {
        let facts = entry.facts()?;
        let position = self.base.position(entry.path);
        let known = position.and_then(|at| {
            let content = self.base.entries[at].content.as_ref()?;
            Some((at, content, copied.get(at).copied().flatten()))
        });
        if let Some((at, _, Some(copy))) = known
            && copy == facts
        {
            self.from_base[at] = Some(facts);
            return Ok(());
        }
        let (content, text) = match entry.kind {
            NodeKind::Link => (EntryContent::Link(entry.link_target()?), None),
            NodeKind::File => read_file(entry, facts.size)?,
            NodeKind::Directory | NodeKind::Special => return Ok(()),
        };
        if let Some((at, same, _)) = known
            && *same == content
        {
            self.from_base[at] = Some(facts);
            return Ok(());
        }
        let mut number = None;
        if let Some(text) = text {
            let next = self.own.len();
            create_new(&self.store.join(next.to_string()), &text, Access::Private)?;
            number = Some(next);
        }
        self.own.insert(entry.path.to_owned(), OwnEntry { facts, content, number });
        Ok(())
    }

    pub(super) fn rules(&self) -> &IgnoreRules {
        self.rules.as_ref().unwrap_or(&self.base.rules)
    }

    pub(super) fn base(&self) -> &Arc<WorkspaceBase> {
        &self.base
    }

    pub(super) fn store(&self) -> &Utf8Path {
        &self.store
    }

    pub(super) fn find(&self, path: &[u8]) -> Option<(SnapshotKey, SnapshotFile<'_>)> {
        if let Some(at) = self.base.position(path)
            && let Some(found) = self.file_of_base(at)
        {
            return Some((SnapshotKey::Base(at), found));
        }
        self.own.get(path).map(|entry| (SnapshotKey::Own, own_file(entry)))
    }

    fn file_of_base(&self, at: usize) -> Option<SnapshotFile<'_>> {
        let facts = self.from_base[at]?;
        let content = self.base.entries[at].content.as_ref()?;
        Some(SnapshotFile { facts, content, number: None })
    }

    /// Whether a file surely is what it was.
    pub(super) fn is_settled(&self, file: &SnapshotFile<'_>, facts: &NodeFacts) -> bool {
        file.facts == *facts && facts.changed < self.taken_at
    }

    pub(super) fn base_length(&self) -> usize {
        self.from_base.len()
    }

    pub(super) fn own_length(&self) -> usize {
        self.own.len()
    }

    /// Every file, with its path.
    pub(super) fn files(&self) -> impl Iterator<Item = (&[u8], SnapshotKey)> {
        let from_base = self.from_base.iter().enumerate().filter(|(_, facts)| facts.is_some());
        let from_base =
            from_base.map(|(at, _)| (self.base.entries[at].path.as_slice(), SnapshotKey::Base(at)));
        from_base.chain(self.own.keys().map(|path| (path.as_slice(), SnapshotKey::Own)))
    }

    /// The content of a file, if it is small enough for a diff.
    pub(super) fn text(&self, path: &[u8], file: &SnapshotFile<'_>) -> io::Result<OldText> {
        let hash = match file.content {
            EntryContent::Link(target) => return Ok(OldText::Text(target.clone())),
            EntryContent::File(_) if file.facts.size > MOST_TEXT => return Ok(OldText::TooLarge),
            EntryContent::File(hash) => hash,
        };
        let opened = match file.number {
            Some(number) => {
                let name = number.to_string();
                TreeReader::open(&self.store).and_then(|store| store.file(name.as_bytes()))
            }
            None => TreeReader::open(&self.base.path).and_then(|base| base.file(path)),
        };
        let Ok(opened) = opened else {
            return Ok(OldText::Tampered);
        };
        let mut bytes = Vec::new();
        opened.take(MOST_TEXT + 1).read_to_end(&mut bytes)?;
        if hash_of_bytes(&bytes) == *hash {
            Ok(OldText::Text(bytes))
        } else {
            Ok(OldText::Tampered)
        }
    }

    /// Whether the stored contents are as they were.
    pub(super) fn is_intact(&self) -> io::Result<bool> {
        let store = TreeReader::open(&self.store)?;
        for entry in self.own.values() {
            let (EntryContent::File(hash), Some(number)) = (&entry.content, entry.number) else {
                continue;
            };
            let name = number.to_string();
            let is_same = match store.file(name.as_bytes()) {
                Ok(file) => hash_of(file)? == *hash,
                Err(_) => false,
            };
            if !is_same {
                return Ok(false);
            }
        }
        self.base.is_intact()
    }
}

fn own_file(entry: &OwnEntry) -> SnapshotFile<'_> {
    SnapshotFile { facts: entry.facts, content: &entry.content, number: entry.number }
}

/// Its hash, and its bytes if they may be needed for a diff.
fn read_file(entry: &TreeEntry<'_>, size: u64) -> io::Result<(EntryContent, Option<Vec<u8>>)> {
    let file = match entry.open() {
        Ok(file) => file,
        // Nothing can be said about it but that it is there.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            return Ok((EntryContent::File([0; 32]), None));
        }
        Err(error) => return Err(error),
    };
    if size > MOST_TEXT {
        return Ok((EntryContent::File(hash_of(file)?), None));
    }
    let mut bytes = Vec::new();
    file.take(MOST_TEXT + 1).read_to_end(&mut bytes)?;
    Ok((EntryContent::File(hash_of_bytes(&bytes)), Some(bytes)))
}
