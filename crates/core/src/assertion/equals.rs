//! `equals`, `starts-with` and `ends-with`: the output is compared with one text, without the white
//! space around either.

use crate::model::{Check, CommonOptions, GradingContext, Map, Marks, Step, SubjectName};
use crate::reader::{Options, ReadResult};
use crate::syntax::fields::{Field, Shape};

use super::excerpt::excerpt;
use super::kind::AssertionKind;
use super::subject::FILE;
use super::text_value::{empty_value, read_text_value};

const fn value_field(doc: &'static str) -> Field {
    Field::new("value", Shape::TextOrScalar, doc).required()
}

pub(super) static EQUALS: AssertionKind = AssertionKind::new(
    "equals",
    &[value_field("the whole output"), FILE],
    |options, _| {
        let value = read_text_value(options)?;
        let part = OutputPart::Whole;
        Ok(Box::new(TextComparison { part, value }))
    },
    "The output is `value` and nothing else. Only surrounding white space is ignored, on both sides.

```yaml
assert:
  - type: equals
    value: \"42\"
```
",
);

pub(super) static STARTS_WITH: AssertionKind = AssertionKind::new(
    "starts-with",
    &[value_field("the text that the output begins with"), FILE],
    |options, _| read_end(options, OutputPart::Start),
    "The output begins with `value`. Surrounding white space is ignored on both sides; case matters.

```yaml
assert:
  - type: starts-with
    value: Dear customer
```
",
);

pub(super) static ENDS_WITH: AssertionKind = AssertionKind::new(
    "ends-with",
    &[value_field("the text that the output ends with"), FILE],
    |options, _| read_end(options, OutputPart::End),
    "The output ends with `value`. Surrounding white space is ignored on both sides; case matters.

```yaml
assert:
  - type: ends-with
    value: Kind regards
```
",
);

/// Blank text is as useless as empty text: every output begins and ends with it.
fn read_end(options: &mut Options<'_, '_, '_>, part: OutputPart) -> ReadResult<Box<dyn Check>> {
    let span = options.require("value")?.value.span();
    let value = read_text_value(options)?;
    if value.trim().is_empty() {
        let message = "`value` is only white space, which is not compared";
        let help = "write the text that the output must have there";
        return Err(empty_value(options, span, message, help));
    }
    Ok(Box::new(TextComparison { part, value }))
}

/// The part of the output that is compared.
#[derive(Debug, Clone, Copy)]
enum OutputPart {
    Whole,
    Start,
    End,
}

impl OutputPart {
    fn hit(self, subject: SubjectName<'_>, value: &str) -> String {
        match self {
            Self::Whole => format!("{subject} exactly equals: {value}"),
            Self::Start => format!("{subject} starts with '{value}'"),
            Self::End => format!("{subject} ends with '{value}'"),
        }
    }

    fn miss(self, subject: SubjectName<'_>, value: &str) -> String {
        match self {
            Self::Whole => format!("{subject} differs from: {value}"),
            Self::Start => format!("{subject} does not start with '{value}'"),
            Self::End => format!("{subject} does not end with '{value}'"),
        }
    }
}

#[derive(Debug)]
struct TextComparison {
    part: OutputPart,
    value: String,
}

impl Check for TextComparison {
    fn options(&self) -> Map {
        Map::new().with("value", self.value.as_str())
    }

    fn sentences(&self, common: &CommonOptions) -> Vec<String> {
        vec![self.part.hit(common.subject(), &self.value)]
    }

    fn grade(&self, context: &GradingContext<'_>) -> Step {
        let (subject, output) = (context.subject(), context.text().trim());
        let (value, shown) = (self.value.trim(), excerpt(&self.value));
        let holds = match self.part {
            OutputPart::Whole => output == value,
            OutputPart::Start => output.starts_with(value),
            OutputPart::End => output.ends_with(value),
        };
        Marks::when(holds, || self.part.hit(subject, &shown), || self.part.miss(subject, &shown))
            .into()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{marks, read};

    #[test]
    fn only_white_space_round_the_output_is_ignored() {
        let hit = ["Output exactly equals: 42"];
        let miss = ["Output differs from: 42"];
        for (output, holds) in
            [(" 42\n", true), ("42.", false), ("", false), ("4 2", false), ("\u{2003}42", true)]
        {
            let found = marks("{type: equals, value: '42'}", output);
            assert_eq!(found.score.value(), f64::from(u8::from(holds)), "{output}");
            if holds { assert_eq!(found.hits, hit) } else { assert_eq!(found.misses, miss) }
        }
    }

    #[test]
    fn a_long_value_is_cut_where_it_is_quoted() {
        let found = marks(&format!("{{type: equals, value: {}}}", "x".repeat(300)), "");
        assert_eq!(found.misses, [format!("Output differs from: {}…", "x".repeat(200))]);
    }

    #[test]
    fn a_number_is_compared_as_its_source_text() {
        let found = read("- {type: equals, value: 1.50}");
        assert_eq!(found.names(), ["value-not-string"]);
        assert_eq!(found.sentences(), ["Output exactly equals: 1.50"]);
    }

    #[test]
    fn a_list_is_the_wrong_type() {
        let found = read("- {type: equals, value: [a, b]}");
        assert_eq!(found.names(), ["wrong-type"]);
        assert_eq!(found.marked(), ["[a, b]"]);
    }

    #[test]
    fn both_ends_of_the_trimmed_output_are_compared() {
        for (kind, value, output, text) in [
            ("starts-with", "Hello", "  Hello Bob\n", Ok("starts with")),
            ("ends-with", "Bob", "  Hello Bob\n", Ok("ends with")),
            ("starts-with", "Hello", "Oh, Hello Bob!", Err("does not start with")),
            ("ends-with", "Bob", "Oh, Hello Bob!", Err("does not end with")),
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
