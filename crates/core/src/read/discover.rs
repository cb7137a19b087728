//! Which files are suites (`FORMAT.md` 2.1).

use std::collections::HashSet;

use camino::{Utf8Path, Utf8PathBuf};
use globset::{GlobBuilder, GlobMatcher};

use crate::access::without_dots;
use crate::source::{EntryKind, Files};

use super::load::Origin;

/// A file to load, and how it was come by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub path: Utf8PathBuf,
    pub origin: Origin,
}

/// Why an argument leads nowhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Discovery {
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
pub fn is_suite_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let stem = name
        .strip_suffix(".yaml")
        .or_else(|| name.strip_suffix(".yml"));
    match stem {
        Some(stem) => stem == "eval" || stem.ends_with(".eval"),
        None => name == "evals.json",
    }
}

pub(super) fn is_hidden(name: &str) -> bool {
    name.starts_with('.') || name == "node_modules"
}

impl Found {
    /// Expands arguments: files, directories, patterns, and `!` patterns that take away. No
    /// argument means the current directory. A file reached twice is returned once.
    pub fn from_arguments(
        files: &dyn Files,
        working_directory: &Utf8Path,
        arguments: &[String],
    ) -> Result<Vec<Self>, Discovery> {
        let mut found: Vec<Self> = Vec::new();
        let mut known: HashSet<Utf8PathBuf> = HashSet::new();
        let mut removed: Vec<GlobMatcher> = Vec::new();
        let here = [".".to_owned()];
        let positive = arguments.iter().any(|argument| !argument.starts_with('!'));
        let rest = if positive { &[][..] } else { &here[..] };
        for argument in rest.iter().chain(arguments) {
            if let Some(pattern) = argument.strip_prefix('!') {
                // A directory that is taken away goes with all that is in it.
                let below = format!("{}/**", pattern.trim_end_matches('/'));
                removed.push(matcher(working_directory, pattern)?);
                removed.push(matcher(working_directory, &below)?);
                continue;
            }
            for one in expand(files, working_directory, argument)? {
                if known.insert(one.path.clone()) {
                    found.push(one);
                }
            }
        }
        found.retain(|one| !removed.iter().any(|pattern| pattern.is_match(&one.path)));
        drop_sidecars(&mut found);
        Ok(found)
    }
}

/// A sidecar that was named beside its JSONL file is the same suite (section 2.2), read with it.
fn drop_sidecars(found: &mut Vec<Found>) {
    let is_jsonl = |one: &&Found| one.path.extension() == Some("jsonl");
    let datasets: HashSet<Utf8PathBuf> = found
        .iter()
        .filter(is_jsonl)
        .map(|one| one.path.clone())
        .collect();
    found.retain(|one| match one.path.extension() {
        Some("yaml" | "yml") => !datasets.contains(&one.path.with_extension("jsonl")),
        _ => true,
    });
}

fn expand(
    files: &dyn Files,
    working_directory: &Utf8Path,
    argument: &str,
) -> Result<Vec<Found>, Discovery> {
    let path = without_dots(&working_directory.join(argument));
    match files.kind(&path) {
        Some(EntryKind::Directory) => {
            let mut found = Vec::new();
            walk(files, &path, &mut found, 0)?;
            Ok(found)
        }
        Some(_) if has_suite_ending(&path) => Ok(vec![Found {
            path,
            origin: Origin::Named,
        }]),
        Some(_) => Err(Discovery::Ending(argument.to_owned())),
        None if argument.contains(['*', '?', '[', '{']) => {
            expand_pattern(files, working_directory, argument)
        }
        None => Err(Discovery::Missing(argument.to_owned())),
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
) -> Result<Vec<Found>, Discovery> {
    let matcher = matcher(working_directory, pattern)?;
    let fixed: String = pattern
        .split_inclusive('/')
        .take_while(|part| !part.contains(['*', '?', '[', '{']))
        .collect();
    let start = without_dots(&working_directory.join(fixed));
    let mut paths = Vec::new();
    match_below(files, &start, &matcher, &mut paths, 0);
    let mut found = Vec::new();
    for (path, kind) in paths {
        match kind {
            EntryKind::Directory => walk(files, &path, &mut found, 0)?,
            _ if has_suite_ending(&path) => found.push(Found {
                path,
                origin: Origin::Named,
            }),
            _ => {}
        }
    }
    Ok(found)
}

fn matcher(working_directory: &Utf8Path, pattern: &str) -> Result<GlobMatcher, Discovery> {
    let absolute = match pattern.starts_with('/') {
        true => pattern.to_owned(),
        false => {
            let directory = globset::escape(working_directory.as_str());
            format!(
                "{}/{}",
                directory.trim_end_matches('/'),
                pattern.trim_start_matches("./")
            )
        }
    };
    let glob = GlobBuilder::new(&absolute).literal_separator(true).build();
    glob.map(|glob| glob.compile_matcher())
        .map_err(|_| Discovery::Pattern(pattern.to_owned()))
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
    found: &mut Vec<Found>,
    depth: usize,
) -> Result<(), Discovery> {
    let unreadable = |_| Discovery::Unreadable(directory.to_owned());
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
                found.push(Found {
                    path,
                    origin: Origin::Found,
                });
            }
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::MemoryFiles;

    fn paths(files: &MemoryFiles, arguments: &[&str]) -> Vec<String> {
        let arguments: Vec<String> = arguments.iter().map(|a| (*a).to_owned()).collect();
        let found = Found::from_arguments(files, "/p".into(), &arguments).unwrap();
        found
            .into_iter()
            .map(|one| one.path.into_string())
            .collect()
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
        assert_eq!(
            paths(&tree(), &[".", "!**/evals.json"]),
            ["/p/a/x.eval.yml", "/p/b/EVAL.yaml"]
        );
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

    #[test]
    fn what_is_not_there_or_no_suite_is_said() {
        let found = |argument: &str| {
            Found::from_arguments(&tree(), "/p".into(), &[argument.to_owned()]).unwrap_err()
        };
        assert_eq!(found("nowhere"), Discovery::Missing("nowhere".into()));
        assert_eq!(
            found("target/CACHEDIR.TAG"),
            Discovery::Ending("target/CACHEDIR.TAG".into())
        );
    }

    #[test]
    fn suite_names_in_any_case() {
        for name in [
            "EVAL.yaml",
            "eval.yml",
            "a.eval.yaml",
            "A.EVAL.YML",
            "evals.json",
        ] {
            assert!(is_suite_name(name), "{name}");
        }
        for name in ["evals.yaml", "medieval.yaml", "EVAL.json", "x.yaml"] {
            assert!(!is_suite_name(name), "{name}");
        }
    }
}
