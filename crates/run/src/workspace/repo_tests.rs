//! Repositories in workspaces.

use std::fs;
use std::process::Command;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::model::{FaultKind, RepoOrigin, Stage, Workspace, WorkspaceFiles, WorkspaceRepo};

use super::testing::{TestRun, names, write};

fn git(directory: &Utf8Path, words: &[&str]) -> String {
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
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
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
    let (origin, commits) = repository(&run);
    let cache = run.scratch.parent().unwrap().join("shared-cache");
    let runs: Vec<_> = (0..4)
        .map(|number| {
            let scratch = run.scratch.join(number.to_string());
            fs::create_dir(&scratch).unwrap();
            super::Workspaces::with_repo_cache(&scratch, Some(cache.clone()))
        })
        .collect();
    let facts = run.facts("t");
    let wanted: Vec<_> =
        (0..4).map(|number| workspace(&origin, &commits[number % 3], "app")).collect();
    let cases = runs.iter().zip(&wanted).map(|(run, wanted)| run.prepare(wanted, &facts, &[], &[]));
    for (number, case) in futures_util::future::join_all(cases).await.into_iter().enumerate() {
        let text = fs::read_to_string(case.unwrap().path().join("app/README")).unwrap();
        assert_eq!(text, format!("{}\n", number % 3));
    }
}
