//! A repository with results, a server for it, and requests as bytes.
#![allow(dead_code, reason = "every test file uses another part of this support")]

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::model::Outcome;
use evalrig_run::results::{
    Existing, PlanOptions, PlannedSuite, ResultsPaths, ResultsWriter, Row, RunHeader, rfc3339,
};
use evalrig_run::serve::{ViewServer, ViewSpec};
use evalrig_run::session::LoadOptions;
use tempfile::TempDir;

/// The id of every run that [`Repository::start_run`] starts.
pub const RUN: &str = "20260102T030405-0a1b2c";

const EXAMPLE: &str = include_str!("../../src/results/example_row.json");

pub struct Repository {
    folder: TempDir,
}

impl Repository {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join(".git")).unwrap();
        fs::create_dir_all(folder.path().join(".evalrig/results")).unwrap();
        Self { folder }
    }

    pub fn root(&self) -> &Utf8Path {
        Utf8Path::from_path(self.folder.path()).unwrap()
    }

    /// A results file of an older version: rows without a header.
    pub fn add_rows(&self, name: &str, rows: &[Row]) -> Utf8PathBuf {
        let path = self.root().join(".evalrig/results").join(name);
        let lines = rows.iter().map(|row| serde_json::to_string(row).unwrap() + "\n");
        fs::write(&path, lines.collect::<String>()).unwrap();
        path
    }

    /// A run that goes on until the writer is closed.
    pub fn start_run(&self, suite: &str, tests: &[&str]) -> ResultsWriter {
        let cases = tests.iter().map(|test| (*test, "default", 1));
        let planned = PlannedSuite::new(suite, "EVAL.yaml", String::new(), cases);
        let now = SystemTime::now();
        let mut header = RunHeader::new(rfc3339(now), vec![planned], PlanOptions::default());
        header.run = Some(RUN.to_owned());
        let place = ResultsPaths::claim(self.root(), suite, now).unwrap();
        ResultsWriter::create(place, Existing::Replace, &header, Arc::default()).unwrap()
    }

    pub fn serve(&self) -> ViewServer {
        self.serve_place(None)
    }

    pub fn serve_place(&self, place: Option<Utf8PathBuf>) -> ViewServer {
        let spec = ViewSpec {
            loading: LoadOptions::new(self.root()),
            place,
            also: None,
            port: 0,
            author: "Ann".to_owned(),
        };
        ViewServer::start(spec).unwrap()
    }
}

pub fn row(suite: &str, test: &str) -> Row {
    let mut row: Row = serde_json::from_str(EXAMPLE).unwrap();
    row.dataset = suite.to_owned();
    row.eval_id = test.to_owned();
    row.target = "default".to_owned();
    (row.trial, row.outcome) = (1, Outcome::Passed);
    row
}

#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Reply {
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().skip(1).filter_map(|line| line.split_once(':'));
        let (_, value) = lines.find(|(known, _)| known.eq_ignore_ascii_case(name))?;
        Some(value.trim())
    }
}

/// Sends a request as it is written, and reads until the server closes.
pub fn send(server: &ViewServer, request: &str) -> Reply {
    let mut stream = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut bytes = Vec::new();
    // A server that refuses a body may close before all of it was sent.
    let _ = stream.read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
    Reply { status, head: head.to_owned(), body: body.to_owned() }
}

/// With these header lines, and those that end the connection.
pub fn ask(server: &ViewServer, method: &str, path: &str, headers: &str) -> Reply {
    let request = format!("{method} {path} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n");
    send(server, &request)
}

/// As a browser with its cookie.
pub fn get(server: &ViewServer, path: &str) -> Reply {
    let (port, token) = (server.port(), server.token());
    let headers = format!("Host: 127.0.0.1:{port}\r\nCookie: evalrig-{port}={token}\r\n");
    ask(server, "GET", path, &headers)
}

/// As our page does.
pub fn post(server: &ViewServer, path: &str, body: &str) -> Reply {
    let (port, token) = (server.port(), server.token());
    let length = body.len();
    send(
        server,
        &format!(
            "POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:{port}\r\n\
             Cookie: evalrig-{port}={token}\r\nX-Evalrig-Token: {token}\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\
             Connection: close\r\n\r\n{body}"
        ),
    )
}

/// The addresses of links in a page.
pub fn links(body: &str) -> Vec<String> {
    let parts = body.split("href=\"").skip(1);
    parts.map(|part| part.split('"').next().unwrap().replace("&amp;", "&")).collect()
}
