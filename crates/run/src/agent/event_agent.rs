//! Programs that report in a stream of events.

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::diagnostic::Diagnostic;
use evalrig_core::model::{FaultKind, Transcript};
use evalrig_core::reader::Template;

use crate::setting::FilesMode;

use super::environment::Environment;
use super::process::{OUTPUT_LIMIT, ProcessSpec, TARGET_GRACE, describe, run, with_stderr};
use super::request::{AttemptFault, Request};
use super::{Agent, Pending, text};
use crate::setting::ConnectContext;

/// Why a stream of events gives no transcript.
#[derive(Debug)]
pub(crate) enum StreamFault {
    /// The agent reports an error.
    Reported(AttemptFault),
    /// The stream breaks off, or is not a stream of events.
    Unfinished(AttemptFault),
}

impl From<StreamFault> for AttemptFault {
    fn from(stream: StreamFault) -> Self {
        match stream {
            StreamFault::Reported(fault) | StreamFault::Unfinished(fault) => fault,
        }
    }
}

/// Whether a bad exit status is a fault although the events report success.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExitStatusRule {
    Counts,
    Ignored,
}

/// Runs a program with the prompt on standard input and reads the events it prints.
#[derive(Debug)]
pub(crate) struct EventAgent {
    pub(crate) executable: String,
    pub(crate) args: Vec<String>,
    pub(crate) cwd: Utf8PathBuf,
    pub(crate) env: Environment,
    /// Variables that are not inherited.
    pub(crate) without: &'static [&'static str],
    pub(crate) files: FilesMode,
    /// As configured; a model that the events name takes precedence.
    pub(crate) model: Option<String>,
    pub(crate) read: fn(&[u8]) -> Result<Transcript, StreamFault>,
    pub(crate) exit: ExitStatusRule,
}

/// A bare name is looked up in `PATH`; a path is resolved like every path of the targets file.
pub(crate) fn executable(
    written: Option<&Template>,
    default: &str,
    connect: &ConnectContext<'_>,
) -> Result<String, Diagnostic> {
    let Some(template) = written else {
        return Ok(default.to_owned());
    };
    let text = connect.text(template)?;
    if text.contains(['/', '\\']) {
        Ok(connect.path(template)?.into_string())
    } else {
        Ok(text)
    }
}

impl Agent for EventAgent {
    fn answer<'a>(&'a self, request: &'a Request<'a>) -> Pending<'a> {
        Box::pin(self.respond(request))
    }

    fn working_dir(&self) -> Option<&Utf8Path> {
        Some(&self.cwd)
    }
}

impl EventAgent {
    async fn respond(&self, request: &Request<'_>) -> Result<Transcript, AttemptFault> {
        let prompt = text::prompt(request, self.files)?;
        let spec = ProcessSpec {
            program: &self.executable,
            args: &self.args,
            cwd: &self.cwd,
            env: self.env.as_slice(),
            without: self.without,
            stdin: Some(prompt.as_bytes()),
            timeout: request.timeout,
            grace: TARGET_GRACE,
            output_limit: OUTPUT_LIMIT,
        };
        let ended = run(&spec).await?;
        let bad_exit = describe(ended.status).map(|how| {
            let message = with_stderr(how, &ended.stderr);
            AttemptFault::new(FaultKind::Exit, message)
        });
        let mut transcript = match (self.read)(&ended.stdout) {
            Ok(transcript) => match bad_exit {
                Some(fault) if self.exit == ExitStatusRule::Counts => return Err(fault),
                _ => transcript,
            },
            // The error of the agent says more than its exit status.
            Err(StreamFault::Reported(fault)) => return Err(fault),
            Err(StreamFault::Unfinished(fault)) => return Err(bad_exit.unwrap_or(fault)),
        };
        if transcript.model.is_none() {
            transcript.model.clone_from(&self.model);
        }
        Ok(transcript)
    }
}
