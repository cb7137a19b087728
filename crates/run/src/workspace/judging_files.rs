//! What an agent must not find in a checkout of the suite's own repository (spec 17.1).

#![cfg_attr(not(unix), allow(dead_code, reason = "only Unix has workspaces"))]

use camino::{Utf8Path, Utf8PathBuf};

/// The suite with all that it reads to judge, and the places of targets and results.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JudgingFiles {
    /// The main file, absolute.
    suite: Utf8PathBuf,
    /// Files and directories as the file system has them; some may not exist.
    paths: Vec<Utf8PathBuf>,
}

impl JudgingFiles {
    /// The paths are absolute.
    pub fn new(suite: &Utf8Path, paths: impl IntoIterator<Item = Utf8PathBuf>) -> Self {
        let mut paths: Vec<Utf8PathBuf> = paths.into_iter().chain([suite.to_owned()]).collect();
        paths.sort_unstable();
        paths.dedup();
        let mut paths: Vec<Utf8PathBuf> = paths.iter().map(|path| real(path)).collect();
        paths.sort_unstable();
        paths.dedup();
        Self { suite: real(suite), paths }
    }

    pub(super) fn suite(&self) -> &Utf8Path {
        &self.suite
    }

    /// Those below a directory, relative to it. One that holds the directory says nothing about its files.
    pub(super) fn below(&self, directory: &Utf8Path) -> Vec<Utf8PathBuf> {
        let directory = real(directory);
        let inside = self.paths.iter().filter_map(|path| path.strip_prefix(&directory).ok());
        inside.filter(|path| !path.as_str().is_empty()).map(Utf8Path::to_owned).collect()
    }
}

/// Without links in the part that exists.
pub(super) fn real(path: &Utf8Path) -> Utf8PathBuf {
    let known = path.ancestors().find_map(|above| Some((above, above.canonicalize_utf8().ok()?)));
    let Some((above, known)) = known else { return path.to_owned() };
    match path.strip_prefix(above) {
        Ok(rest) if !rest.as_str().is_empty() => known.join(rest),
        _ => known,
    }
}
