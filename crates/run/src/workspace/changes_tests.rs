//! What is found when an agent did something to its workspace.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::time::SystemTime;

use camino::Utf8Path;
use evalrig_core::model::{FaultKind, Workspace, WorkspaceFiles};
use proptest::prelude::*;

use super::testing::{TestRun, mode, set_mode, write};

#[tokio::test]
async fn nothing_changed() {
    let run = TestRun::new(&[("a", "1\n"), ("b/c", "2\n")]);
    let changes = run.changes(|_| {}).await;
    assert!(changes.is_empty(), "{changes:?}");
    assert_eq!((changes.diff.as_str(), changes.is_diff_truncated), ("", false));
}

#[tokio::test]
async fn created_changed_and_deleted_files_are_listed_in_byte_order() {
    let run = TestRun::new(&[("a", "1\n2\n3\n"), ("b/c", "2\n"), ("b/d", "x\n"), ("z", "")]);
    let changes = run
        .changes(|root| {
            write(&root.join("a"), "1\ntwo\n3\n");
            fs::remove_file(root.join("b/c")).unwrap();
            fs::rename(root.join("b/d"), root.join("b/e")).unwrap();
            write(&root.join("new/x"), "hello\n");
            write(&root.join("B"), "");
        })
        .await;
    assert_eq!(changes.created, ["B", "b/e", "new/x"]);
    assert_eq!(changes.modified, ["a"]);
    assert_eq!(changes.deleted, ["b/c", "b/d"]);
    let expected = "\
diff --git a/B b/B
new file mode 100644
diff --git a/a b/a
--- a/a
+++ b/a
@@ -1,3 +1,3 @@
 1
-2
+two
 3
diff --git a/b/c b/b/c
deleted file mode 100644
--- a/b/c
+++ /dev/null
@@ -1 +0,0 @@
-2
diff --git a/b/d b/b/d
deleted file mode 100644
--- a/b/d
+++ /dev/null
@@ -1 +0,0 @@
-x
diff --git a/b/e b/b/e
new file mode 100644
--- /dev/null
+++ b/b/e
@@ -0,0 +1 @@
+x
diff --git a/new/x b/new/x
new file mode 100644
--- /dev/null
+++ b/new/x
@@ -0,0 +1 @@
+hello
";
    assert_eq!(changes.diff, expected);
}

