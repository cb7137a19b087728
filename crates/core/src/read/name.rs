//! The name of a suite: written, or taken from its file (spec 3.1).

use camino::Utf8Path;

use crate::diagnostic::{Diagnostic, declare_codes};
use crate::reader::Reader;
use crate::source::{SourceId, Span};
use crate::syntax::fields::{Bound, shorten};

use super::suite::ROOT_FIELDS;

declare_codes! {
    MISSING_NAME = "missing-name", Error, Conformance, r#"The suite has no `name`. The directory of `EVAL.yaml`, or the file's own name, is used instead.

## Example
```yaml
tests:
  - {id: a, criteria: Greets, input: Hi}
```

## Instead
```yaml
name: greeting
tests:
  - {id: a, criteria: Greets, input: Hi}
```

## Why
Results carry the suite's name; renaming a directory should not split its history.
"#;
    INVALID_NAME = "invalid-name", Error, Conformance, r#"The suite's name has other characters than `a`–`z`, `0`–`9` and `-`, does not begin with a letter, ends
with a hyphen, or is longer than 64 characters.

## Example
```yaml
name: Code Review
tests:
  - {id: a, criteria: Greets, input: Hi}
```

## Instead
```yaml
name: code-review
tests:
  - {id: a, criteria: Greets, input: Hi}
```

## Why
The name becomes part of file names and command lines.
"#;
    NAME_DOUBLE_HYPHEN = "name-double-hyphen", Note, Conformance, r#"The suite's name has two hyphens in a row. That is allowed here, but not by every reader of the format.

## Example
```yaml
name: code--review
tests:
  - {id: a, criteria: Greets, input: Hi}
```

## Instead
```yaml
name: code-review
tests:
  - {id: a, criteria: Greets, input: Hi}
```

## Why
The published schema of the format refuses such names.
"#;
}

const LONGEST_NAME: usize = 64;

pub(super) fn read_name(
    reader: &mut Reader<'_>,
    path: &Utf8Path,
    source: SourceId,
    bound: &Bound<'_>,
) -> (String, Span) {
    let Some(entry) = bound.get("name") else {
        let name = derived_name(path);
        let help = bound.help_for_missing(ROOT_FIELDS, "name", format!("add `name: {name}`"));
        let span = match bound.node.written_entries().next() {
            Some(_) => bound.head(),
            None => Span::new(source, 0, 0),
        };
        let found = Diagnostic::new(&MISSING_NAME, span, "the suite has no `name`").help(help);
        reader.report(found.suggestion_if(bound.rename_for_missing(ROOT_FIELDS, "name")));
        return (name, span);
    };
    let span = entry.value.span();
    let Some(name) = reader.text(&entry) else {
        return (derived_name(path), span);
    };
    if !is_legal_name(&name) {
        let message = format!("`{}` is not a legal suite name", shorten(&name));
        // The legal name is cut, and part of a secret could not be recognised.
        let legal = legal_name(&reader.secrets.redact(&name));
        let help = if legal.is_empty() {
            "use lower-case letters, digits and hyphens".to_owned()
        } else {
            format!("write `{legal}`: lower-case letters, digits and hyphens, at most 64")
        };
        reader.report(Diagnostic::new(&INVALID_NAME, span, message).help(help));
    } else if name.contains("--") {
        let message = "the name has two hyphens in a row";
        reader.report(Diagnostic::new(&NAME_DOUBLE_HYPHEN, span, message));
    }
    (name.into_owned(), span)
}

/// `^[a-z]([a-z0-9-]*[a-z0-9])?$`, at most 64 characters.
fn is_legal_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    (1..=LONGEST_NAME).contains(&bytes.len())
        && bytes[0].is_ascii_lowercase()
        && bytes[bytes.len() - 1] != b'-'
        && bytes.iter().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'-')
}

/// The nearest legal name; empty when nothing is left.
pub(crate) fn legal_name(text: &str) -> String {
    let mut name = String::new();
    for character in text.to_lowercase().chars() {
        match character {
            'a'..='z' | '0'..='9' => name.push(character),
            _ if name.ends_with('-') || name.is_empty() => {}
            _ => name.push('-'),
        }
    }
    let name = name.trim_start_matches(|c: char| !c.is_ascii_lowercase());
    let cut: String = name.chars().take(LONGEST_NAME).collect();
    cut.trim_end_matches('-').to_owned()
}

/// The directory of `EVAL.yaml`, or the stem, lower-cased, other characters turned into `-`.
pub(super) fn derived_name(path: &Utf8Path) -> String {
    let stem = path.file_stem().unwrap_or("");
    let is_plain = stem.eq_ignore_ascii_case("eval");
    let base = match path.parent().and_then(Utf8Path::file_name) {
        Some(directory) if is_plain => directory,
        _ if stem.to_ascii_lowercase().ends_with(".eval") => &stem[..stem.len() - 5],
        _ => stem,
    };
    base.to_lowercase()
        .chars()
        .map(|c| if c.is_ascii_lowercase() || c.is_ascii_digit() { c } else { '-' })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_from_the_directory_or_the_stem() {
        assert_eq!(derived_name("/p/Code Review/EVAL.yaml".into()), "code-review");
        assert_eq!(derived_name("/p/x/eval.yml".into()), "x");
        assert_eq!(derived_name("/p/smoke.eval.yaml".into()), "smoke");
        assert_eq!(derived_name("/p/data_set.yaml".into()), "data-set");
    }

    #[test]
    fn legal_names() {
        for name in ["a", "a1", "code-review", "a--b"] {
            assert!(is_legal_name(name), "{name}");
        }
        for name in ["", "1a", "A", "a-", "-a", "a b", "é", &"a".repeat(65)] {
            assert!(!is_legal_name(name), "{name}");
        }
        assert_eq!(legal_name("1. Code Review!"), "code-review");
    }
}
