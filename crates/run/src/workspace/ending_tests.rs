//! How workspaces end, what their hooks see, and what commands find beside the copy.

use std::fs;
use std::os::unix::fs::symlink;

use camino::Utf8Path;
use evalrig_core::model::{
    Answer, CommandAnswer, CommandQuestion, FaultKind, Hook, HookCommand, Stage, Workspace,
    WorkspaceFiles,
};

use super::CaseWorkspace;
use super::testing::{TestRun, command, names, write};

async fn run_command(case: &CaseWorkspace, question: &CommandQuestion) -> CommandAnswer {
    match case.run_command(question, None).await {
        Answer::Command(answer) => answer,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_workspace_whose_setup_failed_is_cleared_away_or_kept() {
    let run = TestRun::new(&[("a", "1")]);
    let trace = run.suite.join("trace");
    let workspace = Workspace {
        setup: Some(run.hook("touch half; exit 3")),
        teardown: Some(run.hook(&format!("ls > {trace}"))),
        ..run.workspace()
    };
    let facts = run.facts("test");
    let mut case = run.workspaces.create(&workspace, &facts).await.unwrap();
    assert!(!case.is_filled());
    assert_eq!(case.teardown(None).await, None);
    assert!(!trace.exists(), "there is nothing to clear away");
    let fault = run.workspaces.fill(&mut case, &facts, &[], &[]).await.unwrap_err();
    assert_eq!((fault.stage, fault.kind), (Stage::Workspace, FaultKind::Setup));
    assert!(case.is_filled() && case.changes().await.is_err());
    assert_eq!(case.teardown(None).await, None);
    assert_eq!(fs::read_to_string(&trace).unwrap(), "a\nhalf\n");
    let kept = case.keep().await.unwrap();
    assert_eq!(names(&kept), ["a", "half"]);
}

#[tokio::test]
async fn a_hook_in_the_workspace_itself_can_make_its_cwd() {
    let run = TestRun::new(&[("a", "1")]);
    let hook = Hook { cwd: Some(String::new()), ..run.hook("mkdir app; pwd > app/where") };
    let workspace = Workspace { setup: Some(hook), cwd: Some("app".to_owned()), ..run.workspace() };
    let case = run.prepare(&workspace).await.unwrap();
    assert_eq!(case.cwd(), case.path().join("app"));
    let said = fs::read_to_string(case.cwd().join("where")).unwrap();
    assert_eq!(said.trim(), case.path());
}

#[tokio::test]
async fn files_that_are_not_evidence_are_listed() {
    let run = TestRun::new(&[(".gitignore", "dist\n.env\n"), ("src/a", "1")]);
    let workspace = Workspace { ignore: vec!["*.log".to_owned()], ..run.workspace() };
    let case = run.prepare(&workspace).await.unwrap();
    for path in ["dist/app.js", ".env", "x.log", ".git/HEAD"] {
        write(&case.path().join(path), "");
    }
    assert!(case.changes().await.unwrap().is_empty());
    let expected = [".env", ".gitignore", "dist/app.js", "src/a", "x.log"];
    assert_eq!(case.list().unwrap(), expected);
}

#[tokio::test]
async fn an_overlay_brings_its_links_and_empty_directories() {
    let run = TestRun::new(&[("code", "1")]);
    let hidden = run.suite.join("hidden");
    write(&hidden.join("tests/a/test.sh"), "");
    fs::create_dir_all(hidden.join("tests/empty/deep")).unwrap();
    symlink("a", hidden.join("tests/link")).unwrap();
    let below = |path: &str| hidden.join(path);
    let question = CommandQuestion {
        overlay: Some(hidden.clone()),
        overlay_files: vec![below("tests/a/test.sh")],
        overlay_others: ["tests", "tests/a", "tests/empty", "tests/empty/deep", "tests/link"]
            .map(below)
            .to_vec(),
        ..command("test -f tests/link/test.sh && test -L tests/link && find tests | sort")
    };
    fs::create_dir(hidden.join("later")).unwrap();
    symlink("tests", hidden.join("later-link")).unwrap();
    let case = run.prepare(&run.workspace()).await.unwrap();
    let answer = run_command(&case, &question).await;
    let found = String::from_utf8(answer.stdout).unwrap();
    let expected = [
        "tests",
        "tests/a",
        "tests/a/test.sh",
        "tests/empty",
        "tests/empty/deep",
        "tests/link",
        "",
    ];
    assert_eq!(found, expected.join("\n"));
    let question = CommandQuestion { command: HookCommand::Shell("ls".to_owned()), ..question };
    assert_eq!(run_command(&case, &question).await.stdout, b"code\ntests\n");
}

#[tokio::test]
async fn reports_of_the_agent_do_not_count_and_files_of_the_author_stay() {
    let run = TestRun::new(&[
        ("pom.xml", "<project/>"),
        ("old/report.xml", "old"),
        ("changed.xml", "1"),
        (".gitignore", "build\n"),
    ]);
    write(&run.suite.join("hidden/tests.xml"), "hidden");
    let case = run.prepare(&run.workspace()).await.unwrap();
    for path in ["forged.xml", "changed.xml", "build/forged.xml"] {
        write(&case.path().join(path), "forged");
    }
    let collecting = |line: &str| CommandQuestion {
        overlay: Some(run.suite.join("hidden")),
        overlay_files: vec![run.suite.join("hidden/tests.xml")],
        collect: Some("**/*.xml".to_owned()),
        ..command(line)
    };
    let answer = run_command(&case, &collecting("find . -name '*.xml' | sort")).await;
    let found = String::from_utf8(answer.stdout).unwrap();
    assert_eq!(found, "./old/report.xml\n./pom.xml\n./tests.xml\n");
    assert_eq!(answer.collected, []);
    let line = "echo new > old/report.xml; echo made > build/forged.xml";
    let answer = run_command(&case, &collecting(line)).await;
    assert_eq!(answer.exit_code, Some(0), "{}", answer.stderr);
    let expected = [("build/forged.xml", "made\n"), ("old/report.xml", "new\n")];
    let expected = expected.map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec()));
    assert_eq!(answer.collected, expected);
    assert!(case.path().join("forged.xml").exists(), "only the copy is changed");
}

