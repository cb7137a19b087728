//! What the processes of a case reach, through the binary: their home, their sandbox, their container, and
//! what hooks and checks get of the workspace.
#![cfg(target_os = "linux")]

mod support;

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use support::{Project, text};

fn target(options: &Value) -> String {
    let mut target = json!({"name": "default", "provider": "cli"});
    for (key, value) in options.as_object().expect("a mapping") {
        target[key] = value.clone();
    }
    json!({"targets": [target]}).to_string()
}

/// A suite with a workspace and these tests, as JSON.
fn suite(workspace: &Value, tests: &Value) -> String {
    json!({"name": "suite", "workspace": workspace, "tests": tests}).to_string()
}

fn one_test() -> Value {
    json!([{"id": "a", "criteria": "c", "input": "go", "assert": [{"type": "regex", "value": "^"}]}])
}

fn answer(project: &Project, id: &str) -> String {
    text(&project.row(id)["candidateAnswer"])
}

#[test]
fn tests_of_a_conversation_share_workspace_and_home_and_others_do_not() {
    let test = |id: &str, conversation: Option<&str>| {
        json!({"id": id, "criteria": "c", "input": "go", "conversation_id": conversation,
            "assert": [{"type": "regex", "value": "^"}]})
    };
    let mut tests = vec![test("a", Some("x")), test("b", Some("x")), test("c", None)];
    for test in &mut tests {
        if test["conversation_id"].is_null() {
            test.as_object_mut().unwrap().remove("conversation_id");
        }
    }
    let agent = "echo \"$EVALRIG_TEST_ID$EVALRIG_TRIAL\" >> \"$HOME/memory\"; \
         [ -z \"$EVALRIG_WORKSPACE\" ] || echo \"$EVALRIG_TEST_ID$EVALRIG_TRIAL\" >> here; \
         cat \"$HOME/memory\"; [ ! -e here ] || cmp here \"$HOME/memory\"";
    for (workspace, sandbox) in [(json!({}), "home"), (Value::Null, "home"), (json!({}), "bwrap")] {
        if sandbox == "bwrap" && !has_bwrap() {
            continue;
        }
        let mut suite = json!({"name": "talk", "tests": tests});
        if !workspace.is_null() {
            suite["workspace"] = workspace;
        }
        let target = target(&json!({"command": agent, "home": "clean", "sandbox": sandbox}));
        let project = Project::new(&suite.to_string(), &target);
        project.run(&["--trials", "2", "--workers", "4", "--quiet"]).exits(0);
        for row in project.rows() {
            let (id, trial) = (text(&row["evalId"]), &row["trial"]);
            let expected = match id.as_str() {
                "b" => format!("a{trial}\nb{trial}"),
                id => format!("{id}{trial}"),
            };
            assert_eq!(text(&row["candidateAnswer"]).trim(), expected, "{sandbox}");
        }
        let left: Vec<_> = fs::read_dir(project.scratch.path()).unwrap().collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

#[test]
fn a_second_attempt_in_a_conversation_gets_a_new_home() {
    let tests = json!([
        {"id": "a", "criteria": "c", "input": "go", "conversation_id": "x", "assert": [{"type": "equals", "value": "a2"}]},
        {"id": "b", "criteria": "c", "input": "go", "conversation_id": "x", "assert": [{"type": "equals", "value": "a2\nb1"}]},
    ]);
    let agent = "echo \"$EVALRIG_TEST_ID$EVALRIG_ATTEMPT\" >> \"$HOME/memory\"; cat \"$HOME/memory\"; \
         [ \"$EVALRIG_TEST_ID$EVALRIG_ATTEMPT\" != a1 ] || sleep 300";
    let options =
        json!({"command": agent, "home": "clean", "max_retries": 1, "timeout_seconds": 1});
    let target = target(&options);
    let project = Project::new(&json!({"name": "talk", "tests": tests}).to_string(), &target);
    project.run(&["--quiet"]).exits(0);
    assert_eq!(project.row("a")["attempts"], 2);
}

#[test]
fn a_judge_does_not_get_the_home_of_the_agent() {
    let tests = json!([{"id": "a", "criteria": "c", "input": "go", "rubrics": ["Is polite"]}]);
    let verdict = r#"{"checks": [{"id": "criteria", "reasoning": "r", "satisfied": true}, {"id": "rubric-1", "reasoning": "r", "satisfied": true}]}"#;
    let judge = format!(
        "ls -A \"$HOME\" | grep -v '^tmp$' >> \"$SEEN\"; echo end >> \"$SEEN\"; echo '{verdict}'"
    );
    let project = Project::empty();
    project.write("EVAL.yaml", &json!({"name": "judged", "tests": tests}).to_string());
    let seen = project.path("seen");
    let targets = json!({"judge_target": "judge", "targets": [
        {"name": "default", "provider": "cli", "home": "clean", "command": "echo plant > \"$HOME/CLAUDE.md\"; echo ok"},
        {"name": "judge", "provider": "cli", "home": "clean", "command": judge, "env": {"SEEN": seen}},
    ]});
    project.write(".evalrig/targets.yaml", &targets.to_string());
    project.run(&["--quiet"]).exits(0);
    assert_eq!(project.lines("seen"), ["end"]);
}

#[test]
fn a_network_that_cannot_be_taken_away_stops_the_run() {
    let agent = "touch \"$CALLED\"; echo ok";
    for (sandbox, arguments) in [
        (None, &[][..]),
        (Some("none"), &[]),
        (Some("home"), &[]),
        (Some("bwrap"), &["--sandbox", "none"]),
        (Some("docker"), &["--sandbox", "home"]),
    ] {
        let project = Project::empty();
        project.write("EVAL.yaml", &suite(&json!({}), &one_test()));
        let env = json!({"CALLED": project.path("called")});
        let mut options = json!({"command": agent, "network": "none", "env": env});
        if let Some(sandbox) = sandbox {
            options["sandbox"] = json!(sandbox);
        }
        project.write(".evalrig/targets.yaml", &target(&options));
        let ended = project.run(arguments);
        ended.exits(2);
        assert!(ended.err.contains("`network: none` has no effect in sandbox"), "{sandbox:?}");
        assert!(!project.path("called").exists(), "{sandbox:?}");
    }
}

#[test]
fn files_attached_to_a_later_turn_are_placed_and_named() {
    let test = |id: &str, more: Value| {
        let mut test = json!({"id": id, "criteria": "c", "input": "go", "conversation_id": "x"});
        for (key, value) in more.as_object().unwrap() {
            test[key] = value.clone();
        }
        test
    };
    let check = json!([{"type": "files", "exists": ["data/y"]}]);
    let tests = json!([
        test("a", json!({"assert": [{"type": "regex", "value": "^"}]})),
        test("b", json!({"input_files": ["data/y"], "assert": check})),
    ]);
    for (cwd, is_absolute) in [(".", false), ("sub", true)] {
        let workspace = json!({"template": "./template", "cwd": cwd});
        let options = json!({"command": "cat", "files": "paths"});
        let project = Project::new(&suite(&workspace, &tests), &target(&options));
        project.write("template/sub/x", "");
        project.write("data/y", "attached");
        project.run(&["--quiet"]).exits(0);
        assert!(project.row("b")["workspace"]["created"] == json!([]));
        let prompt = answer(&project, "b");
        let path = prompt.split("<file path=\"").nth(1).and_then(|rest| rest.split('"').next());
        let path = path.expect("a file");
        assert!(path.ends_with("data/y"), "{prompt}");
        assert_eq!(Path::new(path).is_absolute(), is_absolute, "{prompt}");
    }
}

#[test]
fn the_workspace_of_a_later_turn_must_be_that_of_the_first() {
    let test = |id: &str, workspace: &Value| {
        json!({"id": id, "criteria": "c", "input": "go", "conversation_id": "x", "workspace": workspace,
            "assert": [{"type": "regex", "value": "^"}]})
    };
    let (one, other) = (json!({"env": {"A": "1"}}), json!({"env": {"A": "2"}}));
    for (second, code) in [(&one, 0), (&other, 2)] {
        let tests = json!([test("a", &one), test("b", second)]);
        let options = json!({"command": "touch \"$CALLED\"; echo ok"});
        let project = Project::new(&json!({"name": "talk", "tests": tests}).to_string(), "");
        let mut options = options;
        options["env"] = json!({"CALLED": project.path("called")});
        project.write(".evalrig/targets.yaml", &target(&options));
        let ended = project.run(&[]);
        ended.exits(code);
        assert_eq!(ended.err.contains("conversation-workspace"), code == 2, "{}", ended.err);
        assert_eq!(project.path("called").exists(), code == 0);
    }
}

#[test]
fn a_workspace_that_cannot_be_made_ready_fails_every_turn_in_the_same_way() {
    let test = |id: &str| {
        json!({"id": id, "criteria": "c", "input": "go", "conversation_id": "x",
            "assert": [{"type": "regex", "value": "^"}]})
    };
    let workspace = json!({"setup": "exit 1"});
    let tests = json!([test("a"), test("b")]);
    let project = Project::new(&suite(&workspace, &tests), &target(&json!({"command": "echo ok"})));
    project.run(&["--quiet"]).exits(3);
    for row in project.rows() {
        let error = &row["error"];
        assert_eq!((&error["stage"], &error["kind"]), (&json!("workspace"), &json!("setup")));
    }
}

#[test]
fn paths_outside_of_the_root_work_if_they_are_allowed() {
    let outside = tempfile::tempdir().unwrap();
    let outside = outside.path().canonicalize().unwrap();
    for path in ["template/a", "overlay/hidden", "x"] {
        fs::create_dir_all(outside.join(path).parent().unwrap()).unwrap();
        fs::write(outside.join(path), "1\n").unwrap();
    }
    let name = outside.file_name().unwrap().to_str().unwrap();
    let tests = json!([{"id": "a", "criteria": "c", "input": "go", "input_files": [format!("../{name}/x")],
        "assert": [{"type": "files", "exists": ["a", "x"]},
            {"type": "command", "run": "cat hidden", "overlay": format!("../{name}/overlay")}]}]);
    let suite = suite(&json!({"template": format!("../{name}/template")}), &tests);
    let project = Project::new(&suite, &target(&json!({"command": "echo ok"})));
    if project.path(".").canonicalize().unwrap().parent() != outside.parent() {
        return;
    }
    project.run(&["--quiet"]).exits(2);
    project.run(&["--quiet", "--allow-outside-root"]).exits(0);
}

#[test]
fn a_script_judge_gets_no_path_of_a_workspace_that_is_gone() {
    let judge = "#!/bin/sh\ncat > \"$SEEN\"\necho '{\"score\": 1}'\n";
    let project = Project::empty();
    let tests = json!([{"id": "a", "criteria": "c", "input": "go",
        "assert": [{"type": "code-judge", "script": ["sh", "./judge.sh"]}]}]);
    let workspace = json!({"keep": "always"});
    project.write("EVAL.yaml", &suite(&workspace, &tests));
    let seen = project.path("seen");
    project.write("judge.sh", &judge.replace("$SEEN", seen.to_str().unwrap()));
    project.write(".evalrig/targets.yaml", &target(&json!({"command": "echo ok > made; echo ok"})));
    let path_seen = || -> Value {
        let payload: Value = serde_json::from_slice(&fs::read(&seen).unwrap()).unwrap();
        assert!(payload["file_changes"].is_string(), "{payload}");
        payload["workspace_path"].clone()
    };
    project.run(&["--quiet"]).exits(0);
    let kept = text(&project.row("a")["workspace"]["path"]);
    let grade = || {
        fs::remove_file(&seen).unwrap();
        project.evalrig(&["grade", "--quiet"]).exits(0);
        path_seen()
    };
    assert_eq!(grade(), json!(kept));
    fs::remove_dir_all(&kept).unwrap();
    assert_eq!(grade(), Value::Null);
    std::os::unix::fs::symlink("/etc", &kept).unwrap();
    assert_eq!(grade(), Value::Null);
    fs::remove_file(&kept).unwrap();
    // The directory for temporary files of the project does not hold anything else.
    fs::remove_dir_all(Path::new(&kept).parent().unwrap()).unwrap();
}

#[test]
fn the_options_of_a_home_are_obeyed() {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join(".claude")).unwrap();
    fs::write(home.path().join(".claude/.credentials.json"), "{\"token\": \"x\"}").unwrap();
    fs::write(home.path().join(".claude/settings.json"), "{}").unwrap();
    fs::write(home.path().join("note"), "").unwrap();
    let answers = |options: &Value| {
        let project = Project::new(&suite(&json!({}), &one_test()), &target(options));
        project.write("given/profile", "");
        project.write("bin/claude", concat!(
            "#!/bin/sh\nfound=$(cd \"$HOME\" && find . -type f | sort | tr '\\n' ' ')\n",
            "printf '{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\",\"tools\":[],\"model\":\"m\"}\\n'\n",
            "printf '{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"%s\",\"session_id\":\"s\"}\\n' \"$found\"\n",
        ));
        let program = project.path("bin/claude");
        fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let mut command = project.command(&["run", "--quiet"]);
        let path = format!("{}:{}", project.path("bin").display(), std::env::var("PATH").unwrap());
        command.env("HOME", home.path()).env("PATH", path);
        let ran = support::Ran::of(command);
        ran.exits(0);
        answer(&project, "a").trim().to_owned()
    };
    let list = "cd \"$HOME\"; echo $(find . -type f | sort)";
    let whole = "./.claude/.credentials.json ./.claude/settings.json ./note";
    assert_eq!(answers(&json!({"command": list})), whole);
    assert_eq!(answers(&json!({"command": list, "home": "user"})), whole);
    assert_eq!(answers(&json!({"command": format!("{list}; echo none"), "home": "clean"})), "none");
    assert_eq!(answers(&json!({"command": list, "home": "./given"})), "./profile");
    let claude = |options: Value| {
        let mut all = json!({"provider": "claude-cli"});
        for (key, value) in options.as_object().unwrap() {
            all[key] = value.clone();
        }
        answers(&all)
    };
    assert_eq!(claude(json!({})), "./.claude/.credentials.json");
    assert_eq!(claude(json!({"login": "carry"})), "./.claude/.credentials.json");
    assert_eq!(claude(json!({"login": "none", "allow_empty": true})), "");
    assert_eq!(claude(json!({"home": "user"})), whole);
}

/// Whether bubblewrap works here.
#[expect(clippy::print_stderr, reason = "a test that is skipped says why")]
fn has_bwrap() -> bool {
    let words = ["--ro-bind", "/", "/", "--unshare-pid", "--proc", "/proc", "true"];
    let tried = std::process::Command::new("bwrap").args(words).output();
    let works = tried.is_ok_and(|ended| ended.status.success());
    if !works {
        assert!(std::env::var_os("EVALRIG_NEED_BWRAP").is_none(), "bubblewrap does not work here");
        eprintln!("skipped: bubblewrap does not work here");
    }
    works
}

#[test]
fn bwrap_hides_the_suite_and_takes_the_network_away() {
    if !has_bwrap() {
        return;
    }
    let agent = "[ -e \"$SUITE\" ] && echo suite; echo $(ls /sys/class/net 2>/dev/null; cat /proc/net/dev | tail -n +3 | cut -d: -f1); \
         echo done > out.txt; echo ok";
    let tests = json!([{"id": "a", "criteria": "c", "input": "go", "assert": [
        {"type": "files", "created": ["out.txt"], "only": ["out.txt"]},
        // Commands run in the same sandbox.
        {"type": "command", "run": "test -e out.txt && ! test -e \"$SUITE\"", "overlay": "./hidden"},
        {"type": "command", "run": "sh hidden.sh", "overlay": "./hidden"},
    ]}]);
    let project = Project::empty();
    let env = json!({"SUITE": project.path("EVAL.yaml")});
    project.write("EVAL.yaml", &suite(&json!({"env": env}), &tests));
    project.write("hidden/hidden.sh", "exit 0\n");
    let confined = json!({"command": agent, "sandbox": "bwrap", "network": "none", "env": env});
    project.write(".evalrig/targets.yaml", &target(&confined));
    project.run(&["--quiet"]).exits(0);
    assert_eq!(answer(&project, "a").trim(), "lo\nok");
    assert_eq!(project.row("a")["agent"]["sandbox"], "bwrap");
    // The same agent without the sandbox sees the suite.
    let open = json!({"command": agent, "env": env});
    project.write(".evalrig/targets.yaml", &target(&open));
    project.run(&["--quiet"]).exits(1);
    assert!(answer(&project, "a").starts_with("suite"));
    project.run(&["--quiet", "--sandbox", "bwrap"]).exits(0);
    assert!(!answer(&project, "a").starts_with("suite"));
}

/// Looks for what the agent is judged by, also where the system directories are.
const LOOK_AROUND: &str = "#!/bin/sh\n\
     for path in \"$ROOT\"/EVAL.yaml \"$ROOT\"/.evalrig/targets.yaml \"$ROOT\"/.evalrig/results \"$ROOT\"/.co/evals \
       \"$ROOT\"/lib/judge.py; do [ -e \"$path\" ] && echo \"found ${path#\"$ROOT\"}\"; done\n\
     cat \"$ROOT\"/.evalrig/results/*.jsonl \"$ROOT\"/.co/evals/*.yaml 2> /dev/null | grep -q earlier-answer && echo \"found an answer\"\n\
     echo end\n";

#[test]
fn bwrap_hides_the_repository_that_the_program_of_the_agent_is_in() {
    if !has_bwrap() {
        return;
    }
    let project = Project::empty();
    let root = project.path("").canonicalize().unwrap();
    project.write(".git/HEAD", "ref: refs/heads/main\n");
    // What looks like the installation of a program.
    project.write("lib/judge.py", "");
    project.write("bin/agent", LOOK_AROUND);
    let program = project.path("bin/agent");
    fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    project.write("EVAL.yaml", &suite(&json!({"env": {"ROOT": root}}), &one_test()));
    project.write(".evalrig/targets.yaml", &target(&json!({"command": "echo earlier-answer"})));
    project.run(&["--quiet"]).exits(0);
    let set = |options: Value| {
        let mut all = json!({"command": [root.join("bin/agent")]});
        for (key, value) in options.as_object().unwrap() {
            all[key] = value.clone();
        }
        project.write(".evalrig/targets.yaml", &target(&all));
    };
    set(json!({}));
    project.run(&["--quiet"]).exits(0);
    let open = answer(&project, "a");
    for found in [
        "/EVAL.yaml",
        "/.evalrig/targets.yaml",
        "/.evalrig/results",
        "/.co/evals",
        "/lib/judge.py",
        "an answer",
    ] {
        assert!(open.contains(&format!("found {found}\n")), "{open}");
    }
    set(json!({"sandbox": "bwrap"}));
    project.run(&["--quiet"]).exits(0);
    assert_eq!(answer(&project, "a").trim(), "end");
}

#[test]
fn in_bwrap_a_test_without_a_workspace_gets_an_empty_one() {
    if !has_bwrap() {
        return;
    }
    let tests = json!([{"id": "a", "criteria": "c", "input": "go", "rubrics": ["Is polite"]}]);
    let project = Project::empty();
    project.write(".git/HEAD", "ref: refs/heads/main\n");
    project.write("EVAL.yaml", &json!({"name": "suite", "tests": tests}).to_string());
    // Found in the working directory of the target, whatever that of the process is.
    project
        .write("agent.sh", "echo left > left; ls; ls \"$ROOT\"/EVAL.yaml 2> /dev/null; echo end\n");
    let judge = "#!/bin/sh\ncat > question; found=\"$(ls -A; ls -d \"$ROOT\"/EVAL.yaml 2> /dev/null)\"; found=$(echo $found)\n\
         checks=; for id in criteria rubric-1; do checks=\"$checks, {\\\"id\\\": \\\"$id\\\", \\\"reasoning\\\": \\\"saw $found.\\\", \\\"satisfied\\\": true}\"; done\n\
         echo \"{\\\"checks\\\": [${checks#, }]}\"\n";
    project.write("judge.sh", judge);
    let env = json!({"ROOT": project.path("").canonicalize().unwrap()});
    let set = |sandbox: &str| {
        let targets = json!({"judge_target": "judge", "targets": [
            {"name": "default", "provider": "cli", "sandbox": sandbox, "command": ["sh", "./agent.sh"], "env": env},
            {"name": "judge", "provider": "cli", "sandbox": sandbox, "command": ["sh", "./judge.sh"], "env": env, "stdin": "prompt"},
        ]});
        project.write(".evalrig/targets.yaml", &targets.to_string());
        project.run(&["--quiet"]).exits(0);
        let row = project.row("a");
        (text(&row["candidateAnswer"]), row.to_string(), row["workspace"].clone())
    };
    let (open, judged, _) = set("home");
    assert!(open.contains("/EVAL.yaml\n"), "{open}");
    assert!(judged.contains("/EVAL.yaml."), "{judged}");
    fs::remove_file(project.path("left")).unwrap();
    let (hidden, judged, workspace) = set("bwrap");
    assert_eq!(hidden.trim(), "left\nend");
    assert!(judged.contains("saw question."), "{judged}");
    assert_eq!(workspace["created"], json!(["left"]));
    assert!(!project.path("left").exists());
    // A directory that has nothing to do with the suite is shown.
    let other = tempfile::tempdir().unwrap();
    let command = "ls; echo left > left";
    let all = json!({"command": command, "cwd": other.path(), "sandbox": "bwrap"});
    let project =
        Project::new(&json!({"name": "suite", "tests": one_test()}).to_string(), &target(&all));
    fs::write(other.path().join("tool"), "").unwrap();
    project.run(&["--quiet"]).exits(0);
    assert_eq!(answer(&project, "a").trim(), "tool");
    assert!(other.path().join("left").exists());
}

/// Stands in for podman: writes down its arguments and runs the program of the container.
const ENGINE: &str = r#"#!/bin/sh
echo "$*" >> "$ENGINE_CALLS"
case $1 in
  image) case $5 in missing*) echo "Error: no such image" >&2; exit 125;; esac; exit 0;;
  run) while [ "$1" != --entrypoint ]; do
         case $1 in --env) case $2 in *=*) export "$2";; esac;; --workdir) cd "$2";; esac; shift; done
       shift 3; exec "$@";;
