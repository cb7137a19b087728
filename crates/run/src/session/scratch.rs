//! The directory for temporary files of a run: readable by its owner only, removed when the run is over.
//!
//! A run that is killed leaves its directory behind. A lock on a file in it tells whether its run is
//! alive, so the next run removes those of dead runs and no others.

use std::fs;
use std::io;
use std::time::SystemTime;

use camino::{Utf8Path, Utf8PathBuf};

use super::error::SessionError;
use crate::disk::{
    Access, OpenFile, create_new_directory, open_to_append, remove_directory, remove_tree, rename,
};
use crate::execute::SuiteJob;

const PREFIX: &str = "evalrig-";
const LOCK: &str = ".lock";

/// The name until the lock is held: others must not take it for that of a dead run.
const UNLOCKED: &str = ".new";

#[derive(Debug)]
pub(super) struct RunScratch {
    path: Utf8PathBuf,
    /// Locked until it is dropped or the process ends.
    _lock: OpenFile,
}

/// Where it is if the directory of the user is inside of a repository.
const ELSEWHERE: &[&str] = if cfg!(unix) { &["/tmp", "/var/tmp"] } else { &[] };

impl RunScratch {
    pub(super) fn new() -> Result<Self, SessionError> {
        Self::below(&temporary_directory()?)
    }

    /// For the cases of these jobs.
    pub(super) fn of_jobs<'j>(
        jobs: impl Iterator<Item = &'j SuiteJob>,
    ) -> Result<Self, SessionError> {
        let with_workspaces = jobs.filter(|job| job.uses_workspaces());
        let roots: Vec<&Utf8Path> = with_workspaces.map(|job| job.root.as_path()).collect();
        Self::outside(&roots)
    }

    /// For workspaces: outside of the repositories of the suites, so that an agent finds neither the suite
    /// nor its `.git` above itself (spec 17.2).
    fn outside(roots: &[&Utf8Path]) -> Result<Self, SessionError> {
        let usual = temporary_directory()?;
        let elsewhere = ELSEWHERE.iter().map(Utf8PathBuf::from).filter(|path| path.is_dir());
        let mut candidates = std::iter::once(usual.clone()).chain(elsewhere);
        let Some(parent) = candidates.find(|parent| !is_below_any(parent, roots)) else {
            let reason = format!(
                "workspaces need a directory for temporary files outside of the repository, and `{usual}` \
                 is inside; set TMPDIR"
            );
            return Err(SessionError::Write(reason));
        };
        Self::below(&parent)
    }

    /// In a directory that the caller may write to.
    pub(super) fn below(parent: &Utf8Path) -> Result<Self, SessionError> {
        remove_stale(parent);
        Self::create(parent).map_err(|error| {
            let text = format!("cannot create a directory for temporary files: {error}");
            SessionError::Write(text)
        })
    }

    fn create(parent: &Utf8Path) -> io::Result<Self> {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let nanos = since.map_or(0, |since| since.as_nanos());
        let path = parent.join(format!("{PREFIX}{}-{nanos:x}", std::process::id()));
        let unlocked = Utf8PathBuf::from(format!("{path}{UNLOCKED}"));
        create_new_directory(&unlocked, Access::Private)?;
        let locked = || {
            let lock = open_to_append(&unlocked.join(LOCK), Access::Private)?;
            // Without locks the directory is never taken for that of a dead run.
            let _ = lock.try_lock();
            rename(&unlocked, &path)?;
            Ok(lock)
        };
        match locked() {
            Ok(lock) => Ok(Self { path, _lock: lock }),
            Err(error) => {
                let _ = remove_tree(&unlocked);
                Err(error)
            }
        }
    }

    pub(super) fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// Removes it at the end of the run. Returns a warning if something is left.
    pub(super) fn remove(self) -> Option<String> {
        // A program may have moved it and put a link in its place.
        let removed = is_own_directory(&self.path).then(|| remove_run(&self.path))?;
        let error = removed.err()?;
        let path = &self.path;
        Some(format!("cannot remove `{path}`: {error}; the next run tries it again"))
    }
}

