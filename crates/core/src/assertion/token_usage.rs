//! `token-usage`: the answer took no more tokens than allowed.

use crate::model::Map;
use crate::syntax::fields::{Field, Shape};

use super::check::{Check, Common, Kind, Strays};
use super::execution_metrics::no_limits;
use super::optional::optional;
use super::options::Options;

const COUNT: Shape = Shape::Integer {
    min: 0,
    max: u64::MAX,
};

static FIELDS: &[Field] = &[
    Field::new("max_total", COUNT, "most tokens, input and output together"),
    Field::new(
        "max_input",
        COUNT,
        "most input tokens, cached ones included",
    ),
    Field::new(
        "max_output",
        COUNT,
        "most output tokens, reasoning included",
    ),
];

pub(super) static KIND: Kind = Kind {
    name: "token-usage",
    aliases: &[],
    fields: FIELDS,
    strays: Strays::Warn,
    takes_config: false,
    doc: "The answer took at most so many tokens. At least one of the limits is needed, and all that are
given must hold.

```yaml
assert:
  - type: token-usage
    max_total: 2000
    max_output: 500
```
",
    read,
};

fn read(options: &mut Options<'_, '_, '_>) -> Option<Box<dyn Check>> {
    let mut limit = |name| {
        optional(options.reader, options.fields, name, |reader, entry| {
            reader.integer(entry, 0, u64::MAX)
        })
    };
    let (total, input, output) = (limit("max_total"), limit("max_input"), limit("max_output"));
    let usage = TokenUsage {
        max_total: total?,
        max_input: input?,
        max_output: output?,
    };
    if usage.options().is_empty() {
        no_limits(options, "`max_total`, `max_input` or `max_output`");
        return None;
    }
    Some(Box::new(usage))
}

/// Inclusive limits, of which there is at least one.
#[derive(Debug)]
struct TokenUsage {
    max_total: Option<u64>,
    max_input: Option<u64>,
    max_output: Option<u64>,
}

impl Check for TokenUsage {
    fn options(&self) -> Map {
        let mut map = Map::new();
        map.insert_some("max_total", self.max_total);
        map.insert_some("max_input", self.max_input);
        map.insert_some("max_output", self.max_output);
        map
    }

    fn sentences(&self, _: &Common) -> Vec<String> {
        vec!["Token usage within limits".to_owned()]
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::read;

    #[test]
    fn a_limit_of_zero_is_a_limit() {
        let found = read("- {type: token-usage, max_output: 0}");
        assert_eq!(found.options(), r#"{"max_output":0}"#);
        assert_eq!(found.sentences(), ["Token usage within limits"]);
    }

    #[test]
    fn faults_have_their_names() {
        assert_eq!(read("- {type: token_usage}").names(), ["no-limits"]);
        let found = read("- {type: token-usage, max_total: 1.5, max_input: -1}");
        assert_eq!(found.names(), ["wrong-type", "out-of-range"]);
    }
}
