//! `contains-all`: the output has each of several texts in it.

use super::kind::{AssertionKind, UnknownKeys};
use super::needle;
use super::options::Options;
use super::substring::{Case, Share, Substrings};
use crate::model::Check;

pub(super) static KIND: AssertionKind = AssertionKind {
    name: "contains-all",
    aliases: &[],
    fields: needle::SEVERAL,
    unknown_keys: UnknownKeys::Warn,
    takes_config: false,
    doc: "The output contains every one of the texts. Upper and lower case differ, and there is no score in
between: one text that is missing makes it 0.

```yaml
assert:
  - type: contains-all
    value: [cat, dog]
```
",
    read,
};

fn read(options: &mut Options<'_, '_, '_>) -> Option<Box<dyn Check>> {
    Some(Box::new(Substrings {
        values: needle::several(options)?,
        share: Share::All,
        case: Case::Counts,
    }))
}
