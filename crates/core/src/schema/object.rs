//! Field tables → schema of a mapping. `validate` only warns of unknown keys, so they are accepted,
//! except in schemas for editors.

use crate::model::{Map, Number, Value};
use crate::syntax::fields::Field;
#[cfg(test)]
use crate::syntax::fields::Shape;

use super::document::Draft;
use super::keyword::{any_of, anything, map, present};
use super::shape::{SchemaBuilder, TextRule, or_null};

/// A mapping with the fields of some tables; the first table that has a name decides on it, as
/// when the file is read.
#[derive(Debug, Clone)]
pub struct ObjectSchema {
    writer: SchemaBuilder,
    fields: Vec<&'static Field>,
    hidden: Vec<&'static str>,
    title: Option<String>,
    description: Option<String>,
    replaced: Vec<(&'static str, Value)>,
    needed: Vec<Vec<&'static str>>,
    present: Vec<&'static str>,
    rules: Vec<Value>,
    is_open: bool,
}

/// How a key is related to its field.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spelling {
    Canonical,
    Old,
    Other,
}

impl ObjectSchema {
    pub fn new(writer: SchemaBuilder, tables: &[&'static [Field]]) -> Self {
        let mut fields: Vec<&'static Field> = Vec::new();
        for field in tables.iter().flat_map(|table| table.iter()) {
            if fields.iter().all(|known| known.name != field.name) {
                fields.push(field);
            }
        }
        Self {
            writer,
            fields,
            hidden: Vec::new(),
            title: None,
            description: None,
            replaced: Vec::new(),
            needed: Vec::new(),
            present: Vec::new(),
            rules: Vec::new(),
            is_open: false,
        }
    }

    /// Other keys are the author's own, also for editors.
    #[must_use]
    pub fn open(mut self) -> Self {
        self.is_open = true;
        self
    }

    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Replaces the schema of a field whose shape is not specific enough.
    #[must_use]
    pub fn replace(mut self, field: &'static str, schema: Value) -> Self {
        self.replaced.push((field, schema));
        self
    }

    /// Fields that another schema describes already. Their names keep their meaning here.
    #[must_use]
    pub fn without(mut self, names: &[&str]) -> Self {
        let is_hidden = |field: &&'static Field| names.contains(&field.name);
        let hidden = self.fields.iter().copied().filter(is_hidden);
        self.hidden.extend(hidden.map(|field| field.name));
        self.fields.retain(|field| !is_hidden(field));
        self
    }

    /// At least one of these fields must be present and not null. Unknown names are ignored.
    #[must_use]
    pub fn need(mut self, names: &[&'static str]) -> Self {
        let known: Vec<_> = names
            .iter()
            .copied()
            .filter(|name| self.fields.iter().any(|field| field.name == *name))
            .collect();
        if !known.is_empty() {
            self.needed.push(known);
        }
        self
    }

    /// Keys that must be there, null or not.
    #[must_use]
    pub fn always(mut self, names: &[&'static str]) -> Self {
        self.present.extend(names);
        self
    }

    /// A further condition on the mapping.
    #[must_use]
    pub fn rule(mut self, schema: Value) -> Self {
        self.rules.push(schema);
        self
    }

    pub fn finish(self) -> Value {
        let mut properties = Map::new();
        for (key, field, spelling) in self.keys() {
            properties.insert(key, self.property(field, spelling));
        }
        let mut required: Vec<&'static str> = Vec::new();
        let mut rules = Vec::new();
        for group in self.needs() {
            match self.spellings_of(&group).as_slice() {
                [only] => required.push(only),
                several => rules.push(any_of(several.iter().map(|key| present(key)).collect())),
            }
        }
        for name in &self.present {
            if !required.contains(name) {
                required.push(name);
            }
        }
        rules.extend(self.rules);
        let is_strict = self.writer.is_strict();
        let mut whole = Map::new();
        // Editors show titles in the place of descriptions, and offer them as values.
        whole.insert_some("title", self.title.filter(|_| !is_strict));
        whole.insert_some("description", self.description);
        whole.insert("type", "object");
        if is_strict && !self.is_open {
            properties.insert("$schema", map([("doNotSuggest", true.into())]));
            whole.insert("additionalProperties", false);
            whole.insert("patternProperties", map([("^x-", anything())]));
        }
        if !properties.is_empty() {
            whole.insert("properties", properties);
        }
        if !required.is_empty() {
            whole.insert("required", required);
        }
        if !rules.is_empty() {
            whole.insert("allOf", rules);
        }
        whole.into()
    }

    /// Every key with its field. Canonical names win over other spellings, as when reading.
    fn keys(&self) -> Vec<(&'static str, &'static Field, Spelling)> {
        let mut keys: Vec<(&'static str, &'static Field, Spelling)> = Vec::new();
        if self.writer.is_strict() {
            keys.extend(self.fields.iter().map(|field| (field.name, *field, Spelling::Canonical)));
        }
        for field in &self.fields {
            if !self.writer.is_strict() {
                keys.push((field.name, field, Spelling::Canonical));
            }
            let old = field.old.iter().map(|key| (*key, Spelling::Old));
            let also = field.also.iter().map(|key| (*key, Spelling::Other));
            for (key, spelling) in old.chain(also) {
                let is_taken = self.hidden.contains(&key)
                    || self.fields.iter().any(|other| other.name == key)
                    || keys.iter().any(|(known, ..)| *known == key);
                if !is_taken {
                    keys.push((key, field, spelling));
                }
            }
        }
        keys
    }

    fn needs(&self) -> Vec<Vec<&'static str>> {
        let fields = self.fields.iter().filter(|field| field.required);
        let mut needs: Vec<_> = fields.map(|field| vec![field.name]).collect();
        for group in &self.needed {
            if !needs.contains(group) {
                needs.push(group.clone());
            }
        }
        needs
    }

    fn spellings_of(&self, group: &[&'static str]) -> Vec<&'static str> {
        let keys = self.keys().into_iter();
        keys.filter(|(_, field, _)| group.contains(&field.name)).map(|(key, ..)| key).collect()
    }

    fn property(&self, field: &'static Field, spelling: Spelling) -> Value {
        let is_needed = self.needs().contains(&vec![field.name]);
        let texts = if is_needed { TextRule::Filled } else { TextRule::MayBeEmpty };
        let replaced = self.replaced.iter().find(|(name, _)| *name == field.name);
        let value = match replaced {
            Some((_, schema)) => schema.clone(),
            None => self.writer.value(&field.shape, texts),
        };
        // Null means absent; under another spelling the field may still be there.
        let is_only = self.spellings_of(&[field.name]).len() == 1;
        let value = if is_needed && is_only { value } else { or_null(value) };
        self.describe(field, spelling, value)
    }

    fn describe(&self, field: &Field, spelling: Spelling, value: Value) -> Value {
        let mut whole = Map::new();
        match spelling {
            Spelling::Canonical => {
                whole.insert("description", field.doc);
                whole.insert_some("default", default_in(field.doc));
            }
            Spelling::Old => {
                whole.insert("description", format!("old spelling of `{}`", field.name));
            }
            Spelling::Other => {
                let words = format!("another spelling of `{}`", field.name);
                whole.insert("description", words);
            }
        }
        // draft-07 has no `deprecated`; there the description alone says it.
        let is_old = spelling == Spelling::Old || field.doc.starts_with("old ");
        if is_old && (self.writer.draft == Draft::D2020 || self.writer.is_strict()) {
            whole.insert("deprecated", true);
        }
        // Words of language servers: the first is shown as a warning, both are not offered.
        if self.writer.is_strict() && spelling == Spelling::Old {
            whole.insert("deprecationMessage", format!("write `{}`", field.name));
        }
        if self.writer.is_strict() && (is_old || spelling == Spelling::Other) {
            whole.insert("doNotSuggest", true);
        }
        // draft-07 ignores everything beside `$ref`, so the reference goes inside.
        let value = match value.as_map().and_then(|keywords| keywords.get("$ref")) {
            Some(_) => map([("allOf", vec![value].into())]),
            None => value,
        };
        for (key, value) in value.as_map().into_iter().flat_map(Map::iter) {
            whole.insert(key, value.clone());
        }
        whole.into()
    }
}

/// The value after the last `default` of a doc, if the doc ends with it: `default 0.8`.
fn default_in(doc: &str) -> Option<Value> {
    let (_, written) = doc.rsplit_once("default ")?;
    match written {
        "true" => return Some(true.into()),
        "false" => return Some(false.into()),
        _ => {}
    }
    if let Some(number) = Number::parse(written) {
        return Some(number.into());
    }
    ['"', '`'].into_iter().find_map(|quote| {
        let word = written.strip_prefix(quote)?.strip_suffix(quote)?;
        (!word.contains(quote)).then(|| word.into())
    })
}

/// Every key that the tables and the tables inside them know.
#[cfg(test)]
pub(super) fn all_keys(tables: &[&'static [Field]]) -> Vec<&'static str> {
    fn inside(shape: &Shape, out: &mut Vec<&'static str>) {
        match shape {
            Shape::Fields(table) => out.extend(all_keys(&[table])),
            Shape::MapOf(inner) | Shape::List(inner) | Shape::NonEmptyList(inner) => {
                inside(inner, out);
            }
            Shape::OneOf(shapes) => shapes.iter().for_each(|shape| inside(shape, out)),
            _ => {}
        }
    }
    let mut keys = Vec::new();
    for field in tables.iter().flat_map(|table| table.iter()) {
        keys.push(field.name);
        keys.extend(field.old);
        keys.extend(field.also);
        inside(&field.shape, &mut keys);
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::JsonStyle;

    #[test]
    fn defaults_are_read_from_docs_that_end_with_them() {
        let json = |doc| default_in(doc).map(|value| value.to_json(JsonStyle::Compact));
        assert_eq!(json("a share; default 0.8").as_deref(), Some("0.8"));
        assert_eq!(json("version; default \"1.0\"").as_deref(), Some("\"1.0\""));
        assert_eq!(json("default `exact`").as_deref(), Some("\"exact\""));
        assert_eq!(json("default false").as_deref(), Some("false"));
        assert_eq!(json("default `call_1`, `call_2`, … per test"), None);
        assert_eq!(json("key in the results; default: the type"), None);
    }

    #[test]
    fn the_first_table_decides_and_names_win_over_other_spellings() {
        static FIRST: &[Field] = &[
            Field::new("a", Shape::Boolean, "first"),
            Field::new("b", Shape::Text, "other").also(&["c"]),
        ];
        static SECOND: &[Field] =
            &[Field::new("a", Shape::Text, "second"), Field::new("c", Shape::Text, "its own")];
        let writer = SchemaBuilder::for_records(Draft::D07);
        let text = ObjectSchema::new(writer, &[FIRST, SECOND]).finish().to_json(JsonStyle::Compact);
        assert!(!text.contains("second"), "{text}");
        assert!(!text.contains("another spelling"), "{text}");
        assert!(text.contains("its own"), "{text}");
    }
}
