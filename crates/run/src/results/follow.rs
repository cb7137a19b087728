//! A results file that is read while a run writes it. Each call reads the whole lines that were added
//! since the last one, with the reader of finished files.

use std::fs::TryLockError;
use std::io::{Seek, SeekFrom};

use camino::{Utf8Path, Utf8PathBuf};

use super::checksum::{Seal, check_seal};
use super::error::ReadError;
use super::read::{DamagedLine, LineReader, read_row, without_mark};
use super::results_paths::reach_of;
use super::row::Row;
use super::run_header::{RunEnd, RunHeader};
use super::scan::{ResultsLine, read_results_line};
use crate::disk::open_regular;

/// Bytes of lines that one call returns, unless one line is longer.
const BATCH: u64 = 4 * 1024 * 1024;

/// A line that was added to the file.
#[derive(Debug)]
pub enum FollowedLine {
    Header(Box<RunHeader>),
    Row(Box<Row>),
    End(RunEnd),
    Damaged(DamagedLine),
}

/// Where reading goes on.
#[derive(Debug)]
pub struct FollowedFile {
    path: Utf8PathBuf,
    offset: u64,
    /// Lines before the offset.
    line: u64,
    /// Once a line has a checksum, all have one.
    is_sealed: bool,
}

impl FollowedFile {
    /// Starts at the first line.
    pub fn new(path: impl Into<Utf8PathBuf>) -> Self {
        Self { path: path.into(), offset: 0, line: 0, is_sealed: false }
    }

    pub fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// The whole lines that were added, up to some megabytes; none if there are none yet. A file that
    /// became shorter is read from its start again.
    pub fn read_added(&mut self) -> Result<Vec<FollowedLine>, ReadError> {
        self.read_up_to(BATCH)
    }

    /// The next line alone, if it is there.
    pub fn read_first(&mut self) -> Result<Option<FollowedLine>, ReadError> {
        Ok(self.read_up_to(1)?.pop())
    }

    fn read_up_to(&mut self, bytes: u64) -> Result<Vec<FollowedLine>, ReadError> {
        let fail = |error| ReadError::io(&self.path, error);
        let mut file = open_regular(&self.path, reach_of(&self.path)).map_err(fail)?;
        let length = file.metadata().map_err(fail)?.len();
        if length == self.offset {
            return Ok(Vec::new());
        }
        if length < self.offset {
            *self = Self::new(std::mem::take(&mut self.path));
        }
        file.seek(SeekFrom::Start(self.offset))
            .map_err(|error| ReadError::io(&self.path, error))?;
        let start = self.offset;
        let mut lines = LineReader::starting_at(&self.path, file, self.offset, self.line);
        let mut found = Vec::new();
        while self.offset - start < bytes {
            let Some((extent, line)) = lines.next()? else { break };
            // The rest of the line is still to be written.
            if !extent.has_break {
                break;
            }
            let line = if extent.offset == 0 { without_mark(line) } else { line };
            let seal = check_seal(line);
            let read = read_results_line(line, seal, self.is_sealed);
            self.is_sealed |= seal != Seal::Absent;
            (self.offset, self.line) = (extent.offset + extent.length + 1, extent.line);
            let read = read.and_then(|known| match known {
                ResultsLine::Header(header) => Ok(Some(FollowedLine::Header(header))),
                ResultsLine::Row(..) => read_row(line).map(|row| Some(row_line(row))),
                ResultsLine::End(end) => Ok(Some(FollowedLine::End(end))),
                ResultsLine::Other => Ok(None),
            });
            match read {
                Ok(line) => found.extend(line),
                Err(reason) => found.push(FollowedLine::Damaged(DamagedLine {
                    file: self.path.clone(),
                    line: extent.line,
                    reason,
                })),
            }
        }
        Ok(found)
    }
}

fn row_line(row: Row) -> FollowedLine {
    FollowedLine::Row(Box::new(row))
}

/// Whether a run is writing to a results file now: a writer keeps it locked. Where the file system has
/// no locks, no run is seen.
pub fn is_being_written(results: &Utf8Path) -> bool {
    let opened = open_regular(results, reach_of(results));
    opened.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

#[cfg(test)]
mod tests {
    use std::fs::{self, OpenOptions};
    use std::io::Write;
    use std::sync::Arc;

    use super::super::results_paths::ResultsPaths;
    use super::super::run_header::{Completion, PlanOptions};
    use super::super::testing::row;
    use super::super::writer::{Existing, ResultsWriter};
    use super::*;

    fn ids(lines: &[FollowedLine]) -> Vec<String> {
        let id = |line: &FollowedLine| match line {
            FollowedLine::Header(header) => format!("header {}", header.cases),
            FollowedLine::Row(row) => row.eval_id.clone(),
            FollowedLine::End(end) => format!("end {}", end.rows),
            FollowedLine::Damaged(damaged) => format!("damaged {}", damaged.line),
        };
        lines.iter().map(id).collect()
    }

    #[test]
    fn rows_are_read_as_a_run_writes_them() {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(folder.path()).unwrap().join("r.jsonl");
        let header =
            RunHeader::new("2026-01-02T03:04:05Z".to_owned(), Vec::new(), PlanOptions::default());
        let place = ResultsPaths::at(&path).unwrap();
        let writer =
            ResultsWriter::create(place, Existing::Replace, &header, Arc::default()).unwrap();
        let mut followed = FollowedFile::new(path.clone());
        assert_eq!(ids(&followed.read_added().unwrap()), ["header 0"]);
        assert!(is_being_written(&path));
        for test in ["a", "b"] {
            let (_, receipt) = writer.write_row(row(test, 1));
            receipt.wait().unwrap();
            assert_eq!(ids(&followed.read_added().unwrap()), [test]);
            assert!(followed.read_added().unwrap().is_empty());
        }
        writer.finish(Completion::Complete).unwrap();
        assert_eq!(ids(&followed.read_added().unwrap()), ["end 2"]);
        assert!(!is_being_written(&path));
        let mut late = FollowedFile::new(path);
        assert_eq!(ids(&late.read_added().unwrap()), ["header 0", "a", "b", "end 2"]);
    }

    #[test]
    fn half_a_line_is_left_for_later_and_a_shorter_file_starts_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(folder.path()).unwrap().join("r.jsonl");
        let line = serde_json::to_string(&row("a", 1)).unwrap() + "\n";
        let (head, rest) = line.split_at(line.len() / 2);
        fs::write(&path, head).unwrap();
        let mut followed = FollowedFile::new(path.clone());
        assert!(followed.read_added().unwrap().is_empty());
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(rest.as_bytes()).unwrap();
        file.write_all(b"nonsense\n").unwrap();
        assert_eq!(ids(&followed.read_added().unwrap()), ["a", "damaged 2"]);
        fs::write(&path, serde_json::to_string(&row("b", 1)).unwrap() + "\n").unwrap();
        assert_eq!(ids(&followed.read_added().unwrap()), ["b"]);
    }
}
