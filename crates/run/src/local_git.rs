//! Questions to `git` about an untrusted repository. What its configuration names is not
//! started, nothing is fetched, and answers are limited in size and time.

use std::fmt;
use std::io::{self, Read, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use camino::Utf8Path;

/// Of what git says about an error.
const MOST_ERRORS: u64 = 4096;

/// How long git may take to end once its output has been read.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// What git is asked in a repository.
#[derive(Debug)]
pub(crate) struct GitQuestion<'a> {
    /// Where the repository is; git does not look for another one above.
    pub(crate) root: &'a Utf8Path,
    pub(crate) args: &'a [&'a str],
    pub(crate) stdin: Option<Vec<u8>>,
    /// Bytes of a longer answer are not read.
    pub(crate) most_bytes: u64,
    pub(crate) patience: Duration,
}

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum GitQuestionError {
    NotStarted(io::Error),
    TooLong,
    TooSlow(Duration),
    /// What git said.
    Failed(String),
}

impl fmt::Display for GitQuestionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotStarted(error) => write!(f, "cannot run git: {error}"),
            Self::TooLong => f.write_str("git's answer is too long"),
            Self::TooSlow(time) => write!(f, "git did not answer within {} s", time.as_secs()),
            Self::Failed(said) => write!(f, "git: {said}"),
        }
    }
}

impl GitQuestion<'_> {
    pub(crate) fn ask(self) -> Result<Vec<u8>, GitQuestionError> {
        let command = git_command(self.root);
        self.ask_with(command)
    }

    fn ask_with(self, mut command: Command) -> Result<Vec<u8>, GitQuestionError> {
        let started = Instant::now();
        command.args(self.args).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.stdin(if self.stdin.is_some() { Stdio::piped() } else { Stdio::null() });
        let mut child = command.spawn().map_err(GitQuestionError::NotStarted)?;
        if let (Some(text), Some(mut pipe)) = (self.stdin, child.stdin.take()) {
            // Git answers before it has read everything.
            thread::spawn(move || {
                let _ = pipe.write_all(&text);
            });
        }
        let errors = child.stderr.take().map(|stream| read_in_thread(stream, MOST_ERRORS));
        let answer = child.stdout.take().map(|stream| read_in_thread(stream, self.most_bytes + 1));
        let read = answer.and_then(|answer| answer.recv_timeout(self.patience).ok());
        let Some(answer) = read else {
            end(&mut child);
            return Err(GitQuestionError::TooSlow(self.patience));
        };
        if answer.len() as u64 > self.most_bytes {
            end(&mut child);
            return Err(GitQuestionError::TooLong);
        }
        // With its output closed, git has nothing left to do but to say what failed.
        let left = self.patience.saturating_sub(started.elapsed()).max(LAST_WORDS);
        let said = errors.and_then(|errors| errors.recv_timeout(left).ok());
        let Some(said) = said else {
            end(&mut child);
            return Err(GitQuestionError::TooSlow(self.patience));
        };
        let status = child.wait().map_err(GitQuestionError::NotStarted)?;
        if status.success() {
            return Ok(answer);
        }
        let said = String::from_utf8_lossy(&said);
        let said = said.trim().trim_start_matches("fatal: ");
        Err(GitQuestionError::Failed(crate::text::line(said, 300)))
    }
}

fn end(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}

/// Reads at most so many bytes; the rest is lost, and git ends when it writes more.
fn read_in_thread(stream: impl Read + Send + 'static, most: u64) -> Receiver<Vec<u8>> {
    let (sender, read) = channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stream.take(most).read_to_end(&mut bytes);
        // Who asked may have lost patience.
        let _ = sender.send(bytes);
    });
    read
}

/// `git` in a repository, without hooks, the file monitor, a pager and variables that change what it does.
///
/// Missing objects of a partial clone are not fetched: the configuration names the program that would do
/// it. Versions of git before 2.45 do not know `GIT_NO_LAZY_FETCH`, and no transport is allowed to them.
fn git_command(root: &Utf8Path) -> Command {
    let mut command = Command::new("git");
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("GIT_") {
            command.env_remove(name);
        }
    }
    command.env("GIT_NO_LAZY_FETCH", "1").env("GIT_TERMINAL_PROMPT", "0");
    // Goes before every `protocol.<name>.allow` of the configuration, which `-c protocol.allow` does not.
    command.env("GIT_ALLOW_PROTOCOL", "none");
    // What is not a repository for git must not make it take a parent, or the directory itself as a bare
    // repository: their configuration has not been looked at.
    if let Some(parent) = root.parent().filter(|parent| parent.is_absolute()) {
        command.env("GIT_CEILING_DIRECTORIES", parent.as_str());
    }
    command.args(["--no-optional-locks", "--no-pager", "-c", "safe.bareRepository=explicit"]);
    command.args(["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"]);
    command.args(["-C", root.as_str()]);
    command
}

