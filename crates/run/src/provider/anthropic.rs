//! `anthropic`: the Messages API of Anthropic (spec 9.3).

use evalrig_core::diagnostic::Diagnostic;
use evalrig_core::evidence::{EncodedImage, MessagePart};
use evalrig_core::model::{Block, Call, Map, Message, Role, ToolCall, Value};
use evalrig_core::reader::{Options, ReadResult, Template};
use evalrig_core::syntax::fields::{Field, Shape};
use evalrig_core::syntax::json_value;

use crate::agent::price::{BilledTokens, PriceSource};
use crate::agent::service::{ServiceOptions, Wire, WireReply, count, tokens};
use crate::agent::text::parts;
use crate::agent::{Agent, AttemptFault, Request};
use crate::setting::{ConnectContext, FilesMode};

use super::{ArmSetting, MODEL, Provider, ProviderSettings};

pub static PROVIDER: Provider = Provider {
    name: "anthropic",
    fields: FIELDS,
    retries: 2,
    files: FilesMode::Inline,
    key_variables: &[KEY_VARIABLE],
    doc: r#"Sends the messages to `{base_url}/v1/messages`. System messages become `system`; `max_tokens` is
4096 unless `config` sets it.

```yaml
targets:
  - name: default
    provider: anthropic
    model: claude-sonnet-4-5
    api_key: "${{ ANTHROPIC_API_KEY }}"
    config: {max_tokens: 1024}
```
"#,
    read,
};

/// Default of `base_url`.
const BASE_URL: &str = "https://api.anthropic.com";

/// Holds the key of a target without `api_key`.
const KEY_VARIABLE: &str = "ANTHROPIC_API_KEY";

/// The API requires a limit; this is the default.
const MAX_TOKENS: u64 = 4096;

static FIELDS: &[Field] = &[
    Field::new(
        "base_url",
        Shape::NonEmptyText,
        "base URL of the service; default `https://api.anthropic.com`",
    ),
    Field::new("api_key", Shape::Text, "API key; use `${{ VAR }}`. Default: `$ANTHROPIC_API_KEY`"),
    MODEL.required(),
];

#[derive(Debug, Clone, PartialEq)]
struct Anthropic(ServiceOptions);

impl ProviderSettings for Anthropic {
    fn model(&self) -> Option<&Template> {
        Some(&self.0.model)
    }

    fn arm_settings(&self) -> &'static [ArmSetting] {
        &[ArmSetting::Model]
    }

    fn connect(&self, context: &ConnectContext<'_>) -> Result<Box<dyn Agent>, Diagnostic> {
        let Self(service) = self;
        let base = service.base_url(BASE_URL, context)?;
        let mut endpoint = service.endpoint(&base, &["v1", "messages"], context)?;
        endpoint.plain_header("anthropic-version", "2023-06-01");
        service.add_key(&mut endpoint, "x-api-key", "", context)?;
        service.agent(AnthropicMessages, endpoint, PriceSource::at(&base), context)
    }
}

fn read(options: &mut Options<'_, '_, '_>) -> ReadResult<Box<dyn ProviderSettings>> {
    Ok(Box::new(Anthropic(ServiceOptions::read(options, KEY_VARIABLE)?)))
}

#[derive(Debug)]
struct AnthropicMessages;

impl Wire for AnthropicMessages {
    fn body(&self, request: &Request<'_>) -> Result<Map, AttemptFault> {
        let mut system = Vec::new();
        let mut turns: Vec<AnthropicTurn> = Vec::new();
        for message in request.messages {
            let blocks = blocks(request, message)?;
            let role = match message.role {
                Role::System => {
                    system.extend(blocks);
                    continue;
                }
                Role::Assistant => "assistant",
                Role::User | Role::Tool => "user",
            };
            match turns.last_mut() {
                // The API rejects turns without content.
                _ if blocks.is_empty() => {}
                // Turns must alternate.
                Some(last) if last.role == role => last.blocks.extend(blocks),
                _ => turns.push(AnthropicTurn { role, blocks }),
            }
        }
        let mut body = Map::new();
        body.insert("max_tokens", MAX_TOKENS);
        if !system.is_empty() {
            body.insert("system", content(system));
        }
        let turns = turns.into_iter().map(AnthropicTurn::written);
        body.insert("messages", turns.collect::<Vec<_>>());
        Ok(body)
    }

    fn read(&self, reply: &Map) -> Result<WireReply, String> {
        let mut read = WireReply::default();
        match reply.get("content") {
            Some(Value::String(text)) => read.content.push(Block::Text(text.clone())),
            Some(Value::List(blocks)) => read_blocks(blocks, &mut read)?,
            _ => return Err("the reply has no `content`".to_owned()),
        }
        let usage = reply.get("usage").and_then(Value::as_map);
        read.used = usage.and_then(used);
        Ok(read)
    }
}

