//! Pi: the events of `--mode json`.

use evalrig_core::model::{Call, Map, SessionFacts, Tokens, Value};

use crate::agent::Unreported;

use super::conversation::{CallEnd, Conversation};
use super::events::{
    EventFormat, EventReader, EventRole, EventSession, child, figure, is_true, joined_text,
    names_no_skill, note, text,
};
use super::measure::{self, given};
use super::skill_rule;

/// Pi reports everything.
pub(crate) const UNREPORTED: &[Unreported] = &[];

pub(crate) static FORMAT: EventFormat = EventFormat {
    name: "pi",
    doc: "Pi: `--mode json`",
    agent: "Pi",
    opens,
    closing: "an `agent_end` event",
    // Each update repeats the whole message so far.
    skipped: &["message_update", "message_start", "tool_execution_update", "turn_end"],
    recognizes: opens,
    explicit_skill: names_no_skill,
    reader: || Box::new(PiReader::default()),
};

fn opens(event: &Map) -> bool {
    text(event, "type") == Some("session") && given(event, "version").is_some()
}

#[derive(Debug)]
struct PiReader {
    conversation: Conversation,
    requests: u64,
    tokens: Option<Tokens>,
    cost_usd: Option<f64>,
    model: Option<String>,
    facts: SessionFacts,
    cwd: Option<String>,
    /// The last request failed, or a figure makes no sense.
    failure: Option<String>,
}

impl Default for PiReader {
    fn default() -> Self {
        Self {
            conversation: Conversation::of_agent(skill_rule::pi),
            requests: 0,
            tokens: None,
            cost_usd: None,
            model: None,
            facts: SessionFacts::default(),
            cwd: None,
            failure: None,
        }
    }
}

impl EventReader for PiReader {
    fn read_event(&mut self, event: &Map) -> EventRole {
        match text(event, "type") {
            Some("session") => {
                note(&mut self.facts.id, text(event, "id"));
                note(&mut self.cwd, text(event, "cwd"));
                return EventRole::Note;
            }
            Some("message_end") => {
                if let Some(message) = child(event, "message") {
                    self.read_message(message);
                }
            }
            Some("tool_execution_end") => self.read_result(event),
            Some("agent_end") => return EventRole::Closing,
            Some(
                "agent_start"
                | "turn_start"
                | "turn_end"
                | "message_start"
                | "message_update"
                | "tool_execution_start"
                | "tool_execution_update",
            ) => {}
            Some("auto_retry_start" | "auto_retry_end" | "queue_update") => return EventRole::Note,
            _ => return EventRole::Unknown,
        }
        EventRole::Step
    }

    fn conversation(&self) -> &Conversation {
        &self.conversation
    }

    fn finish(self: Box<Self>) -> EventSession {
        let mut facts = self.facts;
        facts.llm_calls = Some(self.requests);
        // Prices that Pi does not know are zero.
        let is_used = self.tokens.is_some_and(|tokens| tokens.total() > 0);
        EventSession {
            conversation: self.conversation,
            failure: self.failure,
            tokens: self.tokens,
            cost_usd: self.cost_usd.filter(|cost| *cost > 0.0 || !is_used),
            model: self.model,
            facts,
            cwd: self.cwd,
            ..EventSession::default()
        }
    }
}

impl PiReader {
    fn read_message(&mut self, message: &Map) {
        match text(message, "role") {
            Some("user") => self.conversation.ask(&joined_text(message.get("content"))),
            Some("assistant") => self.read_assistant(message),
            // The result of a tool has an event of its own.
            _ => {}
        }
    }