esac
"#;

/// A project whose PATH has the stand-in.
fn run_with_engine(project: &Project, arguments: &[&str]) -> support::Ran {
    project.write("bin/podman", ENGINE);
    let program = project.path("bin/podman");
    fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let words: Vec<&str> = ["run"].iter().chain(arguments).copied().collect();
    let mut command = project.command(&words);
    let path = format!("{}:{}", project.path("bin").display(), std::env::var("PATH").unwrap());
    command.env("PATH", path).env("ENGINE_CALLS", project.path("calls")).env("OPENAI_API_KEY", "k");
    support::Ran::of(command)
}

#[test]
fn the_container_of_a_workspace_is_that_of_agent_and_checks() {
    let tests = json!([
        {"id": "own", "criteria": "c", "input": "go", "workspace": {"docker": {"image": "own:1", "memory": "1g"}},
            "assert": [{"type": "command", "run": ["test", "-e", "out.txt"]}]},
        {"id": "plain", "criteria": "c", "input": "go", "assert": [{"type": "contains", "value": "ok"}]},
    ]);
    let agent = "echo called >> \"$CALLED\"; echo done > out.txt; echo ok";
    let project = Project::empty();
    let called = json!({"CALLED": project.path("called")});
    project.write("EVAL.yaml", &suite(&json!({}), &tests));
    let set = |options: Value| {
        let mut all = json!({"command": agent, "env": called});
        for (key, value) in options.as_object().unwrap() {
            all[key] = value.clone();
        }
        project.write(".evalrig/targets.yaml", &target(&all));
    };
    set(json!({"sandbox": "podman", "image": "base:2", "network": "none"}));
    run_with_engine(&project, &["--quiet"]).exits(0);
    let calls = project.lines("calls");
    let runs: Vec<&String> = calls.iter().filter(|call| call.starts_with("run ")).collect();
    let of = |image: &str| runs.iter().filter(|call| call.contains(&format!(" {image} "))).count();
    assert_eq!((of("own:1"), of("base:2")), (2, 1), "{calls:#?}");
    assert!(runs.iter().all(|call| call.contains("--network=none")), "{calls:#?}");
    assert_eq!(runs.iter().filter(|call| call.contains("--memory 1g")).count(), 2);
    let removed = calls.iter().filter(|call| call.starts_with("rm --force")).count();
    assert_eq!(removed, 3);
    assert_eq!(project.row("own")["agent"]["sandbox"], "podman");
    // Every image is looked for before anything is called.
    fs::remove_file(project.path("called")).unwrap();
    set(json!({"sandbox": "podman", "image": "missing:2"}));
    run_with_engine(&project, &["--quiet"]).exits(2).says("has no image `missing:2`");
    set(json!({"sandbox": "podman"}));
    run_with_engine(&project, &["--quiet"]).exits(2).says("needs an image");
    run_with_engine(&project, &["--quiet", "--filter", "own"]).exits(0);
    fs::remove_file(project.path("called")).unwrap();
    // A test that names a container never runs outside of one.
    set(json!({}));
    let refused = run_with_engine(&project, &["--quiet"]);
    refused.exits(2).says("test `own` needs a container").says("--sandbox podman");
    run_with_engine(&project, &["--quiet", "--sandbox", "none"]).exits(2);
    assert!(!project.has("called"));
}

