//! Collects the files of a run and puts them on the server, each under its hash.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::secrets::Secrets;
use evalrig_core::source::{EntryKind, Files as _, Reach};
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;

use crate::disk::{Disk, read_link, read_whole};

use super::error::QueueError;
use super::manifest::{ManifestFile, ManifestLink, check_path};
use super::object_bucket::ObjectBucket;
use super::payload::sha256;

/// A larger file cannot be part of a run with a queue.
const LARGEST: u64 = 256 * 1024 * 1024;

/// Objects that are sent at the same time.
const AT_ONCE: usize = 16;

/// Something that the run needs, by its absolute path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum BundleFile {
    File(Utf8PathBuf),
    Directory(Utf8PathBuf),
    Link(Utf8PathBuf, String),
    /// A file that may be needed. It is left out if it cannot be read or has a secret.
    Neighbour(Utf8PathBuf),
}

/// Everything below a directory but what is left out by name, links as they are.
pub(crate) fn collect_tree(
    directory: &Utf8Path,
    is_left_out: &dyn Fn(&str) -> bool,
    out: &mut BTreeSet<BundleFile>,
) -> Result<(), QueueError> {
    let fail = |error| QueueError::of(&format!("read `{directory}`"), error);
    out.insert(BundleFile::Directory(directory.to_owned()));
    let mut open = vec![directory.to_owned()];
    while let Some(directory) = open.pop() {
        let listing = Disk.list(&directory, Reach::Anywhere).map_err(fail)?;
        if let Some((name, _)) = listing.undecodable.first() {
            let name = crate::text::single_line(name);
            return Err(QueueError::new(format!(
                "--queue: the name of `{directory}/{name}` is not UTF-8"
            )));
        }
        for entry in listing.entries.into_iter().filter(|entry| !is_left_out(&entry.name)) {
            let path = directory.join(&entry.name);
            if entry.is_link {
                let target = read_link(&path).map_err(fail)?;
                out.insert(BundleFile::Link(path, target));
            } else if entry.kind == EntryKind::Directory {
                out.insert(BundleFile::Directory(path.clone()));
                open.push(path);
            } else if entry.kind == EntryKind::File {
                out.insert(BundleFile::File(path));
            }
        }
    }
    Ok(())
}

/// The parts of a manifest that are about files, and the content of each hash.
#[derive(Debug, Default)]
pub(super) struct CollectedFiles {
    pub(super) files: Vec<ManifestFile>,
    pub(super) directories: Vec<String>,
    pub(super) links: Vec<ManifestLink>,
    contents: BTreeMap<String, ObjectContent>,
}

/// What is sent under a hash.
#[derive(Debug)]
enum ObjectContent {
    /// Read again when it is sent.
    Of(Utf8PathBuf),
    /// Small, of a file that may change at any time.
    Held(Vec<u8>),
}

/// A path below `base`, as it is written in a manifest.
pub(super) fn bundle_path(path: &Utf8Path, base: &Utf8Path) -> Result<String, QueueError> {
    let inside = path.strip_prefix(base).unwrap_or(path).as_str().replace('\\', "/");
    check_path(&inside).map_err(QueueError::new)?;
    Ok(inside)
}

impl CollectedFiles {
    /// `base` is the directory that holds everything. A file with a secret is refused.
    pub(super) fn read(
        wanted: &BTreeSet<BundleFile>,
        base: &Utf8Path,
        secrets: &Secrets,
    ) -> Result<Self, QueueError> {
        let mut found = Self::default();
        for one in wanted {
            match one {
                BundleFile::File(path) => {
                    let (hash, _) = found.add_file(path, base, secrets)?;
                    found.contents.insert(hash, ObjectContent::Of(path.clone()));
                }
                BundleFile::Neighbour(path) if wanted.contains(&BundleFile::File(path.clone())) => {
                }
                BundleFile::Neighbour(path) => {
                    if let Ok((hash, bytes)) = found.add_file(path, base, secrets) {
                        found.contents.entry(hash).or_insert(ObjectContent::Held(bytes));
                    }
                }
                BundleFile::Directory(path) if path == base => {}
                BundleFile::Directory(path) => found.directories.push(bundle_path(path, base)?),
                BundleFile::Link(path, target) => {
                    let path = bundle_path(path, base)?;
                    found.links.push(ManifestLink { path, target: target.clone() });
                }
            }
        }
        Ok(found)
    }

    /// Returns its hash and its bytes.
    fn add_file(
        &mut self,
        path: &Utf8Path,
        base: &Utf8Path,
        secrets: &Secrets,
    ) -> Result<(String, Vec<u8>), QueueError> {
        let fail = |error| QueueError::of(&format!("read `{path}`"), error);
        let bytes = read_whole(path, Reach::Anywhere, LARGEST + 1).map_err(fail)?;
        let size = bytes.len() as u64;
        if size > LARGEST {
            let text = format!("`{path}` is too large for a queue: the limit is 256 MiB");
            return Err(QueueError::new(text));
        }
        if secrets.is_in(&String::from_utf8_lossy(&bytes)) {
            return Err(QueueError::new(format!(
                "--queue: `{path}` has a secret in it, which would be sent to the server; use \
                 `${{{{ NAME }}}}` in a targets file"
            )));
        }
        let hash = sha256(&bytes);
        let is_executable = is_executable(path);
        let path_in_bundle = bundle_path(path, base)?;
        let sha256 = hash.clone();
        self.files.push(ManifestFile { path: path_in_bundle, sha256, size, is_executable });
        Ok((hash, bytes))
    }

    /// Puts every content on the server, each once.
    pub(super) async fn upload(&self, store: &ObjectBucket) -> Result<(), QueueError> {
        let mut contents = self.contents.iter();
        let mut sending = FuturesUnordered::new();
        loop {
            while sending.len() < AT_ONCE
                && let Some((hash, content)) = contents.next()
            {
                sending.push(send(store, hash, content));
            }
            match sending.next().await {
                Some(sent) => sent?,
                None => return Ok(()),
            }
        }
    }
}

async fn send(store: &ObjectBucket, hash: &str, content: &ObjectContent) -> Result<(), QueueError> {
    let path = match content {
        ObjectContent::Of(path) => path,
        ObjectContent::Held(bytes) => {
            let put = store.put(hash, bytes).await;
            return put.map_err(|error| QueueError::of("send a file of the run", error));
        }
    };
    let fail = |error: String| QueueError::of(&format!("send `{path}`"), error);
    let bytes = read_whole(path, Reach::Anywhere, LARGEST);
    let bytes = bytes.map_err(|error| fail(error.to_string()))?;
    if sha256(&bytes) != *hash {
        return Err(fail("it has just been changed".to_owned()));
    }
    store.put(hash, &bytes).await.map_err(fail)
}

#[cfg(unix)]
fn is_executable(path: &Utf8Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(path).is_ok_and(|found| found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(path: &Utf8Path) -> bool {
    fs::metadata(path).is_err()
}
