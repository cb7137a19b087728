//! Codex: the events of `codex exec --json`, and the rows of its session files.

use std::collections::HashMap;

use evalrig_core::model::{Map, Value};

use super::super::spaced_json::spaced_json;
use super::{Session, child, count, message, plain_text, text, tool_call, tool_message};

/// Items that are uses of tools, each with the keys that hold what came back.
const TOOLS: &[(&str, &[&str])] = &[
    ("command_execution", &["aggregated_output"]),
    ("file_change", &[]),
    ("mcp_tool_call", &["result", "error"]),
    ("web_search", &["result", "results"]),
];

/// Keys of an item that say how it went.
const STATE: &[&str] = &["id", "type", "status", "exit_code"];

pub(super) fn read(events: &[Map]) -> Session {
    let mut reading = Reading::default();
    for event in events {
        reading.take(event);
    }
    reading.session
}

#[derive(Default)]
struct Reading {
    session: Session,
    /// The tool of every call.
    tools: HashMap<String, String>,
}

impl Reading {
    fn take(&mut self, event: &Map) {
        let payload = child(event, "payload");
        match (text(event, "type"), payload) {
            (Some("item.completed"), _) => {
                if let Some(item) = child(event, "item") {
                    self.item(item);
                }
            }
            (Some("turn.completed"), _) => {
                if let Some(usage) = child(event, "usage") {
                    self.session.tokens = Some(total(usage));
                }
            }
            (Some("session_meta" | "turn_context"), Some(payload)) => self.notice(payload),
            (Some("response_item"), Some(payload)) => self.response(payload),
            (Some("event_msg"), Some(payload)) => self.event_message(payload),
            _ => {}
        }
    }

    fn item(&mut self, item: &Map) {
        let kind = text(item, "type").unwrap_or_default();
        if kind == "agent_message" {
            self.say(
                "assistant",
                text(item, "text").unwrap_or_default().to_owned(),
            );
            return;
        }
        let Some((_, results)) = TOOLS.iter().find(|(tool, _)| *tool == kind) else {
            return;
        };
        let mut arguments = item.clone();
        arguments.retain(|key, _| !STATE.contains(&key) && !results.contains(&key));
        let id = text(item, "id").unwrap_or_default();
        self.call(id, kind, spaced_json(&Value::Map(arguments)));
        let result = results.iter().find_map(|key| item.get(key));
        if let Some(result) = result.filter(|result| **result != Value::Null) {
            let shown = match result {
                Value::String(text) => text.clone(),
                other => spaced_json(other),
            };
            self.result(id, shown);
        }
    }

    fn notice(&mut self, payload: &Map) {
        if let Some(model) = text(payload, "model") {
            self.session.model = Some(model.to_owned());
        }
        if let Some(cwd) = text(payload, "cwd") {
            self.session.cwd.get_or_insert(cwd.to_owned());
        }
    }

    fn response(&mut self, payload: &Map) {
        let id = text(payload, "call_id").unwrap_or_default();
        match text(payload, "type") {
            Some("message") => {
                let said = plain_text(payload.get("content"));
                match text(payload, "role") {
                    // What the client tells of its surroundings, nobody asked.
                    Some("user") if said.trim_start().starts_with('<') => {}
                    Some(role @ ("user" | "assistant")) => self.say(role, said),
                    _ => {}
                }
            }
            Some("function_call") => {
                let arguments = text(payload, "arguments").unwrap_or("{}").to_owned();
                self.call(id, text(payload, "name").unwrap_or_default(), arguments);
            }
            Some("custom_tool_call") => {
                let mut arguments = Map::new();
                arguments.insert_some("input", payload.get("input").cloned());
                let arguments = spaced_json(&Value::Map(arguments));
                self.call(id, text(payload, "name").unwrap_or_default(), arguments);
            }
            Some("function_call_output" | "custom_tool_call_output") => {
                let output = payload.get("output");
                let shown = match output.and_then(Value::as_map) {
                    Some(map) => plain_text(map.get("content")),
                    None => plain_text(output),
                };
                self.result(id, shown);
            }
            _ => {}
        }
    }

    fn event_message(&mut self, payload: &Map) {
        match text(payload, "type") {
            Some("token_count") => {
                let info = child(payload, "info");
                if let Some(usage) = info.and_then(|info| child(info, "total_token_usage")) {
                    self.session.tokens = Some(total(usage));
                }
            }
            Some("task_complete") => {
                let took = count(payload, "duration_ms");
                self.session.duration_ms = took.or(self.session.duration_ms);
            }
            _ => {}
        }
    }

    fn say(&mut self, role: &str, said: String) {
        self.session.messages.push(message(role, said.into()));
    }

    fn call(&mut self, id: &str, name: &str, arguments: String) {
        self.tools.insert(id.to_owned(), name.to_owned());
        let Value::Map(mut map) = message("assistant", Value::Null) else {
            return;
        };
        map.insert("tool_calls", vec![tool_call(id, name, arguments)]);
        self.session.messages.push(map.into());
    }

    fn result(&mut self, id: &str, output: String) {
        let name = self.tools.get(id).map(String::as_str);
        self.session.messages.push(tool_message(id, name, output));
    }
}

/// Cached tokens are part of the input already.
fn total(usage: &Map) -> u64 {
    let counts = ["input_tokens", "output_tokens"];
    counts.iter().filter_map(|key| count(usage, key)).sum()
}

#[cfg(test)]
mod tests {
    use super::super::{SessionFormat, read_session};

    #[test]
    fn events_become_a_session() {
        let events = r#"{"type":"thread.started","thread_id":"x"}
{"type":"item.completed","item":{"id":"item_0","type":"command_execution","command":"ls","aggregated_output":"a.csv\n","exit_code":0,"status":"completed"}}
{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":"One file."}}
{"type":"turn.completed","usage":{"input_tokens":30,"cached_input_tokens":10,"output_tokens":5}}
"#;
        let session = read_session(events.as_bytes(), SessionFormat::Codex).unwrap();
        let run = session.asked("What is here?").into_run();
        assert_eq!((run.output.as_str(), run.tokens), ("One file.", Some(35)));
        assert_eq!(run.tools_called, ["command_execution(command='ls')"]);
        assert_eq!(run.messages.len(), 4);
    }

    #[test]
    fn a_session_file_holds_what_was_asked() {
        let rows = r#"{"type":"session_meta","payload":{"cwd":"/p"}}
{"type":"turn_context","payload":{"model":"gpt-x"}}
{"type":"response_item","payload":{"type":"message","role":"developer","content":[{"type":"input_text","text":"rules"}]}}
{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>x</environment_context>"}]}}
{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Hi"}]}}
{"type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"cmd\":\"ls\"}","call_id":"c1"}}
{"type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"a.csv"}}
{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Hello"}]}}
{"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":7,"output_tokens":3}}}}
{"type":"event_msg","payload":{"type":"task_complete","duration_ms":1200}}
"#;
        let run = read_session(rows.as_bytes(), SessionFormat::Codex)
            .unwrap()
            .into_run();
        assert_eq!(
            (run.asked[0].text.as_str(), run.output.as_str()),
            ("Hi", "Hello")
        );
        assert_eq!(run.tools_called, ["shell(cmd='ls')"]);
        assert_eq!((run.model.as_str(), run.cwd.as_str()), ("gpt-x", "/p"));
        assert_eq!((run.tokens, run.duration_ms), (Some(10), Some(1200)));
    }
}
