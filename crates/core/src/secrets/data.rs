//! Redaction of values: texts, keys and numbers. It comes before they are written as JSON or YAML, where a
//! replaced number would no longer be valid.

use std::collections::HashSet;

use crate::model::{Map, Number, Value};

use super::{MARK, Secrets};

impl Secrets {
    /// Redacts data of agents, scripts and authors.
    pub fn redact_data(&self, value: &mut Value) {
        if !self.is_empty() {
            self.redact_value(value, |number| self.is_number_secret(number.text()));
        }
    }

    /// Redacts a document of evalrig, where short numbers are lines and counts.
    pub fn redact_document(&self, value: &mut Value) {
        if !self.is_empty() {
            self.redact_value(value, |number| self.is_measure_secret(number.text()));
        }
    }

    fn redact_value(&self, value: &mut Value, is_secret: impl Fn(&Number) -> bool + Copy) {
        match value {
            Value::String(text) => self.redact_in_place(text),
            Value::Number(number) if is_secret(number) => *value = MARK.into(),
            Value::List(items) => {
                for item in items {
                    self.redact_value(item, is_secret);
                }
            }
            Value::Map(map) => {
                let mut names = RedactedNames::new(self);
                let entries = std::mem::take(map).into_iter().map(|(mut key, mut inner)| {
                    names.redact(&mut key);
                    self.redact_value(&mut inner, is_secret);
                    (key, inner)
                });
                *map = entries.collect::<Map>();
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// Redacts names that must stay different: `***`, `***-2`, `***-3`.
#[derive(Debug)]
pub struct RedactedNames<'s> {
    secrets: &'s Secrets,
    taken: HashSet<String>,
}

impl<'s> RedactedNames<'s> {
    pub fn new(secrets: &'s Secrets) -> Self {
        Self { secrets, taken: HashSet::new() }
    }

    /// Whether the name changed.
    pub fn redact(&mut self, name: &mut String) -> bool {
        if !self.secrets.is_in(name) {
            return false;
        }
        let base = self.secrets.redact(name);
        let later = (2_u64..).map(|number| format!("{base}-{number}"));
        let mut free = std::iter::once(base.clone()).chain(later);
        let free = free.find(|name| self.taken.insert(name.clone()));
        *name = free.unwrap_or(base);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::JsonStyle;
    use crate::syntax::json_value;

    fn redacted(text: &str, redact: fn(&Secrets, &mut Value)) -> String {
        let mut secrets = Secrets::default();
        for secret in ["key-12345678", "9876", "31415926535"] {
            secrets.add(secret);
        }
        let mut value = json_value(text).unwrap();
        redact(&secrets, &mut value);
        value.to_json(JsonStyle::Compact)
    }

    #[test]
    fn keys_texts_and_numbers_are_redacted() {
        let text = r#"{"key-12345678":1,"Key_12345678":["a KEY-12345678",9876,19876,31415926535,-131415926535.5]}"#;
        let shown = r#"{"***":1,"***-2":["a ***","***",19876,"***","***"]}"#;
        assert_eq!(redacted(text, Secrets::redact_data), shown);
    }

    #[test]
    fn short_numbers_of_a_document_stay() {
        let shown = redacted(r#"{"line":9876,"n":31415926535}"#, Secrets::redact_document);
        assert_eq!(shown, r#"{"line":9876,"n":"***"}"#);
    }
}
