//! One method per type: strings, booleans, numbers, lists and mappings.

use std::borrow::Cow;

use crate::diagnostic::{Diagnostic, Fix};
use crate::model::{Map, Number, Value};
use crate::source::{Span, Spanned};
use crate::syntax::fields::{Entry, INVALID_OPTION, OUT_OF_RANGE, WRONG_TYPE, shorten};
use crate::syntax::{Kind, Node, Scalar, ScalarStyle, resolve_plain};

use super::interpolate::Vars;
use super::state::Reader;
use super::template::{Template, has_references, is_lone_reference};

impl Reader<'_> {
    /// A string, with `${{ }}` replaced.
    pub fn text<'t>(&mut self, entry: &Entry<'t>) -> Option<Cow<'t, str>> {
        self.text_of(entry.field.name, entry.value)
    }

    /// A string, with `${{ }}` and the test's `{{ }}` replaced.
    pub(crate) fn templated<'t>(&mut self, entry: &Entry<'t>) -> Option<Cow<'t, str>> {
        self.templated_of(entry.field.name, entry.value)
    }

    pub fn text_of<'t>(&mut self, name: &str, node: Node<'t>) -> Option<Cow<'t, str>> {
        let text = self.plain_text(name, node)?;
        self.interpolate(name, node, text, Vars::Environment)
    }

    pub(crate) fn templated_of<'t>(&mut self, name: &str, node: Node<'t>) -> Option<Cow<'t, str>> {
        let text = self.plain_text(name, node)?;
        self.interpolate(name, node, text, Vars::Test)
    }

    pub(crate) fn owned_text(&mut self, entry: &Entry<'_>) -> Option<String> {
        self.text(entry).map(Cow::into_owned)
    }

    pub fn spanned_text(&mut self, entry: &Entry<'_>) -> Option<Spanned<String>> {
        let text = self.owned_text(entry)?;
        Some(Spanned::new(text, entry.value.span()))
    }

    fn plain_text<'t>(&mut self, name: &str, node: Node<'t>) -> Option<&'t str> {
        if let Some(text) = node.quoted_text() {
            return Some(text);
        }
        match node.scalar() {
            Some(Scalar::Str(text)) => Some(text),
            Some(_) if node.scalar_style() == Some(ScalarStyle::Plain) => {
                let diagnostic = wrong_type(name, node, "a string").help("put it in quotes");
                self.refuse(diagnostic.fix_if(quote(node, node.source_text())))
            }
            _ => self.refuse(wrong_type(name, node, "a string")),
        }
    }

    /// `true` or `false`; nothing else is a boolean.
    pub fn boolean(&mut self, entry: &Entry<'_>) -> Option<bool> {
        self.boolean_of(entry.field.name, entry.value)
    }

    pub(crate) fn boolean_of(&mut self, name: &str, node: Node<'_>) -> Option<bool> {
        if self.unresolved(node).is_some() {
            self.text_of(name, node);
            return None;
        }
        let before = self.out.len();
        let value = self.any_boolean(name, node);
        if value.is_none() && self.out.len() == before {
            self.report(not_a_boolean(name, node));
        }
        value
    }

    /// A boolean, written as one or as a single `${{ }}`.
    pub(crate) fn any_boolean(&mut self, name: &str, node: Node<'_>) -> Option<bool> {
        let resolved = match node.scalar()? {
            Scalar::Bool(value) => return Some(value),
            Scalar::Str(text) => self.only_a_reference(name, node, text)?,
            _ => return None,
        };
        match resolve_plain(resolved.trim()) {
            Scalar::Bool(value) => Some(value),
            _ => None,
        }
    }

    pub fn integer(&mut self, entry: &Entry<'_>, min: u64, max: u64) -> Option<u64> {
        self.integer_of(entry.field.name, entry.value, min, max)
    }

    pub fn integer_of(&mut self, name: &str, node: Node<'_>, min: u64, max: u64) -> Option<u64> {
        let wants = match max {
            u64::MAX => format!("an integer of at least {min}"),
            _ => format!("an integer from {min} to {max}"),
        };
        let number = self.some_number(name, node, &wants)?;
        if number.value().fract() != 0.0 {
            return self.refuse(wrong_type(name, node, &wants));
        }
        match number.as_u64() {
            Some(value) if (min..=max).contains(&value) => Some(value),
            _ => self.refuse(out_of_range(name, node, &wants)),
        }
    }

    /// A finite number with both bounds allowed.
    pub fn number(&mut self, entry: &Entry<'_>, min: f64, max: f64) -> Option<Number> {
        self.number_of(entry.field.name, entry.value, min, max)
    }

    pub(crate) fn number_of(
        &mut self,
        name: &str,
        node: Node<'_>,
        min: f64,
        max: f64,
    ) -> Option<Number> {
        let wants = match (min.is_finite(), max.is_finite()) {
            (true, true) => format!("a number from {min} to {max}"),
            (true, false) => format!("a number of at least {min}"),
            _ => "a number".to_owned(),
        };
        let number = self.some_number(name, node, &wants)?;
        if number.value() < min || number.value() > max {
            return self.refuse(out_of_range(name, node, &wants));
        }
        Some(number)
    }

    fn some_number(&mut self, name: &str, node: Node<'_>, wants: &str) -> Option<Number> {
        if self.unresolved(node).is_some() {
            self.text_of(name, node);
            return None;
        }
        let before = self.out.len();
        let number = self.any_number(name, node);
        // A variable that is not set has been reported already.
        if number.is_none() && self.out.len() == before {
            self.report(wrong_type(name, node, wants));
        }
        number
    }

    /// A finite number, written as one or as a single `${{ }}`.
    pub(crate) fn any_number(&mut self, name: &str, node: Node<'_>) -> Option<Number> {
        match node.scalar()? {
            Scalar::Int(text) | Scalar::Float(text) => Number::parse(text),
            Scalar::Str(text) => Number::parse(&self.only_a_reference(name, node, text)?),
            _ => None,
        }
    }

    /// One of a few words.
    pub fn choice(
        &mut self,
        entry: &Entry<'_>,
        words: &'static [&'static str],
    ) -> Option<&'static str> {
        let text = self.text(entry)?;
        if self.keeps_references() && has_references(&text) {
            return None;
        }
        let found = words.iter().find(|word| **word == text.as_ref());
        if found.is_none() {
            let message = format!("`{}` cannot be `{}`", entry.field.name, shorten(&text));
            let diagnostic = Diagnostic::new(&INVALID_OPTION, entry.value.span(), message);
            let help = format!("it takes {}", list_words(words));
            self.report(diagnostic.suggest(&text, words.iter().copied(), help));
        }
        found.copied()
    }

    /// A list of strings; a wrong item is reported and left out.
    pub(crate) fn text_list(&mut self, entry: &Entry<'_>) -> Option<Vec<Spanned<String>>> {
        if !entry.value.is_sequence() {
            return self.refuse(wrong_type(entry.field.name, entry.value, "a list of strings"));
        }
        let name = format!("an item of {}", entry.field.name);
        let mut items = Vec::with_capacity(entry.value.items().len());
        let mut complete = true;
        for item in entry.value.items() {
            match self.text_of(&name, item) {
                Some(text) => items.push(Spanned::new(text.into_owned(), item.span())),
                None => complete = false,
            }
        }
        complete.then_some(items)
    }

    /// A mapping with free keys.
    pub fn map(&mut self, entry: &Entry<'_>) -> Option<Map> {
        if !entry.value.is_mapping() {
            return self.refuse(wrong_type(entry.field.name, entry.value, "a mapping"));
        }
        Some(self.map_of(entry.field.name, entry.value, Vars::Environment))
    }

    /// Free data.
    pub fn value(&mut self, name: &str, node: Node<'_>) -> Value {
        self.value_with(name, node, Vars::Environment)
    }

    pub(crate) fn value_with(&mut self, name: &str, node: Node<'_>, vars: Vars) -> Value {
        match node.kind() {
            Kind::Sequence => {
                Value::List(node.items().map(|item| self.value_with(name, item, vars)).collect())
            }
            Kind::Mapping => Value::Map(self.map_of(name, node, vars)),
            Kind::Scalar => self.scalar_value(name, node, vars),
        }
    }

    fn scalar_value(&mut self, name: &str, node: Node<'_>, vars: Vars) -> Value {
        match node.scalar() {
            None | Some(Scalar::Null) => Value::Null,
            Some(Scalar::Bool(value)) => Value::Bool(value),
            // JSON has no infinity; such a number stays a string.
            Some(Scalar::Int(text) | Scalar::Float(text)) => {
                Number::parse(text).map_or_else(|| Value::from(text), Value::Number)
            }
            Some(Scalar::Str(text)) => {
                if vars == Vars::Test
                    && let Some(value) = self.whole_reference(node, text)
                {
                    return value;
                }
                let text = self.interpolate(name, node, text, vars);
                Value::String(text.unwrap_or_default().into_owned())
            }
        }
    }

    fn map_of(&mut self, name: &str, node: Node<'_>, vars: Vars) -> Map {
        node.entries()
            .into_iter()
            .filter_map(|(key, value)| {
                let key = key.scalar_text()?.to_owned();
                Some((key, self.value_with(name, value, vars)))
            })
            .collect()
    }

    /// The template of a number or boolean that is written as exactly one reference, where
    /// references are kept.
    pub fn unresolved(&self, node: Node<'_>) -> Option<Template> {
        match node.scalar() {
            Some(Scalar::Str(text)) if self.keeps_references() && is_lone_reference(text) => {
                Some(Template::new(text, node.span()))
            }
            _ => None,
        }
    }

    /// The value of a text that is exactly one `${{ NAME }}`.
    fn only_a_reference<'t>(
        &mut self,
        name: &str,
        node: Node<'t>,
        text: &'t str,
    ) -> Option<Cow<'t, str>> {
        let inner = text.trim().strip_prefix("${{")?.strip_suffix("}}")?;
        if inner.contains("}}") {
            return None;
        }
        self.interpolate(name, node, text, Vars::Environment)
    }
}

