//! Conversations of other tools → messages of a suite (spec 3.3).

use crate::model::{JsonStyle, Map, Value};

use super::importer::Importer;
use super::located::Located;

/// Whether every item looks like a message.
pub(super) fn is_chat(list: &Located) -> bool {
    let is_message = |item: &Located| {
        item.is_map()
            && role_of(item).is_some()
            && (item.mentions("content") || item.has("tool_calls"))
    };
    !list.items().is_empty() && list.items().iter().all(is_message)
}

/// The messages, with at least one of the user.
pub(super) fn messages(importer: &mut Importer<'_>, list: &Located) -> Vec<Value> {
    let mut written: Vec<Map> = Vec::new();
    let mut calls = 0;
    for item in list.items() {
        if let Some(message) = message(importer, item, &mut calls) {
            written.push(message);
        }
    }
    let is_user = |message: &Map| message.get("role") == Some(&"user".into());
    if !written.iter().any(is_user)
        && let Some(last) = written.last_mut()
    {
        importer.loss("role", list.span, "no message is the user's, so the last one becomes it");
        last.insert("role", "user");
        last.remove("tool_calls");
        last.remove("tool_call_id");
    }
    written.into_iter().map(Value::from).collect()
}

fn role_of(item: &Located) -> Option<&'static str> {
    let written = item.first_of(&["role", "type"])?.as_str()?;
    match written.to_ascii_lowercase().as_str() {
        "system" | "developer" => Some("system"),
        "user" | "human" => Some("user"),
        "assistant" | "ai" | "model" => Some("assistant"),
        "tool" | "function" => Some("tool"),
        _ => None,
    }
}

fn message(importer: &mut Importer<'_>, item: &Located, calls: &mut usize) -> Option<Map> {
    let role = role_of(item)?;
    let mut map = Map::new().with("role", role);
    let tool_calls: Vec<Value> = match item.get("tool_calls") {
        Some(list) if role == "assistant" => list
            .items()
            .iter()
            .filter_map(|call| {
                *calls += 1;
                tool_call(call, *calls)
            })
            .collect(),
        _ => Vec::new(),
    };
    match item.get("content") {
        Some(content) => map.insert("content", content_of(importer, content)),
        None if tool_calls.is_empty() => map.insert("content", ""),
        None => {}
    }
    if !tool_calls.is_empty() {
        map.insert("tool_calls", tool_calls);
    }
    if role == "tool" {
        let id = item.get("tool_call_id").and_then(Located::text);
        map.insert("tool_call_id", id.unwrap_or_else(|| format!("call_{calls}")));
        map.insert_some("name", item.get("name").and_then(Located::text));
    }
    Some(map)
}

/// The call as chat APIs write it; `{name, args}` is the form of LangChain and Ragas.
fn tool_call(call: &Located, number: usize) -> Option<Value> {
    let function = call.get("function").unwrap_or(call);
    let name = function.get("name")?.text()?;
    let arguments = function.first_of(&["arguments", "args", "input"]);
    let arguments = match arguments.map(Located::value) {
        Some(Value::String(text)) if crate::syntax::json_value(&text).is_some() => text,
        Some(value @ Value::Map(_)) => value.to_json(JsonStyle::Compact),
        _ => "{}".to_owned(),
    };
    let id = call.get("id").and_then(Located::text);
    let id = id.filter(|id| !id.is_empty()).unwrap_or_else(|| format!("call_{number}"));
    let function = Map::new().with("name", name).with("arguments", arguments);
    Some(Map::new().with("id", id).with("function", function).into())
}

fn content_of(importer: &mut Importer<'_>, content: &Located) -> Value {
    if let Some(text) = content.text() {
        return text.into();
    }
    if content.is_map() {
        return vec![json_block(content.value())].into();
    }
    let blocks: Vec<Value> =
        content.items().iter().filter_map(|part| block(importer, part)).collect();
    if blocks.is_empty() { "".into() } else { blocks.into() }
}

fn json_block(value: Value) -> Value {
    Map::new().with("type", "json").with("value", value).into()
}

fn text_block(text: String) -> Value {
    Map::new().with("type", "text").with("value", text).into()
}

/// A part of a message in the forms of the chat APIs.
fn block(importer: &mut Importer<'_>, part: &Located) -> Option<Value> {
    if let Some(text) = part.text() {
        return Some(text_block(text));
    }
    let kind = part.get("type").and_then(Located::as_str).unwrap_or("text");
    match kind {
        "text" | "input_text" | "output_text" => {
            part.first_of(&["text", "value", "content"]).and_then(Located::text).map(text_block)
        }
        "image_url" | "input_image" | "image" => {
            let image = part.first_of(&["image_url", "image", "url", "source", "value"])?;
            let url = image.first_of(&["url", "data"]).unwrap_or(image).text()?;
            if url.starts_with("http://") || url.starts_with("https://") {
                importer.loss("image", part.span, "an image on the web is written as its address");
                return Some(text_block(url));
            }
            Some(Map::new().with("type", "image").with("value", url).into())
        }
        _ => {
            importer.loss("content", part.span, format!("a part of type `{kind}` is left out"));
            None
        }
    }
}
