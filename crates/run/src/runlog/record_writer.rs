//! Adding runs to their records, so that no writer and no crash loses one (spec 13.6).
//!
//! Runs that end at the same time are written together, because each would wait for the disk several
//! times. The order holds for each of them: the run file first, then the summary. A crash in
//! between leaves one run file that the summary does not mention; the next writer takes a higher
//! number.

use std::collections::HashMap;
use std::fs;

use camino::{Utf8Path, Utf8PathBuf};

use super::appendable_summary::AppendableSummary;
use super::lock::Lock;
use super::new_run::{NewRun, Recorded, enter};
use super::replace_files::{draft, place_all};
use super::slug::{name_of, slug};
use super::slug_index::{RecordKey, SlugIndex, SlugSlot};
use super::store::Store;
use super::store_error::StoreError;
use super::summary::Summary;
use crate::disk::FileDraft;

/// Writes to one store, and remembers where it has looked.
#[derive(Debug)]
pub struct Writer {
    store: Store,
    homes: SlugIndex,
}

impl Store {
    /// Adds the run to the record of its input sequence, which is made when there is none.
    pub fn record(&self, new: &NewRun) -> Result<Recorded, StoreError> {
        self.writer().record_all(&[new]).remove(0)
    }

    /// For more than one run.
    pub fn writer(&self) -> Writer {
        Writer {
            store: self.clone(),
            homes: SlugIndex::default(),
        }
    }

    /// Renames a summary that cannot be read; what to tell people.
    pub(super) fn set_aside(&self, name: &str, reason: &str) -> Result<String, StoreError> {
        let path = self.summary_path(name);
        let aside = (1_u64..)
            .map(|number| Utf8PathBuf::from(format!("{path}.corrupt.{number}")))
            .find(|aside| aside.symlink_metadata().is_err())
            .unwrap_or_else(|| path.clone());
        fs::rename(&path, &aside).map_err(|error| StoreError::io("set aside", &path, error))?;
        let shown = aside.file_name().unwrap_or_default();
        Ok(format!(
            "`{path}` cannot be understood: {reason}; it was set aside as `{shown}` and a new record begun"
        ))
    }
}

/// A run on its way into its record.
struct Entering<'n> {
    /// Its place among those that were given.
    at: usize,
    new: &'n NewRun,
    name: String,
    record: AppendableSummary,
    run: u64,
    warnings: Vec<String>,
}

impl Writer {
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Adds every run to its record; one result for each.
    pub fn record_all(&mut self, all: &[&NewRun]) -> Vec<Result<Recorded, StoreError>> {
        let _lock = match Lock::take(self.store.directory()) {
            Ok(lock) => lock,
            Err(error) => return all.iter().map(|_| Err(error.clone())).collect(),
        };
        self.homes.look_around(&self.store);
        let mut results: Vec<Option<Result<Recorded, StoreError>>> =
            all.iter().map(|_| None).collect();
        let mut waiting: Vec<usize> = (0..all.len()).collect();
        while !waiting.is_empty() {
            waiting = self.round(all, &waiting, &mut results);
        }
        if results.iter().flatten().any(Result::is_err) {
            self.homes.forget();
        }
        self.homes.leave(&self.store);
        results.into_iter().flatten().collect()
    }

    /// One run of each record; the others have to wait for the next round.
    fn round(
        &mut self,
        all: &[&NewRun],
        waiting: &[usize],
        results: &mut [Option<Result<Recorded, StoreError>>],
    ) -> Vec<usize> {
        let mut promised: HashMap<String, u64> = HashMap::new();
        let mut keys: Vec<u64> = Vec::new();
        let (mut entering, mut drafts, mut later) = (Vec::new(), Vec::new(), Vec::new());
        for &at in waiting {
            let inputs = all[at].inputs();
            let first = all[at].asked.first();
            let wanted = RecordKey {
                slug: &slug(first.map_or("", |first| &first.text)),
                inputs: &inputs,
            };
            let key = wanted.key();
            if keys.contains(&key) {
                later.push(at);
                continue;
            }
            match self.begin(at, all[at], wanted, &promised) {
                Ok((one, draft)) => {
                    promised.insert(one.name.clone(), key);
                    keys.push(key);
                    entering.push(one);
                    drafts.push(draft);
                }
                Err(error) => results[at] = Some(Err(error)),
            }
        }
        for (at, result) in self.commit(entering, drafts) {
            results[at] = Some(result);
        }
        later
    }

