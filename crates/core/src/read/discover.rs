//! Which files are suites (spec 2.1).

use std::collections::{HashMap, HashSet};

use camino::{Utf8Path, Utf8PathBuf};
use globset::GlobMatcher;

use crate::source::{EntryKind, Files, without_dots};

use super::import::{absolute_glob, fixed_part, glob, is_pattern};
use super::load::Origin;

/// A file to load, and how it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundSuite {
    pub path: Utf8PathBuf,
    pub origin: Origin,
}

/// Why an argument names no suites.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DiscoveryError {
    /// The path does not exist.
    Missing(String),
    /// A file whose ending is none of those that hold suites.
    Ending(String),
    /// A pattern that cannot be read.
    Pattern(String),
    /// A directory that may not be looked into: a suite in it would silently not be checked.
    Unreadable(Utf8PathBuf),
}

/// Deeper trees are not walked; no project has one.
const DEEPEST: usize = 64;

/// `EVAL.yaml`, `EVAL.yml`, `*.eval.yaml`, `*.eval.yml`, in any case, and `evals.json`.
pub(crate) fn is_suite_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let stem = name.strip_suffix(".yaml").or_else(|| name.strip_suffix(".yml"));
    match stem {
        Some(stem) => stem == "eval" || stem.ends_with(".eval"),
        None => name == "evals.json",
    }
}

pub(super) fn is_hidden(name: &str) -> bool {
    name.starts_with('.') || name == "node_modules"
}

impl FoundSuite {
    /// Expands arguments: files, directories, patterns, and `!` patterns that exclude. No
    /// argument means the current directory. A file reached twice, by a link too, is returned once.
    pub fn from_arguments(
        files: &dyn Files,
        working_directory: &Utf8Path,
        arguments: &[String],
    ) -> Result<Vec<Self>, DiscoveryError> {
        let mut found: Vec<Self> = Vec::new();
        let mut removed: Vec<GlobMatcher> = Vec::new();
        let here = [".".to_owned()];
        let positive = arguments.iter().any(|argument| !argument.starts_with('!'));
        let rest = if positive { &[][..] } else { &here[..] };
        for argument in rest.iter().chain(arguments) {
            if let Some(pattern) = argument.strip_prefix('!') {
                // Excluding a directory excludes everything in it.
                let below = format!("{}/**", pattern.trim_end_matches('/'));
                removed.push(matcher(working_directory, pattern)?);
                removed.push(matcher(working_directory, &below)?);
                continue;
            }
            found.extend(expand(files, working_directory, argument)?);
        }
        found.retain(|one| !removed.iter().any(|pattern| pattern.is_match(&one.path)));
        drop_repeats(files, &mut found);
        drop_sidecars(&mut found);
        Ok(found)
    }
}

/// Keeps the first path to each file; a link only as the last resort, because relative paths
/// start at the file's own directory.
fn drop_repeats(files: &dyn Files, found: &mut Vec<FoundSuite>) {
    let mut best: HashMap<Utf8PathBuf, (bool, usize)> = HashMap::new();
    for (at, one) in found.iter().enumerate() {
        let (real, is_link) = real_path(files, &one.path);
        let kept = best.entry(real).or_insert((is_link, at));
        *kept = (*kept).min((is_link, at));
    }
    let best: HashSet<usize> = best.into_values().map(|(_, at)| at).collect();
    let mut at = 0..;
    found.retain(|_| at.next().is_some_and(|at| best.contains(&at)));
}

/// The real path of a file, and whether its own name is a link.
fn real_path(files: &dyn Files, path: &Utf8Path) -> (Utf8PathBuf, bool) {
    let real = match files.canonicalize(path) {
        Ok(real) => real,
        Err(_) => return (path.to_owned(), false),
    };
    let directory = path.parent().and_then(|parent| files.canonicalize(parent).ok());
    let own = directory.zip(path.file_name()).map(|(parent, name)| parent.join(name));
    let is_link = own.is_some_and(|own| own != real);
    (real, is_link)
}

/// A sidecar that was named beside its JSONL file is the same suite (spec 2.2), read with it.
fn drop_sidecars(found: &mut Vec<FoundSuite>) {
    let is_jsonl = |one: &&FoundSuite| one.path.extension() == Some("jsonl");
    let datasets: HashSet<Utf8PathBuf> =
        found.iter().filter(is_jsonl).map(|one| one.path.clone()).collect();
    found.retain(|one| match one.path.extension() {
        Some("yaml" | "yml") => !datasets.contains(&one.path.with_extension("jsonl")),
        _ => true,
    });
}

