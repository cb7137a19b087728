//! Claude Code, run as a program.

use evalrig_core::diagnostic::Diagnostic;

use crate::provider::claude_cli::{ClaudeCli, EXECUTABLE};

use super::Agent;
use super::environment::Environment;
use super::events::{EventAgent, ExitStatus, executable};
use crate::format::claude;
use crate::setting::ConnectContext;

/// By these it knows that another Claude Code started it, and behaves differently.
const WITHOUT: &[&str] = &["CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT"];

/// An evaluation should neither call home nor change the program it measures. Who has set them
/// otherwise keeps that. `IS_SANDBOX` is never set for anyone: root may skip permissions only where
/// its owner says that this is a sandbox.
const DEFAULTS: &[(&str, &str)] = &[
    ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
    ("DISABLE_AUTOUPDATER", "1"),
];

pub(crate) fn connect(
    claude: &ClaudeCli,
    connect: &ConnectContext<'_>,
) -> Result<Box<dyn Agent>, Diagnostic> {
    let model = connect.optional(claude.model.as_ref())?;
    Ok(Box::new(EventAgent {
        executable: executable(claude.executable.as_ref(), EXECUTABLE, connect)?,
        args: arguments(claude, model.as_deref(), connect)?,
        cwd: connect.directory(claude.cwd.as_ref())?,
        env: Environment::of(DEFAULTS, &claude.env, connect)?,
        without: WITHOUT,
        files: connect.files_mode()?,
        model,
        read: claude::read,
        exit: ExitStatus::Ignored,
    }))
}

/// Those of the author come last, so that they win where one is given twice.
fn arguments(
    claude: &ClaudeCli,
    model: Option<&str>,
    connect: &ConnectContext<'_>,
) -> Result<Vec<String>, Diagnostic> {
    let fixed = ["-p", "--output-format", "stream-json", "--verbose"];
    let mut args: Vec<String> = fixed.map(str::to_owned).into();
    if let Some(model) = model {
        args.extend(["--model".to_owned(), model.to_owned()]);
    }
    if let Some(turns) = &claude.max_turns {
        let turns = connect.integer(turns, 1, u64::MAX)?;
        args.extend(["--max-turns".to_owned(), turns.to_string()]);
    }
    if connect.boolean(&claude.bypass_permissions)? {
        args.push("--dangerously-skip-permissions".to_owned());
    }
    args.extend(connect.texts(&claude.args)?);
    Ok(args)
}
