//! The name under which a person labels answers.

use std::time::Duration;

use camino::Utf8Path;
use evalrig_core::read::repository_root;

use crate::disk::Disk;
use crate::local_git::GitQuestion;
use crate::results::UNKNOWN_AUTHOR;

const MOST_BYTES: u64 = 64 * 1024;
const PATIENCE: Duration = Duration::from_secs(2);

/// The name that git knows, or that of the account.
pub fn label_author(directory: &Utf8Path) -> String {
    let variable = |name: &str| std::env::var(name).ok();
    let known = git_name(directory).or_else(|| variable("USER")).or_else(|| variable("USERNAME"));
    let name: String = known.unwrap_or_default().trim().chars().take(200).collect();
    if name.is_empty() { UNKNOWN_AUTHOR.to_owned() } else { name }
}

/// The configuration of the repository may be a pipe or a device: git does not answer then.
fn git_name(directory: &Utf8Path) -> Option<String> {
    let root = repository_root(&Disk, directory);
    let args = ["config", "--get", "user.name"];
    let question = GitQuestion {
        root: &root,
        args: &args,
        stdin: None,
        most_bytes: MOST_BYTES,
        patience: PATIENCE,
    };
    let name = String::from_utf8(question.ask().ok()?).ok()?;
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::local_git::tests::{git, repository};

    #[test]
    fn the_name_is_that_of_the_repository_also_from_below() {
        let (_kept, root) = repository(&[("evals/a", "1")]);
        git(&root, &["config", "user.name", " Ada "]);
        assert_eq!(label_author(&root.join("evals")), "Ada");
    }

    #[test]
    fn a_configuration_that_is_a_pipe_is_not_waited_for() {
        let (_kept, root) = repository(&[("a", "1")]);
        let config = root.join(".git/config");
        std::fs::remove_file(&config).unwrap();
        let mut command = std::process::Command::new("mkfifo");
        assert!(command.arg(&config).status().unwrap().success());
        assert!(!label_author(&root).is_empty());
    }
}
