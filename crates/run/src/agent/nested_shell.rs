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
use super::script_reader::{STDIN, ScriptReader, TAINT};
use super::simple_command::{SimpleCommand, assignment, names_any, parameters};
use super::wrapped_call::wrapped_command;

/// Scripts inside scripts inside scripts; deeper ones are reported.
const MOST_DEPTH: usize = 8;

/// What a command has on standard input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GivenStdin {
    Prompt,
    Nothing,
}

impl GivenStdin {
    fn variables(self) -> BTreeSet<String> {
        let is_prompt = self == Self::Prompt;
        is_prompt.then(|| STDIN.to_owned()).into_iter().collect()
    }
}

/// For a command that the shell runs.
pub(crate) fn nested_in_line(line: &str, stdin: GivenStdin) -> Option<NestedCode> {
    let marked = mark(line, CommandSyntax::Shell);
    if !marked.contains(TAINT) && stdin == GivenStdin::Nothing {
        return None;
    }
    in_script(&marked, &stdin.variables(), 0)
}

/// For a program and its arguments.
pub(crate) fn nested_in_arguments<'a>(
    arguments: impl IntoIterator<Item = &'a str>,
    stdin: GivenStdin,
) -> Option<NestedCode> {
    let words: Vec<String> =
        arguments.into_iter().map(|one| mark(one, CommandSyntax::Program)).collect();
    let inherits_prompt = stdin == GivenStdin::Prompt;
    if !words.iter().any(|word| word.contains(TAINT)) && !inherits_prompt {
        return None;
    }
    let command = SimpleCommand { words, is_stdin_tainted: false, inherits_prompt };
    in_command(&command, &stdin.variables(), 0)
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
        let filled = command.with_literal_arguments(&read.literals);
        let written = named.is_empty().then_some(command);
        let mut all = named.iter().chain(&filled).chain(written);
        all.find_map(|command| in_command(command, &variables, depth))
    })
}

/// `A[X]=1`: the subscript is arithmetic.
fn has_tainted_subscript(word: &str, variables: &BTreeSet<String>) -> bool {
    let Some((name, rest)) = word.split_once('[') else { return false };
    let is_name = name.chars().all(|one| one.is_ascii_alphanumeric() || one == '_');
    let Some((subscript, after)) = rest.rsplit_once(']') else { return false };
    let is_assigned = after.starts_with('=') || after.starts_with("+=");
    is_name && !name.is_empty() && is_assigned && names_any(subscript, variables)
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
    let found = in_builtin(first, &words[1..], variables).or_else(|| in_assignment(&words));
    if let Some(nested) = found.or_else(|| in_runner(&words)) {
        return Some(nested);
    }
    if words.iter().any(|word| has_tainted_subscript(word, variables)) {
        return Some(NestedCode { runner: (*first).to_owned(), way: NestedWay::Expression });
    }
    if depth <= MOST_DEPTH
        && let Some(inner) = wrapped_command(command)
        && let Some(nested) = in_command(&inner, variables, depth + 1)
    {
        return Some(nested);
    }
    let is_wrapped = is_wrapper(base_name(first));
    for (at, word) in words.iter().enumerate() {
        let name = base_name(word);
        let is_command = at == 0 || is_wrapped;
        if is_wrapped && at > 0 && name == "eval" {
            return in_builtin("eval", &words[at + 1..], variables);
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
            is_stdin_tainted: command.is_stdin_tainted
                || (command.inherits_prompt && (at == 0 || hands_stdin_to_box(&words[..at]))),
            is_replacing: command.is_stdin_tainted
                || words[..at].iter().any(|word| is_tainted(word)),
        };
        if let Some(nested) = call.check(kind, variables, depth) {
            return Some(nested);
        }
    }
    None
}

/// `docker exec -i BOX` and others, before the program that runs inside.
fn hands_stdin_to_box(words: &[&str]) -> bool {
    const PROGRAMS: &[&str] = &["docker", "podman", "nerdctl", "kubectl", "oc", "lxc"];
    let is_interactive = |word: &&str| {
        let letters = word.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
        letters.is_some_and(|letters| letters.contains('i'))
            || matches!(*word, "--interactive" | "--stdin")
    };
    words.split_first().is_some_and(|(first, rest)| {
        PROGRAMS.contains(&base_name(first)) && rest.iter().any(is_interactive)
    })
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
        let command = SimpleCommand { words, ..SimpleCommand::default() };
        return in_command(&command, variables, depth + 1);
    }
    None
}

