//! `contains-all`: the output has each of several texts in it.

use crate::model::Map;

use super::check::{Check, Common, Kind, Strays};
use super::needle;
use super::options::Options;

pub(super) static KIND: Kind = Kind {
    name: "contains-all",
    aliases: &[],
    fields: needle::SEVERAL,
    strays: Strays::Warn,
    takes_config: false,
    doc: "The output contains every one of the texts. Upper and lower case differ, and there is no score in
between: one text that is missing makes it 0.

```yaml
assert:
  - type: contains-all
    value: [cat, dog]
```
",
    read,
};

fn read(options: &mut Options<'_, '_, '_>) -> Option<Box<dyn Check>> {
    Some(Box::new(ContainsAll {
        values: needle::several(options)?,
    }))
}

#[derive(Debug)]
struct ContainsAll {
    /// Never empty.
    values: Vec<String>,
}

impl Check for ContainsAll {
    fn options(&self) -> Map {
        let mut map = Map::new();
        map.insert("value", self.values.clone());
        map
    }

    fn sentences(&self, _: &Common) -> Vec<String> {
        let values = needle::quoted(&self.values);
        vec![format!("Output contains all of: {values}")]
    }
}
