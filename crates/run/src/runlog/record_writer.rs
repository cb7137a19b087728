//! Adds runs to their records so that concurrent writers and crashes lose none (spec 13.6).
//!
//! Runs that end at the same time are written together, because each alone would wait for the disk
//! several times. For each run the run file is written before the summary. A crash in between
//! leaves a run file that the summary does not mention; the next writer takes a higher number.

use std::collections::HashMap;

use camino::Utf8PathBuf;

use super::appendable_summary::AppendableSummary;
use super::lock::StoreLock;
use super::new_run::{NewRun, Recorded, append_run};
use super::replace_files::{replace_files, write_draft};
use super::slug::{numbered_name, slug};
use super::slug_index::{RecordKey, SlugIndex, SlugSlot};
use super::store::Store;
use super::store_error::{HIGHEST_RUN, StoreError};
use super::summary::RecordSummary;
use crate::disk::{Access, FileDraft, WritePath, create_new_directory, rename};

/// Writes to one store and caches which slugs are taken.
#[derive(Debug)]
pub struct RecordWriter {
    store: Store,
    slugs: SlugIndex,
}

impl Store {
    /// Adds the run to the record of its input sequence, and creates the record if needed.
    pub fn record(&self, new: &NewRun) -> Result<Recorded, StoreError> {
        self.writer().record_all(&[new]).remove(0)
    }

    /// For adding more than one run.
    pub fn writer(&self) -> RecordWriter {
        RecordWriter { store: self.clone(), slugs: SlugIndex::default() }
    }

    /// Renames a summary that cannot be read and returns a warning.
    pub(super) fn set_aside(&self, name: &str, reason: &str) -> Result<String, StoreError> {
        let path = self.summary_path(name);
        let aside = (1_u64..)
            .map(|number| Utf8PathBuf::from(format!("{path}.corrupt.{number}")))
            .find(|aside| aside.symlink_metadata().is_err())
            .unwrap_or_else(|| path.clone());
        rename(self.place(&path), self.place(&aside))
            .map_err(|error| StoreError::io("set aside", &path, error))?;
        let shown = aside.file_name().unwrap_or_default();
        Ok(format!(
            "cannot parse `{path}`: {reason}; renamed it to `{shown}` and started a new record"
        ))
    }
}

/// A run whose files are being written.
struct PendingRun<'n> {
    /// Its index in the given list.
    at: usize,
    new: &'n NewRun,
    name: String,
    record: AppendableSummary,
    run: u64,
    /// What a person expects of the last turn.
    kept: Option<String>,
    warnings: Vec<String>,
}

impl RecordWriter {
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Adds every run to its record. Returns one result per run.
    pub fn record_all(&mut self, all: &[&NewRun]) -> Vec<Result<Recorded, StoreError>> {
        let _lock = match StoreLock::acquire(&self.store) {
            Ok(lock) => lock,
            Err(error) => return all.iter().map(|_| Err(error.clone())).collect(),
        };
        self.slugs.forget_if_store_changed(&self.store);
        let mut results: Vec<Option<Result<Recorded, StoreError>>> =
            all.iter().map(|_| None).collect();
        let mut waiting: Vec<usize> = (0..all.len()).collect();
        while !waiting.is_empty() {
            waiting = self.record_round(all, &waiting, &mut results);
        }
        if results.iter().flatten().any(Result::is_err) {
            self.slugs.forget_all();
        }
        self.slugs.note_store_time(&self.store);
        results.into_iter().flatten().collect()
    }

    /// Records at most one run per record; returns the rest for the next round.
    fn record_round(
        &mut self,
        all: &[&NewRun],
        waiting: &[usize],
        results: &mut [Option<Result<Recorded, StoreError>>],
    ) -> Vec<usize> {
        let mut promised: HashMap<String, u64> = HashMap::new();
        let mut hashes: Vec<u64> = Vec::new();
        let (mut entering, mut drafts, mut later) = (Vec::new(), Vec::new(), Vec::new());
        for &at in waiting {
            let inputs = all[at].inputs();
            let first = all[at].asked.first();
            let key =
                RecordKey { slug: &slug(first.map_or("", |first| &first.text)), inputs: &inputs };
            let hash = key.hash();
            if hashes.contains(&hash) {
                later.push(at);
                continue;
            }
            match self.begin_run(at, all[at], key, &promised) {
                Ok((one, draft)) => {
                    promised.insert(one.name.clone(), hash);
                    hashes.push(hash);
                    entering.push(one);
                    drafts.push(draft);
                }
                Err(error) => results[at] = Some(Err(error)),
            }
        }
        for (at, result) in self.commit_runs(entering, drafts) {
            results[at] = Some(result);
        }
        later
    }