    /// Finds the record, takes the next number, and writes the run file beside its place.
    fn begin<'n>(
        &mut self,
        at: usize,
        new: &'n NewRun,
        wanted: RecordKey<'_>,
        promised: &HashMap<String, u64>,
    ) -> Result<(Entering<'n>, FileDraft), StoreError> {
        if wanted.inputs.is_empty() {
            return Err(StoreError::NoInput);
        }
        let store = &self.store;
        let (number, home) = self.homes.find(store, wanted, promised)?;
        let name = name_of(wanted.slug, number);
        let mut warnings = Vec::new();
        let record = match home {
            SlugSlot::Record(record) => record,
            SlugSlot::Free => Summary::new(&name, wanted.inputs).into(),
            SlugSlot::Corrupt(reason) => {
                warnings.push(store.set_aside(&name, &reason)?);
                Summary::new(&name, wanted.inputs).into()
            }
        };
        let run = next_run(store, &name, &record)?;
        make_directory(&store.run_directory(&name))?;
        let draft = draft(&store.run_path(&name, run), &[new.file().to_text()])?;
        self.homes.take(wanted, number);
        let one = Entering {
            at,
            new,
            name,
            record,
            run,
            warnings,
        };
        Ok((one, draft))
    }

    /// Run files first, then the summaries of those that are there.
    fn commit(
        &self,
        entering: Vec<Entering<'_>>,
        drafts: Vec<FileDraft>,
    ) -> Vec<(usize, Result<Recorded, StoreError>)> {
        let mut results = Vec::with_capacity(entering.len());
        let (mut entered, mut summaries) = (Vec::new(), Vec::new());
        for (mut one, placed) in entering.into_iter().zip(place_all(drafts)) {
            // A copied or renamed file still has its old name in it.
            one.record.summary.set("name", one.name.as_str());
            enter(&mut one.record.summary, one.run, one.new);
            let path = self.store.summary_path(&one.name);
            let draft = placed.and_then(|()| draft(&path, &one.record.pieces()));
            match draft {
                Ok(draft) => {
                    summaries.push(draft);
                    entered.push(one);
                }
                Err(error) => results.push((one.at, Err(error))),
            }
        }
        for (one, placed) in entered.into_iter().zip(place_all(summaries)) {
            let recorded = Recorded {
                file: self.store.summary_path(&one.name),
                name: one.name,
                run: one.run,
                warnings: one.warnings,
            };
            results.push((one.at, placed.map(|()| recorded)));
        }
        results
    }
}

/// One more than anybody has used, on disk or in the summary.
fn next_run(store: &Store, name: &str, record: &AppendableSummary) -> Result<u64, StoreError> {
    let on_disk = store.run_numbers(name)?;
    let highest = on_disk.last().copied().unwrap_or(0);
    Ok(highest.max(record.highest_run()).saturating_add(1))
}

