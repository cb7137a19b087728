//! Every file of a workspace but those in `.git`: also what is not evidence, such as build output that
//! `.gitignore` excludes (spec 7.25).

use std::io;

use camino::Utf8Path;
use evalrig_core::model::Fault;

use crate::disk::{NodeKind, TreeEntry, TreeVisitor, UnreadableDirectory, walk_tree};

use super::file_name::shown_name;
use super::place::io_fault;

/// Files and links, in byte order.
pub(super) fn list_files(root: &Utf8Path) -> Result<Vec<String>, Fault> {
    let mut list = FileList::default();
    let walked = walk_tree(root.into(), UnreadableDirectory::UnlockToRead, &mut list);
    walked.map_err(|error| io_fault("cannot read the workspace", &error))?;
    list.0.sort_unstable();
    Ok(list.0)
}

#[derive(Default)]
struct FileList(Vec<String>);

fn is_git(path: &[u8]) -> bool {
    path.rsplit(|byte| *byte == b'/').next() == Some(b".git")
}

impl TreeVisitor for FileList {
    fn wants(&mut self, path: &[u8]) -> bool {
        !is_git(path)
    }

    fn visit(&mut self, entry: &TreeEntry<'_>) -> io::Result<()> {
        if matches!(entry.kind, NodeKind::File | NodeKind::Link) && !is_git(entry.path) {
            self.0.push(shown_name(entry.path).into_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use camino::Utf8PathBuf;

    use super::*;

    #[test]
    fn only_git_directories_are_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
        let files =
            [".git/HEAD", ".gitignore", "dist/app.js", "sub/.git/x", "sub/a", "tree/.git", ".env"];
        for path in files {
            fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            fs::write(root.join(path), "*").unwrap();
        }
        fs::create_dir(root.join("empty")).unwrap();
        std::os::unix::fs::symlink("nowhere", root.join("link")).unwrap();
        let expected = [".env", ".gitignore", "dist/app.js", "link", "sub/a"];
        assert_eq!(list_files(&root).unwrap(), expected);
    }
}