/// Consecutive messages of one role.
struct AnthropicTurn {
    role: &'static str,
    blocks: Vec<Map>,
}

impl AnthropicTurn {
    fn written(self) -> Map {
        let mut map = Map::new();
        map.insert("role", self.role);
        map.insert("content", content(self.blocks));
        map
    }
}

/// A single text is sent as a string.
fn content(blocks: Vec<Map>) -> Value {
    if let [block] = blocks.as_slice()
        && block.get("type").and_then(Value::as_str) == Some("text")
        && let Some(text) = block.get("text")
    {
        return text.clone();
    }
    blocks.into()
}

fn blocks(request: &Request<'_>, message: &Message) -> Result<Vec<Map>, AttemptFault> {
    let parts = parts(request, message)?;
    let mut blocks: Vec<Map> = parts.into_iter().filter_map(block).collect();
    if message.role == Role::Tool {
        let mut result = Map::new();
        result.insert("type", "tool_result");
        result.insert("tool_use_id", message.tool_call_id.as_deref().unwrap_or(""));
        if !blocks.is_empty() {
            result.insert("content", content(blocks));
        }
        return Ok(vec![result]);
    }
    blocks.extend(message.tool_calls.iter().map(tool_use));
    Ok(blocks)
}

/// The API rejects empty texts.
fn block(part: MessagePart) -> Option<Map> {
    let mut map = Map::new();
    match part {
        MessagePart::Text(text) if text.is_empty() => return None,
        MessagePart::Text(text) => {
            map.insert("type", "text");
            map.insert("text", text);
        }
        MessagePart::Image(EncodedImage { media_type, base64 }) => {
            let mut source = Map::new();
            source.insert("type", "base64");
            source.insert("media_type", media_type);
            source.insert("data", base64);
            map.insert("type", "image");
            map.insert("source", source);
        }
    }
    Some(map)
}

fn tool_use(call: &ToolCall) -> Map {
    let mut map = Map::new();
    map.insert("type", "tool_use");
    map.insert("id", call.id.as_str());
    map.insert("name", call.name.as_str());
    let input = json_value(&call.arguments).unwrap_or_else(|| Map::new().into());
    map.insert("input", input);
    map
}

/// Thinking, and tools that run on the server, are not part of the answer.
fn read_blocks(blocks: &[Value], read: &mut WireReply) -> Result<(), String> {
    // A cited passage is a block of its own within a sentence.
    let mut is_cited_before = false;
    for block in blocks {
        let block = block.as_map();
        let block = block.ok_or("a block of `content` is not an object")?;
        let mut is_cited = false;
        match block.get("type").and_then(Value::as_str) {
            Some("text") => {
                let text = block.get("text").and_then(Value::as_str);
                let text = text.unwrap_or_default();
                is_cited = matches!(block.get("citations"), Some(Value::List(_)));
                push_text(&mut read.content, text, is_cited || is_cited_before);
            }
            Some("tool_use") => read.calls.push(call(block)?),
            _ => {}
        }
        is_cited_before = is_cited;
    }
    Ok(())
}

fn push_text(content: &mut Vec<Block>, text: &str, continues: bool) {
    match content.last_mut() {
        _ if text.is_empty() => {}
        Some(Block::Text(before)) if continues => before.push_str(text),
        _ => content.push(Block::Text(text.to_owned())),
    }
}

fn call(block: &Map) -> Result<Call, String> {
    let text = |key: &str| block.get(key).and_then(Value::as_str);
    let args = match block.get("input") {
        None | Some(Value::Null) => Map::new().into(),
        Some(input) => input.clone(),
    };
    let tool = text("name").ok_or("a tool call has no name")?;
    Ok(Call::new(text("id").unwrap_or_default(), tool, args))
}

/// The API does not include cached tokens in `input_tokens`.
fn used(usage: &Map) -> Option<BilledTokens> {
    let fresh = count(usage, "input_tokens")?;
    let output = count(usage, "output_tokens")?;
    let cached = count(usage, "cache_read_input_tokens").unwrap_or(0);
    let cache_writes = count(usage, "cache_creation_input_tokens").unwrap_or(0);
    let input = fresh.saturating_add(cached).saturating_add(cache_writes);
    Some(BilledTokens { tokens: tokens(input, output, cached), cache_writes })
}

#[cfg(test)]
mod tests {
    use evalrig_core::model::JsonStyle;

