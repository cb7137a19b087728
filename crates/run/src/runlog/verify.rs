//! Looking a store over: what is broken, what does not fit together, and mending what can be.
//!
//! Mending adds and renames; it never throws a run away. A broken run file is left alone.

use std::collections::BTreeSet;
use std::fs;

use camino::{Utf8Path, Utf8PathBuf};

use super::lock::Lock;
use super::prune::abandoned;
use super::rebuild::{adopt, rebuilt};
use super::replace_files::place;
use super::run_file::RunFile;
use super::store::{Found, Store, entries};
use super::store_error::StoreError;
use super::summary::{Summary, SummaryKind};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mending {
    /// Only look.
    No,
    Yes,
}

/// What became of something that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    /// `--repair` would mend it.
    Possible,
    Done,
    /// Nobody but a person can.
    None,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub path: Utf8PathBuf,
    pub message: String,
    pub remedy: Remedy,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verified {
    pub records: usize,
    pub runs: usize,
    pub problems: Vec<Problem>,
}

impl Verified {
    /// Nothing is left to be done.
    pub fn is_sound(&self) -> bool {
        self.problems.iter().all(|one| one.remedy == Remedy::Done)
    }
}

impl Store {
    pub fn verify(&self, mending: Mending) -> Result<Verified, StoreError> {
        let mut look = StoreCheck {
            store: self,
            mending,
            verified: Verified::default(),
        };
        if !self.directory().exists() {
            return Ok(look.verified);
        }
        // Between a run file and its summary everybody else has to wait.
        let _lock = match mending {
            Mending::Yes => Some(Lock::take(self.directory())?),
            Mending::No => Lock::take_to_look(self.directory())?,
        };
        for name in look.names()? {
            look.record(&name)?;
        }
        look.temporary(self.directory())?;
        Ok(look.verified)
    }
}

/// Whether the oldest entry is the one that began the record.
fn is_whole(summary: &Summary) -> bool {
    let last = summary.turns.last();
    let oldest = last.and_then(|turn| turn.entries().last());
    let begun = oldest.and_then(|entry| entry.meta().ts);
    begun.is_some() && begun.as_deref() == summary.created()
}

struct StoreCheck<'s> {
    store: &'s Store,
    mending: Mending,
    verified: Verified,
}

