//! Where a targets file is found and where the paths in it start (spec 9.1).

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::source::{EntryKind, Files};

/// Directories whose targets file speaks for their parent, in the order of asking.
const FOLDERS: &[&str] = &[".evalrig", ".agentv"];

/// The targets file of a suite: the nearest one from the suite's directory up to the root, else
/// the one of the working directory. Only that one is read.
pub fn find_targets_file(
    files: &dyn Files,
    suite_directory: &Utf8Path,
    root: &Utf8Path,
    working_directory: &Utf8Path,
) -> Option<Utf8PathBuf> {
    let parents = suite_directory
        .ancestors()
        .skip(1)
        .take_while(|directory| directory.starts_with(root));
    [suite_directory]
        .into_iter()
        .chain(parents)
        .chain([working_directory])
        .flat_map(|directory| FOLDERS.iter().map(move |folder| directory.join(folder)))
        .map(|folder| folder.join("targets.yaml"))
        .find(|path| files.kind(path) == Some(EntryKind::File))
}

/// Where the paths of one targets file start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Base {
    directory: Utf8PathBuf,
    root: Utf8PathBuf,
}

impl Base {
    /// `root` is the repository root.
    pub fn of(targets_file: &Utf8Path, root: &Utf8Path) -> Self {
        let own = targets_file.parent().unwrap_or(root);
        let is_folder = own.file_name().is_some_and(|name| FOLDERS.contains(&name));
        let directory = match own.parent() {
            Some(parent) if is_folder => parent,
            _ => own,
        };
        Self {
            directory: directory.to_owned(),
            root: root.to_owned(),
        }
    }

    pub fn directory(&self) -> &Utf8Path {
        &self.directory
    }

    /// The path that a text names, references replaced. It need not exist, and it may lie anywhere:
    /// the author of a targets file already decides which programs are run.
    pub fn locate(&self, files: &dyn Files, written: &str) -> Utf8PathBuf {
        let text = written.strip_prefix("file://").unwrap_or(written);
        let Some(rest) = text.strip_prefix('/') else {
            return self.directory.join(text);
        };
        let in_repository = self.root.join(rest.trim_start_matches('/'));
        match files.kind(&in_repository) {
            Some(_) => in_repository,
            None => Utf8PathBuf::from(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use evalrig_core::source::MemoryFiles;

    use super::*;

    fn find(files: &[&str], suite: &str, root: &str, here: &str) -> Option<String> {
        let files = files
            .iter()
            .fold(MemoryFiles::new(), |files, path| files.with(path, ""));
        find_targets_file(&files, suite.into(), root.into(), here.into())
            .map(Utf8PathBuf::into_string)
    }

    #[test]
    fn the_nearest_file_wins_and_evalrig_goes_before_agentv() {
        let files = [
            "/p/.evalrig/targets.yaml",
            "/p/evals/.agentv/targets.yaml",
            "/p/evals/.evalrig/targets.yaml",
        ];
        let found = |suite| find(&files, suite, "/p", "/elsewhere").unwrap();
        assert_eq!(found("/p/evals/a"), "/p/evals/.evalrig/targets.yaml");
        assert_eq!(found("/p/other"), "/p/.evalrig/targets.yaml");
    }

    #[test]
    fn the_search_ends_at_the_root_and_then_asks_the_working_directory() {
        let files = ["/.evalrig/targets.yaml", "/w/.agentv/targets.yaml"];
        let found = find(&files, "/p/evals", "/p", "/w");
        assert_eq!(found.as_deref(), Some("/w/.agentv/targets.yaml"));
        assert_eq!(find(&files, "/p/evals", "/p", "/w/deeper"), None);
    }

    #[test]
    fn a_suite_outside_the_root_has_its_own_directory_only() {
        let files = ["/x/.evalrig/targets.yaml", "/x/y/.evalrig/targets.yaml"];
        let found = find(&files, "/x/y", "/p", "/p");
        assert_eq!(found.as_deref(), Some("/x/y/.evalrig/targets.yaml"));
        assert_eq!(find(&files, "/x/z", "/p", "/p"), None);
    }

    #[test]
    fn a_directory_of_that_name_is_no_file() {
        let files = ["/p/.evalrig/targets.yaml/x", "/p/.agentv/targets.yaml"];
        let found = find(&files, "/p", "/p", "/p");
        assert_eq!(found.as_deref(), Some("/p/.agentv/targets.yaml"));
    }

    #[test]
    fn paths_start_at_the_parent_of_the_folder_or_beside_the_file() {
        let base = |path: &str| Base::of(path.into(), "/p".into()).directory;
        assert_eq!(base("/p/e/.evalrig/targets.yaml"), "/p/e");
        assert_eq!(base("/p/e/.agentv/ci.yaml"), "/p/e");
        assert_eq!(base("/p/e/targets.yaml"), "/p/e");
    }

    #[test]
    fn a_leading_slash_is_the_root_where_that_exists_and_else_the_system() {
        let files = MemoryFiles::new().with("/p/tools/agent", "");
        let base = Base::of("/p/e/.evalrig/targets.yaml".into(), "/p".into());
        assert_eq!(base.locate(&files, "/tools/agent"), "/p/tools/agent");
        assert_eq!(base.locate(&files, "/usr/bin/agent"), "/usr/bin/agent");
        assert_eq!(base.locate(&files, "file://run/agent"), "/p/e/run/agent");
        assert_eq!(base.locate(&files, "../../x"), "/p/e/../../x");
    }
}
