//! Files at paths that the user named. A device, a FIFO, a socket or a descriptor of this process is
//! written to as it is. A link is resolved once and stays; the file that it leads to is replaced.

use std::fs;
use std::io::{self, Write};

use camino::{Utf8Path, Utf8PathBuf};

use super::Access;
use super::replace::{Durability, FileDraft, directory_of, refusal};
use super::system::OpenFile;
#[cfg(unix)]
use super::write_at::occupant;
#[cfg(not(unix))]
use super::write_by_path::occupant;
use super::write_path::{Occupant, WritePath};

/// As many as Linux follows.
const MOST_LINKS: usize = 40;

/// What a path leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Destination {
    /// A regular file or a file that does not exist yet.
    File(Utf8PathBuf),
    Stream(Utf8PathBuf),
}

/// Output to a path that the user named.
#[derive(Debug)]
pub enum NamedOutput {
    /// In place once it is finished.
    Draft(FileDraft),
    Stream(OpenFile),
}

impl NamedOutput {
    /// The directory of the file must exist. Opening a FIFO waits for its reader.
    pub fn open(path: &Utf8Path, access: Access) -> io::Result<Self> {
        Ok(match destination(path)? {
            Destination::File(file) => Self::Draft(FileDraft::create(&file, access)?),
            Destination::Stream(stream) => Self::Stream(open_stream(&stream)?),
        })
    }

    pub fn finish(self, durability: Durability) -> io::Result<()> {
        match self {
            Self::Draft(draft) => draft.place(durability),
            Self::Stream(mut stream) => stream.flush(),
        }
    }

    /// As [`FileDraft::place_new`]. What is written to a stream replaces nothing.
    pub fn finish_new(self, durability: Durability) -> io::Result<()> {
        match self {
            Self::Draft(draft) => draft.place_new(durability),
            Self::Stream(mut stream) => stream.flush(),
        }
    }
}

impl Write for NamedOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Draft(draft) => draft.write(bytes),
            Self::Stream(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Draft(draft) => draft.flush(),
            Self::Stream(stream) => stream.flush(),
        }
    }
}

/// Writes a whole file to a path that the user named.
pub fn write_named(
    path: &Utf8Path,
    contents: &[u8],
    access: Access,
    durability: Durability,
) -> io::Result<()> {
    let mut output = NamedOutput::open(path, access)?;
    output.write_all(contents)?;
    output.finish(durability)
}

/// The file that a path leads to; the path itself where no link is in the way. Fails for a directory.
pub fn behind_links(path: &Utf8Path) -> io::Result<Utf8PathBuf> {
    match destination(path)? {
        Destination::File(path) | Destination::Stream(path) => Ok(path),
    }
}

/// Whether a path leads to a regular file that is not also a descriptor of this process.
pub fn is_plain_file(path: &Utf8Path) -> bool {
    matches!(destination(path), Ok(Destination::File(file)) if file.is_file())
}

/// Whether a path leads to a file that may be started.
#[cfg(unix)]
pub(crate) fn is_executable(path: &Utf8Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
pub(crate) fn is_executable(path: &Utf8Path) -> bool {
    path.is_file()
}

/// Opens a file that grows. The path has been resolved with [`behind_links`] or is one of ours: a
/// link is refused. A device, a FIFO or a descriptor that the user named is written to as it is.
pub fn open_to_append<'p>(path: impl Into<WritePath<'p>>, access: Access) -> io::Result<OpenFile> {
    let place = path.into();
    let is_named = place.root().is_none();
    if is_named && is_descriptor(place.path) {
        return open_stream(place.path);
    }
    match occupant(place) {
        Ok(Some(Occupant::Other)) if is_named => open_stream(place.path),
        Ok(Some(Occupant::File(_)) | None) | Err(_) => OpenFile::open_to_append(place, access),
        Ok(Some(found)) => Err(refusal(&found)),
    }
}

