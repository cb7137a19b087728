//! `starts-with`: the output begins with a text.

use crate::diagnostic::Diagnostic;
use crate::model::Map;
use crate::syntax::fields::{Field, Shape};

use super::check::{Check, Common, Kind, Strays};
use super::needle::EMPTY_VALUE;
use super::options::Options;

static FIELDS: &[Field] = &[Field::new(
    "value",
    Shape::TextOrScalar,
    "the text that the output begins with",
)
.required()];

pub(super) static KIND: Kind = Kind {
    name: "starts-with",
    aliases: &[],
    fields: FIELDS,
    strays: Strays::Warn,
    takes_config: false,
    doc: "The output begins with `value`. White space round both is ignored; upper and lower case differ.

```yaml
assert:
  - type: starts-with
    value: Dear customer
```
",
    read,
};

fn read(options: &mut Options<'_, '_, '_>) -> Option<Box<dyn Check>> {
    Some(Box::new(StartsWith {
        value: edge(options)?,
    }))
}

/// Reads `value` as a text that is compared without the white space round it. A blank one is as
/// good as empty: every output begins and ends with it.
pub(super) fn edge(options: &mut Options<'_, '_, '_>) -> Option<String> {
    let entry = options.require("value")?;
    let text = options.value_text("value", entry.value)?;
    if text.value.trim().is_empty() {
        let message = "`value` is only white space, which is not compared";
        options.report(
            Diagnostic::new(&EMPTY_VALUE, text.span, message)
                .help("write the text that the output must have there"),
        );
        return None;
    }
    Some(text.value)
}

#[derive(Debug)]
struct StartsWith {
    value: String,
}

impl Check for StartsWith {
    fn options(&self) -> Map {
        let mut map = Map::new();
        map.insert("value", self.value.as_str());
        map
    }

    fn sentences(&self, _: &Common) -> Vec<String> {
        vec![format!("Output starts with '{}'", self.value)]
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::read;

    #[test]
    fn a_value_that_trimming_empties_is_an_error() {
        for kind in ["starts-with", "ends-with"] {
            let found = read(&format!("- {{type: {kind}, value: '  '}}"));
            assert_eq!(found.names(), ["empty-value"], "{kind}");
        }
    }

    #[test]
    fn the_value_is_kept_as_written() {
        let found = read("- {type: starts-with, value: ' Hello '}");
        assert_eq!(found.options(), r#"{"value":" Hello "}"#);
        assert_eq!(found.sentences(), ["Output starts with ' Hello '"]);
    }
}
