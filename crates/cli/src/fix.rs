//! `validate --fix`: shows or writes what the fixes came to. Nothing is written before the whole
//! result has been read again and found no worse.

use std::fs;
use std::io::{self, Write};

use camino::Utf8Path;
use evalrig_core::repair::{Overlay, Repaired};
use evalrig_core::source::Files;
use evalrig_run::disk::Disk;

use crate::command::Check;
use crate::context::{Context, complain, print};
use crate::exit::Exit;
use crate::render::patch;

/// Writes every changed file.
pub fn write(files: &Overlay<'_>) -> Result<(), Exit> {
    for (path, bytes) in files.texts() {
        if let Err(error) = replace(path, bytes) {
            complain(&format!("cannot write `{path}`: {error}"));
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
        print(&repaired.reading.findings.secrets().redact(&diff))?;
    }
    let is_unchanged = repaired.files.texts().len() == 0;
    if is_unchanged && repaired.reading.findings.diagnostics().errors() == 0 {
        Ok(Exit::Well)
    } else {
        Ok(Exit::No)
    }
}

/// By a temporary file and a rename, so that a crash leaves the old file or the new one.
fn replace(path: &Utf8Path, bytes: &[u8]) -> io::Result<()> {
    // A link stays a link: the file behind it is what is replaced.
    let path = path.canonicalize_utf8()?;
    let name = path.file_name().unwrap_or("suite");
    let temporary = path.with_file_name(format!(".{name}.evalrig-{}", std::process::id()));
    let permissions = fs::metadata(&path)?.permissions();
    let written = fs::File::create_new(&temporary).and_then(|mut file| {
        file.write_all(bytes)?;
        file.set_permissions(permissions)?;
        file.sync_all()
    });
    let renamed = written.and_then(|()| fs::rename(&temporary, &path));
    if renamed.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    renamed
}
