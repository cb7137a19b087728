//! The lines of results files and journals, one at a time. Memory is bounded by the longest line.
//!
//! A file that was being written may end in part of a line; that part is left out. A last line
//! that lacks nothing but its line break counts.

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::model::Outcome;
use evalrig_core::stats::Fnv1a;
use serde::Deserialize;

use super::error::ReadError;
use super::results_paths::open_stored;
use super::row::{CaseKey, Row, SCHEMA_VERSION};
use super::row_check::{check_cost, check_ordinal, check_row, check_share};
use super::variant::variant_name;

const BUFFER: usize = 256 * 1024;

/// An answer has at most 64 MiB, and a row has it once, and once more in its messages. Twice that
/// leaves room for escapes.
pub(super) const LINE_LIMIT: u64 = 256 * 1024 * 1024;

/// The position of a line in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LineExtent {
    /// From 1.
    pub(crate) line: u64,
    pub(crate) offset: u64,
    /// Without the line break.
    pub(crate) length: u64,
    pub(crate) has_break: bool,
}

/// The lines of a file, one at a time; blank ones are passed over.
#[derive(Debug)]
pub(super) struct LineReader {
    path: Utf8PathBuf,
    file: BufReader<File>,
    buffer: Vec<u8>,
    line: u64,
    offset: u64,
}

impl LineReader {
    pub(super) fn open(path: &Utf8Path) -> Result<Self, ReadError> {
        let file = open_stored(path).map_err(|error| ReadError::io(path, error))?;
        Ok(Self::new(path, file))
    }

    fn new(path: &Utf8Path, file: File) -> Self {
        Self::starting_at(path, file, 0, 0)
    }

    /// For a file that is positioned at `offset`, with so many lines before it.
    pub(super) fn starting_at(path: &Utf8Path, file: File, offset: u64, line: u64) -> Self {
        let file = BufReader::with_capacity(BUFFER, file);
        Self { path: path.to_owned(), file, buffer: Vec::new(), line, offset }
    }

    pub(super) fn next(&mut self) -> Result<Option<(LineExtent, &[u8])>, ReadError> {
        loop {
            self.buffer.clear();
            let mut limited = (&mut self.file).take(LINE_LIMIT + 1);
            let read = limited.read_until(b'\n', &mut self.buffer);
            let count = read.map_err(|error| ReadError::io(&self.path, error))?;
            if count as u64 > LINE_LIMIT {
                let reason = format!("longer than {} MiB", LINE_LIMIT >> 20);
                return Err(ReadError::corrupt(&self.path, self.line + 1, reason));
            }
            if count == 0 {
                return Ok(None);
            }
            let offset = self.offset;
            self.offset += count as u64;
            self.line += 1;
            let has_break = self.buffer.last() == Some(&b'\n');
            if has_break && self.buffer.trim_ascii().is_empty() {
                continue;
            }
            let length = count - usize::from(has_break);
            let extent = LineExtent { line: self.line, offset, length: length as u64, has_break };
            return Ok(Some((extent, &self.buffer[..length])));
        }
    }
}

/// What is worth remembering of a row.
#[derive(Debug, Clone, PartialEq)]
pub struct Finished {
    pub outcome: Outcome,
    /// See [`Row::baseline_arm`].
    pub baseline_arm: bool,
    pub score: Option<f64>,
    pub test_hash: String,
    pub attempts: u32,
    pub cost_usd: Option<f64>,
    pub judge_cost_usd: Option<f64>,
    pub duration_ms: Option<u64>,
    /// Of the error, if there is one.
    pub error_kind: Option<String>,
    /// Of the id of its run; `None` in rows of older versions.
    pub(crate) run_digest: Option<u64>,
}

impl Finished {
    /// Whether the case need not be run again. Cases that were never started, because a budget or
    /// a number of errors was reached, are written as errored with kind `limit` (spec 11.3).
    /// Any other error took its attempts; running it again is what `--failed` is for.
    pub fn is_done(&self) -> bool {
        let is_limit = self.error_kind.as_deref() == Some("limit");
        !(self.outcome == Outcome::Errored && is_limit && self.attempts == 0)
    }

    /// What `--failed` selects.
    pub fn did_not_pass(&self) -> bool {
        match self.outcome {
            Outcome::Passed | Outcome::Skipped => false,
            Outcome::Failed | Outcome::Borderline => !self.baseline_arm,
            Outcome::Errored => true,
        }
    }
}

/// The keys that say which case a row is about and how it ended. Every file is scanned once for them
/// before its rows are read, so answers and grades are skipped without being built.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RowHead<'l> {
    schema_version: u32,
    eval_id: String,
    dataset: String,
    target: String,
    arm: Option<String>,
    #[serde(default)]
    baseline_arm: bool,
    trial: u32,
    #[serde(default)]
    attempts: u32,
    outcome: String,
    score: Option<f64>,
    test_hash: String,
    cost_usd: Option<f64>,
    duration_ms: Option<u64>,
    judge_usage: Option<RowHeadUsage>,
    error: Option<RowHeadError>,
    #[serde(borrow)]
    run: Option<Cow<'l, str>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RowHeadUsage {
    cost_usd: Option<f64>,
}

