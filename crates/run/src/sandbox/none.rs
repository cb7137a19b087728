//! No sandbox: programs see what evalrig sees.

use evalrig_core::model::ContainerSettings;

use super::{ProgramStart, Sandbox, SandboxView, SandboxedProgram};

#[derive(Debug, Clone, Copy)]
pub struct NoSandbox;

impl Sandbox for NoSandbox {
    fn name(&self) -> &'static str {
        "none"
    }

    fn available(&self, _: &ContainerSettings) -> Result<(), String> {
        Ok(())
    }

    fn wrap(&self, start: ProgramStart, _: &SandboxView) -> Result<SandboxedProgram, String> {
        Ok(start.into())
    }
}
