//! What each wire format looks like to a client, plain and streamed.

use fake_model::{FakeModel, Reply, Rule, Script, Usage};
use serde_json::{Value, json};

use crate::client::{Client, Response};

const CHAT: &str = "/openai/deployments/d/chat/completions?api-version=2024-10-21";
const RESPONSES: &str = "/v1/responses";
const MESSAGES: &str = "/v1/messages?beta=true";
const WORDS: &str = "Let me read the notes before I answer that.";

/// Words and a tool call first; then the result of the tool, quoted.
fn server() -> FakeModel {
    let usage = Usage { input: 100, cached: 40, output: 20, reasoning: 8 };
    let call = Reply::text(WORDS).and_tool("Bash", json!({"command": "cat a-long-name.txt"}));
    FakeModel::start(
        Script::new()
            .rule(Rule::new(call.usage(usage)).when("notes").unless_after_tool())
            .rule(Rule::new(Reply::text("It says: {tool_result}")).when("notes").after_tool()),
    )
}

fn ask(path: &str, body: Value) -> Response {
    Client::connect(&server()).post(path, &body).unwrap()
}

fn joined<'a>(events: impl Iterator<Item = &'a Value>) -> String {
    events.filter_map(Value::as_str).collect()
}

fn of_type<'a>(events: &'a [Value], kind: &str) -> impl Iterator<Item = &'a Value> {
    events.iter().filter(move |event| event["type"] == kind)
}

