//! Reads the words of a call: which of them an interpreter takes for code, and which hold values.

use super::interpreter::FirstOperand;
use super::nested_code::NestedWay;
use super::script_reader::TAINT;

/// Whether a word holds a value of a placeholder.
pub(super) fn is_tainted(word: &str) -> bool {
    word.contains(TAINT)
}

/// The name of a program without directory and ending.
pub(super) fn base_name(word: &str) -> &str {
    let name = word.rsplit(['/', '\\']).next().unwrap_or_default();
    name.strip_suffix(".exe").unwrap_or(name)
}

/// An interpreter with its arguments, somewhere in a command.
pub(super) struct InterpreterCall<'a> {
    pub(super) name: &'a str,
    pub(super) words: &'a [&'a str],
    /// It is what the command runs, not an argument that happens to have this name.
    pub(super) is_command: bool,
    pub(super) is_stdin_tainted: bool,
    /// `xargs -I{}` or `find -exec` may put a value where the code says `{}`.
    pub(super) is_replacing: bool,
}

impl InterpreterCall<'_> {
    /// For `awk` and `sed`: the first operand is code, unless an option names it.
    pub(super) fn is_operand_tainted(&self) -> bool {
        let mut words = self.words.iter();
        while let Some(word) = words.next() {
            match *word {
                "-e" | "--expression" => return words.any(|word| is_tainted(word)),
                "-f" | "--file" => return words.next().is_some_and(|word| is_tainted(word)),
                "-v" | "-F" => {
                    words.next();
                }
                word if word.starts_with('-') => {}
                word => return is_tainted(word),
            }
        }
        false
    }

    /// The code after the flag, and what follows it.
    pub(super) fn code(
        &self,
        takes_code: fn(&str) -> bool,
        operand: FirstOperand,
    ) -> Option<(&str, &[&str])> {
        let ends_at_operand = operand != FirstOperand::Other;
        let mut is_flag_seen = false;
        let mut at = 0;
        while at < self.words.len() {
            let word = self.words[at];
            // The option takes the next word, as in `-o pipefail`.
            let is_package = matches!(word, "-p" | "--package" | "-w" | "--workspace");
            if matches!(word, "-o" | "+o" | "-O" | "+O" | "--rcfile" | "--init-file" | "-W" | "-X")
                || is_package && operand == FirstOperand::Program
            {
                at += 2;
                continue;
            }
            if let Some((flag, code)) = word.split_once('=')
                && flag.starts_with("--")
                && takes_code(flag)
            {
                return Some((code, &self.words[at + 1..]));
            }
            if takes_code(word) {
                is_flag_seen = true;
            } else if is_flag_seen && !word.starts_with(['-', '+']) {
                return Some((word, &self.words[at + 1..]));
            } else if !word.starts_with(['-', '+']) && ends_at_operand {
                return None;
            }
            at += 1;
        }
        None
    }

    /// Whether a value is in the word after any of these options, or in one that begins with `+`.
    pub(super) fn is_option_tainted(
        &self,
        takes_code: fn(&str) -> bool,
        operand: FirstOperand,
    ) -> bool {
        let mut words = self.words.iter();
        while let Some(word) = words.next() {
            let (flag, value) = word.split_once('=').unwrap_or((word, ""));
            if takes_code(word) {
                if words.next().is_some_and(|code| is_tainted(code)) {
                    return true;
                }
            } else if (flag.starts_with('-') && takes_code(flag) && is_tainted(value))
                || (word.starts_with('+') && is_tainted(word))
            {
                return true;
            } else if matches!(*word, "-C" | "--git-dir" | "--work-tree" | "--namespace") {
                words.next();
            } else if operand == FirstOperand::Program && !word.starts_with('-') {
                return false;
            }
        }
        false
    }

    /// Without code in the arguments, the first operand is a script, and standard input is one if there
    /// is no operand.
    pub(super) fn check_operand(&self) -> Option<NestedWay> {
        let reads_stdin = self.words.contains(&"-s");
        let operand = self.words.iter().find(|word| !word.starts_with('-'));
        match operand {
            Some(script) if is_tainted(script) => Some(NestedWay::Program),
            Some(_) if !reads_stdin => None,
            _ => self.is_stdin_tainted.then_some(NestedWay::StandardInput),
        }
    }
}
