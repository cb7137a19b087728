//! Lays the files of a bundle out on disk, once per hash. What is there is checked before it is used:
//! programs of earlier runs may have changed it, so no link leads out of the bundle.

use std::collections::BTreeSet;
use std::io::Write as _;

use camino::Utf8Path;
use evalrig_core::source::Reach;
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;

use crate::disk::{
    Access, AtLink, Durability, FileDraft, WritePath, create_directories, create_own_directory,
    read_link, read_whole, replace_link,
};

use super::bundle_cache::CachedBundle;
use super::error::QueueError;
use super::manifest::{BundleManifest, ManifestFile, is_hash};
use super::object_bucket::ObjectBucket;
use super::payload::sha256;
use super::run_queue::RunQueue;

/// Objects that are fetched at the same time.
const AT_ONCE: usize = 16;

/// The directory of a bundle below `cache`, with everything in it.
pub(crate) async fn materialise(
    queue: &RunQueue,
    manifest: &BundleManifest,
    cache: &Utf8Path,
) -> Result<CachedBundle, QueueError> {
    let (store, hash) = (&queue.bundle, &queue.entry.manifest);
    if !is_hash(hash) {
        return Err(QueueError::new("the entry of the run has no hash"));
    }
    let fail = |error| QueueError::of(&format!("lock `{cache}`"), error);
    let bundle = CachedBundle::share(cache, hash).await.map_err(fail)?;
    // One process at a time: others use what it has written.
    let _writing = bundle.write_alone().await.map_err(fail)?;
    let made = create_own_directory(cache, hash);
    made.map_err(|error| QueueError::of(&format!("write `{}`", bundle.directory), error))?;
    write_bundle(store, manifest, &bundle.directory).await?;
    Ok(bundle)
}

async fn write_bundle(
    store: &ObjectBucket,
    manifest: &BundleManifest,
    directory: &Utf8Path,
) -> Result<(), QueueError> {
    let fail = |error: std::io::Error| QueueError::of(&format!("write `{directory}`"), error);
    make_directories(manifest, directory).map_err(fail)?;
    let mut files = manifest.files.iter();
    let mut writing = FuturesUnordered::new();
    loop {
        while writing.len() < AT_ONCE
            && let Some(file) = files.next()
        {
            writing.push(write_file(store, file, directory));
        }
        match writing.next().await {
            Some(written) => written?,
            None => break,
        }
    }
    drop(writing);
    make_links(manifest, directory).map_err(fail)
}

fn make_directories(manifest: &BundleManifest, directory: &Utf8Path) -> std::io::Result<()> {
    let mut parents: BTreeSet<&Utf8Path> = manifest.directories.iter().map(Utf8Path::new).collect();
    parents.extend(manifest.files.iter().filter_map(|file| Utf8Path::new(&file.path).parent()));
    parents.extend(manifest.links.iter().filter_map(|link| Utf8Path::new(&link.path).parent()));
    let request = &manifest.request;
    parents.extend([Utf8Path::new(&request.root), Utf8Path::new(&request.working_directory)]);
    for parent in parents {
        let path = directory.join(parent);
        create_directories(WritePath::inside(directory, &path), Access::Private)?;
    }
    Ok(())
}

fn make_links(manifest: &BundleManifest, directory: &Utf8Path) -> std::io::Result<()> {
    for link in &manifest.links {
        let path = directory.join(&link.path);
        let place = WritePath::inside(directory, &path);
        if read_link(place).is_ok_and(|found| found == link.target) {
            continue;
        }
        replace_link(place, &link.target)?;
    }
    Ok(())
}

async fn write_file(
    store: &ObjectBucket,
    file: &ManifestFile,
    directory: &Utf8Path,
) -> Result<(), QueueError> {
    let path = directory.join(&file.path);
    let place = WritePath::inside(directory, &path);
    // A link to such a file may lead to another one later.
    let is_there = read_link(place).is_err()
        && read_whole(&path, Reach::Inside(directory), file.size + 1)
            .is_ok_and(|bytes| sha256(&bytes) == file.sha256);
    if !is_there {
        let what = || format!("get `{}` of the bundle", crate::text::single_line(&file.path));
        let bytes = store.read(&file.sha256, file.size).await;
        let bytes = bytes.map_err(|error| QueueError::of(&what(), error))?;
        if sha256(&bytes) != file.sha256 {
            return Err(QueueError::of(&what(), "hash mismatch"));
        }
        write_over(place, &bytes)
            .map_err(|error| QueueError::of(&format!("write `{path}`"), error))?;
    }
    set_access(place, file.is_executable)
        .map_err(|error| QueueError::of(&format!("write `{path}`"), error))
}

/// A link in the place of the file is replaced, not followed.
fn write_over(place: WritePath<'_>, bytes: &[u8]) -> std::io::Result<()> {
    let mut draft = FileDraft::create_at_link(place, Access::Private, AtLink::Replace)?;
    draft.write_all(bytes)?;
    draft.place(Durability::Unsynced)
}

#[cfg(unix)]
fn set_access(place: WritePath<'_>, is_executable: bool) -> std::io::Result<()> {
    crate::disk::set_mode(place, if is_executable { 0o755 } else { 0o644 })
}

#[cfg(not(unix))]
fn set_access(_: WritePath<'_>, _: bool) -> std::io::Result<()> {
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::super::manifest::{ManifestLink, tests::manifest};
    use super::*;

    /// A cache, and a directory that nothing may be written to.
    fn with_cache(test: impl FnOnce(&Utf8Path, &Utf8Path)) {
        let folder = tempfile::tempdir().unwrap();
        let base = Utf8Path::from_path(folder.path()).unwrap().canonicalize_utf8().unwrap();
        let (bundle, beside) = (base.join("bundle"), base.join("beside"));
        fs::create_dir(&bundle).unwrap();
        fs::create_dir(&beside).unwrap();
        fs::write(beside.join("file"), "kept").unwrap();
        fs::set_permissions(beside.join("file"), fs::Permissions::from_mode(0o600)).unwrap();
        test(&bundle, &beside);
        let names = fs::read_dir(&beside).unwrap().count();
        assert_eq!((names, fs::read_to_string(beside.join("file")).unwrap()), (1, "kept".into()));
        let mode = fs::metadata(beside.join("file")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn a_planted_link_does_not_lead_out_of_the_bundle() {
        with_cache(|bundle, beside| {
            symlink(beside.join("file"), bundle.join("script")).unwrap();
            symlink(beside, bundle.join("folder")).unwrap();
            let (file, below) = (bundle.join("script"), bundle.join("folder/new"));
            let place = WritePath::inside(bundle, &file);
            assert!(set_access(place, true).is_err());
            write_over(place, b"ours").unwrap();
            set_access(place, true).unwrap();
            assert!(!file.is_symlink());
            assert_eq!(fs::read_to_string(&file).unwrap(), "ours");
            let place = WritePath::inside(bundle, &below);
            assert!(write_over(place, b"ours").is_err());
            let mut manifest = manifest();
            manifest.directories = vec!["folder/deep".to_owned()];
            assert!(make_directories(&manifest, bundle).is_err());
            let link = ManifestLink { path: "folder/link".to_owned(), target: "x".to_owned() };
            manifest.links = vec![link];
            assert!(make_links(&manifest, bundle).is_err());
        });
    }

    #[test]
    fn the_directory_of_a_bundle_is_no_link() {
        with_cache(|cache, beside| {
            symlink(beside, cache.join("hash")).unwrap();
            assert!(create_own_directory(cache, "hash").is_err());
        });
    }
}