#[test]
fn a_sandbox_that_is_missing_stops_the_run_before_anything_is_called() {
    let project = Project::empty();
    project.write("EVAL.yaml", &suite(&json!({}), &one_test()));
    let agent = json!({"command": "echo called >> \"$CALLED\"; echo ok", "env": {"CALLED": project.path("called")}});
    project.write(".evalrig/targets.yaml", &target(&agent));
    project.write("bin/sh", "");
    for (sandbox, said) in
        [("bwrap", "install the package `bubblewrap`"), ("docker", "needs an image")]
    {
        let mut command = project.command(&["run", "--quiet", "--sandbox", sandbox]);
        command.env("PATH", project.path("bin"));
        support::Ran::of(command).exits(2).says(said);
    }
    assert!(!project.has("called"));
    // A target that starts no process cannot be confined.
    let mock = json!({"provider": "mock", "response": "x", "sandbox": "bwrap"});
    project.write(".evalrig/targets.yaml", &target(&mock));
    project.run(&["--quiet"]).exits(2).says("starts no process");
}

#[test]
fn hooks_get_the_path_of_the_workspace_and_scripts_beside_the_suite() {
    let workspace = json!({
        "setup": ["sh", "hooks/setup.sh", "{{workspace_path}}", "{{ workspace_path }}/b"],
        "teardown": "cp {{workspace_path}}/a \"$KEPT\"",
        "hooks": {"before_all": ["/hooks/all.sh"]},
        "env": {"KEPT": "PLACE"},
    });
    let project = Project::empty();
    let workspace = workspace.to_string().replace("PLACE", &project.path("kept").to_string_lossy());
    let workspace: Value = serde_json::from_str(&workspace).unwrap();
    let tests = json!([{"id": "a", "criteria": "c", "input": "go", "assert": [{"type": "equals", "value": "1 2"}]}]);
    project.write("EVAL.yaml", &suite(&workspace, &tests));
    project.write(
        "hooks/setup.sh",
        "[ \"$1\" = \"$EVALRIG_WORKSPACE\" ] && echo 1 > \"$1/a\" && echo 2 > \"$2\"\n",
    );
    project.write("hooks/all.sh", "#!/bin/sh\ntouch all\n");
    let program = project.path("hooks/all.sh");
    fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    project.write(
        ".evalrig/targets.yaml",
        &target(&json!({"command": "[ -e all ] && echo $(cat a b)"})),
    );
    project.run(&["--quiet"]).exits(0);
    assert_eq!(project.read("kept"), "1\n");
    // A path that the shell would read as something else is not put into a line.
    let odd = project.scratch.path().join("a b");
    fs::create_dir(&odd).unwrap();
    let mut command = project.command(&["run"]);
    command.env("TMPDIR", &odd);
    support::Ran::of(command).exits(0).says("write `\"$EVALRIG_WORKSPACE\"`");
}

