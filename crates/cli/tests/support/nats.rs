//! A NATS server on loopback, for tests.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use super::{Project, Ran, Running, wait_until};

/// Names the program; `scripts/install-nats` gets one.
const PROGRAM: &str = "EVALRIG_NATS_SERVER";

/// Parts of objects have names of their own.
static OBJECTS: AtomicUsize = AtomicUsize::new(0);

/// Killed at the end of the test.
#[derive(Debug)]
pub struct Nats {
    program: String,
    child: Child,
    pub port: u16,
    directory: TempDir,
}

impl Nats {
    /// `None`, with a message, if there is no server; in CI that is a failure.
    pub fn start() -> Option<Self> {
        Self::start_with("")
    }

    /// With more lines in its configuration.
    #[allow(clippy::print_stderr, reason = "a skipped test says so")]
    pub fn start_with(config: &str) -> Option<Self> {
        let Ok(program) = std::env::var(PROGRAM) else {
            // CI has a server on Linux.
            let is_needed = cfg!(target_os = "linux") && std::env::var("CI").is_ok();
            assert!(!is_needed, "{PROGRAM} is not set, and CI needs these tests");
            eprintln!("skipped: {PROGRAM} does not name a nats-server");
            return None;
        };
        let directory = tempfile::tempdir().expect("a directory");
        let path = |name: &str| directory.path().join(name).display().to_string();
        let (store, ports) = (path("store"), path("ports"));
        fs::create_dir(directory.path().join("ports")).expect("a directory");
        let limits = if config.contains("jetstream") {
            String::new()
        } else {
            format!("jetstream {{ store_dir: '{store}' }}\n")
        };
        let config = config.replace("STORE", &store);
        let text = format!("listen: '127.0.0.1:-1'\nports_file_dir: '{ports}'\n{limits}{config}");
        fs::write(directory.path().join("config"), text).expect("a file");
        let child = spawn(&program, directory.path());
        let mut found = None;
        wait_until("the port of nats-server", || {
            found = port_in(Path::new(&ports));
            found.is_some()
        });
        let port = found.expect("a port");
        wait_until("nats-server", || {
            let log = fs::read_to_string(directory.path().join("log")).unwrap_or_default();
            log.contains("Server is ready")
        });
        Some(Self { program, child, port, directory })
    }

    /// Kills the server, and starts it again at the same address with what it has stored.
    pub fn restart(&mut self) {
        self.stop();
        self.start_again("");
    }

    /// Kills the server.
    pub fn stop(&mut self) {
        self.child.kill().expect("a child");
        self.child.wait().expect("a child");
    }

    /// Starts a server that was stopped, with more lines in its configuration.
    pub fn start_again(&mut self, config: &str) {
        let path = self.directory.path().join("config");
        let known = fs::read_to_string(&path).expect("a file");
        let address = format!("127.0.0.1:{}", self.port);
        let text = known.replace("127.0.0.1:-1", &address) + config;
        fs::write(&path, text).expect("a file");
        self.child = spawn(&self.program, self.directory.path());
        let is_there = || TcpStream::connect(("127.0.0.1", self.port)).is_ok();
        wait_until("nats-server", is_there);
    }

    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// Publishes a message, and returns when a stream has stored it or refused it: a server that is killed
    /// afterwards still has it.
    pub fn publish(&self, subject: &str, payload: &[u8]) {
        self.publish_with(subject, &[], payload);
    }

    /// As [`Self::publish`], with headers.
    pub fn publish_with(&self, subject: &str, headers: &[(&str, &str)], payload: &[u8]) {
        let mut head = "NATS/1.0\r\n".to_owned();
        headers.iter().for_each(|(name, value)| head += &format!("{name}: {value}\r\n"));
        head += "\r\n";
        let (length, all) = (head.len(), head.len() + payload.len());
        let mut stream = self.connect();
        let start = format!("SUB inbox 1\r\nHPUB {subject} inbox {length} {all}\r\n");
        stream.write_all(start.as_bytes()).expect("sent");
        stream.write_all(head.as_bytes()).expect("sent");
        stream.write_all(payload).expect("sent");
        stream.write_all(b"\r\n").expect("sent");
        let lines = BufReader::new(stream).lines();
        let mut lines = lines.map(|line| line.expect("a line"));
        // The second one says that no stream has the subject.
        let is_answer =
            |line: String| line.starts_with("MSG inbox ") || line.starts_with("HMSG inbox ");
        assert!(lines.any(is_answer), "{subject}: no acknowledgement");
    }