/// Absolute, also if TMPDIR is not.
fn temporary_directory() -> Result<Utf8PathBuf, SessionError> {
    let given = Utf8PathBuf::from_path_buf(std::env::temp_dir());
    let given = given.unwrap_or_else(|_| "/tmp".into());
    camino::absolute_utf8(&given).map_err(|error| {
        SessionError::Write(format!("`{given}` cannot hold temporary files: {error}"))
    })
}

fn is_below_any(path: &Utf8Path, roots: &[&Utf8Path]) -> bool {
    let real = |path: &Utf8Path| path.canonicalize_utf8().unwrap_or_else(|_| path.to_owned());
    let path = real(path);
    roots.iter().any(|root| path.starts_with(real(root)))
}

impl Drop for RunScratch {
    fn drop(&mut self) {
        // Of a run that ends with an error, which matters more than what is left here.
        if is_own_directory(&self.path) {
            let _ = remove_run(&self.path);
        }
    }
}

/// The lock goes last, and stays if anything else does: the next run still knows then that the directory is
/// a dead run's. What is left between the lock and the end is an empty directory.
fn remove_run(directory: &Utf8Path) -> io::Result<()> {
    let mut removed = Ok(());
    for entry in directory.read_dir_utf8()? {
        let entry = entry?;
        if entry.file_name() != LOCK {
            removed = removed.and(remove_tree(entry.path()));
        }
    }
    removed?;
    remove_tree(directory)
}

/// Removes the directories of runs of the same user that were killed.
fn remove_stale(parent: &Utf8Path) {
    for entry in parent.read_dir_utf8().into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(name) = name.strip_prefix(PREFIX).filter(|_| is_own_directory(entry.path()))
        else {
            continue;
        };
        if is_run_name(name) && !entry.path().join(LOCK).exists() {
            // Removes nothing but an empty directory. One of a living run has its lock.
            let _ = remove_directory(entry.path());
            continue;
        }
        let is_stale = if name.ends_with(UNLOCKED) {
            is_of_dead_process(name) && is_abandoned(entry.path()) != Some(false)
        } else {
            is_abandoned(entry.path()) == Some(true)
        };
        if is_stale {
            // The run after this one tries it again.
            let _ = remove_run(entry.path());
        }
    }
}

/// `PROCESS-TIME`, the name of a directory that is or was locked.
fn is_run_name(name: &str) -> bool {
    let is_hexadecimal =
        |text: &str| !text.is_empty() && text.bytes().all(|one| one.is_ascii_hexdigit());
    name.split_once('-').is_some_and(|(id, time)| id.parse::<u32>().is_ok() && is_hexadecimal(time))
}

/// Whether the process that a name begins with is gone. Only for a run that was killed before it held
/// its lock: numbers are used again, and other containers have their own.
fn is_of_dead_process(name: &str) -> bool {
    #[cfg(unix)]
    {
        let id = name.split('-').next().and_then(|id| id.parse().ok());
        let pid = id.and_then(rustix::process::Pid::from_raw);
        pid.is_some_and(|pid| {
            rustix::process::test_kill_process(pid) == Err(rustix::io::Errno::SRCH)
        })
    }
    #[cfg(not(unix))]
    {
        let _ = name;
        false
    }
}

/// The lock is free only if the process that held it is gone. `None` without a lock.
fn is_abandoned(directory: &Utf8Path) -> Option<bool> {
    let lock = directory.join(LOCK);
    // A link or a pipe of that name is not ours.
    fs::symlink_metadata(&lock).ok().filter(|found| found.is_file())?;
    Some(open_to_append(&lock, Access::Private).is_ok_and(|lock| lock.try_lock().is_ok()))
}

#[cfg(unix)]
fn is_own_directory(path: &Utf8Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let own = rustix::process::geteuid().as_raw();
    fs::symlink_metadata(path).is_ok_and(|found| found.is_dir() && found.uid() == own)
}

