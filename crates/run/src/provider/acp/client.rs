//! Our side of a conversation in the Agent Client Protocol.

use std::ops::ControlFlow;

use evalrig_core::model::{Call, FaultKind, JsonStyle, Map, Number, SkillUse, Transcript, Value};

use crate::agent::process::STREAM_LIMIT;
use crate::agent::{AgentStream, AttemptFault, OutputSink, SinkStop, StreamFault, cut};
use crate::format::acp::AcpReader;
use crate::format::json;

use super::Permissions;
use super::model_choice::model_request;

/// Which reply is awaited. The number is the id of the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AcpStage {
    Initialize = 1,
    Session = 2,
    Prompt = 3,
    Over = 4,
    /// Between session and prompt: the agent still repeats the earlier turns of the session.
    Settle = 5,
    /// After the session is open: the agent changes its model.
    Model = 6,
}

/// In a new session, the agent would answer another question.
const CANNOT_CONTINUE: &str =
    "the agent cannot continue the session of the earlier turns: it has no `loadSession`";

/// Ids of probes, above those of stages.
const FIRST_PROBE: u64 = 100;

/// So many probes are answered in a row without an update in between when an agent has settled.
const QUIET: u32 = 2;

/// How an agent settles that repeats earlier turns after it has said that the session is loaded. Probes
/// are requests that it answers at once, so that the time it takes does not matter.
#[derive(Debug, Default)]
struct Settling {
    probes: u64,
    /// Since the last probe.
    updates: u64,
    /// Answered in a row without an update.
    quiet: u32,
}

/// Our side of the conversation.
#[derive(Debug)]
pub(super) struct AcpClient {
    reader: AcpReader,
    stage: AcpStage,
    cwd: String,
    prompt: String,
    /// The session to continue. An agent that cannot is a fault.
    pub(super) earlier: Option<String>,
    /// The model to use; `None` for that of the agent.
    pub(super) model: Option<String>,
    /// The session that is open.
    session: String,
    settling: Settling,
    permissions: Permissions,
    /// The beginning of a line whose end is still to come.
    rest: Vec<u8>,
    replies: Vec<u8>,
    denied: Vec<String>,
    failure: Option<String>,
}

impl AcpClient {
    pub(super) fn new(cwd: &str, prompt: String, permissions: Permissions) -> Self {
        let mut client = Self {
            reader: AcpReader::default(),
            stage: AcpStage::Initialize,
            cwd: cwd.to_owned(),
            prompt,
            earlier: None,
            model: None,
            session: String::new(),
            settling: Settling::default(),
            permissions,
            rest: Vec::new(),
            replies: Vec::new(),
            denied: Vec::new(),
            failure: None,
        };
        let files = Map::new().with("readTextFile", false).with("writeTextFile", false);
        let able = Map::new().with("fs", files).with("terminal", false);
        let info = Map::new().with("name", "evalrig").with("version", env!("CARGO_PKG_VERSION"));
        let params = Map::new()
            .with("protocolVersion", 1_u64)
            .with("clientCapabilities", able)
            .with("clientInfo", info);
        client.ask("initialize", params);
        client
    }

    /// A request whose id is the number of the stage.
    fn ask(&mut self, method: &str, params: Map) {
        self.ask_as(self.stage as u64, method, params);
    }

    fn ask_as(&mut self, id: u64, method: &str, params: Map) {
        let message = Map::new().with("jsonrpc", "2.0").with("id", id).with("method", method);
        self.send(message.with("params", params));
    }

    fn send(&mut self, message: Map) {
        let line = Value::Map(message).to_json(JsonStyle::Compact);
        self.replies.extend(line.bytes());
        self.replies.push(b'\n');
    }

    fn read_line(&mut self, line: &[u8]) {
        let line = String::from_utf8_lossy(line);
        if line.trim().is_empty() {
            return;
        }
        let Ok(Value::Map(message)) = json::parse(&line) else {
            let shown = cut(line.trim(), 200);
            return self
                .fail(format!("the agent printed a line that is not a protocol message: {shown}"));
        };
        let method = message.get("method").and_then(Value::as_str);
        match (method, message.get("id").filter(|id| **id != Value::Null)) {
            (Some(method), Some(id)) => self.answer_request(method, id.clone(), &message),
            (Some("session/update"), None) => {
                let params = message.get("params").and_then(Value::as_map);
                let update = params.and_then(|params| params.get("update")?.as_map());
                // An agent repeats the earlier turns of a session that it loads.
                match (update, self.stage) {
                    (Some(update), AcpStage::Prompt) => self.reader.read_update(update),
                    (Some(update), AcpStage::Settle) if !is_note(update) => {
                        self.settling.updates += 1;
                    }
                    _ => {}
                }
            }
            (Some(_), None) => {}
            (None, Some(id)) => self.read_reply(id, &message),
            (None, None) => {}
        }
    }

