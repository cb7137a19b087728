//! `expected_output` (spec 3.5).

use crate::diagnostic::{Diagnostic, declare_codes};
use crate::model::{Expected, JsonStyle, Value};
use crate::reader::interpolate::Vars;
use crate::reader::{Reader, quote};
use crate::syntax::fields::Entry;
use crate::syntax::{Kind, Node, Scalar};

use super::message::{Calls, MESSAGE_FIELDS, read_message, read_messages};

declare_codes! {
    SCALAR_EXPECTED_OUTPUT = "scalar-expected-output", Warning, Shape, r#"`expected_output` is a number or a boolean. Its source text is the reference answer.

## Example
```yaml
name: demo
tests:
  - {id: a, criteria: Adds up, input: "40 + 2?", expected_output: 42}
```

## Instead
```yaml
name: demo
tests:
  - {id: a, criteria: Adds up, input: "40 + 2?", expected_output: "42"}
```

## Why
An answer is text; quotes keep `1.0` from becoming `1`.
"#;
}

pub(super) fn read_expected(reader: &mut Reader<'_>, entry: &Entry<'_>) -> Option<Expected> {
    let node = entry.value;
    match node.kind() {
        Kind::Scalar => read_scalar(reader, entry),
        Kind::Sequence if is_message_list(node) => {
            let messages = read_messages(reader, "expected_output", node, &mut Calls::default())?;
            Some(Expected::Messages(messages))
        }
        Kind::Mapping if is_message(node) => {
            let message = read_message(reader, node, &mut Calls::default())?;
            Some(Expected::Messages(vec![message]))
        }
        _ => {
            let value = reader.value_with("expected_output", node, Vars::Test);
            Some(Expected::Structured(value))
        }
    }
}

fn read_scalar(reader: &mut Reader<'_>, entry: &Entry<'_>) -> Option<Expected> {
    let node = entry.value;
    match node.scalar()? {
        Scalar::Str(text) => match reader.whole_reference(node, text) {
            Some(Value::String(text)) => Some(Expected::Text(text)),
            Some(value @ (Value::List(_) | Value::Map(_))) => Some(Expected::Structured(value)),
            Some(other) => Some(Expected::Text(other.to_json(JsonStyle::Compact))),
            None => Some(Expected::Text(reader.templated(entry)?.into_owned())),
        },
        _ => {
            let text = node.scalar_text()?;
            let message = format!("`expected_output` is read as the text \"{text}\"");
            let diagnostic = Diagnostic::new(&SCALAR_EXPECTED_OUTPUT, node.span(), message);
            let fix = quote(node, text);
            reader.report(diagnostic.help("put it in quotes").fix_if(fix));
            Some(Expected::Text(text.to_owned()))
        }
    }
}

/// Every item is a mapping with `role`.
fn is_message_list(node: Node<'_>) -> bool {
    node.items().len() > 0
        && node.items().all(|item| item.is_mapping() && item.get("role").is_some())
}

/// `role`, `content` or `tool_calls`, and nothing but message keys.
fn is_message(node: Node<'_>) -> bool {
    let has = |key| node.get(key).is_some();
    has("role")
        && (has("content") || has("tool_calls"))
        && node.entries().iter().all(|(key, _)| {
            let name = key.scalar_text().unwrap_or("");
            MESSAGE_FIELDS.iter().any(|field| field.name == name)
        })
}