    fn connect(&self) -> TcpStream {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("a connection");
        let hello = b"CONNECT {\"verbose\":false,\"headers\":true,\"no_responders\":true}\r\n";
        stream.write_all(hello).expect("sent");
        stream
    }

    /// What the server answers to a request.
    pub fn request(&self, subject: &str, payload: &[u8]) -> Value {
        let mut stream = self.connect();
        let head = format!("SUB inbox 1\r\nPUB {subject} inbox {}\r\n", payload.len());
        stream.write_all(head.as_bytes()).expect("sent");
        stream.write_all(payload).expect("sent");
        stream.write_all(b"\r\n").expect("sent");
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        while !line.starts_with("MSG ") {
            line.clear();
            assert!(reader.read_line(&mut line).expect("a line") > 0, "{subject}: no answer");
        }
        let length = line.split_whitespace().last().and_then(|text| text.parse().ok());
        let mut answer = vec![0; length.expect("a length")];
        reader.read_exact(&mut answer).expect("an answer");
        serde_json::from_slice(&answer).expect("JSON")
    }

    /// The lines that the server sends to one who listens to a subject, from now on.
    pub fn listen(&self, subject: &str) -> impl Iterator<Item = String> + use<> {
        let mut stream = self.connect();
        let asked = format!("SUB {subject} 1\r\nPING\r\n");
        stream.write_all(asked.as_bytes()).expect("sent");
        let mut lines = BufReader::new(stream).lines().map(|line| line.expect("a line"));
        assert!(lines.any(|line| line == "PONG"), "the server listens");
        lines
    }

    /// The last message of a stream with a subject.
    pub fn last_message(&self, stream: &str, subject: &str) -> Vec<u8> {
        let asked = json!({ "last_by_subj": subject }).to_string();
        let answer = self.request(&format!("$JS.API.STREAM.MSG.GET.{stream}"), asked.as_bytes());
        let data = answer["message"]["data"].as_str().unwrap_or_else(|| panic!("{answer}"));
        STANDARD.decode(data).expect("base64")
    }

    /// Puts an object of one part into the bundle of a run; `size` is what its description says. Returns the subject of
    /// its parts.
    pub fn put_object(&self, run: &str, name: &str, bytes: &[u8], size: usize) -> String {
        let (bucket, number) =
            (format!("EVALRIG_{run}_BUNDLE"), OBJECTS.fetch_add(1, Ordering::Relaxed));
        let id = format!("object-{number}");
        let parts = format!("$O.{bucket}.C.{id}");
        self.publish(&parts, bytes);
        let described =
            json!({ "name": name, "bucket": bucket, "nuid": id, "size": size, "chunks": 1 });
        let subject = format!("$O.{bucket}.M.{}", URL_SAFE.encode(name));
        self.publish(&subject, described.to_string().as_bytes());
        parts
    }

    /// An object of one part in the bundle of a run.
    pub fn object(&self, run: &str, name: &str) -> Vec<u8> {
        let bucket = format!("EVALRIG_{run}_BUNDLE");
        let stream = format!("OBJ_{bucket}");
        let subject = format!("$O.{bucket}.M.{}", URL_SAFE.encode(name));
        let described: Value =
            serde_json::from_slice(&self.last_message(&stream, &subject)).expect("JSON");
        assert_eq!(described["chunks"], 1, "{described}");
        let id = described["nuid"].as_str().expect("an id");
        self.last_message(&stream, &format!("$O.{bucket}.C.{id}"))
    }

