//! Claude Code: the events of `--output-format stream-json` and the rows of its session files.

use std::collections::{HashMap, HashSet};

use evalrig_core::model::{Call, Map, Number, SessionFacts, Skill, Tokens, Value};

use crate::agent::Unreported;
use crate::clock::unix_milliseconds;

use super::claude_figures::{ClaudeFigures, leaves_agents_running, message_tokens, spawned_agents};
use super::conversation::{CallEnd, Conversation};
use super::events::{
    EventFormat, EventReader, EventRole, EventSession, child, is_true, joined_text, note, text,
};
use super::measure::given;
use super::skill_rule;

/// Claude Code reports everything.
pub(crate) const UNREPORTED: &[Unreported] = &[];

pub(crate) static FORMAT: EventFormat = EventFormat {
    name: "claude",
    doc: "Claude Code: stream-json, or a session file",
    agent: "Claude Code",
    opens,
    closing: "a `result` event",
    skipped: &["stream_event"],
    recognizes: |event| matches!(text(event, "type"), Some("assistant" | "user" | "system")),
    explicit_skill: slash_command,
    reader: || Box::new(ClaudeReader::default()),
};

/// `/NAME …` loads the skill of that name and leaves no trace in the stream.
pub(crate) fn slash_command(prompt: &str) -> Option<&str> {
    let name = prompt.strip_prefix('/')?.split(char::is_whitespace).next()?;
    let name = Some(name).filter(|name| !name.is_empty())?;
    Some(Skill::bare_name(name))
}

/// Hooks may report before the `init` event. Other agents have such an event too, but do not list
/// their tools in it. A session that cannot be resumed is a `result` and nothing else.
fn opens(event: &Map) -> bool {
    match (text(event, "type"), text(event, "subtype")) {
        (Some("system"), Some("init")) => given(event, "tools").is_some(),
        (Some("system"), Some(_)) => true,
        (Some("result"), _) => is_true(event, "is_error"),
        _ => false,
    }
}

/// Endings that Claude Code calls errors, although what was said so far can be graded.
const GRADED: &[&str] = &["error_max_turns", "error_max_budget_usd"];

/// The model of messages that Claude Code made up itself.
const SYNTHETIC: &str = "<synthetic>";

/// How the result of a call begins that was not made, such as one of a skill that does not exist.
const NOT_MADE: &str = "<tool_use_error>";

/// A call of a sub-agent whose result is still to come.
#[derive(Debug)]
struct SubAgentCall {
    call: Call,
    /// The call of the main thread that led to it.
    root: Option<usize>,
}

#[derive(Debug)]
struct ClaudeReader {
    conversation: Conversation,
    /// Messages by their id: their blocks come one by one.
    open_messages: HashMap<String, usize>,
    /// Ids of the messages that the model wrote: each is a request.
    requests: HashSet<String>,
    sub_agent_calls: HashMap<String, SubAgentCall>,
    has_sub_agents: bool,
    /// Sub-agents in the background that have not ended.
    running: HashSet<String>,
    /// When calls were made.
    call_times: HashMap<String, i64>,
    /// By message: every block repeats the counts of its message. In a stream, these counts are not
    /// final.
    usage: HashMap<String, Tokens>,
    is_stream: bool,
    session_cost: Option<f64>,
    model: Option<String>,
    facts: SessionFacts,
    cwd: Option<String>,
    offered: Option<Vec<String>>,
    result: Option<Map>,
}

impl Default for ClaudeReader {
    fn default() -> Self {
        Self {
            conversation: Conversation::of_agent(skill_rule::claude),
            open_messages: HashMap::new(),
            requests: HashSet::new(),
            sub_agent_calls: HashMap::new(),
            has_sub_agents: false,
            running: HashSet::new(),
            call_times: HashMap::new(),
            usage: HashMap::new(),
            is_stream: false,
            session_cost: None,
            model: None,
            facts: SessionFacts::default(),
            cwd: None,
            offered: None,
            result: None,
        }
    }
}

