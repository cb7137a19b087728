//! `jsonl`: one JSON object per line, a message or figures.

use evalrig_core::model::{Transcript, Value};

use crate::agent::{AttemptFault, Unreported, cut};

use super::conversation::Conversation;
use super::measure::given;
use super::messages::AnswerFields;
use super::{fault, json, utf8};

/// Everything can be reported.
pub(super) const UNREPORTED: &[Unreported] = &[];

/// Characters shown of a line that does not fit.
const SHOWN: usize = 200;

/// A line with `role` is a message; any other has keys of `messages`. Every line must be valid: a
/// line that is dropped could be a call or the answer.
pub(super) fn read(output: &[u8]) -> Result<Transcript, AttemptFault> {
    let mut fields = AnswerFields::default();
    let mut said = Conversation::default();
    for (number, line) in (1..).zip(utf8(output)?.lines()) {
        if line.trim().is_empty() {
            continue;
        }
        let added = add(line, &mut said, &mut fields);
        added.map_err(|why| fault(format!("line {number} of the output: {why}")))?;
    }
    fields.transcript(said).map_err(fault)
}

fn add(line: &str, said: &mut Conversation, fields: &mut AnswerFields) -> Result<(), String> {
    match json::parse(line)? {
        Value::Map(map) if given(&map, "role").is_some() => said.add_message(&Value::Map(map)),
        Value::Map(map) if AnswerFields::knows(&map) => fields.add(&map),
        Value::Map(_) => Err(format!("neither a message nor figures: {}", cut(line.trim(), SHOWN))),
        other => Err(format!("expected an object, found {}", super::measure::kind(&other))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bad(text: &str) -> String {
        read(text.as_bytes()).unwrap_err().fault.message
    }

    #[test]
    fn messages_and_keys_come_in_any_order_and_later_keys_win() {
        let text = "{\"cost_usd\":1,\"model\":\"m\"}\r\n\n\
             {\"role\":\"assistant\",\"tool_calls\":[{\"tool\":\"t\",\"id\":\"x\"}]}\n\
             {\"role\":\"tool\",\"tool_call_id\":\"x\",\"content\":\"out\"}\n\
             {\"cost_usd\":2,\"tokens\":{\"input\":1,\"output\":2}}\n\
             {\"role\":\"assistant\",\"content\":\"bye\"}";
        let read = read(text.as_bytes()).unwrap();
        assert_eq!(read.answer, "bye");
        assert_eq!(read.cost_usd, Some(2.0));
        assert_eq!(read.model.as_deref(), Some("m"));
        let calls = read.calls.unwrap();
        assert_eq!(calls[0].output, Some("out".into()));
    }

    #[test]
    fn the_message_with_a_result_says_whether_the_call_failed() {
        let with = |more: &str| {
            let text = format!(
                "{{\"role\":\"assistant\",\"tool_calls\":[{{\"tool\":\"Skill\",\"id\":\"x\",\"args\":{{\"skill\":\"csv\"}}}}]}}\n\
                 {{\"role\":\"tool\",\"tool_call_id\":\"x\",\"content\":\"out\"{more}}}\n\
                 {{\"role\":\"assistant\",\"content\":\"bye\"}}"
            );
            let found = read(text.as_bytes()).unwrap();
            let call = found.calls.unwrap().remove(0);
            (call.is_error, call.exit_code, found.skills.used.unwrap()[0].ok)
        };
        assert_eq!(with(""), (None, None, true));
        assert_eq!(with(",\"is_error\":false"), (Some(false), None, true));
        assert_eq!(with(",\"is_error\":true"), (Some(true), None, false));
        assert_eq!(with(",\"exit_code\":2"), (None, Some(2), false));
    }

    #[test]
    fn a_closing_text_is_added_unless_it_was_said() {
        let said = "{\"role\":\"assistant\",\"content\":\"a\"}\n";
        let with = |text: &str| read(format!("{said}{text}").as_bytes()).unwrap();
        assert_eq!(with("{\"text\":\"a\"}").messages.len(), 1);
        let read = with("{\"text\":\"draft\"}\n{\"text\":\"b\"}");
        assert_eq!((read.messages.len(), read.answer.as_str()), (2, "b"));
    }

    #[test]
    fn a_bad_line_is_named() {
        let good = "{\"role\":\"assistant\",\"content\":\"a\"}\n";
        assert_eq!(
            bad(&format!("{good}\n{{\"role\":\"assi")),
            "line 3 of the output: EOF while parsing a string (column 13)"
        );
        assert_eq!(
            bad(&format!("{good}[]")),
            "line 2 of the output: expected an object, found a list"
        );
        assert_eq!(
            bad("{\"role\":7}"),
            "line 1 of the output: `role` takes a string, found a number"
        );
    }

    #[test]
    fn a_line_that_is_not_known_is_refused() {
        let good = "{\"role\":\"assistant\",\"content\":\"a\"}\n";
        assert_eq!(
            bad(&format!("{good}{{\"type\":\"tool_use\",\"name\":\"Skill\"}}")),
            "line 2 of the output: neither a message nor figures: \
             {\"type\":\"tool_use\",\"name\":\"Skill\"}"
        );
        assert!(read(format!("{good}{{\"tokens\":null}}").as_bytes()).is_ok());
    }

    #[test]
    fn an_error_after_a_message_is_an_error() {
        let good = "{\"role\":\"assistant\",\"content\":\"a\"}\n";
        let message = bad(&format!("{good}{{\"error\":\"rate limit\"}}"));
        assert_eq!(message, "the program reports an error: rate limit");
        assert!(read(format!("{good}{{\"error\":null}}").as_bytes()).is_ok());
    }

    #[test]
    fn output_without_an_answer_is_refused() {
        let message = "the output has neither `messages`, `output` nor `text`";
        assert_eq!(bad(""), message);
        assert_eq!(bad("{\"cost_usd\": 1}"), message);
        assert!(bad("{\"text\": \"\u{1}\"}").starts_with("line 1 of the output: "));
    }
}