#[test]
fn an_overlay_has_the_files_that_were_loaded_and_no_others() {
    let tests = json!([{"id": "a", "criteria": "c", "input": "go", "assert": [
        {"type": "command", "run": "find . -type f -o -type l | sort | tr '\\n' ' ' | grep -qx './sub/in.txt ./test.sh '", "overlay": "./hidden"},
    ]}]);
    let project = Project::empty();
    project.write("EVAL.yaml", &suite(&json!({}), &tests));
    project.write("hidden/test.sh", "");
    project.write("hidden/sub/in.txt", "");
    let hidden = project.path("hidden");
    let agent = "touch \"$HIDDEN/added\"; mkdir \"$HIDDEN/more\"; touch \"$HIDDEN/more/x\"; ln -s test.sh \"$HIDDEN/sub/link\"; echo ok";
    project.write(
        ".evalrig/targets.yaml",
        &target(&json!({"command": agent, "env": {"HIDDEN": hidden}})),
    );
    project.run(&["--quiet"]).exits(0);
    assert!(project.has("hidden/more/x"));
}

#[test]
fn a_dry_run_counts_judges_of_files() {
    let tests = json!([{"id": "a", "criteria": "c", "input": "go", "assert": [
        {"type": "rubrics", "file": "report.md", "rubrics": ["Is complete"]},
        {"type": "llm-judge", "file": "report.md", "prompt": "Is {{ answer }} short?"},
    ]}]);
    let project = Project::empty();
    project.write("EVAL.yaml", &suite(&json!({}), &tests));
    let targets = json!({"judge_target": "judge", "targets": [
        {"name": "default", "provider": "cli", "command": "echo ok"},
        {"name": "judge", "provider": "mock", "response": "x"},
    ]});
    project.write(".evalrig/targets.yaml", &targets.to_string());
    project.run(&["--dry-run"]).exits(0).prints("judge calls   2 to 4");
}