impl EventReader for ClaudeReader {
    fn read_event(&mut self, event: &Map) -> EventRole {
        let kind = text(event, "type").unwrap_or_default();
        if kind == "result" {
            self.result = Some(event.clone());
            return EventRole::Closing;
        }
        if self.cwd.is_none() {
            self.cwd = text(event, "cwd").map(str::to_owned);
        }
        let parent = given(event, "parent_tool_use_id");
        let is_of_sub_agent = parent.is_some() || is_true(event, "isSidechain");
        // Text that Claude Code itself puts into the conversation, such as that of a skill.
        let is_injected = is_true(event, "isMeta") || is_true(event, "isSynthetic");
        match kind {
            "assistant" | "user" if is_of_sub_agent => {
                self.has_sub_agents = true;
                self.read_sub_agent(event, parent.and_then(Value::as_str));
            }
            "user" if is_injected => {}
            "assistant" => self.read_assistant(event),
            "user" => self.read_user(event),
            "system" => return self.read_system(event),
            "cost-state" => {
                if let Some(Value::Number(cost)) = event.get("totalCostUSD") {
                    self.session_cost = Some(Number::value(cost));
                }
            }
            "stream_event" | "rate_limit_event" | "tool_progress" => return EventRole::Note,
            _ => return EventRole::Unknown,
        }
        EventRole::Step
    }

    fn conversation(&self) -> &Conversation {
        &self.conversation
    }

    fn finish(self: Box<Self>) -> EventSession {
        let (failure, mut figures) = self.ending();
        let is_watched = self.result.as_ref().is_none_or(|result| !leaves_agents_running(result));
        let is_watched = is_watched && (self.result.is_none() || self.running.is_empty());
        let mut facts = self.facts;
        if is_watched && !self.has_sub_agents && !self.requests.is_empty() {
            facts.llm_calls = Some(self.requests.len() as u64);
        }
        let mut conversation = self.conversation;
        if !is_watched {
            // What they do from here on is neither in the events nor in the counts.
            conversation.hide_skills();
            figures =
                ClaudeFigures { duration_ms: figures.duration_ms, ..ClaudeFigures::default() };
        }
        if let Some(result) = &self.result {
            note_ending(&mut facts, result);
            let said = text(result, "result").filter(|said| !said.trim().is_empty());
            // The text of an error is not an answer, unless it is all there is.
            let is_new = |said: &str| match failure {
                Some(_) => !conversation.has_assistant_message(),
                None => !conversation.answer().trim().ends_with(said.trim()),
            };
            if let Some(said) = said.filter(|said| is_new(said)) {
                conversation.say(said);
            }
        }
        EventSession {
            conversation,
            failure,
            complaint: None,
            tokens: figures.tokens,
            cost_usd: figures.cost_usd,
            duration_ms: figures.duration_ms,
            model: self.model,
            facts,
            cwd: self.cwd,
            offered: self.offered,
        }
    }
}

/// What the `result` says about the session.
fn note_ending(facts: &mut SessionFacts, result: &Map) {
    let subtype = text(result, "subtype").filter(|subtype| GRADED.contains(subtype));
    facts.stop_reason = subtype.or_else(|| text(result, "stop_reason")).map(str::to_owned);
    if let Some(Value::List(denials)) = result.get("permission_denials") {
        let tools = denials.iter().filter_map(|one| text(one.as_map()?, "tool_name"));
        facts.permission_denials = Some(tools.map(str::to_owned).collect());
    }
    if spawned_agents(result) > 0 {
        // The stream does not show the last request of a sub-agent.
        facts.llm_calls = None;
    }
}

