//! `is-json`: the output is a JSON value, and matches a schema.

use camino::Utf8PathBuf;

use crate::model::{
    Check, CommonOptions, Fault, GradingContext, Map, Marks, Score, SearchTime, Step, Value,
};
use crate::syntax::fields::{Field, Shape};

use super::json_schema::{JsonSchema, SCHEMA, read_schema};
use super::kind::AssertionKind;
use super::output_json::{Fences, whole};
use super::subject::FILE;

static FIELDS: &[Field] = &[
    Field::new(
        "allow_fences",
        Shape::Boolean,
        "first strips one Markdown fence around the output; default false",
    ),
    SCHEMA,
    FILE,
];

pub(super) static KIND: AssertionKind = AssertionKind::new(
    "is-json",
    FIELDS,
    |options, _| {
        let fences = options.boolean("allow_fences");
        let schema = read_schema(options)?;
        let fences = match fences? {
            Some(true) => Fences::Stripped,
            Some(false) | None => Fences::Kept,
        };
        Ok(Box::new(IsJson { fences, schema }))
    },
    "The whole output, apart from surrounding white space, is one JSON value of any kind. With
`allow_fences: true` the value may be inside a Markdown fence. `schema` is a JSON Schema (draft 07 or
2020-12) that the value must match, or the path of a `.json` file that contains one.

```yaml
assert:
  - type: is-json
    allow_fences: true
  - type: is-json
    schema: {type: object, required: [total], properties: {total: {type: number}}}
```
",
);

#[derive(Debug)]
struct IsJson {
    fences: Fences,
    schema: Option<JsonSchema>,
}

impl Check for IsJson {
    fn options(&self) -> Map {
        Map::new()
            .with("allow_fences", self.fences == Fences::Stripped)
            .with_some("schema", self.schema.as_ref().map(JsonSchema::to_value))
    }

    fn sentences(&self, common: &CommonOptions) -> Vec<String> {
        vec![format!("{} is valid JSON{}", common.subject(), self.suffix())]
    }

    fn grade(&self, context: &GradingContext<'_>) -> Step {
        let subject = context.subject();
        let value = match whole(context.text(), self.fences) {
            Ok(value) => value,
            Err(reason) => {
                let misses = vec![format!("{subject} is not valid JSON: {reason}")];
                return Marks::new(Score::ZERO, Vec::new(), misses).into();
            }
        };
        let violations = match self.violations(&value, context.options.search_time) {
            Ok(violations) => violations,
            Err(fault) => return fault.into(),
        };
        if violations.is_empty() {
            let hits = vec![format!("{subject} is valid JSON{}", self.suffix())];
            return Marks::new(Score::ONE, hits, Vec::new()).into();
        }
        let misses = violations.iter();
        let misses = misses.map(|one| format!("{subject} does not match the schema {one}"));
        Marks::new(Score::ZERO, Vec::new(), misses.collect()).into()
    }

    fn script_files(&self) -> Vec<Utf8PathBuf> {
        self.schema.iter().filter_map(JsonSchema::path).collect()
    }

    /// A schema is often part of the task.
    fn hidden_files(&self) -> Vec<Utf8PathBuf> {
        Vec::new()
    }

    fn losses(&self, _: &str) -> Vec<(&'static str, String)> {
        let schema = self.schema.as_ref();
        schema.map(|_| ("schema", "the JSON Schema is left out".to_owned())).into_iter().collect()
    }
}

impl IsJson {
    fn suffix(&self) -> String {
        match &self.schema {
            Some(schema) => format!(" that matches {}", schema.shown()),
            None => String::new(),
        }
    }

    fn violations(&self, value: &Value, time: &SearchTime) -> Result<Vec<String>, Fault> {
        match &self.schema {
            Some(schema) => schema.violations(value, time),
            None => Ok(Vec::new()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{marks, read};

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
            ("{'a': 1}", "expected a key in double quotes at line 1, column 2"),
            ("[1]\n[2]", "unexpected text after the JSON value at line 2, column 1"),
            ("\"\\ud800\"", "half of a surrogate pair at line 1, column 2"),
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
        for output in ["1e999999", r#"{"a":1,"a":2}"#, "\"\\ud83d\\ude00\"", "-0.0e-0"] {
            let found = marks("{type: is-json}", output);
            assert_eq!(found.score.value(), 1.0, "{output}");
        }
    }

    #[test]
    fn fences_are_kept_unless_the_author_says_otherwise() {
        assert_eq!(read("- type: is-json").options(), r#"{"allow_fences":false}"#);
        let found = read("- {type: is-json, allow_fences: true}");
        assert_eq!(found.options(), r#"{"allow_fences":true}"#);
        assert_eq!(found.sentences(), ["Output is valid JSON"]);
    }

    #[test]
    fn a_word_is_no_boolean_and_value_is_unknown() {
        let found = read("- {type: is-json, allow_fences: yes}");
        assert_eq!(found.names(), ["wrong-type"]);
        assert_eq!(read("- {type: is-json, value: x}").names(), ["unknown-field"]);
    }
}
