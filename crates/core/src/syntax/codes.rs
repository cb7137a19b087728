//! Faults in the text itself, before any of it is interpreted.

use crate::diagnostic::{Diagnostic, declare_codes};
use crate::source::{SourceId, Span};

declare_codes! {
    YAML_SYNTAX = "yaml-syntax", Blocking, Syntax, r#"The file is not valid YAML, so none of it can be read.

## Example
```yaml
name: demo
tests:
  - id: a
    criteria: Answers: politely
    input: Hi
```

## Instead
```yaml
name: demo
tests:
  - id: a
    criteria: "Answers: politely"
    input: Hi
```

## Why
A parser that guesses past a broken line reads a different file from the one its author meant.
"#;
    JSON_SYNTAX = "json-syntax", Blocking, Syntax, r#"A line of a JSONL file, or a whole JSON file, is not valid JSON.

## Example
```yaml
name: demo
tests: ./cases.jsonl
```
```jsonl cases.jsonl
{"id": "a", "criteria": "Greets", "input": "Hi",}
```

## Instead
```yaml
name: demo
tests: ./cases.jsonl
```
```jsonl cases.jsonl
{"id": "a", "criteria": "Greets", "input": "Hi"}
```

## Why
Every line is one test. Skipping a line would mean a test that silently never runs.
"#;
    DUPLICATE_KEY = "duplicate-key", Blocking, Syntax, r#"A mapping has the same key twice.

## Example
```yaml
name: demo
tests:
  - id: a
    criteria: Greets
    input: Hi
    input: Hello
```

## Instead
```yaml
name: demo
tests:
  - id: a
    criteria: Greets
    input: Hello
```

## Why
Most parsers silently keep the last value and drop the others.
"#;
    MULTIPLE_DOCUMENTS = "multiple-documents", Blocking, Syntax, r#"A suite file holds one YAML document; this one has a second after `---`.

## Example
```yaml
name: demo
tests:
  - {id: a, criteria: Greets, input: Hi}
---
name: more
```

## Instead
```yaml
name: demo
tests:
  - {id: a, criteria: Greets, input: Hi}
```

## Why
Only one of the documents could be the suite, and the others would never run.
"#;
    EMPTY_FILE = "empty-file", Blocking, Syntax, r#"The file contains only whitespace and comments.

## Example
```yaml
# to be written
```

## Instead
```yaml
name: demo
tests:
  - {id: a, criteria: Greets, input: Hi}
```

## Why
An empty suite would pass every run.
"#;
    INVALID_ENCODING = "invalid-encoding", Blocking, Syntax, r#"The file is not UTF-8. The message gives the offset of the first invalid byte, counted from 0.

## Example
```text
a file saved as UTF-16, or as Latin-1 with an é in it
```

## Instead
```text
the same file saved as UTF-8; a byte order mark in front is fine
```

## Why
Guessing an encoding would change the text that is sent to the agent and compared with its answer.
"#;
    CONTROL_CHARACTER = "control-character", Blocking, Syntax, r#"The file contains a control character other than tabs and line breaks.

## Example
```text
a NUL byte or a terminal escape that was pasted along with the text
```

## Instead
```text
in double quotes, write it as an escape: "\e[1m" or "\u0000"
```

## Why
Such characters are invisible in an editor, and YAML does not allow them.
"#;
    FILE_TOO_LARGE = "file-too-large", Blocking, Syntax, r#"A YAML or JSON file is larger than 32 MiB.

## Example
```text
an EVAL.yaml with a hundred thousand tests in it
```

## Instead
```text
the tests as JSONL, one per line, with `tests: ./cases.jsonl` in the suite
```

## Why
A YAML file is held in memory as a whole. JSONL is read line by line and has no limit.
"#;
    LINE_TOO_LONG = "line-too-long", Blocking, Syntax, r#"A line of a JSONL file is longer than 16 MiB.

## Example
```text
a test whose input holds a whole file as text
```

## Instead
```text
the file beside the suite, attached with `input_files`
```

## Why
A line is held in memory as a whole; the limit keeps a damaged file from exhausting it.
"#;
    TOO_DEEP = "too-deep", Blocking, Syntax, r#"Values are nested more than 128 levels deep.

## Example
```text
[[[[[[… a hundred and thirty brackets
```

## Instead
```text
a flatter structure
```

## Why
No suite needs this depth; files crafted to exhaust a parser do.
"#;
    ALIAS_LIMIT = "alias-limit", Blocking, Syntax, r#"Expanded, the aliases of this file would add more than 1 000 000 values or 64 MiB of text.

## Example
```text
an anchor that holds ten aliases, each of which holds ten aliases, and so on
```

## Instead
```text
the values written out, or generated as JSONL
```

## Why
A few lines of nested aliases can expand to more values than fit into memory.
"#;
    ALIAS_CYCLE = "alias-cycle", Blocking, Syntax, r#"An alias is inside the value it refers to.

## Example
```yaml
name: demo
metadata: &all
  again: *all
tests:
  - {id: a, criteria: Greets, input: Hi}
```

## Instead
```yaml
name: demo
metadata:
  again: none
tests:
  - {id: a, criteria: Greets, input: Hi}
```

## Why
Such a value is infinite.
"#;
    UNSUPPORTED_TAG = "unsupported-tag", Blocking, Syntax, r#"A YAML tag other than `!!str !!int !!float !!bool !!null !!map !!seq`.

## Example
```yaml
name: demo
tests:
  - {id: a, criteria: Greets, input: !secret greeting}
```

## Instead
```yaml
name: demo
tests:
  - {id: a, criteria: Greets, input: "Hi"}
```

## Why
Tags ask the parser for special types, and every tool supports different ones. Quote a string that begins
with `!`.
"#;
}

