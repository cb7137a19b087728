//! `version`: which format a suite is written in.

use crate::diagnostic::{Diagnostic, declare_codes};
use crate::reader::{Reader, quote};
use crate::source::Span;
use crate::syntax::Scalar;
use crate::syntax::fields::{Bound, shorten};

declare_codes! {
    INVALID_VERSION = "invalid-version", Error, Conformance, r#"`version` is not `MAJOR.MINOR` or `MAJOR.MINOR.PATCH`.

## Example
```yaml
name: demo
version: "one"
tests:
  - {id: a, criteria: Greets, input: Hi}
```

## Instead
```yaml
name: demo
version: "1.0"
tests:
  - {id: a, criteria: Greets, input: Hi}
```

## Why
It is the version of the format, and tells readers whether they understand the file.
"#;
    VERSION_NOT_STRING = "version-not-string", Warning, Conformance, r#"`version` is written as a number. It is read as text.

## Example
```yaml
name: demo
version: 1.0
tests:
  - {id: a, criteria: Greets, input: Hi}
```

## Instead
```yaml
name: demo
version: "1.0"
tests:
  - {id: a, criteria: Greets, input: Hi}
```

## Why
As numbers, `1.10` and `1.1` are the same version.
"#;
    UNSUPPORTED_VERSION = "unsupported-version", Blocking, Conformance, r#"The suite is written for another major version of the format.

## Example
```yaml
name: demo
version: "2.0"
tests:
  - {id: a, criteria: Greets, input: Hi}
```

## Instead
```yaml
name: demo
version: "1.0"
tests:
  - {id: a, criteria: Greets, input: Hi}
```

## Why
A major version may give the same words another meaning.
"#;
}

pub(super) fn read_version(reader: &mut Reader<'_>, bound: &Bound<'_>) -> String {
    let default = || "1.0".to_owned();
    let Some(entry) = bound.get("version") else {
        return default();
    };
    let node = entry.value;
    let text = match node.scalar() {
        Some(Scalar::Int(text) | Scalar::Float(text)) => {
            let text = if text.contains('.') { text.to_owned() } else { format!("{text}.0") };
            let message = "`version` is written as a number";
            let diagnostic = Diagnostic::new(&VERSION_NOT_STRING, node.span(), message);
            let help = format!("write `\"{text}\"`");
            reader.report(diagnostic.help(help).fix_if(quote(node, &text)));
            text
        }
        _ => match reader.text(&entry) {
            Some(text) => text.into_owned(),
            None => return default(),
        },
    };
    check_version(reader, &text, node.span());
    text
}

fn check_version(reader: &mut Reader<'_>, text: &str, span: Span) {
    let parts: Vec<&str> = text.split('.').collect();
    let is_number = |part: &&str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    if !(2..=3).contains(&parts.len()) || !parts.iter().all(is_number) {
        let message = format!("`{}` is not a version", shorten(text));
        let diagnostic = Diagnostic::new(&INVALID_VERSION, span, message);
        reader.report(diagnostic.help("write `\"1.0\"`: MAJOR.MINOR or MAJOR.MINOR.PATCH"));
    } else if parts[0].trim_start_matches('0') != "1" {
        let message = format!("version {text} of the format is not supported");
        reader.report(
            Diagnostic::new(&UNSUPPORTED_VERSION, span, message).help("evalrig reads version 1"),
        );
    }
}
