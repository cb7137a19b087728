//! The prompt text of a test (spec 12.4), called `question` everywhere.

use crate::model::{Block, JsonStyle, Message, Role};

/// The text of the last user message, if there is one.
pub fn question(input: &[Message]) -> Option<String> {
    last_user_message(input).map(|at| prompt_text(&input[at]))
}

/// The index of the message that is the prompt.
pub fn last_user_message(input: &[Message]) -> Option<usize> {
    input.iter().rposition(|message| message.role == Role::User)
}

/// Whether the prompt text of a message is blank, without building it.
pub fn is_silent(message: &Message) -> bool {
    message.content.iter().all(|block| match block {
        Block::Text(text) => text.trim().is_empty(),
        Block::Json(_) => false,
        Block::File(_) | Block::Image(_) => true,
    })
}

/// Texts first, then data, whatever their order in the message.
fn prompt_text(message: &Message) -> String {
    if let [Block::Text(only)] = message.content.as_slice() {
        return only.clone();
    }
    let texts = message.texts().map(str::to_owned);
    let data = message.content.iter().filter_map(|block| match block {
        Block::Json(value) => Some(value.to_json(JsonStyle::Pretty)),
        _ => None,
    });
    let parts: Vec<String> = texts.chain(data).collect();
    parts.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Map;

    #[test]
    fn the_last_user_message_is_the_question() {
        let data = Block::Json(Map::from_iter([("a".to_owned(), true.into())]).into());
        let text = |text: &str| Block::Text(text.to_owned());
        let input = [
            Message::user("first"),
            Message::new(Role::User, vec![data, text("one"), text("two")]),
            Message::new(Role::Assistant, vec![text("no")]),
        ];
        let expected = "one\ntwo\n{\n  \"a\": true\n}";
        assert_eq!(question(&input).as_deref(), Some(expected));
        assert_eq!(question(&input[2..]), None);
    }

    #[test]
    fn a_silent_message_is_one_with_a_blank_question() {
        let text = |text: &str| Block::Text(text.to_owned());
        let data = || Block::Json("".into());
        let contents = [
            vec![],
            vec![text("")],
            vec![text(" "), text("\n")],
            vec![text(""), data()],
            vec![text(" "), text("x")],
        ];
        for content in contents {
            let message = Message::new(Role::User, content);
            let asked = question(std::slice::from_ref(&message)).unwrap();
            assert_eq!(is_silent(&message), asked.trim().is_empty(), "{asked:?}");
        }
    }
}