    use super::*;
    use crate::agent::service::testing::{body, conversation, read, texts};
    use crate::target::testing::{faults, settings};

    #[test]
    fn only_the_model_is_required() {
        let Anthropic(read) = settings("provider: anthropic, model: m");
        assert_eq!((read.base_url, read.api_key), (None, None));
        assert_eq!(faults("provider: anthropic"), ["`anthropic` needs `model`"]);
    }

    #[test]
    fn system_messages_are_collected_and_turns_alternate() {
        let expected = concat!(
            r#"{"max_tokens":4096,"#,
            r#""system":[{"type":"text","text":"Be brief."},{"type":"text","text":"Be kind."}],"#,
            r#""messages":[{"role":"user","content":"Read a"},"#,
            r#"{"role":"assistant","content":[{"type":"tool_use","id":"call_1","name":"Read","#,
            r#""input":{"path":"a"}}]},"#,
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_1","#,
            r#""content":"content of a"},{"type":"text","text":"and then?"}]}]}"#,
        );
        assert_eq!(body(&AnthropicMessages, &conversation()), expected);
        let silent = Message::new(Role::Assistant, Vec::new());
        let around = [Message::user("a"), silent, Message::user("b")];
        assert!(!body(&AnthropicMessages, &around).contains("assistant"));
        let lone = body(&AnthropicMessages, &[Message::user("a")]);
        let expected = r#"{"max_tokens":4096,"messages":[{"role":"user","content":"a"}]}"#;
        assert_eq!(lone, expected);
    }

    #[test]
    fn an_image_is_a_block_with_its_source() {
        let image = block(MessagePart::Image(EncodedImage {
            media_type: "image/png".to_owned(),
            base64: "AAAA".to_owned(),
        }));
        let expected = concat!(
            r#"{"type":"image","source":"#,
            r#"{"type":"base64","media_type":"image/png","data":"AAAA"}}"#,
        );
        assert_eq!(Value::Map(image.unwrap()).to_json(JsonStyle::Compact), expected);
    }

    #[test]
    fn calls_and_texts_are_kept_and_thinking_is_not() {
        let reply = r#"{"content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"a"},
            {"type":"tool_use","id":"x","name":"Read","input":{"n":1.50}},
            {"type":"server_tool_use","id":"y","name":"web_search","input":{}},
            {"type":"tool_use","name":"List"},{"type":"text","text":"b"}]}"#;
        let reply = read(&AnthropicMessages, reply).unwrap();
        assert_eq!(texts(&reply), ["a", "b"]);
        let calls = reply.calls.iter().map(|call| {
            let args = call.args.to_json(JsonStyle::Compact);
            format!("{} {} {args}", call.id, call.tool)
        });
        let expected = [r#"x Read {"n":1.50}"#, " List {}"];
        assert_eq!(calls.collect::<Vec<_>>(), expected);
        assert_eq!(reply.used, None);
    }

    #[test]
    fn cited_passages_stay_in_their_sentence() {
        let reply = r#"{"content":[{"type":"text","text":"It is "},
            {"type":"text","text":"blue","citations":[{}]},{"type":"text","text":"."},
            {"type":"text","text":"New","citations":null}]}"#;
        assert_eq!(texts(&read(&AnthropicMessages, reply).unwrap()), ["It is blue.", "New"]);
    }

    #[test]
    fn cached_tokens_are_part_of_the_input() {
        let reply = r#"{"content":[],"stop_reason":"refusal","usage":{"input_tokens":10,
            "cache_read_input_tokens":4,"cache_creation_input_tokens":3,"output_tokens":2}}"#;
        let used = read(&AnthropicMessages, reply).unwrap().used.unwrap();
        assert_eq!((used.tokens, used.cache_writes), (tokens(17, 2, 4), 3));
        let reply = r#"{"content":"a","usage":{"input_tokens":1,"output_tokens":2,
            "cache_read_input_tokens":null}}"#;
        let used = read(&AnthropicMessages, reply).unwrap().used.unwrap();
        assert_eq!(used.tokens, tokens(1, 2, 0));
    }

    #[test]
    fn malformed_replies_are_explained() {
        for (reply, reason) in [
            ("{}", "the reply has no `content`"),
            (r#"{"content":null}"#, "the reply has no `content`"),
            (r#"{"content":[7]}"#, "a block of `content` is not an object"),
            (r#"{"content":[{"type":"tool_use"}]}"#, "a tool call has no name"),
        ] {
            assert_eq!(read(&AnthropicMessages, reply), Err(reason.to_owned()), "{reply}");
        }
    }
}