#[tokio::test]
async fn a_name_that_is_not_utf8_does_not_count_as_the_name_it_is_shown_as() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let run = TestRun::new(&[("r\u{fffd}.xml", "of the author")]);
    let odd = OsStr::from_bytes(b"r\xff.xml");
    fs::write(run.template().as_std_path().join(odd), "1").unwrap();
    let case = run.prepare(&run.workspace()).await.unwrap();
    fs::write(case.path().as_std_path().join(odd), "changed").unwrap();
    let line = "test -e 'r\u{fffd}.xml'";
    let question = CommandQuestion { collect: Some("*.xml".to_owned()), ..command(line) };
    let answer = run_command(&case, &question).await;
    assert_eq!(answer.exit_code, Some(0), "the author's file was removed: {}", answer.stderr);
}

#[tokio::test]
async fn teardown_has_a_sandbox_if_the_agent_had_one() {
    use crate::sandbox::{Bwrap, SandboxUse, SandboxView};
    if !super::sandbox_tests::has_bwrap() {
        return;
    }
    let run = TestRun::new(&[("a", "1")]);
    let script = run.suite.join("down.sh");
    let line = format!("ls {}; ls {}/EVAL.yaml; cat", run.template(), run.suite);
    write(&script, format!("({line}) > seen 2> /dev/null; exit 7\n"));
    write(&run.suite.join("EVAL.yaml"), "");
    let command = ["sh", "./down.sh"].map(str::to_owned).to_vec();
    let hook = Hook { command: HookCommand::Argv(command), ..run.hook("") };
    let workspace = Workspace { teardown: Some(hook), ..run.workspace() };
    let view = SandboxView::default();
    let used = SandboxUse { sandbox: &Bwrap::HERE, view: &view };
    for (sandbox, is_hidden) in [(None, false), (Some(used), true)] {
        let case = run.prepare(&workspace).await.unwrap();
        let warning = case.teardown(sandbox).await.unwrap();
        assert!(warning.contains("7"), "{warning}");
        let seen = fs::read_to_string(case.path().join("seen")).unwrap();
        assert_eq!(!seen.contains("EVAL.yaml"), is_hidden, "{seen}");
        assert!(seen.contains("\"test_id\":\"test\""), "{seen}");
    }
    assert!(Utf8Path::new(&script).exists());
}
