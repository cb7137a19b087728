//! The real file system and environment behind the traits of the core, and the only place that
//! creates, changes or removes files (spec 16.8).

#[cfg(unix)]
mod confine;
#[cfg(not(unix))]
mod confine_by_path;
mod directory;
#[cfg(all(test, unix))]
pub(crate) mod faults;
#[cfg(unix)]
mod file_copy;
#[cfg(unix)]
mod free_space;
#[cfg(unix)]
mod guarded_directory;
mod load_environment;
mod load_files;
mod lock_wait;
#[cfg(unix)]
mod long_path;
#[cfg(unix)]
mod name_list;
mod named_output;
mod open;
mod path_state;
mod replace;
mod suite_files;
mod system;
#[cfg(unix)]
mod tree;
#[cfg(unix)]
mod tree_copy;
mod tree_digest;
#[cfg(unix)]
mod tree_facts;
#[cfg(unix)]
mod tree_remove;
#[cfg(unix)]
mod tree_survey;
#[cfg(unix)]
mod write_at;
#[cfg(not(unix))]
mod write_by_path;
mod write_path;

use std::fs;
use std::io::{self, BufReader};

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::source::{
    DirectoryEntry, DirectoryListing, EntryKind, Environment, FileFacts, Files, Reach,
};

#[cfg(unix)]
use confine::list_inside;
#[cfg(not(unix))]
use confine_by_path::list_inside;
pub use directory::{
    create_directories, create_directory_of, create_durable_directories, create_new_directory,
    create_own_directory,
};
#[cfg(unix)]
pub(crate) use free_space::FreeSpace;
#[cfg(unix)]
pub(crate) use guarded_directory::{GuardedDirectory, GuardedState};
pub use load_environment::LoadEnvironment;
pub use load_files::LoadFiles;
pub(crate) use load_files::SeenPaths;
pub(crate) use lock_wait::LockWait;
pub(crate) use named_output::is_executable;
pub use named_output::{
    NamedOutput, behind_links, is_plain_file, is_standard_output, open_to_append, write_named,
};
pub use open::read_whole;
pub(crate) use open::{open_named, open_regular};
pub(crate) use path_state::Fingerprint;
pub use replace::{
    AtLink, Durability, FileDraft, create_new, directory_of, is_draft_name, replace, replace_link,
    sync_parent,
};
pub(crate) use suite_files::{Confinement, SuiteFiles};
pub(crate) use system::create_link;
#[cfg_attr(not(unix), allow(unused_imports, reason = "for workspaces and queues"))]
pub(crate) use system::full_disk_count;
#[cfg(feature = "queue")]
pub(crate) use system::read_link;
pub use system::{OpenFile, remove_directory, remove_file, remove_tree, rename, sync_directory};
#[cfg(unix)]
pub(crate) use system::{copy_tree, set_mode};
#[cfg(unix)]
pub(crate) use tree::{
    OpenDirectory, TreeEntry, TreePlace, TreeReader, TreeVisitor, facts_at, walk_tree,
};
#[cfg(unix)]
pub(crate) use tree_copy::{CopiedTree, CopyError, CopyOrigin, CopyRules};
pub(crate) use tree_digest::tree_digest;
#[cfg(unix)]
pub(crate) use tree_facts::{NodeFacts, NodeKind, UnreadableDirectory};
#[cfg(unix)]
pub(crate) use tree_survey::{FoundEntry, FoundTree, TreeSelection, survey_tree};
pub use write_path::WritePath;

/// Where evalrig keeps what it can make again: `$XDG_CACHE_HOME/evalrig`. `None` without a home.
pub(crate) fn user_cache() -> Option<Utf8PathBuf> {
    let variable = |name| std::env::var(name).ok().filter(|path| path.starts_with('/'));
    let cache = variable("XDG_CACHE_HOME").map(Utf8PathBuf::from);
    let cache = cache.or_else(|| Some(Utf8PathBuf::from(variable("HOME")?).join(".cache")))?;
    Some(cache.join("evalrig"))
}

/// Who may read a new file or directory. A file that is replaced keeps its permissions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Its owner: results, records, reports, temporary files.
    Private,
    /// What the umask says: files that are made to be passed on.
    Shared,
}

/// Large enough that reading lines is not bound by system calls.
const BUFFER: usize = 256 * 1024;

#[derive(Debug, Clone, Copy)]
pub struct Disk;

impl Files for Disk {
    fn look(&self, path: &Utf8Path, reach: Reach<'_>) -> io::Result<FileFacts> {
        open::look(path, reach)
    }

    fn read(&self, path: &Utf8Path, reach: Reach<'_>, limit: u64) -> io::Result<Vec<u8>> {
        open::read_up_to(open_regular(path, reach)?, limit)
    }

    fn open(&self, path: &Utf8Path, reach: Reach<'_>) -> io::Result<Box<dyn io::BufRead>> {
        Ok(Box::new(BufReader::with_capacity(BUFFER, open_regular(path, reach)?)))
    }

    fn canonicalize(&self, path: &Utf8Path) -> io::Result<Utf8PathBuf> {
        path.canonicalize_utf8()
    }

    fn list(&self, directory: &Utf8Path, reach: Reach<'_>) -> io::Result<DirectoryListing> {
        match reach {
            Reach::Anywhere => list_anywhere(directory),
            Reach::Inside(root) => list_inside(root, directory),
        }
    }
}

fn list_anywhere(directory: &Utf8Path) -> io::Result<DirectoryListing> {
    let mut listing = DirectoryListing::default();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let file_type = entry.file_type()?;
        let is_link = file_type.is_symlink();
        let kind = if is_link {
            fs::metadata(entry.path()).map_or(EntryKind::Other, |found| open::facts(&found).kind)
        } else {
            open::kind(file_type)
        };
        let is_absolute_link =
            is_link && fs::read_link(entry.path()).is_ok_and(|to| to.is_absolute());
        match entry.file_name().into_string() {
            Ok(name) => {
                listing.entries.push(DirectoryEntry { name, kind, is_link, is_absolute_link });
            }
            Err(name) => {
                listing.push_undecodable(name.to_string_lossy().into_owned(), kind);
            }
        }
    }
    listing.sort();
    Ok(listing)
}

#[derive(Debug, Clone, Copy)]
pub struct ProcessEnvironment;

impl Environment for ProcessEnvironment {
    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }
}
