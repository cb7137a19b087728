//! Mappings with known keys: a table lists them, and binding reports the rest.
//!
//! The same table feeds the JSON Schema and the reference pages, so a field is described once.

use smallvec::SmallVec;

use crate::diagnostic::{Diagnostic, Diagnostics, Fix, declare_codes, did_you_mean};
use crate::source::Span;

use super::edit::same_quotes;
use super::tree::Node;

declare_codes! {
    WRONG_TYPE = "wrong-type", Blocking, Shape, r#"A value has the wrong type for its field.

## Example
```yaml
name: demo
tests:
  - id: a
    criteria: Greets
    input: Hi
    assert:
      - {type: trigger-judge, skill: greeter, detection: any-call, should_trigger: no}
```

## Instead
```yaml
name: demo
tests:
  - id: a
    criteria: Greets
    input: Hi
    assert:
      - {type: trigger-judge, skill: greeter, detection: any-call, should_trigger: false}
```

## Why
In YAML 1.2 `yes`, `no`, `on` and `off` are strings; only `true` and `false` are booleans. Silent
conversion would give such a value a meaning that its author may not have intended.
"#;
    OUT_OF_RANGE = "out-of-range", Blocking, Shape, r#"A number is outside the range its field accepts.

## Example
```yaml
name: demo
execution: {timeout_seconds: 0}
tests:
  - {id: a, criteria: Greets, input: Hi}
```

## Instead
```yaml
name: demo
execution: {timeout_seconds: 30}
tests:
  - {id: a, criteria: Greets, input: Hi}
```

## Why
Clamping the number to the nearest legal value would run something other than what was written.
"#;
    CONFLICTING_FIELDS = "conflicting-fields", Blocking, Shape, r#"A mapping contains two spellings of the same field.

## Example
```yaml
name: demo
tests:
  - id: a
    criteria: Greets
    expected_outcome: Says hello
    input: Hi
```

## Instead
```yaml
name: demo
tests:
  - id: a
    criteria: Greets, and says hello
    input: Hi
```

## Why
Only one of them can take effect, and nothing says which one was meant.
"#;
    NULL_FIELD = "null-field", Warning, Shape, r#"A field is present but has no value. It is treated as absent.

## Example
```yaml
name: demo
description:
tests:
  - {id: a, criteria: Greets, input: Hi}
```

## Instead
```yaml
name: demo
tests:
  - {id: a, criteria: Greets, input: Hi}
```

## Why
Often the value is on the next line with the wrong indentation, or was forgotten.
"#;
    UNKNOWN_FIELD = "unknown-field", Warning, Shape, r#"The format does not define this key here, so it has no effect.
Keys that begin with `x-`, and `$schema`, are allowed everywhere.

## Example
```yaml
name: demo
tests:
  - id: a
    criteria: Greets
    input: Hi
    asert:
      - {type: contains, value: Hello}
```

## Instead
```yaml
name: demo
tests:
  - id: a
    criteria: Greets
    input: Hi
    assert:
      - {type: contains, value: Hello}
```

## Why
A misspelled key silently turns a check off, and the run looks better than it is.
"#;
    UNSUPPORTED_FEATURE = "unsupported-feature", Blocking, Shape, r#"A construct of another tool that changes what the test means and that evalrig does not support.

## Example
```yaml
name: demo
tests:
  - id: a
    criteria: Greets
    input: Hi
    mode: conversation
```

## Instead
```yaml
name: demo
tests:
  - id: a
    criteria: Greets
    input:
      - {role: user, content: Hi}
      - {role: assistant, content: Hello!}
      - {role: user, content: How are you?}
```

## Why
Running the test without it would grade something other than what its author described.
"#;
    DEPRECATED_FIELD = "deprecated-field", Warning, Deprecated, r#"An old spelling was used. `evalrig validate --fix` rewrites it and keeps everything else.

## Example
```yaml
name: demo
evalcases:
  - {id: a, criteria: Greets, input: Hi}
```

## Instead
```yaml
name: demo
tests:
  - {id: a, criteria: Greets, input: Hi}
```

## Why
Older tools used other names for the same fields. One spelling per field keeps suites easy to
search and compare.
"#;
    MISSING_OPTION = "missing-option", Blocking, Assertion, r#"An assertion lacks a required option.

## Example
```yaml
name: demo
tests:
  - id: a
    criteria: Answers quickly
    input: Hi
    assert:
      - type: latency
```

## Instead
```yaml
name: demo
tests:
  - id: a
    criteria: Answers quickly
    input: Hi
    assert:
      - type: latency
        threshold: 2000
```

## Why
A misconfigured assertion must not be skipped: it would count as passed.
"#;
    INVALID_OPTION = "invalid-option", Blocking, Assertion, r#"An option has a value that is not one of its allowed words.

## Example
```yaml
name: demo
tests:
  - id: a
    criteria: Searches
    input: Find it
    assert:
      - {type: tool-trajectory, mode: inorder, expected: [search]}
```

## Instead
```yaml
name: demo
tests:
  - id: a
    criteria: Searches
    input: Find it
    assert:
      - {type: tool-trajectory, mode: in_order, expected: [search]}
```

## Why
Falling back to the default would check something else than the author asked for.
"#;
}

