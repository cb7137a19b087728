//! The entry of an assert list, as a type's `read` sees it.

use std::borrow::Cow;

use crate::diagnostic::Diagnostic;
use crate::model::{Map, Required};
use crate::reader::Reader;
use crate::source::{Span, Spanned};
use crate::syntax::fields::{Bound, Entry, MISSING_OPTION};
use crate::syntax::{Node, Scalar};

use super::codes::VALUE_NOT_STRING;
use super::needle::EMPTY_VALUE;

#[derive(Debug)]
pub struct Options<'a, 'w, 't> {
    pub reader: &'a mut Reader<'w>,
    pub fields: &'a Bound<'t>,
    /// The type as the author spelt it, `_` turned into `-`.
    pub written_type: &'a str,
    pub negate: bool,
    /// Given to scripts and judges. A type may add to it.
    pub config: &'a mut Map,
    /// The gate and its place. A type may set them from an option of its own.
    pub required: &'a mut Required,
    pub required_at: &'a mut Span,
    /// How many composites are around it.
    pub depth: usize,
}

impl<'t> Options<'_, '_, 't> {
    pub fn get(&self, name: &str) -> Option<Entry<'t>> {
        self.fields.get(name)
    }

    /// The entry of an option that must be there.
    pub fn require(&mut self, name: &str) -> Option<Entry<'t>> {
        let entry = self.fields.get(name);
        if entry.is_none() {
            let message = format!("`{}` needs `{name}`", self.written_type);
            self.missing(message, format!("add `{name}`"));
        }
        entry
    }

    pub fn missing(&mut self, message: impl Into<String>, help: impl Into<String>) {
        let diagnostic = Diagnostic::new(&MISSING_OPTION, self.head(), message).help(help);
        self.reader.report(diagnostic);
    }

    /// Where something missing is reported.
    pub fn head(&self) -> Span {
        self.fields.head()
    }

    pub fn report(&mut self, diagnostic: Diagnostic) {
        self.reader.report(diagnostic);
    }

    /// A text that is not empty; a number or boolean is read as its source text, with a warning.
    pub fn value_text(&mut self, name: &str, node: Node<'t>) -> Option<Spanned<String>> {
        let text: Cow<'t, str> = match node.scalar() {
            Some(Scalar::Int(_) | Scalar::Float(_) | Scalar::Bool(_)) => {
                let text = node.scalar_text().unwrap_or_default();
                self.report(value_not_string(name, node, text));
                Cow::Borrowed(text)
            }
            _ => self.reader.text_of(name, node)?,
        };
        if text.is_empty() {
            let message = format!("`{name}` is empty");
            self.report(
                Diagnostic::new(&EMPTY_VALUE, node.span(), message)
                    .help("every output contains the empty text; say what to look for"),
            );
            return None;
        }
        Some(Spanned::new(text.into_owned(), node.span()))
    }
}

fn value_not_string(name: &str, node: Node<'_>, text: &str) -> Diagnostic {
    let message =
        format!("`{name}` is compared as text, so `{text}` is read as the text \"{text}\"");
    Diagnostic::new(&VALUE_NOT_STRING, node.span(), message)
        .help("put quotes round it")
        .fix_if((!node.is_alias()).then(|| {
            crate::diagnostic::Fix::replace("put it in quotes", node.span(), format!("\"{text}\""))
        }))
}
