//! Pages of the documentation, run as tests.
//!
//! A fenced block after a line such as `` `agents/agent.py`: `` is the content of that file. The lines of a `console`
//! block that start with `$ ` are commands; the lines below are what they print, with `[..]` for any text within a line
//! and `...` for any number of lines. `# exit code 1` behind a command says how it exits.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs};

/// A fenced block of a page.
pub struct Block {
    pub language: String,
    pub text: String,
    /// The file that it is the content of.
    pub file: Option<String>,
}

pub fn blocks(markdown: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut above = "";
    let mut lines = markdown.lines();
    while let Some(line) = lines.next() {
        if let Some(language) = line.strip_prefix("```") {
            let text: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            blocks.push(Block {
                language: language.to_owned(),
                text: text.join("\n") + "\n",
                file: file_named_in(above).filter(|_| language != "console"),
            });
            above = "";
        } else if !line.is_empty() {
            above = line;
        }
    }
    blocks
}

/// `` `PATH`: `` or `` `PATH`, with a remark: ``
fn file_named_in(line: &str) -> Option<String> {
    let (path, rest) = line.strip_prefix('`')?.split_once('`')?;
    rest.ends_with(':').then(|| path.to_owned())
}

/// One command of a `console` block, with its exit code and its output.
struct Step {
    command: String,
    code: i32,
    output: String,
}

fn steps(session: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for line in session.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            let (command, code) = match command.split_once("# exit code ") {
                Some((command, code)) => (command, code.parse().expect("an exit code")),
                None => (command, 0),
            };
            steps.push(Step {
                command: command.trim_end().to_owned(),
                code,
                output: String::new(),
            });
        } else {
            let step = steps.last_mut().expect("a command comes first");
            step.output += &format!("{line}\n");
        }
    }
    steps
}

/// `[..]` is any text within a line.
fn line_fits(shown: &str, line: &str) -> bool {
    let Some((start, rest)) = shown.split_once("[..]") else {
        return shown == line;
    };
    let Some(line) = line.strip_prefix(start) else {
        return false;
    };
    let ends = line.char_indices().map(|(at, _)| at).chain([line.len()]);
    ends.into_iter().any(|at| line_fits(rest, &line[at..]))
}

/// `...` on a line of its own is any number of lines.
fn fits(shown: &[&str], lines: &[&str]) -> bool {
    match shown.split_first() {
        None => lines.is_empty(),
        Some((&"...", rest)) => (0..=lines.len()).any(|at| fits(rest, &lines[at..])),
        Some((first, rest)) => lines
            .split_first()
            .is_some_and(|(line, lines)| line_fits(first, line) && fits(rest, lines)),
    }
}

/// The directory of the binary in front, so that `evalrig` is this one, and after it `programs`.
fn search_path(programs: &Path) -> OsString {
    let binary = Path::new(env!("CARGO_BIN_EXE_evalrig"));
    let own = binary.parent().expect("a directory").to_owned();
    let inherited = env::var_os("PATH").unwrap_or_default();
    let all = [own, programs.to_owned()].into_iter().chain(env::split_paths(&inherited));
    env::join_paths(all).expect("a search path")
}

fn shell(directory: &Path, programs: &Path, command: &str) -> Output {
    Command::new("sh")
        .args(["-c", command])
        .current_dir(directory)
        .env("NO_COLOR", "1")
        // In CI the run log is off.
        .env_remove("CI")
        .env("PATH", search_path(programs))
        .output()
        .expect("`sh` starts")
}

pub fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
    fs::write(path, text).expect("a file");
}

/// Writes the files of a page and runs its commands, in the order of the page, in an empty repository. Commands find
/// the programs in `programs` before those of the machine.
pub fn run(name: &str, markdown: &str, programs: &Path) {
    let repository = tempfile::tempdir().expect("a directory");
    let directory: PathBuf = repository.path().to_owned();
    fs::create_dir(directory.join(".git")).expect("the mark of a repository");
    for block in blocks(markdown) {
        if let Some(file) = &block.file {
            write(&directory.join(file), &block.text);
        }
        if block.language != "console" {
            continue;
        }
        for step in steps(&block.text) {
            let output = shell(&directory, programs, &step.command);
            let printed = String::from_utf8(output.stdout).expect("the output is UTF-8");
            let complaint = String::from_utf8_lossy(&output.stderr);
            let shown: Vec<&str> = step.output.trim_end().lines().collect();
            let lines: Vec<&str> = printed.trim_end().lines().map(str::trim_end).collect();
            let command = &step.command;
            assert!(fits(&shown, &lines), "{name}: `{command}` prints:\n{printed}{complaint}");
            let code = output.status.code();
            assert_eq!(code, Some(step.code), "{name}: `{command}`\n{complaint}");
        }
    }
}
