//! What a repository may contain in place of an ordinary file: links out of it, FIFOs, devices, files
//! without end, names that are not UTF-8, and agents that replace files while a suite runs.
#![cfg(unix)]

mod support;

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

use serde_json::json;
use support::{Project, Ran};
use tempfile::TempDir;

const TESTS: &str = "- {id: stolen, criteria: outside-the-root, input: Hi}\n";
const MOCK: &str = "targets: [{name: default, provider: mock, response: fine}]\n";

/// A project, and a directory outside it with what no suite may read.
struct Place {
    project: Project,
    outside: TempDir,
}

impl Place {
    fn new(suite: &str, targets: &str) -> Self {
        let outside = tempfile::tempdir().expect("a directory");
        Self { project: Project::new(suite, targets), outside }
    }

    fn secret(&self, name: &str, text: &str) -> PathBuf {
        let path = self.outside.path().join(name);
        fs::write(&path, text).expect("a file");
        path
    }

    /// A link in the project to a file outside it.
    fn link_out(&self, name: &str, text: &str) {
        let secret = self.secret("secret", text);
        let link = self.project.path(name);
        fs::create_dir_all(link.parent().expect("a parent")).expect("a directory");
        symlink(secret, link).expect("a link");
    }

    /// Nothing of the outside is shown.
    #[track_caller]
    fn check(&self, arguments: &[&str], code: i32, says: &str) -> Ran {
        let ran = self.project.evalrig(arguments);
        ran.exits(code);
        let all = format!("{}{}", ran.out, ran.err);
        assert!(!all.contains("outside-the-root"), "{all}");
        assert!(all.contains(says), "no `{says}` in\n{all}");
        ran
    }
}

fn fifo(path: &std::path::Path) {
    fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
    assert!(Command::new("mkfifo").arg(path).status().expect("mkfifo starts").success());
}

const SIMPLE: &str = "name: demo\ntests:\n  - {id: a, criteria: c, input: Hi, assert: [{type: contains, value: fine}]}\n";

#[test]
fn a_pattern_does_not_follow_a_link_out_of_the_root() {
    for tests in ["[\"l*.yaml\"]", "[\"**/*.yaml\"]", "[link.yaml]"] {
        let place = Place::new(&format!("name: demo\ntests: {tests}\n"), MOCK);
        place.link_out("link.yaml", TESTS);
        place.check(&["validate"], 1, "path-outside-root");
        place.check(&["show", "EVAL.yaml"], 2, "path-outside-root");
        let shown = place.project.evalrig(&["show", "--allow-outside-root", "EVAL.yaml"]);
        shown.exits(0).prints("outside-the-root");
    }
}

#[test]
fn a_pattern_follows_a_link_that_stays_inside() {
    let place = Place::new("name: demo\ntests: [\"l*.yaml\"]\n", MOCK);
    place.project.write("cases/real.yaml", TESTS);
    symlink("cases/real.yaml", place.project.path("link.yaml")).expect("a link");
    place.project.evalrig(&["show", "EVAL.yaml"]).exits(0).prints("stolen");
}

#[test]
fn suites_sidecars_targets_and_prompts_do_not_lead_out_of_the_root() {
    let place = Place::new(SIMPLE, MOCK);
    place.link_out("other/x.eval.yaml", "name: outside-the-root\ntests: 1\n");
    place.check(&["validate"], 1, "it leads out of the repository root");

    let place = Place::new(SIMPLE, MOCK);
    place.project.write("d.jsonl", "{\"id\": \"a\", \"criteria\": \"c\", \"input\": \"i\"}\n");
    place.link_out("d.yaml", "name: outside-the-root\n");
    place.check(&["validate", "d.jsonl"], 1, "it leads out of the repository root");

    let place = Place::new(SIMPLE, MOCK);
    fs::remove_file(place.project.path(".evalrig/targets.yaml")).expect("a file");
    place.link_out(".evalrig/targets.yaml", "targets: [{name: outside-the-root}]\n");
    place.check(&["validate"], 1, "it leads out of the repository root");
    place.check(&["run"], 2, "it leads out of the repository root");

    let judge = SIMPLE.replace("{type: contains, value: fine}", "{type: llm-judge, prompt: p.md}");
    let place = Place::new(&judge, MOCK);
    place.link_out("p.md", "outside-the-root {{ nothing }}\n");
    place.check(&["validate"], 1, "path-outside-root");

    let custom = SIMPLE.replace("{type: contains, value: fine}", "{type: tone}");
    let place = Place::new(&custom, MOCK);
    place.link_out(".evalrig/judges/tone.py", "print('outside-the-root')\n");
    place.check(&["validate"], 1, "path-outside-root");
}