#[tokio::test]
async fn the_diff_is_one_that_git_applies() {
    let run = TestRun::new(&[
        ("a", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n"),
        ("crlf", "one\r\ntwo\r\n"),
        ("no-newline", "last"),
        ("gone", "x\n"),
        ("sub/tool.sh", "#!/bin/sh\n"),
    ]);
    let case = run.prepare(&run.workspace()).await.unwrap();
    let root = case.path();
    write(&root.join("a"), "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\nend");
    write(&root.join("crlf"), "one\r\n2\r\n");
    write(&root.join("no-newline"), "last\none");
    fs::remove_file(root.join("gone")).unwrap();
    set_mode(&root.join("sub/tool.sh"), 0o755);
    write(&root.join("odd \"name\"\twith\nall"), "x");
    let changes = case.changes().await.unwrap();
    let copy = run.suite.join("copy");
    fs::create_dir(&copy).unwrap();
    for name in ["a", "crlf", "no-newline", "gone"] {
        fs::copy(run.template().join(name), copy.join(name)).unwrap();
    }
    write(&copy.join("sub/tool.sh"), "#!/bin/sh\n");
    write(&run.suite.join("patch"), &changes.diff);
    let applied = std::process::Command::new("git")
        .args(["apply", "--verbose", "../patch"])
        .env("GIT_CEILING_DIRECTORIES", run.suite.as_str())
        .current_dir(&copy)
        .output()
        .unwrap();
    assert!(
        applied.status.success(),
        "{}\n{}",
        String::from_utf8_lossy(&applied.stderr),
        changes.diff
    );
    for name in ["a", "crlf", "no-newline", "odd \"name\"\twith\nall"] {
        assert_eq!(
            fs::read(copy.join(name)).unwrap(),
            fs::read(root.join(name)).unwrap(),
            "{name}"
        );
    }
    assert!(!copy.join("gone").exists());
}

#[tokio::test]
async fn a_changed_file_with_its_old_size_and_time_is_found() {
    let run = TestRun::new(&[("a", "one\n"), ("b", "one\n")]);
    let changes = run
        .changes(|root| {
            for name in ["a", "b"] {
                let path = root.join(name);
                let before = fs::metadata(&path).unwrap().modified().unwrap();
                let text = if name == "a" { "two\n" } else { "one\n" };
                fs::write(&path, text).unwrap();
                let file = fs::File::options().write(true).open(&path).unwrap();
                file.set_modified(before).unwrap();
            }
        })
        .await;
    assert_eq!(changes.modified, ["a"], "`b` has the same content");
}

#[tokio::test]
async fn touching_a_file_is_not_a_change() {
    let run = TestRun::new(&[("a", "one\n")]);
    let changes = run
        .changes(|root| {
            let file = fs::File::options().write(true).open(root.join("a")).unwrap();
            file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
            fs::hard_link(root.join("a"), root.join("linked")).unwrap();
        })
        .await;
    assert_eq!((changes.modified.len(), changes.created), (0, vec!["linked".to_owned()]));
}

#[tokio::test]
async fn permissions_are_part_of_a_file() {
    let run = TestRun::new(&[("tool.sh", "#!/bin/sh\n")]);
    let changes = run.changes(|root| set_mode(&root.join("tool.sh"), 0o755)).await;
    assert_eq!(changes.modified, ["tool.sh"]);
    let expected = "diff --git a/tool.sh b/tool.sh\nold mode 100644\nnew mode 100755\n";
    assert_eq!(changes.diff, expected);
}

#[tokio::test]
async fn binary_files_and_texts_without_an_end_are_shown_as_what_they_are() {
    let run = TestRun::new(&[("bin", "\0old"), ("text", "a\nb")]);
    let changes = run
        .changes(|root| {
            write(&root.join("bin"), b"\0new");
            write(&root.join("text"), "a\nb\n");
            write(&root.join("latin"), b"caf\xe9\n");
        })
        .await;
    let expected = "\
diff --git a/bin b/bin
Binary files a/bin and b/bin differ
diff --git a/latin b/latin
new file mode 100644
--- /dev/null
+++ b/latin
@@ -0,0 +1 @@
+caf\u{fffd}
diff --git a/text b/text
--- a/text
+++ b/text
@@ -1,2 +1,2 @@
 a
-b
\\ No newline at end of file
+b
";
    assert_eq!(changes.diff, expected);
    assert!(!changes.is_diff_truncated);
}

#[tokio::test]
async fn links_are_compared_by_their_targets() {
    let run = TestRun::new(&[("a", "x\n"), ("b", "y\n")]);
    symlink("a", run.template().join("link")).unwrap();
    symlink("a", run.template().join("same")).unwrap();
    let changes = run
        .changes(|root| {
            fs::remove_file(root.join("link")).unwrap();
            symlink("b", root.join("link")).unwrap();
            // A link is never followed, so this is not a copy of the file.
            symlink("/etc/passwd", root.join("out")).unwrap();
            fs::remove_file(root.join("b")).unwrap();
            symlink("a", root.join("b")).unwrap();
        })
        .await;
    assert_eq!(
        (changes.created.as_slice(), changes.modified.as_slice()),
        (&["out".to_owned()][..], &["b".to_owned(), "link".to_owned()][..])
    );
    assert!(changes.diff.contains("+/etc/passwd\n\\ No newline"), "{}", changes.diff);
    assert!(changes.diff.contains("deleted file mode 100644\n--- a/b\n"), "{}", changes.diff);
    assert!(changes.diff.contains("new file mode 120000\n--- /dev/null\n+++ b/b\n"));
}

#[tokio::test]
async fn names_that_are_not_utf8_are_shown_with_their_bytes() {
    let run = TestRun::new(&[]);
    let odd = OsStr::from_bytes(b"caf\xe9");
    write(&run.template().join("x"), "");
    fs::write(run.template().as_std_path().join(odd), "old\n").unwrap();
    let case = run.prepare(&run.workspace()).await.unwrap();
    fs::write(case.path().as_std_path().join(odd), "new\n").unwrap();
    fs::write(case.path().as_std_path().join(OsStr::from_bytes(b"\xff")), "").unwrap();
    let changes = case.changes().await.unwrap();
    assert_eq!(
        (changes.modified, changes.created),
        (vec![r"caf\351".to_owned()], vec![r"\377".to_owned()])
    );
    assert!(changes.diff.contains("-old\n+new\n"));
    assert_eq!(case.list().unwrap(), [r"\377", r"caf\351", "x"]);
}

#[tokio::test]
async fn the_rules_in_force_are_those_of_the_snapshot() {
    let run = TestRun::new(&[(".gitignore", "*.log\n"), ("src/a", "1\n")]);
    let changes = run
        .changes(|root| {
            write(&root.join("x.log"), "");
            write(&root.join(".gitignore"), "src/\nhidden\n");
            write(&root.join("src/.gitignore"), "*\n");
            write(&root.join("src/a"), "2\n");
            write(&root.join("hidden"), "");
        })
        .await;
    assert_eq!(changes.modified, [".gitignore", "src/a"]);
    assert_eq!(changes.created, ["hidden", "src/.gitignore"]);
}

#[tokio::test]
async fn repositories_that_the_agent_makes_are_left_out_but_not_their_files() {
    let run = TestRun::new(&[("a", "")]);
    let changes = run
        .changes(|root| {
            write(&root.join(".git/HEAD"), "ref: x");
            write(&root.join("lib/.git/objects/aa"), "");
            write(&root.join("lib/code.c"), "int x;\n");
        })
        .await;
    assert_eq!(changes.created, ["lib/code.c"]);
}

#[tokio::test]
async fn special_files_and_locked_directories_do_not_stop_it() {
    let run = TestRun::new(&[("a/b", "x\n")]);
    let changes = run
        .changes(|root| {
            let fifo = std::process::Command::new("mkfifo").arg(root.join("pipe")).status();
            assert!(fifo.unwrap().success());
            write(&root.join("locked/x"), "");
            set_mode(&root.join("locked"), 0);
            set_mode(&root.join("a"), 0);
        })
        .await;
    assert_eq!(changes.created, ["locked/x", "pipe"]);
    assert!(changes.modified.is_empty() && changes.deleted.is_empty());
}

#[tokio::test]
async fn large_files_are_named_and_long_diffs_are_cut() {
    let run = TestRun::new(&[("big", &"x\n".repeat(600_000))]);
    let changes = run
        .changes(|root| {
            write(&root.join("big"), "y\n".repeat(600_000));
            for number in 0..40 {
                write(&root.join(format!("n{number:02}")), "line\n".repeat(2_000));
            }
        })
        .await;
    assert_eq!((changes.modified.len(), changes.created.len()), (1, 40));
    let note = "Files a/big and b/big differ; one has 1200000 bytes, more than 1 MiB\n";
    assert!(changes.diff.contains(note));
    assert!(changes.diff.len() <= 256 * 1024, "{}", changes.diff.len());
    assert!(changes.is_diff_truncated);
    let last = changes.diff.lines().last().unwrap();
    assert_eq!(last, "[diff cut at 256 KiB; 18 more files changed]");
}

#[tokio::test]
async fn a_file_of_a_million_lines_is_compared() {
    let lines: String = (0..140_000).map(|number| format!("{number}\n")).collect();
    let run = TestRun::new(&[("empty-lines", &"\n".repeat(1_000_000)), ("numbers", &lines)]);
    let reversed: String = (0..140_000).rev().map(|number| format!("{number}\n")).collect();
    let changes = run
        .changes(|root| {
            write(&root.join("empty-lines"), format!("{}x\n", "\n".repeat(999_999)));
            // Nothing is in order, which is the worst case.
            write(&root.join("numbers"), &reversed);
        })
        .await;
    assert_eq!(changes.modified, ["empty-lines", "numbers"]);
    let hunk = "@@ -999997,4 +999997,4 @@\n \n \n \n-\n+x\n";
    assert!(changes.diff.contains(hunk), "{}", &changes.diff[..300]);
}

#[tokio::test]
async fn a_changed_snapshot_is_a_fault() {
    let run = TestRun::new(&[("a", "old\n"), ("b", "kept\n")]);
    let with_setup = Workspace { setup: Some(run.hook("echo made > c")), ..run.workspace() };
    let find = |name: &str| {
        let found =
            std::process::Command::new("grep").args(["-rl", name]).arg(&run.scratch).output();
        let found = String::from_utf8(found.unwrap().stdout).unwrap();
        found.lines().filter(|path| !path.contains("/workspaces/")).map(str::to_owned).collect()
    };
    for (workspace, text) in
        [(run.workspace(), "old"), (run.workspace(), "kept"), (with_setup, "made")]
    {
        let case = run.prepare(&workspace).await.unwrap();
        write(&case.path().join("a"), "new\n");
        let copies: Vec<String> = find(text);
        assert!(!copies.is_empty());
        for copy in copies {
            fs::write(copy, "forged\n").unwrap();
        }
        let fault = case.changes().await.unwrap_err();
        assert_eq!(fault.kind, FaultKind::Tampered, "{text}");
    }
    // The next case is not to blame, and gets what the template says.
    let case = run.prepare(&run.workspace()).await.unwrap();
    assert_eq!(fs::read_to_string(case.path().join("a")).unwrap(), "old\n");
    assert!(case.changes().await.unwrap().is_empty());
}

/// What an agent does, by number of file and of content.
#[derive(Debug, Clone)]
enum Act {
    Write(usize, usize),
    Remove(usize),
    Rename(usize, usize),
    Link(usize, usize),
    Mode(usize, u32),
    RestoreTime(usize, usize),
}

const PATHS: [&str; 7] = ["a", "b", "d/a", "d/b", "d/e/a", "f/a", "f/skipped.log"];
const TEXTS: [&str; 5] = ["", "one\n", "two\n", "one\ntwo\nthree\n", "no end"];

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let (path, text) = (0..PATHS.len(), 0..TEXTS.len());
    let act = prop_oneof![
        (path.clone(), text.clone()).prop_map(|(path, text)| Act::Write(path, text)),
        path.clone().prop_map(Act::Remove),
        (path.clone(), path.clone()).prop_map(|(from, to)| Act::Rename(from, to)),
        (path.clone(), path.clone()).prop_map(|(path, target)| Act::Link(path, target)),
        (path.clone(), prop::sample::select(vec![0o644, 0o755, 0o600]))
            .prop_map(|(path, mode)| Act::Mode(path, mode)),
        (path, text).prop_map(|(path, text)| Act::RestoreTime(path, text)),
    ];
    prop::collection::vec(act, 0..12)
}

