//! Workspaces through the binary: many cases at once that write the same names, runs that are killed at any
//! moment, and a workspace of many files.
//!
//! By default short versions run. `EVALRIG_WORKSPACE_TESTS` and `EVALRIG_WORKSPACE_KILLS` set other counts;
//! `scripts/test-workspaces` runs the long version.
#![cfg(target_os = "linux")]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use support::{LATEST, Project, Running, text, wait_until};

const TRIALS: usize = 4;

fn count(name: &str, default: usize) -> usize {
    std::env::var(name).map_or(default, |count| count.parse().expect("a number"))
}

fn target(options: &Value) -> String {
    let mut target = json!({"name": "default", "provider": "cli"});
    for (key, value) in options.as_object().expect("a mapping") {
        target[key] = value.clone();
    }
    json!({"targets": [target]}).to_string()
}

/// Says what it finds that is not its own, then writes the names that every other one writes.
const SAME_NAMES: &str = r#"
[ "$(ls -A)" = "start.txt" ] || { echo "found: $(ls -A)"; exit; }
[ "$(cat start.txt)" = start ] || { echo "changed: $(cat start.txt)"; exit; }
[ "$PWD" = "$EVALRIG_WORKSPACE" ] || { echo "in $PWD"; exit; }
echo "$EVALRIG_TEST_ID $EVALRIG_TRIAL" | tee out.txt start.txt > .hidden
mkdir d; cp out.txt d/same.txt; ln -s out.txt link
[ -z "$(find . -name 'EVAL.yaml' -o -name 'judge.py' -o -name '*.jsonl' -o -name .evalrig)" ] || { echo "suite"; exit; }
up=$PWD
while [ "$up" != / ]; do
  for name in EVAL.yaml .git .evalrig judge.py; do [ -e "$up/$name" ] && { echo "above: $up/$name"; exit; }; done
  up=$(dirname "$up")
done
cat out.txt link d/same.txt .hidden start.txt | sort -u
"#;

