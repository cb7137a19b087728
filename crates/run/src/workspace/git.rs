//! Runs `git` so that neither the repository nor the user's habits decide what it does: no hooks, no
//! prompts, no variables of git, no programs as transports.

use std::time::Duration;

use camino::Utf8Path;
use evalrig_core::model::{Fault, FaultKind, Stage};

use crate::agent::process::{OUTPUT_LIMIT, ProcessSpec, describe, run, with_stderr};

/// Cloning a large repository takes a while.
const TIMEOUT: Duration = Duration::from_secs(600);
const GRACE: Duration = Duration::from_secs(5);

/// Whose configuration applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GitConfig {
    /// The user's: proxies, mirrors and credentials are needed to fetch. What is fetched does not depend
    /// on it.
    User,
    /// None, so that everybody gets the same files.
    Nothing,
}

const ALWAYS: &[&str] = &[
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "protocol.ext.allow=never",
    "-c",
    "gc.auto=0",
    "-c",
    "maintenance.auto=false",
    "-c",
    "advice.detachedHead=false",
    "-c",
    "core.autocrlf=false",
    "-c",
    "submodule.recurse=false",
];

/// Runs git in a directory and returns its standard output; anything but success is a fault.
pub(super) async fn git(
    directory: &Utf8Path,
    config: GitConfig,
    arguments: &[&str],
) -> Result<String, Fault> {
    let printed = git_bytes(directory, config, arguments, None).await?;
    Ok(String::from_utf8_lossy(&printed).trim().to_owned())
}

/// The same with what it reads on standard input, and its standard output as it is.
pub(super) async fn git_bytes(
    directory: &Utf8Path,
    config: GitConfig,
    arguments: &[&str],
    stdin: Option<&[u8]>,
) -> Result<Vec<u8>, Fault> {
    let inherited: Vec<String> = std::env::vars_os()
        .filter_map(|(name, _)| name.into_string().ok())
        .filter(|name| name.starts_with("GIT_"))
        .collect();
    let mut env = vec![
        ("LC_ALL", "C"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("GIT_ASKPASS", "false"),
        // Instead of asking on the terminal.
        ("SSH_ASKPASS", "false"),
        ("SSH_ASKPASS_REQUIRE", "force"),
        ("GIT_LFS_SKIP_SMUDGE", "1"),
    ];
    if config == GitConfig::Nothing {
        env.extend([("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_CONFIG_GLOBAL", "/dev/null")]);
    }
    let env: Vec<(String, String)> =
        env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let args: Vec<String> = ALWAYS.iter().chain(arguments).map(|word| (*word).to_owned()).collect();
    let spec = ProcessSpec {
        program: "git",
        args: &args,
        cwd: directory,
        env: &env,
        without: &inherited,
        stdin,
        timeout: TIMEOUT,
        grace: GRACE,
        output_limit: OUTPUT_LIMIT,
    };
    let ended = run(&spec).await.map_err(|attempt| {
        let kind = match attempt.fault.kind {
            FaultKind::Timeout => FaultKind::Timeout,
            _ => FaultKind::Clone,
        };
        let message = match kind {
            FaultKind::Timeout => {
                format!("`git {}` did not end within {} s", arguments[0], TIMEOUT.as_secs())
            }
            _ => attempt.fault.message,
        };
        Fault::new(Stage::Workspace, kind, message)
    })?;
    match describe(ended.status) {
        None => Ok(ended.stdout),
        Some(how) => {
            let message = format!("`git {}` failed: {how}", arguments[0]);
            let message = with_stderr(message, &ended.stderr);
            Err(Fault::new(Stage::Workspace, FaultKind::Clone, message))
        }
    }
}
