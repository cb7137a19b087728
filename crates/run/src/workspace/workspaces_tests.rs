//! How workspaces are made, used and removed.

use std::fs;
use std::os::unix::fs::symlink;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::model::{
    Answer, CommandAnswer, CommandQuestion, FaultKind, HookCommand, Stage, Workspace,
    WorkspaceFiles,
};
use evalrig_core::source::Reach;
use serde_json::{Value, json};

use super::testing::{TestRun, command, mode, names, set_mode, write};
use super::{CaseFacts, CaseWorkspace};

fn read(case: &CaseWorkspace, path: &str) -> String {
    fs::read_to_string(case.path().join(path)).unwrap()
}

async fn run_command(case: &CaseWorkspace, question: &CommandQuestion) -> CommandAnswer {
    match case.run_command(question, None).await {
        Answer::Command(answer) => answer,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_template_is_copied_with_permissions_times_and_links() {
    let run = TestRun::new(&[("a", "1"), ("sub/tool", "#!/bin/sh\n"), ("empty-parent/x", "")]);
    let template = run.template();
    set_mode(&template.join("sub/tool"), 0o755);
    set_mode(&template.join("a"), 0o664);
    symlink("../a", template.join("sub/link")).unwrap();
    symlink("nowhere", template.join("dangling")).unwrap();
    fs::create_dir(template.join("empty")).unwrap();
    set_mode(&template.join("empty"), 0o555);
    let case = run.prepare(&run.workspace()).await.unwrap();
    let root = case.path();
    assert_eq!(names(root), ["a", "dangling", "empty", "empty-parent", "sub"]);
    assert_eq!((mode(&root.join("sub/tool")), mode(&root.join("a"))), (0o755, 0o664));
    assert_eq!((mode(&root.join("empty")), mode(root)), (0o555, 0o700));
    assert_eq!(fs::read_link(root.join("sub/link")).unwrap(), Utf8Path::new("../a"));
    let modified = |path: &Utf8Path| fs::metadata(path).unwrap().modified().unwrap();
    assert_eq!(modified(&root.join("a")), modified(&template.join("a")));
    assert_eq!(case.cwd(), root);
    let directory = case.directory().to_owned();
    case.remove().await;
    assert!(!directory.exists());
    assert_eq!(names(&run.scratch.join("snapshots")).len(), 1, "the texts of the base");
    run.workspaces.finish().await;
    assert_eq!(names(&run.scratch.join("snapshots")), [""; 0]);
}

#[tokio::test]
async fn links_out_of_the_template_and_special_files_are_refused() {
    for target in ["/etc/passwd", "../outside", "sub/../../outside", "up/../../x"] {
        let run = TestRun::new(&[("sub/x", "")]);
        symlink(".", run.template().join("sub/up")).unwrap();
        symlink("sub/up", run.template().join("up")).unwrap();
        symlink(target, run.template().join("link")).unwrap();
        let fault = run.prepare(&run.workspace()).await.unwrap_err();
        assert_eq!((fault.stage, fault.kind), (Stage::Workspace, FaultKind::Io));
        assert!(fault.message.contains("`link`: link-outside-template"), "{}", fault.message);
    }
    let run = TestRun::new(&[("x", "")]);
    let fifo = std::process::Command::new("mkfifo").arg(run.template().join("pipe")).status();
    assert!(fifo.unwrap().success());
    let fault = run.prepare(&run.workspace()).await.unwrap_err();
    assert!(fault.message.contains("`pipe`: it is not a file"), "{}", fault.message);
    let bases = run.scratch.join("bases");
    assert!(!bases.exists() || names(&bases).is_empty(), "nothing is left");
}

#[tokio::test]
async fn a_template_outside_of_the_suite_is_refused() {
    let run = TestRun::new(&[("x", "")]);
    symlink("../../tmp", run.template().join("../elsewhere")).unwrap();
    for template in [run.suite.join("elsewhere"), run.suite.parent().unwrap().join("tmp")] {
        let workspace = Workspace { template: Some(template), ..Workspace::default() };
        assert_eq!(run.prepare(&workspace).await.unwrap_err().kind, FaultKind::Io);
    }
}

#[tokio::test]
async fn cases_do_not_see_each_other() {
    let run = TestRun::new(&[("a", "1")]);
    let one = run.prepare(&run.workspace()).await.unwrap();
    let two = run.prepare(&run.workspace()).await.unwrap();
    write(&one.path().join("a"), "changed");
    write(&one.path().join("out.txt"), "x");
    assert_eq!((read(&two, "a"), names(two.path())), ("1".to_owned(), vec!["a".to_owned()]));
    assert!(two.changes().await.unwrap().is_empty());
    let parent = one.directory().parent().unwrap();
    assert_eq!(mode(parent), 0o300, "an agent cannot list the directory of the cases");
    assert!(!one.path().as_str().contains("suite"));
}

#[tokio::test]
async fn hooks_get_the_case_on_standard_input_and_in_variables() {
    let run = TestRun::new(&[("app/x", "")]);
    let workspace = Workspace {
        setup: Some(run.hook(
            "cat > ../input.json; echo \"$EVALRIG_WORKSPACE|$EVALRIG_SUITE|$EVALRIG_TEST_ID\
             |$EVALRIG_TRIAL|$EVALRIG_ATTEMPT|$NODE_ENV|$PWD\" > ../env",
        )),
        teardown: Some(run.hook("cat > teardown.json; exit 3")),
        cwd: Some("app".to_owned()),
        env: vec![("NODE_ENV".to_owned(), "test".to_owned())],
        ..run.workspace()
    };
    let (input, metadata) = (json!([{"role": "user"}]), json!({"difficulty": 2}));
    let facts = CaseFacts {
        trial: 3,
        attempt: 2,
        input: &input,
        metadata: &metadata,
        ..run.facts("fix bug")
    };
    let case = run.workspaces.prepare(&workspace, &facts, &[], &[]).await.unwrap();
    let root = case.path().to_owned();
    assert_eq!(case.cwd(), root.join("app"));
    let expected = json!({
        "workspace_path": root.as_str(),
        "test_id": "fix bug",
        "trial": 3,
        "case_input": input,
        "case_metadata": metadata,
    });
    let parsed = |path: &str| serde_json::from_str::<Value>(&read(&case, path)).unwrap();
    assert_eq!(parsed("input.json"), expected);
    assert_eq!(read(&case, "env"), format!("{root}|shop|fix bug|3|2|test|{root}/app\n"));
    assert!(case.changes().await.unwrap().is_empty(), "setup is before the snapshot");
    let warning = case.teardown(None).await.unwrap();
    assert_eq!(warning, "`teardown` failed: exit status 3");
    assert_eq!(parsed("app/teardown.json"), expected);
}

#[tokio::test]
async fn scripts_of_hooks_are_found_beside_the_suite() {
    let run = TestRun::new(&[("x", "")]);
    write(&run.suite.join("evals/EVAL.yaml"), "");
    write(&run.suite.join("scripts/setup.sh"), "echo \"$1 $2\" > made-by-script\n");
    write(&run.suite.join("scripts/data"), "");
    let mut hook = run.hook("");
    hook.base = run.suite.join("evals");
    let words = ["sh", "../scripts/setup.sh", "../scripts/data", "{{workspace_path}}"];
    hook.command = HookCommand::Argv(words.map(str::to_owned).to_vec());
    let case = run.prepare(&Workspace { setup: Some(hook), ..run.workspace() }).await.unwrap();
    let expected = format!("{} {}\n", run.suite.join("scripts/data"), case.path());
    assert_eq!(read(&case, "made-by-script"), expected);
}

#[tokio::test]
async fn a_failing_setup_is_a_fault_of_its_own_kind() {
    let run = TestRun::new(&[("x", "")]);
    let mut slow = run.hook("sleep 1000");
    slow.timeout_seconds = 1;
    let mut missing = run.hook("");
    missing.command = HookCommand::Argv(vec!["./no-such-program".to_owned()]);
    let mut elsewhere = run.hook("true");
    elsewhere.cwd = Some("../..".to_owned());
    let cases = [
        (
            run.hook("echo said >&2; exit 2"),
            FaultKind::Setup,
            "`setup` failed: exit status 2: said",
        ),
        (run.hook("echo out; exit 1"), FaultKind::Setup, "`setup` failed: exit status 1: out"),
        (missing, FaultKind::Setup, "`setup`: cannot start `./no-such-program`: no such program"),
        (
            elsewhere,
            FaultKind::Setup,
            "`setup` cannot start: there is no directory `../..` in the workspace",
        ),
        (slow, FaultKind::Setup, "`setup` did not end within 1 s"),
    ];
    for (hook, kind, message) in cases {
        let workspace = Workspace { setup: Some(hook), ..run.workspace() };
        let fault = run.prepare(&workspace).await.unwrap_err();
        assert_eq!((fault.stage, fault.kind), (Stage::Workspace, kind));
        assert_eq!(fault.message, message);
    }
    let workspace = Workspace { cwd: Some("nowhere".to_owned()), ..run.workspace() };
    let fault = run.prepare(&workspace).await.unwrap_err();
    assert_eq!(fault.message, "there is no directory `nowhere` in the workspace");
    set_mode(&run.scratch.join("workspaces"), 0o700);
    assert_eq!(names(&run.scratch.join("workspaces")), [""; 0], "nothing is left");
}

#[tokio::test]
async fn hooks_of_the_run_run_once_and_what_they_make_is_in_every_workspace() {
    let run = TestRun::new(&[("x", "")]);
    let log = run.suite.join("log");
    let workspace = Workspace {
        before_all: Some(run.hook(&format!("cat > input; echo before >> {log}"))),
        after_all: Some(run.hook(&format!("echo after $EVALRIG_SUITE >> {log}; exit 1"))),
        setup: Some(run.hook(&format!("echo setup >> {log}"))),
        ..run.workspace()
    };
    let (one, two) = tokio::join!(run.prepare(&workspace), run.prepare(&workspace));
    for case in [one.unwrap(), two.unwrap()] {
        assert_eq!(names(case.path()), ["input", "x"]);
        assert!(read(&case, "input").contains("\"test_id\":null"));
    }
    let warnings = run.workspaces.finish().await;
    assert_eq!(warnings, ["`after_all` failed: exit status 1"]);
    let logged = fs::read_to_string(log).unwrap();
    assert_eq!(logged, "before\nsetup\nsetup\nafter shop\n");
    assert_eq!(names(&run.scratch.join("bases")), [""; 0]);
}

#[tokio::test]
async fn a_failing_hook_of_the_run_is_not_repeated() {
    let run = TestRun::new(&[("x", "")]);
    let log = run.suite.join("log");
    let workspace = Workspace {
        before_all: Some(run.hook(&format!("echo x >> {log}; exit 1"))),
        ..run.workspace()
    };
    for _ in 0..3 {
        let fault = run.prepare(&workspace).await.unwrap_err();
        assert_eq!(fault.message, "`before_all` failed: exit status 1");
    }
    assert_eq!(fs::read_to_string(log).unwrap(), "x\n");
}

#[tokio::test]
async fn equal_workspaces_with_a_setup_cache_are_set_up_once() {
    let run = TestRun::new(&[("x", ""), (".gitignore", "deps/\n")]);
    let log = run.suite.join("log");
    let setup = format!("echo $EVALRIG_TEST_ID >> {log}; mkdir deps; echo 1 > deps/a; echo 2 > y");
    let workspace =
        Workspace { setup: Some(run.hook(&setup)), setup_cache: true, ..run.workspace() };
    let other = [("note".to_owned(), run.suite.join("note"))];
    write(&run.suite.join("note"), "hi");
    for (test, attachments) in [("a", &[][..]), ("b", &[]), ("c", &other), ("d", &other)] {
        let facts = run.facts(test);
        let case = run.workspaces.prepare(&workspace, &facts, attachments, &[]).await.unwrap();
        assert_eq!((read(&case, "deps/a"), read(&case, "y")), ("1\n".into(), "2\n".into()));
        assert_eq!(case.path().join("note").exists(), !attachments.is_empty());
        assert!(case.changes().await.unwrap().is_empty());
        write(&case.path().join("y"), "changed");
        write(&case.path().join("deps/b"), "");
    }
    assert_eq!(fs::read_to_string(log).unwrap(), "a\nc\n");
}

#[tokio::test]
async fn attached_files_and_directories_are_placed_before_setup() {
    let run = TestRun::new(&[("data/a.csv", "old"), ("x", "")]);
    write(&run.suite.join("data/a.csv"), "attached");
    set_mode(&run.suite.join("data/a.csv"), 0o755);
    for path in ["SKILL.md", "scripts/do.py", "evals/EVAL.yaml", "EVAL.yaml", "old-workspace/x"] {
        write(&run.suite.join("skill").join(path), path);
    }
    let attachments = [("data/a.csv".to_owned(), run.suite.join("data/a.csv"))];
    let directories = [(".claude/skills/s".to_owned(), run.suite.join("skill"))];
    let workspace =
        Workspace { setup: Some(run.hook("ls .claude/skills/s > seen")), ..run.workspace() };
    let facts = run.facts("t");
    let prepared = run.workspaces.prepare(&workspace, &facts, &attachments, &directories);
    let case = prepared.await.unwrap();
    assert_eq!(
        (read(&case, "data/a.csv"), mode(&case.path().join("data/a.csv"))),
        ("attached".to_owned(), 0o755)
    );
    assert_eq!(read(&case, "seen"), "SKILL.md\nscripts\n");
    write(&case.path().join("data/a.csv"), "agent");
    let changes = case.changes().await.unwrap();
    assert_eq!((changes.modified.len(), changes.created.len()), (1, 0));
    assert!(changes.diff.contains("-attached"));
    let outside = [("p".to_owned(), Utf8PathBuf::from("/etc/passwd"))];
    let fault = run.workspaces.prepare(&run.workspace(), &facts, &outside, &[]).await.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Io);
    assert!(
        fault.message.starts_with("cannot copy into the workspace: `p`: "),
        "{}",
        fault.message
    );
}

#[tokio::test]
async fn files_are_read_inside_of_the_workspace_only() {
    let run = TestRun::new(&[("a/b", "text"), ("a/c", "")]);
    let case = run.prepare(&run.workspace()).await.unwrap();
    let root = case.path().to_owned();
    symlink("/etc/passwd", root.join("out")).unwrap();
    symlink("a/b", root.join("in")).unwrap();
    symlink(root.join("a"), root.join("absolute")).unwrap();
    symlink("loop", root.join("loop")).unwrap();
    let files: &dyn WorkspaceFiles = &case;
    let found =
        |path: &str| files.read(path, 3).unwrap().map(|bytes| String::from_utf8(bytes).unwrap());
    assert_eq!(found("a/b").as_deref(), Some("tex"));
    assert_eq!(found("in").as_deref(), Some("tex"));
    assert_eq!(found("absolute/b").as_deref(), Some("tex"));
    for path in ["out", "missing", "a", "a/b/c", "../../x", "/etc/passwd", "loop", "out/x"] {
        assert_eq!(found(path), None, "{path}");
    }
    assert_eq!(files.list().unwrap(), ["a/b", "a/c", "absolute", "in", "loop", "out"]);
}

#[tokio::test]
async fn a_command_runs_in_a_copy_with_its_overlay() {
    let run = TestRun::new(&[("app/code", "1\n"), ("tests/old", "")]);
    write(&run.suite.join("hidden/tests/test.sh"), "test \"$(cat app/code)\" = 2\n");
    let workspace = Workspace { cwd: Some("app".to_owned()), ..run.workspace() };
    let case = run.prepare(&workspace).await.unwrap();
    write(&case.path().join("app/code"), "2\n");
    // What an agent can do to be overwritten elsewhere.
    fs::remove_dir_all(case.path().join("tests")).unwrap();
    let elsewhere = run.suite.join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, case.path().join("tests")).unwrap();
    let question = CommandQuestion {
        cwd: Some(".".to_owned()),
        overlay: Some(run.suite.join("hidden")),
        overlay_files: vec![run.suite.join("hidden/tests/test.sh")],
        overlay_others: Vec::new(),
        collect: Some("reports/*.xml".to_owned()),
        ..command(
            "sh tests/test.sh && echo \"$EVALRIG_WORKSPACE\" && pwd && mkdir reports \
             && echo b > reports/b.xml && echo a > reports/a.xml && echo c > reports/c.txt \
             && echo err >&2; exit 7",
        )
    };
    let answer = run_command(&case, &question).await;
    let stdout = String::from_utf8(answer.stdout).unwrap();
    let paths: Vec<&str> = stdout.lines().collect();
    assert_eq!(paths[0], paths[1]);
    assert!(paths[0] != case.path() && !Utf8Path::new(paths[0]).exists());
    assert_eq!((answer.exit_code, answer.stderr.as_str()), (Some(7), "err\n"));
    let collected = [("reports/a.xml", "a\n"), ("reports/b.xml", "b\n")];
    let collected = collected.map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec()));
    assert_eq!(answer.collected, collected);
    assert_eq!(names(&elsewhere), [""; 0], "a link in the way is not followed");
    assert_eq!(names(case.path()), ["app", "tests"]);
    let in_app = run_command(&case, &command("basename $PWD; touch ../trace")).await;
    assert_eq!(in_app.stdout, b"app\n");
    let after = run_command(&case, &command("ls ..")).await;
    assert_eq!(after.stdout, b"app\ntests\n", "no command sees the traces of another one");
}

