//! The body of a request: what in it stands for the prompt, and putting that in.

use evalrig_core::declare_codes;
use evalrig_core::diagnostic::Diagnostic;
use evalrig_core::model::{Map, Value};
use evalrig_core::reader::{Options, ReadResult, Reported};
use evalrig_core::syntax::fields::{INVALID_OPTION, shorten};
use evalrig_core::syntax::{Node, Scalar};

declare_codes! {
    BODY_WITHOUT_PROMPT = "body-without-prompt", Warning, Target, r#"The `body` of an `http` target has neither `{{ prompt }}` nor `{{ messages }}`.

## Example
```yaml .evalrig/targets.yaml
targets:
  - name: default
    provider: http
    url: http://localhost:8000/ask
    body: {question: "Hi"}
    answer: /text
```

## Instead
```yaml .evalrig/targets.yaml
targets:
  - name: default
    provider: http
    url: http://localhost:8000/ask
    body: {question: "{{ prompt }}"}
    answer: /text
```

## Why
Every test sends the same request, whatever it asks, and its answer is graded as if it were about the test.
"#;
}

/// Strings keep their references. Placeholders are checked here: what is not replaced would be sent as it is.
pub(super) fn read_body(options: &mut Options<'_, '_, '_>) -> ReadResult<Option<Map>> {
    let body = options.map("body")?;
    let Some(entry) = options.get("body") else { return Ok(None) };
    let mut check = BodyCheck::default();
    check.look_at(entry.value);
    let is_faulty = !check.faults.is_empty();
    for fault in check.faults {
        options.report(fault);
    }
    if is_faulty {
        return Err(Reported);
    }
    if !check.has_placeholder {
        let message = "`body` does not contain the prompt";
        let help = "write `{{ prompt }}` or `{{ messages }}` where the service expects it";
        let place = entry.key.span();
        options.report(Diagnostic::new(&BODY_WITHOUT_PROMPT, place, message).help(help));
    }
    Ok(body)
}

#[derive(Default)]
struct BodyCheck {
    has_placeholder: bool,
    faults: Vec<Diagnostic>,
}

impl BodyCheck {
    /// Depth is bounded by the parser, so this may recurse.
    fn look_at(&mut self, node: Node<'_>) {
        if let Some(Scalar::Str(text)) = node.scalar() {
            self.look_at_text(text, node);
        }
        node.items().for_each(|item| self.look_at(item));
        node.entries().into_iter().for_each(|(_, value)| self.look_at(value));
    }

    fn look_at_text(&mut self, text: &str, node: Node<'_>) {
        for part in parts_of(text) {
            let BodyPart::Placeholder(name) = part else { continue };
            let fault = match name {
                "prompt" => None,
                "messages" if is_messages(text) => None,
                "messages" => {
                    Some("`{{ messages }}` is a list: it must be a string of its own".into())
                }
                _ => Some(format!("`{{{{ {} }}}}` is not a placeholder of `body`", shorten(name))),
            };
            self.has_placeholder |= fault.is_none();
            self.faults.extend(fault.map(|message: String| {
                let help = "write `{{ prompt }}`, or `{{ messages }}` as a whole string";
                Diagnostic::new(&INVALID_OPTION, node.span(), message).help(help)
            }));
        }
    }
}

/// A piece of a string of the body.
#[derive(Debug, PartialEq)]
enum BodyPart<'t> {
    Text(&'t str),
    /// Its name without spaces.
    Placeholder(&'t str),
}

/// `${{ }}` is a reference to a variable and stays in the text.
fn parts_of(text: &str) -> Vec<BodyPart<'_>> {
    let mut parts = Vec::new();
    let (mut rest, mut from) = (text, 0);
    while let Some(open) = rest[from..].find("{{").map(|at| from + at) {
        let Some(length) = rest[open..].find("}}") else { break };
        let end = open + length + 2;
        if rest[..open].ends_with('$') {
            from = end;
            continue;
        }
        parts.push(BodyPart::Text(&rest[..open]));
        parts.push(BodyPart::Placeholder(rest[open + 2..end - 2].trim()));
        (rest, from) = (&rest[end..], 0);
    }
    parts.push(BodyPart::Text(rest));
    parts
}

/// Whether a string is nothing but the placeholder for the messages.
fn is_messages(text: &str) -> bool {
    let parts = parts_of(text.trim());
    parts == [BodyPart::Text(""), BodyPart::Placeholder("messages"), BodyPart::Text("")]
}

/// Depth is bounded by the parser of the targets file, so this may recurse.
pub(super) fn filled(body: &Value, prompt: &str, messages: &Value) -> Value {
    match body {
        Value::String(text) if is_messages(text) => messages.clone(),
        Value::String(text) => Value::String(filled_text(text, prompt)),
        Value::List(items) => {
            Value::List(items.iter().map(|item| filled(item, prompt, messages)).collect())
        }
        Value::Map(map) => {
            let entries = map.iter();
            let entries =
                entries.map(|(key, value)| (key.to_owned(), filled(value, prompt, messages)));
            Value::Map(entries.collect())
        }
        other => other.clone(),
    }
}

/// Other placeholders come from values of variables, and are sent as they are.
fn filled_text(text: &str, prompt: &str) -> String {
    let parts = parts_of(text).into_iter().map(|part| match part {
        BodyPart::Text(text) => text.to_owned(),
        BodyPart::Placeholder("prompt") => prompt.to_owned(),
        BodyPart::Placeholder(other) => format!("{{{{ {other} }}}}"),
    });
    parts.collect()
}

#[cfg(test)]
mod tests {
    use evalrig_core::model::JsonStyle;
    use evalrig_core::syntax::json_value;

    use super::*;
    use crate::target::testing::faults;

    #[test]
    fn the_prompt_and_the_messages_are_filled_in() {
        let body = r#"{"q":"Say: {{prompt}}","m":["{{messages}}"," {{ messages }} "],"n":1}"#;
        let body = json_value(body).unwrap();
        let messages = json_value(r#"[{"role":"user"}]"#).unwrap();
        let filled = filled(&body, "a \"b\"", &messages).to_json(JsonStyle::Compact);
        assert_eq!(
            filled,
            r#"{"q":"Say: a \"b\"","m":[[{"role":"user"}],[{"role":"user"}]],"n":1}"#
        );
        assert_eq!(
            filled_text("{{  prompt}}, {{ prompt", "{{ prompt }}"),
            "{{ prompt }}, {{ prompt"
        );
    }

    #[test]
    fn what_is_not_replaced_in_a_body_is_pointed_out() {
        let found = |body: &str| {
            faults(&format!("provider: http, url: \"http://x\", answer: /a, body: {body}"))
        };
        for body in [
            "{q: \"{{ prompt }}\"}",
            "{q: [{r: \"Say {{prompt}}\"}]}",
            "{q: \"{{messages}}\"}",
            "{q: \"{{ prompt }} ${{ KEY }} {{\"}",
        ] {
            assert_eq!(found(body), [""; 0], "{body}");
        }
        for (body, message) in [
            ("{q: \"{{ input }}\"}", "`{{ input }}` is not a placeholder of `body`"),
            (
                "{q: \"x {{ messages }}\"}",
                "`{{ messages }}` is a list: it must be a string of its own",
            ),
            ("{q: Hi}", "`body` does not contain the prompt"),
            ("{q: \"${{ PROMPT }}\"}", "`body` does not contain the prompt"),
        ] {
            assert_eq!(found(body), [message], "{body}");
        }
    }
}
