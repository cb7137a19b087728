//! Repositories in workspaces.

use std::fs;
use std::process::Command;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::model::{FaultKind, RepoOrigin, Stage, Workspace, WorkspaceFiles, WorkspaceRepo};

use super::repo::shown_address;
use super::testing::{TestRun, names, write};

pub(super) fn git(directory: &Utf8Path, words: &[&str]) -> String {
    let output = Command::new("git")
        .args([
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@example.org",
            "-c",
            "init.defaultBranch=main",
        ])
        .args(words)
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// A repository with three commits, of which the last one is the solution.
fn repository(run: &TestRun) -> (Utf8PathBuf, Vec<String>) {
    let path = run.suite.join("origin");
    fs::create_dir_all(&path).unwrap();
    git(&path, &["init", "--quiet"]);
    let mut commits = Vec::new();
    for (number, text) in ["one\n", "bug\n", "solution\n"].iter().enumerate() {
        write(&path.join("src/code"), text);
        write(&path.join("docs/page"), text);
        write(&path.join("README"), format!("{number}\n"));
        git(&path, &["add", "."]);
        git(&path, &["commit", "--quiet", "-m", text.trim()]);
        commits.push(git(&path, &["rev-parse", "HEAD"]));
    }
    git(&path, &["tag", "v1", &commits[1]]);
    (path, commits)
}

/// Files in each commit of [`large_repository`]: git keeps fetches of fewer than 100 objects in single files.
const FILES: usize = 150;

/// A repository with three commits, each of which adds files.
fn large_repository(run: &TestRun) -> (Utf8PathBuf, Vec<String>) {
    let path = run.suite.join("large");
    fs::create_dir_all(&path).unwrap();
    git(&path, &["init", "--quiet"]);
    let commits = (0..3).map(|number| {
        for file in 0..FILES {
            write(&path.join(format!("d{number}/{file}")), format!("{number} {file}\n"));
        }
        git(&path, &["add", "."]);
        git(&path, &["commit", "--quiet", "-m", "more"]);
        git(&path, &["rev-parse", "HEAD"])
    });
    let commits = commits.collect();
    (path, commits)
}

/// The only clone in a cache.
fn clone_in(cache: &Utf8Path) -> Utf8PathBuf {
    let clones: Vec<_> = names(cache).into_iter().filter(|name| name.ends_with(".git")).collect();
    assert_eq!(clones.len(), 1, "{clones:?}");
    cache.join(&clones[0])
}

/// How many packs and objects a clone has. An object that was downloaded twice counts twice.
fn downloads(clone: &Utf8Path) -> (usize, usize) {
    let counts = git(clone, &["count-objects", "-v"]);
    let of = |name: &str| -> usize {
        let mut lines = counts.lines().filter_map(|line| line.strip_prefix(name));
        lines.find_map(|line| line.strip_prefix(": ")).unwrap().parse().unwrap()
    };
    (of("packs"), of("count") + of("in-pack"))
}

/// How many objects a commit and its history have.
fn objects(origin: &Utf8Path, commit: &str) -> usize {
    git(origin, &["rev-list", "--objects", commit]).lines().count()
}

/// To complete a pack, git may add what it is a difference to.
const ADDED_TO_A_PACK: usize = 3;

fn workspace(path: &Utf8Path, commit: &str, below: &str) -> Workspace {
    let repo = WorkspaceRepo {
        origin: RepoOrigin::Path(path.to_owned()),
        commit: commit.to_owned(),
        path: below.to_owned(),
        ancestor: 0,
        sparse: Vec::new(),
    };
    Workspace { repos: vec![repo], ..Workspace::default() }
}

#[tokio::test]
async fn a_checkout_has_the_history_of_its_commit_and_nothing_later() {
    let run = TestRun::new(&[]);
    let (origin, commits) = repository(&run);
    let case = run.prepare(&workspace(&origin, &commits[1], "app")).await.unwrap();
    let app = case.path().join("app");
    assert_eq!(fs::read_to_string(app.join("src/code")).unwrap(), "bug\n");
    assert_eq!(git(&app, &["status", "--porcelain", "--branch"]), "## main");
    assert_eq!(git(&app, &["log", "--format=%s", "--all", "--reflog"]), "bug\none");
    assert_eq!(git(&app, &["remote"]), "");
    let known = git(&app, &["cat-file", "--batch-check", "--batch-all-objects"]);
    assert!(!known.contains(&commits[2]), "the solution is not in the repository");
    assert!(!names(&app.join(".git")).contains(&"hooks".to_owned()));
    assert!(case.changes().await.unwrap().is_empty());
    write(&app.join("src/code"), "fixed\n");
    git(&app, &["commit", "--quiet", "-am", "fix"]);
    assert_eq!(case.changes().await.unwrap().modified, [""; 0], "the first answer stays");
}

#[tokio::test]
async fn the_agents_commits_are_seen_in_its_files() {
    let run = TestRun::new(&[]);
    let (origin, commits) = repository(&run);
    let case = run.prepare(&workspace(&origin, &commits[1], "")).await.unwrap();
    write(&case.path().join("src/code"), "fixed\n");
    git(case.path(), &["commit", "--quiet", "-am", "fix"]);
    let changes = case.changes().await.unwrap();
    assert_eq!(changes.modified, ["src/code"]);
    assert!(changes.diff.contains("-bug\n+fixed\n"));
    assert_eq!(case.list().unwrap(), ["README", "docs/page", "src/code"]);
}

#[tokio::test]
async fn a_repository_lies_over_the_template() {
    let run = TestRun::new(&[("README", "template"), ("extra", "kept"), ("app/src", "file")]);
    let (origin, commits) = repository(&run);
    let template = run.workspace().template;
    let root = Workspace { template: template.clone(), ..workspace(&origin, &commits[0], "") };
    let case = run.prepare(&root).await.unwrap();
    assert_eq!(fs::read_to_string(case.path().join("README")).unwrap(), "0\n");
    assert_eq!(fs::read_to_string(case.path().join("extra")).unwrap(), "kept");
    let below = Workspace { template, ..workspace(&origin, &commits[0], "app") };
    let case = run.prepare(&below).await.unwrap();
    assert_eq!(fs::read_to_string(case.path().join("app/src/code")).unwrap(), "one\n");
}

#[tokio::test]
async fn commits_are_named_by_hash_tag_or_branch_and_counted_back() {
    let run = TestRun::new(&[]);
    let (origin, commits) = repository(&run);
    let text = async |commit: &str, ancestor: u32| {
        let mut workspace = workspace(&origin, commit, "app");
        workspace.repos[0].ancestor = ancestor;
        let case = run.prepare(&workspace).await.map_err(|fault| {
            assert_eq!((fault.stage, fault.kind), (Stage::Workspace, FaultKind::Clone));
            fault.message
        })?;
        Ok::<_, String>(fs::read_to_string(case.path().join("app/src/code")).unwrap())
    };
    assert_eq!(text(&commits[1], 0).await.unwrap(), "bug\n");
    assert_eq!(text(&commits[1][..8], 0).await.unwrap(), "bug\n");
    assert_eq!(text("v1", 0).await.unwrap(), "bug\n");
    assert_eq!(text("v1", 1).await.unwrap(), "one\n");
    assert_eq!(text("main", 0).await.unwrap(), "solution\n");
    assert_eq!(text("main", 2).await.unwrap(), "one\n");
    let missing = format!("`{origin}` has no commit `v1` with 5 commits before it");
    assert_eq!(text("v1", 5).await.unwrap_err(), missing);
    assert_eq!(text("v2", 0).await.unwrap_err(), format!("`{origin}` has no commit `v2`"));
    assert_eq!(text("--upload-pack=x", 0).await.unwrap_err(), "`--upload-pack=x` is not a commit");
    let gone = "0123456789012345678901234567890123456789";
    assert_eq!(text(gone, 0).await.unwrap_err(), format!("`{origin}` has no commit `{gone}`"));
}

#[tokio::test]
async fn head_is_what_the_repository_has_checked_out() {
    let run = TestRun::new(&[]);
    let (origin, commits) = repository(&run);
    let at = async |ancestor: u32| {
        let mut workspace = workspace(&origin, "HEAD", "app");
        workspace.repos[0].ancestor = ancestor;
        // Each run looks again.
        let cache = Some(run.suite.join("../head-cache"));
        let fresh = super::Workspaces::with_repo_cache(&run.scratch, cache);
        let case = fresh.prepare(&workspace, &run.facts("t"), &[], &[]).await;
        fs::read_to_string(case.unwrap().path().join("app/src/code")).unwrap()
    };
    assert_eq!(at(0).await, "solution\n");
    assert_eq!(at(2).await, "one\n");
    git(&origin, &["checkout", "--quiet", "-b", "HEADING", &commits[0]]);
    assert_eq!(at(0).await, "one\n", "another branch");
    git(&origin, &["checkout", "--quiet", "--detach", &commits[1]]);
    assert_eq!(at(0).await, "bug\n", "no branch");
    let copy = run.suite.join("copy");
    git(&run.suite, &["clone", "--quiet", "origin", "copy"]);
    git(&copy, &["commit", "--quiet", "--allow-empty", "--amend", "-m", "on no branch"]);
    write(&copy.join("src/code"), "uncommitted\n");
    let case = run.prepare(&workspace(&copy, "HEAD", "app")).await.unwrap();
    let app = case.path().join("app");
    assert_eq!(git(&app, &["log", "-1", "--format=%s"]), "on no branch");
    assert_eq!(fs::read_to_string(app.join("src/code")).unwrap(), "bug\n");
}

#[tokio::test]
async fn an_empty_repository_has_no_head() {
    let run = TestRun::new(&[]);
    let path = run.suite.join("origin");
    fs::create_dir_all(&path).unwrap();
    git(&path, &["init", "--quiet"]);
    let fault = run.prepare(&workspace(&path, "HEAD", "app")).await.unwrap_err();
    assert_eq!((fault.stage, fault.kind), (Stage::Workspace, FaultKind::Clone));
    assert!(fault.message.contains("HEAD"), "{}", fault.message);
}

#[tokio::test]
async fn only_a_missing_commit_is_fetched() {
    let run = TestRun::new(&[]);
    let (origin, commits) = repository(&run);
    run.prepare(&workspace(&origin, &commits[2], "app")).await.unwrap();
    fs::rename(&origin, run.suite.join("moved")).unwrap();
    let case = run.prepare(&workspace(&origin, &commits[1], "app")).await.unwrap();
    assert_eq!(fs::read_to_string(case.path().join("app/README")).unwrap(), "1\n");
    let fault = run.prepare(&workspace(&origin, "main", "app")).await.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Clone);
    assert!(fault.message.contains("does not appear to be a git repository"), "{}", fault.message);
}

