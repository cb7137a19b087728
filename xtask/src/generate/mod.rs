//! Generated files that are committed, for readers who cannot run the binary. A test fails when one
//! is out of date.

mod binary;
mod prices;
mod reference;
mod schema;

use std::fs;
use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_run::disk::{Access, Durability, WritePath, create_directory_of, remove_file, replace};

pub use binary::Evalrig;

/// Directories that hold generated files only; the commands of the binary decide which.
const OWN: &[&str] = &["completions", "man"];

/// A file as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Generated {
    /// From the directory of the workspace.
    pub path: Utf8PathBuf,
    pub content: Vec<u8>,
}

/// Everything that is generated.
pub fn all(evalrig: &Evalrig) -> Result<Vec<Generated>, String> {
    let mut files = schema::files();
    files.extend(reference::files());
    files.push(prices::file()?);
    files.extend(binary::files(evalrig)?);
    Ok(files)
}

/// Writes files that differ and removes those that are no longer generated; returns how many. Nothing
/// outside of the workspace is touched, whatever links are in it.
pub fn bless(workspace: &Utf8Path, files: &[Generated]) -> io::Result<usize> {
    let changed = stale(workspace, files);
    for path in &changed {
        let place = workspace.join(path);
        let inside = WritePath::inside(workspace, &place);
        match files.iter().find(|file| file.path == *path) {
            Some(file) => {
                create_directory_of(inside, Access::Shared)?;
                replace(inside, &file.content, Access::Shared, Durability::Contents)?;
            }
            None => remove_file(inside)?,
        }
    }
    Ok(changed.len())
}

/// The files that differ from what they should be, are missing, or should not be there.
pub fn stale(workspace: &Utf8Path, files: &[Generated]) -> Vec<Utf8PathBuf> {
    let differing = files
        .iter()
        .filter(|file| {
            let found = fs::read(workspace.join(&file.path));
            found.ok().as_ref() != Some(&file.content)
        })
        .map(|file| file.path.clone());
    let left_over = OWN
        .iter()
        .flat_map(|directory| names_in(&workspace.join(directory), directory))
        .filter(|path| !files.iter().any(|file| file.path == *path));
    differing.chain(left_over).collect()
}

fn names_in(place: &Utf8Path, directory: &str) -> Vec<Utf8PathBuf> {
    let entries = place.read_dir_utf8().into_iter().flatten().flatten();
    let mut names: Vec<_> =
        entries.map(|entry| Utf8Path::new(directory).join(entry.file_name())).collect();
    names.sort();
    names
}

/// The message for files that are out of date.
pub fn complaint(stale: &[Utf8PathBuf]) -> String {
    let mut text = String::from("generated files are out of date:\n");
    for path in stale {
        text.push_str(&format!("  {path}\n"));
    }
    text + "run `cargo xtask bless` and commit the result"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stale_files_are_named_and_blessing_makes_them_fresh() {
        let directory = tempfile::tempdir().unwrap();
        let workspace = Utf8Path::from_path(directory.path()).unwrap();
        let file = |path: &str| Generated { path: path.into(), content: "new\n".into() };
        let files = [file("man/a.1"), file("schema/b.json")];
        for (path, text) in [("man/a.1", "old\n"), ("man/gone.1", "")] {
            fs::create_dir_all(workspace.join("man")).unwrap();
            fs::write(workspace.join(path), text).unwrap();
        }
        let stale = stale(workspace, &files);
        assert_eq!(stale, ["man/a.1", "schema/b.json", "man/gone.1"]);
        assert!(complaint(&stale).contains("cargo xtask bless"));
        assert_eq!(bless(workspace, &files).unwrap(), 3);
        assert_eq!(super::stale(workspace, &files), [""; 0]);
    }
    #[cfg(unix)]
    #[test]
    fn blessing_follows_no_link() {
        let (directory, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let workspace = Utf8Path::from_path(directory.path()).unwrap();
        let target = outside.path().join("a.json");
        fs::write(&target, "mine\n").unwrap();
        fs::create_dir(workspace.join("schema")).unwrap();
        std::os::unix::fs::symlink(&target, workspace.join("schema/a.json")).unwrap();
        std::os::unix::fs::symlink(outside.path(), workspace.join("docs")).unwrap();
        for path in ["schema/a.json", "docs/a.json", "docs/new/b.md"] {
            let files = [Generated { path: path.into(), content: "new\n".into() }];
            assert!(bless(workspace, &files).is_err(), "{path}");
        }
        assert_eq!(fs::read_to_string(&target).unwrap(), "mine\n");
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
    }
}
