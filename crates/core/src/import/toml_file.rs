//! TOML → located data. Depth and number of keys are bounded by the parser and the size of the file.

use std::ops::Range;

use toml_edit::{Document, Item, TableLike, Value as TomlValue};

use crate::diagnostic::{Diagnostic, Diagnostics, declare_codes};
use crate::model::{Number, Value};
use crate::source::{SourceId, Span};

use super::located::{Located, LocatedData, LocatedEntry};

declare_codes! {
    TOML_SYNTAX = "toml-syntax", Blocking, Syntax, r#"A TOML file that is converted cannot be parsed.

## Example
```text
[agent]
timeout_sec = 120 seconds
```

## Instead
```text
[agent]
timeout_sec = 120
```

## Why
Settings behind the mistake would be lost.
"#;
}

/// `None` when there is no document; the fault has been reported.
pub(super) fn located_toml(source: SourceId, text: &str, out: &mut Diagnostics) -> Option<Located> {
    let reader = TomlReader { source, length: text.len() };
    match Document::parse(text) {
        Ok(document) => Some(reader.table(document.as_table(), Some(0..text.len()))),
        Err(error) => {
            let message = error.message().lines().next().unwrap_or("invalid TOML").to_owned();
            out.report(Diagnostic::new(&TOML_SYNTAX, reader.place(error.span()), message));
            None
        }
    }
}

struct TomlReader {
    source: SourceId,
    length: usize,
}

impl TomlReader {
    fn place(&self, range: Option<Range<usize>>) -> Span {
        let range = range.unwrap_or(0..0);
        let offset = |at: usize| at.min(self.length) as u32;
        Span::new(self.source, offset(range.start), offset(range.end))
    }

    fn table(&self, table: &dyn TableLike, range: Option<Range<usize>>) -> Located {
        let span = self.place(range);
        let entries = table.iter().filter_map(|(name, item)| {
            let key = table.key(name).and_then(toml_edit::Key::span);
            let key_span = key.map_or(span, |range| self.place(Some(range)));
            let value = self.item(item)?;
            Some(LocatedEntry { key: name.to_owned(), key_span, value })
        });
        Located { span, data: LocatedData::Map(entries.collect()) }
    }

    fn item(&self, item: &Item) -> Option<Located> {
        match item {
            Item::None => None,
            Item::Value(value) => Some(self.value(value)),
            Item::Table(table) => Some(self.table(table, table.span())),
            Item::ArrayOfTables(tables) => {
                let items = tables.iter().map(|table| self.table(table, table.span())).collect();
                Some(Located { span: self.place(tables.span()), data: LocatedData::List(items) })
            }
        }
    }

    fn value(&self, value: &TomlValue) -> Located {
        let span = self.place(value.span());
        let scalar = match value {
            TomlValue::String(text) => Value::from(text.value().as_str()),
            TomlValue::Boolean(value) => Value::Bool(*value.value()),
            TomlValue::Integer(number) => number_or_text(&number.value().to_string()),
            TomlValue::Float(number) => number_or_text(&number.value().to_string()),
            TomlValue::Datetime(moment) => Value::from(moment.value().to_string()),
            TomlValue::Array(items) => {
                let items = items.iter().map(|item| self.value(item)).collect();
                return Located { span, data: LocatedData::List(items) };
            }
            TomlValue::InlineTable(table) => return self.table(table, value.span()),
        };
        Located { span, data: LocatedData::Scalar(scalar) }
    }
}

/// `inf` and `nan` are texts.
fn number_or_text(text: &str) -> Value {
    Number::parse(text).map_or_else(|| Value::from(text), Value::Number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Sources;

    fn read(text: &str) -> Result<(Located, Sources), String> {
        let (mut sources, mut out) = (Sources::new(), Diagnostics::new());
        let source = sources.add_file("/task.toml".into(), text.to_owned(), 0);
        let located = located_toml(source, text, &mut out);
        let first = out.iter().next().map(|one| one.message.to_string());
        located.map(|located| (located, sources)).ok_or(first.unwrap_or_default())
    }

    #[test]
    fn values_keep_their_types_and_places() {
        let text = "a = 1\n[b]\nc = [true, 2.50, 'x']\nd.e = {f = 1979-05-27}\n[[g]]\nh = inf\n";
        let (root, sources) = read(text).unwrap();
        let shown = |path: &str| root.at_path(path).unwrap().text().unwrap();
        assert_eq!(root.at_path("b.c").unwrap().texts(), ["true", "2.5", "x"]);
        assert_eq!([shown("a"), shown("b.d.e.f")], ["1", "1979-05-27"]);
        assert_eq!(root.at_path("g.0.h").unwrap().as_str(), Some("inf"));
        assert_eq!(sources.line(root.at_path("b.d.e.f").unwrap().span), 4);
        assert_eq!(sources.text_of(root.at_path("b.c.1").unwrap().span), "2.50");
    }

    #[test]
    fn broken_toml_is_reported_and_deep_nesting_is_refused() {
        assert!(!read("[agent\n").unwrap_err().is_empty());
        assert!(!read(&format!("a = {}", "[".repeat(100_000))).unwrap_err().is_empty());
    }
}
