//! `tool_calls` of assistant messages, in the API's form and in agentv's.

use crate::diagnostic::{Diagnostic, Edit, Fix, declare_codes};
use crate::model::{JsonStyle, ToolCall, Value};
use crate::reader::interpolate::Vars;
use crate::reader::{Reader, wrong_type};
use crate::syntax::fields::{Bound, DEPRECATED_FIELD, Entry, Field, Shape};
use crate::syntax::{Node, Scalar, edit, json_value};

use super::message::Calls;

declare_codes! {
    INVALID_TOOL_ARGUMENTS = "invalid-tool-arguments", Blocking, Shape, r#"The arguments of a tool call are not the text of a JSON object.

## Example
```yaml
name: demo
tests:
  - id: a
    criteria: Goes on
    input:
      - {role: user, content: Find it}
      - {role: assistant, tool_calls: [{function: {name: find, arguments: "q=1"}}]}
      - {role: user, content: And now?}
```

## Instead
```yaml
name: demo
tests:
  - id: a
    criteria: Goes on
    input:
      - {role: user, content: Find it}
      - {role: assistant, tool_calls: [{function: {name: find, arguments: '{"q": 1}'}}]}
      - {role: user, content: And now?}
```

## Why
Chat APIs take the arguments as JSON text and refuse the request otherwise. A mapping is accepted
here and turned into text.
"#;
    MISSING_TOOL_NAME = "missing-tool-name", Blocking, Shape, r#"A tool call does not say which tool is called.

## Example
```yaml
name: demo
tests:
  - id: a
    criteria: Goes on
    input:
      - {role: user, content: Find it}
      - {role: assistant, tool_calls: [{function: {arguments: "{}"}}]}
      - {role: user, content: And now?}
```

## Instead
```yaml
name: demo
tests:
  - id: a
    criteria: Goes on
    input:
      - {role: user, content: Find it}
      - {role: assistant, tool_calls: [{function: {name: find, arguments: "{}"}}]}
      - {role: user, content: And now?}
```

## Why
A call without a name can neither be sent nor compared.
"#;
}

pub static TOOL_CALL_FIELDS: &[Field] = &[
    Field::new("id", Shape::Text, "default `call_1`, `call_2`, … per test"),
    Field::new("type", Shape::Choice(&["function"]), "always `function`"),
    Field::new("function", Shape::Fields(FUNCTION_FIELDS), "what is called"),
    Field::new("tool", Shape::Text, "old form of `function.name`"),
    Field::new("input", Shape::Any, "old form of `function.arguments`").also(&["args"]),
    Field::new("output", Shape::Any, "old form; not used"),
];

static FUNCTION_FIELDS: &[Field] = &[
    Field::new("name", Shape::NonEmptyText, "the tool's name").required(),
    Field::new(
        "arguments",
        Shape::OneOf(&[Shape::Text, Shape::Map]),
        "the text of a JSON object; a mapping is turned into text",
    ),
];

pub(super) fn read_tool_calls(
    reader: &mut Reader<'_>,
    entry: &Entry<'_>,
    calls: &mut Calls,
) -> Option<Vec<ToolCall>> {
    if !entry.value.is_sequence() {
        return reader.refuse(wrong_type("tool_calls", entry.value, "a list of tool calls"));
    }
    let found: Vec<Option<ToolCall>> =
        entry.value.items().map(|item| read_tool_call(reader, item, calls)).collect();
    found.into_iter().collect()
}

fn read_tool_call(reader: &mut Reader<'_>, node: Node<'_>, calls: &mut Calls) -> Option<ToolCall> {
    if !node.is_mapping() {
        return reader.refuse(wrong_type("an item of tool_calls", node, "a tool call: a mapping"));
    }
    let bound = Bound::new(node, &[TOOL_CALL_FIELDS], reader.out);
    bound.report_unknown(&[TOOL_CALL_FIELDS], reader.out);
    if let Some(kind) = bound.get("type") {
        reader.choice(&kind, &["function"])?;
    }
    let written = match bound.get("id") {
        Some(entry) => Some(reader.owned_text(&entry)?),
        None => None,
    };
    // Known even if the call is faulty, so that its answer is not called dangling.
    calls.ids.extend(written.clone());
    let (name, arguments) = match bound.get("function") {
        Some(entry) => read_function(reader, &entry)?,
        None => read_old_form(reader, &bound)?,
    };
    let id = written.unwrap_or_else(|| {
        calls.numbered += 1;
        let id = format!("call_{}", calls.numbered);
        calls.ids.push(id.clone());
        id
    });
    Some(ToolCall { id, name, arguments })
}

