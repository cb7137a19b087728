//! A workspace that an earlier run has kept, for checks on its files when the run is graded again.

use std::os::unix::fs::MetadataExt;
use std::sync::OnceLock;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::model::{Answer, CommandQuestion, Fault, Workspace, WorkspaceFiles};

use crate::disk::{Access, create_new_directory, remove_tree};

use super::case_facts::CaseFacts;
use super::case_workspace::read_inside;
use super::command::CheckedWorkspace;
use super::file_list::list_files;
use super::place::{KEPT, io_fault, is_run_directory};

/// Sandboxes in which programs see the whole file system.
const OPEN: &[&str] = &["none", "home"];

/// A directory that belongs to the user. Commands run in copies of it.
#[derive(Debug)]
pub struct KeptWorkspace {
    path: Utf8PathBuf,
    files: OnceLock<Result<Vec<String>, Fault>>,
}

impl KeptWorkspace {
    /// `None` if it is gone. The path comes from results, which may be of another machine or written by
    /// anyone, so it must be one that a run of this user has made: a directory, not a link, in a directory
    /// `kept-evalrig-…` that only the user can look into.
    pub fn open(path: &str) -> Option<Self> {
        // With a slash at its end, a link would be followed.
        let path: Utf8PathBuf = Utf8Path::new(path).components().collect();
        let parent = path.parent()?;
        let is_name = parent.file_name()?.strip_prefix(KEPT).is_some_and(is_run_directory);
        let is_below = path.is_absolute() && path.file_name().is_some();
        let is_real = is_own_directory(&path) && is_private_directory(parent);
        (is_name && is_below && is_real).then(|| Self { path, files: OnceLock::new() })
    }

    /// Runs a command in a copy below `scratch`, which does not exist yet. `sandbox` is that of the agent:
    /// a command does not see more than the agent did, and what else belongs to a sandbox, such as its
    /// network, is not known any more.
    pub async fn run_command(
        &self,
        question: &CommandQuestion,
        (workspace, case): (&Workspace, &CaseFacts<'_>),
        sandbox: Option<&str>,
        scratch: &Utf8Path,
    ) -> Answer {
        if let Some(name) = sandbox.filter(|name| !OPEN.contains(name)) {
            let what =
                format!("commands of a case in the sandbox `{name}`, which only `run` sets up");
            return Answer::Failed(Fault::not_measured(&what));
        }
        if let Err(error) = create_new_directory(scratch, Access::Private) {
            return Answer::Failed(io_fault("cannot copy the kept workspace", &error));
        }
        let checked = CheckedWorkspace {
            root: &self.path,
            directory: scratch,
            reach: case.reach,
            cwd: workspace.cwd.as_deref(),
            env: &case.environment(workspace, &self.path),
            // It is not known any more. What the command leaves as it is does not count anyway.
            is_authored: &|_| true,
        };
        let answer = checked.run_command(question, None).await;
        let scratch = scratch.to_owned();
        // A failure leaves it to the end of the run.
        let _ = tokio::task::spawn_blocking(move || remove_tree(&scratch)).await;
        answer
    }
}

/// Links are not followed.
fn is_own_directory(path: &Utf8Path) -> bool {
    let own = rustix::process::geteuid().as_raw();
    path.symlink_metadata().is_ok_and(|found| found.is_dir() && found.uid() == own)
}

fn is_private_directory(path: &Utf8Path) -> bool {
    let is_private = |found: std::fs::Metadata| found.mode() & 0o077 == 0;
    is_own_directory(path) && path.symlink_metadata().is_ok_and(is_private)
}

impl WorkspaceFiles for KeptWorkspace {
    fn path(&self) -> &Utf8Path {
        &self.path
    }

    fn read(&self, path: &str, limit: u64) -> Result<Option<Vec<u8>>, Fault> {
        read_inside(&self.path, path, limit)
    }