#[tokio::test]
async fn commands_that_cannot_end_or_start_give_faults() {
    let run = TestRun::new(&[("x", "")]);
    let case = run.prepare(&run.workspace()).await.unwrap();
    let slow = CommandQuestion { timeout_seconds: 1, ..command("sleep 1000") };
    let missing = CommandQuestion {
        command: HookCommand::Argv(vec!["no-such-program".to_owned()]),
        ..command("")
    };
    let outside = CommandQuestion { overlay: Some("/etc".into()), ..command("true") };
    let kinds = [FaultKind::Timeout, FaultKind::Start, FaultKind::Io];
    for (question, kind) in [slow, missing, outside].iter().zip(kinds) {
        match case.run_command(question, None).await {
            Answer::Failed(fault) => {
                assert_eq!((fault.stage, fault.kind), (Stage::Script, kind), "{}", fault.message);
            }
            other => panic!("{other:?}"),
        }
    }
    let long = command("head -c 200000 /dev/zero | tr '\\0' x; echo end");
    let answer = run_command(&case, &long).await;
    assert_eq!(answer.stdout.len(), 64 * 1024);
    assert!(answer.stdout.ends_with(b"xend\n"));
    assert_eq!(names(case.directory()), ["workspace"], "no copy is left");
}

#[tokio::test]
async fn a_kept_workspace_outlives_the_run() {
    let run = TestRun::new(&[("x", "")]);
    let mut kept = Vec::new();
    for test in ["fix/the bug", "fix/the bug", "../.."] {
        let facts = run.facts(test);
        let case = run.workspaces.prepare(&run.workspace(), &facts, &[], &[]).await.unwrap();
        write(&case.path().join("made"), "");
        kept.push(case.keep().await.unwrap());
    }
    let parent = run.scratch.parent().unwrap().join("kept-evalrig-run");
    assert_eq!(
        kept,
        [parent.join("fix-the-bug-1"), parent.join("fix-the-bug-1-2"), parent.join("-1")]
    );
    crate::disk::remove_tree(&run.scratch).unwrap();
    assert_eq!(names(&kept[0]), ["made", "x"]);
    assert_eq!(mode(&parent), 0o700);
}