impl StoreCheck<'_> {
    /// Of summaries, and of directories with runs.
    fn names(&self) -> Result<BTreeSet<String>, StoreError> {
        let mut names: BTreeSet<String> = self.store.names()?.into_iter().collect();
        for name in entries(self.store.directory())? {
            let is_directory = self.store.run_directory(&name).is_dir();
            if !name.starts_with('.') && is_directory && !self.store.run_numbers(&name)?.is_empty()
            {
                names.insert(name);
            }
        }
        Ok(names)
    }

    fn record(&mut self, name: &str) -> Result<(), StoreError> {
        let runs = self.runs(name)?;
        let path = self.store.summary_path(name);
        self.temporary(&self.store.run_directory(name))?;
        let found = match self.store.found(name) {
            Ok(found) => found,
            // One file that cannot be read must not hide what is wrong with the others.
            Err(error) => {
                self.report(path, error.to_string(), Remedy::None);
                return Ok(());
            }
        };
        match found {
            Found::Summary(summary) => {
                self.verified.records += 1;
                match summary.kind() {
                    SummaryKind::Authored => Ok(()),
                    SummaryKind::Record => self.summary(name, &path, summary, &runs),
                }
            }
            Found::Nothing => {
                let message = format!("there is no summary of the runs in `{name}/`");
                self.rebuild(name, &path, message, &runs)
            }
            Found::Corrupt(reason) => {
                let message = format!("the summary cannot be understood: {reason}");
                if self.mending == Mending::Yes && rebuilt(name, &runs).is_some() {
                    self.store.set_aside(name, &reason)?;
                }
                self.rebuild(name, &path, message, &runs)
            }
        }
    }

    /// The runs that can be read, lowest number first.
    fn runs(&mut self, name: &str) -> Result<Vec<(u64, RunFile)>, StoreError> {
        let mut readable = Vec::new();
        for run in self.store.run_numbers(name)? {
            match self.store.run_file(name, run) {
                Ok(file) => readable.push((run, file)),
                Err(StoreError::Corrupt { path, reason }) => {
                    let message = format!("the run cannot be read: {reason}");
                    self.report(path, message, Remedy::None);
                }
                Err(error) => {
                    let path = self.store.run_path(name, run);
                    self.report(path, error.to_string(), Remedy::None);
                }
            }
        }
        self.verified.runs += readable.len();
        Ok(readable)
    }

    fn summary(
        &mut self,
        name: &str,
        path: &Utf8Path,
        mut summary: Summary,
        runs: &[(u64, RunFile)],
    ) -> Result<(), StoreError> {
        let before = summary.clone();
        if summary.name() != name {
            let message = format!("`name` is `{}`, not `{name}`", summary.name());
            self.report(path.to_owned(), message, self.remedy());
            summary.set("name", name);
        }
        let adopted = self.adopted(name, &mut summary, runs);
        let highest = summary
            .highest_run()
            .max(runs.last().map_or(0, |(run, _)| *run));
        if summary.runs() != Some(highest) && (highest > 0 || summary.has("runs")) {
            let written = summary
                .runs()
                .map_or("missing".to_owned(), |n| n.to_string());
            if !adopted {
                let message = format!("`runs` is {written}, and there is a run {highest}");
                self.report(path.to_owned(), message, self.remedy());
            }
            summary.set("runs", highest);
        }
        if self.mending == Mending::Yes && summary != before {
            place(path, &summary.to_yaml())
        } else {
            Ok(())
        }
    }

    /// Enters runs that the summary does not mention, as a crash leaves them. Those before the
    /// oldest that it mentions were taken out of the history on purpose, unless the history goes
    /// back to the beginning.
    fn adopted(&mut self, name: &str, summary: &mut Summary, runs: &[(u64, RunFile)]) -> bool {
        let mentioned = summary.mentioned_runs();
        let oldest = if is_whole(summary) {
            0
        } else {
            mentioned.last().copied().unwrap_or(0)
        };
        let mut is_any = false;
        for (run, file) in runs {
            if *run <= oldest || mentioned.contains(run) || summary.turns.is_empty() {
                continue;
            }
            is_any = true;
            adopt(summary, *run, file);
            let message = format!("the summary does not mention run {run}");
            self.report(self.store.run_path(name, *run), message, self.remedy());
        }
        is_any
    }

    fn rebuild(
        &mut self,
        name: &str,
        path: &Utf8Path,
        message: String,
        runs: &[(u64, RunFile)],
    ) -> Result<(), StoreError> {
        let Some(summary) = rebuilt(name, runs) else {
            self.report(path.to_owned(), message, Remedy::None);
            return Ok(());
        };
        self.report(path.to_owned(), message, self.remedy());
        match self.mending {
            Mending::Yes => place(path, &summary.to_yaml()),
            Mending::No => Ok(()),
        }
    }

    fn temporary(&mut self, directory: &Utf8Path) -> Result<(), StoreError> {
        for path in abandoned(directory)? {
            if self.mending == Mending::Yes {
                fs::remove_file(&path).map_err(|error| StoreError::io("removed", &path, error))?;
            }
            let message = "a writer left this file behind".to_owned();
            self.report(path, message, self.remedy());
        }
        Ok(())
    }

    fn remedy(&self) -> Remedy {
        match self.mending {
            Mending::Yes => Remedy::Done,
            Mending::No => Remedy::Possible,
        }
    }

    fn report(&mut self, path: Utf8PathBuf, message: String, remedy: Remedy) {
        self.verified.problems.push(Problem {
            path,
            message,
            remedy,
        });
    }
}
