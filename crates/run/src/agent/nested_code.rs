//! A placeholder whose value would be run as code, in words.

use evalrig_core::declare_codes;
use evalrig_core::diagnostic::Diagnostic;
use evalrig_core::source::Span;

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
