//! Which files are suites (spec 2.1).

use std::collections::{HashMap, HashSet};

use camino::{Utf8Path, Utf8PathBuf};
use globset::GlobMatcher;

use crate::source::{EntryKind, Files, Reach, without_dots};

use super::generated::is_generated;
use super::load::Origin;
use super::pattern::{absolute_glob, fixed_part, glob, is_pattern};
use super::plugin_eval_files::{CaseDepth, EVALS, case_directory, has_cases};

/// A file to load, and how it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundSuite {
    pub path: Utf8PathBuf,
    pub origin: Origin,
}

/// What the arguments of a command name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DiscoveredSuites {
    pub suites: Vec<FoundSuite>,
    /// Directories and suites that are skipped because their names are not UTF-8. What is not UTF-8
    /// is replaced.
    pub undecodable: Vec<Utf8PathBuf>,
    /// Files that are skipped because `transpile` wrote them: their suite is another file.
    pub generated: Vec<Utf8PathBuf>,
    /// Files that another tool may have written, named if no suite is found. Incomplete in a large tree.
    pub others: Vec<Utf8PathBuf>,
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

/// How many files that are not suites are remembered.
const MOST_OTHERS: usize = 200;

/// `EVAL.yaml`, `EVAL.yml`, `*.eval.yaml`, `*.eval.yml`, in any case, and `evals.json`.
pub fn is_suite_name(name: &str) -> bool {
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
    ) -> Result<DiscoveredSuites, DiscoveryError> {
        let mut out = DiscoveredSuites::default();
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
            expand(files, working_directory, argument, &mut out)?;
        }
        let is_removed = |path: &Utf8Path| removed.iter().any(|pattern| pattern.is_match(path));
        out.suites.retain(|one| !is_removed(&one.path));
        out.undecodable.retain(|path| !is_removed(path));
        out.generated.retain(|path| !is_removed(path));
        out.others.retain(|path| !is_removed(path));
        out.undecodable.dedup();
        drop_repeats(files, &mut out.suites);
        drop_sidecars(&mut out.suites);
        Ok(out)
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
    out: &mut DiscoveredSuites,
) -> Result<(), DiscoveryError> {
    let path = without_dots(&working_directory.join(argument));
    match files.kind(&path) {
        Some(EntryKind::Directory) => walk(files, &path, out, 0),
        Some(_) if let Some(path) = case_directory(files, &path) => {
            out.suites.push(FoundSuite { path, origin: Origin::Named });
            Ok(())
        }
        Some(_) if has_suite_ending(&path) => {
            out.suites.push(FoundSuite { path, origin: Origin::Named });
            Ok(())
        }
        Some(_) => Err(DiscoveryError::Ending(argument.to_owned())),
        None if is_pattern(argument) => expand_pattern(files, working_directory, argument, out),
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
    out: &mut DiscoveredSuites,
) -> Result<(), DiscoveryError> {
    let matcher = matcher(working_directory, pattern)?;
    let start = without_dots(&working_directory.join(fixed_part(pattern)));
    let mut paths = Vec::new();
    match_below(files, &start, &matcher, &mut paths, out, 0);
    for (path, kind) in paths {
        match kind {
            EntryKind::Directory => walk(files, &path, out, 0)?,
            _ if has_suite_ending(&path) => {
                out.suites.push(FoundSuite { path, origin: Origin::Named });
            }
            _ => {}
        }
    }
    Ok(())
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
    out: &mut DiscoveredSuites,
    depth: usize,
) {
    if depth > DEEPEST {
        return;
    }
    let listing = files.list(directory, Reach::Anywhere).unwrap_or_default();
    for (name, kind) in &listing.undecodable {
        let path = directory.join(name);
        if matcher.is_match(&path) || (*kind == EntryKind::Directory && !is_hidden(name)) {
            out.undecodable.push(path);
        }
    }
    for entry in listing.entries {
        let path = directory.join(&entry.name);
        if matcher.is_match(&path) {
            found.push((path, entry.kind));
        } else if entry.kind == EntryKind::Directory && !entry.is_link && !is_hidden(&entry.name) {
            match_below(files, &path, matcher, found, out, depth + 1);
        }
    }
}

/// Suites below a directory, in byte order of names.
fn walk(
    files: &dyn Files,
    directory: &Utf8Path,
    out: &mut DiscoveredSuites,
    depth: usize,
) -> Result<(), DiscoveryError> {
    let unreadable = |_| DiscoveryError::Unreadable(directory.to_owned());
    let listing = files.list(directory, Reach::Anywhere).map_err(unreadable)?;
    if depth > DEEPEST || listing.entries.iter().any(|entry| entry.name == "CACHEDIR.TAG") {
        return Ok(());
    }
    if is_plugin_suite(files, directory, out, depth) {
        let path = directory.to_owned();
        out.suites.push(FoundSuite { path, origin: Origin::Found });
    }
    for (name, kind) in &listing.undecodable {
        let is_directory = *kind == EntryKind::Directory && !is_hidden(name);
        if is_directory || (*kind == EntryKind::File && is_suite_name(name)) {
            out.undecodable.push(directory.join(name));
        }
    }
    for entry in listing.entries {
        let path = directory.join(&entry.name);
        match entry.kind {
            EntryKind::Directory if !entry.is_link && !is_hidden(&entry.name) => {
                walk(files, &path, out, depth + 1)?;
            }
            // A link to nothing is what editors lock files with.
            EntryKind::Other if entry.is_link => {}
            EntryKind::Directory => {}
            EntryKind::File if is_generated(files, &path) => out.generated.push(path),
            // A FIFO or a device in place of a suite is reported when it is read.
            _ if is_suite_name(&entry.name) => {
                out.suites.push(FoundSuite { path, origin: Origin::Found });
            }
            EntryKind::File if has_suite_ending(&path) && out.others.len() < MOST_OTHERS => {
                out.others.push(path);
            }
            _ => {}
        }
    }
    Ok(())
}

/// Whether a directory is a suite of `claude plugin eval` (spec 15.5). One that the user named may
/// have any name.
fn is_plugin_suite(
    files: &dyn Files,
    directory: &Utf8Path,
    out: &DiscoveredSuites,
    depth: usize,
) -> bool {
    let case_depth = match (directory.file_name(), depth) {
        (Some(EVALS), _) => CaseDepth::Any,
        (_, 0) => CaseDepth::Direct,
        _ => return false,
    };
    // Its cases are those of the suite above.
    let is_part = out.suites.iter().any(|one| directory.starts_with(&one.path));
    !is_part && has_cases(files, directory, case_depth)
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;
    use crate::source::{DirectoryListing, FileFacts, MemoryFiles};

    fn paths(files: &dyn Files, arguments: &[&str]) -> Vec<String> {
        let arguments: Vec<String> = arguments.iter().map(|a| (*a).to_owned()).collect();
        let found = FoundSuite::from_arguments(files, "/p".into(), &arguments).unwrap();
        found.suites.into_iter().map(|one| one.path.into_string()).collect()
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
    fn a_directory_of_cases_is_one_suite() {
        let files = MemoryFiles::new()
            .with("/p/plugin/evals/a/case.yaml", "schema_version: \"1.1\"\n")
            .with("/p/plugin/evals/group/evals/b/prompt.md", "Hi")
            .with("/p/plugin/evals/group/evals/b/graders/x.md", "")
            .with("/p/plugin/evals/evals.json", "[]")
            .with("/p/checks/c/prompt.md", "Hi")
            .with("/p/checks/c/graders/x.md", "");
        let both = ["/p/plugin/evals", "/p/plugin/evals/evals.json"];
        assert_eq!(paths(&files, &[]), both);
        assert_eq!(paths(&files, &["plugin/evals"]), both);
        // Another name is not recognised, but may be given.
        assert_eq!(paths(&files, &["checks"]), ["/p/checks"]);
        assert_eq!(paths(&files, &[".", "!**/evals.json"]), both[..1]);
        // So may a single case.
        let case = "/p/plugin/evals/a";
        assert_eq!(paths(&files, &["plugin/evals/a"]), [case]);
        assert_eq!(paths(&files, &["plugin/evals/a/case.yaml"]), [case]);
    }

    #[test]
    fn a_sidecar_and_its_jsonl_file_are_one_suite() {
        let files = tree().with("/p/d.jsonl", "").with("/p/d.yaml", "");
        assert_eq!(paths(&files, &["d.yaml", "d.jsonl"]), ["/p/d.jsonl"]);
        assert_eq!(paths(&files, &["d.*"]), ["/p/d.jsonl"]);
        assert_eq!(paths(&files, &["d.*", "!*.jsonl"]), ["/p/d.yaml"]);
    }

    #[test]
    fn what_transpile_wrote_is_used_only_if_it_is_named() {
        let digest = "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945";
        let manifest = format!("{{\"evals.json\": \"{digest}\"}}");
        let files = MemoryFiles::new()
            .with("/p/b/EVAL.yaml", "")
            .with("/p/b/evals.json", "[]")
            .with("/p/b/.evalrig-transpile.json", manifest);
        assert_eq!(paths(&files, &[]), ["/p/b/EVAL.yaml"]);
        assert_eq!(paths(&files, &["b/evals.json"]), ["/p/b/evals.json"]);
        let found = FoundSuite::from_arguments(&files, "/p".into(), &[]).unwrap();
        assert_eq!(found.generated, ["/p/b/evals.json"]);
    }

    /// A tree in which `/p/b/EVAL.yaml` is also reached through `/p/a/EVAL.yaml`.
    #[derive(Debug)]
    struct Linked(MemoryFiles);

    impl Files for Linked {
        fn look(&self, path: &Utf8Path, reach: Reach<'_>) -> io::Result<FileFacts> {
            self.0.look(path, reach)
        }

        fn read(&self, path: &Utf8Path, reach: Reach<'_>, limit: u64) -> io::Result<Vec<u8>> {
            self.0.read(path, reach, limit)
        }

        fn open(&self, path: &Utf8Path, reach: Reach<'_>) -> io::Result<Box<dyn io::BufRead>> {
            self.0.open(path, reach)
        }

        fn canonicalize(&self, path: &Utf8Path) -> io::Result<Utf8PathBuf> {
            if path == "/p/a/EVAL.yaml" {
                Ok("/p/b/EVAL.yaml".into())
            } else {
                self.0.canonicalize(path)
            }
        }

        fn list(&self, directory: &Utf8Path, reach: Reach<'_>) -> io::Result<DirectoryListing> {
            self.0.list(directory, reach)
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