impl ClaudeReader {
    fn read_system(&mut self, event: &Map) -> EventRole {
        self.is_stream = true;
        note(&mut self.model, text(event, "model"));
        note(&mut self.facts.id, text(event, "session_id"));
        note(&mut self.facts.version, text(event, "claude_code_version"));
        match text(event, "subtype") {
            Some("init") => {
                if let Some(Value::List(skills)) = event.get("skills") {
                    let names = skills.iter().filter_map(Value::as_str);
                    let names = names.map(Skill::bare_name).map(str::to_owned);
                    self.offered = Some(names.collect());
                }
                // After a `result` it opens a turn, such as the one that a sub-agent in the background
                // gives rise to, and every turn has a result of its own.
                if self.result.is_some() {
                    return EventRole::Step;
                }
            }
            Some("task_started") if is_true(event, "is_backgrounded") => {
                let is_agent = text(event, "task_type") == Some("local_agent");
                self.running.extend(text(event, "task_id").filter(|_| is_agent).map(str::to_owned));
            }
            Some("task_notification") => {
                self.running.remove(text(event, "task_id").unwrap_or_default());
            }
            // The `result` repeats them; a stream that is stopped has none.
            Some("permission_denied") => {
                let tool = text(event, "tool_name").unwrap_or_default().to_owned();
                self.facts.permission_denials.get_or_insert_default().push(tool);
            }
            _ => {}
        }
        EventRole::Note
    }

    fn read_assistant(&mut self, event: &Map) {
        let Some(message) = child(event, "message") else {
            return;
        };
        if text(message, "model") == Some(SYNTHETIC) {
            return;
        }
        note(&mut self.model, text(message, "model"));
        let id = text(message, "id");
        self.requests.insert(id.unwrap_or_default().to_owned());
        if let Some(tokens) = child(message, "usage").and_then(message_tokens) {
            self.usage.insert(id.unwrap_or_default().to_owned(), tokens);
        }
        for block in content(message) {
            match text(block, "type") {
                Some("text") => {
                    if let Some(said) = text(block, "text") {
                        let at = self.message(id);
                        self.conversation.add_text(at, said);
                    }
                }
                Some("tool_use") => self.read_call(id, block, event),
                _ => {}
            }
        }
    }

    /// The message with this id, opened when it is first seen.
    fn message(&mut self, id: Option<&str>) -> usize {
        if let Some(at) = id.and_then(|id| self.open_messages.get(id)) {
            return *at;
        }
        let at = self.conversation.open();
        if let Some(id) = id {
            self.open_messages.insert(id.to_owned(), at);
        }
        at
    }

    fn read_call(&mut self, message: Option<&str>, block: &Map, event: &Map) {
        let Some(call) = call_of(block).filter(|call| !self.conversation.has_call(&call.id)) else {
            return;
        };
        if let Some(time) = time_of(event) {
            self.call_times.insert(call.id.clone(), time);
        }
        let at = self.message(message);
        self.conversation.add_call(at, call);
    }

    /// Results of tools, and what the user said.
    fn read_user(&mut self, event: &Map) {
        let Some(message) = child(event, "message") else {
            return;
        };
        for (id, block) in results(message) {
            let times = self.call_times.remove(id).zip(time_of(event));
            let took = times.and_then(|(from, to)| u64::try_from(to - from).ok());
            self.conversation.end_call(id, CallEnd { duration_ms: took, ..end_of(block) });
        }
        let said = joined_text(message.get("content"));
        if !said.is_empty() {
            self.conversation.ask(&said);
        }
    }

    /// Of what sub-agents do, only the skills count.
    fn read_sub_agent(&mut self, event: &Map, parent: Option<&str>) {
        let Some(message) = child(event, "message") else {
            return;
        };
        let of_call = |id| self.sub_agent_calls.get(id).and_then(|made| made.root);
        let root = parent.and_then(|id| self.conversation.call_index(id).or_else(|| of_call(id)));
        for block in content(message).filter(|block| text(block, "type") == Some("tool_use")) {
            if let Some(call) = call_of(block) {
                self.sub_agent_calls.insert(call.id.clone(), SubAgentCall { call, root });
            }
        }
        for (id, block) in results(message) {
            if let Some(SubAgentCall { mut call, root }) = self.sub_agent_calls.remove(id) {
                call.is_error = end_of(block).is_error;
                self.conversation.end_call_of_sub_agent(&call, root);
            }
        }
    }

