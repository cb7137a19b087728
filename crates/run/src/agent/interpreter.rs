//! Programs that run code which they are given as an argument, on standard input or in a variable.

/// Where an interpreter takes code from.
#[derive(Debug, Clone, Copy)]
pub(super) enum CodeFrom {
    /// The word after a flag, as in `sh -c CODE`.
    Flag { takes_code: fn(&str) -> bool, is_shell: bool, operand: FirstOperand },
    /// The word after each of these options, as in `vim -c CODE -c CODE`.
    EachOption { takes_code: fn(&str) -> bool, operand: FirstOperand },
    /// Standard input, or a file in the arguments, as in `at now`.
    StandardInput,
    /// All arguments become one command line, as in `cmd /c`.
    AllArguments,
    /// The same, on another host; standard input is code if there is no command.
    Remote,
    /// The first operand, as in `awk CODE`.
    Operand,
    /// `make`: what variables and files hold is evaluated.
    Makefile,
}

/// What the first word is that is not an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FirstOperand {
    /// A script, in place of code in a flag. Without one, standard input is code. The options behind it
    /// are those of the script.
    Script,
    /// A program, as in `npx PROGRAM`, or a command, as in `git COMMAND`. The options behind it are its own.
    Program,
    /// Anything else; further options may follow.
    Other,
}

/// Variables whose values shells, interpreters or the linker run, or in which they are told what to load.
const CODE_VARIABLES: &[&str] = &[
    "BASH_ENV",
    "ENV",
    "PROMPT_COMMAND",
    "PS0",
    "PS1",
    "PS4",
    "LD_PRELOAD",
    "LD_AUDIT",
    "DYLD_INSERT_LIBRARIES",
    "PYTHONSTARTUP",
    "PYTHONINSPECT",
    "PERL5OPT",
    "PERL5DB",
    "RUBYOPT",
    "NODE_OPTIONS",
    "JAVA_TOOL_OPTIONS",
    "EDITOR",
    "VISUAL",
    "PAGER",
    "GIT_SSH_COMMAND",
    "GIT_EDITOR",
    "GIT_PAGER",
    "GIT_EXTERNAL_DIFF",
    "LESSOPEN",
    "PATH",
    "LD_LIBRARY_PATH",
    "DYLD_LIBRARY_PATH",
    "DYLD_FRAMEWORK_PATH",
    "PYTHONPATH",
    "PERL5LIB",
    "RUBYLIB",
    "NODE_PATH",
    "GIT_ASKPASS",
    "SSH_ASKPASS",
    "GIT_SSH",
    "GIT_PROXY_COMMAND",
    "GIT_SEQUENCE_EDITOR",
    "GIT_CONFIG_PARAMETERS",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_EXEC_PATH",
    "MANPAGER",
    "BROWSER",
    "MAKEFLAGS",
];

/// Variables of these names with a number.
const CODE_PREFIXES: &[&str] = &["GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_", "BASH_FUNC_"];

pub(super) fn is_code_variable(name: &str) -> bool {
    CODE_VARIABLES.contains(&name) || CODE_PREFIXES.iter().any(|start| name.starts_with(start))
}

const SHELLS: &[&str] = &[
    "sh", "bash", "dash", "zsh", "ksh", "ksh93", "mksh", "ash", "rbash", "fish", "csh", "tcsh",
    "yash", "busybox",
];

/// Programs with `-c COMMAND` that are not shells themselves.
const COMMAND_RUNNERS: &[&str] = &["su", "runuser", "sg", "script", "flock", "vagrant"];

/// Programs that run the command in their arguments, by the number of operands before the program of that
/// command. `None` if they are not known so well.
const WRAPPERS: &[(Option<usize>, &[&str])] = &[
    (
        Some(0),
        &[
            "env",
            "exec",
            "command",
            "builtin",
            "nohup",
            "nice",
            "ionice",
            "time",
            "stdbuf",
            "setsid",
            "sudo",
            "doas",
            "xargs",
            "unbuffer",
            "tini",
            "dumb-init",
            "caffeinate",
            "strace",
            "ltrace",
            "busybox",
        ],
    ),
    (Some(1), &["timeout", "chroot", "taskset", "su-exec", "gosu"]),
    (
        None,
        &[
            "find",
            "unshare",
            "nsenter",
            "docker",
            "podman",
            "kubectl",
            "setarch",
            "systemd-run",
            "bwrap",
            "firejail",
            "direnv",
            "nix",
            "poetry",
            "uv",
            "pipenv",
            "pkexec",
            "lxc",
        ],
    ),
];

