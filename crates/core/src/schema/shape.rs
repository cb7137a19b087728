//! Shape → schema of one value.

use crate::model::{Map, Number, Value};
use crate::syntax::fields::Shape;

use super::document::Draft;
use super::keyword::{any_of, anything, list_of, map, matching, non_empty_list_of, of_type};
use super::object::ObjectSchema;

/// A text that consists of one `${{ NAME }}`.
const REFERENCE: &str = r"^\s*\$\{\{\s*[A-Za-z_][A-Za-z0-9_]*\s*\}\}\s*$";
/// A text that contains `${{ NAME }}`: its value is known only at run time.
const INTERPOLATED: &str = r"\$\{\{\s*[A-Za-z_][A-Za-z0-9_]*\s*\}\}";

/// Whether `${{ NAME }}` is replaced in the file that is described.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReferenceMode {
    Replaced,
    PlainText,
}

/// Whether a required field may hold the empty text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextRule {
    MayBeEmpty,
    Filled,
}

/// Who the schema is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchemaMode {
    /// Programs: accepts every file that `validate` accepts.
    Lenient,
    /// Editors: flags unknown keys and old spellings, and offers what should be written.
    Strict,
}

/// Writes schemas for one draft.
#[derive(Debug, Clone, Copy)]
pub struct SchemaBuilder {
    pub draft: Draft,
    pub(super) references: ReferenceMode,
    mode: SchemaMode,
}

impl SchemaBuilder {
    /// For files that people write, where `${{ NAME }}` is replaced.
    pub fn new(draft: Draft) -> Self {
        Self { draft, references: ReferenceMode::Replaced, mode: SchemaMode::Lenient }
    }

    /// For files that programs write.
    pub fn for_records(draft: Draft) -> Self {
        Self { draft, references: ReferenceMode::PlainText, mode: SchemaMode::Lenient }
    }

    #[must_use]
    pub fn in_mode(self, mode: SchemaMode) -> Self {
        Self { mode, ..self }
    }

    pub(super) fn is_strict(self) -> bool {
        self.mode == SchemaMode::Strict
    }

    /// `{"$ref": …}` to a definition.
    pub fn reference(self, name: &str) -> Value {
        self.draft.reference(name)
    }

    pub fn shape(self, shape: &Shape) -> Value {
        self.value(shape, TextRule::MayBeEmpty)
    }

    pub(super) fn value(self, shape: &Shape, texts: TextRule) -> Value {
        let mut alternatives = Vec::new();
        self.collect(shape, texts, &mut alternatives);
        one_of_them(alternatives)
    }

    /// A text that fits a rule, unless only the environment knows what it says.
    pub(super) fn text_that(self, rule: Value) -> Value {
        match self.references {
            ReferenceMode::Replaced => any_of(vec![rule, matching(INTERPOLATED)]),
            ReferenceMode::PlainText => rule,
        }
    }

    fn collect(self, shape: &Shape, texts: TextRule, out: &mut Vec<Value>) {
        match shape {
            Shape::Any => add(out, anything()),
            Shape::Text => add(out, of_type("string")),
            Shape::NonEmptyText => add(out, text_of_length(TextRule::Filled)),
            Shape::TextOrScalar => {
                add(out, text_of_length(texts));
                add(out, of_type("number"));
                add(out, of_type("boolean"));
            }
            Shape::Boolean => {
                add(out, of_type("boolean"));
                self.add_reference(REFERENCE, out);
            }
            Shape::Integer { min, max } => {
                let most = (*max != u64::MAX).then(|| Value::from(*max));
                add(out, number("integer", Some((*min).into()), most));
                self.add_reference(REFERENCE, out);
            }
            Shape::Number { min, max } => {
                let bound = |limit: f64| (limit.abs() < f64::MAX).then(|| float(limit));
                add(out, number("number", bound(*min), bound(*max)));
                self.add_reference(REFERENCE, out);
            }
            Shape::PositiveFraction => {
                add(out, positive_fraction());
                self.add_reference(REFERENCE, out);
            }
            Shape::Choice(words) => {
                add(out, choice(words));
                self.add_reference(INTERPOLATED, out);
            }
            Shape::Map => add(out, of_type("object")),
            Shape::MapOf(values) => add(out, {
                let values = self.value(values, texts);
                map([("type", "object".into()), ("additionalProperties", values)])
            }),
            Shape::List(items) => add(out, list_of(self.value(items, texts))),
            Shape::NonEmptyList(items) => add(out, non_empty_list_of(self.value(items, texts))),
            Shape::OneOf(shapes) => {
                for shape in *shapes {
                    self.collect(shape, texts, out);
                }
            }
            Shape::Fields(table) => add(out, ObjectSchema::new(self, &[table]).finish()),
            Shape::Ref(name) => add(out, self.reference(name)),
        }
    }

