//! What an agent did to the files of its workspace: a walk beside the snapshot, then a diff of what is
//! not the same (spec 17.3).

use std::collections::HashSet;
use std::io::{self, Read};
use std::thread;

use camino::Utf8Path;
use evalrig_core::model::{Fault, FaultKind, FileChanges, Stage};

use crate::disk::{NodeFacts, NodeKind, TreeEntry, TreeReader};

use super::base::{EntryContent, hash_of, tampered};
use super::diff::{DiffBuilder, DiffSide, FileDiff, MOST_TEXT, SideText};
use super::ignore_rules::walk_evidence;
use super::snapshot::{OldText, SnapshotFile, SnapshotKey, WorkspaceSnapshot};

/// A base of this many files is checked by a thread of its own.
const WORTH_A_THREAD: usize = 1000;

/// The files as the agent left them.
#[derive(Debug, Clone)]
pub(super) struct WorkspaceEvidence {
    /// In byte order.
    pub(super) files: Vec<String>,
    pub(super) changes: FileChanges,
}

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

/// Compares a workspace with its snapshot.
pub(super) fn find_changes(
    root: &Utf8Path,
    snapshot: &WorkspaceSnapshot,
) -> Result<WorkspaceEvidence, Fault> {
    let compare = || compare(root, snapshot);
    let (compared, is_intact) = if snapshot.base_length() < WORTH_A_THREAD {
        (compare(), snapshot.is_intact())
    } else {
        thread::scope(|scope| {
            let check = scope.spawn(|| snapshot.is_intact());
            let compared = compare();
            let failed = || Err(io::Error::other("a thread failed"));
            (compared, check.join().unwrap_or_else(|_| failed()))
        })
    };
    if !is_intact.unwrap_or(false) {
        return Err(tampered());
    }
    let (files, changes) = compared.map_err(|error| unreadable(&error))?;
    let builder = diff(root, snapshot, &changes)?;
    let paths = |kind| {
        let of_kind = changes.iter().filter(move |change| change.kind == kind);
        of_kind.map(|change| lossy(&change.path)).collect()
    };
    let changes = FileChanges {
        created: paths(ChangeKind::Created),
        modified: paths(ChangeKind::Modified),
        deleted: paths(ChangeKind::Deleted),
        is_diff_truncated: builder.is_truncated(),
        diff: builder.finish(),
        path: None,
    };
    let files = files.into_iter().map(into_text).collect();
    Ok(WorkspaceEvidence { files, changes })
}

fn unreadable(error: &io::Error) -> Fault {
    let message = format!("cannot read the workspace: {error}");
    Fault::new(Stage::Workspace, FaultKind::Io, message)
}

/// Without a copy if nothing must be replaced.
fn into_text(path: Vec<u8>) -> String {
    String::from_utf8(path).unwrap_or_else(|error| lossy(error.as_bytes()))
}

fn lossy(path: &[u8]) -> String {
    String::from_utf8_lossy(path).into_owned()
}

/// All files and the changes, in byte order.
fn compare(
    root: &Utf8Path,
    snapshot: &WorkspaceSnapshot,
) -> io::Result<(Vec<Vec<u8>>, Vec<FileChange>)> {
    let mut files = Vec::with_capacity(snapshot.base_length());
    let mut changes = Vec::new();
    let mut seen = vec![false; snapshot.base_length()];
    let mut seen_own: HashSet<Vec<u8>> = HashSet::with_capacity(snapshot.own_length());
    let rules = snapshot.rules();
    walk_evidence(root, rules, &mut |entry| {
        if !matches!(entry.kind, NodeKind::File | NodeKind::Link) {
            return Ok(());
        }
        let kind = match snapshot.find(entry.path) {
            None if rules.excludes(entry.path, false) => return Ok(()),
            None => Some(ChangeKind::Created),
            Some((key, file)) => {
                match key {
                    SnapshotKey::Base(at) => seen[at] = true,
                    SnapshotKey::Own => drop(seen_own.insert(entry.path.to_owned())),
                }
                is_modified(entry, snapshot, &file)?.then_some(ChangeKind::Modified)
            }
        };
        if let Some(kind) = kind {
            changes.push(FileChange { path: entry.path.to_owned(), kind });
        }
        files.push(entry.path.to_owned());
        Ok(())
    })?;
    for (path, key) in snapshot.files() {
        let is_there = match key {
            SnapshotKey::Base(at) => seen[at],
            SnapshotKey::Own => seen_own.contains(path),
        };
        if !is_there {
            changes.push(FileChange { path: path.to_owned(), kind: ChangeKind::Deleted });
        }
    }
    files.sort_unstable();
    changes.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    Ok((files, changes))
}

fn is_modified(
    entry: &TreeEntry<'_>,
    snapshot: &WorkspaceSnapshot,
    old: &SnapshotFile<'_>,
) -> io::Result<bool> {
    let facts = entry.facts()?;
    if snapshot.is_settled(old, &facts) {
        return Ok(false);
    }
    Ok(match (facts.kind, old.content) {
        (NodeKind::Link, EntryContent::Link(target)) => entry.link_target()? != *target,
        (NodeKind::File, EntryContent::File(hash)) => {
            let is_same = facts.mode == old.facts.mode && facts.size == old.facts.size;
            !is_same
                || match entry.open() {
                    Ok(file) => hash_of(file)? != *hash,
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
        let old = match (change.kind, snapshot.find(&change.path)) {
            (ChangeKind::Created, _) | (_, None) => None,
            (_, Some((_, file))) => Some(old_side(snapshot, &change.path, &file)?),
        };
        let new = match change.kind {
            ChangeKind::Deleted => None,
            _ => Some(new_side(&tree, &change.path).map_err(|error| unreadable(&error))?),
        };
        builder.add(&FileDiff { path: &change.path, old, new });
    }
    Ok(builder)
}

fn old_side(
    snapshot: &WorkspaceSnapshot,
    path: &[u8],
    file: &SnapshotFile<'_>,
) -> Result<DiffSide, Fault> {
    let text = match snapshot.text(path, file) {
        Ok(OldText::Text(bytes)) => SideText::Bytes(bytes),
        Ok(OldText::TooLarge) => SideText::TooLarge(file.facts.size),
        Ok(OldText::Tampered) | Err(_) => return Err(tampered()),
    };
    Ok(DiffSide { mode: git_mode(&file.facts), text })
}

fn new_side(tree: &TreeReader, path: &[u8]) -> io::Result<DiffSide> {
    let facts = tree.facts(path)?;
    let text = if facts.kind == NodeKind::Link {
        SideText::Bytes(tree.link_target(path)?)
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
        _ => 0o100_000 | facts.mode,
    }
}
