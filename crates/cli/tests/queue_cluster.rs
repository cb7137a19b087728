//! What a run through a queue makes of a cluster: servers that are behind, answers that come late, and no leader.
//! With real servers.

mod support;

use std::net::TcpListener;

use serde_json::Value;
use sha2::{Digest, Sha256};
use support::nats::{Nats, calls, case_token, comparable, noting, queued_run};
use support::{Project, wait_until};

const SUITE: &str = "name: s\ntests:\n  - {id: a, criteria: x, input: Hi, assert: [{type: contains, value: Hello}, \
                     {type: code-judge, script: [sh, ./judge.sh]}]}\n";
const MOCK: &str = "targets: [{name: default, provider: mock, response: Hello}]\n";
const AGENT: &str = "echo \"$EVALRIG_TEST_ID\" >> \"$CALLS\"\necho Hello\n";
const JUDGE: &str = "echo '{\"score\": 1}'\n";

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A server that is behind has the description of an object before it has all of its parts.
#[test]
fn a_row_counts_once_all_parts_of_its_object_are_there() {
    let Some(nats) = Nats::start() else { return };
    let suite = SUITE.replace(", {type: code-judge, script: [sh, ./judge.sh]}", "");
    let project = Project::new(&suite, MOCK);
    nats.run(&project, &["--detach"]).exits(0);
    let run = queued_run(&nats);
    let local = Project::new(&suite, MOCK);
    local.run(&["--no-record"]).exits(0);
    let mut row = local.row("a");
    row["candidateAnswer"] = "Hello from an object".into();
    row["run"] = run.as_str().into();
    row["worker"] = "elsewhere".into();
    let row = row.to_string().into_bytes();
    let (name, half) = (format!("payload-{}", sha256(&row)), row.len() / 2);
    let parts = nats.put_object(&run, &name, &row[..half], row.len());
    let subject = format!("EVALRIG.{run}.ROWS.{}", case_token("s", "a", "default", 1));
    nats.publish_with(&subject, &[("Evalrig-Object", &name)], b"");
    let elsewhere = Project::empty();
    let mut requests = nats.listen("$JS.API.>");
    let attach = ["--attach", &run, "--output", "rows.jsonl"];
    let follower = nats.start_run(&elsewhere, &attach);
    assert!(requests.any(|line| line.contains(&parts)), "the follower reads the object");
    nats.publish(&parts, &row[half..]);
    let ran = follower.end();
    assert!(!ran.exits(0).err.contains("not a row"), "{}", ran.err);
    assert_eq!(elsewhere.rows_of("rows.jsonl")[0]["candidateAnswer"], "Hello from an object");
}

#[test]
fn what_is_noted_about_a_run_is_read_from_the_server_that_leads() {
    let Some(nats) = Nats::start() else { return };
    nats.run(&Project::new(SUITE, MOCK).with_judge(), &["--detach"]).exits(0);
    let run = queued_run(&nats);
    nats.worker(&[]).wait_for("waiting for runs");
    for bucket in ["EVALRIG_RUNS", "EVALRIG_RATE", &format!("EVALRIG_{run}_CONTROL")] {
        let info = nats.request(&format!("$JS.API.STREAM.INFO.KV_{bucket}"), b"");
        assert_ne!(info["config"]["allow_direct"], true, "{bucket}: {info}");
        assert_eq!(info["config"]["max_msgs_per_subject"], 1, "{bucket}: {info}");
    }
}

