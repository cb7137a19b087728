//! Codex: the events of `codex exec --json` and the rows of its session files.

use evalrig_core::model::{Call, Map, Measurement, SessionFacts, Tokens, Value};

use crate::agent::Unreported;

use super::conversation::{Conversation, arguments};
use super::events::{Ending, EventFormat, EventReader, EventSession, child, joined_text, text};
use super::measure::{self, given};

/// Codex reports tokens, but not what they cost.
pub(crate) const UNREPORTED: &[Unreported] = &[Unreported {
    what: Measurement::Cost,
    cause: "`codex-cli`",
    remedy: "add `price` to the target",
}];

pub(crate) static FORMAT: EventFormat = EventFormat {
    name: "codex",
    doc: "Codex: `exec --json`, or a session file",
    event_types: &[
        "thread.started",
        "turn.started",
        "item.completed",
        "turn.completed",
        "turn.failed",
        "session_meta",
        "response_item",
        "event_msg",
    ],
    reader: || Box::new(CodexReader::default()),
};

/// Items that are tool calls, each with the keys that may hold its output. The other keys are its
/// arguments.
const TOOLS: &[(&str, &[&str])] = &[
    ("command_execution", &["aggregated_output"]),
    ("file_change", &[]),
    ("mcp_tool_call", &["result", "error"]),
    ("web_search", &["result", "results"]),
];

/// Keys of an item that are neither output nor arguments.
const STATE: &[&str] = &["id", "type", "status", "exit_code"];

#[derive(Debug, Default)]
struct CodexReader {
    conversation: Conversation,
    calls: usize,
    is_completed: bool,
    /// Counts of the whole thread, so that the last ones hold.
    usage: Option<Map>,
    duration_ms: Option<u64>,
    model: Option<String>,
    thread: Option<String>,
    cwd: Option<String>,
    failed: Option<String>,
    complaint: Option<String>,
}

impl EventReader for CodexReader {
    fn read_event(&mut self, event: &Map) {
        match (text(event, "type"), child(event, "payload")) {
            (Some("thread.started"), _) => {
                self.thread = text(event, "thread_id").map(str::to_owned);
            }
            (Some("item.completed"), _) => {
                if let Some(item) = child(event, "item") {
                    self.read_item(item);
                }
            }
            (Some("turn.completed"), _) => {
                self.usage = child(event, "usage").cloned();
                self.is_completed = true;
            }
            (Some("turn.failed"), _) => {
                let reason = child(event, "error").and_then(|error| text(error, "message"));
                self.failed = Some(reason.unwrap_or("no reason given").to_owned());
            }
            (Some("error"), _) => self.complaint = text(event, "message").map(str::to_owned),
            (Some("session_meta" | "turn_context"), Some(payload)) => self.read_context(payload),
            (Some("response_item"), Some(payload)) => self.read_response(payload),
            (Some("event_msg"), Some(payload)) => self.read_event_message(payload),
            _ => {}
        }
    }

    fn finish(self: Box<Self>) -> EventSession {
        let tokens = self.usage.as_ref().map_or(Ok(None), tokens);
        let ending = match (&self.failed, &tokens) {
            (Some(reason), _) => Ending::Failed(format!("the agent ended with an error: {reason}")),
            (None, _) if !self.is_completed => Ending::Unfinished {
                message: "the output has no `turn.completed` event",
                complaint: self.complaint,
            },
            (None, Err(reason)) => Ending::Failed(reason.clone()),
            (None, Ok(_)) => Ending::Completed,
        };
        EventSession {
            conversation: self.conversation,
            ending,
            tokens: tokens.unwrap_or_default(),
            cost_usd: None,
            duration_ms: self.duration_ms,
            model: self.model,
            facts: SessionFacts { id: self.thread, ..SessionFacts::default() },
            cwd: self.cwd,
        }
    }
}