    fn fail(&mut self, reason: String) {
        self.failure.get_or_insert(reason);
        self.stage = AcpStage::Over;
    }

    fn read_reply(&mut self, id: &Value, message: &Map) {
        let awaited = match self.stage {
            AcpStage::Settle => FIRST_PROBE + self.settling.probes,
            stage => stage as u64,
        };
        if !matches!(id, Value::Number(number) if number.as_u64() == Some(awaited)) {
            return;
        }
        if self.stage == AcpStage::Settle {
            // An agent does not know the method, which is an answer too.
            return self.settle();
        }
        if let Some(error) = message.get("error").filter(|error| **error != Value::Null) {
            let said = error.as_map().and_then(|error| error.get("message")?.as_str());
            let said = said.unwrap_or("no reason given");
            if let (AcpStage::Model, Some(model)) = (self.stage, &self.model) {
                return self.fail(format!("the agent does not use the model `{model}`: {said}"));
            }
            return self.fail(format!("the agent ended with an error: {said}"));
        }
        let empty = Map::new();
        let result = message.get("result").and_then(Value::as_map).unwrap_or(&empty);
        match self.stage {
            AcpStage::Initialize => {
                self.reader.read_agent(result);
                self.stage = AcpStage::Session;
                let able = result.get("agentCapabilities").and_then(Value::as_map);
                let can_load = able.and_then(|able| able.get("loadSession"));
                if self.earlier.is_some() && can_load != Some(&Value::Bool(true)) {
                    return self.fail(CANNOT_CONTINUE.to_owned());
                }
                let servers = Value::List(Vec::new());
                let cwd = self.cwd.clone();
                let params = Map::new().with("cwd", cwd).with("mcpServers", servers);
                match self.earlier.clone() {
                    Some(session) => {
                        self.ask("session/load", params.with("sessionId", session));
                    }
                    None => self.ask("session/new", params),
                }
            }
            AcpStage::Session => {
                let opened = result.get("sessionId").and_then(Value::as_str).map(str::to_owned);
                let earlier = self.earlier.clone();
                let Some(session) = earlier.or(opened) else {
                    return self.fail("the agent opened no session".to_owned());
                };
                self.reader.facts.id = Some(session.clone());
                self.session = session;
                self.choose_model(result);
            }
            AcpStage::Model => self.begin(),
            AcpStage::Prompt => {
                self.reader.read_end(result);
                self.stage = AcpStage::Over;
            }
            AcpStage::Over | AcpStage::Settle => {}
        }
    }

    fn choose_model(&mut self, opened: &Map) {
        let Some(model) = self.model.clone() else { return self.begin() };
        match model_request(opened, &self.session, &model) {
            Some((method, params)) => {
                self.stage = AcpStage::Model;
                self.ask(method, params);
            }
            None => self.fail(format!("the agent cannot select a model; remove `model: {model}`")),
        }
    }

    /// The session is open, and has the right model.
    fn begin(&mut self) {
        if self.earlier.is_some() && self.reader.repeats_late() {
            self.stage = AcpStage::Settle;
            self.probe();
        } else {
            self.prompt();
        }
    }

    fn prompt(&mut self) {
        self.stage = AcpStage::Prompt;
        let said = Map::new().with("type", "text").with("text", self.prompt.as_str());
        let params = Map::new().with("sessionId", self.session.as_str());
        self.ask("session/prompt", params.with("prompt", vec![Value::Map(said)]));
    }

    fn probe(&mut self) {
        self.settling.probes += 1;
        self.settling.updates = 0;
        let id = FIRST_PROBE + self.settling.probes;
        // Names that begin like this are free for extensions.
        self.ask_as(id, "_evalrig/settled", Map::new());
    }

    /// A probe was answered.
    fn settle(&mut self) {
        let is_quiet = self.settling.updates == 0;
        self.settling.quiet = if is_quiet { self.settling.quiet + 1 } else { 0 };
        if self.settling.quiet < QUIET {
            self.probe();
        } else {
            self.prompt();
        }
    }

