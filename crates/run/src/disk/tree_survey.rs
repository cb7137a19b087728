//! Walks a tree and asks for the facts of its entries with several threads: most of the time of a walk goes into
//! these questions. One thread walks, as ever; every question is about a name in a directory that is open.

use std::ffi::CStr;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::{self, Scope, ScopedJoinHandle};

use rustix::fs::{AtFlags, statat};

use crate::lock::locked;

use super::tree::{OpenDirectory, TreeEntry, TreePlace, TreeVisitor, facts_of, walk_tree};
use super::tree_facts::{NodeFacts, NodeKind, UnreadableDirectory};

/// Fewer entries are looked at faster by one thread.
const WORTH_A_THREAD: usize = 256;
const MOST_THREADS: usize = 4;

/// Entries and open directories that are handed over at a time.
const MOST_ENTRIES: usize = 128;
const MOST_DIRECTORIES: usize = 16;

/// Parcels that wait for a thread. Beyond that the walking thread looks itself.
const MOST_WAITING: usize = 2;

/// What is looked at.
pub(crate) trait TreeSelection {
    /// A directory was opened; the path of the root is empty.
    fn enter(&mut self, path: &[u8], directory: OpenDirectory<'_>) -> io::Result<()>;

    /// Whether to enter a directory.
    fn wants(&mut self, path: &[u8]) -> bool;

    /// Whether to look at anything else.
    fn takes(&mut self, entry: &TreeEntry<'_>) -> bool;
}

/// An entry that was looked at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FoundEntry<'a> {
    /// Below the root, with `/`.
    pub(crate) path: &'a [u8],
    /// The root of another file system is special.
    pub(crate) kind: NodeKind,
    pub(crate) facts: NodeFacts,
}

/// What was found, in no order.
#[derive(Debug, Default)]
pub(crate) struct FoundTree(Vec<EntryParcel>);

impl FoundTree {
    pub(crate) fn entries(&self) -> impl Iterator<Item = FoundEntry<'_>> {
        self.0.iter().flat_map(|parcel| {
            parcel.entries.iter().filter_map(|entry| {
                let path = &parcel.bytes[entry.start..entry.end];
                Some(FoundEntry { path, kind: entry.kind, facts: entry.facts? })
            })
        })
    }
}

/// Looks at everything that is selected below a directory.
pub(crate) fn survey_tree(
    root: TreePlace<'_>,
    unreadable: UnreadableDirectory,
    selection: &mut dyn TreeSelection,
) -> io::Result<FoundTree> {
    let (sender, parcels) = sync_channel(MOST_WAITING);
    let parcels = Mutex::new(parcels);
    thread::scope(|scope| {
        let mut survey = TreeSurvey {
            scope,
            selection,
            parcels: &parcels,
            sender,
            helpers: Vec::new(),
            draft: EntryParcel::default(),
            is_open: false,
            count: 0,
            looked: Vec::new(),
        };
        walk_tree(root, unreadable, &mut survey)?;
        survey.finish()
    })
}

/// Entries of some directories.
#[derive(Debug, Default)]
struct EntryParcel {
    /// Their paths, each with a zero behind it.
    bytes: Vec<u8>,
    entries: Vec<ParcelEntry>,
    /// Open until the entries were looked at.
    directories: Vec<OwnedFd>,
}

#[derive(Debug)]
struct ParcelEntry {
    /// In the bytes of the parcel: the path, and in it the name.
    start: usize,
    name: usize,
    end: usize,
    kind: NodeKind,
    directory: usize,
    facts: Option<NodeFacts>,
}

impl EntryParcel {
    fn add(&mut self, entry: &TreeEntry<'_>, directory: usize, facts: Option<NodeFacts>) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(entry.path);
        let end = self.bytes.len();
        self.bytes.push(0);
        let name = end - entry.name.to_bytes().len();
        self.entries.push(ParcelEntry { start, name, end, kind: entry.kind, directory, facts });
    }

    fn is_full(&self) -> bool {
        self.entries.len() >= MOST_ENTRIES || self.directories.len() >= MOST_DIRECTORIES
    }

    fn look(&mut self) -> io::Result<()> {
        for entry in self.entries.iter_mut().filter(|entry| entry.facts.is_none()) {
            let name = CStr::from_bytes_with_nul(&self.bytes[entry.name..=entry.end]);
            let name = name.map_err(io::Error::other)?;
            let directory = &self.directories[entry.directory];
            entry.facts = Some(facts_of(&statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?));
        }
        self.directories.clear();
        Ok(())
    }
}

/// Looks at parcels until there are no more.
fn look_at_all(parcels: &Mutex<Receiver<EntryParcel>>) -> io::Result<Vec<EntryParcel>> {
    let mut looked = Vec::new();
    loop {
        let next = locked(parcels).recv();
        let Ok(mut parcel) = next else { return Ok(looked) };
        parcel.look()?;
        looked.push(parcel);
    }
}

struct TreeSurvey<'scope, 'env, 'v> {
    scope: &'scope Scope<'scope, 'env>,
    selection: &'v mut dyn TreeSelection,
    parcels: &'scope Mutex<Receiver<EntryParcel>>,
    sender: SyncSender<EntryParcel>,
    helpers: Vec<ScopedJoinHandle<'scope, io::Result<Vec<EntryParcel>>>>,
    draft: EntryParcel,
    /// Whether the last directory of the draft is the current one.
    is_open: bool,
    count: usize,
    looked: Vec<EntryParcel>,
}

