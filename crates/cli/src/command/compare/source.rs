//! Which results file an argument means, and its cases.

use std::cmp::Ordering;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::compare::Case;
use evalrig_core::read::repository_root;
use evalrig_run::disk::Disk;
use evalrig_run::record::{Place, Row, Rows};

use crate::args::LATEST;
use crate::context::{Context, complain};
use crate::exit::Exit;

/// The file as the user would write it, and its cases in the order of the suite.
pub fn read(context: &Context, argument: &str) -> Result<(String, Vec<Case>), Exit> {
    let path = locate(context, argument)?;
    let unreadable = |error: &dyn std::fmt::Display| {
        complain(&error.to_string());
        Exit::CouldNotStart
    };
    let mut found = Vec::new();
    for row in Rows::open(&path).map_err(|error| unreadable(&error))? {
        let row = row.map_err(|error| unreadable(&error))?;
        found.push((Position::of(&row), case_of(row)));
    }
    // Rows stand in the order in which cases ended, which says nothing.
    found.sort_by(|(one, a), (other, b)| one.cmp(other).then_with(|| by_name(a, b)));
    let shown = context.shown(&path).as_str().replace('\\', "/");
    Ok((shown, found.into_iter().map(|(_, case)| case).collect()))
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Position {
    suite: String,
    file: String,
    line: u32,
}

impl Position {
    fn of(row: &Row) -> Self {
        Self {
            suite: row.dataset.clone(),
            file: row.source.file.clone(),
            line: row.source.line,
        }
    }
}

fn by_name(one: &Case, other: &Case) -> Ordering {
    let key = |case: &'_ Case| (case.test.clone(), case.target.clone(), case.trial);
    key(one).cmp(&key(other))
}

fn case_of(row: Row) -> Case {
    let judges = match &row.judge_usage {
        Some(usage) => usage.cost_usd,
        None => Some(0.0),
    };
    Case {
        cost: row.cost_usd.zip(judges).map(|(own, judges)| own + judges),
        suite: row.dataset,
        test: row.eval_id,
        target: row.target,
        trial: row.trial,
        outcome: row.outcome,
        score: row.score,
        hash: row.test_hash,
    }
}

fn locate(context: &Context, argument: &str) -> Result<Utf8PathBuf, Exit> {
    let path = context.absolute(argument);
    if path.is_dir() {
        let inner = Place::folder(&path);
        let folder = if inner.is_dir() { inner } else { path };
        return pick(context, &folder, 0);
    }
    match steps_back(argument) {
        Some(steps) if !path.exists() => {
            let root = repository_root(&Disk, &context.working_directory.join(LATEST));
            pick(context, &Place::folder(&root), steps)
        }
        _ => Ok(path),
    }
}

/// `latest` is 0, `latest~2` is 2.
fn steps_back(argument: &str) -> Option<usize> {
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
        let folder = context.shown(folder);
        complain(&match count {
            0 => format!("no results in `{folder}`"),
            1 => format!("`{folder}` has results of one run only"),
            count => format!("`{folder}` has results of {count} runs only"),
        });
        Exit::CouldNotStart
    })
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
