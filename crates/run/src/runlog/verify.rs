//! Checks a store for corrupt and inconsistent files, and repairs what it can.
//!
//! A repair adds and renames; it never deletes a run. A corrupt run file is left unchanged.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};

use super::lock::StoreLock;
use super::prune::abandoned_drafts;
use super::rebuild::{adopt_run, rebuild_summary};
use super::replace_files::replace_file;
use super::run_file::RunFile;
use super::store::{Store, SummaryLookup, directory_entries};
use super::store_error::{HIGHEST_RUN, StoreError};
use super::summary::{RecordSummary, SummaryKind};
use crate::disk::remove_file;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerifyMode {
    Check,
    Repair,
}

/// Whether a finding was or can be repaired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RepairStatus {
    /// With `--repair`.
    Possible,
    Done,
    /// Needs a decision by the user.
    Impossible,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreFinding {
    pub path: Utf8PathBuf,
    pub message: String,
    pub repair: RepairStatus,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verified {
    pub records: usize,
    pub runs: usize,
    pub findings: Vec<StoreFinding>,
}

impl Verified {
    /// Whether nothing is left to repair.
    pub fn is_sound(&self) -> bool {
        self.findings.iter().all(|one| one.repair == RepairStatus::Done)
    }
}

impl Store {
    pub fn verify(&self, mode: VerifyMode) -> Result<Verified, StoreError> {
        let mut verifier = Verifier { store: self, mode, verified: Verified::default() };
        if !self.directory().exists() {
            return Ok(verifier.verified);
        }
        // A writer between a run file and its summary would look like a crash.
        let _lock = match mode {
            VerifyMode::Repair => Some(StoreLock::acquire(self)?),
            VerifyMode::Check => StoreLock::acquire_for_reading(self)?,
        };
        for name in verifier.record_names()? {
            verifier.check_record(&name)?;
        }
        verifier.check_drafts(self.directory())?;
        Ok(verifier.verified)
    }
}

/// Whether the history goes back to the first run of the record.
fn reaches_first_run(summary: &RecordSummary) -> bool {
    let last = summary.turns.last();
    let oldest = last.and_then(|turn| turn.entries().last());
    let begun = oldest.and_then(|entry| entry.meta().ts);
    begun.is_some() && begun.as_deref() == summary.created()
}

struct Verifier<'s> {
    store: &'s Store,
    mode: VerifyMode,
    verified: Verified,
}

