//! What the coordinator decides reaches workers of a queue, and workers that lose or give back cases ask
//! for none of them again. With a real server.

mod support;

use std::collections::BTreeMap;

use serde_json::Value;
use support::nats::{Nats, calls, noting};
use support::{LATEST, Project, Running, ids, wait_until};

/// Does not greet two of twenty.
const FLAWED: &str = "targets: [{name: default, provider: mock, responses: [{pattern: 'Hi .*3', response: no}, {pattern: Hi, response: Hello}]}]\n";

/// Notes every call, and answers when a file is there.
const PATIENT_AGENT: &str = "\
echo \"$EVALRIG_TEST_ID\" >> \"$CALLS\"
while ! test -e \"$CALLS.go\"; do sleep 0.05; done
echo Hello
";

fn greeting(count: usize, more: &str) -> String {
    let test = |number: usize| {
        format!(
            "  - {{id: t{number}, criteria: Greets, input: Hi {number}, assert: [{{type: contains, value: Hello}}]{more}}}\n"
        )
    };
    format!("name: greetings\ntests:\n{}", (0..count).map(test).collect::<String>())
}

fn status(nats: &Nats) -> Value {
    let ran = nats.queue(&["status", "--format", "json"]);
    let status: Value = serde_json::from_str(&ran.exits(0).out).expect("JSON");
    status["runs"][0].clone()
}

/// How many rows each trial has.
fn trials(rows: &[Value]) -> BTreeMap<u64, usize> {
    let mut found = BTreeMap::new();
    for row in rows {
        *found.entry(row["trial"].as_u64().expect("a trial")).or_default() += 1;
    }
    found
}

const ROUNDS: [&str; 4] = ["--rounds=10", "--baseline", "base.jsonl", "--gate"];

#[test]
fn a_run_in_rounds_stops_as_it_does_here() {
    let Some(nats) = Nats::start() else { return };
    let project = Project::new(&greeting(20, ""), FLAWED);
    project.run(&["--no-record", "-n", "8", "--output", "base.jsonl"]).exits(1);
    let with = |output: &'static str| [&ROUNDS[..], &["--output", output]].concat();
    let local = project.run(&[&with("local.jsonl")[..], &["--no-record"]].concat());
    let expected = trials(&project.rows_of("local.jsonl"));
    assert!((2..10).contains(&expected.len()), "{expected:?}");
    // Only the cases of the open round are on the server, also after the coordinator was killed.
    let coordinator = nats.start_run(&project, &with("queued.jsonl"));
    wait_until("the first round", || status(&nats)["waiting"] == 20);
    coordinator.kill();
    let other = Project::empty();
    let run = status(&nats)["run"].as_str().expect("a run").to_owned();
    // What others put into the stream takes the place of no case.
    for _ in 0..3 {
        nats.publish(&format!("EVALRIG.{run}.CASES.0"), b"garbage");
    }
    nats.run(&other, &["--attach", &run]).exits(2).says("runs in rounds");
    let mut worker = nats.worker(&[]);
    let again = [&ROUNDS[..], &["--resume", "queued.jsonl"]].concat();
    let queued = nats.run(&project, &again);
    assert_eq!(queued.code, local.code, "{}", queued.err);
    let rows = project.rows_of("queued.jsonl");
    assert_eq!(trials(&rows), expected);
    assert!(rows.iter().all(|row| row["error"].is_null()), "{rows:?}");
    let end = |name: &str| -> Value {
        let lines = project.lines(name);
        serde_json::from_str(lines.last().expect("a line")).expect("JSON")
    };
    assert_eq!(end("queued.jsonl")["completion"], "settled");
    assert_eq!(end("queued.jsonl")["rounds"], end("local.jsonl")["rounds"]);
    worker.wait_for("has ended");
}

