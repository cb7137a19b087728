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
use super::run_header::{GateResult, RunEnd, RunHeader};
use super::scan::{ResultsLine, read_results_line};
use crate::clock::rfc3339;
use crate::disk::open_regular;

/// The last line of a complete file is usually shorter.
const LAST_BYTES: u64 = 4096;
/// That of a run in rounds may be longer, but not as long as this.
const MOST_LAST_BYTES: u64 = 4 << 20;

/// The files of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredRun {
    /// Sorted by name; at least one.
    pub files: Vec<Utf8PathBuf>,
    /// Whether it can be resumed: a journal is left.
    pub is_unfinished: bool,
    /// Whether its gate did not pass it.
    pub is_rejected: bool,
}

/// What a results file says of its run.
struct KnownFile {
    path: Utf8PathBuf,
    run: Option<String>,
    /// RFC 3339: the end of the run, or what is known instead.
    active: String,
    gate: Option<GateResult>,
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
        let is_rejected = files.iter().any(|file| file.gate.is_some_and(GateResult::is_rejected));
        let mut files: Vec<Utf8PathBuf> = files.into_iter().map(|file| file.path).collect();
        files.sort();
        let has_journal = |file: &Utf8PathBuf| ResultsPaths::existing(file).journal().exists();
        Self { is_unfinished: files.iter().any(has_journal), is_rejected, files }
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
    let end = end_of_file(&path);
    let gate = end.as_ref().and_then(|end| end.gate);
    let active = end.map(|end| end.timestamp).into_iter().chain(started).chain(named).max();
    let active = active.unwrap_or_else(|| rfc3339(changed));
    Ok(Some(KnownFile { path, run, active, gate, changed }))
}

/// What the gate of the run decided, from the last line.
pub fn gate_of_file(path: &Utf8Path) -> Option<GateResult> {
    end_of_file(path)?.gate
}

fn end_of_file(path: &Utf8Path) -> Option<RunEnd> {
    let line = last_line(path)?;
    let seal = check_seal(&line);
    match read_results_line(&line, seal, seal != Seal::Absent) {
        Ok(ResultsLine::End(end)) => Some(end),
        _ => None,
    }
}

/// `None` if the file does not end with a line break.
fn last_line(path: &Utf8Path) -> Option<Vec<u8>> {
    let mut file = open_regular(path, Reach::Anywhere).ok()?;
    let length = file.metadata().ok()?.len();
    let mut size = LAST_BYTES;
    while size <= MOST_LAST_BYTES {
        let start = length.saturating_sub(size);
        file.seek(SeekFrom::Start(start)).ok()?;
        let mut bytes = Vec::new();
        file.by_ref().take(size).read_to_end(&mut bytes).ok()?;
        let bytes = bytes.strip_suffix(b"\n")?;
        match bytes.iter().rposition(|byte| *byte == b'\n') {
            Some(at) => return Some(bytes[at + 1..].to_vec()),
            None if start == 0 => return Some(bytes.to_vec()),
            None => size *= 16,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Arc;

    use super::super::round_record::{ComparedRounds, LookRecord, RoundRecord};
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
    fn a_run_that_its_gate_did_not_pass_is_known_however_long_its_last_line_is() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(folder.path()).unwrap();
        let look = LookRecord {
            round: 1,
            delta: Some(-0.5),
            low: None,
            high: None,
            p: Some(0.01),
            drop_level: 0.05,
            gain_level: 0.01,
            verdict: "worse".to_owned(),
        };
        let verdict = "worse".to_owned();
        let compared = ComparedRounds { arm: None, stop: None, verdict, looks: vec![look; 100] };
        for (name, comparisons, gate) in [
            ("a.jsonl", Vec::new(), None),
            ("b.jsonl", Vec::new(), Some(GateResult::Passed)),
            ("c.jsonl", Vec::new(), Some(GateResult::Inconclusive)),
            ("d.jsonl", vec![compared], Some(GateResult::Worse)),
        ] {
            let mut writer = start(folder, name, name, "2026-01-01T00:00:00Z");
            writer.keep_rounds(RoundRecord { rounds: 1, stopped: true, beyond: 0, comparisons });
            gate.into_iter().for_each(|gate| writer.keep_gate(gate));
            writer.finish(Completion::Complete).unwrap();
            assert_eq!(gate_of_file(&folder.join(name)), gate, "{name}");
        }
        assert!(fs::metadata(folder.join("d.jsonl")).unwrap().len() > 2 * LAST_BYTES);
        let runs = stored_runs(folder).unwrap();
        let rejected =
            |name: &str| runs.iter().any(|run| run.is_rejected && run.files == [folder.join(name)]);
        let names = ["a.jsonl", "b.jsonl", "c.jsonl", "d.jsonl"];
        assert_eq!(names.map(rejected), [false, false, true, true]);
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
