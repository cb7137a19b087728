//! Which files of a workspace are part of the evidence: not `.git`, not what the workspace ignores, and
//! not what its `.gitignore` files exclude (spec 17.3).

use std::collections::HashMap;
use std::ffi::OsStr;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use camino::Utf8Path;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::disk::{
    FoundTree, OpenDirectory, TreeEntry, TreePlace, TreeSelection, TreeVisitor,
    UnreadableDirectory, survey_tree, walk_tree,
};

/// Longer `.gitignore` files are read up to here.
const MOST: u64 = 1024 * 1024;

/// The rules that were in force when they were collected.
#[derive(Debug, Clone)]
pub(super) struct IgnoreRules {
    /// Those of the suite, which take precedence.
    written: Gitignore,
    /// Those of `.gitignore` files, by directory.
    found: HashMap<Vec<u8>, Gitignore>,
}

impl IgnoreRules {
    pub(super) fn new(patterns: &[String]) -> Self {
        let lines = patterns.iter().map(String::as_str);
        Self { written: matcher(lines), found: HashMap::new() }
    }

    fn add(&mut self, directory: &[u8], content: &[u8]) {
        let text = String::from_utf8_lossy(content);
        let rules = matcher(text.trim_start_matches('\u{feff}').lines());
        if !rules.is_empty() {
            self.found.insert(directory.to_owned(), rules);
        }
    }

    /// Whether an entry is left out. The directories above it were asked before.
    pub(super) fn excludes(&self, path: &[u8], is_directory: bool) -> bool {
        let (mut directory, name) = split(path);
        if name == b".git" {
            return true;
        }
        if let Some(is_excluded) = decide(&self.written, path, is_directory) {
            return is_excluded;
        }
        if self.found.is_empty() {
            return false;
        }
        loop {
            if let Some(rules) = self.found.get(directory) {
                let below = if directory.is_empty() { path } else { &path[directory.len() + 1..] };
                if let Some(is_excluded) = decide(rules, below, is_directory) {
                    return is_excluded;
                }
            }
            if directory.is_empty() {
                return false;
            }
            directory = split(directory).0;
        }
    }
}

/// A line that is not a pattern excludes nothing, as in git.
fn matcher<'a>(lines: impl Iterator<Item = &'a str>) -> Gitignore {
    let mut builder = GitignoreBuilder::new(".");
    for line in lines {
        let _ = builder.add_line(None, line);
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

fn decide(rules: &Gitignore, path: &[u8], is_directory: bool) -> Option<bool> {
    match rules.matched(Path::new(OsStr::from_bytes(path)), is_directory) {
        Match::None => None,
        Match::Ignore(_) => Some(true),
        Match::Whitelist(_) => Some(false),
    }
}

/// Directory and name.
fn split(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(at) => (&path[..at], &path[at + 1..]),
        None => (b"", path),
    }
}

/// Looks at the evidence in a directory that programs may have changed, and collects the rules on the way.
pub(super) fn collect_evidence(
    root: &Utf8Path,
    patterns: &[String],
) -> io::Result<(IgnoreRules, FoundTree)> {
    let mut evidence = CollectedRules(IgnoreRules::new(patterns));
    let found = survey_tree(root.into(), UnreadableDirectory::UnlockToRead, &mut evidence)?;
    Ok((evidence.0, found))
}

/// Visits the evidence in any tree, and collects the rules on the way.
pub(super) fn collect_evidence_of(
    root: TreePlace<'_>,
    unreadable: UnreadableDirectory,
    patterns: &[String],
    each: &mut dyn FnMut(&TreeEntry<'_>) -> io::Result<()>,
) -> io::Result<IgnoreRules> {
    let rules = CollectedRules(IgnoreRules::new(patterns));
    let mut walk = EvidenceWalk { rules, each };
    walk_tree(root, unreadable, &mut walk)?;
    Ok(walk.rules.0)
}

/// Looks at the files in directories that the rules do not exclude. Whether a file is excluded is asked by
/// the caller, who knows most of them.
pub(super) fn find_evidence(root: &Utf8Path, rules: &IgnoreRules) -> io::Result<FoundTree> {
    survey_tree(root.into(), UnreadableDirectory::UnlockToRead, &mut KeptRules(rules))
}

/// Rules that are found while a tree is walked.
struct CollectedRules(IgnoreRules);

impl TreeSelection for CollectedRules {
    fn enter(&mut self, path: &[u8], directory: OpenDirectory<'_>) -> io::Result<()> {
        // A link is not followed, as in git.
        if let Some(Ok(file)) = directory.open(c".gitignore") {
            let mut content = Vec::new();
            file.take(MOST).read_to_end(&mut content)?;
            self.0.add(path, &content);
        }
        Ok(())
    }

    fn wants(&mut self, path: &[u8]) -> bool {
        !self.0.excludes(path, true)
    }

    fn takes(&mut self, entry: &TreeEntry<'_>) -> bool {
        !self.0.excludes(entry.path, false)
    }
}

/// Rules that were in force earlier.
struct KeptRules<'a>(&'a IgnoreRules);

impl TreeSelection for KeptRules<'_> {
    fn enter(&mut self, _: &[u8], _: OpenDirectory<'_>) -> io::Result<()> {
        Ok(())
    }

    fn wants(&mut self, path: &[u8]) -> bool {
        !self.0.excludes(path, true)
    }

    fn takes(&mut self, _: &TreeEntry<'_>) -> bool {
        true
    }
}

