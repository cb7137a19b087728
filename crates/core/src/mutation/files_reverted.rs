//! The agent's changes to files are taken back.

use crate::model::{EvidencePart, FileChanges};

use super::damaged_files::FileDamage;
use super::mutant::{Damage, Mutant, MutationKind};
use super::original::Original;

pub(super) static KIND: MutationKind = MutationKind {
    name: "files-reverted",
    doc: "changes to files are reverted: all of them, or those of one file",
    advice: None,
    part: EvidencePart::Files,
    make,
};

/// Single files that are reverted in turn.
const SINGLE: usize = 5;

fn make(original: &Original<'_>) -> Vec<Mutant> {
    let Some(changes) = original.transcript.files.as_ref().filter(|found| !found.is_empty()) else {
        return Vec::new();
    };
    let mutant = |note: String, damage, reverted: &FileChanges| {
        let mut transcript = original.transcript.clone();
        transcript.files = Some(without(changes, reverted));
        Mutant { kind: &KIND, note, damage, transcript, files: FileDamage::reverted(reverted) }
    };
    let all = changes.created.iter().chain(&changes.modified).chain(&changes.deleted);
    let all: Vec<&String> = all.collect();
    let mut found = vec![mutant("no file was changed".to_owned(), Damage::Missing, changes)];
    if all.len() > 1 {
        let step = all.len().div_ceil(SINGLE);
        found.extend(all.iter().step_by(step).map(|path| {
            let only = |paths: &[String]| paths.iter().filter(|one| one == path).cloned().collect();
            let reverted = FileChanges {
                created: only(&changes.created),
                modified: only(&changes.modified),
                deleted: only(&changes.deleted),
                ..FileChanges::default()
            };
            mutant(format!("`{path}` was not changed"), Damage::Wrong, &reverted)
        }));
    }
    found
}

/// The other changes. The diff goes with them unless everything is reverted.
fn without(changes: &FileChanges, reverted: &FileChanges) -> FileChanges {
    let rest = |paths: &[String], gone: &[String]| -> Vec<String> {
        paths.iter().filter(|path| !gone.contains(path)).cloned().collect()
    };
    let mut left = FileChanges {
        created: rest(&changes.created, &reverted.created),
        modified: rest(&changes.modified, &reverted.modified),
        deleted: rest(&changes.deleted, &reverted.deleted),
        ..changes.clone()
    };
    if left.is_empty() {
        left.diff.clear();
        left.is_diff_truncated = false;
    }
    left
}

#[cfg(test)]
mod tests {
    use super::super::testing::changed_files;
    use super::*;

    #[test]
    fn all_changes_and_those_of_one_file_are_reverted() {
        let found = changed_files(&["a.txt"], &["b.txt"], make);
        let left: Vec<_> = found
            .iter()
            .map(|one| one.transcript.files.as_ref().unwrap())
            .map(|files| (files.created.len(), files.modified.len()))
            .collect();
        assert_eq!(left, [(0, 0), (0, 1), (1, 0)]);
        assert_eq!(changed_files(&[], &[], make).len(), 0);
    }
}