    fn add_reference(self, pattern: &str, out: &mut Vec<Value>) {
        if self.references == ReferenceMode::Replaced {
            add(out, matching(pattern));
        }
    }
}

fn add(out: &mut Vec<Value>, schema: Value) {
    if !out.contains(&schema) {
        out.push(schema);
    }
}

fn one_of_them(mut alternatives: Vec<Value>) -> Value {
    match alternatives.len() {
        1 => alternatives.remove(0),
        _ => any_of(alternatives),
    }
}

/// The same, or null. A union of types where that is possible: validators then name both types in
/// one message.
pub(super) fn or_null(schema: Value) -> Value {
    let Value::Map(mut keywords) = schema else {
        return schema;
    };
    if keywords.is_empty() {
        return keywords.into();
    }
    if let Some(Value::List(alternatives)) = keywords.get("anyOf")
        && keywords.len() == 1
    {
        let mut alternatives = alternatives.clone();
        alternatives.push(of_type("null"));
        return any_of(alternatives);
    }
    let Some(name) = keywords.get("type").and_then(Value::as_str) else {
        return any_of(vec![keywords.into(), of_type("null")]);
    };
    let both = vec![name.to_owned(), "null".to_owned()];
    keywords.insert("type", both);
    if let Some(Value::List(words)) = keywords.get("enum") {
        let mut words = words.clone();
        words.push(Value::Null);
        keywords.insert("enum", words);
    }
    keywords.into()
}

fn text_of_length(texts: TextRule) -> Value {
    match texts {
        TextRule::MayBeEmpty => of_type("string"),
        TextRule::Filled => map([("type", "string".into()), ("minLength", 1_u64.into())]),
    }
}

fn number(type_name: &str, least: Option<Value>, most: Option<Value>) -> Value {
    let mut keywords = Map::new();
    keywords.insert("type", type_name);
    keywords.insert_some("minimum", least);
    keywords.insert_some("maximum", most);
    keywords.into()
}

fn positive_fraction() -> Value {
    map([("type", "number".into()), ("exclusiveMinimum", 0_u64.into()), ("maximum", 1_u64.into())])
}

pub(super) fn choice(words: &[&str]) -> Value {
    map([("type", "string".into()), ("enum", words.to_vec().into())])
}

fn float(value: f64) -> Value {
    Number::parse(&value.to_string()).map_or(Value::Null, Value::Number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::JsonStyle;

    fn text(shape: &Shape) -> String {
        let writer = SchemaBuilder::for_records(Draft::D07);
        writer.shape(shape).to_json(JsonStyle::Compact)
    }

    #[test]
    fn alternatives_are_flat_and_said_once() {
        const INNER: Shape = Shape::OneOf(&[Shape::Text, Shape::Boolean]);
        assert_eq!(
            text(&Shape::OneOf(&[INNER, Shape::Boolean])),
            r#"{"anyOf":[{"type":"string"},{"type":"boolean"}]}"#
        );
    }

    #[test]
    fn ranges_leave_out_the_bounds_that_are_none() {
        let open = Shape::Number { min: 0.0, max: f64::MAX };
        assert_eq!(text(&open), r#"{"type":"number","minimum":0}"#);
        let half = Shape::Number { min: 0.5, max: 1.0 };
        assert_eq!(text(&half), r#"{"type":"number","minimum":0.5,"maximum":1}"#);
        let count = Shape::Integer { min: 1, max: u64::MAX };
        assert_eq!(text(&count), r#"{"type":"integer","minimum":1}"#);
    }

    #[test]
    fn null_joins_the_type_where_there_is_one() {
        let word = or_null(choice(&["a"])).to_json(JsonStyle::Compact);
        assert_eq!(word, r#"{"type":["string","null"],"enum":["a",null]}"#);
        let reference = or_null(Draft::D2020.reference("x")).to_json(JsonStyle::Compact);
        assert_eq!(reference, r##"{"anyOf":[{"$ref":"#/$defs/x"},{"type":"null"}]}"##);
    }
}
