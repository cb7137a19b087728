//! `cost`: the answer stayed within a budget.

use crate::model::{Map, Number};
use crate::syntax::fields::{Field, Shape};

use super::check::{Check, Common, Kind, Strays};
use super::options::Options;

static FIELDS: &[Field] = &[Field::new(
    "budget",
    Shape::Number {
        min: 0.0,
        max: f64::MAX,
    },
    "most US dollars that the answer may cost",
)
.required()];

pub(super) static KIND: Kind = Kind {
    name: "cost",
    aliases: &[],
    fields: FIELDS,
    strays: Strays::Warn,
    takes_config: false,
    doc: "The answer cost at most `budget` US dollars.

```yaml
assert:
  - type: cost
    budget: 0.10
```
",
    read,
};

fn read(options: &mut Options<'_, '_, '_>) -> Option<Box<dyn Check>> {
    let entry = options.require("budget")?;
    Some(Box::new(Cost {
        budget: options.reader.number(&entry, 0.0, f64::INFINITY)?,
    }))
}

#[derive(Debug)]
struct Cost {
    /// US dollars, inclusive.
    budget: Number,
}

impl Check for Cost {
    fn options(&self) -> Map {
        let mut map = Map::new();
        map.insert("budget", self.budget.clone());
        map
    }

    fn sentences(&self, _: &Common) -> Vec<String> {
        vec![format!("Cost under ${}", self.budget)]
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::read;

    #[test]
    fn the_number_goes_out_as_written() {
        let found = read("- {type: cost, budget: 0.10}");
        assert_eq!(found.sentences(), ["Cost under $0.10"]);
        assert_eq!(found.options(), r#"{"budget":0.10}"#);
    }

    #[test]
    fn a_budget_is_needed_and_not_negative() {
        assert_eq!(read("- {type: cost}").names(), ["missing-option"]);
        assert_eq!(
            read("- {type: cost, budget: -0.1}").names(),
            ["out-of-range"]
        );
    }
}
