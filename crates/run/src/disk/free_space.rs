//! How much room a file system has left.

use std::io;

use camino::Utf8Path;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FreeSpace {
    /// Of the family ext2 to ext4.
    pub is_ext: bool,
    pub bytes: u64,
    /// Files that can still be created.
    pub files: u64,
}

impl FreeSpace {
    /// That of the file system in which `path` is.
    #[cfg(target_os = "linux")]
    pub(crate) fn around(path: &Utf8Path) -> io::Result<Self> {
        const EXT_MAGIC: u64 = 0xEF53;
        let found = rustix::fs::statfs(path.as_std_path())?;
        let positive = |number: i64| u64::try_from(number).unwrap_or(0);
        Ok(Self {
            is_ext: positive(found.f_type) == EXT_MAGIC,
            bytes: found.f_bavail.saturating_mul(positive(found.f_bsize)),
            files: found.f_ffree,
        })
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn around(_: &Utf8Path) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