    fn read_assistant(&mut self, message: &Map) {
        note(&mut self.model, text(message, "model"));
        self.requests += 1;
        self.facts.stop_reason = text(message, "stopReason").map(str::to_owned);
        self.failure = failure_of(message);
        if let Some(usage) = child(message, "usage") {
            self.add_usage(usage);
        }
        let blocks = message.get("content").and_then(Value::as_list).unwrap_or_default();
        if blocks.is_empty() {
            return;
        }
        let at = self.conversation.open();
        for block in blocks.iter().filter_map(Value::as_map) {
            match text(block, "type") {
                Some("text") => {
                    self.conversation.add_text(at, text(block, "text").unwrap_or_default());
                }
                Some("toolCall") => {
                    let id = text(block, "id").unwrap_or_default();
                    let tool = text(block, "name").unwrap_or_default();
                    let args = given(block, "arguments");
                    let args = args.map_or_else(|| Map::new().into(), Value::clone);
                    self.conversation.add_call(at, Call::new(id, tool, args));
                }
                _ => {}
            }
        }
    }

    /// Neither reads nor writes of the cache are part of `input`.
    fn add_usage(&mut self, usage: &Map) {
        let mut failure = None;
        let mut count = |key| figure(measure::count(usage, key), &mut failure);
        let both = count("input").zip(count("output"));
        let cached = count("cacheRead").unwrap_or(0);
        let written = count("cacheWrite").unwrap_or(0);
        if let Some((input, output)) = both {
            let input = input.saturating_add(cached).saturating_add(written);
            let used = Tokens { input, output, cached };
            self.tokens = Some(self.tokens.unwrap_or_default().plus(used));
        }
        let cost = child(usage, "cost").map_or(Ok(None), |cost| measure::amount(cost, "total"));
        if let Some(cost) = figure(cost, &mut failure) {
            self.cost_usd = Some(self.cost_usd.unwrap_or(0.0) + cost);
        }
        self.failure = self.failure.take().or(failure);
    }

    fn read_result(&mut self, event: &Map) {
        let content = child(event, "result").and_then(|result| result.get("content"));
        let end = CallEnd {
            output: Some(joined_text(content).into()),
            is_error: Some(is_true(event, "isError")),
            ..CallEnd::default()
        };
        self.conversation.end_call(text(event, "toolCallId").unwrap_or_default(), end);
    }
}

/// Pi exits with 0 although the service failed, and may try again.
fn failure_of(message: &Map) -> Option<String> {
    let reason = text(message, "stopReason").filter(|why| matches!(*why, "error" | "aborted"))?;
    let said = text(message, "errorMessage").unwrap_or(reason);
    Some(format!("the agent ended with an error: {said}"))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{calls, fault, read, recorded, uses};
    use super::*;

    #[test]
    fn reading_the_file_of_a_skill_uses_it() {
        let read = read(&FORMAT, recorded::PI_SKILL);
        assert_eq!(read.answer, "The total is 42.");
        assert_eq!(calls(&read), [r#"read {"path":"/ws/.pi/skills/csv-analyzer/SKILL.md"} ok"#]);
        assert_eq!(uses(&read), ["csv-analyzer read ok #0"]);
        let tokens = read.tokens.unwrap();
        assert_eq!((tokens.input, tokens.output, tokens.cached), (300, 34, 60));
        assert_eq!((read.cost_usd, read.session.llm_calls), (Some(0.000314), Some(2)));
        assert_eq!(read.session.stop_reason.as_deref(), Some("stop"));
        assert_eq!((read.model.as_deref(), read.session.unknown_events), (Some("m1"), 0));
    }

    #[test]
    fn a_failed_read_is_no_use() {
        let failed = recorded::PI_SKILL.replace("\"isError\":false", "\"isError\":true");
        assert_eq!(uses(&read(&FORMAT, &failed)), ["csv-analyzer read failed #0"]);
    }

    #[test]
    fn an_api_error_is_an_error_although_pi_exits_with_zero() {
        let message = fault(&FORMAT, recorded::PI_401);
        assert_eq!(message, "the agent ended with an error: 401 invalid x-api-key");
    }

    #[test]
    fn a_retry_that_succeeds_is_no_error() {
        let both = format!("{}{}", recorded::PI_401, recorded::PI_SKILL);
        assert_eq!(read(&FORMAT, &both).answer, "The total is 42.");
    }
}
