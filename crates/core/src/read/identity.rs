//! Test ids: reads them, and detects duplicates.

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, Hasher, RandomState};
use std::sync::Arc;

use camino::Utf8Path;

use crate::diagnostic::{Diagnostic, declare_codes};
use crate::model::TestId;
use crate::reader::{Reader, quote, wrong_type};
use crate::source::{Position, Sources, Span};
use crate::syntax::fields::{Bound, shorten};
use crate::syntax::{Node, Scalar};

use super::test::TEST_FIELDS;

declare_codes! {
    MISSING_ID = "missing-id", Blocking, Shape, r#"A test has no `id`.

## Example
```yaml
name: demo
tests:
  - criteria: Greets
    input: Hi
```

## Instead
```yaml
name: demo
tests:
  - id: greeting
    criteria: Greets
    input: Hi
```

## Why
Results, filters and comparisons between runs find a test by its id.
"#;
    INVALID_ID = "invalid-id", Blocking, Shape, r#"An id is blank or has a line break in it.

## Example
```yaml
name: demo
tests:
  - id: " "
    criteria: Greets
    input: Hi
```

## Instead
```yaml
name: demo
tests:
  - id: greeting
    criteria: Greets
    input: Hi
```

## Why
An id has to be typed on a command line and read in a report.
"#;
    DUPLICATE_ID = "duplicate-id", Blocking, Reference, r#"Two tests of a suite have the same id. `1` and `"1"` are the same.

## Example
```yaml
name: demo
tests:
  - {id: greeting, criteria: Greets, input: Hi}
  - {id: greeting, criteria: Says goodbye, input: Bye}
```

## Instead
```yaml
name: demo
tests:
  - {id: greeting, criteria: Greets, input: Hi}
  - {id: goodbye, criteria: Says goodbye, input: Bye}
```

## Why
Their results could not be distinguished. Ids must be unique over the whole suite, including imports.
"#;
    AMBIGUOUS_ID = "ambiguous-id", Warning, Shape, r#"An integer id is written in a way that other tools read as another number. Its source text is used.

## Example
```yaml
name: demo
tests:
  - {id: 007, criteria: Greets, input: Hi}
```

## Instead
```yaml
name: demo
tests:
  - {id: "007", criteria: Greets, input: Hi}
```

## Why
Leading zeros, hexadecimal and very large integers do not survive every YAML and JSON tool.
"#;
}

/// The largest integer that every JSON tool keeps.
const LARGEST: u64 = (1 << 53) - 1;

/// The id of a test; faults are reported.
pub(super) fn read_id(reader: &mut Reader<'_>, bound: &Bound<'_>) -> Option<(TestId, Span)> {
    let Some(entry) = bound.get("id") else {
        let help = bound.help_for_missing(TEST_FIELDS, "id", "add `id`, a short unique name");
        let found = Diagnostic::new(&MISSING_ID, bound.head(), "this test has no `id`").help(help);
        return reader.refuse(found.suggestion_if(bound.rename_for_missing(TEST_FIELDS, "id")));
    };
    let node = entry.value;
    let id = match node.scalar() {
        Some(Scalar::Int(text)) => Some(integer_id(reader, node, text)),
        Some(Scalar::Str(_)) => {
            let text = reader.text(&entry)?;
            let id = TestId::new(text.as_ref());
            if id.is_none() {
                let message = if text.trim().is_empty() {
                    "the id is blank"
                } else {
                    "the id has a line break in it"
                };
                let diagnostic = Diagnostic::new(&INVALID_ID, node.span(), message);
                reader.report(diagnostic.help("give the test a short name on one line"));
            }
            id
        }
        _ => reader.refuse(wrong_type("id", node, "a string or an integer")),
    };
    id.map(|id| (id, node.span()))
}

