//! Programs: started in a process group of their own, written to and read at the same time. What a
//! program started ends with it. Dropping the future of a running program kills its whole group.

use std::collections::VecDeque;
use std::io;
use std::ops::ControlFlow;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use camino::Utf8Path;
use evalrig_core::model::FaultKind;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

use crate::descriptor::{self, DescriptorWait};

use super::group::ProcessGroup;
use super::request::{AttemptFault, Retry};
use super::stream::{CollectedOutput, OutputSink, SinkStop};
use super::supervisor::RunningProgram;

/// How much a program may print (spec 9.3).
pub(crate) const OUTPUT_LIMIT: usize = 16 * 1024 * 1024;
/// Messages report every step of an agent, of which the answer is a small part.
pub(crate) const STREAM_LIMIT: usize = 64 * 1024 * 1024;

/// Between SIGTERM and SIGKILL for the program of a target (spec 9.3).
pub(crate) const TARGET_GRACE: Duration = Duration::from_secs(5);

/// Characters kept of standard error.
const STDERR_CHARS: usize = 2000;

/// How long the pipes of an exited program may stay open. Its own output is in them already; only a
/// child process can keep them open.
const LINGER: Duration = Duration::from_millis(500);

/// A program to run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProcessSpec<'a> {
    pub(crate) program: &'a str,
    pub(crate) args: &'a [String],
    pub(crate) cwd: &'a Utf8Path,
    /// Added to the inherited environment.
    pub(crate) env: &'a [(String, String)],
    /// Removed from it.
    pub(crate) without: &'a [String],
    /// `None` closes standard input. What the program does not read is dropped.
    pub(crate) stdin: Option<&'a [u8]>,
    pub(crate) timeout: Duration,
    /// Between SIGTERM and SIGKILL.
    pub(crate) grace: Duration,
    pub(crate) output_limit: usize,
}

/// A program that exited, with any status.
#[derive(Debug)]
pub(crate) struct ProcessOutput {
    pub(crate) stdout: Vec<u8>,
    /// The last 2000 characters.
    pub(crate) stderr: String,
    pub(crate) status: ExitStatus,
}

/// How a program ended that printed into a sink.
#[derive(Debug)]
pub(crate) struct ProgramEnd {
    /// The last 2000 characters.
    pub(crate) stderr: String,
    /// `None` if it was stopped because the sink had enough.
    pub(crate) status: Option<ExitStatus>,
}

/// How a program ended, unless with status 0: `exit status 3`, `killed by signal 9`.
pub(crate) fn describe(status: ExitStatus) -> Option<String> {
    if status.success() {
        return None;
    }
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return Some(format!("killed by signal {signal}"));
    }
    Some(match status.code() {
        Some(code) => format!("exit status {code}"),
        None => "ended without a status".to_owned(),
    })
}

/// A message with the standard error of the program.
pub(crate) fn with_stderr(message: impl Into<String>, stderr: &str) -> String {
    let message = message.into();
    match stderr.trim() {
        "" => message,
        said => format!("{message}: {said}"),
    }
}

/// Runs a program and keeps what it prints.
pub(crate) async fn run(spec: &ProcessSpec<'_>) -> Result<ProcessOutput, AttemptFault> {
    let mut output = CollectedOutput::new(spec.output_limit);
    let ended = run_into(spec, &mut output).await?;
    let Some(status) = ended.status else {
        return Err(AttemptFault::new(FaultKind::Io, "the program was stopped"));
    };
    Ok(ProcessOutput { stdout: output.bytes, stderr: ended.stderr, status })
}

/// Runs a program whose output a sink takes as it comes.
pub(crate) async fn run_into(
    spec: &ProcessSpec<'_>,
    sink: &mut dyn OutputSink,
) -> Result<ProgramEnd, AttemptFault> {
    let (mut child, program) = start(spec).await?;
    let group = program.group;
    let mut pipes = Pipes::of(&mut child, spec, sink);
    let reason = match timeout(spec.timeout, finish(&mut child, &group, &mut pipes)).await {
        Ok(Ok(status)) => {
            program.end().await;
            return Ok(ProgramEnd { stderr: pipes.tail.text(), status: Some(status) });
        }
        Ok(Err(reason)) => reason,
        Err(_) => StopReason::Timeout,
    };
    stop(&mut child, &group, &mut pipes, spec.grace).await;
    program.end().await;
    let stderr = pipes.tail.text();
    match reason {
        StopReason::Sink(SinkStop::Enough) => Ok(ProgramEnd { stderr, status: None }),
        reason => Err(reason.explain(spec, &stderr)),
    }
}

