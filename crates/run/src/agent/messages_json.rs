//! Input as JSON, for programs that read `stdin: messages` (spec 9.3).

use camino::Utf8PathBuf;
use evalrig_core::evidence::message_to_value;
use evalrig_core::model::{JsonStyle, Map, Value};

use super::request::Request;

/// `{test_id, attempt, messages, files}`; messages in the form of spec 3.3.
pub(crate) fn messages_json(request: &Request<'_>, files: &[Utf8PathBuf]) -> String {
    let mut map = Map::new();
    map.insert("test_id", request.test_id);
    map.insert("attempt", request.attempt);
    map.insert("messages", chat_messages(request));
    let files: Vec<Value> = files.iter().map(|file| file.as_str().into()).collect();
    map.insert("files", files);
    Value::Map(map).to_json(JsonStyle::Compact)
}

/// The messages in the form of spec 3.3.
pub(crate) fn chat_messages(request: &Request<'_>) -> Value {
    Value::List(request.messages.iter().map(message_to_value).collect())
}
