//! What workspaces cost: `workspace DIRECTORY [--gate] [--short]`. `--short` leaves out the tree of 100,000
//! files, which takes minutes to create. The binary `evalrig` must be beside this program.
//!
//! Beside each figure is what the same work costs at best on the same disk: a bare copy of the tree with
//! several threads, or a bare walk that asks for the facts of every file. The walk is that of the standard
//! library (`read_dir` and `metadata`) in one thread. All of them are
//! measured in turn, round after round, and the least time of each counts, so that a busy moment hits them
//! alike. A snapshot or a comparison alone must keep its limit by the clock and by the CPU time of all threads,
//! both together by the clock: they use several threads. Without `setup` the snapshot is a part of the copy;
//! what it costs is what a workspace takes longer than a bare copy of the same tree.
//! Whole runs are runs of the binary with the same tests, with a workspace and without.

use std::collections::VecDeque;
use std::error::Error;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_bench::cost::Verdict;
use evalrig_core::model::Workspace;
use evalrig_core::source::Reach;
use evalrig_run::workspace::{CaseFacts, CaseWorkspace, JudgingFiles, Workspaces};
use rustix::time::{ClockId, clock_gettime};
use serde_json::Value;

type Outcome<T> = Result<T, Box<dyn Error>>;

const ROUNDS: usize = 40;
const LARGE_ROUNDS: usize = 6;

/// Of walks and comparisons of one workspace.
const REPETITIONS: usize = 4;

const MOST_TIMES: f64 = 1.5;
const ALLOWANCE: Duration = Duration::from_millis(5);

/// A template that was changed just now is copied once more, so that it cannot change unnoticed.
const REST: Duration = Duration::from_secs(4);

/// Files that an agent has changed, and what their diff may cost.
const CHANGED: usize = 100;
const DIFF_ALLOWANCE: Duration = Duration::from_millis(50);

const CASES: usize = 1_000;
const WORKERS: usize = 8;
const LONGEST_RUN: Duration = Duration::from_secs(3);
const RUN_ROUNDS: usize = 3;

#[tokio::main]
async fn main() -> Outcome<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [directory, rest @ ..] = arguments.as_slice() else {
        return Err("usage: workspace DIRECTORY [--gate] [--short]".into());
    };
    let _ = fs::remove_dir_all(directory);
    fs::create_dir_all(directory)?;
    let bench = Bench {
        directory: Utf8Path::new(directory).canonicalize_utf8()?,
        judging: JudgingFiles::default(),
    };
    let mut verdict = Verdict::Within;
    // First: ext4 passes by every inode that was freed in the last minutes, so creating files takes several times
    // as long once the other figures have removed theirs.
    bench.whole_runs(&mut verdict)?;
    bench.many_cases(&mut verdict).await?;
    bench.preparing(&mut verdict).await?;
    bench.comparing(10_000, LARGE_ROUNDS, &mut verdict).await?;
    let has = |option: &str| rest.iter().any(|one| one == option);
    if !has("--short") {
        bench.comparing(100_000, 1, &mut verdict).await?;
    }
    fs::remove_dir_all(directory)?;
    Ok(if has("--gate") { verdict.gate() } else { ExitCode::SUCCESS })
}

struct Bench {
    directory: Utf8PathBuf,
    judging: JudgingFiles,
}

/// A moment, by the clock and by the CPU time of this process.
#[derive(Debug, Clone, Copy)]
struct Moment {
    clock: Instant,
    cpu: Duration,
}

impl Moment {
    fn now() -> Outcome<Self> {
        let used = clock_gettime(ClockId::ProcessCPUTime);
        let cpu = Duration::try_from(used)?;
        Ok(Self { clock: Instant::now(), cpu })
    }
}

/// The least of several times.
#[derive(Debug, Clone, Copy)]
struct Least {
    clock: Duration,
    cpu: Duration,
}

impl Least {
    fn new() -> Self {
        Self { clock: Duration::MAX, cpu: Duration::MAX }
    }

    fn add(&mut self, begun: Moment) -> Outcome<()> {
        let clock = begun.clock.elapsed();
        self.clock = self.clock.min(clock);
        self.cpu = self.cpu.min(Moment::now()?.cpu.saturating_sub(begun.cpu));
        Ok(())
    }
}

fn show(what: &str, least: Duration, note: &str) -> Outcome<()> {
    let milliseconds = least.as_secs_f64() * 1000.0;
    writeln!(std::io::stdout().lock(), "{what:<56} {milliseconds:>9.2} ms  {note}")?;
    Ok(())
}