fn expand(
    files: &dyn Files,
    working_directory: &Utf8Path,
    argument: &str,
) -> Result<Vec<FoundSuite>, DiscoveryError> {
    let path = without_dots(&working_directory.join(argument));
    match files.kind(&path) {
        Some(EntryKind::Directory) => {
            let mut found = Vec::new();
            walk(files, &path, &mut found, 0)?;
            Ok(found)
        }
        Some(_) if has_suite_ending(&path) => Ok(vec![FoundSuite { path, origin: Origin::Named }]),
        Some(_) => Err(DiscoveryError::Ending(argument.to_owned())),
        None if is_pattern(argument) => expand_pattern(files, working_directory, argument),
        None => Err(DiscoveryError::Missing(argument.to_owned())),
    }
}

fn has_suite_ending(path: &Utf8Path) -> bool {
    let ending = path.extension().map(str::to_ascii_lowercase);
    matches!(ending.as_deref(), Some("yaml" | "yml" | "jsonl" | "json"))
}

fn expand_pattern(
    files: &dyn Files,
    working_directory: &Utf8Path,
    pattern: &str,
) -> Result<Vec<FoundSuite>, DiscoveryError> {
    let matcher = matcher(working_directory, pattern)?;
    let start = without_dots(&working_directory.join(fixed_part(pattern)));
    let mut paths = Vec::new();
    match_below(files, &start, &matcher, &mut paths, 0);
    let mut found = Vec::new();
    for (path, kind) in paths {
        match kind {
            EntryKind::Directory => walk(files, &path, &mut found, 0)?,
            _ if has_suite_ending(&path) => found.push(FoundSuite { path, origin: Origin::Named }),
            _ => {}
        }
    }
    Ok(found)
}

fn matcher(working_directory: &Utf8Path, pattern: &str) -> Result<GlobMatcher, DiscoveryError> {
    let matcher = if pattern.starts_with('/') {
        absolute_glob(pattern)
    } else {
        glob(working_directory, pattern.trim_start_matches("./"))
    };
    matcher.ok_or_else(|| DiscoveryError::Pattern(pattern.to_owned()))
}

fn match_below(
    files: &dyn Files,
    directory: &Utf8Path,
    matcher: &GlobMatcher,
    found: &mut Vec<(Utf8PathBuf, EntryKind)>,
    depth: usize,
) {
    if depth > DEEPEST {
        return;
    }
    for entry in files.list(directory).unwrap_or_default() {
        let path = directory.join(&entry.name);
        if matcher.is_match(&path) {
            found.push((path, entry.kind));
        } else if entry.kind == EntryKind::Directory && !entry.is_link && !is_hidden(&entry.name) {
            match_below(files, &path, matcher, found, depth + 1);
        }
    }
}

