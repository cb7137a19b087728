//! `icontains-any`: the output has at least one of several texts in it, in whatever case.

use super::kind::{AssertionKind, UnknownKeys};
use super::needle;
use super::options::Options;
use super::substring::{Case, Share, Substrings};
use crate::model::Check;

pub(super) static KIND: AssertionKind = AssertionKind {
    name: "icontains-any",
    aliases: &[],
    fields: needle::SEVERAL,
    unknown_keys: UnknownKeys::Warn,
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
    Some(Box::new(Substrings {
        values: needle::several(options)?,
        share: Share::Any,
        case: Case::Ignored,
    }))
}
