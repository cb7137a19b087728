//! The command that another one starts, as in `env PROGRAM` and `xargs PROGRAM`.

use super::interpreter::operands_before_program;
use super::interpreter_call::{base_name, is_tainted};
use super::script_reader::TAINT;
use super::simple_command::SimpleCommand;

/// Options of these programs that take the next word.
const WITH_VALUE: &[&str] = &[
    "-u",
    "--unset",
    "--user",
    "-C",
    "--chdir",
    "-g",
    "--group",
    "-n",
    "-c",
    "-p",
    "-k",
    "-s",
    "-I",
    "-J",
    "-L",
    "-P",
    "-E",
    "-d",
    "-a",
    "-h",
    "-r",
    "-t",
    "-D",
    "-T",
    "-R",
    "-i",
    "-o",
    "-e",
    "--arg-file",
    "--delimiter",
    "--max-args",
    "--max-procs",
    "--max-lines",
    "--signal",
    "--kill-after",
    "--adjustment",
    "--class",
    "--classdata",
];

/// What the program of a wrapper is called with. `None` for other programs, and for a wrapper without one.
pub(super) fn wrapped_command(command: &SimpleCommand) -> Option<SimpleCommand> {
    let (wrapper, arguments) = command.words.split_first()?;
    let name = base_name(wrapper);
    let mut before = operands_before_program(name)?;
    // Its program is in a string.
    let splits = |word: &String| {
        let letters = word.strip_prefix('-').filter(|word| !word.starts_with('-'));
        word.starts_with("--split-string") || letters.is_some_and(|word| word.contains('S'))
    };
    if name == "env" && arguments.iter().any(splits) {
        return None;
    }
    let mut at = 0;
    while at < arguments.len() {
        let word = arguments[at].as_str();
        let is_flag = word.len() > 1 && word.starts_with('-');
        let is_assignment = name == "env" && word.contains('=');
        match () {
            () if word == "--" && before == 0 => {
                at += 1;
                break;
            }
            () if is_flag => at += if takes_value(name, word) { 2 } else { 1 },
            () if is_assignment || before > 0 => {
                before -= usize::from(!is_assignment);
                at += 1;
            }
            () => break,
        }
    }
    let (options, words) = arguments.split_at(at.min(arguments.len()));
    let words = if name == "xargs" { with_items(command, options, words) } else { words.to_vec() };
    (!words.is_empty()).then(|| command.with_words(words))
}

/// `-i` of `env` and others takes nothing, that of `stdbuf` does.
fn takes_value(wrapper: &str, flag: &str) -> bool {
    match (wrapper, flag) {
        ("env", "-i")
        | ("sudo", "-n" | "-E" | "-i" | "-s" | "-k")
        | ("nohup" | "setsid" | "time", _) => {
            matches!((wrapper, flag), ("time", "-o" | "-f"))
        }
        ("xargs", "-r" | "-t" | "-p" | "-i" | "-e") | ("doas", "-n" | "-s") | ("exec", "-c") => {
            false
        }
        ("strace", "-c" | "-f" | "-r" | "-t") | ("timeout", "-p") => false,
        (
            "command" | "builtin" | "caffeinate" | "tini" | "dumb-init" | "taskset" | "unbuffer",
            _,
        ) => false,
        _ => WITH_VALUE.contains(&flag),
    }
}

/// The command of `xargs` with what it reads: in place of a string, or at the end.
fn with_items(command: &SimpleCommand, options: &[String], words: &[String]) -> Vec<String> {
    let is_file_tainted = options.iter().any(|word| is_tainted(word));
    if !command.is_stdin_tainted && !command.inherits_prompt && !is_file_tainted {
        return words.to_vec();
    }
    let item = TAINT.to_string();
    match replaced_string(options) {
        Some(replaced) => words.iter().map(|word| word.replace(&replaced, &item)).collect(),
        None if words.is_empty() => Vec::new(),
        None => words.iter().cloned().chain([item]).collect(),
    }
}

/// What `xargs` replaces: `-I STRING`, `-iSTRING`, `--replace=STRING`.
fn replaced_string(options: &[String]) -> Option<String> {
    options.iter().enumerate().find_map(|(at, word)| {
        let found = if matches!(word.as_str(), "-I" | "-J") {
            options.get(at + 1)?.as_str()
        } else if let Some(rest) = word.strip_prefix("--replace") {
            rest.strip_prefix('=').unwrap_or("{}")
        } else {
            let rest = word.strip_prefix("-I").or_else(|| word.strip_prefix("-i"))?;
            if rest.is_empty() { "{}" } else { rest }
        };
        (!found.is_empty()).then(|| found.to_owned())
    })
}
