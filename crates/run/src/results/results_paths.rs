//! The files of a run's record (spec 11.1).
//!
//! Each suite of an invocation has a results file of its own, named after it. With `--output` all
//! of them share that file; rows say which suite they belong to. `latest.jsonl` is kept only in our own
//! folder, never in a directory that the user chose.

use std::fs::File;
use std::io;
use std::time::SystemTime;

use camino::{Utf8DirEntry, Utf8Path, Utf8PathBuf};
use evalrig_core::source::Reach;

use crate::clock::file_stamp;
use crate::disk::{
    Access, Durability, FileDraft, WritePath, behind_links, create_directory_of, create_new,
    create_own_directory, open_named, open_regular, replace_link, sync_parent,
};

/// Under the repository root.
const FOLDER: &str = ".evalrig/results";
const OWN: &str = ".evalrig";
const LATEST: &str = "latest.jsonl";
const ENDING: &str = ".jsonl";
/// Characters of the time in a name.
const STAMP: usize = "2026-01-02T03-04-05".len();
/// Longer names of suites are cut: most file systems take 255 bytes.
const LONGEST_NAME: usize = 100;

/// The repository of a file in one of our own folders. A link there must not lead out of it.
fn own_root(path: &Utf8Path) -> Option<&Utf8Path> {
    let folder = path.parent()?;
    let folder = if folder.ends_with(FOLDER) { folder.parent()? } else { folder };
    let root = folder.parent().filter(|_| folder.file_name() == Some(OWN))?;
    (!root.as_str().is_empty()).then_some(root)
}

/// A file of a record is inside its repository, or where the user named it.
pub(super) fn reach_of(path: &Utf8Path) -> Reach<'_> {
    own_root(path).map_or(Reach::Anywhere, Reach::Inside)
}

/// Where a file of a record is written.
pub(super) fn write_path(path: &Utf8Path) -> WritePath<'_> {
    WritePath { path, reach: reach_of(path) }
}

/// Opens a file of a record. Elsewhere than in our own folder it may also be a pipe.
pub(super) fn open_stored(path: &Utf8Path) -> io::Result<File> {
    match reach_of(path) {
        Reach::Anywhere => open_named(path),
        inside @ Reach::Inside(_) => open_regular(path, inside),
    }
}

/// The files of one record; all of them are named after the results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultsPaths {
    results: Utf8PathBuf,
}

/// How `latest.jsonl` refers to the newest results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Latest {
    Link,
    /// To be made again when the run is over.
    Copy,
    /// The user chose where the results are.
    None,
}

