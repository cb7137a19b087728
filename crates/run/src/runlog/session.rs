//! Sessions that were not run by evalrig: what an agent printed or saved becomes a run that can be
//! recorded. Agents' events are read by `format`, as during a run.

use evalrig_core::model::{Map, Value};
use evalrig_core::syntax::lenient_json_value;

use crate::format::{self, EVENT_FORMATS, EventFormat};

use super::case::received_message;
use super::dialogue::Dialogue;
use super::new_run::NewRun;
use super::run_file::role_of;

/// How a session is written.
#[derive(Debug, Clone, Copy)]
pub enum SessionFormat {
    /// Chat messages: a JSON array, or an object with `messages` and their figures.
    Messages,
    /// The events or the session file of an agent.
    Events(&'static EventFormat),
}

impl SessionFormat {
    pub fn all() -> impl Iterator<Item = Self> {
        let events = EVENT_FORMATS.iter().map(|format| Self::Events(format));
        std::iter::once(Self::Messages).chain(events)
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|format| format.name() == name)
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Messages => "messages",
            Self::Events(format) => format.name,
        }
    }

    pub fn doc(self) -> &'static str {
        match self {
            Self::Messages => "Chat messages: a JSON array, or an object with `messages`",
            Self::Events(format) => format.doc,
        }
    }

    /// The format that a session is most likely written in.
    pub fn guess(bytes: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(bytes);
        let is_one_event = event(text.trim()).is_some();
        if !is_one_event && format::messages::read(bytes).is_ok() {
            return Some(Self::Messages);
        }
        let mut events = text.lines().filter_map(event);
        events.find_map(|one| EventFormat::of_event(&one).map(Self::Events))
    }
}