/// What a field's value looks like; the source of the JSON Schema.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shape {
    Any,
    Text,
    /// A non-empty string.
    NonEmptyText,
    /// A string, or a number or boolean that is read as its source text.
    TextOrScalar,
    Boolean,
    Integer {
        min: u64,
        max: u64,
    },
    Number {
        min: f64,
        max: f64,
    },
    /// Greater than 0, at most 1.
    PositiveFraction,
    Choice(&'static [&'static str]),
    /// A mapping with free keys.
    Map,
    /// A mapping whose values all have this shape.
    MapOf(&'static Shape),
    List(&'static Shape),
    NonEmptyList(&'static Shape),
    OneOf(&'static [Shape]),
    /// A mapping with these fields.
    Fields(&'static [Field]),
    /// A definition of the schema, by name.
    Ref(&'static str),
}

/// One known key of a mapping.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Field {
    pub name: &'static str,
    /// Old spellings, read with `deprecated-field` and a fix.
    pub old: &'static [&'static str],
    /// Other spellings, accepted without a diagnostic.
    pub also: &'static [&'static str],
    /// Names that newcomers expect. They are not read, but the field is suggested for them.
    pub expected_as: &'static [&'static str],
    pub shape: Shape,
    pub required: bool,
    pub doc: &'static str,
    packed: u64,
}

/// The length and the first seven bytes of a name in one word: nearly all names that differ,
/// differ here, so one comparison is enough.
#[inline]
pub(super) const fn pack(name: &[u8]) -> u64 {
    let length = (name.len() as u64) << 56;
    if let Some(first) = name.first_chunk::<8>() {
        return length | u64::from_le_bytes(*first) & 0x00ff_ffff_ffff_ffff;
    }
    match name.split_first_chunk::<4>() {
        Some((first, rest)) => length | u32::from_le_bytes(*first) as u64 | few(rest) << 32,
        None => length | few(name),
    }
}

/// At most three bytes.
#[inline]
const fn few(bytes: &[u8]) -> u64 {
    match bytes {
        [a] => *a as u64,
        [a, b] => *a as u64 | (*b as u64) << 8,
        [a, b, c] => *a as u64 | (*b as u64) << 8 | (*c as u64) << 16,
        _ => 0,
    }
}

impl Field {
    pub const fn new(name: &'static str, shape: Shape, doc: &'static str) -> Self {
        Self {
            name,
            old: &[],
            also: &[],
            expected_as: &[],
            shape,
            required: false,
            doc,
            packed: pack(name.as_bytes()),
        }
    }

    pub const fn required(self) -> Self {
        Self { required: true, ..self }
    }

    pub const fn old(self, old: &'static [&'static str]) -> Self {
        Self { old, ..self }
    }

    pub const fn also(self, also: &'static [&'static str]) -> Self {
        Self { also, ..self }
    }

    pub const fn expected_as(self, expected_as: &'static [&'static str]) -> Self {
        Self { expected_as, ..self }
    }

    fn is_called(&self, key: &str) -> bool {
        self.name == key || self.old.contains(&key) || self.also.contains(&key)
    }
}

/// A known key with its value.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'t> {
    pub field: &'static Field,
    pub key: Node<'t>,
    pub value: Node<'t>,
}

