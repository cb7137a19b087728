//! A project in a directory of its own, and the binary run inside it.
#![allow(dead_code, reason = "every test file uses another part of this support")]

pub mod nats;
pub mod other_programs;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::{NamedTempFile, TempDir};

/// A longer wait means that the process hangs.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// The default results file.
pub const LATEST: &str = ".evalrig/results/latest.jsonl";

/// A repository with a suite, a targets file and whatever else a test needs.
#[derive(Debug)]
pub struct Project {
    directory: TempDir,
    /// For temporary files of the binary; what is left there can be seen.
    pub scratch: TempDir,
}

impl Project {
    pub fn new(suite: &str, targets: &str) -> Self {
        let project = Self::empty();
        project.write("EVAL.yaml", suite);
        project.write(".evalrig/targets.yaml", targets);
        project
    }

    pub fn empty() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        fs::create_dir(directory.path().join(".git")).expect("a directory");
        let scratch = tempfile::tempdir().expect("a directory");
        Self { directory, scratch }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, text).expect("a file");
    }

    pub fn has(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    #[track_caller]
    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Lines of a file that programs append to; none when there is none.
    pub fn lines(&self, name: &str) -> Vec<String> {
        let text = fs::read_to_string(self.path(name)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_evalrig"));
        command.args(arguments).current_dir(self.directory.path());
        command.env("TMPDIR", self.scratch.path());
        for name in ["NO_COLOR", "CLICOLOR_FORCE", "CLICOLOR", "TERM"] {
            command.env_remove(name);
        }
        // In CI the run log is off.
        for name in ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "CI"] {
            command.env_remove(name);
        }
        command
    }

    /// Runs `evalrig` with these arguments to its end.
    pub fn evalrig(&self, arguments: &[&str]) -> Ran {
        Ran::of(self.command(arguments))
    }

    /// Runs `evalrig run` with these arguments to its end.
    pub fn run(&self, arguments: &[&str]) -> Ran {
        let arguments: Vec<&str> = ["run"].iter().chain(arguments).copied().collect();
        self.evalrig(&arguments)
    }

    /// Starts `evalrig run` in the background.
    pub fn start(&self, arguments: &[&str]) -> Running {
        let arguments: Vec<&str> = ["run"].iter().chain(arguments).copied().collect();
        Running::of(self.command(&arguments))
    }

    /// The rows of the latest run.
    pub fn rows(&self) -> Vec<Value> {
        self.rows_of(LATEST)
    }

    /// Runs the suite. Some of its tests fail, and each does as another tool recorded: `recorded` says for every test
    /// whether it passed there.
    pub fn has_recorded_verdicts(&self, recorded: &Value, tool: &str) {
        self.run(&["EVAL.yaml", "--no-record", "-o", "results.jsonl", "-q"]).exits(1);
        let rows = self.rows_of("results.jsonl");
        assert_eq!(rows.len(), recorded.as_object().expect("verdicts").len());
        let mut differ = String::new();
        for row in rows {
            let id = row["evalId"].as_str().expect("an id");
            let expected = if recorded[id] == true { "passed" } else { "failed" };
            if row["outcome"] != expected {
                differ += &format!("{id}: {tool} says {expected}\n{row}\n");
            }
        }
        assert!(differ.is_empty(), "{differ}");
    }

    /// Every row of a results file, without its checksum; not the first and the last line.
    pub fn rows_of(&self, name: &str) -> Vec<Value> {
        let text = self.read(name);
        let lines = text.lines().map(serde_json::from_str);
        let lines: Vec<Value> = lines.collect::<Result<_, _>>().expect("lines are JSON");
        let rows = lines.into_iter().filter(|line| line.get("kind").is_none());
        rows.map(|mut row| {
            row.as_object_mut().and_then(|row| row.remove("crc"));
            row
        })
        .collect()
    }

    /// The latest row of a test.
    #[track_caller]
    pub fn row(&self, id: &str) -> Value {
        let rows = self.rows();
        let found = rows.iter().rfind(|row| row["evalId"] == id);
        found.unwrap_or_else(|| panic!("no row of {id}")).clone()
    }

    /// Every file below, with its bytes.
    pub fn all_files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut found = Vec::new();
        collect(self.directory.path(), &mut found);
        found
    }
}

