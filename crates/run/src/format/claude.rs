//! Claude Code: the events of `--output-format stream-json` and the rows of its session files.

use std::collections::HashMap;

use evalrig_core::model::{Call, Map, Number, SessionFacts, Tokens, Value};

use crate::agent::Unreported;
use crate::clock::unix_milliseconds;

use super::conversation::Conversation;
use super::events::{Ending, EventFormat, EventReader, EventSession, child, joined_text, text};
use super::measure::{self, given};

/// Claude Code reports everything.
pub(crate) const UNREPORTED: &[Unreported] = &[];

pub(crate) static FORMAT: EventFormat = EventFormat {
    name: "claude",
    doc: "Claude Code: stream-json, or a session file",
    event_types: &["assistant", "user", "system", "result"],
    reader: || Box::new(ClaudeReader::default()),
};

/// Endings that Claude Code calls errors, although what was said so far can be graded.
const GRADED: &[&str] = &["error_max_turns", "error_max_budget_usd"];

/// The model of messages that Claude Code made up itself.
const SYNTHETIC: &str = "<synthetic>";

#[derive(Debug, Default)]
struct ClaudeReader {
    conversation: Conversation,
    /// Messages by their id: their blocks come one by one.
    open_messages: HashMap<String, usize>,
    /// When calls were made.
    call_times: HashMap<String, i64>,
    /// By message: every block repeats the counts of its message. Only for sessions without a
    /// `result`; in a stream, these counts are not final.
    usage: HashMap<String, Tokens>,
    session_cost: Option<f64>,
    model: Option<String>,
    facts: SessionFacts,
    cwd: Option<String>,
    result: Option<Map>,
}

impl EventReader for ClaudeReader {
    fn read_event(&mut self, event: &Map) {
        let kind = text(event, "type");
        if kind == Some("result") {
            self.facts.stop_reason = text(event, "stop_reason").map(str::to_owned);
            self.result = Some(event.clone());
            return;
        }
        let is_true = |key| event.get(key) == Some(&Value::Bool(true));
        let is_of_sub_agent =
            given(event, "parent_tool_use_id").is_some() || is_true("isSidechain");
        // Text that Claude Code itself puts into the conversation, such as that of a skill.
        let is_injected = is_true("isMeta") || is_true("isSynthetic");
        if is_of_sub_agent || is_injected {
            return;
        }
        if self.cwd.is_none() {
            self.cwd = text(event, "cwd").map(str::to_owned);
        }
        match kind {
            Some("system") => {
                self.note_model(event);
                self.note_session(event);
            }
            Some("assistant") => self.read_assistant(event),
            Some("user") => self.read_user(event),
            Some("cost-state") => {
                if let Some(Value::Number(cost)) = event.get("totalCostUSD") {
                    self.session_cost = Some(Number::value(cost));
                }
            }
            _ => {}
        }
    }

    fn finish(self: Box<Self>) -> EventSession {
        let (ending, figures) = self.ending();
        let mut conversation = self.conversation;
        let result_text = self.result.as_ref().and_then(|result| text(result, "result"));
        if let Some(result_text) = result_text.filter(|text| !text.trim().is_empty()) {
            let is_new = match ending {
                // The text of an error is not an answer, unless it is all there is.
                Ending::Failed(_) => !conversation.has_assistant_message(),
                _ => !conversation.answer().trim().ends_with(result_text.trim()),
            };
            if is_new {
                conversation.say(result_text);
            }
        }
        EventSession {
            conversation,
            ending,
            tokens: figures.tokens,
            cost_usd: figures.cost_usd,
            duration_ms: figures.duration_ms,
            model: self.model,
            facts: self.facts,
            cwd: self.cwd,
        }
    }
}

impl ClaudeReader {
    fn note_model(&mut self, holder: &Map) {
        if self.model.is_none() {
            self.model = text(holder, "model").map(str::to_owned);
        }
    }

