//! The chat completions API, which most services offer (spec 9.3).

use evalrig_core::evidence::{EncodedImage, MessagePart};
use evalrig_core::model::{Block, Call, Map, Message, Role, ToolCall, Value};
use evalrig_core::syntax::json_value;

use super::price::BilledTokens;
use super::request::{AttemptFault, Request};
use super::service::{Wire, WireReply, count, tokens};
use super::text::parts;

#[derive(Debug)]
pub(crate) struct ChatCompletions;

impl Wire for ChatCompletions {
    fn body(&self, request: &Request<'_>) -> Result<Map, AttemptFault> {
        let messages = request.messages.iter();
        let messages = messages.map(|message| written(request, message));
        let mut body = Map::new();
        body.insert("messages", messages.collect::<Result<Vec<_>, _>>()?);
        Ok(body)
    }

    fn read(&self, reply: &Map) -> Result<WireReply, String> {
        let choices = reply.get("choices").and_then(Value::as_list);
        let choice = choices.and_then(<[Value]>::first);
        let choice = choice.ok_or("the reply has no `choices`")?;
        let message = choice.as_map().and_then(|choice| choice.get("message"));
        let message = message.and_then(Value::as_map);
        let message = message.ok_or("the first of `choices` has no `message`")?;
        let usage = reply.get("usage").and_then(Value::as_map);
        Ok(WireReply {
            content: content(message)?,
            calls: calls(message)?,
            used: usage.and_then(used),
            cost_usd: usage.and_then(reported_cost),
        })
    }
}

fn written(request: &Request<'_>, message: &Message) -> Result<Map, AttemptFault> {
    let mut parts = parts(request, message)?;
    let has_calls = !message.tool_calls.is_empty();
    if has_calls {
        parts.retain(|part| !matches!(part, MessagePart::Text(text) if text.is_empty()));
    }
    let mut map = Map::new();
    map.insert("role", message.role.word());
    let content = if has_calls && parts.is_empty() { Value::Null } else { written_parts(parts) };
    map.insert("content", content);
    if has_calls {
        let calls = message.tool_calls.iter().map(written_call);
        map.insert("tool_calls", calls.collect::<Vec<_>>());
    }
    if message.role == Role::Tool {
        map.insert_some("tool_call_id", message.tool_call_id.as_deref());
    }
    Ok(map)
}

/// A single text is sent as a string: many services accept nothing else.
fn written_parts(mut parts: Vec<MessagePart>) -> Value {
    if parts.is_empty() {
        return "".into();
    }
    if let [MessagePart::Text(text)] = parts.as_mut_slice() {
        return std::mem::take(text).into();
    }
    let parts = parts.into_iter().map(|part| match part {
        MessagePart::Text(text) => entry("text", "text", text.into()),
        MessagePart::Image(EncodedImage { media_type, base64 }) => {
            let mut image = Map::new();
            image.insert("url", format!("data:{media_type};base64,{base64}"));
            entry("image_url", "image_url", image.into())
        }
    });
    parts.collect::<Vec<_>>().into()
}

fn entry(kind: &str, key: &str, value: Value) -> Map {
    let mut map = Map::new();
    map.insert("type", kind);
    map.insert(key, value);
    map
}

fn written_call(call: &ToolCall) -> Map {
    let mut function = Map::new();
    function.insert("name", call.name.as_str());
    function.insert("arguments", call.arguments.as_str());
    let mut map = Map::new();
    map.insert("id", call.id.as_str());
    map.insert("type", "function");
    map.insert("function", function);
    map
}

/// A refusal is an answer too.
fn content(message: &Map) -> Result<Vec<Block>, String> {
    let texts = match message.get("content") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::String(text)) => vec![text.clone()],
        Some(Value::List(parts)) => parts.iter().filter_map(part_text).collect(),
        Some(_) => return Err("`content` of the reply is neither text nor a list".to_owned()),
    };
    let mut blocks: Vec<_> =
        texts.into_iter().filter(|text| !text.is_empty()).map(Block::Text).collect();
    if blocks.is_empty()
        && let Some(refusal) = message.get("refusal").and_then(Value::as_str)
    {
        blocks.push(Block::Text(refusal.to_owned()));
    }
    Ok(blocks)
}

