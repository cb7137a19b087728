//! What an agent did to the files of its workspace: a walk beside the snapshot, then a diff of what is
//! not the same (spec 17.3).

use std::collections::HashSet;
use std::io::{self, Read};

use camino::Utf8Path;
use evalrig_core::model::{Fault, FaultKind, FileChanges, Stage};

use crate::disk::{FoundEntry, NodeFacts, NodeKind, TreeReader};

use super::base::{EntryContent, tampered};
use super::diff::{DiffBuilder, DiffSide, FileDiff, MOST_TEXT, SideText};
use super::file_name::shown_name;
use super::ignore_rules::find_evidence;
use super::snapshot::{OldText, SnapshotFile, SnapshotKey, WorkspaceSnapshot};
use super::text_pack::hash_of;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChangeKind {
    Created,
    Modified,
    Deleted,
}

#[derive(Debug)]
struct FileChange {
    path: Vec<u8>,
    kind: ChangeKind,
}

/// The changes as rows have them, and the names as the file system has them.
#[derive(Debug)]
pub(super) struct FoundChanges {
    pub(super) shown: FileChanges,
    /// Modified files, in byte order. As text, two names that are not UTF-8 can be equal.
    modified: Vec<Vec<u8>>,
}

impl FoundChanges {
    pub(super) fn is_modified(&self, path: &[u8]) -> bool {
        self.modified.binary_search_by(|modified| modified.as_slice().cmp(path)).is_ok()
    }
}

/// Compares a workspace with its snapshot.
pub(super) fn find_changes(
    root: &Utf8Path,
    snapshot: &WorkspaceSnapshot,
) -> Result<FoundChanges, Fault> {
    let found = compare(root, snapshot).map_err(|error| unreadable(&error))?;
    let builder = diff(root, snapshot, &found)?;
    // Looked at last, so that nothing of it can have been used before it was changed.
    if !snapshot.is_intact() {
        return Err(tampered());
    }
    let paths = |kind| {
        let of_kind = found.iter().filter(|change| change.kind == kind);
        of_kind.map(|change| shown_name(&change.path).into_owned()).collect()
    };
    let shown = FileChanges {
        created: paths(ChangeKind::Created),
        modified: paths(ChangeKind::Modified),
        deleted: paths(ChangeKind::Deleted),
        is_diff_truncated: builder.is_truncated(),
        diff: builder.finish(),
        path: None,
    };
    let modified = found.into_iter().filter(|change| change.kind == ChangeKind::Modified);
    Ok(FoundChanges { shown, modified: modified.map(|change| change.path).collect() })
}

fn unreadable(error: &io::Error) -> Fault {
    let message = format!("cannot read the workspace: {error}");
    Fault::new(Stage::Workspace, FaultKind::Io, message)
}

/// The changes, in byte order.
fn compare(root: &Utf8Path, snapshot: &WorkspaceSnapshot) -> io::Result<Vec<FileChange>> {
    let mut changes = Vec::new();
    let mut seen = vec![false; snapshot.base_length()];
    let mut seen_own: HashSet<Vec<u8>> = HashSet::with_capacity(snapshot.own_length());
    let rules = snapshot.rules();
    let tree = TreeReader::open(root)?;
    for entry in find_evidence(root, rules)?.entries() {
        let kind = match snapshot.find(entry.path) {
            None if rules.excludes(entry.path, false) => continue,
            None => {
                make_readable(&entry, &tree);
                ChangeKind::Created
            }
            Some(file) => {
                match file.key {
                    SnapshotKey::Base(at) => seen[at] = true,
                    SnapshotKey::Own => drop(seen_own.insert(entry.path.to_owned())),
                }
                if !is_modified(&entry, &tree, snapshot, &file)? {
                    continue;
                }
                ChangeKind::Modified
            }
        };
        changes.push(FileChange { path: entry.path.to_owned(), kind });
    }
    for (path, key) in snapshot.files() {
        let is_there = match key {
            SnapshotKey::Base(at) => seen[at],
            SnapshotKey::Own => seen_own.contains(path),
        };
        if !is_there {
            changes.push(FileChange { path: path.to_owned(), kind: ChangeKind::Deleted });
        }
    }
    changes.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    Ok(changes)
}

/// An agent hides nothing by taking permissions away: the files are the user's.
fn make_readable(entry: &FoundEntry<'_>, tree: &TreeReader) {
    if entry.facts.kind == NodeKind::File && entry.facts.mode & 0o400 == 0 {
        // One of another user stays as it is, and the diff says so.
        let _ = tree.unlock_file(entry.path);
    }
}

