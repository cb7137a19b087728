//! `icontains-all`: the output has each of several texts in it, in whatever case.

use crate::model::Map;

use super::check::{Check, Common, Kind, Strays};
use super::needle;
use super::options::Options;

pub(super) static KIND: Kind = Kind {
    name: "icontains-all",
    aliases: &[],
    fields: needle::SEVERAL,
    strays: Strays::Warn,
    takes_config: false,
    doc: "The output contains every one of the texts, upper and lower case being the same.

```yaml
assert:
  - type: icontains-all
    value: [name, address]
```
",
    read,
};

fn read(options: &mut Options<'_, '_, '_>) -> Option<Box<dyn Check>> {
    Some(Box::new(IcontainsAll {
        values: needle::several(options)?,
    }))
}

#[derive(Debug)]
struct IcontainsAll {
    /// Never empty.
    values: Vec<String>,
}

impl Check for IcontainsAll {
    fn options(&self) -> Map {
        let mut map = Map::new();
        map.insert("value", self.values.clone());
        map
    }

    fn sentences(&self, _: &Common) -> Vec<String> {
        let values = needle::quoted(&self.values);
        vec![format!("Output contains all of: {values} (ignoring case)")]
    }
}