#[derive(Deserialize)]
struct RowHeadError {
    kind: String,
}

/// The error says why the line is not a row.
pub(crate) fn read_row_head(line: &[u8]) -> Result<(CaseKey, Finished), String> {
    let head: RowHead = serde_json::from_slice(line).map_err(|error| reason(&error))?;
    if head.schema_version > SCHEMA_VERSION {
        return Err("written by a newer version of evalrig".to_owned());
    }
    let outcome = Outcome::parse(&head.outcome);
    let outcome = outcome.ok_or_else(|| format!("`{}` is not an outcome", head.outcome))?;
    let key = CaseKey {
        suite: head.dataset,
        test: head.eval_id,
        target: variant_name(&head.target, head.arm.as_deref()),
        trial: head.trial,
    };
    let finished = Finished {
        outcome,
        baseline_arm: head.baseline_arm,
        score: head.score,
        test_hash: head.test_hash,
        attempts: head.attempts,
        cost_usd: head.cost_usd,
        judge_cost_usd: head.judge_usage.and_then(|usage| usage.cost_usd),
        duration_ms: head.duration_ms,
        error_kind: head.error.map(|error| error.kind),
        run_digest: head.run.as_deref().map(digest),
    };
    check_ordinal("trial", u64::from(key.trial))?;
    check_share("score", finished.score)?;
    check_cost("costUsd", finished.cost_usd)?;
    check_cost("judgeUsage.costUsd", finished.judge_cost_usd)?;
    Ok((key, finished))
}

fn digest(run: &str) -> u64 {
    let mut hash = Fnv1a::default();
    hash.add_text(run);
    hash.finish()
}

/// The whole row, with its numbers checked.
pub(crate) fn read_row(line: &[u8]) -> Result<Row, String> {
    let row: Row = serde_json::from_slice(without_mark(line)).map_err(|error| reason(&error))?;
    check_row(&row)?;
    Ok(row)
}

/// Some editors put a byte order mark before the first line.
pub(super) fn without_mark(line: &[u8]) -> &[u8] {
    line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line)
}

/// Every line is line 1 to the JSON parser, so only its column is of use.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let end = text.find(" at line ").unwrap_or(text.len());
    format!("not a row: {} (column {})", &text[..end], error.column())
}

/// Goes through a file line by line. Lines that `read` does not understand are listed and passed
/// over. Returns how much of the file was seen and how it ends.
pub(super) fn scan<T>(
    path: &Utf8Path,
    read: impl FnMut(&[u8]) -> Result<T, String>,
    each: impl FnMut(LineExtent, T),
) -> Result<ScannedFile, ReadError> {
    let file = open_stored(path).map_err(|error| ReadError::io(path, error))?;
    scan_file(path, file, read, each)
}

/// As [`scan`], for a file that is open; the path is for messages.
pub(super) fn scan_file<T>(
    path: &Utf8Path,
    file: File,
    mut read: impl FnMut(&[u8]) -> Result<T, String>,
    mut each: impl FnMut(LineExtent, T),
) -> Result<ScannedFile, ReadError> {
    let mut lines = LineReader::new(path, file);
    let mut kept = ScannedFile::default();
    while let Some((extent, line)) = lines.next()? {
        let line = if extent.offset == 0 { without_mark(line) } else { line };
        match read(line) {
            Ok(found) => {
                kept.lacks_break = !extent.has_break;
                each(extent, found);
            }
            Err(reason) => {
                if !extent.has_break {
                    kept.torn = extent.length;
                    kept.line = extent.line;
                }
                kept.damaged.push(DamagedLine {
                    file: path.to_owned(),
                    line: extent.line,
                    reason: if extent.has_break { reason } else { TORN.to_owned() },
                });
            }
        }
    }
    kept.seen = lines.offset;
    kept.whole = kept.seen - kept.torn;
    Ok(kept)
}

/// Why a last line without a line break cannot be read.
const TORN: &str = "the last line was not finished";

/// A line that is not as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DamagedLine {
    pub file: Utf8PathBuf,
    /// From 1.
    pub line: u64,
    pub reason: String,
}

/// What of a file is to be kept when it is written to again.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ScannedFile {
    /// Length of the file when it was read.
    pub seen: u64,
    /// Length of its whole lines.
    pub whole: u64,
    /// Bytes of a last line that was not finished.
    pub torn: u64,
    /// The number of that line, from 1.
    pub line: u64,
    /// Whether the last line is whole but for its line break.
    pub lacks_break: bool,
    /// Lines that could not be read, the torn one included.
    pub damaged: Vec<DamagedLine>,
}