    /// Finds the record, takes the next number and drafts the run file.
    fn begin_run<'n>(
        &mut self,
        at: usize,
        new: &'n NewRun,
        key: RecordKey<'_>,
        promised: &HashMap<String, u64>,
    ) -> Result<(PendingRun<'n>, FileDraft), StoreError> {
        if key.inputs.is_empty() {
            return Err(StoreError::NoInput);
        }
        let store = &self.store;
        let (number, slot) = self.slugs.find_slot(store, key, promised)?;
        let name = numbered_name(key.slug, number);
        let mut warnings = Vec::new();
        let record = match slot {
            SlugSlot::Record(record) => record,
            SlugSlot::Free => RecordSummary::new(&name, key.inputs).into(),
            SlugSlot::Corrupt(reason) => {
                warnings.push(store.set_aside(&name, &reason)?);
                RecordSummary::new(&name, key.inputs).into()
            }
        };
        let run = next_run(store, &name, &record)?;
        create_run_directory(store.place(&store.run_directory(&name)))?;
        let path = store.run_path(&name, run);
        let kept = kept_expected(store, &name, &record.summary, new);
        let text = new.to_run_file(kept.as_deref()).to_text();
        let draft = write_draft(store.place(&path), &[text])?;
        self.slugs.assign_number(key, number);
        let one = PendingRun { at, new, name, record, run, kept, warnings };
        Ok((one, draft))
    }

    /// Replaces the run files, then the summaries of those that succeeded.
    fn commit_runs(
        &self,
        entering: Vec<PendingRun<'_>>,
        drafts: Vec<FileDraft>,
    ) -> Vec<(usize, Result<Recorded, StoreError>)> {
        let mut results = Vec::with_capacity(entering.len());
        let (mut entered, mut summaries) = (Vec::new(), Vec::new());
        for (mut one, placed) in entering.into_iter().zip(replace_files(drafts)) {
            // A copied or renamed file still contains its old name.
            one.record.summary.set("name", one.name.as_str());
            append_run(&mut one.record.summary, one.run, one.new, one.kept.as_deref());
            let path = self.store.summary_path(&one.name);
            let draft = placed
                .and_then(|()| write_draft(self.store.place(&path), &one.record.text_parts()));
            match draft {
                Ok(draft) => {
                    summaries.push(draft);
                    entered.push(one);
                }
                Err(error) => results.push((one.at, Err(error))),
            }
        }
        for (one, placed) in entered.into_iter().zip(replace_files(summaries)) {
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

/// One more than the highest number on disk and in the summary.
fn next_run(store: &Store, name: &str, record: &AppendableSummary) -> Result<u64, StoreError> {
    let on_disk = store.run_numbers(name)?.last().copied().unwrap_or(0);
    let in_summary = record.highest_run();
    let highest = on_disk.max(in_summary);
    if highest < HIGHEST_RUN {
        return Ok(highest + 1);
    }
    // With the same number again, every run would replace the one before.
    let (path, key) = if on_disk == highest {
        let path = store.run_path(name, on_disk);
        let key = path.file_name().unwrap_or_default().to_owned();
        (path, key)
    } else {
        let is_count = record.summary.runs() == Some(highest);
        (store.summary_path(name), if is_count { "runs" } else { "run" }.to_owned())
    };
    Err(StoreError::RunNumber { path, key, number: highest })
}

/// Refuses a link, which could lead out of the store.
fn create_run_directory(place: WritePath<'_>) -> Result<(), StoreError> {
    let path = place.path;
    match create_new_directory(place, Access::Private) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            match path.symlink_metadata() {
                Ok(found) if found.is_symlink() => Err(StoreError::Link { path: path.to_owned() }),
                _ => Ok(()),
            }
        }
        made => made.map_err(|error| StoreError::io("made", path, error)),
    }
}