/// How many operands a program has before the program that it starts; `None` if it starts none, or is
/// not known so well.
pub(super) fn operands_before_program(name: &str) -> Option<usize> {
    let (operands, _) = WRAPPERS.iter().find(|(_, names)| names.contains(&name))?;
    *operands
}

pub(super) fn is_wrapper(name: &str) -> bool {
    WRAPPERS.iter().any(|(_, names)| names.contains(&name))
}

pub(super) fn interpreter_named(name: &str) -> Option<CodeFrom> {
    if SHELLS.contains(&name) {
        return Some(shell(FirstOperand::Script));
    }
    if COMMAND_RUNNERS.contains(&name) {
        return Some(shell(FirstOperand::Other));
    }
    let stem = name.trim_end_matches(|last: char| last.is_ascii_digit() || last == '.');
    Some(match stem {
        "python" | "pypy" | "ipython" | "xonsh" | "elvish" | "expect" | "guile" => {
            language(|flag| has_letter(flag, 'c'))
        }
        "nu" => language(|flag| has_letter(flag, 'c') || flag == "--commands"),
        "perl" => language(|flag| has_letter(flag, 'e') || has_letter(flag, 'E')),
        "node" | "nodejs" | "bun" | "deno" | "tsx" | "ts-node" => language(|flag| {
            has_letter(flag, 'e')
                || has_letter(flag, 'p')
                || matches!(flag, "eval" | "--eval" | "--print")
        }),
        "ruby" | "lua" | "luajit" | "Rscript" | "R" | "osascript" | "elixir" | "erl" | "ghc"
        | "scala" | "groovy" | "kotlin" | "swift" | "racket" | "clojure" | "ocaml" => {
            language(|flag| has_letter(flag, 'e'))
        }
        "julia" => language(|flag| {
            has_letter(flag, 'e') || has_letter(flag, 'E') || matches!(flag, "--eval" | "--print")
        }),
        "octave" | "sbcl" => language(|flag| flag == "--eval"),
        "tclsh" | "wish" | "jshell" | "ed" => language(|_| false),
        "at" | "batch" | "crontab" => CodeFrom::StandardInput,
        "make" | "gmake" | "bmake" => CodeFrom::Makefile,
        "npx" | "pnpx" => CodeFrom::Flag {
            takes_code: |flag| has_letter(flag, 'c') || flag == "--call",
            is_shell: true,
            operand: FirstOperand::Program,
        },
        "nix-shell" => CodeFrom::Flag {
            takes_code: |flag| matches!(flag, "--run" | "--command"),
            is_shell: true,
            operand: FirstOperand::Other,
        },
        "git" => CodeFrom::EachOption {
            takes_code: |flag| matches!(flag, "-c" | "--config-env"),
            operand: FirstOperand::Program,
        },
        "vim" | "nvim" | "gvim" | "vi" | "view" | "ex" => CodeFrom::EachOption {
            takes_code: |flag| matches!(flag, "-c" | "--cmd" | "-S" | "-s" | "-u"),
            operand: FirstOperand::Other,
        },
        "emacs" | "emacsclient" => CodeFrom::EachOption {
            takes_code: |flag| {
                let flag = flag.trim_start_matches('-');
                matches!(flag, "eval" | "execute" | "e" | "l" | "load" | "script")
            },
            operand: FirstOperand::Other,
        },
        "gdb" | "lldb" => CodeFrom::EachOption {
            takes_code: |flag| {
                let flag = flag.trim_start_matches('-');
                matches!(flag, "ex" | "iex" | "eval-command" | "x" | "o" | "one-line" | "command")
            },
            operand: FirstOperand::Other,
        },
        "php" => language(|flag| has_letter(flag, 'r')),
        "awk" | "gawk" | "mawk" | "nawk" | "sed" | "gsed" => CodeFrom::Operand,
        "ssh" | "rsh" | "slogin" | "mosh" | "autossh" | "sshpass" => CodeFrom::Remote,
        "cmd" | "powershell" | "pwsh" | "wsl" | "tmux" | "screen" | "watch" | "parallel" => {
            CodeFrom::AllArguments
        }
        _ => return None,
    })
}

fn shell(operand: FirstOperand) -> CodeFrom {
    let takes_code = |flag: &str| has_letter(flag, 'c') || flag == "--command";
    CodeFrom::Flag { takes_code, is_shell: true, operand }
}

fn language(takes_code: fn(&str) -> bool) -> CodeFrom {
    CodeFrom::Flag { takes_code, is_shell: false, operand: FirstOperand::Script }
}

/// Whether a group of short options contains a letter: `-lc` contains `c`.
fn has_letter(flag: &str, letter: char) -> bool {
    flag.strip_prefix('-')
        .is_some_and(|letters| !letters.starts_with('-') && letters.contains(letter))
}
