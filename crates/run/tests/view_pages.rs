//! Pages, live rows and labels of `evalrig view`, over real connections.
#![cfg(feature = "view")]

mod view_support;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use evalrig_core::model::Outcome;
use evalrig_run::results::{Completion, Labels};
use evalrig_run::serve::ViewServer;
use serde_json::Value;
use view_support::{RUN, Repository, get, links, post, row};

/// The JSON of a block of the page.
fn block(page: &str, id: &str) -> Value {
    let open = format!(r#"<script type="application/json" id="{id}">"#);
    let (_, rest) = page.split_once(&open).unwrap_or_else(|| panic!("no block `{id}`"));
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

#[test]
fn the_first_page_lists_runs_with_their_numbers() {
    let repository = Repository::new();
    let mut failed = row("support", "b");
    (failed.outcome, failed.cost_usd) = (Outcome::Failed, None);
    let mut flaky = row("support", "a");
    (flaky.trial, flaky.outcome) = (2, Outcome::Failed);
    repository.add_rows("support-2026-01-01T00-00-00.jsonl", &[row("support", "a")]);
    repository.add_rows("support-2026-01-02T00-00-00.jsonl", &[row("support", "a"), flaky, failed]);
    let server = repository.serve();
    let list = get(&server, "/").body;
    for part in [
        "100 %",
        "33 %",
        "1 of 2",
        "passed",
        "failed",
        "at least $",
        "<svg role=\"group\"",
        "Pass rate of 2 runs",
        "name=\"base\"",
        "name=\"candidate\"",
        "action=\"/compare\"",
    ] {
        assert!(list.contains(part), "`{part}` is missing: {list}");
    }
    assert!(links(&list).contains(&"/runs/support-2026-01-02T00-00-00/".to_owned()));
    let empty = Repository::new();
    assert!(get(&empty.serve(), "/").body.contains("There are no runs yet"));
}

#[test]
fn a_directory_and_a_file_can_be_served_too() {
    let repository = Repository::new();
    let file = repository.add_rows("support-1.jsonl", &[row("support", "a")]);
    repository.add_rows("support-2.jsonl", &[row("support", "a")]);
    let folder = repository.root().join("shards");
    fs::create_dir(&folder).unwrap();
    fs::copy(&file, folder.join("one.jsonl")).unwrap();
    let server = repository.serve_place(Some(folder));
    assert_eq!(get(&server, "/runs/one/").status, 200);
    assert_eq!(get(&server, "/runs/support-1/").status, 404);
    let server = repository.serve_place(Some(file));
    assert_eq!(get(&server, "/runs/support-1/").status, 200);
    assert_eq!(get(&server, "/runs/support-2/").status, 404);
}

#[test]
fn a_run_has_its_page_and_two_runs_a_comparison() {
    let repository = Repository::new();
    let mut worse = row("support", "a");
    (worse.outcome, worse.candidate_answer) = (Outcome::Failed, Some("another answer".to_owned()));
    repository.add_rows("old.jsonl", &[row("support", "a")]);
    repository.add_rows("new.jsonl", &[worse]);
    let server = repository.serve();
    let page = get(&server, "/runs/new/").body;
    assert_eq!(block(&page, "tests")[0]["id"], "a");
    assert!(page.contains("<meta name=\"evalrig-labels\" content=\"labels\">"));
    assert!(
        page.contains(&format!("<meta name=\"evalrig-token\" content=\"{}\">", server.token()))
    );
    assert!(!page.contains("<meta name=\"evalrig-live\""));
    let compared = get(&server, "/compare?base=old&candidate=new").body;
    assert_eq!(block(&compared, "compared")["tests"].as_array().unwrap().len(), 1);
    assert_eq!(get(&server, "/compare?base=old").status, 400);
    assert_eq!(get(&server, "/compare?base=old&candidate=gone").status, 404);
    let reply = get(&server, "/runs/new");
    assert_eq!((reply.status, reply.header("location")), (303, Some("/runs/new/")));
    assert_eq!(get(&server, "/latest").status, 303);
}

#[test]
fn a_record_has_its_turns_and_history_and_messages() {
    let repository = Repository::new();
    let store = repository.root().join(".co/evals");
    fs::create_dir_all(store.join("say_hello")).unwrap();
    let record = "name: say_hello\nturns:\n- input: Say hello\n  run: 2\n  output: Hello!\n  \
                  evaluation: pass\n  history:\n  - {run: 1, output: Go away, evaluation: 'fail: rude'}\n";
    fs::write(store.join("say_hello.yaml"), record).unwrap();
    let run =
        "timestamp: 2026-01-02 03:04:05\nmodel: m\nmessages:\n- {role: user, content: Say hello}\n";
    fs::write(store.join("say_hello/run_1.yaml"), run).unwrap();
    let server = repository.serve();
    assert!(links(&get(&server, "/").body).contains(&"/records/say_hello".to_owned()));
    let page = get(&server, "/records/say_hello").body;
    for part in ["Say hello", "Hello!", "Go away", "fail: rude", "/records/say_hello?run=1"] {
        assert!(page.contains(part), "`{part}` is missing: {page}");
    }
    assert!(get(&server, "/records/say_hello?run=1").body.contains("user: Say hello"));
    assert_eq!(get(&server, "/records/say_hello?run=9").status, 200);
    assert_eq!(get(&server, "/records/gone").status, 404);
}

#[test]
fn files_that_cannot_be_read_are_not_shown_as_missing() {
    let repository = Repository::new();
    repository.add_rows("support-1.jsonl", &[row("support", "a")]);
    let store = repository.root().join(".co/evals");
    fs::create_dir_all(&store).unwrap();
    fs::write(store.join("damaged.yaml"), "name: [").unwrap();
    // As good as a file without permissions, which root could read.
    fs::create_dir_all(repository.root().join(".evalrig/labels.jsonl")).unwrap();
    let server = repository.serve();
    for (path, reason) in
        [("/runs/support-1/", "labels.jsonl"), ("/records/damaged", "damaged.yaml")]
    {
        let answer = get(&server, path);
        assert_eq!(answer.status, 500, "{path}: {}", answer.body);
        assert!(answer.body.contains(reason), "{path}: {}", answer.body);
    }
}

/// The events of a stream, as they come.
struct Events(BufReader<TcpStream>);

impl Events {
    fn open(server: &ViewServer, path: &str) -> Self {
        let (port, token) = (server.port(), server.token());
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nX-Evalrig-Token: {token}\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).unwrap();
        Self(BufReader::new(stream))
    }

    /// The next event with its data; lines of the transfer encoding are passed over.
    fn next(&mut self) -> (String, Value) {
        let mut name = None;
        loop {
            let mut line = String::new();
            assert!(self.0.read_line(&mut line).unwrap() > 0, "the stream ended");
            if let Some(event) = line.strip_prefix("event: ") {
                name = Some(event.trim().to_owned());
            } else if let (Some(name), Some(data)) = (&name, line.strip_prefix("data: ")) {
                return (name.clone(), serde_json::from_str(data).unwrap());
            }
        }
    }

    /// The next event but the numbers of the run, which follow every batch of rows.
    fn next_but_numbers(&mut self) -> (String, Value) {
        loop {
            let found = self.next();
            if found.0 != "run" {
                return found;
            }
        }
    }

    /// Waits for the last chunk.
    fn wait_for_end(&mut self) {
        let mut line = String::new();
        while line != "0\r\n" {
            line.clear();
            assert!(self.0.read_line(&mut line).unwrap() > 0, "the connection was closed");
        }
    }
}

#[test]
fn rows_appear_while_the_run_goes_on() {
    let repository = Repository::new();
    let writer = repository.start_run("support", &["a", "b"]);
    let server = repository.serve();
    let location = get(&server, "/next");
    let path = location.header("location").unwrap().to_owned();
    assert_eq!(path, format!("/runs/{RUN}/"));
    let page = get(&server, &path).body;
    assert!(page.contains("<meta name=\"evalrig-live\" content=\"events\">"));
    assert!(get(&server, "/").body.contains("running"));
    let mut events = Events::open(&server, &format!("{path}events"));
    let (name, data) = events.next();
    assert_eq!((name.as_str(), &data["suites"]), ("run", &serde_json::json!(["support"])));
    for test in ["a", "b"] {
        let (_, receipt) = writer.write_row(row("support", test));
        receipt.wait().unwrap();
        let (name, data) = events.next_but_numbers();
        assert_eq!((name.as_str(), &data["id"]), ("row", &Value::from(test)));
        assert!(data["details"].is_object());
    }
    // A page that is opened late gets everything.
    let mut late = Events::open(&server, &format!("{path}events"));
    let seen: Vec<String> = (0..3).map(|_| late.next().0).collect();
    assert_eq!(seen, ["run", "row", "row"]);
    writer.finish(Completion::Complete).unwrap();
    for mut stream in [events, late] {
        let (name, data) = stream.next_but_numbers();
        assert_eq!(name, "end");
        assert!(data["run"].is_object(), "{data}");
        stream.wait_for_end();
    }
    let page = get(&server, &path).body;
    assert!(!page.contains("<meta name=\"evalrig-live\""));
    assert_eq!(block(&page, "tests").as_array().unwrap().len(), 2);
}

#[test]
fn the_files_of_a_run_over_several_suites_are_one_page() {
    let repository = Repository::new();
    let server = repository.serve();
    let first = repository.start_run("support", &["a"]);
    let path = format!("/runs/{RUN}/");
    let mut events = Events::open(&server, &format!("{path}events"));
    assert_eq!(events.next().0, "run");
    // A file that comes later belongs to the run too.
    let second = repository.start_run("billing", &["b"]);
    let (_, receipt) = second.write_row(row("billing", "b"));
    receipt.wait().unwrap();
    let (name, facts) = events.next();
    assert_eq!((name.as_str(), facts["suites"].as_array().unwrap().len()), ("run", 2));
    assert_eq!(events.next_but_numbers().1["id"], "b");
    let (_, receipt) = first.write_row(row("support", "a"));
    receipt.wait().unwrap();
    assert_eq!(events.next_but_numbers().1["id"], "a");
    first.finish(Completion::Complete).unwrap();
    second.finish(Completion::Complete).unwrap();
    assert_eq!(events.next_but_numbers().0, "end");
    let page = get(&server, &path).body;
    assert_eq!(block(&page, "tests").as_array().unwrap().len(), 2);
    let list = get(&server, "/").body;
    assert!(list.contains("billing, support"), "{list}");
}

#[test]
fn a_server_that_is_stopped_closes_its_streams() {
    let repository = Repository::new();
    let _writer = repository.start_run("support", &["a"]);
    let server = repository.serve();
    let path = get(&server, "/latest").header("location").unwrap().to_owned();
    let mut events = Events::open(&server, &format!("{path}events"));
    assert_eq!(events.next().0, "run");
    server.stop();
    let mut rest = String::new();
    while events.0.read_line(&mut rest).is_ok_and(|count| count > 0) {}
}

#[test]
fn labels_come_back_and_eight_writers_lose_none() {
    let repository = Repository::new();
    let answered = row("support", "a");
    let hash = answered.answer_hash().unwrap();
    repository.add_rows("one.jsonl", &[answered]);
    let server = repository.serve();
    let label = |test: &str, label: &str, note: &str| {
        format!(
            r#"{{"suite":"support","test":"{test}","answerHash":"{hash}","label":{label},"note":"{note}"}}"#
        )
    };
    assert_eq!(post(&server, "/runs/one/labels", &label("a", "\"wrong\"", "rude")).status, 200);
    let stored = block(&get(&server, "/runs/one/").body, "labels");
    assert_eq!((&stored[0]["label"], &stored[0]["note"]), (&"wrong".into(), &"rude".into()));
    assert_eq!(
        (&stored[0]["who"], &stored[0]["answerHash"]),
        (&"Ann".into(), &hash.as_str().into())
    );
    assert_eq!(post(&server, "/runs/one/labels", &label("a", "null", "")).status, 200);
    assert_eq!(block(&get(&server, "/runs/one/").body, "labels"), Value::Array(Vec::new()));
    let other = repository.serve();
    thread::scope(|scope| {
        for writer in 0..8 {
            let (server, label) = (if writer % 2 == 0 { &server } else { &other }, &label);
            scope.spawn(move || {
                for number in 0..10 {
                    let body = label(&format!("t{writer}-{number}"), "\"right\"", &"n".repeat(400));
                    assert_eq!(post(server, "/runs/one/labels", &body).status, 200);
                }
            });
        }
    });
    let labels = Labels::read(repository.root()).unwrap();
    assert_eq!((labels.iter().count(), labels.damaged().len()), (80, 0));
    let text = fs::read_to_string(Labels::path(repository.root())).unwrap();
    assert_eq!(text.lines().count(), 82);
}
