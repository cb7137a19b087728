//! Puts files that were built in memory into a directory. Nothing is written before everything has
//! been checked; foreign files are kept unless the user insists; no link leads out.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read, Write};

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::digest::hex;
use evalrig_core::export::OutFile;
use evalrig_core::read::TRANSPILE_MANIFEST as MANIFEST;
use evalrig_core::source::{Files, Reach};
use evalrig_run::disk::{
    Access, AtLink, Disk, Durability, FileDraft, WritePath, create_directories,
    create_directory_of, read_whole,
};
use sha2::{Digest, Sha256};

/// More than any manifest of ours.
const MANIFEST_LIMIT: u64 = 16 * 1024 * 1024;

/// Whether files that evalrig did not write may be replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Foreign {
    Keep,
    Replace,
}

/// What is already at the path of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    Missing,
    Equal,
    Differs,
}

/// Files and the directory they go to.
#[derive(Debug)]
pub struct Placement<'a> {
    pub directory: Utf8PathBuf,
    pub files: &'a [OutFile],
    /// The suite itself, which is never replaced.
    pub suite: &'a Utf8Path,
}

impl Placement<'_> {
    pub fn path(&self, file: &OutFile) -> Utf8PathBuf {
        self.directory.join(&file.name)
    }

    /// One per file. Looked up once, because it takes reading all of them.
    pub fn states(&self) -> Vec<State> {
        self.files.iter().map(|file| self.state(file)).collect()
    }

    fn state(&self, file: &OutFile) -> State {
        let path = self.path(file);
        match fs::symlink_metadata(&path) {
            Err(_) => State::Missing,
            Ok(found) if found.is_file() && found.len() == file.text.len() as u64 => {
                match self.holds(&path, file.text.as_bytes()) {
                    Ok(true) => State::Equal,
                    _ => State::Differs,
                }
            }
            Ok(_) => State::Differs,
        }
    }

    /// Why nothing may be written; `None` when all is well.
    pub fn refusal(&self, states: &[State], foreign: Foreign) -> Option<String> {
        let manifest = self.manifest();
        for (file, state) in self.files.iter().zip(states) {
            if let Some(link) = self.directory_in_the_way(file) {
                return Some(format!("`{link}` is a link or not a directory"));
            }
            if *state != State::Differs {
                continue;
            }
            let path = self.path(file);
            if self.is_suite(&path) {
                let advice = "choose another directory with `--out`";
                return Some(format!("`{path}` is the suite itself; {advice}"));
            }
            if fs::symlink_metadata(&path).is_ok_and(|found| found.is_dir()) {
                return Some(format!("`{path}` is a directory"));
            }
            if foreign == Foreign::Keep && !self.is_ours(&path, manifest.get(&file.name)) {
                return Some(format!(
                    "`{path}` was not written by evalrig, or was changed since; pass `--force` \
                     to replace it"
                ));
            }
        }
        None
    }

    fn is_suite(&self, path: &Utf8Path) -> bool {
        match (path.canonicalize(), self.suite.canonicalize()) {
            (Ok(path), Ok(suite)) => path == suite,
            _ => false,
        }
    }

    /// Below the chosen directory only real directories are entered.
    fn directory_in_the_way(&self, file: &OutFile) -> Option<Utf8PathBuf> {
        let below = Utf8Path::new(&file.name).parent()?;
        let mut path = self.directory.clone();
        for part in below.components() {
            path.push(part.as_str());
            if fs::symlink_metadata(&path).is_ok_and(|found| !found.is_dir()) {
                return Some(path);
            }
        }
        None
    }

    /// Writes what is not there yet. First every text beside its place, then all renames.
    pub fn write(&self, states: &[State]) -> io::Result<()> {
        create_directories(&self.directory, Access::Shared)?;
        let mut staged = Staged::default();
        let mut manifest = self.manifest();
        for (file, state) in self.files.iter().zip(states) {
            manifest.insert(file.name.clone(), digest(file.text.as_bytes()));
            if *state != State::Equal {
                staged.add(self.place(&self.path(file)), file.text.as_bytes())?;
            }
        }
        let mut text = serde_json::to_string_pretty(&manifest).map_err(io::Error::other)?;
        text.push('\n');
        // Last, so that it never names a file that is missing.
        staged.add(self.place(&self.directory.join(MANIFEST)), text.as_bytes())?;
        staged.finish()
    }

    /// No link leads out of the directory, not even one that appears after the checks.
    fn place<'p>(&'p self, path: &'p Utf8Path) -> WritePath<'p> {
        WritePath::inside(&self.directory, path)
    }

    /// Whether a file has exactly these bytes. It is read by parts: most differ early, and none has to
    /// be in memory as a whole.
    fn holds(&self, path: &Utf8Path, mut bytes: &[u8]) -> io::Result<bool> {
        let mut file = Disk.open(path, Reach::Inside(&self.directory))?;
        let mut part = [0; 32 * 1024];
        loop {
            let count = match file.read(&mut part) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                other => other?,
            };
            if count == 0 {
                return Ok(bytes.is_empty());
            }
            match bytes.strip_prefix(&part[..count]) {
                Some(rest) => bytes = rest,
                None => return Ok(false),
            }
        }
    }

    /// A link is never ours, wherever it leads.
    fn is_ours(&self, path: &Utf8Path, known: Option<&String>) -> bool {
        let is_file = fs::symlink_metadata(path).is_ok_and(|found| found.is_file());
        match (known, is_file) {
            (Some(known), true) => Disk
                .read(path, Reach::Inside(&self.directory), u64::MAX)
                .is_ok_and(|bytes| digest(&bytes) == *known),
            _ => false,
        }
    }

    /// An unreadable manifest counts as empty: then all files count as foreign.
    fn manifest(&self) -> BTreeMap<String, String> {
        let path = self.directory.join(MANIFEST);
        let is_file = fs::symlink_metadata(&path).is_ok_and(|found| found.is_file());
        let read = || read_whole(&path, Reach::Inside(&self.directory), MANIFEST_LIMIT).ok();
        let text = is_file.then(read).flatten();
        text.and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default()
    }
}

/// The SHA-256 of a file, in hexadecimal.
pub fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Drafts of all files. Those that are not placed are removed again.
#[derive(Debug, Default)]
struct Staged(Vec<FileDraft>);

impl Staged {
    fn add(&mut self, place: WritePath<'_>, bytes: &[u8]) -> io::Result<()> {
        create_directory_of(place, Access::Shared)?;
        // `--force` replaces a link itself; `Placement::refusal` stops all others.
        let mut draft = FileDraft::create_at_link(place, Access::Shared, AtLink::Replace)?;
        draft.write_all(bytes)?;
        self.0.push(draft);
        Ok(())
    }

    fn finish(self) -> io::Result<()> {
        let mut drafts = self.0.into_iter();
        drafts.try_for_each(|draft| draft.place(Durability::Contents))
    }
}
