//! Content of messages and arguments of calls, as programs write them.

use evalrig_core::model::{Block, FileRef, Image, JsonStyle, Map, Message, Value};

use super::json;

/// An object, or the JSON text of one. Any other text is kept: the tool was called with it.
pub(super) fn arguments(written: Option<&Value>) -> Value {
    match written {
        None => Value::Map(Map::new()),
        Some(Value::String(text)) if text.trim().is_empty() => Value::Map(Map::new()),
        Some(Value::String(text)) => match json::parse(text) {
            Ok(object @ Value::Map(_)) => object,
            _ => Value::String(text.clone()),
        },
        Some(other) => other.clone(),
    }
}

/// A text, one value, or a list of blocks. A block of an unknown kind is kept as data.
pub(super) fn blocks(content: &Value) -> Vec<Block> {
    match content {
        Value::String(text) => vec![Block::Text(text.clone())],
        Value::List(items) => items.iter().map(block).collect(),
        other => vec![Block::Json(other.clone())],
    }
}

fn block(value: &Value) -> Block {
    if let Value::String(text) = value {
        return Block::Text(text.clone());
    }
    let text = |key| value.as_map().and_then(|map| map.get(key)?.as_str());
    let known = match (text("type"), text("value").or_else(|| text("text"))) {
        (Some("text"), Some(text)) => Some(Block::Text(text.to_owned())),
        (Some("file"), Some(path)) => Some(Block::File(file(path))),
        (Some("image"), Some(data)) if data.starts_with("data:") => {
            Some(Block::Image(Image::Data(data.to_owned())))
        }
        (Some("image"), Some(path)) => Some(Block::Image(Image::Path(file(path)))),
        _ => None,
    };
    let of_json = || match (text("type"), value.as_map()) {
        (Some("json"), Some(map)) => map.get("value").cloned(),
        _ => None,
    };
    known.unwrap_or_else(|| Block::Json(of_json().unwrap_or_else(|| value.clone())))
}

/// A file that an answer mentions is not an attachment, so it has no path.
fn file(value: &str) -> FileRef {
    FileRef { value: value.to_owned(), path: None }
}

/// The output in a tool message: a lone JSON block, else text.
pub(super) fn output_of(message: &Message) -> Value {
    match message.content.as_slice() {
        [Block::Json(value)] => value.clone(),
        _ => Value::String(message.text().unwrap_or_default()),
    }
}

/// Images are left out: their data is not text.
pub(super) fn plain_text(output: &Value) -> String {
    let is_image = |block: &Value| {
        let kind = block.as_map().and_then(|block| block.get("type")?.as_str());
        kind == Some("image")
    };
    match output {
        Value::List(blocks) if blocks.iter().any(is_image) => {
            let rest = blocks.iter().filter(|block| !is_image(block));
            let texts =
                rest.map(|block| match block.as_map().and_then(|block| block.get("text")) {
                    Some(Value::String(text)) => text.clone(),
                    _ => block.to_json(JsonStyle::Compact),
                });
            texts.collect::<Vec<_>>().join("\n")
        }
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_json(JsonStyle::Compact),
    }
}
