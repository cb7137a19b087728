//! The files that a command consists of, as far as its words tell: the program, and scripts among its
//! arguments. What these read in turn is not known.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};

use super::placeholder::CommandPart;
use super::script_reader::{ScriptReader, TAINT};

/// Of a program and its arguments, each split at its placeholders.
pub(crate) fn files_of_arguments(
    cwd: &Utf8Path,
    arguments: &[Vec<CommandPart>],
) -> Vec<Utf8PathBuf> {
    let words: Vec<String> = arguments.iter().map(|argument| marked(argument)).collect();
    let mut files = Vec::new();
    add_files(cwd, &words, &mut files);
    files
}

/// Of a command line for the shell.
pub(crate) fn files_of_script(cwd: &Utf8Path, script: &[CommandPart]) -> Vec<Utf8PathBuf> {
    let script = marked(script);
    let variables = BTreeSet::new();
    let mut files = Vec::new();
    for command in ScriptReader::new(&script, &variables).read().commands {
        add_files(cwd, &command.words, &mut files);
    }
    files
}

fn marked(parts: &[CommandPart]) -> String {
    let mut text = String::new();
    for part in parts {
        match part {
            CommandPart::Text(part) => text.push_str(part),
            CommandPart::Placeholder(_) => text.push(TAINT),
        }
    }
    text
}

/// Words that hold a value of a case are not files of the command.
fn add_files(cwd: &Utf8Path, words: &[String], files: &mut Vec<Utf8PathBuf>) {
    for (at, word) in words.iter().enumerate().filter(|(_, word)| !word.contains(TAINT)) {
        let found = if at == 0 && !word.contains('/') {
            in_search_path(word)
        } else {
            Some(cwd.join(word)).filter(|path| path.is_file())
        };
        if let Some(path) = found.filter(|path| !files.contains(path)) {
            files.push(path);
        }
    }
}

/// Where the system finds a program.
fn in_search_path(program: &str) -> Option<Utf8PathBuf> {
    let directories = std::env::var_os("PATH")?;
    let mut paths = std::env::split_paths(&directories)
        .filter_map(|directory| Utf8PathBuf::from_path_buf(directory.join(program)).ok());
    paths.find(|path| path.is_file())
}

#[cfg(all(test, unix))]
mod tests {
    use super::super::placeholder::{CommandSyntax, split_placeholders};
    use super::*;

    #[test]
    fn the_program_and_its_scripts_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let cwd = Utf8Path::from_path(folder.path()).unwrap();
        for name in ["agent.py", "agent.sh", "{PROMPT}"] {
            std::fs::write(cwd.join(name), "").unwrap();
        }
        let names = |files: Vec<Utf8PathBuf>| -> Vec<String> {
            files.iter().map(|file| file.file_name().unwrap().to_owned()).collect()
        };
        let argv = ["sh", "agent.py", "--x", "none.py", "{PROMPT}", "agent.py"];
        let argv = argv.map(|one| split_placeholders(one, CommandSyntax::Program));
        assert_eq!(names(files_of_arguments(cwd, &argv)), ["sh", "agent.py"]);
        let line = "A=1 ./agent.sh {PROMPT} | sh 'agent.py' && no-such-program-anywhere";
        let line = split_placeholders(line, CommandSyntax::Shell);
        assert_eq!(names(files_of_script(cwd, &line)), ["agent.sh", "sh", "agent.py"]);
    }
}
