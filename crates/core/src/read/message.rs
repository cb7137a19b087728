//! Messages (spec 3.3).

use crate::diagnostic::{Diagnostic, declare_codes, did_you_mean};
use crate::model::{Block, Message, Role, ToolCall};
use crate::reader::interpolate::Vars;
use crate::reader::{Reader, list_words, short_span, wrong_type};
use crate::syntax::fields::{Bound, Entry, Field, Shape, shorten};
use crate::syntax::{Node, Scalar};

use super::block::read_block;
use super::tool_call::read_tool_calls;

declare_codes! {
    INVALID_ROLE = "invalid-role", Blocking, Shape, r#"A message's role is not `system`, `user`, `assistant` or `tool`.

## Example
```yaml
name: demo
tests:
  - id: a
    criteria: Greets
    input:
      - {role: human, content: Hi}
```

## Instead
```yaml
name: demo
tests:
  - id: a
    criteria: Greets
    input:
      - {role: user, content: Hi}
```

## Why
A message without a known role has no place in the conversation.
"#;
    MISSING_CONTENT = "missing-content", Blocking, Shape, r#"A message has no `content`. Only an assistant message with `tool_calls` needs none.

## Example
```yaml
name: demo
tests:
  - id: a
    criteria: Greets
    input:
      - {role: user}
```

## Instead
```yaml
name: demo
tests:
  - id: a
    criteria: Greets
    input:
      - {role: user, content: Hi}
```

## Why
An empty message is almost always a misspelt key or a lost line.
"#;
    CONTENT_MAPPING = "content-mapping", Warning, Shape, r#"`content` is a mapping. It is read as one `json` block.

## Example
```yaml
name: demo
tests:
  - id: a
    criteria: Sums up
    input:
      - role: user
        content: {total: 12}
```

## Instead
```yaml
name: demo
tests:
  - id: a
    criteria: Sums up
    input:
      - role: user
        content:
          - {type: json, value: {total: 12}}
```

## Why
Only the block says clearly that JSON text is sent.
"#;
    MISSING_TOOL_CALL_ID = "missing-tool-call-id", Error, Conformance, r#"A `tool` message does not say which call it answers.

## Example
```yaml
name: demo
tests:
  - id: a
    criteria: Reads the result
    input:
      - {role: user, content: Find it}
      - {role: tool, content: found}
```

## Instead
```yaml
name: demo
tests:
  - id: a
    criteria: Reads the result
    input:
      - {role: user, content: Find it}
      - {role: assistant, tool_calls: [{id: c1, function: {name: find, arguments: "{}"}}]}
      - {role: tool, tool_call_id: c1, content: found}
```

## Why
Chat APIs refuse a tool message without `tool_call_id`.
"#;
    DANGLING_TOOL_CALL_ID = "dangling-tool-call-id", Warning, Reference, r#"A `tool` message answers a call that no earlier message makes.

## Example
```yaml
name: demo
tests:
  - id: a
    criteria: Reads the result
    input:
      - {role: user, content: Find it}
      - {role: assistant, tool_calls: [{id: c1, function: {name: find, arguments: "{}"}}]}
      - {role: tool, tool_call_id: c2, content: found}
```

## Instead
```yaml
name: demo
tests:
  - id: a
    criteria: Reads the result
    input:
      - {role: user, content: Find it}
      - {role: assistant, tool_calls: [{id: c1, function: {name: find, arguments: "{}"}}]}
      - {role: tool, tool_call_id: c1, content: found}
```

## Why
Chat APIs refuse an answer to a call they have not seen.
"#;
    TOOL_CALLS_MISPLACED = "tool-calls-misplaced", Error, Conformance, r#"A message that is not from the assistant has `tool_calls`.

## Example
```yaml
name: demo
tests:
  - id: a
    criteria: Searches
    input:
      - {role: user, content: Find it, tool_calls: [{function: {name: find, arguments: "{}"}}]}
```

## Instead
```yaml
name: demo
tests:
  - id: a
    criteria: Searches
    input:
      - {role: user, content: Find it}
      - {role: assistant, tool_calls: [{function: {name: find, arguments: "{}"}}]}
      - {role: user, content: And now?}
```

## Why
Only the assistant calls tools.
"#;
}

pub static MESSAGE_FIELDS: &[Field] = &[
    Field::new("role", Shape::Choice(Role::WORDS), "who speaks").required(),
    Field::new("content", Shape::Ref("content"), "a string, or a list of blocks"),
    Field::new("tool_calls", Shape::List(&Shape::Ref("tool-call")), "calls made by the assistant"),
    Field::new("tool_call_id", Shape::Text, "on `tool` messages: the call that it answers"),
    Field::new("name", Shape::Text, "on `tool` messages: the tool's name"),
];

/// The calls made so far in one test, to number new ones and to check `tool_call_id`.
#[derive(Debug, Default)]
pub(super) struct Calls {
    pub(super) ids: Vec<String>,
    /// How many ids were generated.
    pub(super) numbered: usize,
}

