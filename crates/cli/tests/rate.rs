//! `rate` on a target: processes that call the same service share one limit.

mod support;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use support::nats::Nats;
use support::{Project, Running};

/// When requests came in. The first `refused` are answered with 429.
struct Service {
    address: String,
    calls: Arc<Mutex<Vec<Instant>>>,
}

impl Service {
    fn start(refused: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = format!("http://{}/", listener.local_addr().expect("an address"));
        let calls = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&calls);
        thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                let noted = Arc::clone(&noted);
                thread::spawn(move || answer(stream, &noted, refused));
            }
        });
        Self { address, calls }
    }

    fn project(&self, cases: usize, rate: &str) -> Project {
        let mut suite = "name: s\ntests:\n".to_owned();
        for at in 0..cases {
            suite += &format!(
                "  - {{id: t{at}, criteria: x, input: Hi, assert: [{{type: contains, value: Hello}}]}}\n"
            );
        }
        let targets = format!(
            "targets: [{{name: default, provider: http, url: '{}', answer: /answer, rate: {rate}}}]\n",
            self.address
        );
        Project::new(&suite, &targets)
    }

    /// Time between the first call and the last.
    fn span(&self) -> Duration {
        let calls = self.calls.lock().unwrap();
        *calls.last().unwrap() - calls[0]
    }

    fn count(&self) -> usize {
        self.calls.lock().unwrap().len()
    }
}

fn answer(mut stream: TcpStream, calls: &Mutex<Vec<Instant>>, refused: usize) {
    let mut reader = BufReader::new(stream.try_clone().expect("a stream"));
    loop {
        let (mut line, mut length) = (String::new(), 0);
        loop {
            line.clear();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().expect("a number");
            }
            if line.trim().is_empty() {
                break;
            }
        }
        reader.read_exact(&mut vec![0; length]).expect("a body");
        let number = {
            let mut calls = calls.lock().unwrap();
            calls.push(Instant::now());
            calls.len()
        };
        let head = if number <= refused {
            "429 Too Many Requests\r\nretry-after: 1"
        } else {
            "200 OK\r\ncontent-type: application/json"
        };
        let body = "{\"answer\": \"Hello\"}";
        let text = format!("HTTP/1.1 {head}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        if stream.write_all(text.as_bytes()).is_err() {
            return;
        }
    }
}

/// Both run at the same time, with one cache directory.
fn run_twice(one: &Project, other: &Project) {
    let cache = one.path("cache").display().to_string();
    let start = |project: &Project| {
        let mut command = project.command(&["run", "--no-record"]);
        command.env("XDG_CACHE_HOME", &cache);
        Running::of(command)
    };
    let running = [start(one), start(other)];
    for one in running {
        one.end().exits(0);
    }
}

#[test]
fn two_processes_share_one_limit() {
    let service = Service::start(0);
    let rate = "{requests_per_minute: 600}";
    run_twice(&service.project(8, rate), &service.project(8, rate));
    assert_eq!(service.count(), 16);
    // Ten per second, and the second that a bucket holds flows in only while it rests.
    assert!(service.span() >= Duration::from_millis(1400), "{:?}", service.span());
}

#[test]
fn a_refused_request_waits_as_long_as_the_service_asks() {
    let service = Service::start(1);
    let rate = "{requests_per_minute: 60000}";
    run_twice(&service.project(1, rate), &service.project(1, rate));
    // The refused request is repeated.
    assert_eq!(service.count(), 3);
    assert!(service.span() >= Duration::from_millis(900), "{:?}", service.span());
}

#[test]
fn a_refused_request_stops_the_workers_of_a_queue() {
    let Some(nats) = Nats::start() else { return };
    let service = Service::start(1);
    let project = service.project(60, "{requests_per_minute: 60000}");
    let workers = [(); 2].map(|()| nats.worker(&["--workers", "2"]));
    nats.run(&project, &[]).exits(0);
    // The refused request is repeated.
    assert_eq!(service.count(), 61);
    let calls = service.calls.lock().unwrap().clone();
    let early = calls.iter().filter(|at| **at - calls[0] < Duration::from_millis(900)).count();
    // Four slots, of which each may have had a request on its way.
    assert!(early <= 8, "{early} of {calls:?}");
    for worker in workers {
        worker.drain().exits(0);
    }
}
