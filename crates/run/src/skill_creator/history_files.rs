//! Finds the runs in folders of skill-creator and agentskills, in all layouts that their tools and
//! instructions write.

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::source::{EntryKind, Files, Reach};

use crate::disk::Disk;

pub(super) const GRADING: &str = "grading.json";
pub(super) const TIMING: &str = "timing.json";
pub(super) const METADATA: &str = "eval_metadata.json";
pub(super) const BENCHMARK: &str = "benchmark.json";
pub(super) const OUTPUTS: &str = "outputs";

/// One run of one eval in one configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RunFolder {
    pub(super) directory: Utf8PathBuf,
    /// The directory of the eval.
    pub(super) eval: Utf8PathBuf,
    pub(super) configuration: String,
    pub(super) number: u32,
}

/// The names of real directories in a directory, in order; numbers count as numbers.
pub(super) fn directories(root: &Utf8Path, directory: &Utf8Path) -> Vec<String> {
    let listing = Disk.list(directory, Reach::Inside(root)).unwrap_or_default();
    let real = listing.entries.into_iter().filter(|entry| {
        entry.kind == EntryKind::Directory && !entry.is_link && !entry.name.starts_with('.')
    });
    let mut names: Vec<String> = real.map(|entry| entry.name).collect();
    names.sort_by_key(|name| (numbered(name).unwrap_or_default(), name.clone()));
    names
}

/// `3` of `run-3`.
fn numbered(name: &str) -> Option<u64> {
    name.rsplit('-').next()?.parse().ok()
}

pub(super) fn has_file(root: &Utf8Path, path: &Utf8Path) -> bool {
    Disk.look(path, Reach::Inside(root)).is_ok_and(|found| found.kind == EntryKind::File)
}

fn has_directory(root: &Utf8Path, path: &Utf8Path) -> bool {
    Disk.look(path, Reach::Inside(root)).is_ok_and(|found| found.kind == EntryKind::Directory)
}

/// The iterations of a workspace; the directory itself if it is one.
pub(super) fn iterations(directory: &Utf8Path) -> Vec<Utf8PathBuf> {
    if is_iteration(directory) {
        return vec![directory.to_owned()];
    }
    let names = directories(directory, directory).into_iter();
    let below = names.map(|name| directory.join(name));
    below.filter(|path| is_iteration(path)).collect()
}

fn is_iteration(directory: &Utf8Path) -> bool {
    has_file(directory, &directory.join(BENCHMARK)) || !runs(directory).is_empty()
}

/// Every run of an iteration: `<eval>/<configuration>/run-<n>/`, or without the last level, also below
/// `runs/`.
pub(super) fn runs(iteration: &Utf8Path) -> Vec<RunFolder> {
    let old = iteration.join("runs");
    let start = if has_directory(iteration, &old) { old } else { iteration.to_owned() };
    let mut found = Vec::new();
    for eval in directories(iteration, &start) {
        let eval = start.join(eval);
        for name in directories(iteration, &eval) {
            let directory = eval.join(&name);
            let numbers = directories(iteration, &directory).into_iter();
            let numbers: Vec<(u32, String)> = numbers
                .filter_map(|run| {
                    let number = run.strip_prefix("run-")?.parse().ok().filter(|n| *n > 0)?;
                    Some((number, run))
                })
                .collect();
            let folder = |directory: Utf8PathBuf, number: u32| RunFolder {
                directory,
                eval: eval.clone(),
                configuration: name.clone(),
                number,
            };
            if !numbers.is_empty() {
                let runs = numbers.into_iter();
                found.extend(runs.map(|(number, run)| folder(directory.join(run), number)));
            } else if has_file(iteration, &directory.join(GRADING))
                || (has_directory(iteration, &directory.join(OUTPUTS))
                    && has_metadata(iteration, &eval))
            {
                found.push(folder(directory, 1));
            }
        }
    }
    found
}

fn has_metadata(root: &Utf8Path, eval: &Utf8Path) -> bool {
    has_file(root, &eval.join(METADATA))
        || eval.file_name().is_some_and(|name| name.starts_with("eval-"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn tree(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "{}").unwrap();
        }
        folder
    }

    fn found(folder: &tempfile::TempDir) -> Vec<(String, String, u32)> {
        let root = Utf8Path::from_path(folder.path()).unwrap().canonicalize_utf8().unwrap();
        let found = iterations(&root).into_iter().flat_map(|path| runs(&path));
        let shown = found.map(|run| {
            let eval = run.eval.strip_prefix(&root).unwrap().to_string();
            (eval, run.configuration, run.number)
        });
        shown.collect()
    }

    #[test]
    fn all_layouts_are_found() {
        let files = [
            "iteration-2/eval-1/with_skill/run-1/grading.json",
            "iteration-2/eval-1/with_skill/run-10/grading.json",
            "iteration-2/eval-1/with_skill/run-2/grading.json",
            "iteration-10/eval-top/without_skill/grading.json",
            "iteration-10/eval-top/with_skill/outputs/a.txt",
            "iteration-10/notes/drafts/outputs/a.txt",
            "skill-snapshot/scripts/run.json",
        ];
        let expected = [
            ("iteration-2/eval-1", "with_skill", 1),
            ("iteration-2/eval-1", "with_skill", 2),
            ("iteration-2/eval-1", "with_skill", 10),
            ("iteration-10/eval-top", "with_skill", 1),
            ("iteration-10/eval-top", "without_skill", 1),
        ];
        let expected: Vec<(String, String, u32)> = expected
            .map(|(eval, name, number)| (eval.to_owned(), name.to_owned(), number))
            .to_vec();
        assert_eq!(found(&tree(&files)), expected);
        let legacy = found(&tree(&["runs/eval-1/with_skill/run-1/grading.json"]));
        assert_eq!(legacy, [("runs/eval-1".to_owned(), "with_skill".to_owned(), 1)]);
        assert_eq!(found(&tree(&["evals/evals.json", "SKILL.md"])), []);
    }
}
