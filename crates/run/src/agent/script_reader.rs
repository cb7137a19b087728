//! Reads a shell script roughly: its simple commands with their words, and which of them hold values
//! of placeholders.

use std::collections::{BTreeMap, BTreeSet};

use super::simple_command::{SimpleCommand, assignment, is_evaluated, names_any, parameters};

/// Stands for the value of a placeholder. No command contains this character.
pub(super) const TAINT: char = '\0';

/// Among the variables that hold values: standard input is a prompt.
pub(super) const STDIN: &str = "<stdin>";

/// Substitutions inside substitutions. The stack and the time are limited.
const MOST_DEPTH: usize = 50;

/// Words that precede a command.
const RESERVED: &[&str] = &[
    "if", "then", "else", "elif", "fi", "do", "done", "while", "until", "{", "}", "!", "esac",
    "time", "coproc",
];

/// What a script consists of.
#[derive(Debug, Default)]
pub(super) struct ReadScript {
    pub(super) commands: Vec<SimpleCommand>,
    /// Variables that get values of placeholders.
    pub(super) assigned: BTreeSet<String>,
    /// Texts without values that variables get.
    pub(super) literals: BTreeMap<String, Vec<String>>,
    /// A value is part of an arithmetic expression, a subscript or the like.
    pub(super) is_expression_tainted: bool,
}

pub(super) struct ScriptReader<'a> {
    text: Vec<char>,
    at: usize,
    variables: &'a BTreeSet<String>,
    /// Whether values are used anywhere, besides standard input.
    has_values: bool,
    read: ReadScript,
    command: SimpleCommand,
    word: Option<String>,
    /// The word to come is the target of a redirection of standard input.
    is_input: bool,
    /// The command reads from a pipe, a file or a here-document.
    is_stdin_replaced: bool,
    /// A value occurred anywhere before, so that a pipe may carry it.
    is_any_tainted: bool,
    /// Ends of here-documents whose text begins on the next line.
    here_documents: Vec<String>,
    /// Of substitutions around the text.
    depth: usize,
}

impl<'a> ScriptReader<'a> {
    /// `variables` hold values of placeholders.
    pub(super) fn new(script: &str, variables: &'a BTreeSet<String>) -> Self {
        Self {
            text: script.chars().collect(),
            at: 0,
            variables,
            has_values: script.contains(TAINT) || variables.iter().any(|name| name != STDIN),
            read: ReadScript::default(),
            command: SimpleCommand::default(),
            word: None,
            is_input: false,
            is_stdin_replaced: false,
            is_any_tainted: false,
            here_documents: Vec::new(),
            depth: 0,
        }
    }

    /// A substitution or the like. What is nested too deeply is not read, and counts as a value that is run.
    fn read_nested(&self, script: &str) -> ReadScript {
        if self.depth == MOST_DEPTH {
            return ReadScript { is_expression_tainted: true, ..ReadScript::default() };
        }
        let mut reader = Self::new(script, self.variables);
        reader.depth = self.depth + 1;
        reader.read()
    }

    pub(super) fn read(mut self) -> ReadScript {
        while let Some(character) = self.next() {
            self.step(character);
        }
        self.end_command();
        self.read
    }

    fn next(&mut self) -> Option<char> {
        let character = self.text.get(self.at).copied();
        self.at += usize::from(character.is_some());
        character
    }

    fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    fn skip_if(&mut self, expected: char) -> bool {
        let is_next = self.peek() == Some(expected);
        self.at += usize::from(is_next);
        is_next
    }

