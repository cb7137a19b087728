//! `contains`: the output has a text in it.

use crate::model::Map;

use super::check::{Check, Common, Kind, Strays};
use super::needle;
use super::options::Options;

pub(super) static KIND: Kind = Kind {
    name: "contains",
    aliases: &[],
    fields: needle::ONE,
    strays: Strays::Warn,
    takes_config: false,
    doc: "The output contains `value`. Upper and lower case differ, and nothing is trimmed.

```yaml
assert:
  - type: contains
    value: \"$22,500\"
```
",
    read,
};

fn read(options: &mut Options<'_, '_, '_>) -> Option<Box<dyn Check>> {
    Some(Box::new(Contains {
        value: needle::one(options)?,
    }))
}

#[derive(Debug)]
struct Contains {
    value: String,
}

impl Check for Contains {
    fn options(&self) -> Map {
        let mut map = Map::new();
        map.insert("value", self.value.as_str());
        map
    }

    fn sentences(&self, _: &Common) -> Vec<String> {
        vec![format!("Output contains '{}'", self.value)]
    }
}
