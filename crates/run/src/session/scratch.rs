//! The directory for temporary files of a run; removed when the run is over.

use std::time::SystemTime;

use camino::{Utf8Path, Utf8PathBuf};

use super::error::SessionError;
use crate::disk::{Access, create_new_directory, remove_tree};

#[derive(Debug)]
pub(super) struct RunScratch(Utf8PathBuf);

impl RunScratch {
    pub(super) fn new() -> Result<Self, SessionError> {
        let parent = Utf8PathBuf::from_path_buf(std::env::temp_dir());
        let parent = parent.unwrap_or_else(|_| "/tmp".into());
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let nanos = since.map_or(0, |since| since.as_nanos());
        let path = parent.join(format!("evalrig-{}-{nanos:x}", std::process::id()));
        match create_new_directory(&path, Access::Private) {
            Ok(()) => Ok(Self(path)),
            Err(error) => Err(SessionError::Write(format!(
                "cannot create a directory for temporary files: {error}"
            ))),
        }
    }

    pub(super) fn path(&self) -> &Utf8Path {
        &self.0
    }
}

impl Drop for RunScratch {
    fn drop(&mut self) {
        let _ = remove_tree(&self.0);
    }
}
