//! Patterns of paths, and the files that they match. A directory is listed once however many patterns
//! begin in it, and the comparisons of one suite are counted.

use std::collections::HashMap;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use globset::{GlobBuilder, GlobMatcher};

use crate::source::{EntryKind, Files, Reach, without_dots};
use crate::syntax::DEPTH_LIMIT;

use super::discover::is_hidden;

/// A pattern that matches more files than this is a mistake.
const MOST_MATCHES: usize = 100_000;
/// Names below the directories in which the patterns of a suite begin.
const MOST_NAMES: usize = 1_000_000;
/// Work of all patterns of a suite: seconds, not minutes.
const MOST_WORK: u64 = 300_000_000;
/// Work of matching a path, next to comparing its first and last letters.
const MATCH_WORK: u64 = 16;

/// A pattern below a directory; `*` stops at `/`.
pub(super) fn glob(directory: &Utf8Path, pattern: &str) -> Option<GlobMatcher> {
    let directory = globset::escape(without_dots(directory).as_str());
    absolute_glob(&format!("{}/{}", directory.trim_end_matches('/'), pattern))
}

pub(super) fn absolute_glob(pattern: &str) -> Option<GlobMatcher> {
    let glob = GlobBuilder::new(pattern).literal_separator(true).build();
    Some(glob.ok()?.compile_matcher())
}

pub(super) fn is_pattern(path: &str) -> bool {
    path.contains(['*', '?', '[', '{'])
}

/// The directories before the first part that is a pattern.
pub(super) fn fixed_part(pattern: &str) -> &str {
    let parts = pattern.split_inclusive('/');
    let fixed = parts.take_while(|part| !is_pattern(part));
    &pattern[..fixed.map(str::len).sum()]
}

/// A pattern with what can be known of its matches without matching.
#[derive(Debug)]
pub(super) struct PathPattern {
    matcher: GlobMatcher,
    /// Every match begins and ends with these.
    prefix: String,
    suffix: String,
    /// How many directories below the first one a match can be.
    depth: usize,
}

impl PathPattern {
    /// `None` if `pattern` is not one.
    pub(super) fn new(directory: &Utf8Path, pattern: &str) -> Option<Self> {
        const SPECIAL: &[char] = &['*', '?', '[', ']', '{', '}', '\\'];
        let begin = pattern.find(SPECIAL).unwrap_or(pattern.len());
        let end = pattern.rfind(SPECIAL).map_or(0, |at| at + 1);
        let directory = without_dots(directory);
        let base = directory.as_str().trim_end_matches('/');
        // Alternatives and classes may contain `/`, and `**` crosses it.
        let is_fixed = !pattern.contains("**") && !pattern.contains(['[', '{']);
        let depth = pattern.matches('/').count();
        Some(Self {
            matcher: glob(&directory, pattern)?,
            // Paths of Windows have another separator.
            prefix: if cfg!(windows) {
                String::new()
            } else {
                format!("{base}/{}", &pattern[..begin])
            },
            suffix: pattern[end..].rsplit('/').next().unwrap_or_default().to_owned(),
            depth: if is_fixed { depth.min(DEPTH_LIMIT) } else { DEPTH_LIMIT },
        })
    }

    /// Adds the work that it took.
    fn matches(&self, path: &Utf8Path, work: &mut u64) -> bool {
        *work += 1;
        let text = path.as_str();
        if !text.ends_with(&self.suffix) || !text.starts_with(&self.prefix) {
            return false;
        }
        *work += MATCH_WORK;
        self.matcher.is_match(path)
    }
}

/// Which limit a search reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SearchLimit {
    Names,
    Matches,
    Work,
}

impl SearchLimit {
    pub(super) fn message(self) -> &'static str {
        match self {
            Self::Names => "the patterns of this suite look at more than 1,000,000 files",
            Self::Matches => "the pattern matches more than 100,000 files",
            Self::Work => "this suite has too many patterns for so many files",
        }
    }
}

/// What a pattern matches.
#[derive(Debug, Default)]
pub(super) struct Searched {
    pub(super) found: Vec<Utf8PathBuf>,
    /// What is not UTF-8 is replaced.
    pub(super) undecodable: Vec<Utf8PathBuf>,
    /// `found` is not complete.
    pub(super) limit: Option<SearchLimit>,
}

/// The trees of directories that patterns of one suite begin in.
#[derive(Debug, Default)]
pub(super) struct PatternTrees {
    trees: HashMap<(Utf8PathBuf, usize), Arc<FileTree>>,
    names: usize,
    work: u64,
}

/// Everything below a directory; a directory comes after its content.
#[derive(Debug, Default)]
struct FileTree {
    entries: Vec<TreeEntry>,
    undecodable: Vec<(Utf8PathBuf, EntryKind)>,
}

#[derive(Debug)]
struct TreeEntry {
    path: Utf8PathBuf,
    /// Where the content of a directory begins in the list.
    content: Option<usize>,
}

