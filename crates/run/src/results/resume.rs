//! Going on with a run that was interrupted (`--resume`).
//!
//! A case with a row is finished, whatever came of it, unless it was never started
//! ([`Finished::is_done`]). A case without one, whose answer is in the journal, is only graded
//! again. A test that has changed since begins anew: its `testHash` differs.

use std::collections::HashMap;

use camino::Utf8Path;

use super::error::ReadError;
use super::journal::{self, JournalLine, JournaledAnswer};
use super::read::{Finished, ScannedFile, scan};
use super::results_paths::ResultsPaths;
use super::row::CaseKey;
use super::run_header::RunHeader;
use super::scan::{RowTally, scan_results};

/// What an interrupted run left behind.
#[derive(Debug)]
pub struct Interrupted {
    pub place: ResultsPaths,
    /// Of the results; if they have none, that of the journal, which does not name the cases.
    pub header: Option<RunHeader>,
    /// Whether the results end in the section of that header.
    pub(super) has_header: bool,
    /// Rows and damaged lines of that section.
    pub(super) tally: RowTally,
    pub(super) damaged_rows: u64,
    /// By case, what its last row says; also of cases that are to be run again.
    rows: HashMap<CaseKey, Finished>,
    /// Only of cases that are not finished.
    answers: HashMap<CaseKey, JournaledAnswer>,
    pub results: ScannedFile,
    pub journal: ScannedFile,
}

impl Interrupted {
    /// Reads a results file and the journal beside it. Changes nothing: what is torn is cut off
    /// when writing goes on.
    pub fn read(results: &Utf8Path) -> Result<Self, ReadError> {
        let place = ResultsPaths::existing(results);
        let mut rows = HashMap::new();
        let scanned = scan_results(place.results(), |_, key, finished| {
            rows.insert(key, finished);
        })?;
        let scanned = scanned.resumable(place.results())?;
        let section = scanned.last_section().cloned().unwrap_or_default();
        // What is torn is cut off.
        let torn = usize::from(scanned.file.torn > 0);
        let mut found = Self {
            has_header: section.header.is_some(),
            header: section.header,
            tally: section.rows,
            damaged_rows: section.damaged.len().saturating_sub(torn) as u64,
            rows,
            answers: HashMap::new(),
            results: scanned.file,
            journal: ScannedFile::default(),
            place,
        };
        found.read_journal()?;
        Ok(found)
    }

    fn read_journal(&mut self) -> Result<(), ReadError> {
        let path = self.place.journal();
        if !path.exists() {
            return Ok(());
        }
        let (header, rows, answers) = (&mut self.header, &self.rows, &mut self.answers);
        self.journal = scan(&path, journal::read_line, |_, line| match line {
            JournalLine::Plan(plan) => {
                header.get_or_insert(*plan);
            }
            JournalLine::Answered(answered) => {
                if !rows.get(&answered.key).is_some_and(Finished::is_done) {
                    answers.insert(answered.key.clone(), *answered);
                }
            }
            JournalLine::Judged(judged) => {
                let answer = answers.get_mut(&judged.key);
                if let Some(answer) = answer.filter(|one| one.test_hash == judged.test_hash) {
                    answer.replies.push(judged.reply);
                }
            }
            JournalLine::Other => {}
        })?;
        Ok(())
    }

    /// The header of the results, with every planned case.
    pub fn results_header(&self) -> Option<&RunHeader> {
        self.header.as_ref().filter(|_| self.has_header)
    }

    /// What a case came to, if it need not be run again.
    pub fn finished(&self, key: &CaseKey, test_hash: &str) -> Option<&Finished> {
        let row = self.rows.get(key)?;
        (row.is_done() && row.test_hash == test_hash).then_some(row)
    }

    /// The answer of a case that is only to be graded.
    pub fn answered(&self, key: &CaseKey, test_hash: &str) -> Option<&JournaledAnswer> {
        let answered = self.answers.get(key)?;
        (answered.test_hash == test_hash).then_some(answered)
    }

    /// Every case with a row, finished or not.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = (&CaseKey, &Finished)> {
        self.rows.iter()
    }

    /// What people should know about the files, if anything.
    pub fn notices(&self) -> Vec<String> {
        let damaged = self.results.damaged.iter().chain(&self.journal.damaged);
        damaged
            .map(|one| {
                let (path, line, reason) = (&one.file, one.line, &one.reason);
                format!("{path}:{line}: {reason}; the line is left out")
            })
            .collect()
    }
}