#[test]
fn a_conversation_stops_between_turns_and_goes_on_with_the_next_one() {
    let Some(nats) = Nats::start() else { return };
    let project = noting(&greeting(4, ", conversation_id: c"), PATIENT_AGENT, "");
    let mut worker = nats.worker(&[]);
    worker.wait_for("waiting for runs");
    let coordinator = nats.start_run(&project, &[]);
    wait_until("the first turn", || calls(&project).len() == 1);
    coordinator.signal("INT");
    wait_until("the state", || status(&nats)["state"] == "stopped");
    wait_until("the sign of the worker", || status(&nats)["leased"] == 1);
    project.write("calls.go", "");
    coordinator.end().exits(130);
    // The rest was given back, and runs nowhere.
    wait_until("the worker", || status(&nats)["workers"][0]["running"] == 0);
    assert_eq!((&status(&nats)["leased"], &status(&nats)["waiting"]), (&0.into(), &1.into()));
    assert_eq!(calls(&project), ["t0"]);
    assert_eq!(ids(&project.rows()), ["t0"]);
    nats.run(&project, &["--resume"]).exits(0);
    assert_eq!(calls(&project), ["t0", "t1", "t2", "t3"]);
    assert_eq!(project.rows().len(), 4);
}

#[test]
fn a_worker_that_drains_leaves_the_rest_of_a_conversation_to_others() {
    let Some(nats) = Nats::start() else { return };
    let project = noting(&greeting(3, ", conversation_id: c"), PATIENT_AGENT, "");
    let mut first = nats.worker(&["--name", "first"]);
    first.wait_for("waiting for runs");
    let coordinator = nats.start_run(&project, &["--lease", "5s"]);
    wait_until("the first turn", || calls(&project).len() == 1);
    first.running().signal("TERM");
    first.wait_for("finishing running cases");
    project.write("calls.go", "");
    first.drain().exits(0);
    assert_eq!(calls(&project), ["t0"]);
    // It does not count as lost.
    let run = status(&nats)["run"].as_str().expect("a run").to_owned();
    let noted = nats.control(&run, "given-back.1");
    assert_eq!(noted, b"1");
    let _second = nats.worker(&["--name", "second"]);
    coordinator.end().exits(0);
    assert_eq!(calls(&project), ["t0", "t1", "t2"]);
    assert_eq!(project.row("t0")["worker"], "first");
    assert_eq!(project.row("t2")["worker"], "second");
}

#[test]
fn a_worker_that_was_frozen_asks_nothing_when_it_wakes() {
    let Some(nats) = Nats::start() else { return };
    let agent = "echo \"$EVALRIG_TEST_ID\" >> \"$CALLS\"\necho Hello\n";
    let project = noting(&greeting(5, ""), agent, ", rate: {requests_per_minute: 60}");
    let mut first = nats.worker(&["--workers", "5"]);
    first.wait_for("waiting for runs");
    let coordinator = nats.start_run(&project, &["--lease", "5s"]);
    wait_until("the first row", || project.has(LATEST) && !project.rows().is_empty());
    // It waits for the rate of the others.
    first.running().signal("STOP");
    let asked = calls(&project).len();
    assert!(asked < 4, "{asked}");
    let _second = nats.worker(&["--workers", "5"]);
    coordinator.end().exits(0);
    let asked = calls(&project).len();
    first.running().signal("CONT");
    first.wait_for("has ended");
    first.drain().exits(0);
    assert_eq!(calls(&project).len(), asked);
    assert_eq!(project.rows().len(), 5);
}

#[test]
fn a_judge_that_no_worker_has_concerns_only_the_cases_that_need_it() {
    let Some(nats) = Nats::start() else { return };
    let suite = "name: s\ntests:\n  - {id: a, criteria: x, input: Hi, assert: [{type: contains, value: Hello}]}\n  - {id: b, criteria: x, input: Hi, assert: [{type: llm-judge, target: strict, prompt: 'Is it polite?'}]}\n";
    let targets = "targets:\n  - {name: default, provider: mock, response: Hello}\n  - {name: strict, provider: mock, response: 'Yes ${{ ABSENT }}'}\n";
    let project = Project::new(suite, targets);
    let _worker = nats.worker(&[]);
    nats.run(&project, &["--queue-patience", "5s"]).exits(3);
    assert_eq!(project.row("a")["outcome"], "passed");
    let error = &project.row("b")["error"];
    assert_eq!(error["kind"], "no-worker");
    let message = "no worker could run a case on target `default` with judge `strict` for 5 s";
    assert_eq!(error["message"], message);
}

