//! Words of commands that name files beside the suite (spec 4).

use camino::Utf8Path;

use crate::source::{Files, without_dots};

use super::workspace::{Hook, HookCommand};

/// Extensions by which a bare name is recognized as a file.
const SCRIPT_EXTENSIONS: &[&str] = &[".py", ".js", ".mjs", ".cjs", ".ts", ".sh", ".rb", ".pl"];

/// Whether a word of a command is looked up. A flag or an address may contain `/` without being a path.
pub fn looks_like_path(word: &str) -> bool {
    let is_other = word.starts_with('-') || (word.contains("://") && !word.starts_with("file://"));
    let has_slash = word.contains('/') && !word.contains(char::is_whitespace);
    !is_other && (has_slash || has_script_extension(word))
}

pub(crate) fn has_script_extension(word: &str) -> bool {
    SCRIPT_EXTENSIONS.iter().any(|end| word.ends_with(end))
}

impl HookCommand {
    /// Program and arguments, as they are written.
    pub fn words(&self) -> Vec<String> {
        match self {
            Self::Shell(line) => vec!["sh".into(), "-c".into(), line.clone()],
            Self::Argv(words) => words.clone(),
        }
    }
}

impl Hook {
    /// Program and arguments. A word that names a file beside the hook becomes its absolute path,
    /// because the hook runs elsewhere; `root` is the repository root, where a leading `/` starts.
    /// Other words stay, such as files of the workspace.
    pub fn words(&self, root: &Utf8Path, files: &dyn Files) -> Vec<String> {
        let words = match &self.command {
            HookCommand::Shell(_) => return self.command.words(),
            HookCommand::Argv(words) => words,
        };
        let resolve = |word: &String| {
            let path = word.strip_prefix("file://").unwrap_or(word);
            let joined = match path.strip_prefix('/') {
                Some(rest) => root.join(rest.trim_start_matches('/')),
                None => self.base.join(path),
            };
            let found = without_dots(&joined);
            let is_there = looks_like_path(word) && files.kind(&found).is_some();
            if is_there { found.into_string() } else { word.clone() }
        };
        words.iter().map(resolve).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::MemoryFiles;

    #[test]
    fn words_that_name_files_beside_the_hook_become_absolute() {
        let files = MemoryFiles::new().with("/p/scripts/setup.mjs", "").with("/p/evals/a.sh", "");
        let hook = |words: &[&str]| Hook {
            command: HookCommand::Argv(words.iter().map(|word| (*word).to_owned()).collect()),
            cwd: None,
            timeout_seconds: 1,
            base: "/p/evals".into(),
        };
        let words = ["node", "../scripts/setup.mjs", "a.sh", "b.sh", "--x=../scripts", "/scripts"];
        assert_eq!(
            hook(&words).words("/p".into(), &files),
            [
                "node",
                "/p/scripts/setup.mjs",
                "/p/evals/a.sh",
                "b.sh",
                "--x=../scripts",
                "/p/scripts"
            ]
        );
        let shell = Hook { command: HookCommand::Shell("./a.sh | tee x".into()), ..hook(&[]) };
        assert_eq!(shell.words("/p".into(), &files), ["sh", "-c", "./a.sh | tee x"]);
    }
}
