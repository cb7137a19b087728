//! Which results file an argument means, and its cases.

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::compare::ComparedCase;
use evalrig_core::read::repository_root;
use evalrig_run::disk::Disk;
use evalrig_run::record::{Place, Rows};

use crate::args::LATEST;
use crate::context::{Context, complain};
use crate::exit::Exit;

use super::cases::Gathered;

/// The file as the user would write it, and its cases in the order of the suite.
pub fn read(context: &Context, argument: &str) -> Result<(String, Vec<ComparedCase>), Exit> {
    let path = locate(context, argument)?;
    Ok((shown(context, &path), cases(&path)?))
}

pub fn shown(context: &Context, path: &Utf8Path) -> String {
    evalrig_run::text::shown_path(path, &context.working_directory)
}

pub fn cases(path: &Utf8Path) -> Result<Vec<ComparedCase>, Exit> {
    let unreadable = |error: &dyn std::fmt::Display| {
        complain(&error.to_string());
        Exit::CouldNotStart
    };
    let mut found = Gathered::default();
    for row in Rows::open(path).map_err(|error| unreadable(&error))? {
        found.add(&row.map_err(|error| unreadable(&error))?);
    }
    Ok(found.in_order())
}

fn locate(context: &Context, argument: &str) -> Result<Utf8PathBuf, Exit> {
    let path = context.absolute(argument);
    if path.is_dir() {
        return pick(context, &folder_in(path), 0);
    }
    match steps_back(argument) {
        Some(steps) if !path.exists() => {
            let root = repository_root(&Disk, &context.working_directory.join(LATEST));
            pick(context, &Place::folder(&root), steps)
        }
        _ => Ok(path),
    }
}

/// Where the results of a directory lie: in its own folder for them, or in itself.
pub fn folder_in(directory: Utf8PathBuf) -> Utf8PathBuf {
    let inner = Place::folder(&directory);
    if inner.is_dir() { inner } else { directory }
}

/// `latest` is 0, `latest~2` is 2.
pub fn steps_back(argument: &str) -> Option<usize> {
    let rest = argument.strip_prefix(LATEST)?;
    match rest.strip_prefix('~') {
        None if rest.is_empty() => Some(0),
        None => None,
        Some("") => Some(1),
        Some(number) => number.parse().ok(),
    }
}

fn pick(context: &Context, folder: &Utf8Path, steps: usize) -> Result<Utf8PathBuf, Exit> {
    let history = Place::history(folder).unwrap_or_default();
    let count = history.len();
    history.into_iter().nth(steps).ok_or_else(|| {
        complain(&too_few(context, folder, count));
        Exit::CouldNotStart
    })
}

pub fn too_few(context: &Context, folder: &Utf8Path, count: usize) -> String {
    let folder = context.shown(folder);
    match count {
        0 => format!("no results in `{folder}`"),
        1 => format!("`{folder}` has results of one run only"),
        count => format!("`{folder}` has results of {count} runs only"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_counted_as_git_counts_them() {
        assert_eq!(steps_back("latest"), Some(0));
        assert_eq!(steps_back("latest~"), Some(1));
        assert_eq!(steps_back("latest~2"), Some(2));
        assert_eq!(steps_back("latest.jsonl"), None);
        assert_eq!(steps_back("latest~x"), None);
        assert_eq!(steps_back("out.jsonl"), None);
    }
}
