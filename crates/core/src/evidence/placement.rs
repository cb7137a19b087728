//! Where attached files go in a workspace (spec 17.2).

use std::collections::HashSet;

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};

use crate::model::Message;

/// An attached file and its place in the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedFile {
    /// Absolute.
    pub source: Utf8PathBuf,
    /// Below the workspace.
    pub path: String,
}

/// Every attached file and image of the messages, once each. A file is placed at the path that the
/// author wrote; one whose path leads up or is absolute, under its file name. Of two equal places the
/// second gets `-2` before its extension.
pub fn placed_files(messages: &[Message]) -> Vec<PlacedFile> {
    let mut placed: Vec<PlacedFile> = Vec::new();
    let mut taken = HashSet::new();
    let blocks = messages.iter().flat_map(|message| &message.content);
    for file in blocks.filter_map(|block| block.file()) {
        let Some(source) = &file.path else { continue };
        if placed.iter().any(|one| one.source == *source) {
            continue;
        }
        let path = free_place(&place_of(&file.value, source), &mut taken);
        placed.push(PlacedFile { source: source.clone(), path });
    }
    placed
}

fn place_of(written: &str, source: &Utf8Path) -> Utf8PathBuf {
    let written = Utf8Path::new(written);
    let mut path = Utf8PathBuf::new();
    for component in written.components() {
        match component {
            Utf8Component::Normal(name) => path.push(name),
            Utf8Component::CurDir => {}
            Utf8Component::ParentDir | Utf8Component::RootDir | Utf8Component::Prefix(_) => {
                return source.file_name().unwrap_or("file").into();
            }
        }
    }
    if path.as_str().is_empty() { source.file_name().unwrap_or("file").into() } else { path }
}

fn free_place(wanted: &Utf8Path, taken: &mut HashSet<String>) -> String {
    let mut path = wanted.as_str().replace('\\', "/");
    let mut number = 2;
    while !taken.insert(path.clone()) {
        let stem = wanted.file_stem().unwrap_or("file");
        let name = match wanted.extension() {
            Some(extension) => format!("{stem}-{number}.{extension}"),
            None => format!("{stem}-{number}"),
        };
        path = wanted.with_file_name(name).as_str().replace('\\', "/");
        number += 1;
    }
    path
}

#[cfg(test)]
mod tests {
    use super::super::testing::file;
    use super::*;
    use crate::model::{Block, Role};

    fn places(files: &[(&str, &str)]) -> Vec<String> {
        let blocks = files.iter().map(|(written, path)| Block::File(file(written, path)));
        let message = Message::new(Role::User, blocks.collect());
        placed_files(&[message]).into_iter().map(|placed| placed.path).collect()
    }

    #[test]
    fn files_are_placed_where_the_author_wrote_them() {
        assert_eq!(
            places(&[("./files/a.csv", "/p/files/a.csv"), ("b", "/p/b")]),
            ["files/a.csv", "b"]
        );
    }

    #[test]
    fn files_from_above_are_placed_under_their_names() {
        assert_eq!(
            places(&[
                ("../x/a.csv", "/x/a.csv"),
                ("/q/a.csv", "/q/a.csv"),
                ("d/../a.csv", "/p/a.csv")
            ]),
            ["a.csv", "a-2.csv", "a-3.csv"]
        );
    }

    #[test]
    fn a_file_that_is_attached_twice_is_placed_once() {
        assert_eq!(places(&[("a", "/p/a"), ("./a", "/p/a")]), ["a"]);
    }
}
