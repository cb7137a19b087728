//! `validate --fix`: shows or writes the fixed files. Nothing is written before the whole
//! result has been read again and found no worse.

use evalrig_core::repair::{Overlay, Repaired};
use evalrig_core::source::Files;
use evalrig_run::disk::{Disk, Durability, behind_link, replace};

use crate::command::Check;
use crate::context::{Context, print_text, report_error};
use crate::exit::Exit;
use crate::render::patch;

/// Writes every changed file.
pub fn write(files: &Overlay<'_>) -> Result<(), Exit> {
    for (path, bytes) in files.texts() {
        // A link stays a link.
        let file = behind_link(path);
        if let Err(error) = replace(&file, bytes, Durability::Contents) {
            report_error(&format!("cannot write `{path}`: {error}"));
            return Err(Exit::CouldNotStart);
        }
    }
    Ok(())
}

/// Prints what would change.
pub fn show(context: &Context, repaired: &Repaired<'_, Check>) -> Result<Exit, Exit> {
    for (path, bytes) in repaired.files.texts() {
        let before = Disk.read(path, u64::MAX).unwrap_or_default();
        let shown = path
            .strip_prefix(&context.working_directory)
            .unwrap_or(path);
        let diff = patch::unified(
            shown.as_str(),
            &String::from_utf8_lossy(&before),
            &String::from_utf8_lossy(bytes),
            context.look().color,
        );
        print_text(&repaired.reading.findings.secrets().redact(&diff))?;
    }
    let is_unchanged = repaired.files.texts().len() == 0;
    if is_unchanged && repaired.reading.findings.diagnostics().errors() == 0 {
        Ok(Exit::Success)
    } else {
        Ok(Exit::Failure)
    }
}
