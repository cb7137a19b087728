//! `is-json`: the output is a JSON value.

use crate::model::Map;
use crate::syntax::fields::{Field, Shape};

use super::check::{Check, Common, Kind, Strays};
use super::optional::optional;
use super::options::Options;

static FIELDS: &[Field] = &[Field::new(
    "allow_fences",
    Shape::Boolean,
    "first strips one Markdown fence round the output; default false",
)];

pub(super) static KIND: Kind = Kind {
    name: "is-json",
    aliases: &[],
    fields: FIELDS,
    strays: Strays::Warn,
    takes_config: false,
    doc: "The whole output, apart from white space round it, is one JSON value of any kind. With
`allow_fences: true` the value may stand in a Markdown fence.

```yaml
assert:
  - type: is-json
    allow_fences: true
```
",
    read,
};

fn read(options: &mut Options<'_, '_, '_>) -> Option<Box<dyn Check>> {
    let allowed = optional(
        options.reader,
        options.fields,
        "allow_fences",
        |reader, entry| reader.boolean(entry),
    )?;
    let fences = match allowed {
        Some(true) => Fences::Stripped,
        Some(false) | None => Fences::Kept,
    };
    Some(Box::new(IsJson { fences }))
}

/// What happens to a Markdown fence round the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fences {
    Kept,
    Stripped,
}

#[derive(Debug)]
struct IsJson {
    fences: Fences,
}

impl Check for IsJson {
    fn options(&self) -> Map {
        let mut map = Map::new();
        map.insert("allow_fences", self.fences == Fences::Stripped);
        map
    }

    fn sentences(&self, _: &Common) -> Vec<String> {
        vec!["Output is valid JSON".to_owned()]
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::read;

    #[test]
    fn fences_are_kept_unless_the_author_says_otherwise() {
        assert_eq!(
            read("- type: is-json").options(),
            r#"{"allow_fences":false}"#
        );
        let found = read("- {type: is-json, allow_fences: true}");
        assert_eq!(found.options(), r#"{"allow_fences":true}"#);
        assert_eq!(found.sentences(), ["Output is valid JSON"]);
    }

    #[test]
    fn a_word_is_no_boolean_and_value_is_unknown() {
        let found = read("- {type: is-json, allow_fences: yes}");
        assert_eq!(found.names(), ["wrong-type"]);
        assert_eq!(
            read("- {type: is-json, value: x}").names(),
            ["unknown-field"]
        );
    }
}