    fn ending(&self) -> (Option<String>, ClaudeFigures) {
        let Some(result) = &self.result else {
            let used = self.usage.values().copied().reduce(Tokens::plus);
            let tokens = used.filter(|_| !self.is_stream);
            let figures = ClaudeFigures { tokens, cost_usd: self.session_cost, duration_ms: None };
            return (None, figures);
        };
        let (figures, fault) = match ClaudeFigures::of(result) {
            Ok(figures) => (figures, None),
            Err(reason) => (ClaudeFigures::default(), Some(reason)),
        };
        let is_graded = text(result, "subtype").is_some_and(|subtype| GRADED.contains(&subtype));
        if is_true(result, "is_error") && !is_graded {
            return (Some(error_reason(result)), figures);
        }
        (fault, figures)
    }
}

fn content(message: &Map) -> impl Iterator<Item = &Map> {
    let blocks = message.get("content").and_then(Value::as_list);
    let blocks = blocks.unwrap_or_default().iter();
    blocks.filter_map(Value::as_map)
}

fn call_of(block: &Map) -> Option<Call> {
    let tool = text(block, "name").filter(|tool| !tool.is_empty())?;
    let args = given(block, "input").map_or_else(|| Map::new().into(), Value::clone);
    Some(Call::new(text(block, "id").unwrap_or_default(), tool, args))
}

/// The results in a message, with the ids of their calls.
fn results(message: &Map) -> impl Iterator<Item = (&str, &Map)> {
    let blocks = content(message).filter(|block| text(block, "type") == Some("tool_result"));
    blocks.filter_map(|block| Some((text(block, "tool_use_id")?, block)))
}

fn end_of(block: &Map) -> CallEnd {
    let output = result_of(block.get("content"));
    let said = output.as_str().unwrap_or_default();
    let is_error = is_true(block, "is_error") || said.trim_start().starts_with(NOT_MADE);
    let exit_code = said.strip_prefix("Exit code ").filter(|_| is_error);
    let exit_code = exit_code.and_then(|rest| rest.lines().next()?.trim().parse().ok());
    CallEnd { is_error: Some(is_error), exit_code, output: Some(output), duration_ms: None }
}

fn time_of(event: &Map) -> Option<i64> {
    unix_milliseconds(text(event, "timestamp")?)
}

/// A text, or the joined texts of blocks; a list with other blocks is kept as it is.
fn result_of(content: Option<&Value>) -> Value {
    let Some(Value::List(blocks)) = content else {
        return match content {
            None | Some(Value::Null) => Value::String(String::new()),
            Some(other) => other.clone(),
        };
    };
    let texts: Option<Vec<&str>> =
        blocks.iter().map(|block| block.as_map()?.get("text")?.as_str()).collect();
    match texts {
        Some(texts) => Value::String(texts.join("\n")),
        None => Value::List(blocks.clone()),
    }
}

/// The error of a `result` event.
fn error_reason(result: &Map) -> String {
    let texts = |value: &Value| match value {
        Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
        Value::List(items) if !items.is_empty() => {
            let items: Vec<_> = items.iter().filter_map(Value::as_str).collect();
            Some(items.join("; "))
        }
        _ => None,
    };
    let said = ["result", "errors", "error"];
    let said = said.iter().find_map(|key| result.get(key).and_then(texts));
    let said = said.as_deref().or_else(|| text(result, "subtype"));
    let said = said.unwrap_or("no reason given");
    format!("the agent ended with an error: {said}")
}

#[cfg(test)]
mod tests;
