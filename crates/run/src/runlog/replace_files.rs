//! Replaces many files of a store at once, so that they wait for the disk together.

use std::collections::{BTreeSet, HashMap};
use std::io::Write;
use std::panic::resume_unwind;
use std::thread;

use camino::Utf8Path;

use super::store_error::StoreError;
use crate::disk::{Access, FileDraft, WritePath, directory_of, sync_directory};

/// Threads that wait for the disk; file systems commit concurrent requests together.
const MOST_THREADS: usize = 16;

/// Writes the parts of the text one after the other.
pub(super) fn write_draft<T: AsRef<str>>(
    place: WritePath<'_>,
    text: &[T],
) -> Result<FileDraft, StoreError> {
    let written = FileDraft::create(place, Access::Private).and_then(|mut draft| {
        let mut pieces = text.iter().map(|piece| piece.as_ref().as_bytes());
        pieces.try_for_each(|piece| draft.write_all(piece))?;
        Ok(draft)
    });
    written.map_err(|error| StoreError::io("written", place.path, error))
}

pub(super) fn replace_file(place: WritePath<'_>, text: &str) -> Result<(), StoreError> {
    replace_files(vec![write_draft(place, &[text])?]).remove(0)
}

/// Replaces files as [`crate::disk::Durability::Durable`] demands. Returns one result per draft.
pub(super) fn replace_files(mut drafts: Vec<FileDraft>) -> Vec<Result<(), StoreError>> {
    let mut placed = map_on_threads(&drafts, FileDraft::sync);
    for (draft, placed) in drafts.iter_mut().zip(&mut placed) {
        if placed.is_ok() {
            *placed = draft.rename();
        }
    }
    let renamed = drafts.iter().filter(|draft| draft.is_placed());
    let directories: BTreeSet<&Utf8Path> =
        renamed.map(|draft| directory_of(draft.path())).collect();
    let directories: Vec<&Utf8Path> = directories.into_iter().collect();
    let synced = map_on_threads(&directories, |directory| sync_directory(*directory));
    let sync_errors: HashMap<&Utf8Path, StoreError> = directories
        .into_iter()
        .zip(synced)
        .filter_map(|(directory, synced)| Some((directory, synced.err()?)))
        .map(|(directory, error)| (directory, StoreError::io("written", directory, error)))
        .collect();
    let results = drafts.iter().zip(placed).map(|(draft, placed)| {
        placed.map_err(|error| StoreError::io("written", draft.path(), error))?;
        match sync_errors.get(directory_of(draft.path())) {
            None => Ok(()),
            Some(error) => Err(error.clone()),
        }
    });
    results.collect()
}

/// Calls `act` for each item on several threads.
fn map_on_threads<T: Sync, R: Send>(all: &[T], act: impl Fn(&T) -> R + Sync) -> Vec<R> {
    if let [one] = all {
        return vec![act(one)];
    }
    let part = all.len().div_ceil(MOST_THREADS).max(1);
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

#[cfg(test)]
mod tests {
    use std::fs;

    use camino::Utf8PathBuf;

    use super::*;

    #[test]
    fn replacing_a_file_leaves_no_draft() {
        let folder = tempfile::tempdir().unwrap();
        let directory = Utf8Path::from_path(folder.path()).unwrap();
        let path = directory.join("a.yaml");
        replace_file((&path).into(), "one").unwrap();
        replace_file((&path).into(), "two").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        assert_eq!(fs::read_dir(directory).unwrap().count(), 1);
        assert!(replace_file((&directory.join("none/a.yaml")).into(), "x").is_err());
    }

    #[test]
    fn each_file_has_its_own_result() {
        let folder = tempfile::tempdir().unwrap();
        let directory = Utf8Path::from_path(folder.path()).unwrap();
        let paths: Vec<Utf8PathBuf> =
            (0..40).map(|at| directory.join(format!("{}/{at}.yaml", at % 3))).collect();
        for at in 0..3 {
            fs::create_dir(directory.join(at.to_string())).unwrap();
        }
        let draft = |path: &Utf8PathBuf| write_draft(path.into(), &[path.as_str()]).unwrap();
        let drafts = paths.iter().map(draft).collect();
        // A file cannot replace a directory that is not empty.
        fs::create_dir_all(paths[7].join("in the way")).unwrap();
        let placed = replace_files(drafts);
        for (at, (path, placed)) in paths.iter().zip(placed).enumerate() {
            assert_eq!(placed.is_ok(), at != 7, "{placed:?}");
            if placed.is_ok() {
                assert_eq!(fs::read_to_string(path).unwrap(), path.as_str());
            }
        }
        let left = (0..3).flat_map(|at| fs::read_dir(directory.join(at.to_string())).unwrap());
        assert_eq!(left.count(), 40);
        assert!(replace_files(Vec::new()).is_empty());
    }
}