struct EvidenceWalk<'a> {
    rules: CollectedRules,
    each: &'a mut dyn FnMut(&TreeEntry<'_>) -> io::Result<()>,
}

impl TreeVisitor for EvidenceWalk<'_> {
    fn enter(&mut self, path: &[u8], directory: OpenDirectory<'_>) -> io::Result<()> {
        self.rules.enter(path, directory)
    }

    fn wants(&mut self, path: &[u8]) -> bool {
        self.rules.wants(path)
    }

    fn visit(&mut self, entry: &TreeEntry<'_>) -> io::Result<()> {
        if self.rules.takes(entry) { (self.each)(entry) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use camino::Utf8PathBuf;

    use super::*;

    fn evidence(files: &[(&str, &str)], patterns: &[&str]) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
        for (path, text) in files {
            fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            fs::write(root.join(path), text).unwrap();
        }
        let patterns: Vec<String> = patterns.iter().map(|one| (*one).to_owned()).collect();
        let name = |path: &[u8]| String::from_utf8_lossy(path).into_owned();
        let (rules, found) = collect_evidence(&root, &patterns).unwrap();
        let mut found: Vec<_> = found.entries().map(|entry| name(entry.path)).collect();
        let again = find_evidence(&root, &rules).unwrap();
        let again = again.entries().filter(|entry| !rules.excludes(entry.path, false));
        let mut again: Vec<_> = again.map(|entry| name(entry.path)).collect();
        found.sort();
        again.sort();
        assert_eq!(found, again, "the same rules find the same files");
        found
    }

    #[test]
    fn rules_of_inner_directories_win() {
        let files = [
            (".gitignore", "*.log\n/build/\n# note\n"),
            ("a.log", ""),
            ("a.txt", ""),
            ("build/x", ""),
            ("src/build/x", ""),
            ("src/.gitignore", "!keep.log\nx\n"),
            ("src/keep.log", ""),
            ("src/other.log", ""),
        ];
        let expected = [".gitignore", "a.txt", "src/.gitignore", "src/keep.log"];
        assert_eq!(evidence(&files, &[]), expected);
    }

    #[test]
    fn every_git_directory_is_left_out() {
        let files = [
            (".git/HEAD", ""),
            ("vendor/lib/.git/HEAD", ""),
            ("vendor/lib/code", ""),
            ("worktree/.git", "gitdir: x"),
            (".github/x", ""),
        ];
        assert_eq!(evidence(&files, &[]), [".github/x", "vendor/lib/code"]);
    }

    #[test]
    fn patterns_of_the_suite_come_first() {
        let files =
            [(".gitignore", "!node_modules\ndist\n"), ("node_modules/a/b", ""), ("dist/x", "")];
        assert_eq!(evidence(&files, &["node_modules/", "!dist"]), [".gitignore", "dist/x"]);
    }

    #[test]
    fn a_byte_order_mark_and_lines_of_windows_are_read() {
        let files = [(".gitignore", "\u{feff}a\r\n[\r\nb\r\n"), ("a", ""), ("b", ""), ("c", "")];
        assert_eq!(evidence(&files, &[]), [".gitignore", "c"]);
    }
}
