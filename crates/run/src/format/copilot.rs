//! GitHub Copilot CLI: the events of `--output-format json`, and the file of `--usage-output-file`.
//!
//! There are two shapes. Most models give session events, whose content is in `data`. Some give flat
//! events as Anthropic's API names them: `message`, `tool_use`, `tool_result` and `usage`.

use std::collections::{BTreeSet, HashMap};

use evalrig_core::model::{Call, Map, Measurement, SessionFacts, Skill, Tokens, Transcript, Value};

use crate::agent::Unreported;
use crate::clock::unix_milliseconds;

use super::blocks::arguments;
use super::conversation::{CallEnd, Conversation};
use super::events::{
    EventFormat, EventReader, EventRole, EventSession, child, figure, is_true, joined_text,
    names_no_skill, note, text,
};
use super::json;
use super::measure::{self, given};
use super::skill_rule::{self, COPILOT_TOOL as SKILL_TOOL};

/// The price of a request is not in dollars.
pub(crate) const UNREPORTED: &[Unreported] = &[Unreported {
    what: Measurement::Cost,
    cause: "Copilot CLI",
    remedy: "add `price` to the target",
}];

/// Tokens are in a file of their own.
pub(crate) const UNREPORTED_IN_STREAM: &[Unreported] = &[
    UNREPORTED[0],
    Unreported {
        what: Measurement::Tokens,
        cause: "`format: copilot-json`",
        remedy: "use `provider: copilot-cli`, which asks for them",
    },
];

pub(crate) static FORMAT: EventFormat = EventFormat {
    name: "copilot",
    doc: "Copilot CLI: `--output-format json`",
    agent: "Copilot CLI",
    opens,
    closing: "a `result` event",
    skipped: &[
        "assistant.message_delta",
        "assistant.tool_call_delta",
        "assistant.reasoning_delta",
        "tool.execution_partial_result",
        "tool.shell_output",
        "session.background_tasks_changed",
    ],
    recognizes: opens,
    explicit_skill: names_no_skill,
    reader: || Box::new(CopilotReader::default()),
};

/// The flat shape opens with the message of the user.
fn opens(event: &Map) -> bool {
    match text(event, "type") {
        Some("message") => text(event, "role") == Some("user"),
        Some(kind) => {
            let is_opening = kind.starts_with("session.") || kind == "user.message";
            is_opening && event.get("data").is_some()
        }
        None => false,
    }
}

/// Beginnings of the types of session events.
const FAMILIES: &[&str] = &[
    "session.",
    "assistant.",
    "user.",
    "tool.",
    "model.",
    "skill.",
    "subagent.",
    "hook.",
    "permission.",
    "system.",
    "external_tool.",
    "command.",
];

/// What Copilot CLI prints in place of the value of its key, wherever that occurs, also in names. A short
/// key hides which tools and skills there are.
const MASK: &str = "******";

#[derive(Debug)]
struct CopilotReader {
    conversation: Conversation,
    /// When calls were made.
    call_times: HashMap<String, i64>,
    /// Calls of sub-agents, with the call of the main thread that led to them.
    sub_agent_calls: HashMap<String, (Call, Option<usize>)>,
    /// Skills that the agent says were loaded.
    invoked: BTreeSet<String>,
    offered: Option<Vec<String>>,
    requests: u64,
    tokens: Option<Tokens>,
    duration_ms: Option<u64>,
    model: Option<String>,
    facts: SessionFacts,
    complaint: Option<String>,
    failure: Option<String>,
}

impl Default for CopilotReader {
    fn default() -> Self {
        Self {
            conversation: Conversation::of_agent(skill_rule::copilot),
            call_times: HashMap::new(),
            sub_agent_calls: HashMap::new(),
            invoked: BTreeSet::new(),
            offered: None,
            requests: 0,
            tokens: None,
            duration_ms: None,
            model: None,
            facts: SessionFacts::default(),
            complaint: None,
            failure: None,
        }
    }
}