    fn list(&self) -> Result<&[String], Fault> {
        let files = self.files.get_or_init(|| list_files(&self.path));
        files.as_deref().map_err(Clone::clone)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use evalrig_core::model::HookCommand;
    use evalrig_core::source::Reach;

    use super::super::judging_files::JudgingFiles;
    use super::*;

    #[tokio::test]
    async fn commands_see_no_more_than_the_agent_did() {
        let folder = tempfile::tempdir().unwrap();
        let place = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
        let path = place.join("kept-evalrig-1-a/t-1");
        create_kept(&path);
        let kept = KeptWorkspace::open(path.as_str()).unwrap();
        let question = CommandQuestion {
            command: HookCommand::Shell("touch here && echo $EVALRIG_TEST_ID".to_owned()),
            cwd: None,
            overlay: None,
            overlay_files: Vec::new(),
            overlay_others: Vec::new(),
            timeout_seconds: 60,
            collect: None,
        };
        let null = serde_json::Value::Null;
        let case = CaseFacts {
            root: &place,
            reach: Reach::Inside(&place),
            suite: "s",
            judging: &JudgingFiles::default(),
            test_id: "t",
            trial: 1,
            attempt: 1,
            input: &null,
            metadata: &null,
        };
        let workspace = Workspace::default();
        let scratch = place.join("scratch");
        for (sandbox, runs) in
            [(None, true), (Some("none"), true), (Some("home"), true), (Some("bwrap"), false)]
        {
            let place = (&workspace, &case);
            let answer = kept.run_command(&question, place, sandbox, &scratch).await;
            match answer {
                Answer::Command(answer) => {
                    assert_eq!((answer.stdout.as_slice(), runs), (&b"t\n"[..], true))
                }
                Answer::Failed(fault) => {
                    assert!(!runs && fault.message.contains("the sandbox `bwrap`"), "{fault:?}");
                }
                other => panic!("{other:?}"),
            }
            assert!(!scratch.exists() && !path.join("here").exists());
        }
    }

    /// As a run does.
    fn create_kept(path: &Utf8Path) {
        fs::create_dir_all(path).unwrap();
        let private = fs::Permissions::from_mode(0o700);
        fs::set_permissions(path.parent().unwrap(), private).unwrap();
    }

    #[test]
    fn only_a_directory_that_a_run_has_kept_is_opened() {
        let folder = tempfile::tempdir().unwrap();
        let place = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
        for path in ["kept-evalrig-1-a/t-1", "kept-evalrig-1-b/t-1", "kept-mine/t-1", "other/t-1"] {
            create_kept(&place.join(path));
        }
        fs::create_dir(place.join("kept-evalrig-1-a/t-1/src")).unwrap();
        // Whoever can write there can put something else in its place.
        let open_to_all = fs::Permissions::from_mode(0o755);
        fs::set_permissions(place.join("kept-evalrig-1-b"), open_to_all).unwrap();
        symlink("kept-evalrig-1-a", place.join("kept-evalrig-1-c")).unwrap();
        let kept = place.join("kept-evalrig-1-a");
        fs::write(kept.join("t-1/a.log"), "").unwrap();
        fs::write(kept.join("t-1/src/b"), "text").unwrap();
        symlink("/etc/passwd", kept.join("t-1/out")).unwrap();
        symlink("../other/t-1", kept.join("link")).unwrap();
        fs::write(kept.join("t-1/.gitignore"), "*.log").unwrap();
        let open = |path: &str| KeptWorkspace::open(place.join(path).as_str());
        let found = open("kept-evalrig-1-a/t-1").unwrap();
        assert_eq!(found.list().unwrap(), [".gitignore", "a.log", "out", "src/b"]);
        assert_eq!(found.read("src/b", 10).unwrap().unwrap(), b"text");
        assert_eq!(found.read("out", 10).unwrap(), None);
        for path in [
            "other/t-1",
            "kept-mine/t-1",
            "kept-evalrig-1-a/gone",
            "kept-evalrig-1-a/link",
            "kept-evalrig-1-a/link/",
            "kept-evalrig-1-a/link/.",
            "kept-evalrig-1-a/..",
            "kept-evalrig-1-a/t-1/..",
            "kept-evalrig-1-a/t-1/../../other",
            "kept-evalrig-1-b/t-1",
            "kept-evalrig-1-c/t-1",
        ] {
            assert!(open(path).is_none(), "{path}");
        }
        assert!(KeptWorkspace::open("/etc").is_none());
    }
}