#[test]
fn an_env_file_that_is_not_read_is_reported() {
    let suite = SIMPLE.replace("input: Hi", "input: \"Hi ${{ WHO }}\"");
    let place = Place::new(&suite, MOCK);
    place.link_out(".env", "WHO=outside-the-root\n");
    place.check(&["validate"], 1, "unreadable-env-file");
    place.check(&["show", "EVAL.yaml"], 2, "missing-variable");

    let place = Place::new(&suite, MOCK);
    fifo(&place.project.path(".env"));
    place.check(&["validate"], 1, "`.env` is not read: not a regular file");

    let place = Place::new(&suite, MOCK);
    let file = File::create(place.project.path(".env")).expect("a file");
    file.set_len(1 << 30).expect("a sparse file");
    place.check(&["validate"], 1, "`.env` is not read: it is larger than 1 MiB");
}

#[test]
fn names_that_are_not_utf_8_are_reported() {
    let place = Place::new(SIMPLE, MOCK);
    let odd = |name: &[u8]| place.project.path(".").join(OsStr::from_bytes(name));
    fs::create_dir(odd(b"dir-\xff")).expect("a directory");
    fs::write(odd(b"\xfe.eval.yaml"), "").expect("a file");
    fs::write(odd(b"\xfe.txt"), "").expect("a file");
    let ran = place.project.run(&[]);
    ran.exits(0).says("warning[undecodable-name]: `dir-\u{fffd}` is skipped");
    ran.says("`\u{fffd}.eval.yaml` is skipped");
    assert!(!ran.err.contains(".txt"), "{}", ran.err);
}

#[test]
fn long_paths_are_refused_where_they_are_written() {
    let deep = "a/".repeat(20_000);
    let many = format!("a/{}", "b/".repeat(1_000));
    let mut suite = format!(
        "name: demo\ntests:\n  - {{id: a, criteria: c, input: Hi, input_files: [\"{deep}\"]}}\n"
    );
    for number in 0..1_000 {
        suite += &format!(
            "  - {{id: t{number}, criteria: c, input: Hi, input_files: [\"{many}{number}\"]}}\n"
        );
    }
    let place = Place::new(&suite, MOCK);
    let ran = place.check(&["validate", "--format", "concise"], 1, "longer than 4,096 bytes");
    assert_eq!(ran.out.matches("file-not-found").count(), 1_000);
}

#[test]
fn two_thousand_patterns_over_many_files_end() {
    let patterns: Vec<String> = (0..2_000).map(|n| format!("\"**/none-{n}-*.yaml\"")).collect();
    let suite = format!("name: demo\ntests: [{}]\n", patterns.join(", "));
    let place = Place::new(&suite, MOCK);
    for number in 0..2_000 {
        place.project.write(&format!("cases/{}/{number}.yaml", number % 20), "");
    }
    place.check(&["validate", "EVAL.yaml"], 1, "import-no-match");
}

#[test]
fn devices_and_fifos_in_the_store_are_refused() {
    for (what, says) in [("zero", "is a link"), ("fifo", "not a regular file")] {
        let place = Place::new(SIMPLE, MOCK);
        place.project.run(&[]).exits(0);
        let store = place.project.path(".co/evals");
        let mut records =
            fs::read_dir(&store).expect("a store").map(|entry| entry.expect("one").path());
        let record = records.find(|path| path.extension() == Some(OsStr::new("yaml")));
        let record = record.expect("a record");
        fs::remove_file(&record).expect("a file");
        match what {
            "zero" => symlink("/dev/zero", &record).expect("a link"),
            _ => fifo(&record),
        }
        let ran = place.project.run(&[]);
        assert!(ran.err.contains(says) || ran.out.contains(says), "{}{}", ran.out, ran.err);
        place.check(&["log", "verify"], 1, says);
    }
}