/// Suites below a directory, in byte order of names.
fn walk(
    files: &dyn Files,
    directory: &Utf8Path,
    found: &mut Vec<FoundSuite>,
    depth: usize,
) -> Result<(), DiscoveryError> {
    let unreadable = |_| DiscoveryError::Unreadable(directory.to_owned());
    let entries = files.list(directory).map_err(unreadable)?;
    if depth > DEEPEST || entries.iter().any(|entry| entry.name == "CACHEDIR.TAG") {
        return Ok(());
    }
    for entry in entries {
        let path = directory.join(&entry.name);
        match entry.kind {
            EntryKind::Directory if !entry.is_link && !is_hidden(&entry.name) => {
                walk(files, &path, found, depth + 1)?;
            }
            EntryKind::File if is_suite_name(&entry.name) => {
                found.push(FoundSuite { path, origin: Origin::Found });
            }
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;
    use crate::source::{DirectoryEntry, MemoryFiles};

    fn paths(files: &dyn Files, arguments: &[&str]) -> Vec<String> {
        let arguments: Vec<String> = arguments.iter().map(|a| (*a).to_owned()).collect();
        let found = FoundSuite::from_arguments(files, "/p".into(), &arguments).unwrap();
        found.into_iter().map(|one| one.path.into_string()).collect()
    }

    fn tree() -> MemoryFiles {
        MemoryFiles::new()
            .with("/p/b/EVAL.yaml", "")
            .with("/p/a/x.eval.yml", "")
            .with("/p/a/notes.yaml", "")
            .with("/p/a/evals/evals.json", "")
            .with("/p/.hidden/EVAL.yaml", "")
            .with("/p/node_modules/m/EVAL.yaml", "")
            .with("/p/target/CACHEDIR.TAG", "")
            .with("/p/target/EVAL.yaml", "")
    }

    #[test]
    fn a_directory_is_walked_in_byte_order_without_caches() {
        let expected = ["/p/a/evals/evals.json", "/p/a/x.eval.yml", "/p/b/EVAL.yaml"];
        assert_eq!(paths(&tree(), &[]), expected);
        assert_eq!(paths(&tree(), &["."]), expected);
    }

    #[test]
    fn patterns_add_and_take_away_and_files_come_once() {
        assert_eq!(paths(&tree(), &["**/*.yml"]), ["/p/a/x.eval.yml"]);
        assert_eq!(paths(&tree(), &[".", "!**/evals.json"]), ["/p/a/x.eval.yml", "/p/b/EVAL.yaml"]);
        assert_eq!(paths(&tree(), &[".", "!a"]), ["/p/b/EVAL.yaml"]);
        assert_eq!(paths(&tree(), &["b/EVAL.yaml", "b"]), ["/p/b/EVAL.yaml"]);
        assert_eq!(paths(&tree(), &["a/notes.yaml"]), ["/p/a/notes.yaml"]);
    }

    #[test]
    fn a_sidecar_and_its_jsonl_file_are_one_suite() {
        let files = tree().with("/p/d.jsonl", "").with("/p/d.yaml", "");
        assert_eq!(paths(&files, &["d.yaml", "d.jsonl"]), ["/p/d.jsonl"]);
        assert_eq!(paths(&files, &["d.*"]), ["/p/d.jsonl"]);
        assert_eq!(paths(&files, &["d.*", "!*.jsonl"]), ["/p/d.yaml"]);
    }

    /// A tree in which `/p/b/EVAL.yaml` is also reached through `/p/a/EVAL.yaml`.
    #[derive(Debug)]
    struct Linked(MemoryFiles);

    impl Files for Linked {
        fn kind(&self, path: &Utf8Path) -> Option<EntryKind> {
            self.0.kind(path)
        }

        fn size(&self, path: &Utf8Path) -> io::Result<u64> {
            self.0.size(path)
        }

        fn read(&self, path: &Utf8Path, limit: u64) -> io::Result<Vec<u8>> {
            self.0.read(path, limit)
        }

        fn open(&self, path: &Utf8Path) -> io::Result<Box<dyn io::BufRead>> {
            self.0.open(path)
        }

        fn canonicalize(&self, path: &Utf8Path) -> io::Result<Utf8PathBuf> {
            if path == "/p/a/EVAL.yaml" {
                Ok("/p/b/EVAL.yaml".into())
            } else {
                self.0.canonicalize(path)
            }
        }

        fn list(&self, directory: &Utf8Path) -> io::Result<Vec<DirectoryEntry>> {
            self.0.list(directory)
        }
    }

    #[test]
    fn a_suite_and_a_link_to_it_are_one() {
        let files = Linked(tree().with("/p/a/EVAL.yaml", ""));
        let rest = ["/p/a/evals/evals.json", "/p/a/x.eval.yml"];
        let real = "/p/b/EVAL.yaml";
        assert_eq!(paths(&files, &[]), [rest[0], rest[1], real]);
        assert_eq!(paths(&files, &["a/EVAL.yaml", "b"]), [real]);
        // The file that is taken away does not take its link along.
        let link = "/p/a/EVAL.yaml";
        assert_eq!(paths(&files, &[".", "!b"]), [link, rest[0], rest[1]]);
        assert_eq!(paths(&files, &["a/EVAL.yaml"]), [link]);
    }

    #[test]
    fn what_is_not_there_or_no_suite_is_said() {
        let found = |argument: &str| {
            FoundSuite::from_arguments(&tree(), "/p".into(), &[argument.to_owned()]).unwrap_err()
        };
        assert_eq!(found("nowhere"), DiscoveryError::Missing("nowhere".into()));
        assert_eq!(
            found("target/CACHEDIR.TAG"),
            DiscoveryError::Ending("target/CACHEDIR.TAG".into())
        );
    }

    #[test]
    fn suite_names_in_any_case() {
        for name in ["EVAL.yaml", "eval.yml", "a.eval.yaml", "A.EVAL.YML", "evals.json"] {
            assert!(is_suite_name(name), "{name}");
        }
        for name in ["evals.yaml", "medieval.yaml", "EVAL.json", "x.yaml"] {
            assert!(!is_suite_name(name), "{name}");
        }
    }
}
