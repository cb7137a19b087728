//! Finds placeholders whose values would be run as code: in the script of another shell or interpreter
//! inside a command, in `eval`, in what a shell reads from a pipe or a here-document.
//!
//! evalrig quotes values for one shell only. A second one parses them again, and then a prompt can run
//! commands. The analysis follows values through variables, substitutions and literal inner scripts.
//! It knows the shell's grammar only roughly; where in doubt, it reports.

use std::collections::BTreeSet;

use evalrig_core::declare_codes;
use evalrig_core::diagnostic::Diagnostic;
use evalrig_core::source::Span;

use super::interpreter::{CodeFrom, interpreter_named, is_wrapper};
use super::placeholder::{CommandPart, CommandSyntax, split_placeholders};
use super::script_reader::{ScriptReader, SimpleCommand, TAINT, parameters};

declare_codes! {
    PLACEHOLDER_IN_NESTED_SHELL = "placeholder-in-nested-shell", Blocking, Target, r#"A command of a `cli` target puts a placeholder where its value would be run as code.

## Example
```yaml .evalrig/targets.yaml
targets:
  - name: default
    provider: cli
    command: [sh, -c, "my-agent {PROMPT} | tail -n 1"]
```

## Instead
```yaml .evalrig/targets.yaml
targets:
  - name: default
    provider: cli
    command: [sh, -c, 'my-agent "$1" | tail -n 1', sh, "{PROMPT}"]
```

## Why
A prompt that contains `$(rm -rf ~)` would run that command. evalrig quotes values for the shell of a `command`
that is a string, but cannot quote them for a second shell or another language inside it: `sh -c`, `eval`, `ssh`,
`python -c`, a here-document for a shell. A value that is an argument of the script is never parsed.
"#;
}

/// Scripts inside scripts inside scripts; deeper ones are reported.
const MOST_DEPTH: usize = 8;

/// Where a value would be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NestedCode {
    /// The word that runs it, such as `sh` or `eval`.
    pub(crate) runner: String,
    pub(crate) way: NestedWay,
}

/// How a value becomes code; decides which help is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NestedWay {
    /// In the script that follows `-c`.
    ShellScript,
    /// In the code that follows `-c` or `-e` of another language.
    Code,
    /// In what an interpreter reads from a pipe, a redirection or a here-document.
    StandardInput,
    /// In a command line for another host.
    Remote,
    /// As the name of a program or of a script.
    Program,
    /// In an arithmetic expression or as the name of a variable, which shells evaluate.
    Expression,
    /// In `eval` and the like.
    Eval,
}

