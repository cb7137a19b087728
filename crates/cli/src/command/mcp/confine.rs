//! Keeps the paths that a client names inside the repository.

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use evalrig_run::session::LATEST;

/// Where commands run, and the repository that no path may leave.
#[derive(Debug)]
pub struct Workplace {
    pub root: Utf8PathBuf,
    pub directory: Utf8PathBuf,
}

impl Workplace {
    /// Refuses a path or pattern that leads out of the repository, also through a symbolic link.
    pub fn check_path(&self, argument: &str) -> Result<(), String> {
        let pattern = argument.strip_prefix('!').unwrap_or(argument);
        let refused = || format!("`{argument}` is outside of the repository");
        if pattern.contains('\0') {
            return Err(format!("`{}` is not a path", argument.replace('\0', "␀")));
        }
        let mut fixed = self.directory.clone();
        let mut rest = Utf8Path::new(pattern).components();
        for part in rest.by_ref() {
            match part {
                Utf8Component::Normal(name) if name.contains(['*', '?', '[', '{']) => break,
                Utf8Component::CurDir => {}
                part => fixed.push(part),
            }
        }
        if rest.any(|part| part == Utf8Component::ParentDir) {
            return Err(refused());
        }
        let root = self.root.canonicalize_utf8().map_err(|error| error.to_string())?;
        if real_path(&fixed).is_some_and(|real| real.starts_with(&root)) {
            Ok(())
        } else {
            Err(refused())
        }
    }

    /// As [`Workplace::check_path`]; `latest`, `latest~N` and `latest~A..B` name runs.
    pub fn check_results(&self, argument: &str) -> Result<(), String> {
        let is_number = |text: &str| text.chars().all(|c| c.is_ascii_digit());
        let is_run = argument.strip_prefix(LATEST).is_some_and(|rest| {
            rest.is_empty() || rest.strip_prefix('~').is_some_and(|n| n.split("..").all(is_number))
        });
        if is_run { Ok(()) } else { self.check_path(argument) }
    }
}

/// The path without symbolic links. Its end need not exist, but has no `..` then.
fn real_path(path: &Utf8Path) -> Option<Utf8PathBuf> {
    let mut missing = Vec::new();
    for ancestor in path.ancestors() {
        // A link to a missing place exists, and leads somewhere unknown.
        if ancestor.symlink_metadata().is_ok() {
            let mut real = ancestor.canonicalize_utf8().ok()?;
            real.extend(missing.iter().rev());
            return Some(real);
        }
        missing.push(ancestor.file_name()?);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workplace(folder: &tempfile::TempDir) -> Workplace {
        let root = Utf8Path::from_path(folder.path()).unwrap().to_owned();
        std::fs::create_dir_all(root.join("evals/deep")).unwrap();
        Workplace { directory: root.join("evals"), root }
    }

    #[test]
    fn paths_and_patterns_of_the_repository_are_accepted() {
        let folder = tempfile::tempdir().unwrap();
        let here = workplace(&folder);
        let inside = here.root.join("evals/EVAL.yaml");
        for path in [".", "deep", "..", "../evals", "new/EVAL.yaml", "**/*.eval.yaml", "!deep/*"] {
            assert_eq!(here.check_path(path), Ok(()), "{path}");
        }
        assert_eq!(here.check_path(inside.as_str()), Ok(()));
        for run in ["latest", "latest~1", "latest~1..4", "out.jsonl"] {
            assert_eq!(here.check_results(run), Ok(()), "{run}");
        }
    }

    #[test]
    fn paths_out_of_the_repository_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let here = workplace(&folder);
        for path in ["../..", "/etc/passwd", "!/etc", "deep/../../../x", "*/../../../etc", "a\0b"] {
            assert!(here.check_path(path).is_err(), "{path}");
        }
        assert!(here.check_results("latest/../../../x").is_err());
        assert!(here.check_results("/latest").is_err());
    }

    #[cfg(unix)]
    #[test]
    fn symbolic_links_out_of_the_repository_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let here = workplace(&folder);
        let other = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(other.path(), here.directory.join("out")).unwrap();
        std::os::unix::fs::symlink("/nowhere/at/all", here.directory.join("dangling")).unwrap();
        for path in ["out", "out/EVAL.yaml", "out/**", "dangling", "dangling/x"] {
            assert!(here.check_path(path).is_err(), "{path}");
        }
    }
}