impl EventReader for CopilotReader {
    fn read_event(&mut self, event: &Map) -> EventRole {
        let kind = text(event, "type").unwrap_or_default();
        if kind.contains(MASK) {
            self.conversation.hide_skills();
        }
        match kind {
            "result" => {
                self.read_end(event);
                EventRole::Closing
            }
            "message" | "tool_use" | "tool_result" | "usage" => {
                self.read_flat(kind, event);
                EventRole::Step
            }
            _ => match child(event, "data") {
                Some(data) => self.read_session_event(kind, event, data),
                None => EventRole::Unknown,
            },
        }
    }

    fn conversation(&self) -> &Conversation {
        &self.conversation
    }

    fn finish(self: Box<Self>) -> EventSession {
        let mut conversation = self.conversation;
        let seen: BTreeSet<_> = conversation.uses().iter().map(|one| one.name.clone()).collect();
        for name in self.invoked.difference(&seen) {
            conversation.add_explicit_use(name);
        }
        let mut facts = self.facts;
        facts.llm_calls = Some(self.requests);
        EventSession {
            conversation,
            failure: self.failure,
            complaint: self.complaint,
            tokens: self.tokens,
            duration_ms: self.duration_ms,
            model: self.model,
            facts,
            offered: self.offered,
            ..EventSession::default()
        }
    }
}

impl CopilotReader {
    fn read_session_event(&mut self, kind: &str, event: &Map, data: &Map) -> EventRole {
        match kind {
            "session.skills_loaded" => self.note_catalogue(data),
            "session.start" => {
                note(&mut self.facts.version, text(data, "copilotVersion"));
                note(&mut self.facts.id, text(data, "sessionId"));
            }
            "session.error" => self.complaint = text(data, "message").map(str::to_owned),
            "skill.invoked" => {
                self.invoked.extend(text(data, "name").map(str::to_owned));
            }
            _ if is_true(event, "ephemeral") => {}
            "user.message" => {
                self.conversation.ask(&joined_text(data.get("content")));
                return EventRole::Step;
            }
            "assistant.message" => {
                self.read_assistant(data);
                return EventRole::Step;
            }
            "tool.execution_start" => {
                self.start_call(event, data);
                return EventRole::Step;
            }
            "tool.execution_complete" => {
                self.end_call(event, data);
                return EventRole::Step;
            }
            _ if FAMILIES.iter().any(|family| kind.starts_with(family)) => {}
            _ => return EventRole::Unknown,
        }
        EventRole::Note
    }

    /// Skills of plugins are loaded later than others, in another event.
    fn note_catalogue(&mut self, data: &Map) {
        let skills = data.get("skills").and_then(Value::as_list).unwrap_or_default();
        let names = skills.iter().filter_map(Value::as_map).filter_map(|one| text(one, "name"));
        if names.into_iter().any(|name| name.contains(MASK)) {
            self.conversation.hide_skills();
        }
        let offered = self.offered.get_or_insert_default();
        for skill in skills.iter().filter_map(Value::as_map) {
            let is_enabled = skill.get("enabled") != Some(&Value::Bool(false));
            let name = text(skill, "name").map(Skill::bare_name);
            if let Some(name) = name.filter(|_| is_enabled)
                && !offered.iter().any(|one| one == name)
            {
                offered.push(name.to_owned());
            }
        }
    }

    fn read_assistant(&mut self, data: &Map) {
        note(&mut self.model, text(data, "model"));
        self.requests += 1;
        let parent = text(data, "parentToolCallId");
        let said = joined_text(data.get("content"));
        let asked = data.get("toolRequests").and_then(Value::as_list).unwrap_or_default();
        let calls = asked.iter().filter_map(Value::as_map).map(|request| {
            let id = text(request, "toolCallId").unwrap_or_default();
            let tool = text(request, "name").unwrap_or_default();
            Call::new(id, tool, arguments(given(request, "arguments")))
        });
        let calls: Vec<Call> = calls.collect();
        calls.iter().for_each(|call| self.note_masks(call));
        if let Some(parent) = parent {
            let root = self.root_of(parent);
            let calls = calls.into_iter().map(|call| (call.id.clone(), (call, root)));
            self.sub_agent_calls.extend(calls);
            return;
        }
        let at = self.conversation.open();
        if !said.is_empty() {
            self.conversation.add_text(at, &said);
        }
        for call in calls {
            self.conversation.add_call(at, call);
        }
    }