/// A list of messages; faulty ones are reported.
pub(super) fn read_messages(
    reader: &mut Reader<'_>,
    name: &str,
    list: Node<'_>,
    calls: &mut Calls,
) -> Option<Vec<Message>> {
    if !list.is_sequence() {
        return reader.refuse(wrong_type(
            name,
            list,
            "a string, a list of messages or one message",
        ));
    }
    let mut messages = Vec::with_capacity(list.items().len());
    let mut complete = true;
    for item in list.items() {
        if !item.is_mapping() {
            let name = format!("an item of {name}");
            reader.report(wrong_type(&name, item, "a message: a mapping with `role`"));
            complete = false;
            continue;
        }
        match read_message(reader, item, calls) {
            Some(message) => messages.push(message),
            None => complete = false,
        }
    }
    complete.then_some(messages)
}

/// One message, a mapping.
pub(super) fn read_message(
    reader: &mut Reader<'_>,
    node: Node<'_>,
    calls: &mut Calls,
) -> Option<Message> {
    let bound = Bound::new(node, &[MESSAGE_FIELDS], reader.out);
    bound.report_unknown(&[MESSAGE_FIELDS], reader.out);
    let role = read_role(reader, &bound);
    let tool_calls = match bound.get("tool_calls") {
        Some(entry) => read_tool_calls(reader, &entry, calls)?,
        None => Vec::new(),
    };
    if role.is_some_and(|role| role != Role::Assistant)
        && let Some(entry) = bound.get("tool_calls")
    {
        let message = "only an `assistant` message has `tool_calls`";
        reader.report(Diagnostic::new(&TOOL_CALLS_MISPLACED, entry.key.span(), message));
    }
    let content = read_content(reader, &bound, role, &tool_calls)?;
    let tool_call_id = read_answered_call(reader, &bound, role, calls);
    let name = bound.get("name").and_then(|entry| reader.owned_text(&entry));
    Some(Message { role: role?, content, tool_calls, tool_call_id, name })
}

fn read_role(reader: &mut Reader<'_>, bound: &Bound<'_>) -> Option<Role> {
    let help = || format!("it is {}", list_words(Role::WORDS));
    let Some(entry) = bound.get("role") else {
        let message = "this message has no `role`";
        let diagnostic = Diagnostic::new(&INVALID_ROLE, bound.head(), message);
        return reader.refuse(diagnostic.help(help()));
    };
    let word = reader.text(&entry)?;
    let role = Role::parse(&word);
    if role.is_none() {
        let message = format!("`{}` is not a role", shorten(&word));
        let diagnostic = Diagnostic::new(&INVALID_ROLE, entry.value.span(), message);
        let known = Role::WORDS.iter().copied();
        reader.report(diagnostic.suggest(&word.to_lowercase(), known, help()));
    }
    role
}

fn read_content(
    reader: &mut Reader<'_>,
    bound: &Bound<'_>,
    role: Option<Role>,
    tool_calls: &[ToolCall],
) -> Option<Vec<Block>> {
    let Some(entry) = bound.get("content") else {
        if role == Some(Role::Assistant) && !tool_calls.is_empty() {
            return Some(Vec::new());
        }
        let message = "this message has no `content`";
        return reader.refuse(Diagnostic::new(&MISSING_CONTENT, bound.head(), message));
    };
    content_blocks(reader, &entry)
}

fn content_blocks(reader: &mut Reader<'_>, entry: &Entry<'_>) -> Option<Vec<Block>> {
    let node = entry.value;
    if node.is_mapping() {
        let message = "`content` is a mapping; it is read as one `json` block";
        let diagnostic = Diagnostic::new(&CONTENT_MAPPING, short_span(node), message);
        reader.report(diagnostic.help("write `content: [{type: json, value: …}]`"));
        return Some(vec![Block::Json(reader.value_with("content", node, Vars::Test))]);
    }
    if node.is_sequence() {
        let blocks: Vec<Option<Block>> =
            node.items().map(|item| read_block(reader, item)).collect();
        return blocks.into_iter().collect();
    }
    match node.scalar() {
        Some(Scalar::Str(_)) => {
            let text = reader.templated(entry)?;
            Some(vec![Block::Text(text.into_owned())])
        }
        _ => reader.refuse(wrong_type("content", node, "a string or a list of blocks")),
    }
}

fn read_answered_call(
    reader: &mut Reader<'_>,
    bound: &Bound<'_>,
    role: Option<Role>,
    calls: &Calls,
) -> Option<String> {
    let Some(entry) = bound.get("tool_call_id") else {
        if role == Some(Role::Tool) {
            let message = "this `tool` message has no `tool_call_id`";
            let diagnostic = Diagnostic::new(&MISSING_TOOL_CALL_ID, bound.head(), message);
            reader.report(diagnostic.help("name the call it answers"));
        }
        return None;
    };
    let id = reader.owned_text(&entry)?;
    if role == Some(Role::Tool) && !calls.ids.contains(&id) {
        let message = format!("no earlier message makes the call `{}`", shorten(&id));
        let near = did_you_mean(&id, calls.ids.iter().map(String::as_str));
        let help = near.map(|near| format!("did you mean `{near}`?"));
        reader.report(
            Diagnostic::new(&DANGLING_TOOL_CALL_ID, entry.value.span(), message).help_if(help),
        );
    }
    Some(id)
}
