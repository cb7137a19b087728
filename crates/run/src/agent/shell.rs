//! Shell commands. A value never becomes part of the command text: it goes into a variable, and the
//! placeholder is replaced by a quoted reference to it. So nothing in a prompt can be executed,
//! wherever the placeholder is.

use super::placeholder::{CommandPart, Placeholder, PlaceholderValues};

/// The innermost quotes or parentheses around a position in a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum QuoteContext {
    Nothing,
    Parenthesis,
    Double,
    Single,
    Comment,
}

/// A command and the variables it refers to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ShellScript {
    pub(crate) text: String,
    pub(crate) variables: Vec<(String, String)>,
}

pub(crate) fn script(pieces: &[CommandPart], values: &PlaceholderValues) -> ShellScript {
    let mut script = ShellScript { text: String::new(), variables: Vec::new() };
    let mut quoting = QuoteTracker::default();
    for piece in pieces {
        match piece {
            CommandPart::Text(text) => {
                quoting.pass(text);
                script.text.push_str(text);
            }
            CommandPart::Placeholder(slot) => {
                script.refer(*slot, values, quoting.around());
                quoting.pass_value();
            }
        }
    }
    script
}

impl ShellScript {
    fn refer(&mut self, slot: Placeholder, values: &PlaceholderValues, around: QuoteContext) {
        for (at, value) in values.texts(slot).iter().enumerate() {
            if at > 0 {
                self.text.push(' ');
            }
            let name = match slot {
                Placeholder::Files => format!("{}{}", variable(slot), at + 1),
                _ => variable(slot).to_owned(),
            };
            self.text.push_str(&reference(&name, around));
            if self.variables.iter().all(|(known, _)| *known != name) {
                self.variables.push((name, value.clone()));
            }
        }
    }
}

fn variable(slot: Placeholder) -> &'static str {
    match slot {
        Placeholder::Prompt => "EVALRIG_PROMPT",
        Placeholder::PromptFile => "EVALRIG_PROMPT_FILE",
        Placeholder::OutputFile => "EVALRIG_OUTPUT_FILE",
        Placeholder::Files => "EVALRIG_FILE_",
        Placeholder::TestId => "EVALRIG_TEST_ID",
        Placeholder::Attempt => "EVALRIG_ATTEMPT",
        Placeholder::Workspace => "EVALRIG_WORKSPACE",
    }
}

#[cfg(not(windows))]
fn reference(name: &str, around: QuoteContext) -> String {
    match around {
        QuoteContext::Double => format!("${{{name}}}"),
        QuoteContext::Single => format!("'\"${name}\"'"),
        QuoteContext::Nothing | QuoteContext::Parenthesis | QuoteContext::Comment => {
            format!("\"${name}\"")
        }
    }
}

/// Delayed expansion happens after the line has been parsed.
#[cfg(windows)]
fn reference(name: &str, around: QuoteContext) -> String {
    match around {
        QuoteContext::Double => format!("!{name}!"),
        _ => format!("\"!{name}!\""),
    }
}

/// Tracks the quoting of a command. A wrong guess, in a here-document for example, garbles a value
/// but cannot execute it.
#[derive(Debug, Default)]
struct QuoteTracker {
    /// Outermost first.
    open: Vec<QuoteContext>,
    is_escaped: bool,
    /// The last character is part of a word, so that `#` does not start a comment.
    is_in_word: bool,
    after_dollar: bool,
}

impl QuoteTracker {
    fn around(&self) -> QuoteContext {
        self.open.last().copied().unwrap_or(QuoteContext::Nothing)
    }

    fn pass(&mut self, text: &str) {
        for character in text.chars() {
            if self.is_escaped {
                self.is_escaped = false;
            } else {
                self.step(character);
            }
            self.after_dollar = character == '$';
            self.is_in_word = !(character.is_whitespace() || ";&|(".contains(character));
        }
    }

    fn pass_value(&mut self) {
        self.is_in_word = true;
        self.after_dollar = false;
    }

