//! Containers of Docker.

use evalrig_core::model::ContainerSettings;

use super::container::{ContainerProgram, UserMapping};
use super::{ProgramStart, Sandbox, SandboxView, SandboxedProgram};

#[derive(Debug, Clone, Copy)]
pub struct Docker {
    program: &'static str,
}

impl Docker {
    pub const PROGRAM: Self = Self { program: "docker" };

    fn container(self) -> ContainerProgram<'static> {
        ContainerProgram { name: "docker", program: self.program, user: UserMapping::SameIds }
    }
}

impl Sandbox for Docker {
    fn name(&self) -> &'static str {
        "docker"
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
