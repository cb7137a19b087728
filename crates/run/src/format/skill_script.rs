//! Which script of a skill a command runs, or may run (spec 18.3).

use super::shell_words::is_assignment;
use super::skill_path::{mentions_script, path_parts, skill_of_script};

/// Programs that run a script, or another program that does. A version behind the name does not matter.
const RUNNERS: &[&str] = &[
    ".",
    "bash",
    "bun",
    "bundle",
    "bunx",
    "conda",
    "dash",
    "deno",
    "fish",
    "go",
    "groovy",
    "hatch",
    "java",
    "julia",
    "ksh",
    "lua",
    "mamba",
    "node",
    "nodejs",
    "npm",
    "npx",
    "osascript",
    "pdm",
    "perl",
    "php",
    "pipenv",
    "pipx",
    "pnpm",
    "poetry",
    "powershell",
    "pwsh",
    "pypy",
    "python",
    "Rscript",
    "ruby",
    "rye",
    "sh",
    "source",
    "swift",
    "ts-node",
    "tsx",
    "uv",
    "uvx",
    "yarn",
    "zsh",
];

/// What precedes the program in the arguments of such a program.
const RUN_WORDS: &[&str] = &["run", "exec", "x", "dlx"];

/// Flags of runners whose value is the next word.
const VALUE_FLAGS: &[&str] = &[
    "-W",
    "-X",
    "-r",
    "--env-file",
    "--experimental-loader",
    "--import",
    "--loader",
    "--package",
    "--project",
    "--python",
    "--require",
    "--with",
    "--with-editable",
    "--with-requirements",
];

/// Programs that make another name for a file.
const COPIERS: &[&str] = &["cp", "install", "ln", "mv"];
const PACKERS: &[&str] = &["tar", "zip"];

pub(super) fn is_runner(name: &str) -> bool {
    let name = name.strip_suffix(".exe").unwrap_or(name);
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    RUNNERS.contains(&name) || RUNNERS.contains(&plain)
}

/// Whether a runner can be given code in an argument by `-e`. For a shell the flag means something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RunnerKind {
    Shell,
    Other,
}

/// The script that a runner with these arguments runs; `None` for code. A word whose part is not known is
/// taken for the script, so that no file that another program is given is.
pub(super) fn script_of_runner(kind: RunnerKind, arguments: &[String]) -> Option<String> {
    let mut words = arguments.iter().map(String::as_str);
    while let Some(word) = words.next() {
        if word == "-m" {
            return Some(words.next()?.replace('.', "/"));
        }
        if is_code_flag(kind, word) {
            return None;
        }
        let base = word.rsplit(['/', '\\']).next().unwrap_or(word);
        if VALUE_FLAGS.contains(&word) {
            words.next();
        } else if !(word.starts_with('-') || RUN_WORDS.contains(&word) || is_runner(base)) {
            return Some(word.to_owned());
        }
    }
    None
}

/// Whether the script is what `-m` names.
pub(super) fn is_module(script: &str, arguments: &[String]) -> bool {
    arguments.windows(2).any(|pair| pair[0] == "-m" && pair[1].replace('.', "/") == script)
}

/// Whether a module is one of the directory with the scripts, as in `-m scripts.sum`.
pub(super) fn is_below_scripts(script: &str) -> bool {
    script.starts_with("scripts/")
}

/// `-c`, `-e`, groups such as `-ne`, and `--eval`.
fn is_code_flag(kind: RunnerKind, word: &str) -> bool {
    let flags = word
        .strip_prefix('-')
        .filter(|flags| !flags.is_empty() && flags.bytes().all(|byte| byte.is_ascii_alphabetic()));
    let takes_code = |flags: &str| {
        flags.ends_with('c') || kind == RunnerKind::Other && flags.ends_with(['e', 'E', 'p'])
    };
    word == "--eval" || flags.is_some_and(takes_code)
}