impl ResultsPaths {
    /// A new, empty results file under the root. No other process can get the same one: runs that start
    /// in the same second have numbers from 2 behind the time.
    pub fn claim(root: &Utf8Path, suite: &str, now: SystemTime) -> io::Result<Self> {
        let folder = create_own_directory(root, FOLDER)?;
        let stem = format!("{}-{}", safe_name(suite), file_stamp(now));
        for number in 1_u64.. {
            let suffix = match number {
                1 => String::new(),
                _ => format!("-{number}"),
            };
            let results = folder.join(format!("{stem}{suffix}{ENDING}"));
            match create_new(write_path(&results), b"", Access::Private) {
                Ok(()) => {
                    sync_parent(write_path(&results))?;
                    return Ok(Self { results });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// The file that `--output` names, behind links; its directory is made if need be.
    pub fn at(results: &Utf8Path) -> io::Result<Self> {
        create_directory_of(results, Access::Shared)?;
        Ok(Self { results: behind_links(results)? })
    }

    /// Results of an earlier run. A link such as `latest.jsonl` is resolved, so
    /// that the journal is found and the summary is written beside the results.
    pub fn existing(results: &Utf8Path) -> Self {
        Self { results: behind_links(results).unwrap_or_else(|_| results.to_owned()) }
    }

    /// The folder of results under a root.
    pub fn folder(root: &Utf8Path) -> Utf8PathBuf {
        root.join(FOLDER)
    }

    /// A folder of results below a root must be inside of it; another directory is where the user named it.
    pub fn reach_of_folder(folder: &Utf8Path) -> Reach<'_> {
        let own = folder.ends_with(FOLDER).then(|| folder.parent()?.parent()).flatten();
        own.filter(|root| !root.as_str().is_empty()).map_or(Reach::Anywhere, Reach::Inside)
    }

    /// The results of one suite in a folder, newest first by the time in their names.
    pub fn history_of(folder: &Utf8Path, suite: &str) -> Vec<Utf8PathBuf> {
        let wanted = safe_name(suite);
        let entries = folder.read_dir_utf8().into_iter().flatten();
        let entries = entries.filter_map(Result::ok).filter(is_regular);
        let found = entries.filter_map(|entry| {
            let (suite, stamp, number) = named(entry.file_name())?;
            (suite == wanted).then(|| (stamp, number, entry.path().to_owned()))
        });
        let mut found: Vec<_> = found.collect();
        found.sort_by(|one, other| other.cmp(one));
        found.into_iter().map(|(_, _, path)| path).collect()
    }

    /// The newest results of a suite.
    pub fn latest_of(root: &Utf8Path, suite: &str) -> Option<Utf8PathBuf> {
        newest(&root.join(FOLDER), suite, |_| true)
    }

    /// The newest results of a suite whose run did not come to its end.
    pub fn interrupted(root: &Utf8Path, suite: &str) -> Option<Utf8PathBuf> {
        let has_journal = |results: &Utf8Path| Self::existing(results).journal().exists();
        newest(&root.join(FOLDER), suite, has_journal)
    }

    pub fn results(&self) -> &Utf8Path {
        &self.results
    }

    pub fn journal(&self) -> Utf8PathBuf {
        Utf8PathBuf::from(format!("{}.journal", self.results))
    }

    /// What the workers of a queue do while the run goes on.
    pub fn workers(&self) -> Utf8PathBuf {
        Utf8PathBuf::from(format!("{}.workers", self.results))
    }

    pub fn summary(&self) -> Utf8PathBuf {
        let results = self.results.as_str();
        let stem = results.strip_suffix(ENDING).unwrap_or(results);
        Utf8PathBuf::from(format!("{stem}.summary.json"))
    }

    /// Points `latest.jsonl` to these results, atomically.
    pub fn point_latest(&self) -> io::Result<Latest> {
        let (Some(folder), Some(name)) = (self.results.parent(), self.results.file_name()) else {
            return Ok(Latest::None);
        };
        if !folder.ends_with(FOLDER) || name == LATEST {
            return Ok(Latest::None);
        }
        let latest = folder.join(LATEST);
        if replace_link(write_path(&latest), name).is_ok() {
            return Ok(Latest::Link);
        }
        let mut draft = FileDraft::create(write_path(&latest), Access::Private)?;
        io::copy(&mut open_stored(&self.results)?, &mut draft)?;
        draft.place(Durability::Unsynced)?;
        Ok(Latest::Copy)
    }
}

/// Suite names are usually slugs; this keeps any other name from leaving the folder.
fn safe_name(suite: &str) -> String {
    let kept = suite.chars().map(|c| match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' | '.' => c,
        _ => '-',
    });
    let name: String = kept.take(LONGEST_NAME).collect();
    match name.trim_start_matches('.') {
        "" => "suite".to_owned(),
        name => name.to_owned(),
    }
}

/// Suite, time and number of a results file, as [`ResultsPaths::claim`] names it.
fn named(name: &str) -> Option<(String, String, u64)> {
    let stem = name.strip_suffix(ENDING)?;
    let is_stamp = |text: &str| {
        text.len() == STAMP
            && text.as_bytes()[10] == b'T'
            && text.chars().all(|c| c.is_ascii_digit() || matches!(c, '-' | 'T'))
    };
    let split = |stem: &str| -> Option<(String, String)> {
        let at = stem.len().checked_sub(STAMP)?;
        let stamp = stem.get(at..).filter(|text| is_stamp(text))?;
        let suite = stem.get(..at)?.strip_suffix('-')?;
        Some((suite.to_owned(), stamp.to_owned()))
    };
    if let Some((suite, stamp)) = split(stem) {
        return Some((suite, stamp, 1));
    }
    let (rest, number) = stem.rsplit_once('-')?;
    let (suite, stamp) = split(rest)?;
    Some((suite, stamp, number.parse().ok()?))
}

/// Git carries links, so what is found by its name must be a file itself.
fn is_regular(entry: &Utf8DirEntry) -> bool {
    entry.file_type().is_ok_and(|found| found.is_file())
}

/// Whether an entry of a folder may be a results file: neither a link, such as `latest.jsonl`, nor
/// hidden.
pub(super) fn is_results_entry(entry: &Utf8DirEntry) -> bool {
    let name = entry.file_name();
    name.ends_with(ENDING) && name != LATEST && !name.starts_with('.') && is_regular(entry)
}

/// The time in the name of a results file, RFC 3339.
pub(super) fn time_in_name(name: &str) -> Option<String> {
    let (_, stamp, _) = named(name)?;
    let (date, time) = stamp.split_once('T')?;
    Some(format!("{date}T{}Z", time.replace('-', ":")))
}

/// By the time in their names; of one second, by number.
fn newest(folder: &Utf8Path, suite: &str, fits: impl Fn(&Utf8Path) -> bool) -> Option<Utf8PathBuf> {
    let prefix = format!("{}-", safe_name(suite));
    let entries = folder.read_dir_utf8().ok()?.filter_map(Result::ok).filter(is_regular);
    let found = entries.filter_map(|entry| {
        let stem = entry.file_name().strip_suffix(ENDING)?;
        let rest = stem.strip_prefix(&prefix)?;
        let (stamp, number) = rest.split_at_checked(STAMP)?;
        let number = match number.strip_prefix('-') {
            Some(digits) => digits.parse::<u64>().ok()?,
            None if number.is_empty() => 1,
            None => return None,
        };
        let is_stamp = |c: char| c.is_ascii_digit() || matches!(c, '-' | 'T');
        (stamp.chars().all(is_stamp) && fits(entry.path()))
            .then(|| (stamp.to_owned(), number, entry.path().to_owned()))
    });
    found.max().map(|(_, _, path)| path)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_folder_that_became_a_link_is_neither_written_nor_read() {
        let directory = tempfile::tempdir().unwrap();
        let base = Utf8Path::from_path(directory.path()).unwrap();
        let (root, elsewhere) = (base.join("root"), base.join("elsewhere"));
        fs::create_dir_all(&root).unwrap();
        fs::create_dir_all(&elsewhere).unwrap();
        let paths = ResultsPaths::claim(&root, "a", SystemTime::UNIX_EPOCH).unwrap();
        fs::rename(root.join(FOLDER), base.join("moved")).unwrap();
        std::os::unix::fs::symlink(&elsewhere, root.join(FOLDER)).unwrap();
        fs::write(elsewhere.join(paths.results().file_name().unwrap()), "{}\n").unwrap();
        let is_refused = |error: io::Error| evalrig_core::source::is_outside(&error);
        assert!(is_refused(open_stored(paths.results()).unwrap_err()));
        assert!(is_refused(
            crate::disk::open_to_append(write_path(&paths.journal()), Access::Private).unwrap_err()
        ));
        assert!(is_refused(paths.point_latest().unwrap_err()));
        assert!(ResultsPaths::claim(&root, "a", SystemTime::UNIX_EPOCH).is_err());
        assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 1);
    }

    #[test]
    fn names_stay_inside_the_folder() {
        for (suite, name) in [
            ("csv", "csv"),
            ("../../etc/passwd", "-..-etc-passwd"),
            ("...", "suite"),
            ("", "suite"),
            ("a b/c\\d", "a-b-c-d"),
        ] {
            assert_eq!(safe_name(suite), name);
        }
        assert_eq!(safe_name(&"ä".repeat(500)).len(), LONGEST_NAME);
    }

    #[test]
    fn files_of_a_record_are_named_after_its_results() {
        let place = ResultsPaths::existing("r/csv-2026-01-02T03-04-05.jsonl".into());
        assert_eq!(place.summary(), "r/csv-2026-01-02T03-04-05.summary.json");
        assert_eq!(place.journal(), "r/csv-2026-01-02T03-04-05.jsonl.journal");
        assert_eq!(ResultsPaths::existing("out".into()).summary(), "out.summary.json");
    }

    #[test]
    fn the_newest_results_of_a_suite_are_found() {
        let root = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(root.path()).unwrap();
        assert_eq!(ResultsPaths::latest_of(root, "a"), None);
        let folder = root.join(FOLDER);
        fs::create_dir_all(&folder).unwrap();
        for name in [
            "a-2026-01-02T03-04-05.jsonl",
            "a-2026-01-02T03-04-05-10.jsonl",
            "a-2026-01-02T03-04-05-9.jsonl",
            "a-2026-01-01T03-04-05.jsonl",
            "a-2026-01-01T03-04-05.jsonl.journal",
            "a-b-2027-01-02T03-04-05.jsonl",
            "a-2027-01-02T03-04-05.summary.json",
            "latest.jsonl",
        ] {
            fs::write(folder.join(name), "").unwrap();
        }
        let names: Vec<_> = ResultsPaths::history_of(&folder, "a")
            .iter()
            .map(|path| path.file_name().unwrap().to_owned())
            .collect();
        assert_eq!(
            names,
            [
                "a-2026-01-02T03-04-05-10.jsonl",
                "a-2026-01-02T03-04-05-9.jsonl",
                "a-2026-01-02T03-04-05.jsonl",
                "a-2026-01-01T03-04-05.jsonl",
            ]
        );
        let named = |found: Option<Utf8PathBuf>| found.unwrap().file_name().unwrap().to_owned();
        assert_eq!(named(ResultsPaths::latest_of(root, "a")), "a-2026-01-02T03-04-05-10.jsonl");
        assert_eq!(named(ResultsPaths::interrupted(root, "a")), "a-2026-01-01T03-04-05.jsonl");
        assert_eq!(ResultsPaths::interrupted(root, "a-b"), None);
    }

    #[test]
    fn the_time_in_a_name_can_be_compared_with_others() {
        let time = Some("2026-01-02T03:04:05Z".to_owned());
        assert_eq!(time_in_name("a-b-2026-01-02T03-04-05.jsonl"), time);
        assert_eq!(time_in_name("a-2026-01-02T03-04-05-12.jsonl"), time);
        assert_eq!(time_in_name("a.jsonl"), None);
    }
}
