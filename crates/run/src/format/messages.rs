//! `messages`: a JSON array of messages, or an object that contains them.

use evalrig_core::model::{JsonStyle, Map, Tokens, Transcript, Value};

use crate::agent::{AttemptFault, Unreported};

use super::conversation::Conversation;
use super::json;
use super::measure::{self, given, kind};
use super::{fault, utf8};

/// Keys that may hold the answer, in order of precedence.
const ANSWERS: &[&str] = &["messages", "output", "text"];

/// Keys beside the answer.
const FIGURES: &[&str] = &["error", "token_usage", "tokens", "cost_usd", "duration_ms", "model"];

/// Everything can be reported.
pub(super) const UNREPORTED: &[Unreported] = &[];

pub(crate) fn read(output: &[u8]) -> Result<Transcript, AttemptFault> {
    let text = utf8(output)?;
    if text.trim().is_empty() {
        return Err(fault("the output is empty"));
    }
    let value = json::parse(text).map_err(|why| fault(format!("the output is not JSON: {why}")))?;
    read_value(value)
}

pub(crate) fn read_value(value: Value) -> Result<Transcript, AttemptFault> {
    let mut fields = AnswerFields::default();
    match value {
        Value::Map(map) => fields.add(&map).map_err(fault)?,
        list @ Value::List(_) => fields.answer = Some(list),
        other => {
            let found = kind(&other);
            let message = format!("the output is {found}, not messages or an object");
            return Err(fault(message));
        }
    }
    fields.transcript(Conversation::default()).map_err(fault)
}

/// Whether the output is an object with an answer.
pub(super) fn is_likely(output: &[u8]) -> bool {
    let Ok(text) = utf8(output) else {
        return false;
    };
    if !text.trim_start().starts_with('{') {
        return false;
    }
    match json::parse(text) {
        Ok(Value::Map(map)) => ANSWERS.iter().any(|key| given(&map, key).is_some()),
        _ => false,
    }
}

/// The known keys of an object. If several objects have a key, the last one counts.
#[derive(Debug, Default)]
pub(super) struct AnswerFields {
    answer: Option<Value>,
    error: Option<String>,
    tokens: Option<Tokens>,
    cost_usd: Option<f64>,
    duration_ms: Option<u64>,
    model: Option<String>,
}

impl AnswerFields {
    pub(super) fn add(&mut self, map: &Map) -> Result<(), String> {
        if let Some(answer) = ANSWERS.iter().find_map(|key| given(map, key)) {
            self.answer = Some(answer.clone());
        }
        if let Some(error) = given(map, "error") {
            self.error = Some(error_text(error));
        }
        let usage = given(map, "token_usage").or_else(|| given(map, "tokens"));
        self.tokens = match usage {
            None => self.tokens,
            Some(Value::Map(usage)) => {
                measure::tokens(usage, ["input", "output", "cached"])?.or(self.tokens)
            }
            Some(other) => {
                let message = "token counts are an object `{input, output, cached}`";
                return Err(format!("{message}, found {}", kind(other)));
            }
        };
        self.cost_usd = measure::amount(map, "cost_usd")?.or(self.cost_usd);
        self.duration_ms = measure::milliseconds(map, "duration_ms")?.or(self.duration_ms);
        if let Some(model) = measure::text(map, "model")? {
            self.model = Some(model.to_owned());
        }
        Ok(())
    }

    /// Whether an object has one of the keys, whatever its value.
    pub(super) fn knows(map: &Map) -> bool {
        ANSWERS.iter().chain(FIGURES).any(|key| map.get(key).is_some())
    }

    /// `said` are messages from lines of their own; an answer that repeats the last one is dropped.
    pub(super) fn transcript(self, mut said: Conversation) -> Result<Transcript, String> {
        if let Some(error) = &self.error {
            return Err(format!("the program reports an error: {error}"));
        }
        match &self.answer {
            None if said.is_empty() => {
                return Err("the output has neither `messages`, `output` nor `text`".to_owned());
            }
            None => {}
            Some(Value::String(text)) => said.say_unless_said(text),
            Some(Value::List(messages)) => {
                for message in messages {
                    said.add_message(message)?;
                }
            }
            Some(message) => said.add_message(message)?,
        }
        let mut transcript = said.transcript();
        transcript.tokens = self.tokens;
        transcript.cost_usd = self.cost_usd;
        transcript.duration_ms = self.duration_ms;
        transcript.model = self.model;
        Ok(transcript)
    }
}

/// A text, the `message` of an object, or anything else as JSON.
fn error_text(error: &Value) -> String {
    let message = error.as_map().and_then(|error| error.get("message")).unwrap_or(error);
    match message {
        Value::String(text) => text.clone(),
        other => other.to_json(JsonStyle::Compact),
    }
}

#[cfg(test)]
mod tests {
    use evalrig_core::model::{Block, Call, Role};

    use super::*;

    fn good(text: &str) -> Transcript {
        read(text.as_bytes()).unwrap()
    }

    fn bad(text: &str) -> String {
        read(text.as_bytes()).unwrap_err().fault.message
    }

    fn shown(calls: &[Call]) -> Vec<String> {
        let show = |call: &Call| {
            let json = |value: &Value| value.to_json(JsonStyle::Compact);
            let output = call.output.as_ref().map(json).unwrap_or_default();
            format!("{} {} {} {output}", call.id, call.tool, json(&call.args))
        };
        calls.iter().map(show).collect()
    }

