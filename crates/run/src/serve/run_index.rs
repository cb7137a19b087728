//! The runs that there are: results files, grouped by the run that wrote them.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::source::{EntryKind, Files};

use crate::clock::rfc3339;
use crate::disk::Disk;
use crate::lock::locked;
use crate::results::{
    Completion, FollowedFile, ResultsOverview, ResultsPaths, is_being_written, run_of_file,
};

/// Older files are counted, not read.
const MOST_FILES: usize = 500;
const ENDING: &str = ".jsonl";
const LATEST: &str = "latest.jsonl";

/// A run that can be shown.
#[derive(Debug, Clone)]
pub(super) struct ListedRun {
    /// Its part of addresses: the id of the run, or the name of its file.
    pub(super) id: String,
    pub(super) files: Vec<Utf8PathBuf>,
    pub(super) overview: ReadOverview,
    pub(super) is_running: bool,
    /// RFC 3339: the start of the run, or the last change of its files.
    pub(super) when: String,
}

impl ListedRun {
    /// Whether it ended with all of its rows.
    pub(super) fn completion(&self) -> Option<Completion> {
        self.overview.as_ref().ok().and_then(|found| found.completion)
    }
}

/// All runs, newest first.
#[derive(Debug, Clone, Default)]
pub(super) struct RunListing {
    pub(super) runs: Vec<ListedRun>,
    /// Files that are older than those that were read.
    pub(super) unread: usize,
}

/// The numbers of a run, or why a file cannot be read.
type ReadOverview = Result<Arc<ResultsOverview>, String>;

/// The id of a run, and its files.
type RunFiles = (String, Vec<SeenFile>);

/// Name, length and last change of a file.
type SeenFile = (Utf8PathBuf, u64, SystemTime);

/// Reads what there is, and remembers it as long as the files stay as they are.
#[derive(Debug)]
pub(super) struct RunIndex {
    folder: Option<Utf8PathBuf>,
    /// Files that need not be in the folder.
    files: Vec<Utf8PathBuf>,
    /// The run of each file.
    names: Mutex<HashMap<SeenFile, Option<String>>>,
    overviews: Mutex<HashMap<Vec<SeenFile>, ReadOverview>>,
}

impl RunIndex {
    pub(super) fn new(folder: Option<Utf8PathBuf>, files: Vec<Utf8PathBuf>) -> Self {
        Self { folder, files, names: Mutex::default(), overviews: Mutex::default() }
    }

    /// Where the runs are, to be shown.
    pub(super) fn place(&self) -> &Utf8Path {
        let place = self.folder.as_ref().or(self.files.first());
        place.map_or(Utf8Path::new(""), |place| place)
    }

    pub(super) fn list(&self) -> io::Result<RunListing> {
        let (groups, unread) = self.groups()?;
        let mut runs: Vec<ListedRun> =
            groups.into_iter().map(|(id, files)| self.listed(id, files)).collect();
        runs.sort_by(|one, other| (&other.when, &other.id).cmp(&(&one.when, &one.id)));
        Ok(RunListing { runs, unread })
    }

    /// The run with this id, if there is one. A run that has just started was listed under the name of
    /// its file until its header was written, and a page may have been opened then.
    pub(super) fn find(&self, id: &str) -> Option<ListedRun> {
        let (groups, _) = self.groups().ok()?;
        let is_of_file = |files: &[SeenFile]| files.iter().any(|(path, ..)| stem(path) == id);
        let at = groups.iter().position(|(known, _)| known == id);
        let at = at.or_else(|| groups.iter().position(|(_, files)| is_of_file(files)))?;
        let (id, files) = groups.into_iter().nth(at)?;
        Some(self.listed(id, files))
    }

    /// The files of a run; more may come while it goes on.
    pub(super) fn files_of(&self, id: &str) -> Vec<Utf8PathBuf> {
        let groups = self.groups().map(|(groups, _)| groups).unwrap_or_default();
        let found = groups.into_iter().find(|(known, _)| known == id);
        found
            .map(|(_, files)| files.into_iter().map(|(path, ..)| path).collect())
            .unwrap_or_default()
    }

    /// The newest run; one that goes on before those that ended.
    pub(super) fn newest(&self) -> Option<ListedRun> {
        let mut runs = self.list().ok()?.runs;
        let running = runs.iter().position(|run| run.is_running);
        (!runs.is_empty()).then(|| runs.swap_remove(running.unwrap_or(0)))
    }

    /// Files by run, and how many files were not read.
    fn groups(&self) -> io::Result<(Vec<RunFiles>, usize)> {
        let mut files = self.results_files()?;
        files.sort_by_key(|file| std::cmp::Reverse(file.2));
        let unread = files.len().saturating_sub(MOST_FILES);
        files.truncate(MOST_FILES);
        let mut names = locked(&self.names);
        names.retain(|known, _| files.contains(known));
        let mut groups: Vec<RunFiles> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        for file in files {
            let name = match names.get(&file) {
                Some(name) => name.clone(),
                None => {
                    let name = run_of_file(&file.0);
                    names.insert(file.clone(), name.clone());
                    name
                }
            };
            let id = name.unwrap_or_else(|| stem(&file.0));
            let at = *places.entry(id.clone()).or_insert_with(|| {
                groups.push((id, Vec::new()));
                groups.len() - 1
            });
            groups[at].1.push(file);
        }
        for (_, files) in &mut groups {
            files.sort();
        }
        Ok((groups, unread))
    }

