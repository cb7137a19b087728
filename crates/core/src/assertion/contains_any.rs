//! `contains-any`: the output has at least one of several texts in it.

use super::check::{Check, Kind, Strays};
use super::needle;
use super::options::Options;
use super::substring::{Case, Share, Substrings};

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
    Some(Box::new(Substrings {
        values: needle::several(options)?,
        share: Share::Any,
        case: Case::Counts,
    }))
}
