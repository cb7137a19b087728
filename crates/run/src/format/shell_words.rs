//! The simple commands of a shell script that an agent ran. Substitutions and variables are not
//! expanded, nothing here recurses on the script, and a very long script is not looked at.

/// Bytes of the longest script that is read.
const LONGEST: usize = 64 * 1024;

/// Words that precede a command.
const RESERVED: &[&str] =
    &["if", "then", "else", "elif", "do", "while", "until", "{", "}", "!", "time", "fi", "done"];

/// A command without control structures around it, its words without quotes. Targets of output
/// redirections are not among the words.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ShellCommand {
    pub(super) words: Vec<String>,
    /// The file that is its standard input.
    pub(super) input: Option<String>,
}

pub(super) fn shell_commands(script: &str) -> Vec<ShellCommand> {
    if script.len() > LONGEST {
        return Vec::new();
    }
    let mut splitter = Splitter { rest: script.chars().collect(), ..Splitter::default() };
    splitter.split();
    splitter.commands
}

/// What the word to come is.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum WordUse {
    #[default]
    Argument,
    Input,
    /// The target of a redirection, or the end of a here-document.
    Dropped,
}

#[derive(Debug, Default)]
struct Splitter {
    rest: Vec<char>,
    at: usize,
    word: Option<String>,
    word_use: WordUse,
    command: ShellCommand,
    commands: Vec<ShellCommand>,
}

impl Splitter {
    fn next(&mut self) -> Option<char> {
        let next = self.rest.get(self.at).copied();
        self.at += usize::from(next.is_some());
        next
    }

    fn skip_if(&mut self, expected: char) -> bool {
        let is_next = self.rest.get(self.at) == Some(&expected);
        self.at += usize::from(is_next);
        is_next
    }

    fn split(&mut self) {
        while let Some(next) = self.next() {
            match next {
                ' ' | '\t' | '\r' => self.end_word(),
                '&' if self.skip_if('>') => self.redirect(WordUse::Dropped),
                '\n' | ';' | '&' | '|' | '(' | ')' => self.end_command(),
                '>' => self.redirect(WordUse::Dropped),
                '<' if self.skip_if('<') => self.redirect(WordUse::Dropped),
                '<' => self.redirect(WordUse::Input),
                '#' if self.word.is_none() => {
                    while self.rest.get(self.at).is_some_and(|next| *next != '\n') {
                        self.at += 1;
                    }
                }
                '\'' => {
                    let word = self.word.get_or_insert_default();
                    while let Some(&next) = self.rest.get(self.at) {
                        self.at += 1;
                        if next == '\'' {
                            break;
                        }
                        word.push(next);
                    }
                }
                '"' => self.read_double_quotes(),
                '\\' => match self.next() {
                    Some('\n') | None => {}
                    Some(next) => self.word.get_or_insert_default().push(next),
                },
                _ => self.word.get_or_insert_default().push(next),
            }
        }
        self.end_command();
    }

    fn read_double_quotes(&mut self) {
        self.word.get_or_insert_default();
        while let Some(next) = self.next().filter(|next| *next != '"') {
            let next = match next {
                '\\' => match self.next() {
                    Some('\n') | None => continue,
                    Some(escaped) => escaped,
                },
                _ => next,
            };
            self.word.get_or_insert_default().push(next);
        }
    }

    /// The number before it, as in `2>`, is not an argument.
    fn redirect(&mut self, word_use: WordUse) {
        if self.word.as_ref().is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_digit())) {
            self.word = None;
        }
        self.end_word();
        while self.skip_if('>') || self.skip_if('&') || self.skip_if('|') || self.skip_if('-') {}
        self.word_use = word_use;
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else {
            return;
        };
        match std::mem::take(&mut self.word_use) {
            WordUse::Argument => self.command.words.push(word),
            WordUse::Input => self.command.input = Some(word),
            WordUse::Dropped => {}
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        self.word_use = WordUse::Argument;
        let mut command = std::mem::take(&mut self.command);
        let leading = command
            .words
            .iter()
            .take_while(|word| RESERVED.contains(&word.as_str()) || is_assignment(word));
        let leading = leading.count();
        command.words.drain(..leading);
        if !command.words.is_empty() {
            self.commands.push(command);
        }
    }
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(script: &str) -> Vec<String> {
        shell_commands(script).iter().map(|command| command.words.join("|")).collect()
    }

    #[test]
    fn commands_are_split_where_the_shell_splits_them() {
        for (script, expected) in [
            ("cat a b", &["cat|a|b"][..]),
            ("cd x && cat 'a b'; ls|head -1 & wc", &["cd|x", "cat|a b", "ls", "head|-1", "wc"]),
            ("A=1 B=2 cat \"a \\\"b\\\"\"", &["cat|a \"b\""]),
            ("cat a\\ b\\\nc # cat d", &["cat|a bc"]),
            ("if test -f a; then cat a; fi", &["test|-f|a", "cat|a"]),
            ("(cd x; { cat a; })", &["cd|x", "cat|a"]),
            ("cat > out 2>/dev/null a 2>&1", &["cat|a"]),
            ("cat a &> out", &["cat|a"]),
            ("cat <<'EOF' > b\nx\nEOF", &["cat", "x", "EOF"]),
            ("cat ''", &["cat|"]),
            ("  \n;;", &[]),
            ("echo $(cat a)", &["echo|$", "cat|a"]),
        ] {
            assert_eq!(words(script), expected, "{script}");
        }
    }

    #[test]
    fn input_is_known() {
        let read = shell_commands("cat < a/b");
        assert_eq!(read[0].input.as_deref(), Some("a/b"));
        assert_eq!(shell_commands("cat a > b")[0].input, None);
    }

    #[test]
    fn a_script_that_is_too_long_is_not_read() {
        assert!(shell_commands(&"cat a;".repeat(20_000)).is_empty());
        assert_eq!(shell_commands(&"$(".repeat(10_000)).len(), 10_000);
    }
}
