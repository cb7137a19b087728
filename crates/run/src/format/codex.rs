//! Codex: the events of `codex exec --json` and the rows of its session files.

use evalrig_core::model::{Call, Map, Measurement, SessionFacts, Tokens, Value};

use crate::agent::Unreported;

use super::blocks::arguments;
use super::conversation::{CallEnd, Conversation};
use super::events::{
    EventFormat, EventReader, EventRole, EventSession, child, figure, joined_text, names_no_skill,
    note, text,
};
use super::measure::{self, given};
use super::skill_rule;

/// Codex reports tokens, but neither what they cost nor how many requests there were.
pub(crate) const UNREPORTED: &[Unreported] = &[
    Unreported { what: Measurement::Cost, cause: "Codex", remedy: "add `price` to the target" },
    Unreported {
        what: Measurement::LlmCalls,
        cause: "Codex",
        remedy: "limit `max_tool_calls` or `max_tokens` instead",
    },
];

pub(crate) static FORMAT: EventFormat = EventFormat {
    name: "codex",
    doc: "Codex: `exec --json`, or a session file",
    agent: "Codex",
    opens: |event| text(event, "type") == Some("thread.started"),
    closing: "a `turn.completed` event",
    skipped: &["item.updated"],
    recognizes,
    explicit_skill: names_no_skill,
    reader: || Box::new(CodexReader::default()),
};

fn recognizes(event: &Map) -> bool {
    let types = ["thread.started", "turn.started", "item.completed", "turn.completed"];
    let rows = ["turn.failed", "session_meta", "response_item", "event_msg"];
    text(event, "type").is_some_and(|kind| types.contains(&kind) || rows.contains(&kind))
}

/// Items that are tool calls, each with the keys that may hold its output. The other keys are its
/// arguments.
const TOOLS: &[(&str, &[&str])] = &[
    ("command_execution", &["aggregated_output"]),
    ("file_change", &[]),
    ("mcp_tool_call", &["result", "error"]),
    ("web_search", &["result", "results"]),
    (SUB_AGENT, &["agents_states"]),
];

/// Starts, instructs or awaits another agent, whose steps are not in the stream.
const SUB_AGENT: &str = "collab_tool_call";

/// Items that are no tool calls.
const NOTES: &[&str] = &["reasoning", "error", "todo_list", "plan"];

/// Keys of an item that are neither output nor arguments.
const STATE: &[&str] = &["id", "type", "status", "exit_code"];

#[derive(Debug)]
struct CodexReader {
    conversation: Conversation,
    calls: usize,
    /// Tool calls that began and did not end.
    started: Vec<Map>,
    /// Counts of the whole thread, so that the last ones hold.
    usage: Option<Map>,
    duration_ms: Option<u64>,
    model: Option<String>,
    facts: SessionFacts,
    cwd: Option<String>,
    failure: Option<String>,
    complaint: Option<String>,
}

impl Default for CodexReader {
    fn default() -> Self {
        Self {
            conversation: Conversation::of_agent(skill_rule::codex),
            calls: 0,
            started: Vec::new(),
            usage: None,
            duration_ms: None,
            model: None,
            facts: SessionFacts::default(),
            cwd: None,
            failure: None,
            complaint: None,
        }
    }
}

impl EventReader for CodexReader {
    fn read_event(&mut self, event: &Map) -> EventRole {
        match (text(event, "type"), child(event, "payload")) {
            (Some("thread.started"), _) => {
                note(&mut self.facts.id, text(event, "thread_id"));
                return EventRole::Note;
            }
            (Some("item.started"), _) => {
                if let Some(item) = child(event, "item").filter(|item| tool_of(item).is_some()) {
                    self.started.push(item.clone());
                }
            }
            (Some("item.completed"), _) => {
                if let Some(item) = child(event, "item") {
                    return self.read_item(item);
                }
            }
            (Some("turn.completed"), _) => {
                self.usage = child(event, "usage").cloned();
                return EventRole::Closing;
            }
            (Some("turn.failed"), _) => {
                let reason = child(event, "error").and_then(|error| text(error, "message"));
                let reason = reason.unwrap_or("no reason given");
                self.failure = Some(format!("the agent ended with an error: {reason}"));
                return EventRole::Closing;
            }
            (Some("error"), _) => {
                self.complaint = text(event, "message").map(str::to_owned);
                return EventRole::Note;
            }
            (Some("turn.started" | "item.updated"), _) => {}
            (Some("session_meta" | "turn_context"), Some(payload)) => self.read_context(payload),
            (Some("response_item"), Some(payload)) => self.read_response(payload),
            (Some("event_msg"), Some(payload)) => self.read_event_message(payload),
            _ => return EventRole::Unknown,
        }
        EventRole::Step
    }

