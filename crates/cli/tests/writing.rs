//! Where the binary writes: devices, FIFOs and links at paths that the user named, links that a
//! repository planted, and who may read the files (spec 16.8).
#![cfg(unix)]
#![allow(clippy::print_stderr, reason = "a skipped test says so")]

mod support;

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use support::Project;

const SUITE: &str = "\
name: demo
tests:
  - {id: a, criteria: c, input: hi, assert: [{type: contains, value: hello}]}
";
const TARGETS: &str = "targets: [{name: default, provider: mock, response: hello}]\n";

fn project() -> Project {
    let project = Project::new(SUITE, TARGETS);
    project
        .write("stored.json", "[{\"id\": 1, \"prompt\": \"hi\", \"expected_output\": \"hello\"}]");
    project
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).expect("a file").permissions().mode() & 0o7777
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("a directory");
    let names = entries.map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<String> = names.map(|name| name.to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Creates a node like `/dev/null`, which only root may do.
fn make_null(path: &Path) -> bool {
    let made = Command::new("mknod").arg(path).args(["c", "1", "3"]).stderr(Stdio::null()).status();
    made.is_ok_and(|status| status.success())
}

#[test]
fn a_device_stays_a_device() {
    let project = project();
    let device = project.path("nul");
    if !make_null(&device) {
        eprintln!("skipped: creating a device takes root");
        return;
    }
    symlink("nul", project.path("nul.yaml")).expect("a link");
    let before = fs::metadata(&device).expect("a device");
    for arguments in [
        &["run", "--report", "junit=nul"][..],
        &["run", "--output", "nul", "--report", "html=nul"],
        &["transpile", "EVAL.yaml", "--stdout", "--loss-report", "nul"],
        &["convert", "stored.json", "--output", "nul.yaml", "--force"],
    ] {
        project.evalrig(arguments).exits(0);
        let after = fs::metadata(&device).expect("a device");
        assert!(after.file_type().is_char_device(), "{arguments:?}");
        assert_eq!((after.ino(), after.mode()), (before.ino(), before.mode()), "{arguments:?}");
    }
    let expected = [".co", ".evalrig", ".git", "EVAL.yaml", "nul", "nul.yaml", "stored.json"];
    assert_eq!(names(&project.path(".")), expected, "nothing is left beside the device");
}

/// Root could replace the files of the system if the program were wrong.
fn is_root() -> bool {
    let is_root = fs::metadata("/proc/self").is_ok_and(|found| found.uid() == 0);
    if is_root {
        eprintln!("skipped: root could replace the devices of the system");
    }
    is_root
}

#[test]
fn the_devices_of_the_system_are_written_to() {
    if is_root() {
        return;
    }
    let project = project();
    let before = fs::metadata("/dev/null").expect("a device");
    let reports = ["--report", "junit=/dev/null", "--report", "html=/dev/null"];
    project.run(&reports).exits(0);
    project.run(&["--output", "/dev/null"]).exits(0);
    let after = fs::metadata("/dev/null").expect("a device");
    assert_eq!((after.ino(), after.mode()), (before.ino(), before.mode()));
    project.run(&["--quiet", "--report", "junit=/dev/stdout"]).exits(0).prints("<?xml");
    project.run(&["--quiet", "--report", "junit=/dev/stderr"]).exits(0).says("<?xml");
    let links = ["/dev/stdout", "/dev/stderr"].map(fs::read_link);
    assert!(links.iter().all(Result::is_ok), "{links:?}");
}

#[test]
fn a_fifo_gets_the_bytes() {
    let project = project();
    let fifo = project.path("pipe");
    let made = Command::new("mkfifo").arg(&fifo).status().expect("mkfifo starts");
    assert!(made.success());
    for (arguments, begins) in [
        (&["run", "--report", "junit=pipe"][..], "<?xml"),
        (&["run", "--output", "pipe"], "{"),
        (&["transpile", "EVAL.yaml", "--stdout", "--loss-report", "pipe"], "["),
    ] {
        let reader = Command::new("cat").arg(&fifo).stdout(Stdio::piped()).spawn();
        let reader = reader.expect("cat starts");
        project.evalrig(arguments).exits(0);
        let is_fifo = fs::symlink_metadata(&fifo).expect("a FIFO").file_type().is_fifo();
        if !is_fifo {
            // A reader of what was once a FIFO waits for ever.
            let mut reader = reader;
            reader.kill().expect("cat runs");
            reader.wait().expect("cat ends");
            panic!("{arguments:?} replaced the FIFO");
        }
        let read = reader.wait_with_output().expect("cat ends").stdout;
        let text = String::from_utf8(read).expect("text");
        assert!(text.starts_with(begins), "{arguments:?}: {text}");
    }
}

#[test]
fn a_link_that_the_user_named_stays_a_link() {
    let project = project();
    fs::create_dir(project.path("kept")).expect("a directory");
    project.write("kept/old.xml", "old");
    fs::set_permissions(project.path("kept/old.xml"), fs::Permissions::from_mode(0o640))
        .expect("permissions");
    symlink("kept/old.xml", project.path("junit.xml")).expect("a link");
    symlink("kept/new.json", project.path("losses.json")).expect("a link");
    symlink("kept/rows.jsonl", project.path("rows.jsonl")).expect("a link");
    project.run(&["--report", "junit=junit.xml", "--output", "rows.jsonl"]).exits(0);
    let transpile = ["transpile", "EVAL.yaml", "--stdout", "--loss-report", "losses.json"];
    project.evalrig(&transpile).exits(0);
    for link in ["junit.xml", "losses.json", "rows.jsonl"] {
        assert!(project.path(link).is_symlink(), "{link}");
    }
    assert!(project.read("kept/old.xml").starts_with("<?xml"));
    assert_eq!(mode(&project.path("kept/old.xml")), 0o640);
    assert!(project.read("kept/new.json").starts_with('['));
    assert!(project.read("kept/rows.jsonl").starts_with('{'));
    let kept = ["new.json", "old.xml", "rows.jsonl", "rows.summary.json"];
    assert_eq!(names(&project.path("kept")), kept);
}

#[test]
fn standard_output_is_written_to_wherever_it_leads() {
    let project = project();
    for path in ["/dev/fd/1", "/proc/self/fd/1"] {
        if !Path::new(path).exists() {
            continue;
        }
        let report = format!("junit={path}");
        // The harness redirects standard output to a regular file.
        let ran = project.run(&["--quiet", "--report", &report]);
        ran.exits(0).prints("<?xml").prints("</testsuites>");
        let ran = project.run(&["--quiet", "--report", "json=/dev/null", "--output", path]);
        ran.exits(0).prints("\"evalId\":\"a\"");
        let losses = ["transpile", "EVAL.yaml", "--out", "out", "--loss-report", path];
        project.evalrig(&losses).exits(0).prints("[]").prints("_no-skill.json");
    }
    symlink("/proc/self/fd/2", project.path("link")).expect("a link");
    project.run(&["--quiet", "--report", "junit=link"]).exits(0).says("<?xml");
}

#[test]
fn a_directory_is_refused_before_anything_runs() {
    let project = project();
    fs::create_dir(project.path("reports")).expect("a directory");
    project.run(&["--report", "junit=reports"]).exits(2).says("is a directory");
    project.run(&["--output", "reports"]).exits(2).says("irectory");
    assert!(names(&project.path("reports")).is_empty());
}

#[test]
fn a_planted_link_is_not_followed() {
    let outside = tempfile::tempdir().expect("a directory");
    let victim = outside.path().join("victim");
    fs::write(&victim, "precious").expect("a file");
    // The folder of results, or the folder that it is in.
    for folder in [".evalrig/results", ".evalrig"] {
        let project = project();
        let below = outside.path().join("below");
        fs::create_dir_all(&below).expect("a directory");
        if folder == ".evalrig" {
            fs::rename(project.path(".evalrig/targets.yaml"), project.path("targets.yaml"))
                .expect("a file");
            fs::remove_dir(project.path(".evalrig")).expect("a directory");
        }
        symlink(&below, project.path(folder)).expect("a link");
        let targets = match folder {
            ".evalrig" => &["--targets", "targets.yaml"][..],
            _ => &[],
        };
        let ran = project.run(targets);
        ran.exits(2).says("is a link");
        assert!(names(&below).is_empty(), "{folder}");
    }
    // A file of the store.
    let project = project();
    fs::create_dir_all(project.path(".co/evals")).expect("a directory");
    symlink(&victim, project.path(".co/evals/hi.yaml")).expect("a link");
    project.run(&[]);
    assert_eq!(fs::read_to_string(&victim).expect("a file"), "precious");
}

#[test]
fn results_and_records_are_private() {
    let project = project();
    let reports = ["--report", "html=out/report.html", "--report", "junit=out/junit.xml"];
    project.run(&reports).exits(0);
    let mut checked = 0;
    for (path, _) in project.all_files() {
        let shown = path.strip_prefix(project.path("")).expect("below").to_owned();
        if shown.starts_with(".git") || path.is_symlink() {
            continue;
        }
        let is_ours =
            !matches!(shown.to_str(), Some("EVAL.yaml" | "stored.json" | ".evalrig/targets.yaml"));
        if is_ours {
            assert_eq!(mode(&path), 0o600, "{}", shown.display());
            checked += 1;
        }
    }
    // Rows, summary, two reports, a record with its run, the lock.
    assert_eq!(checked, 7);
    for directory in [".evalrig/results", ".co", ".co/evals", ".co/evals/hi"] {
        assert_eq!(mode(&project.path(directory)), 0o700, "{directory}");
    }
}

#[test]
fn exports_follow_the_umask() {
    let project = project();
    let mut command = Command::new("sh");
    let script = "umask 022; \"$0\" transpile EVAL.yaml --out out --loss-report out.json && \
                  \"$0\" convert stored.json --output made/copy.yaml && \"$0\" init fresh";
    command.args(["-c", script, env!("CARGO_BIN_EXE_evalrig")]).current_dir(project.path(""));
    support::Ran::of(command).exits(0);
    for file in ["out/_no-skill.json", "out.json", "made/copy.yaml", "fresh/EVAL.yaml"] {
        assert_eq!(mode(&project.path(file)), 0o644, "{file}");
    }
    for directory in ["out", "made", "fresh", "fresh/.evalrig"] {
        assert_eq!(mode(&project.path(directory)), 0o755, "{directory}");
    }
}

#[test]
fn init_follows_no_link_of_the_repository() {
    let project = Project::empty();
    let outside = Project::empty();
    symlink(outside.path(""), project.path(".evalrig")).expect("a link");
    symlink(outside.path(""), project.path(".github")).expect("a link");
    let ran = project.evalrig(&["init", "--ci", "github"]);
    ran.exits(2).says("cannot write");
    assert!(!outside.has("targets.yaml") && !outside.has("workflows"));
}

#[test]
fn files_beside_a_converted_suite_follow_no_link() {
    let project = Project::empty();
    let outside = Project::empty();
    let promptfoo = "prompts: ['Hi {{name}}']\nproviders: ['openai:gpt-4o']\ntests: [{vars: {name: a}, assert: [{type: contains, value: a}]}]\n";
    project.write("promptfooconfig.yaml", promptfoo);
    let convert = ["convert", "promptfooconfig.yaml", "-o", "made/EVAL.yaml"];
    fs::create_dir(project.path("made")).expect("a directory");
    symlink(outside.path(""), project.path("made/.evalrig")).expect("a link");
    project.evalrig(&convert).exits(2).says("cannot write");
    assert!(!outside.has("targets.yaml"));
    fs::remove_file(project.path("made/.evalrig")).expect("removed");
    project.evalrig(&convert).exits(0);
    assert!(project.has("made/.evalrig/targets.yaml"));
}
