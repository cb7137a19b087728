//! The text that a completion inserts: values with placeholders for editors that know snippets, and
//! quotes where the notation needs them.

use evalrig_core::assertion::AssertionKind;
use evalrig_core::syntax::fields::{Field, Shape};
use evalrig_core::syntax::is_one_line_text;

use crate::outline::Notation;

/// How the text at the cursor is written, and what the editor understands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Writing {
    pub(super) notation: Notation,
    pub(super) is_quoted: bool,
    pub(super) has_colon: bool,
    /// The editor understands `$1`.
    pub(super) knows_snippets: bool,
    /// From the first character of the line to the column of the keys.
    pub(super) indent: usize,
}

impl Writing {
    /// A key, and what its value begins with.
    pub(super) fn key(&self, field: &Field) -> String {
        if self.has_colon || self.is_quoted {
            return field.name.to_owned();
        }
        let name = field.name;
        if self.notation == Notation::Json {
            return format!("\"{name}\": {}", self.value(field.shape, 1));
        }
        if self.notation == Notation::Flow || !self.knows_snippets {
            return format!("{name}: ");
        }
        let below = " ".repeat(self.indent + 2);
        match field.shape {
            Shape::Ref("tests") => {
                format!("{name}:\n{below}- id: $1\n{below}  criteria: $2\n{below}  input: $0")
            }
            Shape::Ref("assertion-list" | "assertion-members") => {
                format!("{name}:\n{below}- type: $0")
            }
            Shape::Ref("execution" | "metadata") | Shape::Fields(_) | Shape::MapOf(_) => {
                format!("{name}:\n{below}$0")
            }
            Shape::List(_) | Shape::NonEmptyList(_) => format!("{name}: [$0]"),
            _ => format!("{name}: $0"),
        }
    }

    /// A test as a line of JSONL.
    pub(super) fn line(&self) -> String {
        let [id, criteria, input] = if self.knows_snippets { ["$1", "$2", "$0"] } else { [""; 3] };
        format!(r#"{{"id": "{id}", "criteria": "{criteria}", "input": "{input}"}}"#)
    }

    /// The value of `type`, or with `type:` in front, and the options that the type needs. `name` is
    /// how the type is spelled.
    pub(super) fn assertion(
        &self,
        kind: &AssertionKind,
        name: &str,
        with_key: bool,
        present: &[String],
    ) -> String {
        let is_json = self.notation == Notation::Json;
        let start = match (with_key, is_json) {
            (true, true) => format!("\"type\": \"{name}\""),
            (true, false) => format!("type: {name}"),
            (false, true) if !self.is_quoted => format!("\"{name}\""),
            (false, _) => name.to_owned(),
        };
        if !self.knows_snippets || self.is_quoted {
            return start;
        }
        let is_missing = |field: &&Field| !present.iter().any(|key| key == field.name);
        let one_of = kind.needs_one_of.first();
        let needed =
            kind.fields.iter().filter(|field| field.required || one_of == Some(&field.name));
        let mut text = start;
        for (at, field) in needed.filter(is_missing).enumerate() {
            let value = self.value(field.shape, at + 1);
            match self.notation {
                Notation::Block => {
                    let indent = " ".repeat(self.indent);
                    text.push_str(&format!("\n{indent}{}: {value}", field.name));
                }
                Notation::Flow => text.push_str(&format!(", {}: {value}", field.name)),
                Notation::Json => text.push_str(&format!(", \"{}\": {value}", field.name)),
            }
        }
        text
    }

    /// A placeholder for a value of this shape.
    fn value(&self, shape: Shape, number: usize) -> String {
        if !self.knows_snippets {
            return String::new();
        }
        let is_json = self.notation == Notation::Json;
        match shape {
            Shape::Choice(words) if !is_json => format!("${{{number}|{}|}}", words.join(",")),
            Shape::List(_)
            | Shape::NonEmptyList(_)
            | Shape::Ref(
                "rubric-items" | "rubric-checks" | "assertion-list" | "assertion-members",
            ) => {
                format!("[${number}]")
            }
            Shape::Text | Shape::NonEmptyText | Shape::TextOrScalar | Shape::Ref("input")
                if is_json =>
            {
                format!("\"${number}\"")
            }
            Shape::OneOf(shapes) if is_json => {
                shapes.first().map_or_else(String::new, |first| self.value(*first, number))
            }
            _ => format!("${number}"),
        }
    }

    /// A name, in quotes where it needs them. `None` if it cannot be written where the cursor is.
    pub(super) fn name(&self, name: &str) -> Option<String> {
        let is_simple = !name.contains(['"', '\'', '\\']) && !name.contains(char::is_control);
        if self.is_quoted {
            return is_simple.then(|| name.to_owned());
        }
        let is_plain = is_one_line_text(name)
            && !name.starts_with(['"', '\''])
            && !name.contains([',', '[', ']', '{', '}']);
        if is_plain && self.notation != Notation::Json {
            return Some(name.to_owned());
        }
        Some(serde_json::Value::from(name).to_string())
    }
}
