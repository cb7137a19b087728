//! One digest of everything below a directory.

use std::fs;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::digest::hex;
use sha2::{Digest, Sha256};

use super::Fingerprint;

/// A larger directory has no digest.
const MOST_FILES: usize = 20_000;

/// Of paths, contents and the targets of links. `None` if something cannot be read, or is neither a file,
/// a directory nor a link. Paths that are left out may be anything.
pub(crate) fn tree_digest(
    directory: &Utf8Path,
    leaves_out: &dyn Fn(&[u8]) -> bool,
) -> Option<String> {
    let mut digest = Sha256::new();
    let mut open = vec![Utf8PathBuf::new()];
    let mut seen = 0;
    while let Some(below) = open.pop() {
        let mut names = Vec::new();
        for entry in fs::read_dir(directory.join(&below)).ok()? {
            names.push(entry.ok()?.file_name().into_string().ok()?);
        }
        names.sort_unstable();
        for path in names.into_iter().map(|name| below.join(name)) {
            if leaves_out(path.as_str().as_bytes()) {
                continue;
            }
            seen += 1;
            if seen > MOST_FILES {
                return None;
            }
            let place = directory.join(&path);
            let kind = fs::symlink_metadata(&place).ok()?.file_type();
            let content = if kind.is_symlink() {
                format!("link {}", fs::read_link(&place).ok()?.to_str()?)
            } else if kind.is_file() {
                format!("file {}", Fingerprint::of_path(&place)?.text())
            } else if kind.is_dir() {
                open.push(path.clone());
                "directory".to_owned()
            } else {
                return None;
            };
            digest.update(format!("{path}\0{content}\0"));
        }
    }
    Some(hex(&digest.finalize()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_contents_count_and_places_do_not() {
        let held = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::from_path_buf(held.path().to_owned()).unwrap();
        let digest = |name: &str, files: &[(&str, &str)]| {
            for (path, text) in files {
                let path = root.join(name).join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            tree_digest(&root.join(name), &|path| path == b"out").unwrap()
        };
        let one = digest("a", &[("x", "1"), ("d/y", "2")]);
        assert_eq!(one, digest("b", &[("d/y", "2"), ("x", "1")]));
        assert_ne!(one, digest("c", &[("x", "1"), ("d/y", "3")]));
        assert_ne!(one, digest("d", &[("x", "1"), ("d/z", "2")]));
        assert_eq!(one, digest("e", &[("x", "1"), ("d/y", "2"), ("out/z", "3")]));
        assert_ne!(one, digest("f", &[("x", "1"), ("d/y", "2"), ("d/out", "3")]));
        assert_eq!(tree_digest(&root.join("none"), &|_| false), None);
    }
}