/// Parts without text, such as reasoning or audio, are not part of the answer.
fn part_text(part: &Value) -> Option<String> {
    match part {
        Value::String(text) => Some(text.clone()),
        Value::Map(part) => {
            let kind = part.get("type").and_then(Value::as_str);
            let key = match kind {
                None | Some("text" | "output_text") => "text",
                Some("refusal") => "refusal",
                Some(_) => return None,
            };
            part.get(key)?.as_str().map(str::to_owned)
        }
        _ => None,
    }
}

fn calls(message: &Map) -> Result<Vec<Call>, String> {
    match message.get("tool_calls") {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::List(calls)) => calls.iter().map(call).collect(),
        Some(_) => Err("`tool_calls` of the reply is not a list".to_owned()),
    }
}

fn call(call: &Value) -> Result<Call, String> {
    let call = call.as_map().ok_or("a tool call is not an object")?;
    // `custom` tools have the same shape under another key, with free text as input.
    let function = ["function", "custom"].iter().find_map(|key| call.get(key)?.as_map());
    let function = function.ok_or("a tool call has no `function`")?;
    let name = function.get("name").and_then(Value::as_str);
    let written = function.get("arguments").or_else(|| function.get("input"));
    let id = call.get("id").and_then(Value::as_str);
    let tool = name.ok_or("a tool call has no name")?;
    Ok(Call::new(id.unwrap_or_default(), tool, arguments(written)))
}

/// Arguments that are not valid JSON are kept as text, for the assertions to judge.
fn arguments(written: Option<&Value>) -> Value {
    match written {
        None | Some(Value::Null) => Map::new().into(),
        Some(Value::String(text)) if text.trim().is_empty() => Map::new().into(),
        Some(Value::String(text)) => {
            json_value(text).unwrap_or_else(|| Value::String(text.clone()))
        }
        Some(other) => other.clone(),
    }
}

fn used(usage: &Map) -> Option<BilledTokens> {
    let input = count(usage, "prompt_tokens")?;
    let output = count(usage, "completion_tokens")?;
    let details = usage.get("prompt_tokens_details").and_then(Value::as_map);
    let cached = details.and_then(|details| count(details, "cached_tokens"));
    Some(BilledTokens { tokens: tokens(input, output, cached.unwrap_or(0)), cache_writes: 0 })
}