fn integer_id(reader: &mut Reader<'_>, node: Node<'_>, text: &str) -> TestId {
    let is_plain = text == "0" || !text.starts_with(['0', '+', '-']);
    match text.parse::<u64>() {
        Ok(number) if is_plain && number <= LARGEST => TestId::numeric(number),
        _ => {
            let id = shorten(text);
            let message = format!("the id `{id}` is not the same number in every tool");
            let diagnostic = Diagnostic::new(&AMBIGUOUS_ID, node.span(), message);
            let fix = quote(node, text);
            reader.report(diagnostic.help("put it in quotes").fix_if(fix));
            TestId::new(text).unwrap_or_else(|| TestId::numeric(0))
        }
    }
}

/// The place of the id that is being registered.
#[derive(Debug, Clone)]
pub(super) enum IdPlace {
    Span(Span),
    /// On a line that will be dropped.
    Line {
        path: Arc<Utf8Path>,
        position: Position,
    },
}

/// What is kept of an id: a keyed hash, and some bits of another one.
#[derive(Debug, Clone, Copy)]
pub(super) struct IdFingerprint {
    hash: u64,
    check: u64,
}

/// Makes fingerprints. Only those of one load can be compared.
#[derive(Debug, Clone, Default)]
pub(super) struct IdHasher(RandomState);

impl IdHasher {
    pub(super) fn fingerprint(&self, id: &TestId) -> IdFingerprint {
        IdFingerprint { hash: self.0.hash_one(id.as_str()), check: second_hash(id.as_str()) }
    }
}

/// An id on a line of a part of a file.
#[derive(Debug)]
pub(super) struct LineId {
    pub(super) fingerprint: IdFingerprint,
    pub(super) position: Position,
    /// The byte of the file at which the line begins.
    pub(super) line_offset: u64,
    /// The bytes of the line that hold the id.
    pub(super) range: (u32, u32),
    /// The test's position in the part.
    pub(super) test: u32,
}

/// Every id so far as a keyed hash, and its place packed into one word: a million ids must not be
/// kept as text.
#[derive(Debug, Default)]
pub(super) struct Ids {
    seen: HashMap<u64, Packed, BuildHasherDefault<AlreadyHashed>>,
    hasher: IdHasher,
    /// Places that are kept.
    places: Vec<Span>,
    /// Files whose lines are not kept.
    files: Vec<Arc<Utf8Path>>,
}

/// Where an id was used first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FirstUse {
    /// An index of `places`.
    Kept(u32),
    /// A line of one of `files`.
    Line { file: u8, line: u32, column: u32 },
}

/// From the top: check bits for texts with the same hash, a bit for lines, then the file, the line
/// and the column, or the index of a kept place.
#[derive(Debug, Clone, Copy)]
struct Packed(u64);

const CHECK_BITS: u32 = 12;
const COLUMN_BITS: u32 = 11;
const LINE_BITS: u32 = 32;
const IS_LINE: u64 = 1 << (63 - CHECK_BITS);

impl Packed {
    fn new(check: u64, place: FirstUse) -> Self {
        let place = match place {
            FirstUse::Kept(index) => u64::from(index),
            FirstUse::Line { file, line, column } => {
                let column = u64::from(column).min((1 << COLUMN_BITS) - 1);
                let file = u64::from(file) << (LINE_BITS + COLUMN_BITS);
                IS_LINE | file | u64::from(line) << COLUMN_BITS | column
            }
        };
        Self(check << (64 - CHECK_BITS) | place)
    }

    fn is_of(self, check: u64) -> bool {
        self.0 >> (64 - CHECK_BITS) == check
    }

    fn place(self) -> FirstUse {
        match self.0 & IS_LINE {
            0 => FirstUse::Kept(self.0 as u32),
            _ => FirstUse::Line {
                file: (self.0 >> (LINE_BITS + COLUMN_BITS)) as u8,
                line: (self.0 >> COLUMN_BITS) as u32,
                column: (self.0 & ((1 << COLUMN_BITS) - 1)) as u32,
            },
        }
    }
}

impl Ids {
    pub(super) fn hasher(&self) -> &IdHasher {
        &self.hasher
    }

