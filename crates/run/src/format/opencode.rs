//! opencode: the events of `run --format json`.

use evalrig_core::model::{Call, Map, Number, SessionFacts, Tokens, Value};

use crate::agent::Unreported;

use super::conversation::{CallEnd, Conversation};
use super::events::{
    EventFormat, EventReader, EventRole, EventSession, child, figure, names_no_skill, note, text,
};
use super::measure::{self, given};
use super::skill_rule;

/// opencode reports everything; it does not name the model.
pub(crate) const UNREPORTED: &[Unreported] = &[];

pub(crate) static FORMAT: EventFormat = EventFormat {
    name: "opencode",
    doc: "opencode: `run --format json`",
    agent: "opencode",
    opens,
    closing: "a `step_finish` event of the last step",
    skipped: &[],
    recognizes: opens,
    explicit_skill: names_no_skill,
    reader: || Box::new(OpencodeReader::default()),
};

fn opens(event: &Map) -> bool {
    let is_opening = matches!(text(event, "type"), Some("step_start" | "error"));
    is_opening && text(event, "sessionID").is_some()
}

/// The tool that starts a sub-agent. Its steps are not in the stream.
const SUB_AGENT: &str = "task";

#[derive(Debug)]
struct OpencodeReader {
    conversation: Conversation,
    /// The message of the step.
    open_message: Option<usize>,
    steps: u64,
    tokens: Option<Tokens>,
    cost_usd: Option<f64>,
    facts: SessionFacts,
    begun: Option<i64>,
    ended: Option<i64>,
    failure: Option<String>,
}

impl Default for OpencodeReader {
    fn default() -> Self {
        Self {
            conversation: Conversation::of_agent(skill_rule::opencode),
            open_message: None,
            steps: 0,
            tokens: None,
            cost_usd: None,
            facts: SessionFacts::default(),
            begun: None,
            ended: None,
            failure: None,
        }
    }
}

impl EventReader for OpencodeReader {
    fn read_event(&mut self, event: &Map) -> EventRole {
        note(&mut self.facts.id, text(event, "sessionID"));
        if let Some(time) = whole(event, "timestamp") {
            self.begun.get_or_insert(time);
            self.ended = Some(time);
        }
        let empty = Map::new();
        let part = child(event, "part").unwrap_or(&empty);
        match text(event, "type") {
            Some("step_start") => {
                self.open_message = None;
                self.failure = None;
            }
            Some("text") => {
                let at = self.message();
                self.conversation.add_text(at, text(part, "text").unwrap_or_default());
            }
            Some("tool_use") => self.read_call(part),
            Some("step_finish") => return self.end_step(part),
            Some("reasoning") => return EventRole::Note,
            Some("error") => {
                self.failure = Some(reason(event));
                return EventRole::Closing;
            }
            _ => return EventRole::Unknown,
        }
        EventRole::Step
    }

    fn conversation(&self) -> &Conversation {
        &self.conversation
    }

    fn finish(self: Box<Self>) -> EventSession {
        let duration = self.begun.zip(self.ended).and_then(|(from, to)| to.checked_sub(from));
        let mut facts = self.facts;
        // Figures of sub-agents are not in the stream.
        let is_whole = !self.conversation.hides_steps();
        facts.llm_calls = is_whole.then_some(self.steps);
        // Prices that opencode does not know are zero.
        let is_used = self.tokens.is_some_and(|tokens| tokens.total() > 0);
        EventSession {
            conversation: self.conversation,
            failure: self.failure,
            tokens: self.tokens.filter(|_| is_whole),
            cost_usd: self.cost_usd.filter(|_| is_whole).filter(|cost| *cost > 0.0 || !is_used),
            duration_ms: duration.and_then(|duration| u64::try_from(duration).ok()),
            facts,
            ..EventSession::default()
        }
    }
}

impl OpencodeReader {
    fn message(&mut self) -> usize {
        match self.open_message {
            Some(at) => at,
            None => {
                let at = self.conversation.open();
                self.open_message = Some(at);
                at
            }
        }
    }

    /// A call comes with its result.
    fn read_call(&mut self, part: &Map) {
        let id = text(part, "callID").unwrap_or_default();
        let tool = text(part, "tool").unwrap_or_default();
        let empty = Map::new();
        let state = child(part, "state").unwrap_or(&empty);
        let args = given(state, "input").map_or_else(|| Map::new().into(), Value::clone);
        let at = self.message();
        self.conversation.add_call(at, Call::new(id, tool, args));
        if tool == SUB_AGENT {
            self.conversation.hide_skills();
        }
        let output = given(state, "output").or_else(|| given(state, "error")).cloned();
        let metadata = child(state, "metadata");
        let took = child(state, "time")
            .and_then(|time| whole(time, "end")?.checked_sub(whole(time, "start")?));
        let end = CallEnd {
            output: Some(output.unwrap_or_else(|| "".into())),
            is_error: Some(text(state, "status") != Some("completed")),
            exit_code: metadata.and_then(|metadata| whole(metadata, "exit")),
            duration_ms: took.and_then(|took| u64::try_from(took).ok()),
        };
        self.conversation.end_call(id, end);
    }

