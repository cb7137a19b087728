//! `run --watch` through the binary: after each change exactly the tests run again that depend on it.
#![cfg(unix)]

mod support;

use std::fs;

use support::{LATEST, Project, Ran, Running, ids, wait_until};

const TARGETS: &str = "targets:\n  - {name: default, provider: mock, response: \"yes\"}\n";

/// A project that is watched.
struct Watching {
    project: Project,
    running: Running,
    /// How often it has settled down to wait.
    rounds: usize,
}

impl Watching {
    #[track_caller]
    fn start(project: Project, arguments: &[&str]) -> Self {
        let arguments: Vec<&str> =
            ["--watch", "--no-record"].iter().chain(arguments).copied().collect();
        let running = project.start(&arguments);
        let mut watching = Self { project, running, rounds: 0 };
        watching.settle();
        watching
    }

    /// Waits until it waits.
    #[track_caller]
    fn settle(&mut self) {
        let rounds = self.rounds + 1;
        let running = &self.running;
        wait_until("the end of a round", || {
            running.said().matches("press Ctrl-C to stop").count() >= rounds
        });
        self.rounds = rounds;
    }

    /// The tests that a change of a file makes it run.
    #[track_caller]
    fn change(&mut self, name: &str, text: &str) -> Vec<String> {
        let before = self.results();
        self.project.write(name, text);
        self.settle();
        if self.results() == before { Vec::new() } else { ids(&self.project.rows()) }
    }

    fn results(&self) -> usize {
        let folder = self.project.path(".evalrig/results");
        let names = fs::read_dir(folder).into_iter().flatten();
        let names = names.map(|entry| entry.expect("an entry").file_name());
        names.filter(|name| name.to_string_lossy().ends_with(".jsonl")).count()
    }

    fn interrupt(self) -> (Project, Ran) {
        self.running.signal("INT");
        (self.project, self.running.end())
    }
}

fn suite(answers: &[(&str, &str)]) -> String {
    let tests = answers.iter().map(|(id, expected)| {
        format!(
            "  - {{id: {id}, input: Hi, assertions: [{{type: equals, value: \"{expected}\"}}]}}\n"
        )
    });
    format!("name: demo\ntests:\n{}", tests.collect::<String>())
}

#[test]
fn an_edited_suite_reruns_changed_and_new_tests_only() {
    let project = Project::new(&suite(&[("a", "yes"), ("b", "yes")]), TARGETS);
    let mut watching = Watching::start(project, &[]);
    assert_eq!(ids(&watching.project.rows()), ["a", "b"]);
    let changed = suite(&[("a", "yes"), ("b", "no")]);
    assert_eq!(watching.change("EVAL.yaml", &changed), ["b"]);
    let longer = suite(&[("a", "yes"), ("b", "no"), ("c", "yes")]);
    assert_eq!(watching.change("EVAL.yaml", &longer), ["c"]);
    // Other words, the same tests; and a test less.
    assert_eq!(watching.change("EVAL.yaml", &format!("# A comment\n{longer}")), [""; 0]);
    assert_eq!(watching.change("EVAL.yaml", &suite(&[("a", "yes"), ("b", "no")])), [""; 0]);
    assert_eq!(
        watching.change("more.eval.yaml", &suite(&[("d", "yes")]).replace("demo", "more")),
        ["d"]
    );
    // Of the last run, which passed.
    let (_, ran) = watching.interrupt();
    ran.exits(0).says("`EVAL.yaml` changed: running 1 of 2 tests");
    ran.says("`EVAL.yaml` changed: no test is affected");
}

#[test]
fn a_changed_file_reruns_the_tests_that_use_it() {
    let suite = "name: demo\ntests:\n  \
        - {id: attached, input: [{role: user, content: [{type: file, value: notes.md}]}], assertions: [{type: equals, value: \"yes\"}]}\n  \
        - {id: scripted, input: Hi, assertions: [{type: code-judge, script: [sh, judge.sh]}]}\n  \
        - {id: prompted, input: Hi, assertions: [{type: llm-judge, prompt: prompt.md, target: judge}]}\n  \
        - {id: plain, input: Hi, assertions: [{type: equals, value: \"yes\"}]}\n";
    let targets = format!(
        "{TARGETS}  - {{name: judge, provider: mock, response: '{{\"score\": 1, \"reasoning\": \"ok\"}}'}}\n  \
         - {{name: program, provider: cli, command: [sh, ./agent.sh]}}\n"
    );
    let project = Project::new(suite, &targets);
    project.write("notes.md", "one");
    project.write("judge.sh", "echo '{\"score\": 1}'\n");
    project.write("prompt.md", "Is {{ answer }} good?");
    project.write("agent.sh", "echo yes\n");
    let all = ["attached", "plain", "prompted", "scripted"];
    let mut watching = Watching::start(project, &[]);
    assert_eq!(ids(&watching.project.rows()), all);
    assert_eq!(watching.change("notes.md", "two"), ["attached"]);
    assert_eq!(watching.change("judge.sh", "echo '{\"score\": 0.9}'\n"), ["scripted"]);
    assert_eq!(watching.change("prompt.md", "Is {{ answer }} right?"), ["prompted"]);
    // No test runs on that program, but the targets file decides about all of them.
    let other = targets.replace("./agent.sh", "./agent.sh, -v");
    assert_eq!(watching.change(".evalrig/targets.yaml", &other), all);
    assert_eq!(watching.change(".env", "MODE=fast\n"), all);
    let (project, ran) = watching.interrupt();
    ran.exits(0);
    // The program of a target that is used counts as well.
    let mut watching = Watching::start(project, &["--target", "program"]);
    assert_eq!(watching.change("agent.sh", "echo no\n"), all);
    let (_, ran) = watching.interrupt();
    ran.exits(1);
}

