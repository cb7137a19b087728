//! What the written files leave out (spec 12.7, 15.4), for people and for machines. There may be
//! many losses per test, so nothing is allocated per loss that can be shared.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry as Slot;
use std::fmt::Write as _;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

use camino::Utf8Path;
use evalrig_core::model::Loss;
use evalrig_core::secrets::Secrets;
use evalrig_core::source::{SourceId, Sources, Span};
use serde::Serialize;

use evalrig_run::text;

/// The losses of one suite and what they point into.
#[derive(Debug)]
pub struct Losses<'a> {
    pub list: &'a [Loss],
    pub sources: &'a Sources,
    pub secrets: &'a Secrets,
    pub working_directory: &'a Utf8Path,
}

impl Losses<'_> {
    /// One line per place; an assertion that many tests share is named once.
    pub fn to_lines(&self) -> String {
        let lines = self.distinct();
        let mut files = Files::of(self);
        let mut text = String::with_capacity(lines.len() * 100);
        for (loss, others) in lines {
            let (file, line) = files.place(loss.span);
            let _ = write!(text, "{file}:{line}: loss[");
            text.extend([loss.kind, "]: ", &loss.message]);
            if let Some(test) = &loss.test {
                text.extend([" (test `", test.as_str(), "`"]);
                let _ = match others {
                    0 => Ok(()),
                    1 => text.write_str(" and 1 other"),
                    more => write!(text, " and {more} others"),
                };
                text.push(')');
            }
            text.push('\n');
        }
        if !self.secrets.is_empty() {
            text = self.secrets.redact(&text);
        }
        match text::paragraph(&text) {
            Cow::Borrowed(_) => text,
            Cow::Owned(changed) => changed,
        }
    }

    /// Each with how many others say the same.
    fn distinct(&self) -> Vec<(&Loss, usize)> {
        let mut lines: Vec<(&Loss, usize)> = Vec::with_capacity(self.list.len());
        let mut known: HashMap<Content<'_>, usize> = HashMap::with_capacity(self.list.len());
        for loss in self.list {
            match known.entry(Content(loss)) {
                Slot::Occupied(at) => lines[*at.get()].1 += 1,
                Slot::Vacant(slot) => {
                    slot.insert(lines.len());
                    lines.push((loss, 0));
                }
            }
        }
        lines
    }

    pub fn to_json(&self) -> serde_json::Result<String> {
        let mut files = Files::of(self);
        let rows: Vec<Row<'_>> = self.list.iter().map(|loss| self.row(loss, &mut files)).collect();
        Ok(serde_json::to_string_pretty(&rows)? + "\n")
    }

    fn row<'l>(&self, loss: &'l Loss, files: &mut Files<'_>) -> Row<'l> {
        let (file, line) = files.place(loss.span);
        Row {
            kind: loss.kind,
            test: loss.test.as_ref().map(|test| match test.number() {
                Some(number) => Id::Number(number),
                None => Id::Text(self.redacted(test.as_str())),
            }),
            message: self.redacted(&loss.message),
            source: LossPlace { file, line },
        }
    }

    fn redacted<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.secrets.is_empty() { text.into() } else { self.secrets.redact(text).into() }
    }
}

/// What a loss says, whichever test it is of.
struct Content<'l>(&'l Loss);

impl PartialEq for Content<'_> {
    fn eq(&self, other: &Self) -> bool {
        let (this, other) = (self.0, other.0);
        this.span == other.span && this.kind == other.kind && this.message == other.message
    }
}

impl Eq for Content<'_> {}

impl Hash for Content<'_> {
    /// Two kinds hardly ever say the same, so the kind is not worth the time.
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.span.hash(state);
        state.write(self.0.message.as_bytes());
    }
}

/// The names of files as they are shown. Losses of one file follow each other, so the last name is
/// kept.
struct Files<'a> {
    sources: &'a Sources,
    secrets: &'a Secrets,
    working_directory: &'a Utf8Path,
    last: Option<(SourceId, Rc<str>)>,
}

impl<'a> Files<'a> {
    fn of(losses: &Losses<'a>) -> Self {
        let Losses { sources, secrets, working_directory, .. } = *losses;
        Self { sources, secrets, working_directory, last: None }
    }

    /// File and line.
    fn place(&mut self, span: Span) -> (Rc<str>, u32) {
        let line = self.sources.position(span).line;
        match &self.last {
            Some((source, name)) if *source == span.source => (name.clone(), line),
            _ => {
                let path = self.sources.get(span.source).path();
                let name = text::shown_path(path, self.working_directory);
                let name: Rc<str> = self.secrets.redact(&name).into();
                self.last = Some((span.source, name.clone()));
                (name, line)
            }
        }
    }
}

#[derive(Serialize)]
struct Row<'l> {
    kind: &'static str,
    test: Option<Id<'l>>,
    message: Cow<'l, str>,
    source: LossPlace,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Id<'l> {
    Number(u64),
    Text(Cow<'l, str>),
}

#[derive(Serialize)]
struct LossPlace {
    #[serde(serialize_with = "as_text")]
    file: Rc<str>,
    line: u32,
}

fn as_text<S: serde::Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(text)
}