/// Does it as far as it can be done.
fn act(root: &Utf8Path, act: &Act) {
    let at = |path: usize| root.join(PATHS[path]);
    let make_room = |path: usize| {
        fs::create_dir_all(at(path).parent().unwrap()).unwrap();
        let _ = fs::remove_file(at(path));
    };
    match *act {
        Act::Write(path, text) => {
            make_room(path);
            fs::write(at(path), TEXTS[text]).unwrap();
        }
        Act::Remove(path) => drop(fs::remove_file(at(path))),
        Act::Rename(from, to) => {
            fs::create_dir_all(at(to).parent().unwrap()).unwrap();
            drop(fs::rename(at(from), at(to)));
        }
        Act::Link(path, target) => {
            make_room(path);
            symlink(PATHS[target], at(path)).unwrap();
        }
        Act::Mode(path, mode)
            if fs::symlink_metadata(at(path)).is_ok_and(|found| found.is_file()) =>
        {
            set_mode(&at(path), mode);
        }
        Act::RestoreTime(path, text)
            if fs::symlink_metadata(at(path)).is_ok_and(|found| found.is_file()) =>
        {
            let before = fs::metadata(at(path)).unwrap().modified().unwrap();
            let mut file = fs::File::options().write(true).truncate(true).open(at(path)).unwrap();
            std::io::Write::write_all(&mut file, TEXTS[text].as_bytes()).unwrap();
            file.set_modified(before).unwrap();
        }
        Act::Mode(..) | Act::RestoreTime(..) => {}
    }
}

