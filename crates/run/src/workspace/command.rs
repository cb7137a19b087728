//! Commands that check a workspace, in a copy of it: no check sees the traces of another one, and what is
//! laid over the copy never reaches the agent (spec 17.5).

use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::model::{Answer, CommandAnswer, CommandQuestion, Fault, FaultKind, Stage};
use evalrig_core::source::Reach;
use globset::GlobMatcher;

use crate::agent::process::{ProcessSpec, STREAM_LIMIT, run};
use crate::disk::{
    Access, CopyError, CopyOrigin, CopyRules, TreePlace, copy_tree, create_new_directory,
    remove_file, remove_tree,
};
use crate::sandbox::{ProgramStart, SandboxUse, SandboxedProgram};

use super::collected::{EarlierFiles, collect, earlier_files, matcher};
use super::file_name::shown_name;
use super::hook::directory_inside;
use super::place::{io_fault, on_disk};
use super::suite_reach::SuiteReach;

/// Between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_secs(2);

/// Of standard output.
const STDOUT_TAIL: usize = 64 * 1024;

/// The workspace that a command checks.
#[derive(Clone, Copy)]
pub(super) struct CheckedWorkspace<'a> {
    pub(super) root: &'a Utf8Path,
    /// Where copies of it are made.
    pub(super) directory: &'a Utf8Path,
    /// Where overlays may be.
    pub(super) reach: Reach<'a>,
    /// Where commands start, below the workspace.
    pub(super) cwd: Option<&'a str>,
    /// That of the case.
    pub(super) env: &'a [(String, String)],
    /// Whether a file is as it was before the agent started.
    pub(super) is_authored: &'a (dyn Fn(&[u8]) -> bool + Sync),
}

/// A copy of a workspace. Dropping it removes it.
struct CheckCopy {
    /// Holds the copy, whose name is that of every workspace.
    directory: Utf8PathBuf,
    root: Utf8PathBuf,
}

impl Drop for CheckCopy {
    fn drop(&mut self) {
        let _ = remove_tree(&self.directory);
    }
}

fn script_fault(kind: FaultKind, message: impl Into<String>) -> Fault {
    Fault::new(Stage::Script, kind, message)
}

impl CheckedWorkspace<'_> {
    /// Runs a command in a copy of the workspace, with its overlay on top, and removes the copy.
    pub(super) async fn run_command(
        self,
        question: &CommandQuestion,
        sandbox: Option<SandboxUse<'_>>,
    ) -> Answer {
        match run_in_copy(self, question, sandbox).await {
            Ok(answer) => answer,
            Err(fault) => Answer::Failed(fault),
        }
    }
}

async fn run_in_copy(
    checked: CheckedWorkspace<'_>,
    question: &CommandQuestion,
    sandbox: Option<SandboxUse<'_>>,
) -> Result<Answer, Fault> {
    let copy = make_copy(checked, question).await?;
    let root = copy.root.as_path();
    let below = question.cwd.as_deref().or(checked.cwd);
    let Ok(cwd) = directory_inside(root, below) else {
        return Ok(Answer::NoDirectory(below.unwrap_or_default().to_owned()));
    };
    let glob = question.collect.as_deref().map(matcher).transpose()?;
    let mut earlier = EarlierFiles::new();
    if let Some(glob) = &glob {
        let overlay = question.overlay.as_ref().map(|path| LoadedOverlay::new(path, question));
        let is_hidden = |path: &[u8]| overlay.as_ref().is_some_and(|one| one.paths.contains(path));
        let is_authored = |path: &[u8]| is_hidden(path) || (checked.is_authored)(path);
        earlier = remove_unauthored(root, glob, is_authored).await?;
    }
    let mut words = question.command.words().into_iter();
    let program = words.next().unwrap_or_default();
    let start =
        ProgramStart { program, args: words.collect(), cwd, env: environment(checked, root) };
    let SandboxedProgram { start, guard } = match sandbox {
        None => start.into(),
        Some(used) => {
            let mut view = used.view.clone();
            view.writable.push(root.to_owned());
            let wrapped = used.sandbox.wrap(start, &view);
            wrapped.map_err(|reason| script_fault(FaultKind::Start, reason))?
        }
    };
    let spec = ProcessSpec {
        program: &start.program,
        args: &start.args,
        cwd: &start.cwd,
        env: &start.env,
        without: &[],
        stdin: None,
        timeout: Duration::from_secs(question.timeout_seconds),
        grace: GRACE,
        output_limit: STREAM_LIMIT,
    };
    let ended = run(&spec).await;
    drop(guard);
    let mut ended = ended.map_err(|attempt| of_script(attempt.fault))?;
    let collected = match &glob {
        Some(glob) => collect(root, glob, earlier).await?,
        None => Vec::new(),
    };
    let cut = ended.stdout.len().saturating_sub(STDOUT_TAIL);
    ended.stdout.drain(..cut);
    // Removing may take a while.
    let _ = tokio::task::spawn_blocking(move || drop(copy)).await;
    Ok(Answer::Command(CommandAnswer {
        exit_code: ended.status.code(),
        stdout: ended.stdout,
        stderr: ended.stderr,
        collected,
    }))
}