    /// An entry in the control bucket of a run.
    pub fn control(&self, run: &str, key: &str) -> Vec<u8> {
        let bucket = format!("EVALRIG_{run}_CONTROL");
        self.last_message(&format!("KV_{bucket}"), &format!("$KV.{bucket}.{key}"))
    }

    /// Takes a chain of the first class and lets go of it, as the server sees a worker that was lost.
    pub fn take_and_drop_chain(&self, run: &str) {
        let mut stream = self.connect();
        let next = format!("$JS.API.CONSUMER.MSG.NEXT.EVALRIG_{run}_CASES.class-0");
        let asked = format!("SUB inbox 1\r\nPUB {next} inbox 1\r\n1\r\n");
        stream.write_all(asked.as_bytes()).expect("sent");
        let mut lines = BufReader::new(stream.try_clone().expect("a stream")).lines();
        let mut line = lines.find_map(|line| {
            line.ok().filter(|line| line.starts_with("HMSG ") || line.starts_with("MSG "))
        });
        let line = line.take().expect("a chain");
        let acknowledgement = line.split_whitespace().find(|word| word.starts_with("$JS.ACK."));
        let acknowledgement = acknowledgement.expect("a subject").to_owned();
        let refused = format!("PUB {acknowledgement} 4\r\n-NAK\r\nPING\r\n");
        stream.write_all(refused.as_bytes()).expect("sent");
        assert!(lines.any(|line| line.expect("a line") == "PONG"), "the server takes it");
    }

    /// Runs `evalrig run` through this server to its end.
    pub fn run(&self, project: &Project, arguments: &[&str]) -> Ran {
        self.start_run(project, arguments).end()
    }

    pub fn start_run(&self, project: &Project, arguments: &[&str]) -> Running {
        let url = self.url();
        let own = ["--queue", &url, "--no-record"];
        project.start(&arguments.iter().chain(&own).copied().collect::<Vec<_>>())
    }

    pub fn worker(&self, arguments: &[&str]) -> Worker {
        self.worker_with(arguments, &[])
    }