pub(crate) fn control_character(source: SourceId, at: usize, character: char) -> Diagnostic {
    let span = Span::new(source, at as u32, (at + character.len_utf8()) as u32);
    let message = format!("control character U+{:04X}", u32::from(character));
    Diagnostic::new(&CONTROL_CHARACTER, span, message)
        .help("remove it, or write it as an escape in double quotes")
}

pub(super) fn empty_file(source: SourceId) -> Diagnostic {
    Diagnostic::new(&EMPTY_FILE, Span::new(source, 0, 0), "the file is empty")
        .help("a suite has at least `name` and `tests`; `evalrig init` writes one")
}

pub(super) fn multiple_documents(span: Span) -> Diagnostic {
    Diagnostic::new(&MULTIPLE_DOCUMENTS, span, "a second document begins here")
        .help("keep one document per file; several suites are several files")
}

pub(super) fn too_deep(span: Span) -> Diagnostic {
    let message = format!("nested more than {} levels deep", super::DEPTH_LIMIT);
    Diagnostic::new(&TOO_DEEP, span, message)
}

pub(super) fn alias_limit(span: Span) -> Diagnostic {
    Diagnostic::new(&ALIAS_LIMIT, span, "aliases expand to more values than a suite may hold")
        .help("write the values out, or generate the tests as JSONL")
}

pub(super) fn alias_cycle(span: Span, name: &str, defined: Span) -> Diagnostic {
    Diagnostic::new(&ALIAS_CYCLE, span, format!("`*{name}` is inside the value it refers to"))
        .related(defined, "the value begins here")
}

pub(super) fn unsupported_tag(span: Span, tag: &str) -> Diagnostic {
    Diagnostic::new(&UNSUPPORTED_TAG, span, format!("tag `{tag}` is not supported"))
        .help("put quotes around a value that begins with `!`")
}

pub(super) fn collection_as_key(span: Span) -> Diagnostic {
    Diagnostic::new(&super::fields::WRONG_TYPE, span, "a key must be a text, not a mapping or list")
        .help("put quotes around a value that begins with `{` or `[`")
}

pub(super) fn not_mergeable(span: Span) -> Diagnostic {
    Diagnostic::new(&super::fields::WRONG_TYPE, span, "`<<` merges a mapping or a list of mappings")
        .help("put quotes around `<<` if it is an ordinary key")
}

pub(super) fn duplicate_key(name: &str, first: Span, second: Span) -> Diagnostic {
    Diagnostic::new(&DUPLICATE_KEY, second, format!("key `{name}` is given twice"))
        .label("again here")
        .related(first, "first given here")
        .help("remove one of them")
}
