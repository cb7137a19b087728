//! Commands that check a workspace, in a copy of it: no check sees the traces of another one, and what is
//! laid over the copy never reaches the agent (spec 17.5).

use std::collections::HashSet;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::model::{
    CommandAnswer, CommandQuestion, Fault, FaultKind, Stage, WorkspaceFiles,
};
use evalrig_core::source::Reach;
use globset::GlobBuilder;

use crate::agent::process::{ProcessSpec, STREAM_LIMIT, run};
use crate::disk::{
    Access, CopyError, CopyOrigin, CopyRules, NodeKind, TreeEntry, TreePlace, TreeVisitor,
    UnreadableDirectory, copy_tree, create_new_directory, remove_file, remove_tree, walk_tree,
};
use crate::sandbox::{ProgramStart, SandboxUse, SandboxedProgram};

use super::case_workspace::CaseWorkspace;
use super::hook::directory_inside;
use super::place::{io_fault, on_disk};

/// Between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_secs(2);

/// Of standard output.
const STDOUT_TAIL: usize = 64 * 1024;

/// Of a collected file, and of their number.
const MOST_COLLECTED: u64 = 16 * 1024 * 1024;
const MOST_FILES: usize = 1000;

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

pub(super) async fn run_in_copy(
    case: &CaseWorkspace,
    question: &CommandQuestion,
    sandbox: Option<SandboxUse<'_>>,
) -> Result<CommandAnswer, Fault> {
    let copy = make_copy(case, question).await?;
    let root = copy.root.as_path();
    let below = question.cwd.as_deref().or(case.workspace().cwd.as_deref());
    let cwd = directory_inside(root, below).map_err(|reason| {
        script_fault(FaultKind::Start, format!("cannot run the command: {reason}"))
    })?;
    if let Some(pattern) = &question.collect {
        // Files that the agent wrote must not pass for reports of the command.
        remove_matching(root, pattern).await?;
    }
    let mut words = question.command.words().into_iter();
    let program = words.next().unwrap_or_default();
    let start = ProgramStart { program, args: words.collect(), cwd, env: environment(case, root) };
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
    let collected = match &question.collect {
        Some(pattern) => collect(root, pattern).await?,
        None => Vec::new(),
    };
    let cut = ended.stdout.len().saturating_sub(STDOUT_TAIL);
    ended.stdout.drain(..cut);
    // Removing may take a while.
    let _ = tokio::task::spawn_blocking(move || drop(copy)).await;
    Ok(CommandAnswer {
        exit_code: ended.status.code(),
        stdout: ended.stdout,
        stderr: ended.stderr,
        collected,
    })
}

/// That of the case, about the copy.
fn environment(case: &CaseWorkspace, root: &Utf8Path) -> Vec<(String, String)> {
    let mut env = case.env().to_vec();
    env.push(("EVALRIG_WORKSPACE".to_owned(), root.to_string()));
    env
}

async fn make_copy(case: &CaseWorkspace, question: &CommandQuestion) -> Result<CheckCopy, Fault> {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let directory = case.directory().join(format!("check-{number}"));
    let copy = CheckCopy { root: directory.join("workspace"), directory };
    let (from, directory, root) =
        (case.path().to_owned(), copy.directory.clone(), copy.root.clone());
    let overlay = question.overlay.clone().map(|path| LoadedOverlay::new(path, question));
    let (overlay, suite) = (overlay.map(Arc::new), case.suite_root().to_owned());
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
            let from = TreePlace { path: &overlay.path, reach: Reach::Inside(&suite) };
            copy_tree(from, root.as_path().into(), authored)?;
        }
        Ok::<(), CopyError>(())
    });
    copied.await.map_err(|error| of_script(io_fault("cannot copy the workspace", &error)))?;
    Ok(copy)
}

/// An overlay with the files that were loaded. A file that was added later may be of an agent.
struct LoadedOverlay {
    path: Utf8PathBuf,
    /// The files and the directories above them, below the overlay.
    paths: HashSet<Vec<u8>>,
}

impl LoadedOverlay {
    fn new(path: Utf8PathBuf, question: &CommandQuestion) -> Self {
        let files = question.overlay_files.iter().filter_map(|file| file.strip_prefix(&path).ok());
        let paths = files.flat_map(Utf8Path::ancestors).map(|one| one.as_str().into()).collect();
        Self { path, paths }
    }
}

fn of_script(fault: Fault) -> Fault {
    Fault { stage: Stage::Script, ..fault }
}

/// Removes the files that match a pattern.
async fn remove_matching(root: &Utf8Path, pattern: &str) -> Result<(), Fault> {
    for (path, _) in collect(root, pattern).await? {
        let place = root.join(&path);
        remove_file(place.as_path()).map_err(|error| {
            of_script(io_fault(&format!("cannot remove `{path}` from the copy"), &error))
        })?;
    }
    Ok(())
}

/// The files that match a pattern, in byte order.
async fn collect(root: &Utf8Path, pattern: &str) -> Result<Vec<(String, Vec<u8>)>, Fault> {
    let glob = GlobBuilder::new(pattern).literal_separator(true).build();
    let glob = glob
        .map_err(|error| script_fault(FaultKind::Start, format!("`{pattern}`: {error}")))?
        .compile_matcher();
    let root = root.to_owned();
    let read = on_disk(move || {
        let mut files = MatchingFiles { glob: &glob, found: Vec::new() };
        walk_tree(&root, UnreadableDirectory::UnlockToRead, &mut files)?;
        files.found.sort_unstable();
        Ok::<_, io::Error>(files.found)
    });
    let found = read.await;
    found.map_err(|error| of_script(io_fault("cannot read the collected files", &error)))
}

struct MatchingFiles<'a> {
    glob: &'a globset::GlobMatcher,
    found: Vec<(String, Vec<u8>)>,
}

impl TreeVisitor for MatchingFiles<'_> {
    fn visit(&mut self, entry: &TreeEntry<'_>) -> io::Result<()> {
        let path = String::from_utf8_lossy(entry.path);
        if entry.kind != NodeKind::File || !self.glob.is_match(path.as_ref()) {
            return Ok(());
        }
        if self.found.len() >= MOST_FILES {
            return Err(io::Error::other(format!("there are more than {MOST_FILES}")));
        }
        let mut bytes = Vec::new();
        entry.open()?.take(MOST_COLLECTED + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MOST_COLLECTED {
            return Err(io::Error::other(format!("`{path}` is larger than 16 MiB")));
        }
        self.found.push((path.into_owned(), bytes));
        Ok(())
    }
}
