//! Programs that run code which they are given as an argument or on standard input.

/// Where an interpreter takes code from.
#[derive(Debug, Clone, Copy)]
pub(super) enum CodeFrom {
    /// The word after a flag, as in `sh -c CODE`.
    Flag {
        takes_code: fn(&str) -> bool,
        is_shell: bool,
        /// Without the flag, the first operand is a script, or else standard input is one.
        reads_operand: bool,
    },
    /// All arguments become one command line, as in `cmd /c`.
    AllArguments,
    /// The same, on another host; standard input is code if there is no command.
    Remote,
    /// The first operand, as in `awk CODE`.
    Operand,
}

const SHELLS: &[&str] = &[
    "sh", "bash", "dash", "zsh", "ksh", "ksh93", "mksh", "ash", "rbash", "fish", "csh", "tcsh",
    "yash", "busybox",
];

/// Programs with `-c COMMAND` that are not shells themselves.
const COMMAND_RUNNERS: &[&str] = &["su", "runuser", "sg", "script", "flock"];

/// Programs that run the command in their arguments.
const WRAPPERS: &[&str] = &[
    "env",
    "exec",
    "command",
    "builtin",
    "nohup",
    "nice",
    "ionice",
    "time",
    "timeout",
    "stdbuf",
    "setsid",
    "sudo",
    "doas",
    "xargs",
    "find",
    "chroot",
    "unshare",
    "nsenter",
    "docker",
    "podman",
    "kubectl",
    "strace",
    "ltrace",
    "busybox",
    "unbuffer",
    "setarch",
    "taskset",
    "systemd-run",
    "bwrap",
    "firejail",
    "su-exec",
    "gosu",
    "tini",
    "dumb-init",
    "caffeinate",
    "direnv",
    "nix",
    "poetry",
    "uv",
    "pipenv",
];

pub(super) fn is_wrapper(name: &str) -> bool {
    WRAPPERS.contains(&name)
}

pub(super) fn interpreter_named(name: &str) -> Option<CodeFrom> {
    if SHELLS.contains(&name) {
        return Some(shell(true));
    }
    if COMMAND_RUNNERS.contains(&name) {
        return Some(shell(false));
    }
    let stem = name.trim_end_matches(|last: char| last.is_ascii_digit() || last == '.');
    Some(match stem {
        "python" | "pypy" => language(|flag| has_letter(flag, 'c')),
        "perl" => language(|flag| has_letter(flag, 'e') || has_letter(flag, 'E')),
        "node" | "nodejs" | "bun" | "deno" => language(|flag| {
            has_letter(flag, 'e')
                || has_letter(flag, 'p')
                || matches!(flag, "eval" | "--eval" | "--print")
        }),
        "ruby" | "lua" | "luajit" | "Rscript" | "R" | "osascript" | "elixir" | "erl" | "ghc" => {
            language(|flag| has_letter(flag, 'e'))
        }
        "php" => language(|flag| has_letter(flag, 'r')),
        "awk" | "gawk" | "mawk" | "nawk" | "sed" | "gsed" => CodeFrom::Operand,
        "ssh" | "rsh" | "slogin" | "mosh" | "autossh" | "sshpass" => CodeFrom::Remote,
        "cmd" | "powershell" | "pwsh" | "wsl" | "tmux" | "screen" | "watch" | "parallel" => {
            CodeFrom::AllArguments
        }
        _ => return None,
    })
}

fn shell(reads_operand: bool) -> CodeFrom {
    let takes_code = |flag: &str| has_letter(flag, 'c') || flag == "--command";
    CodeFrom::Flag { takes_code, is_shell: true, reads_operand }
}

fn language(takes_code: fn(&str) -> bool) -> CodeFrom {
    CodeFrom::Flag { takes_code, is_shell: false, reads_operand: true }
}

/// Whether a group of short options contains a letter: `-lc` contains `c`.
fn has_letter(flag: &str, letter: char) -> bool {
    flag.strip_prefix('-')
        .is_some_and(|letters| !letters.starts_with('-') && letters.contains(letter))
}
