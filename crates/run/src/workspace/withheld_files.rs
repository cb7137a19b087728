//! A repository that holds what the agent is judged by is checked out without it, and without the history in
//! which the agent could read it (spec 17.1): the commit is replaced by one that has no parent and whose tree
//! lacks these files.

use std::collections::BTreeMap;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::model::{Fault, FaultKind, RepoOrigin, Stage};
use evalrig_core::source::{Files as _, Reach};

use crate::disk::Disk;
use crate::local_git::GitQuestion;

use super::case_facts::CaseFacts;
use super::git::{GitConfig, git, git_bytes};
use super::judging_files::real;
use super::place::on_disk;

/// How long git may take to say whether a repository has a commit.
const PATIENCE: Duration = Duration::from_secs(20);

/// Larger suites are not compared with a file of a commit.
const LARGEST_SUITE: u64 = 16 * 1024 * 1024;

/// The commit to check out instead of `commit`, which `clone` has; the same one if nothing is to be left out.
pub(super) async fn without_judging_files(
    clone: &Utf8Path,
    commit: String,
    origin: &RepoOrigin,
    case: &CaseFacts<'_>,
) -> Result<String, Fault> {
    let withheld = withheld_paths(clone, &commit, origin, case).await?;
    if withheld.is_empty() || !is_in_history(clone, &commit, &withheld).await? {
        return Ok(commit);
    }
    let tree = CommitFilter { clone, withheld: &withheld }.filter(&commit).await?;
    let time = git(clone, GitConfig::Nothing, &["show", "-s", "--format=%ct", &commit]).await?;
    // The same commit in every run, and nothing in it about the suite.
    let person = format!("Start <start@localhost> {time} +0000");
    let text = format!("tree {tree}\nauthor {person}\ncommitter {person}\n\nStart\n");
    let words = ["hash-object", "-t", "commit", "-w", "--stdin"];
    let made = git_bytes(clone, GitConfig::Nothing, &words, Some(text.as_bytes())).await?;
    Ok(String::from_utf8_lossy(&made).trim().to_owned())
}

/// The paths in the repository that the agent must not find; empty if it is not that of the suite.
async fn withheld_paths(
    clone: &Utf8Path,
    commit: &str,
    origin: &RepoOrigin,
    case: &CaseFacts<'_>,
) -> Result<Vec<Utf8PathBuf>, Fault> {
    let mut paths = Vec::new();
    if let RepoOrigin::Path(path) = origin {
        let above = path.parent().filter(|_| path.file_name() == Some(".git"));
        paths.extend(case.judging.below(above.unwrap_or(path)));
    }
    let top = real(case.root);
    let repository = top.ancestors().find(|one| one.join(".git").exists());
    let top = repository.unwrap_or(&top);
    let inside = case.judging.below(top);
    let is_of_suite = !inside.is_empty()
        && ((repository.is_some() && has_commit(top, commit).await)
            || has_suite(clone, commit, top, case).await);
    if is_of_suite {
        paths.extend(inside);
    }
    paths.sort_unstable();
    paths.dedup();
    Ok(paths)
}

/// Whether the suite's repository has the commit: then it is the same one, wherever it is fetched from.
async fn has_commit(repository: &Utf8Path, commit: &str) -> bool {
    let (root, name) = (repository.to_owned(), format!("{commit}^{{commit}}"));
    let ask = move || {
        let args = ["cat-file", "-e", name.as_str()];
        let patience = PATIENCE;
        GitQuestion { root: &root, args: &args, stdin: None, most_bytes: 0, patience }.ask()
    };
    tokio::task::spawn_blocking(ask).await.is_ok_and(|answer| answer.is_ok())
}

/// Whether the commit has this very suite, as in a shallow clone, which does not have the commit, or on a
/// worker, which has no repository.
async fn has_suite(clone: &Utf8Path, commit: &str, top: &Utf8Path, case: &CaseFacts<'_>) -> bool {
    let suite = case.judging.suite().to_owned();
    let Ok(below) = suite.strip_prefix(top).map(Utf8Path::to_owned) else { return false };
    let read = on_disk(move || Disk.read(&suite, Reach::Anywhere, LARGEST_SUITE));
    let Ok(text) = read.await else { return false };
    let name = format!("{commit}:{below}");
    let words = ["cat-file", "blob", name.as_str()];
    git_bytes(clone, GitConfig::Nothing, &words, None).await.is_ok_and(|known| known == text)
}

/// Whether the commit or one before it has one of the paths.
async fn is_in_history(
    clone: &Utf8Path,
    commit: &str,
    withheld: &[Utf8PathBuf],
) -> Result<bool, Fault> {
    let paths: Vec<String> = withheld.iter().map(|path| format!(":(literal){path}")).collect();
    let mut words = vec!["rev-list", "--max-count=1", "--full-history", commit, "--"];
    words.extend(paths.iter().map(String::as_str));
    Ok(!git(clone, GitConfig::Nothing, &words).await?.is_empty())
}

