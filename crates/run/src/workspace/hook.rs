//! Hooks: programs of the author that prepare a workspace or clear it away (spec 17.1).

use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::model::{Fault, FaultKind, Hook, HookCommand, Stage};
use evalrig_core::source::{EntryKind, Files, Reach};
use serde_json::Value;

use crate::agent::process::{ProcessSpec, STREAM_LIMIT, describe, run, with_stderr};
use crate::disk::Disk;

/// Between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_secs(5);

/// Characters of standard output that a message shows if there is nothing on standard error.
const SHOWN: usize = 2000;

/// Where hooks of a workspace run, and what they are told.
#[derive(Debug, Clone, Copy)]
pub(super) struct HookPlace<'a> {
    pub(super) workspace: &'a Utf8Path,
    /// Of the workspace, below it.
    pub(super) cwd: Option<&'a str>,
    pub(super) env: &'a [(String, String)],
    pub(super) input: &'a Value,
}

/// Runs a hook to its end. `name` is that of its field, for messages.
pub(super) async fn run_hook(name: &str, hook: &Hook, place: HookPlace<'_>) -> Result<(), Fault> {
    let below = hook.cwd.as_deref().or(place.cwd);
    let cwd = directory_inside(place.workspace, below)
        .map_err(|reason| setup_fault(format!("`{name}` cannot start: {reason}")))?;
    let (program, args) = command_line(hook, &cwd, place.workspace);
    let input = place.input.to_string();
    let spec = ProcessSpec {
        program: &program,
        args: &args,
        cwd: &cwd,
        env: place.env,
        without: &[],
        stdin: Some(input.as_bytes()),
        timeout: Duration::from_secs(hook.timeout_seconds),
        grace: GRACE,
        output_limit: STREAM_LIMIT,
    };
    let ended = match run(&spec).await {
        Ok(ended) => ended,
        Err(attempt) => {
            let fault = attempt.fault;
            let kind = match fault.kind {
                FaultKind::Timeout => FaultKind::Timeout,
                _ => FaultKind::Setup,
            };
            let message = match kind {
                FaultKind::Timeout => {
                    format!("`{name}` did not end within {} s", hook.timeout_seconds)
                }
                _ => format!("`{name}`: {}", fault.message),
            };
            return Err(Fault::new(Stage::Workspace, kind, message));
        }
    };
    match describe(ended.status) {
        None => Ok(()),
        Some(how) => {
            let message = format!("`{name}` failed: {how}");
            let said = match ended.stderr.trim() {
                "" => tail(&ended.stdout),
                _ => ended.stderr,
            };
            Err(setup_fault(with_stderr(message, &said)))
        }
    }
}

fn setup_fault(message: String) -> Fault {
    Fault::new(Stage::Workspace, FaultKind::Setup, message)
}

fn tail(bytes: &[u8]) -> String {
    let from = bytes.len().saturating_sub(SHOWN);
    let text = String::from_utf8_lossy(&bytes[from..]).into_owned();
    if from > 0 { format!("…{text}") } else { text }
}

/// A directory below a workspace; links lead there only inside of it.
pub(super) fn directory_inside(
    workspace: &Utf8Path,
    below: Option<&str>,
) -> Result<Utf8PathBuf, String> {
    let Some(below) = below else {
        return Ok(workspace.to_owned());
    };
    let path = workspace.join(below);
    match Disk.look(&path, Reach::Inside(workspace)) {
        Ok(found) if found.kind == EntryKind::Directory => Ok(path),
        _ => Err(format!("there is no directory `{below}` in the workspace")),
    }
}

/// Program and arguments of a command; text is run by the shell.
pub(super) fn words(command: &HookCommand) -> (String, Vec<String>) {
    match command {
        HookCommand::Shell(line) => ("sh".to_owned(), vec!["-c".to_owned(), line.clone()]),
        HookCommand::Argv(words) => match words.split_first() {
            Some((program, args)) => (program.clone(), args.to_vec()),
            None => (String::new(), Vec::new()),
        },
    }
}

/// Hooks run in the workspace, and their scripts are beside the suite: a word that is the relative path
/// of something there, and of nothing in the working directory, is made absolute.
fn command_line(hook: &Hook, cwd: &Utf8Path, workspace: &Utf8Path) -> (String, Vec<String>) {
    let (program, args) = words(&hook.command);
    let is_line = matches!(hook.command, HookCommand::Shell(_));
    let found = |word: String| {
        let word = word.replace("{{workspace_path}}", workspace.as_str());
        let word = word.replace("{{ workspace_path }}", workspace.as_str());
        if is_line || !word.contains('/') || word.starts_with(['/', '-']) {
            return word;
        }
        let beside = hook.base.join(&word);
        if beside.exists() && !cwd.join(&word).exists() { beside.into_string() } else { word }
    };
    (found(program), args.into_iter().map(found).collect())
}