    /// Permissions are granted or denied; files and terminals are the agent's own business.
    fn answer_request(&mut self, method: &str, id: Value, message: &Map) {
        let reply = Map::new().with("jsonrpc", "2.0").with("id", id);
        if method != "session/request_permission" {
            let code = Number::of_i64(-32601);
            let error = Map::new().with("code", code).with("message", "method not found");
            return self.send(reply.with("error", error));
        }
        let params = message.get("params").and_then(Value::as_map);
        let kinds: &[&str] = match self.permissions {
            Permissions::Allow => &["allow_once", "allow_always"],
            Permissions::Deny => &["reject_once", "reject_always"],
        };
        if self.permissions == Permissions::Deny {
            let call = params.and_then(|params| params.get("toolCall")?.as_map());
            let title = call.and_then(|call| call.get("title")?.as_str());
            self.denied.push(title.unwrap_or("unknown").to_owned());
        }
        let options = params.and_then(|params| params.get("options")?.as_list());
        let options = options.unwrap_or_default().iter().filter_map(Value::as_map);
        let chosen = kinds.iter().find_map(|kind| {
            let is_it = |option: &&Map| option.get("kind").and_then(Value::as_str) == Some(*kind);
            options.clone().find(is_it)?.get("optionId").cloned()
        });
        let outcome = match chosen {
            Some(option) => Map::new().with("outcome", "selected").with("optionId", option),
            None => Map::new().with("outcome", "cancelled"),
        };
        self.send(reply.with("result", Map::new().with("outcome", outcome)));
    }

    fn transcript(self) -> Result<Transcript, String> {
        let denied = self.denied;
        let mut transcript = self.reader.finish().into_checked()?;
        transcript.session.permission_denials = Some(denied);
        transcript.model = transcript.model.or(self.model);
        Ok(transcript)
    }
}

/// An update that is no part of a turn.
fn is_note(update: &Map) -> bool {
    let kind = update.get("sessionUpdate").and_then(Value::as_str);
    matches!(kind, Some("available_commands_update" | "current_mode_update"))
}

impl OutputSink for AcpClient {
    fn take(&mut self, bytes: &[u8]) -> ControlFlow<SinkStop> {
        let mut pieces = bytes.split(|byte| *byte == b'\n');
        if let Some(first) = pieces.next() {
            self.rest.extend_from_slice(first);
        }
        for piece in pieces {
            let line = std::mem::replace(&mut self.rest, piece.to_owned());
            if self.stage != AcpStage::Over {
                self.read_line(&line);
            }
        }
        if self.rest.len() > STREAM_LIMIT || self.reader.size() > STREAM_LIMIT {
            return ControlFlow::Break(SinkStop::TooMuch(STREAM_LIMIT));
        }
        if self.stage == AcpStage::Over {
            return ControlFlow::Break(SinkStop::Enough);
        }
        ControlFlow::Continue(())
    }

    fn converses(&self) -> bool {
        true
    }

    fn replies(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.replies)
    }
}

impl AgentStream for AcpClient {
    fn progress(&self) -> (&[Call], &[SkillUse]) {
        self.reader.conversation()
    }

    fn finish(self: Box<Self>) -> Result<Transcript, StreamFault> {
        if let Some(reason) = self.failure {
            return Err(StreamFault::Reported(AttemptFault::new(FaultKind::Reply, reason)));
        }
        if self.stage != AcpStage::Over {
            let message = "the agent ended before it answered the prompt";
            return Err(StreamFault::Unfinished(AttemptFault::new(FaultKind::Reply, message)));
        }
        let failed = |reason| StreamFault::Reported(AttemptFault::new(FaultKind::Reply, reason));
        self.transcript().map_err(failed)
    }

    fn so_far(self: Box<Self>) -> Option<Transcript> {
        if self.failure.is_some() || self.stage == AcpStage::Initialize {
            return None;
        }
        let transcript = self.transcript().ok()?;
        Some(Transcript { partial: true, ..transcript })
    }
}