    fn step(&mut self, character: char) {
        let around = self.around();
        match (around, character) {
            (QuoteContext::Comment, '\n')
            | (QuoteContext::Single, '\'')
            | (QuoteContext::Double, '"') => {
                self.open.pop();
            }
            (QuoteContext::Comment | QuoteContext::Single, _) => {}
            (_, '\\') => self.is_escaped = true,
            (QuoteContext::Double, '(') if self.after_dollar => {
                self.open.push(QuoteContext::Parenthesis)
            }
            (QuoteContext::Double, _) => {}
            (_, '\'') => self.open.push(QuoteContext::Single),
            (_, '"') => self.open.push(QuoteContext::Double),
            (_, '(') => self.open.push(QuoteContext::Parenthesis),
            (QuoteContext::Parenthesis, ')') => {
                self.open.pop();
            }
            (_, '#') if !self.is_in_word => self.open.push(QuoteContext::Comment),
            _ => {}
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::process::Command;

    use super::super::placeholder::{CommandSyntax, split_placeholders};
    use super::*;

    /// All kinds of quotes, substitutions, globs, line breaks, and an end of options.
    const HOSTILE: &str = "a'b\"c`echo no`$(echo no)${HOME}\\'\\\n; echo no # *  'x' -- {ATTEMPT}";

    fn values() -> PlaceholderValues {
        PlaceholderValues {
            prompt: HOSTILE.to_owned(),
            files: vec!["/a b".to_owned(), "/$(echo no)'".to_owned()],
            test_id: "t'; echo no; '".to_owned(),
            attempt: "1".to_owned(),
            ..PlaceholderValues::default()
        }
    }

    fn of(command: &str, values: &PlaceholderValues) -> ShellScript {
        script(&split_placeholders(command, CommandSyntax::Shell), values)
    }

    fn run(command: &str) -> String {
        let script = of(command, &values());
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(&script.text).envs(script.variables);
        let output = shell.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    #[test]
    fn a_value_is_one_word_whatever_its_content_and_position() {
        for command in [
            "printf '%s' {PROMPT}",
            "printf '%s' \"{PROMPT}\"",
            "printf '%s' '{PROMPT}'",
            "printf '%s' \"$(printf '%s' {PROMPT})\"",
            "printf '%s' \"$(printf '%s' \"{PROMPT}\")\"",
            "(printf '%s' {PROMPT})",
            "# don't\nprintf '%s' {PROMPT}",
            "X={PROMPT}; printf '%s' \"$X\"",
            "printf '%s' \"\"{PROMPT}''",
            ": {TEST_ID}#'\n'; printf '%s' {PROMPT}",
        ] {
            assert_eq!(run(command), HOSTILE, "{command}");
        }
        assert_eq!(run("printf '<%s>' --id={TEST_ID} x"), "<--id=t'; echo no; '><x>");
        assert_eq!(run("printf '<%s>' \"a {TEST_ID} b\""), "<a t'; echo no; ' b>");
    }

    #[test]
    fn each_file_is_a_word() {
        assert_eq!(run("printf '<%s>' {FILES}"), "</a b></$(echo no)'>");
        assert_eq!(run("printf '<%s>' \"{FILES}\""), "</a b /$(echo no)'>");
        let none = of("x {FILES} y", &PlaceholderValues::default());
        assert_eq!(none.text, "x  y");
    }

    #[test]
    fn nothing_is_run_where_the_quoting_cannot_be_known() {
        for command in [
            "cat <<EOF\n{PROMPT}\nEOF",
            "cat <<'EOF'\n{PROMPT}\nEOF",
            "case x in x) printf '%s' {PROMPT};; esac",
            "echo \"`printf '%s' {PROMPT}`\"",
            "echo `printf '%s' \"{PROMPT}\"`",
        ] {
            let shown = run(command);
            assert!(!shown.lines().any(|line| line.trim() == "no"), "{command}: {shown}");
            assert!(!shown.starts_with("a'b\"cno"), "{command}: {shown}");
        }
    }

    #[test]
    fn variables_of_the_author_stay() {
        assert_eq!(run("PROMPT=mine; printf '%s' \"${PROMPT}\""), "mine");
        let script = of("echo ${EVAL_ID} {x} {ATTEMPT}", &values());
        assert_eq!(script.text, "echo ${EVAL_ID} {x} \"$EVALRIG_ATTEMPT\"");
    }
}
