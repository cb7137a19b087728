//! The commit, branch and cleanliness of a suite's repository.
//!
//! Commit and branch are read from the files of `.git`. Whether tracked files changed is asked of the
//! `git` program, and only if the repository's own configuration cannot make it run anything: hooks, the
//! file monitor and transports are switched off, and with filters or includes the answer stays unknown.

use std::io;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::source::Reach;

use crate::disk::read_whole;
use crate::local_git::{GitQuestion, GitQuestionError};
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
    if configured.iter().any(|file| configures_programs(file)) {
        return None;
    }
    let args = ["status", "--porcelain", "--untracked-files=no", "--ignore-submodules=all"];
    // One changed file is enough.
    let question =
        GitQuestion { root, args: &args, stdin: None, most_bytes: 0, patience: PATIENCE };
    match question.ask() {
        Ok(_) => Some(false),
        Err(GitQuestionError::TooLong) => Some(true),
        Err(_) => None,
    }
}

/// Whether a file may make git run programs; what cannot be read here may still be read by git.
fn configures_programs(file: &Utf8Path) -> bool {
    match read_whole(file, Reach::Anywhere, MOST) {
        Ok(text) => can_run_programs(&String::from_utf8_lossy(&text)),
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    }
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
    use crate::local_git::tests::{forget_content, git, repository};

    #[test]
    fn commit_branch_and_changes_are_those_that_git_reports() {
        let (_kept, root) = repository(&[("a", "1")]);
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
        let (_kept, root) = repository(&[("a", "1")]);
        let other = root.join("other");
        git(&root, &["worktree", "add", "-q", "-b", "two", other.as_str()]);
        let state = read_git_state(&other).unwrap();
        assert_eq!(state.branch.as_deref(), Some("two"));
        assert_eq!(state.commit, git(&root, &["rev-parse", "HEAD"]));
    }

    #[test]
    fn a_repository_cannot_make_git_run_a_program() {
        let (_kept, root) = repository(&[("a", "1")]);
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
    fn a_configuration_that_cannot_be_searched_is_not_used() {
        for hidden in [&b"# \xff"[..], &vec![b'\n'; MOST as usize + 1]] {
            let (_kept, root) = repository(&[("a", "1"), (".gitattributes", "* filter=evil")]);
            let config = root.join(".git/config");
            let mut text = std::fs::read(&config).unwrap();
            text.extend_from_slice(hidden);
            let touch = format!("touch {}; cat", root.join("ran"));
            text.extend_from_slice(format!("\n[filter \"evil\"]\nclean = {touch:?}\n").as_bytes());
            std::fs::write(&config, text).unwrap();
            std::fs::write(root.join("a"), "3").unwrap();
            assert_eq!(read_git_state(&root).unwrap().dirty, None);
            assert!(!root.join("ran").exists());
        }
    }

    #[test]
    fn the_content_of_a_partial_clone_is_not_fetched() {
        let (_kept, root) = repository(&[("a", "1")]);
        forget_content(&root, "a");
        // Of the same length, so that only the content tells whether it changed.
        std::fs::write(root.join("a"), "2").unwrap();
        assert_ne!(read_git_state(&root).unwrap().dirty, Some(false));
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
