//! `equals`: the output is one text and nothing else.

use crate::model::{Check, CommonOptions, GradingContext, Map, Marks, Step};
use crate::syntax::fields::{Field, Shape};

use super::excerpt::excerpt;
use super::kind::AssertionKind;
use super::text_value::read_text_value;

static FIELDS: &[Field] =
    &[Field::new("value", Shape::TextOrScalar, "the whole output").required()];

pub(super) static KIND: AssertionKind = AssertionKind::new(
    "equals",
    FIELDS,
    |options, _| {
        let value = read_text_value(options)?;
        Ok(Box::new(Equals { value }))
    },
    "The output is `value` and nothing else. Only surrounding white space is ignored, on both sides.

```yaml
assert:
  - type: equals
    value: \"42\"
```
",
);

#[derive(Debug)]
struct Equals {
    value: String,
}

impl Check for Equals {
    fn options(&self) -> Map {
        let mut map = Map::new();
        map.insert("value", self.value.as_str());
        map
    }

    fn sentences(&self, _: &CommonOptions) -> Vec<String> {
        vec![format!("Output exactly equals: {}", self.value)]
    }

    fn grade(&self, context: &GradingContext<'_>) -> Step {
        let answer = &context.evidence.transcript.answer;
        let value = excerpt(&self.value);
        Marks::when(
            answer.trim() == self.value.trim(),
            || format!("Output exactly equals: {value}"),
            || format!("Output differs from: {value}"),
        )
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
        for (output, holds) in [
            (" 42\n", true),
            ("42.", false),
            ("", false),
            ("4 2", false),
            ("\u{2003}42", true),
        ] {
            let found = marks("{type: equals, value: '42'}", output);
            assert_eq!(found.score.value(), f64::from(u8::from(holds)), "{output}");
            if holds {
                assert_eq!(found.hits, hit)
            } else {
                assert_eq!(found.misses, miss)
            }
        }
    }

    #[test]
    fn a_long_value_is_cut_where_it_is_quoted() {
        let found = marks(&format!("{{type: equals, value: {}}}", "x".repeat(300)), "");
        assert_eq!(
            found.misses,
            [format!("Output differs from: {}…", "x".repeat(200))]
        );
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
}
