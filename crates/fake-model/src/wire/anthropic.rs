//! Anthropic Messages.

use hyper::body::Bytes;
use serde_json::{Value, json};

use super::{Exchange, Wire, deltas, event};
use crate::turn::{Entry, text_of, words_of};

pub(super) struct Messages;

impl Wire for Messages {
    fn paths(&self) -> &'static [&'static str] {
        &["/v1/messages"]
    }

    fn entries(&self, body: &Value) -> Vec<Entry> {
        let messages = body["messages"].as_array().map_or(&[][..], Vec::as_slice);
        let entries = messages.iter().flat_map(|message| match message["role"].as_str() {
            Some("user") => user_entries(&message["content"]),
            Some("assistant") => vec![Entry::Model],
            _ => Vec::new(),
        });
        entries.collect()
    }

    fn document(&self, exchange: &Exchange<'_>) -> Value {
        json!({
            "id": exchange.id("msg_"),
            "type": "message",
            "role": "assistant",
            "model": exchange.model(),
            "content": blocks(exchange),
            "stop_reason": stop_reason(exchange),
            "stop_sequence": null,
            "usage": usage(exchange, exchange.answer.usage.output),
        })
    }

    fn events(&self, exchange: &Exchange<'_>) -> Vec<Bytes> {
        let mut start = self.document(exchange);
        start["content"] = json!([]);
        start["stop_reason"] = Value::Null;
        // The real server knows only the first token when it opens the stream.
        start["usage"] = usage(exchange, exchange.answer.usage.output.min(1));
        let mut events = vec![json!({"type": "message_start", "message": start})];
        events.push(json!({"type": "ping"}));
        for (index, block) in blocks(exchange).into_iter().enumerate() {
            events.extend(block_events(index, block));
        }
        events.push(json!({
            "type": "message_delta",
            "delta": {"stop_reason": stop_reason(exchange), "stop_sequence": null},
            "usage": usage(exchange, exchange.answer.usage.output),
        }));
        events.push(json!({"type": "message_stop"}));
        events.iter().map(|data| event(data["type"].as_str(), data)).collect()
    }

    fn error(&self, status: u16, message: &str) -> Value {
        let kind = match status {
            401 => "authentication_error",
            402 => "billing_error",
            403 => "permission_error",
            404 => "not_found_error",
            413 => "request_too_large",
            429 => "rate_limit_error",
            529 => "overloaded_error",
            500.. => "api_error",
            _ => "invalid_request_error",
        };
        json!({"type": "error", "error": {"type": kind, "message": message}})
    }
}

/// In this format, tool results are among the user's blocks.
fn user_entries(content: &Value) -> Vec<Entry> {
    let Value::Array(blocks) = content else {
        return words_of(content);
    };
    let entries = blocks.iter().flat_map(|block| match block["type"].as_str() {
        Some("tool_result") => vec![Entry::ToolResult(text_of(&block["content"]))],
        _ => words_of(&json!([block])),
    });
    entries.collect()
}

fn blocks(exchange: &Exchange<'_>) -> Vec<Value> {
    let text = exchange.text.iter().map(|text| json!({"type": "text", "text": text}));
    let calls = exchange.answer.tool_calls.iter().enumerate().map(|(n, call)| {
        json!({
            "type": "tool_use",
            "id": exchange.part_id("toolu_", n),
            "name": call.name,
            "input": call.arguments,
        })
    });
    text.chain(calls).collect()
}

/// A block opens empty, comes in pieces, and closes.
fn block_events(index: usize, mut block: Value) -> Vec<Value> {
    let pieces: Vec<Value> = if block["type"] == "text" {
        let text = block["text"].take();
        block["text"] = json!("");
        let pieces = deltas(text.as_str().unwrap_or_default()).into_iter();
        pieces.map(|piece| json!({"type": "text_delta", "text": piece})).collect()
    } else {
        let input = block["input"].take().to_string();
        block["input"] = json!({});
        let pieces = deltas(&input).into_iter();
        pieces.map(|piece| json!({"type": "input_json_delta", "partial_json": piece})).collect()
    };
    let start = json!({"type": "content_block_start", "index": index, "content_block": block});
    let mut events = vec![start];
    events.extend(
        pieces
            .into_iter()
            .map(|delta| json!({"type": "content_block_delta", "index": index, "delta": delta})),
    );
    events.push(json!({"type": "content_block_stop", "index": index}));
    events
}

fn stop_reason(exchange: &Exchange<'_>) -> &'static str {
    if exchange.answer.tool_calls.is_empty() { "end_turn" } else { "tool_use" }
}

/// This vendor counts cached tokens beside `input_tokens`, not within.
fn usage(exchange: &Exchange<'_>, output: u64) -> Value {
    let usage = exchange.answer.usage;
    json!({
        "input_tokens": usage.input - usage.cached,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": usage.cached,
        "output_tokens": output,
    })
}