/// Stands in for podman as well: containers go on when the program that started them is killed.
const ENGINE_WITH_CONTAINERS: &str = r#"#!/bin/sh
echo "$*" >> "$ENGINE_CALLS"
case $1 in
  ps) cd "$ENGINE_CONTAINERS" && for name in *; do [ -e "$name" ] && echo "$name $(cat "$name")"; done; exit 0;;
  rm) rm -f "$ENGINE_CONTAINERS/$3"; exit 0;;
  run) while [ "$1" != --entrypoint ]; do
         case $1 in --name) name=$2;; --label) owner=${2#*=};; esac; shift; done
       echo "$owner" > "$ENGINE_CONTAINERS/$name"
       [ -e "$ENGINE_CALLS.slow" ] || exec echo ok
       exec sleep 300;;
esac
"#;

#[test]
fn a_run_removes_the_containers_of_one_that_was_killed() {
    let project = Project::empty();
    project.write("EVAL.yaml", &suite(&json!({}), &one_test()));
    let options = json!({"command": "agent", "sandbox": "podman", "image": "base:2"});
    project.write(".evalrig/targets.yaml", &target(&options));
    project.write("bin/podman", ENGINE_WITH_CONTAINERS);
    let program = project.path("bin/podman");
    fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    project.write("containers/other", "7-not-a-number\n");
    project.write("calls.slow", "");
    let start = || {
        let mut command = project.command(&["run", "--quiet"]);
        let path = format!("{}:{}", project.path("bin").display(), std::env::var("PATH").unwrap());
        command.env("PATH", path).env("ENGINE_CALLS", project.path("calls"));
        command.env("ENGINE_CONTAINERS", project.path("containers"));
        command
    };
    let containers = || {
        let entries = fs::read_dir(project.path("containers")).unwrap().flatten();
        let names = entries.map(|entry| entry.file_name().into_string().unwrap());
        names.filter(|name| name != "other").collect::<Vec<_>>()
    };
    let running = support::Running::of(start());
    support::wait_until("a container", || containers().len() == 1);
    running.kill();
    let left = containers();
    assert_eq!(left.len(), 1, "the container is still there");
    fs::remove_file(project.path("calls.slow")).unwrap();
    support::Ran::of(start()).exits(0);
    assert!(project.lines("calls").contains(&format!("rm --force {}", left[0])));
    assert_eq!(containers(), [""; 0]);
    assert!(project.has("containers/other"), "it belongs to another program");
}

const IMAGE: &str = "localhost/evalrig-test-busybox:latest";

/// An image with a static busybox, or why there is none.
fn import_image() -> Result<(), String> {
    let run = |line: &str| {
        let ended = std::process::Command::new("sh").args(["-c", line]).output();
        let ended = ended.map_err(|error| error.to_string())?;
        let said = String::from_utf8_lossy(&ended.stderr).trim().to_owned();
        if ended.status.success() { Ok(()) } else { Err(said) }
    };
    run("command -v podman").map_err(|_| "podman is not installed".to_owned())?;
    run("command -v busybox && ! ldd \"$(command -v busybox)\"")
        .map_err(|_| "a static busybox is not installed".to_owned())?;
    run(&format!(
        "d=$(mktemp -d) && mkdir -p $d/bin $d/tmp && cp \"$(command -v busybox)\" $d/bin/busybox && \
         for name in sh cat echo ls sleep test id; do ln -s busybox $d/bin/$name; done; \
         tar -C $d -c . | podman import - {IMAGE}; rm -r $d"
    ))?;
    run(&format!("podman run --rm --init --network=none {IMAGE} /bin/echo works"))
}

#[test]
#[expect(clippy::print_stderr, reason = "a test that is skipped says why")]
fn a_real_podman_confines_agent_and_checks() {
    if let Err(reason) = import_image() {
        assert!(std::env::var_os("EVALRIG_NEED_PODMAN").is_none(), "{reason}");
        return eprintln!("skipped: {reason}");
    }
    let project = Project::empty();
    let env = json!({"SUITE": project.path("EVAL.yaml")});
    let tests = json!([
        {"id": "a", "criteria": "c", "input": "go", "assert": [
            {"type": "files", "created": ["out.txt"], "only": ["out.txt"]},
            {"type": "command", "run": "test -e out.txt && test -L /bin/sh && ! test -e /usr && ! test -e \"$SUITE\""},
        ]},
        {"id": "slow", "criteria": "c", "input": "slow", "execution": {"timeout_seconds": 3},
            "assert": [{"type": "regex", "value": "^"}]},
    ]);
    project.write("EVAL.yaml", &suite(&json!({"env": env}), &tests));
    let agent = "echo $(ls -A) $(id -u) $(ls /sys/class/net); [ -e \"$SUITE\" ] && echo suite; echo done > out.txt; \
         echo \"$HOME\" | grep -q home- ; [ \"$EVALRIG_TEST_ID\" != slow ] || sleep 300";
    let options = json!({"command": agent, "sandbox": "podman", "image": IMAGE, "network": "none"});
    project.write(".evalrig/targets.yaml", &target(&options));
    project.run(&["--quiet", "--retries", "0"]).exits(3);
    let row = project.row("a");
    assert_eq!(row["outcome"], "passed", "{row}");
    let user = fs::metadata(project.path("EVAL.yaml"))
        .map(|found| std::os::unix::fs::MetadataExt::uid(&found));
    assert_eq!(answer(&project, "a").trim(), format!("{} lo", user.unwrap()));
    assert_eq!(project.row("slow")["error"]["kind"], "timeout");
    let left = std::process::Command::new("podman")
        .args(["ps", "--all", "--quiet", "--filter", "label=evalrig.owner"])
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&left.stdout), "", "a container is left");
}