#[tokio::test]
async fn a_further_commit_is_fetched_without_the_objects_that_are_there() {
    let run = TestRun::new(&[]);
    let (origin, commits) = large_repository(&run);
    for (at, commit) in commits.iter().enumerate() {
        run.prepare(&workspace(&origin, commit, "app")).await.unwrap();
        let (_, count) = downloads(&clone_in(&run.suite.join("../cache")));
        let wanted = objects(&origin, commit);
        assert!((wanted..=wanted + ADDED_TO_A_PACK * at).contains(&count), "{count} of {wanted}");
    }
}

#[tokio::test]
async fn what_a_killed_git_has_left_keeps_no_other_from_fetching() {
    let run = TestRun::new(&[]);
    let (origin, commits) = repository(&run);
    run.prepare(&workspace(&origin, &commits[0], "app")).await.unwrap();
    let clone = clone_in(&run.suite.join("../cache"));
    let left = ["refs/heads/main.lock", "packed-refs.lock", "objects/pack/tmp_pack_a1b2c3"];
    let commit = format!("refs/evalrig/commits/{}.lock", commits[2]);
    for path in left.into_iter().chain([commit.as_str()]) {
        write(&clone.join(path), "");
    }
    for name in [&commits[2], "main"] {
        let case = run.prepare(&workspace(&origin, name, "app")).await.unwrap();
        assert_eq!(fs::read_to_string(case.path().join("app/README")).unwrap(), "2\n");
    }
    assert!(!left.iter().any(|path| clone.join(path).exists()));
    assert_eq!(git(&clone, &["rev-parse", "main"]), commits[2]);
}

