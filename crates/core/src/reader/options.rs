//! The options of one mapping, read by type. An invalid option is reported where it is found and
//! leaves [`Reported`] behind: a caller that reads every option before its first `?` shows all
//! faults of a mapping at once.

use crate::diagnostic::Diagnostic;
use crate::model::{Map, Number, Words};
use crate::source::{Span, Spanned};
use crate::syntax::Node;
use crate::syntax::fields::{Bound, CONFLICTING_FIELDS, Entry, Field, MISSING_OPTION};

use super::state::Reader;
use super::typed::{quoted_name, wrong_type};

/// An option is invalid or missing. A diagnostic says why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reported;

pub type ReadResult<T> = Result<T, Reported>;

#[derive(Debug)]
pub struct Options<'a, 'w, 't> {
    pub reader: &'a mut Reader<'w>,
    pub fields: &'a Bound<'t>,
    /// What the mapping is called in messages, such as `latency` or `an item of fields`.
    pub owner: &'a str,
}

impl<'t> Options<'_, '_, 't> {
    pub fn get(&self, name: &str) -> Option<Entry<'t>> {
        self.fields.get(name)
    }

    pub fn has(&self, name: &str) -> bool {
        self.fields.has(name)
    }

    /// Where missing options are reported.
    pub fn head(&self) -> Span {
        self.fields.head()
    }

    pub fn report(&mut self, diagnostic: Diagnostic) -> Reported {
        self.reader.report(diagnostic);
        Reported
    }

    /// The entry of an option that must be present.
    pub fn require(&mut self, name: &str) -> ReadResult<Entry<'t>> {
        if let Some(entry) = self.get(name) {
            return Ok(entry);
        }
        let help = match self.fields.misspelt(name).and_then(Node::scalar_text) {
            Some(written) => format!("rename `{written}` to `{name}`"),
            None => format!("add `{name}`"),
        };
        let message = format!("{} needs `{name}`", quoted_name(self.owner));
        Err(self.missing(self.head(), message, help))
    }

    pub fn missing(
        &mut self,
        span: Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Reported {
        self.report(Diagnostic::new(&MISSING_OPTION, span, message).help(help))
    }

    /// Two options that exclude each other.
    pub fn conflict(&mut self, first: &Entry<'_>, second: &Entry<'_>, help: &str) -> Reported {
        let message =
            format!("`{}` and `{}` exclude each other", first.field.name, second.field.name);
        self.report(
            Diagnostic::new(&CONFLICTING_FIELDS, second.key.span(), message)
                .related(first.key.span(), "the other one")
                .help(help),
        )
    }

    /// Two options that mean the same.
    pub(crate) fn spelled_twice(&mut self, first: &Entry<'_>, second: &Entry<'_>) -> Reported {
        let message = format!(
            "`{}` and `{}` are two spellings of one field",
            first.field.name, second.field.name
        );
        self.report(
            Diagnostic::new(&CONFLICTING_FIELDS, second.key.span(), message)
                .related(first.key.span(), "the other one")
                .help("keep one of them"),
        )
    }

    pub fn wrong_type(&mut self, name: &str, node: Node<'_>, expected: &str) -> Reported {
        self.report(wrong_type(name, node, expected))
    }

    /// An option that `read` understands, if it is present.
    pub fn optional<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(&mut Self, &Entry<'t>) -> ReadResult<T>,
    ) -> ReadResult<Option<T>> {
        self.get(name).map(|entry| read(self, &entry)).transpose()
    }

    pub fn text(&mut self, name: &str) -> ReadResult<Option<Spanned<String>>> {
        self.optional(name, |options, entry| options.text_of(name, entry.value))
    }

    pub fn text_of(&mut self, name: &str, node: Node<'t>) -> ReadResult<Spanned<String>> {
        let text = self.reader.text_of(name, node).ok_or(Reported)?;
        Ok(Spanned::new(text.into_owned(), node.span()))
    }

    /// A text that may be absent, but not blank.
    pub fn full_text(&mut self, name: &str) -> ReadResult<Option<Spanned<String>>> {
        self.optional(name, |options, entry| options.full_text_of(name, entry.value))
    }

    pub fn required_text(&mut self, name: &str) -> ReadResult<Spanned<String>> {
        let entry = self.require(name)?;
        self.full_text_of(name, entry.value)
    }

    pub fn full_text_of(&mut self, name: &str, node: Node<'t>) -> ReadResult<Spanned<String>> {
        let text = self.text_of(name, node)?;
        if text.value.trim().is_empty() {
            let message = format!("{} is empty", quoted_name(name));
            return Err(self.missing(node.span(), message, "give it a value, or remove it"));
        }
        Ok(text)
    }

    /// A list of strings.
    pub fn texts(&mut self, name: &str) -> ReadResult<Option<Vec<Spanned<String>>>> {
        self.optional(name, |options, entry| options.reader.text_list(entry).ok_or(Reported))
    }

    pub fn boolean(&mut self, name: &str) -> ReadResult<Option<bool>> {
        self.optional(name, |options, entry| options.reader.boolean(entry).ok_or(Reported))
    }

    pub fn integer(&mut self, name: &str, min: u64, max: u64) -> ReadResult<Option<u64>> {
        self.optional(name, |options, entry| {
            options.reader.integer(entry, min, max).ok_or(Reported)
        })
    }

    /// A finite number with both bounds allowed.
    pub fn number(&mut self, name: &str, min: f64, max: f64) -> ReadResult<Option<Number>> {
        self.optional(name, |options, entry| options.reader.number(entry, min, max).ok_or(Reported))
    }

    /// A finite number that is not negative.
    pub fn amount(&mut self, name: &str) -> ReadResult<Option<Number>> {
        self.number(name, 0.0, f64::INFINITY)
    }

    /// One of the words of `T`.
    pub fn choice<T: Words>(&mut self, name: &str) -> ReadResult<Option<T>> {
        self.optional(name, |options, entry| {
            let word = options.reader.choice(entry, T::WORDS).ok_or(Reported)?;
            T::parse(word).ok_or(Reported)
        })
    }

    /// One of a few words that mean nothing else.
    pub(crate) fn choice_of(
        &mut self,
        name: &str,
        words: &'static [&'static str],
    ) -> ReadResult<Option<&'static str>> {
        self.optional(name, |options, entry| options.reader.choice(entry, words).ok_or(Reported))
    }

    /// A mapping with free keys.
    pub fn map(&mut self, name: &str) -> ReadResult<Option<Map>> {
        self.optional(name, |options, entry| options.reader.map(entry).ok_or(Reported))
    }

    /// A mapping with fields of its own.
    pub fn nested<T>(
        &mut self,
        name: &str,
        fields: &'static [Field],
        read: impl FnOnce(&mut Options<'_, '_, 't>) -> ReadResult<T>,
    ) -> ReadResult<Option<T>> {
        self.optional(name, |options, entry| options.nested_of(name, entry.value, fields, read))
    }

    /// As [`Self::nested`], for a node that is called `name` in messages.
    pub(crate) fn nested_of<T>(
        &mut self,
        name: &str,
        node: Node<'t>,
        fields: &'static [Field],
        read: impl FnOnce(&mut Options<'_, '_, 't>) -> ReadResult<T>,
    ) -> ReadResult<T> {
        if !node.is_mapping() {
            return Err(self.wrong_type(name, node, "a mapping"));
        }
        read_mapping(self.reader, name, node, fields, read)
    }

    /// A list of which every item is read, so that all faults in it are shown.
    pub fn list<T>(
        &mut self,
        name: &str,
        expected: &str,
        mut read: impl FnMut(&mut Self, Node<'t>) -> ReadResult<T>,
    ) -> ReadResult<Option<Vec<T>>> {
        let Some(entry) = self.get(name) else {
            return Ok(None);
        };
        if !entry.value.is_sequence() {
            return Err(self.wrong_type(name, entry.value, expected));
        }
        all_read(entry.value.items().map(|item| read(self, item))).map(Some)
    }

    /// A list of mappings with fields of their own.
    pub fn nested_list<T>(
        &mut self,
        name: &str,
        fields: &'static [Field],
        read: impl Fn(&mut Options<'_, '_, 't>) -> ReadResult<T>,
    ) -> ReadResult<Option<Vec<T>>> {
        let item_name = format!("an item of {name}");
        self.list(name, "a list of mappings", |options, item| {
            options.nested_of(&item_name, item, fields, &read)
        })
    }
}

/// Reads a mapping by a table of its own; unknown keys are reported.
pub(crate) fn read_mapping<'t, T>(
    reader: &mut Reader<'_>,
    owner: &str,
    node: Node<'t>,
    fields: &'static [Field],
    read: impl FnOnce(&mut Options<'_, '_, 't>) -> ReadResult<T>,
) -> ReadResult<T> {
    let bound = Bound::new(node, &[fields], reader.out());
    bound.report_unknown(&[fields], reader.out());
    read(&mut Options { reader, fields: &bound, owner })
}

/// Every value, or [`Reported`] if one of them is invalid. Unlike `collect`, it does not stop at
/// the first.
pub fn all_read<T>(items: impl IntoIterator<Item = ReadResult<T>>) -> ReadResult<Vec<T>> {
    let items = items.into_iter();
    let mut values = Vec::with_capacity(items.size_hint().0);
    let mut is_complete = true;
    for item in items {
        match item {
            Ok(value) => values.push(value),
            Err(Reported) => is_complete = false,
        }
    }
    if is_complete { Ok(values) } else { Err(Reported) }
}
