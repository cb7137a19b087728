//! What an agent may do to the directory of its workspace itself, and to what the paths of checks lead
//! through. It must not keep the case from being graded, and nothing outside may be touched.

use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::symlink;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::model::{Answer, CommandQuestion, FaultKind, Workspace, WorkspaceFiles};
use rustix::fs::{CWD, FileType, Mode, OFlags, mkdirat, mknodat, openat};

use super::CaseWorkspace;
use super::testing::{TestRun, command, mode, names, set_mode, write};

async fn output(case: &CaseWorkspace, line: &str) -> String {
    match case.run_command(&command(line), None).await {
        Answer::Command(answer) => String::from_utf8(answer.stdout).unwrap(),
        other => panic!("{other:?}"),
    }
}

fn make_fifo(path: &Utf8Path) {
    mknodat(CWD, path.as_str(), FileType::Fifo, Mode::RWXU, 0).unwrap();
}

#[tokio::test]
async fn a_workspace_that_was_removed_has_no_files() {
    let remove: &dyn Fn(&Utf8Path) = &|root| fs::remove_dir_all(root).unwrap();
    let replace: &dyn Fn(&Utf8Path) = &|root| {
        remove(root);
        fs::write(root, "text").unwrap();
    };
    let replace_by_fifo: &dyn Fn(&Utf8Path) = &|root| {
        remove(root);
        make_fifo(root);
    };
    let hide: &dyn Fn(&Utf8Path) = &|root| fs::rename(root, format!("{root}-2")).unwrap();
    for act in [remove, replace, replace_by_fifo, hide] {
        let run = TestRun::new(&[("a", "1"), ("src/b", "2")]);
        let seen = run.suite.join("seen");
        let teardown = Some(run.hook(&format!("ls -A > {seen}; echo end >> {seen}")));
        let case = run.prepare(&Workspace { teardown, ..run.workspace() }).await.unwrap();
        act(case.path());
        let changes = case.changes().await.unwrap();
        assert_eq!(changes.deleted, ["a", "src/b"]);
        assert!(changes.created.is_empty() && changes.modified.is_empty());
        assert_eq!(case.read("a", 10).unwrap(), None);
        assert_eq!(case.list().unwrap(), [""; 0]);
        assert_eq!(output(&case, "ls -A; echo end").await, "end\n");
        assert_eq!(case.teardown(None).await, None);
        assert_eq!(fs::read_to_string(&seen).unwrap(), "end\n");
        assert_eq!(names(&case.keep().await.unwrap()), [""; 0]);
    }
}

#[tokio::test]
async fn a_workspace_that_was_made_anew_is_compared() {
    let run = TestRun::new(&[("a", "1"), ("b", "2")]);
    let case = run.prepare(&run.workspace()).await.unwrap();
    fs::remove_dir_all(case.path()).unwrap();
    write(&case.path().join("a"), "1");
    write(&case.path().join("c"), "3");
    let changes = case.changes().await.unwrap();
    assert_eq!((changes.created, changes.deleted), (vec!["c".to_owned()], vec!["b".to_owned()]));
}

/// Files outside the workspace, and what they are afterwards.
struct Outside(Utf8PathBuf);

impl Outside {
    fn beside(run: &TestRun) -> Self {
        let place = run.suite.parent().unwrap().join("outside");
        write(&place.join("treasure"), "gold");
        write(&place.join("workspace/treasure"), "gold");
        Self(place)
    }

    fn check(&self) {
        for path in ["treasure", "workspace/treasure"] {
            assert_eq!(fs::read_to_string(self.0.join(path)).unwrap(), "gold");
        }
        assert_eq!(names(&self.0), ["treasure", "workspace"]);
        assert_eq!(names(&self.0.join("workspace")), ["treasure"]);
    }
}

#[tokio::test]
async fn what_is_behind_a_link_in_the_place_of_the_workspace_is_not_touched() {
    for is_workspace in [true, false] {
        let run = TestRun::new(&[("a", "1")]);
        let outside = Outside::beside(&run);
        let teardown = Some(run.hook("rm -rf ./* && touch trace"));
        let workspace = Workspace { teardown, ..run.workspace() };
        for step in 0..6 {
            let mut case = run.prepare(&workspace).await.unwrap();
            let (path, place) = if is_workspace {
                (case.path().to_owned(), outside.0.clone())
            } else {
                (case.directory().to_owned(), outside.0.clone())
            };
            fs::rename(&path, format!("{path}-2")).unwrap();
            symlink(&place, &path).unwrap();
            let kind = match step {
                0 => case.changes().await.unwrap_err().kind,
                1 => case.read("treasure", 10).unwrap_err().kind,
                2 => case.list().unwrap_err().kind,
                3 => match case.run_command(&command("cat treasure"), None).await {
                    Answer::Failed(fault) => fault.kind,
                    other => panic!("{other:?}"),
                },
                4 => {
                    run.workspaces.go_on(&mut case, &run.facts("next"), &[]).await.unwrap_err().kind
                }
                _ => {
                    let warning = case.teardown(None).await.unwrap();
                    assert!(warning.contains("in the place of the workspace"), "{warning}");
                    let fault = case.keep().await.unwrap_err();
                    assert!(fault.message.contains("in the place of"), "{}", fault.message);
                    outside.check();
                    continue;
                }
            };
            assert_eq!(kind, FaultKind::Tampered, "{step}");
            case.remove().await;
            outside.check();
        }
    }
}