/// Why a program is stopped.
#[derive(Debug)]
enum StopReason {
    Timeout,
    Sink(SinkStop),
    Io(io::Error),
}

impl StopReason {
    /// Of process faults, only timeouts and failed starts are retried (spec 9.1).
    fn explain(self, spec: &ProcessSpec<'_>, stderr: &str) -> AttemptFault {
        match self {
            Self::Timeout => {
                let mut fault = AttemptFault::timed_out(spec.timeout);
                fault.fault.message = with_stderr(fault.fault.message, stderr);
                fault
            }
            Self::Sink(SinkStop::TooMuch(limit)) => {
                let message = format!("more than {} of output", size(limit));
                AttemptFault::new(FaultKind::Limit, message)
            }
            Self::Sink(SinkStop::Enough) => {
                AttemptFault::new(FaultKind::Io, "the program was stopped")
            }
            Self::Io(error) => {
                let message = format!("cannot wait for `{}`: {error}", spec.program);
                AttemptFault::new(FaultKind::Io, message)
            }
        }
    }
}

fn size(bytes: usize) -> String {
    const MIB: usize = 1024 * 1024;
    match bytes % MIB {
        0 => format!("{} MiB", bytes / MIB),
        _ => format!("{bytes} bytes"),
    }
}

/// Without a free descriptor the program is not at fault, so the start waits for one.
async fn start(spec: &ProcessSpec<'_>) -> Result<(Child, RunningProgram), AttemptFault> {
    let mut command = command_of(spec);
    let mut wait = DescriptorWait::new();
    loop {
        let error = match RunningProgram::start(&mut command) {
            Ok(started) => return Ok(started),
            Err(error) => error,
        };
        let reason = if !descriptor::is_missing_descriptor(&error) {
            start_error(spec, &error)
        } else if wait.wait().await {
            continue;
        } else {
            descriptor::note_exhaustion();
            descriptor::EXHAUSTED.to_owned()
        };
        let message = format!("cannot start `{}`: {reason}", spec.program);
        return Err(AttemptFault::new(FaultKind::Start, message).retry(Retry::Soon));
    }
}

fn command_of(spec: &ProcessSpec<'_>) -> Command {
    let mut command = Command::new(spec.program);
    command
        .args(spec.args)
        .current_dir(spec.cwd)
        .stdin(match spec.stdin {
            Some(_) => Stdio::piped(),
            None => Stdio::null(),
        })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    for name in spec.without {
        command.env_remove(name);
    }
    for (name, value) in spec.env {
        command.env(name, value);
    }
    command
}

/// The error of the system does not say which path is missing.
fn start_error(spec: &ProcessSpec<'_>, error: &io::Error) -> String {
    if !spec.cwd.is_dir() {
        return format!("the working directory `{}` does not exist", spec.cwd);
    }
    match error.kind() {
        io::ErrorKind::NotFound => {
            let is_there = spec.program.contains('/') && spec.cwd.join(spec.program).exists();
            if is_there {
                "the interpreter in its first line does not exist".to_owned()
            } else {
                "no such program".to_owned()
            }
        }
        io::ErrorKind::PermissionDenied => "permission denied; is it executable?".to_owned(),
        io::ErrorKind::ArgumentListTooLong => {
            "its arguments are too long; give the prompt on stdin or by `{PROMPT_FILE}`".to_owned()
        }
        io::ErrorKind::InvalidInput => "an argument or a variable holds a NUL byte".to_owned(),
        _ => error.to_string(),
    }
}

/// Waits until the program has exited and its pipes are closed. Can be dropped at any point.
async fn finish(
    child: &mut Child,
    group: &ProcessGroup,
    pipes: &mut Pipes<'_>,
) -> Result<ExitStatus, StopReason> {
    let ended = tokio::select! {
        biased;
        pumped = pipes.pump() => {
            pumped?;
            None
        }
        status = child.wait() => Some(status),
    };
    let Some(status) = ended else {
        return child.wait().await.map_err(StopReason::Io);
    };
    pipes.stdin = None;
    match timeout(LINGER, pipes.pump()).await {
        Ok(pumped) => pumped?,
        // Kill the rest of the group and read what it had written.
        Err(_) => {
            group.kill();
            if let Ok(pumped) = timeout(LINGER, pipes.pump()).await {
                pumped?;
            }
        }
    }
    status.map_err(StopReason::Io)
}

