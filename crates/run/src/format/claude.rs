//! `stream-json`: the events of Claude Code.

use std::collections::HashMap;

use evalrig_core::model::{Call, Map, Tokens, Transcript, Value};

use super::conversation::Conversation;
use super::measure::{self, given};
use super::timestamp::milliseconds;
use crate::agent::StreamFault;

use super::{event_lines, fault, json, shorten};

/// Endings that are errors to Claude Code, while what was said can be graded.
const GRADED: &[&str] = &["error_max_turns", "error_max_budget_usd"];

/// The model of messages that no model wrote.
const SYNTHETIC: &str = "<synthetic>";

pub(crate) fn read(output: &[u8]) -> Result<Transcript, StreamFault> {
    let mut stream = Stream::default();
    for line in event_lines(output) {
        match json::parse(&line) {
            Ok(Value::Map(event)) => stream.take(&event),
            _ => {
                stream.stray.get_or_insert_with(|| shorten(&line));
            }
        }
    }
    stream.transcript()
}

#[derive(Debug, Default)]
struct Stream {
    said: Conversation,
    /// Messages by their id: their blocks come one by one.
    open: HashMap<String, usize>,
    /// When calls were made.
    made: HashMap<String, i64>,
    model: Option<String>,
    result: Option<Map>,
    /// The first line that is no event.
    stray: Option<String>,
}

impl Stream {
    fn take(&mut self, event: &Map) {
        let of_sub_agent = given(event, "parent_tool_use_id").is_some();
        match event.get("type").and_then(Value::as_str) {
            Some("result") => self.result = Some(event.clone()),
            _ if of_sub_agent => {}
            Some("system") => self.notice_model(event),
            Some("assistant") => self.take_assistant(event),
            Some("user") => self.take_results(event),
            _ => {}
        }
    }

    fn notice_model(&mut self, holder: &Map) {
        if let Some(Value::String(model)) = holder.get("model")
            && self.model.is_none()
        {
            self.model = Some(model.clone());
        }
    }

    fn take_assistant(&mut self, event: &Map) {
        let Some(message) = event.get("message").and_then(Value::as_map) else {
            return;
        };
        if message.get("model").and_then(Value::as_str) == Some(SYNTHETIC) {
            return;
        }
        self.notice_model(message);
        let id = message.get("id").and_then(Value::as_str);
        for block in content(message) {
            match block.get("type").and_then(Value::as_str) {
                Some("text") => {
                    if let Some(text) = block.get("text").and_then(Value::as_str) {
                        let at = self.message(id);
                        self.said.add_text(at, text);
                    }
                }
                Some("tool_use") => self.take_call(id, block, event),
                _ => {}
            }
        }
    }

    /// The message with this id, opened when it is first seen.
    fn message(&mut self, id: Option<&str>) -> usize {
        match id {
            None => self.said.open(),
            Some(id) => match self.open.get(id) {
                Some(at) => *at,
                None => {
                    let at = self.said.open();
                    self.open.insert(id.to_owned(), at);
                    at
                }
            },
        }
    }

    fn take_call(&mut self, message: Option<&str>, block: &Map, event: &Map) {
        let text = |key| block.get(key).and_then(Value::as_str).unwrap_or_default();
        let (id, tool) = (text("id"), text("name"));
        let is_known = !id.is_empty() && self.said.call_mut(id).is_some();
        if tool.is_empty() || is_known {
            return;
        }
        if let Some(time) = time_of(event) {
            self.made.insert(id.to_owned(), time);
        }
        let call = Call {
            id: id.to_owned(),
            tool: tool.to_owned(),
            args: match given(block, "input") {
                Some(input) => input.clone(),
                None => Value::Map(Map::new()),
            },
            output: None,
            duration_ms: None,
        };
        let at = self.message(message);
        self.said.add_call(at, call);
    }