#[test]
fn nothing_of_a_run_stays_on_a_worker_that_outlives_it() {
    let Some(nats) = Nats::start() else { return };
    let suite = "name: s\nworkspace: {template: tpl, keep: always, hooks: {after_all: {script: [sh, ./after.sh]}}}\ntests:\n  - {id: a, criteria: x, input: Hi, assert: [{type: contains, value: Hello}]}\n";
    let project = noting(suite, "echo Hello\n", "");
    project.write("tpl/file", "x");
    let ended = project.path("ended").display().to_string();
    project.write("after.sh", &format!("echo >> '{ended}'\n"));
    let temporary = tempfile::tempdir().expect("a directory");
    let at = temporary.path().display().to_string();
    let cache = temporary.path().join("cache").display().to_string();
    let (elsewhere, url) = (Project::empty(), nats.url());
    let start = || {
        let mut command = elsewhere.command(&["worker", "--queue", &url, "--cache", &cache]);
        command.env("TMPDIR", &at);
        Running::of(command)
    };
    let mut worker = start();
    nats.run(&project, &[]).exits(0);
    worker.wait_for("has ended");
    assert_eq!(project.lines("ended").len(), 1);
    assert!(project.row("a")["workspace"]["path"].is_null());
    let all = |path: &std::path::Path| -> Vec<String> {
        let entries = std::fs::read_dir(path).expect("a directory");
        let name = |entry: std::fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
        entries.map(|entry| name(entry.expect("an entry"))).collect()
    };
    // The worker's own directory is in the cache, and nothing is elsewhere.
    let is_own = |name: &String| name.starts_with("evalrig-");
    let names = |path: &std::path::Path| -> Vec<String> {
        all(path).into_iter().filter(|name| !is_own(name)).collect()
    };
    assert_eq!(names(cache.as_ref()), [""; 0]);
    let own = all(cache.as_ref()).into_iter().find(is_own).expect("a directory of the worker");
    assert_eq!(all(&std::path::Path::new(&cache).join(own)), [".lock"]);
    assert_eq!(all(temporary.path()), ["cache"]);
    // What a worker that was killed leaves is removed by the next one once the run is gone.
    nats.run(&project, &["--detach"]).exits(0);
    worker.wait_for("serving run");
    wait_until("the bundle", || !names(cache.as_ref()).is_empty());
    worker.kill();
    let run = status(&nats)["run"].as_str().expect("a run").to_owned();
    nats.queue(&["remove", &run]).exits(0);
    let mut next = start();
    next.wait_for("waiting for runs");
    wait_until("an empty cache", || names(cache.as_ref()).is_empty());
}

