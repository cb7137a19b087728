//! `starts-with`: the output begins with a text.

use crate::model::{Check, CommonOptions, GradingContext, Map, Marks, Step};
use crate::reader::{Options, ReadResult};
use crate::syntax::fields::{Field, Shape};

use super::excerpt::excerpt;
use super::kind::AssertionKind;
use super::text_value::{empty_value, read_text_value};

static FIELDS: &[Field] = &[Field::new(
    "value",
    Shape::TextOrScalar,
    "the text that the output begins with",
)
.required()];

pub(super) static KIND: AssertionKind = AssertionKind::new(
    "starts-with",
    FIELDS,
    |options, _| {
        let value = read_trimmed_value(options)?;
        Ok(Box::new(StartsWith { value }))
    },
    "The output begins with `value`. Surrounding white space is ignored on both sides; case matters.

```yaml
assert:
  - type: starts-with
    value: Dear customer
```
",
);

/// Reads `value` as a text that is compared without the white space around it. Blank text is as
/// useless as empty text: every output begins and ends with it.
pub(super) fn read_trimmed_value(options: &mut Options<'_, '_, '_>) -> ReadResult<String> {
    let span = options.require("value")?.value.span();
    let text = read_text_value(options)?;
    if text.trim().is_empty() {
        let message = "`value` is only white space, which is not compared";
        let help = "write the text that the output must have there";
        return Err(empty_value(options, span, message, help));
    }
    Ok(text)
}

#[derive(Debug)]
struct StartsWith {
    value: String,
}

impl Check for StartsWith {
    fn options(&self) -> Map {
        let mut map = Map::new();
        map.insert("value", self.value.as_str());
        map
    }

    fn sentences(&self, _: &CommonOptions) -> Vec<String> {
        vec![format!("Output starts with '{}'", self.value)]
    }

    fn grade(&self, context: &GradingContext<'_>) -> Step {
        let answer = &context.evidence.transcript.answer;
        let value = excerpt(&self.value);
        Marks::when(
            answer.trim().starts_with(self.value.trim()),
            || format!("Output starts with '{value}'"),
            || format!("Output does not start with '{value}'"),
        )
        .into()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{marks, read};

    #[test]
    fn both_ends_of_the_trimmed_output_are_compared() {
        for (kind, value, output, text) in [
            ("starts-with", "Hello", "  Hello Bob\n", Ok("starts with")),
            ("ends-with", "Bob", "  Hello Bob\n", Ok("ends with")),
            (
                "starts-with",
                "Hello",
                "Oh, Hello Bob!",
                Err("does not start with"),
            ),
            (
                "ends-with",
                "Bob",
                "Oh, Hello Bob!",
                Err("does not end with"),
            ),
            ("starts-with", " Hello ", "Hello", Ok("starts with")),
            ("ends-with", " Hello ", "Hello", Ok("ends with")),
            ("starts-with", "hello", "Hello", Err("does not start with")),
            ("starts-with", "x", "", Err("does not start with")),
            ("ends-with", "x", "", Err("does not end with")),
            ("ends-with", "é", "Café\u{a0}", Ok("ends with")),
        ] {
            let found = marks(&format!("{{type: {kind}, value: '{value}'}}"), output);
            let sentence = |text: &str| vec![format!("Output {text} '{value}'")];
            let (score, hits, misses) = match text {
                Ok(text) => (1.0, sentence(text), Vec::new()),
                Err(text) => (0.0, Vec::new(), sentence(text)),
            };
            assert_eq!(found.score.value(), score, "{kind} {value} on {output}");
            assert_eq!((found.hits, found.misses), (hits, misses));
        }
    }

    #[test]
    fn a_value_that_trimming_empties_is_an_error() {
        for kind in ["starts-with", "ends-with"] {
            let found = read(&format!("- {{type: {kind}, value: '  '}}"));
            assert_eq!(found.names(), ["empty-value"], "{kind}");
        }
    }

    #[test]
    fn the_value_is_kept_as_written() {
        let found = read("- {type: starts-with, value: ' Hello '}");
        assert_eq!(found.options(), r#"{"value":" Hello "}"#);
        assert_eq!(found.sentences(), ["Output starts with ' Hello '"]);
    }
}
