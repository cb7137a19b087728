//! OpenAI Chat Completions, also behind Azure's deployment paths.

use hyper::body::Bytes;
use serde_json::{Value, json};

use super::{Exchange, Wire, deltas, event};
use crate::reply::Usage;
use crate::turn::{Entry, text_of, words_of};

pub(super) struct Chat;

impl Wire for Chat {
    fn paths(&self) -> &'static [&'static str] {
        &["/chat/completions"]
    }

    fn entries(&self, body: &Value) -> Vec<Entry> {
        let messages = body["messages"].as_array().map_or(&[][..], Vec::as_slice);
        let entries = messages.iter().flat_map(|message| match message["role"].as_str() {
            Some("user") => words_of(&message["content"]),
            Some("tool" | "function") => vec![Entry::ToolResult(text_of(&message["content"]))],
            Some("assistant") => vec![Entry::Model],
            _ => Vec::new(),
        });
        entries.collect()
    }

    fn document(&self, exchange: &Exchange<'_>) -> Value {
        let mut message = json!({"role": "assistant", "content": exchange.text, "refusal": null});
        let calls = tool_calls(exchange);
        if !calls.is_empty() {
            message["tool_calls"] = Value::Array(calls);
        }
        json!({
            "id": exchange.id("chatcmpl-"),
            "object": "chat.completion",
            "created": exchange.created,
            "model": exchange.model(),
            "choices": [{
                "index": 0,
                "message": message,
                "logprobs": null,
                "finish_reason": finish_reason(exchange),
            }],
            "usage": usage(exchange.answer.usage),
        })
    }

    fn events(&self, exchange: &Exchange<'_>) -> Vec<Bytes> {
        let chunk = |choices: Value| {
            json!({
                "id": exchange.id("chatcmpl-"),
                "object": "chat.completion.chunk",
                "created": exchange.created,
                "model": exchange.model(),
                "choices": choices,
            })
        };
        let delta =
            |delta: Value| chunk(json!([{"index": 0, "delta": delta, "finish_reason": null}]));
        let mut chunks = vec![delta(json!({"role": "assistant", "content": ""}))];
        for piece in exchange.text.as_deref().map(deltas).unwrap_or_default() {
            chunks.push(delta(json!({"content": piece})));
        }
        for (index, mut call) in tool_calls(exchange).into_iter().enumerate() {
            let arguments = call["function"]["arguments"].take();
            call["index"] = json!(index);
            call["function"]["arguments"] = json!("");
            chunks.push(delta(json!({"tool_calls": [call]})));
            for piece in deltas(arguments.as_str().unwrap_or_default()) {
                let call = json!({"index": index, "function": {"arguments": piece}});
                chunks.push(delta(json!({"tool_calls": [call]})));
            }
        }
        let reason = finish_reason(exchange);
        chunks.push(chunk(json!([{"index": 0, "delta": {}, "finish_reason": reason}])));
        if exchange.body["stream_options"]["include_usage"] == true {
            let mut last = chunk(json!([]));
            last["usage"] = usage(exchange.answer.usage);
            chunks.push(last);
        }
        let mut events: Vec<Bytes> = chunks.iter().map(|chunk| event(None, chunk)).collect();
        events.push(Bytes::from_static(b"data: [DONE]\n\n"));
        events
    }

    fn error(&self, status: u16, message: &str) -> Value {
        openai_error(status, message)
    }
}

fn finish_reason(exchange: &Exchange<'_>) -> &'static str {
    if exchange.answer.tool_calls.is_empty() { "stop" } else { "tool_calls" }
}

fn tool_calls(exchange: &Exchange<'_>) -> Vec<Value> {
    let calls = exchange.answer.tool_calls.iter().enumerate();
    calls
        .map(|(n, call)| {
            json!({
                "id": exchange.part_id("call_", n),
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments.to_string()},
            })
        })
        .collect()
}

fn usage(usage: Usage) -> Value {
    json!({
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cached},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    })
}

/// Both formats of this vendor share one error.
pub(super) fn openai_error(status: u16, message: &str) -> Value {
    let kind = match status {
        401 => "authentication_error",
        429 => "rate_limit_exceeded",
        500.. => "server_error",
        _ => "invalid_request_error",
    };
    json!({"error": {"message": message, "type": kind, "param": null, "code": null}})
}
