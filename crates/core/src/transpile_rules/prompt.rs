//! The prompt of an entry (spec 12.4): a test without one cannot be transpiled.

use crate::diagnostic::{Diagnostic, declare_codes};
use crate::source::Span;

declare_codes! {
    NO_PROMPT = "no-prompt", BlocksTranspile, Export, r#"A test has no text from the user that could become a prompt.

## Example
```yaml
name: demo
tests:
  - id: a
    criteria: Describes the picture
    input:
      - {role: user, content: [{type: text, value: " "}]}
```

## Instead
```yaml
name: demo
tests:
  - id: a
    criteria: Describes the picture
    input:
      - {role: user, content: [{type: text, value: What do you see?}]}
```

## Why
An entry of evals.json is a prompt and what is expected of the answer. Without a prompt there is nothing to ask.
"#;
}

pub(crate) fn no_prompt(place: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(&NO_PROMPT, place, message).help("write what the user asks")
}
