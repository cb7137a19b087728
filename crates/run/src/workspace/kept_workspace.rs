//! A workspace that an earlier run has kept, for checks on its files when the run is graded again.

use std::sync::OnceLock;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::model::{Fault, WorkspaceFiles};

use crate::disk::NodeKind;

use super::case_workspace::read_inside;
use super::ignore_rules::collect_evidence;
use super::place::{KEPT, io_fault};

/// A directory that belongs to the user. Nothing is run in it: the sandbox of that run is not known.
#[derive(Debug)]
pub struct KeptWorkspace {
    path: Utf8PathBuf,
    /// Patterns of files that are not evidence.
    ignore: Vec<String>,
    files: OnceLock<Result<Vec<String>, Fault>>,
}

impl KeptWorkspace {
    /// `None` if it is gone. The path comes from results, which may be of another machine, so it must be
    /// one that a run of this user has made.
    pub fn open(path: &str, ignore: &[String]) -> Option<Self> {
        let path = Utf8PathBuf::from(path);
        let is_kept = path.parent()?.file_name()?.starts_with(KEPT) && path.is_absolute();
        let is_own = is_kept && is_own_directory(path.parent()?) && is_own_directory(&path);
        is_own.then(|| Self { path, ignore: ignore.to_vec(), files: OnceLock::new() })
    }

    fn find_files(&self) -> Result<Vec<String>, Fault> {
        let mut files = Vec::new();
        let found = collect_evidence(&self.path, &self.ignore, &mut |entry| {
            if matches!(entry.kind, NodeKind::File | NodeKind::Link) {
                files.push(String::from_utf8_lossy(entry.path).into_owned());
            }
            Ok(())
        });
        found.map_err(|error| io_fault("cannot read the kept workspace", &error))?;
        files.sort_unstable();
        Ok(files)
    }
}

fn is_own_directory(path: &Utf8Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let own = rustix::process::geteuid().as_raw();
    path.symlink_metadata().is_ok_and(|found| found.is_dir() && found.uid() == own)
}

impl WorkspaceFiles for KeptWorkspace {
    fn path(&self) -> &Utf8Path {
        &self.path
    }

    fn read(&self, path: &str, limit: u64) -> Result<Option<Vec<u8>>, Fault> {
        read_inside(&self.path, path, limit)
    }

    fn list(&self) -> Result<&[String], Fault> {
        match self.files.get_or_init(|| self.find_files()) {
            Ok(files) => Ok(files),
            Err(fault) => Err(fault.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn only_a_directory_that_a_run_has_kept_is_opened() {
        let folder = tempfile::tempdir().unwrap();
        let place = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
        for path in ["kept-evalrig-1-a/t-1/src", "other/t-1"] {
            fs::create_dir_all(place.join(path)).unwrap();
        }
        let kept = place.join("kept-evalrig-1-a");
        fs::write(kept.join("t-1/a.log"), "").unwrap();
        fs::write(kept.join("t-1/src/b"), "text").unwrap();
        symlink("/etc/passwd", kept.join("t-1/out")).unwrap();
        symlink("../other/t-1", kept.join("link")).unwrap();
        let open =
            |path: &str| KeptWorkspace::open(place.join(path).as_str(), &["*.log".to_owned()]);
        let found = open("kept-evalrig-1-a/t-1").unwrap();
        assert_eq!(found.list().unwrap(), ["out", "src/b"]);
        assert_eq!(found.read("src/b", 10).unwrap().unwrap(), b"text");
        assert_eq!(found.read("out", 10).unwrap(), None);
        for path in ["other/t-1", "kept-evalrig-1-a/gone", "kept-evalrig-1-a/link"] {
            assert!(open(path).is_none(), "{path}");
        }
        assert!(KeptWorkspace::open("/etc", &[]).is_none());
    }
}