/// The worker that had a chain before may publish its answer while the next one waits for the rate.
#[test]
fn a_case_is_not_asked_again_once_its_answer_is_there() {
    let Some(nats) = Nats::start() else { return };
    let answers = |run: &str| {
        let token = case_token("s", "a", "default", 1);
        (format!("EVALRIG_{run}_ANSWERS"), format!("EVALRIG.{run}.ANSWERS.{token}"))
    };
    let first = noting(SUITE, AGENT, "").with_judge();
    nats.run(&first, &["--detach"]).exits(0);
    let run = queued_run(&nats);
    let worker = nats.worker(&[]);
    wait_until("the first run", || nats.queue(&["status"]).out.contains("1 rows of 1 cases"));
    worker.drain().exits(0);
    let (stream, subject) = answers(&run);
    let answer = nats.last_message(&stream, &subject);
    nats.queue(&["remove", &run]).exits(0);

    let project = noting(SUITE, AGENT, ", rate: {requests_per_minute: 6}").with_judge();
    nats.run(&project, &["--detach"]).exits(0);
    let run = queued_run(&nats);
    nats.take_and_drop_chain(&run);
    let worker = nats.worker(&[]);
    let worker_sign = || -> Value {
        let bucket = format!("EVALRIG_{run}_CONTROL");
        let asked = format!("{{\"last_by_subj\":\"$KV.{bucket}.worker.>\"}}");
        nats.request(&format!("$JS.API.STREAM.MSG.GET.KV_{bucket}"), asked.as_bytes())
    };
    wait_until("the sign of the worker", || worker_sign()["message"].is_object());
    let key = worker_sign()["message"]["subject"].as_str().expect("a subject").to_owned();
    let key = key.rsplit_once("_CONTROL.").expect("a key").1.to_owned();
    wait_until("the case that waits", || {
        let sign: Value = serde_json::from_slice(&nats.control(&run, &key)).expect("JSON");
        sign["tests"][0] == "a"
    });
    assert!(calls(&project).is_empty(), "it waits ten seconds for the rate");
    nats.publish(&answers(&run).1, &answer);
    let elsewhere = Project::empty();
    let attach = ["--attach", &run, "--output", "rows.jsonl"];
    nats.run(&elsewhere, &attach).exits(0);
    let rows = elsewhere.rows_of("rows.jsonl");
    assert_eq!(comparable(rows.clone()).len(), 1);
    assert_eq!(rows[0]["outcome"], "passed");
    assert!(calls(&project).is_empty(), "{:?}", calls(&project));
    worker.drain().exits(0);
}

/// For the routes of two servers.
fn free_ports() -> [u16; 2] {
    let held = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").expect("a port"));
    held.map(|one| one.local_addr().expect("an address").port())
}

#[test]
fn a_cluster_without_a_leader_is_waited_for() {
    let ports = free_ports();
    let config = |own: usize| {
        format!(
            "server_name: n{own}\ncluster {{ name: c, listen: '127.0.0.1:{}', routes: ['nats://127.0.0.1:{}'] }}\n",
            ports[own],
            ports[1 - own]
        )
    };
    let Some(nats) = Nats::start_with(&config(0)) else { return };
    let project = noting(SUITE, AGENT, "").with_judge();
    let mut coordinator = nats.start_run(&project, &[]);
    let mut worker = nats.worker(&[]);
    coordinator.wait_for("waiting for the server to answer");
    worker.wait_for("waiting for the server to answer");
    // Two of two can elect a leader.
    let _other = Nats::start_with(&config(1));
    let ran = coordinator.end();
    ran.exits(0);
    assert_eq!(ran.err.matches("waiting for the server").count(), 1, "{}", ran.err);
    nats.queue(&["status"]).exits(0).prints("no runs");
    worker.drain().exits(0);
}

#[test]
fn a_login_that_may_do_nothing_is_not_waited_for() {
    let users =
        "authorization { users: [{ user: u, password: p, permissions: { publish: 'x' } }] }\n";
    let Some(nats) = Nats::start_with(users) else { return };
    let project = Project::new(SUITE, MOCK).with_judge();
    let url = nats.url();
    let mut command = project.command(&["run", "--no-record", "--queue", &url]);
    command.envs([("NATS_USER", "u"), ("NATS_PASSWORD", "p")]);
    let ran = support::Running::of(command).end();
    ran.exits(2).says("Permissions Violation");
    assert!(!ran.err.contains("waiting for the server"), "{}", ran.err);
}

trait WithJudge {
    fn with_judge(self) -> Self;
}

impl WithJudge for Project {
    /// With the program that grades the tests.
    fn with_judge(self) -> Self {
        self.write("judge.sh", JUDGE);
        self
    }
}
