//! `input` and `input_files` → messages (spec 3.2, 5).

use crate::diagnostic::{Diagnostic, declare_codes};
use crate::evidence::{is_silent, last_user_message};
use crate::model::{Block, FileRef, Message, Role};
use crate::reader::interpolate::Vars;
use crate::reader::{FileUse, Reader, short_span, wrong_type};
use crate::source::Span;
use crate::syntax::fields::{Bound, Entry, WRONG_TYPE};
use crate::syntax::{Node, Scalar};
use crate::transpile_rules::no_prompt;

use super::inherited_defaults::InheritedDefaults;
use super::message::{Calls, read_message, read_messages};
use super::test::TEST_FIELDS;

declare_codes! {
    MISSING_INPUT = "missing-input", Blocking, Shape, r#"A test has no `input`.

## Example
```yaml
name: demo
tests:
  - {id: a, criteria: Greets}
```

## Instead
```yaml
name: demo
tests:
  - {id: a, criteria: Greets, input: Hi}
```

## Why
There is nothing to send to the agent.
"#;
    EMPTY_INPUT = "empty-input", Blocking, Shape, r#"The input of a test is a blank text or an empty list.

## Example
```yaml
name: demo
tests:
  - {id: a, criteria: Greets, input: ""}
```

## Instead
```yaml
name: demo
tests:
  - {id: a, criteria: Greets, input: Hi}
```

## Why
There is nothing to send to the agent.
"#;
    NO_USER_MESSAGE = "no-user-message", Error, Conformance, r#"No message of the input comes from the user.

## Example
```yaml
name: demo
tests:
  - id: a
    criteria: Greets
    input:
      - {role: system, content: Be brief.}
```

## Instead
```yaml
name: demo
tests:
  - id: a
    criteria: Greets
    input:
      - {role: system, content: Be brief.}
      - {role: user, content: Hi}
```

## Why
Most targets need a user message to answer to, and the prompt of an exported test is the last one.
"#;
    INPUT_FILES_WITH_MESSAGES = "input-files-with-messages", Blocking, Shape, r#"`input_files` is combined with an `input` that is a list of messages.

## Example
```yaml
name: demo
tests:
  - id: a
    criteria: Sums up
    input_files: [./sales.csv]
    input:
      - {role: user, content: Sum up}
```
```csv sales.csv
month,revenue
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
          - {type: file, value: ./sales.csv}
          - {type: text, value: Sum up}
```
```csv sales.csv
month,revenue
```

## Why
Nothing says which message the files belong to.
"#;
    EMPTY_INPUT_FILES = "empty-input-files", Warning, Shape, r#"`input_files` is an empty list: the test has no files and does not inherit any from the root.

## Example
```yaml
name: demo
tests:
  - {id: a, criteria: Greets, input: Hi, input_files: []}
```

## Instead
```yaml
name: demo
tests:
  - {id: a, criteria: Greets, input: Hi}
```

## Why
It is either a leftover, or a way to drop the suite's files that is easy to overlook.
"#;
}

/// The messages of a test: those of the levels above, outermost first, then its own.
pub(super) fn read_test_input(
    reader: &mut Reader<'_>,
    bound: &Bound<'_>,
    level: Option<&InheritedDefaults<'_>>,
) -> Option<Vec<Message>> {
    let files = bound.get("input_files");
    let Some(entry) = bound.get("input") else {
        if !bound.was_null("input") || bound.node.is_mapping() {
            report_missing(reader, bound);
        }
        return None;
    };
    let mut calls = Calls::default();
    let mut messages = inherited(reader, level, &mut calls);
    match entry.value.scalar() {
        Some(Scalar::Str(_)) => {
            let message = string_input(reader, &entry, files.as_ref(), level)?;
            messages.reserve_exact(1);
            messages.push(message);
        }
        _ => {
            if let Some(files) = &files {
                reader.report(files_with_messages(files.key.span()));
            }
            let own = read_message_input(reader, &entry, &mut calls)?;
            if messages.is_empty() {
                messages = own
            } else {
                messages.extend(own)
            }
            if files.is_some() {
                return None;
            }
        }
    }
    report_silence(reader, &entry, &messages);
    Some(messages)
}