fn destination(path: &Utf8Path) -> io::Result<Destination> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        if is_descriptor(&path) {
            return Ok(Destination::Stream(path));
        }
        match fs::symlink_metadata(&path) {
            Ok(found) if found.is_symlink() => {
                path = directory_of(&path).join(path.read_link_utf8()?);
            }
            Ok(found) if found.is_file() => return Ok(Destination::File(path)),
            Ok(found) if found.is_dir() => return Err(refusal(&Occupant::Directory)),
            Ok(_) => return Ok(Destination::Stream(path)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Destination::File(path));
            }
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "too many links"))
}

/// `/dev/stdout`, `/dev/fd/N`, `/proc/self/fd/N` and the like. They look like links to regular files
/// when output is redirected to one, but that file belongs to the program that opened it.
fn is_descriptor(path: &Utf8Path) -> bool {
    if cfg!(not(unix)) {
        return false;
    }
    let is_named = matches!(path.as_str(), "/dev/stdin" | "/dev/stdout" | "/dev/stderr");
    let is_below = |parent: &Utf8Path| parent == "/dev/fd" || parent.starts_with("/proc");
    let real = || directory_of(path).canonicalize_utf8().is_ok_and(|real| is_below(&real));
    is_named || path.parent().is_some_and(is_below) || real()
}

/// Whether a path leads to standard output, as `/dev/stdout` does.
pub fn is_standard_output(path: &Utf8Path) -> bool {
    #[cfg(unix)]
    if let Ok(Destination::Stream(path)) = destination(path) {
        return own_descriptor(&path) == Some(1);
    }
    let _ = path;
    false
}

fn open_stream(path: &Utf8Path) -> io::Result<OpenFile> {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd;

        // A duplicate shares the position with everything else that is printed. Opening the path
        // again would also fail for sockets and for files of other users.
        let duplicate = match own_descriptor(path) {
            Some(1) => Some(io::stdout().as_fd().try_clone_to_owned()?),
            Some(2) => Some(io::stderr().as_fd().try_clone_to_owned()?),
            Some(number) => duplicate(number),
            None => None,
        };
        if let Some(duplicate) = duplicate {
            return Ok(OpenFile::of_descriptor(path, duplicate));
        }
    }
    OpenFile::open_stream(path)
}

/// The number of a descriptor of this process.
#[cfg(unix)]
fn own_descriptor(path: &Utf8Path) -> Option<i32> {
    match path.as_str() {
        "/dev/stdout" => Some(1),
        "/dev/stderr" => Some(2),
        path => {
            let number =
                path.strip_prefix("/dev/fd/").or_else(|| path.strip_prefix("/proc/self/fd/"))?;
            number.parse().ok()
        }
    }
}

#[cfg(target_os = "linux")]
fn duplicate(number: i32) -> Option<std::os::fd::OwnedFd> {
    use rustix::process::{PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};

    let own = pidfd_open(getpid(), PidfdFlags::empty()).ok()?;
    pidfd_getfd(own, number, PidfdGetfdFlags::empty()).ok()
}

