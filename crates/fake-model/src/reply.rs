//! One reply: an answer of the model or a fault of its server. A reply is never both.

use std::collections::BTreeMap;
use std::time::Duration;

use hyper::header::{HeaderName, HeaderValue};
use serde::Deserialize;
use serde_json::Value;

/// What the server sends back when a rule fires.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "Fields")]
pub struct Reply {
    pub(crate) delay: Option<Duration>,
    pub(crate) kind: Kind,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Kind {
    Answer(Answer),
    Status { status: u16, headers: Vec<(String, String)>, body: Option<Value> },
    Close,
    Garbage,
}

/// The model's turn, before it is put into a wire format.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Answer {
    pub(crate) text: Option<String>,
    pub(crate) tool_calls: Vec<ToolCall>,
    pub(crate) usage: Usage,
}

/// A tool that the model asks its client to run.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolCall {
    /// The name under which the client offers the tool.
    pub name: String,
    /// The arguments, usually an object.
    #[serde(default = "no_arguments")]
    pub arguments: Value,
}

fn no_arguments() -> Value {
    Value::Object(serde_json::Map::new())
}

/// Token counts of one reply; `input` includes `cached`, and `output` includes `reasoning`.
///
/// Wire formats that count otherwise are converted when the reply is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Usage {
    /// All tokens of the request.
    pub input: u64,
    /// Those of `input` that were read from a cache.
    pub cached: u64,
    /// All tokens of the reply.
    pub output: u64,
    /// Those of `output` that were spent on reasoning.
    pub reasoning: u64,
}

impl Default for Usage {
    /// Four different numbers, none of them zero, so that a mix-up shows in a test.
    fn default() -> Self {
        Self { input: 150, cached: 30, output: 17, reasoning: 5 }
    }
}

impl Usage {
    fn check(self) -> Result<Self, String> {
        if self.cached > self.input {
            return Err("`usage.input` includes `usage.cached` and cannot be smaller".into());
        }
        if self.reasoning > self.output {
            return Err("`usage.output` includes `usage.reasoning` and cannot be smaller".into());
        }
        Ok(self)
    }
}

impl Reply {
    fn of(kind: Kind) -> Self {
        Self { delay: None, kind }
    }

    /// A text answer. `{tool_result}` is replaced by the latest tool result.
    pub fn text(text: impl Into<String>) -> Self {
        Self::of(Kind::Answer(Answer { text: Some(text.into()), ..Answer::default() }))
    }

    /// A call of one tool, without text.
    pub fn tool(name: impl Into<String>, arguments: Value) -> Self {
        Self::of(Kind::Answer(Answer::default())).and_tool(name, arguments)
    }

    /// An answer with this status; the body is the wire format's own error unless one is given.
    ///
    /// # Panics
    ///
    /// When this is not a final HTTP status.
    pub fn status(status: u16) -> Self {
        check_status(status).expect("a final HTTP status");
        Self::of(Kind::Status { status, headers: Vec::new(), body: None })
    }

    /// The connection is closed without an answer.
    pub fn close() -> Self {
        Self::of(Kind::Close)
    }

    /// Status 200 with a body that is not JSON.
    pub fn garbage() -> Self {
        Self::of(Kind::Garbage)
    }

    /// Adds a tool call to an answer; a fault stays as it is.
    #[must_use]
    pub fn and_tool(mut self, name: impl Into<String>, arguments: Value) -> Self {
        if let Kind::Answer(answer) = &mut self.kind {
            answer.tool_calls.push(ToolCall { name: name.into(), arguments });
        }
        self
    }

    /// Sets the token counts of an answer; a fault stays as it is.
    ///
    /// # Panics
    ///
    /// When a part is larger than its whole.
    #[must_use]
    pub fn usage(mut self, usage: Usage) -> Self {
        if let Kind::Answer(answer) = &mut self.kind {
            answer.usage = usage.check().expect("token counts that add up");
        }
        self
    }

    /// Waits before this reply, in place of the script's own delay.
    #[must_use]
    pub fn delay(mut self, delay: Duration) -> Self {
        self.delay = Some(delay);
        self
    }

    /// Adds a header to a status; any other reply stays as it is.
    ///
    /// # Panics
    ///
    /// When the name or the value cannot be sent as a header.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        if let Kind::Status { headers, .. } = &mut self.kind {
            let header = (name.into(), value.into());
            headers.push(check_header(header).expect("a header that can be sent"));
        }
        self
    }

    /// Sets the body of a status, a string as it is and all else as JSON; any other reply stays
    /// as it is.
    #[must_use]
    pub fn body(mut self, value: Value) -> Self {
        if let Kind::Status { body, .. } = &mut self.kind {
            *body = Some(value);
        }
        self
    }
}

