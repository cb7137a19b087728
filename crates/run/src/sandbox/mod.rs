//! Sandboxes: what a program of a case sees of the machine (spec 17.4).
//!
//! A sandbox does not start anything. It turns the program that is to be started into another one, which
//! starts it inside of the sandbox; both run under the same supervision.
//!
//! Start what [`Sandbox::wrap`] gives from a thread that outlives it, as every worker of the runtime does:
//! bubblewrap ends with the thread that started it.
//!
//! Adding a sandbox is one new file and its entry in [`SANDBOXES`]. Before anything is called, ask
//! [`Sandbox::available`]: a sandbox that was asked for and is missing stops the run.

mod bwrap;
mod container;
mod docker;
mod home;
mod none;
mod podman;
mod private_entries;
mod program_paths;

use std::fmt;
use std::io;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use camino::Utf8PathBuf;
use evalrig_core::model::ContainerSettings;

pub use bwrap::Bwrap;
pub use container::ContainerGuard;
pub use docker::Docker;
pub use home::HomeOnly;
pub use none::NoSandbox;
pub use podman::Podman;

/// Every sandbox, from the weakest on.
pub const SANDBOXES: &[&dyn Sandbox] =
    &[&NoSandbox, &HomeOnly, &Bwrap::HERE, &Podman::PROGRAM, &Docker::PROGRAM];

/// The sandbox that is written like this.
pub fn sandbox_named(name: &str) -> Option<&'static dyn Sandbox> {
    SANDBOXES.iter().copied().find(|sandbox| sandbox.name() == name)
}

/// A program as it is to be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramStart {
    pub program: String,
    pub args: Vec<String>,
    /// Absolute.
    pub cwd: Utf8PathBuf,
    /// Added to the inherited environment; later ones take precedence.
    pub env: Vec<(String, String)>,
}

impl ProgramStart {
    /// The value of a variable that the program will have.
    fn variable(&self, name: &str) -> Option<String> {
        let added = self.env.iter().rev().find(|(known, _)| known == name);
        added.map(|(_, value)| value.clone()).or_else(|| std::env::var(name).ok())
    }
}

/// Whether programs reach the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NetworkAccess {
    #[default]
    Kept,
    None,
}

/// What a program sees besides the system.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SandboxView {
    /// Workspace and home; absolute.
    pub writable: Vec<Utf8PathBuf>,
    /// What an agent needs from places that are hidden otherwise; absolute. Its program is found without
    /// being listed here.
    pub readable: Vec<Utf8PathBuf>,
    /// Files and directories that are not shown, not even as a part of a system directory or of the
    /// installation of a program; real paths. What is writable or readable is shown all the same.
    pub hidden: Vec<Utf8PathBuf>,
    /// Names of inherited variables that a container gets. The other sandboxes inherit all of them.
    pub variables: Vec<String>,
    pub network: NetworkAccess,
    pub container: ContainerSettings,
}

/// What is started in place of a program.
#[derive(Debug)]
pub struct SandboxedProgram {
    pub start: ProgramStart,
    /// Ends what outlives the started program. To be dropped when that is over.
    pub guard: Option<ContainerGuard>,
}

impl From<ProgramStart> for SandboxedProgram {
    fn from(start: ProgramStart) -> Self {
        Self { start, guard: None }
    }
}

/// A way to confine programs. Reasons are messages for users.
pub trait Sandbox: fmt::Debug + Send + Sync {
    /// As it is written in `sandbox`.
    fn name(&self) -> &'static str;

    /// Whether programs run in a container, which needs an image.
    fn is_container(&self) -> bool {
        false
    }

    /// Whether it works here, to be asked before anything is called. Takes up to some seconds.
    fn available(&self, container: &ContainerSettings) -> Result<(), String>;

    /// Removes what runs that were killed have left, before the first program is started.
    fn remove_stale(&self) {}

    /// What to start instead.
    fn wrap(&self, start: ProgramStart, view: &SandboxView) -> Result<SandboxedProgram, String>;
}

/// A sandbox with what is seen in it.
#[derive(Debug, Clone, Copy)]
pub struct SandboxUse<'a> {
    pub sandbox: &'a dyn Sandbox,
    pub view: &'a SandboxView,
}

/// How long a sandbox may take to say whether it works.
const PATIENCE: Duration = Duration::from_secs(20);

/// Runs a program that is expected to end soon. One that does not is left alone.
fn ask(program: &str, args: &[String]) -> io::Result<Output> {
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn()?;
    let (sender, answer) = channel();
    thread::spawn(move || {
        // The receiver may have lost patience.
        let _ = sender.send(child.wait_with_output());
    });
    answer.recv_timeout(PATIENCE).unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}

/// The first line that a program wrote on standard error.
fn complaint(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr);
    said.lines().next().unwrap_or("it failed without a reason").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sandboxes_are_found_by_their_names() {
        let names: Vec<_> = SANDBOXES.iter().map(|sandbox| sandbox.name()).collect();
        assert_eq!(names, ["none", "home", "bwrap", "podman", "docker"]);
        assert_eq!(sandbox_named("bwrap").map(Sandbox::name), Some("bwrap"));
        assert!(sandbox_named("chroot").is_none());
    }

    #[test]
    fn every_file_of_the_room_is_in_the_list() {
        let room = concat!(env!("CARGO_MANIFEST_DIR"), "/src/sandbox");
        let parts = ["mod", "container", "private_entries", "program_paths"];
        for entry in Utf8PathBuf::from(room).read_dir_utf8().unwrap() {
            let entry = entry.unwrap();
            let stem = entry.path().file_stem().unwrap();
            assert!(parts.contains(&stem) || sandbox_named(stem).is_some(), "{stem}");
        }
    }
}
