//! The documentation is true: its commands print what it shows, its links lead somewhere, and the names in it exist.
#![allow(clippy::print_stderr, reason = "tests say what they leave out")]

mod page;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    fs::read_to_string(project().join(path)).expect("the file is part of the project")
}

fn evalrig(directory: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_evalrig"))
        .args(arguments)
        .current_dir(directory)
        .env("NO_COLOR", "1")
        .env_remove("CI")
        .output()
        .expect("the binary starts")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("the report is UTF-8")
}

/// All files below a directory of the project with one of these endings, as paths from the project.
fn files(directory: &str, endings: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    let entries = fs::read_dir(project().join(directory)).expect("a directory of the project");
    for entry in entries {
        let entry = entry.expect("an entry");
        let path = format!("{directory}/{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            found.extend(files(&path, endings));
        } else if endings.iter().any(|ending| path.ends_with(ending)) {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn pages() -> Vec<String> {
    let mut pages = vec!["README.md".to_owned()];
    pages.extend(files("docs", &[".md"]));
    pages
}

fn blocks_of(path: &str, language: &str) -> Vec<String> {
    page::blocks(&read(path))
        .into_iter()
        .filter(|block| block.language == language)
        .map(|block| block.text)
        .collect()
}

fn has_python() -> bool {
    let started = Command::new("python3").arg("--version").output();
    started.is_ok_and(|output| output.status.success())
}

/// Reads `sales.csv` where Claude Code would, uses the skills that it finds, judges, and prints the events that it would print.
const CLAUDE: &str = r#"#!/bin/sh
prompt=$(cat)
skills=$(ls .claude/skills 2>/dev/null)
has() { printf '%s\n' "$skills" | grep -qx "$1"; }
say() { printf '%s\n' "$1"; }
list=$(for skill in $skills; do printf '"%s",' "$skill"; done)
say '{"type":"system","subtype":"init","model":"claude-sonnet-4-5","tools":["Read","Skill"],"skills":['"${list%,}"']}'
use() {
  say '{"type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"'"$1"'","input":'"$2"'}]}}'
  say '{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"done"}]}}'
}
case $prompt in
  *'## Checks'*)
    case $prompt in *'with 1250'*) good=true ;; *) good=false ;; esac
    ids=$(printf '%s\n' "$prompt" | sed -n 's/^- \[\([^]]*\)\].*/\1/p')
    checks=$(for id in $ids; do printf '{\\"id\\":\\"%s\\",\\"reasoning\\":\\"read\\",\\"satisfied\\":%s},' "$id" "$good"; done)
    answer='{\"checks\":['"${checks%,}"']}' ;;
  *sales*)
    use Read '{"file_path":"sales.csv"}'
    answer='November was the best month, with 1250.' ;;
  *bars*)
    answer='Here is your chart.'
    if has csv-analyzer; then use Skill '{"skill":"csv-analyzer"}'
    elif has chart-maker; then use Skill '{"skill":"chart-maker"}'; fi ;;
  *orders*)
    answer='I would need a spreadsheet program for that.'
    if has csv-analyzer; then
      use Skill '{"skill":"csv-analyzer"}'
      answer='November was the best month, with 1250.'
    fi ;;
  *) answer='Paris.' ;;
esac
say '{"type":"assistant","message":{"id":"m2","role":"assistant","content":[{"type":"text","text":"'"$answer"'"}]}}'
say '{"type":"result","subtype":"success","is_error":false,"result":"'"$answer"'","total_cost_usd":0.01,"usage":{"input_tokens":300,"output_tokens":20},"duration_ms":900,"num_turns":2}'
"#;

/// The same for Codex.
const CODEX: &str = r#"#!/bin/sh
prompt=$(cat)
say() { printf '%s\n' "$1"; }
say '{"type":"thread.started","thread_id":"1"}'
case $prompt in
  *sales*)
    say '{"type":"item.completed","item":{"id":"i1","type":"command_execution","command":"/bin/bash -lc '"'cat sales.csv'"'","aggregated_output":"month,total","exit_code":0,"status":"completed"}}'
    answer='November was the best month, with 1250.' ;;
  *) answer='Paris.' ;;
esac
say '{"type":"item.completed","item":{"id":"i2","type":"agent_message","text":"'"$answer"'"}}'
say '{"type":"turn.completed","usage":{"input_tokens":300,"cached_input_tokens":0,"output_tokens":20}}'
"#;

#[cfg(unix)]
fn install(directory: &Path, name: &str, script: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    let path = directory.join(name);
    page::write(&path, script);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("an executable");
}