/// The cost in USD, which some services report.
fn reported_cost(usage: &Map) -> Option<f64> {
    match usage.get("cost")? {
        Value::Number(cost) if cost.value() >= 0.0 => Some(cost.value()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use evalrig_core::model::JsonStyle;

    use super::*;
    use crate::agent::service::testing::{body, conversation, read, texts};

    fn message(message: &str) -> Result<WireReply, String> {
        read(&ChatCompletions, &format!(r#"{{"choices":[{{"message":{message}}}]}}"#))
    }

    #[test]
    fn messages_keep_their_order_and_their_roles() {
        let expected = concat!(
            r#"{"messages":[{"role":"system","content":"Be brief."},"#,
            r#"{"role":"user","content":"Read a"},"#,
            r#"{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","#,
            r#""function":{"name":"Read","arguments":"{\"path\":\"a\"}"}}]},"#,
            r#"{"role":"tool","content":"content of a","tool_call_id":"call_1"},"#,
            r#"{"role":"system","content":"Be kind."},{"role":"user","content":"and then?"}]}"#,
        );
        assert_eq!(body(&ChatCompletions, &conversation()), expected);
    }

    #[test]
    fn an_image_is_a_part_beside_texts() {
        let parts = vec![
            MessagePart::Text("look".to_owned()),
            MessagePart::Image(EncodedImage {
                media_type: "image/png".to_owned(),
                base64: "AAAA".to_owned(),
            }),
        ];
        let expected = concat!(
            r#"[{"type":"text","text":"look"},"#,
            r#"{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]"#,
        );
        assert_eq!(written_parts(parts).to_json(JsonStyle::Compact), expected);
        assert_eq!(written_parts(Vec::new()), "".into());
    }

    #[test]
    fn content_comes_in_many_shapes() {
        for (written, expected) in [
            (r#"{"content":"a"}"#, vec!["a"]),
            (r#"{"content":null}"#, vec![]),
            ("{}", vec![]),
            (r#"{"content":""}"#, vec![]),
            (r#"{"content":null,"refusal":"No."}"#, vec!["No."]),
            (r#"{"content":"a","refusal":null}"#, vec!["a"]),
            (
                r#"{"content":[{"type":"text","text":"a"},{"type":"reasoning","text":"x"},"b"]}"#,
                vec!["a", "b"],
            ),
        ] {
            assert_eq!(texts(&message(written).unwrap()), expected, "{written}");
        }
    }

    #[test]
    fn arguments_come_as_text_or_as_they_are() {
        let call = |arguments: &str| {
            let function = format!(r#"{{"name":"f"{arguments}}}"#);
            let calls = format!(r#"{{"content":null,"tool_calls":[{{"function":{function}}}]}}"#);
            let reply = message(&calls).unwrap();
            assert_eq!((reply.calls[0].id.as_str(), reply.calls.len()), ("", 1));
            reply.calls[0].args.to_json(JsonStyle::Compact)
        };
        assert_eq!(call(r#","arguments":"{\"a\": 1.50}""#), r#"{"a":1.50}"#);
        assert_eq!(call(r#","arguments":{"a":1}"#), r#"{"a":1}"#);
        assert_eq!(call(r#","arguments":"""#), "{}");
        assert_eq!(call(r#","arguments":null"#), "{}");
        assert_eq!(call(""), "{}");
        assert_eq!(call(r#","arguments":"{\"a\":""#), r#""{\"a\":""#);
    }

    #[test]
    fn wrong_shapes_are_named() {
        for (reply, reason) in [
            ("{}", "the reply has no `choices`"),
            (r#"{"choices":[]}"#, "the reply has no `choices`"),
            (r#"{"choices":"x"}"#, "the reply has no `choices`"),
            (r#"{"choices":[{"text":"a"}]}"#, "the first of `choices` has no `message`"),
            (
                r#"{"choices":[{"message":{"content":7}}]}"#,
                "`content` of the reply is neither text nor a list",
            ),
            (
                r#"{"choices":[{"message":{"tool_calls":{}}}]}"#,
                "`tool_calls` of the reply is not a list",
            ),
            (
                r#"{"choices":[{"message":{"tool_calls":[{"id":"x"}]}}]}"#,
                "a tool call has no `function`",
            ),
            (
                r#"{"choices":[{"message":{"tool_calls":[{"function":{"name":null}}]}}]}"#,
                "a tool call has no name",
            ),
        ] {
            assert_eq!(read(&ChatCompletions, reply), Err(reason.to_owned()), "{reply}");
        }
    }

    #[test]
    fn counts_are_taken_only_when_they_are_whole() {
        let used = |usage: &str| {
            let reply = format!(r#"{{"choices":[{{"message":{{}}}}],"usage":{usage}}}"#);
            read(&ChatCompletions, &reply).unwrap()
        };
        let full = r#"{"prompt_tokens":9,"completion_tokens":2.0,"cost":0.25,
            "prompt_tokens_details":{"cached_tokens":4,"audio_tokens":0}}"#;
        assert_eq!(used(full).used.unwrap().tokens, tokens(9, 2, 4));
        assert_eq!(used(full).cost_usd, Some(0.25));
        let plain = r#"{"prompt_tokens":9,"completion_tokens":2,"prompt_tokens_details":null}"#;
        assert_eq!(used(plain).used.unwrap().tokens, tokens(9, 2, 0));
        for usage in [
            "null",
            "{}",
            r#"{"prompt_tokens":9}"#,
            r#"{"prompt_tokens":-1,"completion_tokens":"2"}"#,
        ] {
            assert_eq!(used(usage).used, None, "{usage}");
        }
    }
}
