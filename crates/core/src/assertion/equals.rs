//! `equals`: the output is one text and nothing else.

use crate::model::Map;
use crate::syntax::fields::{Field, Shape};

use super::check::{Check, Common, Kind, Strays};
use super::needle;
use super::options::Options;

static FIELDS: &[Field] =
    &[Field::new("value", Shape::TextOrScalar, "the whole output").required()];

pub(super) static KIND: Kind = Kind {
    name: "equals",
    aliases: &[],
    fields: FIELDS,
    strays: Strays::Warn,
    takes_config: false,
    doc: "The output is `value` and nothing else. Only white space round both is ignored.

```yaml
assert:
  - type: equals
    value: \"42\"
```
",
    read,
};

fn read(options: &mut Options<'_, '_, '_>) -> Option<Box<dyn Check>> {
    Some(Box::new(Equals {
        value: needle::one(options)?,
    }))
}

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

    fn sentences(&self, _: &Common) -> Vec<String> {
        vec![format!("Output exactly equals: {}", self.value)]
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::read;

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
