//! OpenAI Responses.

use hyper::body::Bytes;
use serde_json::{Value, json};

use super::chat::openai_error;
use super::{Exchange, Wire, deltas, event};
use crate::reply::{ToolCall, Usage};
use crate::turn::{Entry, text_of, words_of};

pub(super) struct Responses;

impl Wire for Responses {
    fn paths(&self) -> &'static [&'static str] {
        &["/responses"]
    }

    fn entries(&self, body: &Value) -> Vec<Entry> {
        match &body["input"] {
            Value::Array(items) => items.iter().flat_map(item_entries).collect(),
            other => words_of(other),
        }
    }

    fn document(&self, exchange: &Exchange<'_>) -> Value {
        json!({
            "id": exchange.id("resp_"),
            "object": "response",
            "created_at": exchange.created,
            "status": "completed",
            "error": null,
            "incomplete_details": null,
            "model": exchange.model(),
            "output": items(exchange),
            "usage": usage(exchange.answer.usage),
        })
    }

    fn events(&self, exchange: &Exchange<'_>) -> Vec<Bytes> {
        let done = self.document(exchange);
        let mut opened = done.clone();
        opened["status"] = json!("in_progress");
        opened["output"] = json!([]);
        opened["usage"] = Value::Null;
        let mut events = vec![
            json!({"type": "response.created", "response": opened}),
            json!({"type": "response.in_progress", "response": opened}),
        ];
        for (index, item) in items(exchange).iter().enumerate() {
            events.extend(item_events(index, item));
        }
        events.push(json!({"type": "response.completed", "response": done}));
        let numbered = events.iter_mut().enumerate().map(|(number, data)| {
            data["sequence_number"] = json!(number);
            event(data["type"].as_str(), data)
        });
        numbered.collect()
    }

    fn error(&self, status: u16, message: &str) -> Value {
        openai_error(status, message)
    }
}

fn item_entries(item: &Value) -> Vec<Entry> {
    let kind = item["type"].as_str().unwrap_or("message");
    if kind.ends_with("_call_output") {
        return vec![Entry::ToolResult(text_of(&item["output"]))];
    }
    if kind.ends_with("_call") || kind == "reasoning" {
        return vec![Entry::Model];
    }
    match item["role"].as_str() {
        Some("user") => words_of(&item["content"]),
        Some("assistant") => vec![Entry::Model],
        _ => Vec::new(),
    }
}

fn items(exchange: &Exchange<'_>) -> Vec<Value> {
    let message = exchange.text.iter().map(|text| {
        json!({
            "type": "message",
            "id": exchange.id("msg_"),
            "status": "completed",
            "role": "assistant",
            "content": [{"type": "output_text", "text": text, "annotations": []}],
        })
    });
    let calls = exchange.answer.tool_calls.iter().enumerate();
    message.chain(calls.map(|(n, call)| call_item(exchange, n, call))).collect()
}

/// A tool that was offered as `custom` takes one plain text instead of JSON arguments.
fn call_item(exchange: &Exchange<'_>, n: usize, call: &ToolCall) -> Value {
    let call_id = exchange.part_id("call_", n);
    if offers_custom(exchange.body, &call.name) {
        let input = call.arguments["input"].as_str().or(call.arguments.as_str());
        return json!({
            "type": "custom_tool_call",
            "id": exchange.part_id("ctc_", n),
            "status": "completed",
            "call_id": call_id,
            "name": call.name,
            "input": input.unwrap_or_default(),
        });
    }
    let mut item = json!({
        "type": "function_call",
        "id": exchange.part_id("fc_", n),
        "status": "completed",
        "call_id": call_id,
        "name": call.name,
        "arguments": call.arguments.to_string(),
    });
    if let Some(namespace) = namespace_of(exchange.body, &call.name) {
        item["namespace"] = json!(namespace);
    }
    item
}

/// The namespace in which a tool is offered, if it is in one.
fn namespace_of<'b>(body: &'b Value, tool: &str) -> Option<&'b str> {
    let all = body["tools"].as_array()?;
    let mut spaces = all.iter().filter(|one| one["type"] == "namespace");
    let holds = |space: &&Value| {
        let inner = space["tools"].as_array();
        inner.is_some_and(|inner| inner.iter().any(|one| one["name"] == tool))
    };
    spaces.find(holds)?["name"].as_str()
}

/// Tools are in `tools`, in namespaces there, and in items of the input.
fn offers_custom(holder: &Value, name: &str) -> bool {
    let lists = [&holder["tools"], &holder["input"]];
    let mut inner = lists.into_iter().filter_map(Value::as_array).flatten();
    inner.any(|it| (it["type"] == "custom" && it["name"] == name) || offers_custom(it, name))
}

/// An item is announced empty, comes in pieces, and is repeated whole.
fn item_events(index: usize, item: &Value) -> Vec<Value> {
    let mut opened = item.clone();
    opened["status"] = json!("in_progress");
    let pieces = match item["type"].as_str() {
        Some("message") => {
            opened["content"] = json!([]);
            message_events(index, item)
        }
        Some("custom_tool_call") => {
            opened["input"] = json!("");
            call_events(index, item, "response.custom_tool_call_input", "input")
        }
        _ => {
            opened["arguments"] = json!("");
            call_events(index, item, "response.function_call_arguments", "arguments")
        }
    };
    let added =
        json!({"type": "response.output_item.added", "output_index": index, "item": opened});
    let done = json!({"type": "response.output_item.done", "output_index": index, "item": item});
    std::iter::once(added).chain(pieces).chain([done]).collect()
}

fn message_events(index: usize, item: &Value) -> Vec<Value> {
    let whole = &item["content"][0];
    let place = |kind: &str, key: &str, value: Value| {
        let mut data = json!({
            "type": kind, "item_id": item["id"], "output_index": index, "content_index": 0,
        });
        data[key] = value;
        data
    };
    let empty = json!({"type": "output_text", "text": "", "annotations": []});
    let mut events = vec![place("response.content_part.added", "part", empty)];
    for piece in deltas(whole["text"].as_str().unwrap_or_default()) {
        events.push(place("response.output_text.delta", "delta", json!(piece)));
    }
    events.push(place("response.output_text.done", "text", whole["text"].clone()));
    events.push(place("response.content_part.done", "part", whole.clone()));
    events
}

fn call_events(index: usize, item: &Value, stem: &str, field: &str) -> Vec<Value> {
    let place = |kind: &str, key: &str, value: Value| {
        let kind = format!("{stem}.{kind}");
        let mut data = json!({"type": kind, "item_id": item["id"], "output_index": index});
        data[key] = value;
        data
    };
    let pieces = deltas(item[field].as_str().unwrap_or_default()).into_iter();
    let pieces = pieces.map(|piece| place("delta", "delta", json!(piece)));
    pieces.chain([place("done", field, item[field].clone())]).collect()
}

fn usage(usage: Usage) -> Value {
    json!({
        "input_tokens": usage.input,
        "input_tokens_details": {"cached_tokens": usage.cached},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.input + usage.output,
    })
}
