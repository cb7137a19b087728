//! Runs with an HTTP target, a program and a judge that are ended by SIGKILL and other signals at any
//! moment, and resumed until they are complete: no row is lost or doubled, no process and no temporary
//! directory is left, and no more calls are made than the interruptions explain.
//!
//! By default a short version runs. `EVALRIG_KILLS` and `EVALRIG_SIGNALS` set other counts;
//! `scripts/test-kills` runs the long version.
#![cfg(target_os = "linux")]

mod support;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use fake_model::{FakeModel, Reply, Script};
use serde_json::Value;
use support::{LATEST, Project, Running, text, wait_until};

const TESTS: usize = 30;
const TARGETS: usize = 2;
const WORKERS: usize = 4;

/// The longest time until a run is interrupted, in milliseconds. Most runs are not complete by then.
const LONGEST: u64 = 700;

/// Marks every process that a run starts, whatever becomes of its own marks.
const MARK: &str = "KILL_TEST_OF";

/// Enters the call, leaves a process behind in another session, and answers.
const AGENT: &str = "echo \"$EVALRIG_TEST_ID\" >> calls; \
    setsid sleep 300 >/dev/null 2>&1 & sleep 300 >/dev/null 2>&1 & sleep 0.1; echo ok";

const VERDICT: &str = r#"{"checks": [{"id": "criteria", "reasoning": "r", "satisfied": true}, {"id": "rubric-1", "reasoning": "r", "satisfied": true}]}"#;

/// Pseudo-random numbers with a fixed seed.
struct Dice(u64);

impl Dice {
    /// From 0 to `most`.
    fn roll(&mut self, most: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % (most + 1)
    }
}

/// How a run is ended.
#[derive(Debug, Clone, Copy)]
enum Interruption {
    Kill,
    /// Once or twice.
    Signal(&'static str, u64),
}

impl Interruption {
    fn of(dice: &mut Dice, kills: usize, signals: usize) -> Self {
        if dice.roll((kills + signals - 1) as u64) < kills as u64 {
            return Self::Kill;
        }
        let names = ["INT", "TERM", "HUP", "QUIT"];
        Self::Signal(names[dice.roll(3) as usize], 1 + dice.roll(1))
    }

    /// The exit code; `None` if the run died of the signal.
    fn apply(self, mut running: Running, dice: &mut Dice) -> Option<i32> {
        match self {
            Self::Kill => running.kill().code,
            Self::Signal(name, times) => {
                for _ in 0..times {
                    if !running.is_over() {
                        running.signal(name);
                    }
                    thread::sleep(Duration::from_millis(dice.roll(30)));
                }
                running.end().code
            }
        }
    }
}

/// A project that is run until every case has its row.
struct Generation {
    project: Project,
    server: FakeModel,
    _judge: FakeModel,
    rows: BTreeSet<(String, String)>,
    interruptions: usize,
}

impl Generation {
    fn new() -> Self {
        let reply = Reply::text("ok").delay(Duration::from_millis(100));
        let server = FakeModel::start(Script::new().otherwise(reply));
        let judge = FakeModel::start(Script::new().otherwise(Reply::text(VERDICT)));
        let mut suite = "name: kills\ntests:\n".to_owned();
        for number in 0..TESTS {
            let rubrics = if number % 2 == 0 { ", rubrics: [Is polite]" } else { "" };
            let _ = writeln!(
                suite,
                "  - {{id: t{number}, criteria: c, input: say {number}, \
                 assert: [{{type: contains, value: ok}}]{rubrics}}}"
            );
        }
        let service = |name: &str, server: &FakeModel| {
            let url = server.url();
            format!(
                "  - {{name: {name}, provider: openai, base_url: '{url}/v1', api_key: k, model: m}}\n"
            )
        };
        let targets = format!(
            "judge_target: judge\ntargets:\n  - {{name: agent, provider: cli, command: {}}}\n{}{}",
            serde_json::json!(AGENT),
            service("http", &server),
            service("judge", &judge)
        );
        let project = Project::new(&suite, &targets);
        Self { project, server, _judge: judge, rows: BTreeSet::new(), interruptions: 0 }
    }

    fn start(&self) -> Running {
        let workers = WORKERS.to_string();
        let mut words = vec!["run", "--workers", &workers, "--quiet"];
        words.extend(["--target", "agent", "--target", "http"]);
        if self.is_interrupted() {
            words.push("--resume");
        }
        let mut command = self.project.command(&words);
        command.env(MARK, self.project.path(""));
        Running::of(command)
    }