    /// After a step with tool calls another one follows.
    fn end_step(&mut self, part: &Map) -> EventRole {
        self.open_message = None;
        self.steps += 1;
        if let Some(used) = figure(tokens(part), &mut self.failure) {
            self.tokens = Some(self.tokens.unwrap_or_default().plus(used));
        }
        if let Some(cost) = figure(measure::amount(part, "cost"), &mut self.failure) {
            self.cost_usd = Some(self.cost_usd.unwrap_or(0.0) + cost);
        }
        self.facts.stop_reason = text(part, "reason").map(str::to_owned);
        match text(part, "reason") {
            Some("tool-calls") | None => EventRole::Step,
            Some(_) => EventRole::Closing,
        }
    }
}

/// Neither the cache nor reasoning is part of opencode's counts.
fn tokens(part: &Map) -> Result<Option<Tokens>, String> {
    let Some(tokens) = child(part, "tokens") else {
        return Ok(None);
    };
    let empty = Map::new();
    let cache = child(tokens, "cache").unwrap_or(&empty);
    let count = |map: &Map, key: &str| measure::count(map, key).map(Option::unwrap_or_default);
    let cached = count(cache, "read")?;
    let written = count(cache, "write")?;
    let reasoning = count(tokens, "reasoning")?;
    let both = measure::count(tokens, "input")?.zip(measure::count(tokens, "output")?);
    Ok(both.map(|(input, output)| Tokens {
        input: input.saturating_add(cached).saturating_add(written),
        output: output.saturating_add(reasoning),
        cached,
    }))
}

fn whole(map: &Map, key: &str) -> Option<i64> {
    match map.get(key)? {
        Value::Number(number) => Number::as_i64(number),
        _ => None,
    }
}

fn reason(event: &Map) -> String {
    let error = child(event, "error");
    let data = error.and_then(|error| child(error, "data"));
    let said = data.and_then(|data| text(data, "message"));
    let said = said.or_else(|| error.and_then(|error| text(error, "name")));
    format!("the agent ended with an error: {}", said.unwrap_or("no reason given"))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{calls, fault, read, recorded, uses};
    use super::*;

    #[test]
    fn steps_are_summed() {
        let read = read(&FORMAT, recorded::OPENCODE_COMMAND);
        assert_eq!(read.answer, "The magic word is xyzzy.");
        assert_eq!(calls(&read), [r#"bash {"command":"cat notes.txt"} ok 0"#]);
        let call = &read.calls.as_ref().unwrap()[0];
        assert_eq!((call.duration_ms, call.exit_code), (Some(137), Some(0)));
        let tokens = read.tokens.unwrap();
        assert_eq!((tokens.input, tokens.output, tokens.cached), (300, 34, 60));
        assert_eq!(read.cost_usd, Some(0.000308));
        assert_eq!((read.session.llm_calls, read.duration_ms), (Some(2), Some(486)));
        assert_eq!(read.session.stop_reason.as_deref(), Some("stop"));
    }

    #[test]
    fn a_skill_that_could_not_be_loaded_is_no_use() {
        assert_eq!(
            uses(&read(&FORMAT, recorded::OPENCODE_SKILL_ERROR)),
            ["csv-analyzer tool failed #0"]
        );
        let good = recorded::OPENCODE_SKILL_ERROR
            .replace(r#""status":"error""#, r#""status":"completed""#);
        assert_eq!(uses(&read(&FORMAT, &good)), ["csv-analyzer tool ok #0"]);
    }

    #[test]
    fn what_a_sub_agent_does_is_unknown() {
        let read = read(&FORMAT, recorded::OPENCODE_SUB_AGENT);
        assert_eq!((read.answer.as_str(), read.skills.used), ("It is 42.", None));
        assert_eq!((read.tokens, read.cost_usd, read.session.llm_calls), (None, None, None));
    }

    #[test]
    fn a_cost_of_zero_means_no_price() {
        let free = recorded::OPENCODE_COMMAND.replace("0.000154", "0");
        assert_eq!(read(&FORMAT, &free).cost_usd, None);
    }

    #[test]
    fn an_api_error_is_the_reason() {
        let message = fault(&FORMAT, recorded::OPENCODE_401);
        assert_eq!(message, "the agent ended with an error: invalid x-api-key");
    }
}