/// A figure beside a bare walk.
fn show_beside_walk(what: &str, found: Least, walk: Least, verdict: &mut Verdict) -> Outcome<()> {
    let (clock, cpu) = (ratio(found.clock, walk.clock), ratio(found.cpu, walk.cpu));
    let result = verdict.judge(clock <= MOST_TIMES && cpu <= MOST_TIMES);
    let note = format!("{clock:.2}x, CPU time {cpu:.2}x (limit {MOST_TIMES}x) {result}");
    show(what, found.clock, &note)
}

/// A figure beside a bare copy.
fn show_beside_copy(what: &str, found: Least, bare: Least, verdict: &mut Verdict) -> Outcome<()> {
    let limit = bare.clock.mul_f64(MOST_TIMES) + ALLOWANCE;
    let result = verdict.judge(found.clock <= limit);
    let times = ratio(found.clock, bare.clock);
    show(what, found.clock, &format!("{times:.2}x (limit {MOST_TIMES}x + {ALLOWANCE:?}) {result}"))
}

/// Snapshot and comparison together.
fn show_both(what: &str, both: Duration, walk: Least, verdict: &mut Verdict) -> Outcome<()> {
    let times = ratio(both, walk.clock);
    let result = verdict.judge(times <= MOST_TIMES);
    show(what, both, &format!("{times:.2}x (limit {MOST_TIMES}x) {result}"))
}

fn ratio(of: Duration, beside: Duration) -> f64 {
    of.as_secs_f64() / beside.as_secs_f64()
}

impl Bench {
    /// A template of files with 2 KiB each, 20 in a directory.
    fn template(&self, files: usize) -> Outcome<Utf8PathBuf> {
        let root = self.directory.join(format!("template-{files}"));
        for at in 0..files {
            let directory = root.join(format!("d{}", at / 20));
            fs::create_dir_all(&directory)?;
            fs::write(directory.join(format!("f{at}.txt")), format!("line {at}\n").repeat(200))?;
        }
        Ok(root)
    }

    fn workspaces(&self, name: &str) -> Outcome<Workspaces> {
        let scratch = self.directory.join(name);
        fs::create_dir_all(&scratch)?;
        Ok(Workspaces::with_repo_cache(&scratch, None))
    }

    async fn prepare(
        &self,
        workspaces: &Workspaces,
        workspace: &Workspace,
    ) -> Outcome<CaseWorkspace> {
        let prepared = workspaces.prepare(workspace, &self.facts(), &[], &[]).await;
        prepared.map_err(|fault| fault.message.into())
    }

