//! What a run through a queue makes of forged messages, of servers that are not what they should be, and of full disks.
//! With a real server.
#![cfg(unix)]

mod support;

use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use support::nats::{Nats, case_token, comparable, http_get, queued_run};
use support::{Numbers, Project, Running, wait_until};

const MOCK: &str = "targets: [{name: default, provider: mock, response: Hello}]\n";

fn greeting(count: usize) -> String {
    let mut suite = "name: greetings\ntests:\n".to_owned();
    for number in 0..count {
        suite += &format!(
            "  - {{id: t{number}, criteria: Greets, input: Hi {number}, assert: [{{type: contains, value: Hello}}]}}\n"
        );
    }
    suite
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn forged_messages_are_refused_and_lose_nothing() {
    let Some(nats) = Nats::start() else { return };
    let project = Project::new(&greeting(3), MOCK);
    nats.run(&project, &["--detach"]).exits(0);
    let run = queued_run(&nats);
    let subject = |kind: &str, token: &str| format!("EVALRIG.{run}.{kind}.{token}");
    // Before any worker: these would count if they were believed.
    let local = Project::new(&greeting(3), MOCK);
    local.run(&["--no-record"]).exits(0);
    let mut row = local.row("t0");
    row["candidateAnswer"] = "forged".into();
    let mut changed = row.clone();
    changed["testHash"] = "0000000000000000".into();
    let mut foreign = row.clone();
    foreign["evalId"] = "elsewhere".into();
    for payload in [&b"garbage"[..], b"{}", b"\xff\xfe", row.to_string().as_bytes()] {
        nats.publish(&subject("ROWS", "0123456789abcdef0123456789abcdef"), payload);
        nats.publish(&subject("ANSWERS", "0123456789abcdef0123456789abcdef"), payload);
    }
    for payload in [&changed, &foreign] {
        nats.publish(&subject("ROWS", "x"), payload.to_string().as_bytes());
    }
    // Where a row of this case belongs, but of another run, or of no worker.
    let own = subject("ROWS", &case_token("greetings", "t0", "default", 1));
    row["run"] = "20260102T030405-a1b2c3".into();
    row["worker"] = "forger".into();
    nats.publish(&own, row.to_string().as_bytes());
    row["run"] = run.as_str().into();
    row.as_object_mut().expect("a row").remove("worker");
    nats.publish(&own, row.to_string().as_bytes());
    nats.publish(&subject("CASES", "0"), b"garbage");
    let unknown = r#"{"suite":7,"class":0,"cases":[{"suite":"s","test":"t","target":"d","trial":1,"hash":"h"}]}"#;
    nats.publish(&subject("CASES", "0"), unknown.as_bytes());
    nats.publish(&format!("$KV.EVALRIG_{run}_CONTROL.worker.x"), b"garbage");
    nats.publish("$KV.EVALRIG_RUNS.other", b"garbage");
    let status = nats.queue(&["status"]);
    status.exits(0).prints("other  unreadable").prints(&format!("{run}  running"));
    nats.queue(&["remove", "other"]).exits(0);
    assert!(!nats.queue(&["status"]).exits(0).out.contains("other"));
    let mut worker = nats.worker(&[]);
    let ran = nats.run(&project, &["--attach", &run, "--output", "rows.jsonl"]);
    ran.exits(0).says("a message that is not a row of this run");
    let rows = project.rows_of("rows.jsonl");
    assert_eq!(comparable(rows.clone()).len(), 3);
    assert!(rows.iter().all(|row| row["candidateAnswer"] == "Hello"));
    worker.wait_for("a message is not a case of this run");
    worker.drain().exits(0);
}

/// Rows of a run that are not inside of their messages.
#[test]
fn a_row_whose_object_is_forged_is_refused_and_loses_nothing() {
    let Some(nats) = Nats::start() else { return };
    let project = Project::new(&greeting(3), MOCK);
    let hash = sha256(b"row");
    let payload = format!("payload-{hash}");
    // What is in the store, and what its description says of its size.
    let absent: Option<(&str, usize)> = None;
    for (object, name, reason) in [
        (absent, "manifest", "it names an object that is not a payload"),
        (absent, "payload-../manifest", "it names an object that is not a payload"),
        (absent, &payload, "no object of its name"),
        (Some(("other", 5)), &payload, "its object does not match its hash"),
        (Some(("row", 400 << 20)), &payload, "larger than"),
    ] {
        nats.run(&project, &["--detach"]).exits(0);
        let run = queued_run(&nats);
        if let Some((content, size)) = object {
            nats.put_object(&run, &payload, content.as_bytes(), size);
        }
        let token = case_token("greetings", "t0", "default", 1);
        let subject = format!("EVALRIG.{run}.ROWS.{token}");
        nats.publish_with(&subject, &[("Evalrig-Object", name)], b"");
        nats.publish_with(&subject.replace("ROWS", "ANSWERS"), &[("Evalrig-Object", name)], b"");
        let worker = nats.worker(&[]);
        let ran = nats.run(&project, &["--attach", &run, "--output", "rows.jsonl", "--force"]);
        ran.exits(0).says(reason);
        assert_eq!(comparable(project.rows_of("rows.jsonl")).len(), 3, "{reason}");
        worker.drain().exits(0);
    }
}

#[test]
fn a_forged_bundle_is_not_served_until_it_is_whole() {
    let Some(nats) = Nats::start() else { return };
    let project = Project::new(&greeting(3), MOCK);
    nats.run(&project, &["--detach"]).exits(0);
    let run = queued_run(&nats);
    let suite = greeting(3);
    let name = sha256(suite.as_bytes());
    // A suite of the same size with another content.
    let forged = suite.replace("value: Hello", "value: Hexxo");
    nats.put_object(&run, &name, forged.as_bytes(), forged.len());
    let mut worker = nats.worker(&["--name", "one"]);
    worker.wait_for("cannot get `EVAL.yaml` of the bundle: hash mismatch");
    // Missing, and larger than the manifest says.
    nats.put_object(&run, &name, &[suite.as_bytes(), b"# more\n"].concat(), suite.len() + 7);
    worker.wait_for("larger than");
    // A manifest that leads out of the bundle, with its own hash in the list of runs.
    let manifest = nats.object(&run, "manifest");
    let entry = nats.last_message("KV_EVALRIG_RUNS", &format!("$KV.EVALRIG_RUNS.{run}"));
    let text = String::from_utf8(manifest.clone()).expect("text");
    let escaping = text.replace("\"path\":\"EVAL.yaml\"", "\"path\":\"../EVAL.yaml\"");
    assert_ne!(escaping, text);
    let mut changed: Value = serde_json::from_slice(&entry).expect("JSON");
    nats.put_object(&run, "manifest", escaping.as_bytes(), escaping.len());
    worker.wait_for("the description of the run does not match its hash");
    changed["manifest"] = json!(sha256(escaping.as_bytes()));
    nats.publish(&format!("$KV.EVALRIG_RUNS.{run}"), changed.to_string().as_bytes());
    let mut other = nats.worker(&["--name", "other"]);
    other.wait_for("../EVAL.yaml");
    let cache = other.project.path("cache");
    assert!(!cache.join("EVAL.yaml").exists() && !other.project.has("EVAL.yaml"));
    // Nothing was lost: the true bundle is served.
    nats.put_object(&run, "manifest", &manifest, manifest.len());
    nats.publish(&format!("$KV.EVALRIG_RUNS.{run}"), &entry);
    nats.put_object(&run, &name, suite.as_bytes(), suite.len());
    nats.run(&project, &["--attach", &run, "--output", "rows.jsonl"]).exits(0);
    let rows = project.rows_of("rows.jsonl");
    assert_eq!(comparable(rows.clone()).len(), 3);
    assert!(rows.iter().all(|row| row["outcome"] == "passed"));
}

#[test]
fn a_server_must_be_safe_and_new() {
    // An address is checked before anything is sent.
    let project = Project::new(&greeting(1), MOCK);
    let refused = |address: &str| project.run(&["--no-record", "--queue", address]);
    let ran = refused("nats://me:hunter2@127.0.0.1");
    ran.exits(2).says("NATS_PASSWORD");
    assert!(!ran.err.contains("hunter2"));
    refused("http://127.0.0.1").exits(2).says("is not an address");
    // Answers like a server of version 2.9.
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("nats://{}", listener.local_addr().expect("an address"));
    thread::spawn(move || {
        let mut streams = Vec::new();
        while let Ok((mut stream, _)) = listener.accept() {
            let info = "INFO {\"server_id\":\"x\",\"version\":\"2.9.25\",\"max_payload\":1048576,\"jetstream\":true,\"headers\":true}\r\nPONG\r\n";
            let _ = stream.write_all(info.as_bytes());
            streams.push(stream);
        }
    });
    refused(&address)
        .exits(2)
        .says("the server is NATS 2.9.25; a queue needs version 2.10 or later");
    let worker = Project::empty().evalrig(&["worker", "--queue", &address]);
    worker.exits(2).says("2.9.25");
    assert!(!project.has(".evalrig/results"));
}

#[test]
fn a_login_is_needed_where_the_server_wants_one() {
    let login = "authorization { user: me, password: hunter2 }\n";
    let Some(nats) = Nats::start_with(login) else { return };
    let project = Project::new(&greeting(1), MOCK);
    nats.run(&project, &[]).exits(2).says("refuses the login");
    let url = nats.url();
    let with = |password: &str, arguments: &[&str]| {
        let mut command = project.command(arguments);
        command.env("NATS_USER", "me").env("NATS_PASSWORD", password);
        support::Ran::of(command)
    };
    let run = ["run", "--no-record", "--detach", "--queue", &url];
    with("wrong", &run).exits(2).says("refuses the login");
    let worker = ["worker", "--queue", &url, "--cache", "cache"];
    with("wrong", &worker).exits(2).says("refuses the login");
    let ran = with("hunter2", &run);
    ran.exits(0);
    assert!(!ran.err.contains("hunter2"));
    // The same server by an address that is not on loopback.
    let exposed = format!("nats://0.0.0.0:{}", nats.port);
    with("hunter2", &["worker", "--queue", &exposed]).exits(2).says("--insecure");
}

#[test]
fn a_server_without_room_is_an_error_that_loses_nothing() {
    let Some(nats) = Nats::start_with("jetstream { store_dir: 'STORE', max_file_store: 1 }\n")
    else {
        return;
    };
    let project = Project::new(&greeting(3), MOCK);
    let ran = nats.run(&project, &[]);
    ran.exits(2).says("cannot ");
    // The results file is there for `--resume`.
    assert!(project.has(support::LATEST) && project.rows().is_empty());
    let nothing_left = || nats.streams().iter().all(|name| name == "KV_EVALRIG_RUNS");
    wait_until("the end of the streams", nothing_left);
}

#[test]
fn a_start_that_fails_leaves_nothing_on_the_server() {
    let Some(nats) = Nats::start_with("jetstream { store_dir: 'STORE', max_file_store: 300K }\n")
    else {
        return;
    };
    let project = Project::new(&greeting(3), MOCK);
    // Random text, which the server cannot make smaller.
    let mut numbers = Numbers(7);
    let large: String = (0..600_000).map(|_| char::from(33 + numbers.below(90) as u8)).collect();
    project.write("template/large", &large);
    project.write("EVAL.yaml", &format!("{}workspace: {{template: template}}\n", greeting(3)));
    nats.run(&project, &[]).exits(2).says("cannot send");
    let nothing_left = || nats.streams().iter().all(|name| name == "KV_EVALRIG_RUNS");
    wait_until("the end of the streams", nothing_left);
}

#[test]
fn a_server_that_becomes_full_is_waited_for() {
    let Some(nats) = Nats::start_with("jetstream { store_dir: 'STORE', max_file_store: 8M }\n")
    else {
        return;
    };
    let project = Project::empty();
    // Random text, which the server cannot make smaller.
    let mut numbers = Numbers(7);
    let large: String = (0..150_000).map(|_| char::from(b'a' + numbers.below(26) as u8)).collect();
    project.write("large", &format!("Hello {large}"));
    let calls = project.path("calls").display().to_string();
    project.write(
        "agent.sh",
        &format!("echo >> {calls}; while ! test -e {calls}.go; do sleep 0.05; done; cat ./large\n"),
    );
    project.write("EVAL.yaml", &greeting(8));
    let targets = "targets: [{name: default, provider: cli, command: [sh, ./agent.sh, ./large]}]\n";
    project.write(".evalrig/targets.yaml", targets);
    let mut worker = nats.worker(&["--workers", "2"]);
    worker.wait_for("waiting for runs");
    let mut coordinator = nats.start_run(&project, &[]);
    wait_until("the first calls", || project.lines("calls").len() == 2);
    // Others take the rest of the room.
    let filler = r#"{"name":"FILLER","subjects":["filler"]}"#;
    nats.request("$JS.API.STREAM.CREATE.FILLER", filler.as_bytes());
    for size in [500_000, 10_000, 100] {
        let part = vec![b'x'; size];
        let is_full = (0..200).any(|_| nats.request("filler", &part)["error"].is_object());
        assert!(is_full, "the server has a limit");
    }
    project.write("calls.go", "");
    coordinator.wait_for("the server stores no rows, waiting until it does");
    worker.wait_for("the server did not store a message, trying again");
    nats.request("$JS.API.STREAM.DELETE.FILLER", b"");
    coordinator.end().exits(0);
    assert_eq!(comparable(project.rows()).len(), 8);
    assert_eq!(project.lines("calls").len(), 8);
}

/// A program, if this machine has it. CI has it on Linux.
#[allow(clippy::print_stderr, reason = "a skipped test says so")]
fn has_program(name: &str, directory: &Path, arguments: &[&str]) -> bool {
    let mut command = Command::new(name);
    command.args(arguments).current_dir(directory).stdout(Stdio::null()).stderr(Stdio::null());
    let is_there = command.status().is_ok_and(|status| status.success());
    if !is_there {
        eprintln!("skipped: `{name}` cannot be used here");
    }
    is_there
}

#[test]
fn a_worker_without_space_for_a_bundle_is_not_ready() {
    let Some(nats) = Nats::start() else { return };
    let small = ["--dev-bind", "/", "/", "--size", "1000000", "--tmpfs"];
    let can_start = [&small[..], &["/mnt", "true"]].concat();
    if !has_program("bwrap", Path::new("/"), &can_start) {
        return;
    }
    let project = Project::empty();
    project.write("template/large", &"x".repeat(2_000_000));
    project.write("EVAL.yaml", &format!("{}workspace: {{template: template}}\n", greeting(1)));
    project.write(".evalrig/targets.yaml", MOCK);
    let elsewhere = Project::empty();
    elsewhere.write("cache/.keep", "");
    let cache = elsewhere.path("cache").display().to_string();
    let mut command = Command::new("bwrap");
    command.args(small).arg(&cache).args(["--die-with-parent", env!("CARGO_BIN_EXE_evalrig")]);
    let url = nats.url();
    command.args(["worker", "--queue", &url, "--cache", &cache, "--health", "127.0.0.1:0"]);
    command.current_dir(elsewhere.path(""));
    let mut worker = Running::of(command);
    worker.wait_for("health and metrics on");
    let said = worker.said();
    let address = said.split("http://").nth(1).and_then(|rest| rest.lines().next());
    let address = address.expect("an address").to_owned();
    assert!(http_get(&address, "/readyz").starts_with("HTTP/1.1 200"));
    nats.run(&project, &["--detach"]).exits(0);
    worker.wait_for("is not served: cannot write");
    wait_until("the state", || http_get(&address, "/readyz").starts_with("HTTP/1.1 503"));
    assert!(http_get(&address, "/metrics").contains("evalrig_worker_disk_full 1\n"));
    // Another worker runs the cases.
    let run = queued_run(&nats);
    let _other = nats.worker(&[]);
    nats.run(&project, &["--attach", &run, "--output", "rows.jsonl"]).exits(0);
}

/// An authority, and a key with a certificate of that authority for 127.0.0.1.
fn make_certificates(directory: &Path) -> bool {
    fs::write(directory.join("names"), "subjectAltName=IP:127.0.0.1\n").expect("a file");
    let commands = [
        "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=authority -keyout ca.key -out ca.pem",
        "req -newkey rsa:2048 -nodes -subj /CN=server -keyout key.pem -out server.req",
        "x509 -req -in server.req -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out cert.pem",
    ];
    commands.iter().all(|command| {
        let arguments: Vec<&str> = command.split(' ').collect();
        has_program("openssl", directory, &arguments)
    })
}

#[test]
fn a_server_with_tls_is_used_with_its_certificate() {
    let folder = tempfile::tempdir().expect("a directory");
    if !make_certificates(folder.path()) {
        return;
    }
    let path = |name: &str| folder.path().join(name).display().to_string();
    let tls =
        format!("tls {{ cert_file: '{}', key_file: '{}' }}\n", path("cert.pem"), path("key.pem"));
    let Some(nats) = Nats::start_with(&tls) else { return };
    let project = Project::new(&greeting(3), MOCK);
    let url = format!("tls://127.0.0.1:{}", nats.port);
    let run = |more: &[&str]| {
        let own = ["run", "--no-record", "--queue", &url];
        project.evalrig(&own.iter().chain(more).copied().collect::<Vec<_>>())
    };
    run(&[]).exits(2).says("no TLS connection").says("--queue-ca");
    let ran = run(&["--queue-ca", "missing.pem"]);
    ran.exits(2).says("--queue-ca: cannot use `").says("missing.pem`: ");
    project.write("empty.pem", "nothing\n");
    let ran = run(&["--queue-ca", "empty.pem"]);
    ran.exits(2).says("empty.pem`: it has no PEM certificate");
    let authorities = path("ca.pem");
    let mut worker = project.command(&["worker", "--queue", &url, "--queue-ca", &authorities]);
    worker.args(["--cache", &path("cache")]);
    let _worker = Running::of(worker);
    run(&["--queue-ca", &authorities]).exits(0);
    assert_eq!(comparable(project.rows()).len(), 3);
    // One without TLS is refused where TLS is demanded.
    let Some(plain) = Nats::start() else { return };
    let address = format!("tls://127.0.0.1:{}", plain.port);
    project.run(&["--no-record", "--queue", &address]).exits(2).says("no TLS connection");
}

#[test]
fn a_credentials_file_that_cannot_be_used_is_named() {
    let Some(nats) = Nats::start() else { return };
    let project = Project::new(&greeting(1), MOCK);
    let ran = nats.run(&project, &["--queue-creds", "missing.creds"]);
    ran.exits(2).says("--queue-creds: cannot use `").says("missing.creds`: ");
    project.write("wrong.creds", "-----BEGIN NATS USER JWT-----\nno\n");
    let ran = nats.run(&project, &["--queue-creds", "wrong.creds"]);
    ran.exits(2).says("--queue-creds: cannot use `").says("wrong.creds`: ");
}

#[test]
fn a_worker_that_cannot_write_says_so() {
    let Some(nats) = Nats::start() else { return };
    let project = Project::empty();
    project.write("file", "");
    let url = nats.url();
    let ran = project.evalrig(&["worker", "--queue", &url, "--cache", "file/below"]);
    ran.exits(2).says("--cache: cannot write");
}