fn read_function(reader: &mut Reader<'_>, entry: &Entry<'_>) -> Option<(String, String)> {
    if !entry.value.is_mapping() {
        return reader.refuse(wrong_type(
            "function",
            entry.value,
            "a mapping with `name` and `arguments`",
        ));
    }
    let bound = Bound::new(entry.value, &[FUNCTION_FIELDS], reader.out);
    bound.report_unknown(&[FUNCTION_FIELDS], reader.out);
    let Some(name) = bound.get("name") else {
        return reader.refuse(missing_name(&bound));
    };
    let name = reader.owned_text(&name)?;
    let arguments = match bound.get("arguments") {
        Some(arguments) => read_arguments(reader, arguments.value)?,
        None => "{}".to_owned(),
    };
    Some((name, arguments))
}

fn missing_name(bound: &Bound<'_>) -> Diagnostic {
    Diagnostic::new(&MISSING_TOOL_NAME, bound.head(), "this call names no tool")
        .help("add `function: {name: …}`")
}

/// `{tool, input or args, output}`.
fn read_old_form(reader: &mut Reader<'_>, bound: &Bound<'_>) -> Option<(String, String)> {
    let Some(tool) = bound.get("tool") else {
        return reader.refuse(missing_name(bound));
    };
    let name = reader.owned_text(&tool)?;
    let input = bound.get("input");
    let arguments = match input {
        Some(input) if !input.value.is_null() => read_arguments(reader, input.value)?,
        _ => "{}".to_owned(),
    };
    let message = "`tool` with `input` is an old form of `function`";
    reader.report(
        Diagnostic::new(&DEPRECATED_FIELD, tool.key.span(), message)
            .help("write `function: {name: …, arguments: …}`")
            .fix_if(canonical_form(bound, &tool, input.as_ref())),
    );
    Some((name, arguments))
}

/// The old form as `function: {…}` on one line; what the tool gave back is kept under `x-output`.
fn canonical_form(bound: &Bound<'_>, tool: &Entry<'_>, input: Option<&Entry<'_>>) -> Option<Fix> {
    // A key that is there without a value would be there twice.
    if bound.was_null("function") || bound.node.get("x-output").is_some() {
        return None;
    }
    if input.is_some_and(edit::may_hold_comment) {
        return None;
    }
    let mut function = crate::model::Map::new();
    function.insert("name", tool.value.scalar_text()?);
    if let Some(input) = input {
        function.insert("arguments", edit::raw_value(input.value));
    }
    let function = Value::Map(function);
    if edit::has_long_key(&function) {
        return None;
    }
    let text = function.to_json(JsonStyle::Compact);
    let mut edits = vec![edit::replace_entry(bound, tool, "function", &text)?];
    if let Some(input) = input {
        edits.push(edit::remove_entry(bound, input)?);
    }
    if let Some(output) = bound.get("output") {
        let text = edit::same_quotes(output.key, "x-output");
        edits.push(Edit::new(output.key.span(), text));
    }
    Some(Fix::new("write it as `function`", edits))
}

/// The text of a JSON object; a mapping is serialised.
fn read_arguments(reader: &mut Reader<'_>, node: Node<'_>) -> Option<String> {
    if node.is_mapping() {
        let value = reader.value_with("arguments", node, Vars::Test);
        return Some(value.to_json(JsonStyle::Compact));
    }
    if let Some(Scalar::Str(_)) = node.scalar() {
        let text = reader.templated_of("arguments", node)?;
        if matches!(json_value(&text), Some(Value::Map(_))) {
            return Some(text.into_owned());
        }
        let message = "the arguments are not the text of a JSON object";
        let diagnostic =
            Diagnostic::new(&INVALID_TOOL_ARGUMENTS, crate::reader::short_span(node), message);
        return reader.refuse(diagnostic.help("write `'{\"key\": \"value\"}'`, or a mapping"));
    }
    reader.refuse(wrong_type("arguments", node, "the text of a JSON object, or a mapping"))
}
