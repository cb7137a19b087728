//! Checkouts of a repository that holds what the agent is judged by.

use std::fs;

use camino::Utf8Path;
use evalrig_core::model::{RepoOrigin, Workspace, WorkspaceFiles, WorkspaceRepo};

use super::repo_tests::git;
use super::testing::{TestRun, names, write};
use super::{CaseWorkspace, JudgingFiles};

/// What no agent may read, in every file that it is judged by.
const SECRET: &str = "treasure";

/// A suite in a repository with what the agent works on. Returns the commits: before the suite, with it, and
/// one in which a part of it was moved away.
fn suite_in_repository() -> (TestRun, Vec<String>) {
    let mut run = TestRun::new(&[]);
    let suite = run.suite.clone();
    fs::remove_dir(suite.join("template")).unwrap();
    git(&suite, &["init", "--quiet"]);
    let commit = |message: &str| {
        git(&suite, &["add", "."]);
        git(&suite, &["commit", "--quiet", "-m", message]);
        git(&suite, &["rev-parse", "HEAD"])
    };
    write(&suite.join("src/code"), "bug\n");
    write(&suite.join("src/tool/run"), "tool\n");
    let mut commits = vec![commit("start")];
    for path in ["evals/EVAL.yaml", "evals/old.py", "src/tool/hidden/a/test", ".evalrig/targets"] {
        write(&suite.join(path), format!("{SECRET} {path}\n"));
    }
    write(&suite.join("evals/notes"), "notes\n");
    commits.push(commit("suite"));
    git(&suite, &["mv", "evals/old.py", "evals/judge.py"]);
    write(&suite.join("src/code"), "bug 2\n");
    commits.push(commit("move"));
    let judging = ["evals/judge.py", "src/tool/hidden", ".evalrig", ".co/evals"];
    let judging = judging.map(|path| suite.join(path));
    run.judging = JudgingFiles::new(&suite.join("evals/EVAL.yaml"), judging);
    (run, commits)
}

fn workspace(origin: RepoOrigin, commit: &str) -> Workspace {
    let repo = WorkspaceRepo {
        origin,
        commit: commit.to_owned(),
        path: "app".to_owned(),
        ancestor: 0,
        sparse: Vec::new(),
    };
    Workspace { repos: vec![repo], ..Workspace::default() }
}

/// Everything that git can show, as text.
fn all_objects(app: &Utf8Path) -> String {
    git(app, &["cat-file", "--batch", "--batch-all-objects", "--buffer"])
}

fn check_nothing_is_found(case: &CaseWorkspace) {
    let app = case.path().join("app");
    assert_eq!(names(&app), [".git", "evals", "src"]);
    assert_eq!(names(&app.join("evals")), ["notes"]);
    assert_eq!(names(&app.join("src")), ["code", "tool"]);
    assert_eq!(names(&app.join("src/tool")), ["run"]);
    assert_eq!(fs::read_to_string(app.join("src/code")).unwrap(), "bug 2\n");
    assert_eq!(git(&app, &["status", "--porcelain", "--branch"]), "## main");
    assert_eq!(git(&app, &["rev-list", "--all", "--reflog", "--count"]), "1");
    let all = all_objects(&app);
    assert!(all.contains("bug 2") && !all.contains(SECRET), "{all}");
    assert!(!all.contains("judge.py") && !all.contains("EVAL.yaml"), "{all}");
}

#[tokio::test]
async fn the_repository_of_the_suite_has_neither_the_suite_nor_its_history() {
    let (run, commits) = suite_in_repository();
    let case = run.prepare(&workspace(RepoOrigin::Path(run.suite.clone()), &commits[2])).await;
    check_nothing_is_found(&case.unwrap());
    let git_directory = RepoOrigin::Path(run.suite.join(".git"));
    let case = run.prepare(&workspace(git_directory, "main")).await.unwrap();
    check_nothing_is_found(&case);
    // The commit is the same one in every run.
    let head = |case: &CaseWorkspace| git(&case.path().join("app"), &["rev-parse", "HEAD"]);
    let again = run.prepare(&workspace(RepoOrigin::Path(run.suite.clone()), "main")).await.unwrap();
    assert_eq!(head(&case), head(&again));
}

#[tokio::test]
async fn a_clone_of_that_repository_is_the_same_repository() {
    let (run, commits) = suite_in_repository();
    let clone = run.suite.parent().unwrap().join("clone");
    git(&run.suite, &["clone", "--quiet", ".", clone.as_str()]);
    for origin in [RepoOrigin::Path(clone.clone()), RepoOrigin::Url(format!("file://{clone}"))] {
        check_nothing_is_found(&run.prepare(&workspace(origin, &commits[2])).await.unwrap());
    }
    // A shallow clone of the suite, or none at all, does not know the commit.
    fs::remove_dir_all(run.suite.join(".git")).unwrap();
    let origin = RepoOrigin::Url(format!("file://{clone}/."));
    check_nothing_is_found(&run.prepare(&workspace(origin, &commits[2])).await.unwrap());
}

#[tokio::test]
async fn a_sparse_checkout_has_no_history_of_the_suite_either() {
    let (run, commits) = suite_in_repository();
    let mut workspace = workspace(RepoOrigin::Path(run.suite.clone()), &commits[2]);
    workspace.repos[0].sparse = vec!["src/tool".to_owned()];
    let case = run.prepare(&workspace).await.unwrap();
    let app = case.path().join("app");
    assert_eq!(names(&app.join("src/tool")), ["run"]);
    assert!(!app.join("evals").exists());
    assert!(!all_objects(&app).contains(SECRET));
    // A judge that was moved since: its present path is in no earlier commit, but the suite is.
    workspace.repos[0].commit = commits[1].clone();
    let case = run.prepare(&workspace).await.unwrap();
    assert_eq!(git(&case.path().join("app"), &["rev-list", "--all", "--count"]), "1");
}

#[tokio::test]
async fn what_does_not_hold_the_suite_keeps_its_history() {
    let (run, commits) = suite_in_repository();
    let earlier = workspace(RepoOrigin::Path(run.suite.clone()), &commits[0]);
    let case = run.prepare(&earlier).await.unwrap();
    assert_eq!(git(&case.path().join("app"), &["rev-parse", "HEAD"]), commits[0]);
    // Another repository with files of the same names.
    let other = run.suite.join("vendor");
    fs::create_dir_all(&other).unwrap();
    git(&other, &["init", "--quiet"]);
    for text in ["one", "two"] {
        write(&other.join("evals/EVAL.yaml"), text);
        write(&other.join(".evalrig/targets"), text);
        git(&other, &["add", "."]);
        git(&other, &["commit", "--quiet", "-m", text]);
    }
    let case = run.prepare(&workspace(RepoOrigin::Path(other), "main")).await.unwrap();
    let app = case.path().join("app");
    assert_eq!(names(&app), [".evalrig", ".git", "evals"]);
    assert_eq!(git(&app, &["rev-list", "--all", "--count"]), "2");
}