#[cfg(all(unix, not(target_os = "linux")))]
fn duplicate(_: i32) -> Option<std::os::fd::OwnedFd> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{FileTypeExt, symlink};
    use std::os::unix::net::UnixListener;

    use super::*;

    fn write(path: &Utf8Path, text: &str) -> io::Result<()> {
        write_named(path, text.as_bytes(), Access::Shared, Durability::Unsynced)
    }

    fn with_directory(test: impl FnOnce(&Utf8Path)) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        test(Utf8Path::from_path(&path).unwrap());
    }

    #[test]
    fn a_link_is_resolved_once_and_stays() {
        with_directory(|directory| {
            fs::create_dir(directory.join("real")).unwrap();
            symlink("real", directory.join("folder")).unwrap();
            symlink("folder/second", directory.join("first")).unwrap();
            symlink("file", directory.join("real/second")).unwrap();
            // The file does not exist yet, then it does.
            for text in ["one", "two"] {
                write(&directory.join("first"), text).unwrap();
                assert_eq!(fs::read_to_string(directory.join("real/file")).unwrap(), text);
            }
            assert!(directory.join("first").is_symlink());
            assert!(directory.join("real/second").is_symlink());
            assert_eq!(fs::read_dir(directory.join("real")).unwrap().count(), 2);
            assert_eq!(fs::read_dir(directory).unwrap().count(), 3);
        });
    }

    #[test]
    fn a_circle_of_links_and_a_directory_are_errors() {
        with_directory(|directory| {
            symlink("b", directory.join("a")).unwrap();
            symlink("a", directory.join("b")).unwrap();
            assert_eq!(write(&directory.join("a"), "x").unwrap_err().to_string(), "too many links");
            let error = write(directory, "x").unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::IsADirectory);
            symlink(".", directory.join("here")).unwrap();
            let error = write(&directory.join("here"), "x").unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::IsADirectory);
        });
    }

    #[test]
    fn a_socket_is_not_replaced() {
        with_directory(|directory| {
            let path = directory.join("socket");
            let _listener = UnixListener::bind(&path).unwrap();
            assert!(write(&path, "x").is_err());
            assert!(fs::symlink_metadata(&path).unwrap().file_type().is_socket());
            assert_eq!(fs::read_dir(directory).unwrap().count(), 1);
        });
    }

    #[test]
    fn descriptors_are_recognised_by_every_name() {
        for path in ["/dev/stdout", "/dev/stderr", "/dev/fd/1", "/dev/fd/63", "/proc/self/fd/3"] {
            let stream = Destination::Stream(path.into());
            assert_eq!(destination(path.into()).unwrap(), stream, "{path}");
        }
        assert!(is_descriptor("/dev/../dev/fd/1".into()));
        assert!(!is_plain_file("/dev/stdout".into()));
        assert!(!is_descriptor("/dev/shm/file".into()));
        assert_eq!(
            destination("/dev/null".into()).unwrap(),
            Destination::Stream("/dev/null".into())
        );
        with_directory(|directory| {
            symlink("/dev/stdout", directory.join("out")).unwrap();
            let found = destination(&directory.join("out")).unwrap();
            assert_eq!(found, Destination::Stream("/dev/stdout".into()));
        });
    }

    #[test]
    fn a_descriptor_is_appended_to() {
        if !Utf8Path::new("/proc/self/fd").exists() {
            return;
        }
        with_directory(|directory| {
            use std::os::fd::AsRawFd;

            let path = directory.join("log");
            fs::write(&path, "before\n").unwrap();
            let open = fs::OpenOptions::new().append(true).open(&path).unwrap();
            let descriptor = Utf8PathBuf::from(format!("/proc/self/fd/{}", open.as_raw_fd()));
            write(&descriptor, "after\n").unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), "before\nafter\n");
            assert_eq!(fs::read_dir(directory).unwrap().count(), 1);
        });
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_socket_among_the_descriptors_is_written_to() {
        use std::io::Read;
        use std::os::fd::AsRawFd;
        use std::os::unix::net::UnixStream;

        let (ours, mut theirs) = UnixStream::pair().unwrap();
        write(&Utf8PathBuf::from(format!("/dev/fd/{}", ours.as_raw_fd())), "hello").unwrap();
        drop(ours);
        let mut text = String::new();
        theirs.read_to_string(&mut text).unwrap();
        assert_eq!(text, "hello");
    }

    #[test]
    fn a_file_that_grows_is_no_link() {
        with_directory(|directory| {
            let (file, link) = (directory.join("file"), directory.join("link"));
            assert!(!open_to_append(&file, Access::Private).unwrap().is_stream());
            symlink("file", &link).unwrap();
            assert!(open_to_append(&link, Access::Private).is_err());
            assert!(open_to_append(directory, Access::Private).is_err());
            assert_eq!(behind_links(&link).unwrap(), file);
            assert!(
                open_to_append(Utf8Path::new("/dev/null"), Access::Private).unwrap().is_stream()
            );
        });
    }
}
