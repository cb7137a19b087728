//! Repositories of a workspace: kept as bare clones in a cache that all runs share, and checked out from
//! there (spec 17.1).
//!
//! A checkout is a repository of its own, with the history of its commit and nothing else: no remote, no
//! other branch and no later commit, in which the agent could find the solution. Of the suite's own repository
//! it gets one commit without what the agent is judged by (`withheld_files`).
//!
//! Every commit in the cache has a reference: what git cannot name it downloads again with the next fetch.

use std::sync::Mutex;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::model::{Fault, FaultKind, RepoOrigin, Stage, WorkspaceRepo};
use evalrig_core::secrets::Secrets;
use sha2::{Digest, Sha256};

use crate::disk::{
    Access, OpenFile, WritePath, create_directories, create_durable_directories, open_to_append,
    remove_tree, rename,
};
use crate::lock::locked;
use crate::text::hex;

use super::case_facts::CaseFacts;
use super::git::{GitConfig, git};
use super::repo_leftovers::remove_leftovers;
use super::withheld_files::without_judging_files;

/// How often to look whether another process is done with a repository, and for how long.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
const PATIENCE: Duration = Duration::from_secs(900);

/// Bare clones of repositories, one directory for each address.
#[derive(Debug)]
pub(super) struct RepoCache {
    /// `None` if the system does not say where caches are.
    path: Option<Utf8PathBuf>,
    /// What moves and was fetched in this run: repositories, and what of them.
    refreshed: Mutex<Vec<(Utf8PathBuf, MovingNames)>>,
}

/// Names that may stand for another commit tomorrow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MovingNames {
    Branches,
    /// What the repository has checked out, on a branch or not.
    Head,
}

impl MovingNames {
    fn refspecs(self) -> &'static [&'static str] {
        match self {
            Self::Branches => &["+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"],
            Self::Head => &["+HEAD:refs/evalrig/HEAD"],
        }
    }

    /// The name of a commit in the cache.
    fn reference(self, name: &str) -> String {
        match self {
            Self::Branches => format!("refs/heads/{name}"),
            Self::Head => "refs/evalrig/HEAD".to_owned(),
        }
    }
}

/// A repository in the cache.
#[derive(Debug)]
struct CachedRepo {
    /// Address or path.
    origin: String,
    path: Utf8PathBuf,
}

impl RepoCache {
    pub(super) fn new(path: Option<Utf8PathBuf>) -> Self {
        Self { path, refreshed: Mutex::new(Vec::new()) }
    }

    /// Checks a repository out below a workspace.
    pub(super) async fn check_out(
        &self,
        repo: &WorkspaceRepo,
        case: &CaseFacts<'_>,
        workspace: &Utf8Path,
    ) -> Result<(), Fault> {
        let cached = self.find(&repo.origin).await?;
        let commit = self.commit(&cached, repo).await?;
        let commit = without_judging_files(&cached.path, commit, &repo.origin, case).await?;
        let target = workspace.join(&repo.path);
        let place = WritePath::inside(workspace, &target);
        create_durable_directories(place, Access::Shared)
            .map_err(|error| fault(format!("cannot create `{}`: {error}", repo.path)))?;
        let none = GitConfig::Nothing;
        git(&target, none, &["init", "--quiet", "--template=", "--initial-branch=main", "."])
            .await?;
        let fetch = ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--end-of-options"];
        let from = [cached.path.as_str(), commit.as_str()];
        git(&target, none, &[&fetch[..], &from].concat()).await?;
        if !repo.sparse.is_empty() {
            let mut words = vec!["sparse-checkout", "set", "--cone", "--end-of-options"];
            words.extend(repo.sparse.iter().map(String::as_str));
            git(&target, none, &words).await?;
        }
        git(&target, none, &["checkout", "--quiet", "--force", "-B", "main", &commit]).await?;
        Ok(())
    }

    /// The clone of a repository, created if it is missing.
    async fn find(&self, origin: &RepoOrigin) -> Result<CachedRepo, Fault> {
        let origin = match origin {
            RepoOrigin::Url(address) => address.clone(),
            RepoOrigin::Path(path) => path.to_string(),
        };
        let Some(cache) = &self.path else {
            return Err(fault("there is no directory for caches; set `XDG_CACHE_HOME`"));
        };
        create_directories(cache, Access::Private)
            .map_err(|error| fault(format!("cannot create `{cache}`: {error}")))?;
        let hash = Sha256::digest(origin.as_bytes());
        let name = hex(&hash[..16]);
        let path = cache.join(format!("{name}.git"));
        if !path.is_dir() {
            let _lock = lock(&path).await?;
            if !path.is_dir() {
                create_clone(&path).await?;
            }
        }
        Ok(CachedRepo { origin, path })
    }

    /// The commit to check out. Only a commit that is missing needs the network; and a branch or `HEAD`,
    /// once per run, because it moves.
    async fn commit(&self, cached: &CachedRepo, repo: &WorkspaceRepo) -> Result<String, Fault> {
        let name = repo.commit.as_str();
        if name.is_empty() || name.starts_with('-') {
            return Err(fault(format!("`{name}` is not a commit")));
        }
        if name == "HEAD" {
            let _lock = lock(&cached.path).await?;
            return self.moving(cached, repo, MovingNames::Head).await;
        }
        if let Some(commit) = cached.pinned(name, repo.ancestor).await {
            return Ok(commit);
        }
        let _lock = lock(&cached.path).await?;
        if let Some(commit) = cached.pinned(name, repo.ancestor).await {
            return Ok(commit);
        }
        // A server may refuse to give a commit by its hash.
        let named = format!("+{name}:refs/evalrig/commits/{name}");
        if is_full_hash(name)
            && cached.fetch(&[&named]).await.is_ok()
            && let Some(commit) = cached.pinned(name, repo.ancestor).await
        {
            return Ok(commit);
        }
        self.moving(cached, repo, MovingNames::Branches).await
    }

