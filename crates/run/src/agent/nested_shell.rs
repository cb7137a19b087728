//! Finds placeholders whose values would be run as code: in the script of another shell or interpreter
//! inside a command, in `eval`, in what a shell reads from a pipe or a here-document.
//!
//! evalrig quotes values for one shell only. A second one parses them again, and then a prompt can run
//! commands. The analysis follows values through variables, substitutions and literal inner scripts.
//! It knows the shell's grammar only roughly; where in doubt, it reports. Values that a command writes to
//! a file, and runs from there, are not followed.

use std::collections::BTreeSet;

use super::interpreter::{CodeFrom, FirstOperand, interpreter_named, is_code_variable, is_wrapper};
use super::interpreter_call::{InterpreterCall, base_name, is_tainted};
use super::nested_code::{NestedCode, NestedWay};
use super::placeholder::{CommandPart, CommandSyntax, split_placeholders};
use super::script_reader::{ScriptReader, SimpleCommand, TAINT, assignment, parameters};

/// Scripts inside scripts inside scripts; deeper ones are reported.
const MOST_DEPTH: usize = 8;

/// For a command that the shell runs.
pub(crate) fn nested_in_line(line: &str) -> Option<NestedCode> {
    let marked = mark(line, CommandSyntax::Shell);
    if !marked.contains(TAINT) {
        return None;
    }
    in_script(&marked, &BTreeSet::new(), 0)
}

/// For a program and its arguments.
pub(crate) fn nested_in_arguments<'a>(
    arguments: impl IntoIterator<Item = &'a str>,
) -> Option<NestedCode> {
    let words: Vec<String> =
        arguments.into_iter().map(|one| mark(one, CommandSyntax::Program)).collect();
    if !words.iter().any(|word| word.contains(TAINT)) {
        return None;
    }
    let command = SimpleCommand { words, is_stdin_tainted: false };
    in_command(&command, &BTreeSet::new(), 0)
}

/// Replaces placeholders by one character that no command contains, and references to variables of
/// the targets file by a letter: their values are checked once they are known.
fn mark(text: &str, syntax: CommandSyntax) -> String {
    let mut marked = String::with_capacity(text.len());
    for part in split_placeholders(text, syntax) {
        match part {
            CommandPart::Placeholder(_) => marked.push(TAINT),
            CommandPart::Text(text) => push_without_references(&mut marked, &text),
        }
    }
    marked
}

fn push_without_references(marked: &mut String, mut text: &str) {
    while let Some((before, rest)) = text.split_once("${{")
        && let Some((_, after)) = rest.split_once("}}")
    {
        marked.push_str(before);
        marked.push('x');
        text = after;
    }
    marked.push_str(text);
}

/// `variables` hold values of placeholders.
fn in_script(script: &str, variables: &BTreeSet<String>, depth: usize) -> Option<NestedCode> {
    let found = |runner: &str, way| Some(NestedCode { runner: runner.to_owned(), way });
    if depth > MOST_DEPTH {
        return found("sh", NestedWay::ShellScript);
    }
    let mut variables = variables.clone();
    // Until no further variable gets a value of a placeholder. A round without one is the last.
    let read = loop {
        let read = ScriptReader::new(script, &variables).read();
        let known = variables.len();
        variables.extend(read.assigned.iter().cloned());
        if variables.len() == known {
            break read;
        }
    };
    if read.is_expression_tainted {
        return found("$((…))", NestedWay::Expression);
    }
    if let Some(name) = read.assigned.iter().find(|name| is_code_variable(name)) {
        return found(name, NestedWay::Eval);
    }
    read.commands.iter().find_map(|command| {
        let named = command.with_program_of_variable(&read.literals);
        if named.is_empty() {
            return in_command(command, &variables, depth);
        }
        named.iter().find_map(|command| in_command(command, &variables, depth))
    })
}

