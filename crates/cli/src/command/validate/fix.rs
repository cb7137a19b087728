//! `validate --fix`: writes the repaired files, or prints them as a patch. The caller has already
//! read the result again, so what is written has no new errors.

use std::io;

use camino::Utf8Path;
use evalrig_core::repair::{Overlay, Repaired};
use evalrig_core::source::{Files, Reach};
use evalrig_run::disk::{Access, Disk, Durability, WritePath, replace};

use crate::args::Validate;
use crate::context::Context;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::print_patch;
use crate::render::patch;

use super::Check;

/// Writes every changed file: behind its links, which stay, and inside its repository unless it was
/// read from elsewhere.
pub fn write(context: &Context, args: &Validate, files: &Overlay<'_>) -> Result<(), CommandError> {
    for (path, bytes) in files.texts() {
        let root = context.root(&args.loading, path);
        replace_text(&root, path, bytes)
            .map_err(|error| CommandError::cannot_write(path.as_str(), &error))?;
    }
    Ok(())
}

fn replace_text(root: &Utf8Path, path: &Utf8Path, bytes: &[u8]) -> io::Result<()> {
    let (root, path) = (root.canonicalize_utf8()?, path.canonicalize_utf8()?);
    let is_inside = path.starts_with(&root);
    let place = if is_inside { WritePath::inside(&root, &path) } else { path.as_path().into() };
    replace(place, bytes, Access::Shared, Durability::Contents)
}

/// Prints the changes as a patch.
pub fn show(context: &Context, repaired: &Repaired<'_, Check>) -> Result<Exit, CommandError> {
    for (path, bytes) in repaired.files.texts() {
        let before = Disk.read(path, Reach::Anywhere, u64::MAX).unwrap_or_default();
        let shown = path.strip_prefix(&context.working_directory).unwrap_or(path);
        let diff = patch::unified(
            shown.as_str(),
            &String::from_utf8_lossy(&before),
            &String::from_utf8_lossy(bytes),
            context.look().color,
        );
        print_patch(&repaired.reading.findings.secrets().redact(&diff))?;
    }
    let is_unchanged = repaired.files.texts().len() == 0;
    if is_unchanged && repaired.reading.findings.diagnostics().errors() == 0 {
        Ok(Exit::Success)
    } else {
        Ok(Exit::Failure)
    }
}
