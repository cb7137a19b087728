//! `latency`: the answer came in time.

use crate::model::{Map, Number};
use crate::syntax::fields::{Field, Shape};

use super::check::{Check, Common, Kind, Strays};
use super::options::Options;

static FIELDS: &[Field] = &[Field::new(
    "threshold",
    Shape::Number {
        min: 0.0,
        max: f64::MAX,
    },
    "most milliseconds that the answer may take",
)
.required()];

pub(super) static KIND: Kind = Kind {
    name: "latency",
    aliases: &[],
    fields: FIELDS,
    strays: Strays::Warn,
    takes_config: false,
    doc: "The answer took at most `threshold` milliseconds.

```yaml
assert:
  - type: latency
    threshold: 2000
```
",
    read,
};

fn read(options: &mut Options<'_, '_, '_>) -> Option<Box<dyn Check>> {
    let entry = options.require("threshold")?;
    Some(Box::new(Latency {
        threshold: options.reader.number(&entry, 0.0, f64::INFINITY)?,
    }))
}

#[derive(Debug)]
struct Latency {
    /// Milliseconds, inclusive.
    threshold: Number,
}

impl Check for Latency {
    fn options(&self) -> Map {
        let mut map = Map::new();
        map.insert("threshold", self.threshold.clone());
        map
    }

    fn sentences(&self, _: &Common) -> Vec<String> {
        vec![format!("Response time under {}ms", self.threshold)]
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::read;

    #[test]
    fn the_number_goes_out_as_written() {
        let found = read("- {type: latency, threshold: 1.50e3}");
        assert_eq!(found.options(), r#"{"threshold":1.50e3}"#);
        assert_eq!(found.sentences(), ["Response time under 1.50e3ms"]);
    }

    #[test]
    fn faults_have_their_names() {
        assert_eq!(read("- {type: latency}").names(), ["missing-option"]);
        let found = read("- {type: latency, threshold: -1}");
        assert_eq!(found.names(), ["out-of-range"]);
        let found = read("- {type: latency, threshold: 2s}");
        assert_eq!(found.names(), ["wrong-type"]);
        let found = read("- {type: latency, threshold: .inf}");
        assert_eq!(found.names(), ["wrong-type"]);
    }
}
