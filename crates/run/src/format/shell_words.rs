//! The simple commands of a shell script that an agent ran. Substitutions and variables are not
//! expanded, nothing here recurses far on the script, and a very long script is not looked at.

/// Bytes of the longest script that is read.
const LONGEST: usize = 64 * 1024;

/// Stands for the root of the workspace at the beginning of a path. No command contains this character.
pub(super) const WORKSPACE: char = '\0';

/// Substitutions whose outputs are known.
const KNOWN_OUTPUTS: [(&str, &str); 3] = [
    ("git rev-parse --show-toplevel", "\0"),
    ("git rev-parse --show-toplevel 2>/dev/null", "\0"),
    ("pwd", "$PWD"),
];

/// Substitutions inside of quotes inside of substitutions that are looked into.
const DEEPEST: usize = 8;

/// Words that precede a command.
const RESERVED: &[&str] =
    &["if", "then", "else", "elif", "do", "while", "until", "{", "}", "!", "fi", "done"];

/// A command without control structures around it, its words without quotes. Targets of output
/// redirections are not among the words. Assignments without a command are those of `export`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ShellCommand {
    pub(super) words: Vec<String>,
    /// `NAME=VALUE` before the program.
    pub(super) assigned: Vec<String>,
    /// The file that is its standard input.
    pub(super) input: Option<String>,
    /// The text that is its standard input.
    pub(super) here_document: Option<String>,
    /// Whether its standard input is the output of the command before.
    pub(super) is_piped: bool,
}

/// Empty for a script that is too long.
pub(super) fn shell_commands(script: &str) -> Vec<ShellCommand> {
    if is_too_long(script) {
        return Vec::new();
    }
    commands_of(with_known_outputs(script).chars().collect(), 0)
}

fn with_known_outputs(script: &str) -> String {
    let mut script = script.replace(WORKSPACE, "");
    for (command, output) in KNOWN_OUTPUTS {
        for written in [format!("$({command})"), format!("`{command}`")] {
            script = script.replace(&written, output);
        }
    }
    script
}

pub(super) fn is_too_long(script: &str) -> bool {
    script.len() > LONGEST
}

fn commands_of(script: Vec<char>, depth: usize) -> Vec<ShellCommand> {
    let mut splitter = Splitter { rest: script, depth, ..Splitter::default() };
    splitter.split();
    splitter.commands
}

/// What the word to come is.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum WordUse {
    #[default]
    Argument,
    Input,
    /// The line that ends a here-document.
    HereEnd,
    /// The target of a redirection.
    Dropped,
}

/// A here-document whose text has not come yet.
#[derive(Debug)]
struct HereDocument {
    end: String,
    /// The command that reads it, by its index.
    command: usize,
    /// Tabs before its lines do not count.
    is_indented: bool,
}

