//! Runs whose cases go through a queue: `run --queue`, `worker` and `queue`, with a real server.

mod support;

use support::nats::{Nats, comparable, http_get, queued_run};
use support::{Project, wait_until};

const MOCK: &str = "targets: [{name: default, provider: mock, response: Hello}]\n";

/// Says what it was asked, and notes every call.
const AGENT: &str = "#!/bin/sh\necho \"$EVALRIG_TEST_ID $EVALRIG_TRIAL\" >> \"$CALLS\"\ncat\n";

fn agent_targets(calls: &str) -> String {
    format!(
        "targets:\n  - name: default\n    provider: cli\n    command: [sh, ./agent.sh]\n    env: {{CALLS: '{calls}'}}\n  - {{name: other, provider: mock, response: Hello}}\n"
    )
}

fn greeting(count: usize) -> String {
    let mut suite = "name: greetings\ntests:\n".to_owned();
    for number in 0..count {
        suite += &format!(
            "  - {{id: t{number}, criteria: Greets, input: Hi {number}, assert: [{{type: contains, value: Hello}}]}}\n"
        );
    }
    suite
}

#[test]
fn a_run_through_workers_has_every_row_once() {
    let Some(nats) = Nats::start() else { return };
    let mut workers = [nats.worker(&["--name", "one"]), nats.worker(&["--name", "two"])];
    let project = Project::new(&greeting(40), MOCK);
    let ran = nats.run(&project, &["-n", "3"]);
    ran.exits(0).says("is queued");
    let rows = project.rows();
    assert_eq!(comparable(rows.clone()).len(), 120);
    assert!(rows.iter().all(|row| ["one", "two"].contains(&row["worker"].as_str().unwrap())));
    // Nothing of the run stays on the server.
    workers.iter_mut().for_each(|worker| worker.wait_for("has ended"));
    assert_eq!(nats.streams(), ["KV_EVALRIG_RATE", "KV_EVALRIG_RUNS"]);
    for worker in workers {
        worker.drain().exits(0);
    }
}

#[test]
fn a_detached_run_is_followed_from_elsewhere() {
    let Some(nats) = Nats::start() else { return };
    let project = Project::new(&greeting(5), MOCK);
    nats.run(&project, &["--detach"]).exits(0).says("is queued");
    assert!(!project.has(".evalrig/results"));
    let run = queued_run(&nats);
    let _worker = nats.worker(&[]);
    let elsewhere = Project::empty();
    nats.run(&elsewhere, &["--attach", &run, "--output", "rows.jsonl"]).exits(0);
    let rows = elsewhere.rows_of("rows.jsonl");
    assert_eq!(comparable(rows.clone()).len(), 5);
    assert!(rows.iter().all(|row| row["run"] == run.as_str()));
    nats.run(&elsewhere, &["--attach", &run]).exits(2).says("the server has no run");
}

#[test]
fn a_coordinator_that_was_killed_goes_on_and_misses_nothing() {
    let Some(nats) = Nats::start() else { return };
    let project = Project::empty();
    let calls = project.path("calls").display().to_string();
    project.write("agent.sh", AGENT);
    project.write("EVAL.yaml", &greeting(30));
    project.write(".evalrig/targets.yaml", &agent_targets(&calls));
    let mut worker = nats.worker(&["--workers", "2"]);
    worker.wait_for("waiting for runs");
    let coordinator = nats.start_run(&project, &[]);
    wait_until("some rows", || project.lines(support::LATEST).len() > 3);
    coordinator.kill();
    nats.run(&project, &["--resume"]).exits(1);
    assert_eq!(comparable(project.rows()).len(), 30);
    assert_eq!(project.lines("calls").len(), 30);
}

#[test]
fn a_second_worker_grades_an_answer_without_asking_again() {
    let Some(nats) = Nats::start() else { return };
    let project = Project::empty();
    let calls = project.path("calls").display().to_string();
    project.write("agent.sh", AGENT);
    // Waits for ever, until a file says that it need not.
    let judge = format!(
        "touch {calls}.judging; test -e {calls}.go && echo '{{\"score\": 1}}' || exec sleep 1000\n"
    );
    project.write("judge.sh", &judge);
    let suite = "name: s\ntests:\n  - {id: a, criteria: x, input: Hi, assert: [{type: code-judge, script: [sh, ./judge.sh]}]}\n";
    project.write("EVAL.yaml", suite);
    project.write(".evalrig/targets.yaml", &agent_targets(&calls));
    let first = nats.worker(&["--name", "first"]);
    let coordinator = nats.start_run(&project, &["--lease", "5s"]);
    wait_until("the judge", || project.has("calls.judging"));
    first.kill();
    project.write("calls.go", "");
    let second = nats.worker(&["--name", "second"]);
    coordinator.end().exits(0);
    assert_eq!(project.lines("calls"), ["a 1"]);
    assert_eq!(project.row("a")["worker"], "second");
    second.drain().exits(0);
}

