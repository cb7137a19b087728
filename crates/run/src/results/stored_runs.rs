//! The runs in a folder of results. Files that one run wrote belong together. Only the first and the
//! last line of each file are read.

use std::collections::HashMap;
use std::io::{self, Read, Seek, SeekFrom};
use std::time::SystemTime;

use camino::{Utf8DirEntry, Utf8Path, Utf8PathBuf};
use evalrig_core::source::Reach;

use super::checksum::{Seal, check_seal};
use super::follow::{FollowedFile, FollowedLine};
use super::results_paths::{ResultsPaths, is_results_entry, time_in_name};
use super::run_header::RunHeader;
use super::scan::{ResultsLine, read_results_line};
use crate::clock::rfc3339;
use crate::disk::open_regular;

/// The last line of a complete file is much shorter.
const LAST_BYTES: u64 = 4096;

/// The files of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredRun {
    /// Sorted by name; at least one.
    pub files: Vec<Utf8PathBuf>,
    /// Whether it can be resumed: a journal is left.
    pub is_unfinished: bool,
}

/// What a results file says of its run.
struct KnownFile {
    path: Utf8PathBuf,
    run: Option<String>,
    /// RFC 3339: the end of the run, or what is known instead.
    active: String,
    /// Tells apart runs of the same second.
    changed: SystemTime,
}

/// The entries of a folder whose names are UTF-8, as those of results are.
pub(crate) fn named_entries(folder: &Utf8Path) -> io::Result<Vec<Utf8DirEntry>> {
    let mut entries = Vec::new();
    for entry in folder.read_dir_utf8()? {
        match entry {
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {}
            entry => entries.push(entry?),
        }
    }
    Ok(entries)
}

/// All runs in a folder, the one that was active last first.
pub fn stored_runs(folder: &Utf8Path) -> io::Result<Vec<StoredRun>> {
    let mut files = Vec::new();
    for entry in named_entries(folder)? {
        match known_file(&entry) {
            // Removed since it was listed.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            file => files.extend(file?),
        }
    }
    let mut groups: Vec<Vec<KnownFile>> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for file in files {
        match file.run.as_ref().and_then(|run| places.get(run)) {
            Some(at) => groups[*at].push(file),
            None => {
                if let Some(run) = &file.run {
                    places.insert(run.clone(), groups.len());
                }
                groups.push(vec![file]);
            }
        }
    }
    groups.sort_by_cached_key(|files| {
        let last = files.iter().map(|file| (file.active.clone(), file.changed)).max();
        std::cmp::Reverse(last)
    });
    Ok(groups.into_iter().map(StoredRun::of).collect())
}

/// Whether a file begins as a results file does.
pub fn is_results_file(path: &Utf8Path) -> bool {
    matches!(
        FollowedFile::new(path).read_first(),
        Ok(Some(FollowedLine::Header(_) | FollowedLine::Row(_) | FollowedLine::End(_)))
    )
}

/// The header that a results file begins with.
pub fn header_of_file(path: &Utf8Path) -> Option<RunHeader> {
    match FollowedFile::new(path).read_first() {
        Ok(Some(FollowedLine::Header(header))) => Some(*header),
        _ => None,
    }
}

impl StoredRun {
    fn of(files: Vec<KnownFile>) -> Self {
        let mut files: Vec<Utf8PathBuf> = files.into_iter().map(|file| file.path).collect();
        files.sort();
        let has_journal = |file: &Utf8PathBuf| ResultsPaths::existing(file).journal().exists();
        Self { is_unfinished: files.iter().any(has_journal), files }
    }
}