/// That of the case, about the copy.
fn environment(checked: CheckedWorkspace<'_>, root: &Utf8Path) -> Vec<(String, String)> {
    let mut env = checked.env.to_vec();
    env.push(("EVALRIG_WORKSPACE".to_owned(), root.to_string()));
    env
}

async fn make_copy(
    checked: CheckedWorkspace<'_>,
    question: &CommandQuestion,
) -> Result<CheckCopy, Fault> {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let directory = checked.directory.join(format!("check-{number}"));
    let copy = CheckCopy { root: directory.join("workspace"), directory };
    let (from, directory, root) =
        (checked.root.to_owned(), copy.directory.clone(), copy.root.clone());
    let overlay = question.overlay.as_ref().map(|path| LoadedOverlay::new(path, question));
    let (overlay, suite) = (overlay.map(Arc::new), SuiteReach::from(checked.reach));
    let copied = on_disk(move || {
        if directory.exists() {
            remove_tree(&directory)?;
        }
        create_new_directory(&directory, Access::Private)?;
        create_new_directory(&root, Access::Private)?;
        let made = CopyRules { origin: CopyOrigin::Made, leaves_out: &|_| false };
        copy_tree(from.as_path().into(), root.as_path().into(), made)?;
        if let Some(overlay) = &overlay {
            let leaves_out = |path: &[u8]| !overlay.paths.contains(path);
            let authored = CopyRules { origin: CopyOrigin::Authored, leaves_out: &leaves_out };
            let from = TreePlace { path: &overlay.path, reach: suite.reach() };
            copy_tree(from, root.as_path().into(), authored)?;
        }
        Ok::<(), CopyError>(())
    });
    copied.await.map_err(|error| of_script(io_fault("cannot copy the workspace", &error)))?;
    Ok(copy)
}

/// An overlay with what was in it when it was loaded. What was added later may be of an agent.
struct LoadedOverlay {
    path: Utf8PathBuf,
    /// Files, directories and links, below the overlay.
    paths: HashSet<Vec<u8>>,
}

impl LoadedOverlay {
    fn new(path: &Utf8Path, question: &CommandQuestion) -> Self {
        let known = question.overlay_files.iter().chain(&question.overlay_others);
        let known = known.filter_map(|one| one.strip_prefix(path).ok());
        let paths = known.flat_map(Utf8Path::ancestors).map(|one| one.as_str().into()).collect();
        Self { path: path.to_owned(), paths }
    }
}

fn of_script(fault: Fault) -> Fault {
    Fault { stage: Stage::Script, ..fault }
}

/// Removes files that match and are not the author's: what the agent wrote must not pass for reports of
/// the command, nor keep a tool from writing new ones.
async fn remove_unauthored(
    root: &Utf8Path,
    glob: &GlobMatcher,
    is_authored: impl Fn(&[u8]) -> bool,
) -> Result<EarlierFiles, Fault> {
    let mut files = earlier_files(root, glob).await?;
    let foreign: Vec<Vec<u8>> = files.keys().filter(|path| !is_authored(path)).cloned().collect();
    for path in foreign {
        let place = root.as_std_path().join(OsStr::from_bytes(&path));
        let shown = shown_name(&path).into_owned();
        let removed = match Utf8Path::from_path(&place) {
            Some(place) => remove_file(place),
            // It cannot be named, and is not collected unless it changes.
            None => continue,
        };
        removed.map_err(|error| {
            of_script(io_fault(&format!("cannot remove `{shown}` from the copy"), &error))
        })?;
        files.remove(&path);
    }
    Ok(files)
}