fn event(line: &str) -> Option<Map> {
    match format::json::parse(line) {
        Ok(Value::Map(map)) if map.get("type").is_some_and(|kind| kind.as_str().is_some()) => {
            Some(map)
        }
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
    /// Puts a question first, for agents that do not repeat it.
    #[must_use]
    pub fn with_question(mut self, prompt: &str) -> Self {
        let is_system = |message: &&Value| role_of(message) == Some("system");
        let at = self.messages.iter().take_while(is_system).count();
        self.messages.insert(at, chat_message("user", prompt.into()));
        self
    }

    /// Whether it contains a message of the user.
    pub fn has_question(&self) -> bool {
        !Dialogue::of(&self.messages).asked.is_empty()
    }

    /// The caller fills in what is unknown: model, directory and time.
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

/// Fails with the reason why the session cannot be read.
pub fn read_session(bytes: &[u8], format: SessionFormat) -> Result<Session, String> {
    let session = match format {
        SessionFormat::Messages => read_messages(bytes)?,
        SessionFormat::Events(format) => read_events(bytes, format),
    };
    if session.messages.is_empty() {
        Err("it contains no messages".to_owned())
    } else {
        Ok(session)
    }
}

fn read_events(bytes: &[u8], format: &EventFormat) -> Session {
    let read = format.read_session(bytes);
    Session {
        messages: read.messages().iter().map(received_message).collect(),
        model: read.model,
        cwd: read.cwd,
        tokens: read.tokens.map(|tokens| tokens.total()),
        cost_usd: read.cost_usd,
        duration_ms: read.duration_ms,
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
            _ => vec![chat_message("assistant", read.answer.as_str().into())],
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

fn chat_message(role: &str, content: Value) -> Value {
    let mut map = Map::new();
    map.insert("role", role);
    map.insert("content", content);
    map.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLAUDE: SessionFormat = SessionFormat::Events(&format::claude::FORMAT);
    const CODEX: SessionFormat = SessionFormat::Events(&format::codex::FORMAT);

    #[test]
    fn formats_are_recognized() {
        for (text, format) in [
            (r#"[{"role":"user","content":"Hi"}]"#, Some("messages")),
            (r#"{"messages":[{"role":"user","content":"Hi"}]}"#, Some("messages")),
            ("{\"type\":\"system\",\"subtype\":\"init\"}\n{\"type\":\"result\"}", Some("claude")),
            ("{\"type\":\"mode\"}\n{\"type\":\"user\"}", Some("claude")),
            ("{\"type\":\"thread.started\"}\n", Some("codex")),
            ("{\"type\":\"session_meta\",\"payload\":{}}\n", Some("codex")),
            ("hello", None),
            ("{\"a\":1}", None),
        ] {
            let guessed = SessionFormat::guess(text.as_bytes());
            assert_eq!(guessed.map(SessionFormat::name), format, "{text}");
        }
    }

    #[test]
    fn messages_bring_their_numbers() {
        let text = r#"{"messages":[{"role":"system","content":"S"},{"role":"user","content":"Hi"},
            {"role":"assistant","content":"Hello"}],"model":"m","tokens":{"input":3,"output":2},"cost_usd":0.5,"duration_ms":9}"#;
        let run = read_session(text.as_bytes(), SessionFormat::Messages).unwrap().into_run();
        assert_eq!((run.output.as_str(), run.model.as_str()), ("Hello", "m"));
        assert_eq!((run.tokens, run.cost_usd, run.duration_ms), (Some(5), Some(0.5), Some(9)));
        assert_eq!(run.asked[0].text, "Hi");
    }

    #[test]
    fn a_question_goes_behind_the_system_message() {
        let text = r#"[{"role":"system","content":"S"},{"role":"assistant","content":"Hello"}]"#;
        let session = read_session(text.as_bytes(), SessionFormat::Messages).unwrap();
        assert!(!session.has_question());
        let run = session.with_question("Hi").into_run();
        assert_eq!(run.asked[0].text, "Hi");
        assert_eq!(role_of(&run.messages[1]), Some("user"));
    }

    #[test]
    fn an_empty_session_is_refused() {
        let error = read_session(b"[]", SessionFormat::Messages).unwrap_err();
        assert_eq!(error, "it contains no messages");
        assert!(read_session(b"{", SessionFormat::Messages).is_err());
        assert!(read_session(b"x", CLAUDE).is_err());
    }

    const STREAM: &str = r#"{"type":"system","subtype":"init","cwd":"/p","model":"claude-x"}
{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"Let me see."}],"usage":{"input_tokens":5,"output_tokens":1}}}
{"type":"assistant","message":{"id":"m1","content":[{"type":"tool_use","id":"t1","name":"Read","input":{"path":"a.csv"}}],"usage":{"input_tokens":5,"output_tokens":9}}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"1,2"}]}]}}
{"type":"assistant","parent_tool_use_id":"t1","message":{"id":"s","content":[{"type":"text","text":"sub"}]}}
{"type":"assistant","message":{"id":"m2","content":[{"type":"text","text":"Two numbers."}]}}
{"type":"result","subtype":"success","result":"Two numbers.","total_cost_usd":0.01,"duration_ms":900,"usage":{"input_tokens":10,"cache_read_input_tokens":3,"output_tokens":10}}
"#;

    #[test]
    fn claude_events_become_a_session() {
        let session = read_session(STREAM.as_bytes(), CLAUDE).unwrap();
        assert!(!session.has_question());
        let run = session.with_question("How many numbers?").into_run();
        assert_eq!(run.output, "Two numbers.");
        assert_eq!(run.tools_called, ["Read(path='a.csv')"]);
        assert_eq!((run.model.as_str(), run.cwd.as_str()), ("claude-x", "/p"));
        assert_eq!((run.tokens, run.cost_usd), (Some(23), Some(0.01)));
        assert_eq!((run.messages.len(), run.duration_ms), (4, Some(900)));
    }

    #[test]
    fn a_claude_session_file_contains_the_question() {
        let rows = r#"{"type":"user","cwd":"/p","message":{"role":"user","content":"Hi"}}
{"type":"user","isMeta":true,"message":{"content":"a skill"}}
{"type":"assistant","isSidechain":true,"message":{"id":"s","content":[{"type":"text","text":"sub"}]}}
{"type":"assistant","message":{"id":"m","model":"claude-x","content":[{"type":"text","text":"Hello"}],"usage":{"input_tokens":4,"output_tokens":2}}}
{"type":"cost-state","totalCostUSD":0.25}
"#;
        let run = read_session(rows.as_bytes(), CLAUDE).unwrap().into_run();
        assert_eq!((run.asked[0].text.as_str(), run.output.as_str()), ("Hi", "Hello"));
        assert_eq!((run.tokens, run.cost_usd), (Some(6), Some(0.25)));
    }

    #[test]
    fn a_lone_result_is_the_answer() {
        let rows = r#"{"type":"result","result":"Hello"}"#;
        let run = read_session(rows.as_bytes(), CLAUDE).unwrap().into_run();
        assert_eq!(run.output, "Hello");
    }

    #[test]
    fn codex_events_become_a_session() {
        let events = r#"{"type":"thread.started","thread_id":"x"}
{"type":"item.completed","item":{"id":"item_0","type":"command_execution","command":"ls","aggregated_output":"a.csv\n","exit_code":0,"status":"completed"}}
{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":"One file."}}
{"type":"turn.completed","usage":{"input_tokens":30,"cached_input_tokens":10,"output_tokens":5}}
"#;
        let session = read_session(events.as_bytes(), CODEX).unwrap();
        let run = session.with_question("What is here?").into_run();
        assert_eq!((run.output.as_str(), run.tokens), ("One file.", Some(35)));
        assert_eq!(run.tools_called, ["command_execution(command='ls')"]);
        assert_eq!(run.messages.len(), 4);
    }

    #[test]
    fn a_codex_session_file_contains_the_question() {
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
        let run = read_session(rows.as_bytes(), CODEX).unwrap().into_run();
        assert_eq!((run.asked[0].text.as_str(), run.output.as_str()), ("Hi", "Hello"));
        assert_eq!(run.tools_called, ["shell(cmd='ls')"]);
        assert_eq!((run.model.as_str(), run.cwd.as_str()), ("gpt-x", "/p"));
        assert_eq!((run.tokens, run.duration_ms), (Some(10), Some(1200)));
    }
}
