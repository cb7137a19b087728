//! Claude Code: the events of `stream-json`, and the rows of its session files.

use std::collections::HashMap;

use evalrig_core::model::{Map, Number, Value};

use super::super::spaced_json::spaced_json;
use super::{Session, child, count, message, number, plain_text, text, tool_call, tool_message};

/// The model of messages that no model wrote.
const SYNTHETIC: &str = "<synthetic>";

pub(super) fn read(events: &[Map]) -> Session {
    let mut reading = Reading::default();
    for event in events {
        reading.take(event);
    }
    reading.finish()
}

#[derive(Default)]
struct Reading {
    session: Session,
    /// Where the message of an id stands: its blocks come one by one.
    open: HashMap<String, usize>,
    /// The tool of every call.
    tools: HashMap<String, String>,
    /// Tokens by message: every block repeats those of its message.
    usage: HashMap<String, u64>,
    result: Option<String>,
}

impl Reading {
    fn take(&mut self, event: &Map) {
        let is_true = |key| event.get(key) == Some(&Value::Bool(true));
        let of_sub_agent = text(event, "parent_tool_use_id").is_some() || is_true("isSidechain");
        if of_sub_agent || is_true("isMeta") {
            return;
        }
        if let Some(cwd) = text(event, "cwd") {
            self.session.cwd.get_or_insert(cwd.to_owned());
        }
        match text(event, "type") {
            Some("system") => self.notice_model(event),
            Some("user") => self.user(event),
            Some("assistant") => self.assistant(event),
            Some("result") => self.result(event),
            Some("cost-state") => {
                let cost = number(event, "totalCostUSD").map(Number::value);
                self.session.cost_usd = cost.or(self.session.cost_usd);
            }
            _ => {}
        }
    }

    fn notice_model(&mut self, holder: &Map) {
        if let Some(model) = text(holder, "model") {
            self.session.model.get_or_insert(model.to_owned());
        }
    }

    /// What a person said, or what tools gave back.
    fn user(&mut self, event: &Map) {
        let Some(content) = child(event, "message").and_then(|one| one.get("content")) else {
            return;
        };
        for block in blocks(content) {
            if text(block, "type") == Some("tool_result") {
                self.tool_result(block);
            }
        }
        let said = plain_text(Some(content));
        if !said.is_empty() {
            let said = message("user", said.into());
            self.session.messages.push(said);
        }
    }

    fn tool_result(&mut self, block: &Map) {
        let id = text(block, "tool_use_id").unwrap_or_default();
        let content = plain_text(block.get("content"));
        let name = self.tools.get(id).map(String::as_str);
        self.session.messages.push(tool_message(id, name, content));
    }

    fn assistant(&mut self, event: &Map) {
        let Some(message) = child(event, "message") else {
            return;
        };
        if text(message, "model") == Some(SYNTHETIC) {
            return;
        }
        self.notice_model(message);
        let id = text(message, "id").unwrap_or_default();
        if let Some(usage) = child(message, "usage") {
            self.usage.insert(id.to_owned(), total(usage));
        }
        let Some(content) = message.get("content") else {
            return;
        };
        for block in blocks(content) {
            match text(block, "type") {
                Some("text") => self.say(id, text(block, "text").unwrap_or_default()),
                Some("tool_use") => self.call(id, block),
                _ => {}
            }
        }
    }

    fn say(&mut self, id: &str, said: &str) {
        let map = self.open(id);
        let joined = match map.get("content") {
            Some(Value::String(before)) => format!("{before}\n{said}"),
            _ => said.to_owned(),
        };
        map.insert("content", joined);
    }

    fn call(&mut self, message: &str, block: &Map) {
        let Some(name) = text(block, "name") else {
            return;
        };
        let id = text(block, "id").unwrap_or_default();
        self.tools.insert(id.to_owned(), name.to_owned());
        let arguments = block.get("input").map_or("{}".to_owned(), spaced_json);
        let call = tool_call(id, name, arguments);
        let map = self.open(message);
        let mut calls = match map.remove("tool_calls") {
            Some(Value::List(calls)) => calls,
            _ => Vec::new(),
        };
        calls.push(call);
        map.insert("tool_calls", calls);
    }

    /// The message with this id, begun when it is first seen.
    fn open(&mut self, id: &str) -> &mut Map {
        let known = self.open.get(id).copied().filter(|_| !id.is_empty());
        let at = known.unwrap_or_else(|| {
            let begun = message("assistant", Value::Null);
            self.session.messages.push(begun);
            let at = self.session.messages.len() - 1;
            self.open.insert(id.to_owned(), at);
            at
        });
        match &mut self.session.messages[at] {
            Value::Map(map) => map,
            _ => unreachable!("messages that were begun here are objects"),
        }
    }

