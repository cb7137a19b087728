//! Containers of Podman.

use evalrig_core::model::ContainerSettings;

use super::container::{ContainerProgram, UserMapping};
use super::{ProgramStart, Sandbox, SandboxView, SandboxedProgram};

#[derive(Debug, Clone, Copy)]
pub struct Podman {
    program: &'static str,
}

impl Podman {
    pub const PROGRAM: Self = Self { program: "podman" };

    fn container(self) -> ContainerProgram<'static> {
        ContainerProgram { name: "podman", program: self.program, user: mapping() }
    }
}

/// Root inside of a container without root is the user outside.
fn mapping() -> UserMapping {
    #[cfg(unix)]
    if rustix::process::geteuid().is_root() {
        return UserMapping::SameIds;
    }
    UserMapping::KeepId
}

impl Sandbox for Podman {
    fn name(&self) -> &'static str {
        "podman"
    }

    fn is_container(&self) -> bool {
        true
    }

    fn available(&self, container: &ContainerSettings) -> Result<(), String> {
        self.container().available(container)
    }

    fn remove_stale(&self) {
        self.container().remove_stale();
    }

    fn wrap(&self, start: ProgramStart, view: &SandboxView) -> Result<SandboxedProgram, String> {
        self.container().wrap(start, view)
    }
}
