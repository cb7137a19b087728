//! Several processes that take the rows of one run from a queue, and one that dies or fails before it does.
//! With a real server.

mod support;

use std::fs;
#[cfg(feature = "view")]
use std::io::{BufRead, BufReader, Write};
#[cfg(feature = "view")]
use std::net::TcpStream;

use support::nats::{Nats, comparable, queued_run};
use support::{LATEST, Project, wait_until};

/// Notes every call, and answers when there is a file for its test.
const AGENT: &str = "\
echo \"$EVALRIG_TEST_ID\" >> \"$CALLS\"
while ! test -e \"$CALLS.$EVALRIG_TEST_ID\" && ! test -e \"$CALLS.all\"; do sleep 0.05; done
echo Hello
";

fn project(tests: &[&str]) -> Project {
    let project = Project::empty();
    let calls = project.path("calls").display().to_string();
    let lines = tests.iter().map(|test| {
        format!(
            "  - {{id: {test}, criteria: x, input: Hi, assert: [{{type: contains, value: Hello}}]}}\n"
        )
    });
    project.write("agent.sh", AGENT);
    project.write("EVAL.yaml", &format!("name: s\ntests:\n{}", lines.collect::<String>()));
    let targets = format!(
        "targets: [{{name: default, provider: cli, command: [sh, ./agent.sh], env: {{CALLS: '{calls}'}}}}]\n"
    );
    project.write(".evalrig/targets.yaml", &targets);
    project
}

fn calls(project: &Project) -> usize {
    if project.has("calls") { project.lines("calls").len() } else { 0 }
}

/// Whether a process has said that it takes the rows of a run.
fn is_taken_by(nats: &Nats, run: &str, kind: &str) -> bool {
    let bucket = format!("EVALRIG_{run}_CONTROL");
    let asked = format!("{{\"subjects_filter\":\"$KV.{bucket}.{kind}.>\"}}");
    let info = nats.request(&format!("$JS.API.STREAM.INFO.KV_{bucket}"), asked.as_bytes());
    info["state"]["subjects"].is_object()
}

#[test]
fn a_run_whose_rows_cannot_be_written_is_not_queued() {
    let Some(nats) = Nats::start() else { return };
    let project = project(&["a"]);
    project.write("notes.txt", "mine");
    nats.run(&project, &["--output", "notes.txt"]).exits(2).says("is not a results file");
    nats.run(&project, &["--output", "notes.txt/rows.jsonl"]).exits(2);
    nats.queue(&["status"]).exits(0).prints("no runs");
    assert_eq!(project.read("notes.txt"), "mine");
    // Nor does one go on that is on the server.
    nats.run(&project, &["--detach"]).exits(0);
    let run = queued_run(&nats);
    nats.queue(&["cancel", &run]).exits(0);
    nats.publish(&format!("$KV.EVALRIG_{run}_CONTROL.state"), b"stopped");
    nats.run(&project, &["--attach", &run, "--output", "notes.txt"]).exits(2);
    nats.queue(&["status"]).exits(0).prints("  stopped  ");
}

#[test]
fn a_coordinator_that_dies_while_it_queues_is_resumed() {
    let Some(nats) = Nats::start() else { return };
    let project = project(&["a", "b"]);
    project.write("calls.all", "");
    let coordinator = nats.start_run(&project, &[]);
    wait_until("the first stream", || {
        nats.streams().iter().any(|stream| stream.ends_with("_CASES"))
    });
    coordinator.kill();
    assert!(project.has(LATEST));
    let _worker = nats.worker(&[]);
    nats.run(&project, &["--resume"]).exits(0);
    assert_eq!(comparable(project.rows()).len(), 2);
    // The sign of the one that was killed does not keep the run.
    nats.queue(&["status"]).exits(0).prints("no runs");
}

#[test]
fn an_interrupt_ends_only_the_process_that_follows() {
    let Some(nats) = Nats::start() else { return };
    let project = project(&["a", "b", "c"]);
    let mut worker = nats.worker(&["--workers", "1"]);
    let coordinator = nats.start_run(&project, &[]);
    wait_until("the first call", || calls(&project) == 1);
    let run = queued_run(&nats);
    let elsewhere = Project::empty();
    let follower = nats.start_run(&elsewhere, &["--attach", &run, "--output", "rows.jsonl"]);
    wait_until("the follower", || is_taken_by(&nats, &run, "follower"));
    follower.signal("INT");
    let again = format!("evalrig run --attach {run} --queue {}", nats.url());
    let ran = follower.end();
    ran.exits(130).says(&format!("run {run} continues")).says(&again);
    assert!(!ran.err.contains("finishing running cases"), "{}", ran.err);
    nats.queue(&["status"]).exits(0).prints("  running  ");
    project.write("calls.all", "");
    coordinator.end().exits(0);
    assert_eq!(comparable(project.rows()).len(), 3);
    worker.wait_for("has ended");
}

