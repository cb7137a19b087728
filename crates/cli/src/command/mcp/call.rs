//! One call of a tool: runs commands of this executable, and tells the client how far a run is.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use evalrig_run::agent::{OwnCommand, OwnCommandEnd};
use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::Peer;
use serde_json::Value;

use super::answer::{BoundedText, counted};
use super::confine::Workplace;
use super::server::StoppingCommands;

/// Bytes of output that a command may print for an answer.
const MOST_OUTPUT: usize = 64 << 20;

/// How often a client hears of a run. Clients give up on calls that are silent for about a minute.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(5);

/// What a tool may use.
pub struct ToolCall<'a> {
    pub workplace: &'a Workplace,
    pub is_read_only: bool,
    pub stopping: Arc<StoppingCommands>,
    pub peer: Peer<RoleServer>,
    pub progress: Option<ProgressToken>,
}

/// The output of a command that ended.
#[derive(Debug)]
pub struct Printed {
    pub text: String,
    pub end: OwnCommandEnd,
}

/// Stops the command if the call is dropped before the command has ended.
struct GuardedCommand {
    command: Option<OwnCommand>,
    stopping: Arc<StoppingCommands>,
}

impl Drop for GuardedCommand {
    fn drop(&mut self) {
        if let Some(command) = self.command.take() {
            self.stopping.stop(command);
        }
    }
}

impl ToolCall<'_> {
    /// Runs a command and gives every line of its output to `line`.
    async fn run_lines(
        &self,
        arguments: &[String],
        mut line: impl FnMut(Vec<u8>) -> Result<(), String> + Send,
    ) -> Result<OwnCommandEnd, String> {
        let could_not = |error: std::io::Error| format!("cannot run evalrig: {error}");
        let started = OwnCommand::start(arguments, &self.workplace.directory);
        let command = Some(started.map_err(could_not)?);
        let mut guard = GuardedCommand { command, stopping: Arc::clone(&self.stopping) };
        while let Some(command) = &mut guard.command
            && let Some(found) = command.next_line().await.map_err(could_not)?
        {
            line(found)?;
        }
        match guard.command.take() {
            Some(command) => command.end().await.map_err(could_not),
            None => Err("the command was stopped".to_owned()),
        }
    }

    /// Runs a command whose output is small.
    pub async fn print(&self, arguments: &[String]) -> Result<Printed, String> {
        let mut text = String::new();
        let end = self.run_lines(arguments, |line| {
            if text.len() + line.len() > MOST_OUTPUT {
                return Err("the answer is too long; name fewer files in `paths`".to_owned());
            }
            text += &String::from_utf8_lossy(&line);
            text.push('\n');
            Ok(())
        });
        let end = end.await?;
        Ok(Printed { text, end })
    }

    /// Runs a command that prints one JSON document if it ends with one of these codes.
    pub async fn print_json(&self, arguments: &[String], codes: &[i32]) -> Result<Value, String> {
        let printed = self.print(arguments).await?;
        if !printed.end.code.is_some_and(|code| codes.contains(&code)) || printed.text.is_empty() {
            return Err(refusal(&printed.end));
        }
        serde_json::from_str(&printed.text).map_err(|error| format!("unexpected output: {error}"))
    }

    /// Runs a command that prints rows, and gives each of them to `row`. Meanwhile the client hears how
    /// many there were.
    pub async fn print_rows(
        &self,
        arguments: &[String],
        mut row: impl FnMut(&[u8]) + Send,
    ) -> Result<OwnCommandEnd, String> {
        let finished = AtomicU64::new(0);
        let rows = self.run_lines(arguments, |line| {
            row(&line);
            finished.fetch_add(1, Ordering::Relaxed);
            Ok(())
        });
        tokio::select! {
            end = rows => end,
            never = self.tell_progress(&finished) => never,
        }
    }

    /// Never ends.
    async fn tell_progress(&self, finished: &AtomicU64) -> Result<OwnCommandEnd, String> {
        let Some(token) = &self.progress else {
            return std::future::pending().await;
        };
        let begun = Instant::now();
        loop {
            tokio::time::sleep(PROGRESS_INTERVAL).await;
            // Progress must grow with every message, and a case may take long.
            let seconds = begun.elapsed().as_secs_f64();
            let count = finished.load(Ordering::Relaxed);
            let message = format!("{} finished", counted(count, "case"));
            let told = ProgressNotificationParam::new(token.clone(), seconds).with_message(message);
            // A client that is gone ends the call in another way.
            let _ = self.peer.notify_progress(told).await;
        }
    }
}

/// Why a command did nothing, in its own words.
pub fn refusal(end: &OwnCommandEnd) -> String {
    let mut text = BoundedText::default();
    match (end.errors.trim(), end.code) {
        ("", Some(code)) => text.close(&format!("evalrig ended with exit code {code}")),
        ("", None) => text.close("evalrig was killed by a signal"),
        (errors, _) => text.push_page(errors),
    }
    text.into_text()
}
