//! `icontains-any`: the output has at least one of several texts in it, in whatever case.

use crate::model::Map;

use super::check::{Check, Common, Kind, Strays};
use super::needle;
use super::options::Options;

pub(super) static KIND: Kind = Kind {
    name: "icontains-any",
    aliases: &[],
    fields: needle::SEVERAL,
    strays: Strays::Warn,
    takes_config: false,
    doc: "The output contains at least one of the texts, upper and lower case being the same.

```yaml
assert:
  - type: icontains-any
    value: [refund, money back]
```
",
    read,
};

fn read(options: &mut Options<'_, '_, '_>) -> Option<Box<dyn Check>> {
    Some(Box::new(IcontainsAny {
        values: needle::several(options)?,
    }))
}

#[derive(Debug)]
struct IcontainsAny {
    /// Never empty.
    values: Vec<String>,
}

impl Check for IcontainsAny {
    fn options(&self) -> Map {
        let mut map = Map::new();
        map.insert("value", self.values.clone());
        map
    }

    fn sentences(&self, _: &Common) -> Vec<String> {
        let values = needle::quoted(&self.values);
        vec![format!("Output contains any of: {values} (ignoring case)")]
    }
}
