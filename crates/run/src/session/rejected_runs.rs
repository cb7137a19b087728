//! A run that its gate did not pass is no baseline for later ones (spec 20.1): otherwise a drop would
//! pass as soon as it is run again. Names that stand for the newest runs skip it.

use camino::Utf8PathBuf;

use crate::results::{GateResult, gate_of_file};
use crate::text::numbers::counted;

use super::base_runs::group_runs;

/// Results files, the newest first, without those of rejected runs. A file is looked at when it is
/// reached, so runs that are older than any that is needed are not reported as skipped.
#[derive(Debug)]
pub(super) struct AcceptedFiles {
    files: std::vec::IntoIter<Utf8PathBuf>,
    next: Option<Utf8PathBuf>,
    pub(super) skipped: SkippedRuns,
}

impl AcceptedFiles {
    pub(super) fn of(files: Vec<Utf8PathBuf>) -> Self {
        Self { files: files.into_iter(), next: None, skipped: SkippedRuns::default() }
    }

    pub(super) fn is_empty(&mut self) -> bool {
        if self.next.is_none() {
            self.next = self.next();
        }
        self.next.is_none()
    }
}

impl Iterator for AcceptedFiles {
    type Item = Utf8PathBuf;

    fn next(&mut self) -> Option<Utf8PathBuf> {
        if let Some(file) = self.next.take() {
            return Some(file);
        }
        loop {
            let file = self.files.next()?;
            if !gate_of_file(&file).is_some_and(GateResult::is_rejected) {
                return Some(file);
            }
            self.skipped.add([file]);
        }
    }
}

/// The files of runs that were skipped.
#[derive(Debug, Default)]
pub struct SkippedRuns(Vec<Utf8PathBuf>);

impl SkippedRuns {
    pub(super) fn add(&mut self, files: impl IntoIterator<Item = Utf8PathBuf>) {
        for file in files {
            if !self.0.contains(&file) {
                self.0.push(file);
            }
        }
    }

    pub(super) fn absorb(&mut self, other: Self) {
        self.add(other.0);
    }

    /// A run may have a file per suite.
    fn count(&self) -> u64 {
        group_runs(self.0.clone()).len() as u64
    }

    /// For users; `None` if none was skipped.
    pub fn notice(&self) -> Option<String> {
        let count = Some(self.count()).filter(|count| *count > 0)?;
        Some(format!(
            "skipping {} that did not pass the gate; to compare with one of them, name its file",
            counted(count, "run", "runs")
        ))
    }

    /// What an error adds about them if there are too few others.
    pub(super) fn reason(&self) -> String {
        match self.count() {
            0 => String::new(),
            count => format!(
                "; {} did not pass the gate: to accept one as baseline, name its file",
                counted(count, "run", "runs")
            ),
        }
    }
}