#[test]
fn no_case_sees_a_file_of_another_one_or_of_the_suite() {
    let tests = count("EVALRIG_WORKSPACE_TESTS", 40);
    let mut suite =
        "name: same\nworkspace: {template: ./template}\nassert:\n  - {type: files, created: [out.txt, .hidden, link, d/same.txt], \
         modified: [start.txt], only: [out.txt, .hidden, link, d/same.txt, start.txt]}\n  \
         - {type: command, run: 'test \"$(ls -A)\" = \"$(printf \".hidden\\nd\\nlink\\nout.txt\\nstart.txt\")\" && touch trace'}\ntests:\n"
            .to_owned();
    for number in 0..tests {
        let _ = writeln!(suite, "  - {{id: t{number}, criteria: c, input: go}}");
    }
    let project = Project::new(&suite, &target(&json!({"command": SAME_NAMES})));
    project.write("template/start.txt", "start\n");
    project.write("judge.py", "");
    let trials = TRIALS.to_string();
    project.run(&["--trials", &trials, "--workers", "16", "--quiet"]).exits(0);
    let rows = project.rows();
    let mut seen = BTreeSet::new();
    for row in &rows {
        let own = format!("{} {}", text(&row["evalId"]), row["trial"]);
        assert_eq!(text(&row["candidateAnswer"]).trim(), own);
        assert_eq!(
            row["workspace"]["created"],
            json!([".hidden", "d/same.txt", "link", "out.txt"])
        );
        let diff = text(&row["workspace"]["diff"]);
        assert_eq!(diff.matches(&format!("+{own}\n")).count(), 4, "{diff}");
        assert!(seen.insert(own), "rows are doubled");
    }
    assert_eq!(seen.len(), tests * TRIALS);
    let left: Vec<_> = fs::read_dir(project.scratch.path()).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

/// What can be found of the suite in a checkout, also in what git remembers.
const SEARCH: &str = "find . -name .git -prune -o -type f -print | sort; \
    git cat-file --batch --batch-all-objects --buffer | grep -a -c treasure; echo end";

#[test]
fn a_checkout_of_the_suites_own_repository_has_nothing_of_the_suite() {
    let test = |id: &str| {
        json!({"id": id, "criteria": "treasure", "input": "go", "expected_output": "treasure is what is expected",
        "assert": [
            {"type": "code-judge", "script": ["sh", "./judge.sh"]},
            {"type": "command", "run": "sh hidden.sh && ! test -e evals", "overlay": "./hidden"},
        ]})
    };
    let project = Project::empty();
    project.write("src/cart.js", "let total = 0\n");
    project.write("evals/cases.yaml", &json!([test("a")]).to_string());
    project.write("evals/judge.sh", "echo '{\"score\": 1}' # treasure\n");
    project.write("evals/hidden/hidden.sh", "exit 0 # treasure\n");
    project.write(
        ".evalrig/targets.yaml",
        &target(&json!({"command": SEARCH, "env": {"X": "treasure"}})),
    );
    let suite = |commit: &str| {
        let repos = json!([{"repo": "..", "commit": commit, "path": "."}]);
        json!({"name": "own", "workspace": {"repos": repos}, "tests": ["./cases.yaml"]}).to_string()
    };
    project.write("evals/EVAL.yaml", &suite("main"));
    let root = project.path("");
    git(&root, &["init", "--quiet"]);
    git(&root, &["add", "."]);
    git(&root, &["commit", "--quiet", "-m", "treasure"]);
    let mut command = project.command(&["run", "evals", "--quiet"]);
    command.env("XDG_CACHE_HOME", tempfile::tempdir().unwrap().path());
    support::Ran::of(command).exits(0);
    let row = project.row("a");
    assert_eq!(text(&row["candidateAnswer"]).trim(), "./src/cart.js\n0\nend", "{row}");
}

/// A run with workspaces that is killed and resumed until it is complete.
struct KilledRun {
    project: Project,
    rows: BTreeMap<String, Value>,
}

const KILLED_TESTS: usize = 24;
const WORKERS: usize = 4;

/// The longest time until a run is killed, in milliseconds.
const LONGEST: u64 = 900;

const MARK: &str = "WORKSPACE_KILL_TEST_OF";

fn git(directory: &Path, words: &[&str]) {
    let own =
        ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"];
    let mut command = Command::new("git");
    command.args(own).args(words).current_dir(directory).env("GIT_CONFIG_GLOBAL", "/dev/null");
    assert!(command.status().expect("git").success(), "{words:?}");
}

/// Every fourth test fails, so its workspace is kept.
fn is_failing(id: &str) -> bool {
    id[1..].parse::<usize>().unwrap().is_multiple_of(4)
}

impl KilledRun {
    fn new() -> Self {
        let mut suite = "name: killed\nworkspace: {template: ./template, repos: [{repo: ./vendor, commit: main, path: lib}], \
             setup: 'test -e lib/README && cp -r many more && chmod 500 more/d', teardown: 'true'}\nassert:\n  - {type: command, run: 'test -e out.txt'}\ntests:\n"
            .to_owned();
        for number in 0..KILLED_TESTS {
            let value = if is_failing(&format!("t{number}")) { "never" } else { "done" };
            let _ = writeln!(
                suite,
                "  - {{id: t{number}, criteria: c, input: go, assert: [{{type: contains, value: {value}, file: out.txt}}]}}"
            );
        }
        let agent = "[ -e out.txt ] && echo seen; echo done > out.txt; mkdir -m 0 locked; sleep 0.05; echo ok";
        let project = Project::new(&suite, &target(&json!({"command": agent})));
        for number in 0..40 {
            project.write(&format!("template/many/d/{number}"), "text\n");
        }
        project.write("vendor/README", "a library\n");
        git(&project.path("vendor"), &["init", "--quiet"]);
        git(&project.path("vendor"), &["add", "."]);
        Self { project, rows: BTreeMap::new() }
    }

    fn start(&self) -> Running {
        // So that git has to write to the cache in each run, and is killed there now and then.
        git(&self.project.path("vendor"), &["commit", "--quiet", "--allow-empty", "-m", "next"]);
        let workers = WORKERS.to_string();
        let mut words = vec!["run", "--workers", &workers, "--quiet"];
        if self.is_interrupted() {
            words.push("--resume");
        }
        let mut command = self.project.command(&words);
        command.env(MARK, self.project.path(""));
        command.env("XDG_CACHE_HOME", self.project.path("cache"));
        Running::of(command)
    }

    fn is_interrupted(&self) -> bool {
        let entries = fs::read_dir(self.project.path(".evalrig/results")).into_iter().flatten();
        let mut names = entries.map(|entry| entry.unwrap().file_name());
        names.any(|name| name.to_string_lossy().ends_with(".journal"))
    }

    fn has_processes(&self) -> bool {
        let mark = format!("{MARK}={}", self.project.path("").display());
        let is_marked = |environment: &[u8]| {
            environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
        };
        let mut entries = fs::read_dir("/proc").unwrap().flatten();
        entries.any(|entry| fs::read(entry.path().join("environ")).is_ok_and(|all| is_marked(&all)))
    }

    /// Checks that no row is lost, doubled or changed.
    fn check_rows(&mut self) {
        wait_until("the end of all processes", || !self.has_processes());
        let file = fs::read_to_string(self.project.path(LATEST)).unwrap_or_default();
        let lines = file.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        let lines = lines.map(|line| serde_json::from_str(line).expect("a line of JSON"));
        let rows: Vec<Value> = lines.filter(|row: &Value| row["evalId"].is_string()).collect();
        let count = rows.len();
        let now: BTreeMap<_, _> = rows.into_iter().map(|row| (text(&row["evalId"]), row)).collect();
        assert_eq!(now.len(), count, "rows are doubled");
        for (id, row) in &self.rows {
            assert_eq!(
                now.get(id).map(|now| &now["timestamp"]),
                Some(&row["timestamp"]),
                "{id} is lost"
            );
        }
        self.rows = now;
    }

    /// What is left in the directory for temporary files once another run has started and ended.
    fn check_left(&self, kills: usize) {
        self.project
            .write("other/EVAL.yaml", "name: other\ntests: [{id: a, criteria: c, input: hi, assert: [{type: contains, value: ok}]}]\n");
        self.project.run(&["other", "--output", "other.jsonl", "--quiet"]).exits(0);
        let mut kept = BTreeSet::new();
        for entry in fs::read_dir(self.project.scratch.path()).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            assert!(name.starts_with("kept-"), "{name} is left");
            kept.extend(fs::read_dir(&path).unwrap().map(|one| one.unwrap().path()));
        }
        for path in &kept {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            assert!(is_failing(name.split('-').next().unwrap()), "{name} was not to be kept");
            assert_eq!(fs::read_to_string(path.join("out.txt")).unwrap(), "done\n", "{name}");
        }
        for (id, row) in &self.rows {
            let path = row["workspace"]["path"].as_str();
            assert_eq!(path.is_some(), is_failing(id), "{row}");
            assert_eq!(row["verdict"] == "fail", is_failing(id), "{row}");
            assert!(path.is_none_or(|path| kept.contains(Path::new(path))), "{id} was not kept");
        }
        // A run may be killed after a workspace was kept and before its row was written.
        let named = self.rows.keys().filter(|id| is_failing(id)).count();
        assert!(kept.len() <= named + kills * WORKERS, "{kept:?}");
    }
}