impl CodexReader {
    fn read_item(&mut self, item: &Map) {
        let kind = text(item, "type").unwrap_or_default();
        if kind == "agent_message" {
            self.conversation.say(text(item, "text").unwrap_or_default());
            return;
        }
        let Some((_, outputs)) = TOOLS.iter().find(|(tool, _)| *tool == kind) else {
            return;
        };
        let args = item
            .iter()
            .filter(|(key, _)| !STATE.contains(key) && !outputs.contains(key))
            .map(|(key, value)| (key.to_owned(), value.clone()));
        let id = self.add_call(text(item, "id"), kind, Value::Map(args.collect()));
        if let Some(output) = outputs.iter().find_map(|key| given(item, key)) {
            self.conversation.add_result(&id, output.clone());
        }
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
        if self.cwd.is_none() {
            self.cwd = text(payload, "cwd").map(str::to_owned);
        }
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
                let id = id.unwrap_or_default();
                self.conversation.add_result(id, Value::String(output));
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

    use crate::agent::StreamFault;

    use super::*;

    fn read(output: &[u8]) -> Result<Transcript, StreamFault> {
        FORMAT.read_transcript(output)
    }

    const END: &str = r#"{"type":"turn.completed","usage":{"input_tokens":50,"cached_input_tokens":20,"output_tokens":7,"reasoning_output_tokens":3}}"#;

    fn item(rest: &str) -> String {
        format!(r#"{{"type":"item.completed","item":{{{rest}}}}}"#)
    }

    fn read_lines(lines: &[String]) -> Result<Transcript, StreamFault> {
        read(lines.join("\n").as_bytes())
    }

    fn failed(lines: &[&str]) -> (bool, String) {
        match read(lines.join("\n").as_bytes()).unwrap_err() {
            StreamFault::Reported(failure) => (true, failure.fault.message),
            StreamFault::Unfinished(failure) => (false, failure.fault.message),
        }
    }

    #[test]
    fn items_become_messages_and_calls() {
        let read = read_lines(&[
            r#"{"type":"thread.started","thread_id":"1"}"#.to_owned(),
            item(r#""id":"i0","type":"error","message":"a warning""#),
            r#"{"type":"error","message":"Reconnecting... 1/5"}"#.to_owned(),
            r#"{"type":"item.started","item":{"id":"i1","type":"command_execution","command":"ls","aggregated_output":"","exit_code":null,"status":"in_progress"}}"#.to_owned(),
            item(r#""id":"i1","type":"command_execution","command":"ls","aggregated_output":"a\n","exit_code":0,"status":"completed""#),
            item(r#""id":"i2","type":"file_change","changes":[{"path":"/w/a","kind":"add"}],"status":"completed""#),
            item(r#""id":"i3","type":"mcp_tool_call","server":"s","tool":"t","arguments":{"q":1},"result":null,"error":{"message":"no"},"status":"failed""#),
            item(r#""type":"web_search","query":"q""#),
            item(r#""id":"i5","type":"reasoning","text":"hm""#),
            item(r#""id":"i6","type":"agent_message","text":"first""#),
            item(r#""id":"i7","type":"agent_message","text":"last""#),
            END.to_owned(),
        ])
        .unwrap();
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
        let none = "the output has no `turn.completed` event";
        assert_eq!(failed(&[]), (false, none.to_owned()));
        let line = r#"{"type":"error","message":"waiting for network"}"#;
        let message = format!("{none}: waiting for network");
        assert_eq!(failed(&[line, &END[..40]]), (false, message));
        assert_eq!(failed(&["{\"type\""]), (false, format!("{none}: {{\"type\"")));
    }

    #[test]
    fn tokens_may_be_missing_but_not_wrong() {
        let read = |usage: &str| {
            let line = format!(r#"{{"type":"turn.completed","usage":{usage}}}"#);
            read(line.as_bytes())
        };
        assert_eq!(read("null").unwrap().tokens, None);
        assert_eq!(read("{}").unwrap().tokens, None);
        assert!(read(r#"{"input_tokens":1.5,"output_tokens":1}"#).is_err());
    }
}