impl NestedCode {
    pub(crate) fn diagnostic(&self, span: Span) -> Diagnostic {
        let runner = &self.runner;
        let message = match self.way {
            NestedWay::ShellScript | NestedWay::Code => {
                format!("a placeholder is part of code that `{runner}` runs")
            }
            NestedWay::StandardInput => format!("`{runner}` runs text that contains a placeholder"),
            NestedWay::Remote => {
                format!("`{runner}` passes a placeholder to the shell of another host")
            }
            NestedWay::Program => "a placeholder names the program to run".to_owned(),
            NestedWay::Expression => format!("`{runner}` evaluates a placeholder"),
            NestedWay::Eval => format!("`{runner}` runs a placeholder as code"),
        };
        Diagnostic::new(&PLACEHOLDER_IN_NESTED_SHELL, span, message).help(match self.way {
        NestedWay::ShellScript => {
            r#"pass it as an argument of the script: `command: [sh, -c, 'agent "$1"', sh, "{PROMPT}"]`"#
        }
        NestedWay::Code => {
            "pass it as an argument and read it in the code, as from `sys.argv` or `process.argv`"
        }
        NestedWay::StandardInput | NestedWay::Remote => {
            "leave the placeholder out: the program gets the prompt on standard input"
        }
        NestedWay::Program => "name a program, and pass the placeholder as its argument",
        NestedWay::Expression | NestedWay::Eval => {
            "pass it to a program as a quoted argument: `command: agent {PROMPT}`"
        }
    })
    }
}

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
    let commands = read.commands.iter();
    let mut nested = commands.filter_map(|command| in_command(command, &variables, depth));
    nested.next()
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
    if let Some(nested) = in_builtin(first, &words[1..]) {
        return Some(nested);
    }
    let is_wrapped = is_wrapper(base_name(first));
    for (at, word) in words.iter().enumerate() {
        let name = base_name(word);
        let is_command = at == 0 || is_wrapped;
        if is_wrapped && at > 0 && name == "eval" {
            return in_builtin("eval", &words[at + 1..]);
        }
        let Some(kind) = interpreter_named(name) else { continue };
        // As an argument, only a name with a flag for code is taken for an interpreter.
        if !is_command && !matches!(kind, CodeFrom::Flag { reads_operand: true, .. }) {
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

fn is_tainted(word: &str) -> bool {
    word.contains(TAINT)
}

/// The name of a program without directory and ending.
fn base_name(word: &str) -> &str {
    let name = word.rsplit(['/', '\\']).next().unwrap_or_default();
    name.strip_suffix(".exe").unwrap_or(name)
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

/// An interpreter with its arguments, somewhere in a command.
struct InterpreterCall<'a> {
    name: &'a str,
    words: &'a [&'a str],
    /// It is what the command runs, not an argument that happens to have this name.
    is_command: bool,
    is_stdin_tainted: bool,
    /// `xargs -I{}` or `find -exec` may put a value where the code says `{}`.
    is_replacing: bool,
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
            CodeFrom::Flag { takes_code, is_shell, reads_operand } => {
                match self.code(takes_code, reads_operand) {
                    Some((code, rest)) => {
                        let is_filled = self.is_replacing && code.contains("{}");
                        if is_tainted(code) || is_filled {
                            let way =
                                if is_shell { NestedWay::ShellScript } else { NestedWay::Code };
                            return found(way);
                        }
                        if is_shell { in_inner_script(code, rest, variables, depth) } else { None }
                    }
                    None if !self.is_command || !reads_operand => None,
                    None => self.check_operand().and_then(found),
                }
            }
            CodeFrom::Operand => {
                self.is_operand_tainted().then_some(())?;
                found(NestedWay::Code)
            }
        }
    }

    /// For `awk` and `sed`: the first operand is code, unless an option names it.
    fn is_operand_tainted(&self) -> bool {
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
    fn code(&self, takes_code: fn(&str) -> bool, ends_at_operand: bool) -> Option<(&str, &[&str])> {
        let mut is_flag_seen = false;
        let mut at = 0;
        while at < self.words.len() {
            let word = self.words[at];
            // `-ofile` and the like: the option takes the next word.
            if matches!(word, "-o" | "+o" | "-O" | "+O" | "--rcfile" | "--init-file" | "-W" | "-X")
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

    /// Without code in the arguments, the first operand is a script, and standard input is one if there
    /// is no operand.
    fn check_operand(&self) -> Option<NestedWay> {
        let reads_stdin = self.words.contains(&"-s");
        let operand = self.words.iter().find(|word| !word.starts_with('-'));
        match operand {
            Some(script) if is_tainted(script) => Some(NestedWay::Program),
            Some(_) if !reads_stdin => None,
            _ => self.is_stdin_tainted.then_some(NestedWay::StandardInput),
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
mod tests {
    use std::path::Path;
    use std::process::{Command, Stdio};

    use super::super::placeholder::PlaceholderValues;
    use super::super::shell::script;
    use super::*;

    /// Commands that are accepted, so no value may run in them.
    const SAFE: &[&str] = &[
        "printf %s {PROMPT}",
        "printf %s \"{PROMPT}\"",
        "printf %s '{PROMPT}'",
        "printf %s \"a{PROMPT}b\" x{TEST_ID}y",
        "printf %s --id={TEST_ID} {FILES}",
        "X={PROMPT}; printf %s \"$X\"",
        "X={PROMPT}; printf %s $X",
        "X=\"{PROMPT}\" printf %s x",
        "export X={PROMPT}; printf %s \"$X\"",
        "X=${Y:-{PROMPT}}; printf %s \"$X\"",
        "printf %s \"${Y:-{PROMPT}}\"",
        "printf %s \"$(printf %s {PROMPT})\"",
        "printf %s \"$(printf %s \"{PROMPT}\")\"",
        "printf %s `printf %s {PROMPT}`",
        "printf %s \"`printf %s {PROMPT}`\"",
        "X=$(printf %s {PROMPT}); printf %s \"$X\"",
        "(printf %s {PROMPT})",
        "{ printf %s {PROMPT}; }",
        "printf %s {PROMPT} | cat",
        "printf %s {PROMPT} | sed s/a/b/ | tail -n 1",
        "printf %s {PROMPT} | awk '{ print $1 }'",
        "printf %s {PROMPT} > out; cat out",
        "cat < {PROMPT_FILE}",
        "cat {PROMPT_FILE} | tail -n 1",
        "cat <<EOF\n{PROMPT}\nEOF",
        "cat <<'EOF'\n{PROMPT}\nEOF",
        "cat <<-EOF\n\t\"{PROMPT}\"\n\tEOF",
        "cat <<EOF | cat\n'{PROMPT}'\nEOF",
        "if [ {TEST_ID} = a ]; then printf %s {PROMPT}; fi",
        "if test \"{TEST_ID}\" = a; then :; else printf %s {PROMPT}; fi",
        "case {TEST_ID} in a) printf %s {PROMPT};; *) printf %s b;; esac",
        "for x in {FILES}; do printf %s \"$x\"; done",
        "for x in {PROMPT}; do cat \"$x\" 2>/dev/null; done",
        "# {PROMPT}\nprintf x",
        "printf x # {PROMPT}",
        "true && printf %s {PROMPT} || printf no",
        "printf %s {PROMPT} &\nwait",
        "set -- {PROMPT}; printf %s \"$1\"",
        "f() { printf %s \"$1\"; }; f {PROMPT}",
        "sh -c 'printf %s \"$1\"' sh {PROMPT}",
        "sh -c 'printf %s \"$@\"' sh {FILES}",
        "bash -ec 'printf %s \"$1\" | cat' bash \"{PROMPT}\"",
        "X={PROMPT} sh -c 'printf %s \"$X\"'",
        "env X={PROMPT} sh -c 'printf %s \"$X\"'",
        "env -u HOME printf %s {PROMPT}",
        "timeout 5 printf %s {PROMPT}",
        "printf %s {PROMPT} | sh -c 'cat'",
        "printf %s {PROMPT} | xargs -0 printf %s",
        "printf '%s\\0' {FILES} | xargs -0 -n 1 sh -c 'cat \"$1\"' sh 2>/dev/null",
        "python3 -c 'import sys; print(sys.argv[1])' {PROMPT} 2>/dev/null",
        "perl -e 'print $ARGV[0]' {PROMPT}",
        "awk -v x={TEST_ID} 'BEGIN { print x }'",
        "printf %s \\{PROMPT}",
        "printf %s \"it's {PROMPT}\"",
        "printf %s 'say \"{PROMPT}\"'",
        "printf %s \"\"{PROMPT}''",
        "! printf %s {PROMPT}",
    ];

    /// Commands in which a value would be run.
    const UNSAFE: &[&str] = &[
        "sh -c \"agent {PROMPT}\"",
        "sh -c 'agent {PROMPT}'",
        "sh -c {PROMPT}",
        "sh -c agent\\ {PROMPT}",
        "/bin/sh -c \"agent {PROMPT}\"",
        "bash -lc \"agent {PROMPT}\"",
        "bash -l -c \"agent {PROMPT}\"",
        "bash -o pipefail -c \"agent {PROMPT}\"",
        "bash --norc -c \"agent {PROMPT}\"",
        "zsh -c \"agent '{PROMPT}'\"",
        "fish --command=\"agent {PROMPT}\"",
        "dash -ec 'agent \"{TEST_ID}\"'",
        "busybox sh -c \"agent {PROMPT}\"",
        "cd x && exec sh -c \"agent {PROMPT}\"",
        "env A=b sh -c \"agent {PROMPT}\"",
        "timeout 60 bash -c \"agent {FILES}\"",
        "sudo -u other sh -c \"agent {PROMPT}\"",
        "nohup sh -c \"agent {PROMPT}\" &",
        "docker exec box sh -c \"agent {PROMPT}\"",
        "docker run --rm image bash -lc \"agent {PROMPT}\"",
        "kubectl exec pod -- sh -c \"agent {PROMPT}\"",
        "echo a | xargs sh -c \"agent {PROMPT}\"",
        "printf %s {PROMPT} | xargs -I{} sh -c 'agent {}'",
        "find {FILES} -exec sh -c 'cat {}' \\;",
        "if true; then sh -c \"agent {PROMPT}\"; fi",
        "(sh -c \"agent {PROMPT}\")",
        "X=$(sh -c \"agent {PROMPT}\"); echo \"$X\"",
        "echo \"`sh -c \\\"agent {PROMPT}\\\"`\"",
        "eval agent {PROMPT}",
        "eval \"agent {PROMPT}\"",
        "command eval {PROMPT}",
        "X={PROMPT}; eval \"agent $X\"",
        "X={PROMPT}; Y=\"a $X\"; sh -c \"agent $Y\"",
        "export X={PROMPT}; sh -c 'eval \"$X\"'",
        "X={PROMPT} sh -c 'sh -c \"agent $X\"'",
        "sh -c 'eval \"$1\"' sh {PROMPT}",
        "sh -c 'sh -c \"agent $1\"' sh {PROMPT}",
        "sh -c \"agent $(printf %s {PROMPT})\"",
        "for x in {FILES}; do sh -c \"cat $x\"; done",
        "set -- {PROMPT}; eval \"$1\"",
        "f() { sh -c \"agent $1\"; }; f {PROMPT}",
        "printf %s {PROMPT} | while read -r x; do eval \"$x\"; done",
        "sh <<EOF\nagent {PROMPT}\nEOF",
        "bash -s <<'EOF'\nagent {PROMPT}\nEOF",
        "X={PROMPT}; sh <<EOF\nagent $X\nEOF",
        "bash <<< \"agent {PROMPT}\"",
        "echo {PROMPT} | sh",
        "echo agent {PROMPT} | cat | bash -s",
        "echo {PROMPT} | python3",
        "echo {PROMPT} | python3 -",
        "sh {PROMPT_FILE}",
        "sh < {PROMPT_FILE}",
        ". {PROMPT_FILE}",
        "source <(echo {PROMPT})",
        "bash <(echo {PROMPT})",
        "trap {PROMPT} EXIT",
        "{PROMPT}",
        "X=1 {PROMPT} a",
        "ssh host agent {PROMPT}",
        "ssh host \"agent '{PROMPT}'\"",
        "echo {PROMPT} | ssh host",
        "su -c \"agent {PROMPT}\" other",
        "su - other -c \"agent {PROMPT}\"",
        "script -qc \"agent {PROMPT}\" /dev/null",
        "watch agent {PROMPT}",
        "tmux new-session -d \"agent {PROMPT}\"",
        "powershell -Command \"agent {PROMPT}\"",
        "cmd /c agent {PROMPT}",
        "python3 -c \"print('{PROMPT}')\"",
        "python -c 'print(\"\"\"{PROMPT}\"\"\")'",
        "node -e \"console.log('{PROMPT}')\"",
        "node --eval=\"console.log('{PROMPT}')\"",
        "deno eval \"console.log('{PROMPT}')\"",
        "perl -ne 'print if /{PROMPT}/'",
        "ruby -e 'puts \"{PROMPT}\"'",
        "php -r 'echo \"{PROMPT}\";'",
        "awk 'BEGIN { print \"{PROMPT}\" }'",
        "sed \"s/x/{PROMPT}/\" file",
        "echo $(({ATTEMPT} + 1))",
        "((x = {PROMPT})); echo $x",
        "X={PROMPT}; echo $((X + 1))",
        "echo ${X:{PROMPT}}",
        "echo ${X[{PROMPT}]}",
        "let x={PROMPT}",
        "[[ {PROMPT} -eq 1 ]] && echo yes",
        "declare -i x={PROMPT}",
        "export {PROMPT}",
        "unset {PROMPT}",
    ];

    /// Each would create the file `run` if a shell parsed it.
    const PAYLOADS: &[&str] = &[
        "$(touch run)",
        "`touch run`",
        "; touch run #",
        "'; touch run; '",
        "\"; touch run; \"",
        "\\\"; touch run #",
        "a\ntouch run\n",
        "a[$(touch run)]",
        "'\"$(touch run)\"'",
        "EOF\ntouch run\nEOF",
    ];

    fn is_run(shell: &str, command: &str, payload: &str, place: &Path) -> bool {
        let values = PlaceholderValues {
            prompt: payload.to_owned(),
            prompt_file: "prompt".to_owned(),
            files: vec![payload.to_owned(), "prompt".to_owned()],
            test_id: payload.to_owned(),
            attempt: "1".to_owned(),
            ..PlaceholderValues::default()
        };
        std::fs::write(place.join("prompt"), payload).unwrap();
        let script = script(&split_placeholders(command, CommandSyntax::Shell), &values);
        let ended = Command::new(shell)
            .args(["-c", &script.text])
            .envs(script.variables)
            .current_dir(place)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        ended.unwrap();
        std::fs::remove_file(place.join("run")).is_ok()
    }

    fn shells() -> Vec<&'static str> {
        let is_there = |shell: &&str| {
            let mut found = Command::new(shell);
            found.args(["-c", ":"]).status().is_ok()
        };
        ["dash", "bash"].into_iter().filter(is_there).collect()
    }

    #[test]
    fn no_value_runs_in_an_accepted_command() {
        for command in SAFE {
            assert_eq!(nested_in_line(command), None, "{command}");
        }
        std::thread::scope(|scope| {
            for shell in shells() {
                scope.spawn(move || {
                    let place = tempfile::tempdir().unwrap();
                    for (command, payload) in SAFE
                        .iter()
                        .flat_map(|command| PAYLOADS.iter().map(move |payload| (command, payload)))
                    {
                        let is_run = is_run(shell, command, payload, place.path());
                        assert!(!is_run, "{shell}: {command} runs {payload}");
                    }
                });
            }
        });
    }

    #[test]
    fn commands_that_would_run_a_value_are_refused() {
        for command in UNSAFE {
            assert!(nested_in_line(command).is_some(), "{command}");
        }
    }

    #[test]
    fn lists_are_refused_for_the_same_reasons() {
        for list in [
            &["sh", "-c", "agent {PROMPT}"][..],
            &["/usr/bin/env", "bash", "-lc", "agent '{PROMPT}'"],
            &["env", "-i", "A=b", "sh", "-c", "x {TEST_ID}"],
            &["docker", "exec", "-i", "box", "sh", "-c", "cat {FILES}"],
            &["python3", "-c", "print('{PROMPT}')"],
            &["ssh", "host", "agent", "{PROMPT}"],
            &["sh", "-c", "eval \"$1\"", "sh", "{PROMPT}"],
            &["sh", "{PROMPT_FILE}"],
            &["C:\\Windows\\cmd.exe", "/c", "agent {PROMPT}"],
            &["{PROMPT}"],
        ] {
            assert!(nested_in_arguments(list.iter().copied()).is_some(), "{list:?}");
        }
        for list in [
            &["sh", "-c", "agent \"$1\"", "sh", "{PROMPT}"][..],
            &["sh", "-c", "agent < \"$0\"", "{PROMPT_FILE}"],
            &["python3", "./agent.py", "-c", "{PROMPT}"],
            &["python3", "-m", "agent", "{PROMPT}"],
            &["node", "agent.js", "-e", "{PROMPT}"],
            &["my-agent", "--shell", "bash", "{PROMPT}"],
            &["my-agent", "--mode", "watch", "{PROMPT}"],
            &["claude", "-p", "{PROMPT}"],
            &["sh", "./agent.sh", "{PROMPT}"],
            &["bash", "-x", "agent.sh", "{FILES}"],
        ] {
            assert_eq!(nested_in_arguments(list.iter().copied()), None, "{list:?}");
        }
    }

    #[test]
    fn a_command_without_placeholders_is_not_looked_at() {
        assert_eq!(nested_in_line("eval \"$(cat)\""), None);
        assert_eq!(nested_in_line("sh -c \"agent ${{ X }} ${PROMPT}\""), None);
        assert!(nested_in_line("${{ SHELL }} x; sh -c \"a ${{ X }} {PROMPT}\"").is_some());
    }

    #[test]
    fn what_is_not_closed_is_read_to_its_end() {
        for line in ["echo '{PROMPT}", "echo \"{PROMPT}", "echo $({PROMPT}", "cat <<EOF\n{PROMPT}"]
        {
            let _ = nested_in_line(line);
        }
        let deep = "$(".repeat(2000) + "{PROMPT}";
        let _ = nested_in_line(&deep);
    }
}
