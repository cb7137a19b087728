//! `ends-with`: the output ends with a text.

use crate::model::{Check, CommonOptions, GradingContext, Map, Marks, Step};
use crate::syntax::fields::{Field, Shape};

use super::excerpt::excerpt;
use super::kind::AssertionKind;
use super::starts_with::read_trimmed_value;

static FIELDS: &[Field] = &[Field::new(
    "value",
    Shape::TextOrScalar,
    "the text that the output ends with",
)
.required()];

pub(super) static KIND: AssertionKind = AssertionKind::new(
    "ends-with",
    FIELDS,
    |options, _| {
        let value = read_trimmed_value(options)?;
        Ok(Box::new(EndsWith { value }))
    },
    "The output ends with `value`. Surrounding white space is ignored on both sides; case matters.

```yaml
assert:
  - type: ends-with
    value: Kind regards
```
",
);

#[derive(Debug)]
struct EndsWith {
    value: String,
}

impl Check for EndsWith {
    fn options(&self) -> Map {
        let mut map = Map::new();
        map.insert("value", self.value.as_str());
        map
    }

    fn sentences(&self, _: &CommonOptions) -> Vec<String> {
        vec![format!("Output ends with '{}'", self.value)]
    }

    fn grade(&self, context: &GradingContext<'_>) -> Step {
        let answer = &context.evidence.transcript.answer;
        let value = excerpt(&self.value);
        Marks::when(
            answer.trim().ends_with(self.value.trim()),
            || format!("Output ends with '{value}'"),
            || format!("Output does not end with '{value}'"),
        )
        .into()
    }
}