/// Fails where another check has left its traces.
const HIDDEN_CHECK: &str = "test -e test.txt && test -e out.txt && ! test -e trace && touch trace \
     && test \"$PWD\" = \"$EVALRIG_WORKSPACE\" && echo ran >> \"$RAN\"";

#[test]
fn grading_again_checks_a_kept_workspace_and_otherwise_the_changes() {
    let tests = json!([{"id": "a", "criteria": "c", "input": "go", "assert": [
        {"type": "files", "name": "changes", "created": ["out.txt"], "modified": ["start.txt"], "only": ["*.txt"]},
        {"type": "files", "name": "existing", "exists": ["other.txt"]},
        {"type": "contains", "name": "text", "value": "done", "file": "out.txt"},
        {"type": "command", "name": "command", "run": HIDDEN_CHECK, "overlay": "./hidden"},
    ]}]);
    for (keep, measured) in [("always", true), ("never", false)] {
        let project = Project::empty();
        let env = json!({"RAN": project.path("ran")});
        let workspace =
            json!({"template": "./t", "setup": "echo setup >> \"$RAN\"", "env": env, "keep": keep});
        project.write("EVAL.yaml", &suite(&workspace, &tests));
        project.write("t/start.txt", "start\n");
        project.write("t/other.txt", "");
        project.write("hidden/test.txt", "");
        let agent = "echo done > out.txt; echo more >> start.txt; echo ok";
        project.write(".evalrig/targets.yaml", &target(&json!({"command": agent})));
        project.run(&["--quiet"]).exits(0);
        assert_eq!(project.lines("ran"), ["setup", "ran"]);
        let before = project.row("a");
        let again = ["grade", support::LATEST, "--output", "again.jsonl", "--quiet"];
        project.evalrig(&again).exits(if measured { 0 } else { 3 });
        let ran: &[&str] = if measured { &["setup", "ran", "ran"] } else { &["setup", "ran"] };
        assert_eq!(project.lines("ran"), ran, "{keep}: neither hooks nor the agent run again");
        let rows = project.rows_of("again.jsonl");
        assert_eq!(rows[0]["workspace"], before["workspace"], "{keep}");
        let outcome = |name: &str| {
            let results = rows[0]["evaluatorResults"].as_array().unwrap();
            let found = results.iter().find(|one| one["name"] == name).unwrap();
            (text(&found["outcome"]), found["score"].as_f64())
        };
        let graded = ("graded".to_owned(), Some(1.0));
        assert_eq!(outcome("changes"), graded, "{keep}");
        for name in ["existing", "text", "command"] {
            assert_eq!(outcome(name) == graded, measured, "{keep} {name}: {:?}", outcome(name));
        }
        let left = fs::read_dir(project.scratch.path()).unwrap().flatten();
        let left: Vec<_> = left.map(|entry| entry.file_name().into_string().unwrap()).collect();
        assert!(left.iter().all(|name| name.starts_with("kept-")), "{left:?}");
        if measured {
            let kept = Path::new(before["workspace"]["path"].as_str().unwrap());
            assert!(!kept.join("trace").exists() && !kept.join("test.txt").exists());
        }
    }
}
