//! The files that a command has made in its copy of a workspace, such as reports of test cases.

use std::collections::HashMap;
use std::io::{self, Read};

use camino::Utf8Path;
use evalrig_core::model::{Fault, FaultKind, Stage};
use globset::{GlobBuilder, GlobMatcher};

use crate::disk::{NodeFacts, NodeKind, TreeEntry, TreeVisitor, UnreadableDirectory, walk_tree};

use super::file_name::shown_name;
use super::place::{io_fault, on_disk};
use super::text_pack::{ContentHash, hash_of};

/// Of a collected file, and of their number.
const MOST_COLLECTED: u64 = 16 * 1024 * 1024;
const MOST_FILES: usize = 1000;

/// Files by path, with what they were before the command.
pub(super) type EarlierFiles = HashMap<Vec<u8>, (NodeFacts, ContentHash)>;

pub(super) fn matcher(pattern: &str) -> Result<GlobMatcher, Fault> {
    let glob = GlobBuilder::new(pattern).literal_separator(true).build();
    let glob = glob.map_err(|error| {
        Fault::new(Stage::Script, FaultKind::Start, format!("`{pattern}`: {error}"))
    })?;
    Ok(glob.compile_matcher())
}

/// The files that match before the command runs.
pub(super) async fn earlier_files(
    root: &Utf8Path,
    glob: &GlobMatcher,
) -> Result<EarlierFiles, Fault> {
    let (root, glob) = (root.to_owned(), glob.clone());
    let read = on_disk(move || {
        let mut files = EarlierFiles::new();
        let mut each = |entry: &TreeEntry<'_>| {
            files.insert(entry.path.to_owned(), (entry.facts()?, hash_of(entry.open()?)?));
            Ok(())
        };
        visit_matching(&root, &glob, &mut each)?;
        Ok::<_, io::Error>(files)
    });
    read.await.map_err(|error| unreadable(&error))
}

/// The files that match now and are new or changed, in byte order.
pub(super) async fn collect(
    root: &Utf8Path,
    glob: &GlobMatcher,
    earlier: EarlierFiles,
) -> Result<Vec<(String, Vec<u8>)>, Fault> {
    let (root, glob) = (root.to_owned(), glob.clone());
    let earlier = std::sync::Arc::new(earlier);
    let read = on_disk(move || {
        let mut found = Vec::new();
        let mut each = |entry: &TreeEntry<'_>| {
            if let Some((facts, hash)) = earlier.get(entry.path)
                && *facts == entry.facts()?
                && *hash == hash_of(entry.open()?)?
            {
                return Ok(());
            }
            if found.len() >= MOST_FILES {
                return Err(io::Error::other(format!("there are more than {MOST_FILES}")));
            }
            let path = shown_name(entry.path).into_owned();
            let mut bytes = Vec::new();
            entry.open()?.take(MOST_COLLECTED + 1).read_to_end(&mut bytes)?;
            if bytes.len() as u64 > MOST_COLLECTED {
                return Err(io::Error::other(format!("`{path}` is larger than 16 MiB")));
            }
            found.push((path, bytes));
            Ok(())
        };
        visit_matching(&root, &glob, &mut each)?;
        found.sort_unstable();
        Ok::<_, io::Error>(found)
    });
    read.await.map_err(|error| unreadable(&error))
}

fn unreadable(error: &io::Error) -> Fault {
    Fault { stage: Stage::Script, ..io_fault("cannot read the collected files", error) }
}

fn visit_matching(
    root: &Utf8Path,
    glob: &GlobMatcher,
    each: &mut dyn FnMut(&TreeEntry<'_>) -> io::Result<()>,
) -> io::Result<()> {
    walk_tree(root.into(), UnreadableDirectory::UnlockToRead, &mut MatchingFiles { glob, each })
}

struct MatchingFiles<'a> {
    glob: &'a GlobMatcher,
    each: &'a mut dyn FnMut(&TreeEntry<'_>) -> io::Result<()>,
}

impl TreeVisitor for MatchingFiles<'_> {
    fn visit(&mut self, entry: &TreeEntry<'_>) -> io::Result<()> {
        let path = shown_name(entry.path);
        let is_meant = entry.kind == NodeKind::File && self.glob.is_match(path.as_ref());
        if is_meant { (self.each)(entry) } else { Ok(()) }
    }
}
