//! Codex, run as a program.

use evalrig_core::diagnostic::Diagnostic;

use crate::provider::codex_cli::{CodexCli, EXECUTABLE};

use super::Agent;
use super::environment::Environment;
use super::events::{EventAgent, ExitStatus, executable};
use crate::format::codex;
use crate::setting::ConnectContext;

pub(crate) fn connect(
    codex: &CodexCli,
    connect: &ConnectContext<'_>,
) -> Result<Box<dyn Agent>, Diagnostic> {
    let model = connect.optional(codex.model.as_ref())?;
    Ok(Box::new(EventAgent {
        executable: executable(codex.executable.as_ref(), EXECUTABLE, connect)?,
        args: arguments(codex, model.as_deref(), connect)?,
        cwd: connect.directory(codex.cwd.as_ref())?,
        env: Environment::of(&[], &codex.env, connect)?,
        without: &[],
        files: connect.files_mode()?,
        model,
        read: codex::read,
        exit: ExitStatus::Counts,
    }))
}

/// The last one says that the prompt comes on standard input.
fn arguments(
    codex: &CodexCli,
    model: Option<&str>,
    connect: &ConnectContext<'_>,
) -> Result<Vec<String>, Diagnostic> {
    let fixed = ["exec", "--json", "--skip-git-repo-check"];
    let mut args: Vec<String> = fixed.map(str::to_owned).into();
    if let Some(model) = model {
        args.extend(["-m".to_owned(), model.to_owned()]);
    }
    args.extend(connect.texts(&codex.args)?);
    args.push("-".to_owned());
    Ok(args)
}
