//! `evalrig view` and `run --view` as programs.
#![cfg(all(unix, feature = "view"))]

mod support;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use support::{Project, Running, wait_until};

const SUITE: &str = "name: greetings\ntests:\n  - {id: hello, criteria: Greets, input: Hi, \
                     assert: [{type: contains, value: Hello}]}\n";
const MOCK: &str = "targets: [{name: default, provider: mock, response: Hello there}]\n";
/// Answers once a file is there.
const PATIENT: &str = "targets: [{name: default, provider: cli, command: [sh, wait.sh]}]\n";
const WAIT: &str = "while [ ! -e go ]; do sleep 0.02; done\necho Hello\n";

/// Asks with the token of an address, and gives the whole answer.
fn ask(address: &str, path: &str) -> String {
    let rest = address.strip_prefix("http://").expect("an address");
    let (host, query) = rest.split_once('/').expect("a path");
    let token = query.split_once("token=").expect("a token").1;
    let mut stream = TcpStream::connect(host).expect("a server");
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: {host}\r\nX-Evalrig-Token: {token}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).expect("a request");
    let mut reply = String::new();
    stream.read_to_string(&mut reply).expect("a reply");
    reply
}

/// The first address in a text.
fn address(text: &str) -> Option<String> {
    let at = text.find("http://127.0.0.1:")?;
    let end = text[at..].find('\n')?;
    Some(text[at..at + end].split([' ', ';']).next()?.to_owned())
}

fn serving(server: &Running) -> String {
    wait_until("the address", || address(&server.written()).is_some());
    address(&server.written()).expect("an address")
}

#[test]
fn it_serves_until_a_signal_and_ends_cleanly() {
    let project = Project::new(SUITE, MOCK);
    project.run(&[]).exits(0);
    for signal in ["INT", "TERM"] {
        let server = Running::of(project.command(&["view", "--no-open"]));
        let address = serving(&server);
        assert!(ask(&address, "/").contains("greetings"));
        let latest = ask(&address, "/latest");
        assert!(latest.starts_with("HTTP/1.1 303") && latest.contains("location: /runs/"));
        server.signal(signal);
        server.end().exits(0).says("serving until Ctrl-C");
    }
    assert!(!project.has(".evalrig/labels.jsonl"));
}

#[test]
fn what_cannot_be_served_is_an_error() {
    let project = Project::new(SUITE, MOCK);
    project.evalrig(&["view", "nowhere"]).exits(2).says("nowhere` does not exist");
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("an address").port().to_string();
    let refused = project.evalrig(&["view", "--no-open", "--port", &port]);
    refused.exits(2).says(&format!("cannot serve on port {port} of 127.0.0.1"));
    project.run(&["--no-open"]).exits(2);
    project.run(&["--view", "--dry-run"]).exits(2);
}

#[test]
fn a_run_is_shown_while_it_goes_on_and_the_server_ends_with_it() {
    let project = Project::new(SUITE, PATIENT);
    project.write("wait.sh", WAIT);
    let mut run = project.start(&["--view", "--no-record"]);
    run.wait_for("the run is shown at http://127.0.0.1:");
    let address = address(&run.said()).expect("an address");
    assert!(address.contains("/next?token="), "{address}");
    let next = ask(&address, "/next");
    let path = next.lines().find_map(|line| line.strip_prefix("location: ")).expect("a run");
    assert!(ask(&address, path).contains("<meta name=\"evalrig-live\" content=\"events\">"));
    assert!(!run.is_over());
    project.write("go", "");
    run.end().exits(0);
    assert_eq!(project.rows().len(), 1);
}

#[test]
fn the_exit_code_is_that_of_the_run() {
    let project = Project::new(&SUITE.replace("Hello", "Goodbye"), MOCK);
    project.run(&["--view", "--output", "out.jsonl"]).exits(1).says("the run is shown at");
    assert!(project.has("out.jsonl"));
}