    fn facts(&self) -> CaseFacts<'_> {
        CaseFacts {
            root: &self.directory,
            reach: Reach::Inside(&self.directory),
            suite: "bench",
            judging: &self.judging,
            test_id: "test",
            trial: 1,
            attempt: 1,
            input: &Value::Null,
            metadata: &Value::Null,
        }
    }

    async fn preparing(&self, verdict: &mut Verdict) -> Outcome<()> {
        let template = self.template(200)?;
        std::thread::sleep(REST);
        let workspace = Workspace { template: Some(template.clone()), ..Workspace::default() };
        let shared = self.workspaces("preparing")?;
        drop(self.prepare(&shared, &workspace).await?);
        let written = self.directory.join("template-written");
        copy_bare(template.as_std_path(), written.as_std_path())?;
        let mut after_writing = Least::new();
        let (mut bare, mut further, mut first) = (Least::new(), Least::new(), Least::new());
        // Removed with the directory of the bench: ext4 without a journal searches past what was removed just now.
        let mut runs = Vec::new();
        for round in 0..ROUNDS {
            let target = self.directory.join(format!("bare-{round}"));
            let begun = Moment::now()?;
            copy_bare(template.as_std_path(), target.as_std_path())?;
            bare.add(begun)?;
            let begun = Moment::now()?;
            let case = self.prepare(&shared, &workspace).await?;
            further.add(begun)?;
            case.remove().await;
            let fresh = self.workspaces(&format!("first-{round}"))?;
            let begun = Moment::now()?;
            let case = self.prepare(&fresh, &workspace).await?;
            first.add(begun)?;
            case.remove().await;
            runs.push(fresh);
            fs::write(written.join("d0/f0.txt"), format!("round {round}\n"))?;
            let workspace = Workspace { template: Some(written.clone()), ..Workspace::default() };
            let fresh = self.workspaces(&format!("written-{round}"))?;
            let begun = Moment::now()?;
            let case = self.prepare(&fresh, &workspace).await?;
            after_writing.add(begun)?;
            case.remove().await;
            runs.push(fresh);
        }
        show("200 files: bare copy, several threads", bare.clock, "")?;
        show_beside_copy("  workspace with its snapshot", further, bare, verdict)?;
        show_beside_copy("  first workspace of a run", first, bare, verdict)?;
        let what = "  the same, with a template that was just written";
        show_beside_copy(what, after_writing, bare, verdict)
    }

    async fn comparing(&self, files: usize, rounds: usize, verdict: &mut Verdict) -> Outcome<()> {
        let template = self.template(files)?;
        let workspace = Workspace { template: Some(template.clone()), ..Workspace::default() };
        let shared = self.workspaces(&format!("comparing-{files}"))?;
        let mut walk = Least::new();
        let (mut compared, mut looked, mut both) = (Least::new(), Least::new(), Least::new());
        let (mut bare, mut prepared, mut changed) = (Least::new(), Least::new(), Least::new());
        drop(self.prepare(&shared, &workspace).await?);
        for _ in 0..rounds {
            let target = self.directory.join("bare");
            let begun = Moment::now()?;
            copy_bare(template.as_std_path(), target.as_std_path())?;
            bare.add(begun)?;
            fs::remove_dir_all(target)?;
            let begun = Moment::now()?;
            let mut case = self.prepare(&shared, &workspace).await?;
            prepared.add(begun)?;
            let root = evalrig_core::model::WorkspaceFiles::path(&case).to_owned();
            for _ in 0..REPETITIONS {
                let begun = Moment::now()?;
                let count = walk_bare(root.as_std_path())?;
                walk.add(begun)?;
                assert_eq!(count, files);
                let begun = Moment::now()?;
                let changes = case.changes().await.map_err(|fault| fault.message)?;
                compared.add(begun)?;
                assert!(changes.is_empty());
                // What happens after `setup`: all files are looked at once more.
                let begun = Moment::now()?;
                let again = shared.go_on(&mut case, &self.facts(), &[]).await;
                looked.add(begun)?;
                again.map_err(|fault| fault.message)?;
                let changes = case.changes().await.map_err(|fault| fault.message)?;
                both.add(begun)?;
                assert!(changes.is_empty());
                // A comparison is made once for each snapshot.
                let again = shared.go_on(&mut case, &self.facts(), &[]).await;
                again.map_err(|fault| fault.message)?;
            }
            let expected = change_some(&root, files)?;
            let begun = Moment::now()?;
            let changes = case.changes().await.map_err(|fault| fault.message)?;
            changed.add(begun)?;
            assert_eq!(changes.modified, expected);
            assert_eq!(changes.diff.matches("+changed\n").count(), expected.len());
            assert!(changes.created.is_empty() && changes.deleted.is_empty());
            case.remove().await;
        }
        show(&format!("{files} files: bare walk with facts of every file"), walk.clock, "")?;
        show_beside_walk("  comparison", compared, walk, verdict)?;
        show_beside_walk("  snapshot after `setup`", looked, walk, verdict)?;
        let in_copy = prepared.clock.saturating_sub(bare.clock);
        let what = "  snapshot and comparison, without `setup`";
        show_both(what, in_copy + compared.clock, walk, verdict)?;
        show_both("  snapshot and comparison, with `setup`", both.clock, walk, verdict)?;
        let times = format!("a bare copy takes {:.2?}", bare.clock);
        show("  a workspace with its snapshot", prepared.clock, &times)?;
        let limit = walk.clock.mul_f64(MOST_TIMES) + DIFF_ALLOWANCE;
        let (times, result) =
            (ratio(changed.clock, walk.clock), verdict.judge(changed.clock <= limit));
        let note = format!("{times:.2}x (limit {MOST_TIMES}x + {DIFF_ALLOWANCE:?}) {result}");
        show(&format!("  comparison and diff with {CHANGED} changed files"), changed.clock, &note)
    }

    async fn many_cases(&self, verdict: &mut Verdict) -> Outcome<()> {
        let template = self.template(20)?;
        let workspace = Workspace { template: Some(template), ..Workspace::default() };
        let workspaces = self.workspaces("many")?;
        let left = Mutex::new(CASES);
        let work = async || -> Outcome<()> {
            while take_one(&left) {
                let case = self.prepare(&workspaces, &workspace).await?;
                case.changes().await.map_err(|fault| fault.message)?;
                case.remove().await;
            }
            Ok(())
        };
        let begun = Instant::now();
        let workers: Vec<_> = (0..WORKERS).map(|_| work()).collect();
        for done in futures_util::future::join_all(workers).await {
            done?;
        }
        workspaces.finish().await;
        let passed = begun.elapsed();
        let result = verdict.judge(passed <= LONGEST_RUN);
        let note = format!("(limit {LONGEST_RUN:?}) {result}");
        show("1,000 cases of 20 files, 8 at a time, from begin to end", passed, &note)
    }

    /// The same through the binary: what a workspace adds to a run of tests with a small agent.
    fn whole_runs(&self, verdict: &mut Verdict) -> Outcome<()> {
        let project = self.directory.join("project");
        let (scratch, template) = (self.directory.join("scratch"), self.template(20)?);
        for directory in [".git", ".evalrig", "plain", "with"] {
            fs::create_dir_all(project.join(directory))?;
        }
        fs::create_dir_all(&scratch)?;
        fs::rename(template, project.join("template"))?;
        let target = "targets: [{name: default, provider: cli, command: echo ok}]\n";
        fs::write(project.join(".evalrig/targets.yaml"), target)?;
        for (name, workspace) in [("plain", ""), ("with", "workspace: ../template\n")] {
            let test = |at| {
                format!(
                    "  - {{id: t{at}, criteria: c, input: go, assert: [{{type: contains, value: ok}}]}}\n"
                )
            };
            let tests: String = (0..CASES).map(test).collect();
            fs::write(
                project.join(name).join("EVAL.yaml"),
                format!("name: {name}\n{workspace}tests:\n{tests}"),
            )?;
        }
        let run = |name: &str| self.run_binary(&project, &scratch, name);
        let (mut plain, mut with) = (Duration::MAX, Duration::MAX);
        for _ in 0..RUN_ROUNDS {
            plain = plain.min(run("plain")?);
            with = with.min(run("with")?);
        }
        show("`evalrig run`: 1,000 tests, 8 workers", plain, "")?;
        let added = with.saturating_sub(plain);
        let result = verdict.judge(added <= LONGEST_RUN);
        let note = format!("{added:.2?} more (limit {LONGEST_RUN:?}) {result}");
        show("  each with a workspace of 20 files", with, &note)
    }

    fn run_binary(&self, project: &Utf8Path, scratch: &Utf8Path, suite: &str) -> Outcome<Duration> {
        let program = std::env::current_exe()?.with_file_name("evalrig");
        let (workers, output) = (WORKERS.to_string(), format!("{suite}.jsonl"));
        let mut command = Command::new(&program);
        command.args([
            "run",
            suite,
            "--workers",
            &workers,
            "--output",
            &output,
            "--quiet",
            "--force",
        ]);
        command.current_dir(project).env("TMPDIR", scratch).stdout(Stdio::null());
        let begun = Instant::now();
        let status = command.status().map_err(|error| format!("{}: {error}", program.display()))?;
        let passed = begun.elapsed();
        if status.success() { Ok(passed) } else { Err(format!("{suite}: {status}").into()) }
    }
}

