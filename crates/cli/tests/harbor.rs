//! `export harbor` and back: the script of an exported task gives the reward, directories of tasks are converted, and what
//! comes back validates.
#![cfg(unix)]

mod support;

use std::fs;
use std::process::Command;

use support::Project;

const SUITE: &str = "name: greetings
tests:
  - id: greet
    criteria: Writes a greeting
    input: Write a greeting to hello.txt
    workspace: {}
    assert:
      - {type: files, name: there, exists: [hello.txt]}
      - {type: contains, name: polite, file: hello.txt, value: Hello}
      - {type: command, name: tests, run: [sh, -c, 'test -s hello.txt']}
  - id: count
    criteria: Counts
    input: Count the lines
    workspace: {}
    assert:
      - {type: files, name: there, exists: [count.txt]}
";

fn exported() -> Project {
    let project = Project::empty();
    project.write("EVAL.yaml", SUITE);
    let ran = project.evalrig(&["export", "harbor", "EVAL.yaml", "-o", "tasks"]);
    ran.exits(0).prints("wrote tasks (2 tasks)");
    project
}

/// The reward of a task for an agent that left these files. The script runs without a container, so its absolute paths
/// are replaced.
fn reward(project: &Project, task: &str, files: &[(&str, &str)]) -> f64 {
    let place = |name: &str| project.path(&format!("container/{name}")).display().to_string();
    let _ = fs::remove_dir_all(project.path("container"));
    for name in ["app", "logs/verifier", "tests"] {
        fs::create_dir_all(place(name)).expect("a directory");
    }
    for (name, text) in files {
        project.write(&format!("container/app/{name}"), text);
    }
    let mut script = project.read(&format!("tasks/{task}/tests/test.sh"));
    for name in ["app", "logs", "tests"] {
        script = script.replace(&format!("/{name}"), &place(name));
    }
    let path = place("test.sh");
    fs::write(&path, script).expect("the script");
    let ended = Command::new("bash").arg(&path).output().expect("bash");
    let told = String::from_utf8_lossy(&ended.stderr);
    let reward = fs::read_to_string(place("logs/verifier/reward.txt"));
    reward.ok().and_then(|text| text.trim().parse().ok()).unwrap_or_else(|| panic!("{told}"))
}

#[test]
fn the_script_of_a_task_gives_the_reward() {
    let project = exported();
    let is_about = |found: f64, expected: f64| (found - expected).abs() < 1e-3;
    assert!(is_about(reward(&project, "greet", &[("hello.txt", "Hello there")]), 1.0));
    let rude = reward(&project, "greet", &[("hello.txt", "What?")]);
    assert!(is_about(rude, 2.0 / 3.0), "{rude}");
    assert!(is_about(reward(&project, "greet", &[("other.txt", "Hello")]), 0.0));
    assert!(is_about(reward(&project, "count", &[("count.txt", "")]), 1.0));
}

#[test]
fn a_directory_of_tasks_is_recognised_and_comes_back_as_a_suite() {
    let project = exported();
    let converted = project.evalrig(&["convert", "tasks", "-o", "back.yaml"]);
    converted.exits(0).prints("wrote back.yaml (tasks, 2 tests)");
    converted.says("reading `tasks` as harbor: it has tasks");
    converted
        .says("its tests run in containers; add `--sandbox podman` or `--sandbox docker` to `run`");
    project.evalrig(&["validate", "back.yaml", "--strict"]).exits(0);
    let one = project.evalrig(&["convert", "tasks/greet", "-o", "one.yaml"]);
    one.exits(0).prints("wrote one.yaml (greet, 1 test)");
}

#[test]
fn a_task_with_few_keys_is_recognised_by_its_directory() {
    let project = Project::empty();
    project.write("tasks/a/task.yaml", "instruction: Write a.txt\n");
    project.write("tasks/a/run-tests.sh", "test -s a.txt\n");
    let converted = project.evalrig(&["convert", "tasks", "-o", "EVAL.yaml"]);
    converted.exits(0).prints("wrote EVAL.yaml (a, 1 test)");
    project.evalrig(&["validate", "EVAL.yaml", "--strict"]).exits(0);
}

/// The agents of the converted task: one does what it says, one does something else, one does nothing.
const AGENTS: &str = "targets:
  - {name: good, provider: cli, command: [sh, -c, 'echo 5 > sum.txt; echo done']}
  - {name: bad, provider: cli, command: [sh, -c, 'echo 6 > sum.txt; echo done']}
  - {name: idle, provider: cli, command: [sh, -c, 'echo done']}
";

/// Without the image, so that it runs in no container.
fn without_image(suite: &str) -> String {
    let image = "      docker:\n        image: debian:bookworm-slim\n";
    assert!(suite.contains(image), "{suite}");
    suite.replace(image, "      env: {}\n")
}

#[test]
fn the_tests_of_a_converted_task_grade_what_the_agent_left() {
    let project = Project::empty();
    project.write("task/task.toml", "version = \"1.0\"\n[verifier]\ntimeout_sec = 60.0\n");
    project.write("task/instruction.md", "Write the sum of 2 and 3 to /app/sum.txt.\n");
    project.write("task/environment/Dockerfile", "FROM debian:bookworm-slim\nWORKDIR /app\n");
    project.write(
        "task/tests/test.sh",
        "#!/bin/bash\nif [ \"$(cat /app/sum.txt)\" = 5 ]; then reward=1; else reward=0; fi\n\
         echo $reward > /logs/verifier/reward.txt\n",
    );
    project.evalrig(&["convert", "task", "-o", "EVAL.yaml"]).exits(0);
    project.write("EVAL.yaml", &without_image(&project.read("EVAL.yaml")));
    project.write(".evalrig/targets.yaml", AGENTS);
    for (agent, code, outcome) in
        [("good", 0, "passed"), ("bad", 1, "failed"), ("idle", 1, "failed")]
    {
        project.run(&["EVAL.yaml", "-t", agent]).exits(code);
        assert_eq!(project.row("task")["outcome"], outcome, "{agent}");
    }
}
