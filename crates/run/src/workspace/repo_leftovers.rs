//! What a git that was killed leaves in a clone of the cache: lock files, which make every later git refuse to
//! write, and packs that are not complete.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};

use crate::disk::{NodeKind, TreeEntry, TreeVisitor, UnreadableDirectory, remove_file, walk_tree};

/// Removes them. Only while no git writes to the clone: the caller holds the lock of the cache. Nothing else in a
/// repository has these names: git refuses references that end in `.lock`.
pub(super) fn remove_leftovers(clone: &Utf8Path) {
    let mut found = Leftovers::default();
    // What cannot be removed is what the next git complains about.
    let _ = walk_tree(clone.into(), UnreadableDirectory::Refuse, &mut found);
    for path in found.0 {
        let _ = remove_file(&clone.join(path));
    }
}

#[derive(Default)]
struct Leftovers(Vec<Utf8PathBuf>);

impl TreeVisitor for Leftovers {
    /// Directories of single objects have no locks, and may be many.
    fn wants(&mut self, path: &[u8]) -> bool {
        !path.starts_with(b"objects/") || path == b"objects/pack" || path == b"objects/info"
    }

    fn visit(&mut self, entry: &TreeEntry<'_>) -> io::Result<()> {
        let is_draft = entry.path.starts_with(b"objects/pack/tmp_");
        if entry.kind == NodeKind::File
            && (is_draft || entry.path.ends_with(b".lock"))
            && let Ok(path) = std::str::from_utf8(entry.path)
        {
            self.0.push(path.into());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn only_locks_and_incomplete_packs_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let clone = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
        let kept = ["HEAD", "objects/3f/locked", "objects/pack/pack-1.pack", "refs/heads/lock"];
        let left = ["packed-refs.lock", "objects/pack/tmp_pack_1", "refs/heads/a/b.lock"];
        for path in kept.iter().chain(&left) {
            fs::create_dir_all(clone.join(path).parent().unwrap()).unwrap();
            fs::write(clone.join(path), "").unwrap();
        }
        remove_leftovers(&clone);
        assert!(kept.iter().all(|path| clone.join(path).exists()));
        assert!(!left.iter().any(|path| clone.join(path).exists()));
        remove_leftovers(&clone.join("none"));
    }
}
