//! Where the targets file of a suite is found (spec 9.1).

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::reader::ReadPolicy;
use evalrig_core::source::{EntryKind, Files, Reach};

use crate::setting::FOLDERS;

/// Where a targets file may lead. One that was found must stay in its repository, or in the working
/// directory if that is elsewhere; one that the user named may be anywhere.
pub fn reach_of_found<'r>(
    policy: &ReadPolicy,
    file: &Utf8Path,
    root: &'r Utf8Path,
    working_directory: &'r Utf8Path,
) -> Reach<'r> {
    let is_below = file.starts_with(root) || !file.starts_with(working_directory);
    policy.reach(if is_below { root } else { working_directory })
}

/// The targets file of a suite: the nearest one from the directory of the suite up to the root, else
/// the one of the working directory.
pub fn find_targets_file(
    files: &dyn Files,
    suite_directory: &Utf8Path,
    root: &Utf8Path,
    working_directory: &Utf8Path,
) -> Option<Utf8PathBuf> {
    let parents =
        suite_directory.ancestors().skip(1).take_while(|directory| directory.starts_with(root));
    [suite_directory]
        .into_iter()
        .chain(parents)
        .chain([working_directory])
        .flat_map(|directory| FOLDERS.iter().map(move |folder| directory.join(folder)))
        .map(|folder| folder.join("targets.yaml"))
        .find(|path| files.kind(path).is_some_and(|kind| kind != EntryKind::Directory))
}

/// Whether a targets file belongs to agentv. A found one is read for its names only.
pub fn is_agentv(file: &Utf8Path) -> bool {
    file.parent().and_then(Utf8Path::file_name) == Some(".agentv")
}

#[cfg(test)]
mod tests {
    use evalrig_core::source::MemoryFiles;

    use super::*;

    fn find(files: &[&str], suite: &str, root: &str, here: &str) -> Option<String> {
        let files = files.iter().fold(MemoryFiles::new(), |files, path| files.with(path, ""));
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
    fn the_search_ends_at_the_root_and_then_tries_the_working_directory() {
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
    fn a_directory_with_that_name_is_skipped() {
        let files = ["/p/.evalrig/targets.yaml/x", "/p/.agentv/targets.yaml"];
        let found = find(&files, "/p", "/p", "/p");
        assert_eq!(found.as_deref(), Some("/p/.agentv/targets.yaml"));
    }
}