#[tokio::test]
async fn the_next_test_of_a_conversation_goes_on_in_the_same_workspace() {
    let run = TestRun::new(&[("a", "1\n")]);
    let mut case = run.prepare(&run.workspace()).await.unwrap();
    write(&case.path().join("a"), "2\n");
    write(&case.path().join("b"), "1\n");
    assert_eq!(case.changes().await.unwrap().created, ["b"]);
    run.workspaces.go_on(&mut case, &run.facts("second"), &[]).await.unwrap();
    assert!(case.env().contains(&("EVALRIG_TEST_ID".to_owned(), "second".to_owned())));
    assert!(case.changes().await.unwrap().is_empty());
    run.workspaces.go_on(&mut case, &run.facts("third"), &[]).await.unwrap();
    write(&case.path().join("a"), "1\n");
    write(&case.path().join("b"), "2\n");
    let changes = case.changes().await.unwrap();
    assert_eq!(changes.modified, ["a", "b"]);
    assert!(changes.diff.contains("-2\n+1\n") && changes.diff.contains("-1\n+2\n"));
}

#[tokio::test]
async fn files_attached_to_a_later_test_of_a_conversation_are_placed_before_it() {
    let run = TestRun::new(&[("a", "1\n")]);
    write(&run.suite.join("data/y"), "attached\n");
    let mut case = run.prepare(&run.workspace()).await.unwrap();
    write(&case.path().join("b"), "1\n");
    let placed = [("data/y".to_owned(), run.suite.join("data/y"))];
    run.workspaces.go_on(&mut case, &run.facts("second"), &placed).await.unwrap();
    assert_eq!(read(&case, "data/y"), "attached\n");
    assert!(case.changes().await.unwrap().is_empty(), "the agent did not create it");
    // A directory of the agent in its place leads nowhere else.
    fs::remove_dir_all(case.path().join("data")).unwrap();
    let outside = run.suite.join("outside");
    fs::create_dir(&outside).unwrap();
    symlink(&outside, case.path().join("data")).unwrap();
    let gone_on = run.workspaces.go_on(&mut case, &run.facts("third"), &placed).await;
    assert!(gone_on.is_err());
    assert_eq!(names(&outside), [""; 0]);
}