    #[test]
    fn an_array_of_messages_is_read() {
        let read = good(
            r#"[{"role": "assistant", "content": null, "tool_calls": [
                 {"id": "c9", "type": "function", "function": {"name": "Read", "arguments": "{\"path\":\"a\"}"}},
                 {"function": {"name": "Bash", "arguments": {"n": 1.50}}}]},
               {"role": "tool", "tool_call_id": "c9", "name": "Read", "content": "found"},
               {"role": "tool", "name": "Bash", "content": [{"type": "json", "value": {"code": 0}}]},
               {"role": "assistant", "content": [{"type": "text", "value": "a"}, {"type": "text", "text": "b"}, "c"]}]"#,
        );
        assert_eq!(read.answer, "a\nb\nc");
        assert_eq!(
            shown(read.calls.as_deref().unwrap()),
            [r#"c9 Read {"path":"a"} "found""#, r#"call_2 Bash {"n":1.50} {"code":0}"#]
        );
        assert_eq!(read.messages.len(), 4);
        assert_eq!(read.messages[0].tool_calls[0].arguments, r#"{"path":"a"}"#);
        assert_eq!(read.messages[2].tool_call_id.as_deref(), Some("call_2"));
    }

    #[test]
    fn short_calls_carry_their_output() {
        let read = good(
            r#"{"output": [{"role": "assistant", "content": "done", "tool_calls": [
                 {"tool": "a", "args": {"x": 1}, "output": "o", "duration_ms": 12.4},
                 {"tool": "b", "input": {"y": [2]}, "id": "mine"},
                 {"tool": "c", "args": "not json"}, {"name": "d", "arguments": ""}]}]}"#,
        );
        let calls = read.calls.unwrap();
        assert_eq!(
            shown(&calls),
            [
                r#"call_1 a {"x":1} "o""#,
                r#"mine b {"y":[2]} "#,
                r#"call_3 c "not json" "#,
                "call_4 d {} "
            ]
        );
        assert_eq!(calls[0].duration_ms, Some(12));
        let tool = &read.messages[1];
        assert_eq!((tool.role, read.messages.len()), (Role::Tool, 2));
        assert_eq!(tool.content, [Block::Text("o".to_owned())]);
        assert_eq!(read.answer, "done");
    }

    #[test]
    fn figures_are_read_beside_the_answer() {
        let read = good(
            r#"{"text": "hi", "token_usage": {"input": 5, "output": 2, "cached": 1},
                "cost_usd": 0.5, "duration_ms": 900, "model": "m", "other": []}"#,
        );
        assert_eq!(read.answer, "hi");
        assert_eq!(read.calls, Some(Vec::new()));
        assert_eq!(read.tokens.map(Tokens::total), Some(7));
        assert_eq!((read.cost_usd, read.duration_ms), (Some(0.5), Some(900)));
        assert_eq!(read.model.as_deref(), Some("m"));
        let read = good(r#"{"output": "x", "messages": null, "tokens": null, "cost_usd": null}"#);
        assert_eq!((read.answer.as_str(), read.tokens), ("x", None));
        assert_eq!(good("[]").answer, "");
        let one = good(r#"{"output": {"role": "assistant", "content": {"a": 1}}}"#);
        assert_eq!(one.answer, "");
    }

    #[test]
    fn malformed_output_is_explained() {
        for (text, message) in [
            ("", "the output is empty"),
            ("{\"text\":", "the output is not JSON: EOF while parsing a value (column 8)"),
            ("3", "the output is a number, not messages or an object"),
            ("{}", "the output has neither `messages`, `output` nor `text`"),
            (r#"{"error": "no key"}"#, "the program reports an error: no key"),
            (r#"{"text": "a", "error": "cut"}"#, "the program reports an error: cut"),
            (r#"{"text": "a", "error": {"message": "m"}}"#, "the program reports an error: m"),
            (r#"{"text": "a", "error": true}"#, "the program reports an error: true"),
            (r#"["x"]"#, "a message is an object, found a string"),
            ("[{}]", "a message has no `role`"),
            (r#"[{"role": "bot"}]"#, "a message has the role `bot`"),
            (
                r#"[{"role": "assistant", "tool_calls": {}}]"#,
                "`tool_calls` takes a list, found an object",
            ),
            (r#"[{"role": "assistant", "tool_calls": [{}]}]"#, "a tool call has no tool name"),
            (
                r#"{"text": "a", "tokens": {"input": -1, "output": 2}}"#,
                "`input` takes a whole number of at least 0, found -1",
            ),
            (
                r#"{"text": "a", "tokens": 7}"#,
                "token counts are an object `{input, output, cached}`, found a number",
            ),
            (
                r#"{"text": "a", "cost_usd": "free"}"#,
                "`cost_usd` takes a number of at least 0, found a string",
            ),
            (r#"{"text": "a", "model": 4}"#, "`model` takes a string, found a number"),
        ] {
            assert_eq!(bad(text), message, "{text}");
        }
    }

    #[test]
    fn objects_with_an_answer_are_recognised() {
        assert!(is_likely(br#" {"text": "a"}"#));
        assert!(is_likely(br#"{"messages": []}"#));
        for other in ["{\"a\": 1}", "[]", "text", "{\"text\": null}", "{"] {
            assert!(!is_likely(other.as_bytes()), "{other}");
        }
    }
}
