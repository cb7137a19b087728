//! Reads what an agent prints, line by line as it comes. Only an incomplete line and what the
//! transcript needs are kept.
//!
//! A stream is of its format only if its first event opens one and it ends with an event that closes
//! one (spec 18.1). A line that is not an event, the stream of another agent and a missing end are
//! faults: what such a stream seems to say is never an answer.

use std::fmt;
use std::ops::ControlFlow;

use evalrig_core::model::{Call, Map, SkillUse, Transcript, Value};
use memchr::memchr;
use serde::de::IgnoredAny;

use crate::agent::{AgentStream, OutputSink, SinkStop, StreamFault, cut};

use super::events::{EventFormat, EventReader, EventRole};
use super::{fault, json};

/// Characters shown of a line that does not fit.
const SHOWN: usize = 200;

/// Bytes of the longest line, and of all that is kept.
const LIMIT: usize = 64 * 1024 * 1024;

pub(crate) struct StreamReader {
    format: &'static EventFormat,
    reader: Box<dyn EventReader>,
    /// The beginning of a line whose end is still to come.
    rest: Vec<u8>,
    /// Number of the last line.
    line: u64,
    is_open: bool,
    is_closed: bool,
    /// The first line that does not fit. Nothing after it is read.
    unfit: Option<String>,
    unknown_events: u64,
}

impl fmt::Debug for StreamReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamReader")
            .field("format", &self.format.name)
            .field("line", &self.line)
            .field("unfit", &self.unfit)
            .finish_non_exhaustive()
    }
}

impl OutputSink for StreamReader {
    fn take(&mut self, bytes: &[u8]) -> ControlFlow<SinkStop> {
        self.feed(bytes);
        if self.rest.len() > LIMIT || self.reader.conversation().size() > LIMIT {
            return ControlFlow::Break(SinkStop::TooMuch(LIMIT));
        }
        ControlFlow::Continue(())
    }
}

impl AgentStream for StreamReader {
    fn progress(&self) -> (&[Call], &[SkillUse]) {
        let conversation = self.reader.conversation();
        (conversation.calls(), conversation.uses())
    }

    fn finish(self: Box<Self>) -> Result<Transcript, StreamFault> {
        self.into_transcript()
    }

    fn so_far(self: Box<Self>) -> Option<Transcript> {
        let is_readable = self.is_open && self.unfit.is_none();
        is_readable.then(|| self.partial())
    }
}

impl StreamReader {
    pub(crate) fn new(format: &'static EventFormat) -> Self {
        Self {
            format,
            reader: (format.reader)(),
            rest: Vec::new(),
            line: 0,
            is_open: false,
            is_closed: false,
            unfit: None,
            unknown_events: 0,
        }
    }

    /// Reads the lines that are complete.
    pub(super) fn feed(&mut self, mut bytes: &[u8]) {
        while let Some(end) = memchr(b'\n', bytes) {
            if self.rest.is_empty() {
                self.read_line(&bytes[..end]);
            } else {
                let mut line = std::mem::take(&mut self.rest);
                line.extend_from_slice(&bytes[..end]);
                self.read_line(&line);
                line.clear();
                self.rest = line;
            }
            bytes = &bytes[end + 1..];
        }
        if self.unfit.is_none() {
            self.rest.extend_from_slice(bytes);
        }
    }

    /// Bytes of the line whose end is still to come.
    pub(super) fn held(&self) -> usize {
        self.rest.capacity()
    }

    /// The bytes of a line that are not UTF-8 are replaced: they may come from the output of a tool.
    fn read_line(&mut self, line: &[u8]) {
        self.line += 1;
        let mark = "\u{feff}".as_bytes();
        let line = if self.line == 1 { line.strip_prefix(mark).unwrap_or(line) } else { line };
        if self.unfit.is_some() || line.trim_ascii().is_empty() {
            return;
        }
        let line = String::from_utf8_lossy(line);
        if self.is_open && self.is_skipped(&line) {
            return;
        }
        match json::parse(&line) {
            Ok(Value::Map(event)) if self.is_open || (self.format.opens)(&event) => {
                self.is_open = true;
                self.read_event(&event);
            }
            Ok(Value::Map(event)) => {
                let what = format!("does not open a stream of {}", self.format.agent);
                let other = other_format(&event, self.format);
                self.reject(&line, &format!("{what}{other}"));
            }
            Ok(_) => self.reject(&line, "is not an event"),
            Err(_) => self.reject(&line, "is not JSON"),
        }
    }

    /// Whether it is a sound event of a type that is not looked into. `type` need not be the first
    /// key; then the event is read as a whole.
    fn is_skipped(&self, line: &str) -> bool {
        let of_type = |kind: &&str| {
            let rest = line.strip_prefix("{\"type\":\"");
            rest.and_then(|rest| rest.strip_prefix(kind)).is_some_and(|rest| rest.starts_with('"'))
        };
        self.format.skipped.iter().any(of_type) && serde_json::from_str::<IgnoredAny>(line).is_ok()
    }

    fn read_event(&mut self, event: &Map) {
        match self.reader.read_event(event) {
            EventRole::Step => self.is_closed = false,
            EventRole::Closing => self.is_closed = true,
            EventRole::Note => {}
            EventRole::Unknown => self.unknown_events += 1,
        }
    }

    fn reject(&mut self, line: &str, what: &str) {
        let shown = cut(line.trim(), SHOWN);
        self.unfit = Some(format!("line {} of the output {what}: {shown}", self.line));
        self.rest = Vec::new();
    }

    fn partial(mut self) -> Transcript {
        // The last line may be cut anywhere.
        self.rest = Vec::new();
        let unknown_events = self.unknown_events;
        let mut transcript = self.reader.finish().into_transcript();
        transcript.session.unknown_events = unknown_events;
        transcript.partial = true;
        transcript
    }

    pub(super) fn into_transcript(mut self) -> Result<Transcript, StreamFault> {
        let rest = std::mem::take(&mut self.rest);
        if !rest.is_empty() {
            self.read_line(&rest);
        }
        if let Some(unfit) = self.unfit {
            return Err(StreamFault::Unfinished(fault(unfit)));
        }
        let session = self.reader.finish();
        if !self.is_closed {
            let closing = self.format.closing;
            let mut message = if self.is_open {
                format!("the output ends at line {} without {closing}", self.line)
            } else {
                "the program printed no events".to_owned()
            };
            if let Some(complaint) = session.complaint {
                message += &format!(": {complaint}");
            }
            return Err(StreamFault::Unfinished(fault(message)));
        }
        if let Some(reason) = session.failure {
            return Err(StreamFault::Reported(fault(reason)));
        }
        let mut transcript = session.into_transcript();
        transcript.session.unknown_events = self.unknown_events;
        Ok(transcript)
    }
}

/// Names the agent whose stream it seems to be.
fn other_format(event: &Map, expected: &EventFormat) -> String {
    match EventFormat::of_event(event) {
        Some(other) if other.name != expected.name => {
            format!(" (it looks like one of {})", other.agent)
        }
        _ => String::new(),
    }
}
