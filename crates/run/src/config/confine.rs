//! Paths in `evalrig.toml`: relative to its directory, and inside of it.

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::source::{Files, without_dots};

/// How a value contains a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathForm {
    /// A path; a file, a directory or a pattern, which `!` may precede.
    Plain,
    /// A path, or one of the words that name a run: `latest`, `latest~N`.
    Run,
    /// `NAME`, or `NAME=PATH`.
    AfterName,
}

/// The value with an absolute path in it. `None` if the path leads out of the root, by its dots or by
/// links.
pub fn confine_path(
    files: &dyn Files,
    root: &Utf8Path,
    form: PathForm,
    text: &str,
) -> Option<String> {
    let (before, path) = split(form, text);
    if path.is_empty() {
        return Some(text.to_owned());
    }
    let path = without_dots(&root.join(path));
    is_inside(files, root, &path).then(|| format!("{before}{path}"))
}

/// What precedes the path, and the path; empty if there is none.
fn split(form: PathForm, text: &str) -> (&str, &str) {
    match form {
        PathForm::Plain => match text.strip_prefix('!') {
            Some(path) => ("!", path),
            None => ("", text),
        },
        PathForm::Run if is_run_name(text) => (text, ""),
        PathForm::Run => ("", text),
        PathForm::AfterName => match text.find('=') {
            Some(at) => text.split_at(at + 1),
            None => (text, ""),
        },
    }
}

fn is_run_name(text: &str) -> bool {
    let rest = text.strip_prefix(crate::session::LATEST);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('~'))
}

/// The nearest existing ancestor decides, because the path itself may not exist yet.
fn is_inside(files: &dyn Files, root: &Utf8Path, path: &Utf8Path) -> bool {
    if !path.starts_with(root) {
        return false;
    }
    let real = |path: &Utf8Path| files.canonicalize(path).ok();
    let Some(real_root) = real(root) else { return false };
    let existing: Option<Utf8PathBuf> = path.ancestors().find_map(real);
    existing.is_some_and(|existing| existing.starts_with(&real_root))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::Disk;

    fn confined(root: &Utf8Path, form: PathForm, text: &str) -> Option<String> {
        let found = confine_path(&Disk, root, form, text)?;
        Some(found.replace(root.as_str(), "ROOT"))
    }

    #[test]
    fn paths_start_at_the_root_and_stay_in_it() {
        let directory = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(directory.path()).unwrap();
        let plain = |text| confined(root, PathForm::Plain, text);
        assert_eq!(plain("evals/*.yaml").as_deref(), Some("ROOT/evals/*.yaml"));
        assert_eq!(plain("!evals/./a").as_deref(), Some("!ROOT/evals/a"));
        assert_eq!(plain("a/../b").as_deref(), Some("ROOT/b"));
        for outside in ["..", "../x", "/etc/passwd", "a/../../b", "!/tmp"] {
            assert_eq!(plain(outside), None, "{outside}");
        }
        let run = |text| confined(root, PathForm::Run, text);
        assert_eq!(run("latest~2").as_deref(), Some("latest~2"));
        assert_eq!(run("main.jsonl").as_deref(), Some("ROOT/main.jsonl"));
        let report = |text| confined(root, PathForm::AfterName, text);
        assert_eq!(report("terminal").as_deref(), Some("terminal"));
        assert_eq!(report("junit=a=b.xml").as_deref(), Some("junit=ROOT/a=b.xml"));
        assert_eq!(report("junit=../b.xml"), None);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_out_of_the_root_is_no_way_out() {
        let directory = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(directory.path()).unwrap().join("root");
        std::fs::create_dir(&root).unwrap();
        std::os::unix::fs::symlink("/tmp", root.join("away")).unwrap();
        assert_eq!(confined(&root, PathForm::Plain, "away/x.jsonl"), None);
        assert_eq!(confined(&root, PathForm::Plain, "new/x").as_deref(), Some("ROOT/new/x"));
    }
}
