//! Keeps a cache bounded: answers that are too old go, then the oldest until the rest is small enough.

use std::time::{Duration, SystemTime};

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::source::{EntryKind, Files, Reach};

use crate::disk::{Disk, WritePath, is_draft_name, remove_file};

/// What a cache may hold.
#[derive(Debug, Clone, Copy)]
pub(super) struct PruneLimits {
    pub(super) age: Duration,
    pub(super) answers: usize,
    pub(super) bytes: u64,
}

impl Default for PruneLimits {
    fn default() -> Self {
        const DAY: u64 = 24 * 60 * 60;
        Self { age: Duration::from_secs(30 * DAY), answers: 20_000, bytes: 1 << 30 }
    }
}

/// A file of the cache.
struct StoredFile {
    written: SystemTime,
    size: u64,
    path: Utf8PathBuf,
}

/// What cannot be removed stays; the next run tries again.
pub(super) fn prune(root: &Utf8Path, folder: &Utf8Path, limits: PruneLimits, now: SystemTime) {
    let mut files = stored_files(root, folder);
    files.sort_by_key(|file| std::cmp::Reverse(file.written));
    let mut bytes = 0;
    for (at, file) in files.iter().enumerate() {
        bytes += file.size;
        let age = now.duration_since(file.written).unwrap_or_default();
        if age > limits.age || at >= limits.answers || bytes > limits.bytes {
            let _ = remove_file(WritePath::inside(root, &file.path));
        }
    }
}

/// Answers, and what killed runs left of them.
fn stored_files(root: &Utf8Path, folder: &Utf8Path) -> Vec<StoredFile> {
    // Without the folder, or if it leads elsewhere, there is nothing to do.
    let Ok(listing) = Disk.list(folder, Reach::Inside(root)) else {
        return Vec::new();
    };
    let is_own = |name: &str| name.ends_with(".json") || is_draft_name(name);
    let files = listing
        .entries
        .into_iter()
        .filter(|entry| entry.kind == EntryKind::File && !entry.is_link && is_own(&entry.name));
    files
        .filter_map(|entry| {
            let path = folder.join(entry.name);
            let found = path.symlink_metadata().ok()?;
            Some(StoredFile { written: found.modified().ok()?, size: found.len(), path })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn old_answers_go_first() {
        let directory = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(directory.path()).unwrap();
        let folder = root.join("cache");
        fs::create_dir(&folder).unwrap();
        let now = SystemTime::now();
        let hours = |count: u64| Duration::from_secs(count * 3600);
        let write = |name: &str, age: u64| {
            let path = folder.join(name);
            fs::write(&path, [b'x'; 100]).unwrap();
            let file = fs::File::options().write(true).open(&path).unwrap();
            file.set_modified(now - hours(age)).unwrap();
        };
        let left = || -> Vec<String> {
            let entries = folder.read_dir_utf8().unwrap().map(|entry| entry.unwrap());
            let mut names: Vec<String> =
                entries.map(|entry| entry.file_name().to_owned()).collect();
            names.sort();
            names
        };
        for (name, age) in [("a.json", 1), ("b.json", 2), ("c.json", 3), ("d.json", 50), ("e", 99)]
        {
            write(name, age);
        }
        let limits = PruneLimits { age: hours(48), answers: 10, bytes: 1000 };
        prune(root, &folder, limits, now);
        assert_eq!(left(), ["a.json", "b.json", "c.json", "e"]);
        prune(root, &folder, PruneLimits { bytes: 250, ..limits }, now);
        assert_eq!(left(), ["a.json", "b.json", "e"]);
        prune(root, &folder, PruneLimits { answers: 1, ..limits }, now);
        assert_eq!(left(), ["a.json", "e"]);
        prune(root, &root.join("none"), limits, now);
    }
}