/// A link in the place of the directory could lead anywhere.
fn make_directory(path: &Utf8Path) -> Result<(), StoreError> {
    match fs::create_dir(path) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            match path.symlink_metadata() {
                Ok(found) if found.is_symlink() => Err(StoreError::Link {
                    path: path.to_owned(),
                }),
                _ => Ok(()),
            }
        }
        made => made.map_err(|error| StoreError::io("made", path, error)),
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::super::Asked;
    use super::*;

    fn run(input: &str, output: &str) -> NewRun {
        NewRun {
            asked: vec![Asked::new(input)],
            output: output.to_owned(),
            ..NewRun::default()
        }
    }

    fn store(folder: &tempfile::TempDir) -> Store {
        Store::of_root(Utf8Path::from_path(folder.path()).unwrap())
    }

    fn places(results: Vec<Result<Recorded, StoreError>>) -> Vec<(String, u64)> {
        let places = results.into_iter().map(|result| {
            let recorded = result.unwrap();
            (recorded.name, recorded.run)
        });
        places.collect()
    }

    #[test]
    fn together_is_as_one_after_the_other() {
        let runs = ["a", "A!", "b", "a", "a?", "A!", "a", "c"];
        let runs: Vec<NewRun> = runs
            .iter()
            .enumerate()
            .map(|(at, input)| run(input, &at.to_string()))
            .collect();
        let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let [together, single] = [store(&folders[0]), store(&folders[1])];
        let all: Vec<&NewRun> = runs.iter().collect();
        let mut writer = together.writer();
        let (early, late) = all.split_at(5);
        let mut places = places(writer.record_all(early));
        places.extend(self::places(writer.record_all(late)));
        let expected = [
            ("a", 1),
            ("a_2", 1),
            ("b", 1),
            ("a", 2),
            ("a_3", 1),
            ("a_2", 2),
            ("a", 3),
            ("c", 1),
        ];
        assert_eq!(places, expected.map(|(name, run)| (name.to_owned(), run)));
        for new in &runs {
            single.record(new).unwrap();
        }
        for name in single.names().unwrap() {
            let text = |store: &Store| fs::read_to_string(store.summary_path(&name)).unwrap();
            assert_eq!(text(&together), text(&single));
        }
        assert_eq!(together.names().unwrap(), single.names().unwrap());
    }

    #[test]
    fn what_somebody_else_did_meanwhile_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(&folder);
        let mut writer = store.writer();
        let [first, second, third] = [run("a", "1"), run("a!", "2"), run("a?", "3")];
        assert_eq!(places(writer.record_all(&[&first, &second]))[1].0, "a_2");
        store.record(&third).unwrap();
        fs::remove_file(store.summary_path("a_2")).unwrap();
        // Clocks of file systems are slow: to them all of this may have been one moment.
        let directory = fs::File::open(store.directory()).unwrap();
        directory.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        let again = places(writer.record_all(&[&third, &second]));
        // `a_2` is free, so it is the first name that fits; its run file counts.
        assert_eq!(again, [("a_2".to_owned(), 2), ("a_4".to_owned(), 1)]);
    }

    #[test]
    fn one_that_cannot_be_written_holds_up_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(&folder);
        fs::create_dir_all(store.directory()).unwrap();
        // A file where the directory of runs should be, and a directory where a summary should.
        fs::write(store.run_directory("a"), "").unwrap();
        fs::create_dir(store.summary_path("b")).unwrap();
        let runs = ["a", "b", "c"].map(|input| run(input, "x"));
        let all: Vec<&NewRun> = runs.iter().chain([&runs[2]]).collect();
        let results = store.writer().record_all(&all);
        let is_ok: Vec<bool> = results.iter().map(Result::is_ok).collect();
        assert_eq!(is_ok, [false, false, true, true]);
        let nobody = store.writer().record_all(&[&NewRun::default()]);
        assert!(matches!(nobody[..], [Err(StoreError::NoInput)]));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_does_not_lead_a_run_out_of_the_store() {
        let (folder, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let store = store(&folder);
        fs::create_dir_all(store.directory()).unwrap();
        std::os::unix::fs::symlink(outside.path(), store.run_directory("hi")).unwrap();
        let refused = store.record(&run("Hi", "x"));
        assert!(matches!(refused, Err(StoreError::Link { .. })));
        let lock = store.directory().join(".lock");
        fs::remove_file(&lock).unwrap();
        std::os::unix::fs::symlink(outside.path().join("new"), &lock).unwrap();
        let refused = store.record(&run("Hello", "x"));
        assert!(matches!(refused, Err(StoreError::Link { .. })));
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
    }
}
