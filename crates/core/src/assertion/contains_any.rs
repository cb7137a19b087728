//! `contains-any`: the output has at least one of several texts in it.

use crate::model::Map;

use super::check::{Check, Common, Kind, Strays};
use super::needle;
use super::options::Options;

pub(super) static KIND: Kind = Kind {
    name: "contains-any",
    aliases: &[],
    fields: needle::SEVERAL,
    strays: Strays::Warn,
    takes_config: false,
    doc: "The output contains at least one of the texts. Upper and lower case differ.

```yaml
assert:
  - type: contains-any
    value: [cat, dog]
```
",
    read,
};

fn read(options: &mut Options<'_, '_, '_>) -> Option<Box<dyn Check>> {
    Some(Box::new(ContainsAny {
        values: needle::several(options)?,
    }))
}

#[derive(Debug)]
struct ContainsAny {
    /// Never empty.
    values: Vec<String>,
}

impl Check for ContainsAny {
    fn options(&self) -> Map {
        let mut map = Map::new();
        map.insert("value", self.values.clone());
        map
    }

    fn sentences(&self, _: &Common) -> Vec<String> {
        let values = needle::quoted(&self.values);
        vec![format!("Output contains any of: {values}")]
    }
}