    /// A skill may be behind a name that is masked.
    fn note_masks(&mut self, call: &Call) {
        let is_masked = |name: &str| name.contains(MASK);
        let args = call.args.as_map().filter(|_| call.tool == SKILL_TOOL);
        let mut values = args.into_iter().flat_map(Map::iter).filter_map(|(_, one)| one.as_str());
        if is_masked(&call.tool) || values.any(is_masked) {
            self.conversation.hide_skills();
        }
    }

    fn root_of(&self, parent: &str) -> Option<usize> {
        let nested = || self.sub_agent_calls.get(parent).and_then(|(_, root)| *root);
        self.conversation.call_index(parent).or_else(nested)
    }

    /// Calls that no message announced are added here.
    fn start_call(&mut self, event: &Map, data: &Map) {
        let id = text(data, "toolCallId").unwrap_or_default();
        if let Some(time) = time_of(event) {
            self.call_times.insert(id.to_owned(), time);
        }
        if self.conversation.has_call(id) || self.sub_agent_calls.contains_key(id) {
            return;
        }
        let tool = text(data, "toolName").unwrap_or_default();
        let call = Call::new(id, tool, arguments(given(data, "arguments")));
        self.note_masks(&call);
        match text(data, "parentToolCallId") {
            Some(parent) => {
                let root = self.root_of(parent);
                self.sub_agent_calls.insert(id.to_owned(), (call, root));
            }
            None => {
                let at = self.conversation.open();
                self.conversation.add_call(at, call);
            }
        }
    }

    fn end_call(&mut self, event: &Map, data: &Map) {
        let id = text(data, "toolCallId").unwrap_or_default();
        let is_error = !is_true(data, "success");
        if let Some((mut call, root)) = self.sub_agent_calls.remove(id) {
            call.is_error = Some(is_error);
            self.conversation.end_call_of_sub_agent(&call, root);
            return;
        }
        let result = child(data, "result").and_then(|result| given(result, "content"));
        let error = child(data, "error").and_then(|error| given(error, "message"));
        let shell = child(data, "shellExecution");
        let times = self.call_times.remove(id).zip(time_of(event));
        let end = CallEnd {
            output: Some(result.or(error).cloned().unwrap_or_else(|| "".into())),
            is_error: Some(is_error),
            exit_code: shell.and_then(|shell| measure::whole(shell, "exitCode").ok().flatten()),
            duration_ms: times.and_then(|(from, to)| u64::try_from(to - from).ok()),
        };
        self.conversation.end_call(id, end);
    }

    fn read_flat(&mut self, kind: &str, event: &Map) {
        match kind {
            "message" => {
                let said = joined_text(event.get("content"));
                if text(event, "role") == Some("assistant") {
                    note(&mut self.model, text(event, "model"));
                    self.conversation.say(&said);
                } else {
                    self.conversation.ask(&said);
                }
            }
            "tool_use" => {
                let id = text(event, "id").unwrap_or_default();
                let tool = text(event, "name").unwrap_or_default();
                let at = self.conversation.open();
                let call = Call::new(id, tool, arguments(given(event, "input")));
                self.note_masks(&call);
                self.conversation.add_call(at, call);
            }
            "tool_result" => {
                let end = CallEnd {
                    output: Some(joined_text(event.get("content")).into()),
                    is_error: Some(is_true(event, "is_error")),
                    ..CallEnd::default()
                };
                self.conversation.end_call(text(event, "tool_use_id").unwrap_or_default(), end);
            }
            _ => {
                self.requests += 1;
                let keys = ["input_tokens", "output_tokens", "cache_read_input_tokens"];
                if let Some(used) = figure(measure::tokens(event, keys), &mut self.failure) {
                    self.tokens = Some(self.tokens.unwrap_or_default().plus(used));
                }
            }
        }
    }

