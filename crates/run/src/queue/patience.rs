//! Waits for a server that cannot answer for a moment, such as one whose cluster elects a leader.

use std::time::{Duration, Instant};

use super::error::QueueError;
use super::link::QueueLink;

/// Between two attempts.
const PAUSE: Duration = Duration::from_secs(1);

/// Retries transient server errors while a command starts.
pub(crate) struct ServerPatience<'a> {
    until: Instant,
    has_said: bool,
    say: &'a mut dyn FnMut(String),
    /// Whether the user does not want to wait any more.
    is_ended: fn() -> bool,
}

impl std::fmt::Debug for ServerPatience<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServerPatience").field("until", &self.until).finish_non_exhaustive()
    }
}

impl<'a> ServerPatience<'a> {
    /// `say` gets one line when it has to wait.
    pub(crate) fn new(length: Duration, say: &'a mut dyn FnMut(String)) -> Self {
        let until = Instant::now() + length;
        Self { until, has_said: false, say, is_ended: || false }
    }

    pub(crate) fn ending_when(self, is_ended: fn() -> bool) -> Self {
        Self { is_ended, ..self }
    }

    /// Repeats what fails only for the moment. What is wrong for good fails at once.
    pub(crate) async fn attempt<T>(
        &mut self,
        link: &QueueLink,
        mut act: impl AsyncFnMut() -> Result<T, QueueError>,
    ) -> Result<T, QueueError> {
        loop {
            let error = match act().await {
                Ok(done) => return Ok(done),
                Err(error) => error,
            };
            // The server answers nothing to what the login does not allow.
            if let Some(denial) = link.denial() {
                return Err(QueueError::new(format!("{error}; the server says: {denial}")));
            }
            if !error.is_transient() || Instant::now() >= self.until || (self.is_ended)() {
                return Err(error);
            }
            if !std::mem::replace(&mut self.has_said, true) {
                (self.say)(format!("waiting for the server to answer: {error}"));
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
}
