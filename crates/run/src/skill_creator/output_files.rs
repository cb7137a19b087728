//! The files that an agent left in a kept workspace, within limits.

use std::io;

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use evalrig_core::source::{EntryKind, Files, Reach};

use crate::disk::{Disk, read_whole};
use crate::results::WorkspaceChanges;

/// Of one run.
const MOST_FILES: usize = 200;
const MOST_BYTES: u64 = 50 * 1024 * 1024;
/// Of one file.
const LARGEST: u64 = 10 * 1024 * 1024;

/// A file that is copied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspaceFile {
    pub workspace: Utf8PathBuf,
    /// Below the workspace.
    pub path: String,
}

/// The files of a run, and why others are left out.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct OutputFiles {
    pub(super) files: Vec<WorkspaceFile>,
    pub(super) notes: Vec<String>,
}

impl OutputFiles {
    /// The created and modified files of a row, if its workspace was kept. `temporary` is where kept
    /// workspaces are: a results file from elsewhere must not make us copy other files.
    pub(super) fn of(changes: Option<&WorkspaceChanges>, temporary: &[Utf8PathBuf]) -> Self {
        let mut found = Self::default();
        let Some(changes) = changes else {
            return found;
        };
        let paths: Vec<&String> = changes.created.iter().chain(&changes.modified).collect();
        if paths.is_empty() {
            return found;
        }
        let count = paths.len();
        let noun = if count == 1 { "file" } else { "files" };
        let left_out = |reason: &str| format!("{count} {noun} of the agent left out: {reason}");
        let Some(workspace) = changes.path.as_deref().map(Utf8Path::new) else {
            found.notes.push(left_out(
                "the workspace was not kept (`run --keep-workspaces always` keeps it)",
            ));
            return found;
        };
        let Ok(workspace) = workspace.canonicalize_utf8() else {
            found.notes.push(left_out("the workspace is gone"));
            return found;
        };
        if !temporary.iter().any(|place| workspace.starts_with(place) && workspace != *place) {
            found.notes.push(left_out("the workspace is not in the directory for temporary files"));
            return found;
        }
        found.collect(&workspace, &paths);
        found
    }

    fn collect(&mut self, workspace: &Utf8Path, paths: &[&String]) {
        let mut bytes = 0;
        for path in paths {
            match size_of(workspace, path) {
                Ok(size) if size > LARGEST => self.leave_out(path, "larger than 10 MiB"),
                Ok(size) if bytes + size > MOST_BYTES || self.files.len() >= MOST_FILES => {
                    self.leave_out(path, "at most 200 files and 50 MiB of a run are copied");
                }
                Ok(size) => {
                    bytes += size;
                    let file =
                        WorkspaceFile { workspace: workspace.to_owned(), path: (*path).clone() };
                    self.files.push(file);
                }
                Err(error) => self.leave_out(path, &error.to_string()),
            }
        }
    }

    fn leave_out(&mut self, path: &str, reason: &str) {
        self.notes.push(format!("`{path}` left out: {reason}"));
    }
}

/// The size of a regular file that no link leads to.
fn size_of(workspace: &Utf8Path, path: &str) -> io::Result<u64> {
    let refused = |reason: &'static str| Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
    let mut place = workspace.to_owned();
    for part in Utf8Path::new(path).components() {
        let Utf8Component::Normal(part) = part else {
            return refused("not a path inside the workspace");
        };
        place.push(part);
        if place.symlink_metadata()?.is_symlink() {
            return refused("a link");
        }
    }
    let found = Disk.look(&place, Reach::Inside(workspace))?;
    if found.kind == EntryKind::File { Ok(found.size) } else { refused("not a regular file") }
}

/// The content of a file that was found by an export.
pub fn read_output(file: &WorkspaceFile) -> io::Result<Vec<u8>> {
    size_of(&file.workspace, &file.path)?;
    let path = file.workspace.join(&file.path);
    read_whole(&path, Reach::Inside(&file.workspace), LARGEST)
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn only_plain_files_inside_the_workspace_are_copied() {
        let folder = tempfile::tempdir().unwrap();
        let base = Utf8Path::from_path(folder.path()).unwrap().canonicalize_utf8().unwrap();
        let workspace = base.join("kept/a-1");
        fs::create_dir_all(workspace.join("out")).unwrap();
        fs::write(workspace.join("out/sum.csv"), "a,b\n").unwrap();
        fs::write(base.join("secret"), "x").unwrap();
        symlink("../../secret", workspace.join("link")).unwrap();
        symlink("out", workspace.join("also")).unwrap();
        let large = fs::File::create(workspace.join("large")).unwrap();
        large.set_len(LARGEST + 1).unwrap();
        let paths =
            ["out/sum.csv", "link", "also/sum.csv", "../../secret", "large", "out", "missing"];
        let changes = WorkspaceChanges {
            created: paths.map(str::to_owned).to_vec(),
            path: Some(workspace.to_string()),
            ..WorkspaceChanges::default()
        };
        let found = OutputFiles::of(Some(&changes), std::slice::from_ref(&base));
        let copied: Vec<&str> = found.files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(copied, ["out/sum.csv"]);
        assert_eq!(read_output(&found.files[0]).unwrap(), b"a,b\n");
        assert_eq!(found.notes.len(), 6, "{:?}", found.notes);
        assert_eq!(found.notes[0], "`link` left out: a link");
        assert_eq!(found.notes[3], "`large` left out: larger than 10 MiB");

        let elsewhere = OutputFiles::of(Some(&changes), &[base.join("other")]);
        assert!(elsewhere.files.is_empty());
        assert!(elsewhere.notes[0].contains("temporary files"), "{:?}", elsewhere.notes);
        let gone = WorkspaceChanges { path: None, ..changes };
        assert!(OutputFiles::of(Some(&gone), &[base]).notes[0].contains("was not kept"));
    }

    #[test]
    fn a_run_without_changes_has_neither_files_nor_notes() {
        assert_eq!(OutputFiles::of(None, &[]), OutputFiles::default());
        let unchanged = WorkspaceChanges::default();
        assert_eq!(OutputFiles::of(Some(&unchanged), &[]), OutputFiles::default());
    }
}