fn in_command(
    command: &SimpleCommand,
    variables: &BTreeSet<String>,
    depth: usize,
) -> Option<NestedCode> {
    let words: Vec<&str> = command.words.iter().map(String::as_str).collect();
    let first = words.first()?;
    if first.contains(TAINT) {
        return Some(NestedCode { runner: "it".to_owned(), way: NestedWay::Program });
    }
    if let Some(nested) = in_builtin(first, &words[1..]).or_else(|| in_assignment(&words)) {
        return Some(nested);
    }
    let is_wrapped = is_wrapper(base_name(first));
    for (at, word) in words.iter().enumerate() {
        let name = base_name(word);
        let is_command = at == 0 || is_wrapped;
        if is_wrapped && at > 0 && name == "eval" {
            return in_builtin("eval", &words[at + 1..]);
        }
        if is_command && name.contains('$') && is_script_call(&words[at + 1..]) {
            return Some(NestedCode { runner: name.to_owned(), way: NestedWay::ShellScript });
        }
        if is_command
            && name == "env"
            && let Some(nested) = in_split_string(&words[at + 1..], variables, depth)
        {
            return Some(nested);
        }
        let (name, at) = package_runner(name, &words, at);
        let Some(kind) = interpreter_named(name) else { continue };
        // As an argument, only a name with a flag for code is taken for an interpreter.
        let is_named = matches!(kind, CodeFrom::Flag { operand: FirstOperand::Script, .. });
        if !is_command && !is_named {
            continue;
        }
        let call = InterpreterCall {
            name,
            words: &words[at + 1..],
            is_command,
            is_stdin_tainted: command.is_stdin_tainted,
            is_replacing: command.is_stdin_tainted
                || words[..at].iter().any(|word| is_tainted(word)),
        };
        if let Some(nested) = call.check(kind, variables, depth) {
            return Some(nested);
        }
    }
    None
}

/// Whether a program that only a variable names would run a value, if it is a shell: `"$SHELL" -c CODE`.
fn is_script_call(arguments: &[&str]) -> bool {
    let is_flag = |word: &&str| {
        word.strip_prefix('-').is_some_and(|flag| !flag.starts_with('-') && flag.contains('c'))
    };
    let flag = arguments.iter().position(is_flag);
    flag.is_some_and(|at| arguments[at + 1..].iter().any(|word| is_tainted(word)))
}

/// `npm exec` is `npx`.
fn package_runner<'a>(name: &'a str, words: &[&str], at: usize) -> (&'a str, usize) {
    let is_npm = matches!(name, "npm" | "pnpm");
    let next = words[at + 1..].iter().position(|word| !word.starts_with('-'));
    match next.map(|next| at + 1 + next) {
        Some(next) if is_npm && matches!(words[next], "exec" | "x") => ("npx", next),
        _ => (name, at),
    }
}

/// `BASH_ENV={PROMPT_FILE}` among the arguments, as of `env` or `docker run -e`.
fn in_assignment(words: &[&str]) -> Option<NestedCode> {
    let assignments = words.iter().filter_map(|word| assignment(word));
    let mut tainted =
        assignments.filter(|(name, value)| is_tainted(value) && is_code_variable(name));
    let (name, _) = tainted.next()?;
    Some(NestedCode { runner: name.to_owned(), way: NestedWay::Eval })
}

/// `env -S STRING ARGUMENT …`: the string becomes words, which the arguments follow. A value in it may add
/// words of its own.
fn in_split_string(
    arguments: &[&str],
    variables: &BTreeSet<String>,
    depth: usize,
) -> Option<NestedCode> {
    let found = || Some(NestedCode { runner: "env -S".to_owned(), way: NestedWay::ShellScript });
    for (at, word) in arguments.iter().enumerate() {
        let (string, rest) = match word.strip_prefix("--split-string") {
            Some(string) if string.starts_with('=') => (&string[1..], &arguments[at + 1..]),
            Some("") => (*arguments.get(at + 1)?, &arguments[at + 2..]),
            Some(_) => continue,
            None => {
                let letters = word.strip_prefix('-').filter(|flag| !flag.starts_with('-'));
                match letters.and_then(|letters| letters.split_once('S')) {
                    // Options that take a value, as in `-uSHELL`.
                    Some((before, _)) if before.contains(['u', 'C', '=']) => continue,
                    Some((_, "")) => (*arguments.get(at + 1)?, &arguments[at + 2..]),
                    Some((_, string)) => (string, &arguments[at + 1..]),
                    None => continue,
                }
            }
        };
        if is_tainted(string) || depth > MOST_DEPTH {
            return found();
        }
        let split = ScriptReader::new(string, variables).read().commands.into_iter().next()?;
        let rest = rest.iter().map(|word| (*word).to_owned());
        let words = split.words.into_iter().chain(rest).collect();
        let command = SimpleCommand { words, is_stdin_tainted: false };
        return in_command(&command, variables, depth + 1);
    }
    None
}

