//! `icontains`: the output has a text in it, in whatever case.

use super::check::{Check, Kind, Strays};
use super::needle;
use super::options::Options;
use super::substring::{Case, Substring};

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
    Some(Box::new(Substring {
        value: needle::one(options)?,
        case: Case::Ignored,
    }))
}
