//! `value`: the text or texts that an output is compared with.

use std::borrow::Cow;

use crate::diagnostic::{Diagnostic, Fix, declare_codes};
use crate::reader::{Options, ReadResult, Reported, all_read};
use crate::source::Span;
use crate::syntax::fields::{Field, Shape};
use crate::syntax::{Node, Scalar};

use super::codes::VALUE_NOT_STRING;
use super::subject::FILE;

declare_codes! {
    EMPTY_VALUE = "empty-value", Blocking, Assertion, r#"The text to look for is empty, or the list of texts is.

## Example
```yaml
name: demo
tests:
  - id: a
    criteria: Greets
    input: Hi
    assert:
      - {type: contains, value: ""}
```

## Instead
```yaml
name: demo
tests:
  - id: a
    criteria: Greets
    input: Hi
    assert:
      - {type: contains, value: "Hello"}
```

## Why
Every output contains the empty text, so the check could not fail.
"#;
}

const ITEM: Shape = Shape::TextOrScalar;

/// One text.
pub(super) static ONE_TEXT: &[Field] =
    &[Field::new("value", Shape::TextOrScalar, "the text to look for").required(), FILE];

/// Several texts, or a single one.
pub(super) static TEXTS: &[Field] = &[
    Field::new(
        "value",
        Shape::OneOf(&[Shape::TextOrScalar, Shape::NonEmptyList(&ITEM)]),
        "the texts to look for: a list, or a single text",
    )
    .also(&["values"])
    .required(),
    FILE,
];

/// Reads `value` as one text.
pub(super) fn read_text_value(options: &mut Options<'_, '_, '_>) -> ReadResult<String> {
    let entry = options.require("value")?;
    read_text(options, "value", entry.value)
}

/// Reads `value` as a list of texts.
pub(super) fn read_text_values(options: &mut Options<'_, '_, '_>) -> ReadResult<Vec<String>> {
    let entry = options.require("value")?;
    if !entry.value.is_sequence() {
        return Ok(vec![read_text(options, "value", entry.value)?]);
    }
    if entry.value.items().len() == 0 {
        let message = "the list of texts is empty";
        return Err(empty_value(
            options,
            entry.value.span(),
            message,
            "list the texts to look for",
        ));
    }
    let items = entry.value.items();
    all_read(items.map(|item| read_text(options, "an item of value", item)))
}

/// A text that is not empty. A number or boolean is read as its source text, with a warning.
fn read_text<'t>(
    options: &mut Options<'_, '_, 't>,
    name: &str,
    node: Node<'t>,
) -> ReadResult<String> {
    let text: Cow<'t, str> = match node.scalar() {
        Some(Scalar::Int(_) | Scalar::Float(_) | Scalar::Bool(_)) => {
            let text = node.scalar_text().unwrap_or_default();
            options.report(value_not_string(name, node, text));
            Cow::Borrowed(text)
        }
        _ => options.reader.text_of(name, node).ok_or(Reported)?,
    };
    if text.is_empty() {
        let help = "every output contains the empty text; write the text to look for";
        let message = format!("`{name}` is empty");
        return Err(empty_value(options, node.span(), message, help));
    }
    Ok(text.into_owned())
}

/// Reports `empty-value`.
pub(super) fn empty_value(
    options: &mut Options<'_, '_, '_>,
    span: Span,
    message: impl Into<String>,
    help: &str,
) -> Reported {
    options.report(Diagnostic::new(&EMPTY_VALUE, span, message).help(help))
}

fn value_not_string(name: &str, node: Node<'_>, text: &str) -> Diagnostic {
    let message =
        format!("`{name}` is compared as text, so `{text}` is read as the text \"{text}\"");
    let fix =
        (!node.is_alias()).then(|| Fix::replace("quote it", node.span(), format!("\"{text}\"")));
    Diagnostic::new(&VALUE_NOT_STRING, node.span(), message)
        .help("put quotes around it")
        .fix_if(fix)
}

/// `'a', 'b'`
pub(super) fn quoted(texts: &[String]) -> String {
    texts.iter().map(|text| format!("'{text}'")).collect::<Vec<_>>().join(", ")
}
