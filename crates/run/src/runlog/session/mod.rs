//! What any agent printed or kept of a session → a run that can be recorded.
//!
//! One file per family of clients. Lines that nobody knows are passed over; a session without a
//! message of the user needs to be told what was asked.

mod claude;
mod codex;

use evalrig_core::model::{Map, Number, Value};
use evalrig_core::syntax::lenient_json_value;

use crate::format;

use super::dialogue::Dialogue;
use super::record::NewRun;

/// Who wrote it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionFormat {
    /// Chat messages: a JSON array, or an object with `messages` and what they took.
    Messages,
    /// Claude Code: `--output-format stream-json`, or a file of `~/.claude/projects`.
    Claude,
    /// Codex: `codex exec --json`, or a file of `~/.codex/sessions`.
    Codex,
}

impl SessionFormat {
    pub const ALL: &[Self] = &[Self::Messages, Self::Claude, Self::Codex];

    /// By what the text looks like.
    pub fn guess(bytes: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(bytes);
        if format::messages::read(bytes).is_ok() && !has_type(&text) {
            return Some(Self::Messages);
        }
        let types = text.lines().filter_map(type_of);
        for one in types {
            match one.as_str() {
                "thread.started" | "turn.started" | "item.completed" | "turn.completed"
                | "turn.failed" | "session_meta" | "response_item" | "event_msg" => {
                    return Some(Self::Codex);
                }
                "assistant" | "user" | "system" | "result" => return Some(Self::Claude),
                _ => {}
            }
        }
        None
    }
}

/// Whether the whole text is one event.
fn has_type(text: &str) -> bool {
    type_of(text.trim()).is_some()
}

fn type_of(line: &str) -> Option<String> {
    match lenient_json_value(line) {
        Ok(Value::Map(map)) => Some(map.get("type")?.as_str()?.to_owned()),
        _ => None,
    }
}

/// A session as it was read. What is not known is `None`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Session {
    /// Sent and received.
    pub messages: Vec<Value>,
    pub model: Option<String>,
    pub cwd: Option<String>,
    pub tokens: Option<u64>,
    pub cost_usd: Option<f64>,
    pub duration_ms: Option<u64>,
}

impl Session {
    /// Puts a question first, for clients that do not repeat it.
    #[must_use]
    pub fn asked(mut self, prompt: &str) -> Self {
        let system = |message: &Value| super::run_file::role_of(message) == Some("system");
        let at = self.messages.iter().take_while(|one| system(one)).count();
        self.messages.insert(at, message("user", prompt.into()));
        self
    }

    /// Whether anybody asked something.
    pub fn has_question(&self) -> bool {
        !Dialogue::of(&self.messages).asked.is_empty()
    }

    /// Model, directory and time are the caller's to complete.
    pub fn into_run(self) -> NewRun {
        let dialogue = Dialogue::of(&self.messages);
        NewRun {
            asked: dialogue.asked,
            output: dialogue.output.unwrap_or_default(),
            tools_called: dialogue.tools_called,
            model: self.model.unwrap_or_default(),
            cwd: self.cwd.unwrap_or_default(),
            tokens: self.tokens,
            cost_usd: self.cost_usd,
            duration_ms: self.duration_ms,
            messages: self.messages,
            ..NewRun::default()
        }
    }
}

/// The reason is for people.
pub fn read_session(bytes: &[u8], format: SessionFormat) -> Result<Session, String> {
    let session = match format {
        SessionFormat::Messages => read_messages(bytes)?,
        SessionFormat::Claude => claude::read(&events(bytes)),
        SessionFormat::Codex => codex::read(&events(bytes)),
    };
    if session.messages.is_empty() {
        Err("it holds no messages".to_owned())
    } else {
        Ok(session)
    }
}

fn read_messages(bytes: &[u8]) -> Result<Session, String> {
    let read = format::messages::read(bytes).map_err(|failure| failure.fault.message)?;
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_start_matches('\u{feff}');
    let value = lenient_json_value(text).map_err(|fault| fault.reason)?;
    let messages = match value {
        Value::List(messages) => messages,
        Value::Map(map) => match map.get("messages").or_else(|| map.get("output")) {
            Some(Value::List(messages)) => messages.clone(),
            _ => vec![message("assistant", read.answer.as_str().into())],
        },
        _ => Vec::new(),
    };
    Ok(Session {
        messages,
        model: read.model,
        cwd: None,
        tokens: read.tokens.map(|tokens| tokens.total()),
        cost_usd: read.cost_usd,
        duration_ms: read.duration_ms,
    })
}