/// A missing user message, or one without text, leaves the prompt empty; an input without a user
/// message gets only the first diagnostic (spec 3.2).
fn report_silence(reader: &mut Reader<'_>, entry: &Entry<'_>, messages: &[Message]) {
    let place = short_span(entry.value);
    match last_user_message(messages) {
        None => {
            let message = "no message of the input comes from the user";
            let diagnostic = Diagnostic::new(&NO_USER_MESSAGE, place, message);
            reader.report(diagnostic.help("add a message with `role: user`"));
        }
        Some(at) if is_silent(&messages[at]) => {
            reader.report(no_prompt(place, "the last user message has no text"));
        }
        Some(_) => {}
    }
}

/// The key that was written in the place of a missing `input`. It is reported once, as that.
pub(super) fn stand_in<'t>(bound: &Bound<'t>) -> Option<Node<'t>> {
    if bound.has("input") { None } else { bound.stand_in(TEST_FIELDS, "input") }
}

fn report_missing(reader: &mut Reader<'_>, bound: &Bound<'_>) {
    let help =
        bound.help_for_missing(TEST_FIELDS, "input", "add `input`: a text, or a list of messages");
    let place = match stand_in(bound) {
        Some(key) => key.span(),
        None => bound.head(),
    };
    let found = Diagnostic::new(&MISSING_INPUT, place, "this test has no `input`").help(help);
    reader.report(found.suggestion_if(bound.rename_for_missing(TEST_FIELDS, "input")));
}

/// Root inputs of the whole chain; read again where the test has variables.
fn inherited(
    reader: &mut Reader<'_>,
    level: Option<&InheritedDefaults<'_>>,
    calls: &mut Calls,
) -> Vec<Message> {
    let Some(level) = level else {
        return Vec::new();
    };
    if level.chain().all(|level| level.input_node.is_none()) {
        return Vec::new();
    }
    let levels: Vec<&InheritedDefaults<'_>> = level.chain().collect();
    let mut messages = Vec::new();
    for level in levels.into_iter().rev() {
        match level.input_node {
            // Calls are numbered per test, so those of all levels have to be counted together.
            Some(node) if reader.vars.is_some() || has_calls(&level.input) => {
                let before = std::mem::replace(&mut reader.directory, level.directory.clone());
                messages.extend(read_input_node(reader, node, calls).unwrap_or_default());
                reader.directory = before;
            }
            _ => messages.extend(level.input.iter().cloned()),
        }
    }
    messages
}

fn has_calls(messages: &[Message]) -> bool {
    messages.iter().any(|message| !message.tool_calls.is_empty() || message.tool_call_id.is_some())
}

/// Root `input`, without test variables.
pub(super) fn read_root_input(reader: &mut Reader<'_>, entry: &Entry<'_>) -> Option<Vec<Message>> {
    read_input_node(reader, entry.value, &mut Calls::default())
}

fn read_input_node(
    reader: &mut Reader<'_>,
    node: Node<'_>,
    calls: &mut Calls,
) -> Option<Vec<Message>> {
    match node.scalar() {
        Some(Scalar::Str(_)) => {
            let text = reader.templated_of("input", node)?;
            Some(vec![Message::user(text.into_owned())])
        }
        _ if node.is_mapping() => Some(vec![read_message(reader, node, calls)?]),
        _ => read_messages(reader, "input", node, calls),
    }
}

