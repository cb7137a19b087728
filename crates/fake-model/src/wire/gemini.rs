//! Gemini `generateContent`, with the model in the path.

use hyper::body::Bytes;
use serde_json::{Value, json};

use super::{Exchange, Wire, deltas, event};
use crate::reply::Usage;
use crate::turn::{Entry, words_of};

pub(super) struct GenerateContent;

const STREAMED: &str = ":streamGenerateContent";

impl Wire for GenerateContent {
    fn paths(&self) -> &'static [&'static str] {
        &[":generateContent", STREAMED]
    }

    fn is_streamed(&self, path: &str, _: &Value) -> bool {
        path.ends_with(STREAMED)
    }

    fn entries(&self, body: &Value) -> Vec<Entry> {
        let contents = body["contents"].as_array().map_or(&[][..], Vec::as_slice);
        let entries = contents.iter().flat_map(|content| match content["role"].as_str() {
            Some("model") => vec![Entry::Model],
            _ => user_entries(&content["parts"]),
        });
        entries.collect()
    }

    fn document(&self, exchange: &Exchange<'_>) -> Value {
        let text = exchange.text.iter().map(|text| json!({"text": text}));
        let calls = exchange.answer.tool_calls.iter();
        let calls =
            calls.map(|call| json!({"functionCall": {"name": call.name, "args": call.arguments}}));
        chunk(exchange, text.chain(calls).collect(), true)
    }

    /// Text comes in pieces, a call as a whole. Only the last piece has a reason to finish.
    fn events(&self, exchange: &Exchange<'_>) -> Vec<Bytes> {
        let mut parts: Vec<Value> = Vec::new();
        for piece in exchange.text.as_deref().map(deltas).unwrap_or_default() {
            parts.push(json!({"text": piece}));
        }
        for call in &exchange.answer.tool_calls {
            parts.push(json!({"functionCall": {"name": call.name, "args": call.arguments}}));
        }
        let last = parts.len().saturating_sub(1);
        let chunks = parts.into_iter().enumerate();
        let chunks = chunks.map(|(at, part)| chunk(exchange, vec![part], at == last));
        chunks.map(|chunk| event(None, &chunk)).collect()
    }

    fn error(&self, status: u16, message: &str) -> Value {
        let name = match status {
            400 => "INVALID_ARGUMENT",
            401 => "UNAUTHENTICATED",
            403 => "PERMISSION_DENIED",
            404 => "NOT_FOUND",
            429 => "RESOURCE_EXHAUSTED",
            503 => "UNAVAILABLE",
            _ => "INTERNAL",
        };
        json!({"error": {"code": status, "message": message, "status": name}})
    }
}

/// In this format, results of tools are parts of the user's turn.
fn user_entries(parts: &Value) -> Vec<Entry> {
    let parts = parts.as_array().map_or(&[][..], Vec::as_slice);
    let entries = parts.iter().flat_map(|part| match part.get("functionResponse") {
        Some(result) => vec![Entry::ToolResult(result_text(&result["response"]))],
        None => words_of(&json!([part])),
    });
    entries.collect()
}

/// A result is an object; clients put the text under `output` or `error`.
fn result_text(response: &Value) -> String {
    let known = ["output", "error"].iter().find_map(|key| response[key].as_str());
    known.map_or_else(|| response.to_string(), str::to_owned)
}

fn chunk(exchange: &Exchange<'_>, parts: Vec<Value>, is_last: bool) -> Value {
    let mut candidate = json!({"content": {"role": "model", "parts": parts}, "index": 0});
    if is_last {
        candidate["finishReason"] = json!("STOP");
    }
    json!({
        "candidates": [candidate],
        "usageMetadata": usage(exchange.answer.usage),
        "modelVersion": exchange.model(),
        "responseId": exchange.id("resp-"),
    })
}

/// This vendor counts thoughts beside the candidates, not within.
fn usage(usage: Usage) -> Value {
    json!({
        "promptTokenCount": usage.input,
        "cachedContentTokenCount": usage.cached,
        "candidatesTokenCount": usage.output - usage.reasoning,
        "thoughtsTokenCount": usage.reasoning,
        "totalTokenCount": usage.input + usage.output,
    })
}
