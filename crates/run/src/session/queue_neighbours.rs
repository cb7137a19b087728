//! Files beside a script, which it may import: a run with a queue sends them too, so that the script does on
//! a worker what it does here. Within reason: what a directory holds besides code may be anything.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::secrets::is_env_file;
use evalrig_core::source::{EntryKind, Files as _, Reach};

use crate::disk::Disk;
use crate::queue::BundleFile;

/// More is data, and not what a script imports.
const MOST_FILES: usize = 1000;
const MOST_BYTES: u64 = 16 * 1024 * 1024;

/// Entries that are looked at in one directory tree.
const MOST_ENTRIES: usize = 100_000;

/// Written by programs, or installed: a worker has its own.
const LEFT_OUT: &[&str] = &["__pycache__", "node_modules", "target", "venv"];

/// Keys that are not meant to leave this machine.
const KEY_EXTENSIONS: &[&str] = &["key", "p12", "pem", "pfx"];

/// Of files that are read and import nothing, such as schemas.
const DATA_EXTENSIONS: &[&str] = &["json", "jsonl", "yaml", "yml"];

/// What of a directory is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted<'a> {
    Everything,
    /// Files with this extension.
    Code(&'a str),
}

/// Adds the files in the directories of these scripts, and below. Returns what the user should know.
pub(super) fn add_neighbours(
    scripts: &BTreeSet<Utf8PathBuf>,
    root: &Utf8Path,
    files: &mut BTreeSet<BundleFile>,
) -> Vec<String> {
    let mut notices = Vec::new();
    let mut done: BTreeSet<(&Utf8Path, Option<&str>)> = BTreeSet::new();
    for script in scripts {
        let Some(directory) = script.parent().filter(|parent| parent.starts_with(root)) else {
            continue;
        };
        if script.extension().is_some_and(|extension| DATA_EXTENSIONS.contains(&extension)) {
            continue;
        }
        if done.contains(&(directory, None)) {
            continue;
        }
        if let Some(found) = files_below(directory, Wanted::Everything) {
            files.extend(found.into_iter().map(BundleFile::Neighbour));
            done.insert((directory, None));
            continue;
        }
        if !done.insert((directory, script.extension())) {
            continue;
        }
        let code = script.extension().map(Wanted::Code);
        let found = code.and_then(|code| files_below(directory, code));
        let sent = match (&found, script.extension()) {
            (Some(_), Some(extension)) => format!("only `.{extension}` files of it are sent"),
            _ => "only the script is sent".to_owned(),
        };
        files.extend(found.into_iter().flatten().map(BundleFile::Neighbour));
        let script = script.strip_prefix(root).unwrap_or(script);
        notices.push(format!(
            "the directory of `{script}` has more than {MOST_FILES} files or {} MiB, so {sent} to workers; \
             --queue-include names what else the script needs",
            MOST_BYTES / 1024 / 1024
        ));
    }
    notices
}

/// `None` if there are too many. Links are left out: they may lead anywhere.
fn files_below(directory: &Utf8Path, wanted: Wanted<'_>) -> Option<Vec<Utf8PathBuf>> {
    let (mut found, mut open) = (Vec::new(), vec![directory.to_owned()]);
    let (mut bytes, mut entries) = (0u64, 0);
    while let Some(directory) = open.pop() {
        // What cannot be listed cannot be imported.
        let Ok(listing) = Disk.list(&directory, Reach::Anywhere) else { continue };
        for entry in listing.entries {
            entries += 1;
            if entries > MOST_ENTRIES {
                return None;
            }
            if entry.is_link || is_left_out(&entry.name) {
                continue;
            }
            let path = directory.join(&entry.name);
            match entry.kind {
                EntryKind::Directory => open.push(path),
                EntryKind::File if is_wanted(&path, wanted) => {
                    bytes = bytes.saturating_add(path.metadata().map_or(0, |found| found.len()));
                    found.push(path);
                }
                _ => {}
            }
            if found.len() > MOST_FILES || bytes > MOST_BYTES {
                return None;
            }
        }
    }
    Some(found)
}

fn is_wanted(path: &Utf8Path, wanted: Wanted<'_>) -> bool {
    match wanted {
        Wanted::Everything => true,
        Wanted::Code(extension) => path.extension() == Some(extension),
    }
}

fn is_left_out(name: &str) -> bool {
    let extension = name.rsplit_once('.').map(|(_, extension)| extension);
    let is_key = extension.is_some_and(|extension| KEY_EXTENSIONS.contains(&extension));
    name.starts_with('.') || LEFT_OUT.contains(&name) || is_env_file(name) || is_key
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn neighbours(root: &Utf8Path, script: &str) -> (Vec<String>, Vec<String>) {
        let (mut files, scripts) = (BTreeSet::new(), BTreeSet::from([root.join(script)]));
        let notices = add_neighbours(&scripts, root, &mut files);
        let names = files.into_iter().filter_map(|file| match file {
            BundleFile::Neighbour(path) => Some(path.strip_prefix(root).ok()?.to_string()),
            _ => None,
        });
        (names.collect(), notices)
    }

    #[test]
    fn what_a_script_may_import_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap();
        for file in [
            "judges/mine.py",
            "judges/helper.py",
            "judges/lib/deep.py",
            "judges/data.json",
            "judges/.env",
            "judges/.git/config",
            "judges/server.pem",
            "judges/__pycache__/mine.pyc",
            "other.py",
        ] {
            let path = root.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        let expected =
            ["judges/data.json", "judges/helper.py", "judges/lib/deep.py", "judges/mine.py"];
        let (found, notices) = neighbours(root, "judges/mine.py");
        assert_eq!((found, notices.len()), (expected.map(str::to_owned).to_vec(), 0));
        // A script of another repository brings nothing.
        assert_eq!(neighbours(&root.join("judges/lib"), root.join("other.py").as_str()).0, [""; 0]);
    }

    #[test]
    fn of_a_large_directory_only_code_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap();
        for number in 0..=MOST_FILES {
            fs::write(root.join(format!("{number}.txt")), "x").unwrap();
        }
        fs::write(root.join("agent.py"), "x").unwrap();
        fs::write(root.join("helper.py"), "x").unwrap();
        let (found, notices) = neighbours(root, "agent.py");
        assert_eq!(found, ["agent.py", "helper.py"]);
        assert!(notices[0].contains("only `.py` files of it are sent"), "{notices:?}");
        assert!(notices[0].contains("--queue-include"), "{notices:?}");
        let (found, notices) = neighbours(root, "agent.txt");
        assert_eq!(found, [""; 0]);
        assert!(notices[0].contains("only the script is sent"), "{notices:?}");
    }
}
