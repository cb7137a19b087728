//! Where the paths in a targets file start (spec 9.1).

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::source::Files;

/// Directories whose targets file belongs to their parent, in order of precedence.
pub(crate) const FOLDERS: &[&str] = &[".evalrig", ".agentv"];

/// Where the paths of one targets file start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathBase {
    directory: Utf8PathBuf,
    root: Utf8PathBuf,
}

impl PathBase {
    /// `root` is the repository root.
    pub fn of(targets_file: &Utf8Path, root: &Utf8Path) -> Self {
        let own = targets_file.parent().unwrap_or(root);
        let is_folder = own.file_name().is_some_and(|name| FOLDERS.contains(&name));
        let directory = match own.parent() {
            Some(parent) if is_folder => parent,
            _ => own,
        };
        Self { directory: directory.to_owned(), root: root.to_owned() }
    }

    pub fn directory(&self) -> &Utf8Path {
        &self.directory
    }

    /// The absolute path for a path of the file, with its references resolved. It need not exist, and
    /// it may be outside the repository: a targets file already decides which programs are run.
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

    #[test]
    fn paths_start_at_the_parent_of_the_folder_or_beside_the_file() {
        let base = |path: &str| PathBase::of(path.into(), "/p".into()).directory;
        assert_eq!(base("/p/e/.evalrig/targets.yaml"), "/p/e");
        assert_eq!(base("/p/e/.agentv/ci.yaml"), "/p/e");
        assert_eq!(base("/p/e/targets.yaml"), "/p/e");
    }

    #[test]
    fn a_leading_slash_is_the_root_where_that_exists_and_else_the_system() {
        let files = MemoryFiles::new().with("/p/tools/agent", "");
        let base = PathBase::of("/p/e/.evalrig/targets.yaml".into(), "/p".into());
        assert_eq!(base.locate(&files, "/tools/agent"), "/p/tools/agent");
        assert_eq!(base.locate(&files, "/usr/bin/agent"), "/usr/bin/agent");
        assert_eq!(base.locate(&files, "file://run/agent"), "/p/e/run/agent");
        assert_eq!(base.locate(&files, "../../x"), "/p/e/../../x");
    }
}
