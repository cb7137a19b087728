//! A results file as sections: a header, rows, and the end. A resumed run adds rows and another end
//! to its section. A file that joins others, as `cat` does with shards, has a section for each.
//! Files of older versions are rows without a header.

use std::fs::File;

use camino::Utf8Path;
use evalrig_core::stats::Fnv1a;
use serde::Deserialize;

use super::checksum::{Seal, check_seal};
use super::error::ReadError;
use super::journal::{ANSWERED, PLAN};
use super::read::{DamagedLine, Finished, LineExtent, ScannedFile, read_row_head, scan_file};
use super::results_paths::open_stored;
use super::row::CaseKey;
use super::run_header::{END, INCOMPLETE, RUN, RunEnd, RunHeader};

pub(super) const WRONG_CHECKSUM: &str = "its checksum is wrong";

/// What every header begins with.
const HEADER_START: &[u8] = b"{\"kind\":\"run\",";

/// One line of a results file.
#[derive(Debug)]
pub(super) enum ResultsLine {
    Header(Box<RunHeader>),
    Row(Box<(CaseKey, Finished)>, Option<u32>),
    End(RunEnd),
    /// Of a kind that this version does not know.
    Other,
}

#[derive(Deserialize)]
struct LineKind {
    kind: String,
}

/// Rows that belong together.
#[derive(Debug, Clone, Default)]
pub(super) struct Section {
    /// `None`: rows of an older version, or the file was cut.
    pub(super) header: Option<RunHeader>,
    /// Whether it has rows without a checksum, as older versions wrote them.
    pub(super) has_plain_rows: bool,
    pub(super) rows: RowTally,
    pub(super) damaged: Vec<DamagedLine>,
    /// `None` if the file ends without one, or if rows follow it.
    pub(super) end: Option<RunEnd>,
    /// Whether a header below replaces this one.
    pub(super) is_continued: bool,
}

impl Section {
    /// Whether it had a header: checksums and ends were never written without one.
    pub(super) fn lacks_header(&self) -> bool {
        self.header.is_none() && (self.rows.count > 0 || self.end.is_some())
    }
}

/// Number and digest of the rows since a header.
#[derive(Debug, Clone, Default)]
pub(super) struct RowTally {
    pub(super) count: u64,
    digest: Fnv1a,
}

impl RowTally {
    pub(super) fn add(&mut self, crc: u32) {
        self.count += 1;
        self.digest.add(&crc.to_le_bytes());
    }

    pub(super) fn digest(&self) -> String {
        format!("{:016x}", self.digest.finish())
    }
}

/// Everything that a results file says, but for its answers and grades.
#[derive(Debug, Default)]
pub(crate) struct ResultsScan {
    pub(super) sections: Vec<Section>,
    pub(super) file: ScannedFile,
    /// Whether not a line of it is ours.
    pub(super) is_foreign: bool,
}

impl ResultsScan {
    /// Refuses a file that is not a results file.
    pub(crate) fn known(self, path: &Utf8Path) -> Result<Self, ReadError> {
        match self.file.damaged.first().filter(|_| self.is_foreign) {
            Some(first) => Err(ReadError::corrupt(path, first.line, first.reason.clone())),
            None => Ok(self),
        }
    }

    /// As [`ResultsScan::known`], but takes a file with nothing but a torn line, as a crash may leave
    /// it.
    pub(super) fn resumable(self, path: &Utf8Path) -> Result<Self, ReadError> {
        let is_torn = self.file.torn > 0 && self.file.damaged.len() == 1;
        if is_torn { Ok(self) } else { self.known(path) }
    }

    /// The header that counts when the run goes on.
    pub(super) fn last_section(&self) -> Option<&Section> {
        self.sections.last().filter(|section| section.header.is_some())
    }
}

pub(super) fn scan_results(
    path: &Utf8Path,
    each: impl FnMut(LineExtent, CaseKey, Finished),
) -> Result<ResultsScan, ReadError> {
    let file = open_stored(path).map_err(|error| ReadError::io(path, error))?;
    scan_open_results(path, file, each)
}