#[test]
fn no_secret_reaches_the_server() {
    let Some(nats) = Nats::start() else { return };
    let secret = "sk-3f9a7c21d8e6";
    let project = Project::empty();
    project.write("EVAL.yaml", &greeting(1));
    project.write("agent.sh", "echo \"Hello $KEY\"\n");
    let target = "targets:\n  - {name: default, provider: cli, command: [sh, ./agent.sh], env: {KEY: '${{ AGENT_TOKEN }}'}}\n";
    project.write(".evalrig/targets.yaml", target);
    // The coordinator does not need the variable, and the worker has it.
    let worker = nats.worker_with(&[], &[("AGENT_TOKEN", secret)]);
    nats.run(&project, &[]).exits(0);
    assert_eq!(project.row("t0")["candidateAnswer"], "Hello ***");
    assert!(!nats.has_stored(secret));
    worker.drain().exits(0);

    project.write(".evalrig/targets.yaml", &target.replace("${{ AGENT_TOKEN }}", secret));
    nats.run(&project, &[]).exits(2).says("contains a literal secret");
    for settings in [
        "provider: cli, command: [sh, ./agent.sh], env: {API_KEY: 'SECRET'}",
        "provider: cli, command: [sh, ./agent.sh, --api-key, 'SECRET']",
        "provider: cli, command: 'sh ./agent.sh --token=SECRET'",
        "provider: http, url: 'http://me:SECRET@127.0.0.1/ask', answer: /text",
    ] {
        let settings = settings.replace("SECRET", secret);
        project.write(
            ".evalrig/targets.yaml",
            &format!("targets:\n  - {{name: default, {settings}}}\n"),
        );
        let ran = nats.run(&project, &["--detach"]);
        ran.exits(2).says("contains a literal secret");
        assert!(!ran.err.contains(secret) && !nats.has_stored(secret), "{settings}");
    }
    project.write(".evalrig/targets.yaml", MOCK);
    project.write("template/deep/.env", &format!("PLAIN={secret}\n"));
    let with_template = format!("{}workspace: {{template: template}}\n", greeting(1));
    project.write("EVAL.yaml", &with_template);
    let ran = nats.run(&project, &["--detach"]);
    ran.exits(2).says("template/deep/.env` would be sent to the server");
    assert!(!nats.has_stored(secret));
    project.write("EVAL.yaml", &greeting(1).replace("Hi 0", "'${{ MY_PASSWORD }}'"));
    let url = nats.url();
    let mut command = project.command(&["run", "--queue", &url]);
    command.env("MY_PASSWORD", secret);
    let ran = support::Ran::of(command);
    ran.exits(2).says("`MY_PASSWORD`");
    assert!(!ran.err.contains(secret) && !nats.has_stored(secret));
}

#[test]
fn a_worker_shows_no_secret() {
    let Some(nats) = Nats::start() else { return };
    let secret = "sk-3f9a7c21d8e6/ä\"x";
    let plain = "value-of-plain-41";
    let project = Project::new(
        &format!("{}workspace: {{teardown: 'sh ./spell.sh'}}\n", greeting(1)),
        "targets:\n  - {name: default, provider: cli, command: [sh, ./agent.sh], env: {KEY: '${{ AGENT_TOKEN }}', PASSWORD: '${{ PLAIN }}'}}\n",
    );
    // Every spelling, on the way to a warning.
    let spell = "for text in \"$AGENT_TOKEN\" \"$PLAIN\"; do\n  echo \"$text\"; printf %s \"$text\" | base64\n  printf %s \"$text\" | od -An -tx1 | tr -d ' \\n'; echo\n  echo \"$text\" | tr 'a-z' 'A-Z'\ndone >&2\nexit 3\n";
    project.write("spell.sh", spell);
    project.write("agent.sh", "echo Hello\n");
    let worker = nats.worker_with(&[], &[("AGENT_TOKEN", secret), ("PLAIN", plain)]);
    nats.run(&project, &[]);
    let said = worker.drain().err;
    assert!(said.contains("teardown"), "{said}");
    let hex = |text: &str| text.bytes().map(|byte| format!("{byte:02x}")).collect::<String>();
    for text in [secret, plain] {
        for spelling in [text.to_owned(), text.to_uppercase(), hex(text)] {
            assert!(!said.contains(&spelling), "{spelling} in {said}");
        }
    }
    assert!(!said.contains("dmFsdWUtb2YtcGxhaW4tNDE") && !said.contains("c2stM2Y5YTdjMjFkOGU2"));
}

