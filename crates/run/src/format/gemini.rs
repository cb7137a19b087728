//! Gemini CLI: the events of `--output-format stream-json`.

use std::collections::HashMap;

use evalrig_core::model::{Call, Map, Measurement, SessionFacts, Tokens, Value};

use crate::agent::Unreported;
use crate::clock::unix_milliseconds;

use super::conversation::{CallEnd, Conversation};
use super::events::{
    EventFormat, EventReader, EventRole, EventSession, child, figure, is_true, joined_text,
    names_no_skill, note, text,
};
use super::measure::{self, given};
use super::skill_rule;

/// Gemini CLI reports tokens, but neither what they cost nor how many requests there were.
pub(crate) const UNREPORTED: &[Unreported] = &[
    Unreported {
        what: Measurement::Cost,
        cause: "Gemini CLI",
        remedy: "add `price` to the target",
    },
    Unreported {
        what: Measurement::LlmCalls,
        cause: "Gemini CLI",
        remedy: "limit `max_tool_calls` or `max_tokens` instead",
    },
];

pub(crate) static FORMAT: EventFormat = EventFormat {
    name: "gemini",
    doc: "Gemini CLI: `--output-format stream-json`",
    agent: "Gemini CLI",
    opens,
    closing: "a `result` event",
    skipped: &[],
    recognizes: opens,
    explicit_skill: names_no_skill,
    reader: || Box::new(GeminiReader::default()),
};

/// Tools that start another agent, whose steps are not in the stream. Older versions have one tool for
/// each agent.
const SUB_AGENTS: &[&str] = &[
    "invoke_agent",
    "delegate_to_agent",
    "generalist",
    "codebase_investigator",
    "cli_help",
    "browser_agent",
];

/// An ending that Gemini CLI calls an error, although what was said so far can be graded.
const TURN_LIMIT: &str = "FatalTurnLimitedError";

fn opens(event: &Map) -> bool {
    text(event, "type") == Some("init") && text(event, "session_id").is_some()
}

#[derive(Debug)]
struct GeminiReader {
    conversation: Conversation,
    /// The assistant message that deltas and calls go on.
    open_message: Option<usize>,
    call_times: HashMap<String, i64>,
    model: Option<String>,
    facts: SessionFacts,
    stats: Option<Map>,
    failure: Option<String>,
    complaint: Option<String>,
}

impl Default for GeminiReader {
    fn default() -> Self {
        Self {
            conversation: Conversation::of_agent(skill_rule::gemini),
            open_message: None,
            call_times: HashMap::new(),
            model: None,
            facts: SessionFacts::default(),
            stats: None,
            failure: None,
            complaint: None,
        }
    }
}

impl EventReader for GeminiReader {
    fn read_event(&mut self, event: &Map) -> EventRole {
        match text(event, "type") {
            Some("init") => {
                note(&mut self.facts.id, text(event, "session_id"));
                note(&mut self.model, text(event, "model"));
                EventRole::Note
            }
            Some("message") => {
                self.read_message(event);
                EventRole::Step
            }
            Some("tool_use") => {
                self.read_call(event);
                EventRole::Step
            }
            Some("tool_result") => {
                self.read_result(event);
                EventRole::Step
            }
            Some("error") => {
                self.complaint = text(event, "message").map(str::to_owned);
                EventRole::Note
            }
            Some("result") => {
                self.stats = child(event, "stats").cloned();
                let error = child(event, "error").and_then(|error| text(error, "type"));
                if error == Some(TURN_LIMIT) {
                    self.facts.stop_reason = Some("max_turns".to_owned());
                } else {
                    self.failure =
                        (text(event, "status") != Some("success")).then(|| reason(event));
                }
                EventRole::Closing
            }
            _ => EventRole::Unknown,
        }
    }

    fn conversation(&self) -> &Conversation {
        &self.conversation
    }

    fn finish(self: Box<Self>) -> EventSession {
        let mut failure = self.failure;
        let stats = self.stats.unwrap_or_default();
        let tokens = tokens(&stats);
        let duration = measure::milliseconds(&stats, "duration_ms");
        EventSession {
            tokens: figure(tokens, &mut failure),
            duration_ms: figure(duration, &mut failure),
            conversation: self.conversation,
            failure,
            complaint: self.complaint,
            model: self.model,
            facts: self.facts,
            ..EventSession::default()
        }
    }
}

/// Cached tokens are counted as input already. Thoughts are counted only in the total.
fn tokens(stats: &Map) -> Result<Option<Tokens>, String> {
    let found = measure::tokens(stats, ["input_tokens", "output_tokens", "cached"])?;
    let total = measure::count(stats, "total_tokens")?;
    Ok(found.map(|tokens| {
        let produced = total.and_then(|total| total.checked_sub(tokens.input));
        Tokens { output: produced.unwrap_or_default().max(tokens.output), ..tokens }
    }))
}

