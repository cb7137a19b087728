//! Measures Rust sources: code lines, function lengths, type names, and the dependencies between
//! rooms (the top-level modules of a crate). Reads tokens, not syntax trees, so that it needs no
//! parser; macros are read as they are written, not as they expand.

mod file;
mod mask;
mod rooms;
pub mod rules;
mod token;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

pub use file::{Function, LineCount, SourceFile};
pub use rooms::{Edge, RoomGraph};

/// The shipped sources of one crate. Files and modules behind `#[cfg(test)]` are left out of every
/// measurement.
#[derive(Debug)]
pub struct Sources {
    /// Sorted by path.
    pub files: Vec<SourceFile>,
}

impl Sources {
    /// Reads all `.rs` files below `src`, the source directory of a crate.
    ///
    /// # Errors
    /// When a directory or file cannot be read.
    pub fn read(src: &Path) -> io::Result<Self> {
        let mut paths = Vec::new();
        collect(src, &mut paths)?;
        paths.sort();
        let mut texts = Vec::new();
        for path in paths {
            let relative = path.strip_prefix(src).unwrap_or(&path);
            let relative = relative.to_string_lossy().replace('\\', "/");
            texts.push((relative, std::fs::read_to_string(&path)?));
        }
        Ok(Self::from_texts(texts))
    }

    /// From pairs of a path below `src` and the text of that file.
    pub fn from_texts(texts: impl IntoIterator<Item = (String, String)>) -> Self {
        let mut files: Vec<SourceFile> =
            texts.into_iter().map(|(path, text)| SourceFile::new(path, text)).collect();
        let tests: BTreeSet<String> = files.iter().flat_map(SourceFile::test_modules).collect();
        for file in &mut files {
            let module = file.module();
            file.is_test = tests
                .iter()
                .any(|test| module == *test || module.starts_with(&format!("{test}::")));
        }
        Self { files }
    }

    /// The files that are compiled outside tests.
    pub fn shipped(&self) -> impl Iterator<Item = &SourceFile> {
        self.files.iter().filter(|file| !file.is_test)
    }

    pub fn count_lines(&self) -> LineCount {
        let mut sum = LineCount::default();
        for file in &self.files {
            sum += file.count_lines();
        }
        sum
    }

    /// Longest first, with the path of the file.
    pub fn functions(&self) -> Vec<(&str, Function)> {
        let mut found: Vec<_> = self
            .shipped()
            .flat_map(|file| {
                let functions = file.functions().into_iter();
                functions.map(|function| (file.path.as_str(), function))
            })
            .collect();
        found.sort_by(|a, b| b.1.lines.cmp(&a.1.lines).then(a.0.cmp(b.0)));
        found
    }

    /// Each struct, enum, trait, union or alias name that is declared more than once, with the
    /// files that declare it.
    pub fn repeated_types(&self) -> BTreeMap<String, Vec<&str>> {
        let mut found: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for file in self.shipped() {
            for name in file.type_names() {
                found.entry(name).or_default().push(&file.path);
            }
        }
        found.retain(|_, files| files.len() > 1);
        found
    }

    pub fn room_graph(&self) -> RoomGraph {
        RoomGraph::of(self)
    }
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, found)?;
        } else if path.extension().is_some_and(|end| end == "rs") {
            found.push(path);
        }
    }
    Ok(())
}
