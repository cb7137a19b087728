//! `icontains`: the output has a text in it, in whatever case.

use crate::model::Map;

use super::check::{Check, Common, Kind, Strays};
use super::needle;
use super::options::Options;

pub(super) static KIND: Kind = Kind {
    name: "icontains",
    aliases: &[],
    fields: needle::ONE,
    strays: Strays::Warn,
    takes_config: false,
    doc: "The output contains `value`, upper and lower case being the same. Both sides are lower-cased as
Unicode says, so `straße` is not found in `STRASSE`.

```yaml
assert:
  - type: icontains
    value: alice
```
",
    read,
};

fn read(options: &mut Options<'_, '_, '_>) -> Option<Box<dyn Check>> {
    Some(Box::new(Icontains {
        value: needle::one(options)?,
    }))
}

#[derive(Debug)]
struct Icontains {
    value: String,
}

impl Check for Icontains {
    fn options(&self) -> Map {
        let mut map = Map::new();
        map.insert("value", self.value.as_str());
        map
    }

    fn sentences(&self, _: &Common) -> Vec<String> {
        vec![format!("Output contains '{}' (ignoring case)", self.value)]
    }
}