/// What is in a tree, read as a whole.
fn state(root: &Utf8Path) -> BTreeMap<String, (u32, Vec<u8>)> {
    let mut found = BTreeMap::new();
    for path in PATHS.iter().filter(|path| !path.ends_with(".log")) {
        let Ok(facts) = fs::symlink_metadata(root.join(path)) else { continue };
        let content = if facts.is_symlink() {
            let target = fs::read_link(root.join(path)).unwrap();
            (0, target.as_os_str().as_bytes().to_vec())
        } else {
            (super::testing::mode(&root.join(path)), fs::read(root.join(path)).unwrap())
        };
        found.insert((*path).to_owned(), content);
    }
    found
}

fn check_acts(before: &[Act], setup: bool, acts: &[Act]) {
    let run = TestRun::new(&[("x", ""), (".gitignore", "*.log\n")]);
    for one in before {
        act(&run.template(), one);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let hook = run.hook("echo setup > d-setup; if test -f a; then echo more >> a; fi");
        let workspace = Workspace { setup: setup.then_some(hook), ..run.workspace() };
        let case = run.prepare(&workspace).await.unwrap();
        let old = state(case.path());
        for one in acts {
            act(case.path(), one);
        }
        let new = state(case.path());
        let changes = case.changes().await.unwrap();
        let paths = |holds: &dyn Fn(&String) -> bool| -> Vec<String> {
            let all: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
            all.into_iter().filter(|path| holds(path)).cloned().collect()
        };
        assert_eq!(changes.created, paths(&|path| !old.contains_key(path)));
        assert_eq!(changes.deleted, paths(&|path| !new.contains_key(path)));
        let is_modified = |path: &String| match (old.get(path), new.get(path)) {
            (Some(old), Some(new)) => old != new,
            _ => false,
        };
        assert_eq!(changes.modified, paths(&is_modified));
        let listed: Vec<String> = case
            .list()
            .unwrap()
            .iter()
            .filter(|path| PATHS.contains(&path.as_str()))
            .cloned()
            .collect();
        let is_there = |path: &&str| fs::symlink_metadata(case.path().join(path)).is_ok();
        let mut there: Vec<&str> = PATHS.iter().copied().filter(is_there).collect();
        there.sort_unstable();
        assert_eq!(listed, there, "also what is ignored");
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_change_is_found_and_nothing_else(
        before in acts(),
        setup in any::<bool>(),
        acts in acts(),
    ) {
        check_acts(&before, setup, &acts);
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn what_the_agent_hides_by_permissions_is_read() {
    let run = TestRun::new(&[("a", "1\n"), ("b", "1\n")]);
    let case = run.prepare(&run.workspace()).await.unwrap();
    for name in ["a", "new"] {
        write(&case.path().join(name), "evil\n");
        set_mode(&case.path().join(name), 0);
    }
    let changes = case.changes().await.unwrap();
    assert_eq!((changes.modified, changes.created), (vec!["a".to_owned()], vec!["new".to_owned()]));
    assert_eq!(changes.diff.matches("+evil\n").count(), 2, "{}", changes.diff);
    assert_eq!(mode(&case.path().join("a")), 0o400);
    assert_eq!(mode(&case.path().join("b")), 0o644);
}

#[tokio::test]
async fn names_that_are_not_utf8_are_told_apart() {
    let run = TestRun::new(&[]);
    let path = |root: &Utf8Path, name: &[u8]| root.as_std_path().join(OsStr::from_bytes(name));
    let template = run.template();
    if fs::write(path(&template, b"b\xff"), "1\n").is_err() {
        // The file system takes only UTF-8.
        return;
    }
    fs::write(path(&template, b"b\xfe"), "1\n").unwrap();
    let changes = run
        .changes(|root| {
            fs::remove_file(path(root, b"b\xff")).unwrap();
            fs::write(path(root, b"b\xfe"), "2\n").unwrap();
            fs::write(path(root, b"b\xfd"), "3\n").unwrap();
        })
        .await;
    assert_eq!(changes.created, [r"b\375"]);
    assert_eq!(changes.modified, [r"b\376"]);
    assert_eq!(changes.deleted, [r"b\377"]);
    assert!(changes.diff.contains(r#"+++ "b/b\376""#), "{}", changes.diff);
    assert!(!changes.is_diff_truncated);
}

#[tokio::test]
async fn a_fifo_does_not_cut_the_diff() {
    let run = TestRun::new(&[]);
    let changes = run
        .changes(|root| {
            let made = std::process::Command::new("mkfifo").arg(root.join("events")).status();
            assert!(made.unwrap().success());
        })
        .await;
    assert_eq!(changes.created, ["events"]);
    assert!(!changes.is_diff_truncated, "{}", changes.diff);
}