/// Claude Code and Codex are replaced by programs that print their events.
#[cfg(unix)]
#[test]
fn every_command_with_its_output_is_true() {
    let programs = tempfile::tempdir().expect("a directory");
    install(programs.path(), "claude", CLAUDE);
    install(programs.path(), "codex", CODEX);
    let mut run = 0;
    for path in pages() {
        let text = read(&path);
        let blocks = page::blocks(&text);
        let has = |language: &str| blocks.iter().any(|block| block.language == language);
        if !has("console") {
            continue;
        }
        if has("python") && !has_python() {
            eprintln!("{path} is not run: python3 was not found");
            continue;
        }
        page::run(&path, &text, programs.path());
        run += 1;
    }
    assert!(run >= 4, "only {run} pages were run");
}

#[test]
fn the_two_commands_of_the_readme_are_there() {
    let readme = read("README.md");
    assert!(readme.contains("\ncargo run -q -- run examples/measurements "));
    assert!(readme.contains("\ncargo test --workspace "));
}

#[test]
fn links_lead_somewhere() {
    let pages = xtask::links::Pages::read(xtask::workspace()).expect("the pages can be read");
    let broken = pages.broken(xtask::workspace());
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// What follows `EVALRIG_` in a text, as far as it could be a name.
fn variables(text: &str) -> BTreeSet<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.split("EVALRIG_")
        .skip(1)
        .map(|rest| rest.split(|c| !is_part(c)).next().unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn variables_in_the_docs_are_those_of_the_code() {
    let sources = ["crates", "xtask", "bench", "scripts", "packaging"];
    let known: BTreeSet<String> = sources
        .iter()
        .flat_map(|directory| files(directory, &[".rs", ".sh"]))
        .filter(|path| !path.ends_with("tests/docs.rs"))
        .flat_map(|path| variables(&read(&path)))
        .collect();
    for path in pages() {
        // `EVALRIG_ID_…` are names on a server, with the id of a run.
        for name in variables(&read(&path)).into_iter().filter(|name| !name.starts_with("ID_")) {
            let is_upper = !name.chars().any(|c| c.is_ascii_lowercase());
            assert!(is_upper, "{path}: `EVALRIG_{name}` is not a variable");
            assert!(known.contains(&name), "{path}: no code has EVALRIG_{name}");
        }
    }
}

/// A page in which the name of a variable was replaced by its value once passed every other test.
#[test]
fn variables_for_programs_are_in_the_guides_and_the_specification() {
    let set = ["SUITE", "TEST_ID", "TRIAL", "ATTEMPT", "ROOT"];
    let sources: String = files("crates/run/src", &[".rs"]).iter().map(|path| read(path)).collect();
    for directory in ["docs/guides", "docs/spec"] {
        let text: String = files(directory, &[".md"]).iter().map(|path| read(path)).collect();
        for name in set {
            assert!(sources.contains(&format!("\"EVALRIG_{name}\"")), "no code sets {name}");
            assert!(text.contains(&format!("`EVALRIG_{name}`")), "{directory}: EVALRIG_{name}");
        }
    }
}

#[test]
fn the_guide_lists_every_report() {
    let guide = read("docs/guides/run.md");
    for report in evalrig_run::report::REPORTS {
        let row = format!("\n| `{}`", report.name);
        assert!(guide.contains(&row), "{}", report.name);
    }
}

#[test]
fn the_fix_in_the_guide_gives_what_the_guide_shows() {
    let [before, after] = &blocks_of("docs/guides/diagnostics.md", "yaml")[..] else {
        panic!("one block before and one after");
    };
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("EVAL.yaml");
    fs::write(&file, before).expect("a suite");
    let output = evalrig(directory.path(), &["validate", "--fix"]);
    assert_eq!(output.status.code(), Some(0), "{}", stdout(&output));
    assert_eq!(&fs::read_to_string(&file).expect("the suite"), after);
}

/// Whole suites and targets files. Fragments are left out, and so are pages that show a mistake or need a script.
#[test]
fn targets_and_suites_in_the_guides_are_clean() {
    let is_special =
        |path: &String| path.ends_with("/diagnostics.md") || path.ends_with("/judges.md");
    let mut checked = 0;
    for path in files("docs/guides", &[".md"]) {
        if is_special(&path) {
            continue;
        }
        for block in blocks_of(&path, "yaml") {
            let file = match block.split(':').next() {
                Some("targets" | "judge_target") => ".evalrig/targets.yaml",
                Some("name") if block.contains("\ntests:\n") => "EVAL.yaml",
                _ => continue,
            };
            let directory = tempfile::tempdir().expect("a directory");
            page::write(&directory.path().join(file), &block);
            let arguments = ["validate", file, "--strict", "-v", "--root", "."];
            let output = evalrig(directory.path(), &arguments);
            let report = stdout(&output);
            assert_eq!(output.status.code(), Some(0), "{path}:\n{block}{report}");
            checked += 1;
        }
    }
    assert!(checked >= 8, "only {checked} blocks were checked");
}
