//! Input as JSON, for programs that read `stdin: messages` (`FORMAT.md` 9.3).

use camino::Utf8PathBuf;
use evalrig_core::model::{Block, JsonStyle, Map, Message, ToolCall, Value};

use super::request::Request;

/// `{test_id, attempt, messages, files}`; messages in the form of `FORMAT.md` 3.3.
pub(super) fn messages_json(request: &Request<'_>, files: &[Utf8PathBuf]) -> String {
    let mut map = Map::new();
    map.insert("test_id", request.test_id);
    map.insert("attempt", request.attempt);
    let messages: Vec<Value> = request.messages.iter().map(message_value).collect();
    map.insert("messages", messages);
    let files: Vec<Value> = files.iter().map(|file| file.as_str().into()).collect();
    map.insert("files", files);
    Value::Map(map).to_json(JsonStyle::Compact)
}

fn message_value(message: &Message) -> Value {
    let mut map = Map::new();
    map.insert("role", message.role.word());
    map.insert("content", content(message));
    if !message.tool_calls.is_empty() {
        let calls: Vec<Value> = message.tool_calls.iter().map(call_value).collect();
        map.insert("tool_calls", calls);
    }
    map.insert_some("tool_call_id", message.tool_call_id.as_deref());
    map.insert_some("name", message.name.as_deref());
    map.into()
}

/// One text is a string, anything else a list of blocks.
fn content(message: &Message) -> Value {
    match message.content.as_slice() {
        [] => Value::Null,
        [Block::Text(text)] => text.as_str().into(),
        _ => match message.to_value() {
            Value::Map(mut shown) => shown.remove("content").unwrap_or(Value::Null),
            other => other,
        },
    }
}

fn call_value(call: &ToolCall) -> Value {
    let mut function = Map::new();
    function.insert("name", call.name.as_str());
    function.insert("arguments", call.arguments.as_str());
    let mut map = Map::new();
    map.insert("id", call.id.as_str());
    map.insert("type", "function");
    map.insert("function", function);
    map.into()
}
