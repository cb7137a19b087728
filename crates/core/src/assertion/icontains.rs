//! `icontains`: the output has a text in it, in whatever case.

use super::kind::{AssertionKind, UnknownKeys};
use super::needle;
use super::options::Options;
use super::substring::{Case, Substring};
use crate::model::Check;

pub(super) static KIND: AssertionKind = AssertionKind {
    name: "icontains",
    aliases: &[],
    fields: needle::ONE,
    unknown_keys: UnknownKeys::Warn,
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
