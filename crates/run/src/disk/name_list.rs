//! The names in a directory, in few allocations: a walk reads one directory after the other into the same
//! list.

use std::ffi::CStr;
use std::io;
use std::os::fd::BorrowedFd;

use rustix::fs::FileType;

/// Names and kinds of the entries of a directory, without `.` and `..`.
#[derive(Default)]
pub(super) struct NameList {
    /// Every name with its NUL, one after the other.
    bytes: Vec<u8>,
    entries: Vec<ListedName>,
    #[cfg(any(target_os = "linux", target_os = "android"))]
    buffer: Vec<u8>,
}

#[derive(Debug, Clone, Copy)]
struct ListedName {
    start: usize,
    /// After the NUL.
    end: usize,
    kind: FileType,
}

/// What one call of the kernel may fill.
#[cfg(any(target_os = "linux", target_os = "android"))]
const BUFFER: usize = 32 * 1024;

impl NameList {
    /// Replaces the names with those of a directory, which was not read before.
    pub(super) fn read(&mut self, directory: BorrowedFd<'_>) -> io::Result<()> {
        self.bytes.clear();
        self.entries.clear();
        self.read_all(directory)
    }

    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn read_all(&mut self, directory: BorrowedFd<'_>) -> io::Result<()> {
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.reserve(BUFFER);
        let mut names = rustix::fs::RawDir::new(directory, buffer.spare_capacity_mut());
        while let Some(entry) = names.next() {
            let entry = entry?;
            self.push(entry.file_name(), entry.file_type());
        }
        self.buffer = buffer;
        Ok(())
    }

    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    fn read_all(&mut self, directory: BorrowedFd<'_>) -> io::Result<()> {
        for entry in rustix::fs::Dir::read_from(directory)? {
            let entry = entry?;
            self.push(entry.file_name(), entry.file_type());
        }
        Ok(())
    }

    fn push(&mut self, name: &CStr, kind: FileType) {
        if matches!(name.to_bytes(), b"." | b"..") {
            return;
        }
        let start = self.bytes.len();
        self.bytes.extend_from_slice(name.to_bytes_with_nul());
        self.entries.push(ListedName { start, end: self.bytes.len(), kind });
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&CStr, FileType)> {
        self.entries.iter().map(|entry| {
            let name = CStr::from_bytes_with_nul(&self.bytes[entry.start..entry.end]);
            (name.unwrap_or_default(), entry.kind)
        })
    }

    pub(super) fn contains(&self, name: &CStr) -> bool {
        let name = name.to_bytes_with_nul();
        self.entries.iter().any(|entry| &self.bytes[entry.start..entry.end] == name)
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn a_large_directory_is_read_whole_and_the_list_can_be_used_again() {
        let folder = tempfile::tempdir().unwrap();
        let expected = |count: usize| (0..count).map(|at| format!("{at:0200}")).collect::<Vec<_>>();
        let mut list = NameList::default();
        for count in [500, 2] {
            let directory = folder.path().join(count.to_string());
            fs::create_dir(&directory).unwrap();
            for name in expected(count) {
                fs::write(directory.join(name), "").unwrap();
            }
            list.read(File::open(&directory).unwrap().as_fd()).unwrap();
            let mut names: Vec<_> =
                list.iter().map(|(name, _)| name.to_str().unwrap().to_owned()).collect();
            names.sort();
            assert_eq!(names, expected(count));
            assert!(!list.contains(c"0") && !list.contains(c"."));
        }
        fs::create_dir(folder.path().join("2/d")).unwrap();
        list.read(File::open(folder.path().join("2")).unwrap().as_fd()).unwrap();
        assert!(list.contains(c"d"));
        let kind = list.iter().find(|(name, _)| *name == c"d").unwrap().1;
        assert!(matches!(kind, FileType::Directory | FileType::Unknown));
    }
}
