//! A home of its own and nothing else: the caller sets `HOME`, and programs see the whole file system.

use evalrig_core::model::ContainerSettings;

use super::{ProgramStart, Sandbox, SandboxView, SandboxedProgram};

#[derive(Debug, Clone, Copy)]
pub struct HomeOnly;

impl Sandbox for HomeOnly {
    fn name(&self) -> &'static str {
        "home"
    }

    fn available(&self, _: &ContainerSettings) -> Result<(), String> {
        Ok(())
    }

    fn wrap(&self, start: ProgramStart, _: &SandboxView) -> Result<SandboxedProgram, String> {
        Ok(start.into())
    }
}