fn collect(directory: &Path, found: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, found)
        } else {
            found.push((path.clone(), fs::read(&path).expect("a file")))
        }
    }
}

/// A finished process.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Ran {
    /// Fails if the process hangs.
    pub fn of(command: Command) -> Self {
        Running::of(command).end()
    }

    #[track_caller]
    pub fn exits(&self, code: i32) -> &Self {
        let Self { out, err, .. } = self;
        assert!(!err.contains("panicked"), "{err}");
        assert_eq!(self.code, Some(code), "stdout:\n{out}\nstderr:\n{err}");
        self
    }

    #[track_caller]
    pub fn says(&self, text: &str) -> &Self {
        let Self { out, err, .. } = self;
        assert!(err.contains(text), "no `{text}` in\n{err}\nstdout:\n{out}");
        self
    }

    #[track_caller]
    pub fn prints(&self, text: &str) -> &Self {
        let Self { out, err, .. } = self;
        assert!(out.contains(text), "no `{text}` in\n{out}\nstderr:\n{err}");
        self
    }
}

/// A process in the background, killed at the end of the test.
#[derive(Debug)]
pub struct Running {
    child: Child,
    out: NamedTempFile,
    err: NamedTempFile,
}

impl Running {
    /// What it prints goes to files, so that it can be read before the end.
    pub fn of(mut command: Command) -> Self {
        let [out, err] = [(); 2].map(|()| NamedTempFile::new().expect("a file"));
        let writer = |file: &NamedTempFile| file.reopen().expect("a file");
        let child = command.stdin(Stdio::null()).stdout(writer(&out)).stderr(writer(&err)).spawn();
        let child = child.expect("the binary starts");
        Self { child, out, err }
    }

    /// Sends a signal by name, such as `INT`.
    pub fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args(["-s", name, &id]).status();
        assert!(sent.expect("kill starts").success());
    }

    /// Whether it has exited.
    pub fn is_over(&mut self) -> bool {
        self.child.try_wait().expect("a child").is_some()
    }

    /// Its standard output so far.
    pub fn written(&self) -> String {
        printed(&self.out)
    }

    /// Its standard error so far.
    pub fn said(&self) -> String {
        printed(&self.err)
    }

    /// Waits for this output.
    #[track_caller]
    pub fn wait_for(&mut self, text: &str) {
        wait_until(text, || self.said().contains(text));
    }

    /// Kills it with a signal that cannot be caught.
    pub fn kill(mut self) -> Ran {
        self.child.kill().expect("a child");
        self.end()
    }

    #[track_caller]
    pub fn end(mut self) -> Ran {
        wait_until("the end of the program", || self.is_over());
        let status = self.child.wait().expect("a child");
        Ran { code: status.code(), out: printed(&self.out), err: printed(&self.err) }
    }
}

fn printed(file: &NamedTempFile) -> String {
    let bytes = fs::read(file.path()).expect("a file");
    String::from_utf8_lossy(&bytes).into_owned()
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until a condition holds.
#[track_caller]
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "waited in vain for {what}");
        thread::sleep(Duration::from_millis(2));
    }
}

/// Whether a process of this number is alive.
pub fn is_alive(process: &str) -> bool {
    let state = fs::read_to_string(format!("/proc/{process}/stat"));
    if let Ok(state) = state {
        // A zombie is dead, though its entry still exists.
        return !state.contains(") Z ");
    }
    let asked = Command::new("kill").args(["-0", process]).output();
    asked.expect("kill starts").status.success()
}

/// Ids of rows, sorted.
pub fn ids(rows: &[Value]) -> Vec<String> {
    let mut ids: Vec<String> = rows.iter().map(|row| text(&row["evalId"])).collect();
    ids.sort();
    ids
}

pub fn text(value: &Value) -> String {
    value.as_str().expect("a string").to_owned()
}

/// Numbers that look random and are the same every time.
#[derive(Debug)]
pub struct Numbers(pub u64);

impl Numbers {
    pub fn below(&mut self, most: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}
