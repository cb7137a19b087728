//! The files of a workspace before the agent starts.
//!
//! Kept in memory: for each file what the file system says about it, and the hash of its content. The
//! content itself, for the old side of a diff, is in the pack of the base that the workspace was copied
//! from, or, if the file is not as it was there, in a pack of the case.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};

use crate::disk::{FoundEntry, NodeFacts, NodeKind, TreeReader};

use super::base::{EntryContent, WorkspaceBase};
use super::ignore_rules::{IgnoreRules, collect_evidence};
use super::text_pack::{FileContent, TextPack, TextPackDraft};

#[derive(Debug)]
pub(super) struct WorkspaceSnapshot {
    base: Arc<WorkspaceBase>,
    /// Of the files that are as in the base, by position there.
    from_base: Vec<Option<NodeFacts>>,
    /// The other ones.
    own: HashMap<Vec<u8>, OwnEntry>,
    /// `None`: those of the base.
    rules: Option<IgnoreRules>,
    /// Of `own` files. A later change of a file sets its time to that of the pack or later.
    texts: TextPack,
}

#[derive(Debug)]
struct OwnEntry {
    facts: NodeFacts,
    content: EntryContent,
}

/// A file of the snapshot.
#[derive(Debug, Clone, Copy)]
pub(super) struct SnapshotFile<'a> {
    pub(super) key: SnapshotKey,
    pub(super) facts: NodeFacts,
    pub(super) content: &'a EntryContent,
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
    /// It is too large, could not be read, or has no content.
    None,
    /// The content on disk is not that of the snapshot.
    Tampered,
}

impl WorkspaceSnapshot {
    /// Of a workspace that is a copy of its base and nothing else. `texts` is a path for its pack.
    pub(super) fn of_copy(
        base: Arc<WorkspaceBase>,
        mut copied: Vec<Option<NodeFacts>>,
        texts: Utf8PathBuf,
    ) -> io::Result<Self> {
        for (facts, entry) in copied.iter_mut().zip(&base.entries) {
            if entry.content.is_none() {
                *facts = None;
            }
        }
        let texts = TextPackDraft::new(texts).complete()?;
        Ok(Self { base, from_base: copied, own: HashMap::new(), rules: None, texts })
    }

    /// Of a workspace that was changed after it was copied.
    pub(super) fn of_tree(
        root: &Utf8Path,
        base: Arc<WorkspaceBase>,
        copied: &[Option<NodeFacts>],
        texts: Utf8PathBuf,
        patterns: &[String],
    ) -> io::Result<Self> {
        let mut draft = SnapshotDraft {
            base: &base,
            copied,
            from_base: vec![None; base.entries.len()],
            own: HashMap::new(),
            texts: TextPackDraft::new(texts),
        };
        let (rules, found) = collect_evidence(root, patterns)?;
        let tree = TreeReader::open(root)?;
        for entry in found.entries() {
            draft.add(&entry, &tree)?;
        }
        let rules = Some(rules);
        let SnapshotDraft { from_base, own, texts, .. } = draft;
        Ok(Self { from_base, own, rules, texts: texts.complete()?, base })
    }

    /// The facts of files that are as in the base, for a later snapshot of the same workspace.
    pub(super) fn settled_facts(&self) -> Vec<Option<NodeFacts>> {
        let is_settled = |facts: &NodeFacts| facts.changed < self.texts.completed_at();
        self.from_base.iter().map(|facts| facts.filter(is_settled)).collect()
    }

    pub(super) fn rules(&self) -> &IgnoreRules {
        self.rules.as_ref().unwrap_or(&self.base.rules)
    }

    pub(super) fn base(&self) -> &Arc<WorkspaceBase> {
        &self.base
    }

    pub(super) fn find(&self, path: &[u8]) -> Option<SnapshotFile<'_>> {
        if let Some(at) = self.base.position(path)
            && let (Some(facts), Some(content)) =
                (self.from_base[at], &self.base.entries[at].content)
        {
            return Some(SnapshotFile { key: SnapshotKey::Base(at), facts, content });
        }
        let OwnEntry { facts, content } = self.own.get(path)?;
        Some(SnapshotFile { key: SnapshotKey::Own, facts: *facts, content })
    }

    /// Whether a file surely is what it was.
    pub(super) fn is_settled(&self, file: &SnapshotFile<'_>, facts: &NodeFacts) -> bool {
        file.facts == *facts && facts.changed < self.texts.completed_at()
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
    pub(super) fn text(&self, file: &SnapshotFile<'_>) -> OldText {
        let content = match file.content {
            EntryContent::Link(target) => return OldText::Text(target.clone()),
            EntryContent::File(content) => content,
            EntryContent::Special => return OldText::None,
        };
        let Some(range) = content.text else { return OldText::None };
        let pack = match file.key {
            SnapshotKey::Base(_) => &self.base.texts,
            SnapshotKey::Own => &self.texts,
        };
        match pack.read(range, &content.hash) {
            Ok(Some(text)) => OldText::Text(text),
            Ok(None) | Err(_) => OldText::Tampered,
        }
    }

    /// Whether the stored contents are as they were.
    pub(super) fn is_intact(&self) -> bool {
        self.texts.is_intact() && self.base.texts.is_intact()
    }
}

/// A snapshot while the workspace is walked.
struct SnapshotDraft<'a> {
    base: &'a WorkspaceBase,
    /// Facts of the copies of the base, by position.
    copied: &'a [Option<NodeFacts>],
    from_base: Vec<Option<NodeFacts>>,
    own: HashMap<Vec<u8>, OwnEntry>,
    texts: TextPackDraft,
}

impl SnapshotDraft<'_> {
    fn add(&mut self, entry: &FoundEntry<'_>, tree: &TreeReader) -> io::Result<()> {
        let facts = entry.facts;
        if entry.kind == NodeKind::Special {
            let special = OwnEntry { facts, content: EntryContent::Special };
            self.own.insert(entry.path.to_owned(), special);
            return Ok(());
        }
        let position = self.base.position(entry.path);
        let known = position.and_then(|at| Some((at, self.base.entries[at].content.as_ref()?)));
        if let Some((at, _)) = known
            && self.copied.get(at).copied().flatten() == Some(facts)
        {
            self.from_base[at] = Some(facts);
            return Ok(());
        }
        let content = self.read(entry, tree, known.map(|(_, content)| content))?;
        match known {
            Some((at, same)) if *same == content => self.from_base[at] = Some(facts),
            _ => {
                self.own.insert(entry.path.to_owned(), OwnEntry { facts, content });
            }
        }
        Ok(())
    }

    /// The content of a file or link; that of the base if it is the same.
    fn read(
        &mut self,
        entry: &FoundEntry<'_>,
        tree: &TreeReader,
        in_base: Option<&EntryContent>,
    ) -> io::Result<EntryContent> {
        if entry.kind == NodeKind::Link {
            return Ok(EntryContent::Link(tree.link_target(entry.path)?));
        }
        let file = match tree.file(entry.path) {
            Ok(file) => file,
            // Nothing can be said about it but that it is there.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                return Ok(EntryContent::File(FileContent { hash: [0; 32], text: None }));
            }
            Err(error) => return Err(error),
        };
        let read = self.texts.read(file)?;
        Ok(EntryContent::File(match in_base {
            Some(EntryContent::File(known)) if known.hash == read.hash => *known,
            _ => read.keep()?,
        }))
    }
}
