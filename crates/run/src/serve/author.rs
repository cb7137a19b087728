//! The name under which a person labels answers.

use std::process::{Command, Stdio};

use camino::Utf8Path;

use crate::results::UNKNOWN_AUTHOR;

/// The name that git knows, or that of the account.
pub fn label_author(directory: &Utf8Path) -> String {
    let variable = |name: &str| std::env::var(name).ok();
    let known = git_name(directory).or_else(|| variable("USER")).or_else(|| variable("USERNAME"));
    let name: String = known.unwrap_or_default().trim().chars().take(200).collect();
    if name.is_empty() { UNKNOWN_AUTHOR.to_owned() } else { name }
}

/// `git config` reads files and starts no program.
fn git_name(directory: &Utf8Path) -> Option<String> {
    let mut command = Command::new("git");
    command.args(["-C", directory.as_str(), "config", "--get", "user.name"]);
    command.stdin(Stdio::null()).stderr(Stdio::null());
    let output = command.output().ok().filter(|output| output.status.success())?;
    let name = String::from_utf8(output.stdout).ok()?;
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}
