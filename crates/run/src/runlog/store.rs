//! A directory of records. Reading needs no lock because files are replaced atomically.

use std::fs;
use std::io;
use std::panic::resume_unwind;
use std::thread;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::source::{Reach, is_outside};

use crate::disk::{WritePath, read_whole};

use super::appendable_summary::AppendableSummary;
use super::run_file::RunFile;
use super::store_error::StoreError;
use super::summary::RecordSummary;

/// Fewer records are not worth a thread.
const LEAST_PER_THREAD: usize = 64;

/// As much as a row of results: a run file has the same messages.
const FILE_LIMIT: u64 = 256 * 1024 * 1024;

/// The `.co/evals` directory of a project.
#[derive(Debug, Clone)]
pub struct Store {
    directory: Utf8PathBuf,
    /// The repository that the store may not leave; `None` if the user named the store.
    root: Option<Utf8PathBuf>,
}

/// A record: its summary and the path of the file.
#[derive(Debug, Clone)]
pub struct Record {
    /// The file stem, which may differ from `name` in the file.
    pub name: String,
    pub file: Utf8PathBuf,
    pub summary: RecordSummary,
}

/// All records of a store.
#[derive(Debug, Default)]
pub struct Listing {
    /// By name.
    pub records: Vec<Record>,
    /// Why the other summaries cannot be read.
    pub unreadable: Vec<StoreError>,
}

/// The result of looking up the summary of a name.
#[derive(Debug)]
pub(super) enum SummaryLookup<T> {
    Missing,
    Present(T),
    /// The file is not a summary; the reason.
    Corrupt(String),
}

impl Store {
    /// Does not access the disk.
    pub fn open(directory: impl Into<Utf8PathBuf>) -> Self {
        Self { directory: directory.into(), root: None }
    }

    /// The store of a repository.
    pub fn of_root(root: &Utf8Path) -> Self {
        Self { directory: root.join(".co/evals"), root: Some(root.to_owned()) }
    }

    /// Fails if the store is outside the repository: a link in an untrusted repository must not
    /// redirect writes.
    pub fn check_is_inside(&self, root: &Utf8Path) -> Result<(), StoreError> {
        let mut there = self.directory.ancestors();
        let there = there.find_map(|path| path.canonicalize_utf8().ok());
        match (root.canonicalize_utf8(), there) {
            (Ok(root), Some(there)) if !there.starts_with(&root) => {
                Err(StoreError::Outside { path: self.directory.clone() })
            }
            _ => Ok(()),
        }
    }

    pub fn directory(&self) -> &Utf8Path {
        &self.directory
    }

    /// A file or directory of the store, as it is written. The limit holds for every call, so a link
    /// that appears after [`Store::check_is_inside`] leads nowhere.
    pub(super) fn place<'p>(&'p self, path: &'p Utf8Path) -> WritePath<'p> {
        WritePath { path, reach: self.reach() }
    }

