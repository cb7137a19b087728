//! `icontains-all`: the output has each of several texts in it, in whatever case.

use super::kind::{AssertionKind, UnknownKeys};
use super::needle;
use super::options::Options;
use super::substring::{Case, Share, Substrings};
use crate::model::Check;

pub(super) static KIND: AssertionKind = AssertionKind {
    name: "icontains-all",
    aliases: &[],
    fields: needle::SEVERAL,
    unknown_keys: UnknownKeys::Warn,
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
    Some(Box::new(Substrings {
        values: needle::several(options)?,
        share: Share::All,
        case: Case::Ignored,
    }))
}