#[test]
fn a_changed_skill_reruns_the_tests_of_its_suite() {
    let project = Project::empty();
    project.write(".evalrig/targets.yaml", TARGETS);
    project.write("skills/pdf/SKILL.md", "---\nname: pdf\n---\n");
    project.write("skills/pdf/scripts/read.py", "one");
    project.write("skills/pdf/evals/EVAL.yaml", &suite(&[("in-skill", "yes"), ("too", "yes")]));
    project.write("other/EVAL.yaml", &suite(&[("outside", "yes")]).replace("demo", "other"));
    let mut watching = Watching::start(project, &[]);
    assert_eq!(
        watching.change("skills/pdf/SKILL.md", "---\nname: pdf\n---\nMore.\n"),
        ["in-skill", "too"]
    );
    assert_eq!(watching.change("skills/pdf/scripts/read.py", "two"), ["in-skill", "too"]);
    assert_eq!(watching.change("skills/pdf/scripts/new.py", "new"), ["in-skill", "too"]);
    // The suite itself is not a part of its skill.
    let edited = suite(&[("in-skill", "no"), ("too", "yes")]);
    assert_eq!(watching.change("skills/pdf/evals/EVAL.yaml", &edited), ["in-skill"]);
    let (_, ran) = watching.interrupt();
    ran.exits(1);
}

#[test]
fn a_broken_suite_is_reported_and_waited_for() {
    let sound = suite(&[("a", "yes"), ("b", "no")]);
    let project = Project::new("name: demo\ntests: [\n", TARGETS);
    let mut watching = Watching::start(project, &[]);
    assert_eq!(watching.results(), 0);
    assert!(watching.running.said().contains("EVAL.yaml:"), "{}", watching.running.said());
    assert_eq!(watching.change("EVAL.yaml", &sound), ["a", "b"]);
    assert_eq!(watching.change("EVAL.yaml", &sound.replace("tests", "tets")), [""; 0]);
    assert_eq!(watching.change("EVAL.yaml", &sound), [""; 0]);
    // Editors write another file and give it the name.
    watching.project.write("EVAL.yaml~", &sound.replace("no", "yes"));
    let before = watching.results();
    fs::rename(watching.project.path("EVAL.yaml~"), watching.project.path("EVAL.yaml")).unwrap();
    watching.settle();
    assert_eq!(
        (watching.results(), ids(&watching.project.rows())),
        (before + 1, vec!["b".to_owned()])
    );
    fs::remove_file(watching.project.path("EVAL.yaml")).unwrap();
    watching.settle();
    assert_eq!(watching.change("EVAL.yaml", &sound), ["b"]);
    let (_, ran) = watching.interrupt();
    ran.exits(1);
}

#[test]
fn without_a_run_the_exit_code_says_that_nothing_could_start() {
    let project = Project::new("name: demo\ntests: [\n", TARGETS);
    let (_, ran) = Watching::start(project, &[]).interrupt();
    ran.exits(2);
}

#[test]
fn a_signal_during_a_run_ends_the_watch_too() {
    let targets = "targets:\n  - {name: default, provider: cli, command: [sh, ./agent.sh]}\n";
    let project = Project::new(&suite(&[("a", "yes"), ("b", "yes")]), targets);
    project.write(
        "agent.sh",
        "echo started >> log\nwhile [ ! -e go ]; do sleep 0.01; done\necho yes\n",
    );
    let running = project.start(&["--watch", "--no-record", "-j", "1"]);
    wait_until("the first case", || project.has("log"));
    running.signal("INT");
    wait_until("the message", || running.said().contains("finishing running cases"));
    project.write("go", "");
    running.end().exits(130).says("finishing running cases");
    assert_eq!(project.lines("log").len(), 1);
}

#[test]
fn an_agent_that_changes_its_own_inputs_is_not_run_forever() {
    let suite = "name: demo\ntests:\n  - id: a\n    input: [{role: user, content: [{type: file, value: notes.md}]}]\n    \
                 assertions: [{type: equals, value: \"yes\"}]\n";
    let targets = "targets:\n  - {name: default, provider: cli, command: [sh, ./agent.sh]}\n";
    let project = Project::new(suite, targets);
    project.write("notes.md", "0\n");
    project.write("agent.sh", "echo run >> log\necho more >> notes.md\necho yes\n");
    let running = project.start(&["--watch", "--no-record"]);
    wait_until("the end of the reruns", || running.said().contains("during several runs in a row"));
    let runs = project.lines("log").len();
    assert!((2..10).contains(&runs), "{runs}");
    // A change while nothing runs counts again.
    project.write("notes.md", "mine\n");
    wait_until("another run", || project.lines("log").len() > runs);
    running.signal("INT");
    running.end();
}

#[test]
fn a_rerun_is_a_run_of_its_own_that_can_be_repeated() {
    let project = Project::new(&suite(&[("a", "yes"), ("b", "yes")]), TARGETS);
    let mut watching = Watching::start(project, &["--report", "junit=report.xml"]);
    assert_eq!(watching.change("EVAL.yaml", &suite(&[("a", "yes"), ("b", "no")])), ["b"]);
    let (project, ran) = watching.interrupt();
    ran.exits(1).prints("1 failed");
    assert!(project.read("report.xml").contains("tests=\"1\""));
    let header: serde_json::Value =
        serde_json::from_str(project.read(LATEST).lines().next().unwrap()).unwrap();
    assert_eq!(header["suites"][0]["cases"].as_array().map(Vec::len), Some(1), "{header}");
    project.evalrig(&["report"]).exits(1);
    project.run(&["--failed", "--no-record"]).exits(1);
    assert_eq!(ids(&project.rows()), ["b"]);
}