    fn note_session(&mut self, event: &Map) {
        let noted = |known: &mut Option<String>, key: &str| {
            if known.is_none() {
                *known = text(event, key).map(str::to_owned);
            }
        };
        noted(&mut self.facts.id, "session_id");
        noted(&mut self.facts.version, "claude_code_version");
    }

    fn read_assistant(&mut self, event: &Map) {
        let Some(message) = child(event, "message") else {
            return;
        };
        if text(message, "model") == Some(SYNTHETIC) {
            return;
        }
        self.note_model(message);
        let id = text(message, "id");
        if let Some(usage) = child(message, "usage")
            && let Ok(Some(tokens)) = tokens(usage, &USAGE)
        {
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
        let (id, tool) = (text(block, "id"), text(block, "name"));
        let (id, tool) = (id.unwrap_or_default(), tool.unwrap_or_default());
        let is_known = !id.is_empty() && self.conversation.call_mut(id).is_some();
        if tool.is_empty() || is_known {
            return;
        }
        if let Some(time) = time_of(event) {
            self.call_times.insert(id.to_owned(), time);
        }
        let args = given(block, "input").map_or_else(|| Map::new().into(), Value::clone);
        let call = Call::new(id, tool, args);
        let at = self.message(message);
        self.conversation.add_call(at, call);
    }

    /// Results of tools, and what the user said.
    fn read_user(&mut self, event: &Map) {
        let Some(message) = child(event, "message") else {
            return;
        };
        for block in content(message) {
            if let (Some("tool_result"), Some(id)) =
                (text(block, "type"), text(block, "tool_use_id"))
            {
                self.read_result(id, block, event);
            }
        }
        let said = joined_text(message.get("content"));
        if !said.is_empty() {
            self.conversation.ask(&said);
        }
    }

    fn read_result(&mut self, id: &str, block: &Map, event: &Map) {
        let output = result_of(block.get("content"));
        self.conversation.add_result(id, output);
        let times = self.call_times.get(id).zip(time_of(event));
        let took = times.and_then(|(from, to)| u64::try_from(to - from).ok());
        if let Some(call) = self.conversation.call_mut(id) {
            call.duration_ms = took;
        }
    }

    fn ending(&self) -> (Ending, Figures) {
        let Some(result) = &self.result else {
            let ending =
                Ending::Unfinished { message: "the output has no `result` event", complaint: None };
            let used = self.usage.values().copied().reduce(Tokens::plus);
            let figures = Figures { tokens: used, cost_usd: self.session_cost, duration_ms: None };
            return (ending, figures);
        };
        let (figures, fault) = match Figures::of(result) {
            Ok(figures) => (figures, None),
            Err(reason) => (Figures::default(), Some(reason)),
        };
        let is_graded = text(result, "subtype").is_some_and(|subtype| GRADED.contains(&subtype));
        let is_error = result.get("is_error") == Some(&Value::Bool(true));
        let ending = match fault {
            _ if is_error && !is_graded => Ending::Failed(error_reason(result)),
            Some(reason) => Ending::Failed(reason),
            None => Ending::Completed,
        };
        (ending, figures)
    }
}

fn content(message: &Map) -> impl Iterator<Item = &Map> {
    let blocks = message.get("content").and_then(Value::as_list);
    let blocks = blocks.unwrap_or_default().iter();
    blocks.filter_map(Value::as_map)
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

/// What the `result` event counts.
#[derive(Debug, Default)]
struct Figures {
    tokens: Option<Tokens>,
    cost_usd: Option<f64>,
    duration_ms: Option<u64>,
}

impl Figures {
    fn of(result: &Map) -> Result<Self, String> {
        Ok(Self {
            tokens: all_tokens(result)?,
            cost_usd: measure::amount(result, "total_cost_usd")?,
            duration_ms: measure::milliseconds(result, "duration_ms")?,
        })
    }
}

/// After reaching its budget, Claude Code reports zeros in `usage` and the real counts per model.
fn all_tokens(result: &Map) -> Result<Option<Tokens>, String> {
    let used = match given(result, "usage") {
        Some(Value::Map(usage)) => tokens(usage, &USAGE)?,
        _ => None,
    };
    let Some(Value::Map(models)) = given(result, "modelUsage") else {
        return Ok(used);
    };
    if used.is_some_and(|used| used.total() > 0) {
        return Ok(used);
    }
    let mut sum = used;
    for usage in models.iter().filter_map(|(_, usage)| usage.as_map()) {
        if let Some(more) = tokens(usage, &MODEL_USAGE)? {
            sum = Some(sum.unwrap_or_default().plus(more));
        }
    }
    Ok(sum)
}

/// Keys of fresh input, output, cache reads and cache writes.
type UsageKeys = [&'static str; 4];

const USAGE: UsageKeys =
    ["input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"];

const MODEL_USAGE: UsageKeys =
    ["inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens"];

/// Input tokens include cache reads and writes (spec 9.3).
fn tokens(usage: &Map, keys: &UsageKeys) -> Result<Option<Tokens>, String> {
    let [fresh, output, cached, written] = keys;
    let fresh = measure::count(usage, fresh)?;
    let output = measure::count(usage, output)?;
    let cached = measure::count(usage, cached)?.unwrap_or(0);
    let written = measure::count(usage, written)?.unwrap_or(0);
    Ok(fresh.zip(output).map(|(fresh, output)| Tokens {
        input: fresh.saturating_add(cached).saturating_add(written),
        output,
        cached,
    }))
}

#[cfg(test)]
mod tests {
    use evalrig_core::model::{Role, Transcript};

    use crate::agent::{AttemptFault, StreamFault};

    use super::*;

    fn read(output: &[u8]) -> Result<Transcript, StreamFault> {
        FORMAT.read_transcript(output)
    }

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

    fn good(lines: &[&str]) -> Transcript {
        read(lines.join("\n").as_bytes()).unwrap()
    }

    fn bad(lines: &[&str]) -> String {
        let broken = read(lines.join("\n").as_bytes()).unwrap_err();
        AttemptFault::from(broken).fault.message
    }

    #[test]
    fn blocks_with_one_id_are_one_message_and_calls_have_results() {
        let lines = [
            r#"{"type":"system","subtype":"init","model":"m-1","tools":["Read"]}"#.to_owned(),
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
        let read = good(&[sub, skill, synthetic, odd, broken, "[]", "warning", RESULT]);
        assert_eq!(read.calls, Some(Vec::new()));
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
    fn counts_per_model_replace_zeros() {
        let models = r#""modelUsage":{"a":{"inputTokens":5,"outputTokens":2,"cacheReadInputTokens":1},"b":{"inputTokens":1,"outputTokens":1}}"#;
        let of = |usage: &str| {
            let end = format!(r#"{{"type":"result","result":"x",{usage},{models}}}"#);
            let tokens = good(&[&end]).tokens.unwrap();
            (tokens.input, tokens.output, tokens.cached)
        };
        let zeros = r#""usage":{"input_tokens":0,"output_tokens":0}"#;
        assert_eq!(of(zeros), (7, 3, 1));
        let counted = r#""usage":{"input_tokens":4,"output_tokens":3}"#;
        assert_eq!(of(counted), (4, 3, 0));
        assert_eq!(of(r#""usage":null"#), (7, 3, 1));
    }

    #[test]
    fn a_stream_that_breaks_off_is_an_error() {
        let said = assistant("a", r#"{"type":"text","text":"So far."}"#, "05.0");
        assert_eq!(bad(&[&said]), "the output has no `result` event");
        assert_eq!(bad(&[]), "the output has no `result` event");
        let cut = &RESULT[..60];
        let message = bad(&[&said, cut]);
        assert_eq!(message, format!("the output has no `result` event: {cut}"));
        assert_eq!(good(&[RESULT, "{\"type\":\"sys"]).answer, "All done.");
        let broken = read(cut.as_bytes()).unwrap_err();
        assert!(matches!(broken, StreamFault::Unfinished(_)));
    }

    #[test]
    fn a_wrong_byte_is_replaced() {
        let mut bytes = RESULT.replace("All done.", "All d#ne.").into_bytes();
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
}