/// As [`scan_results`], for a file that is open; the path is for messages.
pub(crate) fn scan_open_results(
    path: &Utf8Path,
    file: File,
    mut each: impl FnMut(LineExtent, CaseKey, Finished),
) -> Result<ResultsScan, ReadError> {
    let mut sections: Vec<Section> = Vec::new();
    let mut places: Vec<u64> = Vec::new();
    // Once a line has a checksum, all have one.
    let mut is_sealed = false;
    let mut is_header_cut = false;
    let read = |line: &[u8]| {
        let seal = check_seal(line);
        let found = read_results_line(line, seal, is_sealed);
        is_sealed |= seal != Seal::Absent;
        is_header_cut |= line.starts_with(HEADER_START) || HEADER_START.starts_with(line);
        found
    };
    let file = scan_file(path, file, read, |extent, line| {
        match line {
            ResultsLine::Header(header) => {
                if let Some(before) = sections.last_mut() {
                    let plan = before.header.as_ref().map_or("", |header| &header.plan);
                    before.is_continued = header.continues.as_deref() == Some(plan);
                }
                sections.push(Section { header: Some(*header), ..Section::default() });
                places.push(extent.line);
            }
            ResultsLine::Row(row, crc) => {
                let section = last_section(&mut sections, &mut places);
                section.has_plain_rows |= crc.is_none();
                crc.into_iter().for_each(|crc| section.rows.add(crc));
                section.end = None;
                let (key, finished) = *row;
                each(extent, key, finished);
            }
            ResultsLine::End(end) => last_section(&mut sections, &mut places).end = Some(end),
            ResultsLine::Other => {}
        };
    })?;
    let is_foreign = sections.is_empty() && !is_header_cut;
    // A damaged line belongs to the section that it is in.
    for damaged in &file.damaged {
        let at = places.partition_point(|first| *first < damaged.line);
        if sections.is_empty() {
            sections.push(Section::default());
        }
        sections[at.saturating_sub(1)].damaged.push(damaged.clone());
    }
    Ok(ResultsScan { sections, file, is_foreign })
}

/// Opens one without a header if there is none.
fn last_section<'s>(sections: &'s mut Vec<Section>, places: &mut Vec<u64>) -> &'s mut Section {
    if sections.is_empty() {
        sections.push(Section::default());
        places.push(0);
    }
    sections.last_mut().expect("one was just added")
}

/// The error says why the line does not belong to a results file.
pub(super) fn read_results_line(
    line: &[u8],
    seal: Seal,
    is_sealed: bool,
) -> Result<ResultsLine, String> {
    let crc = match seal {
        Seal::Intact(crc) => Some(crc),
        Seal::Broken => return Err(WRONG_CHECKSUM.to_owned()),
        Seal::Absent => None,
    };
    if line.starts_with(b"{\"kind\"") {
        return read_kind(line, crc);
    }
    match read_row_head(line) {
        Ok(_) if crc.is_none() && is_sealed => Err("its checksum is missing".to_owned()),
        Ok(row) => Ok(ResultsLine::Row(Box::new(row), crc)),
        Err(reason) => Err(reason),
    }
}

fn read_kind(line: &[u8], crc: Option<u32>) -> Result<ResultsLine, String> {
    fn parsed<'l, T: Deserialize<'l>>(line: &'l [u8]) -> Result<T, String> {
        serde_json::from_slice(line).map_err(|_| "not a line of a results file".to_owned())
    }
    let LineKind { kind } = parsed(line)?;
    let is_known = matches!(kind.as_str(), RUN | END);
    if is_known && crc.is_none() {
        return Err("its checksum is missing".to_owned());
    }
    match kind.as_str() {
        RUN => {
            let header: RunHeader = parsed(line)?;
            match header.fault() {
                Some(reason) => Err(reason),
                None => Ok(ResultsLine::Header(Box::new(header))),
            }
        }
        END => Ok(ResultsLine::End(parsed(line)?)),
        INCOMPLETE => Err("the results were incomplete when they were reported".to_owned()),
        PLAN | ANSWERED => Err("a line of a journal".to_owned()),
        _ => Ok(ResultsLine::Other),
    }
}