    fn step(&mut self, character: char) {
        match character {
            '\n' => {
                self.end_command();
                self.read_here_documents();
            }
            ' ' | '\t' | '\r' => self.end_word(),
            '(' if self.skip_if('(') => {
                self.end_command();
                self.read_arithmetic();
                self.word = None;
            }
            '(' if self.skip_if(')') => {
                // A function: its parameters may be values.
                self.end_command();
                if self.has_values {
                    self.read.assigned.extend(parameters());
                }
            }
            ';' | '(' | ')' => self.end_command(),
            '&' if self.skip_if('>') => self.end_word(),
            '&' => {
                self.skip_if('&');
                self.end_command();
            }
            '|' => {
                let is_pipe = !self.skip_if('|');
                self.skip_if('&');
                self.end_command();
                self.command.is_stdin_tainted = is_pipe && self.is_any_tainted;
                self.is_stdin_replaced = is_pipe;
            }
            '<' => self.redirect_input(),
            '>' if self.skip_if('(') => self.substitute(')'),
            '>' => {
                self.end_word();
                while self.skip_if('>') || self.skip_if('&') || self.skip_if('|') {}
            }
            '#' if self.word.is_none() => {
                while self.peek().is_some_and(|next| next != '\n') {
                    self.at += 1;
                }
            }
            _ => self.step_in_word(character, false),
        }
    }

    /// A character that is part of a word, perhaps between double quotes.
    fn step_in_word(&mut self, character: char, is_quoted: bool) {
        match character {
            '\'' if !is_quoted => {
                self.push_str("");
                while let Some(next) = self.next().filter(|next| *next != '\'') {
                    // A placeholder between single quotes is expanded all the same.
                    self.push(next);
                }
            }
            '"' if !is_quoted => {
                self.push_str("");
                while let Some(next) = self.next().filter(|next| *next != '"') {
                    self.step_in_word(next, true);
                }
            }
            '\\' => match self.next() {
                Some('\n') | None => {}
                Some(next) if is_quoted && !"$`\"\\".contains(next) => {
                    self.push('\\');
                    self.push(next);
                }
                Some(next) => self.push(next),
            },
            '`' => self.substitute('`'),
            '$' => self.expand(is_quoted),
            _ => self.push(character),
        }
    }

    fn push(&mut self, character: char) {
        self.is_any_tainted |= character == TAINT;
        self.word.get_or_insert_default().push(character);
    }

    fn push_str(&mut self, text: &str) {
        self.word.get_or_insert_default().push_str(text);
    }

    fn expand(&mut self, is_quoted: bool) {
        match self.peek() {
            Some('(') => {
                self.at += 1;
                if self.skip_if('(') {
                    self.read_arithmetic();
                } else {
                    self.substitute(')');
                }
            }
            Some('{') => {
                self.at += 1;
                self.read_braces();
            }
            Some('\'') if !is_quoted => {}
            Some(next) if next.is_ascii_alphanumeric() || "_@*".contains(next) => {
                let mut name = String::new();
                while let Some(next) = self.peek().filter(|next| {
                    let is_name = next.is_ascii_alphanumeric() || *next == '_';
                    is_name || (name.is_empty() && "@*".contains(*next))
                }) {
                    name.push(next);
                    self.at += 1;
                    if name.len() == 1 && (next.is_ascii_digit() || "@*".contains(next)) {
                        break;
                    }
                }
                self.push_variable(&name);
            }
            _ => self.push('$'),
        }
    }

    fn push_variable(&mut self, name: &str) {
        if self.variables.contains(name) {
            self.push(TAINT);
        } else {
            self.push('$');
            self.push_str(name);
        }
    }

    /// `${NAME}`, `${NAME:-WORD}` and others. A value in any other place than a default is evaluated:
    /// subscripts and offsets are arithmetic.
    fn read_braces(&mut self) {
        let inner = self.read_until_closed('{', '}');
        let is_indirect = inner.starts_with('!');
        let inner = inner.strip_prefix(['#', '!']).unwrap_or(&inner);
        let name = if inner.starts_with(['@', '*']) {
            inner[..1].to_owned()
        } else {
            let is_name = |one: &char| one.is_ascii_alphanumeric() || *one == '_';
            inner.chars().take_while(is_name).collect()
        };
        let rest = &inner[name.len()..];
        self.read.is_expression_tainted |=
            self.variables.contains(&name) && is_evaluated(is_indirect, rest);
        let operator = rest.strip_prefix(':').unwrap_or(rest);
        let is_default = operator.is_empty() || operator.starts_with(['-', '+', '?', '=']);
        let is_tainted = self.read_quoted(rest);
        // Bare names are variables in arithmetic.
        let is_tainted_there = is_tainted || self.names_variable(rest);
        if is_tainted_there && !is_default && !operator.starts_with(['%', '#', '/', '^', ',', '@'])
        {
            self.read.is_expression_tainted = true;
        }
        self.push_variable(&name);
        if is_tainted {
            self.push(TAINT);
            if operator.starts_with('=') {
                self.read.assigned.insert(name);
            }
        }
    }