/// Programs that run the commands which some of their arguments are.
fn in_runner(words: &[&str]) -> Option<NestedCode> {
    let name = base_name(words.first()?);
    let runs_value = match name {
        "git" => is_git_command_tainted(&words[1..]),
        "docker" | "podman" | "nerdctl" => {
            words.get(1) == Some(&"exec") && is_second_operand_tainted(&words[2..])
        }
        "kubectl" | "oc" => {
            let program = words.iter().position(|word| *word == "--").map(|at| words.get(at + 1));
            words.contains(&"exec") && program.flatten().is_some_and(|word| is_tainted(word))
        }
        _ => false,
    };
    runs_value.then(|| NestedCode { runner: name.to_owned(), way: NestedWay::Program })
}

/// `git rebase -x COMMAND`, `git submodule foreach COMMAND` and others.
fn is_git_command_tainted(words: &[&str]) -> bool {
    let is_any_tainted = |words: &[&str]| words.iter().any(|word| is_tainted(word));
    let named = |name: &str| words.iter().position(|word| *word == name);
    if let Some(at) = named("foreach").or_else(|| named("filter-branch")) {
        return is_any_tainted(&words[at..]);
    }
    if let Some(at) = named("bisect").filter(|at| words.get(at + 1) == Some(&"run")) {
        return is_any_tainted(&words[at..]);
    }
    let runs = |pair: &[&str]| {
        matches!(pair[0], "-x" | "--exec" | "--extcmd" | "--upload-pack") && is_tainted(pair[1])
    };
    let is_joined = |word: &&str| {
        let flags = ["--exec=", "--extcmd=", "--upload-pack=", "--open-files-in-pager="];
        is_tainted(word) && flags.iter().any(|flag| word.starts_with(flag))
    };
    let takes_commands = named("rebase").or_else(|| named("difftool")).or_else(|| named("clone"));
    (takes_commands.is_some() && words.windows(2).any(runs)) || words.iter().any(is_joined)
}

/// The program of `docker exec [OPTION …] CONTAINER PROGRAM`.
fn is_second_operand_tainted(words: &[&str]) -> bool {
    const WITH_VALUE: &[&str] = &["-e", "--env", "--env-file", "-u", "--user", "-w", "--workdir"];
    let mut operands = 0;
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if WITH_VALUE.contains(word) {
            words.next();
        } else if !word.starts_with('-') {
            operands += 1;
            if operands == 2 {
                return is_tainted(word);
            }
        }
    }
    false
}

/// Commands of the shell that evaluate their arguments.
fn in_builtin(name: &str, arguments: &[&str], variables: &BTreeSet<String>) -> Option<NestedCode> {
    // Bare names are variables in arithmetic.
    let is_arithmetic = matches!(name, "let" | "((" | "[[");
    let is_used = |word: &&&str| {
        is_tainted(word) || (is_arithmetic && !word.starts_with('-') && names_any(word, variables))
    };
    let mut tainted = arguments.iter().filter(is_used).peekable();
    tainted.peek()?;
    let is_assignment =
        |word: &&&str| word.split_once('=').is_some_and(|(name, _)| !is_tainted(name));
    let way = match name {
        "eval" | "trap" | "alias" | "source" | "." => NestedWay::Eval,
        "let" | "((" | "unset" | "read" | "getopts" | "mapfile" | "readarray" => {
            NestedWay::Expression
        }
        "export" | "readonly" | "local" | "declare" | "typeset" => {
            // An integer, or a name for another variable.
            let evaluates =
                arguments.iter().any(|word| word.starts_with('-') && word.contains(['i', 'n']));
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
                if self.words.iter().any(|word| is_tainted(word)) {
                    return found(NestedWay::ShellScript);
                }
                // It runs the lines that it reads.
                let is_bare = self.words.iter().all(|word| word.starts_with('-'));
                let reads = self.name == "parallel" && self.is_command && self.is_stdin_tainted;
                (reads && is_bare).then_some(())?;
                found(NestedWay::StandardInput)
            }
            CodeFrom::Makefile => {
                self.is_command.then_some(())?;
                if self.words.iter().any(|word| is_tainted(word)) {
                    return found(NestedWay::Code);
                }
                let is_file = |pair: &[&str]| matches!(pair, ["-f" | "--file" | "--makefile", "-"]);
                let is_joined = |word: &&str| matches!(*word, "-f-" | "--file=-" | "--makefile=-");
                let reads = self.words.windows(2).any(is_file) || self.words.iter().any(is_joined);
                (reads && self.is_stdin_tainted).then_some(())?;
                found(NestedWay::StandardInput)
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