#[cfg(all(test, unix))]
pub(crate) mod tests {
    use camino::Utf8PathBuf;

    use super::*;

    /// Git as a user calls it.
    pub(crate) fn git(directory: &Utf8Path, arguments: &[&str]) -> String {
        let identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"];
        let mut command = Command::new("git");
        command.arg("-C").arg(directory).args(identity).args(arguments);
        command.env_remove("GIT_DIR").env("GIT_CONFIG_GLOBAL", "/dev/null");
        let output = command.output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    pub(crate) fn repository(files: &[(&str, &str)]) -> (tempfile::TempDir, Utf8PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::from_path_buf(directory.path().canonicalize().unwrap()).unwrap();
        git(&root, &["init", "-q", "-b", "topic/one"]);
        for (name, text) in files {
            let path = root.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        git(&root, &["add", "."]);
        git(&root, &["commit", "-q", "-m", "first"]);
        (directory, root)
    }

    /// Removes the content of a file from the repository, which says that a program can fetch it. The
    /// program would create the file `ran`.
    pub(crate) fn forget_content(root: &Utf8Path, file: &str) {
        let object = git(root, &["rev-parse", &format!("HEAD:{file}")]);
        let (directory, name) = object.split_at(2);
        std::fs::remove_file(root.join(".git/objects").join(directory).join(name)).unwrap();
        for (name, value) in [
            ("core.repositoryFormatVersion", "1"),
            ("extensions.partialClone", "evil"),
            ("remote.evil.promisor", "true"),
            ("remote.evil.url", root.as_str()),
            ("remote.evil.uploadpack", &format!("touch {}; false", root.join("ran"))),
            ("protocol.allow", "always"),
            ("protocol.file.allow", "always"),
        ] {
            git(root, &["config", name, value]);
        }
    }

    fn question<'a>(root: &'a Utf8Path, args: &'a [&'a str]) -> GitQuestion<'a> {
        GitQuestion { root, args, stdin: None, most_bytes: 100, patience: Duration::from_secs(60) }
    }

    #[test]
    fn missing_content_is_not_fetched() {
        let (_kept, root) = repository(&[("a", "1")]);
        forget_content(&root, "a");
        let args = ["cat-file", "blob", "HEAD:a"];
        let error = question(&root, &args).ask().unwrap_err();
        assert!(matches!(error, GitQuestionError::Failed(_)), "{error}");
        assert!(!root.join("ran").exists());
        // As a git that does not know the variable.
        let mut command = git_command(&root);
        command.env_remove("GIT_NO_LAZY_FETCH");
        let error = question(&root, &args).ask_with(command).unwrap_err();
        assert!(matches!(error, GitQuestionError::Failed(_)), "{error}");
        assert!(!root.join("ran").exists());
    }

    #[test]
    fn a_long_answer_is_not_read_to_its_end() {
        let (_kept, root) = repository(&[("a", &"x".repeat(101)), ("b", &"x".repeat(100))]);
        let error = question(&root, &["cat-file", "blob", "HEAD:a"]).ask().unwrap_err();
        assert!(matches!(error, GitQuestionError::TooLong), "{error}");
        let answer = question(&root, &["cat-file", "blob", "HEAD:b"]).ask().unwrap();
        assert_eq!(answer.len(), 100);
    }

    #[test]
    fn git_is_not_waited_for_forever() {
        let (_kept, root) = repository(&[("a", "1")]);
        let config = root.join(".git/config");
        std::fs::remove_file(&config).unwrap();
        assert!(Command::new("mkfifo").arg(&config).status().unwrap().success());
        let patience = Duration::from_millis(200);
        let args = ["config", "--get", "user.name"];
        let error = GitQuestion { patience, ..question(&root, &args) }.ask().unwrap_err();
        assert!(matches!(error, GitQuestionError::TooSlow(_)), "{error}");
    }

    #[test]
    fn a_directory_that_is_not_a_repository_is_not_taken_for_one() {
        let (_kept, root) = repository(&[("inner/a", "1")]);
        let inner = root.join("inner");
        std::fs::create_dir(inner.join(".git")).unwrap();
        assert!(question(&inner, &["rev-parse", "HEAD"]).ask().is_err());
        git(&inner, &["init", "-q", "--bare", "."]);
        assert!(question(&inner, &["rev-parse", "--git-dir"]).ask().is_err());
    }
}