#[test]
fn chat_calls_a_tool_with_arguments_in_a_string() {
    let reply = ask(CHAT, json!({"messages": [{"role": "user", "content": "notes"}]})).json();
    let choice = &reply["choices"][0];
    assert_eq!(choice["finish_reason"], "tool_calls");
    assert_eq!(choice["message"]["content"], WORDS);
    let function = &choice["message"]["tool_calls"][0]["function"];
    let same = json!({"name": "Bash", "arguments": r#"{"command":"cat a-long-name.txt"}"#});
    assert_eq!(function, &same);
    let usage = &reply["usage"];
    assert_eq!([&usage["prompt_tokens"], &usage["completion_tokens"]], [100, 20]);
    assert_eq!(usage["prompt_tokens_details"]["cached_tokens"], 40);
    assert_eq!(usage["completion_tokens_details"]["reasoning_tokens"], 8);
}

#[test]
fn chat_answers_after_a_tool() {
    let messages = json!([
        {"role": "user", "content": [{"type": "text", "text": "notes"}]},
        {"role": "assistant", "tool_calls": []},
        {"role": "tool", "tool_call_id": "c", "content": "xyzzy"}
    ]);
    let reply = ask(CHAT, json!({"model": "m", "messages": messages})).json();
    assert_eq!(reply["model"], "m");
    assert_eq!(reply["choices"][0]["message"]["content"], "It says: xyzzy");
    assert_eq!(reply["choices"][0]["finish_reason"], "stop");
}

#[test]
fn chat_streams_deltas_and_usage_on_demand() {
    let mut body = json!({"stream": true, "messages": [{"role": "user", "content": "notes"}]});
    let bare = ask(CHAT, body.clone());
    assert!(bare.body.ends_with("data: [DONE]\n\n"));
    assert!(bare.events().iter().all(|chunk| chunk["usage"].is_null()));
    body["stream_options"] = json!({"include_usage": true});
    let chunks = ask(CHAT, body).events();
    let deltas = || chunks.iter().map(|chunk| &chunk["choices"][0]["delta"]);
    assert_eq!(joined(deltas().map(|delta| &delta["content"])), WORDS);
    let call = |delta: &'_ Value| delta["tool_calls"][0]["function"].clone();
    let parts: Vec<Value> = deltas().map(call).collect();
    assert_eq!(joined(parts.iter().map(|part| &part["name"])), "Bash");
    let arguments = joined(parts.iter().map(|part| &part["arguments"]));
    assert_eq!(arguments, r#"{"command":"cat a-long-name.txt"}"#);
    assert_eq!(chunks.last().unwrap()["usage"]["total_tokens"], 120);
}

#[test]
fn responses_hold_messages_and_function_calls() {
    let reply = ask(RESPONSES, json!({"input": "notes"})).json();
    assert_eq!(reply["output"][0]["content"][0]["text"], WORDS);
    assert_eq!(reply["output"][1]["type"], "function_call");
    assert_eq!(reply["output"][1]["arguments"], r#"{"command":"cat a-long-name.txt"}"#);
    assert_eq!(reply["usage"]["output_tokens_details"]["reasoning_tokens"], 8);
}

#[test]
fn responses_answer_after_a_tool() {
    let input = json!([
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "notes"}]},
        {"type": "function_call", "call_id": "c", "name": "Bash", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "xyzzy"}
    ]);
    let reply = ask(RESPONSES, json!({"input": input})).json();
    assert_eq!(reply["output"][0]["content"][0]["text"], "It says: xyzzy");
}

#[test]
fn responses_stream_every_item_in_pieces_and_whole() {
    let events = ask(RESPONSES, json!({"stream": true, "input": "notes"})).events();
    let words = of_type(&events, "response.output_text.delta").map(|event| &event["delta"]);
    assert_eq!(joined(words), WORDS);
    let kind = "response.function_call_arguments.delta";
    let arguments = joined(of_type(&events, kind).map(|event| &event["delta"]));
    assert_eq!(arguments, r#"{"command":"cat a-long-name.txt"}"#);
    let done: Vec<_> = of_type(&events, "response.output_item.done").collect();
    let last = events.last().unwrap();
    assert_eq!(last["type"], "response.completed");
    assert_eq!(last["response"]["output"], json!([done[0]["item"], done[1]["item"]]));
    assert_eq!(last["response"]["usage"]["input_tokens"], 100);
}

#[test]
fn a_custom_tool_is_called_with_plain_text() {
    let patch = Reply::tool("apply_patch", json!({"input": "*** Begin Patch"}));
    let server = FakeModel::start(Script::new().otherwise(patch));
    let tool = json!({"type": "custom", "name": "apply_patch"});
    let space = json!([{"type": "namespace", "name": "functions", "tools": [tool]}]);
    let places = [
        json!({"input": "x", "tools": [tool]}),
        json!({"input": "x", "tools": space}),
        json!({"input": [{"type": "additional_tools", "role": "developer", "tools": space}]}),
    ];
    for mut body in places {
        body["stream"] = json!(true);
        let events = Client::connect(&server).post(RESPONSES, &body).unwrap().events();
        let item = &of_type(&events, "response.output_item.done").next().unwrap()["item"];
        assert_eq!(item["type"], "custom_tool_call");
        assert_eq!(item["input"], "*** Begin Patch");
    }
}

#[test]
fn messages_hold_text_and_tool_use_blocks() {
    let body = json!({"model": "m", "messages": [{"role": "user", "content": "notes"}]});
    let reply = ask(MESSAGES, body).json();
    assert_eq!(reply["stop_reason"], "tool_use");
    assert_eq!(reply["content"][0], json!({"type": "text", "text": WORDS}));
    assert_eq!(reply["content"][1]["input"], json!({"command": "cat a-long-name.txt"}));
    let usage = &reply["usage"];
    assert_eq!([&usage["input_tokens"], &usage["cache_read_input_tokens"]], [60, 40]);
}

#[test]
fn messages_answer_after_a_tool_and_a_loaded_skill() {
    let result = json!([
        {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "xyzzy"}]},
        {"type": "text", "text": "# The body of a skill"}
    ]);
    let messages = json!([
        {"role": "user", "content": [{"type": "text", "text": "notes"}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t"}]},
        {"role": "user", "content": result}
    ]);
    let reply = ask(MESSAGES, json!({"messages": messages})).json();
    assert_eq!(reply["content"], json!([{"type": "text", "text": "It says: xyzzy"}]));
    assert_eq!(reply["stop_reason"], "end_turn");
}

#[test]
fn messages_stream_blocks_in_pieces() {
    let body = json!({"stream": true, "messages": [{"role": "user", "content": "notes"}]});
    let events = ask(MESSAGES, body).events();
    let deltas = || of_type(&events, "content_block_delta").map(|event| &event["delta"]);
    assert_eq!(joined(deltas().map(|delta| &delta["text"])), WORDS);
    let input = joined(deltas().map(|delta| &delta["partial_json"]));
    assert_eq!(input, r#"{"command":"cat a-long-name.txt"}"#);
    let starts: Vec<_> = of_type(&events, "content_block_start").collect();
    assert_eq!(starts[1]["content_block"]["name"], "Bash");
    assert_eq!(starts[1]["content_block"]["input"], json!({}));
    let last = of_type(&events, "message_delta").next().unwrap();
    assert_eq!(last["delta"]["stop_reason"], "tool_use");
    assert_eq!(last["usage"]["output_tokens"], 20);
    assert_eq!(events.last().unwrap()["type"], "message_stop");
}

#[test]
fn gemini_calls_a_tool_in_a_part() {
    let contents = json!([{"role": "user", "parts": [{"text": "notes"}]}]);
    let reply = ask("/v1beta/models/m:generateContent", json!({"contents": contents})).json();
    let parts = &reply["candidates"][0]["content"]["parts"];
    assert_eq!(parts[0]["text"], WORDS);
    assert_eq!(parts[1]["functionCall"]["args"]["command"], "cat a-long-name.txt");
    let usage = &reply["usageMetadata"];
    assert_eq!(
        (&usage["promptTokenCount"], &usage["thoughtsTokenCount"]),
        (&json!(100), &json!(8))
    );
    assert_eq!(usage["candidatesTokenCount"], 12);
}

#[test]
fn gemini_streams_the_result_of_a_tool_in_pieces() {
    let contents = json!([
        {"role": "user", "parts": [{"text": "notes"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]},
        {"role": "user", "parts": [
            {"functionResponse": {"name": "f", "response": {"output": "a word of thirty letters or so"}}},
            {"text": "a reminder"}
        ]}
    ]);
    let path = "/v1beta/models/m:streamGenerateContent?alt=sse";
    let events = ask(path, json!({"contents": contents})).events();
    let parts = |event: &Value| event["candidates"][0]["content"]["parts"][0]["text"].clone();
    let texts: Vec<_> = events.iter().map(parts).collect();
    assert!(texts.len() > 1);
    assert_eq!(joined(texts.iter()), "It says: a word of thirty letters or so");
    let reasons = events.iter().filter(|event| event["candidates"][0]["finishReason"] == "STOP");
    assert_eq!(reasons.count(), 1);
}

#[test]
fn responses_call_a_tool_of_a_namespace() {
    let tools = json!([{"type": "namespace", "name": "shell", "tools": [{"name": "Bash"}]}]);
    let reply = ask(RESPONSES, json!({"input": "notes", "tools": tools})).json();
    assert_eq!(reply["output"][1]["namespace"], "shell");
}
