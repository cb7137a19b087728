//! Agents that report in events, one JSON object per line. Each has one reader, for what it prints
//! during a run and for the session files it keeps.

use evalrig_core::model::{Map, Message, Role, SessionFacts, Tokens, Transcript, Value};

use crate::agent::{StreamFault, cut};

use super::conversation::Conversation;
use super::{claude, codex, event_lines, fault, json};

/// Characters shown of a line that is not an event.
const SHOWN: usize = 200;

/// Every event format. A new one is a file and a line here.
pub static EVENT_FORMATS: &[&EventFormat] = &[&claude::FORMAT, &codex::FORMAT];

/// How one agent reports.
#[derive(Debug)]
pub struct EventFormat {
    /// As `log record --from` names it.
    pub name: &'static str,
    /// What the reader understands, for help.
    pub doc: &'static str,
    /// Values of `type` that only this format uses.
    pub(super) event_types: &'static [&'static str],
    pub(super) reader: fn() -> Box<dyn EventReader>,
}

/// Reads the events of one stream in order.
pub(super) trait EventReader {
    fn read_event(&mut self, event: &Map);

    fn finish(self: Box<Self>) -> EventSession;
}

/// What the events of a stream report. What they do not report is `None`.
#[derive(Debug)]
pub(crate) struct EventSession {
    /// Sent and received; a stream may lack what was sent.
    pub(super) conversation: Conversation,
    pub(super) ending: Ending,
    pub(crate) tokens: Option<Tokens>,
    pub(crate) cost_usd: Option<f64>,
    pub(crate) duration_ms: Option<u64>,
    pub(crate) model: Option<String>,
    pub(crate) facts: SessionFacts,
    pub(crate) cwd: Option<String>,
}

/// How a stream ends. Session files have no ending of their own.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Completed,
    /// With an error that the agent reports, or with figures that make no sense.
    Failed(String),
    Unfinished {
        message: &'static str,
        /// The last error that the agent reported; it may have recovered from it.
        complaint: Option<String>,
    },
}

impl EventFormat {
    /// The format of an event, if only one format has such events.
    pub(crate) fn of_event_type(event_type: &str) -> Option<&'static Self> {
        let mut formats = EVENT_FORMATS.iter().copied();
        formats.find(|format| format.event_types.contains(&event_type))
    }

    /// What an agent printed during a run.
    pub(crate) fn read_transcript(&self, output: &[u8]) -> Result<Transcript, StreamFault> {
        let (session, stray_line) = self.read(output);
        match &session.ending {
            Ending::Completed => Ok(session.into_transcript()),
            Ending::Failed(reason) => Err(StreamFault::Reported(fault(reason))),
            Ending::Unfinished { message, complaint } => {
                let detail = complaint.as_ref().or(stray_line.as_ref());
                Err(StreamFault::Unfinished(match detail {
                    Some(detail) => fault(format!("{message}: {detail}")),
                    None => fault(*message),
                }))
            }
        }
    }

    /// A session of any length, however it ended.
    pub(crate) fn read_session(&self, output: &[u8]) -> EventSession {
        self.read(output).0
    }

    /// Also the first line that is not an event.
    fn read(&self, output: &[u8]) -> (EventSession, Option<String>) {
        let mut reader = (self.reader)();
        let mut stray_line = None;
        for line in event_lines(output) {
            match json::parse(&line) {
                Ok(Value::Map(event)) => reader.read_event(&event),
                _ => {
                    stray_line.get_or_insert_with(|| cut(line.trim(), SHOWN));
                }
            }
        }
        (reader.finish(), stray_line)
    }
}

impl EventSession {
    pub(crate) fn messages(&self) -> &[Message] {
        self.conversation.messages()
    }

    /// What came back from the agent, without what it was asked.
    fn into_transcript(mut self) -> Transcript {
        self.conversation.remove_messages_of(Role::User);
        let mut transcript = self.conversation.transcript();
        transcript.tokens = self.tokens;
        transcript.cost_usd = self.cost_usd;
        transcript.duration_ms = self.duration_ms;
        transcript.model = self.model;
        transcript.session = self.facts;
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

pub(super) fn text<'m>(map: &'m Map, key: &str) -> Option<&'m str> {
    map.get(key).and_then(Value::as_str)
}

pub(super) fn child<'m>(map: &'m Map, key: &str) -> Option<&'m Map> {
    map.get(key).and_then(Value::as_map)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_formats_share_an_event_type() {
        let all = EVENT_FORMATS.iter().flat_map(|format| format.event_types);
        let unique: std::collections::BTreeSet<_> = all.clone().collect();
        assert_eq!(unique.len(), all.count());
    }
}