#[test]
fn a_run_that_another_process_stops_ends_here_too() {
    let Some(nats) = Nats::start() else { return };
    let project = project(&["a"]);
    for state in ["stopped", "abandoned"] {
        let mut coordinator = nats.start_run(&project, &[]);
        coordinator.wait_for("is queued");
        wait_until("the run", || nats.queue(&["status"]).out.contains("  running  "));
        let run = queued_run(&nats);
        nats.publish(&format!("$KV.EVALRIG_{run}_CONTROL.state"), state.as_bytes());
        coordinator.end().exits(3).says("was stopped by another process");
        nats.queue(&["remove", &run]).exits(0);
    }
}

#[test]
fn a_process_that_has_every_row_leaves_the_run_to_others() {
    let Some(nats) = Nats::start() else { return };
    let project = project(&["a", "b"]);
    let _worker = nats.worker(&[]);
    let coordinator = nats.start_run(&project, &[]);
    wait_until("both calls", || calls(&project) == 2);
    let run = queued_run(&nats);
    wait_until("the coordinator", || is_taken_by(&nats, &run, "coordinator"));
    coordinator.signal("STOP");
    let elsewhere = Project::empty();
    let follower = nats.start_run(&elsewhere, &["--attach", &run, "--output", "rows.jsonl"]);
    project.write("calls.all", "");
    follower.end().exits(0).says("stays on the server for another process");
    assert_eq!(comparable(elsewhere.rows_of("rows.jsonl")).len(), 2);
    coordinator.signal("CONT");
    coordinator.end().exits(0);
    assert_eq!(comparable(project.rows()).len(), 2);
    wait_until("the end of the run", || nats.queue(&["status"]).out.contains("no runs"));
}

#[test]
fn attach_takes_the_options_of_the_run_and_a_store() {
    let Some(nats) = Nats::start() else { return };
    let project = project(&["a"]);
    project.write("calls.all", "");
    nats.run(&project, &["--detach"]).exits(0);
    let run = queued_run(&nats);
    let _worker = nats.worker(&[]);
    for option in [["--filter", "a"], ["--trials", "2"], ["--target", "x"], ["--lease", "5s"]] {
        let ran = nats.run(&project, &[&["--attach", &run][..], &option].concat());
        ran.exits(2).says("cannot be used with");
    }
    let url = nats.url();
    let attach = ["run", "--queue", &url, "--attach", &run, "--store", "log"];
    project.evalrig(&attach).exits(0);
    let logged = fs::read_dir(project.path("log")).expect("a directory").count();
    assert!(logged > 0);
}

/// The lines of an answer over HTTP, as they come.
#[cfg(feature = "view")]
fn lines_of(address: &str, path: &str) -> impl Iterator<Item = String> {
    let rest = address.strip_prefix("http://").expect("an address");
    let (host, query) = rest.split_once('/').expect("a path");
    let token = query.split_once("token=").expect("a token").1;
    let mut stream = TcpStream::connect(host).expect("a server");
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: {host}\r\nX-Evalrig-Token: {token}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).expect("a request");
    BufReader::new(stream).lines().map(|line| line.expect("a line"))
}

#[cfg(feature = "view")]
#[test]
fn the_live_page_shows_workers_before_their_first_row() {
    let Some(nats) = Nats::start() else { return };
    let project = project(&["a"]);
    let _worker = nats.worker(&["--name", "one", "--workers", "3"]);
    let mut coordinator = nats.start_run(&project, &["--view"]);
    coordinator.wait_for("the run is shown at http://127.0.0.1:");
    let said = coordinator.said();
    let address = said.split_whitespace().find(|word| word.starts_with("http://127.0.0.1:"));
    let address = address.expect("an address").trim_end_matches(';').to_owned();
    let mut next = lines_of(&address, "/next");
    let path = next.find_map(|line| line.strip_prefix("location: ").map(str::to_owned));
    let events = format!("{}events", path.expect("a run"));
    let mut lines = lines_of(&address, &events);
    assert!(lines.any(|line| line == "event: workers"));
    let told = lines.any(|line| line.contains("\"one\":\"1 of 3 running, 0 done: a\""));
    assert!(told && project.rows().is_empty());
    let notes =
        || project.all_files().iter().any(|(path, _)| path.to_string_lossy().ends_with(".workers"));
    assert!(notes());
    project.write("calls.all", "");
    coordinator.end().exits(0);
    assert!(!notes(), "the file ends with the run");
}
