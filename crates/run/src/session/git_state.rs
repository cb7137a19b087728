//! The commit, branch and cleanliness of a suite's repository.
//!
//! Commit and branch are read from the files of `.git`. Whether tracked files changed is asked of the
//! `git` program, and only if the repository's own configuration cannot make it run anything: hooks and
//! the file monitor are switched off, and with filters or includes the answer stays unknown.

use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::source::Reach;

use crate::disk::read_whole;
use crate::results::GitState;

/// More than this is not a file that git wrote.
const MOST: u64 = 16 * 1024 * 1024;

/// A very large repository may take longer; then it is unknown whether it is dirty.
const PATIENCE: Duration = Duration::from_secs(1);

/// `None` outside of a repository, and before its first commit.
pub(super) fn read_git_state(root: &Utf8Path) -> Option<GitState> {
    let directory = git_directory(root)?;
    let head = read(&directory.join("HEAD"))?;
    let head = head.trim();
    let Some(name) = head.strip_prefix("ref: ") else {
        return Some(GitState { commit: commit(head)?, branch: None, dirty: is_dirty(root) });
    };
    let common = common_directory(&directory);
    let found = commit_of(&directory, name).or_else(|| commit_of(&common, name));
    let commit = found.or_else(|| packed_commit(&common, name))?;
    let branch = name.strip_prefix("refs/heads/").unwrap_or(name).to_owned();
    Some(GitState { commit, branch: Some(branch), dirty: is_dirty(root) })
}

/// `.git`, or where the file `.git` of a worktree or submodule leads.
fn git_directory(root: &Utf8Path) -> Option<Utf8PathBuf> {
    let entry = root.join(".git");
    match read(&entry) {
        Some(text) => Some(root.join(text.trim().strip_prefix("gitdir: ")?)),
        None => entry.is_dir().then_some(entry),
    }
}

/// Where a worktree finds the branches of its repository.
fn common_directory(directory: &Utf8Path) -> Utf8PathBuf {
    let common = read(&directory.join("commondir"));
    common.map_or_else(|| directory.to_owned(), |path| directory.join(path.trim()))
}

fn commit_of(directory: &Utf8Path, name: &str) -> Option<String> {
    if name.split('/').any(|part| part == ".." || part.is_empty()) {
        return None;
    }
    commit(read(&directory.join(name))?.trim())
}

fn packed_commit(directory: &Utf8Path, name: &str) -> Option<String> {
    let packed = read(&directory.join("packed-refs"))?;
    let mut lines = packed.lines().filter_map(|line| line.split_once(' '));
    commit(lines.find(|(_, known)| *known == name)?.0)
}

/// SHA-1 or SHA-256 in hexadecimal.
fn commit(text: &str) -> Option<String> {
    let is_hash = matches!(text.len(), 40 | 64) && text.bytes().all(|b| b.is_ascii_hexdigit());
    is_hash.then(|| text.to_owned())
}

fn read(path: &Utf8Path) -> Option<String> {
    String::from_utf8(read_whole(path, Reach::Anywhere, MOST).ok()?).ok()
}

