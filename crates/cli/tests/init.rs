//! `init` writes what is missing, and what it writes works.

mod support;

use support::{Project, Ran};

/// Those that are programs, with their providers.
const PROGRAMS: &[(&str, &str)] = &[
    ("claude", "claude-cli"),
    ("codex", "codex-cli"),
    ("gemini", "gemini-cli"),
    ("copilot", "copilot-cli"),
    ("opencode", "opencode"),
    ("pi", "pi"),
];
const OTHER_AGENTS: &[&str] = &["python", "openai", "http"];

/// Runs with nothing installed but what is in `bin`, and without keys.
fn init(project: &Project, arguments: &[&str]) -> Ran {
    let arguments: Vec<&str> = ["init"].iter().chain(arguments).copied().collect();
    let mut command = project.command(&arguments);
    command.env("PATH", project.path("bin"));
    Ran::of(command)
}

fn paths(project: &Project) -> Vec<String> {
    let root = project.path("");
    let files = project.all_files().into_iter();
    let mut paths: Vec<String> = files
        .map(|(path, _)| path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned())
        .collect();
    paths.sort();
    paths
}

#[test]
fn every_agent_gets_a_clean_targets_file() {
    let programs = PROGRAMS.iter().map(|(program, _)| program);
    for agent in programs.chain(OTHER_AGENTS) {
        let project = Project::empty();
        init(&project, &["--target", agent, "--ci", "github"]).exits(0);
        project.evalrig(&["validate", "--strict", "-v"]).exits(0).prints("all good: 2 files");
        let workflow = project.read(".github/workflows/evals.yml");
        let action = concat!("uses: evalrig/evalrig@v", env!("CARGO_PKG_VERSION"), "\n");
        assert!(workflow.contains(action), "{workflow}");
        assert!(project.read(".gitignore").contains(".evalrig/results/"), "{agent}");
    }
}

#[test]
fn nothing_that_exists_is_changed() {
    let project = Project::empty();
    project.write("EVAL.yaml", "name: mine\ntests: []\n");
    project.write(".evalrig/targets.yaml", "targets: []\n");
    project.write(".gitignore", "target\n");
    let before = project.all_files();
    let ran = init(&project, &["--target", "claude"]);
    ran.exits(0).prints("nothing was written").prints("add .evalrig/results/ to .gitignore");
    assert_eq!(project.all_files(), before);
}

#[test]
fn suites_that_exist_get_no_greeting() {
    let project = Project::empty();
    project.write("evals/first.eval.yaml", "name: mine\ntests: []\n");
    init(&project, &["--target", "codex"]).exits(0);
    assert_eq!(paths(&project), [".evalrig/targets.yaml", ".gitignore", "evals/first.eval.yaml"]);
}

#[test]
fn a_skill_gets_tests_of_its_own() {
    let project = Project::empty();
    let skill = "---\nname: csv-analyzer\ndescription: Adds up \"columns\"\n---\n# CSV\n";
    project.write("csv/SKILL.md", skill);
    init(&project, &["csv"]).exits(0).prints("two tests of the skill");
    project.evalrig(&["validate", "--strict", "-v"]).exits(0);
    let suite = project.read("csv/EVAL.yaml");
    assert!(suite.contains("skill: \"csv-analyzer\""), "{suite}");
    assert!(suite.starts_with("# yaml-language-server: $schema=https://"), "{suite}");
    let targets = project.read("csv/.evalrig/targets.yaml");
    let first = targets.lines().next().unwrap();
    assert!(first.ends_with("/schema/targets.strict.schema.json"), "{first}");
}

#[test]
fn a_skill_with_evals_json_gets_a_targets_file_only() {
    let project = Project::empty();
    project.write("csv/SKILL.md", "---\nname: csv\ndescription: Adds up\n---\n");
    let evals = r#"{"skill_name": "csv", "evals": [{"id": 1, "prompt": "Add up a.csv", "expected_output": "6"}]}"#;
    project.write("csv/evals/evals.json", evals);
    init(&project, &["csv"]).exits(0);
    assert_eq!(
        paths(&project),
        [".gitignore", "csv/.evalrig/targets.yaml", "csv/SKILL.md", "csv/evals/evals.json"]
    );
}