    fn conversation(&self) -> &Conversation {
        &self.conversation
    }

    fn finish(mut self: Box<Self>) -> EventSession {
        for item in std::mem::take(&mut self.started) {
            self.add_item(&item);
        }
        let mut failure = self.failure;
        // Those of other agents are not among them.
        let usage = self.usage.as_ref().filter(|_| !self.conversation.hides_steps());
        let tokens = usage.map_or(Ok(None), tokens);
        EventSession {
            tokens: figure(tokens, &mut failure),
            conversation: self.conversation,
            failure,
            complaint: self.complaint,
            duration_ms: self.duration_ms,
            model: self.model,
            facts: self.facts,
            cwd: self.cwd,
            ..EventSession::default()
        }
    }
}

/// The tool of an item, with the keys of its output.
fn tool_of(item: &Map) -> Option<&'static (&'static str, &'static [&'static str])> {
    let kind = text(item, "type")?;
    TOOLS.iter().find(|(tool, _)| *tool == kind)
}

impl CodexReader {
    fn read_item(&mut self, item: &Map) -> EventRole {
        let kind = text(item, "type").unwrap_or_default();
        if kind == "agent_message" {
            self.conversation.say(text(item, "text").unwrap_or_default());
            return EventRole::Step;
        }
        let Some((tool, outputs)) = tool_of(item) else {
            let is_known = NOTES.contains(&kind);
            return if is_known { EventRole::Step } else { EventRole::Unknown };
        };
        if *tool == SUB_AGENT {
            self.conversation.hide_skills();
        }
        self.started.retain(|started| started.get("id") != item.get("id"));
        let id = self.add_item(item);
        let exit_code = measure::whole(item, "exit_code").ok().flatten();
        let is_failed = matches!(text(item, "status"), Some("failed" | "declined"))
            || exit_code.is_some_and(|code| code != 0)
            || given(item, "error").is_some();
        let output = outputs.iter().find_map(|key| given(item, key)).cloned();
        let is_error = Some(is_failed);
        self.conversation.end_call(&id, CallEnd { output, is_error, exit_code, duration_ms: None });
        EventRole::Step
    }

    fn add_item(&mut self, item: &Map) -> String {
        let Some((tool, outputs)) = tool_of(item) else {
            return String::new();
        };
        let args = item
            .iter()
            .filter(|(key, _)| !STATE.contains(key) && !outputs.contains(key))
            .map(|(key, value)| (key.to_owned(), value.clone()));
        self.add_call(text(item, "id"), tool, Value::Map(args.collect()))
    }

    /// A message of its own with one call; gives the id of the call.
    fn add_call(&mut self, id: Option<&str>, tool: &str, args: Value) -> String {
        self.calls += 1;
        let id = id.map_or_else(|| format!("call_{}", self.calls), str::to_owned);
        let call = Call::new(id.clone(), tool, args);
        let message = self.conversation.open();
        self.conversation.add_call(message, call);
        id
    }

    fn read_context(&mut self, payload: &Map) {
        if let Some(model) = text(payload, "model") {
            self.model = Some(model.to_owned());
        }
        note(&mut self.cwd, text(payload, "cwd"));
    }

    /// A row of a session file.
    fn read_response(&mut self, payload: &Map) {
        let id = text(payload, "call_id");
        let name = text(payload, "name").unwrap_or_default();
        match text(payload, "type") {
            Some("message") => {
                let said = joined_text(payload.get("content"));
                match text(payload, "role") {
                    // Skip environment context injected by the client.
                    Some("user") if said.trim_start().starts_with('<') => {}
                    Some("user") => self.conversation.ask(&said),
                    Some("assistant") => self.conversation.say(&said),
                    _ => {}
                }
            }
            Some("function_call") => {
                self.add_call(id, name, arguments(payload.get("arguments")));
            }
            Some("custom_tool_call") => {
                let mut args = Map::new();
                args.insert_some("input", payload.get("input").cloned());
                self.add_call(id, name, Value::Map(args));
            }
            Some("function_call_output" | "custom_tool_call_output") => {
                let output = payload.get("output");
                let output = match output.and_then(Value::as_map) {
                    Some(map) => joined_text(map.get("content")),
                    None => joined_text(output),
                };
                let end = CallEnd { output: Some(Value::String(output)), ..CallEnd::default() };
                self.conversation.end_call(id.unwrap_or_default(), end);
            }
            _ => {}
        }
    }

