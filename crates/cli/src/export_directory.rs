//! A directory that an export fills, file by file. Without `--force` it must be empty; with it, files of
//! an earlier export are replaced or removed, and all others stay.

use std::collections::BTreeMap;
use std::io::{self, Write};

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::source::{EntryKind, Files, Reach};
use evalrig_run::disk::{
    Access, AtLink, Disk, Durability, FileDraft, WritePath, create_directories,
    create_directory_of, read_whole, remove_directory, remove_file,
};

use crate::error::CommandError;
use crate::place::digest;

/// The files of the last export and their digests.
const MANIFEST: &str = ".evalrig-export.json";
/// More than any manifest of ours.
const MANIFEST_LIMIT: u64 = 64 * 1024 * 1024;
/// Deeper directories are not ours.
const DEEPEST: usize = 64;

/// A directory that is being filled.
#[derive(Debug)]
pub struct ExportDirectory {
    path: Utf8PathBuf,
    /// As it was typed.
    shown: String,
    before: BTreeMap<String, String>,
    written: BTreeMap<String, String>,
}

impl ExportDirectory {
    /// Checks everything before the first file is written.
    pub fn open(path: Utf8PathBuf, shown: &str, force: bool) -> Result<Self, CommandError> {
        let refused = |message: String| Err(CommandError::CouldNotStart(message));
        match Disk.kind(&path) {
            Some(EntryKind::Directory) | None => {}
            Some(_) => return refused(format!("`{shown}` is not a directory")),
        }
        let mut opened = Self {
            path,
            shown: shown.to_owned(),
            before: BTreeMap::new(),
            written: BTreeMap::new(),
        };
        let is_empty = match Disk.list(&opened.path, Reach::Anywhere) {
            Ok(list) => list.entries.is_empty() && list.undecodable.is_empty(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => true,
            Err(error) => return refused(format!("cannot read `{shown}`: {error}")),
        };
        if !is_empty && !force {
            return refused(format!(
                "`{shown}` is not empty; use `--force` to replace what an earlier export wrote"
            ));
        }
        if !is_empty {
            opened.before = opened.manifest();
            if let Some(found) = opened.foreign_file(&opened.path, 0) {
                let found = found.strip_prefix(&opened.path).unwrap_or(&found).to_owned();
                return refused(format!(
                    "`{shown}/{found}` was not written by an export, or was changed since; move \
                     it away, because its directory would be read with the export"
                ));
            }
        }
        create_directories(&opened.path, Access::Shared)
            .map_err(|error| CommandError::cannot_write(shown, &error))?;
        Ok(opened)
    }

    fn manifest(&self) -> BTreeMap<String, String> {
        let path = self.path.join(MANIFEST);
        let text = read_whole(&path, Reach::Inside(&self.path), MANIFEST_LIMIT);
        text.ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default()
    }

    /// A file in a directory below that is not one of ours. Beside our directories, such files are kept.
    fn foreign_file(&self, directory: &Utf8Path, depth: usize) -> Option<Utf8PathBuf> {
        if depth > DEEPEST {
            return Some(directory.to_owned());
        }
        let entries = Disk.list(directory, Reach::Inside(&self.path)).unwrap_or_default().entries;
        entries.iter().find_map(|entry| {
            let path = directory.join(&entry.name);
            if entry.kind == EntryKind::Directory && !entry.is_link {
                return self.foreign_file(&path, depth + 1);
            }
            (depth > 0 && !self.is_ours(&path)).then_some(path)
        })
    }

    fn is_ours(&self, path: &Utf8Path) -> bool {
        let name = path.strip_prefix(&self.path).map(|name| name.as_str().replace('\\', "/"));
        let known = name.ok().and_then(|name| self.before.get(&name));
        let read = || Disk.read(path, Reach::Inside(&self.path), u64::MAX);
        known.is_some_and(|known| read().is_ok_and(|bytes| digest(&bytes) == *known))
    }

    /// Writes one file; `name` is below the directory, with `/`.
    pub fn write(&mut self, name: &str, bytes: &[u8]) -> Result<(), CommandError> {
        let path = self.path.join(name);
        let put = || -> io::Result<()> {
            let place = WritePath::inside(&self.path, &path);
            create_directory_of(place, Access::Shared)?;
            let mut draft = FileDraft::create_at_link(place, Access::Shared, AtLink::Replace)?;
            draft.write_all(bytes)?;
            // It can be made again at any time.
            draft.place(Durability::Unsynced)
        };
        put().map_err(|error| {
            CommandError::cannot_write(&format!("{}/{name}", self.shown), &error)
        })?;
        self.written.insert(name.to_owned(), digest(bytes));
        Ok(())
    }

    /// Removes what only the earlier export had, and remembers what was written.
    pub fn finish(mut self) -> Result<(), CommandError> {
        let before = std::mem::take(&mut self.before);
        for name in before.keys().filter(|name| !self.written.contains_key(*name)) {
            self.remove(name);
        }
        let manifest = serde_json::to_string_pretty(&self.written).unwrap_or_default() + "\n";
        self.write(MANIFEST, manifest.as_bytes())
    }

    /// A file that cannot be removed is not one that an export wrote.
    fn remove(&self, name: &str) {
        let path = self.path.join(name);
        if remove_file(WritePath::inside(&self.path, &path)).is_err() {
            return;
        }
        let above = path.ancestors().skip(1).take_while(|above| *above != self.path);
        for directory in above {
            // Only empty ones can be removed.
            if remove_directory(WritePath::inside(&self.path, directory)).is_err() {
                return;
            }
        }
    }
}
