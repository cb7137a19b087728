//! A test that was written in another format, put into the words of this one and read like any other.
//! What is found in it is reported where its author wrote it.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use camino::Utf8Path;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::model::{JsonStyle, Map, Test, Value};
use crate::source::{SourceId, Span};
use crate::syntax::parse_json;

use super::loader::Loader;
use super::test::LineRetention;

/// A part of the translation, and the author's words for it.
#[derive(Debug, Clone)]
struct Passage {
    range: Range<u32>,
    span: Span,
}

/// A test as JSON text in the format of suites.
#[derive(Debug)]
pub(super) struct TranslatedTest {
    text: String,
    passages: Vec<Passage>,
    /// The author's test as a whole.
    whole: Span,
}

impl TranslatedTest {
    pub(super) fn new(whole: Span) -> Self {
        Self { text: "{".to_owned(), passages: Vec::new(), whole }
    }

    /// A field of the test, and where its author wrote it.
    pub(super) fn field(&mut self, key: &str, value: impl Into<Value>, span: Span) {
        self.key(key);
        self.value(&value.into(), span);
    }

    /// The list `assert`.
    pub(super) fn assertions(&mut self, entries: Vec<(Map, Span)>) {
        self.key("assert");
        self.text.push('[');
        for (at, (entry, span)) in entries.into_iter().enumerate() {
            if at > 0 {
                self.text.push(',');
            }
            self.value(&entry.into(), span);
        }
        self.text.push(']');
    }

    fn key(&mut self, key: &str) {
        if self.text.len() > 1 {
            self.text.push(',');
        }
        self.text.push_str(&Value::from(key).to_json(JsonStyle::Compact));
        self.text.push(':');
    }

    fn value(&mut self, value: &Value, span: Span) {
        let start = length(&self.text);
        self.text.push_str(&value.to_json(JsonStyle::Compact));
        self.passages.push(Passage { range: start..length(&self.text), span });
    }
}

/// The sources of a suite that has more than 4 GiB of text are not read.
fn length(text: &str) -> u32 {
    u32::try_from(text.len()).unwrap_or(u32::MAX)
}

/// From places in translations to the places of their authors.
#[derive(Debug, Default)]
pub(super) struct AuthorPlaces {
    tests: HashMap<SourceId, (Span, Vec<Passage>)>,
}

impl AuthorPlaces {
    fn of(&self, span: Span) -> Span {
        let Some((whole, passages)) = self.tests.get(&span.source) else {
            return span;
        };
        let is_around =
            |passage: &&Passage| passage.range.start <= span.start && span.end <= passage.range.end;
        passages.iter().find(is_around).map_or(*whole, |passage| passage.span)
    }

    fn move_diagnostic(&self, diagnostic: &mut Diagnostic) {
        diagnostic.span = self.of(diagnostic.span);
        for related in &mut diagnostic.related {
            related.span = self.of(related.span);
        }
        // Edits would change the translation, which is not a file.
        diagnostic.fix = None;
    }

    /// Moves the test itself and its assertions.
    fn move_test(&self, test: &mut Test) {
        test.span = self.of(test.span);
        for named in &mut test.assertions {
            if let Some(assertion) = Arc::get_mut(&mut named.assertion) {
                let common = &mut assertion.common;
                common.span = self.of(common.span);
                common.head = self.of(common.head);
                common.required_at = self.of(common.required_at);
            }
        }
    }
}

impl Loader<'_, '_> {
    /// Reads a translation and emits its test. `path` is the author's file.
    pub(super) fn read_translated(
        &mut self,
        translated: TranslatedTest,
        path: &Utf8Path,
        places: &mut AuthorPlaces,
    ) {
        let TranslatedTest { mut text, passages, whole } = translated;
        text.push('}');
        let source = self.reader.sources.add_file(path.to_owned(), text, 0);
        places.tests.insert(source, (whole, passages));
        let text = self.reader.sources.get(source).shared_text();
        // Collected apart, because their places have to be looked up first.
        let mut outer = std::mem::replace(self.reader.out, Diagnostics::new());
        self.reader.out.enter_test(self.position);
        let test = parse_json(source, text, self.reader.out).and_then(|tree| {
            let level = self.plain_level(None);
            let test = self.build_test(tree.root(), &level, &LineRetention::Kept)?;
            self.check_triggers(&test, tree.root(), &LineRetention::Kept);
            Some(test)
        });
        self.reader.vars = None;
        std::mem::swap(self.reader.out, &mut outer);
        for mut diagnostic in outer.into_vec() {
            places.move_diagnostic(&mut diagnostic);
            self.reader.report(diagnostic);
        }
        if let Some(mut test) = test {
            places.move_test(&mut test);
            self.emit(test);
        }
    }
}
