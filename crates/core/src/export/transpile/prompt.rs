//! What the agent is asked, and the files it gets (`FORMAT.md` 12.4).

use crate::diagnostic::{Diagnostic, declare_codes};
use crate::evidence::question;
use crate::model::{Block, Test};
use crate::source::Sources;

use super::entry::distinct;
use super::first_line;

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
An entry of evals.json is a prompt with what is expected of the answer. Without a prompt there is nothing to ask.
"#;
}

/// The last thing that the user says. Reported when it is nothing.
pub(super) fn prompt_of(test: &Test, out: &mut Vec<Diagnostic>) -> String {
    match question(&test.input) {
        Some(text) if !text.trim().is_empty() => text,
        other => {
            let message = match other {
                Some(_) => format!("the last user message of test `{}` has no text", test.id),
                None => format!("no message of test `{}` comes from the user", test.id),
            };
            let help = "write what the user asks";
            out.push(Diagnostic::new(&NO_PROMPT, test.span, message).help(help));
            String::new()
        }
    }
}

/// The same at the test's first line, which is known only when its source has been read.
pub(super) fn narrowed(mut one: Diagnostic, sources: &Sources) -> Diagnostic {
    if std::ptr::eq(one.code, &raw const NO_PROMPT) {
        one.span = first_line(sources, one.span);
    }
    one
}

/// The attached files of all messages, as written.
pub(super) fn files_of(test: &Test) -> Vec<&str> {
    let blocks = test.input.iter().flat_map(|message| &message.content);
    let files = blocks.filter_map(Block::file);
    distinct(files.map(|file| file.value.as_str()).collect())
}