/// What an agent says to a new client; for tests with arbitrary bytes. `None` unless it answers the prompt.
pub fn read_conversation(output: &[u8]) -> Option<Transcript> {
    let mut client = Box::new(AcpClient::new("/w", "Hi".to_owned(), Permissions::Allow));
    for piece in output.chunks(4096) {
        if client.take(piece).is_break() {
            break;
        }
        client.replies();
    }
    client.finish().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(permissions: Permissions) -> AcpClient {
        AcpClient::new("/w", "Hi".to_owned(), permissions)
    }

    /// Feeds a line and gives the lines that are written.
    fn say(client: &mut AcpClient, line: &str) -> Vec<String> {
        let _ = client.take(format!("{line}\n").as_bytes());
        let replies = String::from_utf8(client.replies()).unwrap();
        replies.lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_case_is_one_session_with_one_prompt() {
        let mut client = client(Permissions::Allow);
        let first = String::from_utf8(client.replies()).unwrap();
        assert!(first.starts_with(r#"{"jsonrpc":"2.0","id":1,"method":"initialize","#));
        let info =
            r#"{"id":1,"result":{"protocolVersion":1,"agentInfo":{"name":"x","version":"9"}}}"#;
        assert_eq!(
            say(&mut client, info),
            [
                r#"{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}"#
            ]
        );
        assert_eq!(
            say(&mut client, r#"{"id":2,"result":{"sessionId":"s"}}"#),
            [
                r#"{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"Hi"}]}}"#
            ]
        );
        let chunk = r#"{"method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Hello"}}}}"#;
        assert!(say(&mut client, chunk).is_empty());
        let end = r#"{"id":3,"result":{"stopReason":"end_turn"}}"#;
        let taken = client.take(format!("{end}\n").as_bytes());
        assert_eq!(taken, ControlFlow::Break(SinkStop::Enough));
        let read = Box::new(client).finish().unwrap();
        assert_eq!(read.answer, "Hello");
        assert_eq!(read.session.id.as_deref(), Some("s"));
        assert_eq!(read.session.version.as_deref(), Some("9"));
        assert_eq!(read.calls, Some(Vec::new()));
    }

    const TOLD: &str = r#"{"method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Old."}}}}"#;

    #[test]
    fn a_session_is_loaded_and_what_it_repeats_is_left_out() {
        let mut client = client(Permissions::Allow);
        client.earlier = Some("s".to_owned());
        client.replies();
        let info = r#"{"id":1,"result":{"agentCapabilities":{"loadSession":true}}}"#;
        assert_eq!(
            say(&mut client, info),
            [
                r#"{"jsonrpc":"2.0","id":2,"method":"session/load","params":{"cwd":"/w","mcpServers":[],"sessionId":"s"}}"#
            ]
        );
        assert!(say(&mut client, TOLD).is_empty());
        let asked = say(&mut client, r#"{"id":2,"result":null}"#);
        assert!(asked[0].contains(r#""method":"session/prompt","params":{"sessionId":"s""#));
        say(&mut client, &TOLD.replace("Old", "New"));
        say(&mut client, r#"{"id":3,"result":{"stopReason":"end_turn"}}"#);
        assert_eq!(Box::new(client).finish().unwrap().answer, "New.");
    }

    #[test]
    fn what_is_repeated_after_the_session_was_loaded_is_left_out_too() {
        let mut client = client(Permissions::Allow);
        client.earlier = Some("s".to_owned());
        client.replies();
        let info = r#"{"id":1,"result":{"agentInfo":{"name":"gemini-cli"},"agentCapabilities":{"loadSession":true}}}"#;
        say(&mut client, info);
        let probe = |number: u64| {
            format!(
                r#"{{"jsonrpc":"2.0","id":{number},"method":"_evalrig/settled","params":{{}}}}"#
            )
        };
        let refused =
            |number: u64| format!(r#"{{"id":{number},"error":{{"code":-32601,"message":"?"}}}}"#);
        assert_eq!(say(&mut client, r#"{"id":2,"result":{}}"#), [probe(101)]);
        assert!(say(&mut client, TOLD).is_empty());
        assert_eq!(say(&mut client, &refused(101)), [probe(102)]);
        assert_eq!(say(&mut client, &refused(102)), [probe(103)]);
        let call = r#"{"method":"session/update","params":{"update":{"sessionUpdate":"tool_call","toolCallId":"c","status":"completed"}}}"#;
        assert!(say(&mut client, call).is_empty());
        assert_eq!(say(&mut client, &refused(103)), [probe(104)]);
        assert_eq!(say(&mut client, &refused(104)), [probe(105)]);
        let asked = say(&mut client, &refused(105));
        assert!(asked[0].contains(r#""id":3,"method":"session/prompt","params":{"sessionId":"s""#));
        say(&mut client, &TOLD.replace("Old", "New"));
        say(&mut client, r#"{"id":3,"result":{"stopReason":"end_turn"}}"#);
        let read = Box::new(client).finish().unwrap();
        assert_eq!((read.answer.as_str(), read.calls), ("New.", Some(Vec::new())));
    }

    #[test]
    fn an_agent_that_cannot_load_a_session_gives_no_answer_to_a_later_turn() {
        for info in ["{}", r#"{"agentCapabilities":{"loadSession":false}}"#] {
            let mut client = client(Permissions::Allow);
            client.earlier = Some("s".to_owned());
            client.replies();
            assert!(say(&mut client, &format!(r#"{{"id":1,"result":{info}}}"#)).is_empty());
            let fault = Box::new(client).finish().unwrap_err();
            assert_eq!(AttemptFault::from(fault).fault.message, CANNOT_CONTINUE);
        }
    }

    #[test]
    fn a_model_is_chosen_before_the_prompt() {
        let open = |model: &str, opened: &str| {
            let mut client = client(Permissions::Allow);
            client.model = Some(model.to_owned());
            client.replies();
            say(&mut client, r#"{"id":1,"result":{}}"#);
            let asked = say(&mut client, opened);
            (client, asked)
        };
        let offer = r#"{"id":2,"result":{"sessionId":"s","models":{"availableModels":[]}}}"#;
        let (mut chosen, asked) = open("small", offer);
        assert_eq!(
            asked,
            [
                r#"{"jsonrpc":"2.0","id":6,"method":"session/set_model","params":{"sessionId":"s","modelId":"small"}}"#
            ]
        );
        let asked = say(&mut chosen, r#"{"id":6,"result":{}}"#);
        assert!(asked[0].contains(r#""id":3,"method":"session/prompt""#), "{asked:?}");
        say(&mut chosen, TOLD);
        say(&mut chosen, r#"{"id":3,"result":{"stopReason":"end_turn"}}"#);
        assert_eq!(Box::new(chosen).finish().unwrap().model.as_deref(), Some("small"));

        let message = |client: AcpClient| {
            let fault = Box::new(client).finish().unwrap_err();
            AttemptFault::from(fault).fault.message
        };
        let (mut refused, _) = open("huge", offer);
        say(&mut refused, r#"{"id":6,"error":{"code":1,"message":"unknown"}}"#);
        assert_eq!(message(refused), "the agent does not use the model `huge`: unknown");
        let (fixed, asked) = open("small", r#"{"id":2,"result":{"sessionId":"s"}}"#);
        assert!(asked.is_empty());
        assert_eq!(message(fixed), "the agent cannot select a model; remove `model: small`");
    }

    #[test]
    fn permissions_are_granted_or_denied() {
        let ask = r#"{"id":"p","method":"session/request_permission","params":{"toolCall":{"title":"Write a"},"options":[{"optionId":"n","kind":"reject_once"},{"optionId":"y","kind":"allow_once"}]}}"#;
        for (permissions, option) in [(Permissions::Allow, "y"), (Permissions::Deny, "n")] {
            let mut client = client(permissions);
            client.replies();
            let expected = format!(
                r#"{{"jsonrpc":"2.0","id":"p","result":{{"outcome":{{"outcome":"selected","optionId":"{option}"}}}}}}"#
            );
            assert_eq!(say(&mut client, ask), [expected]);
            assert_eq!(client.denied.len(), usize::from(permissions == Permissions::Deny));
            let other = r#"{"id":7,"method":"fs/read_text_file","params":{}}"#;
            assert_eq!(
                say(&mut client, other),
                [
                    r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"method not found"}}"#
                ]
            );
        }
    }

    #[test]
    fn a_stream_that_is_cut_anywhere_gives_nothing() {
        let streams = [
            include_str!("../../format/recorded/acp-claude.jsonl"),
            include_str!("../../format/recorded/acp-claude-old.jsonl"),
            include_str!("../../format/recorded/acp-codex.jsonl"),
            include_str!("../../format/recorded/acp-copilot.jsonl"),
            include_str!("../../format/recorded/acp-gemini.jsonl"),
            include_str!("../../format/recorded/acp-opencode.jsonl"),
        ];
        for stream in streams {
            let read = |end: usize| {
                let mut client = client(Permissions::Allow);
                let _ = client.take(&stream.as_bytes()[..end]);
                Box::new(client).finish()
            };
            assert!(read(stream.len()).is_ok());
            for end in (0..stream.trim_end().len()).step_by(7) {
                assert!(read(end).is_err(), "cut at {end}");
            }
        }
    }

    #[test]
    fn errors_and_noise_are_failures() {
        for (line, message) in [
            (
                r#"{"id":1,"error":{"code":-32000,"message":"log in first"}}"#,
                "the agent ended with an error: log in first",
            ),
            ("Welcome!", "the agent printed a line that is not a protocol message: Welcome!"),
        ] {
            let mut client = client(Permissions::Allow);
            say(&mut client, line);
            let fault = Box::new(client).finish().unwrap_err();
            assert_eq!(AttemptFault::from(fault).fault.message, message);
        }
        let unanswered = Box::new(client(Permissions::Allow)).finish().unwrap_err();
        assert!(matches!(unanswered, StreamFault::Unfinished(_)));
    }
}