#[cfg(not(unix))]
fn is_own_directory(path: &Utf8Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn names(directory: &Utf8Path) -> Vec<String> {
        let entries = directory.read_dir_utf8().unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().to_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn only_its_owner_can_look_into_it() {
        let folder = tempfile::tempdir().unwrap();
        let parent = Utf8Path::from_path(folder.path()).unwrap();
        let scratch = RunScratch::create(parent).unwrap();
        let mode = fs::metadata(scratch.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        drop(scratch);
        assert_eq!(names(parent), [""; 0]);
    }

    #[test]
    fn what_is_behind_a_link_in_its_place_is_not_removed() {
        let folder = tempfile::tempdir().unwrap();
        let parent = Utf8Path::from_path(folder.path()).unwrap();
        fs::create_dir_all(parent.join("outside/kept")).unwrap();
        let scratch = RunScratch::create(parent).unwrap();
        let path = scratch.path().to_owned();
        fs::rename(&path, parent.join("moved")).unwrap();
        symlink(parent.join("outside"), &path).unwrap();
        drop(scratch);
        assert!(parent.join("outside/kept").exists());
    }

    /// `None` where files cannot be made immutable.
    #[cfg(target_os = "linux")]
    fn set_immutable(path: &Utf8Path, flag: &str) -> Option<()> {
        let mut command = std::process::Command::new("chattr");
        let ended = command.args([flag, path.as_str()]).output().ok()?;
        ended.status.success().then_some(())
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_cannot_be_removed_is_reported_and_left_to_the_next_run() {
        let folder = tempfile::tempdir().unwrap();
        let parent = Utf8Path::from_path(folder.path()).unwrap();
        let scratch = RunScratch::create(parent).unwrap();
        let path = scratch.path().to_owned();
        let file = path.join("workspaces/a.txt");
        fs::create_dir(path.join("workspaces")).unwrap();
        fs::create_dir(path.join("bases")).unwrap();
        fs::write(&file, "").unwrap();
        if set_immutable(&file, "+i").is_none() {
            return;
        }
        let warning = scratch.remove();
        let left = names(&path);
        set_immutable(&file, "-i").unwrap();
        assert_eq!(left, [LOCK, "workspaces"]);
        let warning = warning.unwrap();
        assert!(warning.starts_with(&format!("cannot remove `{path}`: ")), "{warning}");
        remove_stale(parent);
        assert_eq!(names(parent), [""; 0]);
    }

    #[test]
    fn it_is_outside_of_repositories() {
        let usual = temporary_directory().unwrap();
        assert!(usual.is_absolute());
        let scratch = RunScratch::outside(&["/nowhere".into()]).unwrap();
        assert_eq!(scratch.path().parent(), Some(usual.as_path()));
        let scratch = RunScratch::outside(&[&usual]).unwrap();
        let parent = scratch.path().parent().unwrap();
        assert!(!is_below_any(parent, &[&usual]), "{parent}");
        let error = RunScratch::outside(&["/".into()]).unwrap_err();
        assert!(matches!(error, SessionError::Write(reason) if reason.contains("set TMPDIR")));
    }

    #[test]
    fn only_directories_of_dead_runs_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let parent = Utf8Path::from_path(folder.path()).unwrap();
        let alive = RunScratch::create(parent).unwrap();
        let dead = parent.join("evalrig-1-a");
        fs::create_dir_all(dead.join("7")).unwrap();
        fs::write(dead.join(LOCK), "").unwrap();
        fs::write(dead.join("7/prompt-1"), "hi").unwrap();
        // Not made by a run, or not to be followed.
        fs::create_dir(parent.join("evalrig-other")).unwrap();
        fs::create_dir_all(parent.join("evalrig-1-b/content")).unwrap();
        // A run that was killed between the end of its lock and the end of its directory.
        fs::create_dir(parent.join("evalrig-1-c")).unwrap();
        fs::write(parent.join("evalrig-file"), "").unwrap();
        fs::create_dir(parent.join("kept")).unwrap();
        fs::write(parent.join("kept").join(LOCK), "").unwrap();
        symlink(parent.join("kept"), parent.join("evalrig-link")).unwrap();
        remove_stale(parent);
        let own = alive.path().file_name().unwrap();
        // No process has a number this high.
        fs::create_dir(parent.join("evalrig-2000000000-a.new")).unwrap();
        fs::create_dir(parent.join(format!("evalrig-{}-a.new", std::process::id()))).unwrap();
        remove_stale(parent);
        fs::remove_dir(parent.join(format!("evalrig-{}-a.new", std::process::id()))).unwrap();
        let mut left =
            vec!["evalrig-1-b", "evalrig-file", "evalrig-link", "evalrig-other", own, "kept"];
        left.sort_unstable();
        assert_eq!(names(parent), left);
        assert!(alive.path().join(LOCK).exists());
    }
}
