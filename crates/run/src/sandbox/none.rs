//! No sandbox: programs see what evalrig sees.

use super::{ProgramStart, Sandbox, SandboxView};

#[derive(Debug, Clone, Copy)]
pub struct NoSandbox;

impl Sandbox for NoSandbox {
    fn name(&self) -> &'static str {
        "none"
    }

    fn available(&self) -> Result<(), String> {
        Ok(())
    }

    fn wrap(&self, start: ProgramStart, _: &SandboxView) -> Result<ProgramStart, String> {
        Ok(start)
    }
}