/// The program of `awk` or `sed`, if it is in a file.
pub(super) fn program_file(arguments: &[String]) -> Option<&str> {
    let mut words = arguments.iter().map(String::as_str);
    let word = words.find(|word| word.starts_with("-f") || word.starts_with("--file"))?;
    match word {
        "-f" | "--file" => words.next(),
        _ => word.strip_prefix("--file=").or_else(|| word.strip_prefix("-f")),
    }
}

/// The skill whose script this is.
pub(super) fn skill_of(script: &str, directory: &str) -> Option<String> {
    skill_of_script(&path_parts(directory, script))
}

/// Those of the texts that name a script of a skill, or may do so.
pub(super) fn scripts_named<'t>(texts: &[&'t str], directory: &str) -> Vec<&'t str> {
    let is_flag = |text: &str| text.starts_with('-') && !text.contains('/');
    let words = texts.iter().copied().filter(|text| !is_flag(text));
    words.filter(|text| mentions_script(directory, text)).collect()
}

/// Directories in which agents look for skills.
const SKILL_ROOTS: &[&str] = &["skills", ".agents", ".claude", ".codex", ".pi"];

/// Whether a path is in a directory of skills, or holds one.
pub(super) fn is_near_skills(path: &str) -> bool {
    path_parts("", path).iter().any(|part| SKILL_ROOTS.contains(&part.as_str()))
}

/// A word that stands for what is found when the command runs.
pub(super) fn is_open(word: &str) -> bool {
    word.contains("{}") || word.starts_with('$') && !word.contains('/')
}

/// Whether scripts of a skill get another path, under which they are not recognized.
pub(super) fn copies_scripts(name: &str, texts: &[&str], directory: &str) -> bool {
    let words = texts.iter().filter(|word| !word.starts_with('-') && !is_assignment(word));
    let words: Vec<&str> = words.copied().collect();
    let sources = match words.split_last() {
        Some((_, sources)) if COPIERS.contains(&name) => sources,
        Some(_) if PACKERS.contains(&name) => &words[..],
        _ => return false,
    };
    let is_tree = name != "cp"
        || texts.iter().any(|word| word.starts_with('-') && word.contains(['r', 'R', 'a']));
    sources.iter().any(|source| {
        mentions_script(directory, source) || is_tree && is_skill_directory(directory, source)
    })
}

/// `…/skills`, `…/skills/NAME`, or the same with a pattern.
fn is_skill_directory(directory: &str, path: &str) -> bool {
    let parts = path_parts(directory, path);
    let below = parts.iter().position(|part| part == "skills").map(|at| &parts[at + 1..]);
    below
        .is_some_and(|below| below.iter().filter(|part| !part.starts_with(['.', '*'])).count() <= 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_found_behind_flags_and_other_runners() {
        for (line, script) in [
            ("a.py b.py", Some("a.py")),
            ("-u -W ignore a.py", Some("a.py")),
            ("run --with pandas python a.py", Some("a.py")),
            ("--import tsx a.ts", Some("a.ts")),
            ("-m scripts.sum", Some("scripts/sum")),
            ("--unknown value a.py", Some("value")),
            ("eslint a.js", Some("eslint")),
            ("-c code a.py", None),
            ("-ne code a.pl", None),
            ("-", None),
            ("", None),
        ] {
            let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            let found = script_of_runner(RunnerKind::Other, &words);
            assert_eq!(found.as_deref(), script, "{line}");
        }
        let strict = ["-e".to_owned(), "a.sh".to_owned()];
        assert_eq!(script_of_runner(RunnerKind::Shell, &strict).as_deref(), Some("a.sh"));
    }

    #[test]
    fn a_version_belongs_to_the_name_of_a_runner() {
        for name in ["python3", "python3.12", "python.exe", ".", "Rscript"] {
            assert!(is_runner(name), "{name}");
        }
        for name in ["pythonic", "", "3", "pytest"] {
            assert!(!is_runner(name), "{name}");
        }
    }
}
