//! Every file below a directory.

use camino::{Utf8Path, Utf8PathBuf};

use super::files::{EntryKind, Files, Reach};

/// What is below a directory, relative to it and in byte order. Names that are not UTF-8 are left
/// out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TreeListing {
    pub files: Vec<String>,
    /// Directories, and links that lead to a directory or nowhere.
    pub others: Vec<String>,
    /// Links that lead out of the directory.
    pub outside: Vec<String>,
    /// Other links whose targets are absolute: a copy of the directory would lead back to it.
    pub absolute: Vec<String>,
    /// Neither files, directories nor links: FIFOs, sockets, devices.
    pub special: Vec<String>,
    /// `false` if there are more files than the limit, or a directory could not be listed.
    pub is_complete: bool,
}

/// Lists at most `limit` names. Links to directories are not followed.
pub fn list_tree(files: &dyn Files, directory: &Utf8Path, limit: usize) -> TreeListing {
    // The directory itself may be reached through a link.
    let root = files.canonicalize(directory).unwrap_or_else(|_| directory.to_owned());
    let mut tree = TreeListing { is_complete: true, ..TreeListing::default() };
    let (mut open, mut names) = (vec![Utf8PathBuf::new()], 0_usize);
    while let Some(below) = open.pop() {
        let Ok(listing) = files.list(&root.join(&below), Reach::Inside(&root)) else {
            tree.is_complete = false;
            continue;
        };
        for entry in listing.entries {
            names += 1;
            if names > limit {
                tree.is_complete = false;
                open.clear();
                break;
            }
            let path = below.join(&entry.name);
            if entry.is_absolute_link && entry.kind != EntryKind::Outside {
                tree.absolute.push(path.to_string());
            }
            match entry.kind {
                EntryKind::Directory if !entry.is_link => {
                    tree.others.push(path.to_string());
                    open.push(path);
                }
                EntryKind::File => tree.files.push(path.into_string()),
                EntryKind::Outside => tree.outside.push(path.into_string()),
                EntryKind::Directory | EntryKind::Other if entry.is_link => {
                    tree.others.push(path.into_string());
                }
                EntryKind::Other => tree.special.push(path.into_string()),
                EntryKind::Directory => {}
            }
        }
    }
    tree.files.sort();
    tree.others.sort();
    tree.outside.sort();
    tree.absolute.sort();
    tree.special.sort();
    tree
}

#[cfg(test)]
mod tests {
    use super::super::MemoryFiles;
    use super::*;

    fn files() -> MemoryFiles {
        ["a", "b/c", "b/d/e", "b.txt"]
            .iter()
            .fold(MemoryFiles::new(), |files, path| files.with(&format!("/p/t/{path}"), ""))
            .with("/p/other", "")
    }

    #[test]
    fn files_are_relative_and_in_byte_order() {
        let tree = list_tree(&files(), "/p/t".into(), 100);
        assert_eq!(tree.files, ["a", "b.txt", "b/c", "b/d/e"]);
        assert_eq!(tree.others, ["b", "b/d"]);
        assert!(tree.is_complete);
    }

    #[test]
    fn a_limit_makes_the_tree_incomplete() {
        // Six names: four files and two directories.
        assert!(list_tree(&files(), "/p/t".into(), 6).is_complete);
        let tree = list_tree(&files(), "/p/t".into(), 5);
        assert!(!tree.is_complete && tree.files.len() < 4);
    }
}