    /// The directory itself, which may have to be created.
    pub(super) fn own_place(&self) -> WritePath<'_> {
        match &self.root {
            Some(root) => WritePath::inside(root, &self.directory),
            None => self.directory.as_path().into(),
        }
    }

    pub(super) fn reach(&self) -> Reach<'_> {
        Reach::Inside(self.root.as_ref().unwrap_or(&self.directory))
    }

    pub fn summary_path(&self, name: &str) -> Utf8PathBuf {
        self.directory.join(format!("{name}.yaml"))
    }

    pub fn run_directory(&self, name: &str) -> Utf8PathBuf {
        self.directory.join(name)
    }

    pub fn run_path(&self, name: &str, run: u64) -> Utf8PathBuf {
        self.run_directory(name).join(format!("run_{run}.yaml"))
    }

    /// All records. A missing store is empty.
    pub fn list(&self) -> Result<Listing, StoreError> {
        let names = self.names()?;
        let mut listing = Listing::default();
        for result in self.read_all(&names) {
            match result {
                Ok(record) => listing.records.push(record),
                Err(error) => listing.unreadable.push(error),
            }
        }
        Ok(listing)
    }

    /// Reads records by name on all cores.
    pub(super) fn read_all(&self, names: &[String]) -> Vec<Result<Record, StoreError>> {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let part = names.len().div_ceil(cores).max(LEAST_PER_THREAD);
        let read =
            |names: &[String]| -> Vec<_> { names.iter().map(|name| self.read(name)).collect() };
        let read = thread::scope(|scope| {
            let parts: Vec<_> =
                names.chunks(part).map(|names| scope.spawn(move || read(names))).collect();
            let done = parts.into_iter().map(|part| part.join());
            done.collect::<Result<Vec<_>, _>>()
        });
        let read = read.unwrap_or_else(|panic| resume_unwind(panic));
        read.into_iter().flatten().collect()
    }

    /// How many bytes its files have.
    pub fn size(&self) -> Result<u64, StoreError> {
        let mut total = 0;
        for name in directory_entries(&self.directory)? {
            let path = self.directory.join(&name);
            total += size_of_file(&path);
            if path.is_dir() {
                let files = directory_entries(&path)?;
                total += files.iter().map(|file| size_of_file(&path.join(file))).sum::<u64>();
            }
        }
        Ok(total)
    }

    /// The names of all summaries, sorted. Hidden files are skipped.
    pub fn names(&self) -> Result<Vec<String>, StoreError> {
        let mut names = Vec::new();
        for name in directory_entries(&self.directory)? {
            if let Some(stem) = name.strip_suffix(".yaml")
                && !stem.is_empty()
                && !name.starts_with('.')
            {
                names.push(stem.to_owned());
            }
        }
        names.sort();
        Ok(names)
    }

    /// Reads a record by its name or as `NAME.yaml`.
    pub fn read(&self, name: &str) -> Result<Record, StoreError> {
        let name = checked_name(name)?;
        let file = self.summary_path(name);
        match self.look_up(name)? {
            SummaryLookup::Present(summary) => Ok(Record { name: name.to_owned(), file, summary }),
            SummaryLookup::Corrupt(reason) => Err(StoreError::Corrupt { path: file, reason }),
            SummaryLookup::Missing => Err(StoreError::NoRecord {
                name: name.to_owned(),
                directory: self.directory.clone(),
            }),
        }
    }

    pub(super) fn look_up(&self, name: &str) -> Result<SummaryLookup<RecordSummary>, StoreError> {
        self.look_up_with(name, RecordSummary::read)
    }

    /// Reads only as much of the summary as adding a run needs.
    pub(super) fn look_up_appendable(
        &self,
        name: &str,
    ) -> Result<SummaryLookup<AppendableSummary>, StoreError> {
        self.look_up_with(name, AppendableSummary::read)
    }

    fn look_up_with<T>(
        &self,
        name: &str,
        read: fn(Vec<u8>) -> Result<T, String>,
    ) -> Result<SummaryLookup<T>, StoreError> {
        let bytes = self.read_if_exists(&self.summary_path(name))?;
        Ok(match bytes.map(read) {
            None => SummaryLookup::Missing,
            Some(Ok(summary)) => SummaryLookup::Present(summary),
            Some(Err(reason)) => SummaryLookup::Corrupt(reason),
        })
    }

    /// The numbers of the run files, lowest first.
    pub fn run_numbers(&self, name: &str) -> Result<Vec<u64>, StoreError> {
        let mut numbers: Vec<u64> = directory_entries(&self.run_directory(name))?
            .iter()
            .filter_map(|file| run_number(file))
            .collect();
        numbers.sort_unstable();
        numbers.dedup();
        Ok(numbers)
    }

    /// One run with its messages.
    pub fn run_file(&self, name: &str, run: u64) -> Result<RunFile, StoreError> {
        let name = checked_name(name)?;
        let path = self.run_path(name, run);
        if let Some(bytes) = self.read_if_exists(&path)? {
            let read = RunFile::read(bytes);
            return read.map_err(|reason| StoreError::Corrupt { path, reason });
        }
        let path = path.with_extension("jsonl");
        match self.read_if_exists(&path)? {
            Some(bytes) => {
                let read = RunFile::read_lines(bytes);
                read.map_err(|reason| StoreError::Corrupt { path, reason })
            }
            None => Err(StoreError::NoRun { name: name.to_owned(), run }),
        }
    }

    /// The messages of a run, sent and received.
    pub fn messages(
        &self,
        name: &str,
        run: u64,
    ) -> Result<Vec<evalrig_core::model::Value>, StoreError> {
        Ok(self.run_file(name, run)?.messages)
    }

    /// A file of the store. Git carries links, so one to a device or out of the store is refused.
    fn read_if_exists(&self, path: &Utf8Path) -> Result<Option<Vec<u8>>, StoreError> {
        match read_whole(path, self.reach(), FILE_LIMIT) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if is_outside(&error) => Err(StoreError::Link { path: path.to_owned() }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(StoreError::io("read", path, error)),
        }
    }

    /// How many runs there have been (spec 13.5): the highest number in the summary and on disk.
    pub fn run_count(&self, record: &Record) -> Result<u64, StoreError> {
        let on_disk = self.run_numbers(&record.name)?;
        let highest = record.summary.highest_run();
        Ok(on_disk.last().copied().unwrap_or(0).max(highest))
    }
}

