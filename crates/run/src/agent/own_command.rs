//! Commands of this executable that run beside it, for `evalrig mcp`. They are ended like every other
//! program if this process ends.

use std::ffi::OsStr;
use std::io;
use std::process::Stdio;
use std::time::Duration;

use camino::Utf8Path;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};
use tokio::process::{Child, ChildStdout, Command};
use tokio::task::JoinHandle;

use super::supervisor::RunningProgram;
use super::watchdog::executable;

/// A longer line of output is an error.
const LONGEST_LINE: u64 = 64 << 20;

/// What is kept of standard error.
const MOST_ERRORS: u64 = 64 << 10;

/// How long a stopped command may take before it is asked again, and before it is killed.
const GRACE: Duration = Duration::from_secs(5);

/// A running command. Dropping it kills it with everything that it started.
#[derive(Debug)]
pub struct OwnCommand {
    child: Child,
    program: RunningProgram,
    output: BufReader<ChildStdout>,
    errors: JoinHandle<String>,
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnCommandEnd {
    /// `None` after a signal that it did not handle.
    pub code: Option<i32>,
    /// The beginning of its standard error.
    pub errors: String,
}

impl OwnCommand {
    /// Starts it with nothing to read on standard input. To be called in an async runtime.
    pub fn start<S: AsRef<OsStr>>(
        arguments: impl IntoIterator<Item = S>,
        working_directory: &Utf8Path,
    ) -> io::Result<Self> {
        let mut command = Command::new(executable()?);
        command.args(arguments).current_dir(working_directory);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.kill_on_drop(true);
        let (mut child, program) = RunningProgram::start(&mut command)?;
        let (Some(output), Some(errors)) = (child.stdout.take(), child.stderr.take()) else {
            return Err(io::Error::other("the command has no output"));
        };
        let errors = tokio::spawn(read_beginning(errors));
        Ok(Self { child, program, output: BufReader::new(output), errors })
    }

    /// The next line of standard output, without its line break. `None` at the end.
    pub async fn next_line(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut line = Vec::new();
        (&mut self.output).take(LONGEST_LINE).read_until(b'\n', &mut line).await?;
        match line.pop() {
            None => Ok(None),
            Some(b'\n') => Ok(Some(line)),
            Some(_) if line.len() as u64 + 1 == LONGEST_LINE => {
                Err(io::Error::other("a line of its output is too long"))
            }
            Some(last) => {
                line.push(last);
                Ok(Some(line))
            }
        }
    }

    /// Waits for the end of a command whose output has been read.
    pub async fn end(mut self) -> io::Result<OwnCommandEnd> {
        let status = self.child.wait().await?;
        let errors = (&mut self.errors).await.unwrap_or_default();
        self.program.end().await;
        Ok(OwnCommandEnd { code: status.code(), errors })
    }

    /// Asks a run to finish its running cases, then to stop, and kills it if it does neither.
    pub async fn stop(mut self) {
        for _ in 0..2 {
            if !self.program.group.terminate() {
                break;
            }
            let end = tokio::time::timeout(GRACE, self.drain());
            if end.await.is_ok() {
                break;
            }
        }
    }

    /// A command that cannot write its output does not end.
    async fn drain(&mut self) {
        let _ = tokio::io::copy(&mut self.output, &mut tokio::io::sink()).await;
        let _ = self.child.wait().await;
    }
}

/// Reads everything, so that the command never waits, and keeps the beginning.
async fn read_beginning(mut stream: impl AsyncRead + Unpin) -> String {
    let mut kept = Vec::new();
    let _ = (&mut stream).take(MOST_ERRORS).read_to_end(&mut kept).await;
    let _ = tokio::io::copy(&mut stream, &mut tokio::io::sink()).await;
    String::from_utf8_lossy(&kept).into_owned()
}
