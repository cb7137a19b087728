//! Scripts that grade, run for real: the contract of spec 10.1.
#![cfg(unix)]

use std::fs;
use std::time::Duration;

use camino::Utf8PathBuf;
use evalrig_core::model::{Answer, Fault, FaultKind, ScriptAnswer, ScriptQuestion, Stage};
use evalrig_run::grade::{SCRIPT_GRACE, run_script};

fn question(line: &str) -> ScriptQuestion {
    ScriptQuestion {
        command: ["sh", "-c", line].map(str::to_owned).into(),
        cwd: "/".into(),
        files: Vec::new(),
        timeout_seconds: 60,
        stdin: "{\"a\":1}".to_owned(),
    }
}

async fn run(question: &ScriptQuestion) -> Answer {
    let environment = [("EVALRIG_TEST_ID".to_owned(), "t 1".to_owned())];
    run_script(question, &environment, SCRIPT_GRACE).await
}

fn answer(stdout: &[u8], stderr: &str, failure: Option<&str>) -> Answer {
    Answer::Script(ScriptAnswer {
        stdout: stdout.to_owned(),
        stderr: stderr.to_owned(),
        failure: failure.map(str::to_owned),
    })
}

#[tokio::test]
async fn a_script_reads_its_input_and_says_how_it_ended() {
    let script = question("cat; printf ' %s' \"$EVALRIG_TEST_ID\"; pwd >&2");
    assert_eq!(run(&script).await, answer(b"{\"a\":1} t 1", "/\n", None));
    let script = question("printf '\\377'; exit 4");
    let failed = answer(b"\xff", "", Some("exit status 4"));
    assert_eq!(run(&script).await, failed);
    let script = question("kill -15 $$");
    let killed = answer(b"", "", Some("killed by signal 15"));
    assert_eq!(run(&script).await, killed);
}

#[tokio::test]
async fn input_need_not_be_read() {
    let mut script = question("echo '{}'");
    script.stdin = "x".repeat(1_000_000);
    assert_eq!(run(&script).await, answer(b"{}\n", "", None));
}

#[tokio::test]
async fn a_script_that_cannot_start_is_a_failure() {
    let mut script = question("");
    script.command = vec!["no-such-judge".to_owned()];
    let message = "cannot start `no-such-judge`: no such program";
    let fault = Fault::new(Stage::Script, FaultKind::Start, message);
    assert_eq!(run(&script).await, Answer::Failed(fault));
    script.command.clear();
    let Answer::Failed(fault) = run(&script).await else { panic!("nothing was run") };
    assert_eq!(fault.kind, FaultKind::Start);
}

#[tokio::test]
async fn a_timeout_ends_the_group_and_keeps_the_complaints() {
    let directory = tempfile::tempdir().unwrap();
    let cwd = Utf8PathBuf::from_path_buf(directory.path().to_owned()).unwrap();
    let line = "trap '' TERM; echo why >&2; (sleep 1000; echo left > left) & echo $$ > ready; wait";
    let mut script = question(line);
    script.cwd = cwd.clone();
    // A machine so slow that nothing happened within the limit gets a longer one.
    for seconds in [1, 8, 60] {
        script.timeout_seconds = seconds;
        let answer = run_script(&script, &[], Duration::from_millis(20)).await;
        if fs::metadata(cwd.join("ready")).is_ok_and(|ready| ready.len() > 0) {
            let message = format!("no answer after {seconds} s: why");
            let fault = Fault::new(Stage::Script, FaultKind::Timeout, message);
            assert_eq!(answer, Answer::Failed(fault));
            assert!(!cwd.join("left").exists());
            return;
        }
    }
    panic!("the script never got ready");
}

#[tokio::test]
async fn a_flood_is_a_failure() {
    let script = question("yes 0123456789012345678901234567890123456789012345678901234567890");
    let fault = Fault::new(Stage::Script, FaultKind::Limit, "more than 16 MiB of output");
    assert_eq!(run(&script).await, Answer::Failed(fault));
}
