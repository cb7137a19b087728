//! `contains-any`: the output has at least one of several texts in it.

use super::kind::{AssertionKind, UnknownKeys};
use super::needle;
use super::options::Options;
use super::substring::{Case, Share, Substrings};
use crate::model::Check;

pub(super) static KIND: AssertionKind = AssertionKind {
    name: "contains-any",
    aliases: &[],
    fields: needle::SEVERAL,
    unknown_keys: UnknownKeys::Warn,
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
