//! What a power cut leaves of a directory: what was synced, and of the rest as much as the file
//! system happened to write. Contents are synced by a sync of the file, names by one of the directory.

use std::collections::BTreeMap;
use std::fs;

use camino::{Utf8Path, Utf8PathBuf};

use super::RecordedOperation;

/// Which of the things that were not synced survive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PowerCut {
    Nothing,
    /// As after a rename without a sync of the file.
    Names,
    Contents,
    /// As after the death of the process.
    Everything,
    /// Names, and half of what was written.
    Half,
    /// Names and lengths; the contents are zeros.
    Lengths,
}

impl PowerCut {
    pub(super) const ALL: [Self; 6] =
        [Self::Nothing, Self::Names, Self::Contents, Self::Everything, Self::Half, Self::Lengths];
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Entry {
    Directory,
    File(Vec<u8>),
    Link(String),
}

/// Paths below the root.
pub(super) type DirectoryState = BTreeMap<Utf8PathBuf, Entry>;

#[derive(Debug, Clone, PartialEq, Eq)]
enum NameOf {
    Directory,
    Inode(usize),
    Link(String),
}

#[derive(Debug, Clone, Default)]
struct Contents {
    current: Vec<u8>,
    synced: Vec<u8>,
}

/// Both what a process sees and what is on disk.
#[derive(Debug, Clone, Default)]
pub(super) struct ModelDisk {
    root: Utf8PathBuf,
    inodes: Vec<Contents>,
    current: BTreeMap<Utf8PathBuf, NameOf>,
    synced: BTreeMap<Utf8PathBuf, NameOf>,
}

impl ModelDisk {
    /// Everything that is in the directory now counts as synced.
    pub(super) fn read(root: &Utf8Path) -> Self {
        let mut disk = Self { root: root.to_owned(), ..Self::default() };
        disk.add_directory(root);
        disk.synced = disk.current.clone();
        disk
    }

    fn add_directory(&mut self, directory: &Utf8Path) {
        for entry in directory.read_dir_utf8().unwrap() {
            let path = entry.unwrap().into_path();
            let found = path.symlink_metadata().unwrap();
            let name = if found.is_dir() {
                self.add_directory(&path);
                NameOf::Directory
            } else if found.is_symlink() {
                NameOf::Link(path.read_link_utf8().unwrap().into_string())
            } else {
                let bytes = fs::read(&path).unwrap();
                self.inodes.push(Contents { current: bytes.clone(), synced: bytes });
                NameOf::Inode(self.inodes.len() - 1)
            };
            self.current.insert(path, name);
        }
    }

    pub(super) fn apply(&mut self, operation: &RecordedOperation) {
        use RecordedOperation as Op;
        match operation {
            Op::CreateDirectory(path) => {
                self.current.insert(path.clone(), NameOf::Directory);
            }
            Op::CreateFile(path) => self.create(path),
            Op::OpenToAppend(path) if self.current.contains_key(path) => {}
            Op::OpenToAppend(path) => self.create(path),
            // Copied trees are temporary: no run reads those of another one.
            Op::OpenStream | Op::SetMode | Op::CopyTree(_) => {}
            Op::Write(path, bytes) => {
                self.contents(path, |file| file.current.extend_from_slice(bytes));
            }
            Op::SetLength(path, length) => {
                let length = usize::try_from(*length).unwrap();
                self.contents(path, |file| file.current.resize(length, 0));
            }
            Op::SyncFile(path) => self.contents(path, |file| file.synced = file.current.clone()),
            Op::SyncDirectory(path) => self.sync_directory(path),
            Op::Rename(from, to) => {
                let name = self.current.remove(from).expect("what is renamed exists");
                self.current.insert(to.clone(), name);
            }
            Op::HardLink(original, link) => {
                let name = self.current[original].clone();
                self.current.insert(link.clone(), name);
            }
            Op::SymbolicLink(target, path) => {
                self.current.insert(path.clone(), NameOf::Link(target.clone()));
            }
            Op::RemoveFile(path) | Op::RemoveDirectory(path) => {
                self.current.remove(path);
            }
            Op::RemoveTree(path) => self.current.retain(|one, _| !one.starts_with(path)),
        }
    }

    fn create(&mut self, path: &Utf8Path) {
        self.inodes.push(Contents::default());
        self.current.insert(path.to_owned(), NameOf::Inode(self.inodes.len() - 1));
    }