    /// Text in which only `$` and backticks have a meaning. True if a value is expanded in it.
    fn read_quoted(&mut self, text: &str) -> bool {
        let text = format!("x \"{}\"", text.replace('"', ""));
        let mut nested = self.read_nested(&text);
        let is_tainted = has_taint(&nested);
        // The command that was made up for the text; those of substitutions come before it.
        nested.commands.pop();
        self.read.commands.extend(nested.commands);
        self.read.is_expression_tainted |= nested.is_expression_tainted;
        is_tainted
    }

    fn read_arithmetic(&mut self) {
        let inner = self.read_until_closed('(', ')');
        self.skip_if(')');
        let nested = self.read_nested(&inner);
        let is_variable = self.names_variable(&inner);
        self.read.is_expression_tainted |= inner.contains(TAINT)
            || has_taint(&nested)
            || is_variable
            || nested.is_expression_tainted;
        self.push_str("0");
    }

    fn names_variable(&self, expression: &str) -> bool {
        names_any(expression, self.variables)
    }

    /// `$( … )`, backticks and `<( … )`: its commands are part of the script, and its output may hold
    /// the values that they use.
    fn substitute(&mut self, close: char) {
        let inner = match close {
            '`' => {
                let mut inner = String::new();
                while let Some(next) = self.next().filter(|next| *next != '`') {
                    match next {
                        '\\' => inner.extend(self.next()),
                        _ => inner.push(next),
                    }
                }
                inner
            }
            _ => self.read_until_closed('(', ')'),
        };
        let nested = self.read_nested(&inner);
        let is_tainted = inner.contains(TAINT) || has_taint(&nested);
        // Stands for the output, of which nothing is known.
        self.push_str("$()");
        self.read.commands.extend(nested.commands);
        self.read.assigned.extend(nested.assigned);
        for (name, texts) in nested.literals {
            self.read.literals.entry(name).or_default().extend(texts);
        }
        self.read.is_expression_tainted |= nested.is_expression_tainted;
        if is_tainted {
            self.push(TAINT);
        }
    }

    /// The text up to the parenthesis or brace that closes; quotes hide others.
    fn read_until_closed(&mut self, open: char, close: char) -> String {
        let (mut inner, mut depth, mut quote) = (String::new(), 1, None);
        while let Some(next) = self.next() {
            match (quote, next) {
                (None | Some('"'), '\\') => {
                    inner.push(next);
                    inner.extend(self.next());
                    continue;
                }
                (Some(open), _) if next == open => quote = None,
                (None, '\'' | '"') => quote = Some(next),
                // `"$( … )"` inside is closed before the quotes are.
                (None | Some('"'), _) if next == open => depth += 1,
                (None | Some('"'), _) if next == close => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                break;
            }
            inner.push(next);
        }
        inner
    }

