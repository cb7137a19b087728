//! What workspaces are copied from, while templates and bases change.

use std::fs;
use std::time::Duration;

use evalrig_core::model::{FaultKind, Stage, WorkspaceFiles};

use super::base::{BaseError, WorkspaceBase};
use super::base_source::SourceDirectory;
use super::testing::{TestRun, names, write};

const FILES: &[(&str, &str)] = &[("a", "1"), ("sub/b", "2"), (".gitignore", "c\n"), ("c", "3")];

#[tokio::test]
async fn later_cases_start_from_the_files_of_the_first_one() {
    for run in [TestRun::new(FILES), TestRun::with_fresh_template(FILES)] {
        let first = run.prepare(&run.workspace()).await.unwrap();
        run.workspaces.settled().await;
        assert_eq!(names(&run.scratch.join("bases")).len(), 1);
        write(&run.template().join("a"), "changed");
        write(&run.template().join("new"), "");
        fs::remove_file(run.template().join("sub/b")).unwrap();
        let second = run.prepare(&run.workspace()).await.unwrap();
        for case in [&first, &second] {
            assert_eq!(names(case.path()), [".gitignore", "a", "c", "sub"]);
            assert_eq!(case.read("a", 10).unwrap().unwrap(), b"1");
            assert_eq!(case.read("sub/b", 10).unwrap().unwrap(), b"2");
            assert!(case.changes().await.unwrap().is_empty());
        }
        drop((first, second));
        run.workspaces.finish().await;
        assert_eq!(names(&run.scratch.join("bases")), [""; 0]);
    }
}

#[tokio::test]
async fn the_diff_of_a_case_that_was_copied_from_the_template_is_right() {
    let run = TestRun::new(FILES);
    let case = run.prepare(&run.workspace()).await.unwrap();
    write(&case.path().join("a"), "0");
    write(&case.path().join("c"), "ignored");
    // A later change of the template does not take part.
    write(&run.template().join("a"), "other");
    run.workspaces.settled().await;
    let changes = case.changes().await.unwrap();
    assert_eq!((changes.modified, changes.created), (vec!["a".to_owned()], Vec::new()));
    assert!(changes.diff.contains("-1\n"), "{}", changes.diff);
}

/// A base that is copied from the template itself.
fn unsettled(run: &TestRun) -> WorkspaceBase {
    let directory = SourceDirectory::template(&run.template(), run.facts("test").reach);
    let texts = run.scratch.join("texts");
    WorkspaceBase::of_template(directory, texts, &[], Duration::ZERO).unwrap()
}

#[test]
fn a_template_that_changes_before_it_was_copied_is_no_longer_copied_from() {
    let changes: [fn(&TestRun); 4] = [
        |run| write(&run.template().join("a"), "2"),
        |run| write(&run.template().join("c"), "not evidence"),
        |run| write(&run.template().join("new"), ""),
        |run| fs::remove_file(run.template().join("sub/b")).unwrap(),
    ];
    for change in changes {
        let run = TestRun::new(FILES);
        let base = unsettled(&run);
        assert!(base.needs_settling() && !base.needs_settling(), "one case is enough");
        let copy = run.scratch.join("copy");
        fs::create_dir(&copy).unwrap();
        change(&run);
        assert!(matches!(base.copy_to(&copy), Err(BaseError::Tampered)));
        let settled = run.scratch.join("settled");
        fs::create_dir(&settled).unwrap();
        assert!(matches!(base.settle(settled.clone()), Err(BaseError::Tampered)));
        assert!(!settled.exists() && base.source().directory.is_template());
    }
}

#[test]
fn a_template_that_was_changed_just_now_is_not_a_base() {
    let run = TestRun::new(FILES);
    let directory = SourceDirectory::template(&run.template(), run.facts("test").reach);
    let hour = Duration::from_hours(1);
    assert!(WorkspaceBase::of_template(directory, run.scratch.join("t"), &[], hour).is_err());
    assert_eq!(names(&run.scratch), [""; 0]);
}

#[tokio::test]
async fn a_base_that_cannot_be_made_again_as_it_was_is_a_fault() {
    let run = TestRun::new(FILES);
    drop(run.prepare(&run.workspace()).await.unwrap());
    run.workspaces.settled().await;
    let bases = run.scratch.join("bases");
    let tamper = || {
        let name = names(&bases).remove(0);
        write(&bases.join(name).join("a"), "by an agent");
    };
    tamper();
    let case = run.prepare(&run.workspace()).await.unwrap();
    assert_eq!(case.read("a", 10).unwrap().unwrap(), b"1", "made again from the same template");
    run.workspaces.settled().await;
    tamper();
    write(&run.template().join("a"), "by the author");
    for _ in 0..2 {
        let fault = run.prepare(&run.workspace()).await.unwrap_err();
        assert_eq!((fault.stage, fault.kind), (Stage::Workspace, FaultKind::ChangedFile));
        assert!(fault.message.contains("has changed since the first case"), "{}", fault.message);
    }
}