/// Terminates the whole group, and kills what is left of it after `grace`.
async fn stop(child: &mut Child, group: &ProcessGroup, pipes: &mut Pipes<'_>, grace: Duration) {
    pipes.stdin = None;
    if group.terminate() {
        let ending = async {
            tokio::join!(child.wait(), pipes.drain()).0.ok();
            group.wait_until_gone().await;
        };
        timeout(grace, ending).await.ok();
    }
    group.kill();
    // A program that left its group is killed by its pid.
    child.start_kill().ok();
    timeout(LINGER, child.wait()).await.ok();
}

/// The three pipes and what was read so far.
struct Pipes<'s> {
    stdin: Option<ChildStdin>,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    /// What is still to be written; taken from the front, however large it is.
    input: VecDeque<u8>,
    sink: &'s mut dyn OutputSink,
    chunk: Vec<u8>,
    tail: Tail,
}

impl<'s> Pipes<'s> {
    fn of(child: &mut Child, spec: &ProcessSpec<'_>, sink: &'s mut dyn OutputSink) -> Self {
        let input = VecDeque::from(spec.stdin.unwrap_or_default().to_owned());
        Self {
            // Close the pipe at once if there is no input.
            stdin: child.stdin.take().filter(|_| !input.is_empty()),
            stdout: child.stdout.take(),
            stderr: child.stderr.take(),
            input,
            sink,
            chunk: Vec::new(),
            tail: Tail::default(),
        }
    }

    /// Copies until all pipes are closed. Can be dropped and called again without losing data.
    async fn pump(&mut self) -> Result<(), StopReason> {
        let Self { stdin, stdout, stderr, input, sink, chunk, tail } = self;
        loop {
            let has_input = stdin.is_some() && !input.is_empty();
            if !has_input && stdout.is_none() && stderr.is_none() {
                return Ok(());
            }
            tokio::select! {
                written = write(stdin, input.as_slices().0), if has_input => {
                    input.drain(..written);
                    let is_over = input.is_empty() && !sink.converses();
                    if written == 0 || is_over {
                        *stdin = None;
                    }
                }
                is_open = read(stdout, chunk), if stdout.is_some() => {
                    let taken = sink.take(chunk);
                    chunk.clear();
                    input.extend(sink.replies());
                    if !is_open || taken.is_break() {
                        *stdout = None;
                    }
                    if let ControlFlow::Break(stop) = taken {
                        return Err(StopReason::Sink(stop));
                    }
                }
                is_open = read(stderr, &mut tail.bytes), if stderr.is_some() => {
                    tail.shorten();
                    if !is_open {
                        *stderr = None;
                    }
                }
            }
        }
    }

    /// Copies and ignores the output limit.
    async fn drain(&mut self) {
        while self.pump().await.is_err() {}
    }
}

/// How many bytes were written; 0 if the pipe is closed.
async fn write(pipe: &mut Option<ChildStdin>, input: &[u8]) -> usize {
    match pipe {
        Some(pipe) => pipe.write(input).await.unwrap_or(0),
        None => 0,
    }
}

/// Reads a chunk; false at the end of the pipe.
async fn read<R: AsyncRead + Unpin>(pipe: &mut Option<R>, into: &mut Vec<u8>) -> bool {
    const CHUNK: usize = 32 * 1024;
    let Some(pipe) = pipe else {
        return false;
    };
    into.reserve(CHUNK);
    matches!(pipe.read_buf(into).await, Ok(length) if length > 0)
}

/// The last characters of standard error.
#[derive(Debug, Default)]
struct Tail {
    bytes: Vec<u8>,
}

impl Tail {
    /// A character has up to four bytes, and the first one may be cut.
    const KEPT: usize = 4 * STDERR_CHARS + 3;

    fn shorten(&mut self) {
        if self.bytes.len() > 4 * Self::KEPT {
            self.bytes.drain(..self.bytes.len() - Self::KEPT);
        }
    }

    fn text(&self) -> String {
        let from = self.bytes.len().saturating_sub(Self::KEPT);
        let text = String::from_utf8_lossy(&self.bytes[from..]);
        let length = text.chars().count();
        if from == 0 && length <= STDERR_CHARS {
            return text.into_owned();
        }
        // The ellipsis tells the redaction that a secret may have lost its beginning here.
        let kept = text.chars().skip(length.saturating_sub(STDERR_CHARS));
        std::iter::once('…').chain(kept).collect()
    }
}

#[cfg(all(test, unix))]
mod tests;