/// A reply in a script file. A flat struct with a check gives better errors than an untagged enum,
/// which only says that nothing matched.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    text: Option<String>,
    #[serde(default)]
    tool_calls: Vec<ToolCall>,
    usage: Option<Usage>,
    delay_ms: Option<u64>,
    status: Option<u16>,
    headers: Option<BTreeMap<String, Value>>,
    body: Option<Value>,
    #[serde(default)]
    close: bool,
    #[serde(default)]
    garbage: bool,
}

impl TryFrom<Fields> for Reply {
    type Error = String;

    fn try_from(fields: Fields) -> Result<Self, String> {
        let delay = fields.delay_ms.map(Duration::from_millis);
        let answers =
            fields.text.is_some() || !fields.tool_calls.is_empty() || fields.usage.is_some();
        let kinds = [answers, fields.status.is_some(), fields.close, fields.garbage];
        if kinds.iter().filter(|given| **given).count() != 1 {
            return Err("a reply has either `text`, `tool_calls` and `usage`, or `status`, \
                        or `close`, or `garbage`"
                .into());
        }
        if fields.status.is_none() && (fields.headers.is_some() || fields.body.is_some()) {
            return Err("`headers` and `body` need a `status`".into());
        }
        let kind = if let Some(status) = fields.status {
            check_status(status)?;
            let headers = fields.headers.unwrap_or_default().into_iter().map(header);
            Kind::Status { status, headers: headers.collect::<Result<_, _>>()?, body: fields.body }
        } else if fields.close {
            Kind::Close
        } else if fields.garbage {
            Kind::Garbage
        } else {
            let usage = fields.usage.unwrap_or_default().check()?;
            Kind::Answer(Answer { text: fields.text, tool_calls: fields.tool_calls, usage })
        };
        Ok(Self { delay, kind })
    }
}

/// `Retry-After: 1` is written as a number as often as a string.
fn header((name, value): (String, Value)) -> Result<(String, String), String> {
    match value {
        Value::String(text) => check_header((name, text)),
        other => check_header((name, other.to_string())),
    }
}

fn check_header((name, value): (String, String)) -> Result<(String, String), String> {
    if HeaderName::try_from(&name).is_err() || HeaderValue::try_from(&value).is_err() {
        return Err(format!("`{name}: {value}` is not a header"));
    }
    Ok((name, value))
}

fn check_status(status: u16) -> Result<(), String> {
    if !(200..=999).contains(&status) {
        return Err(format!("`status` {status} is not a final HTTP status"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(value: Value) -> Result<Reply, String> {
        serde_json::from_value(value).map_err(|error| error.to_string())
    }

    #[test]
    fn every_kind_is_read_from_json() {
        assert_eq!(read(json!({"text": "a"})), Ok(Reply::text("a")));
        let call = json!({"tool_calls": [{"name": "Bash", "arguments": {"command": "ls"}}]});
        assert_eq!(read(call), Ok(Reply::tool("Bash", json!({"command": "ls"}))));
        let status = json!({"status": 429, "headers": {"retry-after": 2}, "body": "slow"});
        let same = Reply::status(429).header("retry-after", "2").body(json!("slow"));
        assert_eq!(read(status), Ok(same));
        assert_eq!(read(json!({"close": true})), Ok(Reply::close()));
        let late = Reply::garbage().delay(Duration::from_millis(5));
        assert_eq!(read(json!({"garbage": true, "delay_ms": 5})), Ok(late));
    }

    #[test]
    fn a_reply_of_two_kinds_or_of_none_is_an_error() {
        for wrong in [json!({}), json!({"text": "a", "close": true}), json!({"delay_ms": 1})] {
            assert!(read(wrong).unwrap_err().contains("a reply has either"));
        }
        assert!(read(json!({"text": "a", "body": 1})).unwrap_err().contains("need a `status`"));
        assert!(read(json!({"txt": "a"})).unwrap_err().contains("unknown field `txt`"));
        assert!(read(json!({"status": 99})).unwrap_err().contains("99"));
        let header = json!({"status": 429, "headers": {"retry after": 1}});
        assert!(read(header).unwrap_err().contains("`retry after: 1` is not a header"));
    }

    #[test]
    fn a_part_of_the_usage_is_not_larger_than_its_whole() {
        let wrong = json!({"text": "a", "usage": {"input": 1, "cached": 2}});
        assert!(read(wrong).unwrap_err().contains("usage.input"));
    }
}