#[tokio::test]
async fn no_message_has_the_credentials_of_an_address() {
    for (address, shown) in [
        ("https://robot:ghp-5b81c0@example.org/a.git", "https://example.org/a.git"),
        ("https://ghp-5b81c0@example.org:8080/a@b", "https://example.org:8080/a@b"),
        ("https://example.org", "https://example.org"),
        ("git@example.org:a.git", "git@example.org:a.git"),
        ("/a@b/c", "/a@b/c"),
    ] {
        assert_eq!(shown_address(address), shown);
    }
    let run = TestRun::new(&[]);
    let mut wanted = workspace(&run.suite, "main", "app");
    for scheme in ["file", "http"] {
        let address = format!("{scheme}://robot:ghp-5b81c0d2@127.0.0.1:1/a.git");
        wanted.repos[0].origin = RepoOrigin::Url(address);
        let fault = run.prepare(&wanted).await.unwrap_err();
        assert_eq!(fault.kind, FaultKind::Clone);
        assert!(!fault.message.contains("ghp-5b81c0d2"), "{}", fault.message);
    }
}

#[tokio::test]
async fn sparse_checkouts_have_only_their_directories() {
    let run = TestRun::new(&[]);
    let (origin, commits) = repository(&run);
    let mut workspace = workspace(&origin, &commits[1], "app");
    workspace.repos[0].sparse = vec!["src".to_owned()];
    let case = run.prepare(&workspace).await.unwrap();
    let app = case.path().join("app");
    assert_eq!(names(&app), [".git", "README", "src"]);
    assert_eq!(git(&app, &["status", "--porcelain"]), "");
}

