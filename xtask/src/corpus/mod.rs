//! Suites of public repositories, read from a directory outside the project.

mod outcome;
mod read;

use std::{env, fs};

use camino::{Utf8Path, Utf8PathBuf};

use crate::workspace;

pub use outcome::{Outcome, Table};
pub use read::{Read, read, without};

/// The files that the corpus lists.
#[derive(Debug)]
pub struct Corpus {
    pub files: Vec<CorpusFile>,
}

/// One line of the list.
#[derive(Debug, Clone)]
pub struct CorpusFile {
    /// As the list has it, from the directory of the corpus.
    pub name: String,
    /// Absolute.
    pub path: Utf8PathBuf,
    /// The root that replaces the file's repository.
    pub root: Utf8PathBuf,
    pub kind: String,
    pub role: String,
}

impl Corpus {
    pub const ABSENT: &'static str =
        "skipped: no corpus found; set EVALRIG_CORPUS to its directory";

    /// The corpus that `EVALRIG_CORPUS` names, else the one beside the project; `None` when there
    /// is none, which is the normal case.
    pub fn find() -> Option<Self> {
        let directory = match env::var("EVALRIG_CORPUS") {
            Ok(directory) => Utf8PathBuf::from(directory),
            Err(_) => workspace().join("../shared/corpus"),
        };
        let directory = directory.canonicalize_utf8().ok()?;
        let list = fs::read_to_string(directory.join("INDEX.tsv")).ok()?;
        let files = list.lines().skip(1);
        Some(Self { files: files.filter_map(|line| listed(&directory, line)).collect() })
    }

    /// The files that can be named on the command line.
    pub fn suites(&self) -> impl Iterator<Item = &CorpusFile> {
        self.files.iter().filter(|file| file.has_suite_ending())
    }
}

/// Columns: file, kind, repository, path, commit, dialect, role.
fn listed(directory: &Utf8Path, line: &str) -> Option<CorpusFile> {
    let columns: Vec<&str> = line.split('\t').collect();
    let [name, kind, _, _, _, _, role] = columns[..] else {
        return None;
    };
    // Every repository has a directory of its own: `kind/owner__name@commit`.
    let root: Utf8PathBuf = Utf8Path::new(name).components().take(2).collect();
    Some(CorpusFile {
        name: name.to_owned(),
        path: directory.join(name),
        root: directory.join(root),
        kind: kind.to_owned(),
        role: role.to_owned(),
    })
}

impl CorpusFile {
    fn has_suite_ending(&self) -> bool {
        let ending = self.path.extension().map(str::to_ascii_lowercase);
        matches!(ending.as_deref(), Some("yaml" | "yml" | "jsonl" | "json"))
    }

    pub fn directory(&self) -> &Utf8Path {
        self.path.parent().unwrap_or(&self.path)
    }
}