/// `None` if the entry is not a results file. One that is named like ours counts even if its first line
/// is damaged.
fn known_file(entry: &Utf8DirEntry) -> io::Result<Option<KnownFile>> {
    if !is_results_entry(entry) {
        return Ok(None);
    }
    let (path, named) = (entry.path().to_owned(), time_in_name(entry.file_name()));
    let changed = entry.metadata()?.modified()?;
    let (run, started) = match FollowedFile::new(&path).read_first() {
        Ok(Some(FollowedLine::Header(header))) => (header.run, Some(header.timestamp)),
        // The first row of an older file is not its beginning.
        Ok(Some(FollowedLine::Row(row))) => {
            (row.run, Some(row.timestamp).filter(|_| named.is_none()))
        }
        _ if named.is_none() => return Ok(None),
        _ => (None, None),
    };
    let active = end_time(&path).into_iter().chain(started).chain(named).max();
    let active = active.unwrap_or_else(|| rfc3339(changed));
    Ok(Some(KnownFile { path, run, active, changed }))
}

/// When the run ended, from the last line.
fn end_time(path: &Utf8Path) -> Option<String> {
    let mut file = open_regular(path, Reach::Anywhere).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(LAST_BYTES))).ok()?;
    let mut bytes = Vec::new();
    file.take(LAST_BYTES).read_to_end(&mut bytes).ok()?;
    let line = bytes.strip_suffix(b"\n")?.rsplit(|byte| *byte == b'\n').next()?;
    let seal = check_seal(line);
    match read_results_line(line, seal, seal != Seal::Absent) {
        Ok(ResultsLine::End(end)) => Some(end.timestamp),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Arc;

    use super::super::run_header::{Completion, PlanOptions};
    use super::super::testing::row;
    use super::super::writer::{Existing, ResultsWriter};
    use super::*;

    fn start(folder: &Utf8Path, name: &str, run: &str, started: &str) -> ResultsWriter {
        let mut header = RunHeader::new(started.to_owned(), Vec::new(), PlanOptions::default());
        header.run = Some(run.to_owned());
        let place = ResultsPaths::at(&folder.join(name)).unwrap();
        ResultsWriter::create(place, Existing::Replace, &header, Arc::default()).unwrap()
    }

    fn names(folder: &Utf8Path) -> Vec<Vec<String>> {
        let runs = stored_runs(folder).unwrap().into_iter();
        let names = |run: StoredRun| {
            run.files.iter().map(|file| file.file_name().unwrap().to_owned()).collect()
        };
        runs.map(names).collect()
    }

    #[test]
    fn files_of_a_run_belong_together_and_the_last_active_run_comes_first() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(folder.path()).unwrap();
        for (name, run, started) in [
            ("a.jsonl", "one", "2026-01-01T00:00:00Z"),
            ("b.jsonl", "one", "2026-01-01T00:00:00Z"),
            ("c.jsonl", "two", "2026-01-02T00:00:00Z"),
        ] {
            // Killed: there is no end.
            drop(start(folder, name, run, started));
        }
        // Neither a suite nor a link is a results file.
        fs::write(folder.join("suite.jsonl"), "{\"id\": \"a\"}\n").unwrap();
        fs::write(folder.join("notes.txt"), "").unwrap();
        assert_eq!(names(folder), [vec!["c.jsonl"], vec!["a.jsonl", "b.jsonl"]]);
        assert!(stored_runs(folder).unwrap().iter().all(|run| run.is_unfinished));
        // A run that ends later is the later one, whenever it started.
        let late = start(folder, "b.jsonl", "one", "2026-01-01T00:00:00Z");
        late.write_row(row("x", 1)).1.wait().unwrap();
        late.finish(Completion::Complete).unwrap();
        assert_eq!(names(folder), [vec!["a.jsonl", "b.jsonl"], vec!["c.jsonl"]]);
    }

    #[test]
    fn a_damaged_file_with_a_name_of_ours_is_not_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(folder.path()).unwrap();
        drop(start(folder, "a-2026-01-01T00-00-00.jsonl", "one", "2026-01-01T00:00:00Z"));
        fs::write(folder.join("a-2026-01-02T00-00-00.jsonl"), "nonsense\n").unwrap();
        assert_eq!(names(folder)[0], ["a-2026-01-02T00-00-00.jsonl"]);
        assert!(!is_results_file(&folder.join("a-2026-01-02T00-00-00.jsonl")));
        assert!(header_of_file(&folder.join("a-2026-01-01T00-00-00.jsonl")).is_some());
    }
}