#[tokio::test]
async fn a_conversation_whose_workspace_is_not_ready_says_why_in_every_test() {
    let run = TestRun::new(&[("a", "1\n")]);
    let workspace = Workspace { setup: Some(run.hook("exit 3")), ..run.workspace() };
    let facts = run.facts("first");
    let mut case = run.workspaces.create(&workspace, &facts).await.unwrap();
    let first = run.workspaces.fill(&mut case, &facts, &[], &[]).await.unwrap_err();
    assert_eq!((first.stage, first.kind), (Stage::Workspace, FaultKind::Setup));
    let second = run.workspaces.go_on(&mut case, &run.facts("second"), &[]).await.unwrap_err();
    assert_eq!((second.stage, second.kind), (first.stage, first.kind));
    let message = format!("the workspace of the conversation is not ready: {}", first.message);
    assert_eq!(second.message, message);
}

#[tokio::test]
async fn paths_outside_of_the_root_are_used_if_the_user_allows_them() {
    let run = TestRun::new(&[]);
    let outside = run.suite.parent().unwrap().join("outside");
    for name in ["template/a", "overlay/hidden", "x"] {
        write(&outside.join(name), "1\n");
    }
    symlink(outside.join("x"), run.suite.join("link")).unwrap();
    let template = Some(outside.join("template"));
    let workspace = Workspace { template, ..Workspace::default() };
    let placed =
        [("x".to_owned(), outside.join("x")), ("linked".to_owned(), run.suite.join("link"))];
    let facts = run.facts("test");
    assert!(run.workspaces.prepare(&workspace, &facts, &placed, &[]).await.is_err());
    let allowed = CaseFacts { reach: Reach::Anywhere, ..facts };
    for hook in [None, Some(run.hook("true"))] {
        // With this hook the template is copied first.
        let workspace = Workspace { before_all: hook, ..workspace.clone() };
        let case = run.workspaces.prepare(&workspace, &allowed, &placed, &[]).await.unwrap();
        assert_eq!(names(case.path()), ["a", "linked", "x"]);
        let question = CommandQuestion {
            overlay: Some(outside.join("overlay")),
            overlay_files: vec![outside.join("overlay/hidden")],
            ..command("cat hidden")
        };
        assert_eq!(run_command(&case, &question).await.exit_code, Some(0));
    }
}

#[tokio::test]
async fn bases_that_no_case_uses_are_removed_when_there_are_many() {
    let run = TestRun::new(&[]);
    let mut last = None;
    for number in 0..80 {
        let path = run.suite.join(format!("t{number}"));
        write(&path.join("x"), "");
        let workspace = Workspace { template: Some(path), ..Workspace::default() };
        last = Some(run.prepare(&workspace).await.unwrap());
    }
    assert!(names(&run.scratch.join("bases")).len() <= 33);
    assert!(last.unwrap().changes().await.unwrap().is_empty());
}
