//! Transcripts as JSON: whole ones for the journal, and the messages of one for `outputMessages`.
//!
//! In the journal messages have the shape of `show --format json`, with more where something would
//! be lost.
//! Free data that nests too deep to be read back is kept as text, under a name with `Text` behind.

use evalrig_core::evidence::message_to_value;
use evalrig_core::model::{
    Block, Call, Expected, FileChanges, FileRef, Image, JsonStyle, Map, Message, Number, Role,
    SessionFacts, Tokens, ToolCall, Transcript, Value, answer_of,
};
use evalrig_core::syntax::json_value;

use crate::json::{from_json, to_json};

use super::file_changes::WorkspaceChanges;
use super::row_skills::{read_skills, skills_value};

/// Leaves room for the messages, rows and lines around it: readers give up at 128 levels, and
/// redaction earlier.
const DEEPEST: usize = 32;

pub fn transcript_value(transcript: &Transcript) -> Value {
    let mut map = Map::new();
    let messages: Vec<Value> = transcript.messages.iter().map(message_value).collect();
    map.insert("messages", messages);
    map.insert("answer", transcript.answer.as_str());
    let calls = transcript.calls.as_ref();
    let calls = calls.map(|calls| calls.iter().map(call_value).collect::<Vec<Value>>());
    map.insert_some("calls", calls);
    map.insert_some("tokens", transcript.tokens.map(tokens_value));
    if transcript.is_token_sum {
        map.insert("isTokenSum", true);
    }
    let cost = transcript.cost_usd.and_then(float);
    map.insert_some("costUsd", cost);
    map.insert_some("durationMs", transcript.duration_ms);
    map.insert_some("model", transcript.model.as_deref());
    let session = &transcript.session;
    map.insert_some("agent", session.agent.as_deref());
    map.insert_some("agentVersion", session.version.as_deref());
    map.insert_some("sessionId", session.id.as_deref());
    map.insert_some("stopReason", session.stop_reason.as_deref());
    let files = transcript.files.as_ref().map(WorkspaceChanges::from);
    let files = files.and_then(|files| serde_json::to_value(files).ok());
    map.insert_some("workspace", files.as_ref().map(from_json));
    map.insert_some("llmCalls", session.llm_calls);
    map.insert_some("permissionDenials", session.permission_denials.clone());
    if session.unknown_events > 0 {
        map.insert("unknownEvents", session.unknown_events);
    }
    map.insert_some("sandbox", session.sandbox.as_deref());
    map.insert_some("skills", skills_value(&transcript.skills));
    if transcript.partial {
        map.insert("partial", true);
    }
    map.into()
}

/// `None` when it is not a transcript.
pub fn read_transcript(value: &Value) -> Option<Transcript> {
    let map = value.as_map()?;
    let calls = match map.get("calls") {
        None | Some(Value::Null) => None,
        Some(calls) => Some(all(calls, read_call)?),
    };
    let messages = all(map.get("messages")?, read_message)?;
    Some(Transcript {
        answer: text(map, "answer").unwrap_or_else(|| answer_of(&messages)),
        messages,
        calls,
        tokens: map.get("tokens").and_then(read_tokens),
        is_token_sum: map.get("isTokenSum") == Some(&Value::Bool(true)),
        cost_usd: number(map, "costUsd").map(Number::value),
        duration_ms: number(map, "durationMs").and_then(Number::as_u64),
        model: text(map, "model"),
        session: SessionFacts {
            agent: text(map, "agent"),
            version: text(map, "agentVersion"),
            id: text(map, "sessionId"),
            stop_reason: text(map, "stopReason"),
            llm_calls: number(map, "llmCalls").and_then(Number::as_u64),
            permission_denials: map.get("permissionDenials").and_then(texts),
            unknown_events: number(map, "unknownEvents").and_then(Number::as_u64).unwrap_or(0),
            sandbox: text(map, "sandbox"),
        },
        files: map.get("workspace").and_then(read_files),
        skills: map.get("skills").map(read_skills).unwrap_or_default(),
        partial: map.get("partial") == Some(&Value::Bool(true)),
    })
}

fn read_files(value: &Value) -> Option<FileChanges> {
    serde_json::from_value::<WorkspaceChanges>(to_json(value)).ok().map(Into::into)
}

