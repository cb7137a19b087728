//! What a program prints, read as it comes.

use std::fmt;
use std::ops::ControlFlow;

use evalrig_core::model::{Call, FaultKind, SkillUse, Transcript};

use super::request::{AttemptFault, StopRule};

/// Why a program is stopped because of what it printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SinkStop {
    /// More than this many bytes.
    TooMuch(usize),
    /// Every check is decided.
    Enough,
}

/// Takes what a program prints.
pub(crate) trait OutputSink: Send {
    fn take(&mut self, bytes: &[u8]) -> ControlFlow<SinkStop>;

    /// Whether the program is answered, so that its input stays open.
    fn converses(&self) -> bool {
        false
    }

    /// What is to be written to the program now.
    fn replies(&mut self) -> Vec<u8> {
        Vec::new()
    }
}

/// Reads the events of an agent.
pub(crate) trait AgentStream: OutputSink + fmt::Debug {
    /// Calls so far, and uses of skills by those that ended.
    fn progress(&self) -> (&[Call], &[SkillUse]);

    /// The stream is complete.
    fn finish(self: Box<Self>) -> Result<Transcript, StreamFault>;

    /// The agent was stopped. `None` if what it printed cannot be read.
    fn so_far(self: Box<Self>) -> Option<Transcript>;
}

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

/// The fault of a stream that breaks off: how the program ended, and what is wrong with the stream if
/// the program itself does not say why.
pub(crate) fn broken_off(
    exit: Option<AttemptFault>,
    stderr: &str,
    stream: AttemptFault,
) -> AttemptFault {
    match exit {
        None => stream,
        Some(exit) if !stderr.trim().is_empty() => exit,
        Some(exit) => {
            let message = format!("{}; {}", exit.fault.message, stream.fault.message);
            AttemptFault::new(exit.fault.kind, message)
        }
    }
}

/// What is known of an agent, also if it was stopped.
pub(crate) fn transcript_of(
    asked: &mut Result<Transcript, AttemptFault>,
) -> Option<&mut Transcript> {
    match asked {
        Ok(transcript) => Some(transcript),
        Err(fault) => fault.so_far.as_deref_mut(),
    }
}

/// All of the output, up to a limit.
#[derive(Debug)]
pub(crate) struct CollectedOutput {
    pub(crate) bytes: Vec<u8>,
    limit: usize,
}

impl CollectedOutput {
    pub(crate) fn new(limit: usize) -> Self {
        Self { bytes: Vec::new(), limit }
    }
}

impl OutputSink for CollectedOutput {
    fn take(&mut self, bytes: &[u8]) -> ControlFlow<SinkStop> {
        self.bytes.extend_from_slice(bytes);
        if self.bytes.len() > self.limit {
            return ControlFlow::Break(SinkStop::TooMuch(self.limit));
        }
        ControlFlow::Continue(())
    }
}

/// A stream that may end early: as soon as the rule holds, nothing else is to be known.
#[derive(Debug)]
pub(crate) struct WatchedStream<'a> {
    pub(crate) stream: Box<dyn AgentStream>,
    rule: Option<StopRule<'a>>,
    /// Calls and uses when the rule was last asked.
    seen: (usize, usize),
}

impl<'a> WatchedStream<'a> {
    pub(crate) fn new(stream: Box<dyn AgentStream>, rule: Option<StopRule<'a>>) -> Self {
        Self { stream, rule, seen: (0, 0) }
    }
}

/// What a transcript says about an agent that was stopped because nothing else was to be known.
const STOPPED: &str = "stop_on_trigger";

impl WatchedStream<'_> {
    /// The agent was stopped because the rule held.
    pub(crate) fn into_stopped(self) -> Result<Transcript, AttemptFault> {
        let so_far = self.stream.so_far();
        let unreadable = || AttemptFault::new(FaultKind::Reply, "the events cannot be read");
        let mut transcript = so_far.ok_or_else(unreadable)?;
        transcript.session.stop_reason = Some(STOPPED.to_owned());
        Ok(transcript)
    }
}

impl AttemptFault {
    /// Keeps what the agent did before it was stopped at a timeout.
    pub(crate) fn with_stream(mut self, stream: Box<dyn AgentStream>) -> Self {
        if self.fault.kind == FaultKind::Timeout {
            self.so_far = stream.so_far().map(Box::new);
        }
        self
    }
}

impl OutputSink for WatchedStream<'_> {
    fn converses(&self) -> bool {
        self.stream.converses()
    }

    fn replies(&mut self) -> Vec<u8> {
        self.stream.replies()
    }

    fn take(&mut self, bytes: &[u8]) -> ControlFlow<SinkStop> {
        self.stream.take(bytes)?;
        let Some(rule) = self.rule else {
            return ControlFlow::Continue(());
        };
        let (calls, uses) = self.stream.progress();
        let seen = (calls.len(), uses.len());
        if seen != self.seen && rule.is_met(calls, uses) {
            return ControlFlow::Break(SinkStop::Enough);
        }
        self.seen = seen;
        ControlFlow::Continue(())
    }
}