/// The `expected` of the last turn, if it is not the text that evalrig wrote with the newest run.
fn kept_expected(
    store: &Store,
    name: &str,
    summary: &RecordSummary,
    new: &NewRun,
) -> Option<String> {
    let newest = &summary.turns.last()?.now;
    let written = newest.expected();
    let would_change = new.expected.as_ref().is_some_and(|expected| expected != written);
    if written.is_empty() || !would_change {
        return None;
    }
    let file = newest.run().and_then(|run| store.run_file(name, run).ok());
    let is_ours = file.and_then(|file| file.expected).is_some_and(|ours| ours == written);
    (!is_ours).then(|| written.to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::SystemTime;

    use camino::Utf8Path;

    use super::super::UserMessage;
    use super::*;

    fn run(input: &str, output: &str) -> NewRun {
        NewRun {
            asked: vec![UserMessage::new(input)],
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
    fn a_batch_writes_the_same_files_as_single_runs() {
        let runs = ["a", "A!", "b", "a", "a?", "A!", "a", "c"];
        let runs: Vec<NewRun> =
            runs.iter().enumerate().map(|(at, input)| run(input, &at.to_string())).collect();
        let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let [together, single] = [store(&folders[0]), store(&folders[1])];
        let all: Vec<&NewRun> = runs.iter().collect();
        let mut writer = together.writer();
        let (early, late) = all.split_at(5);
        let mut places = places(writer.record_all(early));
        places.extend(self::places(writer.record_all(late)));
        let expected =
            [("a", 1), ("a_2", 1), ("b", 1), ("a", 2), ("a_3", 1), ("a_2", 2), ("a", 3), ("c", 1)];
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
    fn changes_of_other_writers_are_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(&folder);
        let mut writer = store.writer();
        let [first, second, third] = [run("a", "1"), run("a!", "2"), run("a?", "3")];
        assert_eq!(places(writer.record_all(&[&first, &second]))[1].0, "a_2");
        store.record(&third).unwrap();
        fs::remove_file(store.summary_path("a_2")).unwrap();
        // File system clocks are coarse: all of this may have the same modification time.
        let directory = fs::File::open(store.directory()).unwrap();
        directory.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        let again = places(writer.record_all(&[&third, &second]));
        // `a_2` is free, so it is the first match; its old run file still counts.
        assert_eq!(again, [("a_2".to_owned(), 2), ("a_4".to_owned(), 1)]);
    }

    #[test]
    fn a_failed_run_does_not_stop_the_others() {
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
        let empty = store.writer().record_all(&[&NewRun::default()]);
        assert!(matches!(empty[..], [Err(StoreError::NoInput)]));
    }

    #[test]
    fn a_run_number_without_a_successor_is_refused() {
        for (text, key) in [
            ("runs: 18446744073709551615\nturns:\n- input: Hi\n  run: 1\n  output: a\n", "`runs`"),
            ("runs: 9007199254740991\nturns:\n- input: Hi\n  run: 1\n  output: a\n", "`runs`"),
            ("runs: 1\nturns:\n- input: Hi\n  run: 18446744073709551615\n  output: a\n", "`run`"),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let store = store(&folder);
            fs::create_dir_all(store.directory()).unwrap();
            let text = format!("name: hi\n{text}");
            fs::write(store.summary_path("hi"), &text).unwrap();
            for output in ["x", "y", "z"] {
                let refused = store.record(&run("Hi", output)).unwrap_err().to_string();
                assert!(refused.contains("hi.yaml") && refused.contains(key), "{refused}");
            }
            assert_eq!(fs::read_to_string(store.summary_path("hi")).unwrap(), text);
            assert!(store.run_numbers("hi").unwrap().is_empty());
        }
        let folder = tempfile::tempdir().unwrap();
        let store = store(&folder);
        fs::create_dir_all(store.run_directory("hi")).unwrap();
        fs::write(store.run_path("hi", u64::MAX), "").unwrap();
        let refused = store.record(&run("Hi", "x")).unwrap_err().to_string();
        assert!(refused.contains("run_18446744073709551615.yaml"), "{refused}");
        assert_eq!(store.run_numbers("hi").unwrap(), [u64::MAX]);
    }

    #[test]
    fn numbers_that_are_not_counts_are_replaced() {
        for runs in ["99999999999999999999999", "-1", "1.5", "1e999", ".nan", "[1]", "many"] {
            let folder = tempfile::tempdir().unwrap();
            let store = store(&folder);
            fs::create_dir_all(store.directory()).unwrap();
            let text = format!(
                "name: hi\nruns: {runs}\nturns:\n- input: Hi\n  run: {runs}\n  output: a\n"
            );
            fs::write(store.summary_path("hi"), text).unwrap();
            let numbers: Vec<u64> =
                ["x", "y", "z"].map(|output| store.record(&run("Hi", output)).unwrap().run).into();
            assert_eq!(numbers, [1, 2, 3], "{runs}");
            assert_eq!(store.read("hi").unwrap().summary.runs(), Some(3));
            assert_eq!(store.run_numbers("hi").unwrap(), [1, 2, 3]);
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_out_of_the_store_are_refused() {
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