/// `` `a`, `b` or `c` ``
pub fn list_words(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}

/// What a node is, in words.
pub(crate) fn type_of(node: Node<'_>) -> &'static str {
    match node.kind() {
        Kind::Sequence => "a list",
        Kind::Mapping => "a mapping",
        Kind::Scalar => node.scalar().map_or("nothing", Scalar::type_name),
    }
}

/// A name in a message. One that begins with `an item of ` means the items of a list.
pub(super) fn quoted_name(name: &str) -> String {
    match name.strip_prefix("an item of ") {
        Some(list) => format!("an item of `{list}`"),
        None => format!("`{name}`"),
    }
}

/// A value of another type than `name` takes. `wants` says which; a name that begins with
/// `an item of ` means the items of a list.
pub fn wrong_type(name: &str, node: Node<'_>, wants: &str) -> Diagnostic {
    let is_item = name.starts_with("an item of ");
    let verb = if is_item { "is" } else { "takes" };
    let (name, found) = (quoted_name(name), type_of(node));
    let message = format!("{name} {verb} {wants}, found {found}");
    Diagnostic::new(&WRONG_TYPE, short_span(node), message)
}

pub(crate) fn out_of_range(name: &str, node: Node<'_>, wants: &str) -> Diagnostic {
    let found = shorten(node.scalar_text().unwrap_or(""));
    Diagnostic::new(&OUT_OF_RANGE, node.span(), format!("`{name}` takes {wants}, found {found}"))
}

/// A long block is pointed at by its first line.
pub(crate) fn short_span(node: Node<'_>) -> Span {
    let span = node.span();
    match node.source_text().find('\n') {
        Some(at) => span.up_to(span.start + at as u32),
        None => span,
    }
}

/// Writes a text in quotes, unless the node is an alias.
pub(crate) fn quote(node: Node<'_>, text: &str) -> Option<Fix> {
    let fix = || Fix::replace("put it in quotes", node.span(), format!("\"{text}\""));
    (!node.is_alias()).then(fix)
}

fn not_a_boolean(name: &str, node: Node<'_>) -> Diagnostic {
    let diagnostic = wrong_type(name, node, "a boolean");
    let meant = match node.scalar_text().map(str::to_ascii_lowercase).as_deref() {
        Some("yes" | "on" | "true" | "y") => "true",
        Some("no" | "off" | "false" | "n") => "false",
        _ => return diagnostic.help("write `true` or `false`"),
    };
    let title = format!("write `{meant}`");
    let fix = (!node.is_alias()).then(|| Fix::replace(title.clone(), node.span(), meant));
    diagnostic.help(title).fix_if(fix)
}