#[test]
fn a_results_file_without_line_breaks_is_not_read_whole() {
    let place = Place::new(SIMPLE, MOCK);
    for command in ["report", "grade"] {
        place.project.evalrig(&[command, "/dev/zero"]).exits(2).says("longer than 256 MiB");
    }
    let sparse = place.project.path("sparse.jsonl");
    File::create(&sparse).expect("a file").set_len(1 << 30).expect("a sparse file");
    place.check(&["report", "sparse.jsonl"], 2, "longer than 256 MiB");
}

#[test]
fn a_report_does_not_quote_files_outside_the_root() {
    let place = Place::new(&SIMPLE.replace("fine", "not there"), MOCK);
    place.secret("secret.yaml", "outside-the-root\n");
    place.project.run(&["--output", "r.jsonl"]).exits(1);
    let secret = place.outside.path().join("secret.yaml");
    let up = "../".repeat(20);
    let forged = format!("{up}{}", secret.to_str().expect("UTF-8").trim_start_matches('/'));
    let text = place.project.read("r.jsonl");
    place.project.write(
        "r.jsonl",
        &text.replace("\"file\":\"EVAL.yaml\"", &format!("\"file\":\"{forged}\"")),
    );
    let ran = place.project.evalrig(&["report", "r.jsonl"]);
    let all = format!("{}{}", ran.out, ran.err);
    assert!(!all.contains("outside-the-root"), "{all}");
}

/// A suite whose first test runs a program that can change files of the project before the second.
fn two_steps(agent: &str, second: &str) -> Place {
    let suite = format!(
        "name: demo\ntests:\n  - {{id: t1, criteria: c, input: one, assert: [{{type: contains, value: fine}}]}}\n  - {{id: t2, criteria: c, {second}}}\n"
    );
    let targets = "targets: [{name: default, provider: cli, command: 'sh agent.sh {PROMPT_FILE}', workers: 1}]\n";
    let place = Place::new(&suite, targets);
    place.project.write(
        "agent.sh",
        &format!("grep -q one \"$1\" && {{ {agent}; }}\ncat \"$1\"; echo fine\n"),
    );
    place.project.write("notes.md", "the notes\n");
    place
}

#[track_caller]
fn errored(place: &Place, stage: &str, says: &str) {
    place.project.run(&["--workers", "1", "--messages"]).exits(3);
    assert_eq!(place.project.row("t1")["outcome"], "passed", "{}", place.project.row("t1"));
    let row = place.project.row("t2");
    assert_eq!(row["outcome"], "errored", "{row}");
    let error = &row["error"];
    assert_eq!((&error["stage"], &error["kind"]), (&json!(stage), &json!("changed-file")), "{row}");
    assert!(support::text(&error["message"]).contains(says), "{row}");
    assert!(!row.to_string().contains("outside-the-root"), "{row}");
}

#[test]
fn an_attachment_that_an_agent_replaces_is_not_sent() {
    let second = "input: two, input_files: [notes.md], assert: [{type: contains, value: fine}]";
    let place = two_steps("ln -sf \"$OUTSIDE\" notes.md", second);
    let secret = place.secret("secret", "outside-the-root");
    let agent =
        place.project.read("agent.sh").replace("\"$OUTSIDE\"", secret.to_str().expect("UTF-8"));
    place.project.write("agent.sh", &agent);
    errored(&place, "target", "cannot attach `notes.md`: it has changed");
    let place = two_steps("echo more >> notes.md", second);
    errored(&place, "target", "cannot attach `notes.md`: it has changed");
}

#[test]
fn an_attachment_that_is_handed_on_by_path_must_be_unchanged() {
    let second = "input: two, input_files: [notes.md], assert: [{type: contains, value: fine}]";
    let place = two_steps("echo more >> notes.md", second);
    let targets = place.project.read(".evalrig/targets.yaml");
    let by_path = targets.replace("{PROMPT_FILE}'", "{PROMPT_FILE} {FILES}'");
    place
        .project
        .write(".evalrig/targets.yaml", &by_path.replace("workers: 1", "workers: 1, files: paths"));
    errored(&place, "target", "cannot attach `notes.md`: it has changed");
}