#[test]
#[expect(clippy::print_stderr, reason = "the long version shows its progress")]
fn killed_runs_leave_only_workspaces_that_are_kept() {
    let kills = count("EVALRIG_WORKSPACE_KILLS", 10);
    let (mut killed, mut dice) = (0, 20_261_118_u64);
    while killed < kills {
        let (mut run, before) = (KilledRun::new(), killed);
        loop {
            let running = run.start();
            if killed == kills {
                running.end().exits(1);
                break;
            }
            dice = dice
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            thread::sleep(Duration::from_micros((dice >> 33) % (LONGEST * 1000)));
            if running.kill().code.is_some() {
                break;
            }
            killed += 1;
            run.check_rows();
            if run.rows.len() == KILLED_TESTS && !run.is_interrupted() {
                break;
            }
        }
        run.check_rows();
        assert_eq!(run.rows.len(), KILLED_TESTS, "rows are missing");
        run.check_left(killed - before);
        eprintln!("{killed} kills");
    }
}

#[test]
#[ignore = "takes a minute; scripts/test-workspaces runs it"]
fn changes_among_a_hundred_thousand_files_are_found() {
    let suite = "name: large\nworkspace: ./template\ntests:\n  - id: a\n    criteria: c\n    input: go\n    assert:\n      \
         - {type: files, modified: [d0/0, d42/42], created: [new], deleted: [d99/99], unchanged: [\"d7/**\"]}\n";
    let agent = "echo more >> d0/0; echo more >> d42/42; echo new > new; rm d99/99; chmod 700 d50/50; echo ok";
    let project = Project::new(suite, &target(&json!({"command": agent})));
    for directory in 0..100 {
        fs::create_dir_all(project.path(&format!("template/d{directory}"))).unwrap();
        for file in 0..1_000 {
            let path = project.path(&format!("template/d{directory}/{file}"));
            fs::write(path, format!("{file}\n")).unwrap();
        }
    }
    // An unoptimised binary takes longer than other tests may wait.
    let ran = project.command(&["run", "--quiet"]).output().expect("a run");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let changes = &project.row("a")["workspace"];
    assert_eq!(changes["created"], json!(["new"]));
    assert_eq!(changes["modified"], json!(["d0/0", "d42/42", "d50/50"]));
    assert_eq!(changes["deleted"], json!(["d99/99"]));
    let diff = text(&changes["diff"]);
    for line in [" 0\n+more\n", " 42\n+more\n", "+new\n", "-99\n", "new mode 100700\n"] {
        assert!(diff.contains(line), "{line} in {diff}");
    }
    let left: Vec<_> = fs::read_dir(project.scratch.path()).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}