/// The entries of one mapping, sorted into known and unknown.
#[derive(Debug)]
pub struct Bound<'t> {
    pub node: Node<'t>,
    known: SmallVec<[Entry<'t>; 8]>,
    unknown: SmallVec<[(Node<'t>, Node<'t>); 2]>,
    null: SmallVec<[&'static str; 2]>,
}

impl<'t> Bound<'t> {
    /// Sorts the entries of `node`, a mapping, by the tables. Reports old spellings, two
    /// spellings of one field, and null values; unknown keys wait for [`Bound::report_unknown`].
    pub fn new(node: Node<'t>, tables: &[&'static [Field]], out: &mut Diagnostics) -> Self {
        let mut bound =
            Self { node, known: SmallVec::new(), unknown: SmallVec::new(), null: SmallVec::new() };
        if node.has_merge() {
            for (key, value) in node.entries() {
                bound.add(key, value, tables, out);
            }
        } else {
            for (key, value) in node.written_entries() {
                bound.add(key, value, tables, out);
            }
        }
        bound
    }

    fn add(
        &mut self,
        key: Node<'t>,
        value: Node<'t>,
        tables: &[&'static [Field]],
        out: &mut Diagnostics,
    ) {
        // A key that is a collection has been reported by the parser.
        let Some(name) = key.scalar_text() else {
            return;
        };
        let Some(field) = find(tables, name) else {
            self.unknown.push((key, value));
            return;
        };
        if let Some(earlier) = self.known.iter().find(|entry| std::ptr::eq(entry.field, field)) {
            // The same spelling twice has been reported as a duplicate key.
            if earlier.key.scalar_text() != Some(name) {
                out.report(conflicting(earlier.key, key));
            }
            return;
        }
        if field.old.contains(&name) {
            let mut diagnostic = deprecated_key(key, field.name);
            if self.is_repeated(field) {
                diagnostic.fix = None;
            }
            out.report(diagnostic);
        }
        if value.is_null() && !matches!(field.shape, Shape::Any) {
            out.report(null_field(key.span(), name));
            self.null.push(field.name);
            return;
        }
        self.known.push(Entry { field, key, value });
    }

    /// Several keys are spellings of the field: renaming or moving one would create a duplicate.
    pub(super) fn is_repeated(&self, field: &Field) -> bool {
        let spelled = |key: Node<'_>| key.scalar_text().is_some_and(|name| field.is_called(name));
        let mut keys = self.node.written_entries().filter(|(key, _)| spelled(*key));
        keys.nth(1).is_some()
    }

    /// The entry of a field, by its canonical name.
    #[inline]
    pub fn get(&self, name: &str) -> Option<Entry<'t>> {
        let packed = pack(name.as_bytes());
        self.known
            .iter()
            .find(|entry| entry.field.packed == packed && entry.field.name == name)
            .copied()
    }

    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// The field was written without a value.
    pub(crate) fn was_null(&self, name: &str) -> bool {
        self.null.contains(&name)
    }

    pub fn span(&self) -> Span {
        self.node.span()
    }

    /// Where something missing is reported: the first line of the mapping.
    pub fn head(&self) -> Span {
        match self.node.written_entries().next() {
            Some((key, _)) if !self.node.is_alias() => key.span(),
            _ => self.node.span(),
        }
    }

    /// Keys that no table lists, without those that are allowed everywhere.
    pub fn unknown(&self) -> impl Iterator<Item = (Node<'t>, Node<'t>)> {
        self.unknown.iter().copied().filter(|(key, _)| !is_free(key.scalar_text().unwrap_or("")))
    }

    /// The unknown key that looks like a misspelling of `name`.
    pub fn misspelt(&self, name: &str) -> Option<Node<'t>> {
        self.unknown()
            .map(|(key, _)| key)
            .find(|key| did_you_mean(key.scalar_text().unwrap_or(""), [name]).is_some())
    }

    pub fn report_unknown(&self, tables: &[&'static [Field]], out: &mut Diagnostics) {
        self.explain_unknown(out, |key, _| unknown_field(key, tables));
    }

    /// As [`Bound::report_unknown`], for mappings that know more about some keys.
    pub fn explain_unknown(
        &self,
        out: &mut Diagnostics,
        explain: impl Fn(Node<'t>, Node<'t>) -> Diagnostic,
    ) {
        self.explain_unknown_but(None, out, explain);
    }

    /// As [`Bound::explain_unknown`], without a key that is reported as something else.
    pub(crate) fn explain_unknown_but(
        &self,
        reported: Option<Node<'t>>,
        out: &mut Diagnostics,
        explain: impl Fn(Node<'t>, Node<'t>) -> Diagnostic,
    ) {
        let reported = reported.map(Node::span);
        for (key, value) in self.unknown().filter(|(key, _)| Some(key.span()) != reported) {
            if out.is_full() {
                out.count_unkept(UNKNOWN_FIELD.level);
                continue;
            }
            out.report(explain(key, value));
        }
    }

    /// The key that was written in the place of a missing field: a name that newcomers expect, or a
    /// misspelling.
    pub(crate) fn stand_in(&self, table: &'static [Field], name: &str) -> Option<Node<'t>> {
        let expected_as = table.iter().find(|field| field.name == name);
        let expected_as = expected_as.map_or(&[] as &[&str], |field| field.expected_as);
        let is_expected =
            |key: &Node<'_>| key.scalar_text().is_some_and(|key| expected_as.contains(&key));
        let written = self.unknown().map(|(key, _)| key).find(is_expected);
        written.or_else(|| self.misspelt(name))
    }

    /// Help for a missing field: the key that was written for it, or what to add.
    pub(crate) fn help_for_missing(
        &self,
        table: &'static [Field],
        name: &str,
        add: impl Into<String>,
    ) -> String {
        match self.stand_in(table, name).and_then(Node::scalar_text) {
            Some(key) => format!("rename `{}` to `{name}`", shorten(key)),
            None => add.into(),
        }
    }

    /// The renaming that [`Bound::help_for_missing`] talks about.
    pub(crate) fn rename_for_missing(&self, table: &'static [Field], name: &str) -> Option<Fix> {
        self.stand_in(table, name).map(|key| renaming(key, name))
    }
}

/// `x-…` and `$schema` are allowed in every mapping.
pub fn is_free(key: &str) -> bool {
    key.starts_with("x-") || key == "$schema"
}

fn find(tables: &[&'static [Field]], name: &str) -> Option<&'static Field> {
    // Canonical names first: nearly every key is one.
    let packed = pack(name.as_bytes());
    for table in tables {
        let found = table.iter().find(|field| field.packed == packed && field.name == name);
        if found.is_some() {
            return found;
        }
    }
    tables.iter().flat_map(|table| table.iter()).find(|field| field.is_called(name))
}

/// An old spelling whose repair is to write another key.
pub(crate) fn deprecated_key(key: Node<'_>, new: &str) -> Diagnostic {
    let old = key.scalar_text().unwrap_or("");
    let span = key.target_span();
    let message = format!("`{old}` is an old spelling of `{new}`");
    let title = format!("rename `{old}` to `{new}`");
    Diagnostic::new(&DEPRECATED_FIELD, span, message)
        .help(format!("write `{new}`"))
        .fix(Fix::replace(title, span, same_quotes(key, new)))
}

fn conflicting(first: Node<'_>, second: Node<'_>) -> Diagnostic {
    let (a, b) = (first.scalar_text().unwrap_or(""), second.scalar_text().unwrap_or(""));
    let message = format!("`{a}` and `{b}` are two spellings of one field");
    Diagnostic::new(&CONFLICTING_FIELDS, second.span(), message)
        .related(first.span(), "the other one")
        .help("keep one of them")
}

fn null_field(key: Span, name: &str) -> Diagnostic {
    Diagnostic::new(&NULL_FIELD, key, format!("`{name}` has no value"))
        .help("give it a value, or remove the key; check the indentation of the next line")
}

pub fn unknown_field(key: Node<'_>, tables: &[&'static [Field]]) -> Diagnostic {
    let name = key.scalar_text().unwrap_or("");
    let fields = || tables.iter().flat_map(|table| table.iter());
    let found =
        Diagnostic::new(&UNKNOWN_FIELD, key.span(), format!("unknown field `{}`", shorten(name)));
    let expected = fields().find(|field| field.expected_as.contains(&name));
    let near = || did_you_mean(name, fields().map(|field| field.name));
    match expected.map(|field| field.name).or_else(near) {
        Some(near) => {
            let renamed = Some(renaming(key, near));
            found.help(format!("did you mean `{near}`?")).suggestion_if(renamed)
        }
        None => found.help("remove it, or begin it with `x-` if it is yours"),
    }
}

fn renaming(key: Node<'_>, name: &str) -> Fix {
    let written = shorten(key.scalar_text().unwrap_or(""));
    let title = format!("rename `{written}` to `{name}`");
    Fix::replace(title, key.target_span(), same_quotes(key, name))
}

/// Shortens a string for a message.
pub fn shorten(text: &str) -> String {
    const MOST: usize = 60;
    let line = text.lines().next().unwrap_or("");
    if line.chars().count() <= MOST && line.len() == text.trim_end().len() {
        return line.to_owned();
    }
    let mut short: String = line.chars().take(MOST).collect();
    short.push('…');
    short
}