#[tokio::test]
async fn no_program_of_a_repository_or_address_is_run() {
    let run = TestRun::new(&[]);
    let (origin, commits) = repository(&run);
    let trace = run.suite.join("trace");
    write(&origin.join(".git/hooks/post-checkout"), format!("#!/bin/sh\ntouch {trace}\n"));
    write(&origin.join(".gitattributes"), "* filter=evil\n");
    git(&origin, &["add", "."]);
    git(&origin, &["commit", "--quiet", "-m", "attributes"]);
    let commit = git(&origin, &["rev-parse", "HEAD"]);
    run.prepare(&workspace(&origin, &commit, "app")).await.unwrap();
    let mut evil = workspace(&origin, &commits[0], "app");
    for address in [format!("ext::touch {trace}"), format!("--upload-pack=touch {trace}")] {
        evil.repos[0].origin = RepoOrigin::Url(address);
        assert_eq!(run.prepare(&evil).await.unwrap_err().kind, FaultKind::Clone);
    }
    assert!(!trace.exists());
}

#[tokio::test]
async fn several_runs_share_a_cache() {
    let run = TestRun::new(&[]);
    let (origin, commits) = large_repository(&run);
    let cache = run.scratch.parent().unwrap().join("shared-cache");
    let runs: Vec<_> = (0..6)
        .map(|number| {
            let scratch = run.scratch.join(number.to_string());
            fs::create_dir(&scratch).unwrap();
            super::Workspaces::with_repo_cache(&scratch, Some(cache.clone()))
        })
        .collect();
    let facts = run.facts("t");
    let wanted: Vec<_> =
        (0..6).map(|number| workspace(&origin, &commits[number % 3], "app")).collect();
    let cases = runs.iter().zip(&wanted).map(|(run, wanted)| run.prepare(wanted, &facts, &[], &[]));
    for (number, case) in futures_util::future::join_all(cases).await.into_iter().enumerate() {
        let case = case.unwrap();
        let app = case.path().join("app");
        let directories = (0..=number % 3).map(|number| format!("d{number}"));
        let expected: Vec<_> = [".git".to_owned()].into_iter().chain(directories).collect();
        assert_eq!(names(&app), expected);
    }
    // Each object is downloaded once, whichever run was first.
    let (packs, count) = downloads(&clone_in(&cache));
    let all = objects(&origin, &commits[2]);
    assert!((1..=3).contains(&packs), "{packs} packs");
    assert!((all..=all + ADDED_TO_A_PACK * packs).contains(&count), "{count} of {all}");
}