#[test]
fn a_coordinator_that_was_killed_while_it_queued_sends_the_rest_once() {
    let Some(mut nats) = Nats::start() else { return };
    // Waits in its fourth call.
    let agent = "\
echo \"$EVALRIG_TEST_ID\" >> \"$CALLS\"
while test $(wc -l < \"$CALLS\") -gt 3 && ! test -e \"$CALLS.go\"; do sleep 0.05; done
echo Hello
";
    let project = noting(&greeting(12, ""), agent, "");
    nats.run(&project, &["--detach"]).exits(0);
    let run = status(&nats)["run"].as_str().expect("a run").to_owned();
    // Some of them have rows, and garbage is among the others.
    let mut first = nats.worker(&["--workers", "1"]);
    wait_until("the fourth call", || calls(&project).len() == 4);
    first.running().signal("TERM");
    first.wait_for("finishing running cases");
    project.write("calls.go", "");
    first.drain().exits(0);
    assert_eq!(calls(&project).len(), 4);
    nats.publish(&format!("EVALRIG.{run}.CASES.0"), b"garbage");
    // As if the coordinator had died before it sent two of them.
    let delete = format!("$JS.API.STREAM.MSG.DELETE.EVALRIG_{run}_CASES");
    for sequence in [11, 12] {
        let asked = format!("{{\"seq\":{sequence}}}");
        nats.request(&delete, asked.as_bytes());
    }
    let noted = r#"{"sent":0,"begun":12,"after":0}"#;
    nats.publish(&format!("$KV.EVALRIG_{run}_CONTROL.sent"), noted.as_bytes());
    // The server forgets which messages it had.
    nats.restart();
    let _second = nats.worker(&[]);
    nats.run(&project, &["--attach", &run, "--output", "rows.jsonl"]).exits(0);
    let rows = project.rows_of("rows.jsonl");
    assert_eq!(ids(&rows).len(), 12);
    assert!(rows.iter().all(|row| row["outcome"] == "passed"), "{rows:?}");
    let mut asked = calls(&project);
    asked.sort();
    assert_eq!(asked, ids(&rows));
}

#[test]
fn a_case_is_lost_with_its_sixth_worker_and_those_that_gave_it_back_do_not_count() {
    let Some(nats) = Nats::start() else { return };
    let project = Project::new(&greeting(1, ""), FLAWED);
    for given_back in [0, 1] {
        nats.run(&project, &["--detach"]).exits(0);
        let run = status(&nats)["run"].as_str().expect("a run").to_owned();
        for _ in 0..6 {
            nats.take_and_drop_chain(&run);
        }
        if given_back > 0 {
            nats.publish(&format!("$KV.EVALRIG_{run}_CONTROL.given-back.1"), b"1");
        }
        let worker = nats.worker(&[]);
        let attached = ["--attach", &run, "--output", "rows.jsonl", "--force"];
        let ran = nats.run(&project, &attached);
        ran.exits(if given_back > 0 { 0 } else { 3 });
        let rows = project.rows_of("rows.jsonl");
        assert_eq!(rows.len(), 1);
        if given_back == 0 {
            assert_eq!(rows[0]["error"]["kind"], "lost-worker");
            assert_eq!(rows[0]["error"]["stage"], "queue");
            let message = "6 workers were lost while they ran this case";
            assert_eq!(rows[0]["error"]["message"], message);
        }
        worker.drain().exits(0);
    }
}

#[test]
fn errors_and_costs_of_workers_count_towards_the_limits() {
    let Some(nats) = Nats::start() else { return };
    let _worker = nats.worker(&["--workers", "1"]);
    let answer = "responses: [{pattern: Hi, response: Hello, delay_ms: 20, cost_usd: 0.5}]";
    let broken = "provider: cli, command: [sh, -c, 'sleep 0.02; exit 3']";
    for (target, option, reason) in [
        (format!("provider: mock, {answer}"), ["--budget-usd", "1.5"], "budget of 1.5 USD"),
        (broken.to_owned(), ["--max-errors", "2"], "cases could not be measured"),
    ] {
        let targets = format!("targets: [{{name: default, {target}}}]\n");
        let project = Project::new(&greeting(300, ""), &targets);
        nats.run(&project, &option).exits(3).says(reason);
        let rows = project.rows();
        assert_eq!(rows.len(), 300, "{reason}");
        let was_run = |row: &&Value| row["error"]["kind"] != "limit";
        let run = rows.iter().filter(was_run).count();
        assert!((2..300).contains(&run), "{reason}: {run}");
        wait_until("the end of the run", || status(&nats).is_null());
    }
}

#[test]
fn a_second_interrupt_stops_running_cases_of_workers() {
    let Some(nats) = Nats::start() else { return };
    let project = noting(&greeting(4, ""), PATIENT_AGENT, "");
    let mut worker = nats.worker(&["--workers", "2"]);
    worker.wait_for("waiting for runs");
    let coordinator = nats.start_run(&project, &[]);
    wait_until("the first calls", || calls(&project).len() == 2);
    coordinator.signal("INT");
    wait_until("the state", || status(&nats)["state"] == "stopped");
    coordinator.signal("INT");
    coordinator.end().exits(130);
    assert_eq!(status(&nats)["state"], "abandoned");
    // The agents would wait for ever.
    wait_until("the worker", || status(&nats)["workers"][0]["running"] == 0);
    assert!(project.has(LATEST) && project.rows().is_empty());
    project.write("calls.go", "");
    nats.run(&project, &["--resume"]).exits(0);
    assert_eq!(ids(&project.rows()), ["t0", "t1", "t2", "t3"]);
    assert_eq!(calls(&project).len(), 6);
    worker.drain().exits(0);
}