    /// Regular files only: neither links, such as `latest.jsonl`, nor pipes.
    fn results_files(&self) -> io::Result<Vec<SeenFile>> {
        let mut found: Vec<SeenFile> =
            self.files.iter().filter_map(|file| state(file.clone()).ok()).collect();
        let Some(folder) = &self.folder else { return Ok(found) };
        let listing = match Disk.list(folder, ResultsPaths::reach_of_folder(folder)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(found),
            listing => listing?,
        };
        let is_results =
            |name: &str| name.ends_with(ENDING) && name != LATEST && !name.starts_with('.');
        let entries = listing.entries.into_iter();
        let inside = entries.filter(|entry| {
            is_results(&entry.name) && entry.kind == EntryKind::File && !entry.is_link
        });
        let inside = inside.map(|entry| folder.join(entry.name));
        let inside = inside.filter(|path| !self.files.contains(path));
        found.extend(inside.filter_map(|path| state(path).ok()));
        Ok(found)
    }

    fn listed(&self, id: String, files: Vec<SeenFile>) -> ListedRun {
        let overview = self.overview(&files);
        let changed = files.iter().map(|(_, _, changed)| *changed).max();
        let changed = rfc3339(changed.unwrap_or(SystemTime::UNIX_EPOCH));
        let started = overview.as_ref().ok().and_then(|found| found.started.clone());
        let files: Vec<Utf8PathBuf> = files.into_iter().map(|(path, ..)| path).collect();
        let is_running = files.iter().any(|file| is_being_written(file));
        ListedRun { id, files, overview, is_running, when: started.unwrap_or(changed) }
    }

    fn overview(&self, files: &[SeenFile]) -> ReadOverview {
        if let Some(known) = locked(&self.overviews).get(files) {
            return known.clone();
        }
        let paths: Vec<Utf8PathBuf> = files.iter().map(|(path, ..)| path.clone()).collect();
        let read = ResultsOverview::read(&paths).map(Arc::new).map_err(|error| error.to_string());
        let mut overviews = locked(&self.overviews);
        // What was known of these files before they changed.
        overviews.retain(|known, _| known.iter().all(|(path, ..)| !paths.contains(path)));
        overviews.insert(files.to_vec(), read.clone());
        read
    }
}

impl ListedRun {
    pub(super) fn followed(&self) -> Vec<FollowedFile> {
        self.files.iter().map(|file| FollowedFile::new(file.clone())).collect()
    }
}

/// The part of addresses that stands for the run of a results file.
pub fn run_name(file: &Utf8Path) -> String {
    run_of_file(file).unwrap_or_else(|| stem(file))
}

fn state(file: Utf8PathBuf) -> io::Result<SeenFile> {
    let found = file.symlink_metadata()?;
    Ok((file, found.len(), found.modified()?))
}

fn stem(file: &Utf8Path) -> String {
    let name = file.file_name().unwrap_or_default();
    name.strip_suffix(ENDING).unwrap_or(name).to_owned()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::results::{Existing, PlanOptions, ResultsWriter, RunHeader};

    #[cfg(unix)]
    #[test]
    fn a_folder_that_is_a_link_out_of_the_repository_is_not_listed() {
        let directory = tempfile::tempdir().unwrap();
        let base = Utf8Path::from_path(directory.path()).unwrap();
        let (elsewhere, folder) =
            (base.join("elsewhere"), ResultsPaths::folder(&base.join("root")));
        fs::create_dir_all(&elsewhere).unwrap();
        fs::write(elsewhere.join("a-2026-01-02T03-04-05.jsonl"), "").unwrap();
        fs::create_dir_all(folder.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &folder).unwrap();
        let index = RunIndex::new(Some(folder), Vec::new());
        assert!(index.list().is_err());
        // A directory that was named may be anywhere.
        assert_eq!(RunIndex::new(Some(elsewhere), Vec::new()).list().unwrap().runs.len(), 1);
    }

    #[test]
    fn a_run_is_found_by_the_name_it_had_before_its_header_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(folder.path()).unwrap();
        let file = folder.join("live-2026-01-02T03-04-05.jsonl");
        fs::write(&file, "").unwrap();
        let index = RunIndex::new(Some(folder.to_owned()), Vec::new());
        let early = index.newest().unwrap().id;
        assert_eq!(early, "live-2026-01-02T03-04-05");
        let mut header =
            RunHeader::new("2026-01-02T03:04:05Z".to_owned(), Vec::new(), PlanOptions::default());
        header.run = Some("20260102T030405-aaaaaa".to_owned());
        let place = ResultsPaths::at(&file).unwrap();
        drop(ResultsWriter::create(place, Existing::Replace, &header, Arc::default()).unwrap());
        // A page that was opened early asks for its events under the old name.
        let found = index.find(&early).expect("the run");
        assert_eq!(found.id, "20260102T030405-aaaaaa");
        assert_eq!(index.files_of(&found.id), [file]);
        assert!(index.find("live-2026-01-02T03-04-06").is_none());
    }
}