/// The lines that are objects.
fn events(bytes: &[u8]) -> Vec<Map> {
    let text = String::from_utf8_lossy(bytes);
    let lines = text
        .lines()
        .filter_map(|line| match lenient_json_value(line) {
            Ok(Value::Map(map)) => Some(map),
            _ => None,
        });
    lines.collect()
}

fn message(role: &str, content: Value) -> Value {
    let mut map = Map::new();
    map.insert("role", role);
    map.insert("content", content);
    map.into()
}

fn tool_message(id: &str, name: Option<&str>, content: String) -> Value {
    let mut map = Map::new();
    map.insert("role", "tool");
    map.insert("tool_call_id", id);
    map.insert_some("name", name);
    map.insert("content", content);
    map.into()
}

fn tool_call(id: &str, name: &str, arguments: String) -> Value {
    let mut function = Map::new();
    function.insert("name", name);
    function.insert("arguments", arguments);
    let mut map = Map::new();
    map.insert("id", id);
    map.insert("type", "function");
    map.insert("function", function);
    map.into()
}

fn text<'m>(map: &'m Map, key: &str) -> Option<&'m str> {
    map.get(key).and_then(Value::as_str)
}

fn child<'m>(map: &'m Map, key: &str) -> Option<&'m Map> {
    map.get(key).and_then(Value::as_map)
}

fn number<'m>(map: &'m Map, key: &str) -> Option<&'m Number> {
    match map.get(key) {
        Some(Value::Number(number)) => Some(number),
        _ => None,
    }
}

fn count(map: &Map, key: &str) -> Option<u64> {
    number(map, key).and_then(Number::as_u64)
}

/// A text, or the texts of a list of blocks.
fn plain_text(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::List(items)) => {
            let texts = items.iter().filter_map(|item| match item {
                Value::String(text) => Some(text.as_str()),
                Value::Map(block) => text(block, "text"),
                _ => None,
            });
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_told_apart() {
        for (text, format) in [
            (
                r#"[{"role":"user","content":"Hi"}]"#,
                Some(SessionFormat::Messages),
            ),
            (
                r#"{"messages":[{"role":"user","content":"Hi"}]}"#,
                Some(SessionFormat::Messages),
            ),
            (
                "{\"type\":\"system\",\"subtype\":\"init\"}\n{\"type\":\"result\"}",
                Some(SessionFormat::Claude),
            ),
            (
                "{\"type\":\"mode\"}\n{\"type\":\"user\"}",
                Some(SessionFormat::Claude),
            ),
            (
                "{\"type\":\"thread.started\"}\n",
                Some(SessionFormat::Codex),
            ),
            (
                "{\"type\":\"session_meta\",\"payload\":{}}\n",
                Some(SessionFormat::Codex),
            ),
            ("hello", None),
            ("{\"a\":1}", None),
        ] {
            assert_eq!(SessionFormat::guess(text.as_bytes()), format, "{text}");
        }
    }

    #[test]
    fn messages_bring_their_numbers() {
        let text = r#"{"messages":[{"role":"system","content":"S"},{"role":"user","content":"Hi"},
            {"role":"assistant","content":"Hello"}],"model":"m","tokens":{"input":3,"output":2},"cost_usd":0.5,"duration_ms":9}"#;
        let run = read_session(text.as_bytes(), SessionFormat::Messages)
            .unwrap()
            .into_run();
        assert_eq!((run.output.as_str(), run.model.as_str()), ("Hello", "m"));
        assert_eq!(
            (run.tokens, run.cost_usd, run.duration_ms),
            (Some(5), Some(0.5), Some(9))
        );
        assert_eq!(run.asked[0].text, "Hi");
    }

    #[test]
    fn a_question_goes_behind_the_system_message() {
        let text = r#"[{"role":"system","content":"S"},{"role":"assistant","content":"Hello"}]"#;
        let session = read_session(text.as_bytes(), SessionFormat::Messages).unwrap();
        assert!(!session.has_question());
        let run = session.asked("Hi").into_run();
        assert_eq!(run.asked[0].text, "Hi");
        assert_eq!(
            super::super::run_file::role_of(&run.messages[1]),
            Some("user")
        );
    }

    #[test]
    fn nothing_is_no_session() {
        let error = read_session(b"[]", SessionFormat::Messages).unwrap_err();
        assert_eq!(error, "it holds no messages");
        assert!(read_session(b"{", SessionFormat::Messages).is_err());
        assert!(read_session(b"x", SessionFormat::Claude).is_err());
    }
}