    /// Registers an id. Returns where it was used first, if this is not the first use.
    pub(super) fn register(
        &mut self,
        fingerprint: IdFingerprint,
        place: &IdPlace,
        sources: &mut Sources,
    ) -> Option<FirstUse> {
        match self.seen.get(&fingerprint.hash) {
            Some(known) if known.is_of(fingerprint.check) => Some(known.place()),
            // A hash collision: the second id cannot be registered.
            Some(_) => None,
            None => {
                let first = self.first_use(place, sources);
                self.seen.insert(fingerprint.hash, Packed::new(fingerprint.check, first));
                None
            }
        }
    }

    fn first_use(&mut self, place: &IdPlace, sources: &mut Sources) -> FirstUse {
        match place {
            IdPlace::Span(span) => self.keep(*span),
            IdPlace::Line { path, position } => match self.file_number(path) {
                Some(file) => FirstUse::Line { file, line: position.line, column: position.column },
                None => {
                    let span = excerpt("", path.clone(), *position, sources);
                    self.keep(span)
                }
            },
        }
    }

    fn keep(&mut self, span: Span) -> FirstUse {
        self.places.push(span);
        FirstUse::Kept(self.places.len() as u32 - 1)
    }

    /// `None` once there are more files than the packed word can number.
    fn file_number(&mut self, path: &Arc<Utf8Path>) -> Option<u8> {
        let known = self.files.iter().rposition(|file| Arc::ptr_eq(file, path));
        let number = known.unwrap_or_else(|| {
            self.files.push(path.clone());
            self.files.len() - 1
        });
        u8::try_from(number).ok()
    }

    /// The span of a first use, for a diagnostic.
    pub(super) fn span_of(&self, first: FirstUse, id: &TestId, sources: &mut Sources) -> Span {
        match first {
            FirstUse::Kept(index) => self.places[index as usize],
            FirstUse::Line { file, line, column } => {
                let path = self.files[usize::from(file)].clone();
                excerpt(id.as_str(), path, Position { line, column }, sources)
            }
        }
    }
}

/// The id as a source of its own, at its place in the file.
fn excerpt(id: &str, path: Arc<Utf8Path>, first: Position, sources: &mut Sources) -> Span {
    let source = sources.add_excerpt(path, id, first, 0);
    Span::new(source, 0, id.len() as u32)
}

/// Distinguishes the rare texts whose first hash is equal.
fn second_hash(text: &str) -> u64 {
    let hash = text
        .bytes()
        .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    u64::from(hash >> (32 - CHECK_BITS))
}

pub(super) fn duplicate_id(id: &TestId, first: Span, second: Span) -> Diagnostic {
    Diagnostic::new(
        &DUPLICATE_ID,
        second,
        format!("test id `{}` is used twice", shorten(id.as_str())),
    )
    .label("again here")
    .related(first, "first used here")
    .help("give one of them another id")
}

/// The key is a hash already.
#[derive(Debug, Default)]
struct AlreadyHashed(u64);

impl Hasher for AlreadyHashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("only whole hashes are written");
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packed_place_comes_back() {
        for place in [
            FirstUse::Kept(0),
            FirstUse::Kept(u32::MAX),
            FirstUse::Line { file: 255, line: u32::MAX, column: 2047 },
            FirstUse::Line { file: 0, line: 1, column: 1 },
        ] {
            let packed = Packed::new((1 << CHECK_BITS) - 1, place);
            assert_eq!(packed.place(), place);
            assert!(packed.is_of((1 << CHECK_BITS) - 1));
        }
    }

    #[test]
    fn the_second_use_of_an_id_on_a_line_leads_to_the_first() {
        let mut ids = Ids::default();
        let mut sources = Sources::new();
        let path: Arc<Utf8Path> = camino::Utf8PathBuf::from("/d.jsonl").into();
        let id = TestId::new("a").unwrap();
        let at =
            |line| IdPlace::Line { path: path.clone(), position: Position { line, column: 8 } };
        let fingerprint = ids.hasher().fingerprint(&id);
        assert_eq!(ids.register(fingerprint, &at(3), &mut sources), None);
        let first = ids.register(fingerprint, &at(9), &mut sources).unwrap();
        let first = ids.span_of(first, &id, &mut sources);
        assert_eq!(sources.position(first), Position { line: 3, column: 8 });
    }
}