    /// The commit that a name stands for now. The caller holds the lock.
    async fn moving(
        &self,
        cached: &CachedRepo,
        repo: &WorkspaceRepo,
        names: MovingNames,
    ) -> Result<String, Fault> {
        let key = (cached.path.clone(), names);
        let is_refreshed = locked(&self.refreshed).contains(&key);
        if !is_refreshed {
            cached.fetch(names.refspecs()).await?;
            locked(&self.refreshed).push(key);
        }
        let name = repo.commit.as_str();
        if names == MovingNames::Branches
            && let Some(commit) = cached.pinned(name, repo.ancestor).await
        {
            return Ok(commit);
        }
        let commit = cached.resolve(&names.reference(name), repo.ancestor).await;
        commit.ok_or_else(|| {
            let before = match repo.ancestor {
                0 => String::new(),
                count => format!(" with {count} commits before it"),
            };
            fault(format!("`{}` has no commit `{name}`{before}", shown_address(&cached.origin)))
        })
    }
}

impl CachedRepo {
    /// What never changes: a hash, complete or abbreviated, or a tag.
    async fn pinned(&self, name: &str, ancestor: u32) -> Option<String> {
        let tag = format!("refs/tags/{name}");
        if let Some(commit) = self.resolve(&tag, ancestor).await {
            return Some(commit);
        }
        let is_hash = name.len() >= 4 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_hash {
            return None;
        }
        // A branch may be named like an abbreviated hash.
        let branch = format!("refs/heads/{name}");
        if !is_full_hash(name) && self.resolve_exactly(&branch).await.is_some() {
            return None;
        }
        self.resolve(name, ancestor).await
    }

    async fn resolve(&self, name: &str, ancestor: u32) -> Option<String> {
        self.resolve_exactly(&format!("{name}~{ancestor}^{{commit}}")).await
    }

    async fn resolve_exactly(&self, name: &str) -> Option<String> {
        let words = ["rev-parse", "--verify", "--quiet", "--end-of-options", name];
        git(&self.path, GitConfig::Nothing, &words).await.ok()
    }

    /// The caller holds the lock, so no other git writes to the clone.
    async fn fetch(&self, what: &[&str]) -> Result<(), Fault> {
        remove_leftovers(&self.path);
        let words = ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--end-of-options"];
        let words = [&words[..], &[self.origin.as_str()], what].concat();
        let fetched = git(&self.path, GitConfig::User, &words).await;
        fetched.map(drop).map_err(|fault| self.without_credentials(fault))
    }

    /// git names the address in some of its messages.
    fn without_credentials(&self, fault: Fault) -> Fault {
        let mut secrets = Secrets::default();
        secrets.add_url(&self.origin);
        let message = fault.message.replace(&self.origin, &shown_address(&self.origin));
        Fault { message: secrets.redact(&message), ..fault }
    }
}

/// An address as messages show it: without user and password, which may be a token.
pub(super) fn shown_address(origin: &str) -> String {
    let Some((scheme, rest)) = origin.split_once("://") else {
        return origin.to_owned();
    };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    format!("{scheme}://{host}{path}")
}

fn is_full_hash(name: &str) -> bool {
    matches!(name.len(), 40 | 64) && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A clone without anything in it yet. It gets its name when it is complete.
async fn create_clone(path: &Utf8Path) -> Result<(), Fault> {
    let draft = Utf8PathBuf::from(format!("{path}.new"));
    let _ = remove_tree(&draft);
    let cannot = |error| fault(format!("cannot create `{path}`: {error}"));
    create_directories(&draft, Access::Private).map_err(cannot)?;
    let none = GitConfig::Nothing;
    git(&draft, none, &["init", "--quiet", "--bare", "--template=", "."]).await?;
    // Checkouts ask for commits by their hashes.
    git(&draft, none, &["config", "uploadpack.allowAnySHA1InWant", "true"]).await?;
    rename(&draft, path).map_err(cannot)
}

/// Waits for other processes that change the clone. Dropping it releases the lock.
async fn lock(path: &Utf8Path) -> Result<OpenFile, Fault> {
    let name = Utf8PathBuf::from(format!("{path}.lock"));
    let file = open_to_append(&name, Access::Private)
        .map_err(|error| fault(format!("cannot create `{name}`: {error}")))?;
    let mut waited = Duration::ZERO;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(std::fs::TryLockError::WouldBlock) if waited < PATIENCE => {
                tokio::time::sleep(POLL_INTERVAL).await;
                waited += POLL_INTERVAL;
            }
            Err(std::fs::TryLockError::WouldBlock) => {
                let message = format!("another process holds `{name}`");
                return Err(Fault::new(Stage::Workspace, FaultKind::Timeout, message));
            }
            Err(std::fs::TryLockError::Error(error)) => {
                return Err(fault(format!("cannot lock `{name}`: {error}")));
            }
        }
    }
}

fn fault(message: impl Into<String>) -> Fault {
    Fault::new(Stage::Workspace, FaultKind::Clone, message)
}
