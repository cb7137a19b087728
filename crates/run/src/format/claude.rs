//! Claude Code: the events of `--output-format stream-json` and the rows of its session files.

use std::collections::{HashMap, HashSet};

use evalrig_core::model::{Call, Map, Number, SessionFacts, Tokens, Value};

use crate::agent::Unreported;
use crate::clock::unix_milliseconds;

use super::claude_figures::{ClaudeFigures, message_tokens};
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
    reader: || Box::new(ClaudeReader::default()),
};

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
            "system" => {
                self.read_system(event);
                return EventRole::Note;
            }
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
        let (failure, figures) = self.ending();
        let mut facts = self.facts;
        if !self.has_sub_agents && !self.requests.is_empty() {
            facts.llm_calls = Some(self.requests.len() as u64);
        }
        let mut conversation = self.conversation;
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
    let stats = child(result, "subagent_stats");
    let spawned = stats.and_then(|stats| super::measure::count(stats, "spawned").ok().flatten());
    if spawned.is_some_and(|spawned| spawned > 0) {
        // The stream does not show the last request of a sub-agent.
        facts.llm_calls = None;
    }
}

impl ClaudeReader {
    fn read_system(&mut self, event: &Map) {
        self.is_stream = true;
        note(&mut self.model, text(event, "model"));
        note(&mut self.facts.id, text(event, "session_id"));
        note(&mut self.facts.version, text(event, "claude_code_version"));
        match text(event, "subtype") {
            Some("init") => {
                if let Some(Value::List(skills)) = event.get("skills") {
                    let names = skills.iter().filter_map(Value::as_str);
                    let names = names.map(skill_rule::without_plugin).map(str::to_owned);
                    self.offered = Some(names.collect());
                }
            }
            // The `result` repeats them; a stream that is stopped has none.
            Some("permission_denied") => {
                let tool = text(event, "tool_name").unwrap_or_default().to_owned();
                self.facts.permission_denials.get_or_insert_default().push(tool);
            }
            _ => {}
        }
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
mod tests {
    use evalrig_core::model::{Role, Transcript};

    use crate::agent::{AgentStream as _, StreamFault};

    use super::super::stream_reader::StreamReader;
    use super::super::testing::{calls, fault, recorded, uses};
    use super::*;

    fn read(output: &[u8]) -> Result<Transcript, StreamFault> {
        FORMAT.read_transcript(output)
    }

    const INIT: &str = r#"{"type":"system","subtype":"init","model":"m-1","tools":["Read"],"session_id":"s","claude_code_version":"2"}"#;

    const RESULT: &str = r#"{"total_cost_usd":0.25,"usage":{"input_tokens":100,"cache_read_input_tokens":20,"cache_creation_input_tokens":3,"output_tokens":9},"is_error":false,"subtype":"success","result":"All done.","type":"result","duration_ms":1500}"#;

    fn assistant(id: &str, block: &str, time: &str) -> String {
        let usage = r#""usage":{"input_tokens":7,"output_tokens":1}"#;
        format!(
            r#"{{"type":"assistant","message":{{"id":"{id}","role":"assistant","model":"m-1","content":[{block}],{usage}}},"parent_tool_use_id":null,"timestamp":"2026-01-02T03:04:{time}Z"}}"#
        )
    }

    fn outcome(id: &str, content: &str, time: &str) -> String {
        format!(
            r#"{{"type":"user","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{id}","content":{content}}}]}},"timestamp":"2026-01-02T03:04:{time}Z"}}"#
        )
    }

    /// Reads the lines after an `init` event.
    fn good(lines: &[&str]) -> Transcript {
        read(format!("{INIT}\n{}", lines.join("\n")).as_bytes()).unwrap()
    }

    fn bad(lines: &[&str]) -> String {
        fault(&FORMAT, &format!("{INIT}\n{}", lines.join("\n")))
    }

    #[test]
    fn blocks_with_one_id_are_one_message_and_calls_have_results() {
        let lines = [
            INIT.to_owned(),
            assistant("a", r#"{"type":"thinking","thinking":"hm"}"#, "05.000"),
            assistant("a", r#"{"type":"text","text":"Reading."}"#, "05.000"),
            assistant(
                "a",
                r#"{"type":"tool_use","id":"t1","name":"Read","input":{"n":1.50}}"#,
                "05.100",
            ),
            outcome("t1", r#""content of it""#, "05.350"),
            assistant(
                "a",
                r#"{"type":"tool_use","id":"t2","name":"Skill","input":null}"#,
                "05.400",
            ),
            outcome("t2", r#"[{"type":"text","text":"x"},{"type":"text","text":"y"}]"#, "04.000"),
            assistant("b", r#"{"type":"text","text":"All done."}"#, "06.000"),
            RESULT.to_owned(),
            String::new(),
        ];
        let read = read(lines.join("\n").as_bytes()).unwrap();
        assert_eq!(read.answer, "All done.");
        let roles: Vec<_> = read.messages.iter().map(|one| one.role).collect();
        let expected = [Role::Assistant, Role::Tool, Role::Tool, Role::Assistant];
        assert_eq!(roles, expected);
        assert_eq!(read.messages[0].tool_calls.len(), 2);
        assert_eq!(read.messages[0].tool_calls[0].arguments, r#"{"n":1.50}"#);
        let calls = read.calls.unwrap();
        assert_eq!(calls[0].output, Some("content of it".into()));
        assert_eq!(calls[0].duration_ms, Some(250));
        assert_eq!(calls[1].output, Some("x\ny".into()));
        assert_eq!(calls[1].duration_ms, None, "time does not run backwards");
        let tokens = read.tokens.unwrap();
        assert_eq!((tokens.input, tokens.output, tokens.cached), (123, 9, 20));
        assert_eq!((read.cost_usd, read.duration_ms), (Some(0.25), Some(1500)));
        assert_eq!(read.model.as_deref(), Some("m-1"));
    }

    #[test]
    fn sub_agents_skills_and_unknown_events_are_left_out() {
        let sub = r#"{"type":"assistant","parent_tool_use_id":"t1","message":{"id":"s","content":[{"type":"tool_use","id":"t9","name":"Bash","input":{}}]}}"#;
        let skill = r#"{"type":"user","isSynthetic":true,"message":{"role":"user","content":[{"type":"text","text":"Base directory"}]}}"#;
        let synthetic = r#"{"type":"assistant","message":{"id":"z","model":"<synthetic>","content":[{"type":"text","text":"No response requested."}]}}"#;
        let odd = r#"{"type":"stream_event","event":{"type":"result"}}"#;
        let broken = r#"{"type":"assistant","message":null}"#;
        let unknown = r#"{"type":"new_event"}"#;
        let read = good(&[sub, skill, synthetic, odd, broken, unknown, RESULT]);
        assert_eq!(read.calls, Some(Vec::new()));
        assert_eq!(read.session.unknown_events, 1);
        assert_eq!(read.messages.len(), 1, "the text of the result");
        assert_eq!(read.answer, "All done.");
    }

    #[test]
    fn without_times_there_is_no_duration() {
        let call = r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"Bash","input":{}}]}}"#;
        let read = good(&[call, call, &outcome("t", "null", "05.0"), RESULT]);
        let calls = read.calls.unwrap();
        assert_eq!(calls.len(), 1, "an event that is repeated is one call");
        assert_eq!(calls[0].duration_ms, None);
        assert_eq!(calls[0].output, Some("".into()));
    }

    #[test]
    fn errors_are_errors_whatever_the_subtype() {
        let of = |rest: &str| bad(&[&format!(r#"{{"type":"result","is_error":true,{rest}}}"#)]);
        assert_eq!(
            of(r#""subtype":"success","result":"Invalid API key""#),
            "the agent ended with an error: Invalid API key"
        );
        assert_eq!(
            of(r#""subtype":"error_during_execution","errors":["no session","x"]"#),
            "the agent ended with an error: no session; x"
        );
        assert_eq!(
            of(r#""subtype":"error_during_execution","errors":[],"result":null"#),
            "the agent ended with an error: error_during_execution"
        );
    }

    #[test]
    fn running_out_of_turns_or_money_is_graded() {
        for subtype in GRADED {
            let said = assistant("a", r#"{"type":"text","text":"So far."}"#, "05.0");
            let end = format!(
                r#"{{"type":"result","is_error":true,"subtype":"{subtype}","errors":["x"],"usage":null,"total_cost_usd":null}}"#
            );
            let read = good(&[&said, &end]);
            assert_eq!(read.answer, "So far.");
            assert_eq!((read.tokens, read.cost_usd), (None, None));
        }
    }

    #[test]
    fn a_stream_that_breaks_off_is_an_error() {
        let said = assistant("a", r#"{"type":"text","text":"So far."}"#, "05.0");
        assert_eq!(bad(&[&said]), "the output ends at line 2 without a `result` event");
        assert_eq!(fault(&FORMAT, ""), "the program printed no events");
        let cut = &RESULT[..60];
        assert_eq!(bad(&[&said, cut]), format!("line 3 of the output is not JSON: {cut}"));
        let rest = "{\"type\":\"sys";
        assert_eq!(bad(&[RESULT, rest]), format!("line 3 of the output is not JSON: {rest}"));
        let broken = read(cut.as_bytes()).unwrap_err();
        assert!(matches!(broken, StreamFault::Unfinished(_)));
    }

    #[test]
    fn a_stream_that_goes_on_after_its_result_has_not_ended() {
        let said = assistant("a", r#"{"type":"text","text":"More."}"#, "05.0");
        assert!(bad(&[RESULT, &said]).starts_with("the output ends at line 3 without"));
        let hook = r#"{"type":"system","subtype":"hook_response"}"#;
        assert_eq!(good(&[RESULT, hook]).answer, "All done.");
    }

    #[test]
    fn only_claude_code_opens_such_a_stream() {
        for (first, message) in [
            (recorded::GEMINI_SKILL, " (it looks like one of Gemini CLI)"),
            (recorded::COPILOT_SKILL, " (it looks like one of Copilot CLI)"),
            (recorded::CODEX_PATCH, " (it looks like one of Codex)"),
            (RESULT, ""),
            (r#"{"type":"system","subtype":"init","cwd":"/"}"#, ""),
        ] {
            let message =
                format!("line 1 of the output does not open a stream of Claude Code{message}: {{");
            assert!(fault(&FORMAT, first).starts_with(&message), "{}", fault(&FORMAT, first));
        }
        assert!(fault(&FORMAT, "[]").starts_with("line 1 of the output is not an event: []"));
    }

    #[test]
    fn a_skill_is_used_by_the_main_thread() {
        let read = read(recorded::CLAUDE_SKILL.as_bytes()).unwrap();
        assert_eq!(uses(&read), ["csv-analyzer tool ok #0"]);
        let offered = read.skills.offered.unwrap();
        assert_eq!(offered, ["csv-analyzer", "csv-analyzer-pro"]);
        assert_eq!(read.session.llm_calls, Some(2));
        assert_eq!(read.session.permission_denials, Some(Vec::new()));
        assert_eq!(read.messages.len(), 3, "the text of the skill is not a message");
    }

    #[test]
    fn a_skill_that_does_not_exist_is_not_used() {
        let refused = recorded::CLAUDE_SKILL.replace(
            "Launching skill: csv-analyzer",
            "<tool_use_error>Unknown skill: csv-analyzer</tool_use_error>",
        );
        let read = read(refused.as_bytes()).unwrap();
        assert_eq!(uses(&read), ["csv-analyzer tool failed #0"]);
        assert_eq!(read.calls.unwrap()[0].is_error, Some(true));
    }

    #[test]
    fn a_skill_is_used_by_a_sub_agent() {
        let read = read(recorded::CLAUDE_SUB_AGENT.as_bytes()).unwrap();
        assert_eq!(uses(&read), ["csv-analyzer tool ok #0 sub-agent"]);
        assert_eq!(read.calls.as_ref().unwrap().len(), 1);
        let tokens = read.tokens.unwrap();
        assert_eq!((tokens.input, tokens.output, tokens.cached), (600, 68, 120));
        assert_eq!(read.session.llm_calls, None, "the last request is not shown");
    }

    #[test]
    fn refused_and_failed_calls_are_errors() {
        let denied = read(recorded::CLAUDE_DENIED.as_bytes()).unwrap();
        assert_eq!(denied.session.permission_denials, Some(vec!["Bash".to_owned()]));
        assert_eq!(calls(&denied), [r#"Bash {"command":"cat notes.txt"} error"#]);
        let failed = read(recorded::CLAUDE_TOOL_ERROR.as_bytes()).unwrap();
        assert_eq!(calls(&failed), [r#"Bash {"command":"ls /nonexistent; exit 3"} error 3"#]);
    }

    #[test]
    fn an_agent_that_is_stopped_leaves_what_it_did() {
        let mut stream = StreamReader::new(&FORMAT);
        stream.feed(recorded::CLAUDE_STOPPED.as_bytes());
        let so_far = Box::new(stream).so_far().unwrap();
        assert!(so_far.partial);
        assert_eq!(calls(&so_far), [r#"Bash {"command":"sleep 20"} error 137"#]);
        assert_eq!(so_far.tokens, None, "counts in a stream are not final");
        let mut other = StreamReader::new(&FORMAT);
        other.feed(recorded::GEMINI_SKILL.as_bytes());
        assert!(Box::new(other).so_far().is_none());
    }

    #[test]
    fn a_wrong_byte_is_replaced() {
        let end = RESULT.replace("All done.", "All d#ne.");
        let mut bytes = format!("{INIT}\n{end}").into_bytes();
        let at = bytes.iter().position(|byte| *byte == b'#').unwrap();
        bytes[at] = 0xff;
        assert_eq!(read(&bytes).unwrap().answer, "All d\u{fffd}ne.");
    }

    #[test]
    fn counts_that_make_no_sense_are_refused() {
        let of = |text: &str| bad(&[&RESULT.replace("\"output_tokens\":9", text)]);
        assert_eq!(
            of("\"output_tokens\":-9"),
            "`output_tokens` takes a whole number of at least 0, found -9"
        );
        let huge = RESULT.replace(":100,", ":18446744073709551615,");
        assert_eq!(good(&[&huge]).tokens.unwrap().input, u64::MAX);
    }

    #[test]
    fn a_session_lists_questions_and_leaves_injected_text_out() {
        let lines = [
            r#"{"type":"user","cwd":"/p","message":{"role":"user","content":"Hi"}}"#,
            r#"{"type":"user","isMeta":true,"message":{"content":"a skill"}}"#,
            r#"{"type":"user","isSynthetic":true,"message":{"content":"a skill"}}"#,
            r#"{"type":"assistant","isSidechain":true,"message":{"id":"s","content":[{"type":"text","text":"sub"}]}}"#,
            r#"{"type":"assistant","message":{"id":"m","model":"m-1","content":[{"type":"text","text":"Hello"}],"usage":{"input_tokens":4,"output_tokens":2}}}"#,
            r#"{"type":"cost-state","totalCostUSD":0.25}"#,
        ];
        let session = FORMAT.read_session(lines.join("\n").as_bytes());
        let texts: Vec<_> = session.messages().iter().filter_map(|one| one.text()).collect();
        assert_eq!(texts, ["Hi", "Hello"]);
        assert_eq!(session.tokens.map(Tokens::total), Some(6));
        assert_eq!((session.cost_usd, session.cwd.as_deref()), (Some(0.25), Some("/p")));
        let transcript = good(&[lines[0], lines[4], RESULT.replace("All done.", "Hello").as_str()]);
        assert_eq!(transcript.messages.len(), 1, "the question is not part of the answer");
    }

    #[test]
    fn an_image_in_a_result_is_not_text() {
        let call = r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"Read","input":{}}]}}"#;
        let image = r#"[{"type":"text","text":"a.png"},{"type":"image","source":{"data":"AAAA"}}]"#;
        let read = good(&[call, &outcome("t", image, "05.0"), RESULT]);
        assert_eq!(read.messages[1].text().as_deref(), Some("a.png"));
        let output = read.calls.unwrap()[0].output.clone();
        assert!(matches!(output, Some(Value::List(blocks)) if blocks.len() == 2));
    }

    #[test]
    fn the_text_of_an_error_is_recorded_only_if_nothing_was_said() {
        let error = r#"{"type":"result","is_error":true,"result":"API Error: 529"}"#;
        let said = assistant("a", r#"{"type":"text","text":"So far."}"#, "05.0");
        let answer = |lines: &[&str]| {
            let session = FORMAT.read_session(lines.join("\n").as_bytes());
            session.conversation.answer()
        };
        assert_eq!(answer(&[error]), "API Error: 529");
        assert_eq!(answer(&[&said, error]), "So far.");
    }

    #[test]
    fn a_sub_agent_in_the_background_leads_to_another_result() {
        let read = FORMAT.read_transcript(recorded::CLAUDE_BACKGROUND_AGENT.as_bytes()).unwrap();
        assert_eq!(uses(&read), ["csv-analyzer tool ok #0 sub-agent"]);
        let tokens = read.tokens.unwrap();
        assert_eq!((tokens.input, tokens.output, tokens.cached), (750, 85, 150));
    }
}
