//! Patterns as in `.gitignore`, for what is said about files before a run (spec 17.3). During a run the rules of
//! git apply; here a pattern in doubt excludes nothing.

use globset::{GlobBuilder, GlobMatcher};

/// The lines of one list, and what they mean.
#[derive(Debug, Clone, Default)]
pub struct IgnoreList {
    pub lines: Vec<String>,
    rules: Vec<IgnoreRule>,
}

#[derive(Debug, Clone)]
struct IgnoreRule {
    glob: GlobMatcher,
    excludes: bool,
    is_for_directories: bool,
}

impl IgnoreList {
    pub fn new(lines: Vec<String>) -> Self {
        let rules = lines.iter().filter_map(|line| IgnoreRule::of(line)).collect();
        Self { lines, rules }
    }

    /// Whether a file or directory is excluded; `None` if no line is about it. The last one decides.
    pub(crate) fn decide(&self, path: &str, is_directory: bool) -> Option<bool> {
        let is_about = |rule: &&IgnoreRule| {
            (is_directory || !rule.is_for_directories) && rule.glob.is_match(path)
        };
        self.rules.iter().rev().find(is_about).map(|rule| rule.excludes)
    }
}

impl IgnoreRule {
    fn of(line: &str) -> Option<Self> {
        let line = if line.ends_with("\\ ") { line } else { line.trim_end() };
        if line.starts_with('#') {
            return None;
        }
        let (excludes, line) = match line.strip_prefix('!') {
            Some(rest) => (false, rest),
            None => (true, line),
        };
        let (is_for_directories, line) = match line.strip_suffix('/') {
            Some(rest) => (true, rest),
            None => (false, line),
        };
        if line.is_empty() {
            return None;
        }
        // A pattern with a slash starts at the directory of the list, any other one is about names.
        let pattern = match line.strip_prefix('/') {
            Some(rest) => rest.to_owned(),
            None if line.contains('/') => line.to_owned(),
            None => format!("**/{line}"),
        };
        let mut builder = GlobBuilder::new(&pattern);
        let glob = builder.literal_separator(true).backslash_escape(true).build().ok()?;
        Some(Self { glob: glob.compile_matcher(), excludes, is_for_directories })
    }
}

#[cfg(test)]
mod tests {
    use super::super::WorkspaceView;
    use super::*;

    fn list(lines: &[&str]) -> IgnoreList {
        IgnoreList::new(lines.iter().map(|line| (*line).to_owned()).collect())
    }

    #[test]
    fn lines_mean_what_git_says() {
        for (lines, excluded, others) in [
            (&["*.log"][..], &["x.log", "a/b/x.log"][..], &["x.log.md", "log"][..]),
            (&["dist/"], &["dist/a", "a/dist/b/c"], &["dist", "distance/a"]),
            (&["/out", "a/b"], &["out", "out/x", "a/b", "a/b/c"], &["a/out", "c/a/b"]),
            (&["*.log", "!keep.log"], &["x.log"], &["keep.log", "a/keep.log"]),
            (&["logs/", "!logs/keep"], &["logs/keep"], &["keep"]),
            (&["# *.md", "", "a  ", "\\#b", "a["], &["a", "#b"], &["x.md", "a["]),
            (&["a/**", "**/c/d"], &["a/x/y", "c/d", "x/c/d"], &["a", "b/a/x"]),
        ] {
            let list = list(lines);
            let view = WorkspaceView { ignore: Some(&list), ..WorkspaceView::default() };
            for path in excluded {
                assert!(view.is_ignored(path), "{lines:?}: {path}");
            }
            for path in others {
                assert!(!view.is_ignored(path), "{lines:?}: {path}");
            }
        }
    }

    #[test]
    fn the_suite_precedes_files_and_the_nearest_file_decides() {
        let own = list(&["!kept.log"]);
        let found = [
            (String::new(), list(&["*.log", "/top", "sub/gone/"])),
            ("sub".to_owned(), list(&["!x.log", "/here"])),
        ];
        let view = WorkspaceView { ignore: Some(&own), gitignores: &found, files: Some(&[]) };
        for path in ["y.log", "top", "sub/y.log", "sub/here", "sub/gone/a"] {
            assert!(view.is_ignored(path), "{path}");
        }
        for path in ["kept.log", "sub/x.log", "sub/top", "here", "sub/a/here", "subx.md"] {
            assert!(!view.is_ignored(path), "{path}");
        }
    }
}