impl TreeSurvey<'_, '_, '_> {
    fn start_helpers(&mut self) {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let parcels = self.parcels;
        for _ in 1..cores.min(MOST_THREADS) {
            let started =
                thread::Builder::new().spawn_scoped(self.scope, move || look_at_all(parcels));
            // Without another thread this one does it all.
            self.helpers.extend(started);
        }
    }

    /// The place of the current directory in the draft; `None` if the entry is to be looked at now.
    fn directory_of(&mut self, entry: &TreeEntry<'_>) -> Option<usize> {
        // The root of another file system comes after the directories beside it.
        if self.helpers.is_empty() || entry.kind == NodeKind::Special {
            return None;
        }
        if !self.is_open {
            // There may be no descriptor left.
            self.draft.directories.push(entry.parent.try_clone_to_owned().ok()?);
            self.is_open = true;
        }
        self.draft.directories.len().checked_sub(1)
    }

    fn hand_over(&mut self) -> io::Result<()> {
        let mut parcel = std::mem::take(&mut self.draft);
        self.is_open = false;
        if !parcel.directories.is_empty() {
            match self.sender.try_send(parcel) {
                Ok(()) => return Ok(()),
                Err(TrySendError::Full(back) | TrySendError::Disconnected(back)) => parcel = back,
            }
        }
        parcel.look()?;
        self.looked.push(parcel);
        Ok(())
    }

    fn finish(mut self) -> io::Result<FoundTree> {
        self.draft.look()?;
        self.looked.push(self.draft);
        drop(self.sender);
        self.looked.extend(look_at_all(self.parcels)?);
        for helper in self.helpers {
            let looked = helper.join().unwrap_or_else(|_| Err(io::Error::other("a thread failed")));
            self.looked.extend(looked?);
        }
        Ok(FoundTree(self.looked))
    }
}

impl TreeVisitor for TreeSurvey<'_, '_, '_> {
    fn enter(&mut self, path: &[u8], directory: OpenDirectory<'_>) -> io::Result<()> {
        self.is_open = false;
        self.selection.enter(path, directory)
    }

    fn wants(&mut self, path: &[u8]) -> bool {
        self.selection.wants(path)
    }

    fn visit(&mut self, entry: &TreeEntry<'_>) -> io::Result<()> {
        if !self.selection.takes(entry) {
            return Ok(());
        }
        self.count += 1;
        if self.count == WORTH_A_THREAD {
            self.start_helpers();
        }
        match self.directory_of(entry) {
            Some(directory) => self.draft.add(entry, directory, None),
            None => self.draft.add(entry, 0, Some(entry.facts()?)),
        }
        if self.draft.is_full() { self.hand_over() } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;
    use std::os::unix::fs::symlink;

    use camino::{Utf8Path, Utf8PathBuf};

    use super::super::tree::facts_at;
    use super::*;

    /// All but what is in a directory `left`.
    struct Most;

    impl TreeSelection for Most {
        fn enter(&mut self, _: &[u8], _: OpenDirectory<'_>) -> io::Result<()> {
            Ok(())
        }

        fn wants(&mut self, path: &[u8]) -> bool {
            !path.ends_with(b"left")
        }

        fn takes(&mut self, entry: &TreeEntry<'_>) -> bool {
            !entry.path.ends_with(b"7")
        }
    }

    fn survey(root: &Utf8Path) -> io::Result<BTreeMap<String, NodeFacts>> {
        let found = survey_tree(root.into(), UnreadableDirectory::Refuse, &mut Most)?;
        let mut all = BTreeMap::new();
        for entry in found.entries() {
            assert_eq!(entry.kind, entry.facts.kind);
            let path = String::from_utf8(entry.path.to_owned()).unwrap();
            assert!(all.insert(path, entry.facts).is_none());
        }
        Ok(all)
    }

    #[test]
    fn everything_is_looked_at_once_whatever_the_number_of_threads() {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
        let mut expected = Vec::new();
        for (directory, files) in
            [("", 3), ("a", 40), ("a/b", 300), ("c", 1), ("left", 9), ("d/e/f", 700)]
        {
            let place = root.join(directory);
            fs::create_dir_all(&place).unwrap();
            for at in 0..files {
                fs::write(place.join(at.to_string()), "x".repeat(at)).unwrap();
                expected.push(place.join(at.to_string()));
            }
        }
        for at in 0..200 {
            let place = root.join(format!("many/{at}"));
            fs::create_dir_all(&place).unwrap();
            symlink("nowhere", place.join("link")).unwrap();
            expected.push(place.join("link"));
        }
        expected
            .retain(|path| !path.as_str().ends_with('7') && !path.starts_with(root.join("left")));
        let found = survey(&root).unwrap();
        assert_eq!(found.len(), expected.len());
        for path in expected {
            let below = path.strip_prefix(&root).unwrap();
            assert_eq!(found[below.as_str()], facts_at(&path).unwrap(), "{path}");
        }
    }
}