fn is_modified(
    entry: &FoundEntry<'_>,
    tree: &TreeReader,
    snapshot: &WorkspaceSnapshot,
    old: &SnapshotFile<'_>,
) -> io::Result<bool> {
    let (path, facts) = (entry.path, entry.facts);
    if snapshot.is_settled(old, &facts) {
        return Ok(false);
    }
    make_readable(entry, tree);
    Ok(match (facts.kind, old.content) {
        (NodeKind::Link, EntryContent::Link(target)) => tree.link_target(path)? != *target,
        // What is written to a FIFO or a device is not in it.
        (kind, EntryContent::Special) => (kind, facts.mode) != (old.facts.kind, old.facts.mode),
        (NodeKind::File, EntryContent::File(content)) => {
            let is_same = facts.mode == old.facts.mode && facts.size == old.facts.size;
            !is_same
                || match tree.file(path) {
                    Ok(file) => hash_of(file)? != content.hash,
                    Err(_) => facts != old.facts,
                }
        }
        _ => true,
    })
}

fn diff(
    root: &Utf8Path,
    snapshot: &WorkspaceSnapshot,
    changes: &[FileChange],
) -> Result<DiffBuilder, Fault> {
    let tree = TreeReader::open(root).map_err(|error| unreadable(&error))?;
    let mut builder = DiffBuilder::new(changes.len());
    for change in changes {
        if builder.is_full() {
            break;
        }
        let before = match change.kind {
            ChangeKind::Created => None,
            _ => snapshot.find(&change.path),
        };
        let mut old = before.map(|file| old_side(snapshot, &file)).transpose()?;
        let new = match change.kind {
            ChangeKind::Deleted => None,
            _ => Some(new_side(&tree, &change.path)),
        };
        let mut new = new.transpose().map_err(|error| unreadable(&error))?;
        if let (Some(file), Some(old), Some(new)) = (before, &mut old, &mut new)
            && is_same_large_file(&tree, &change.path, &file, (old, new))
        {
            (old.text, new.text) = (SideText::Same, SideText::Same);
        }
        builder.add(&FileDiff { path: &change.path, old, new });
    }
    Ok(builder)
}

/// Whether a file that is too large for a diff has other permissions and nothing else.
fn is_same_large_file(
    tree: &TreeReader,
    path: &[u8],
    before: &SnapshotFile<'_>,
    sides: (&DiffSide, &DiffSide),
) -> bool {
    let (SideText::TooLarge(old), SideText::TooLarge(new)) = (&sides.0.text, &sides.1.text) else {
        return false;
    };
    let EntryContent::File(content) = before.content else { return false };
    let hash = || tree.file(path).and_then(hash_of);
    old == new && hash().is_ok_and(|hash| hash == content.hash)
}

fn old_side(snapshot: &WorkspaceSnapshot, file: &SnapshotFile<'_>) -> Result<DiffSide, Fault> {
    let text = match snapshot.text(file) {
        OldText::Text(bytes) => SideText::Bytes(bytes),
        OldText::None if *file.content == EntryContent::Special => SideText::Special,
        OldText::None if file.facts.size > MOST_TEXT => SideText::TooLarge(file.facts.size),
        OldText::None => SideText::Unreadable,
        OldText::Tampered => return Err(tampered()),
    };
    Ok(DiffSide { mode: git_mode(&file.facts), text })
}

fn new_side(tree: &TreeReader, path: &[u8]) -> io::Result<DiffSide> {
    let facts = tree.facts(path)?;
    let text = if facts.kind == NodeKind::Link {
        SideText::Bytes(tree.link_target(path)?)
    } else if facts.kind != NodeKind::File {
        SideText::Special
    } else if facts.size > MOST_TEXT {
        SideText::TooLarge(facts.size)
    } else {
        match tree.file(path) {
            Ok(file) => {
                let mut bytes = Vec::new();
                file.take(MOST_TEXT).read_to_end(&mut bytes)?;
                SideText::Bytes(bytes)
            }
            Err(_) => SideText::Unreadable,
        }
    };
    Ok(DiffSide { mode: git_mode(&facts), text })
}

/// As git writes it, but with all permission bits.
fn git_mode(facts: &NodeFacts) -> u32 {
    match facts.kind {
        NodeKind::Link => 0o120_000,
        // git knows none of these.
        NodeKind::Special => 0o010_000 | facts.mode,
        _ => 0o100_000 | facts.mode,
    }
}