    fn read_event_message(&mut self, payload: &Map) {
        match text(payload, "type") {
            Some("token_count") => {
                let info = child(payload, "info");
                if let Some(usage) = info.and_then(|info| child(info, "total_token_usage")) {
                    self.usage = Some(usage.clone());
                }
            }
            Some("task_complete") => {
                if let Ok(Some(took)) = measure::milliseconds(payload, "duration_ms") {
                    self.duration_ms = Some(took);
                }
            }
            _ => {}
        }
    }
}

/// Cached tokens are counted as input already, and reasoning as output.
fn tokens(usage: &Map) -> Result<Option<Tokens>, String> {
    let keys = ["input_tokens", "output_tokens", "cached_input_tokens"];
    measure::tokens(usage, keys)
}

#[cfg(test)]
mod tests {
    use evalrig_core::model::{JsonStyle, Transcript};

    use crate::agent::{AgentStream as _, StreamFault};

    use super::super::stream_reader::StreamReader;
    use super::super::testing::{calls, fault, recorded, uses};
    use super::*;

    fn read(output: &[u8]) -> Result<Transcript, StreamFault> {
        FORMAT.read_transcript(output)
    }

    const END: &str = r#"{"type":"turn.completed","usage":{"input_tokens":50,"cached_input_tokens":20,"output_tokens":7,"reasoning_output_tokens":3}}"#;