/// Commands of the shell that evaluate their arguments.
fn in_builtin(name: &str, arguments: &[&str]) -> Option<NestedCode> {
    let mut tainted = arguments.iter().filter(|word| is_tainted(word)).peekable();
    tainted.peek()?;
    let is_assignment =
        |word: &&&str| word.split_once('=').is_some_and(|(name, _)| !is_tainted(name));
    let way = match name {
        "eval" | "trap" | "alias" | "source" | "." => NestedWay::Eval,
        "let" | "((" | "unset" | "read" | "getopts" | "mapfile" | "readarray" => {
            NestedWay::Expression
        }
        "export" | "readonly" | "local" | "declare" | "typeset" => {
            let evaluates =
                arguments.iter().any(|word| word.starts_with('-') && word.contains('i'));
            if !evaluates && tainted.all(|word| is_assignment(&word)) {
                return None;
            }
            NestedWay::Expression
        }
        "[[" => {
            const NUMERIC: &[&str] = &["-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-v"];
            if !arguments.iter().any(|word| NUMERIC.contains(word)) {
                return None;
            }
            NestedWay::Expression
        }
        "test" | "[" | "printf" => {
            let names = arguments.windows(2);
            if !names.into_iter().any(|pair| pair[0] == "-v" && is_tainted(pair[1])) {
                return None;
            }
            NestedWay::Expression
        }
        _ => return None,
    };
    Some(NestedCode { runner: name.to_owned(), way })
}

impl InterpreterCall<'_> {
    fn check(
        &self,
        kind: CodeFrom,
        variables: &BTreeSet<String>,
        depth: usize,
    ) -> Option<NestedCode> {
        let found = |way| Some(NestedCode { runner: self.name.to_owned(), way });
        match kind {
            CodeFrom::Remote => {
                let operands = self.words.iter().filter(|word| !word.starts_with('-')).count();
                if self.words.iter().any(|word| is_tainted(word)) {
                    return found(NestedWay::Remote);
                }
                let is_shell = self.is_command && self.is_stdin_tainted && operands < 2;
                is_shell.then_some(())?;
                found(NestedWay::StandardInput)
            }
            CodeFrom::AllArguments => {
                self.words.iter().any(|word| is_tainted(word)).then_some(())?;
                found(NestedWay::ShellScript)
            }
            CodeFrom::StandardInput => {
                if self.words.iter().any(|word| is_tainted(word)) {
                    return found(NestedWay::Program);
                }
                self.is_stdin_tainted.then_some(())?;
                found(NestedWay::StandardInput)
            }
            CodeFrom::EachOption { takes_code, operand } => {
                self.is_option_tainted(takes_code, operand).then_some(())?;
                found(NestedWay::Code)
            }
            CodeFrom::Flag { takes_code, is_shell, operand } => {
                match self.code(takes_code, operand) {
                    Some((code, rest)) => {
                        let is_filled = self.is_replacing && code.contains("{}");
                        if is_tainted(code) || is_filled {
                            let way =
                                if is_shell { NestedWay::ShellScript } else { NestedWay::Code };
                            return found(way);
                        }
                        if is_shell { in_inner_script(code, rest, variables, depth) } else { None }
                    }
                    None if !self.is_command || operand != FirstOperand::Script => None,
                    None => self.check_operand().and_then(found),
                }
            }
            CodeFrom::Operand => {
                self.is_operand_tainted().then_some(())?;
                found(NestedWay::Code)
            }
        }
    }
}

/// `sh -c SCRIPT NAME ARGUMENT …`: the arguments are the parameters of the script.
fn in_inner_script(
    script: &str,
    arguments: &[&str],
    variables: &BTreeSet<String>,
    depth: usize,
) -> Option<NestedCode> {
    let mut inner = variables.clone();
    if arguments.iter().any(|argument| is_tainted(argument)) {
        inner.extend(parameters());
        inner.insert("0".to_owned());
    }
    if inner.is_empty() {
        return None;
    }
    in_script(script, &inner, depth + 1)
}

#[cfg(all(test, unix))]
#[path = "nested_shell_tests.rs"]
mod tests;
