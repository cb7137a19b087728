//! `evalrig.toml`: which value wins, what is refused, and that a file of a repository cannot reach out of it.

mod support;

use support::{Project, Ran};

const SUITE: &str = "name: greetings
tests:
  - {id: hello, criteria: Greets, input: Hi, assert: [{type: contains, value: Hello}]}
";
const TARGETS: &str = "targets: [{name: default, provider: mock, response: Hello there}]";

fn project(config: &str) -> Project {
    let project = Project::new(SUITE, TARGETS);
    project.write("evalrig.toml", config);
    project
}

fn with_variables(project: &Project, variables: &[(&str, &str)], arguments: &[&str]) -> Ran {
    let mut command = project.command(arguments);
    command.envs(variables.iter().copied());
    Ran::of(command)
}

/// How many cases a dry run counts.
#[track_caller]
fn trials(ran: &Ran) -> String {
    ran.exits(0);
    let line = ran.out.lines().find(|line| line.starts_with("cases ")).expect("a count");
    line.trim_start_matches("cases ").trim().to_owned()
}

#[test]
fn flag_environment_profile_file_and_default_win_in_this_order() {
    let project = project("trials = 2\n[profile.ci]\ntrials = 3\n[profile.other]\nstrict = true\n");
    let dry = |variables: &[(&str, &str)], more: &[&str]| {
        let arguments: Vec<&str> = ["run", "--dry-run"].iter().chain(more).copied().collect();
        trials(&with_variables(&project, variables, &arguments))
    };
    assert_eq!(dry(&[], &[]), "2");
    assert_eq!(dry(&[], &["--profile", "ci"]), "3");
    assert_eq!(dry(&[("EVALRIG_PROFILE", "ci")], &[]), "3");
    assert_eq!(dry(&[], &["--profile", "other"]), "2");
    assert_eq!(dry(&[("EVALRIG_PROFILE", "other")], &["--profile", "ci"]), "3");
    assert_eq!(dry(&[("EVALRIG_TRIALS", "4")], &["--profile", "ci"]), "4");
    assert_eq!(dry(&[("EVALRIG_TRIALS", "4")], &["--trials", "5"]), "5");
    std::fs::remove_file(project.path("evalrig.toml")).unwrap();
    assert_eq!(dry(&[], &[]), "1");
}

#[test]
fn the_file_of_the_root_is_read_everywhere_below_it() {
    let project = project("trials = 2\noutput = \"out/rows.jsonl\"\n");
    project.write("deep/evalrig.toml", "trials = 7\n");
    let mut command = project.command(&["run", "..", "--no-record"]);
    command.current_dir(project.path("deep"));
    Ran::of(command).exits(0);
    assert_eq!(project.rows_of("out/rows.jsonl").len(), 2);
}

#[test]
fn an_option_that_was_typed_replaces_what_it_excludes() {
    let project = project("no_record = true\nskip_judges = true\n");
    project.run(&["--store", "log"]).exits(0);
    assert!(project.has("log"));
    project.run(&["--judge", "default", "--dry-run"]).exits(0);
}

#[test]
fn lists_come_from_the_file_and_from_the_environment() {
    let project = project("tag = [\"a\"]\nfilter = \"h*\"\n");
    project.run(&[]).exits(4);
    let ran = with_variables(&project, &[("EVALRIG_TAG", "b,c")], &["config"]);
    ran.exits(0).prints("tag = [\"b\", \"c\"]").prints("# EVALRIG_TAG");
    ran.prints("filter = [\"h*\"]").prints("# evalrig.toml:2");
}

#[test]
fn the_environment_turns_a_flag_off() {
    let project = project("strict = true\n");
    project.write("EVAL.yaml", &format!("{SUITE}extra: 1\n"));
    project.evalrig(&["validate"]).exits(1);
    with_variables(&project, &[("EVALRIG_STRICT", "false")], &["validate"]).exits(0);
    with_variables(&project, &[("EVALRIG_STRICT", "")], &["validate"]).exits(1);
}

#[test]
fn requirements_of_options_are_no_obstacle() {
    // `margin` needs a baseline and `diff` needs `fix` on the command line.
    let project = project("margin = 0.2\ngate = true\ndiff = true\n");
    project.run(&["--no-record"]).exits(0);
    project.evalrig(&["validate"]).exits(0).prints("all good");
}

#[test]
fn faults_are_at_their_line_and_nothing_runs() {
    let project = project("trials = 2\ntrails = 3\ntrials_ = 1\nretries = 11\n");
    let ran = project.run(&[]);
    ran.exits(2).says("evalrig.toml:2:1").says("did you mean `trials`?");
    ran.says("evalrig.toml:4:11").says("`retries` does not accept `11`: 11 is not in 0..=10");
    assert!(!project.has(".evalrig/results"));
    project.evalrig(&["validate"]).exits(2);
    project.evalrig(&["config"]).exits(2);
    // Other commands do not read the file.
    project.evalrig(&["list"]).exits(0);
    let wrong = with_variables(&project, &[("EVALRIG_TRIALS", "many")], &["run"]);
    wrong.exits(2).says("EVALRIG_TRIALS: `trials` does not accept `many`");
}

