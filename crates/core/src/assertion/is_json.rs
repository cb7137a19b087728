//! `is-json`: the output is a JSON value.

use crate::model::{Check, CommonOptions, GradingContext, Map, Marks, Score, Step};
use crate::syntax::fields::{Field, Shape};

use super::kind::{AssertionKind, UnknownKeys};
use super::optional::optional;
use super::options::Options;
use super::output_json::{Fences, whole};

static FIELDS: &[Field] = &[Field::new(
    "allow_fences",
    Shape::Boolean,
    "first strips one Markdown fence round the output; default false",
)];

pub(super) static KIND: AssertionKind = AssertionKind {
    name: "is-json",
    aliases: &[],
    fields: FIELDS,
    unknown_keys: UnknownKeys::Warn,
    takes_config: false,
    doc: "The whole output, apart from white space round it, is one JSON value of any kind. With
`allow_fences: true` the value may stand in a Markdown fence.

```yaml
assert:
  - type: is-json
    allow_fences: true
```
",
    read,
};

fn read(options: &mut Options<'_, '_, '_>) -> Option<Box<dyn Check>> {
    let allowed = optional(
        options.reader,
        options.fields,
        "allow_fences",
        |reader, entry| reader.boolean(entry),
    )?;
    let fences = match allowed {
        Some(true) => Fences::Stripped,
        Some(false) | None => Fences::Kept,
    };
    Some(Box::new(IsJson { fences }))
}

#[derive(Debug)]
struct IsJson {
    fences: Fences,
}

impl Check for IsJson {
    fn options(&self) -> Map {
        let mut map = Map::new();
        map.insert("allow_fences", self.fences == Fences::Stripped);
        map
    }

    fn sentences(&self, _: &CommonOptions) -> Vec<String> {
        vec!["Output is valid JSON".to_owned()]
    }

    fn grade(&self, context: &GradingContext<'_>) -> Step {
        let (score, hits, misses) = match whole(&context.evidence.transcript.answer, self.fences) {
            Ok(_) => (
                Score::ONE,
                vec!["Output is valid JSON".to_owned()],
                Vec::new(),
            ),
            Err(reason) => {
                let miss = format!("Output is not valid JSON: {reason}");
                (Score::ZERO, Vec::new(), vec![miss])
            }
        };
        Marks::new(score, hits, misses).into()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::read;
    use super::super::trial::marks;

    #[test]
    fn the_examples_of_the_format() {
        let fenced = "```json\n{\"a\":1}\n```";
        for (options, output, score) in [
            ("", "{\"a\":1}", 1.0),
            ("", "42", 1.0),
            ("", "", 0.0),
            ("", fenced, 0.0),
            (", allow_fences: true", fenced, 1.0),
            (", allow_fences: true", "42", 1.0),
        ] {
            let found = marks(&format!("{{type: is-json{options}}}"), output);
            assert_eq!(found.score.value(), score, "{options} {output}");
            if score > 0.0 {
                assert_eq!(found.hits, ["Output is valid JSON"]);
            }
        }
    }

    #[test]
    fn the_miss_says_what_is_wrong_and_where() {
        for (output, miss) in [
            ("", "it is empty"),
            ("Sure!", "expected a JSON value at line 1, column 1"),
            (
                "{'a': 1}",
                "expected a key in double quotes at line 1, column 2",
            ),
            (
                "[1]\n[2]",
                "there is text behind the JSON value at line 2, column 1",
            ),
            (
                "\"\\ud800\"",
                "half of a surrogate pair at line 1, column 2",
            ),
            ("[\"\\x\"]", "unknown escape at line 1, column 3"),
            ("NaN", "expected a JSON value at line 1, column 1"),
        ] {
            let found = marks("{type: is-json}", output);
            assert_eq!(found.misses, [format!("Output is not valid JSON: {miss}")]);
        }
    }

    #[test]
    fn hostile_outputs_are_judged_too() {
        let deep = "[".repeat(1_000_000);
        let found = marks("{type: is-json}", &deep);
        assert_eq!(
            found.misses,
            ["Output is not valid JSON: it is nested deeper than 128 levels at line 1, column 129"]
        );
        for output in [
            "1e999999",
            r#"{"a":1,"a":2}"#,
            "\"\\ud83d\\ude00\"",
            "-0.0e-0",
        ] {
            let found = marks("{type: is-json}", output);
            assert_eq!(found.score.value(), 1.0, "{output}");
        }
    }

    #[test]
    fn fences_are_kept_unless_the_author_says_otherwise() {
        assert_eq!(
            read("- type: is-json").options(),
            r#"{"allow_fences":false}"#
        );
        let found = read("- {type: is-json, allow_fences: true}");
        assert_eq!(found.options(), r#"{"allow_fences":true}"#);
        assert_eq!(found.sentences(), ["Output is valid JSON"]);
    }

    #[test]
    fn a_word_is_no_boolean_and_value_is_unknown() {
        let found = read("- {type: is-json, allow_fences: yes}");
        assert_eq!(found.names(), ["wrong-type"]);
        assert_eq!(
            read("- {type: is-json, value: x}").names(),
            ["unknown-field"]
        );
    }
}