fn read_message_input(
    reader: &mut Reader<'_>,
    entry: &Entry<'_>,
    calls: &mut Calls,
) -> Option<Vec<Message>> {
    let node = entry.value;
    if node.is_mapping() && node.get("role").is_none() {
        let message = "`input` takes a string, a list of messages or one message, found a mapping without `role`";
        return reader.refuse(Diagnostic::new(&WRONG_TYPE, short_span(node), message));
    }
    if node.is_sequence() && node.items().len() == 0 {
        return reader.refuse(empty_input(node.span(), "the input is an empty list"));
    }
    if !node.is_mapping() && !node.is_sequence() {
        return reader.refuse(wrong_type(
            "input",
            node,
            "a string, a list of messages or one message",
        ));
    }
    read_input_node(reader, node, calls)
}

/// A text, with the test's files or those of the nearest level that has some.
fn string_input(
    reader: &mut Reader<'_>,
    entry: &Entry<'_>,
    own: Option<&Entry<'_>>,
    level: Option<&InheritedDefaults<'_>>,
) -> Option<Message> {
    let text = reader.templated(entry)?;
    if text.trim().is_empty() {
        return reader.refuse(empty_input(short_span(entry.value), "the input is blank"));
    }
    let mut content = Vec::new();
    match own {
        Some(own) => content = own_files(reader, own)?,
        None => {
            let inherited = level.and_then(|level| {
                level.chain().find_map(|level| Some((level.input_files?, &level.directory)))
            });
            if let Some((list, directory)) = inherited {
                let before = std::mem::replace(&mut reader.directory, directory.clone());
                let blocks = file_blocks(reader, list);
                reader.directory = before;
                content = blocks?;
            }
        }
    }
    // Most tests have one text, and an empty list would make room for four.
    content.reserve_exact(1);
    content.push(Block::Text(text.into_owned()));
    Some(Message::new(Role::User, content))
}

fn own_files(reader: &mut Reader<'_>, entry: &Entry<'_>) -> Option<Vec<Block>> {
    let list = check_file_list(reader, entry)?;
    if list.items().len() == 0 {
        let message = "`input_files` is empty: no files, and none from the root";
        let diagnostic = Diagnostic::new(&EMPTY_INPUT_FILES, entry.value.span(), message);
        reader.report(diagnostic.help("remove it, or name the files"));
    }
    file_blocks(reader, list)
}

/// `input_files` must be a list of strings.
pub(super) fn check_file_list<'t>(reader: &mut Reader<'_>, entry: &Entry<'t>) -> Option<Node<'t>> {
    if !entry.value.is_sequence() {
        let diagnostic = wrong_type("input_files", entry.value, "a list of paths");
        return reader.refuse(match entry.value.scalar() {
            Some(Scalar::Str(text)) => diagnostic.help(format!("write `input_files: [{text}]`")),
            _ => diagnostic,
        });
    }
    Some(entry.value)
}

fn file_blocks(reader: &mut Reader<'_>, list: Node<'_>) -> Option<Vec<Block>> {
    let blocks: Vec<Option<Block>> = list
        .items()
        .map(|item| {
            let value = match item.scalar() {
                Some(Scalar::Str(text)) => {
                    reader.interpolate("input_files", item, text, Vars::Test)?.into_owned()
                }
                _ => {
                    return reader.refuse(wrong_type("an item of input_files", item, "a path"));
                }
            };
            Some(Block::File(file_ref(reader, value, item.span())))
        })
        .collect();
    blocks.into_iter().collect()
}

/// A file that is attached to a message.
pub(super) fn file_ref(reader: &mut Reader<'_>, value: String, span: Span) -> FileRef {
    let path = reader.file(&value, span, FileUse::Attachment);
    FileRef { value, path }
}

fn empty_input(span: Span, message: &str) -> Diagnostic {
    Diagnostic::new(&EMPTY_INPUT, span, message).help("write what is sent to the agent")
}

fn files_with_messages(span: Span) -> Diagnostic {
    let message = "`input_files` requires a string `input`";
    Diagnostic::new(&INPUT_FILES_WITH_MESSAGES, span, message).help(
        "attach each file in the message it belongs to: `content: [{type: file, value: PATH}, {type: text, value: …}]`",
    )
}