    /// Texts of `user` events are what skills and reminders put there, and no turn of a user.
    fn take_results(&mut self, event: &Map) {
        let Some(message) = event.get("message").and_then(Value::as_map) else {
            return;
        };
        for block in content(message) {
            let id = block.get("tool_use_id").and_then(Value::as_str);
            let (Some("tool_result"), Some(id)) = (block.get("type").and_then(Value::as_str), id)
            else {
                continue;
            };
            let output = result_of(block.get("content"));
            self.said.add_result(id, output);
            let took = self.made.get(id).zip(time_of(event));
            let took = took.and_then(|(from, to)| u64::try_from(to - from).ok());
            if let Some(call) = self.said.call_mut(id) {
                call.duration_ms = took;
            }
        }
    }

    fn transcript(self) -> Result<Transcript, StreamFault> {
        let Some(result) = &self.result else {
            return Err(self.unfinished());
        };
        let subtype = result.get("subtype").and_then(Value::as_str);
        let is_graded = subtype.is_some_and(|subtype| GRADED.contains(&subtype));
        if result.get("is_error") == Some(&Value::Bool(true)) && !is_graded {
            return Err(StreamFault::Reported(fault(reason(result))));
        }
        let figures = Figures::of(result).map_err(|why| StreamFault::Reported(fault(why)))?;
        let mut said = self.said;
        if let Some(text) = result.get("result").and_then(Value::as_str)
            && !text.trim().is_empty()
            && !said.answer().trim().ends_with(text.trim())
        {
            said.say(text);
        }
        let mut transcript = said.transcript();
        transcript.tokens = figures.tokens;
        transcript.cost_usd = figures.cost_usd;
        transcript.duration_ms = figures.duration_ms;
        transcript.model = self.model;
        Ok(transcript)
    }

    fn unfinished(&self) -> StreamFault {
        let message = "the output has no `result` event";
        StreamFault::Unfinished(match &self.stray {
            Some(stray) => fault(format!("{message}: {stray}")),
            None => fault(message),
        })
    }
}

fn content(message: &Map) -> impl Iterator<Item = &Map> {
    let blocks = message.get("content").and_then(Value::as_list);
    let blocks = blocks.unwrap_or_default().iter();
    blocks.filter_map(Value::as_map)
}

fn time_of(event: &Map) -> Option<i64> {
    milliseconds(event.get("timestamp")?.as_str()?)
}

/// A text, or blocks of which the texts count; blocks of another kind are kept as they are.
fn result_of(content: Option<&Value>) -> Value {
    let Some(Value::List(blocks)) = content else {
        return match content {
            None | Some(Value::Null) => Value::String(String::new()),
            Some(other) => other.clone(),
        };
    };
    let texts: Option<Vec<&str>> = blocks
        .iter()
        .map(|block| block.as_map()?.get("text")?.as_str())
        .collect();
    match texts {
        Some(texts) => Value::String(texts.join("\n")),
        None => Value::List(blocks.clone()),
    }
}

/// Why a run that ended in an error did.
fn reason(result: &Map) -> String {
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
    match said {
        Some(text) => format!("the agent ended with an error: {text}"),
        None => {
            let subtype = result.get("subtype").and_then(Value::as_str);
            let subtype = subtype.unwrap_or("no reason given");
            format!("the agent ended with an error: {subtype}")
        }
    }
}

/// What the `result` event counts. The events before it hold only beginnings of counts.
#[derive(Debug)]
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

/// A run that was cut off for its cost has zeros as `usage`, and the truth by model.
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

/// Names of fresh input, output, cache reads and cache writes.
type Names = [&'static str; 4];

const USAGE: Names = [
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
];

const MODEL_USAGE: Names = [
    "inputTokens",
    "outputTokens",
    "cacheReadInputTokens",
    "cacheCreationInputTokens",
];

/// Input tokens include cache reads and writes (spec 9.3).
fn tokens(usage: &Map, names: &Names) -> Result<Option<Tokens>, String> {
    let [fresh, output, cached, written] = names;
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
    use evalrig_core::model::Role;

    use crate::agent::AttemptFault;

    use super::*;

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
            outcome(
                "t2",
                r#"[{"type":"text","text":"x"},{"type":"text","text":"y"}]"#,
                "04.000",
            ),
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
    fn sub_agents_skills_and_unknown_events_are_no_part_of_it() {
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
    fn zeros_of_a_run_that_was_cut_off_are_not_believed() {
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
}