#[derive(Debug, Default)]
struct Splitter {
    rest: Vec<char>,
    at: usize,
    depth: usize,
    here: Vec<HereDocument>,
    is_indented: bool,
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
                '\n' => {
                    self.end_command();
                    self.read_here_documents();
                }
                '|' if !self.skip_if('|') => {
                    self.end_command();
                    self.command.is_piped = true;
                }
                ';' | '&' | '|' | '(' | ')' => self.end_command(),
                '>' => self.redirect(WordUse::Dropped),
                '<' if self.skip_if('<') => {
                    let is_text = self.skip_if('<');
                    self.is_indented = self.skip_if('-');
                    let word_use = if is_text { WordUse::Dropped } else { WordUse::HereEnd };
                    self.redirect(word_use);
                }
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
                '$' if self.skip_if('(') => {
                    self.read_substitution(')');
                    '$'
                }
                '`' => {
                    self.read_substitution('`');
                    '$'
                }
                '\\' => match self.next() {
                    Some('\n') | None => continue,
                    Some(escaped) => escaped,
                },
                _ => next,
            };
            self.word.get_or_insert_default().push(next);
        }
    }

    /// The commands of a substitution go before the one that uses their output.
    fn read_substitution(&mut self, end: char) {
        let (from, mut open) = (self.at, 1_usize);
        while let Some(&next) = self.rest.get(self.at) {
            self.at += 1;
            if next == end {
                open -= 1;
            } else if next == '(' && end == ')' {
                open += 1;
            }
            if open == 0 {
                break;
            }
        }
        let until = if open == 0 { self.at - 1 } else { self.at };
        if self.depth < DEEPEST {
            let script = self.rest[from..until].to_vec();
            self.commands.extend(commands_of(script, self.depth + 1));
        }
    }

    /// The texts of here-documents begin in the line after their commands.
    fn read_here_documents(&mut self) {
        for here in std::mem::take(&mut self.here) {
            let mut text = String::new();
            while self.at < self.rest.len() {
                let rest = &self.rest[self.at..];
                let length = rest.iter().position(|next| *next == '\n').unwrap_or(rest.len());
                let line: String = rest[..length].iter().collect();
                self.at = (self.at + length + 1).min(self.rest.len());
                let line = if here.is_indented { line.trim_start_matches('\t') } else { &line };
                if line == here.end {
                    break;
                }
                text.push_str(line);
                text.push('\n');
            }
            if let Some(command) = self.commands.get_mut(here.command) {
                command.here_document = Some(text);
            }
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
            WordUse::HereEnd => {
                let (command, is_indented) = (self.commands.len(), self.is_indented);
                self.here.push(HereDocument { end: word, command, is_indented });
            }
            WordUse::Dropped => {}
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        self.word_use = WordUse::Argument;
        if self.command.words.is_empty() {
            // A pipe may be followed by a new line or a parenthesis.
            let is_piped = self.command.is_piped;
            self.command = ShellCommand { is_piped, ..ShellCommand::default() };
            return;
        }
        let mut command = std::mem::take(&mut self.command);
        let leading = command
            .words
            .iter()
            .take_while(|word| RESERVED.contains(&word.as_str()) || is_assignment(word));
        let leading = leading.count();
        let is_bare = leading == command.words.len();
        let assigned: Vec<String> = command.words.drain(..leading).collect();
        if is_bare && assigned.iter().any(|word| is_assignment(word)) {
            command.words.push("export".to_owned());
            command.words.extend(assigned);
        } else {
            command.assigned = assigned;
        }
        if !command.words.is_empty() {
            self.commands.push(command);
        }
    }
}

pub(super) fn is_assignment(word: &str) -> bool {
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
            ("cat <<'EOF' > b\nx\nEOF\ncat c", &["cat", "cat|c"]),
            ("cat <<A <<-B; ls\nx\nA\n\ty\n\tB\nwc", &["cat", "ls", "wc"]),
            ("cat <<< a b", &["cat|b"]),
            ("echo \"$(cat a; echo \"$(cat b)\")\" c", &["cat|a", "cat|b", "echo|$", "echo|$|c"]),
            ("echo \"`cat a`\"", &["cat|a", "echo|$"]),
            ("cat ''", &["cat|"]),
            ("  \n;;", &[]),
            ("echo $(cat a)", &["echo|$", "cat|a"]),
            ("A=1 B=2; cat a", &["export|A=1|B=2", "cat|a"]),
            ("time -p cat a", &["time|-p|cat|a"]),
            (
                "cd $(git rev-parse --show-toplevel)/a && cat \"$(pwd)/b\"",
                &["cd|\0/a", "cat|$PWD/b"],
            ),
            ("cd `git rev-parse --show-toplevel 2>/dev/null`; cat `pwd`", &["cd|\0", "cat|$PWD"]),
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
    fn a_pipe_is_known() {
        for (script, expected) in [
            ("cat a | sh", true),
            ("cat a |\n sh", true),
            ("cat a | (sh)", true),
            ("cat a | { sh; }", true),
            ("cat a |& sh", true),
            ("cat a || sh", false),
            ("cat a; sh", false),
        ] {
            assert_eq!(shell_commands(script)[1].is_piped, expected, "{script}");
        }
    }

    #[test]
    fn a_script_that_is_too_long_is_not_read() {
        assert!(shell_commands(&"cat a;".repeat(20_000)).is_empty());
        assert_eq!(shell_commands(&"$(".repeat(10_000)).len(), 10_000);
    }
}
