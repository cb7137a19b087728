//! Workers of a queue that share a cache, drain, or lose the server. With a real server.

mod support;

use std::fs;

use serde_json::{Value, json};
use support::nats::{Nats, Worker, calls, comparable, noting, queued_run};
use support::{LATEST, Project, ids, wait_until};

/// Notes every call, and answers when there is a file for its test.
const AGENT: &str = "\
echo \"$EVALRIG_TEST_ID\" >> \"$CALLS\"
while ! test -e \"$CALLS.$EVALRIG_TEST_ID\" && ! test -e \"$CALLS.all\"; do sleep 0.05; done
echo Hello
";

fn suite(tests: &[&str]) -> String {
    let lines = tests.iter().map(|test| {
        format!(
            "  - {{id: {test}, criteria: x, input: Hi, assert: [{{type: contains, value: Hello}}]}}\n"
        )
    });
    format!("name: s\ntests:\n{}", lines.collect::<String>())
}

#[test]
fn workers_that_share_a_cache_run_one_run_together() {
    let Some(nats) = Nats::start() else { return };
    let cache = tempfile::tempdir().expect("a directory");
    let cache_path = cache.path().display().to_string();
    let worker = |name| nats.worker_with_cache(&cache_path, &["--name", name, "--workers", "1"]);
    let (mut first, mut second) = (worker("first"), worker("second"));
    let project = noting(&suite(&["a", "b"]), AGENT, "");
    let coordinator = nats.start_run(&project, &[]);
    wait_until("a call of each worker", || calls(&project).len() == 2);
    project.write("calls.all", "");
    coordinator.end().exits(0);
    let workers = [project.row("a"), project.row("b")].map(|row| row["worker"].to_string());
    assert_ne!(workers[0], workers[1]);
    // The last one that used the bundle has removed it.
    first.wait_for("has ended");
    second.wait_for("has ended");
    first.drain().exits(0);
    second.drain().exits(0);
    let left: Vec<_> = fs::read_dir(&cache).expect("a directory").collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_case_that_a_draining_worker_runs_is_not_given_up() {
    let Some(nats) = Nats::start() else { return };
    let tests = "  - {id: a, criteria: x, input: Hi, assert: [{type: contains, value: Hello}]}\n  - {id: b, criteria: x, input: Hi, execution: {target: other}, assert: [{type: contains, value: Hello}]}\n  - {id: c, criteria: x, input: Hi, execution: {target: other}, assert: [{type: contains, value: Hello}]}\n";
    let project = noting(&format!("name: s\ntests:\n{tests}"), AGENT, "");
    let calls_path = project.path("calls").display().to_string();
    let target = |name: &str, variable: &str| {
        format!(
            "  - {{name: {name}, provider: cli, command: [sh, ./agent.sh], env: {{CALLS: '{calls_path}', OWN: '${{{{ {variable} }}}}'}}}}\n"
        )
    };
    let targets = format!("targets:\n{}{}", target("default", "OWN_A"), target("other", "OWN_B"));
    project.write(".evalrig/targets.yaml", &targets);
    let mut first = nats.worker_with(&["--name", "first"], &[("OWN_A", "value-of-a")]);
    let mut second = nats.worker_with(&["--workers", "1"], &[("OWN_B", "value-of-b")]);
    first.wait_for("waiting for runs");
    second.wait_for("waiting for runs");
    let coordinator = nats.start_run(&project, &["--queue-patience", "8s"]);
    wait_until("both calls", || calls(&project).len() == 2);
    first.running().signal("TERM");
    first.wait_for("finishing running cases");
    second.running().signal("TERM");
    second.wait_for("finishing running cases");
    project.write("calls.b", "");
    project.write("calls.c", "");
    second.drain().exits(0);
    // The case that the second one gave back waits for a worker in vain. Patience with the first began to end
    // earlier.
    wait_until("the end of patience", || {
        project.rows().iter().any(|row| row["error"]["kind"] == "no-worker")
    });
    project.write("calls.a", "");
    first.drain().exits(0);
    coordinator.end().exits(3);
    assert_eq!(project.row("a")["outcome"], "passed");
    assert_eq!(project.row("a")["worker"], "first");
}

#[test]
fn a_worker_that_drains_gives_back_cases_that_wait_for_the_rate() {
    let Some(nats) = Nats::start() else { return };
    let tests: Vec<String> = (0..30).map(|number| format!("t{number}")).collect();
    let tests: Vec<&str> = tests.iter().map(String::as_str).collect();
    let project = noting(&suite(&tests), AGENT, ", rate: {requests_per_minute: 60}");
    project.write("calls.all", "");
    let mut worker = nats.worker(&["--workers", "30"]);
    worker.wait_for("waiting for runs");
    let coordinator = nats.start_run(&project, &[]);
    wait_until("the first call", || !calls(&project).is_empty());
    worker.drain().exits(0);
    let asked = calls(&project).len();
    assert!(asked < 20, "{asked}");
    // They do not count as lost.
    assert_eq!(nats.control(&queued_run(&nats), "given-back.30"), b"1");
    coordinator.kill();
    assert_eq!(calls(&project).len(), asked);
}

/// A worker that serves a run and has nothing to do: it has stored the row of the only case, which it would not
/// give up at its end.
fn idle_worker(nats: &Nats) -> Worker {
    let targets = "targets: [{name: default, provider: mock, response: Hello}]\n";
    let project = Project::new(&suite(&["a"]), targets);
    nats.run(&project, &["--detach"]).exits(0);
    let mut worker = nats.worker(&[]);
    worker.wait_for("serving run");
    wait_until("the row", || {
        let ran = nats.queue(&["status", "--format", "json"]);
        let status: Value = serde_json::from_str(&ran.exits(0).out).expect("JSON");
        let run = &status["runs"][0];
        (&run["rows"], &run["leased"]) == (&json!(1), &json!(0))
    });
    worker
}

#[test]
fn an_idle_worker_ends_while_the_server_is_away() {
    let Some(mut nats) = Nats::start() else { return };
    let mut worker = idle_worker(&nats);
    nats.stop();
    worker.wait_for("lost the connection to the server");
    worker.drain().exits(0);
}

#[test]
fn a_worker_says_that_its_login_is_refused_now() {
    let Some(mut nats) = Nats::start() else { return };
    let mut worker = idle_worker(&nats);
    nats.stop();
    nats.start_again("authorization { user: me, password: new }\n");
    worker.wait_for("the server refuses the login now");
    worker.drain().exits(0);
}

#[test]
fn a_server_that_comes_back_during_a_run_loses_nothing() {
    let Some(mut nats) = Nats::start() else { return };
    let tests = ["a", "b", "c", "d", "e", "f"];
    let project = noting(&suite(&tests), AGENT, "");
    let mut worker = nats.worker(&["--workers", "2"]);
    worker.wait_for("waiting for runs");
    let mut coordinator = nats.start_run(&project, &["--lease", "60s"]);
    wait_until("two calls", || calls(&project).len() == 2);
    nats.stop();
    coordinator.wait_for("the connection to the server is lost");
    worker.wait_for("lost the connection to the server");
    // Rows of what runs now wait for the server.
    project.write("calls.all", "");
    nats.start_again("");
    worker.wait_for("connected to the server again");
    coordinator.end().exits(0);
    let rows = project.rows_of(LATEST);
    assert_eq!(comparable(rows.clone()).len(), 6);
    let mut asked = calls(&project);
    asked.sort();
    assert_eq!(asked, ids(&rows));
    worker.drain().exits(0);
}

#[test]
fn checks_whose_program_is_missing_are_left_to_others() {
    let Some(nats) = Nats::start() else { return };
    let checks = "  - {id: a, criteria: x, input: Hi, assert: [{type: contains, value: Hello}]}\n  - {id: b, criteria: x, input: Hi, assert: [{type: code-judge, script: [no-such-program-here, ./judge.py]}]}\n";
    let project = noting(&format!("name: s\ntests:\n{checks}"), AGENT, "");
    project.write("judge.py", "");
    project.write("calls.all", "");
    let mut worker = nats.worker(&[]);
    let coordinator = nats.start_run(&project, &["--queue-patience", "5s"]);
    worker.wait_for("program `no-such-program-here`, which checks need, is not installed");
    coordinator.end().exits(3);
    assert_eq!(project.row("a")["outcome"], "passed");
    let error = &project.row("b")["error"];
    assert_eq!(error["kind"], "no-worker");
    let message = "no worker could run a case on target `default` with program `no-such-program-here` for 5 s";
    assert_eq!(error["message"], message);
    // The agent was not paid for an answer that nothing can grade.
    assert_eq!(calls(&project), ["a"]);
}

#[test]
fn a_worker_ends_when_it_was_idle_for_long_enough() {
    let Some(nats) = Nats::start() else { return };
    let project = noting(&suite(&["a", "b"]), AGENT, "");
    nats.run(&project, &["--detach"]).exits(0);
    let run = queued_run(&nats);
    let worker = nats.worker(&["--workers", "1", "--until-idle", "2s"]);
    wait_until("the first call", || calls(&project).len() == 1);
    project.write("calls.all", "");
    worker.end().exits(0).says("no cases for 2 s, ending");
    assert_eq!(calls(&project).len(), 2);
    nats.run(&project, &["--attach", &run, "--output", "rows.jsonl"]).exits(0);
    assert_eq!(comparable(project.rows_of("rows.jsonl")).len(), 2);
}
