//! Assertions that look at the text of the answer.

use crate::model::{Map, Value};

use super::super::assertion_draft::{any_answer, exact_text, js_regex, negated_if, text_check};
use super::super::located::Located;
use super::super::schema_keywords::report_keywords;
use super::comma_list::comma_list;
use super::foo_check::{CheckWriter, FooAssertion};
use super::variables::inserted;

impl CheckWriter<'_, '_> {
    pub(super) fn text_check(
        &mut self,
        assertion: &FooAssertion<'_>,
        has_transform: bool,
    ) -> Option<Map> {
        let value = self.value(assertion)?;
        let value = match (assertion.base, value) {
            (
                "contains-any" | "contains-all" | "icontains-any" | "icontains-all",
                Value::String(text),
            ) => comma_list(&text).into(),
            // A schema may be written as YAML in a text.
            ("is-json" | "contains-json", Value::String(text)) if !text.trim().is_empty() => {
                let tree = crate::syntax::lone_tree(text).ok();
                let parsed = tree.map(|tree| crate::syntax::plain_value(tree.root()));
                let Some(parsed @ Value::Map(_)) = parsed else {
                    self.lost(assertion, "its schema cannot be read");
                    return None;
                };
                parsed
            }
            (_, value) => value,
        };
        if has_transform {
            return self.scripted(assertion, value);
        }
        let native = self.native(assertion, &value)?;
        match native {
            Some(map) => Some(negated_if(assertion.is_negated, map)),
            None => self.scripted(assertion, value),
        }
    }

    /// The assertion of a suite; `Some(None)` if only the script can decide, `None` if it is lost.
    fn native(&mut self, assertion: &FooAssertion<'_>, value: &Value) -> Option<Option<Map>> {
        let text = match value {
            Value::List(_) | Value::Map(_) => None,
            scalar => Some(inserted(scalar)),
        };
        let base = assertion.base;
        Some(match (base, text) {
            ("contains" | "icontains", Some(text)) if !text.is_empty() => {
                Some(text_check(base, text))
            }
            ("contains-any" | "contains-all" | "icontains-any" | "icontains-all", _) => {
                Some(several(base, value))
            }
            ("equals", Some(text)) | ("starts-with", Some(text))
                if base == "equals" || !text.is_empty() =>
            {
                let message =
                    "white space around the answer is ignored; promptfoo compares exactly";
                self.importer.loss_once("white-space", assertion.span(), message);
                let kind = if base == "equals" { "equals" } else { "starts-with" };
                Some(exact_text(kind, &text))
            }
            ("equals", None) => None,
            ("regex", Some(pattern)) if !pattern.is_empty() => js_regex(&pattern),
            ("is-json", Some(text)) if text.is_empty() => Some(Map::new().with("type", "is-json")),
            ("is-json" | "contains-json", _) => {
                if base == "contains-json" {
                    let message = "only strict JSON counts; promptfoo also accepts YAML in braces";
                    self.importer.loss_once("method", assertion.span(), message);
                }
                let schema = Located::at(
                    value,
                    assertion.data.get("value").map_or(assertion.span(), |v| v.span),
                );
                report_keywords(self.importer, &schema);
                None
            }
            ("levenshtein", Some(_)) | ("is-xml" | "contains-xml", _) => None,
            ("rouge-n", Some(text)) if !text.is_empty() => None,
            ("bleu", Some(text)) if !text.is_empty() => None,
            ("bleu", None) => None,
            ("word-count", _) => Some(word_count(value).or_else(|| {
                self.lost(assertion, "its value is not a number of words");
                None
            })?),
            _ => {
                self.lost(assertion, "it has no value to compare with");
                return None;
            }
        })
    }
}

/// An empty text is part of every answer.
fn several(base: &str, value: &Value) -> Map {
    let texts: Vec<String> = match value {
        Value::List(items) => items.iter().map(inserted).collect(),
        scalar => vec![inserted(scalar)],
    };
    let filled: Vec<String> = texts.iter().filter(|text| !text.is_empty()).cloned().collect();
    let is_any = base.ends_with("-any");
    let always = if is_any { filled.len() < texts.len() } else { filled.is_empty() };
    match (always, filled.is_empty()) {
        (true, _) => any_answer(),
        // None of nothing.
        (false, true) => text_check("regex", r"[^\s\S]"),
        (false, false) => text_check(base, filled),
    }
}

/// Words are what white space separates.
fn word_count(value: &Value) -> Option<Map> {
    let number = |value: &Value| match value {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => text.trim().parse::<u64>().ok(),
        _ => None,
    };
    let (least, most) = match value {
        Value::Map(map) => {
            let (min, max) = (map.get("min").and_then(number), map.get("max").and_then(number));
            if min.is_none() && max.is_none() {
                return None;
            }
            (min.unwrap_or(0), max)
        }
        exact => {
            let count = number(exact)?;
            (count, Some(count))
        }
    };
    let most = most.map(|most| most.to_string()).unwrap_or_default();
    let pattern = format!(r"\A\s*(?:\S+(?:\s+|\z)){{{least},{most}}}\z");
    Some(text_check("regex", pattern).with("name", "word-count"))
}