    fn contents(&mut self, path: &Utf8Path, change: impl FnOnce(&mut Contents)) {
        match self.current.get(path) {
            Some(NameOf::Inode(at)) => change(&mut self.inodes[*at]),
            // It was removed or renamed while it was open.
            _ => panic!("{path} is written to without a name"),
        }
    }

    fn sync_directory(&mut self, directory: &Utf8Path) {
        let is_entry = |path: &Utf8Path| path.parent() == Some(directory);
        let gone: Vec<Utf8PathBuf> = self
            .synced
            .keys()
            .filter(|path| is_entry(path) && !self.current.contains_key(*path))
            .cloned()
            .collect();
        self.synced.retain(|path, _| !gone.iter().any(|gone| path.starts_with(gone)));
        for (path, name) in self.current.iter().filter(|(path, _)| is_entry(path)) {
            self.synced.insert(path.clone(), name.clone());
        }
    }

    /// What is there after a power cut now.
    pub(super) fn cut(&self, cut: PowerCut) -> DirectoryState {
        let names = match cut {
            PowerCut::Nothing | PowerCut::Contents => &self.synced,
            _ => &self.current,
        };
        let is_reachable = |path: &Utf8Path| {
            let mut above = path.ancestors().skip(1).take_while(|above| *above != self.root);
            above.all(|above| names.get(above) == Some(&NameOf::Directory))
        };
        let there = names.iter().filter(|(path, _)| is_reachable(path));
        let entries = there.map(|(path, name)| {
            let entry = match name {
                NameOf::Directory => Entry::Directory,
                NameOf::Link(target) => Entry::Link(target.clone()),
                NameOf::Inode(at) => Entry::File(self.inodes[*at].after(cut)),
            };
            (path.strip_prefix(&self.root).unwrap().to_owned(), entry)
        });
        entries.collect()
    }
}

impl Contents {
    fn after(&self, cut: PowerCut) -> Vec<u8> {
        let both = self.current.iter().zip(&self.synced);
        let kept = both.take_while(|(current, synced)| current == synced).count();
        match cut {
            PowerCut::Nothing | PowerCut::Names => self.synced.clone(),
            PowerCut::Contents | PowerCut::Everything => self.current.clone(),
            PowerCut::Half => self.current[..kept + (self.current.len() - kept) / 2].to_vec(),
            PowerCut::Lengths => {
                let mut bytes = self.current.clone();
                bytes[kept..].fill(0);
                bytes
            }
        }
    }
}

/// Builds the state in an empty directory.
pub(super) fn build(state: &DirectoryState, root: &Utf8Path) {
    // Sorted: directories come before what is in them.
    for (path, entry) in state {
        let path = root.join(path);
        match entry {
            Entry::Directory => fs::create_dir(path).unwrap(),
            Entry::File(bytes) => fs::write(path, bytes).unwrap(),
            Entry::Link(target) => std::os::unix::fs::symlink(target, path).unwrap(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::{Access, Durability, replace};
    use super::super::FaultyDirectory;
    use super::*;

    /// The distinct texts of a file after a power cut at any point.
    fn texts(durability: Durability) -> Vec<Option<String>> {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap();
        fs::write(root.join("file"), "old").unwrap();
        let mut disk = ModelDisk::read(root);
        let watched = FaultyDirectory::new(root, None);
        replace(&root.join("file"), b"new!", Access::Private, durability).unwrap();
        let mut texts = Vec::new();
        for operation in watched.trace() {
            disk.apply(&operation);
            for cut in PowerCut::ALL {
                let text = match disk.cut(cut).get(Utf8Path::new("file")) {
                    Some(Entry::File(bytes)) => Some(String::from_utf8(bytes.clone()).unwrap()),
                    _ => None,
                };
                if !texts.contains(&text) {
                    texts.push(text);
                }
            }
        }
        // What the last state of all certainly is.
        texts.push(match disk.cut(PowerCut::Nothing).get(Utf8Path::new("file")) {
            Some(Entry::File(bytes)) => Some(String::from_utf8(bytes.clone()).unwrap()),
            _ => None,
        });
        texts
    }

    #[test]
    fn the_model_tells_the_degrees_of_durability_apart() {
        let some = |text: &str| Some(text.to_owned());
        let [old, new] = [some("old"), some("new!")];
        let unsynced = texts(Durability::Unsynced);
        assert!(unsynced.contains(&some("")) && unsynced.contains(&some("ne")));
        assert_eq!(texts(Durability::Contents), [old.clone(), new.clone(), old.clone()]);
        assert_eq!(texts(Durability::Durable), [old, new.clone(), new]);
    }
}
