//! Files that are there whole or not at all: a hidden temporary file, fsync, rename, fsync of the
//! directory.

use std::collections::{BTreeSet, HashMap};
use std::fs::{self, File};
use std::io::{self, Write};
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use camino::{Utf8Path, Utf8PathBuf};

use super::fault::StoreError;

const PREFIX: &str = ".evalrig-";
const ENDING: &str = ".tmp";

/// Threads that wait for the disk; file systems write down together what is asked for together.
const MOST_AT_ONCE: usize = 16;

/// Tells the temporary files of one process apart.
static COUNTER: AtomicU64 = AtomicU64::new(0);

/// Whether the name is that of a file that some writer left behind.
pub(super) fn is_temporary(name: &str) -> bool {
    name.starts_with(PREFIX) && name.ends_with(ENDING)
}

/// A file that is written but not in its place. Dropped, it is gone.
#[derive(Debug)]
pub(super) struct Draft {
    path: Utf8PathBuf,
    temporary: Utf8PathBuf,
    file: File,
    is_placed: bool,
}

impl Draft {
    /// The text in pieces.
    pub(super) fn write<T: AsRef<str>>(path: Utf8PathBuf, text: &[T]) -> Result<Self, StoreError> {
        let directory = path.parent().unwrap_or(Utf8Path::new("."));
        let made = temporary(directory);
        let (temporary, file) = made.map_err(|error| StoreError::io("written", &path, error))?;
        let mut draft = Self {
            path,
            temporary,
            file,
            is_placed: false,
        };
        let mut pieces = text.iter().map(|piece| piece.as_ref().as_bytes());
        let written = pieces.try_for_each(|piece| draft.file.write_all(piece));
        let written = written.and_then(|()| keep_permissions(&draft.path, &draft.file));
        written.map_err(|error| draft.fault(error))?;
        Ok(draft)
    }

    fn rename(&mut self) -> io::Result<()> {
        fs::rename(&self.temporary, &self.path)?;
        self.is_placed = true;
        Ok(())
    }

    fn directory(&self) -> &Utf8Path {
        self.path.parent().unwrap_or(Utf8Path::new("."))
    }

    fn fault(&self, error: io::Error) -> StoreError {
        StoreError::io("written", &self.path, error)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.is_placed {
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

/// Replaces the file.
pub(super) fn place(path: &Utf8Path, text: &str) -> Result<(), StoreError> {
    let draft = Draft::write(path.to_owned(), &[text])?;
    place_all(vec![draft]).remove(0)
}

/// Replaces many files, in the time that the disk takes for few: what waits for the disk waits
/// together. One result for each.
pub(super) fn place_all(mut drafts: Vec<Draft>) -> Vec<Result<(), StoreError>> {
    let mut placed = side_by_side(&drafts, |draft| draft.file.sync_all());
    for (draft, placed) in drafts.iter_mut().zip(&mut placed) {
        if placed.is_ok() {
            *placed = draft.rename();
        }
    }
    let renamed = drafts.iter().filter(|draft| draft.is_placed);
    let directories: BTreeSet<&Utf8Path> = renamed.map(Draft::directory).collect();
    let directories: Vec<&Utf8Path> = directories.into_iter().collect();
    let synced = side_by_side(&directories, |directory| sync_directory(directory));
    let faults: HashMap<&Utf8Path, StoreError> = directories
        .into_iter()
        .zip(synced)
        .filter_map(|(directory, synced)| Some((directory, synced.err()?)))
        .map(|(directory, error)| (directory, StoreError::io("written", directory, error)))
        .collect();
    let results = drafts.iter().zip(placed).map(|(draft, placed)| {
        placed.map_err(|error| draft.fault(error))?;
        match faults.get(draft.directory()) {
            None => Ok(()),
            Some(error) => Err(error.clone()),
        }
    });
    results.collect()
}

/// Does something slow with each, several at a time.
fn side_by_side<T: Sync, R: Send>(all: &[T], act: impl Fn(&T) -> R + Sync) -> Vec<R> {
    if let [one] = all {
        return vec![act(one)];
    }
    let part = all.len().div_ceil(MOST_AT_ONCE).max(1);
    let act = &act;
    let done = thread::scope(|scope| {
        let parts: Vec<_> = all
            .chunks(part)
            .map(|part| scope.spawn(move || part.iter().map(act).collect::<Vec<R>>()))
            .collect();
        let done = parts.into_iter().map(|part| part.join());
        done.collect::<Result<Vec<_>, _>>()
    });
    let done = done.unwrap_or_else(|panic| resume_unwind(panic));
    done.into_iter().flatten().collect()
}

fn temporary(directory: &Utf8Path) -> io::Result<(Utf8PathBuf, File)> {
    loop {
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let name = format!("{PREFIX}{}-{number}{ENDING}", std::process::id());
        let path = directory.join(name);
        match File::create_new(&path) {
            Ok(file) => return Ok((path, file)),
            // Left by a process of the same number.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

fn keep_permissions(path: &Utf8Path, file: &File) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(old) => file.set_permissions(old.permissions()),
        Err(_) => Ok(()),
    }
}

/// A rename is safe only when its directory is.
#[cfg(unix)]
pub(super) fn sync_directory(directory: &Utf8Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}

/// Directories cannot be opened there.
#[cfg(not(unix))]
pub(super) fn sync_directory(_: &Utf8Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_and_nothing_else_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let directory = Utf8Path::from_path(folder.path()).unwrap();
        let path = directory.join("a.yaml");
        place(&path, "one").unwrap();
        place(&path, "two").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        assert_eq!(fs::read_dir(directory).unwrap().count(), 1);
        assert!(place(&directory.join("none/a.yaml"), "x").is_err());
    }

    #[test]
    fn many_files_are_placed_and_each_says_how_it_went() {
        let folder = tempfile::tempdir().unwrap();
        let directory = Utf8Path::from_path(folder.path()).unwrap();
        let paths: Vec<Utf8PathBuf> = (0..40)
            .map(|at| directory.join(format!("{}/{at}.yaml", at % 3)))
            .collect();
        for at in 0..3 {
            fs::create_dir(directory.join(at.to_string())).unwrap();
        }
        // A file cannot take the place of a directory that is not empty.
        fs::create_dir_all(paths[7].join("in the way")).unwrap();
        let draft = |path: &Utf8PathBuf| Draft::write(path.clone(), &[path.as_str()]).unwrap();
        let placed = place_all(paths.iter().map(draft).collect());
        for (at, (path, placed)) in paths.iter().zip(placed).enumerate() {
            assert_eq!(placed.is_ok(), at != 7, "{placed:?}");
            if placed.is_ok() {
                assert_eq!(fs::read_to_string(path).unwrap(), path.as_str());
            }
        }
        let left = (0..3).flat_map(|at| fs::read_dir(directory.join(at.to_string())).unwrap());
        assert_eq!(left.count(), 40);
        assert!(place_all(Vec::new()).is_empty());
    }

    #[test]
    fn temporary_files_are_recognised() {
        assert!(is_temporary(".evalrig-12-0.tmp"));
        assert!(!is_temporary(".lock"));
        assert!(!is_temporary("a.yaml"));
    }
}
