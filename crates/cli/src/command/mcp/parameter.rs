//! What the tools accept: tables of parameters, from which schemas are made and arguments are read.

use evalrig_core::diagnostic::did_you_mean;
use serde_json::{Map, Value, json};

/// One parameter of a tool.
#[derive(Debug)]
pub struct ToolParameter {
    pub name: &'static str,
    pub shape: ParameterShape,
    pub doc: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterShape {
    Text,
    /// A single text is a list of one.
    Texts,
    Flag,
    /// A whole number from 1 to this one.
    Count(u64),
    /// A number above 0.
    Amount,
}

/// The most texts in a list, and the most bytes of a text.
const MOST_TEXTS: usize = 100;
const LONGEST_TEXT: usize = 4096;

/// The JSON Schema of a tool's arguments.
pub fn schema(parameters: &[ToolParameter]) -> Map<String, Value> {
    let properties: Map<String, Value> = parameters
        .iter()
        .map(|one| {
            let mut value = match one.shape {
                ParameterShape::Text => json!({"type": "string"}),
                ParameterShape::Texts => json!({"type": "array", "items": {"type": "string"}}),
                ParameterShape::Flag => json!({"type": "boolean"}),
                ParameterShape::Count(most) => {
                    json!({"type": "integer", "minimum": 1, "maximum": most})
                }
                ParameterShape::Amount => json!({"type": "number", "exclusiveMinimum": 0}),
            };
            value["description"] = one.doc.into();
            (one.name.to_owned(), value)
        })
        .collect();
    let mut schema = Map::new();
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), properties.into());
    schema.insert("additionalProperties".to_owned(), false.into());
    schema
}

/// Arguments whose names and types fit the parameters.
#[derive(Debug)]
pub struct ToolArguments(Map<String, Value>);

impl ToolArguments {
    /// An unknown argument is refused: ignoring it would run something else than was asked for.
    pub fn read(
        parameters: &[ToolParameter],
        mut values: Map<String, Value>,
    ) -> Result<Self, String> {
        values.retain(|_, value| !value.is_null());
        for (name, value) in &values {
            let known = parameters.iter().map(|one| one.name);
            let Some(parameter) = parameters.iter().find(|one| one.name == name) else {
                return Err(match did_you_mean(name, known.clone()) {
                    Some(near) => format!("unknown argument `{name}`; did you mean `{near}`?"),
                    None => {
                        let known: Vec<&str> = known.collect();
                        format!("unknown argument `{name}`; known are {}", known.join(", "))
                    }
                });
            };
            if let Some(expected) = parameter.shape.objection(value) {
                return Err(format!("argument `{name}`: expected {expected}"));
            }
        }
        Ok(Self(values))
    }

    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str()
    }

    pub fn texts(&self, name: &str) -> Vec<&str> {
        match self.0.get(name) {
            Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).collect(),
            Some(Value::String(text)) => vec![text],
            _ => Vec::new(),
        }
    }

    pub fn is_set(&self, name: &str) -> bool {
        self.0.get(name).and_then(Value::as_bool).unwrap_or(false)
    }

    /// A number as it was written.
    pub fn number(&self, name: &str) -> Option<String> {
        Some(self.0.get(name)?.as_number()?.to_string())
    }

    pub fn count(&self, name: &str) -> Option<usize> {
        usize::try_from(self.0.get(name)?.as_u64()?).ok()
    }
}

impl ParameterShape {
    /// What was expected in place of the value.
    fn objection(self, value: &Value) -> Option<String> {
        let is_text = |value: &Value| value.as_str().is_some_and(|it| it.len() <= LONGEST_TEXT);
        let is_right = match self {
            Self::Text => is_text(value),
            Self::Texts => match value.as_array() {
                Some(list) => list.len() <= MOST_TEXTS && list.iter().all(is_text),
                None => is_text(value),
            },
            Self::Flag => value.is_boolean(),
            Self::Count(most) => value.as_u64().is_some_and(|it| (1..=most).contains(&it)),
            Self::Amount => value.as_f64().is_some_and(|it| it > 0.0 && it.is_finite()),
        };
        (!is_right).then(|| match self {
            Self::Text => format!("a string of at most {LONGEST_TEXT} bytes"),
            Self::Texts => format!("a list of at most {MOST_TEXTS} strings"),
            Self::Flag => "true or false".to_owned(),
            Self::Count(most) => format!("a whole number from 1 to {most}"),
            Self::Amount => "a number above 0".to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARAMETERS: &[ToolParameter] = &[
        ToolParameter { name: "paths", shape: ParameterShape::Texts, doc: "Files." },
        ToolParameter { name: "trials", shape: ParameterShape::Count(100), doc: "Repeats." },
        ToolParameter { name: "strict", shape: ParameterShape::Flag, doc: "Strict." },
    ];

    fn read(value: Value) -> Result<ToolArguments, String> {
        ToolArguments::read(PARAMETERS, value.as_object().unwrap().clone())
    }

    #[test]
    fn unknown_arguments_and_wrong_types_are_refused() {
        let refusal = |value| read(value).unwrap_err();
        let text = refusal(json!({"path": "x"}));
        assert_eq!(text, "unknown argument `path`; did you mean `paths`?");
        assert_eq!(refusal(json!({"strict": "yes"})), "argument `strict`: expected true or false");
        for trials in [json!(0), json!(101), json!(1.5), json!("2")] {
            let text = refusal(json!({"trials": trials}));
            assert_eq!(text, "argument `trials`: expected a whole number from 1 to 100");
        }
        assert!(read(json!({"paths": vec!["x"; 101]})).is_err());
        assert!(read(json!({"paths": "x".repeat(5000)})).is_err());
    }

    #[test]
    fn null_is_no_argument_and_one_text_is_a_list() {
        let found = read(json!({"paths": "evals", "strict": null, "trials": 3})).unwrap();
        assert_eq!(found.texts("paths"), ["evals"]);
        assert!(!found.is_set("strict"));
        assert_eq!(found.number("trials").as_deref(), Some("3"));
        assert_eq!(found.count("trials"), Some(3));
    }

    #[test]
    fn a_schema_allows_nothing_else() {
        let schema = Value::from(schema(PARAMETERS));
        assert_eq!(schema["additionalProperties"], json!(false));
        assert_eq!(schema["properties"]["trials"]["maximum"], json!(100));
    }
}
