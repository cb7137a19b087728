//! `ends-with`: the output ends with a text.

use crate::model::{Check, CommonOptions, GradingContext, Map, Marks, Step};
use crate::syntax::fields::{Field, Shape};

use super::excerpt::excerpt;
use super::kind::{AssertionKind, UnknownKeys};
use super::options::Options;
use super::starts_with;

static FIELDS: &[Field] = &[Field::new(
    "value",
    Shape::TextOrScalar,
    "the text that the output ends with",
)
.required()];

pub(super) static KIND: AssertionKind = AssertionKind {
    name: "ends-with",
    aliases: &[],
    fields: FIELDS,
    unknown_keys: UnknownKeys::Warn,
    takes_config: false,
    doc: "The output ends with `value`. White space round both is ignored; upper and lower case differ.

```yaml
assert:
  - type: ends-with
    value: Kind regards
```
",
    read,
};

fn read(options: &mut Options<'_, '_, '_>) -> Option<Box<dyn Check>> {
    Some(Box::new(EndsWith {
        value: starts_with::edge(options)?,
    }))
}

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
