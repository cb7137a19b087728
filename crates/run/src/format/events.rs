//! Agents that report in events, one JSON object per line. Each has one reader, for what it prints
//! during a run and for the session files it keeps.

use evalrig_core::model::{Map, Message, Role, SessionFacts, Tokens, Transcript, Value};

use crate::agent::StreamFault;

use super::conversation::Conversation;
use super::stream_reader::StreamReader;
use super::{claude, codex, copilot, event_lines, gemini, json, opencode, pi};

/// Every event format. A new one is a file and a line here.
pub static EVENT_FORMATS: &[&EventFormat] = &[
    &claude::FORMAT,
    &codex::FORMAT,
    &gemini::FORMAT,
    &copilot::FORMAT,
    &opencode::FORMAT,
    &pi::FORMAT,
];

/// How one agent reports.
#[derive(Debug)]
pub struct EventFormat {
    /// As `log record --from` names it.
    pub name: &'static str,
    /// What the reader understands, for help.
    pub doc: &'static str,
    /// As users know the agent.
    pub(super) agent: &'static str,
    /// Whether a stream of this agent begins with such an event.
    pub(super) opens: fn(&Map) -> bool,
    /// The event with which a stream ends, in words.
    pub(super) closing: &'static str,
    /// Types of events that are not looked into; they repeat what others say.
    pub(super) skipped: &'static [&'static str],
    /// Whether an event is a sign of this format. Session files begin with other events.
    pub(super) recognizes: fn(&Map) -> bool,
    /// The skill that a prompt names for the agent to load. The events do not tell.
    pub(crate) explicit_skill: fn(&str) -> Option<&str>,
    pub(super) reader: fn() -> Box<dyn EventReader>,
}

/// Of agents whose events show every skill that they load.
pub(super) fn names_no_skill(_: &str) -> Option<&str> {
    None
}

/// What an event means for the course of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EventRole {
    /// A step of the agent. After the end, the stream goes on.
    Step,
    /// Neither a step nor the end.
    Note,
    /// The end, unless another step follows.
    Closing,
    /// Of a type that the reader does not know.
    Unknown,
}

/// Reads the events of one stream in order.
pub(super) trait EventReader: Send {
    fn read_event(&mut self, event: &Map) -> EventRole;

    fn conversation(&self) -> &Conversation;

    fn finish(self: Box<Self>) -> EventSession;
}

/// What the events of a stream report. What they do not report is `None`.
#[derive(Debug, Default)]
pub(crate) struct EventSession {
    /// Sent and received; a stream may lack what was sent.
    pub(super) conversation: Conversation,
    /// The error with which the agent ended, or a figure that makes no sense.
    pub(super) failure: Option<String>,
    /// The last error that the agent reported; it may have recovered from it.
    pub(super) complaint: Option<String>,
    pub(crate) tokens: Option<Tokens>,
    pub(crate) cost_usd: Option<f64>,
    pub(crate) duration_ms: Option<u64>,
    pub(crate) model: Option<String>,
    pub(crate) facts: SessionFacts,
    pub(crate) cwd: Option<String>,
    /// The catalogue of skills.
    pub(super) offered: Option<Vec<String>>,
}

impl EventFormat {
    /// The format of an event, if it is a sign of one.
    pub(crate) fn of_event(event: &Map) -> Option<&'static Self> {
        let mut formats = EVENT_FORMATS.iter().copied();
        formats.find(|format| (format.recognizes)(event))
    }

    /// What an agent printed during a run.
    pub(crate) fn read_transcript(&'static self, output: &[u8]) -> Result<Transcript, StreamFault> {
        let mut stream = StreamReader::new(self);
        stream.feed(output);
        stream.into_transcript()
    }

    /// A session of any length, however it ended. What is not an event is left out.
    pub(crate) fn read_session(&self, output: &[u8]) -> EventSession {
        let mut reader = (self.reader)();
        for line in event_lines(output) {
            if let Ok(Value::Map(event)) = json::parse(&line) {
                reader.read_event(&event);
            }
        }
        reader.finish()
    }
}

impl EventSession {
    pub(crate) fn messages(&self) -> &[Message] {
        self.conversation.messages()
    }

    /// The transcript, unless the agent ended with an error.
    pub(crate) fn into_checked(self) -> Result<Transcript, String> {
        match self.failure {
            Some(reason) => Err(reason),
            None => Ok(self.into_transcript()),
        }
    }

    /// What came back from the agent, without what it was asked.
    pub(super) fn into_transcript(mut self) -> Transcript {
        self.conversation.remove_messages_of(Role::User);
        let mut transcript = self.conversation.transcript();
        transcript.tokens = self.tokens;
        transcript.cost_usd = self.cost_usd;
        transcript.duration_ms = self.duration_ms;
        transcript.model = self.model;
        transcript.session = self.facts;
        transcript.skills.offered = self.offered;
        transcript
    }
}

/// The texts of a list of blocks, or the text itself, joined by line breaks.
pub(super) fn joined_text(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::List(items)) => {
            let texts = items.iter().filter_map(|item| match item {
                Value::String(text) => Some(text.as_str()),
                Value::Map(block) => block.get("text")?.as_str(),
                _ => None,
            });
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

/// Sets what is not known yet.
pub(super) fn note(known: &mut Option<String>, found: Option<&str>) {
    if known.is_none() {
        *known = found.map(str::to_owned);
    }
}

pub(super) fn text<'m>(map: &'m Map, key: &str) -> Option<&'m str> {
    map.get(key).and_then(Value::as_str)
}

pub(super) fn child<'m>(map: &'m Map, key: &str) -> Option<&'m Map> {
    map.get(key).and_then(Value::as_map)
}

pub(super) fn is_true(map: &Map, key: &str) -> bool {
    map.get(key) == Some(&Value::Bool(true))
}

/// `T` and everything that follows from it, or the fault of a figure.
pub(super) fn figure<T>(
    found: Result<Option<T>, String>,
    failure: &mut Option<String>,
) -> Option<T> {
    found.unwrap_or_else(|reason| {
        failure.get_or_insert(reason);
        None
    })
}