/// Bytes of a test's input that a row keeps. The suite has all of it.
const MOST_INPUT: usize = 64 * 1024;

/// What a test asks, in the shape of spec 10.1. Image data is left out, and texts are cut once they
/// exceed a limit together.
pub fn input_messages(input: &[Message]) -> Vec<serde_json::Value> {
    let mut left = MOST_INPUT;
    let shorten = |message: &Message| {
        // Most messages are one short text, which need not be copied to be found short.
        if let [Block::Text(text)] = &message.content[..]
            && text.len() <= left
        {
            left -= text.len();
            return to_json(&message_to_value(message));
        }
        let shortened = message.content.iter().map(|block| shortened_block(block, &mut left));
        let message = Message { content: shortened.collect(), ..message.clone() };
        to_json(&message_to_value(&message))
    };
    input.iter().map(shorten).collect()
}

fn shortened_block(block: &Block, left: &mut usize) -> Block {
    let note = |bytes: usize| format!("[{bytes} bytes left out]");
    match block {
        Block::Text(text) if text.len() > *left => {
            let kept = text.floor_char_boundary(*left);
            *left = 0;
            Block::Text(format!("{}\n{}", &text[..kept], note(text.len() - kept)))
        }
        Block::Text(text) => {
            *left -= text.len();
            block.clone()
        }
        Block::Image(Image::Data(data)) => Block::Text(format!("[image, {} bytes]", data.len())),
        Block::Json(value) => {
            let length = value.to_json(JsonStyle::Compact).len();
            if length > *left {
                return Block::Text(note(length));
            }
            *left -= length;
            block.clone()
        }
        Block::File(_) | Block::Image(Image::Path(_)) => block.clone(),
    }
}

/// What a test expects: a text, messages, or data.
pub fn expected_output(expected: &Expected) -> serde_json::Value {
    match expected {
        Expected::Text(text) => text.as_str().into(),
        Expected::Structured(value) => to_json(value),
        Expected::Messages(messages) => input_messages(messages).into(),
    }
}

/// What a row keeps of a transcript, in the shape of spec 10.1. A call carries what
/// came of it, because the message with its result may have been put into other words.
pub fn output_messages(transcript: &Transcript) -> Vec<serde_json::Value> {
    let mut made = transcript.calls.as_deref().unwrap_or_default().iter();
    let mut messages = Vec::with_capacity(transcript.messages.len());
    for message in &transcript.messages {
        let mut value = if message.content.iter().any(is_deep_block) {
            message_value(message)
        } else {
            message_to_value(message)
        };
        if let (Value::Map(map), false) = (&mut value, message.tool_calls.is_empty()) {
            let asked = map.get("tool_calls").and_then(Value::as_list);
            let asked = asked.unwrap_or_default().iter().zip(&message.tool_calls);
            let calls: Vec<Value> = asked
                .map(|(value, call)| {
                    with_result(value, made.next().filter(|m| m.tool == call.name))
                })
                .collect();
            map.insert("tool_calls", calls);
        }
        messages.push(to_json(&value));
    }
    messages
}

fn is_deep_block(block: &Block) -> bool {
    matches!(block, Block::Json(value) if is_deeper(value, DEEPEST))
}

fn with_result(asked: &Value, made: Option<&Call>) -> Value {
    let (Value::Map(map), Some(call)) = (asked, made) else {
        return asked.clone();
    };
    let mut map = map.clone();
    insert_data(&mut map, "output", call.output.as_ref());
    map.insert_some("duration_ms", call.duration_ms);
    map.insert_some("isError", call.is_error);
    map.insert_some("exitCode", call.exit_code.map(Number::of_i64));
    map.into()
}

/// The messages of `outputMessages`, and the calls that they tell of. Forms of other writers are
/// read too: content as one text, `tool_calls` of chat APIs, `{tool, args, output}`. `None` when
/// something is not a message.
pub fn read_output_messages(values: &[serde_json::Value]) -> Option<(Vec<Message>, Vec<Call>)> {
    let mut messages = Vec::with_capacity(values.len());
    let mut calls: Vec<Call> = Vec::new();
    for value in values {
        let value = from_json(value);
        let message = read_message(&value)?;
        calls.extend(asked_calls(&value));
        if message.role == Role::Tool {
            take_result(&message, &mut calls);
        }
        messages.push(message);
    }
    Some((messages, calls))
}