/// Appends a line to some of the files of a template. Returns their paths in byte order.
fn change_some(root: &Utf8Path, files: usize) -> Outcome<Vec<String>> {
    let mut paths = Vec::new();
    for at in (0..files).step_by(files / CHANGED) {
        let path = format!("d{}/f{at}.txt", at / 20);
        fs::OpenOptions::new().append(true).open(root.join(&path))?.write_all(b"changed\n")?;
        paths.push(path);
    }
    paths.sort_unstable();
    Ok(paths)
}

fn take_one(left: &Mutex<usize>) -> bool {
    let Ok(mut left) = left.lock() else { return false };
    let is_any = *left > 0;
    *left = left.saturating_sub(1);
    is_any
}

/// What `cp -r` does, with a thread for each core.
fn copy_bare(from: &Path, to: &Path) -> std::io::Result<()> {
    let mut directories = VecDeque::from([(from.to_owned(), to.to_owned())]);
    let mut files: Vec<(PathBuf, PathBuf)> = Vec::new();
    while let Some((source, target)) = directories.pop_front() {
        fs::create_dir(&target)?;
        for entry in fs::read_dir(source)? {
            let entry = entry?;
            let pair = (entry.path(), target.join(entry.file_name()));
            if entry.file_type()?.is_dir() { directories.push_back(pair) } else { files.push(pair) }
        }
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let parts = files.chunks(files.len().div_ceil(cores).max(1));
        let copy = |part: &[(PathBuf, PathBuf)]| {
            part.iter().try_for_each(|(source, target)| fs::copy(source, target).map(drop))
        };
        let threads: Vec<_> = parts.map(|part| scope.spawn(move || copy(part))).collect();
        threads.into_iter().try_for_each(|thread| {
            thread.join().unwrap_or_else(|_| Err(std::io::Error::other("a thread failed")))
        })
    })
}

/// How many files there are, each of which was asked about.
fn walk_bare(root: &Path) -> std::io::Result<usize> {
    let mut directories = vec![root.to_owned()];
    let mut count = 0;
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            let facts = entry.metadata()?;
            if facts.is_dir() { directories.push(entry.path()) } else { count += 1 }
        }
    }
    Ok(count)
}
