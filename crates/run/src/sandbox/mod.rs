//! Sandboxes: what a program of a case sees of the machine (spec 17.4).
//!
//! A sandbox does not start anything. It turns the program that is to be started into another one, which
//! starts it inside of the sandbox; both run under the same supervision.

mod none;

use std::fmt;

use camino::Utf8PathBuf;
use evalrig_core::model::ContainerSettings;

pub use none::NoSandbox;

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
    /// What an agent needs from places that are hidden otherwise, such as its own installation below the
    /// user's home; absolute.
    pub readable: Vec<Utf8PathBuf>,
    pub network: NetworkAccess,
    pub container: ContainerSettings,
}

/// A way to confine programs. Reasons are messages for users.
pub trait Sandbox: fmt::Debug + Send + Sync {
    /// As it is written in `sandbox`.
    fn name(&self) -> &'static str;

    /// Whether it works here, to be asked before anything is called.
    fn available(&self) -> Result<(), String>;

    /// What to start instead.
    fn wrap(&self, start: ProgramStart, view: &SandboxView) -> Result<ProgramStart, String>;
}

/// A sandbox with what is seen in it.
#[derive(Debug, Clone, Copy)]
pub struct SandboxUse<'a> {
    pub sandbox: &'a dyn Sandbox,
    pub view: &'a SandboxView,
}