impl Verifier<'_> {
    /// The names of summaries and of directories with run files.
    fn record_names(&self) -> Result<BTreeSet<String>, StoreError> {
        let mut names: BTreeSet<String> = self.store.names()?.into_iter().collect();
        for name in directory_entries(self.store.directory())? {
            let is_directory = self.store.run_directory(&name).is_dir();
            if !name.starts_with('.') && is_directory && !self.store.run_numbers(&name)?.is_empty()
            {
                names.insert(name);
            }
        }
        Ok(names)
    }

    fn check_record(&mut self, name: &str) -> Result<(), StoreError> {
        let runs = self.read_runs(name)?;
        let path = self.store.summary_path(name);
        self.check_drafts(&self.store.run_directory(name))?;
        let found = match self.store.look_up(name) {
            Ok(found) => found,
            // One unreadable file must not hide findings in the others.
            Err(error) => {
                self.report(path, error.to_string(), RepairStatus::Impossible);
                return Ok(());
            }
        };
        match found {
            SummaryLookup::Present(summary) => {
                self.verified.records += 1;
                match summary.kind() {
                    SummaryKind::Authored => Ok(()),
                    SummaryKind::Record => self.check_summary(name, &path, summary, &runs),
                }
            }
            SummaryLookup::Missing => {
                let message = format!("the runs in `{name}/` have no summary");
                self.report_and_rebuild(name, &path, message, &runs)
            }
            SummaryLookup::Corrupt(reason) => {
                let message = format!("the summary cannot be parsed: {reason}");
                if self.mode == VerifyMode::Repair && rebuild_summary(name, &runs).is_some() {
                    self.store.set_aside(name, &reason)?;
                }
                self.report_and_rebuild(name, &path, message, &runs)
            }
        }
    }

    /// Reads the run files, lowest number first, and reports those that it cannot read.
    fn read_runs(&mut self, name: &str) -> Result<Vec<(u64, RunFile)>, StoreError> {
        let mut readable = Vec::new();
        for run in self.store.run_numbers(name)? {
            match self.store.run_file(name, run) {
                Ok(file) => readable.push((run, file)),
                Err(StoreError::Corrupt { path, reason }) => {
                    let message = format!("the run file cannot be parsed: {reason}");
                    self.report(path, message, RepairStatus::Impossible);
                }
                Err(error) => {
                    let path = self.store.run_path(name, run);
                    self.report(path, error.to_string(), RepairStatus::Impossible);
                }
            }
        }
        self.verified.runs += readable.len();
        Ok(readable)
    }

    fn check_summary(
        &mut self,
        name: &str,
        path: &Utf8Path,
        mut summary: RecordSummary,
        runs: &[(u64, RunFile)],
    ) -> Result<(), StoreError> {
        let before = summary.clone();
        if summary.name() != name {
            let message = format!("`name` is `{}`, not `{name}`", summary.name());
            self.report(path.to_owned(), message, self.repair_status());
            summary.set("name", name);
        }
        let adopted = self.adopt_missing_runs(name, &mut summary, runs);
        self.check_run_numbers(path, &summary);
        let numbers = summary.mentioned_runs().into_iter().chain(summary.runs());
        let numbers = numbers.chain(runs.iter().map(|(run, _)| *run));
        let highest = numbers.filter(|run| *run < HIGHEST_RUN).max().unwrap_or(0);
        if summary.runs() != Some(highest) && (highest > 0 || summary.has("runs")) {
            let written = summary.runs().map_or("missing".to_owned(), |n| n.to_string());
            if !adopted {
                let message = format!("`runs` is {written}, but the highest run is {highest}");
                self.report(path.to_owned(), message, self.repair_status());
            }
            summary.set("runs", highest);
        }
        if self.mode == VerifyMode::Repair && summary != before {
            replace_file(self.store.place(path), &summary.to_yaml())
        } else {
            Ok(())
        }
    }

    /// A run of a turn may be in other files too, so only a person can number it again.
    fn check_run_numbers(&mut self, path: &Utf8Path, summary: &RecordSummary) {
        for number in summary.mentioned_runs().into_iter().filter(|run| *run >= HIGHEST_RUN) {
            let message =
                format!("a turn has run {number}, but runs are numbered up to {HIGHEST_RUN}");
            self.report(path.to_owned(), message, RepairStatus::Impossible);
        }
    }

    /// Adds runs that the summary does not mention, as after a crash. Runs older than the oldest
    /// entry were pruned from the history, unless the history goes back to the first run.
    fn adopt_missing_runs(
        &mut self,
        name: &str,
        summary: &mut RecordSummary,
        runs: &[(u64, RunFile)],
    ) -> bool {
        let mentioned = summary.mentioned_runs();
        let oldest =
            if reaches_first_run(summary) { 0 } else { mentioned.last().copied().unwrap_or(0) };
        let mut is_any = false;
        for (run, file) in runs {
            if *run <= oldest || mentioned.contains(run) || summary.turns.is_empty() {
                continue;
            }
            is_any = true;
            adopt_run(summary, *run, file);
            let message = format!("the summary does not mention run {run}");
            self.report(self.store.run_path(name, *run), message, self.repair_status());
        }
        is_any
    }

    fn report_and_rebuild(
        &mut self,
        name: &str,
        path: &Utf8Path,
        message: String,
        runs: &[(u64, RunFile)],
    ) -> Result<(), StoreError> {
        let Some(summary) = rebuild_summary(name, runs) else {
            self.report(path.to_owned(), message, RepairStatus::Impossible);
            return Ok(());
        };
        self.report(path.to_owned(), message, self.repair_status());
        match self.mode {
            VerifyMode::Repair => replace_file(self.store.place(path), &summary.to_yaml()),
            VerifyMode::Check => Ok(()),
        }
    }

    fn check_drafts(&mut self, directory: &Utf8Path) -> Result<(), StoreError> {
        for path in abandoned_drafts(directory)? {
            if self.mode == VerifyMode::Repair {
                remove_file(self.store.place(&path))
                    .map_err(|error| StoreError::io("removed", &path, error))?;
            }
            let message = "this draft was abandoned by a writer".to_owned();
            self.report(path, message, self.repair_status());
        }
        Ok(())
    }

    fn repair_status(&self) -> RepairStatus {
        match self.mode {
            VerifyMode::Repair => RepairStatus::Done,
            VerifyMode::Check => RepairStatus::Possible,
        }
    }

    fn report(&mut self, path: Utf8PathBuf, message: String, repair: RepairStatus) {
        self.verified.findings.push(StoreFinding { path, message, repair });
    }
}