#[cfg(unix)]
#[test]
fn the_agent_that_is_installed_is_chosen() {
    for (program, provider) in PROGRAMS {
        let project = Project::empty();
        project.write(&format!("bin/{program}"), "");
        project.write("a.eval.yaml", "name: a\ntests: []\n");
        init(&project, &[]).exits(0);
        let targets = project.read(".evalrig/targets.yaml");
        let lines = targets.matches(&format!("    provider: {provider}\n")).count();
        assert_eq!(lines, 2, "target and judge: {targets}");
    }
    let project = Project::empty();
    project.write("a.eval.yaml", "name: a\ntests: []\n");
    init(&project, &[]).exits(0).prints("`claude` is not installed yet");
}

#[test]
fn a_python_agent_answers_at_once() {
    let project = Project::empty();
    project.evalrig(&["init", "--target", "python"]).exits(0).prints("agent.py");
    let ran = project.run(&["--no-record"]);
    ran.exits(1).prints("answers-in-json");
    let answer = project.row("greets-by-name")["candidateAnswer"].as_str().unwrap().to_owned();
    assert_eq!(answer, "Hello! You said: Hello, my name is Alice!");
    // The program of the user is found.
    let project = Project::empty();
    project.write("main.py", "print('42')\n");
    project.evalrig(&["init", "--target", "python"]).exits(0);
    assert!(project.read(".evalrig/targets.yaml").contains("main.py]"));
    assert!(!project.has("agent.py"));
}

#[test]
fn a_service_needs_no_program() {
    let project = Project::empty();
    let ran = init(&project, &["--target", "http"]);
    ran.exits(0);
    assert!(!ran.out.contains("is not installed"), "{}", ran.out);
    let targets = project.read(".evalrig/targets.yaml");
    assert!(targets.contains("    provider: http\n"), "{targets}");
}

#[test]
fn a_missing_targets_file_leads_to_a_command_that_helps() {
    let project = Project::empty();
    project.write("evals/EVAL.yaml", "name: a\ntests: [{id: a, criteria: Greets, input: Hi, assert: [{type: contains, value: Hello}]}]\n");
    let ran = project.run(&["evals"]);
    ran.exits(2).says("error[no-targets-file]").says("evalrig init --target claude");
    init(&project, &["--target", "claude"]).exits(0);
    // The program is missing now, and nothing else.
    let mut command = project.command(&["run", "evals", "--no-record"]);
    command.env("PATH", project.path("bin"));
    Ran::of(command).exits(3).prints("cannot start `claude`");
}

#[test]
fn the_example_of_a_coding_agent_is_that_of_the_repository_and_passes() {
    let project = Project::empty();
    init(&project, &["demo", "--example", "coding-agent"]).exits(0).prints("evalrig run demo");
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/coding-agent");
    let read = |path: &str| std::fs::read_to_string(format!("{example}/{path}")).unwrap();
    let written = paths(&project);
    let own = written.iter().filter_map(|path| path.strip_prefix("demo/"));
    let own: Vec<&str> = own.filter(|path| *path != ".gitignore").collect();
    assert_eq!(own.len(), 6, "{written:?}");
    for path in own {
        assert_eq!(project.read(&format!("demo/{path}")), read(path), "{path}");
    }
    project.evalrig(&["validate", "--strict", "demo"]).exits(0);
    project.evalrig(&["run", "demo"]).exits(0).prints("all 2 tests passed");
}

#[test]
fn an_example_is_not_mixed_with_suites() {
    let project = Project::empty();
    project.write("EVAL.yaml", "name: mine\ntests: []\n");
    let before = project.all_files();
    init(&project, &["--example", "coding-agent"]).exits(2).says("name another directory");
    assert_eq!(project.all_files(), before);
}
