//! A run that is killed repeatedly, at any moment, gives the same results as an undisturbed run:
//! every case has one result, and no saved answer is requested again.
#![cfg(unix)]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use evalrig_run::results::{Row, Rows};
use support::{Project, Running, wait_until};

const CASES: usize = 200;
const KILLS: usize = 50;
const WORKERS: usize = 4;

/// Writes down round and test, then answers. Calls beyond what the round allows wait for the run to
/// die, so that no machine is too fast for fifty kills.
const TARGETS: &str = "\
targets:
  - name: default
    provider: cli
    command:
      - sh
      - -c
      - |
        echo \"$ROUND $EVALRIG_TEST_ID\" >> calls
        if [ \"$(grep -c \"^$ROUND \" calls)\" -gt \"$ALLOWED\" ]; then
          left=1000
          while [ $left -gt 0 ] && [ $PPID -ne 1 ] && kill -0 $PPID 2> /dev/null; do
            left=$((left - 1))
            sleep 0.01
          done
        fi
        echo hello
";

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

/// Calls by round.
fn calls(project: &Project) -> BTreeMap<usize, Vec<String>> {
    let mut calls: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for line in project.lines("calls") {
        let (round, test) = line.split_once(' ').expect("a round and a test");
        let round = round.parse().expect("a number");
        calls.entry(round).or_default().push(test.to_owned());
    }
    calls
}

/// Names of unfinished runs.
fn journals(project: &Project) -> Vec<String> {
    let entries = fs::read_dir(project.path(".evalrig/results"));
    let names = entries.into_iter().flatten().map(|entry| entry.expect("an entry").file_name());
    names
        .map(|name| name.to_string_lossy().into_owned())
        .filter(|name| name.ends_with(".journal"))
        .collect()
}

/// Tests with a complete row, or a complete answer that is not graded yet.
fn kept(project: &Project) -> BTreeSet<String> {
    let answers = journals(project).into_iter().flat_map(|journal| {
        let lines = whole_lines(&project.path(".evalrig/results").join(journal));
        lines.into_iter().filter(|line| line["kind"] == "answered")
    });
    let answers = answers.map(|line| support::text(&line["evalId"]));
    finished(project).into_iter().chain(answers).collect()
}

/// Tests with a complete row.
fn finished(project: &Project) -> BTreeSet<String> {
    let rows = whole_lines(&project.path(support::LATEST)).into_iter();
    rows.filter(|row| row.get("kind").is_none()).map(|row| support::text(&row["evalId"])).collect()
}

fn whole_lines(path: &Path) -> Vec<serde_json::Value> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let lines = text.split_inclusive('\n');
    let whole = lines.filter(|line| line.ends_with('\n'));
    whole.map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

fn start(project: &Project, round: usize, allowed: usize) -> Running {
    let workers = WORKERS.to_string();
    let mut words = vec!["run", "--workers", &workers, "--quiet"];
    if !journals(project).is_empty() {
        words.push("--resume");
    }
    let mut command = project.command(&words);
    command.env("ROUND", round.to_string()).env("ALLOWED", allowed.to_string());
    Running::of(command)
}

#[test]
fn a_run_that_is_killed_fifty_times_gives_every_result_once() {
    let mut suite = "name: crash\ntests:\n".to_owned();
    for number in 0..CASES {
        let _ = writeln!(
            suite,
            "  - {{id: t{number}, criteria: c, input: hi, assert: [{{type: contains, value: hello}}]}}"
        );
    }
    let project = Project::new(&suite, TARGETS);
    let mut dice = Dice(20_260_102);
    let mut may_finish = 0;
    let mut before = BTreeSet::new();
    let mut after_kill = Vec::new();
    for round in 0..KILLS {
        let allowed = dice.roll(6) as usize;
        may_finish += allowed;
        let seen = dice.roll(WORKERS.max(allowed + 1) as u64) as usize;
        let mut running = start(&project, round, allowed);
        wait_until("calls", || {
            assert!(!running.is_over(), "it ended by itself: {}", running.said());
            calls(&project).get(&round).map_or(0, Vec::len) >= seen
        });
        // Any moment will do: from before the files are made to while a row is written.
        thread::sleep(Duration::from_micros(dice.roll(8000)));
        running.kill();
        let now = kept(&project);
        assert!(now.is_superset(&before), "results were lost in round {round}");
        before = now.clone();
        after_kill.push(now);
    }
    assert!(may_finish < CASES - WORKERS, "the run could have ended before its last kill");
    let ran = start(&project, KILLS, CASES * 2).end();
    ran.exits(0);

    // Every case once, whether rows are read as they lie or as they count.
    let results = camino::Utf8PathBuf::from_path_buf(project.path(support::LATEST)).unwrap();
    let rows: Vec<_> = Rows::open(&results).unwrap().collect::<Result<_, _>>().unwrap();
    assert_eq!(rows.len(), CASES);
    assert!(rows.iter().all(|row| row.score == Some(1.0) && row.attempts == 1));
    assert_eq!(finished(&project).len(), CASES);
    assert_eq!(project.rows().len(), CASES);
    project.evalrig(&["report", support::LATEST]).exits(0);
    project.run(&["--resume"]).exits(2).says("no interrupted run");

    // A case is called again only if it was on its way when the run was killed.
    let calls = calls(&project);
    let total: usize = calls.values().map(Vec::len).sum();
    let mut lost = 0;
    for (round, called) in &calls {
        let called_once: BTreeSet<_> = called.iter().cloned().collect();
        assert_eq!(called_once.len(), called.len(), "twice in round {round}");
        if let Some(earlier) = round.checked_sub(1) {
            let again: Vec<_> = called_once.intersection(&after_kill[earlier]).collect();
            assert!(again.is_empty(), "round {round} asked again: {again:?}");
        }
        if let Some(kept) = after_kill.get(*round) {
            let in_flight = called_once.difference(kept).count();
            assert!(in_flight <= WORKERS, "round {round} lost {in_flight} of {called:?}");
            lost += in_flight;
        }
    }
    assert_eq!(total, CASES + lost);
    is_logged(&project, &rows);
}

/// Every row has its run in the log, which kills leave readable.
fn is_logged(project: &Project, rows: &[Row]) {
    let numbers: BTreeSet<u64> =
        rows.iter().map(|row| row.record.as_ref().expect("a place in the log").run).collect();
    assert_eq!(numbers.len(), CASES, "two rows have the same run");
    for number in numbers {
        let number = number.to_string();
        let messages = ["log", "messages", "hi", "--run", &number];
        project.evalrig(&messages).exits(0);
    }
    // What was on its way when the run was killed is entered, and nothing else is amiss.
    project.evalrig(&["log", "verify", "--repair"]);
    project.evalrig(&["log", "verify"]).exits(0);
}