#[test]
fn a_worker_takes_only_what_it_can_run() {
    let Some(nats) = Nats::start() else { return };
    let suite = "name: s\ntests:\n  - {id: a, criteria: x, input: Hi, assert: [{type: contains, value: H}]}\n  - {id: b, criteria: x, input: Hi, execution: {target: keyed}, assert: [{type: contains, value: H}]}\n  - {id: c, criteria: x, input: Hi, execution: {target: missing}, assert: [{type: contains, value: H}]}\n";
    let targets = "targets:\n  - {name: default, provider: mock, response: Hello}\n  - {name: keyed, provider: mock, response: 'Hello ${{ GREETED }}'}\n  - {name: missing, provider: cli, command: [no-such-program-here]}\n";
    let project = Project::new(suite, targets);
    let mut plain = nats.worker(&["--name", "plain"]);
    let coordinator = nats.start_run(&project, &["--queue-patience", "8s"]);
    plain.wait_for("`GREETED`");
    plain.wait_for("`no-such-program-here` is not installed");
    let _keyed = nats.worker_with(&["--name", "keyed"], &[("GREETED", "you")]);
    coordinator.end().exits(3);
    assert_eq!(project.row("b")["candidateAnswer"], "Hello you");
    assert_eq!(project.row("b")["worker"], "keyed");
    assert_eq!(project.row("c")["error"]["kind"], "no-worker");
    assert_eq!(project.row("c")["error"]["stage"], "queue");
}

#[test]
fn a_run_can_be_cancelled_and_removed_by_others() {
    let Some(nats) = Nats::start() else { return };
    let project = Project::new(&greeting(3), MOCK);
    let coordinator = nats.start_run(&project, &[]);
    wait_until("the run", || nats.queue(&["status"]).out.contains("running"));
    let run = queued_run(&nats);
    nats.queue(&["cancel", &run]).exits(0);
    let ran = coordinator.end();
    ran.exits(3).says("was cancelled").says(&format!("queue remove {run} --queue {}", nats.url()));
    let shown = format!("{}{}", ran.out, ran.err);
    assert!(!shown.contains("could not be written"), "{shown}");
    nats.queue(&["status", &run]).exits(0).prints("cancelled  0 rows of 3 cases");
    nats.run(&project, &["--resume"]).exits(2).says("was cancelled");
    nats.queue(&["remove", &run]).exits(0);
    nats.queue(&["remove", &run]).exits(2).says("has no run");
    nats.queue(&["cancel", "../x"]).exits(2).says("is not the id of a run");
    // Someone removes it while it is followed.
    let coordinator = nats.start_run(&project, &["--output", "removed.jsonl"]);
    wait_until("the run", || nats.queue(&["status"]).out.contains("running"));
    nats.queue(&["remove", &queued_run(&nats)]).exits(0);
    let ran = coordinator.end();
    ran.exits(3).says("was removed from the server");
    assert!(!ran.err.contains("is still on the server") && !ran.err.contains("written"));
    // What is left is queued again.
    let _worker = nats.worker(&[]);
    nats.run(&project, &["--resume"]).exits(0).says("is no longer on the server");
    assert_eq!(comparable(project.rows()).len(), 3);
}

#[test]
fn limits_reach_workers() {
    let Some(nats) = Nats::start() else { return };
    let targets = "targets: [{name: default, provider: mock, responses: [{pattern: Hi, response: Bye, delay_ms: 20}]}]\n";
    let project = Project::new(&greeting(300), targets);
    let _worker = nats.worker(&["--workers", "1"]);
    let ran = nats.run(&project, &["--fail-fast"]);
    ran.exits(1).says("`--fail-fast` is set");
    assert!(project.rows().len() < 300, "{}", project.rows().len());
}

#[test]
fn limits_of_a_detached_run_count_where_it_is_followed() {
    let Some(nats) = Nats::start() else { return };
    let targets = "targets: [{name: default, provider: mock, responses: [{pattern: Hi, response: Bye, delay_ms: 20}]}]\n";
    let project = Project::new(&greeting(300), targets);
    let ran = nats.run(&project, &["--detach", "--fail-fast"]);
    let run = queued_run(&nats);
    ran.exits(0).says(&format!("evalrig run --attach {run} --queue {}", nats.url()));
    let elsewhere = Project::empty();
    let _worker = nats.worker(&["--workers", "1"]);
    let ran = nats.run(&elsewhere, &["--attach", &run, "--output", "rows.jsonl"]);
    ran.exits(1).says("`--fail-fast` is set");
    assert!(elsewhere.rows_of("rows.jsonl").len() < 300);
}