    fn read_end(&mut self, event: &Map) {
        note(&mut self.facts.id, text(event, "sessionId"));
        let usage = child(event, "usage");
        let took =
            usage.map_or(Ok(None), |usage| measure::milliseconds(usage, "sessionDurationMs"));
        self.duration_ms = figure(took, &mut self.failure);
        let code = measure::whole(event, "exitCode").ok().flatten();
        if let Some(code) = code.filter(|code| *code != 0) {
            let said = self.complaint.clone();
            let said = said.unwrap_or_else(|| format!("exit code {code}"));
            self.failure = Some(format!("the agent ended with an error: {said}"));
        }
    }
}

fn time_of(event: &Map) -> Option<i64> {
    unix_milliseconds(text(event, "timestamp")?)
}

/// Adds what Copilot CLI wrote to `--usage-output-file`: the stream has no tokens.
pub(crate) fn add_usage(file: &[u8], transcript: &mut Transcript) -> Result<(), String> {
    let Ok(Value::Map(usage)) = json::parse(&String::from_utf8_lossy(file)) else {
        return Err("the usage file is not a JSON object".to_owned());
    };
    let models = child(&usage, "modelMetrics");
    let models = models.into_iter().flat_map(Map::iter).filter_map(|(_, model)| model.as_map());
    let (mut tokens, mut requests): (Option<Tokens>, Option<u64>) = (None, None);
    for model in models {
        let keys = ["inputTokens", "outputTokens", "cacheReadTokens"];
        let used = child(model, "usage").map_or(Ok(None), |usage| measure::tokens(usage, keys))?;
        if let Some(used) = used {
            tokens = Some(tokens.unwrap_or_default().plus(used));
        }
        let made =
            child(model, "requests").map_or(Ok(None), |made| measure::count(made, "count"))?;
        if let Some(made) = made {
            requests = Some(requests.unwrap_or(0).saturating_add(made));
        }
    }
    transcript.tokens = tokens.or(transcript.tokens);
    transcript.session.llm_calls = requests.or(transcript.session.llm_calls);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{calls, fault, read, recorded, uses};
    use super::*;

    #[test]
    fn session_events_are_read() {
        let read = read(&FORMAT, recorded::COPILOT_SKILL);
        assert_eq!(read.answer, "The total is 42.");
        assert_eq!(calls(&read), [r#"skill {"skill":"csv-analyzer"} ok"#]);
        assert_eq!(uses(&read), ["csv-analyzer tool ok #0"]);
        let offered = read.skills.offered.unwrap();
        assert_eq!(offered, ["csv-analyzer", "csv-analyzer-pro"]);
        assert_eq!((read.tokens, read.duration_ms), (None, Some(889)));
        assert_eq!((read.session.llm_calls, read.session.unknown_events), (Some(2), 0));
        assert_eq!(read.model.as_deref(), Some("m1"));
    }

    #[test]
    fn masked_names_hide_which_skills_are_used() {
        let skill = recorded::COPILOT_SKILL;
        // By the keys `k`, `csv` and `ski`.
        for (name, masked) in [
            ("\"skill\"", "\"s******ill\""),
            ("csv-analyzer", "******-analyzer"),
            ("session.skills_loaded", "session.******lls_loaded"),
        ] {
            let stream = skill.replace(name, masked);
            assert_ne!(stream, skill);
            assert_eq!(read(&FORMAT, &stream).skills.used, None, "{masked}");
        }
        let flat = concat!(
            "{\"type\":\"message\",\"role\":\"user\",\"content\":\"Hi\"}\n",
            "{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"s******ill\",\"input\":{}}\n",
            "{\"type\":\"tool_result\",\"tool_use_id\":\"a\",\"content\":\"\"}\n",
            "{\"type\":\"result\",\"exitCode\":0}\n",
        );
        assert_eq!(read(&FORMAT, flat).skills.used, None);
        // In what is said, masks hide nothing that counts.
        let said = skill.replace("The total is", "The ****** is");
        assert!(read(&FORMAT, &said).skills.used.is_some());
    }

    #[test]
    fn the_usage_file_has_the_tokens() {
        let mut read = read(&FORMAT, recorded::COPILOT_SKILL);
        add_usage(recorded::COPILOT_USAGE.as_bytes(), &mut read).unwrap();
        let tokens = read.tokens.unwrap();
        assert_eq!((tokens.input, tokens.output, tokens.cached), (300, 34, 60));
        assert_eq!(read.session.llm_calls, Some(2));
        assert!(add_usage(b"", &mut read).is_err());
        assert!(add_usage(b"{}", &mut read).is_ok());
        assert_eq!(read.tokens, Some(tokens));
    }

    #[test]
    fn a_refused_skill_is_no_use() {
        let refused = recorded::COPILOT_SKILL.replace("\"success\":true", "\"success\":false");
        assert_eq!(uses(&read(&FORMAT, &refused)), ["csv-analyzer tool failed #0"]);
    }

    #[test]
    fn calls_of_a_sub_agent_count_as_use_of_the_skill_only() {
        let start = r#"{"type":"assistant.message","data":{"content":"","toolRequests":[{"toolCallId":"t","name":"task","arguments":{}}]}}"#;
        let sub = recorded::COPILOT_SKILL.replacen(
            r#""content":"","toolRequests""#,
            r#""content":"","parentToolCallId":"t","toolRequests""#,
            1,
        );
        let (first, rest) = sub.split_once('\n').unwrap();
        let read = read(&FORMAT, &format!("{first}\n{start}\n{rest}"));
        assert_eq!(calls(&read), ["task {}"]);
        assert_eq!(uses(&read), ["csv-analyzer tool ok #0 sub-agent"]);
    }

    #[test]
    fn flat_events_are_read() {
        let stream = r#"{"type":"message","role":"user","content":"Hi"}
{"type":"message","role":"assistant","content":[{"type":"text","text":"Let me see."}],"model":"m2"}
{"type":"tool_use","id":"a","name":"bash","input":{"command":"ls"}}
{"type":"tool_result","tool_use_id":"a","content":"no","is_error":true}
{"type":"usage","input_tokens":5,"output_tokens":2}
{"type":"message","role":"assistant","content":"Done."}
{"type":"usage","input_tokens":6,"output_tokens":1}
{"type":"result","sessionId":"s","exitCode":0}
"#;
        let read = read(&FORMAT, stream);
        assert_eq!((read.answer.as_str(), read.messages.len()), ("Done.", 4));
        assert_eq!(calls(&read), [r#"bash {"command":"ls"} error"#]);
        assert_eq!(read.tokens.map(|tokens| (tokens.input, tokens.output)), Some((11, 3)));
        assert_eq!((read.model.as_deref(), read.session.llm_calls), (Some("m2"), Some(2)));
    }

    #[test]
    fn an_api_error_is_the_reason() {
        let message = fault(&FORMAT, recorded::COPILOT_401);
        assert!(message.starts_with("the agent ended with an error: Authentication failed"));
    }

    #[test]
    fn a_skill_that_the_prompt_names_is_used() {
        let invoked = r#"{"type":"skill.invoked","data":{"name":"csv-analyzer-pro","path":"x"}}"#;
        let (first, rest) = recorded::COPILOT_SKILL.split_once('\n').unwrap();
        let read = read(&FORMAT, &format!("{first}\n{invoked}\n{rest}"));
        assert_eq!(uses(&read), ["csv-analyzer-pro explicit ok", "csv-analyzer tool ok #0"]);
    }

    #[test]
    fn a_sub_agent_that_uses_a_skill_is_seen() {
        let read = read(&FORMAT, recorded::COPILOT_SUB_AGENT);
        assert_eq!((read.answer.as_str(), calls(&read).len()), ("It is 42.", 1));
        assert_eq!(uses(&read), ["csv-analyzer tool ok #0 sub-agent"]);
    }
}