/// A tool's result belongs to the call of its id; what the call says itself goes before.
fn take_result(message: &Message, calls: &mut [Call]) {
    let Some(id) = &message.tool_call_id else {
        return;
    };
    let call = calls.iter_mut().rev().find(|call| call.id == *id);
    if let Some(call) = call.filter(|call| call.output.is_none()) {
        call.output = match message.content.as_slice() {
            [Block::Json(value)] => Some(value.clone()),
            _ => message.text().map(Value::String),
        };
    }
}

fn asked_value(asked: &ToolCall) -> Value {
    let mut map = Map::new();
    map.insert("id", asked.id.as_str());
    map.insert("name", asked.name.as_str());
    map.insert("arguments", asked.arguments.as_str());
    map.into()
}

fn asked_calls(message: &Value) -> Vec<Call> {
    let list = message.as_map().and_then(tool_calls_of);
    let calls = list.into_iter().flatten().filter_map(|value| {
        let map = value.as_map()?;
        let asked = read_tool_call(value)?;
        let args = json_value(&asked.arguments).unwrap_or(Value::String(asked.arguments));
        Some(Call {
            output: data(map, "output"),
            duration_ms: ["durationMs", "duration_ms"]
                .iter()
                .find_map(|key| number(map, key))
                .and_then(Number::as_u64),
            is_error: boolean(map, "isError").or_else(|| boolean(map, "is_error")),
            exit_code: ["exitCode", "exit_code"]
                .iter()
                .find_map(|key| number(map, key))
                .and_then(Number::as_i64),
            ..Call::new(asked.id, asked.name, args)
        })
    });
    calls.collect()
}

fn message_value(message: &Message) -> Value {
    let mut map = Map::new();
    map.insert("role", message.role.word());
    let blocks: Vec<Value> = message.content.iter().map(block_value).collect();
    map.insert("content", blocks);
    if !message.tool_calls.is_empty() {
        let calls = message.tool_calls.iter();
        let calls: Vec<Value> = calls.map(asked_value).collect();
        map.insert("toolCalls", calls);
    }
    map.insert_some("toolCallId", message.tool_call_id.as_deref());
    map.insert_some("name", message.name.as_deref());
    map.into()
}

fn read_message(value: &Value) -> Option<Message> {
    let map = value.as_map()?;
    let mut message = Message::new(Role::parse(map.get("role")?.as_str()?)?, Vec::new());
    message.content = match map.get("content") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::String(text)) => vec![Block::Text(text.clone())],
        Some(blocks) => all(blocks, read_block)?,
    };
    if let Some(calls) = tool_calls_of(map) {
        message.tool_calls = calls.iter().map(read_tool_call).collect::<Option<_>>()?;
    }
    message.tool_call_id = text(map, "toolCallId").or_else(|| text(map, "tool_call_id"));
    message.name = text(map, "name");
    Some(message)
}

fn tool_calls_of(map: &Map) -> Option<&[Value]> {
    let found = map.get("toolCalls").or_else(|| map.get("tool_calls"));
    found?.as_list()
}

fn read_tool_call(value: &Value) -> Option<ToolCall> {
    let map = value.as_map()?;
    let function = map.get("function").and_then(Value::as_map).unwrap_or(map);
    let arguments = ["arguments", "args", "input"];
    let arguments = arguments.iter().find_map(|key| function.get(key));
    Some(ToolCall {
        id: text(map, "id").unwrap_or_default(),
        name: text(function, "name").or_else(|| text(map, "tool"))?,
        arguments: match arguments {
            None | Some(Value::Null) => "{}".to_owned(),
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_json(JsonStyle::Compact),
        },
    })
}

fn block_value(block: &Block) -> Value {
    let mut map = Map::new();
    map.insert("type", block.type_name());
    match block {
        Block::Text(text) => map.insert("value", text.as_str()),
        Block::Json(value) => insert_data(&mut map, "value", Some(value)),
        Block::Image(Image::Data(data)) => {
            map.insert("value", data.as_str());
            map.insert("source", "data");
        }
        Block::File(file) | Block::Image(Image::Path(file)) => {
            map.insert("value", file.value.as_str());
            map.insert_some("path", file.path.as_ref().map(|path| path.as_str()));
        }
    }
    map.into()
}