    fn is_interrupted(&self) -> bool {
        let entries = fs::read_dir(self.project.path(".evalrig/results")).into_iter().flatten();
        let mut names = entries.map(|entry| entry.unwrap().file_name());
        names.any(|name| name.to_string_lossy().ends_with(".journal"))
    }

    /// Processes of runs that are over, the watchdog included.
    fn processes(&self) -> Vec<String> {
        let mark = format!("{MARK}={}", self.project.path("").display());
        let entries = fs::read_dir("/proc").unwrap().flatten();
        let is_marked = |environment: &[u8]| {
            environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
        };
        entries
            .filter(|entry| fs::read(entry.path().join("environ")).is_ok_and(|all| is_marked(&all)))
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect()
    }

    /// Checks what an interruption must not break.
    fn check(&mut self) {
        wait_until("the end of all processes", || self.processes().is_empty());
        let file = fs::read_to_string(self.project.path(LATEST)).unwrap_or_default();
        let lines = file.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        let lines: Vec<Value> =
            lines.map(|line| serde_json::from_str(line).expect("a line of JSON")).collect();
        let rows = lines.iter().filter(|row| row["evalId"].is_string());
        let keys: Vec<_> = rows.map(|row| (text(&row["evalId"]), text(&row["target"]))).collect();
        let now: BTreeSet<_> = keys.iter().cloned().collect();
        assert_eq!(now.len(), keys.len(), "rows are doubled");
        assert!(now.is_superset(&self.rows), "rows are lost");
        self.rows = now;
        let calls = self.calls();
        let most = TESTS * TARGETS + self.interruptions * WORKERS;
        assert!(calls <= most, "{calls} calls, at most {most} are explained");
    }

    fn calls(&self) -> usize {
        self.project.lines("calls").len() + self.server.requests().len()
    }

    /// It was interrupted after the last row.
    fn is_complete(&self) -> bool {
        self.rows.len() == TESTS * TARGETS && !self.is_interrupted()
    }

    /// Removes what was left, without a call of the target.
    fn start_another(&self) {
        let file = fs::canonicalize(self.project.path(LATEST)).unwrap();
        let words = ["grade", file.to_str().unwrap(), "--output", "again.jsonl", "--quiet"];
        self.project.evalrig(&words).exits(0);
    }

    fn check_complete(&mut self) {
        self.check();
        assert_eq!(self.rows.len(), TESTS * TARGETS, "rows are missing");
        let left = entries_below(self.project.scratch.path());
        assert!(left.is_empty(), "{left:?}");
    }
}

fn entries_below(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.flat_map(|entry| [vec![entry.path()], entries_below(&entry.path())].concat()).collect()
}

fn count(name: &str, default: usize) -> usize {
    std::env::var(name).map_or(default, |count| count.parse().expect("a number"))
}

#[test]
#[expect(clippy::print_stderr, reason = "the long version shows its progress")]
fn runs_that_are_interrupted_at_any_moment_lose_nothing_and_leave_nothing() {
    let (kills, signals) = (count("EVALRIG_KILLS", 25), count("EVALRIG_SIGNALS", 12));
    let mut dice = Dice(20_261_116);
    let (mut killed, mut signalled, mut calls, mut cases) = (0, 0, 0, 0);
    while killed < kills || signalled < signals {
        let mut generation = Generation::new();
        loop {
            let running = generation.start();
            if killed >= kills && signalled >= signals {
                running.end().exits(0);
                break;
            }
            thread::sleep(Duration::from_micros(dice.roll(LONGEST * 1000)));
            let how = Interruption::of(&mut dice, kills, signals);
            let code = how.apply(running, &mut dice);
            let is_complete = code == Some(0);
            match how {
                _ if is_complete => break,
                Interruption::Kill => killed += 1,
                Interruption::Signal(..) => signalled += 1,
            }
            assert!(matches!(code, None | Some(129 | 130 | 131 | 143)), "{how:?}: {code:?}");
            generation.interruptions += 1;
            generation.check();
            if generation.is_complete() {
                generation.start_another();
                break;
            }
        }
        generation.check_complete();
        calls += generation.calls();
        cases += TESTS * TARGETS;
    }
    eprintln!("{killed} kills, {signalled} signals, {cases} cases, {calls} calls");
}
