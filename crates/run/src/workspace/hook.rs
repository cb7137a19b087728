//! Hooks: programs of the author that prepare a workspace or clear it away (spec 17.1).

use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::model::{Fault, FaultKind, Hook, HookCommand, Stage};
use evalrig_core::source::{EntryKind, Files, Reach};
use serde_json::Value;

use crate::agent::process::{ProcessSpec, STREAM_LIMIT, describe, run, with_stderr};
use crate::disk::Disk;
use crate::sandbox::{ProgramStart, SandboxUse, SandboxedProgram};

/// Between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_secs(5);

/// Characters of standard output that a message shows if there is nothing on standard error.
const SHOWN: usize = 2000;

/// Where hooks of a workspace run, and what they are told.
#[derive(Debug, Clone, Copy)]
pub(super) struct HookPlace<'a> {
    /// The repository root of the suite.
    pub(super) root: &'a Utf8Path,
    pub(super) workspace: &'a Utf8Path,
    /// Of the workspace, below it.
    pub(super) cwd: Option<&'a str>,
    pub(super) env: &'a [(String, String)],
    pub(super) input: &'a Value,
    /// `None` before the agent has run: there is nothing of it that the hook might run.
    pub(super) sandbox: Option<SandboxUse<'a>>,
}

/// Runs a hook to its end. `name` is that of its field, for messages.
pub(super) async fn run_hook(name: &str, hook: &Hook, place: HookPlace<'_>) -> Result<(), Fault> {
    let below = hook.cwd.as_deref().or(place.cwd);
    let cwd = directory_inside(place.workspace, below)
        .map_err(|reason| setup_fault(format!("`{name}` cannot start: {reason}")))?;
    let (program, args) = command_line(hook, place)
        .map_err(|reason| setup_fault(format!("`{name}` cannot start: {reason}")))?;
    let input = place.input.to_string();
    let start = ProgramStart { program, args, cwd, env: place.env.to_vec() };
    let SandboxedProgram { start, guard } = confine(start, place)
        .map_err(|reason| setup_fault(format!("`{name}` cannot start: {reason}")))?;
    let spec = ProcessSpec {
        program: &start.program,
        args: &start.args,
        cwd: &start.cwd,
        env: &start.env,
        without: &[],
        stdin: Some(input.as_bytes()),
        timeout: Duration::from_secs(hook.timeout_seconds),
        grace: GRACE,
        output_limit: STREAM_LIMIT,
    };
    let ended = run(&spec).await;
    drop(guard);
    let ended = match ended {
        Ok(ended) => ended,
        Err(attempt) => {
            let fault = attempt.fault;
            let message = match fault.kind {
                FaultKind::Timeout => {
                    format!("`{name}` did not end within {} s", hook.timeout_seconds)
                }
                _ => format!("`{name}`: {}", fault.message),
            };
            return Err(setup_fault(message));
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

/// In its sandbox a hook sees the workspace and its own files.
fn confine(start: ProgramStart, place: HookPlace<'_>) -> Result<SandboxedProgram, String> {
    let Some(SandboxUse { sandbox, view }) = place.sandbox else {
        return Ok(start.into());
    };
    let mut view = view.clone();
    view.writable.push(place.workspace.to_owned());
    let words = std::iter::once(&start.program).chain(&start.args).map(Utf8PathBuf::from);
    let is_script = |path: &Utf8PathBuf| path.starts_with(place.root) && path.is_file();
    view.readable.extend(words.filter(is_script));
    sandbox.wrap(start, &view)
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
    // Empty is the workspace itself.
    let Some(below) = below.filter(|below| !below.is_empty()) else {
        return Ok(workspace.to_owned());
    };
    let path = workspace.join(below);
    match Disk.look(&path, Reach::Inside(workspace)) {
        Ok(found) if found.kind == EntryKind::Directory => Ok(path),
        _ => Err(format!("there is no directory `{below}` in the workspace")),
    }
}

/// Program and arguments. In a line for the shell, a path with other characters than those of plain file
/// names would be read as something else.
fn command_line(hook: &Hook, place: HookPlace<'_>) -> Result<(String, Vec<String>), String> {
    let path = place.workspace.as_str();
    let is_plain = |one: char| one.is_ascii_alphanumeric() || "/._-+@".contains(one);
    let mut words = hook.words(place.root, &Disk);
    for word in &mut words {
        for placeholder in ["{{workspace_path}}", "{{ workspace_path }}"] {
            if !word.contains(placeholder) {
                continue;
            }
            if matches!(hook.command, HookCommand::Shell(_)) && !path.chars().all(is_plain) {
                return Err(format!(
                    "`{path}` cannot be put into a line of the shell; write `\"$EVALRIG_WORKSPACE\"`"
                ));
            }
            *word = word.replace(placeholder, path);
        }
    }
    let mut words = words.into_iter();
    Ok((words.next().unwrap_or_default(), words.collect()))
}