fn is_dirty(root: &Utf8Path) -> Option<bool> {
    let directory = git_directory(root)?;
    let common = common_directory(&directory);
    let configured = [common.join("config"), directory.join("config.worktree")];
    let mut texts = configured.iter().filter_map(|file| read(file));
    if texts.any(|text| can_run_programs(&text)) {
        return None;
    }
    let mut command = git_command(root);
    command.args(["status", "--porcelain", "--untracked-files=no", "--ignore-submodules=all"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let mut output = child.stdout.take()?;
    let (sender, first_byte) = channel();
    thread::spawn(move || {
        // The receiver may have lost patience.
        let _ = sender.send(output.read(&mut [0]));
    });
    let read = first_byte.recv_timeout(PATIENCE);
    if !matches!(read, Ok(Ok(0))) {
        // One changed file is enough.
        let _ = child.kill();
    }
    let ended = child.wait().ok()?;
    match read {
        Ok(Ok(0)) => ended.success().then_some(false),
        Ok(Ok(_)) => Some(true),
        Ok(Err(_)) | Err(_) => None,
    }
}

/// `git` in a repository, without hooks, the file monitor and variables that change what it does.
pub(super) fn git_command(root: &Utf8Path) -> Command {
    let mut command = Command::new("git");
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("GIT_") {
            command.env_remove(name);
        }
    }
    command.args(["--no-optional-locks", "-c", "core.fsmonitor=false"]);
    command.args(["-c", "core.hooksPath=/dev/null", "-C", root.as_str()]);
    command
}

/// Whether `git status` could start a program that this configuration names.
fn can_run_programs(config: &str) -> bool {
    let config = config.to_ascii_lowercase();
    ["filter", "include", "textconv", "alternaterefscommand", "sshcommand"]
        .iter()
        .any(|word| config.contains(word))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn git(directory: &Utf8Path, arguments: &[&str]) -> String {
        let identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"];
        let mut command = Command::new("git");
        command.arg("-C").arg(directory).args(identity).args(arguments);
        command.env_remove("GIT_DIR").env("GIT_CONFIG_GLOBAL", "/dev/null");
        let output = command.output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn repository() -> (tempfile::TempDir, Utf8PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::from_path_buf(directory.path().to_owned()).unwrap();
        git(&root, &["init", "-q", "-b", "topic/one"]);
        std::fs::write(root.join("a"), "1").unwrap();
        git(&root, &["add", "a"]);
        git(&root, &["commit", "-q", "-m", "first"]);
        (directory, root)
    }

    #[test]
    fn commit_branch_and_changes_are_those_that_git_reports() {
        let (_kept, root) = repository();
        let head = git(&root, &["rev-parse", "HEAD"]);
        let branch = Some("topic/one".to_owned());
        let clean = GitState { commit: head.clone(), branch, dirty: Some(false) };
        assert_eq!(read_git_state(&root), Some(clean.clone()));
        git(&root, &["pack-refs", "--all"]);
        std::fs::write(root.join("new"), "untracked").unwrap();
        assert_eq!(read_git_state(&root), Some(clean.clone()));
        std::fs::write(root.join("a"), "22").unwrap();
        assert_eq!(read_git_state(&root), Some(GitState { dirty: Some(true), ..clean }));
        git(&root, &["checkout", "-q", "--force", "--detach"]);
        let detached = GitState { commit: head, branch: None, dirty: Some(false) };
        assert_eq!(read_git_state(&root), Some(detached));
    }

    #[test]
    fn a_worktree_has_its_own_branch() {
        let (_kept, root) = repository();
        let other = root.join("other");
        git(&root, &["worktree", "add", "-q", "-b", "two", other.as_str()]);
        let state = read_git_state(&other).unwrap();
        assert_eq!(state.branch.as_deref(), Some("two"));
        assert_eq!(state.commit, git(&root, &["rev-parse", "HEAD"]));
    }

    #[test]
    fn a_repository_cannot_make_git_run_a_program() {
        let (_kept, root) = repository();
        std::fs::write(root.join(".gitattributes"), "* filter=evil\n").unwrap();
        let touch = format!("touch {}; cat", root.join("ran"));
        git(&root, &["config", "filter.evil.clean", &touch]);
        std::fs::write(root.join("a"), "3").unwrap();
        assert_eq!(read_git_state(&root).unwrap().dirty, None);
        git(&root, &["config", "--unset", "filter.evil.clean"]);
        git(&root, &["config", "core.fsmonitor", &format!("touch {}", root.join("ran"))]);
        assert_eq!(read_git_state(&root).unwrap().dirty, Some(true));
        assert!(!root.join("ran").exists());
    }

    #[test]
    fn without_a_commit_there_is_no_state() {
        let directory = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(directory.path()).unwrap();
        assert_eq!(read_git_state(root), None);
        git(root, &["init", "-q"]);
        assert_eq!(read_git_state(root), None);
        std::fs::write(root.join(".git/HEAD"), "ref: ../../../etc/passwd\n").unwrap();
        assert_eq!(read_git_state(root), None);
    }
}
