//! The state of one conversion: files that it may open, mistakes and losses found so far.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};

use crate::diagnostic::{Diagnostic, Diagnostics, declare_codes, did_you_mean};
use crate::model::{Loss, TestId};
use crate::source::{EntryKind, Files, Reach, Sources, Span, relative_path, without_dots};

use super::field_map::{FieldMap, key_paths};
use super::foreign_file::ForeignFile;
use super::located::Located;

declare_codes! {
    NOT_CONVERTIBLE = "not-convertible", Blocking, Shape, r#"A file of another tool cannot become a suite: it lacks what every test needs, or says it in a form that
`convert` does not know.

## Example
```text
evalrig convert promptfooconfig.yaml -o EVAL.yaml, and the file has `tests: file://tests.js`
```

## Instead
```text
write the generated tests to a YAML, JSON or CSV file, and name that file under `tests`
```

## Why
A suite without these tests would look complete. What can be left out without changing which tests there
are is a loss, and `convert` goes on.
"#;
}

/// What becomes of code in the foreign file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeUse {
    /// Judge scripts and targets of the suite run it.
    Written,
    /// It is a loss: only a converted suite runs programs.
    Refused,
}

/// What the caller lends for a conversion.
#[derive(Debug, Clone, Copy)]
pub struct ImportRequest<'a> {
    pub files: &'a dyn Files,
    /// The file to convert, absolute.
    pub path: &'a Utf8Path,
    /// Further files of the same format whose tests go to the same suite, absolute.
    pub others: &'a [Utf8PathBuf],
    /// The directory of the suite that will be written, absolute.
    pub directory: &'a Utf8Path,
    /// Where the files that it names may be.
    pub reach: Reach<'a>,
    /// What `--map` says.
    pub map: Option<&'a FieldMap>,
    /// The names in the targets file that the suite will find, if there is one.
    pub targets: Option<&'a [String]>,
    pub code: CodeUse,
}

/// Kind, place, message and test of a loss.
type LossKey = (&'static str, Span, Cow<'static, str>, Option<Arc<TestId>>);

/// Reads one foreign file and those that it names.
#[derive(Debug)]
pub(super) struct Importer<'r> {
    pub(super) request: &'r ImportRequest<'r>,
    pub(super) sources: Sources,
    pub(super) out: Diagnostics,
    pub(super) losses: Vec<Loss>,
    seen: HashSet<LossKey>,
    /// The losses that are reported at their first place only, and how often they occurred.
    repeated: HashMap<&'static str, (usize, usize)>,
    /// The test that is being made.
    test: Option<Arc<TestId>>,
    is_map_used: bool,
}

impl<'r> Importer<'r> {
    pub(super) fn new(request: &'r ImportRequest<'r>, sources: Sources, out: Diagnostics) -> Self {
        let (losses, seen, repeated) = (Vec::new(), HashSet::new(), HashMap::new());
        Self { request, sources, out, losses, seen, repeated, test: None, is_map_used: false }
    }

    /// Losses found from now on are those of this test.
    pub(super) fn enter_test(&mut self, id: &str) {
        self.test = TestId::new(id).map(Arc::new);
    }

    pub(super) fn leave_test(&mut self) {
        self.test = None;
    }

    pub(super) fn loss(
        &mut self,
        kind: &'static str,
        span: Span,
        message: impl Into<Cow<'static, str>>,
    ) {
        let loss = Loss { kind, test: self.test.clone(), message: message.into(), span };
        // What tests inherit is read for each of them.
        if self.seen.insert((kind, span, loss.message.clone(), self.test.clone())) {
            self.losses.push(loss);
        }
    }

    /// Reports a check or a provider that would run a program, where that needs a converted suite.
    pub(super) fn note_code(&mut self, span: Span, message: &'static str) {
        if self.request.code == CodeUse::Refused {
            self.loss("script", span, message);
        }
    }

    /// A difference that the whole file has: it is reported at its first place.
    pub(super) fn loss_once(&mut self, kind: &'static str, span: Span, message: &'static str) {
        if let Some((_, count)) = self.repeated.get_mut(message) {
            *count += 1;
            return;
        }
        self.repeated.insert(message, (self.losses.len(), 1));
        self.losses.push(Loss { kind, test: None, message: message.into(), span });
    }

    /// The losses, and in those that stand for several how many they are.
    pub(super) fn into_parts(mut self) -> (Sources, Diagnostics, Vec<Loss>) {
        for (message, (at, count)) in &self.repeated {
            if *count > 1 {
                let others = count - 1;
                let noun = if others == 1 { "place" } else { "places" };
                self.losses[*at].message = format!("{message} (and {others} more {noun})").into();
            }
        }
        self.losses.sort_by_key(|loss| (loss.span.source, loss.span.start));
        (self.sources, self.out, self.losses)
    }

    /// Reports why no suite can be made.
    pub(super) fn refuse<T>(
        &mut self,
        span: Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Option<T> {
        self.out.report(Diagnostic::new(&NOT_CONVERTIBLE, span, message).help(help));
        None
    }

    /// What `--map` says, for a reader that follows it.
    pub(super) fn map(&mut self) -> Option<&'r FieldMap> {
        self.is_map_used = true;
        self.request.map
    }

    /// Refuses a map that nothing follows.
    pub(super) fn check_map_is_used(&mut self, place: Span, format: &str) -> Option<()> {
        if self.request.map.is_none() || self.is_map_used {
            return Some(());
        }
        let message = format!("`--map` is for lists of records, and this file is read as {format}");
        self.refuse(place, message, "leave `--map` out, or add `--from list`")
    }

    /// Refuses a key of `--map` that no record has: its check would be missing in every test.
    pub(super) fn check_map_keys(&mut self, rows: &[&Located], place: Span) -> Option<()> {
        let Some(map) = self.request.map else { return Some(()) };
        let has = |path: &str| rows.iter().any(|row| row.at_path(path).is_some());
        let whole = map.typed_keys().filter(|key| !has(key));
        let unknown = whole.flat_map(|key| key.split('+').map(str::trim)).find(|key| !has(key));
        let Some(key) = unknown else { return Some(()) };
        let known = key_paths(rows);
        let help = match did_you_mean(key, known.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the keys are {}", known.join(", ")),
        };
        self.refuse(place, format!("no record has the key `{key}` of `--map`"), help)
    }

    /// Opens a file that another one names at `place`.
    pub(super) fn open(&mut self, path: &Utf8Path, place: Span) -> Option<ForeignFile> {
        if !self.exists(path) {
            let shown = self.shown(path);
            return self.refuse(
                place,
                format!("`{shown}` does not exist"),
                "paths start at the directory of the file that names them",
            );
        }
        let before = self.out.len();
        let Self { request, sources, out, .. } = self;
        let opened = ForeignFile::open(request.files, sources, out, path, request.reach);
        if opened.is_none() && self.out.len() == before {
            let shown = self.shown(path);
            return self.refuse(
                place,
                format!("`{shown}` cannot be read as a list of tests"),
                format!("write them to a file that ends in {}", super::foreign_file::ENDINGS),
            );
        }
        opened
    }

    /// The text of a file that another one names.
    pub(super) fn read_text(&mut self, path: &Utf8Path) -> Option<String> {
        let bytes = self.read_bytes(path)?;
        String::from_utf8(bytes).ok()
    }

    pub(super) fn read_bytes(&mut self, path: &Utf8Path) -> Option<Vec<u8>> {
        const LIMIT: u64 = 10 * 1024 * 1024;
        let bytes = self.request.files.read(path, self.request.reach, LIMIT + 1).ok()?;
        (bytes.len() as u64 <= LIMIT).then_some(bytes)
    }

    pub(super) fn exists(&self, path: &Utf8Path) -> bool {
        let facts = self.request.files.look(path, self.request.reach);
        facts.is_ok_and(|facts| facts.kind == EntryKind::File)
    }

    /// The files that a pattern with `*` matches, in byte order; a plain path as it is.
    pub(super) fn matching(&self, path: &Utf8Path) -> Vec<Utf8PathBuf> {
        if !path.as_str().contains(['*', '?', '[', '{']) || self.exists(path) {
            return vec![path.to_owned()];
        }
        let glob = globset::GlobBuilder::new(path.as_str()).literal_separator(true).build();
        let Ok(glob) = glob else { return Vec::new() };
        let matcher = glob.compile_matcher();
        let start: Utf8PathBuf = path
            .components()
            .take_while(|part| !part.as_str().contains(['*', '?', '[', '{']))
            .collect();
        let mut found = Vec::new();
        self.walk(&start, 0, &mut |path| {
            if matcher.is_match(path) {
                found.push(path.to_owned());
            }
        });
        found.sort();
        found
    }

    fn walk(&self, directory: &Utf8Path, depth: usize, visit: &mut dyn FnMut(&Utf8Path)) {
        const DEEPEST: usize = 16;
        let listing = self.request.files.list(directory, self.request.reach);
        for entry in listing.unwrap_or_default().entries {
            let path = directory.join(&entry.name);
            match entry.kind {
                EntryKind::File => visit(&path),
                EntryKind::Directory
                    if depth < DEEPEST && !entry.is_link && entry.name != "node_modules" =>
                {
                    self.walk(&path, depth + 1, visit);
                }
                _ => {}
            }
        }
    }

    /// A path as it must be written in the suite.
    pub(super) fn path_in_suite(&self, path: &Utf8Path) -> String {
        relative_path(self.request.directory, &without_dots(path))
    }

    /// A path as it is shown in messages.
    pub(super) fn shown(&self, path: &Utf8Path) -> String {
        let own = self.request.path.parent().unwrap_or(self.request.path);
        relative_path(own, &without_dots(path))
    }
}
