//! Making a store smaller: old run files, long histories, old records, what crashes left behind.

use std::fs;
use std::time::{Duration, SystemTime};

use camino::{Utf8Path, Utf8PathBuf};

use super::lock::Lock;
use super::replace_files::place;
use super::store::{Record, Store, entries, run_number};
use super::store_error::StoreError;
use super::summary::SummaryKind;
use crate::disk::is_draft_name;

/// Younger temporary files may belong to somebody who is writing.
const ABANDONED_AFTER: Duration = Duration::from_secs(3600);

/// What to keep; `None` keeps everything.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Keep {
    /// Run files of each record, the highest numbers.
    pub runs: Option<usize>,
    /// Entries of each turn's history, the newest.
    pub history: Option<usize>,
    /// Records, the newest by `updated`.
    pub records: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doing {
    Delete,
    /// Only say what would go.
    List,
}

/// What went, or would go.
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
    pub fn prune(&self, keep: Keep, doing: Doing) -> Result<Pruned, StoreError> {
        let mut pruned = Pruned::default();
        if !self.directory().exists() {
            return Ok(pruned);
        }
        let _lock = match doing {
            Doing::Delete => Some(Lock::take(self.directory())?),
            Doing::List => Lock::take_to_look(self.directory())?,
        };
        // What cannot be read is left alone; `verify` speaks of it.
        let mut records = self.list()?.records;
        records.retain(|record| record.summary.kind() == SummaryKind::Record);
        if let Some(count) = keep.records {
            for record in oldest(&mut records, count) {
                self.remove_record(&record, doing, &mut pruned)?;
            }
        }
        for mut record in records {
            if let Some(count) = keep.history {
                shorten(&mut record, count, doing, &mut pruned)?;
            }
            if let Some(count) = keep.runs {
                self.remove_runs(&record.name, count, doing, &mut pruned)?;
            }
            self.remove_temporary(&self.run_directory(&record.name), doing, &mut pruned)?;
        }
        self.remove_temporary(self.directory(), doing, &mut pruned)?;
        Ok(pruned)
    }

    /// The same for the run files of one record.
    pub fn prune_record(&self, name: &str, runs: usize) -> Result<Pruned, StoreError> {
        let mut pruned = Pruned::default();
        let _lock = Lock::take(self.directory())?;
        self.remove_runs(name, runs, Doing::Delete, &mut pruned)?;
        Ok(pruned)
    }

    fn remove_record(
        &self,
        record: &Record,
        doing: Doing,
        pruned: &mut Pruned,
    ) -> Result<(), StoreError> {
        let directory = self.run_directory(&record.name);
        // The summary first: runs without one can be put together again, the other way not.
        remove(&record.file, doing, pruned)?;
        for name in own_entries(&directory)? {
            if run_number(&name).is_some() || is_draft_name(&name) {
                remove(&directory.join(name), doing, pruned)?;
            }
        }
        if doing == Doing::Delete {
            // Stays when somebody keeps other things in it.
            let _ = fs::remove_dir(&directory);
        }
        pruned.records.push(record.name.clone());
        Ok(())
    }

    fn remove_runs(
        &self,
        name: &str,
        keep: usize,
        doing: Doing,
        pruned: &mut Pruned,
    ) -> Result<(), StoreError> {
        let directory = self.run_directory(name);
        let mut files: Vec<(u64, String)> = own_entries(&directory)?
            .into_iter()
            .filter(|file| file.ends_with(".yaml"))
            .filter_map(|file| Some((run_number(&file)?, file)))
            .collect();
        files.sort_by_key(|(number, _)| std::cmp::Reverse(*number));
        for (_, file) in files.into_iter().skip(keep) {
            remove(&directory.join(file), doing, pruned)?;
        }
        Ok(())
    }

    fn remove_temporary(
        &self,
        directory: &Utf8Path,
        doing: Doing,
        pruned: &mut Pruned,
    ) -> Result<(), StoreError> {
        for path in abandoned(directory)? {
            remove(&path, doing, pruned)?;
        }
        Ok(())
    }
}

/// Nothing where a link leads: no writer puts a run there, so what lies there is somebody else's.
fn own_entries(directory: &Utf8Path) -> Result<Vec<String>, StoreError> {
    let found = directory.symlink_metadata();
    if found.is_ok_and(|found| found.is_symlink()) {
        Ok(Vec::new())
    } else {
        entries(directory)
    }
}

/// Temporary files that nobody writes any more.
pub(super) fn abandoned(directory: &Utf8Path) -> Result<Vec<Utf8PathBuf>, StoreError> {
    let now = SystemTime::now();
    let is_old = |path: &Utf8Path| {
        let changed = fs::metadata(path).and_then(|found| found.modified());
        let age = changed.ok().and_then(|at| now.duration_since(at).ok());
        age.is_some_and(|age| age > ABANDONED_AFTER)
    };
    let names = entries(directory)?.into_iter();
    let paths = names
        .filter(|name| is_draft_name(name))
        .map(|name| directory.join(name));
    Ok(paths.filter(|path| is_old(path)).collect())
}

/// Takes all but the newest out of the list.
fn oldest(records: &mut Vec<Record>, keep: usize) -> Vec<Record> {
    records.sort_by(|a, b| {
        let updated = |record: &Record| record.summary.updated().map(str::to_owned);
        updated(b)
            .cmp(&updated(a))
            .then_with(|| a.name.cmp(&b.name))
    });
    records.split_off(keep.min(records.len()))
}

fn shorten(
    record: &mut Record,
    keep: usize,
    doing: Doing,
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
    match doing {
        Doing::Delete => place(&record.file, &record.summary.to_yaml()),
        Doing::List => Ok(()),
    }
}

fn remove(path: &Utf8Path, doing: Doing, pruned: &mut Pruned) -> Result<(), StoreError> {
    if doing == Doing::Delete {
        fs::remove_file(path).map_err(|error| StoreError::io("removed", path, error))?;
    }
    pruned.files.push(path.to_owned());
    Ok(())
}
