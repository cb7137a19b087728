//! What a case did to the files of its workspace, in words. Bounded and harmless: every path passes
//! `text::line`, and the diff `text::excerpt`.

use camino::Utf8Path;
use evalrig_core::model::Stage;

use crate::results::{Row, RowError, WorkspaceChanges};
use crate::text::{self, Excerpt, numbers};

/// Names in one line.
const NAMES: usize = 6;
const NAME: usize = 120;
const DIFF_LINES: usize = 12;
const DIFF_LINE: usize = 200;

/// The changes of a workspace, as reports show them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileFinding {
    /// `2 created (a.py, b.py), 1 deleted (c.py)`, or that nothing changed. `None` if it is not known.
    pub summary: Option<String>,
    /// `None` if there is no diff to show.
    pub diff: Option<Excerpt>,
    /// Where the workspace is, if it was kept.
    pub kept: Option<String>,
}

impl FileFinding {
    /// `None` for a case without a workspace.
    pub fn of(row: &Row) -> Option<Self> {
        let changes = row.workspace.as_ref()?;
        let diff = Some(&changes.diff).filter(|diff| !diff.is_empty());
        Some(Self {
            summary: is_compared(row, changes).then(|| summary(changes)),
            diff: diff.map(|diff| text::excerpt(diff, DIFF_LINES, DIFF_LINE)),
            kept: changes.path.as_deref().map(|path| text::line(path, usize::MAX)),
        })
    }

    /// Whether the kept workspace still exists here.
    pub fn is_there(&self) -> bool {
        self.kept.as_ref().is_some_and(|path| Utf8Path::new(path).is_dir())
    }

    /// What to type to look at the workspace.
    pub fn enter_command(&self) -> Option<String> {
        self.kept.as_deref().map(enter_command)
    }
}

/// Whether it is known what changed. Without changes, a fault of the workspace says that its agent did not
/// start, or that the files could not be compared.
pub fn is_compared(row: &Row, changes: &WorkspaceChanges) -> bool {
    let lists = [&changes.created, &changes.modified, &changes.deleted];
    let is_fault = |error: &RowError| error.stage == Stage::Workspace.word();
    !row.error.as_ref().is_some_and(is_fault) || lists.iter().any(|paths| !paths.is_empty())
}

/// What to type to go to a directory.
pub fn enter_command(path: &str) -> String {
    let is_plain = path.chars().all(|c| c.is_ascii_alphanumeric() || "/._-+@".contains(c));
    if is_plain { format!("cd {path}") } else { format!("cd '{}'", path.replace('\'', r"'\''")) }
}

fn summary(changes: &WorkspaceChanges) -> String {
    let kinds = [
        (&changes.created, "created"),
        (&changes.modified, "modified"),
        (&changes.deleted, "deleted"),
    ];
    let told: Vec<String> = kinds
        .iter()
        .filter(|(paths, _)| !paths.is_empty())
        .map(|(paths, kind)| {
            let count = numbers::count(paths.len() as u64);
            format!("{count} {kind} ({})", names(paths))
        })
        .collect();
    if told.is_empty() { "no file was changed".to_owned() } else { told.join(", ") }
}

fn names(paths: &[String]) -> String {
    let shown = paths.iter().take(NAMES).map(|path| text::line(path, NAME));
    let mut shown: Vec<String> = shown.collect();
    if paths.len() > NAMES {
        shown.push(format!("{} more", paths.len() - NAMES));
    }
    shown.join(", ")
}

#[cfg(test)]
mod tests {
    use evalrig_core::model::Outcome;

    use super::super::fixture;
    use super::*;

    fn finding(changes: WorkspaceChanges) -> FileFinding {
        let mut row = fixture::row("a", Outcome::Failed, Some(0.0));
        row.workspace = Some(changes);
        FileFinding::of(&row).unwrap()
    }

    #[test]
    fn changes_are_counted_and_named() {
        let many = (0..8).map(|number| format!("f{number}")).collect();
        let changes = WorkspaceChanges {
            created: many,
            deleted: vec!["x\u{1b}[2J".to_owned()],
            ..Default::default()
        };
        let summary = finding(changes).summary.unwrap();
        assert!(
            summary.starts_with("8 created (f0, f1, f2, f3, f4, f5, 2 more), 1 deleted (x"),
            "{summary}"
        );
        assert!(!summary.contains('\u{1b}'));
        let unchanged = finding(WorkspaceChanges::default()).summary;
        assert_eq!(unchanged.unwrap(), "no file was changed");
    }

    #[test]
    fn without_an_agent_nothing_is_said_about_changes() {
        let mut row = fixture::row("a", Outcome::Errored, None);
        row.workspace = Some(WorkspaceChanges::default());
        row.error = Some(fixture::fault("workspace", "setup", "exit code 3"));
        assert_eq!(FileFinding::of(&row).unwrap().summary, None);
        row.workspace.as_mut().unwrap().created = vec!["a".to_owned()];
        assert_eq!(FileFinding::of(&row).unwrap().summary.unwrap(), "1 created (a)");
        row.workspace = Some(WorkspaceChanges::default());
        row.error = Some(fixture::fault("target", "timeout", "no answer"));
        assert_eq!(FileFinding::of(&row).unwrap().summary.unwrap(), "no file was changed");
    }

    #[test]
    fn a_path_with_odd_characters_is_quoted() {
        let kept =
            |path: &str| WorkspaceChanges { path: Some(path.to_owned()), ..Default::default() };
        let command = |path: &str| finding(kept(path)).enter_command().unwrap();
        assert_eq!(command("/tmp/w-1"), "cd /tmp/w-1");
        assert_eq!(command("/tmp/it's"), r"cd '/tmp/it'\''s'");
    }

    #[test]
    fn a_workspace_that_is_gone_is_not_there() {
        let kept =
            |path: &str| WorkspaceChanges { path: Some(path.to_owned()), ..Default::default() };
        let folder = tempfile::tempdir().unwrap();
        assert!(finding(kept(folder.path().to_str().unwrap())).is_there());
        assert!(!finding(kept("/no/such/workspace")).is_there());
        assert!(!finding(WorkspaceChanges::default()).is_there());
    }

    #[test]
    fn a_case_without_a_workspace_has_none() {
        let row = fixture::row("a", Outcome::Failed, Some(0.0));
        assert_eq!(FileFinding::of(&row), None);
    }
}
