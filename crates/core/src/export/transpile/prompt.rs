//! What the agent is asked, and the files it gets (`FORMAT.md` 12.4).

use crate::diagnostic::{Diagnostic, declare_codes};
use crate::evidence::question;
use crate::model::{Block, Test};

use super::Job;
use super::entry::distinct;

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
pub(super) fn prompt_of(job: &mut Job<'_>, test: &Test) -> Option<String> {
    match question(&test.input) {
        Some(text) if !text.trim().is_empty() => Some(text),
        other => {
            let message = match other {
                Some(_) => format!("the last user message of test `{}` has no text", test.id),
                None => format!("no message of test `{}` comes from the user", test.id),
            };
            let place = job.head(test);
            let help = "write what the user asks";
            job.report(Diagnostic::new(&NO_PROMPT, place, message).help(help));
            None
        }
    }
}

/// The attached files of all messages, as written.
pub(super) fn files_of(test: &Test) -> Vec<String> {
    let blocks = test.input.iter().flat_map(|message| &message.content);
    let files = blocks.filter_map(Block::file);
    distinct(files.map(|file| file.value.clone()).collect())
}
