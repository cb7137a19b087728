//! `contains`: the output has a text in it.

use super::check::{Check, Kind, Strays};
use super::needle;
use super::options::Options;
use super::substring::{Case, Substring};

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
    Some(Box::new(Substring {
        value: needle::one(options)?,
        case: Case::Counts,
    }))
}