    fn redirect_input(&mut self) {
        if self.skip_if('(') {
            return self.substitute(')');
        }
        self.end_word();
        self.is_stdin_replaced = true;
        if !self.skip_if('<') {
            self.skip_if('&');
            self.is_input = true;
            return;
        }
        if self.skip_if('<') {
            self.is_input = true;
            return;
        }
        self.skip_if('-');
        while self.peek().is_some_and(|next| next == ' ' || next == '\t') {
            self.at += 1;
        }
        let mut end = String::new();
        while let Some(next) =
            self.peek().filter(|next| !next.is_whitespace() && !";&|<>()".contains(*next))
        {
            self.at += 1;
            if !"'\"\\".contains(next) {
                end.push(next);
            }
        }
        // The text follows on the next line, but belongs to this command.
        let start = self.text[self.at..].iter().position(|next| *next == '\n');
        let body: String =
            start.map_or_else(String::new, |start| self.text[self.at + start..].iter().collect());
        let body = body.lines().take_while(|line| line.trim_start_matches('\t') != end);
        let body = body.collect::<Vec<_>>().join("\n");
        self.command.is_stdin_tainted |= self.read_quoted(&body);
        self.here_documents.push(end);
    }

    /// Skips their text, which is not part of the script.
    fn read_here_documents(&mut self) {
        for end in std::mem::take(&mut self.here_documents) {
            loop {
                let mut line = String::new();
                while let Some(next) = self.next().filter(|next| *next != '\n') {
                    line.push(next);
                }
                self.is_any_tainted |= line.contains(TAINT);
                if line.trim_start_matches('\t') == end || self.peek().is_none() {
                    break;
                }
            }
        }
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        if std::mem::take(&mut self.is_input) {
            self.command.is_stdin_tainted |= word.contains(TAINT);
            return;
        }
        let is_first = self.command.words.is_empty();
        if is_first && RESERVED.contains(&word.as_str()) {
            return;
        }
        if is_first && let Some((name, value)) = assignment(&word) {
            if value.contains(TAINT) {
                self.read.assigned.insert(name.to_owned());
            } else {
                let texts = self.read.literals.entry(name.to_owned()).or_default();
                texts.push(value.to_owned());
            }
            let subscript = name.split_once('[').map_or("", |(_, subscript)| subscript);
            self.read.is_expression_tainted |=
                name.contains(TAINT) || self.names_variable(subscript);
            return;
        }
        self.command.words.push(word);
    }

    fn end_command(&mut self) {
        self.end_word();
        self.is_input = false;
        let mut command = std::mem::take(&mut self.command);
        let is_replaced = std::mem::take(&mut self.is_stdin_replaced);
        command.inherits_prompt = !is_replaced && self.variables.contains(STDIN);
        self.is_any_tainted |= command.passes_prompt();
        let words: Vec<&str> = command.words.iter().map(String::as_str).collect();
        let is_tainted = words.iter().any(|word| word.contains(TAINT));
        match words.as_slice() {
            // Only a script with placeholders is read, so what it reads may hold their values.
            ["read" | "mapfile" | "readarray", names @ ..] => {
                let names = names.iter().filter(|name| !name.starts_with('-'));
                self.read.assigned.extend(names.map(|name| (*name).to_owned()));
                self.read.assigned.extend(["REPLY", "MAPFILE"].map(str::to_owned));
            }
            ["for" | "select", name, ..] if is_tainted => {
                self.read.assigned.insert((*name).to_owned());
                return;
            }
            ["for" | "select" | "case", ..] => return,
            ["set", ..] if is_tainted => {
                self.read.assigned.extend(parameters());
            }
            ["export" | "readonly" | "local" | "declare" | "typeset", rest @ ..] => {
                let values = rest.iter().filter_map(|word| assignment(word));
                let tainted = values.filter(|(_, value)| value.contains(TAINT));
                self.read.assigned.extend(tainted.map(|(name, _)| name.to_owned()));
            }
            ["printf", "-v", name, ..] if is_tainted => {
                self.read.assigned.insert((*name).to_owned());
            }
            _ => {}
        }
        if !command.words.is_empty() {
            self.read.commands.push(command);
        }
    }
}

/// Whether any command of a part uses a value.
fn has_taint(part: &ReadScript) -> bool {
    let mut words = part.commands.iter().flat_map(|command| &command.words);
    words.any(|word| word.contains(TAINT))
        || part.commands.iter().any(|one| one.is_stdin_tainted || one.passes_prompt())
        || !part.assigned.is_empty()
}