    fn result(&mut self, event: &Map) {
        self.result = text(event, "result").map(str::to_owned);
        self.session.cost_usd = number(event, "total_cost_usd").map(Number::value);
        self.session.duration_ms = count(event, "duration_ms");
        self.session.tokens = child(event, "usage").map(total);
    }

    fn finish(mut self) -> Session {
        let counted: u64 = self.usage.values().sum();
        if self.session.tokens.is_none() && !self.usage.is_empty() {
            self.session.tokens = Some(counted);
        }
        let is_said = |one: &Value| super::super::run_file::role_of(one) == Some("assistant");
        let is_silent = !self.session.messages.iter().any(is_said);
        if let (Some(result), true) = (self.result, is_silent) {
            let said = message("assistant", result.into());
            self.session.messages.push(said);
        }
        self.session
    }
}

/// Cached tokens are part of what went in.
fn total(usage: &Map) -> u64 {
    [
        "input_tokens",
        "cache_read_input_tokens",
        "cache_creation_input_tokens",
        "output_tokens",
    ]
    .iter()
    .filter_map(|key| count(usage, key))
    .sum()
}

fn blocks(content: &Value) -> impl Iterator<Item = &Map> {
    let items = content.as_list().unwrap_or_default().iter();
    items.filter_map(Value::as_map)
}

#[cfg(test)]
mod tests {
    use super::super::{SessionFormat, read_session};

    const STREAM: &str = r#"{"type":"system","subtype":"init","cwd":"/p","model":"claude-x"}
{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"Let me see."}],"usage":{"input_tokens":5,"output_tokens":1}}}
{"type":"assistant","message":{"id":"m1","content":[{"type":"tool_use","id":"t1","name":"Read","input":{"path":"a.csv"}}],"usage":{"input_tokens":5,"output_tokens":9}}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"1,2"}]}]}}
{"type":"assistant","parent_tool_use_id":"t1","message":{"id":"s","content":[{"type":"text","text":"sub"}]}}
{"type":"assistant","message":{"id":"m2","content":[{"type":"text","text":"Two numbers."}]}}
{"type":"result","subtype":"success","result":"Two numbers.","total_cost_usd":0.01,"duration_ms":900,"usage":{"input_tokens":10,"cache_read_input_tokens":3,"output_tokens":10}}
"#;

    #[test]
    fn a_stream_becomes_a_session() {
        let session = read_session(STREAM.as_bytes(), SessionFormat::Claude).unwrap();
        assert!(!session.has_question());
        let run = session.asked("How many numbers?").into_run();
        assert_eq!(run.output, "Two numbers.");
        assert_eq!(run.tools_called, ["Read(path='a.csv')"]);
        assert_eq!((run.model.as_str(), run.cwd.as_str()), ("claude-x", "/p"));
        assert_eq!((run.tokens, run.cost_usd), (Some(23), Some(0.01)));
        assert_eq!((run.messages.len(), run.duration_ms), (4, Some(900)));
    }

    #[test]
    fn a_session_file_holds_what_was_asked() {
        let rows = r#"{"type":"user","cwd":"/p","message":{"role":"user","content":"Hi"}}
{"type":"user","isMeta":true,"message":{"content":"a skill"}}
{"type":"assistant","isSidechain":true,"message":{"id":"s","content":[{"type":"text","text":"sub"}]}}
{"type":"assistant","message":{"id":"m","model":"claude-x","content":[{"type":"text","text":"Hello"}],"usage":{"input_tokens":4,"output_tokens":2}}}
{"type":"cost-state","totalCostUSD":0.25}
"#;
        let run = read_session(rows.as_bytes(), SessionFormat::Claude)
            .unwrap()
            .into_run();
        assert_eq!(
            (run.asked[0].text.as_str(), run.output.as_str()),
            ("Hi", "Hello")
        );
        assert_eq!((run.tokens, run.cost_usd), (Some(6), Some(0.25)));
    }

    #[test]
    fn a_result_speaks_when_nobody_else_does() {
        let rows = r#"{"type":"result","result":"Hello"}"#;
        let run = read_session(rows.as_bytes(), SessionFormat::Claude)
            .unwrap()
            .into_run();
        assert_eq!(run.output, "Hello");
    }
}
