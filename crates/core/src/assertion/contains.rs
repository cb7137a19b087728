//! `contains`: the output has a text in it.

use super::kind::{AssertionKind, UnknownKeys};
use super::needle;
use super::options::Options;
use super::substring::{Case, Substring};
use crate::model::Check;

pub(super) static KIND: AssertionKind = AssertionKind {
    name: "contains",
    aliases: &[],
    fields: needle::ONE,
    unknown_keys: UnknownKeys::Warn,
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
