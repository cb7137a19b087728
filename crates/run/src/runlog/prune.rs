//! Deletes old run files, history entries, records and abandoned drafts.

use std::fs;
use std::time::{Duration, SystemTime};

use camino::{Utf8Path, Utf8PathBuf};

use super::lock::StoreLock;
use super::replace_files::replace_file;
use super::store::{Record, Store, directory_entries, run_number};
use super::store_error::StoreError;
use super::summary::SummaryKind;
use crate::disk::{self, WritePath, is_draft_name};

/// Younger drafts may belong to a running writer.
const ABANDONED_AFTER: Duration = Duration::from_secs(3600);

/// What to keep; `None` keeps everything.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Retention {
    /// Run files of each record, the highest numbers.
    pub runs: Option<usize>,
    /// Entries of each turn's history, the newest.
    pub history: Option<usize>,
    /// Records, the newest by `updated`.
    pub records: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PruneMode {
    Delete,
    /// Only list what would be deleted.
    List,
}

/// What was deleted, or would be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pruned {
    pub records: Vec<String>,
    pub files: Vec<Utf8PathBuf>,
    /// Records whose history was shortened, and by how many entries.
    pub history: Vec<(String, usize)>,
}

impl Pruned {
    pub fn is_empty(&self) -> bool {
        self.records.is_empty() && self.files.is_empty() && self.history.is_empty()
    }
}

impl Store {
    pub fn prune(&self, retention: Retention, mode: PruneMode) -> Result<Pruned, StoreError> {
        let mut pruned = Pruned::default();
        if !self.directory().exists() {
            return Ok(pruned);
        }
        let _lock = match mode {
            PruneMode::Delete => Some(StoreLock::acquire(self)?),
            PruneMode::List => StoreLock::acquire_for_reading(self)?,
        };
        // Unreadable summaries are skipped; `verify` reports them.
        let mut records = self.list()?.records;
        records.retain(|record| record.summary.kind() == SummaryKind::Record);
        if let Some(count) = retention.records {
            for record in split_off_oldest(&mut records, count) {
                self.remove_record(&record, mode, &mut pruned)?;
            }
        }
        for mut record in records {
            if let Some(count) = retention.history {
                self.shorten_history(&mut record, count, mode, &mut pruned)?;
            }
            if let Some(count) = retention.runs {
                self.remove_runs(&record.name, count, mode, &mut pruned)?;
            }
            self.remove_abandoned_drafts(&self.run_directory(&record.name), mode, &mut pruned)?;
        }
        self.remove_abandoned_drafts(self.directory(), mode, &mut pruned)?;
        Ok(pruned)
    }

    /// Deletes all but the newest `runs` run files of one record.
    pub fn prune_record(&self, name: &str, runs: usize) -> Result<Pruned, StoreError> {
        let mut pruned = Pruned::default();
        let _lock = StoreLock::acquire(self)?;
        self.remove_runs(name, runs, PruneMode::Delete, &mut pruned)?;
        Ok(pruned)
    }

    fn remove_record(
        &self,
        record: &Record,
        mode: PruneMode,
        pruned: &mut Pruned,
    ) -> Result<(), StoreError> {
        let directory = self.run_directory(&record.name);
        // Summary first: `verify` can rebuild a summary from run files, but not the reverse.
        remove_file(self.place(&record.file), mode, pruned)?;
        for name in real_entries(&directory)? {
            if run_number(&name).is_some() || is_draft_name(&name) {
                remove_file(self.place(&directory.join(name)), mode, pruned)?;
            }
        }
        if mode == PruneMode::Delete {
            // Fails if the directory contains other files; then it stays.
            let _ = disk::remove_directory(self.place(&directory));
        }
        pruned.records.push(record.name.clone());
        Ok(())
    }

    fn remove_runs(
        &self,
        name: &str,
        keep: usize,
        mode: PruneMode,
        pruned: &mut Pruned,
    ) -> Result<(), StoreError> {
        let directory = self.run_directory(name);
        let mut files: Vec<(u64, String)> = real_entries(&directory)?
            .into_iter()
            .filter(|file| file.ends_with(".yaml"))
            .filter_map(|file| Some((run_number(&file)?, file)))
            .collect();
        files.sort_by_key(|(number, _)| std::cmp::Reverse(*number));
        for (_, file) in files.into_iter().skip(keep) {
            remove_file(self.place(&directory.join(file)), mode, pruned)?;
        }
        Ok(())
    }

    fn remove_abandoned_drafts(
        &self,
        directory: &Utf8Path,
        mode: PruneMode,
        pruned: &mut Pruned,
    ) -> Result<(), StoreError> {
        for path in abandoned_drafts(directory)? {
            remove_file(self.place(&path), mode, pruned)?;
        }
        Ok(())
    }

    fn shorten_history(
        &self,
        record: &mut Record,
        keep: usize,
        mode: PruneMode,
        pruned: &mut Pruned,
    ) -> Result<(), StoreError> {
        let mut gone = 0;
        for turn in &mut record.summary.turns {
            gone += turn.history.len().saturating_sub(keep);
            turn.history.truncate(keep);
        }
        if gone == 0 {
            return Ok(());
        }
        pruned.history.push((record.name.clone(), gone));
        match mode {
            PruneMode::Delete => replace_file(self.place(&record.file), &record.summary.to_yaml()),
            PruneMode::List => Ok(()),
        }
    }
}

/// Does not follow links: writers refuse them, so files behind one are not part of the store.
fn real_entries(directory: &Utf8Path) -> Result<Vec<String>, StoreError> {
    let found = directory.symlink_metadata();
    if found.is_ok_and(|found| found.is_symlink()) {
        Ok(Vec::new())
    } else {
        directory_entries(directory)
    }
}

/// Drafts that are too old to belong to a running writer.
pub(super) fn abandoned_drafts(directory: &Utf8Path) -> Result<Vec<Utf8PathBuf>, StoreError> {
    let now = SystemTime::now();
    let is_old = |path: &Utf8Path| {
        let changed = fs::metadata(path).and_then(|found| found.modified());
        let age = changed.ok().and_then(|at| now.duration_since(at).ok());
        age.is_some_and(|age| age > ABANDONED_AFTER)
    };
    let names = directory_entries(directory)?.into_iter();
    let paths = names.filter(|name| is_draft_name(name)).map(|name| directory.join(name));
    Ok(paths.filter(|path| is_old(path)).collect())
}

/// Removes all but the newest from the list and returns them.
fn split_off_oldest(records: &mut Vec<Record>, keep: usize) -> Vec<Record> {
    records.sort_by(|a, b| {
        let updated = |record: &Record| record.summary.updated().map(str::to_owned);
        updated(b).cmp(&updated(a)).then_with(|| a.name.cmp(&b.name))
    });
    records.split_off(keep.min(records.len()))
}

fn remove_file(
    place: WritePath<'_>,
    mode: PruneMode,
    pruned: &mut Pruned,
) -> Result<(), StoreError> {
    if mode == PruneMode::Delete {
        let removed = disk::remove_file(place);
        removed.map_err(|error| StoreError::io("removed", place.path, error))?;
    }
    pruned.files.push(place.path.to_owned());
    Ok(())
}
