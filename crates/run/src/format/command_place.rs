//! Where a command of a script runs, and where it finds what it runs.

use super::skill_path::{as_relative, path_parts};

/// Where a command finds what it runs.
pub(super) struct ModulePlaces<'a> {
    pub(super) directory: &'a str,
    /// `PYTHONPATH`, for modules.
    pub(super) path: Option<&'a str>,
}

impl ModulePlaces<'_> {
    pub(super) fn all(&self, is_module: bool) -> impl Iterator<Item = String> {
        let path = self.path.filter(|_| is_module).unwrap_or_default();
        let further = path.split(':').filter(|place| !place.is_empty());
        let further = further.map(|place| directory_below(self.directory, place));
        std::iter::once(self.directory.to_owned()).chain(further)
    }
}

/// Where a script goes on after `cd`.
pub(super) fn new_directory(words: &[String], directory: &str) -> Option<String> {
    let (program, arguments) = words.split_first()?;
    if program != "cd" && program != "pushd" {
        return None;
    }
    let target = arguments.iter().find(|word| !word.starts_with('-'));
    Some(directory_below(directory, target.map_or("~", String::as_str)))
}

fn directory_below(directory: &str, path: &str) -> String {
    let (directory, path) = as_relative(directory, path);
    let is_absolute = path.starts_with(['/', '~', '$']) || directory.starts_with('/');
    let root = if is_absolute { "/" } else { "" };
    format!("{root}{}", path_parts(directory, path).join("/"))
}
