//! Whether two sides of a comparison are the same results: the same files, or copies of them.

use std::fs::File;
use std::io::{self, BufRead, BufReader};

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::source::Reach;

use crate::disk::open_regular;

/// Files that cannot be read differ.
pub fn are_same_results(base: &[Utf8PathBuf], candidate: &[Utf8PathBuf]) -> bool {
    let has_same = |file: &Utf8PathBuf, others: &[Utf8PathBuf]| {
        others.iter().any(|other| is_same_file(file, other).unwrap_or(false))
    };
    base.len() == candidate.len()
        && !base.is_empty()
        && base.iter().all(|file| has_same(file, candidate))
        && candidate.iter().all(|file| has_same(file, base))
}

fn is_same_file(one: &Utf8Path, other: &Utf8Path) -> io::Result<bool> {
    if one == other {
        return Ok(true);
    }
    let [one, other] = [one, other].map(|path| open_regular(path, Reach::Anywhere));
    let (one, other) = (one?, other?);
    Ok(one.metadata()?.len() == other.metadata()?.len() && has_same_bytes(one, other)?)
}

fn has_same_bytes(one: File, other: File) -> io::Result<bool> {
    let (mut one, mut other) = (BufReader::new(one), BufReader::new(other));
    loop {
        let (left, right) = (one.fill_buf()?, other.fill_buf()?);
        let length = left.len().min(right.len());
        if length == 0 {
            return Ok(left.len() == right.len());
        }
        if left[..length] != right[..length] {
            return Ok(false);
        }
        one.consume(length);
        other.consume(length);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_copy_is_the_same_and_files_may_be_in_any_order() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(folder.path()).unwrap();
        for (name, text) in [("a", "one\n"), ("copy", "one\n"), ("b", "two\n"), ("c", "three\n")] {
            fs::write(folder.join(name), text).unwrap();
        }
        let files = |names: &[&str]| names.iter().map(|name| folder.join(name)).collect::<Vec<_>>();
        let same = |one: &[&str], other: &[&str]| are_same_results(&files(one), &files(other));
        assert!(same(&["a"], &["a"]) && same(&["a"], &["copy"]));
        assert!(same(&["a", "b"], &["b", "copy"]));
        for (one, other) in [
            (&["a"][..], &["b"][..]),
            (&["a"], &["c"]),
            (&["a"], &["a", "b"]),
            (&[], &[]),
            (&["a"], &["none"]),
        ] {
            assert!(!same(one, other), "{one:?} {other:?}");
        }
    }
}
