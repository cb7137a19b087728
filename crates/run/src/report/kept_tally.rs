//! The workspaces that a run has kept: how many there are, where, and how to enter one.

use std::collections::BTreeMap;

use camino::Utf8Path;

use super::file_finding::enter_command;
use crate::results::Row;
use crate::text::{self, numbers};

/// Directories that are named. A run has one, and one more each time it was resumed.
const NAMED: usize = 4;

/// Counts kept workspaces by the directory that they are in.
#[derive(Debug, Default)]
pub struct KeptTally {
    directories: BTreeMap<String, KeptDirectory>,
}

#[derive(Debug)]
struct KeptDirectory {
    count: u64,
    /// The first one by name, in whatever order rows come.
    example: String,
}

impl KeptTally {
    pub fn add(&mut self, row: &Row) {
        let path = row.workspace.as_ref().and_then(|workspace| workspace.path.as_deref());
        let Some(path) = path.map(|path| text::line(path, usize::MAX)) else { return };
        let Some(directory) = Utf8Path::new(&path).parent() else { return };
        let kept = self
            .directories
            .entry(directory.to_string())
            .or_insert_with(|| KeptDirectory { count: 0, example: path.clone() });
        kept.count += 1;
        if path < kept.example {
            kept.example = path;
        }
    }

    /// One line for each directory that still exists here: rows may be older, or of another machine.
    pub fn lines(&self) -> Vec<String> {
        let is_there = |path: &str| Utf8Path::new(path).is_dir();
        let there: Vec<_> = self.directories.iter().filter(|(path, _)| is_there(path)).collect();
        let mut lines: Vec<String> = there
            .iter()
            .take(NAMED)
            .map(|(path, kept)| {
                let count = numbers::counted(kept.count, "workspace", "workspaces");
                let which = if kept.count == 1 { "it" } else { "one" };
                if is_there(&kept.example) {
                    format!(
                        "{count} in {path}; enter {which} with: {}",
                        enter_command(&kept.example)
                    )
                } else {
                    format!("{count} in {path}")
                }
            })
            .collect();
        let more = there.len().saturating_sub(NAMED);
        if more > 0 {
            lines.push(format!(
                "and {}",
                numbers::counted(more as u64, "more directory", "more directories")
            ));
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use evalrig_core::model::Outcome;

    use super::super::fixture;
    use super::*;
    use crate::results::WorkspaceChanges;

    fn row(path: &str) -> Row {
        let mut row = fixture::row("a", Outcome::Failed, Some(0.0));
        row.workspace =
            Some(WorkspaceChanges { path: Some(path.to_owned()), ..WorkspaceChanges::default() });
        row
    }

    #[test]
    fn each_directory_that_is_there_has_a_line() {
        let folder = tempfile::tempdir().unwrap();
        let place = Utf8Path::from_path(folder.path()).unwrap();
        for path in ["kept-1/t2-1", "kept-1/t1-1", "kept-2/t1-1", "kept-3"] {
            fs::create_dir_all(place.join(path)).unwrap();
        }
        let mut kept = KeptTally::default();
        let paths = ["kept-1/t2-1", "kept-1/t1-1", "kept-2/t1-1", "kept-3/gone", "gone/t1-1"];
        for path in paths {
            kept.add(&row(place.join(path).as_str()));
        }
        kept.add(&fixture::row("without", Outcome::Failed, Some(0.0)));
        let expected = [
            format!("2 workspaces in {place}/kept-1; enter one with: cd {place}/kept-1/t1-1"),
            format!("1 workspace in {place}/kept-2; enter it with: cd {place}/kept-2/t1-1"),
            format!("1 workspace in {place}/kept-3"),
        ];
        assert_eq!(kept.lines(), expected);
    }

    #[test]
    fn few_directories_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let place = Utf8Path::from_path(folder.path()).unwrap();
        let mut kept = KeptTally::default();
        for number in 0..NAMED + 2 {
            let path = place.join(format!("kept-{number}/t-1"));
            fs::create_dir_all(&path).unwrap();
            kept.add(&row(path.as_str()));
        }
        assert_eq!(kept.lines().len(), NAMED + 1);
        assert_eq!(kept.lines()[NAMED], "and 2 more directories");
    }
}