/// `run_N.yaml` or `run_N.jsonl`.
pub(super) fn run_number(file: &str) -> Option<u64> {
    let rest = file.strip_prefix("run_")?;
    let digits = rest.strip_suffix(".yaml").or_else(|| rest.strip_suffix(".jsonl"))?;
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|_| is_number)
}

/// Names of the entries of a directory; none if it does not exist.
pub(super) fn directory_entries(directory: &Utf8Path) -> Result<Vec<String>, StoreError> {
    let fail = |error| StoreError::io("read", directory, error);
    let listed = match fs::read_dir(directory) {
        Ok(listed) => listed,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(fail(error)),
    };
    let mut found = Vec::new();
    for entry in listed {
        let entry = entry.map_err(fail)?;
        // Records have UTF-8 names.
        if let Ok(name) = entry.file_name().into_string() {
            found.push(name);
        }
    }
    Ok(found)
}

/// The name without `.yaml`, if it cannot lead out of the store.
pub(super) fn checked_name(name: &str) -> Result<&str, StoreError> {
    let stem = name.strip_suffix(".yaml").unwrap_or(name);
    if stem.is_empty() || stem.starts_with('.') || stem.contains(['/', '\\', '\0', ':']) {
        Err(StoreError::InvalidName { name: name.to_owned() })
    } else {
        Ok(stem)
    }
}

/// 0 for everything but a regular file.
fn size_of_file(path: &Utf8Path) -> u64 {
    let found = std::fs::symlink_metadata(path).ok().filter(std::fs::Metadata::is_file);
    found.map_or(0, |found| found.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_inside_the_store() {
        for name in ["", ".", "..", "../a", "a/b", "a\\b", ".lock", "c:a"] {
            assert!(checked_name(name).is_err(), "{name}");
        }
        assert_eq!(checked_name("hi.yaml").unwrap(), "hi");
        assert_eq!(checked_name("写一个").unwrap(), "写一个");
    }

    #[test]
    fn run_files_have_numbers() {
        assert_eq!(run_number("run_12.yaml"), Some(12));
        assert_eq!(run_number("run_3.jsonl"), Some(3));
        for other in ["run_.yaml", "run_+1.yaml", "run_1.yml", "run_1.yaml.bak"] {
            assert_eq!(run_number(other), None, "{other}");
        }
    }

    #[test]
    fn a_missing_store_is_empty() {
        let store = Store::open("/nonexistent/evals");
        assert!(store.list().unwrap().records.is_empty());
        let error = store.read("a").unwrap_err().to_string();
        assert_eq!(error, "no record `a` in `/nonexistent/evals`");
    }
}