#[test]
fn a_judge_that_an_agent_rewrites_is_not_run() {
    for (second, file) in [
        ("input: two, assert: [{type: code-judge, script: [sh, judge.sh]}]", "judge.sh"),
        ("input: two, assert: [{type: code-judge, script: 'sh ./judge.sh'}]", "judge.sh"),
        ("input: two, assert: [{type: tone}]", ".evalrig/judges/tone.sh"),
        (
            "input: two, assert: [{type: composite, assert: [{type: tone}], aggregator: {type: weighted_average}}]",
            ".evalrig/judges/tone.sh",
        ),
    ] {
        let rewrite = format!("echo \"echo '{{\\\\\"score\\\\\": 1}}'\" > {file}");
        let place = two_steps(&rewrite, second);
        place.project.write(file, "echo '{\"score\": 0}'\n");
        errored(&place, "script", &format!("script `{file}` is not run: it has changed"));
    }
}

#[test]
fn a_hook_that_an_agent_rewrites_is_not_run() {
    for field in ["setup: [sh, hook.sh]", "hooks: {before_each: {command: [sh, ./hook.sh]}}"] {
        let second = format!(
            "input: two, workspace: {{{field}}}, assert: [{{type: contains, value: fine}}]"
        );
        let place = two_steps("echo 'touch hooked' > hook.sh", &second);
        place.project.write("hook.sh", "exit 0\n");
        errored(&place, "workspace", "does not run `hook.sh`: it has changed");
        assert!(!place.project.path("hooked").exists());
    }
}

#[test]
fn a_hook_at_the_end_is_not_run_once_an_agent_has_rewritten_it() {
    for hook in ["after_each", "after_all"] {
        let second = format!(
            "input: two, workspace: {{hooks: {{{hook}: {{command: [sh, hook.sh]}}}}}}, \
             assert: [{{type: contains, value: fine}}]"
        );
        let place = two_steps("true", &second);
        let root = place.project.path("");
        let (root, hooked) = (root.display(), place.project.path("hooked"));
        place.project.write("hook.sh", "exit 0\n");
        let rewrite = format!("echo 'touch {}' > {root}/hook.sh\n", hooked.display());
        let agent = format!("grep -q two \"$1\" && {rewrite}cat \"$1\"; echo fine\n");
        place.project.write("agent.sh", &agent);
        let targets = place.project.read(".evalrig/targets.yaml");
        let absolute = format!("sh {root}/agent.sh");
        place.project.write(".evalrig/targets.yaml", &targets.replace("sh agent.sh", &absolute));
        let ran = place.project.run(&["--workers", "1"]);
        ran.exits(0).says("does not run `hook.sh`: it has changed");
        assert!(!hooked.exists(), "{hook}");
    }
}

#[test]
fn an_agent_that_rewrites_itself_is_not_run_again() {
    let second = "input: two, assert: [{type: contains, value: fine}]";
    let place = two_steps("echo 'echo fine, of course' > agent.sh; echo fine; exit", second);
    errored(&place, "target", "program `agent.sh` is not run: it has changed");
}

#[test]
fn a_judge_target_that_an_agent_rewrites_is_not_run() {
    let second = "input: two, assert: [{type: llm-judge, prompt: Score it., target: judge}]";
    let place = two_steps("echo 'echo 1' > judge.sh", second);
    let targets = place.project.read(".evalrig/targets.yaml").replace(
        "workers: 1}]",
        "workers: 1}, {name: judge, provider: cli, command: 'sh judge.sh {PROMPT_FILE}'}]",
    );
    place.project.write(".evalrig/targets.yaml", &targets);
    place.project.write("judge.sh", "echo '{\"score\": 0}'\n");
    errored(&place, "target", "program `judge.sh` is not run: it has changed");
}

#[test]
fn a_prompt_is_the_one_that_was_loaded() {
    let second = "input: two, assert: [{type: llm-judge, prompt: p.md, target: judge}]";
    let place = two_steps("echo changed > p.md", second);
    place.project.write("p.md", "Score this as loaded: {{ answer }}\n");
    let targets = place.project.read(".evalrig/targets.yaml").replace(
        "workers: 1}]",
        "workers: 1}, {name: judge, provider: cli, command: 'sh judge.sh {PROMPT_FILE}'}]",
    );
    place.project.write(".evalrig/targets.yaml", &targets);
    place.project.write(
        "judge.sh",
        "grep -q 'as loaded' \"$1\" && echo '{\"score\": 1}' || echo '{\"score\": 0}'\n",
    );
    place.project.run(&["--workers", "1"]).exits(0);
    assert_eq!(place.project.row("t2")["outcome"], "passed");
    assert_eq!(place.project.read("p.md"), "changed\n");
}