fn read_block(value: &Value) -> Option<Block> {
    let map = value.as_map()?;
    let file =
        || Some(FileRef { value: text(map, "value")?, path: text(map, "path").map(Into::into) });
    Some(match map.get("type")?.as_str()? {
        "text" => Block::Text(text(map, "value").or_else(|| text(map, "text"))?),
        "json" => Block::Json(data(map, "value")?),
        "file" => Block::File(file()?),
        "image" => {
            let written = text(map, "value")?;
            let is_data = text(map, "source").as_deref() == Some("data");
            Block::Image(
                if (is_data || written.starts_with("data:")) && text(map, "path").is_none() {
                    Image::Data(written)
                } else {
                    Image::Path(file()?)
                },
            )
        }
        _ => return None,
    })
}

fn call_value(call: &Call) -> Value {
    let mut map = Map::new();
    map.insert("id", call.id.as_str());
    map.insert("tool", call.tool.as_str());
    insert_data(&mut map, "args", Some(&call.args));
    insert_data(&mut map, "output", call.output.as_ref());
    map.insert_some("durationMs", call.duration_ms);
    map.insert_some("isError", call.is_error);
    map.insert_some("exitCode", call.exit_code.map(Number::of_i64));
    map.into()
}

fn read_call(value: &Value) -> Option<Call> {
    let map = value.as_map()?;
    Some(Call {
        output: data(map, "output"),
        duration_ms: number(map, "durationMs").and_then(Number::as_u64),
        is_error: boolean(map, "isError"),
        exit_code: number(map, "exitCode").and_then(Number::as_i64),
        ..Call::new(text(map, "id")?, text(map, "tool")?, data(map, "args")?)
    })
}

fn tokens_value(tokens: Tokens) -> Value {
    let mut map = Map::new();
    map.insert("input", tokens.input);
    map.insert("output", tokens.output);
    map.insert("cached", tokens.cached);
    map.into()
}

fn read_tokens(value: &Value) -> Option<Tokens> {
    let map = value.as_map()?;
    let count = |key| number(map, key).and_then(Number::as_u64);
    Some(Tokens {
        input: count("input")?,
        output: count("output")?,
        cached: count("cached").unwrap_or(0),
    })
}

fn insert_data(map: &mut Map, key: &str, value: Option<&Value>) {
    match value {
        Some(value) if is_deeper(value, DEEPEST) => {
            map.insert(format!("{key}Text"), value.to_json(JsonStyle::Compact));
        }
        Some(value) => map.insert(key, value.clone()),
        None => {}
    }
}

/// A null that is there is a value: a tool may give back nothing.
fn data(map: &Map, key: &str) -> Option<Value> {
    match text(map, &format!("{key}Text")) {
        Some(text) => json_value(&text),
        None => map.get(key).cloned(),
    }
}

fn is_deeper(value: &Value, left: usize) -> bool {
    match value {
        Value::List(items) => left == 0 || items.iter().any(|inner| is_deeper(inner, left - 1)),
        Value::Map(map) => left == 0 || map.iter().any(|(_, inner)| is_deeper(inner, left - 1)),
        _ => false,
    }
}

fn all<T>(value: &Value, read: impl Fn(&Value) -> Option<T>) -> Option<Vec<T>> {
    value.as_list()?.iter().map(read).collect()
}

fn text(map: &Map, key: &str) -> Option<String> {
    map.get(key)?.as_str().map(str::to_owned)
}

fn boolean(map: &Map, key: &str) -> Option<bool> {
    match map.get(key)? {
        Value::Bool(found) => Some(*found),
        _ => None,
    }
}

fn texts(value: &Value) -> Option<Vec<String>> {
    value.as_list()?.iter().map(|item| item.as_str().map(str::to_owned)).collect()
}

fn number<'m>(map: &'m Map, key: &str) -> Option<&'m Number> {
    match map.get(key)? {
        Value::Number(number) => Some(number),
        _ => None,
    }
}

/// `None` for what JSON cannot say.
fn float(value: f64) -> Option<Number> {
    Number::parse(&value.to_string())
}

#[cfg(test)]
#[path = "transcript_json_tests.rs"]
mod tests;