impl GeminiReader {
    fn read_message(&mut self, event: &Map) {
        let said = joined_text(event.get("content"));
        if text(event, "role") != Some("assistant") {
            self.open_message = None;
            self.conversation.ask(&said);
            return;
        }
        match self.open_message {
            Some(at) if is_true(event, "delta") => self.conversation.append_text(at, &said),
            _ => {
                let at = self.conversation.open();
                self.conversation.add_text(at, &said);
                self.open_message = Some(at);
            }
        }
    }

    fn read_call(&mut self, event: &Map) {
        let id = text(event, "tool_id").unwrap_or_default();
        let tool = text(event, "tool_name").unwrap_or_default();
        let args = given(event, "parameters").map_or_else(|| Map::new().into(), Value::clone);
        if let Some(time) = time_of(event) {
            self.call_times.insert(id.to_owned(), time);
        }
        let at = match self.open_message {
            Some(at) => at,
            None => self.conversation.open(),
        };
        self.open_message = Some(at);
        self.conversation.add_call(at, Call::new(id, tool, args));
        if SUB_AGENTS.contains(&tool) {
            self.conversation.hide_skills();
        }
    }

    fn read_result(&mut self, event: &Map) {
        self.open_message = None;
        let id = text(event, "tool_id").unwrap_or_default();
        let times = self.call_times.remove(id).zip(time_of(event));
        let error = child(event, "error").and_then(|error| error.get("message"));
        let output = given(event, "output").or(error).cloned();
        let end = CallEnd {
            output: Some(output.unwrap_or_else(|| "".into())),
            is_error: Some(text(event, "status") != Some("success")),
            exit_code: None,
            duration_ms: times.and_then(|(from, to)| u64::try_from(to - from).ok()),
        };
        self.conversation.end_call(id, end);
    }
}

fn time_of(event: &Map) -> Option<i64> {
    unix_milliseconds(text(event, "timestamp")?)
}

fn reason(result: &Map) -> String {
    let said = child(result, "error").and_then(|error| text(error, "message"));
    let said = said.or_else(|| text(result, "status")).unwrap_or("no reason given");
    format!("the agent ended with an error: {said}")
}

#[cfg(test)]
mod tests {
    use evalrig_core::model::SkillUseKind;
    use serde_json::json;

    use super::super::testing::{calls, fault, read, recorded, uses};
    use super::*;

    #[test]
    fn deltas_are_one_message_and_skills_are_seen() {
        let read = read(&FORMAT, recorded::GEMINI_SKILL);
        assert_eq!(read.answer, "The total is 42.");
        assert_eq!(calls(&read), [r#"activate_skill {"name":"csv-analyzer"} ok"#]);
        assert_eq!(read.calls.as_ref().unwrap()[0].duration_ms, Some(225));
        assert_eq!(uses(&read), ["csv-analyzer tool ok #0"]);
        assert_eq!(read.skills.used.unwrap()[0].how, SkillUseKind::Tool);
        assert_eq!(read.skills.offered, None);
        let tokens = read.tokens.unwrap();
        assert_eq!((tokens.input, tokens.output, tokens.cached), (300, 34, 60));
        assert_eq!((read.cost_usd, read.duration_ms), (None, Some(616)));
        assert_eq!(read.model.as_deref(), Some("gemini-2.5-pro"));
        assert_eq!((read.session.llm_calls, read.session.unknown_events), (None, 0));
    }

    #[test]
    fn a_failed_call_is_an_error_and_no_use() {
        let stream = recorded::GEMINI_SKILL
            .replace(r#""status":"success","output""#, r#""status":"error","output""#);
        let read = read(&FORMAT, &stream);
        assert_eq!(uses(&read), ["csv-analyzer tool failed #0"]);
        assert_eq!(read.calls.unwrap()[0].is_error, Some(true));
    }

    #[test]
    fn an_api_error_is_the_reason() {
        let message = fault(&FORMAT, recorded::GEMINI_401);
        assert!(message.starts_with("the agent ended with an error: [API Error:"), "{message}");
    }

    #[test]
    fn reaching_the_limit_on_turns_is_graded() {
        let (start, _) = recorded::GEMINI_SKILL.trim_end().rsplit_once('\n').unwrap();
        let end = json!({
            "type": "result",
            "status": "error",
            "error": {"type": "FatalTurnLimitedError", "message": "Reached max session turns"},
            "stats": {"input_tokens": 1, "output_tokens": 2, "cached": 0, "total_tokens": 3},
        });
        let read = read(&FORMAT, &format!("{start}\n{end}\n"));
        assert_eq!(read.session.stop_reason.as_deref(), Some("max_turns"));
        assert_eq!(uses(&read), ["csv-analyzer tool ok #0"]);
    }

    #[test]
    fn what_a_sub_agent_does_is_unknown() {
        let read = read(&FORMAT, recorded::GEMINI_SUB_AGENT);
        assert_eq!((read.answer.as_str(), read.skills.used), ("It is 42.", None));
    }

    #[test]
    fn thoughts_are_output() {
        let tokens = read(&FORMAT, recorded::GEMINI_THOUGHTS).tokens.unwrap();
        assert_eq!((tokens.input, tokens.output, tokens.cached), (300, 34, 60));
    }
}