/// An entry of a tree.
#[derive(Debug, Clone)]
struct CommitItem {
    mode: Vec<u8>,
    kind: Vec<u8>,
    object: String,
    name: Vec<u8>,
}

/// A directory on the way to what is left out.
#[derive(Debug)]
struct CommitLevel {
    path: Utf8PathBuf,
    items: Vec<CommitItem>,
}

struct CommitFilter<'a> {
    clone: &'a Utf8Path,
    withheld: &'a [Utf8PathBuf],
}

impl CommitFilter<'_> {
    /// The tree of a commit without these paths.
    async fn filter(&self, commit: &str) -> Result<String, Fault> {
        let root = format!("{commit}^{{tree}}");
        let root = git(self.clone, GitConfig::Nothing, &["rev-parse", "--verify", &root]).await?;
        let mut levels = vec![self.read(Utf8PathBuf::new(), &root).await?];
        let mut at = 0;
        while at < levels.len() {
            for (path, object) in self.directories_to_look_into(&levels[at]) {
                levels.push(self.read(path, &object).await?);
            }
            at += 1;
        }
        // What a directory has become; `None` if nothing is left of it.
        let mut changed: BTreeMap<Utf8PathBuf, Option<String>> = BTreeMap::new();
        for level in levels.into_iter().rev() {
            let (is_changed, items) = self.without_withheld(&level, &changed);
            if !is_changed {
                continue;
            }
            let is_left = !items.is_empty() || level.path.as_str().is_empty();
            let made = if is_left { Some(self.write(&items).await?) } else { None };
            changed.insert(level.path, made);
        }
        Ok(changed.remove(Utf8Path::new("")).flatten().unwrap_or(root))
    }

    async fn read(&self, path: Utf8PathBuf, tree: &str) -> Result<CommitLevel, Fault> {
        let words = ["ls-tree", "-z", "--full-tree", tree];
        let listed = git_bytes(self.clone, GitConfig::Nothing, &words, None).await?;
        let lines = listed.split(|byte| *byte == 0).filter(|line| !line.is_empty());
        let items = lines.map(|line| CommitItem::read(line).ok_or_else(unreadable));
        Ok(CommitLevel { path, items: items.collect::<Result<_, Fault>>()? })
    }

    fn directories_to_look_into(&self, level: &CommitLevel) -> Vec<(Utf8PathBuf, String)> {
        let trees = level.items.iter().filter(|item| item.kind == b"tree");
        let paths = trees.filter_map(|item| Some((item.path_in(level)?, item.object.clone())));
        let is_above = |path: &Utf8Path| {
            self.withheld.iter().any(|one| one.starts_with(path) && one != path)
                && !self.withheld.iter().any(|one| one == path)
        };
        paths.filter(|(path, _)| is_above(path)).collect()
    }

    fn without_withheld(
        &self,
        level: &CommitLevel,
        changed: &BTreeMap<Utf8PathBuf, Option<String>>,
    ) -> (bool, Vec<CommitItem>) {
        let mut is_changed = false;
        let left = level.items.iter().filter_map(|item| {
            let Some(path) = item.path_in(level) else { return Some(item.clone()) };
            if self.withheld.contains(&path) {
                is_changed = true;
                return None;
            }
            let Some(object) = changed.get(&path) else { return Some(item.clone()) };
            is_changed = true;
            object.clone().map(|object| CommitItem { object, ..item.clone() })
        });
        let left = left.collect();
        (is_changed, left)
    }

    async fn write(&self, items: &[CommitItem]) -> Result<String, Fault> {
        let mut text = Vec::new();
        for CommitItem { mode, kind, object, name } in items {
            text.extend([mode.as_slice(), b" ", kind, b" ", object.as_bytes(), b"\t"].concat());
            text.extend_from_slice(name);
            text.push(0);
        }
        // Objects that are not here, such as the commits of submodules, are named all the same.
        let words = ["mktree", "-z", "--missing"];
        let made = git_bytes(self.clone, GitConfig::Nothing, &words, Some(&text)).await?;
        Ok(String::from_utf8_lossy(&made).trim().to_owned())
    }
}

impl CommitItem {
    /// A line of `git ls-tree`.
    fn read(line: &[u8]) -> Option<Self> {
        let tab = line.iter().position(|byte| *byte == b'\t')?;
        let mut words = line[..tab].split(|byte| *byte == b' ');
        let (mode, kind, object) = (words.next()?, words.next()?, words.next()?);
        Some(Self {
            mode: mode.to_owned(),
            kind: kind.to_owned(),
            object: std::str::from_utf8(object).ok()?.to_owned(),
            name: line[tab + 1..].to_owned(),
        })
    }

    /// `None` if it is not UTF-8: no path that is left out is like that.
    fn path_in(&self, level: &CommitLevel) -> Option<Utf8PathBuf> {
        Some(level.path.join(std::str::from_utf8(&self.name).ok()?))
    }
}

fn unreadable() -> Fault {
    Fault::new(Stage::Workspace, FaultKind::Clone, "cannot read what git says about a commit")
}
