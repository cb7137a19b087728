//! What the agent is asked, and the files it gets (`FORMAT.md` 12.4).

use crate::diagnostic::{Diagnostic, declare_codes};
use crate::model::{Block, JsonStyle, Message, Role, Test};

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
    let last = last_user_message(&test.input).map(|at| text_of(&test.input[at]));
    match last {
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

pub(super) fn last_user_message(input: &[Message]) -> Option<usize> {
    input.iter().rposition(|message| message.role == Role::User)
}

/// Texts first, then data, whatever their order in the message.
fn text_of(message: &Message) -> String {
    if let [Block::Text(only)] = message.content.as_slice() {
        return only.clone();
    }
    let texts = message.content.iter().filter_map(|block| match block {
        Block::Text(text) => Some(text.clone()),
        _ => None,
    });
    let data = message.content.iter().filter_map(|block| match block {
        Block::Json(value) => Some(value.to_json(JsonStyle::Pretty)),
        _ => None,
    });
    let parts: Vec<String> = texts.chain(data).collect();
    parts.join("\n")
}

/// The attached files of all messages, as written.
pub(super) fn files_of(test: &Test) -> Vec<String> {
    let blocks = test.input.iter().flat_map(|message| &message.content);
    let files = blocks.filter_map(Block::file);
    distinct(files.map(|file| file.value.clone()).collect())
}
