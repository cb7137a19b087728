//! One command of a shell script with its words, and what words mean to the shell.

use std::collections::{BTreeMap, BTreeSet};

/// Programs that write what they read.
const FILTERS: &[&str] = &["cat", "tee", "head", "tail", "tr", "sed", "grep", "awk", "jq"];

/// A command without control structures around it.
#[derive(Debug, Default)]
pub(super) struct SimpleCommand {
    /// Without quotes. Values that are expanded in a word leave a mark (`TAINT`).
    pub(super) words: Vec<String>,
    /// A value reaches standard input by a pipe, a redirection or a here-document.
    pub(super) is_stdin_tainted: bool,
    /// It has the standard input of the script, which is a prompt.
    pub(super) inherits_prompt: bool,
}

impl SimpleCommand {
    /// The commands that `$NAME ARGUMENT …` stands for, if the script says what the variable holds.
    pub(super) fn with_program_of_variable(
        &self,
        literals: &BTreeMap<String, Vec<String>>,
    ) -> Vec<Self> {
        let name = self.words.first().and_then(|first| first.strip_prefix('$'));
        let texts = name.and_then(|name| literals.get(name));
        let commands = texts.into_iter().flatten().map(|text| {
            let words = text.split_whitespace().map(str::to_owned);
            self.with_words(words.chain(self.words[1..].iter().cloned()).collect())
        });
        commands.collect()
    }

    /// The commands with texts in place of arguments that are variables, as in `sh $FLAG CODE`.
    pub(super) fn with_literal_arguments(
        &self,
        literals: &BTreeMap<String, Vec<String>>,
    ) -> Vec<Self> {
        const MOST: usize = 64;
        let mut commands = Vec::new();
        for (at, word) in self.words.iter().enumerate().skip(1) {
            let texts = word.strip_prefix('$').and_then(|name| literals.get(name));
            for text in texts.into_iter().flatten().take(MOST) {
                let mut words = self.words.clone();
                words.splice(at..=at, text.split_whitespace().map(str::to_owned));
                commands.push(self.with_words(words));
            }
        }
        commands
    }

    pub(super) fn with_words(&self, words: Vec<String>) -> Self {
        let Self { is_stdin_tainted, inherits_prompt, .. } = *self;
        Self { words, is_stdin_tainted, inherits_prompt }
    }

    /// Whether it hands the prompt on.
    pub(super) fn passes_prompt(&self) -> bool {
        let mut words = self.words.iter().map(String::as_str);
        let name = words.next().unwrap_or_default().rsplit('/').next().unwrap_or_default();
        let is_file = |word: &str| word != "-" && !word.starts_with('-');
        self.inherits_prompt && FILTERS.contains(&name) && (name != "cat" || !words.any(is_file))
    }
}

/// Whether the shell evaluates the value of a variable in `${NAME…}`: as the name of another variable, or
/// as a prompt of its own.
pub(super) fn is_evaluated(is_indirect: bool, rest: &str) -> bool {
    // `${!NAME@}` lists names.
    (is_indirect && !rest.starts_with(['@', '*'])) || rest.starts_with("@P")
}

/// Whether an arithmetic expression names one of the variables.
pub(super) fn names_any(expression: &str, variables: &BTreeSet<String>) -> bool {
    let mut words = expression.split(|one: char| !one.is_ascii_alphanumeric() && one != '_');
    words.any(|word| {
        // A number is not a parameter.
        !word.starts_with(|first: char| first.is_ascii_digit()) && variables.contains(word)
    })
}

/// Names of the parameters of a script or function.
pub(super) fn parameters() -> impl Iterator<Item = String> {
    let numbers = (1..10).map(|at| at.to_string());
    numbers.chain(["@", "*"].map(str::to_owned))
}

/// `NAME=VALUE`, also with a subscript or `+=`.
pub(super) fn assignment(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let name = name.strip_suffix('+').unwrap_or(name);
    let plain = name.split('[').next().unwrap_or_default();
    let is_name = plain.chars().all(|one| one.is_ascii_alphanumeric() || one == '_');
    let starts = plain.starts_with(|one: char| one.is_ascii_alphabetic() || one == '_');
    (is_name && starts).then_some((name, value))
}