impl PatternTrees {
    pub(super) fn search(
        &mut self,
        files: &dyn Files,
        reach: Reach<'_>,
        start: &Utf8Path,
        pattern: &PathPattern,
    ) -> Searched {
        let key = (start.to_owned(), pattern.depth);
        let tree = match self.trees.get(&key) {
            Some(tree) => Arc::clone(tree),
            None => {
                let mut tree = FileTree::default();
                self.walk(files, reach, start, pattern.depth, &mut tree);
                Arc::clone(self.trees.entry(key).or_insert_with(|| Arc::new(tree)))
            }
        };
        let mut searched = Searched::default();
        let mut last = None;
        for (at, entry) in tree.entries.iter().enumerate() {
            if self.work > MOST_WORK || searched.found.len() > MOST_MATCHES {
                break;
            }
            // A pattern such as `**` matches the content of a directory, and not the directory.
            let has_matches = entry.content.is_some_and(|content| last >= Some(content));
            if !has_matches && pattern.matches(&entry.path, &mut self.work) {
                searched.found.push(entry.path.clone());
                last = Some(at);
            }
        }
        let skipped = tree.undecodable.iter().filter(|(path, kind)| {
            *kind == EntryKind::Directory || pattern.matches(path, &mut self.work)
        });
        searched.undecodable = skipped.map(|(path, _)| path.clone()).collect();
        searched.limit = if self.names > MOST_NAMES {
            Some(SearchLimit::Names)
        } else if searched.found.len() > MOST_MATCHES {
            Some(SearchLimit::Matches)
        } else {
            (self.work > MOST_WORK).then_some(SearchLimit::Work)
        };
        searched
    }

    /// Hidden directories and links to directories are not entered.
    fn walk(
        &mut self,
        files: &dyn Files,
        reach: Reach<'_>,
        directory: &Utf8Path,
        depth: usize,
        tree: &mut FileTree,
    ) {
        let listing = files.list(directory, reach).unwrap_or_default();
        for (name, kind) in listing.undecodable {
            if !is_hidden(&name) {
                tree.undecodable.push((directory.join(name), kind));
            }
        }
        self.names += listing.entries.len();
        for entry in listing.entries {
            if self.names > MOST_NAMES {
                return;
            }
            let path = directory.join(&entry.name);
            match entry.kind {
                EntryKind::Directory if is_hidden(&entry.name) => {}
                EntryKind::Directory => {
                    let content = Some(tree.entries.len());
                    if !entry.is_link && depth > 0 {
                        self.walk(files, reach, &path, depth - 1, tree);
                    }
                    tree.entries.push(TreeEntry { path, content });
                }
                // A link to nothing is what editors lock files with.
                EntryKind::Other if entry.is_link => {}
                EntryKind::File | EntryKind::Outside | EntryKind::Other => {
                    tree.entries.push(TreeEntry { path, content: None });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::MemoryFiles;

    fn tree() -> MemoryFiles {
        ["a/x.yaml", "a/y.jsonl", "a/deep/er/z.yaml", "b.yaml", ".hidden/q.yaml"]
            .iter()
            .fold(MemoryFiles::new(), |files, path| files.with(&format!("/p/{path}"), ""))
    }

    fn found(pattern: &str) -> Vec<String> {
        let pattern = PathPattern::new("/p".into(), pattern).unwrap();
        let reach = Reach::Inside("/p".into());
        let searched = PatternTrees::default().search(&tree(), reach, "/p".into(), &pattern);
        searched.found.into_iter().map(Utf8PathBuf::into_string).collect()
    }

    #[test]
    fn shortcuts_give_what_matching_alone_gives() {
        for pattern in [
            "*",
            "**",
            "*.yaml",
            "**/*.yaml",
            "a/*",
            "a/*.{yaml,jsonl}",
            "{a/x,b}.yaml",
            "?.yaml",
            "a/**",
            "a/**/z.yaml",
            "[ab]*",
            "[!q]/x.yaml",
            "a*/x.yaml",
            "**/deep",
            "none/*",
            "a",
            "**/[xz].y*l",
        ] {
            let matcher = glob("/p".into(), pattern).unwrap();
            let mut all = Vec::new();
            expected(&tree(), "/p".into(), &matcher, &mut all);
            assert_eq!(found(pattern), all, "{pattern}");
        }
    }

    /// The plain way: walk everything, match every path.
    fn expected(files: &MemoryFiles, at: &Utf8Path, matcher: &GlobMatcher, all: &mut Vec<String>) {
        for entry in files.list(at, Reach::Anywhere).unwrap().entries {
            let path = at.join(&entry.name);
            if entry.kind == EntryKind::Directory {
                if is_hidden(&entry.name) {
                    continue;
                }
                let before = all.len();
                expected(files, &path, matcher, all);
                if all.len() > before {
                    continue;
                }
            }
            if matcher.is_match(&path) {
                all.push(path.into_string());
            }
        }
    }

    #[test]
    fn a_directory_is_listed_once_for_all_patterns() {
        let files = tree();
        let mut trees = PatternTrees::default();
        let names = |trees: &mut PatternTrees, pattern: &str| {
            let pattern = PathPattern::new("/p".into(), pattern).unwrap();
            trees.search(&files, Reach::Anywhere, "/p".into(), &pattern);
            trees.names
        };
        let first = names(&mut trees, "**/*.yaml");
        for number in 0..100 {
            assert_eq!(names(&mut trees, &format!("**/x{number}*.yaml")), first);
        }
    }

    #[test]
    fn the_work_of_all_patterns_is_bounded() {
        let files = tree();
        let mut trees = PatternTrees { work: MOST_WORK - 40, ..PatternTrees::default() };
        let pattern = PathPattern::new("/p".into(), "**/*.yaml").unwrap();
        let searched = trees.search(&files, Reach::Anywhere, "/p".into(), &pattern);
        assert_eq!(searched.limit, Some(SearchLimit::Work));
    }
}