    /// A worker in a directory without suites, with these variables.
    pub fn worker_with(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Worker {
        self.start_worker("cache", arguments, variables)
    }

    /// With this `--cache`, relative to a directory that has a directory `deep`.
    pub fn worker_with_cache(&self, cache: &str, arguments: &[&str]) -> Worker {
        self.start_worker(cache, arguments, &[])
    }

    fn start_worker(&self, cache: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Worker {
        let project = Project::empty();
        fs::create_dir(project.path("deep")).expect("a directory");
        let url = self.url();
        let own = ["worker", "--queue", &url, "--cache", cache];
        let arguments: Vec<&str> = own.iter().chain(arguments).copied().collect();
        let mut command = project.command(&arguments);
        // A worker writes nowhere but to its cache.
        command.env("TMPDIR", "/dev/null").envs(variables.iter().copied());
        Worker { running: Some(Running::of(command)), project }
    }

    /// Runs `evalrig queue` to its end.
    pub fn queue(&self, arguments: &[&str]) -> Ran {
        let url = self.url();
        let arguments: Vec<&str> =
            ["queue"].iter().chain(arguments).chain(&["--queue", &url]).copied().collect();
        Project::empty().evalrig(&arguments)
    }

    /// Names of what is stored.
    pub fn streams(&self) -> Vec<String> {
        let directory = self.directory.path().join("store/jetstream/$G/streams");
        let entries = fs::read_dir(directory).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// Whether a text is anywhere in what the server has stored.
    pub fn has_stored(&self, text: &str) -> bool {
        let mut open = vec![self.directory.path().join("store")];
        while let Some(path) = open.pop() {
            if path.is_dir() {
                open.extend(
                    fs::read_dir(path)
                        .expect("a directory")
                        .map(|one| one.expect("an entry").path()),
                );
            } else {
                let bytes = fs::read(&path).unwrap_or_default();
                if bytes.windows(text.len()).any(|part| part == text.as_bytes()) {
                    return true;
                }
            }
        }
        false
    }
}

fn spawn(program: &str, directory: &Path) -> Child {
    Command::new(program)
        .arg("-c")
        .arg(directory.join("config"))
        .arg("-l")
        .arg(directory.join("log"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("nats-server starts")
}

fn port_in(directory: &Path) -> Option<u16> {
    let entry = fs::read_dir(directory).ok()?.next()?.ok()?;
    let ports: serde_json::Value = serde_json::from_slice(&fs::read(entry.path()).ok()?).ok()?;
    ports["nats"][0].as_str()?.rsplit(':').next()?.parse().ok()
}

impl Drop for Nats {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A worker and its directory.
#[derive(Debug)]
pub struct Worker {
    running: Option<Running>,
    pub project: Project,
}

impl Worker {
    pub fn running(&mut self) -> &mut Running {
        self.running.as_mut().expect("a worker that runs")
    }

    #[track_caller]
    pub fn wait_for(&mut self, text: &str) {
        self.running().wait_for(text);
    }

    /// Asks it to end, and waits until it has.
    #[track_caller]
    pub fn drain(mut self) -> Ran {
        self.running().signal("TERM");
        self.running.take().expect("a worker that runs").end()
    }

    /// Waits until it has ended by itself.
    #[track_caller]
    pub fn end(mut self) -> Ran {
        self.running.take().expect("a worker that runs").end()
    }

    pub fn kill(mut self) {
        self.running.take().expect("a worker that runs").kill();
    }
}

/// Rows by case, without what may differ between a local run and one through a queue.
pub fn comparable(rows: Vec<Value>) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    for mut row in rows {
        let key = format!(
            "{} {} {} {} {}",
            row["dataset"], row["evalId"], row["target"], row["arm"], row["trial"]
        );
        let map = row.as_object_mut().expect("a row");
        for name in ["timestamp", "durationMs", "run", "command", "worker", "git"] {
            map.remove(name);
        }
        // A path of the machine.
        if let Some(workspace) = map.get_mut("workspace").and_then(Value::as_object_mut) {
            workspace.remove("path");
        }
        remove_times(&mut row);
        assert!(found.insert(key.clone(), row).is_none(), "{key} has two rows");
    }
    found
}

fn remove_times(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|key, _| !matches!(key.as_str(), "durationMs" | "duration_ms"));
            map.values_mut().for_each(remove_times);
        }
        Value::Array(list) => list.iter_mut().for_each(remove_times),
        _ => {}
    }
}

/// The last part of the subject of a case.
pub fn case_token(suite: &str, test: &str, target: &str, trial: u32) -> String {
    let mut digest = Sha256::new();
    for text in [suite, test, target] {
        digest.update((text.len() as u64).to_le_bytes());
        digest.update(text);
    }
    digest.update(trial.to_le_bytes());
    digest.finalize()[..16].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The id of the run that is on the server.
pub fn queued_run(nats: &Nats) -> String {
    let ran = nats.queue(&["status", "--format", "json"]);
    let status: Value = serde_json::from_str(&ran.exits(0).out).expect("JSON");
    status["runs"][0]["run"].as_str().expect("a run").to_owned()
}

/// The answer to a request over HTTP, with its head.
pub fn http_get(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("a connection");
    let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("sent");
    std::io::read_to_string(stream).expect("an answer")
}

/// A project whose agent, a script of a shell, notes its calls in the file `CALLS`; `more` are options of its
/// target.
pub fn noting(suite: &str, agent: &str, more: &str) -> Project {
    let project = Project::empty();
    let calls = project.path("calls").display().to_string();
    project.write("agent.sh", agent);
    project.write("EVAL.yaml", suite);
    let targets = format!(
        "targets: [{{name: default, provider: cli, command: [sh, ./agent.sh], env: {{CALLS: '{calls}'}}{more}}}]\n"
    );
    project.write(".evalrig/targets.yaml", &targets);
    project
}

/// What the agent of [`noting`] has noted.
pub fn calls(project: &Project) -> Vec<String> {
    if project.has("calls") { project.lines("calls") } else { Vec::new() }
}