    fn item(rest: &str) -> String {
        format!(r#"{{"type":"item.completed","item":{{{rest}}}}}"#)
    }

    const START: &str = r#"{"type":"thread.started","thread_id":"1"}"#;

    /// Reads the lines after `thread.started`.
    fn read_lines(lines: &[&str]) -> Result<Transcript, StreamFault> {
        read(format!("{START}\n{}", lines.join("\n")).as_bytes())
    }

    fn failed(lines: &[&str]) -> (bool, String) {
        match read_lines(lines).unwrap_err() {
            StreamFault::Reported(failure) => (true, failure.fault.message),
            StreamFault::Unfinished(failure) => (false, failure.fault.message),
        }
    }

    #[test]
    fn items_become_messages_and_calls() {
        let items = [
            r#""id":"i0","type":"error","message":"a warning""#,
            r#""id":"i1","type":"command_execution","command":"ls","aggregated_output":"a\n","exit_code":0,"status":"completed""#,
            r#""id":"i2","type":"file_change","changes":[{"path":"/w/a","kind":"add"}],"status":"completed""#,
            r#""id":"i3","type":"mcp_tool_call","server":"s","tool":"t","arguments":{"q":1},"result":null,"error":{"message":"no"},"status":"failed""#,
            r#""type":"web_search","query":"q""#,
            r#""id":"i5","type":"reasoning","text":"hm""#,
            r#""id":"i6","type":"agent_message","text":"first""#,
            r#""id":"i7","type":"agent_message","text":"last""#,
            r#""id":"i8","type":"hologram""#,
        ];
        let mut lines = vec![
            r#"{"type":"error","message":"Reconnecting... 1/5"}"#.to_owned(),
            r#"{"type":"item.started","item":{"id":"i1","type":"command_execution","command":"ls","aggregated_output":"","exit_code":null,"status":"in_progress"}}"#.to_owned(),
        ];
        lines.extend(items.map(item));
        lines.push(END.to_owned());
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let read = read_lines(&lines).unwrap();
        let errors: Vec<_> =
            read.calls.as_ref().unwrap().iter().map(|call| call.is_error.unwrap()).collect();
        assert_eq!(errors, [false, false, true, false]);
        assert_eq!((read.session.llm_calls, read.session.unknown_events), (None, 1));
        assert_eq!(read.answer, "last");
        let shown: Vec<_> = read
            .calls
            .unwrap()
            .iter()
            .map(|call| {
                let json = |value: &Value| value.to_json(JsonStyle::Compact);
                let output = call.output.as_ref().map(json).unwrap_or_default();
                format!("{} {} {} {output}", call.id, call.tool, json(&call.args))
            })
            .collect();
        assert_eq!(
            shown,
            [
                r#"i1 command_execution {"command":"ls"} "a\n""#,
                r#"i2 file_change {"changes":[{"path":"/w/a","kind":"add"}]} "#,
                r#"i3 mcp_tool_call {"server":"s","tool":"t","arguments":{"q":1}} {"message":"no"}"#,
                r#"call_4 web_search {"query":"q"} "#,
            ]
        );
        let tokens = read.tokens.unwrap();
        assert_eq!((tokens.input, tokens.output, tokens.cached), (50, 7, 20));
        assert_eq!((read.cost_usd, read.duration_ms, read.model), (None, None, None));
    }

    #[test]
    fn what_another_agent_does_is_unknown() {
        let read = read(recorded::CODEX_SUB_AGENT.as_bytes()).unwrap();
        assert_eq!((read.answer.as_str(), read.skills.used), ("It is 42.", None));
        assert_eq!(read.tokens, None);
    }

    #[test]
    fn a_failed_turn_is_a_fault() {
        let line = r#"{"type":"turn.failed","error":{"message":"status 401"}}"#;
        assert_eq!(
            failed(&[line, END]),
            (true, "the agent ended with an error: status 401".to_owned())
        );
        let line = r#"{"type":"turn.failed","error":null}"#;
        assert_eq!(failed(&[line]).1, "the agent ended with an error: no reason given");
    }

    #[test]
    fn a_stream_that_breaks_off_is_unfinished() {
        let none = "the output ends at line 2 without a `turn.completed` event";
        let line = r#"{"type":"error","message":"waiting for network"}"#;
        assert_eq!(failed(&[line]), (false, format!("{none}: waiting for network")));
        let cut = &END[..40];
        assert_eq!(
            failed(&[line, cut]),
            (false, format!("line 3 of the output is not JSON: {cut}"))
        );
        assert!(fault(&FORMAT, recorded::CLAUDE_SKILL).contains("one of Claude Code"));
    }

    #[test]
    fn a_command_that_fails_is_an_error_and_no_use_of_a_skill() {
        let read = read(recorded::CODEX_SKILL_MISSING.as_bytes()).unwrap();
        assert_eq!(uses(&read), ["csv-analyzer read failed #0"]);
        let call = &read.calls.as_ref().unwrap()[0];
        assert_eq!((call.is_error, call.exit_code), (Some(true), Some(1)));
        let good = recorded::CODEX_SKILL_MISSING
            .replace(r#""exit_code":1,"status":"failed""#, r#""exit_code":0,"status":"completed""#);
        // Its output says that there is no such file.
        assert_eq!(uses(&super::super::testing::read(&FORMAT, &good)), [""; 0]);
        let good = good.replace("No such file or directory", "Add it up.");
        assert_eq!(uses(&super::super::testing::read(&FORMAT, &good)), ["csv-analyzer read ok #0"]);
        let patch = super::super::testing::read(&FORMAT, recorded::CODEX_PATCH);
        assert_eq!(uses(&patch), [""; 0]);
        let message = fault(&FORMAT, recorded::CODEX_401);
        assert!(message.starts_with("the agent ended with an error: unexpected status 401"));
    }

    #[test]
    fn skills_of_other_agents_are_out_of_sight() {
        let spawned = item(r#""id":"i1","type":"collab_tool_call","tool":"spawn_agent""#);
        assert_eq!(read_lines(&[&spawned, END]).unwrap().skills.used, None);
    }

    #[test]
    fn a_command_that_still_runs_is_a_call_without_an_end() {
        let started = r#"{"type":"item.started","item":{"id":"i1","type":"command_execution","command":"sleep 99","status":"in_progress"}}"#;
        let mut stream = StreamReader::new(&FORMAT);
        stream.feed(format!("{START}\n{started}\n{{\"type\"").as_bytes());
        let so_far = Box::new(stream).so_far().unwrap();
        assert_eq!(calls(&so_far), [r#"command_execution {"command":"sleep 99"}"#]);
        assert!(so_far.partial);
    }

    #[test]
    fn tokens_may_be_missing_but_not_wrong() {
        let read =
            |usage: &str| read_lines(&[&format!(r#"{{"type":"turn.completed","usage":{usage}}}"#)]);
        assert_eq!(read("null").unwrap().tokens, None);
        assert_eq!(read("{}").unwrap().tokens, None);
        assert!(read(r#"{"input_tokens":1.5,"output_tokens":1}"#).is_err());
    }
}