#[tokio::test]
async fn a_workspace_without_permissions_is_read() {
    let run = TestRun::new(&[("a", "1"), ("b", "2")]);
    let case = run.prepare(&run.workspace()).await.unwrap();
    write(&case.path().join("a"), "3");
    for path in [case.path(), case.directory()] {
        set_mode(path, 0);
    }
    assert_eq!(case.changes().await.unwrap().modified, ["a"]);
    // Root could read it as it was.
    assert_eq!(mode(case.path()) & 0o500, 0o500);
    assert_eq!(mode(case.directory()) & 0o700, 0o700);
    assert_eq!(output(&case, "cat a b").await, "32");
}

#[tokio::test]
async fn directories_may_be_nested_deeper_than_a_path_is_long() {
    let run = TestRun::new(&[("a", "1")]);
    let case = run.prepare(&run.workspace()).await.unwrap();
    let directory = OFlags::PATH | OFlags::DIRECTORY;
    let mut here: OwnedFd = openat(CWD, case.path().as_str(), directory, Mode::empty()).unwrap();
    for _ in 0..3000 {
        mkdirat(&here, c"deep", Mode::RWXU).unwrap();
        here = openat(&here, c"deep", directory, Mode::empty()).unwrap();
    }
    let flags = OFlags::WRONLY | OFlags::CREATE;
    let file = openat(&here, c"file", flags, Mode::RUSR | Mode::WUSR).unwrap();
    rustix::io::write(&file, b"text\n").unwrap();
    rustix::fs::symlinkat("file", &here, c"link").unwrap();
    let changes = case.changes().await.unwrap();
    assert_eq!(changes.created.len(), 2);
    assert!(changes.created[0].ends_with("/deep/file") && changes.diff.contains("+text\n"));
    let line = "find . -name file | tail -c 11; find . -type l | tail -c 6";
    assert_eq!(output(&case, line).await, "/deep/file\n/link\n");
}

#[tokio::test]
async fn a_directory_of_a_command_that_is_gone_is_an_answer() {
    let run = TestRun::new(&[("app/a", "1"), ("b", "2")]);
    let workspace = Workspace { cwd: Some("app".to_owned()), ..run.workspace() };
    let case = run.prepare(&workspace).await.unwrap();
    assert_eq!(output(&case, "cat a").await, "1");
    fs::remove_dir_all(case.path().join("app")).unwrap();
    let gone = |path: &str| Answer::NoDirectory(path.to_owned());
    assert_eq!(case.run_command(&command("ls"), None).await, gone("app"));
    symlink("/", case.path().join("app")).unwrap();
    assert_eq!(case.run_command(&command("ls"), None).await, gone("app"));
    let elsewhere = CommandQuestion { cwd: Some("b".to_owned()), ..command("ls") };
    assert_eq!(case.run_command(&elsewhere, None).await, gone("b"));
    let below = CommandQuestion { cwd: Some(String::new()), ..command("cat b") };
    assert!(matches!(case.run_command(&below, None).await, Answer::Command(_)));
}

#[tokio::test]
async fn fifos_and_sockets_are_created_like_files() {
    let run = TestRun::new(&[("a", "1"), ("b", "2")]);
    let setup = Some(run.hook("mkfifo before gone"));
    let case = run.prepare(&Workspace { setup, ..run.workspace() }).await.unwrap();
    let root = case.path();
    make_fifo(&root.join("fifo"));
    let _socket = std::os::unix::net::UnixListener::bind(root.join("socket")).unwrap();
    fs::remove_file(root.join("gone")).unwrap();
    fs::remove_file(root.join("b")).unwrap();
    make_fifo(&root.join("b"));
    let changes = case.changes().await.unwrap();
    assert_eq!(changes.created, ["fifo", "socket"]);
    assert_eq!(
        (changes.modified, changes.deleted),
        (vec!["b".to_owned()], vec!["gone".to_owned()])
    );
    assert!(
        changes.diff.contains("Files /dev/null and b/fifo differ; one is not a regular file\n")
    );
}

#[tokio::test]
async fn other_permissions_of_a_large_file_are_no_change_of_its_content() {
    let large = "line\n".repeat(300_000);
    let run = TestRun::new(&[("large", &large), ("other", &large)]);
    let changes = run
        .changes(|root| {
            set_mode(&root.join("large"), 0o700);
            set_mode(&root.join("other"), 0o700);
            write(&root.join("other"), large.replacen("line", "LINE", 1));
        })
        .await;
    assert_eq!(changes.modified, ["large", "other"]);
    let mode = "old mode 100644\nnew mode 100700\n";
    let expected = format!(
        "diff --git a/large b/large\n{mode}diff --git a/other b/other\n{mode}\
         Files a/other and b/other differ; one has 1500000 bytes, more than 1 MiB\n"
    );
    assert_eq!(changes.diff, expected);
}