#[test]
fn profiles_that_do_not_exist_are_named() {
    let project = project("[profile.ci]\n[profile.night]\n");
    project.run(&["--profile", "c1"]).exits(2).says("did you mean `ci`?");
    project.run(&["--profile", "weekend"]).exits(2).says("`evalrig.toml` has ci, night");
    std::fs::remove_file(project.path("evalrig.toml")).unwrap();
    project.run(&["--profile", "ci"]).exits(2).says("the repository has no `evalrig.toml`");
}

#[test]
fn the_file_cannot_reach_out_of_the_repository() {
    let outside = tempfile::tempdir().unwrap();
    let away = outside.path().join("rows.jsonl");
    let escapes = [
        format!("output = {:?}", away.to_str().unwrap()),
        "output = \"../rows.jsonl\"".to_owned(),
        "output = \"link/rows.jsonl\"".to_owned(),
        "store = \"..\"".to_owned(),
        "env_file = \"/etc/hostname\"".to_owned(),
        "targets = \"../targets.yaml\"".to_owned(),
        "paths = [\"..\"]".to_owned(),
        "report = [\"html=../report.html\"]".to_owned(),
        "baseline = \"/tmp/x.jsonl\"".to_owned(),
        "root = \"/\"".to_owned(),
        "allow_outside_root = true".to_owned(),
        "view = true".to_owned(),
    ];
    for config in escapes {
        let project = project(&config);
        #[cfg(unix)]
        std::os::unix::fs::symlink(outside.path(), project.path("link")).unwrap();
        let name = config.split(' ').next().unwrap();
        project.run(&[]).exits(2).says("error[invalid-setting]").says(name);
        project.run(&["--output", "mine.jsonl", "--no-record"]).exits(2);
        assert!(std::fs::read_dir(outside.path()).unwrap().next().is_none(), "{config}");
    }
}

#[cfg(unix)]
#[test]
fn a_file_that_is_no_regular_file_of_the_repository_is_refused() {
    let project = Project::new(SUITE, TARGETS);
    std::os::unix::fs::symlink("/etc/hostname", project.path("evalrig.toml")).unwrap();
    project.run(&[]).exits(2).says("cannot read `evalrig.toml`");
    std::fs::remove_file(project.path("evalrig.toml")).unwrap();
    std::fs::write(project.path("evalrig.toml"), [0xff, 0xfe, b'=', b'1']).unwrap();
    project.run(&[]).exits(2).says("`evalrig.toml` is not UTF-8");
    std::fs::write(project.path("evalrig.toml"), vec![b'#'; 2 << 20]).unwrap();
    project.run(&[]).exits(2).says("larger than 1 MiB");
}

#[test]
fn config_shows_every_setting_as_json() {
    let project = project("trials = 2\n[profile.ci]\npaths = [\"evals\"]\n");
    let ran = project.evalrig(&["config", "--profile", "ci", "--format", "json"]);
    ran.exits(0);
    let shown: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(shown["profile"], "ci");
    assert_eq!(shown["file"], "evalrig.toml");
    let setting = |name: &str| {
        let all = shown["settings"].as_array().unwrap();
        all.iter().find(|one| one["name"] == name).unwrap_or_else(|| panic!("{name}")).clone()
    };
    assert_eq!(setting("trials")["origin"], "evalrig.toml:1");
    assert_eq!(setting("paths")["values"], serde_json::json!(["evals"]));
    assert_eq!(setting("paths")["origin"], "evalrig.toml:3 [profile.ci]");
    assert_eq!(setting("color")["values"], serde_json::json!(["auto"]));
    assert_eq!(setting("keep_runs")["values"], serde_json::json!([]));
}

#[test]
fn decisions_for_one_run_cannot_be_set_in_the_file() {
    for (key, line) in [
        ("force", "force = true"),
        ("failed", "failed = \"latest\""),
        ("resume", "resume = \"latest\""),
        ("watch", "watch = true"),
    ] {
        for text in [format!("{line}\n"), format!("[profile.ci]\n{line}\n")] {
            let project = Project::new(SUITE, TARGETS);
            project.write("evalrig.toml", &text);
            let ran = project.run(&["--no-record"]);
            ran.exits(2)
                .says("invalid-setting")
                .says(&format!("`{key}` is a decision for one run"));
            ran.says(&format!("give `--{key}` on the command line"));
            assert!(!project.has(".evalrig/results"));
        }
    }
    // The user who starts the run sets a variable.
    let project = Project::new(SUITE, TARGETS);
    project.run(&["--no-record", "--output", "out.jsonl"]).exits(0);
    let mut command = project.command(&["run", "--no-record", "--output", "out.jsonl"]);
    command.env("EVALRIG_FORCE", "true");
    support::Ran::of(command).exits(0);
}
