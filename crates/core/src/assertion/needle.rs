//! `value`: the text or texts that the seven substring checks look for.

use crate::diagnostic::{Diagnostic, declare_codes};
use crate::syntax::fields::{Field, Shape};

use super::options::Options;

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
pub(super) static ONE: &[Field] =
    &[Field::new("value", Shape::TextOrScalar, "the text to look for").required()];

/// Several texts; a single one is a list of one.
pub(super) static SEVERAL: &[Field] = &[Field::new(
    "value",
    Shape::OneOf(&[Shape::TextOrScalar, Shape::NonEmptyList(&ITEM)]),
    "the texts to look for; a single one is a list of one",
)
.also(&["values"])
.required()];

/// Reads `value` as one text.
pub(super) fn one(options: &mut Options<'_, '_, '_>) -> Option<String> {
    let entry = options.require("value")?;
    Some(options.value_text("value", entry.value)?.value)
}

/// Reads `value` as a list of texts.
pub(super) fn several(options: &mut Options<'_, '_, '_>) -> Option<Vec<String>> {
    let entry = options.require("value")?;
    if !entry.value.is_sequence() {
        return Some(vec![options.value_text("value", entry.value)?.value]);
    }
    if entry.value.items().len() == 0 {
        options.report(
            Diagnostic::new(
                &EMPTY_VALUE,
                entry.value.span(),
                "the list of texts is empty",
            )
            .help("say what to look for"),
        );
        return None;
    }
    let texts: Vec<Option<String>> = entry
        .value
        .items()
        .map(|item| {
            options
                .value_text("an item of value", item)
                .map(|text| text.value)
        })
        .collect();
    texts.into_iter().collect()
}

/// `'a', 'b'`
pub(super) fn quoted(texts: &[String]) -> String {
    texts
        .iter()
        .map(|text| format!("'{text}'"))
        .collect::<Vec<_>>()
        .join(", ")
}