#[test]
fn an_interrupted_run_goes_on() {
    let Some(nats) = Nats::start() else { return };
    let project = Project::new(&greeting(3), MOCK);
    let mut coordinator = nats.start_run(&project, &[]);
    coordinator.wait_for("is queued");
    wait_until("the run", || nats.queue(&["status"]).out.contains("running"));
    coordinator.signal("INT");
    coordinator.end().exits(130).says("is still on the server");
    let run = queued_run(&nats);
    nats.queue(&["status"]).exits(0).prints("stopped");
    let worker = nats.worker(&[]);
    nats.run(&project, &["--resume"]).exits(0);
    assert!(project.rows().iter().all(|row| row["run"] == run.as_str()));
    worker.drain().exits(0);
}

#[test]
fn a_worker_says_how_it_is_and_drains() {
    let Some(nats) = Nats::start() else { return };
    let project = Project::empty();
    let calls = project.path("calls").display().to_string();
    let script =
        format!("echo >> {calls}; while ! test -e {calls}.go; do sleep 0.05; done; echo Hello\n");
    project.write("agent.sh", &script);
    project.write("EVAL.yaml", &greeting(3));
    project.write(".evalrig/targets.yaml", &agent_targets(&calls));
    let mut worker = nats.worker(&["--workers", "1", "--health", "127.0.0.1:0"]);
    worker.wait_for("health and metrics on");
    let said = worker.running().said();
    let address = said.split("http://").nth(1).and_then(|rest| rest.lines().next());
    let address = address.expect("an address").to_owned();
    assert!(http_get(&address, "/healthz").starts_with("HTTP/1.1 200"));
    assert!(http_get(&address, "/readyz").starts_with("HTTP/1.1 200"));
    let coordinator = nats.start_run(&project, &[]);
    wait_until("the first call", || !project.lines("calls").is_empty());
    let metrics = http_get(&address, "/metrics");
    assert!(metrics.contains("evalrig_worker_chains_running 1\n"), "{metrics}");
    assert!(metrics.contains("evalrig_worker_leases_total 1\n"), "{metrics}");
    worker.running().signal("TERM");
    worker.wait_for("finishing running cases");
    assert!(http_get(&address, "/readyz").starts_with("HTTP/1.1 503"));
    project.write("calls.go", "");
    let first = worker;
    wait_until("the first row", || project.lines(support::LATEST).len() > 1);
    first.drain().exits(0);
    assert_eq!(project.lines("calls").len(), 1);
    let _second = nats.worker(&[]);
    coordinator.end().exits(0);
    assert_eq!(project.lines("calls").len(), 3);
}

#[test]
fn what_is_left_of_a_run_can_be_removed() {
    let Some(nats) = Nats::start() else { return };
    let stream = r#"{"name":"EVALRIG_left-over_CASES","subjects":["EVALRIG.left-over.CASES.*"]}"#;
    nats.publish("$JS.API.STREAM.CREATE.EVALRIG_left-over_CASES", stream.as_bytes());
    wait_until("the stream", || !nats.streams().is_empty());
    nats.queue(&["status"]).exits(0).prints("left-over  incomplete");
    nats.queue(&["remove", "left-over"]).exits(0);
    nats.queue(&["status"]).exits(0).prints("no runs");
    nats.queue(&["remove", "left-over"]).exits(2).says("has no run");
}

#[test]
fn large_rows_outlive_restarts_of_the_server() {
    let Some(mut nats) = Nats::start() else { return };
    let project = Project::empty();
    project.write("EVAL.yaml", &greeting(24));
    // Rows above 256 KiB are objects.
    project.write("agent.sh", "echo Hello; head -c 300000 /dev/zero | tr '\\0' x\n");
    project.write(".evalrig/targets.yaml", &agent_targets("calls"));
    nats.run(&project, &["--detach"]).exits(0);
    let run = queued_run(&nats);
    let worker = nats.worker(&[]);
    wait_until("every row", || nats.queue(&["status"]).out.contains("24 rows of 24 cases"));
    worker.drain().exits(0);
    let coordinator = nats.start_run(&project, &["--attach", &run, "--output", "rows.jsonl"]);
    for rows in [2, 10, 18] {
        wait_until("some rows", || project.lines("rows.jsonl").len() > rows);
        nats.restart();
    }
    coordinator.end().exits(0);
    assert_eq!(comparable(project.rows_of("rows.jsonl")).len(), 24);
}
